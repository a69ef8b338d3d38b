//! Mercury copies: debug sections `.nv.merc.*` in a cubin for sm_100 and later, from which nvlink and the driver make the
//! debug sections of the code that they finalize. Their pcs count bytes of another encoding of the code.
//!
//! A copy has the format of its original. [`select`] gives the copies, with their relocations, their symbols and the
//! extents of the code, the names and types of the originals, so that they are read like these:
//!
//! ```text
//! .nv.merc.debug_info       0x1          .debug_info
//! .nv.merc.rela.debug_info  0x70000082   .rela.debug_info, SHT_RELA
//! .nv.merc.symtab           0x70000085   .symtab, SHT_SYMTAB: sizes of functions in bytes of Mercury code
//! .nv.capmerc.text.k        0x70000016   .text.k, whose contents are not SASS
//! ```

use std::borrow::Cow;

use super::elf::{ElfSection, ElfSymbolKind};
use super::elf_header::{Header, SHT_NULL, SHT_RELA, SHT_STRTAB, SHT_SYMTAB};
use crate::error::{Error, Result};

/// Prefix of a copy's name.
pub(super) const PREFIX: &str = ".nv.merc";
/// Prefix of the name of a section with Mercury code.
const CODE: &str = ".nv.capmerc";
/// Name of the copy of the symbol table.
const SYMBOLS: &str = ".nv.merc.symtab";
/// Types of the copies of the symbol table, and of relocations.
const SHT_MERCURY_SYMTAB: u32 = 0x7000_0085;
const SHT_MERCURY_RELA: u32 = 0x7000_0082;
/// Loaded code.
const CODE_FLAGS: u64 = 6;

/// Replaces the sections by their copies, at the same indices. Returns whether there are any.
///
/// # Errors
/// A symbol table that is cut.
pub(super) fn select<'d>(header: &Header, sections: &mut [ElfSection<'d>]) -> Result<bool> {
    if !sections.iter().any(|section| section.name.starts_with(PREFIX)) {
        return Ok(false);
    }
    for section in sections.iter_mut() {
        if let Some(name) = without(&section.name, PREFIX) {
            section.name = name;
            section.kind = match section.kind {
                SHT_MERCURY_SYMTAB => SHT_SYMTAB,
                SHT_MERCURY_RELA => SHT_RELA,
                kind => kind,
            };
        } else if let Some(name) = without(&section.name, CODE) {
            section.name = name;
            section.flags |= CODE_FLAGS;
            section.size = 0;
        } else if section.kind != SHT_STRTAB && (!section.is_loaded() || section.is_code()) {
            section.name = Cow::Borrowed("");
            section.kind = SHT_NULL;
            section.flags = 0;
            section.data = Cow::Borrowed(&[][..]);
            (section.size, section.stored) = (0, 0);
        }
    }
    let table = |error: Error| error.in_section(SYMBOLS);
    let (_, symbols) = header.symbols(sections).map_err(table)?;
    for symbol in symbols.iter().filter(|symbol| symbol.kind == ElfSymbolKind::Func) {
        let section = symbol.section.and_then(|index| sections.get_mut(index));
        if let Some(section) = section.filter(|section| section.is_code()) {
            let start = symbol.address.wrapping_sub(section.address);
            section.size = section.size.max(start.saturating_add(symbol.size));
        }
    }
    Ok(true)
}

/// Returns a name without its prefix, if it has that.
fn without<'d>(name: &Cow<'d, str>, prefix: &str) -> Option<Cow<'d, str>> {
    Some(match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix(prefix)?),
        Cow::Owned(name) => Cow::Owned(name.strip_prefix(prefix)?.into()),
    })
}
