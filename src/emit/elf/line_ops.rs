//! Operations of line programs before DWARF 5 in cubins: DWARF 3 section 6.2.5, and NVIDIA's extended operations, which
//! are kept as they are. Cubins are little-endian.

use std::ops::Range;

use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{read_sleb, read_uleb};

/// A line program in a section.
#[derive(Debug, Clone)]
pub(crate) struct LineProgram<'p> {
    section: &'p [u8],
    /// From the length field up to the operations.
    pub header: Range<usize>,
    /// The operations.
    pub operations: Range<usize>,
    /// Size of offsets in bytes: 4 or 8.
    pub offset_bytes: usize,
    /// Offset of the list of directories, which the list of files follows.
    tables: usize,
    min_instruction: u64,
    line_base: i64,
    line_range: u64,
    opcode_base: u8,
    lengths: &'p [u8],
}

/// An operation, with advances in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineOp {
    /// Advances the pc and the line, and appends a row.
    Row { advance: u64, line: i64 },
    /// Advances the pc.
    Advance(u64),
    /// Advances the line.
    Line(i64),
    /// Sets the file.
    File(u64),
    /// Sets the pc to an address, whose field of 8 bytes is at an offset of the section.
    Address { field: usize },
    /// Appends the last row of a sequence.
    End,
    /// Another extended operation, with its operands.
    Extended { opcode: u8, operands: Range<usize> },
    /// A standard operation that changes neither pc nor line nor file.
    Other,
}

/// Returns the programs of a section.
///
/// # Errors
/// [`ErrorKind::Truncated`], and [`ErrorKind::Unsupported`] for versions other than 2 and 3, with the offset.
pub(crate) fn programs(section: &[u8]) -> Result<Vec<LineProgram<'_>>> {
    let mut programs = Vec::new();
    let mut start = 0;
    while start < section.len() {
        let program = program(section, start).map_err(|error| error.at_offset(start as u64))?;
        start = program.operations.end;
        programs.push(program);
    }
    Ok(programs)
}

fn program(section: &[u8], start: usize) -> Result<LineProgram<'_>> {
    let cut = || Error::from(ErrorKind::Truncated("a line program".into()));
    let number = |offset: usize, size: usize| {
        let field = section.get(offset..offset.checked_add(size)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let after =
        |offset: usize, size: u64| usize::try_from(size).ok().and_then(|size| offset.checked_add(size));
    let is_64 = number(start, 4).ok_or_else(cut)? == 0xffff_ffff;
    let (length, offset_bytes) = if is_64 { (start + 4, 8) } else { (start, 4) };
    let version = length + offset_bytes;
    let end = number(length, offset_bytes).and_then(|length| after(version, length));
    let end = end.filter(|end| *end <= section.len()).ok_or_else(cut)?;
    let header = version + 2 + offset_bytes;
    match number(version, 2).ok_or_else(cut)? {
        2 | 3 => {}
        version => {
            let what = format!("line table of version {version}; expected 2 or 3");
            return Err(ErrorKind::Unsupported(what).into());
        }
    }
    let first = number(version + 2, offset_bytes).and_then(|length| after(header, length));
    let first = first.filter(|first| *first <= end).ok_or_else(cut)?;
    let fields = section.get(header..header + 5).ok_or_else(cut)?;
    let &[min_instruction, _, line_base, line_range, opcode_base] = fields else { return Err(cut()) };
    if line_range == 0 || opcode_base == 0 {
        let what = format!(
            "line range is {line_range}, and the first special opcode {opcode_base}; expected others than 0"
        );
        return Err(Error::malformed(what));
    }
    let tables = header + 5 + usize::from(opcode_base) - 1;
    Ok(LineProgram {
        section,
        header: start..first,
        operations: first..end,
        offset_bytes,
        tables,
        min_instruction: min_instruction.into(),
        line_base: i64::from(line_base as i8),
        line_range: line_range.into(),
        opcode_base,
        lengths: section.get(header + 5..tables).ok_or_else(cut)?,
    })
}

/// A file's name in its section, without the zero byte.
pub(crate) type FileName<'p> = (Range<usize>, &'p [u8]);

impl<'p> LineProgram<'p> {
    /// Returns the files of the header, and the offset after their list.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] for lists that end outside the header, with the offset.
    pub fn files(&self) -> Result<(Vec<FileName<'p>>, usize)> {
        let header = &self.section[..self.header.end];
        let cut = |at: usize| {
            Error::from(ErrorKind::Truncated("the header of a line program".into())).at_offset(at as u64)
        };
        let text = |at: usize| {
            let rest = header.get(at..).ok_or_else(|| cut(at))?;
            let size = rest.iter().position(|byte| *byte == 0).ok_or_else(|| cut(at))?;
            Ok::<_, Error>((&rest[..size], at + size + 1))
        };
        let mut at = self.tables;
        loop {
            let (directory, end) = text(at)?;
            at = end;
            if directory.is_empty() {
                break;
            }
        }
        let mut files = Vec::new();
        loop {
            let (name, end) = text(at)?;
            if name.is_empty() {
                files.shrink_to_fit();
                return Ok((files, end));
            }
            files.push((at..end - 1, name));
            at = end;
            // The directory, a time and a size.
            for _ in 0..3 {
                at = read_uleb(header, at).ok_or_else(|| cut(at))?.1;
            }
        }
    }

    /// Reads the operation at an offset, and returns it with the offset after it.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], and [`ErrorKind::Malformed`] for an extended operation of no bytes, with the offset.
    pub fn operation(&self, at: usize) -> Result<(LineOp, usize)> {
        self.read(at).map_err(|error| error.at_offset(at as u64))
    }

    fn read(&self, at: usize) -> Result<(LineOp, usize)> {
        let cut = || Error::from(ErrorKind::Truncated("a line program".into()));
        let bytes = self.section.get(..self.operations.end).ok_or_else(cut)?;
        let uleb = |at| read_uleb(bytes, at).ok_or_else(cut);
        let sleb = |at| read_sleb(bytes, at).ok_or_else(cut);
        let opcode = *bytes.get(at).ok_or_else(cut)?;
        let next = at + 1;
        if opcode >= self.opcode_base {
            let (advance, line) = self.special(opcode);
            return Ok((LineOp::Row { advance, line }, next));
        }
        Ok(match opcode {
            0 => {
                let (size, first) = uleb(next)?;
                let end = usize::try_from(size).ok().and_then(|size| first.checked_add(size));
                let end = end.filter(|end| *end <= bytes.len()).ok_or_else(cut)?;
                if first == end {
                    return Err(Error::malformed("extended operation has no bytes; expected an opcode"));
                }
                match (bytes[first], end - first) {
                    (1, _) => (LineOp::End, end),
                    (2, 9) => (LineOp::Address { field: first + 1 }, end),
                    (2, size) => {
                        let what =
                            format!("address in a line program has {}; expected 8", Count(size - 1, "byte"));
                        return Err(Error::malformed(what));
                    }
                    (opcode, _) => (LineOp::Extended { opcode, operands: first + 1..end }, end),
                }
            }
            1 => (LineOp::Row { advance: 0, line: 0 }, next),
            2 => {
                let (steps, end) = uleb(next)?;
                (LineOp::Advance(steps.wrapping_mul(self.min_instruction)), end)
            }
            3 => {
                let (line, end) = sleb(next)?;
                (LineOp::Line(line), end)
            }
            4 => {
                let (file, end) = uleb(next)?;
                (LineOp::File(file), end)
            }
            8 => (LineOp::Advance(self.special(255).0), next),
            9 => {
                let &[low, high] = bytes.get(next..next + 2).ok_or_else(cut)? else { return Err(cut()) };
                (LineOp::Advance(u16::from_le_bytes([low, high]).into()), next + 2)
            }
            _ => {
                let count = self.lengths.get(usize::from(opcode) - 1).copied().unwrap_or(0);
                let mut end = next;
                for _ in 0..count {
                    end = uleb(end)?.1;
                }
                (LineOp::Other, end)
            }
        })
    }

    /// Returns the advances of a special opcode.
    fn special(&self, opcode: u8) -> (u64, i64) {
        let steps = u64::from(opcode - self.opcode_base);
        let line = self.line_base + (steps % self.line_range) as i64;
        ((steps / self.line_range).wrapping_mul(self.min_instruction), line)
    }

    /// Returns the smallest number of bytes by which the pc advances.
    pub fn min_instruction(&self) -> u64 {
        self.min_instruction
    }
}
