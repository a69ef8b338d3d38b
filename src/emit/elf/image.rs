//! An ELF file in memory: its header, its program headers, and its sections with their contents.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use object::elf;
use object::write::elf::{Encoder, FileHeader, FileHeaderLayout, SectionHeader};
use object::{Endian, Endianness};

use super::bytes::{string_at, u16_at, u32_at, u64_at};
use crate::error::{Count, Error, ErrorKind, Identity, Result};
use crate::target::Target;

/// ELF header size in bytes.
pub(super) const HEADER: usize = size_of::<elf::FileHeader64<Endianness>>();
/// Section header size in bytes.
pub(super) const SECTION_HEADER: usize = size_of::<elf::SectionHeader64<Endianness>>();
/// Program header size in bytes.
pub(super) const PROGRAM_HEADER: usize = size_of::<elf::ProgramHeader64<Endianness>>();
/// Processor mask in AMD's `e_flags`, `EF_AMDGPU_MACH`.
const PROCESSOR: u32 = 0xff;
/// The largest alignment for a section's *file offset*. The alignment in memory, in the section header, can be larger.
pub(super) const MAX_FILE_ALIGN: u64 = 4096;

/// An ELF file. Bytes outside sections and segments are known only as part of `input`.
#[derive(Debug)]
pub(super) struct Image<'a> {
    /// The original file; empty for a new one.
    pub input: &'a [u8],
    pub header: [u8; HEADER],
    /// Byte order.
    pub order: Endianness,
    /// The program headers.
    pub segments: Vec<Segment>,
    /// The sections by index, [0] being the null section.
    pub sections: Vec<ImageSection<'a>>,
    /// Index of the section name table (`.shstrtab`), which a symbol table may share.
    pub names: usize,
    /// Ranges in `input` that are no longer needed or are rewritten.
    pub dead: Vec<Range<usize>>,
}

/// A program header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub kind: u32,
    pub offset: u64,
    pub address: u64,
    /// Size in the file, in bytes.
    pub size: u64,
}

/// A section with its contents.
#[derive(Debug)]
pub(super) struct ImageSection<'a> {
    pub name: Cow<'a, [u8]>,
    /// The section header. For contents that are not in place, writing sets `sh_offset` and `sh_size`; for a new
    /// section, also `sh_name`.
    pub header: SectionHeader,
    /// The contents; empty for a section without bytes in the file.
    pub contents: Cow<'a, [u8]>,
    /// Whether the section was added to the input.
    pub is_new: bool,
    /// Whether the input has exactly these contents at `sh_offset`.
    pub is_in_place: bool,
}

impl<'a> ImageSection<'a> {
    /// A section to be added to the input.
    pub fn new(
        name: impl Into<Cow<'a, [u8]>>,
        header: SectionHeader,
        contents: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        Self { name: name.into(), header, contents: contents.into(), is_new: true, is_in_place: false }
    }

    /// Replaces the contents.
    pub fn replace(&mut self, contents: Vec<u8>) {
        self.contents = Cow::Owned(contents);
        self.is_in_place = false;
    }

    /// Whether the section has bytes in the file.
    pub fn has_contents(&self) -> bool {
        !matches!(self.header.sh_type, elf::SHT_NULL | elf::SHT_NOBITS)
    }

    /// Whether the section has this name, and contents.
    pub fn is_filled(&self, name: &str) -> bool {
        *self.name == *name.as_bytes() && !self.contents.is_empty()
    }

    /// Whether the section is in memory when the program runs.
    pub fn is_loaded(&self) -> bool {
        self.header.sh_flags.0 & elf::SHF_ALLOC.0 != 0
    }

    /// Where contents that are in place end in the input.
    pub fn end(&self) -> usize {
        // The cast loses nothing, because `parse` found the range in the input.
        self.header.sh_offset as usize + self.contents.len()
    }

    /// Section name, for messages.
    pub fn display_name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

impl<'a> Image<'a> {
    /// A relocatable object with only the null section. The string table at index `names` is yet to be added.
    pub fn new(target: &Target, names: usize) -> Result<Self> {
        let identity = target.elf();
        let order = byte_order(target);
        let header = FileHeader {
            os_abi: elf::OsAbi(identity.os_abi),
            abi_version: identity.abi_version,
            e_type: elf::ET_REL,
            e_machine: elf::Machine(identity.machine),
            e_entry: 0,
            e_flags: elf::FileFlags(identity.flags),
        };
        let mut bytes = Vec::with_capacity(HEADER);
        encoder(order)
            .file_header(&mut bytes, &header, &FileHeaderLayout::default())
            .map_err(|error| Error::bad_argument(error.to_string()))?;
        let header = bytes.try_into().map_err(|bytes: Vec<u8>| {
            Error::malformed(format!("ELF header has the size {}; expected {HEADER}", bytes.len()))
        })?;
        Ok(Self {
            input: &[],
            header,
            order,
            segments: Vec::new(),
            sections: vec![null_section()],
            names,
            dead: Vec::new(),
        })
    }

    /// Parses a file: its headers, and the position of its contents.
    pub fn parse(input: &'a [u8]) -> Result<Self> {
        if !input.starts_with(&elf::ELFMAG) {
            return Err(Error::malformed("not an ELF file"));
        }
        let header: [u8; HEADER] =
            *input.first_chunk().ok_or_else(|| Error::from(ErrorKind::Truncated("the ELF header".into())))?;
        // The class and the byte order are bytes 4 and 5 in `e_ident`.
        if header[4] != elf::ELFCLASS64.0 {
            return Err(unsupported(format!("ELF class is {}; expected ELFCLASS64", header[4])));
        }
        let order = match elf::DataEncoding(header[5]) {
            elf::ELFDATA2LSB => Endianness::Little,
            elf::ELFDATA2MSB => Endianness::Big,
            _ => return Err(unsupported(format!("ELF byte order {} is unknown", header[5]))),
        };
        let mut image = Self {
            input,
            header,
            order,
            segments: Vec::new(),
            sections: Vec::new(),
            names: 0,
            dead: Vec::new(),
        };
        if !matches!(image.file_type(), elf::ET_REL | elf::ET_DYN | elf::ET_EXEC) {
            let text = format!("ELF type {} is neither relocatable nor linked", image.file_type().0);
            return Err(unsupported(text));
        }
        image.parse_segments()?;
        image.parse_sections()?;
        Ok(image)
    }

    fn parse_segments(&mut self) -> Result<()> {
        // `e_phoff`, `e_phentsize` and `e_phnum`.
        let offset = self.u64(32);
        let size = self.u16(54);
        let count = self.u16(56);
        if count == 0 {
            return Ok(());
        }
        if !self.is_linked() {
            return Err(unsupported("relocatable object has program headers"));
        }
        if count == u16::MAX {
            return Err(unsupported("object has 65535 program headers or more"));
        }
        if usize::from(size) != PROGRAM_HEADER {
            return Err(Error::malformed(format!(
                "program header has {size}; expected {PROGRAM_HEADER}",
                size = Count(size, "byte")
            ))
            .at_offset(54));
        }
        let table = self.range(offset, u64::from(count) * u64::from(size), "the program headers")?;
        let order = self.order;
        self.segments = table
            .chunks_exact(PROGRAM_HEADER)
            .map(|bytes| Segment {
                kind: u32_at(order, bytes, 0),
                offset: u64_at(order, bytes, 8),
                address: u64_at(order, bytes, 16),
                size: u64_at(order, bytes, 32),
            })
            .collect();
        for segment in &self.segments {
            self.range(segment.offset, segment.size, "a segment")?;
        }
        Ok(())
    }

    fn parse_sections(&mut self) -> Result<()> {
        // `e_shoff`, `e_shentsize`, `e_shnum` and `e_shstrndx`.
        let offset = self.u64(40);
        let size = self.u16(58);
        let count = self.u16(60);
        let names = self.u16(62);
        if offset == 0 && count == 0 && self.is_linked() {
            // The section headers are stripped, so a name table is added that begins with the empty name.
            self.sections.push(null_section());
            self.sections.push(ImageSection::new(b".shstrtab", string_table_header(), vec![0]));
            self.names = 1;
            return Ok(());
        }
        if count == 0 || names == elf::SHN_XINDEX.0 {
            return Err(unsupported("object has no section headers, or 65280 or more"));
        }
        if usize::from(size) != SECTION_HEADER {
            return Err(Error::malformed(format!(
                "section header has {size}; expected {SECTION_HEADER}",
                size = Count(size, "byte")
            ))
            .at_offset(58));
        }
        let table = self.range(offset, u64::from(count) * u64::from(size), "the section headers")?;
        for (index, bytes) in table.chunks_exact(SECTION_HEADER).enumerate() {
            let header = section_header(self.order, bytes);
            let has_contents = index != 0 && !matches!(header.sh_type, elf::SHT_NULL | elf::SHT_NOBITS);
            let contents = if has_contents {
                self.range(header.sh_offset, header.sh_size, &format!("section {index}"))?
            } else {
                &[]
            };
            let name = Cow::Borrowed(&[][..]);
            let contents = Cow::Borrowed(contents);
            self.sections.push(ImageSection {
                name,
                header,
                contents,
                is_new: false,
                is_in_place: has_contents,
            });
        }
        if !self.keeps_bytes() {
            self.check_overlap()?;
        }
        self.names = names.into();
        self.parse_names()
    }

    /// Refuses overlapping sections, which no compiler generates, because writing a copy for each section could make
    /// the file arbitrarily larger than the input.
    pub fn check_overlap(&self) -> Result<()> {
        let total = self.sections.iter().map(|section| section.contents.len());
        if total.fold(0, usize::saturating_add) > self.input.len() {
            return Err(Error::malformed("sections overlap in the file"));
        }
        Ok(())
    }

    fn parse_names(&mut self) -> Result<()> {
        let names = match self.sections.get(self.names) {
            Some(ImageSection { header, contents: Cow::Borrowed(bytes), .. })
                if header.sh_type == elf::SHT_STRTAB && self.names != 0 =>
            {
                // The table is rewritten with the new sections' names, so its old bytes are free.
                self.dead.push(header.sh_offset as usize..header.sh_offset as usize + bytes.len());
                *bytes
            }
            _ => return Err(Error::malformed("section name table is missing").at_offset(62)),
        };
        if self.is_linked() && self.sections[self.names].is_loaded() {
            return Err(unsupported("section name table is loaded"));
        }
        for (index, section) in self.sections.iter_mut().enumerate().skip(1) {
            let name = string_at(names, section.header.sh_name);
            section.name = name
                .ok_or_else(|| {
                    Error::malformed(format!("section {index} has a name outside the string table"))
                })?
                .into();
        }
        Ok(())
    }

    /// `size` bytes in the input at `offset`.
    pub fn range(&self, offset: u64, size: u64, what: &str) -> Result<&'a [u8]> {
        let range = offset.checked_add(size).and_then(|end| {
            let start = usize::try_from(offset).ok()?;
            let end = usize::try_from(end).ok()?;
            self.input.get(start..end)
        });
        range.ok_or_else(|| Error::from(ErrorKind::Truncated(what.into())).at_offset(offset))
    }

    /// Refuses an object for another target.
    pub fn check_target(&self, target: &Target) -> Result<()> {
        let identity = target.elf();
        if self.machine().0 != identity.machine {
            let expected = identity.machine;
            let machine = self.machine().0;
            return Err(wrong_target(target, [expected, machine].map(Identity::Machine)));
        }
        if self.order != byte_order(target) {
            return Err(wrong_target(target, [byte_order(target), self.order].map(order_of)));
        }
        // Other bits in `e_flags` are features, in which objects for one processor may differ.
        let processor = self.u32(48) & PROCESSOR;
        let expected = identity.flags & PROCESSOR;
        if self.machine() == elf::EM_AMDGPU && processor != expected {
            return Err(wrong_target(target, [expected, processor].map(Identity::Processor)));
        }
        if self.is_cubin() {
            let expected = identity.flags >> 8 & PROCESSOR;
            let processor = self.sm();
            if processor != expected {
                let name = |number: u32| Identity::Name(format!("sm_{number}"));
                return Err(wrong_target(target, [expected, processor].map(name)));
            }
        }
        Ok(())
    }

    /// The encoder for ELF structures in the file's byte order.
    pub fn encoder(&self) -> Encoder<Endianness> {
        encoder(self.order)
    }

    pub fn file_type(&self) -> elf::FileType {
        elf::FileType(self.u16(16))
    }

    pub fn machine(&self) -> elf::Machine {
        elf::Machine(self.u16(18))
    }

    /// Whether the object is linked, so that its addresses are final.
    pub fn is_linked(&self) -> bool {
        self.file_type() != elf::ET_REL
    }

    /// Whether the file is NVIDIA's.
    pub fn is_cubin(&self) -> bool {
        self.machine() == elf::EM_CUDA
    }

    /// Number of NVIDIA's processor, such as 80.
    pub fn sm(&self) -> u32 {
        const OS_ABI: u8 = 0x41;
        let flags = self.u32(48);
        // `EI_OSABI`. Before ABI version 8, the number is in the low byte.
        if self.header[7] == OS_ABI { flags >> 8 & 0xff } else { flags & 0xff }
    }

    /// Whether the file's bytes stay, and changed contents are appended: in a linked file, because segments contain
    /// them; in a cubin, because sections for the finalizer can share bytes with other sections.
    pub fn keeps_bytes(&self) -> bool {
        self.is_linked() || self.is_cubin()
    }

    pub fn u16(&self, offset: usize) -> u16 {
        u16_at(self.order, &self.header, offset)
    }

    pub fn u32(&self, offset: usize) -> u32 {
        u32_at(self.order, &self.header, offset)
    }

    pub fn u64(&self, offset: usize) -> u64 {
        u64_at(self.order, &self.header, offset)
    }

    /// Index of the first section with this type.
    pub fn find(&self, kind: elf::SectionType) -> Option<usize> {
        self.sections.iter().position(|section| section.header.sh_type == kind)
    }

    /// Returns a function that tells whether the file has a section with a name.
    pub fn has_section(&self) -> impl Fn(&str) -> bool {
        let names: HashSet<&[u8]> = self.sections.iter().map(|section| &*section.name).collect();
        move |name| names.contains(name.as_bytes())
    }

    /// Sets a section's header and contents, or adds the section. Returns its index.
    pub fn put(&mut self, name: &[u8], header: SectionHeader, contents: Vec<u8>) -> Result<usize> {
        let Some(index) = self.sections.iter().position(|section| *section.name == *name) else {
            return self.add(ImageSection::new(name.to_vec(), header, contents));
        };
        let section = &mut self.sections[index];
        let sh_name = section.header.sh_name;
        section.header = SectionHeader { sh_name, ..header };
        section.replace(contents);
        Ok(index)
    }

    /// Adds a section and returns its index.
    pub fn add(&mut self, section: ImageSection<'a>) -> Result<usize> {
        let index = self.sections.len();
        if index + 1 >= usize::from(elf::SHN_LORESERVE) {
            return Err(too_many_sections());
        }
        self.sections.push(section);
        Ok(index)
    }
}

/// The null section: every field is 0.
fn null_section() -> ImageSection<'static> {
    let header = SectionHeader::default();
    ImageSection {
        name: Cow::Borrowed(&[]),
        header,
        contents: Cow::Borrowed(&[]),
        is_new: false,
        is_in_place: false,
    }
}

/// Section header for a string table.
pub(super) fn string_table_header() -> SectionHeader {
    // The header is not encoded yet, so the byte order does not matter.
    encoder(Endianness::Little).strtab_section_header()
}

fn encoder(order: Endianness) -> Encoder<Endianness> {
    Encoder::new(order, true, elf::EM_NONE)
}

fn byte_order(target: &Target) -> Endianness {
    if target.is_big_endian() { Endianness::Big } else { Endianness::Little }
}

fn order_of(order: Endianness) -> Identity {
    if order.is_big_endian() { Identity::BigEndian } else { Identity::LittleEndian }
}

/// Error for an ELF feature that is not supported.
pub(super) fn unsupported(what: impl Into<String>) -> Error {
    ErrorKind::Unsupported(what.into()).into()
}

/// Indices from 65280 on are reserved (`SHN_LORESERVE`).
pub(super) fn too_many_sections() -> Error {
    unsupported("object has 65279 sections or more")
}

fn section_header(order: Endianness, bytes: &[u8]) -> SectionHeader {
    SectionHeader {
        sh_name: u32_at(order, bytes, 0),
        sh_type: elf::SectionType(u32_at(order, bytes, 4)),
        sh_flags: elf::SectionFlags(u64_at(order, bytes, 8)),
        sh_addr: u64_at(order, bytes, 16),
        sh_offset: u64_at(order, bytes, 24),
        sh_size: u64_at(order, bytes, 32),
        sh_link: u32_at(order, bytes, 40),
        sh_info: u32_at(order, bytes, 44),
        sh_addralign: u64_at(order, bytes, 48),
        sh_entsize: u64_at(order, bytes, 56),
    }
}

fn wrong_target(target: &Target, [expected, actual]: [Identity; 2]) -> Error {
    ErrorKind::WrongTarget { target: target.name().into(), expected, actual }.into()
}
