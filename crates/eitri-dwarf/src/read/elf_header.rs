//! ELF header, section table and symbol table, for both classes and byte orders.

use std::borrow::Cow;

use super::compress;
use super::cursor::Cursor;
use super::elf::{CUDA, ElfSection, ElfSymbol, ElfSymbolKind};
use super::reloc::{AVR, MSP430};
use crate::error::{Count, Error, ErrorKind, Result};

/// Bindings of symbols.
const STB_LOCAL: u8 = 0;
const STB_GLOBAL: u8 = 1;

const ET_REL: u16 = 1;
const ET_EXEC: u16 = 2;
pub(super) const SHT_NULL: u32 = 0;
pub(super) const SHT_SYMTAB: u32 = 2;
pub(super) const SHT_STRTAB: u32 = 3;
pub(super) const SHT_RELA: u32 = 4;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
pub(super) const SHT_GROUP: u32 = 17;
const SHT_SYMTAB_SHNDX: u32 = 18;
const SHN_LORESERVE: u16 = 0xff00;
const SHN_ABS: u16 = 0xfff1;
const SHN_XINDEX: u16 = 0xffff;

/// Address of the first loaded section in a relocatable object, and alignment for later sections; and the same for
/// machines with 16-bit addresses.
const BASES: (u64, u64) = (0x10000, 0x1000);
const BASES_16: (u64, u64) = (0x100, 0x100);

/// File properties that relocations depend on.
#[derive(Debug, Clone, Copy)]
pub struct File {
    pub(super) machine: u16,
    pub(super) is_64: bool,
    pub(super) big_endian: bool,
    /// Prefix of section names in errors.
    pub(super) prefix: &'static str,
}

/// ELF header fields.
pub(super) struct Header {
    pub(super) machine: u16,
    pub(super) os_abi: u8,
    pub(super) flags: u32,
    pub(super) is_relocatable: bool,
    pub(super) is_fixed: bool,
    pub(super) is_64: bool,
    pub(super) big_endian: bool,
    section_table: u64,
    section_entry: u64,
    section_count: u16,
    names: u16,
}

/// Section header fields.
struct RawSection {
    name: u32,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
}

/// First bytes of archives, offload bundles and fat binaries.
const CONTAINERS: [&[u8]; 5] =
    [b"!<arch>\n", b"!<thin>\n", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", &[0x50, 0xed, 0x55, 0xba]];

impl Header {
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            let is_container = CONTAINERS.iter().any(|magic| bytes.starts_with(magic));
            let hint = if is_container { ", but a container of objects; expected one of them" } else { "" };
            return Err(Error::malformed(format!("not an ELF file{hint}")));
        }
        let ident = |index: usize| bytes.get(index).copied().unwrap_or(0);
        let (is_64, big_endian) = match (ident(4), ident(5)) {
            (class @ 1..=2, order @ 1..=2) => (class == 2, order == 2),
            (class, order) => {
                let text = format!("ELF class is {class} and byte order is {order}; expected 1 or 2");
                return Err(Error::malformed(text).at_offset(4));
            }
        };
        const WHAT: &str = "the ELF header";
        let word = if is_64 { 8 } else { 4 };
        let mut from = Cursor::new("", bytes, big_endian).at(16, WHAT)?;
        let kind = from.u16(WHAT)?;
        let machine = from.u16(WHAT)?;
        from.take(4 + 2 * u64::from(word), WHAT)?;
        let section_table = from.uint(word, WHAT)?;
        let flags = from.u32(WHAT)?;
        from.take(6, WHAT)?;
        let section_entry = from.u16(WHAT)?.into();
        let section_count = from.u16(WHAT)?;
        let names = from.u16(WHAT)?;
        let is_relocatable = kind == ET_REL;
        let is_fixed = kind == ET_EXEC;
        Ok(Self {
            machine,
            os_abi: ident(7),
            flags,
            is_relocatable,
            is_fixed,
            is_64,
            big_endian,
            section_table,
            section_entry,
            section_count,
            names,
        })
    }

    /// Whether the reader chooses section addresses, and applies relocations: in relocatable objects, and in all
    /// cubins, because each cubin function is at address 0.
    pub(super) fn is_placed(&self) -> bool {
        self.is_relocatable || self.machine == CUDA
    }

    pub(super) fn file(&self) -> File {
        File { machine: self.machine, is_64: self.is_64, big_endian: self.big_endian, prefix: "" }
    }

    fn raw_section(&self, bytes: &[u8], index: u64) -> Result<RawSection> {
        const WHAT: &str = "the section table";
        let offset = index
            .checked_mul(self.section_entry)
            .and_then(|distance| distance.checked_add(self.section_table));
        let mut from = Cursor::new("", bytes, self.big_endian).at(offset.unwrap_or(u64::MAX), WHAT)?;
        let word = if self.is_64 { 8 } else { 4 };
        Ok(RawSection {
            name: from.u32(WHAT)?,
            kind: from.u32(WHAT)?,
            flags: from.uint(word, WHAT)?,
            address: from.uint(word, WHAT)?,
            offset: from.uint(word, WHAT)?,
            size: from.uint(word, WHAT)?,
            link: from.u32(WHAT)?,
            info: from.u32(WHAT)?,
        })
    }

    pub(super) fn sections<'d>(&self, bytes: &'d [u8]) -> Result<Vec<ElfSection<'d>>> {
        if self.section_table == 0 {
            return Ok(Vec::new());
        }
        let needed = if self.is_64 { 64 } else { 40 };
        if self.section_entry < needed {
            let text = format!(
                "a section header has at least {}: {}",
                Count(needed, "byte"),
                Count(self.section_entry, "byte")
            );
            return Err(Error::malformed(text));
        }
        // Numbers too large for the header are in the first section header.
        let first = self.raw_section(bytes, 0)?;
        let count = if self.section_count == 0 { first.size } else { self.section_count.into() };
        let names = if self.names == SHN_XINDEX { first.link.into() } else { u64::from(self.names) };
        let names =
            if names == 0 { &[] } else { self.contents(bytes, &self.raw_section(bytes, names)?, "")? };
        let mut sections = Vec::new();
        let mut budget = compress::Budget::new(bytes.len());
        for index in 0..count {
            let raw = self.raw_section(bytes, index)?;
            let name = text_at(names, raw.name.into());
            let data = if index == 0 { &[] } else { self.contents(bytes, &raw, &name)? };
            let mut section = ElfSection {
                kind: raw.kind,
                flags: raw.flags,
                address: raw.address,
                size: raw.size,
                stored: raw.size,
                compression: None,
                data: Cow::Borrowed(data),
                link: raw.link,
                info: raw.info,
                moved: 0,
                name,
            };
            compress::expand(&mut section, self.file(), &mut budget)?;
            sections.push(section);
        }
        Ok(sections)
    }

    /// Returns the names and contents of all sections, as in the file.
    pub(super) fn raw_sections<'d>(&self, bytes: &'d [u8]) -> Result<Vec<(Cow<'d, str>, &'d [u8])>> {
        if self.section_table == 0 || self.section_entry < if self.is_64 { 64 } else { 40 } {
            return Ok(Vec::new());
        }
        let first = self.raw_section(bytes, 0)?;
        let count = if self.section_count == 0 { first.size } else { self.section_count.into() };
        let names = if self.names == SHN_XINDEX { first.link.into() } else { u64::from(self.names) };
        let names = match names {
            0 => &[][..],
            names => self.contents(bytes, &self.raw_section(bytes, names)?, "")?,
        };
        let mut sections = Vec::new();
        for index in 1..count {
            let raw = self.raw_section(bytes, index)?;
            let name = text_at(names, raw.name.into());
            let data = self.contents(bytes, &raw, &name)?;
            sections.push((name, data));
        }
        Ok(sections)
    }

    fn contents<'d>(&self, bytes: &'d [u8], raw: &RawSection, name: &str) -> Result<&'d [u8]> {
        // The other fields of an inactive header mean nothing: gABI, "Sections".
        if matches!(raw.kind, SHT_NULL | SHT_NOBITS) || raw.size == 0 {
            return Ok(&[]);
        }
        let range = usize::try_from(raw.offset).ok().zip(usize::try_from(raw.size).ok());
        let data = range.and_then(|(start, size)| bytes.get(start..start.checked_add(size)?));
        data.ok_or_else(|| {
            let item = format!("section `{name}` at {:#x}+{:#x}", raw.offset, raw.size);
            Error::new(ErrorKind::Truncated(item))
        })
    }

    /// Returns the symbols and their section's index.
    pub(super) fn symbols<'d>(
        &self,
        sections: &[ElfSection<'d>],
    ) -> Result<(Option<usize>, Vec<ElfSymbol<'d>>)> {
        let find = |kind| sections.iter().position(|section| section.kind == kind);
        let Some(table) = find(SHT_SYMTAB).or_else(|| find(SHT_DYNSYM)) else {
            return Ok((None, Vec::new()));
        };
        let is_wide =
            |other: &&ElfSection<'_>| other.kind == SHT_SYMTAB_SHNDX && other.link as usize == table;
        let wide = sections.iter().find(is_wide).map_or(&[][..], |section| &section.data);
        let mut wide = Cursor::new("", wide, self.big_endian);
        let names = sections.get(sections[table].link as usize).filter(|names| names.kind == SHT_STRTAB);
        // Names are borrowed from the file: relocations are not applied yet.
        let Cow::Borrowed(names) = names.map_or(Cow::Borrowed(&[][..]), |names| names.data.clone()) else {
            return Ok((None, Vec::new()));
        };
        let mut from = Cursor::new("", &sections[table].data, self.big_endian);
        let entry_bytes = if self.is_64 { 24 } else { 16 };
        let mut symbols = Vec::with_capacity(from.rest().len() / entry_bytes);
        let thread_start = thread_start(sections);
        while !from.is_at_end() {
            const WHAT: &str = "the symbol table";
            let name = from.u32(WHAT)?;
            let (info, index, value, size);
            if self.is_64 {
                info = from.u8(WHAT)?;
                from.u8(WHAT)?;
                index = from.u16(WHAT)?;
                (value, size) = (from.uint(8, WHAT)?, from.uint(8, WHAT)?);
            } else {
                (value, size) = (from.u32(WHAT)?.into(), from.u32(WHAT)?.into());
                info = from.u8(WHAT)?;
                from.u8(WHAT)?;
                index = from.u16(WHAT)?;
            }
            let wide_index = if wide.is_at_end() { 0 } else { wide.u32(WHAT)? };
            let section = match index {
                0 => None,
                SHN_XINDEX => Some(wide_index as usize),
                SHN_LORESERVE.. => None,
                _ => Some(usize::from(index)),
            };
            let section = section.filter(|&section| section < sections.len());
            let base = section.filter(|_| self.is_placed()).map_or(0, |section| sections[section].address);
            let is_defined = section.is_some() || index == SHN_ABS;
            let kind = match info & 0xf {
                0 => ElfSymbolKind::None,
                1 => ElfSymbolKind::Object,
                2 => ElfSymbolKind::Func,
                3 => ElfSymbolKind::Section,
                4 => ElfSymbolKind::File,
                6 => ElfSymbolKind::ThreadLocal,
                other => ElfSymbolKind::Other(other),
            };
            let name = match (kind, section) {
                (ElfSymbolKind::Section, Some(section)) if name == 0 => sections[section].name.clone(),
                _ => text_at(names, name.into()),
            };
            let base = if kind == ElfSymbolKind::ThreadLocal && self.is_placed() {
                base.wrapping_sub(thread_start)
            } else {
                base
            };
            let address = if is_defined { base.wrapping_add(value) } else { 0 };
            let is_global = info >> 4 != STB_LOCAL;
            let is_replaceable = ![STB_LOCAL, STB_GLOBAL].contains(&(info >> 4));
            symbols.push(ElfSymbol {
                name,
                section,
                address,
                size,
                kind,
                is_global,
                is_replaceable,
                is_defined,
            });
        }
        Ok((Some(table), symbols))
    }
}

/// Whether a machine's addresses have 16 bits, although its files have the class of 32 bits.
pub(super) fn has_16_bit_addresses(machine: u16) -> bool {
    matches!(machine, AVR | MSP430)
}

/// Assigns every loaded section a separate address. In a cubin, these are the functions and then the global memory
/// sections, because constant, shared and local memory have separate address spaces from 0.
pub(super) fn place_sections(sections: &mut [ElfSection<'_>], machine: u16) -> Result<()> {
    let (mut next, align) = if has_16_bit_addresses(machine) { BASES_16 } else { BASES };
    sections.iter_mut().for_each(|section| section.address = 0);
    let kinds: &[fn(&ElfSection<'_>) -> bool] = match machine {
        CUDA => &[
            |section| section.is_code(),
            |section| section.is_loaded() && section.name.starts_with(".nv.global"),
        ],
        _ => &[|section| section.is_loaded()],
    };
    for is_placed in kinds {
        for section in sections.iter_mut().filter(|section| is_placed(section)) {
            section.address = next;
            // At least one byte stays free, so that a section's end is not another section's start.
            let end = next.checked_add(section.size).and_then(|end| end.checked_add(align));
            next = end.ok_or_else(|| {
                Error::malformed("the loaded sections exceed the address space").in_section(&section.name)
            })? & !(align - 1);
        }
    }
    Ok(())
}

/// Returns the address of the first section with thread-local variables. In a relocatable object their offsets count from
/// there, as if the linker left the sections as far apart as the reader places them.
pub(super) fn thread_start(sections: &[ElfSection<'_>]) -> u64 {
    const SHF_TLS: u64 = 0x400;
    let thread_local = sections.iter().filter(|section| section.is_loaded() && section.flags & SHF_TLS != 0);
    thread_local.map(|section| section.address).min().unwrap_or(0)
}

/// Returns the string at a string table offset; empty if there is none.
fn text_at(table: &[u8], offset: u64) -> Cow<'_, str> {
    let from = Cursor::new("", table, false).at(offset, "a name");
    let bytes = from.and_then(|mut from| from.string("a name")).unwrap_or_default();
    // Most names are ASCII, which this finds faster.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
