//! ELF files: sections with relocations applied, and symbols with addresses.
//!
//! In a relocatable object every section starts at address 0, so that pcs in two text sections would be
//! indistinguishable. Each loaded section is therefore assigned a separate address: 0x10000 for the first section, then
//! multiples of 0x1000 (0x100 if addresses have 16 bits), never adjacent. Relocations and symbols use these addresses.
//! Linked files keep their addresses.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use super::companions::Companions;
use super::elf_header::{File, Header, SHT_GROUP, place_sections};
use super::errors::MOST;
use super::mercury;
use super::pc_notation::{CodeSection, PcNotation, code_sections};
use super::reloc::{self, Applied, Unapplied};
use super::symbols::SymbolsByAddress;
use super::unreadable::UnreadableField;
use crate::error::{At, Count, Error, Result};
use crate::target::{Gfx, Sm, Target, Wave};

/// `EM_X86_64`.
pub(super) const X86_64: u16 = 62;
/// `EM_AARCH64`.
pub(super) const AARCH64: u16 = 183;
/// `EM_RISCV`.
pub(super) const RISCV: u16 = 243;
/// `EM_CUDA`.
pub(super) const CUDA: u16 = 190;
/// `EI_OSABI` in cubins with ABI version 8.
const CUDA_OS_ABI: u8 = 0x41;
/// `EM_S390`.
pub(super) const S390: u16 = 22;
/// `EM_AMDGPU`.
pub(super) const AMDGPU: u16 = 224;

const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;

/// Sizes in bytes of the objects at symbols, by name.
pub type Sizes<'s> = HashMap<&'s str, u64>;

/// Addresses for the sections and undefined symbols of a relocatable object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing<'s> {
    /// Debug sections start at 0, and undefined symbols have address 0.
    AsIs,
    /// Simulates linking after other objects: the debug sections that sections refer to by offset, except
    /// `.debug_info`, begin with bytes that are not in the file, a different number in each, and undefined symbols have
    /// addresses after all sections, each with room for its size. So has symbol 0, because a relocation without a
    /// symbol is right by accident where a section starts at 0.
    Linked(&'s Sizes<'s>),
    /// Simulates linking `.debug_info` after [`INFO_BEHIND`] bytes from other objects: references to the section are
    /// moved, its contents are not.
    InfoBehind,
}

/// Number of bytes by which [`Placing::InfoBehind`] moves references to `.debug_info`: more than the section has, and few
/// enough for fields of four bytes.
pub const INFO_BEHIND: u64 = 0x4000_0000;

/// Minimum distance in bytes between assigned addresses of undefined symbols, and their alignment.
const BETWEEN: u64 = 0x100;

/// Sections that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// The file's sections.
    Originals,
    /// Mercury copies of them.
    Mercury,
    /// The sections in a PTX text.
    Ptx,
}

impl Layer {
    /// Prefix of the names in the file.
    fn prefix(self) -> &'static str {
        match self {
            Self::Originals | Self::Ptx => "",
            Self::Mercury => mercury::PREFIX,
        }
    }
}

/// An ELF file.
#[derive(Debug, Clone)]
pub struct Object<'d> {
    machine: u16,
    flags: u32,
    is_relocatable: bool,
    groups: Groups<'d>,
    is_fixed: bool,
    os_abi: u8,
    is_64: bool,
    big_endian: bool,
    sections: Vec<ElfSection<'d>>,
    symbols: Vec<ElfSymbol<'d>>,
    /// Made when a symbol is looked for by name.
    by_name: OnceLock<ByName>,
    /// Made when a symbol is looked for by address.
    by_address: OnceLock<SymbolsByAddress>,
    code: Code,
    symbol_fields: Vec<SymbolField>,
    stale: Option<StaleFields>,
    mercury_copies: Vec<MercuryCopy>,
    layer: Layer,
    supplementary: Option<Box<Object<'d>>>,
    /// Sorted by section and offset.
    unreadable: Vec<UnreadableField>,
    errors: Vec<Error>,
}

/// Sections with code, collected at the first request.
#[derive(Debug, Clone, Default)]
struct Code {
    ranges: OnceLock<Vec<Range<u64>>>,
    /// Empty if pcs are written as addresses.
    named: OnceLock<Vec<CodeSection>>,
}

/// Parts of an object that was not read from an ELF file.
pub(super) struct Parts<'d> {
    /// Number of NVIDIA's processor; 0 if it is unknown.
    pub(super) number: u16,
    pub(super) sections: Vec<ElfSection<'d>>,
    pub(super) symbols: Vec<ElfSymbol<'d>>,
}

/// A section `.nv.merc.*` in a cubin for sm_100 and later: a copy for the finalizer. [`Object::read_mercury`] reads the
/// copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MercuryCopy {
    /// Index of the copy in [`Object::sections`].
    pub copy: usize,
    /// Index of the section with the original's name, if the file has it.
    pub original: Option<usize>,
    /// Whether the contents in the file are equal.
    pub is_equal: bool,
}

fn mercury_copies(sections: &[ElfSection<'_>]) -> Vec<MercuryCopy> {
    let copies = sections.iter().enumerate().filter_map(|(copy, section)| {
        let name = section.name.strip_prefix(mercury::PREFIX)?;
        let original = sections.iter().position(|section| section.name == name);
        let is_equal = original.is_some_and(|original| sections[original].data == section.data);
        Some(MercuryCopy { copy, original, is_equal })
    });
    copies.collect()
}

/// A section of an ELF file.
#[derive(Debug, Clone)]
pub struct ElfSection<'d> {
    /// Name; a compressed debug section has the name of the uncompressed section.
    pub name: Cow<'d, str>,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Address of the first byte; 0 if not loaded. In a relocatable object, and in a cubin, it is assigned by the
    /// reader.
    pub address: u64,
    /// Size in bytes when loaded. `data` is empty where the file has no contents.
    pub size: u64,
    /// Size in bytes in the section header: of a compressed debug section, that before decompression.
    pub stored: u64,
    /// Compression of a debug section in the file; `None` if it is not compressed.
    pub compression: Option<SectionCompression>,
    /// Contents, decompressed, and with relocations applied in a relocatable object's debug sections (and `.eh_frame`).
    /// If such an object has several debug sections with the same name, as for type units in section groups, the first
    /// section has all their contents in file order, as after linking, and the rest are empty.
    pub data: Cow<'d, [u8]>,
    pub(super) link: u32,
    pub(super) info: u32,
    /// Number of bytes by which the contents are moved: see [`Placing::Linked`].
    #[doc(hidden)]
    pub moved: u64,
}

/// Compression of a debug section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionCompression {
    /// zlib: `ELFCOMPRESS_ZLIB`, and sections `.zdebug_*`.
    Zlib,
    /// Zstandard: `ELFCOMPRESS_ZSTD`.
    Zstd,
}

impl ElfSection<'_> {
    /// Whether the section is loaded (`SHF_ALLOC`).
    pub fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    /// Whether the section is loaded as code (`SHF_EXECINSTR`).
    pub fn is_code(&self) -> bool {
        self.is_loaded() && self.flags & SHF_EXECINSTR != 0
    }

    pub(super) fn is_debug(&self) -> bool {
        self.name.starts_with(".debug_") || self.name.starts_with(".nv_debug_")
    }

    /// Whether sections refer to it by offset, so that it is not read from its start; `.debug_frame` refers to itself.
    fn is_referred_to(&self) -> bool {
        let name = self.name.strip_prefix(".debug_").unwrap_or_default();
        let by_offset =
            ["abbrev", "addr", "frame", "line", "line_str", "loc", "loclists", "macinfo", "macro", "ranges"];
        by_offset.contains(&name) || matches!(name, "rnglists" | "str" | "str_offsets")
    }
}

/// Symbol kind. ELF `st_info`, the low four bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElfSymbolKind {
    /// Unspecified.
    None,
    /// Data.
    Object,
    /// Code.
    Func,
    /// A section.
    Section,
    /// A source file.
    File,
    /// Thread-local data, whose address is its offset in thread-local storage.
    ThreadLocal,
    /// Any other number.
    Other(u8),
}

/// A symbol of an ELF file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElfSymbol<'d> {
    /// Name. A section's symbol has the section's name.
    pub name: Cow<'d, str>,
    /// Index of the section in [`Object::sections`]. `None` if the symbol is absolute or undefined.
    pub section: Option<usize>,
    /// Address, or a thread-local symbol's offset in thread-local storage; 0 if the symbol is undefined.
    pub address: u64,
    /// Size in bytes, 0 if unspecified.
    pub size: u64,
    /// Symbol kind.
    pub kind: ElfSymbolKind,
    /// Whether other files can refer to it.
    pub is_global: bool,
    /// Whether a linker can take another file's definition instead: a weak or a unique symbol, as the copies of an inline
    /// function have it.
    pub is_replaceable: bool,
    /// Whether this file defines it.
    pub is_defined: bool,
}

impl ElfSymbol<'_> {
    /// Whether it marks the start of code or data for Arm or RISC-V (`$x`, `$d`, `$a`, `$t`), and names nothing.
    pub fn is_mark(&self) -> bool {
        ["$x", "$d", "$a", "$t"].iter().any(|mark| self.name.starts_with(mark))
    }
}

/// A field in a debug section, or in `.eh_frame`, that holds the address of a symbol which the number does not tell: an
/// undefined symbol, whose address was taken as 0, or a cubin's symbol for data, whose memory is one of several that begin
/// at 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolField {
    /// Index of the section in [`Object::sections`].
    pub section: usize,
    /// Offset in bytes from the section's start.
    pub offset: u64,
    /// Index of the symbol in [`Object::symbols`].
    pub symbol: usize,
}

/// Debug section and `.eh_frame` fields whose stored number is neither 0 nor the relocation's addend. The relocation
/// replaces the number, so that only a reader that applies no relocations gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaleFields {
    /// Number of fields.
    pub count: usize,
    /// Index of the first field's section in [`Object::sections`].
    pub section: usize,
    /// Offset of the first field in bytes from the section's start.
    pub offset: u64,
    /// Number that the file has there.
    pub stored: u64,
    /// Addend of the relocation.
    pub addend: u64,
}

impl<'d> Object<'d> {
    /// Reads an ELF file of either class and byte order. Debug section fields whose relocations cannot be applied are
    /// [unreadable](Self::unreadable_fields): the relocation type is neither an address nor an offset, or belongs to
    /// another machine. Compressed debug sections are decompressed, with the cargo feature `compress`. Linked files for
    /// every machine can be read; relocations are supported for NVIDIA's and AMD's GPUs and for 18 kinds of CPUs, from
    /// x86-64 to MSP430; [`read_for`](Self::read_for) adds a target's relocations.
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) or [`Truncated`](crate::error::ErrorKind::Truncated) where the
    /// file is not ELF or is damaged; [`Unsupported`](crate::error::ErrorKind::Unsupported) for other methods of compression,
    /// and for any compression without the feature; [`TooLarge`](crate::error::ErrorKind::TooLarge) if the compressed
    /// sections expand to more than 128 times the file's size, and more than 64 MiB.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::Object;
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// // A relocatable file: the reader gives each section separate addresses, and applies the
    /// // relocations.
    /// let object = Object::read(bytes)?;
    /// let start = object.symbol_address("squares").expect("the function");
    /// // 0x26 bytes, as `readelf -s` prints.
    /// assert_eq!(object.code(), [start..start + 0x26]);
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn read(bytes: &'d [u8]) -> Result<Self> {
        Self::read_placed(bytes, Placing::AsIs, None)
    }

    /// Reads an ELF file for a target that can have a machine unknown to this crate: the target's [relocation
    /// types](crate::target::ElfIdentity::relocations) are supported too.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    pub fn read_for(bytes: &'d [u8], target: &Target) -> Result<Self> {
        Self::read_placed(bytes, Placing::AsIs, Some(target))
    }

    /// Reads a relocatable object with simulated addresses for items that the linker places.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    #[doc(hidden)]
    pub fn read_placed(bytes: &'d [u8], placing: Placing<'_>, target: Option<&Target>) -> Result<Self> {
        if crate::ptx::is_ptx(bytes) {
            return super::ptx::object(bytes, placing);
        }
        let header = Header::read(bytes)?;
        let sections = header.sections(bytes)?;
        Self::of_sections(bytes, &header, sections, (placing, Layer::Originals), target)
    }

    /// Reads the Mercury copies of a cubin's sections, as the sections of an object: debug sections `.nv.merc.*` in cubins
    /// for sm_100 and later, from which nvlink and the driver make the debug sections of the code that they finalize.
    /// `None` without such sections.
    ///
    /// The object's sections have the names of the originals, and the indices of the file. A pc counts bytes of Mercury
    /// code, another encoding of the function's code, in which an instruction has 16 or 32 bytes. Errors name the sections
    /// as in the file.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    ///
    /// ```
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// # fn print(bytes: &[u8]) -> eitri_dwarf::Result<()> {
    /// if let Some(copies) = Object::read_mercury(bytes)? {
    ///     let dwarf = Dwarf::read(&copies)?;
    ///     println!("{} entries for the finalizer", dwarf.entries().count());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_mercury(bytes: &'d [u8]) -> Result<Option<Self>> {
        if crate::ptx::is_ptx(bytes) {
            return Ok(None);
        }
        let header = Header::read(bytes)?;
        let mut sections = header.sections(bytes)?;
        if header.machine != CUDA || !mercury::select(&header, &mut sections)? {
            return Ok(None);
        }
        let layer = (Placing::AsIs, Layer::Mercury);
        Self::of_sections(bytes, &header, sections, layer, None).map(Some)
    }

    /// Makes the object of a file's sections: assigns addresses, and applies the relocations.
    fn of_sections(
        bytes: &'d [u8],
        header: &Header,
        mut sections: Vec<ElfSection<'d>>,
        (placing, layer): (Placing<'_>, Layer),
        target: Option<&Target>,
    ) -> Result<Self> {
        let file = File { prefix: layer.prefix(), ..header.file() };
        if header.is_placed() {
            place_sections(&mut sections, header.machine)?;
        }
        let sizes = match placing {
            Placing::Linked(sizes) if header.is_relocatable => Some(sizes),
            _ => None,
        };
        if sizes.is_some() {
            for (section, by) in sections.iter_mut().filter(|section| section.is_referred_to()).zip(1..) {
                section.moved = 0x40 * by;
            }
        }
        if header.is_relocatable && placing == Placing::InfoBehind {
            for section in sections.iter_mut().filter(|section| section.name == ".debug_info") {
                section.moved = INFO_BEHIND;
            }
        }
        // Sections with the same name are concatenated in the first of them.
        let merged = if header.is_relocatable { merged(&sections, bytes.len())? } else { Vec::new() };
        for section in &mut sections {
            section.address = section.address.wrapping_add(section.moved);
        }
        for part in &merged {
            let start = sections[part.into].address;
            sections[part.section].moved = 0;
            sections[part.section].address = start.wrapping_add(part.offset);
        }
        let (table, mut symbols) = header.symbols(&sections)?;
        if let Some(sizes) = sizes {
            place_symbols(&mut symbols, &sections, sizes);
        }
        let groups = groups(header, &sections, &symbols, &merged);
        let mercury_copies = if header.machine == CUDA { mercury_copies(&sections) } else { Vec::new() };
        let mut applied = Applied::default();
        if header.is_placed() {
            let known = target.map(Target::elf);
            applied = reloc::apply(&mut sections, &symbols, table, &file, known);
        }
        let Applied { symbols: mut symbol_fields, mut stale, mut unapplied, mut errors } = applied;
        merge(&mut sections, &merged, &mut symbol_fields, &mut unapplied);
        if let Some(stale) = &mut stale
            && let Ok(number) = merged.binary_search_by_key(&stale.section, |part| part.section)
        {
            (stale.section, stale.offset) = (merged[number].into, stale.offset + merged[number].offset);
        }
        if sizes.is_some() {
            for section in sections.iter_mut().filter(|section| section.moved != 0) {
                section.data = [&foreign_bytes(section)[..], &section.data].concat().into();
                section.address = 0;
            }
        }
        let unreadable = unreadable(&sections, unapplied, file.prefix);
        errors.extend(unreadable.iter().map(|field| field.error.clone()).take(MOST));
        if placing == Placing::InfoBehind {
            for section in sections.iter_mut().filter(|section| section.moved != 0) {
                (section.address, section.moved) = (section.address.wrapping_sub(section.moved), 0);
            }
        }
        Ok(Self {
            machine: header.machine,
            os_abi: header.os_abi,
            flags: header.flags,
            is_relocatable: header.is_relocatable,
            groups,
            is_fixed: header.is_fixed,
            is_64: header.is_64,
            big_endian: header.big_endian,
            sections,
            symbols,
            by_name: OnceLock::new(),
            by_address: OnceLock::new(),
            code: Code::default(),
            symbol_fields,
            stale,
            mercury_copies,
            layer,
            supplementary: None,
            unreadable,
            errors,
        })
    }

    /// Reads an ELF file with the contents of its [supplementary file](Self::set_supplementary), if they are known, for
    /// a target that can have an unknown machine, as [`read_for`](Self::read_for) does. If the supplementary file
    /// cannot be read, or belongs to different objects, [`errors`](Self::errors) has the error.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns for the object itself.
    pub fn read_with(
        bytes: &'d [u8],
        supplementary: Option<&'d [u8]>,
        target: Option<&Target>,
    ) -> Result<Self> {
        let mut object = Self::read_placed(bytes, Placing::AsIs, target)?;
        if let Some(bytes) = supplementary {
            let other = Self::read(bytes);
            if let Err(error) = other.and_then(|other| object.set_supplementary(other)) {
                let place = At { supplementary_file: object.supplementary_name(), ..At::default() };
                object.errors.push(error.or_at(place));
            }
        }
        Ok(object)
    }

    /// Sets the supplementary file, to whose strings and entries attributes refer: `.debug_sup` (DWARF 5 section 7.3.6), or
    /// `.gnu_debugaltlink` of dwz. [`Companions::supplementary`] is its name. What it refers to in other files is not
    /// read.
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) if the object names no such file, or names it with a different
    /// id or checksum.
    pub fn set_supplementary(&mut self, other: Object<'d>) -> Result<()> {
        let own = Companions::of_sections(self.contents(), self.big_endian);
        own.check_supplementary(&Companions::of_sections(other.contents(), other.big_endian))?;
        self.supplementary = Some(Box::new(other));
        Ok(())
    }

    /// Returns the supplementary file, if it is [set](Self::set_supplementary).
    pub fn supplementary(&self) -> Option<&Object<'d>> {
        self.supplementary.as_deref()
    }

    pub(super) fn supplementary_name(&self) -> Option<String> {
        Some(Companions::of_sections(self.contents(), self.big_endian).supplementary?.0)
    }

    /// Returns names and contents of the sections.
    fn contents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.sections.iter().map(|section| (&*section.name, &*section.data))
    }

    /// Returns the fields whose relocations cannot be applied, sorted by section and offset.
    pub fn unreadable_fields(&self) -> &[UnreadableField] {
        &self.unreadable
    }

    /// Returns the errors for parts that cannot be read: at most 4096 relocations, and a supplementary file that does
    /// not fit.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Returns section names and contents. No other part of the file is read.
    #[doc(hidden)]
    pub fn raw_sections(bytes: &'d [u8]) -> Result<Vec<(Cow<'d, str>, &'d [u8])>> {
        Header::read(bytes)?.raw_sections(bytes)
    }

    /// Creates the object for a PTX text. Its addresses are final.
    pub(super) fn of_parts(Parts { number, sections, symbols }: Parts<'d>) -> Self {
        Self {
            machine: CUDA,
            os_abi: CUDA_OS_ABI,
            flags: u32::from(number) << 8,
            is_relocatable: false,
            groups: Groups::new(),
            is_fixed: true,
            is_64: true,
            big_endian: false,
            by_name: OnceLock::new(),
            by_address: OnceLock::new(),
            code: Code::default(),
            sections,
            symbols,
            symbol_fields: Vec::new(),
            stale: None,
            mercury_copies: Vec::new(),
            layer: Layer::Ptx,
            supplementary: None,
            unreadable: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Whether the object is a PTX text, whose pcs count instructions. [`Object::read`] creates an object from a text's
    /// debug sections and line directives, as ptxas does.
    pub fn is_ptx(&self) -> bool {
        self.layer == Layer::Ptx
    }

    /// Returns `e_machine`.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Returns `e_flags`.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether the file is relocatable, with section addresses assigned by the reader.
    pub fn is_relocatable(&self) -> bool {
        self.is_relocatable
    }

    /// Returns the key of the section group whose debug section begins at an offset in the contents, in a relocatable
    /// file. System V ABI, "Section Groups".
    #[doc(hidden)]
    pub fn group_of(&self, section: &str, offset: u64) -> Option<&str> {
        let section = self.sections.iter().position(|candidate| candidate.name == section)?;
        self.groups.get(&(section, offset)).map(|key| &**key)
    }

    /// Whether the file is loaded exactly at its addresses: ELF's type `ET_EXEC`. A relocatable file can become a file
    /// that is loaded anywhere.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Returns the address size in bytes, by the class of the file: 4 or 8.
    pub fn address_bytes(&self) -> u8 {
        if self.is_64 { 8 } else { 4 }
    }

    /// Returns all sections. The index is ELF's; section 0 is empty.
    pub fn sections(&self) -> &[ElfSection<'d>] {
        &self.sections
    }

    /// Returns a name's first section.
    ///
    /// ```
    /// # use eitri_dwarf::read::Object;
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// // `.debug_addr` has a header of 8 bytes and then addresses. The relocations are applied:
    /// // the first is the function's.
    /// let table = object.section(".debug_addr").expect("DWARF 5 has the section");
    /// let first = table.data[8..16].try_into().map(u64::from_le_bytes);
    /// assert_eq!(first.ok(), object.symbol_address("squares"));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn section(&self, name: &str) -> Option<&ElfSection<'d>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the address of the first section with a name.
    pub fn section_address(&self, name: &str) -> Option<u64> {
        Some(self.section(name)?.address)
    }

    /// Returns the addresses of the sections with code, sorted by their start.
    pub fn code(&self) -> &[Range<u64>] {
        self.code.ranges.get_or_init(|| {
            let sections = self.sections.iter().filter(|section| section.is_code());
            let mut code: Vec<_> = sections
                .map(|section| section.address..section.address.saturating_add(section.size))
                .collect();
            code.sort_unstable_by_key(|range| range.start);
            code
        })
    }

    /// Returns how the object's pcs are written: in a cubin, where the reader assigns the addresses, by function.
    pub fn pc_notation(&self) -> PcNotation<'_> {
        let collect = || if self.is_cubin() { code_sections(&self.sections) } else { Vec::new() };
        PcNotation::new(self.code.named.get_or_init(collect))
    }

    /// Returns all symbols, in file order.
    pub fn symbols(&self) -> &[ElfSymbol<'d>] {
        &self.symbols
    }

    /// Returns the symbol with a name; if there are several, a defined symbol.
    ///
    /// ```
    /// # use eitri_dwarf::read::Object;
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// let squares = object.symbol("squares").expect("the function");
    /// assert_eq!((squares.size, squares.is_defined), (0x26, true));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn symbol(&self, name: &str) -> Option<&ElfSymbol<'d>> {
        self.by_name.get_or_init(|| ByName::new(&self.symbols)).find(&self.symbols, name)
    }

    /// Returns the symbol whose code or data is at an address: with several, the symbol that starts last; with several that
    /// start there, a function before data, a symbol with a size, and a global symbol. A symbol without a size reaches up to
    /// the next, or to the end of its section. The offset in the symbol is the difference of the addresses. Symbols of
    /// sections and files, and the marks `$x` and `$d` in code for Arm and RISC-V, do not count.
    ///
    /// The address is as in the file, without load bias; for the caller of a frame, an address in the call instruction. A
    /// stripped program has only the symbols of its dynamic symbol table. The first call makes an index.
    ///
    /// ```
    /// # use eitri_dwarf::read::Object;
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// let start = object.symbol_address("squares").expect("the function");
    /// let symbol = object.symbol_at(start + 0x13).expect("the function");
    /// assert_eq!((&*symbol.name, symbol.address), ("squares", start));
    /// // The function has 0x26 bytes.
    /// assert!(object.symbol_at(start + 0x26).is_none());
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn symbol_at(&self, address: u64) -> Option<&ElfSymbol<'d>> {
        let index = self.by_address.get_or_init(|| SymbolsByAddress::new(&self.symbols, &self.sections));
        index.find(address).and_then(|index| self.symbols.get(index))
    }

    /// Returns the address of the symbol with a name, if the file defines it.
    pub fn symbol_address(&self, name: &str) -> Option<u64> {
        self.symbol(name).filter(|symbol| symbol.is_defined).map(|symbol| symbol.address)
    }

    /// Returns the fields in debug sections and `.eh_frame` that hold addresses of undefined symbols, and of a cubin's
    /// symbols for data, by section and offset.
    pub fn symbol_fields(&self) -> &[SymbolField] {
        &self.symbol_fields
    }

    /// Returns the fields whose stored numbers the relocations replace, if any. ELF for x86-64, "Relocation": a `Rela`
    /// entry's addend is in the entry, and not in the field.
    pub fn stale_fields(&self) -> Option<StaleFields> {
        self.stale
    }

    /// Returns the AMD processor in the flags. `None` for other machines and unknown processors.
    pub fn gfx(&self) -> Option<Gfx> {
        let mach = |gfx| {
            let wave = [Wave::W32, Wave::W64].into_iter().find(|&wave| Gfx::runs(gfx, wave))?;
            Some(Target::amdgpu(gfx, wave).ok()?.elf().flags & 0xff)
        };
        (self.machine == AMDGPU)
            .then(|| Gfx::all().find(|&gfx| mach(gfx) == Some(self.flags & 0xff)))
            .flatten()
    }

    /// Returns a cubin's sections that copy other sections.
    pub fn mercury_copies(&self) -> &[MercuryCopy] {
        &self.mercury_copies
    }

    /// Whether the sections are the [Mercury copies](Self::read_mercury).
    pub fn is_mercury(&self) -> bool {
        self.layer == Layer::Mercury
    }

    /// Returns a cubin's processor, from its flags. `None` for other machines and unknown processors.
    pub fn sm(&self) -> Option<Sm> {
        // Before ABI version 8, with OSABI 0x33, the number is in the low byte.
        let number = if self.os_abi == CUDA_OS_ABI { self.flags >> 8 } else { self.flags };
        Sm::numbered((number & 0xff) as u16).filter(|_| self.machine == CUDA)
    }

    /// Whether the file is a cubin: an object or program of NVIDIA's machine.
    pub fn is_cubin(&self) -> bool {
        self.machine == CUDA
    }

    /// Returns the wave size in all kernel descriptors: bit 10 of `kernel_code_properties`. `None` if there are no
    /// kernels, or they differ.
    pub fn wave(&self) -> Option<Wave> {
        let mut common = None;
        for symbol in self.symbols.iter().filter(|symbol| symbol.name.ends_with(".kd") && symbol.size == 64) {
            let section = self.sections.get(symbol.section?)?;
            let start = usize::try_from(symbol.address.checked_sub(section.address)?).ok()?;
            let properties = section.data.get(start.checked_add(57)?)?;
            let wave = if properties & 4 != 0 { Wave::W32 } else { Wave::W64 };
            if *common.get_or_insert(wave) != wave {
                return None;
            }
        }
        common
    }

    /// Returns the header's target.
    ///
    /// The header does not contain the wave size for an AMD processor that runs both: it is `wave`, or else the
    /// kernels' size ([`wave`](Self::wave)). `None` if the wave size or the processor is unknown, or the processor does
    /// not run such waves.
    ///
    /// ```
    /// # use eitri_dwarf::read::Object;
    /// # use eitri_dwarf::target::Wave;
    /// # let bytes = include_bytes!("../../data/uspill.o");
    /// let object = Object::read(bytes)?;
    /// // The processor gfx1030 runs waves of 32 and of 64 lanes. The kernel descriptors say 32.
    /// assert_eq!(object.wave(), Some(Wave::W32));
    /// let target = object.target(None).expect("a known processor");
    /// assert_eq!((target.name(), target.lanes()), ("amdgpu-gfx1030-wave32", 32));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn target(&self, wave: Option<Wave>) -> Option<Target> {
        match self.machine {
            X86_64 => return Some(Target::x86_64()),
            CUDA => return self.sm().map(Target::nvptx),
            AARCH64 if !self.big_endian => return Some(Target::aarch64()),
            RISCV if self.is_64 => return Some(Target::riscv64()),
            S390 => return Some(Target::s390x()),
            _ => {}
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

/// Symbol indices by name: for each name the first defined symbol, or else the first symbol.
#[derive(Debug, Clone, Default)]
struct ByName {
    hasher: DefaultHashBuilder,
    indices: HashTable<u32>,
}

impl ByName {
    fn new(symbols: &[ElfSymbol<'_>]) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut indices = HashTable::with_capacity(symbols.len());
        let hash = |name: &str| hasher.hash_one(name);
        for (symbol, index) in symbols.iter().zip(0..).filter(|(symbol, _)| !symbol.name.is_empty()) {
            let known = |index: &u32| &symbols[*index as usize];
            let is_same = |index: &u32| known(index).name == symbol.name;
            match indices.entry(hash(&symbol.name), is_same, |index| hash(&known(index).name)) {
                Entry::Vacant(entry) => drop(entry.insert(index)),
                Entry::Occupied(mut entry) if symbol.is_defined && !known(entry.get()).is_defined => {
                    *entry.get_mut() = index;
                }
                Entry::Occupied(_) => {}
            }
        }
        Self { hasher, indices }
    }

    fn find<'s, 'd>(&self, symbols: &'s [ElfSymbol<'d>], name: &str) -> Option<&'s ElfSymbol<'d>> {
        let is_same = |index: &u32| symbols[*index as usize].name == name;
        let index = self.indices.find(self.hasher.hash_one(name), is_same)?;
        Some(&symbols[*index as usize])
    }
}

/// Returns the bytes of other objects before a section's contents: a string, which differs from each string of the section,
/// or else zeros.
pub(super) fn foreign_bytes(section: &ElfSection<'_>) -> Vec<u8> {
    let is_strings = [".debug_str", ".debug_line_str"].contains(&&*section.name);
    vec![if is_strings { b'?' } else { 0 }; section.moved as usize]
}

/// Assigns disjoint addresses after all sections to symbol 0 and undefined symbols. After the last address, which no program
/// reaches, the addresses wrap around.
fn place_symbols(symbols: &mut [ElfSymbol<'_>], sections: &[ElfSection<'_>], sizes: &Sizes<'_>) {
    let ends = sections.iter().filter(|section| section.is_loaded());
    let mut next = ends.map(|section| section.address.wrapping_add(section.size)).max().unwrap_or(0);
    let is_placed = |(index, symbol): &(usize, &mut ElfSymbol<'_>)| {
        *index == 0 || !symbol.is_defined && !symbol.name.is_empty()
    };
    for (_, symbol) in symbols.iter_mut().enumerate().filter(is_placed) {
        symbol.address = next.wrapping_add(2 * BETWEEN) & !(BETWEEN - 1);
        next = symbol.address.wrapping_add(sizes.get(&*symbol.name).copied().unwrap_or(0));
    }
}

/// A debug section whose contents are appended to an earlier section with the same name.
struct Merged {
    section: usize,
    into: usize,
    /// Offset at which the contents begin in the concatenation.
    offset: u64,
}

/// Keys of section groups, by debug section with the contents and offset in it.
type Groups<'d> = BTreeMap<(usize, u64), Cow<'d, str>>;

/// Returns the group keys for debug sections. System V ABI, "Section Groups": a group has a symbol, whose name is the
/// key, and its contents are a flag word and the member indices.
fn groups<'d>(
    header: &Header,
    sections: &[ElfSection<'d>],
    symbols: &[ElfSymbol<'d>],
    merged: &[Merged],
) -> Groups<'d> {
    let mut keys = Groups::new();
    for group in sections.iter().filter(|section| section.kind == SHT_GROUP) {
        let Some(symbol) = symbols.get(group.info as usize) else { continue };
        for word in group.data.chunks_exact(4).skip(1) {
            let word = [word[0], word[1], word[2], word[3]];
            let member = if header.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
            let member = member as usize;
            if sections.get(member).is_some_and(ElfSection::is_debug) {
                let place = merged.binary_search_by_key(&member, |part| part.section);
                let place = place.map_or((member, 0), |number| (merged[number].into, merged[number].offset));
                keys.insert(place, symbol.name.clone());
            }
        }
    }
    keys
}

/// Returns the debug sections that are concatenated.
///
/// # Errors
/// Sections that share bytes of the file: their concatenation could be larger than the file by any factor.
fn merged(sections: &[ElfSection<'_>], file_bytes: usize) -> Result<Vec<Merged>> {
    let mut firsts: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let mut keys = Vec::new();
    for (section, one) in sections.iter().enumerate().filter(|(_, one)| one.is_debug()) {
        let (into, size) = firsts.entry(&one.name).or_insert((section, 0));
        if *into != section {
            keys.push(Merged { section, into: *into, offset: *size });
        }
        *size += one.data.len() as u64;
    }
    let stored = sections.iter().filter(|section| section.is_debug());
    let stored = stored.fold(0u64, |sum, section| sum.saturating_add(section.stored));
    if !keys.is_empty() && stored > file_bytes as u64 {
        let stored = Count(stored, "byte");
        let file = Count(file_bytes as u64, "byte");
        let text =
            format!("debug sections overlap: together they have {stored:#x}, and the file has {file:#x}");
        return Err(Error::malformed(text));
    }
    Ok(keys)
}

/// Returns the fields whose relocations cannot be applied, sorted by section and offset.
fn unreadable(sections: &[ElfSection<'_>], unapplied: Vec<Unapplied>, prefix: &str) -> Vec<UnreadableField> {
    let mut names = BTreeMap::new();
    let mut fields: Vec<_> = unapplied
        .into_iter()
        .map(|field| {
            let section = &sections[field.section];
            let name = || Arc::<str>::from(format!("{prefix}{}", section.name));
            let name = names.entry(field.section).or_insert_with(name).clone();
            UnreadableField {
                section: name,
                offset: field.offset.saturating_add(section.moved),
                error: field.error,
            }
        })
        .collect();
    fields.sort_by(|first, second| (&first.section, first.offset).cmp(&(&second.section, second.offset)));
    fields
}

fn merge(
    sections: &mut [ElfSection<'_>],
    merged: &[Merged],
    symbol_fields: &mut [SymbolField],
    unapplied: &mut [Unapplied],
) {
    for part in merged {
        let data = std::mem::take(&mut sections[part.section].data);
        sections[part.section].address = 0;
        sections[part.into].data.to_mut().extend_from_slice(&data);
    }
    for place in symbol_fields.iter_mut() {
        if let Ok(number) = merged.binary_search_by_key(&place.section, |part| part.section) {
            place.section = merged[number].into;
            place.offset += merged[number].offset;
        }
    }
    symbol_fields.sort_by_key(|part| (part.section, part.offset));
    for field in unapplied {
        if let Ok(number) = merged.binary_search_by_key(&field.section, |part| part.section) {
            field.section = merged[number].into;
            field.offset = field.offset.saturating_add(merged[number].offset);
        }
    }
}
