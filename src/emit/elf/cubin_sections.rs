//! A cubin's debug sections with their relocations, as they are in the file, and as they are to be.
//!
//! In a linked cubin nvlink has applied the relocations of section offsets, and keeps the relocations of addresses,
//! because nvdisasm finds the function of a row by its relocation. A relocatable cubin has both, and for sm_100 and later
//! copies of the sections with tables of their own. Indices of sections and symbols stay.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use object::elf;
use object::write::elf::{Rel, SectionHeader};

use super::bytes::{u16_at, u32_at, u64_at};
use super::cubin::{SectionSymbols, empty_mercury_copies, is_debug_name};
use super::image::{Image, ImageSection, unsupported};
use super::in_place::write_in_place;
use super::mercury::{PREFIX, RELOCATION_FLAGS, RELOCATIONS, kind_of_offset};
use super::mercury_pcs::SYMBOLS;
use super::symbols::{SYMBOL_SIZE, symbol_count};
use crate::error::{Count, Error, Result};

/// Relocation sizes in bytes, without and with an addend.
const REL: usize = 16;
const RELA: usize = 24;

/// A set of a cubin's debug sections. A cubin can have two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CubinLayer {
    /// What debuggers read.
    Originals,
    /// Copies with pcs of Mercury code, from which nvlink makes the originals of a linked cubin.
    Copies,
}

impl CubinLayer {
    fn prefix(self) -> &'static str {
        match self {
            Self::Originals => "",
            Self::Copies => PREFIX,
        }
    }

    /// Returns the name in the file of a section.
    pub(crate) fn section_name(self, name: &str) -> String {
        format!("{}{name}", self.prefix())
    }

    /// Type of the symbol table.
    fn symbols(self) -> elf::SectionType {
        match self {
            Self::Originals => elf::SHT_SYMTAB,
            Self::Copies => SYMBOLS,
        }
    }

    /// Whether a section with this type has relocations with addends; `None` if it has no relocations.
    fn has_addends(self, kind: elf::SectionType) -> Option<bool> {
        match (self, kind) {
            (Self::Originals, elf::SHT_REL) => Some(false),
            (Self::Originals, elf::SHT_RELA) | (Self::Copies, RELOCATIONS) => Some(true),
            _ => None,
        }
    }

    /// Returns the name of a debug section without the prefix of copies; `None` for other sections.
    fn name<'s>(self, section: &'s ImageSection<'_>) -> Option<&'s [u8]> {
        let name = section.name.strip_prefix(self.prefix().as_bytes())?;
        (is_debug_name(name) && !section.is_loaded()).then_some(name)
    }
}

/// A debug section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CubinSection<'c> {
    /// Section name, without the prefix of copies. No two debug sections of a layer have one name.
    pub(crate) name: Cow<'c, str>,
    pub(crate) bytes: Cow<'c, [u8]>,
    /// Relocations, sorted by offset.
    pub(crate) relocations: Cow<'c, [CubinRelocation]>,
}

/// A relocation of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CubinRelocation {
    /// Offset of the field in bytes.
    pub(crate) offset: u64,
    pub(crate) symbol: CubinSymbol,
    /// NVIDIA's type.
    pub(crate) kind: u32,
    /// The addend; `None` if the field contains it.
    pub(crate) addend: Option<i64>,
}

/// What a relocation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CubinSymbol {
    /// Index of a symbol of code or data.
    Index(u32),
    /// A debug section, by its position among the layer's debug sections.
    Section(usize),
}

impl CubinSection<'_> {
    /// Returns the same section without copies of its contents.
    pub(crate) fn borrowed(&self) -> CubinSection<'_> {
        CubinSection {
            name: Cow::Borrowed(&self.name),
            bytes: Cow::Borrowed(&self.bytes),
            relocations: Cow::Borrowed(&self.relocations),
        }
    }

    /// Returns the section with the addends of its relocations in their fields. From sm_90 on, ptxas leaves other numbers
    /// in the fields.
    ///
    /// # Errors
    /// An addend exceeds its field, a field the section, or two fields overlap.
    pub(crate) fn with_addends(&self, layer: CubinLayer) -> Result<CubinSection<'_>> {
        let name = layer.section_name(&self.name);
        let mut filled = self.borrowed();
        let mut last = 0..0;
        for relocation in self.relocations.iter() {
            let Some(size) = field_bytes(relocation.kind) else { continue };
            let place = |text: String| Error::malformed(text).in_section(&name).at_offset(relocation.offset);
            let start = relocation.offset as usize;
            let total = self.bytes.len();
            let field = self.bytes.get(start..).and_then(|rest| rest.get(..size));
            let field = field.ok_or_else(|| {
                place(format!(
                    "relocated field of {} exceeds the section of {}",
                    Count(size, "byte"),
                    Count(total, "byte")
                ))
            })?;
            if start < last.end {
                let text = format!("relocated fields at {:#x} and {start:#x} overlap", last.start);
                return Err(place(text));
            }
            last = start..start + size;
            let Some(addend) = relocation.addend else { continue };
            if size == 4 && u32::try_from(addend).is_err() {
                return Err(place(format!("addend {addend:#x} exceeds a field of 4 bytes")));
            }
            let new = &addend.to_le_bytes()[..size];
            if field != new {
                filled.bytes.to_mut()[start..start + size].copy_from_slice(new);
            }
        }
        Ok(filled)
    }
}

/// Returns the type of the relocation of an offset in a debug section.
pub(crate) fn offset_relocation(layer: CubinLayer, section: &str, bytes: usize) -> u32 {
    match (layer, bytes) {
        // R_CUDA_32, R_CUDA_64.
        (CubinLayer::Originals, 4) => 1,
        (CubinLayer::Originals, _) => 2,
        (CubinLayer::Copies, _) => kind_of_offset(section),
    }
}

/// Returns the size of a relocated field; `None` for types that set no number.
fn field_bytes(kind: u32) -> Option<usize> {
    match kind {
        // R_CUDA_32, R_CUDA_G32; in copies, offsets.
        1 | 3 | 0x10003 | 0x10008 => Some(4),
        // R_CUDA_64, R_CUDA_G64; in copies, addresses of data and of code.
        2 | 4 | 0x10001 | 0x10002 | 0x1003d => Some(8),
        _ => None,
    }
}

/// Returns the debug sections of a layer, in the order of their indices.
///
/// # Errors
/// The file is no cubin, or malformed; two debug sections have one name; a section has two tables of relocations, or a loaded
/// one; a relocation has no field in its section, or no symbol.
pub(crate) fn cubin_sections(cubin: &[u8], layer: CubinLayer) -> Result<Vec<CubinSection<'_>>> {
    let image = Image::parse(cubin)?;
    check(&image, layer)?;
    let mut relocations = relocations(&image, layer)?;
    let mut sections = Vec::new();
    let prefix = layer.prefix().len();
    let are_debug: Vec<bool> = image.sections.iter().map(|it| layer.name(it).is_some()).collect();
    for (index, section) in image.sections.into_iter().enumerate().filter(|(index, _)| are_debug[*index]) {
        let name = match section.name {
            Cow::Borrowed(name) => String::from_utf8_lossy(&name[prefix..]),
            Cow::Owned(name) => String::from_utf8_lossy(&name[prefix..]).into_owned().into(),
        };
        let relocations = relocations.remove(&index).unwrap_or_default().into();
        sections.push(CubinSection { name, bytes: section.contents, relocations });
    }
    Ok(sections)
}

/// Returns the cubin with other contents and relocations in the debug sections of some layers, which are those of
/// [`cubin_sections`] in their order. In a linked cubin, copies for the finalizer become empty. Loaded bytes stay; new
/// contents take the space of the old ones where they fit, and otherwise follow the file's bytes.
///
/// # Errors
/// As for [`cubin_sections`].
pub(crate) fn with_cubin_sections(
    cubin: &[u8],
    layers: Vec<(CubinLayer, Vec<CubinSection<'_>>)>,
) -> Result<Vec<u8>> {
    let mut image = Image::parse(cubin)?;
    for (layer, _) in &layers {
        check(&image, *layer)?;
    }
    if image.is_linked() {
        empty_mercury_copies(&mut image);
    }
    for (layer, sections) in layers {
        replace(&mut image, layer, sections)?;
    }
    match write_in_place(&image) {
        Some(new) => Ok(new),
        None => image.write(),
    }
}

/// Replaces the contents of a layer's sections, and their relocations.
fn replace(image: &mut Image<'_>, layer: CubinLayer, sections: Vec<CubinSection<'_>>) -> Result<()> {
    let is_debug = |index: &usize| layer.name(&image.sections[*index]).is_some();
    let indices: Vec<usize> = (0..image.sections.len()).filter(is_debug).collect();
    if indices.len() != sections.len() {
        let text = format!("{}; expected {}", Count(sections.len(), "debug section"), indices.len());
        return Err(Error::bad_argument(text));
    }
    let tables = tables(image, layer)?;
    let refers = |it: &CubinRelocation| matches!(it.symbol, CubinSymbol::Section(_));
    let mut symbols = match image.find(layer.symbols()) {
        Some(symtab) if sections.iter().any(|section| section.relocations.iter().any(refers)) => {
            refuse_loaded_symbols(image, symtab)?;
            Some((symtab, SectionSymbols::new(image, symtab)?))
        }
        _ => None,
    };
    let encoder = image.encoder();
    for (section, &index) in sections.into_iter().zip(&indices) {
        let mut contents = [Vec::new(), Vec::new()];
        for relocation in section.relocations.iter() {
            let has_addend = relocation.addend.is_some();
            let symbol = match (relocation.symbol, &mut symbols) {
                (CubinSymbol::Index(symbol), _) => symbol,
                (CubinSymbol::Section(to), Some((_, symbols))) => {
                    let to = indices.get(to).ok_or_else(|| Error::bad_argument("section does not exist"))?;
                    symbols.get(image, *to as u32)?
                }
                (CubinSymbol::Section(_), None) => return Err(unsupported("cubin has no symbol table")),
            };
            let rel = Rel {
                r_offset: relocation.offset,
                r_sym: symbol,
                r_type: elf::RelocationType(relocation.kind),
                r_addend: relocation.addend.unwrap_or(0),
            };
            encoder.relocation(&mut contents[usize::from(has_addend)], has_addend, &rel);
        }
        for (bytes, has_addend) in contents.into_iter().zip([false, true]) {
            match tables.get(&(index, has_addend)) {
                Some(&table) if image.sections[table].contents == bytes => {}
                Some(&table) => image.sections[table].replace(bytes),
                None if bytes.is_empty() => {}
                None if image.is_linked() => {
                    return Err(
                        unsupported("section has no relocations; expected some").in_section(&section.name)
                    );
                }
                None => add_table(image, layer, index, &section.name, has_addend, bytes)?,
            }
        }
        if section.bytes != image.sections[index].contents {
            image.sections[index].replace(section.bytes.into_owned());
        }
    }
    if let Some((symtab, symbols)) = symbols {
        symbols.write(image, symtab);
    }
    Ok(())
}

/// Refuses a loaded symbol table, because new symbols would change loaded bytes.
fn refuse_loaded_symbols(image: &Image<'_>, symtab: usize) -> Result<()> {
    let symbols = &image.sections[symtab];
    let names = image.sections.get(symbols.header.sh_link as usize);
    if symbols.is_loaded() || names.is_some_and(ImageSection::is_loaded) {
        let text = "symbol table is loaded; expected a table for linkers";
        return Err(Error::malformed(text).in_section(&symbols.display_name()));
    }
    Ok(())
}

/// Adds a table of relocations for a section that has none.
fn add_table(
    image: &mut Image<'_>,
    layer: CubinLayer,
    index: usize,
    section: &str,
    has_addend: bool,
    bytes: Vec<u8>,
) -> Result<()> {
    let symtab = image.find(layer.symbols()).ok_or_else(|| unsupported("cubin has no symbol table"))?;
    let header = image.encoder().relocation_section_header(has_addend);
    let (sh_type, sh_flags) = match layer {
        CubinLayer::Originals => (header.sh_type, elf::SHF_INFO_LINK),
        CubinLayer::Copies => (RELOCATIONS, RELOCATION_FLAGS),
    };
    let header = SectionHeader { sh_type, sh_flags, sh_link: symtab as u32, sh_info: index as u32, ..header };
    let kind = if has_addend { ".rela" } else { ".rel" };
    let name = [layer.prefix(), kind, section].concat().into_bytes();
    image.add(ImageSection::new(name, header, bytes)).map(|_| ())
}

fn check(image: &Image<'_>, layer: CubinLayer) -> Result<()> {
    if !image.is_cubin() {
        return Err(unsupported("the file is no cubin"));
    }
    let mut names: Vec<&[u8]> = image.sections.iter().filter_map(|it| layer.name(it)).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let name = String::from_utf8_lossy(pair[0]);
            let text = format!("two sections have the name `{}{name}`", layer.prefix());
            Err(Error::malformed(text))
        }
        None => Ok(()),
    }
}

/// Tables of relocations, by the section to which they apply and whether they have addends.
type Tables = BTreeMap<(usize, bool), usize>;

fn tables(image: &Image<'_>, layer: CubinLayer) -> Result<Tables> {
    let mut tables = Tables::new();
    for (index, table) in image.sections.iter().enumerate() {
        let Some(has_addends) = layer.has_addends(table.header.sh_type) else { continue };
        let to = table.header.sh_info as usize;
        let Some(section) = image.sections.get(to).filter(|it| layer.name(it).is_some()) else { continue };
        if table.is_loaded() {
            let text = format!(
                "relocations of `{}` are loaded; expected a table for linkers",
                section.display_name()
            );
            return Err(Error::malformed(text).in_section(&table.display_name()));
        }
        if let Some(first) = tables.insert((to, has_addends), index) {
            let text = format!(
                "sections {first} and {index} both have relocations of `{}`; expected a single table",
                section.display_name()
            );
            return Err(Error::malformed(text).in_section(&table.display_name()));
        }
    }
    Ok(tables)
}

/// Returns the relocations of debug sections, by the index of the section.
fn relocations(image: &Image<'_>, layer: CubinLayer) -> Result<HashMap<usize, Vec<CubinRelocation>>> {
    let mut all: HashMap<usize, Vec<CubinRelocation>> = HashMap::new();
    let tables = tables(image, layer)?;
    let Some(symtab) = image.find(layer.symbols()).filter(|_| !tables.is_empty()) else { return Ok(all) };
    let symbols = symbol_count(image, symtab)?;
    let positions = section_symbols(image, layer, symtab);
    for ((index, has_addend), table) in tables {
        let (section, table) = (&image.sections[index], &image.sections[table]);
        let size = if has_addend { RELA } else { REL };
        let of_table = |error: Error, entry: usize| {
            error.in_section(&table.display_name()).at_offset((entry * size) as u64)
        };
        if !table.contents.len().is_multiple_of(size) {
            let bytes = Count(table.contents.len(), "byte");
            let text = format!("relocation table has {bytes}; expected a multiple of {size}");
            return Err(of_table(Error::malformed(text), table.contents.len() / size));
        }
        let known = all.entry(index).or_default();
        known.reserve_exact(table.contents.len() / size);
        for (number, entry) in table.contents.chunks_exact(size).enumerate() {
            let order = image.order;
            let symbol = u32_at(order, entry, 12);
            let position = positions.get(&symbol).copied();
            let relocation = CubinRelocation {
                offset: u64_at(order, entry, 0),
                kind: u32_at(order, entry, 8),
                symbol: position.map_or(CubinSymbol::Index(symbol), CubinSymbol::Section),
                addend: has_addend.then(|| u64_at(order, entry, 16) as i64),
            };
            if symbol >= symbols {
                let text = format!("relocation has symbol {symbol}; the file has {symbols}");
                return Err(of_table(Error::malformed(text), number));
            }
            if relocation.offset >= section.contents.len() as u64 {
                let text = format!(
                    "relocation applies to offset {:#x}; the section `{}` has {}",
                    relocation.offset,
                    section.display_name(),
                    Count(section.contents.len(), "byte")
                );
                return Err(of_table(Error::malformed(text), number));
            }
            known.push(relocation);
        }
    }
    for relocations in all.values_mut() {
        // Several at one offset have an order that does not depend on the order of tables.
        relocations.sort_by_key(|relocation| (relocation.offset, relocation.addend.is_some()));
    }
    Ok(all)
}

/// Returns the positions of debug sections by their symbols.
fn section_symbols(image: &Image<'_>, layer: CubinLayer, symtab: usize) -> HashMap<u32, usize> {
    let is_debug = |index: &usize| layer.name(&image.sections[*index]).is_some();
    let indices = (0..image.sections.len()).filter(is_debug).zip(0..);
    let positions: HashMap<usize, usize> = indices.collect();
    let table = image.sections[symtab].contents.chunks_exact(SYMBOL_SIZE).zip(0..);
    let of_section = |(symbol, index): (&[u8], u32)| {
        let is_start = u64_at(image.order, symbol, 8) == 0;
        let is_section = elf::SymbolInfo(symbol[4]).st_type() == elf::STT_SECTION && is_start;
        let section = usize::from(u16_at(image.order, symbol, 6));
        Some((index, *positions.get(&section).filter(|_| is_section)?))
    };
    table.filter_map(of_section).collect()
}
