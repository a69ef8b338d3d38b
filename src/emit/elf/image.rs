//! An ELF file in memory: its header, its program headers, and its sections with their contents.

use std::borrow::Cow;
use std::ops::Range;

use object::LittleEndian;
use object::elf;
use object::write::elf::{Encoder, FileHeader, FileHeaderLayout, SectionHeader};

use crate::error::{Error, ErrorKind, Result};
use crate::target::{ElfIdentity, Target};

/// Bytes of the ELF header.
const HEADER: usize = 64;
/// Bytes of a section header.
const SECTION_HEADER: usize = 64;
/// Bytes of a program header.
const PROGRAM_HEADER: usize = 56;
/// The part of AMD's `e_flags` that is the processor, `EF_AMDGPU_MACH`.
const PROCESSOR: u32 = 0xff;
/// The largest alignment that the *file offset* of a section is given. What a section is aligned to in
/// memory, which can be more, is in its header.
const MAX_FILE_ALIGN: u64 = 4096;

/// An ELF file. Bytes that no section and no segment has are known only as part of `input`.
#[derive(Debug)]
pub(super) struct Image<'a> {
    /// The file as it was; empty for a new one.
    input: &'a [u8],
    header: [u8; HEADER],
    /// The program headers.
    pub segments: Vec<Segment>,
    /// The sections by index, [0] being the null section.
    pub sections: Vec<ImageSection<'a>>,
    /// The index of the table of section names, which others may share.
    pub names: usize,
    /// Where the input has that table.
    old_names: Range<usize>,
}

/// A program header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub kind: u32,
    pub offset: u64,
    pub address: u64,
    /// Bytes in the file.
    pub size: u64,
}

/// A section with what it contains.
#[derive(Debug)]
pub(super) struct ImageSection<'a> {
    pub name: Cow<'a, [u8]>,
    /// Its header. `sh_offset` and `sh_size` are set on writing, where the contents are not in place, and
    /// so is `sh_name` of a new section.
    pub header: SectionHeader,
    /// Its contents; empty where the file has none.
    pub contents: Cow<'a, [u8]>,
    /// Whether the input did not have it.
    is_new: bool,
    /// Whether the input has exactly these contents at `sh_offset`.
    is_in_place: bool,
}

impl<'a> ImageSection<'a> {
    /// A section that the input did not have.
    pub fn new(
        name: impl Into<Cow<'a, [u8]>>,
        header: SectionHeader,
        contents: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        Self { name: name.into(), header, contents: contents.into(), is_new: true, is_in_place: false }
    }

    /// Gives it other contents.
    pub fn replace(&mut self, contents: Vec<u8>) {
        self.contents = Cow::Owned(contents);
        self.is_in_place = false;
    }

    /// Whether the file has contents of it.
    fn has_contents(&self) -> bool {
        !matches!(self.header.sh_type, elf::SHT_NULL | elf::SHT_NOBITS)
    }

    /// The end in the input of contents that are in place.
    fn end(&self) -> usize {
        // In place means that the range was found in the input, so that it fits `usize`.
        self.header.sh_offset as usize + self.contents.len()
    }

    /// Its name, to be printed.
    pub fn display_name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

impl<'a> Image<'a> {
    /// A relocatable object with the null section alone. `names` is to become the index of a string table.
    pub fn new(identity: ElfIdentity, names: usize) -> Result<Self> {
        let header = FileHeader {
            os_abi: elf::OsAbi(identity.os_abi),
            abi_version: identity.abi_version,
            e_type: elf::ET_REL,
            e_machine: elf::Machine(identity.machine),
            e_entry: 0,
            e_flags: elf::FileFlags(identity.flags),
        };
        let mut bytes = Vec::with_capacity(HEADER);
        encoder()
            .file_header(&mut bytes, &header, &FileHeaderLayout::default())
            .map_err(|error| Error::bad_argument(error.to_string()))?;
        let header = bytes.try_into().map_err(|_| Error::malformed("an ELF header of the wrong size"))?;
        Ok(Self {
            input: &[],
            header,
            segments: Vec::new(),
            sections: vec![null_section()],
            names,
            old_names: 0..0,
        })
    }

    /// Reads a file: headers and where the contents are.
    pub fn parse(input: &'a [u8]) -> Result<Self> {
        if !input.starts_with(&elf::ELFMAG) {
            return Err(Error::malformed("not an ELF file"));
        }
        let header: [u8; HEADER] =
            *input.first_chunk().ok_or_else(|| Error::from(ErrorKind::Truncated("the ELF header".into())))?;
        let mut image =
            Self { input, header, segments: Vec::new(), sections: Vec::new(), names: 0, old_names: 0..0 };
        if header[4] != elf::ELFCLASS64.0 {
            return Err(unsupported("an ELF file that is not of class ELFCLASS64"));
        }
        if header[5] != elf::ELFDATA2LSB.0 {
            return Err(unsupported("an ELF file that is not little endian"));
        }
        if !matches!(image.file_type(), elf::ET_REL | elf::ET_DYN | elf::ET_EXEC) {
            let text = format!("ELF type {}: neither relocatable nor linked", image.file_type().0);
            return Err(unsupported(text));
        }
        image.parse_segments()?;
        image.parse_sections()?;
        Ok(image)
    }

    fn parse_segments(&mut self) -> Result<()> {
        let (offset, size, count) = (self.u64(32), self.u16(54), self.u16(56));
        if count == 0 {
            return Ok(());
        }
        if !self.is_linked() {
            return Err(unsupported("a relocatable object with program headers"));
        }
        if count == u16::MAX {
            return Err(unsupported("65535 program headers or more"));
        }
        if usize::from(size) != PROGRAM_HEADER {
            return Err(Error::malformed(format!("program headers of {size} bytes")).at_offset(54));
        }
        let table = self.range(offset, u64::from(count) * u64::from(size), "the program headers")?;
        self.segments = table
            .chunks_exact(PROGRAM_HEADER)
            .map(|bytes| Segment {
                kind: u32_at(bytes, 0),
                offset: u64_at(bytes, 8),
                address: u64_at(bytes, 16),
                size: u64_at(bytes, 32),
            })
            .collect();
        for segment in &self.segments {
            self.range(segment.offset, segment.size, "a segment")?;
        }
        Ok(())
    }

    fn parse_sections(&mut self) -> Result<()> {
        let (offset, size, count, names) = (self.u64(40), self.u16(58), self.u16(60), self.u16(62));
        if offset == 0 && count == 0 && self.is_linked() {
            // Stripped of section headers. They start anew, with a table of names that begins with "".
            self.sections.push(null_section());
            self.sections.push(ImageSection::new(b".shstrtab", string_table_header(), vec![0]));
            self.names = 1;
            return Ok(());
        }
        if count == 0 || names == elf::SHN_XINDEX.0 {
            return Err(unsupported("no section headers, or 65280 and more"));
        }
        if usize::from(size) != SECTION_HEADER {
            return Err(Error::malformed(format!("section headers of {size} bytes")).at_offset(58));
        }
        let table = self.range(offset, u64::from(count) * u64::from(size), "the section headers")?;
        for (index, bytes) in table.chunks_exact(SECTION_HEADER).enumerate() {
            let header = section_header(bytes);
            let has_contents = index != 0 && !matches!(header.sh_type, elf::SHT_NULL | elf::SHT_NOBITS);
            let contents = if has_contents {
                self.range(header.sh_offset, header.sh_size, &format!("section {index}"))?
            } else {
                &[]
            };
            let (name, contents) = (Cow::Borrowed(&[][..]), Cow::Borrowed(contents));
            self.sections.push(ImageSection {
                name,
                header,
                contents,
                is_new: false,
                is_in_place: has_contents,
            });
        }
        // A relocatable object is laid out anew, each section with a copy of its contents. If they overlap,
        // as no compiler makes them, the file could grow out of all proportion.
        let total = self.sections.iter().map(|section| section.contents.len());
        if !self.is_linked() && total.fold(0, usize::saturating_add) > self.input.len() {
            return Err(Error::malformed("sections overlap in the file"));
        }
        self.names = names.into();
        self.parse_names()
    }

    fn parse_names(&mut self) -> Result<()> {
        let names = match self.sections.get(self.names) {
            Some(ImageSection { header, contents: Cow::Borrowed(bytes), .. })
                if header.sh_type == elf::SHT_STRTAB && self.names != 0 =>
            {
                self.old_names = header.sh_offset as usize..header.sh_offset as usize + bytes.len();
                *bytes
            }
            _ => return Err(Error::malformed("no table of section names").at_offset(62)),
        };
        if self.is_linked() && self.sections[self.names].header.sh_flags.0 & elf::SHF_ALLOC.0 != 0 {
            return Err(unsupported("section names that are loaded"));
        }
        for (index, section) in self.sections.iter_mut().enumerate().skip(1) {
            let name = string_at(names, section.header.sh_name);
            section.name =
                name.ok_or_else(|| Error::malformed(format!("no name of section {index}")))?.into();
        }
        Ok(())
    }

    /// `size` bytes of the input at `offset`.
    pub fn range(&self, offset: u64, size: u64, what: &str) -> Result<&'a [u8]> {
        let range = offset.checked_add(size).and_then(|end| {
            let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(end).ok()?);
            self.input.get(start..end)
        });
        range.ok_or_else(|| Error::from(ErrorKind::Truncated(what.into())).at_offset(offset))
    }

    /// Refuses an object that is not for this target.
    pub fn check_target(&self, target: &Target) -> Result<()> {
        let identity = target.elf();
        if self.machine().0 != identity.machine {
            return Err(Error::bad_argument(format!(
                "the object is for ELF machine {}, but {} is {}",
                self.machine().0,
                target.name(),
                identity.machine
            )));
        }
        let (found, expected) = (self.u32(48) & PROCESSOR, identity.flags & PROCESSOR);
        if self.machine() == elf::EM_AMDGPU && found != expected {
            return Err(Error::bad_argument(format!(
                "the object is for AMD processor {found:#04x}, but {} is {expected:#04x}",
                target.name()
            )));
        }
        Ok(())
    }

    pub fn file_type(&self) -> elf::FileType {
        elf::FileType(self.u16(16))
    }

    pub fn machine(&self) -> elf::Machine {
        elf::Machine(self.u16(18))
    }

    /// Whether addresses are settled.
    pub fn is_linked(&self) -> bool {
        self.file_type() != elf::ET_REL
    }

    fn u16(&self, offset: usize) -> u16 {
        u16_at(&self.header, offset)
    }

    fn u32(&self, offset: usize) -> u32 {
        u32_at(&self.header, offset)
    }

    fn u64(&self, offset: usize) -> u64 {
        u64_at(&self.header, offset)
    }

    /// The index of the first section of this type.
    pub fn find(&self, kind: elf::SectionType) -> Option<usize> {
        self.sections.iter().position(|section| section.header.sh_type == kind)
    }

    /// Adds a section and returns its index.
    pub fn add(&mut self, section: ImageSection<'a>) -> Result<usize> {
        let index = self.sections.len();
        if index + 1 >= usize::from(elf::SHN_LORESERVE) {
            return Err(unsupported("65279 sections or more"));
        }
        self.sections.push(section);
        Ok(index)
    }

    /// Appends the names of new sections to the table of names. What names the table has stay where they
    /// are, for a symbol table may share it.
    fn add_names(&mut self) -> Result<()> {
        let mut names = core::mem::take(&mut self.sections[self.names].contents).into_owned();
        for section in self.sections.iter_mut().filter(|section| section.is_new) {
            section.header.sh_name = u32::try_from(names.len())
                .map_err(|_| Error::new(ErrorKind::TooLarge("the table of section names".into())))?;
            names.extend_from_slice(&section.name);
            names.push(0);
        }
        self.sections[self.names].replace(names);
        Ok(())
    }

    /// The bytes of the file.
    pub fn write(mut self) -> Result<Vec<u8>> {
        let mut out = if self.is_linked() { self.input[..self.kept_end()].to_vec() } else { vec![0; HEADER] };
        self.add_names()?;
        // What the file had stays in its order, in front of what is new.
        let mut order: Vec<usize> = (1..self.sections.len()).collect();
        order.sort_by_key(|&index| match &self.sections[index] {
            section if section.is_in_place => section.header.sh_offset,
            _ => u64::MAX,
        });
        let is_linked = self.is_linked();
        for index in order {
            let section = &mut self.sections[index];
            if section.has_contents() && !(is_linked && section.is_in_place) {
                pad(&mut out, section.header.sh_addralign.clamp(1, MAX_FILE_ALIGN));
                section.header.sh_offset = out.len() as u64;
                section.header.sh_size = section.contents.len() as u64;
                out.extend_from_slice(&section.contents);
            }
        }
        pad(&mut out, 8);
        let table = out.len() as u64;
        for section in &self.sections {
            encoder().section_header(&mut out, &section.header);
        }
        // Of the ELF header, only what says where the section headers are changes. The casts lose nothing:
        // `add` keeps the number of sections below 65280.
        let mut header = self.header;
        header[40..48].copy_from_slice(&table.to_le_bytes());
        header[58..60].copy_from_slice(&(SECTION_HEADER as u16).to_le_bytes());
        header[60..62].copy_from_slice(&(self.sections.len() as u16).to_le_bytes());
        header[62..64].copy_from_slice(&(self.names as u16).to_le_bytes());
        out[..HEADER].copy_from_slice(&header);
        Ok(out)
    }

    /// Where the input is cut off before a linked object is written: behind all that stays. The old
    /// section headers and names are in nobody's way where they are not last.
    fn kept_end(&self) -> usize {
        let segments = self.segments.iter().map(|segment| (segment.offset + segment.size) as usize);
        let sections = self.sections.iter().filter(|section| section.is_in_place).map(ImageSection::end);
        // All of this was found to be inside of the input, so that no sum overflows.
        let programs = match self.segments.len() {
            0 => 0,
            count => self.u64(32) as usize + count * PROGRAM_HEADER,
        };
        let kept = segments.chain(sections).chain([HEADER, programs]).max().unwrap_or(HEADER);

        let mut end = self.input.len();
        let table = (self.u64(40) as usize, usize::from(self.u16(60)) * SECTION_HEADER);
        let old = self.old_names.clone();
        let mut dead = vec![table.0..table.0 + table.1, old];
        // Bytes behind the last section that nothing refers to stay as well: a file may have something
        // appended to it. Zeros that align the next thing are no such bytes.
        while let Some(index) = dead.iter().position(|range| {
            range.start < end
                && range.end <= end
                && end - range.end < 8
                && self.input[range.end..end].iter().all(|&byte| byte == 0)
        }) {
            end = dead.swap_remove(index).start;
        }
        end.max(kept)
    }
}

/// A section header that is all 0.
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

/// The header of a string table.
pub(super) fn string_table_header() -> SectionHeader {
    encoder().strtab_section_header()
}

/// What puts structures into bytes.
pub(super) fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(LittleEndian, true, elf::EM_NONE)
}

/// A feature of the file that is not supported.
#[cold]
pub(super) fn unsupported(what: impl Into<String>) -> Error {
    ErrorKind::Unsupported(what.into()).into()
}

fn pad(out: &mut Vec<u8>, align: u64) {
    // `align` is at most MAX_FILE_ALIGN.
    out.resize(out.len().next_multiple_of(align as usize), 0);
}

fn section_header(bytes: &[u8]) -> SectionHeader {
    SectionHeader {
        sh_name: u32_at(bytes, 0),
        sh_type: elf::SectionType(u32_at(bytes, 4)),
        sh_flags: elf::SectionFlags(u64_at(bytes, 8)),
        sh_addr: u64_at(bytes, 16),
        sh_offset: u64_at(bytes, 24),
        sh_size: u64_at(bytes, 32),
        sh_link: u32_at(bytes, 40),
        sh_info: u32_at(bytes, 44),
        sh_addralign: u64_at(bytes, 48),
        sh_entsize: u64_at(bytes, 56),
    }
}

/// The string at an offset of a string table, without the zero byte at its end.
pub(super) fn string_at(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, offset))
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, offset))
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, offset))
}

/// Called with offsets of fields in entries of a known size only.
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[offset..offset + N]);
    array
}
