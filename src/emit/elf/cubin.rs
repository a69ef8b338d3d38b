//! Sections added to a cubin, NVIDIA's ELF file.
//!
//! A cubin differs from other objects in what its readers need:
//!
//! * Linked files have relocations too: nvdisasm finds the function of line rows by the relocation of their address, and
//!   each function begins at address 0. A field contains its value as well, because other readers apply no relocation.
//! * Sections and symbols keep their indices: code sections, `.nv.info` and the file's flags contain them, some in ways
//!   that NVIDIA does not document. New ones are therefore appended, section symbols too, although they are local.
//!
//! ```text
//! .symtab before   null  locals  globals
//! .symtab after    null  locals  globals  sections
//! ```
//!
//! In the symbol table of Mercury copies, new section symbols are global, because local symbols come first in ELF: for one after
//! global symbols, nvlink 13.5 writes beyond a table, and functions of the linked file get other names.

use std::borrow::Cow;
use std::collections::HashMap;

use object::write::elf::{Rel, SectionHeader, Sym};
use object::{Endian, elf};

use super::bytes::u16_at;
use super::compress::Compression;
use super::existing::Existing;
use super::image::{Image, ImageSection, unsupported};
use super::line_files;
use super::mercury_pcs::SYMBOLS;
use super::ptx_lines;
use super::symbols::{Lookup, SYMBOL_SIZE, defined, symbol_count};
use crate::emit::added::{Added, fits};
use crate::emit::attribute_limit::refuse_many_attributes;
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::{Error, ErrorKind, Result};

/// Clears an FDE's size if the linker drops the function: `R_CUDA_UNUSED_CLEAR64`.
const R_CUDA_UNUSED_CLEAR64: u32 = 0x49;
/// Processors from this number on have relocations with addends only.
const ADDENDS_ONLY: u32 = 90;
/// Copies of sections for the finalizer, with pcs in another encoding of the code.
const MERCURY_PREFIX: &[u8] = b".nv.merc";
const LINES: &str = ".debug_line";
const FRAMES: &str = ".debug_frame";
/// Names of inlined functions, to which line tables refer.
const NAMES: &str = ".debug_str";

/// Adds debug sections to a cubin.
pub(super) fn add(image: &mut Image<'_>, sections: &[Section], existing: Existing) -> Result<()> {
    let processor = image.sm();
    let is_there = |image: &Image<'_>, name: &str| image.sections.iter().any(|it| it.is_filled(name));
    let is_kept = |name: &str| is_kept(existing, name);
    let added = Added::check(|name| is_there(image, name) && !is_kept(name), sections)?;
    let lines =
        image.sections.iter().position(|section| existing == Existing::KeepLines && section.is_filled(LINES));
    if let (Some(lines), Some(section)) = (lines, sections.iter().find(|section| section.name == LINES)) {
        line_files::compare(image.order, &image.sections[lines].contents, &section.bytes)?;
    }
    for section in sections {
        refuse(image, section, sections).map_err(|error| error.in_section(section.name))?;
        refuse_many_attributes(section)?;
    }
    let symtab = image
        .find(elf::SHT_SYMTAB)
        .ok_or_else(|| unsupported("cubin has no symbol table; expected one for the relocations"))?;
    let lookup = [Lookup::new(image, symtab)?];
    let fields = sections.iter().map(|section| Fields::new(image, &lookup, section, lines.is_some()));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    // Sections exist before their symbols and their relocations, which contain their indices.
    let mut indices = Vec::with_capacity(sections.len());
    for (section, fields) in sections.iter().zip(&fields) {
        if let Some(lines) = lines.filter(|_| is_kept(section.name)) {
            indices.push(lines);
            continue;
        }
        indices.push(image.put(
            section_name(sections, section).as_bytes(),
            debug_header(),
            fields.bytes.clone(),
        )?);
    }
    let mut symbols = SectionSymbols::new(image, symtab)?;
    for ((section, fields), &index) in sections.iter().zip(fields).zip(&indices) {
        if lines.is_some() && is_kept(section.name) {
            continue;
        }
        let mut tables = [Vec::new(), Vec::new()];
        let encoder = image.encoder();
        for relocation in fields.relocations {
            let symbol = match relocation.base {
                Base::Symbol(symbol) => symbol,
                // `check` has found the target.
                Base::Section(_) if image.is_linked() => continue,
                Base::Section(name) => {
                    symbols.get(image, indices[added.target(section, name).unwrap_or(0)] as u32)?
                }
            };
            // ptxas keeps addends in fields up to sm_80, except in entries and for offsets, whose addends nvlink loses.
            let has_addend = processor >= ADDENDS_ONLY
                || section.name == ".debug_info"
                || matches!(relocation.base, Base::Section(_))
                || relocation.kind == R_CUDA_UNUSED_CLEAR64;
            let rel = Rel {
                r_offset: relocation.offset,
                r_sym: symbol,
                r_type: elf::RelocationType(relocation.kind),
                r_addend: relocation.addend as i64,
            };
            encoder.relocation(&mut tables[usize::from(has_addend)], has_addend, &rel);
        }
        for (table, has_addend) in
            tables.into_iter().zip([false, true]).filter(|(table, _)| !table.is_empty())
        {
            let prefix: &[u8] = if has_addend { b".rela" } else { b".rel" };
            let header = SectionHeader {
                sh_link: symtab as u32,
                sh_info: index as u32,
                sh_flags: elf::SHF_INFO_LINK,
                ..encoder.relocation_section_header(has_addend)
            };
            image.put(&[prefix, section.name.as_bytes()].concat(), header, table)?;
        }
    }
    symbols.write(image, symtab);
    Ok(())
}

/// Returns the name that an added section gets: that of a PTX text can depend on the text.
pub(super) fn section_name<'s>(all: &[Section], section: &'s Section) -> Cow<'s, str> {
    let named = (section.name == ptx_lines::TEXT).then(|| ptx_lines::named_text(all)).flatten();
    named.map_or(Cow::Borrowed(section.name), Cow::Owned)
}

/// Whether an existing section stays instead of an added one.
pub(super) fn is_kept(existing: Existing, name: &str) -> bool {
    existing == Existing::KeepLines && matches!(name, LINES | NAMES)
}

/// Refuses compression.
pub(super) fn refuse_compression(compression: Compression) -> Result<()> {
    match compression {
        Compression::None => Ok(()),
        #[cfg(feature = "compress")]
        _ => Err(unsupported("NVIDIA's tools read no compressed sections; expected no compression")),
    }
}

/// Empties all debug sections, with their relocations and their copies for the finalizer. The sections stay, because
/// others are known by index.
///
/// Frames stay unless others are added: ptxas writes them without `-g`, too.
pub(super) fn empty_debug_sections(image: &mut Image<'_>, existing: Existing, sections: &[Section]) {
    let has_frames = sections.iter().any(|section| section.name == FRAMES);
    let is_line = |name: &[u8]| {
        matches!(name, b".debug_line" | b".debug_str" | b".nv_debug_line_sass")
            || name.starts_with(b".nv_debug_ptx_txt")
    };
    let is_gone = |section: &ImageSection<'_>| {
        let name = section.name.strip_prefix(MERCURY_PREFIX).unwrap_or(&section.name);
        let is_kept =
            existing == Existing::KeepLines && is_line(name) || !has_frames && name == FRAMES.as_bytes();
        !is_kept && is_debug_name(name) && !section.is_loaded()
    };
    empty(image, is_gone);
}

/// Empties the copies of debug sections for the finalizer.
pub(super) fn empty_mercury_copies(image: &mut Image<'_>) {
    empty(image, |section| {
        section.name.strip_prefix(MERCURY_PREFIX).is_some_and(is_debug_name) && !section.is_loaded()
    });
}

/// Whether a section with a name has debug information. Copies for the finalizer have other names.
pub(super) fn is_debug_name(name: &[u8]) -> bool {
    name.starts_with(b".debug_") || name.starts_with(b".nv_debug_")
}

/// Empties sections, with their relocations.
fn empty(image: &mut Image<'_>, is_emptied: impl Fn(&ImageSection<'_>) -> bool) {
    let are_debug: Vec<bool> = image.sections.iter().map(is_emptied).collect();
    for index in 1..image.sections.len() {
        let section = &image.sections[index];
        let name = &section.name[..];
        let is_relocations = name.starts_with(b".rel") || name.starts_with(b".nv.merc.rel");
        let applies_to = is_relocations.then_some(section.header.sh_info as usize);
        let is_gone = are_debug[index] || applies_to.is_some_and(|to| are_debug.get(to) == Some(&true));
        if is_gone && section.has_contents() && !section.is_loaded() && index != image.names {
            if section.is_in_place {
                image.dead.push(section.header.sh_offset as usize..section.end());
            }
            image.sections[index].replace(Vec::new());
        }
    }
}

/// Refuses a section that a cubin cannot have.
fn refuse(image: &Image<'_>, section: &Section, all: &[Section]) -> Result<()> {
    if section.name == ptx_lines::TEXT && !image.is_linked() && ptx_lines::named_text(all).is_none() {
        return Err(unsupported(
            "relocatable cubins have PTX texts in sections whose names depend on the text; expected a linked cubin, or \
             lines that name the section, as `relocatable_ptx_lines` returns",
        ));
    }
    if section.group.is_some() {
        return Err(unsupported("cubins have no section groups; expected no type units"));
    }
    if section.name == ".eh_frame" {
        return Err(unsupported("cubins have no `.eh_frame`; expected `.debug_frame`"));
    }
    Ok(())
}

/// Section header as ptxas writes it: string sections have no flags either.
pub(super) fn debug_header() -> SectionHeader {
    SectionHeader { sh_type: elf::SHT_PROGBITS, sh_addralign: 1, ..SectionHeader::default() }
}

/// A relocation's symbol.
#[derive(Debug, Clone, Copy)]
enum Base {
    Symbol(u32),
    Section(&'static str),
}

/// A relocation with its addend.
#[derive(Debug, Clone, Copy)]
struct Relocated {
    offset: u64,
    base: Base,
    kind: u32,
    addend: u64,
}

/// A section's contents with filled fields.
#[derive(Debug)]
struct Fields {
    bytes: Vec<u8>,
    relocations: Vec<Relocated>,
}

impl Fields {
    /// Fills in the fields. With `keeps_lines`, entries refer to the only program of the existing line table.
    fn new(image: &Image<'_>, lookup: &[Lookup<'_>], section: &Section, keeps_lines: bool) -> Result<Self> {
        let mut fields = Self { bytes: section.bytes.clone(), relocations: Vec::new() };
        for relocation in &section.relocations {
            let is_line = matches!(relocation.target, RelocationTarget::Section(LINES));
            let addend = if keeps_lines && is_line { 0 } else { relocation.addend };
            let relocation = &Relocation { addend, ..relocation.clone() };
            fields
                .add(image, lookup, relocation)
                .map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
        }
        Ok(fields)
    }

    fn add(&mut self, image: &Image<'_>, lookup: &[Lookup<'_>], relocation: &Relocation) -> Result<()> {
        let &Relocation { offset, bytes, ref target, addend } = relocation;
        const R_CUDA_32: u32 = 1;
        const R_CUDA_64: u32 = 2;
        let kind = if bytes == 4 { R_CUDA_32 } else { R_CUDA_64 };
        let (base, value) = match target {
            RelocationTarget::Section(name) => (Base::Section(name), 0),
            RelocationTarget::Symbol(name) => {
                let (index, symbol) = defined(lookup, name)?;
                (Base::Symbol(index), symbol.value)
            }
            RelocationTarget::Distance(_) => {
                return Err(unsupported("relative relocation is in a section that is not loaded"));
            }
        };
        let value = value.wrapping_add(addend);
        fits(value, bytes)?;
        // `check` has found the field inside the section.
        let field = &mut self.bytes[offset as usize..][..bytes.into()];
        match bytes {
            4 => field.copy_from_slice(&image.order.write_u32(value as u32)),
            _ => field.copy_from_slice(&image.order.write_u64(value)),
        }
        // An FDE's first address follows the offset of its CIE, and its size follows the address.
        let is_after_cie = self.relocations.last().is_some_and(|last| {
            matches!(last.base, Base::Section(FRAMES)) && last.offset + u64::from(bytes) == offset
        });
        self.relocations.push(Relocated { offset, base, kind, addend });
        let size = offset + u64::from(bytes);
        if is_after_cie && !image.is_linked() && size + 8 <= self.bytes.len() as u64 {
            self.relocations.push(Relocated { offset: size, base, kind: R_CUDA_UNUSED_CLEAR64, addend: 0 });
        }
        Ok(())
    }
}

/// Section symbols of a relocatable cubin: the known ones, and new ones at the end of the table.
pub(super) struct SectionSymbols {
    /// Symbol of each section with one.
    known: HashMap<u32, u32>,
    count: u32,
    /// Binding of new symbols.
    binding: elf::SymbolBind,
    table: Vec<u8>,
    names: Vec<u8>,
}

impl SectionSymbols {
    pub fn new(image: &Image<'_>, symtab: usize) -> Result<Self> {
        let count = symbol_count(image, symtab)?;
        let section = &image.sections[symtab];
        let mut known = HashMap::new();
        for (symbol, index) in section.contents.chunks_exact(SYMBOL_SIZE).zip(0..count) {
            if elf::SymbolInfo(symbol[4]).st_type() == elf::STT_SECTION {
                known.entry(u16_at(image.order, symbol, 6).into()).or_insert(index);
            }
        }
        let names = image.sections.get(section.header.sh_link as usize);
        let names = names.filter(|names| names.header.sh_type == elf::SHT_STRTAB).ok_or_else(|| {
            Error::malformed("symbol name table is missing").in_section(&section.display_name())
        })?;
        let mut names = names.contents.to_vec();
        // The table's last string must end before new ones begin.
        if names.last() != Some(&0) {
            names.push(0);
        }
        let is_mercury = section.header.sh_type == SYMBOLS;
        let binding = if is_mercury { elf::STB_GLOBAL } else { elf::STB_LOCAL };
        Ok(Self { known, count, binding, table: Vec::new(), names })
    }

    /// Returns the symbol of a section.
    pub fn get(&mut self, image: &Image<'_>, section: u32) -> Result<u32> {
        if let Some(&symbol) = self.known.get(&section) {
            return Ok(symbol);
        }
        let name = u32::try_from(self.names.len()).map_err(|_| {
            Error::from(ErrorKind::TooLarge("symbol name table needs offsets of more than 32 bits".into()))
        })?;
        self.names.extend_from_slice(&image.sections[section as usize].name);
        self.names.push(0);
        let symbol = Sym {
            section: Some(section),
            st_name: name,
            st_info: self.binding | elf::STT_SECTION,
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SHN_UNDEF,
            st_value: 0,
            st_size: 0,
        };
        image.encoder().symbol(&mut self.table, &symbol);
        let index = self.count;
        self.count += 1;
        self.known.insert(section, index);
        Ok(index)
    }

    /// Appends the new symbols to the table.
    pub fn write(self, image: &mut Image<'_>, symtab: usize) {
        if self.table.is_empty() {
            return;
        }
        let table = &mut image.sections[symtab];
        let old = (table.contents.len() / SYMBOL_SIZE) as u32;
        // From sm_90 on, ptxas counts all symbols as local.
        if table.header.sh_info == old {
            table.header.sh_info = self.count;
        }
        let names = table.header.sh_link as usize;
        table.replace([&table.contents[..], &self.table].concat());
        image.sections[names].replace(self.names);
    }
}
