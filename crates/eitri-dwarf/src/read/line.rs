//! Line program headers: directories and files. DWARF 5 section 6.2.4; versions 2 to 5.

use std::borrow::Cow;

use gimli::{DwForm, DwLnct, constants as dw};

use super::cursor::{Cursor, is_address_size};
use super::line_rows::{InlinedRow, LineRows};
use super::sections::{Base, Sections};
use crate::error::{Count, Error, ErrorKind, Result};

/// A line program with its decoded header. [`rows`](Self::rows) runs the program.
#[derive(Debug, Clone)]
pub struct LineProgram<'o> {
    /// Header offset in `.debug_line`, in bytes.
    pub offset: u64,
    /// Version, 2 to 5.
    pub version: u16,
    /// Address size in bytes; before DWARF 5, the unit's address size.
    pub address_bytes: u8,
    /// 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// Bytes by which a step moves the address.
    pub min_instruction_bytes: u8,
    /// Maximum number of operations in an instruction; 1 except on VLIW machines.
    pub max_operations: u8,
    /// Initial value of `is_stmt`.
    pub default_is_stmt: bool,
    /// Smallest step of the line in a special opcode.
    pub line_base: i8,
    /// Number of different line steps in special opcodes.
    pub line_range: u8,
    /// First special opcode.
    pub opcode_base: u8,
    /// Operand counts for the standard opcodes, starting with opcode 1.
    pub standard_lengths: &'o [u8],
    /// Formats of the directory and file entries; empty before DWARF 5.
    pub formats: [LineFormat; 2],
    /// Directories in the header's order; [`directory`](Self::directory) maps their numbers.
    pub directories: Vec<&'o [u8]>,
    /// Files in the header's order; [`file`](Self::file) maps their numbers.
    pub files: Vec<LineFile<'o>>,
    /// Offset in `.debug_str` where the names of inlined functions begin, in cubins: the header ends with it.
    pub inlined_names: Option<u64>,
    names: &'o [u8],
    /// Opcodes of the program.
    pub(super) program: Cursor<'o>,
}

/// A source file of a line program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineFile<'o> {
    /// Path, relative to the directory unless absolute.
    pub path: &'o [u8],
    /// Number of the [directory](LineProgram::directory).
    pub directory: u64,
    /// Time of the last modification, 0 if unspecified.
    pub modified: u64,
    /// Size in bytes, 0 if unspecified.
    pub size: u64,
    /// MD5 digest.
    pub md5: Option<[u8; 16]>,
    /// Source text (`DW_LNCT_LLVM_source`).
    pub source: Option<&'o [u8]>,
}

/// Content types and forms of a table's entries: `directory_entry_format` or `file_name_entry_format`.
pub type LineFormat = Vec<(DwLnct, DwForm)>;

const WHAT: &str = "the header of a line program";

impl<'o> LineProgram<'o> {
    /// Reads the header at an offset in `.debug_line`, in bytes. `address_bytes` is the unit's address size. Strings by
    /// index, which no known producer uses here, need the unit: [`Dwarf::lines`].
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed) with the offset;
    /// [`Unsupported`](ErrorKind::Unsupported) for other versions and unknown forms.
    ///
    /// [`Dwarf::lines`]: super::Dwarf::lines
    pub fn read(sections: &Sections<'o>, offset: u64, address_bytes: u8) -> Result<Self> {
        let encoding = crate::op::Encoding::new(address_bytes, crate::op::Dialect::Dwarf5);
        Self::read_with(sections, offset, Base { offset: None, encoding })
    }

    pub(super) fn read_with(sections: &Sections<'o>, offset: u64, strings: Base) -> Result<Self> {
        let section = sections.cursor(".debug_line", sections.debug_line);
        Self::read_in(section, sections, offset, strings)
    }

    /// Reads a program in a section, with strings in other sections.
    pub(super) fn read_in(
        section: Cursor<'o>,
        sections: &Sections<'o>,
        offset: u64,
        strings: Base,
    ) -> Result<Self> {
        let mut from = section.at(offset, "a line program")?;
        let (len, offset_bytes) = from.initial_length(WHAT)?;
        let mut from = from.limit(len, "a line program")?;
        let start = from.offset();
        let version = from.u16(WHAT)?;
        if !(2..=5).contains(&version) {
            let text = format!("unsupported version {version} of line programs");
            return Err(from.error(ErrorKind::Unsupported(text), start));
        }
        let mut address_bytes = strings.encoding.address_bytes;
        if version >= 5 {
            address_bytes = from.u8(WHAT)?;
            let start = from.offset();
            let segment_bytes = from.u8(WHAT)?;
            if segment_bytes != 0 {
                let text = format!(
                    "{WHAT}: unsupported segment selector size, {segment_bytes}",
                    segment_bytes = Count(segment_bytes, "byte")
                );
                return Err(from.error(ErrorKind::Unsupported(text), start));
            }
        }
        if !is_address_size(address_bytes) {
            let text = format!(
                "{WHAT}: invalid address size, {address_bytes}",
                address_bytes = Count(address_bytes, "byte")
            );
            return Err(from.error(ErrorKind::Malformed(text), start));
        }
        let header_length = from.uint(offset_bytes, WHAT)?;
        let mut program = from;
        program.take(header_length, WHAT)?;
        let mut from = from.limit(header_length, WHAT)?;
        let min_instruction_bytes = from.u8(WHAT)?;
        let max_operations = if version >= 4 { from.u8(WHAT)? } else { 1 };
        let default_is_stmt = from.u8(WHAT)? != 0;
        let line_base = from.u8(WHAT)? as i8;
        let line_range = from.u8(WHAT)?;
        let start = from.offset();
        let opcode_base = from.u8(WHAT)?;
        let problem = match (max_operations, line_range, opcode_base) {
            (0, ..) => Some("maximum_operations_per_instruction is 0"),
            (_, 0, _) => Some("line_range is 0"),
            (.., 0) => Some("opcode_base is 0"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(from.error(ErrorKind::Malformed(format!("{WHAT}: {problem}")), start));
        }
        let standard_lengths = from.take(u64::from(opcode_base) - 1, WHAT)?;
        let (directories, files);
        let mut formats = [Vec::new(), Vec::new()];
        if version >= 5 {
            let mut table = |format: &mut LineFormat| {
                *format = read_format(&mut from)?;
                Entries { sections, strings, offset_bytes, format }.read(&mut from)
            };
            directories = table(&mut formats[0])?.iter().map(|entry| entry.path).collect();
            files = table(&mut formats[1])?;
        } else {
            directories = read_until_empty(&mut from, |_, path| Ok(path))?;
            files = read_until_empty(&mut from, read_file)?;
        }
        // NVIDIA's assembler appends the offset. Other producers end the header with the files.
        let inlined_names = match from.rest().len() {
            4 if version < 5 && offset_bytes == 4 => Some(from.uint(4, WHAT)?),
            _ => None,
        };
        Ok(Self {
            offset,
            version,
            address_bytes,
            offset_bytes,
            min_instruction_bytes,
            max_operations,
            default_is_stmt,
            line_base,
            line_range,
            opcode_base,
            standard_lengths,
            formats,
            directories,
            files,
            inlined_names,
            names: sections.debug_str,
            program,
        })
    }

    /// Returns the file with a number. Numbers count from 0 in DWARF 5, and from 1 in earlier versions.
    pub fn file(&self, number: u64) -> Option<&LineFile<'o>> {
        let index = if self.version >= 5 { number } else { number.checked_sub(1)? };
        self.files.get(usize::try_from(index).ok()?)
    }

    /// Returns the directory of a number. 0 is the unit's; before DWARF 5 the header does not contain it, and the
    /// result is `None`.
    pub fn directory(&self, number: u64) -> Option<&'o [u8]> {
        let index = if self.version >= 5 { number } else { number.checked_sub(1)? };
        self.directories.get(usize::try_from(index).ok()?).copied()
    }

    /// Returns the path for a file number, prefixed with its directory unless that is the unit's directory. U+FFFD
    /// replaces invalid UTF-8.
    pub fn path(&self, number: u64) -> Option<Cow<'o, str>> {
        let file = self.file(number)?;
        let path = String::from_utf8_lossy(file.path);
        match self.directory(file.directory).filter(|_| file.directory != 0 && !path.starts_with('/')) {
            Some(directory) => Some(format!("{}/{path}", String::from_utf8_lossy(directory)).into()),
            None => Some(path),
        }
    }

    /// Returns the [path](Self::path) for a file number with the compilation's folder, unless it is absolute. The folder is
    /// `folder`, the unit's [`comp_dir`](super::Unit::comp_dir), or else directory 0.
    pub fn full_path(&self, number: u64, folder: Option<&str>) -> Option<String> {
        let path = self.path(number)?;
        // A drive or a backslash begins an absolute path of Windows.
        let is_whole = path.is_empty() || path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
        let own = || self.directory(0).map(String::from_utf8_lossy);
        Some(match folder.map(Cow::Borrowed).or_else(own).filter(|folder| !is_whole && !folder.is_empty()) {
            Some(folder) => format!("{folder}/{path}"),
            None => path.into_owned(),
        })
    }

    /// Returns the name of a row's inlined function. U+FFFD replaces invalid UTF-8. `None` if there is no name at the
    /// offset.
    pub fn inlined_name(&self, inlined: InlinedRow) -> Option<Cow<'o, str>> {
        self.function_name(inlined.name)
    }

    /// Returns the name of a function at an offset in bytes from [`inlined_names`](Self::inlined_names). U+FFFD replaces
    /// invalid UTF-8.
    pub fn function_name(&self, offset: u64) -> Option<Cow<'o, str>> {
        let offset = usize::try_from(self.inlined_names?.checked_add(offset)?).ok()?;
        let name = self.names.get(offset..)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&name[..end]))
    }

    /// Returns the offset after the program in its section, in bytes.
    pub(super) fn end(&self) -> u64 {
        let mut program = self.program;
        program.take_rest();
        program.offset()
    }

    /// Returns the program's rows.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// # let program = dwarf.lines(&dwarf.units()[0])?.expect("a line program");
    /// // Breakpoints for line 9: the statements' first addresses.
    /// let start = dwarf.address_in("squares", 0)?;
    /// let mut breakpoints = Vec::new();
    /// for row in program.rows() {
    ///     let row = row?;
    ///     if row.is_stmt && !row.end_sequence && row.line == 9 {
    ///         breakpoints.push(row.address - start);
    ///     }
    /// }
    /// assert_eq!(breakpoints, [0x10, 0x16]);
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn rows(&self) -> LineRows<'_, 'o> {
        LineRows::new(self)
    }
}

/// Reads entries that start with a string, up to an empty string. DWARF 4 section 6.2.4.
fn read_until_empty<'o, T>(
    from: &mut Cursor<'o>,
    read: impl Fn(&mut Cursor<'o>, &'o [u8]) -> Result<T>,
) -> Result<Vec<T>> {
    let mut files = Vec::new();
    loop {
        let first = from.string(WHAT)?;
        if first.is_empty() {
            return Ok(files);
        }
        files.push(read(from, first)?);
    }
}

/// Reads the rest of a file entry before DWARF 5.
pub(super) fn read_file<'o>(from: &mut Cursor<'o>, path: &'o [u8]) -> Result<LineFile<'o>> {
    Ok(LineFile {
        path,
        directory: from.uleb(WHAT)?,
        modified: from.uleb(WHAT)?,
        size: from.uleb(WHAT)?,
        ..LineFile::default()
    })
}

/// Forms of strings.
const TEXT: [DwForm; 8] = [
    dw::DW_FORM_string,
    dw::DW_FORM_line_strp,
    dw::DW_FORM_strp,
    dw::DW_FORM_strx,
    dw::DW_FORM_strx1,
    dw::DW_FORM_strx2,
    dw::DW_FORM_strx3,
    dw::DW_FORM_strx4,
];
/// Other forms of known length: DWARF 5 section 6.2.4.2.
const OTHERS: [DwForm; 13] = [
    dw::DW_FORM_data1,
    dw::DW_FORM_data2,
    dw::DW_FORM_data4,
    dw::DW_FORM_data8,
    dw::DW_FORM_data16,
    dw::DW_FORM_udata,
    dw::DW_FORM_sdata,
    dw::DW_FORM_flag,
    dw::DW_FORM_block,
    dw::DW_FORM_block1,
    dw::DW_FORM_block2,
    dw::DW_FORM_block4,
    dw::DW_FORM_sec_offset,
];

/// Reads the format of a table's entries.
fn read_format(from: &mut Cursor<'_>) -> Result<LineFormat> {
    let mut format = LineFormat::new();
    for _ in 0..from.u8(WHAT)? {
        let start = from.offset();
        // All names and forms fit in 16 bits; larger numbers are unknown, like the largest.
        let mut number = || from.uleb(WHAT).map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        let name = DwLnct(number()?);
        let form = DwForm(number()?);
        if !TEXT.contains(&form) && !OTHERS.contains(&form) {
            return Err(unknown_form(from, form, start));
        }
        let is_again = format.iter().any(|&(known, _)| known == name);
        if is_again || !can_have(name, form) {
            let text = |text: Option<&str>, number| text.map_or(format!("{number:#x}"), String::from);
            let name = text(name.static_string(), name.0);
            let text = if is_again {
                format!("{WHAT}: {name} occurs twice")
            } else {
                format!("{WHAT}: {name} cannot have form {}", text(form.static_string(), form.0))
            };
            return Err(from.error(ErrorKind::Malformed(text), start));
        }
        format.push((name, form));
    }
    Ok(format)
}

/// Whether a content type can have a form: DWARF 5 section 6.2.4.1. Vendors' content types can have any.
fn can_have(name: DwLnct, form: DwForm) -> bool {
    let forms: &[DwForm] = match name {
        dw::DW_LNCT_path | dw::DW_LNCT_LLVM_source => &TEXT,
        dw::DW_LNCT_directory_index => &[dw::DW_FORM_data1, dw::DW_FORM_data2, dw::DW_FORM_udata],
        dw::DW_LNCT_timestamp => {
            &[dw::DW_FORM_udata, dw::DW_FORM_data4, dw::DW_FORM_data8, dw::DW_FORM_block]
        }
        dw::DW_LNCT_size => {
            &[dw::DW_FORM_udata, dw::DW_FORM_data1, dw::DW_FORM_data2, dw::DW_FORM_data4, dw::DW_FORM_data8]
        }
        dw::DW_LNCT_MD5 => &[dw::DW_FORM_data16],
        _ => return true,
    };
    forms.contains(&form)
}

fn unknown_form(from: &Cursor<'_>, form: DwForm, at: u64) -> Error {
    from.error(
        ErrorKind::Unsupported(format!("{WHAT}: unsupported form {:#x} of a path or file", form.0)),
        at,
    )
}

/// Reader of a DWARF 5 table's entries.
struct Entries<'s, 'o> {
    sections: &'s Sections<'o>,
    strings: Base,
    offset_bytes: u8,
    format: &'s LineFormat,
}

/// Value of a part in a file entry. A string in another section is resolved only if the part has a meaning here: a
/// vendor's part is skipped.
enum Part<'o> {
    Number(u64),
    Bytes(&'o [u8]),
    LineString(u64),
    String(u64),
    IndexedString(u64),
}

impl<'o> Entries<'_, 'o> {
    fn read(&self, from: &mut Cursor<'o>) -> Result<Vec<LineFile<'o>>> {
        let start = from.offset();
        let count = from.uleb(WHAT)?;
        let has_path = self.format.iter().any(|&(name, _)| name == dw::DW_LNCT_path);
        if !has_path && (count != 0 || !self.format.is_empty()) {
            let problem = if self.format.is_empty() { "is empty" } else { "has no path" };
            let text = format!("{WHAT}: the entry format {problem}: {count}", count = Count(count, "entry"));
            return Err(from.error(ErrorKind::Malformed(text), start));
        }
        let mut files = Vec::new();
        for _ in 0..count {
            let mut file = LineFile::default();
            for &(name, form) in self.format {
                match (name, self.part(from, form)?) {
                    (dw::DW_LNCT_path, part) => file.path = self.text(part)?,
                    (dw::DW_LNCT_directory_index, Part::Number(number)) => file.directory = number,
                    (dw::DW_LNCT_timestamp, Part::Number(number)) => file.modified = number,
                    (dw::DW_LNCT_size, Part::Number(number)) => file.size = number,
                    (dw::DW_LNCT_MD5, Part::Bytes(digest)) => file.md5 = digest.try_into().ok(),
                    (dw::DW_LNCT_LLVM_source, part) => file.source = Some(self.text(part)?),
                    _ => {}
                }
            }
            files.push(file);
        }
        Ok(files)
    }

    fn part(&self, from: &mut Cursor<'o>, form: DwForm) -> Result<Part<'o>> {
        let start = from.offset();
        let offset_bytes = self.offset_bytes;
        Ok(match form {
            dw::DW_FORM_string => Part::Bytes(from.string(WHAT)?),
            dw::DW_FORM_line_strp => Part::LineString(from.uint(offset_bytes, WHAT)?),
            dw::DW_FORM_strp => Part::String(from.uint(offset_bytes, WHAT)?),
            dw::DW_FORM_strx => Part::IndexedString(from.uleb(WHAT)?),
            dw::DW_FORM_strx1 => Part::IndexedString(from.uint(1, WHAT)?),
            dw::DW_FORM_strx2 => Part::IndexedString(from.uint(2, WHAT)?),
            dw::DW_FORM_strx3 => Part::IndexedString(from.uint(3, WHAT)?),
            dw::DW_FORM_strx4 => Part::IndexedString(from.uint(4, WHAT)?),
            dw::DW_FORM_data16 => Part::Bytes(from.take(16, WHAT)?),
            dw::DW_FORM_block | dw::DW_FORM_block1 | dw::DW_FORM_block2 | dw::DW_FORM_block4 => {
                let len = match form {
                    dw::DW_FORM_block1 => from.uint(1, WHAT)?,
                    dw::DW_FORM_block2 => from.uint(2, WHAT)?,
                    dw::DW_FORM_block4 => from.uint(4, WHAT)?,
                    _ => from.uleb(WHAT)?,
                };
                Part::Bytes(from.take(len, WHAT)?)
            }
            dw::DW_FORM_udata => Part::Number(from.uleb(WHAT)?),
            dw::DW_FORM_data1 | dw::DW_FORM_flag => Part::Number(from.uint(1, WHAT)?),
            dw::DW_FORM_data2 => Part::Number(from.uint(2, WHAT)?),
            dw::DW_FORM_data4 => Part::Number(from.uint(4, WHAT)?),
            dw::DW_FORM_data8 => Part::Number(from.uint(8, WHAT)?),
            dw::DW_FORM_sec_offset => Part::Number(from.uint(offset_bytes, WHAT)?),
            dw::DW_FORM_sdata => Part::Number(from.sleb(WHAT)? as u64),
            _ => return Err(unknown_form(from, form, start)),
        })
    }

    /// Returns the string in a part, which is not a number, because [`can_have`] refuses numeric forms.
    fn text(&self, part: Part<'o>) -> Result<&'o [u8]> {
        match part {
            Part::Bytes(bytes) => Ok(bytes),
            Part::LineString(offset) => self.sections.line_string(offset),
            Part::String(offset) => self.sections.string(offset),
            Part::IndexedString(index) => self.sections.indexed_string(self.strings, index),
            Part::Number(_) => Ok(&[]),
        }
    }
}
