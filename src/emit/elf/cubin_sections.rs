//! A cubin's debug sections with their relocations, as they are in the file, and as they are to be.
//!
//! In a linked cubin nvlink has applied the relocations of section offsets, and keeps the relocations of addresses,
//! because nvdisasm finds the function of a row by its relocation. Indices of sections and symbols stay.

use std::borrow::Cow;
use std::collections::HashMap;

use object::elf;
use object::write::elf::Rel;

use super::bytes::{u32_at, u64_at};
use super::cubin::{empty_mercury_copies, is_debug_section};
use super::image::{Image, unsupported};
use super::in_place::write_in_place;
use super::symbols::symbol_count;
use crate::error::{Count, Error, Result};

/// Relocation sizes in bytes, without and with an addend.
const REL: usize = 16;
const RELA: usize = 24;

/// A debug section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CubinSection<'c> {
    /// Section name. No two debug sections of a linked cubin have one name.
    pub(crate) name: Cow<'c, str>,
    pub(crate) bytes: Cow<'c, [u8]>,
    /// Relocations, sorted by offset.
    pub(crate) relocations: Vec<CubinRelocation>,
}

/// A relocation of a field that keeps it after linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CubinRelocation {
    /// Offset of the field in bytes.
    pub(crate) offset: u64,
    /// Index of the symbol.
    pub(crate) symbol: u32,
    /// NVIDIA's type.
    pub(crate) kind: u32,
    /// The addend; `None` if the field contains it.
    pub(crate) addend: Option<i64>,
}

/// Returns the debug sections of a linked cubin, in the order of their indices.
///
/// # Errors
/// The file is no linked cubin, or malformed; two debug sections have one name; a relocation has no field in its section,
/// or no symbol.
pub(crate) fn cubin_sections(cubin: &[u8]) -> Result<Vec<CubinSection<'_>>> {
    let image = Image::parse(cubin)?;
    check(&image)?;
    let symbols = match image.find(elf::SHT_SYMTAB) {
        Some(symtab) => symbol_count(&image, symtab)?,
        None => 0,
    };
    let mut relocations = relocations(&image, symbols)?;
    let mut sections = Vec::new();
    for (index, section) in image.sections.into_iter().enumerate().filter(|(_, it)| is_debug_section(it)) {
        let name = match section.name {
            Cow::Borrowed(name) => String::from_utf8_lossy(name),
            Cow::Owned(name) => String::from_utf8_lossy(&name).into_owned().into(),
        };
        let relocations = relocations.remove(&index).unwrap_or_default();
        sections.push(CubinSection { name, bytes: section.contents, relocations });
    }
    Ok(sections)
}

/// Returns the cubin with other contents and relocations in its debug sections, which are those of [`cubin_sections`] in
/// their order. Copies for the finalizer become empty. Loaded bytes stay; new contents take the space of the old ones where
/// they all fit, and otherwise follow the file's bytes.
///
/// # Errors
/// As for [`cubin_sections`].
pub(crate) fn with_cubin_sections(cubin: &[u8], sections: &[CubinSection<'_>]) -> Result<Vec<u8>> {
    let mut image = Image::parse(cubin)?;
    check(&image)?;
    let are_debug: Vec<bool> = image.sections.iter().map(is_debug_section).collect();
    let indices = (0..image.sections.len()).filter(|&index| are_debug[index]);
    let indices: Vec<usize> = indices.collect();
    if indices.len() != sections.len() {
        let text = format!("{}; expected {}", Count(sections.len(), "debug section"), indices.len());
        return Err(Error::bad_argument(text));
    }
    // Tables of relocations without and with addends, by the section to which they apply.
    let mut tables: HashMap<(usize, bool), usize> = HashMap::new();
    for (index, section) in image.sections.iter().enumerate() {
        if let Some(has_addend) = has_addends(section.header.sh_type) {
            tables.entry((section.header.sh_info as usize, has_addend)).or_insert(index);
        }
    }
    empty_mercury_copies(&mut image);
    let encoder = image.encoder();
    for (section, &index) in sections.iter().zip(&indices) {
        let mut contents = [Vec::new(), Vec::new()];
        for relocation in &section.relocations {
            let has_addend = relocation.addend.is_some();
            let rel = Rel {
                r_offset: relocation.offset,
                r_sym: relocation.symbol,
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
                None => return Err(unsupported("section has no relocations; expected some")),
            }
        }
        if section.bytes != image.sections[index].contents {
            image.sections[index].replace(section.bytes.to_vec());
        }
    }
    match write_in_place(&image) {
        Some(new) => Ok(new),
        None => image.write(),
    }
}

fn check(image: &Image<'_>) -> Result<()> {
    if !image.is_cubin() || !image.is_linked() {
        return Err(unsupported("the file is no linked cubin"));
    }
    let mut names: Vec<&[u8]> =
        image.sections.iter().filter(|it| is_debug_section(it)).map(|it| &*it.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let text = format!("two sections have the name `{}`", String::from_utf8_lossy(pair[0]));
            Err(Error::malformed(text))
        }
        None => Ok(()),
    }
}

/// Whether a section with this type has relocations with addends; `None` if it has no relocations.
fn has_addends(kind: elf::SectionType) -> Option<bool> {
    match kind {
        elf::SHT_REL => Some(false),
        elf::SHT_RELA => Some(true),
        _ => None,
    }
}

/// Returns the relocations of debug sections, by the index of the section.
fn relocations(image: &Image<'_>, symbols: u32) -> Result<HashMap<usize, Vec<CubinRelocation>>> {
    let mut all: HashMap<usize, Vec<CubinRelocation>> = HashMap::new();
    for table in &image.sections {
        let Some(has_addend) = has_addends(table.header.sh_type) else { continue };
        let index = table.header.sh_info as usize;
        let Some(section) = image.sections.get(index).filter(|it| is_debug_section(it)) else { continue };
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
        for (number, entry) in table.contents.chunks_exact(size).enumerate() {
            let order = image.order;
            let relocation = CubinRelocation {
                offset: u64_at(order, entry, 0),
                kind: u32_at(order, entry, 8),
                symbol: u32_at(order, entry, 12),
                addend: has_addend.then(|| u64_at(order, entry, 16) as i64),
            };
            if relocation.symbol >= symbols {
                let text = format!("relocation has symbol {}; the file has {symbols}", relocation.symbol);
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
        relocations.sort_by_key(|relocation| relocation.offset);
    }
    Ok(all)
}
