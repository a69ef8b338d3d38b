//! ELF files: sections by name with their relocations applied, and symbols with their addresses.
//!
//! In a relocatable object every section starts at address 0, so that pcs of two text sections could not
//! be told apart. Each section that is loaded therefore gets an address of its own here, the first
//! 0x10000, the others after it at multiples of 0x1000 and never touching; relocations and symbols use
//! these. Linked files keep the addresses that they have.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::reloc;
use crate::error::{Error, ErrorKind, Result};
use crate::target::{Gfx, Target, Wave};

/// `EM_X86_64`.
pub(super) const X86_64: u16 = 62;
/// `EM_AMDGPU`.
pub(super) const AMDGPU: u16 = 224;

const ET_REL: u16 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
const SHT_SYMTAB_SHNDX: u32 = 18;
const SHF_ALLOC: u64 = 2;
const SHF_COMPRESSED: u64 = 0x800;
const SHN_LORESERVE: u16 = 0xff00;
const SHN_ABS: u16 = 0xfff1;
const SHN_XINDEX: u16 = 0xffff;

/// Where the first loaded section of a relocatable object is put, and what the others are aligned to.
const FIRST_BASE: u64 = 0x10000;
const BASE_ALIGN: u64 = 0x1000;

/// An ELF file.
#[derive(Debug, Clone)]
pub struct Object<'d> {
    machine: u16,
    flags: u32,
    is_relocatable: bool,
    big_endian: bool,
    sections: Vec<Section<'d>>,
    symbols: Vec<Symbol<'d>>,
    /// Indices of the named symbols, sorted by name; of one name, defined ones first, then in the order of
    /// the file.
    by_name: Vec<u32>,
    undefined: Vec<Undefined>,
}

/// A section of an ELF file.
#[derive(Debug, Clone)]
pub struct Section<'d> {
    /// Its name.
    pub name: Cow<'d, str>,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// The address of its first byte; 0 if it is not loaded. In a relocatable object this is made up.
    pub address: u64,
    /// Its size in bytes when loaded. `data` is empty where the file has no contents for it.
    pub size: u64,
    /// Its contents, with relocations applied if it is a debug section of a relocatable object.
    pub data: Cow<'d, [u8]>,
    pub(super) link: u32,
    pub(super) info: u32,
}

impl Section<'_> {
    /// Whether it is loaded (`SHF_ALLOC`).
    pub fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    pub(super) fn is_debug(&self) -> bool {
        self.name.starts_with(".debug_")
    }
}

/// What a symbol names. ELF `st_info`, the low four bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// Not stated.
    None,
    /// Data.
    Object,
    /// Code.
    Func,
    /// A section.
    Section,
    /// A source file.
    File,
    /// A number of another meaning.
    Other(u8),
}

/// A symbol of an ELF file.
#[derive(Debug, Clone)]
pub struct Symbol<'d> {
    /// Its name. A section's symbol has the name of the section.
    pub name: Cow<'d, str>,
    /// The index of its section in [`Object::sections`]. `None` if it is absolute or not defined.
    pub section: Option<usize>,
    /// Its address; 0 if it is not defined.
    pub address: u64,
    /// Its size in bytes, 0 where that is not stated.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Whether other files see it.
    pub is_global: bool,
    /// Whether this file defines it.
    pub is_defined: bool,
}

/// A place in a debug section that needs the address of a symbol which the file does not define. It was
/// filled in as if that address were 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undefined {
    /// The index of the section in [`Object::sections`].
    pub section: usize,
    /// Bytes from the start of the section.
    pub offset: u64,
    /// The index of the symbol in [`Object::symbols`].
    pub symbol: usize,
}

impl<'d> Object<'d> {
    /// Reads an ELF file of either class and byte order, for x86-64 or an AMD GPU.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) where the file is not
    /// ELF or is damaged; [`Unsupported`](ErrorKind::Unsupported) for other machines, compressed debug
    /// sections, several debug sections of one name (type units in section groups), and relocations in
    /// debug sections of a type that is not an absolute address.
    pub fn read(bytes: &'d [u8]) -> Result<Self> {
        let header = Header::read(bytes)?;
        let mut sections = header.sections(bytes)?;
        if header.is_relocatable {
            place_sections(&mut sections)?;
        }
        let (table, symbols) = header.symbols(&sections)?;
        let undefined = match header.is_relocatable {
            true => reloc::apply(&mut sections, &symbols, table, &header.file())?,
            false => Vec::new(),
        };
        let mut by_name: Vec<u32> =
            (0..symbols.len() as u32).filter(|&index| !symbols[index as usize].name.is_empty()).collect();
        by_name.sort_by_key(|&index| {
            let symbol = &symbols[index as usize];
            (&*symbol.name, !symbol.is_defined)
        });
        Ok(Self {
            machine: header.machine,
            flags: header.flags,
            is_relocatable: header.is_relocatable,
            big_endian: header.big_endian,
            sections,
            symbols,
            by_name,
            undefined,
        })
    }

    /// `e_machine`.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// `e_flags`.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether the file is still to be linked, and section addresses are made up.
    pub fn is_relocatable(&self) -> bool {
        self.is_relocatable
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Every section. The index is ELF's; section 0 is empty.
    pub fn sections(&self) -> &[Section<'d>] {
        &self.sections
    }

    /// The first section of this name.
    pub fn section(&self, name: &str) -> Option<&Section<'d>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The address of the first byte of the first section of this name.
    pub fn section_address(&self, name: &str) -> Option<u64> {
        Some(self.section(name)?.address)
    }

    /// Every symbol, in the order of the file.
    pub fn symbols(&self) -> &[Symbol<'d>] {
        &self.symbols
    }

    /// The symbol of this name; a defined one if there are several.
    pub fn symbol(&self, name: &str) -> Option<&Symbol<'d>> {
        let named = |&index: &u32| &*self.symbols[index as usize].name;
        let first = self.by_name.partition_point(|index| named(index) < name);
        let index = self.by_name.get(first).filter(|index| named(index) == name)?;
        Some(&self.symbols[*index as usize])
    }

    /// The address of the symbol of this name, if the file defines it.
    pub fn symbol_address(&self, name: &str) -> Option<u64> {
        self.symbol(name).filter(|symbol| symbol.is_defined).map(|symbol| symbol.address)
    }

    /// The places in debug sections that need a symbol which the file does not define, by section and
    /// offset.
    pub fn undefined(&self) -> &[Undefined] {
        &self.undefined
    }

    /// The AMD processor that the flags name. `None` for other machines and processors that are not known.
    pub fn gfx(&self) -> Option<Gfx> {
        let mach = |gfx| {
            let wave = [Wave::W32, Wave::W64].into_iter().find(|&wave| Gfx::runs(gfx, wave))?;
            Some(Target::amdgpu(gfx, wave).ok()?.elf().flags & 0xff)
        };
        (self.machine == AMDGPU)
            .then(|| Gfx::all().find(|&gfx| mach(gfx) == Some(self.flags & 0xff)))
            .flatten()
    }

    /// The wave size that all kernel descriptors of the file agree on: bit 10 of `kernel_code_properties`.
    /// `None` without kernels, or where they differ.
    pub fn wave(&self) -> Option<Wave> {
        let mut found = None;
        for symbol in self.symbols.iter().filter(|symbol| symbol.name.ends_with(".kd") && symbol.size == 64) {
            let section = self.sections.get(symbol.section?)?;
            let start = usize::try_from(symbol.address.checked_sub(section.address)?).ok()?;
            let properties = section.data.get(start.checked_add(57)?)?;
            let wave = if properties & 4 != 0 { Wave::W32 } else { Wave::W64 };
            if *found.get_or_insert(wave) != wave {
                return None;
            }
        }
        found
    }

    /// The target that the header names.
    ///
    /// The header does not tell the wave size of an AMD processor that runs both: it is `wave`, or else
    /// what the kernels say ([`wave`](Self::wave)). `None` if that or the processor is not known, or the
    /// processor does not run such waves.
    pub fn target(&self, wave: Option<Wave>) -> Option<Target> {
        if self.machine == X86_64 {
            return Some(Target::x86_64());
        }
        let gfx = self.gfx()?;
        let only = match (gfx.runs(Wave::W32), gfx.runs(Wave::W64)) {
            (true, false) => Some(Wave::W32),
            (false, true) => Some(Wave::W64),
            _ => None,
        };
        Target::amdgpu(gfx, wave.or(only).or_else(|| self.wave())?).ok()
    }
}

/// The machine, class and byte order that relocations depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    pub(super) machine: u16,
    pub(super) is_64: bool,
    pub(super) big_endian: bool,
}

/// What is needed of the ELF header.
struct Header {
    machine: u16,
    flags: u32,
    is_relocatable: bool,
    is_64: bool,
    big_endian: bool,
    section_table: u64,
    section_entry: u64,
    section_count: u16,
    names: u16,
}

/// The numbers of a section header.
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

impl Header {
    fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(Error::malformed("not an ELF file"));
        }
        let ident = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let (is_64, big_endian) = match (ident(4), ident(5)) {
            (class @ 1..=2, order @ 1..=2) => (class == 2, order == 2),
            (class, order) => {
                let text = format!("ELF class {class} and byte order {order}: each should be 1 or 2");
                return Err(Error::malformed(text).at_offset(4));
            }
        };
        const WHAT: &str = "the ELF header";
        let word = if is_64 { 8 } else { 4 };
        let mut from = Cursor::new("", bytes, big_endian).at(16, WHAT)?;
        let kind = from.u16(WHAT)?;
        let machine = from.u16(WHAT)?;
        if !matches!(machine, X86_64 | AMDGPU) {
            let text = format!("ELF machine {machine}: only x86-64 (62) and AMD GPUs (224) are read");
            return Err(Error::new(ErrorKind::Unsupported(text)).at_offset(18));
        }
        from.take(4 + 2 * u64::from(word), WHAT)?;
        let section_table = from.uint(word, WHAT)?;
        let flags = from.u32(WHAT)?;
        from.take(6, WHAT)?;
        let section_entry = from.u16(WHAT)?.into();
        let section_count = from.u16(WHAT)?;
        let names = from.u16(WHAT)?;
        let is_relocatable = kind == ET_REL;
        Ok(Self {
            machine,
            flags,
            is_relocatable,
            is_64,
            big_endian,
            section_table,
            section_entry,
            section_count,
            names,
        })
    }

    fn file(&self) -> File {
        File { machine: self.machine, is_64: self.is_64, big_endian: self.big_endian }
    }

    fn raw_section(&self, bytes: &[u8], index: u64) -> Result<RawSection> {
        const WHAT: &str = "the section table";
        let offset = index.checked_mul(self.section_entry).and_then(|at| at.checked_add(self.section_table));
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

    fn sections<'d>(&self, bytes: &'d [u8]) -> Result<Vec<Section<'d>>> {
        if self.section_table == 0 {
            return Ok(Vec::new());
        }
        let needed = if self.is_64 { 64 } else { 40 };
        if self.section_entry < needed {
            let text = format!("a section header has {} bytes instead of {needed}", self.section_entry);
            return Err(Error::malformed(text));
        }
        // Numbers that do not fit the header stand in the first section header.
        let first = self.raw_section(bytes, 0)?;
        let count = if self.section_count == 0 { first.size } else { self.section_count.into() };
        let names = if self.names == SHN_XINDEX { first.link.into() } else { u64::from(self.names) };
        let names =
            if names == 0 { &[] } else { self.contents(bytes, &self.raw_section(bytes, names)?, "")? };
        let mut sections = Vec::new();
        for index in 0..count {
            let raw = self.raw_section(bytes, index)?;
            let name = text_at(names, raw.name.into());
            let data = if index == 0 { &[] } else { self.contents(bytes, &raw, &name)? };
            let section = Section {
                kind: raw.kind,
                flags: raw.flags,
                address: raw.address,
                size: raw.size,
                data: Cow::Borrowed(data),
                link: raw.link,
                info: raw.info,
                name,
            };
            let is_compressed = section.flags & SHF_COMPRESSED != 0 && section.is_debug();
            if is_compressed || section.name.starts_with(".zdebug_") {
                let text = "the section is compressed, which is not supported";
                return Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(&section.name));
            }
            if section.is_debug() && sections.iter().any(|other: &Section<'_>| other.name == section.name) {
                let text = "several sections of this name, which is not supported";
                return Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(&section.name));
            }
            sections.push(section);
        }
        Ok(sections)
    }

    fn contents<'d>(&self, bytes: &'d [u8], raw: &RawSection, name: &str) -> Result<&'d [u8]> {
        if raw.kind == SHT_NOBITS || raw.size == 0 {
            return Ok(&[]);
        }
        let range = usize::try_from(raw.offset).ok().zip(usize::try_from(raw.size).ok());
        let data = range.and_then(|(start, size)| bytes.get(start..start.checked_add(size)?));
        data.ok_or_else(|| {
            let what = format!("the file, before section `{name}` at {:#x}+{:#x} does", raw.offset, raw.size);
            Error::new(ErrorKind::Truncated(what))
        })
    }

    /// The symbols and the section that has them.
    fn symbols<'d>(&self, sections: &[Section<'d>]) -> Result<(Option<usize>, Vec<Symbol<'d>>)> {
        let find = |kind| sections.iter().position(|section| section.kind == kind);
        let Some(table) = find(SHT_SYMTAB).or_else(|| find(SHT_DYNSYM)) else {
            return Ok((None, Vec::new()));
        };
        let is_wide = |other: &&Section<'_>| other.kind == SHT_SYMTAB_SHNDX && other.link as usize == table;
        let wide = sections.iter().find(is_wide).map_or(&[][..], |section| &section.data);
        let mut wide = Cursor::new("", wide, self.big_endian);
        let names = sections.get(sections[table].link as usize).filter(|names| names.kind == SHT_STRTAB);
        // Both are borrowed from the file: relocations are not applied yet.
        let Cow::Borrowed(names) = names.map_or(Cow::Borrowed(&[][..]), |names| names.data.clone()) else {
            return Ok((None, Vec::new()));
        };
        let mut from = Cursor::new("", &sections[table].data, self.big_endian);
        let mut symbols = Vec::new();
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
            let base = section.filter(|_| self.is_relocatable).map_or(0, |section| sections[section].address);
            let is_defined = section.is_some() || index == SHN_ABS;
            let kind = match info & 0xf {
                0 => SymbolKind::None,
                1 => SymbolKind::Object,
                2 => SymbolKind::Func,
                3 => SymbolKind::Section,
                4 => SymbolKind::File,
                other => SymbolKind::Other(other),
            };
            let name = match (kind, section) {
                (SymbolKind::Section, Some(section)) if name == 0 => sections[section].name.clone(),
                _ => text_at(names, name.into()),
            };
            let address = if is_defined { base.wrapping_add(value) } else { 0 };
            let is_global = info >> 4 != 0;
            symbols.push(Symbol { name, section, address, size, kind, is_global, is_defined });
        }
        Ok((Some(table), symbols))
    }
}

/// Gives every loaded section an address of its own.
fn place_sections(sections: &mut [Section<'_>]) -> Result<()> {
    let mut next = FIRST_BASE;
    for section in sections {
        section.address = 0;
        if section.is_loaded() {
            section.address = next;
            // One byte is kept free, so that the end of one section is not the start of another.
            let end = next.checked_add(section.size).and_then(|end| end.checked_add(BASE_ALIGN));
            next = end.ok_or_else(|| Error::malformed("the size is too large").in_section(&section.name))?
                & !(BASE_ALIGN - 1);
        }
    }
    Ok(())
}

/// The string at an offset of a string table; empty if there is none.
fn text_at(table: &[u8], offset: u64) -> Cow<'_, str> {
    let from = Cursor::new("", table, false).at(offset, "a name");
    let bytes = from.and_then(|mut from| from.string("a name")).unwrap_or_default();
    String::from_utf8_lossy(bytes)
}
