//! Line tables: `.debug_line` and `.nv_debug_line_sass`. A program keeps its header and the sequences of code in the file;
//! nvlink removes the relocation of a sequence whose code it drops.

use core::ops::Range;

use super::names::STRINGS;
use super::section::{Copied, Offsets, Original};
use super::strings::Strings;
use crate::emit::elf::CubinRelocation;
use crate::emit::elf::line_ops::{self, LineOp, LineProgram};
use crate::error::Result;
use crate::op::{uleb_len, write_uleb};

/// Extended operation of DWARF: DWARF 3 section 6.2.5.3.
const DEFINE_FILE: u8 = 3;
/// NVIDIA's extended operations: an inlined call with its name, and the name of the function.
const INLINED: u8 = 0x90;
const FUNCTION: u8 = 0x91;

/// A line program.
#[derive(Debug)]
pub(super) struct Program<'c> {
    /// The program in its section, with its header.
    pub(super) range: Range<usize>,
    /// Size of offsets in bytes.
    offset_bytes: usize,
    /// Offset of the first operation.
    operations: usize,
    /// Files of the header: their names, without the zero bytes.
    pub(super) files: Vec<(Range<usize>, &'c [u8])>,
    /// Offset of the field with the start of the names in `.debug_str`, and the start.
    names: Option<(usize, u64)>,
    pub(super) sequences: Vec<Sequence>,
    /// Operations after the last sequence, which have no row.
    rest: Range<usize>,
}

/// Rows of contiguous code.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) range: Range<usize>,
    /// Relocation of the first address, and the address in the file; `None` if the rows go.
    pub(super) start: Option<(CubinRelocation, u64)>,
    /// Whether the rows are those of a copy that another copy replaced.
    pub(super) is_replaced: bool,
    /// Size of the code in bytes.
    pub(super) bytes: u64,
    /// Operations with an offset of a name: where they are, the number of the call's row, and the offset.
    names: Vec<(Range<usize>, Option<u64>, u64)>,
    /// Operations that define files of the program.
    files: Vec<Range<usize>>,
}

/// Reads the programs in a section, which the reader has read.
pub(super) fn programs<'c>(from: &Original<'c>) -> Result<Vec<Program<'c>>> {
    let programs = line_ops::programs(from.bytes)?;
    programs.iter().map(|read| program(from, read)).collect()
}

fn program<'c>(from: &Original<'c>, read: &LineProgram<'c>) -> Result<Program<'c>> {
    let (files, tables_end) = read.files()?;
    let operations = read.operations.clone();
    let has_names = operations.start == tables_end + 4 && read.offset_bytes == 4;
    let names = has_names.then(|| from.number(tables_end, 4).map(|base| (tables_end, base)));
    let mut program = Program {
        range: read.header.start..operations.end,
        offset_bytes: read.offset_bytes,
        operations: operations.start,
        files,
        names: names.transpose()?,
        sequences: Vec::new(),
        rest: operations.clone(),
    };
    while let Some(sequence) = sequence(from, read, program.rest.start, has_names)? {
        program.rest.start = sequence.range.end;
        program.sequences.push(sequence);
    }
    // Most programs have a single sequence.
    program.sequences.shrink_to_fit();
    Ok(program)
}

/// Reads a sequence; `None` if the operations do not end it.
fn sequence(
    from: &Original<'_>,
    program: &LineProgram<'_>,
    start: usize,
    has_names: bool,
) -> Result<Option<Sequence>> {
    let mut sequence = Sequence {
        range: start..start,
        start: None,
        is_replaced: false,
        bytes: 0,
        names: Vec::new(),
        files: Vec::new(),
    };
    let mut address = 0u64;
    let mut first = None;
    let mut at = start;
    while at < program.operations.end {
        let (operation, next) = program.operation(at)?;
        match operation {
            LineOp::End => {
                sequence.range.end = next;
                sequence.bytes = address.wrapping_sub(first.unwrap_or(0));
                return Ok(Some(sequence));
            }
            LineOp::Address { field } => {
                address = from.number(field, 8)?;
                if first.is_none() {
                    sequence.start = from.relocation(field).map(|it| (*it, address));
                    first = Some(address);
                }
            }
            LineOp::Advance(by) | LineOp::Row { advance: by, .. } => address = address.wrapping_add(by),
            LineOp::Extended { opcode: DEFINE_FILE, .. } => sequence.files.push(at..next),
            LineOp::Extended { opcode: INLINED, operands } if has_names => {
                let (call, name) = from.uleb(operands.start)?;
                let (name, _) = from.uleb(name)?;
                if call != 0 {
                    sequence.names.push((at..next, Some(call), name));
                }
            }
            LineOp::Extended { opcode: FUNCTION, operands } if has_names => {
                let (name, _) = from.uleb(operands.start)?;
                sequence.names.push((at..next, None, name));
            }
            LineOp::Extended { .. } | LineOp::File(_) | LineOp::Line(_) | LineOp::Other => {}
        }
        at = next;
    }
    Ok(None)
}

impl Program<'_> {
    /// Appends the program with some of its sequences, and returns its offset. `file` returns other names of files.
    pub(super) fn copy(
        &self,
        from: &Original<'_>,
        is_kept: impl Fn(&Sequence) -> bool,
        file: impl Fn(&[u8]) -> Option<Vec<u8>>,
        strings: &mut Strings<'_>,
        offsets: &Offsets<'_>,
        to: &mut Copied,
    ) -> Result<u64> {
        let start = to.bytes.len();
        let mut at = self.range.start;
        for (range, name) in &self.files {
            let Some(new) = file(name) else { continue };
            to.part(from, at..range.start)?;
            to.bytes.extend_from_slice(&new);
            at = range.end;
        }
        match self.names {
            None => to.part(from, at..self.operations)?,
            Some((field, _)) => {
                to.part(from, at..field)?;
                to.offset(0, 4, offsets.to(STRINGS, 4))?;
            }
        }
        let operations = to.bytes.len();
        for sequence in &self.sequences {
            if is_kept(sequence) {
                self.sequence(from, sequence, strings, to)?;
            } else {
                // Numbers of files count those that operations define.
                for file in &sequence.files {
                    to.part(from, file.clone())?;
                }
            }
        }
        to.part(from, self.rest.clone())?;
        let (length, size) = (if self.offset_bytes == 8 { start + 4 } else { start }, self.offset_bytes);
        to.set(length, (to.bytes.len() - length - size) as u64, size)?;
        let header = length + size + 2;
        to.set(header, (operations - header - size) as u64, size)?;
        Ok(start as u64)
    }

    fn sequence(
        &self,
        from: &Original<'_>,
        sequence: &Sequence,
        strings: &mut Strings<'_>,
        to: &mut Copied,
    ) -> Result<()> {
        let mut at = sequence.range.start;
        for (range, call, name) in &sequence.names {
            let base = self.names.map_or(0, |(_, base)| base);
            let moved = strings.moved(base.saturating_add(*name))?;
            let moved =
                moved.ok_or_else(|| from.malformed("no function name is at the offset", range.start))?;
            to.part(from, at..range.start)?;
            let code = if call.is_some() { INLINED } else { FUNCTION };
            to.bytes.push(0);
            to.uleb(1 + call.map_or(0, |call| uleb_len(call) as u64) + uleb_len(moved) as u64);
            to.bytes.push(code);
            for number in call.iter().chain([&moved]) {
                write_uleb(&mut to.bytes, *number);
            }
            at = range.end;
        }
        to.part(from, at..sequence.range.end)
    }
}
