//! New indices for sections and symbols, in every structure that refers to them.

use object::Endianness;
use object::elf;

use super::bytes::{set_u16, set_u32, set_u64, u16_at, u32_at, u64_at};
use super::image::{Image, ImageSection, unsupported};
use super::symbols::SYMBOL_SIZE;
use crate::error::{Count, Error, Result};
use crate::op::{read_uleb, write_uleb};

/// A list of symbol indices as LEB128 numbers.
const SHT_LLVM_ADDRSIG: elf::SectionType = elf::SectionType(0x6fff_4c03);
/// Call weights. The symbols are in a relocation section, but the section links to the symbol table too.
const SHT_LLVM_CALL_GRAPH_PROFILE: elf::SectionType = elf::SectionType(0x6fff_4c09);

/// Maps old section or symbol indices to new ones.
#[derive(Debug)]
pub(super) struct Moved {
    /// "section" or "symbol".
    what: &'static str,
    /// The new indices by old index; `GONE` for removed ones.
    indices: Vec<u32>,
    /// How many new indices there are.
    count: u32,
}

/// An index above every valid one.
const GONE: u32 = u32::MAX;

impl Moved {
    /// The map for `count` items without the removed ones.
    pub fn without(what: &'static str, count: usize, gone: impl Fn(usize) -> bool) -> Self {
        let mut next = 0;
        let index = |old| {
            if gone(old) {
                return GONE;
            }
            next += 1;
            next - 1
        };
        let indices = (0..count).map(index).collect();
        Self { what, indices, count: next }
    }

    /// The map for `count` symbols with `by` symbols inserted at index `first`.
    pub fn with_symbols(count: u32, first: u32, by: u32) -> Self {
        let indices = (0..count).map(|old| if old < first { old } else { old + by }).collect();
        Self { what: "symbol", indices, count: count + by }
    }

    /// The new index for an item that must not be removed.
    pub fn index(&self, old: u32) -> Result<u32> {
        match self.indices.get(old as usize) {
            Some(&GONE) => Err(Error::bad_argument(format!(
                "the object refers to {} {old}, which is replaced",
                self.what
            ))),
            Some(&new) => Ok(new),
            None => Err(Error::malformed(format!(
                "{} {old} is out of range: the object has {}",
                self.what,
                self.indices.len()
            ))),
        }
    }
}

/// Updates symbol indices wherever they are used, in the sections accepted by `stays`. The table itself is already
/// rewritten.
pub(super) fn symbols(
    image: &mut Image<'_>,
    symtab: usize,
    moved: &Moved,
    stays: impl Fn(usize) -> bool,
) -> Result<()> {
    let order = image.order;
    let sections = image.sections.iter_mut().enumerate().skip(1).filter(|(index, _)| stays(*index));
    for (_, section) in sections.filter(|(_, section)| section.header.sh_link as usize == symtab) {
        symbols_of(order, section, moved).map_err(|error| error.in_section(&section.display_name()))?;
    }
    Ok(())
}

/// Updates one section that links to the symbol table and refers to symbols by index.
fn symbols_of(order: Endianness, section: &mut ImageSection<'_>, moved: &Moved) -> Result<()> {
    match section.header.sh_type {
        elf::SHT_RELA | elf::SHT_REL => {
            let size = if section.header.sh_type == elf::SHT_RELA { 24 } else { 16 };
            if !section.contents.len().is_multiple_of(size) {
                return Err(Error::malformed(format!(
                    "relocation table has {}; expected a multiple of {size}",
                    Count(section.contents.len(), "byte")
                )));
            }
            let mut bytes = section.contents.to_vec();
            for entry in bytes.chunks_exact_mut(size) {
                // `r_info`: the symbol in the upper half, the type in the lower half.
                let info = u64_at(order, entry, 8);
                let symbol = moved.index((info >> 32) as u32)?;
                set_u64(order, entry, 8, (u64::from(symbol) << 32) | (info & 0xffff_ffff));
            }
            section.replace(bytes);
        }
        // A group's name is the symbol in `sh_info`.
        elf::SHT_GROUP => section.header.sh_info = moved.index(section.header.sh_info)?,
        elf::SHT_SYMTAB_SHNDX => {
            if section.contents.len() != moved.indices.len() * 4 {
                return Err(Error::malformed(format!(
                    "section with indices for {} has {}; expected 4 bytes for each symbol",
                    Count(moved.indices.len(), "symbol"),
                    Count(section.contents.len(), "byte")
                )));
            }
            let mut bytes = vec![0; moved.count as usize * 4];
            for (old, &new) in section.contents.chunks_exact(4).zip(&moved.indices) {
                if new != GONE {
                    bytes[new as usize * 4..][..4].copy_from_slice(old);
                }
            }
            section.replace(bytes);
        }
        SHT_LLVM_ADDRSIG => {
            let mut bytes = Vec::with_capacity(section.contents.len());
            let mut position = 0;
            while position < section.contents.len() {
                let (old, next) = read_uleb(&section.contents, position).ok_or_else(|| {
                    Error::malformed("symbol index is not a LEB128 number").at_offset(position as u64)
                })?;
                write_uleb(&mut bytes, moved.index(u32::try_from(old).unwrap_or(GONE))?.into());
                position = next;
            }
            section.replace(bytes);
        }
        elf::SHT_NULL | SHT_LLVM_CALL_GRAPH_PROFILE => {}
        other => {
            return Err(unsupported(format!(
                "section type {:#x} refers to symbols in an unknown way",
                other.0
            )));
        }
    }
    Ok(())
}

/// Updates section indices wherever they are used. Removed sections and their symbols are no longer in the image.
pub(super) fn sections(image: &mut Image<'_>, moved: &Moved) -> Result<()> {
    let order = image.order;
    image.names = moved.index(image.names as u32)? as usize;
    for section in image.sections.iter_mut().skip(1) {
        sections_of(order, section, moved).map_err(|error| error.in_section(&section.display_name()))?;
    }
    Ok(())
}

fn sections_of(order: Endianness, section: &mut ImageSection<'_>, moved: &Moved) -> Result<()> {
    let header = &mut section.header;
    header.sh_link = moved.index(header.sh_link)?;
    let is_relocations = matches!(header.sh_type, elf::SHT_RELA | elf::SHT_REL | elf::SHT_CREL);
    // In other sections, `sh_info` is not a section index.
    if is_relocations || header.sh_flags.0 & elf::SHF_INFO_LINK.0 != 0 {
        header.sh_info = moved.index(header.sh_info)?;
    }
    let mut bytes = match header.sh_type {
        elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_GROUP => section.contents.to_vec(),
        elf::SHT_SYMTAB_SHNDX => return Err(unsupported("section indices are outside the symbol table")),
        _ => return Ok(()),
    };
    if section.header.sh_type == elf::SHT_GROUP {
        // The flags come first.
        for member in bytes.chunks_exact_mut(4).skip(1) {
            let index = moved.index(u32_at(order, member, 0))?;
            set_u32(order, member, 0, index);
        }
    } else {
        for symbol in bytes.chunks_exact_mut(SYMBOL_SIZE) {
            let index = u16_at(order, symbol, 6);
            if index < elf::SHN_LORESERVE {
                // The new index fits two bytes, because it is not larger than the old one.
                set_u16(order, symbol, 6, moved.index(index.into())? as u16);
            }
        }
    }
    // A loaded table is accepted if nothing in it changes.
    if bytes == *section.contents {
        return Ok(());
    }
    if section.is_loaded() {
        return Err(unsupported("loaded table contains indices that change"));
    }
    section.replace(bytes);
    Ok(())
}
