//! Line tables: `.debug_line` and `.nv_debug_line_sass`. A program keeps its header and the sequences of code in the file;
//! nvlink removes the relocation of a sequence whose code it drops.

use core::ops::Range;

use super::section::{Copied, Original};
use super::strings::Strings;
use crate::emit::elf::CubinRelocation;
use crate::error::Result;
use crate::op::{uleb_len, write_uleb};

/// Extended operations of DWARF: DWARF 3 section 6.2.5.3.
const END_SEQUENCE: u8 = 1;
const SET_ADDRESS: u8 = 2;
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
    /// Relocation of the first address, and the address in the file.
    pub(super) start: Option<(CubinRelocation, u64)>,
    /// Size of the code in bytes.
    pub(super) bytes: u64,
    /// Operations with an offset of a name: where they are, the number of the call's row, and the offset.
    names: Vec<(Range<usize>, Option<u64>, u64)>,
    /// Operations that define files of the program.
    files: Vec<Range<usize>>,
}

/// Reads the programs in a section, which the reader has read.
pub(super) fn programs<'c>(from: &Original<'c>) -> Result<Vec<Program<'c>>> {
    let mut programs = Vec::new();
    let mut start = 0;
    while start < from.bytes.len() {
        let program = program(from, start)?;
        start = program.range.end;
        programs.push(program);
    }
    Ok(programs)
}

fn program<'c>(from: &Original<'c>, start: usize) -> Result<Program<'c>> {
    let is_64 = from.number(start, 4)? == 0xffff_ffff;
    let (length, offset_bytes) = if is_64 { (start + 4, 8) } else { (start, 4) };
    let version = length + offset_bytes;
    let end = from.number(length, offset_bytes)?.checked_add(version as u64);
    let end = end.and_then(|end| usize::try_from(end).ok()).filter(|&end| end <= from.bytes.len());
    let end = end.ok_or_else(|| from.malformed("line program ends after its section", start))?;
    let after_length = version + 2 + offset_bytes;
    let operations = from.number(version + 2, offset_bytes)?.checked_add(after_length as u64);
    let operations = operations.and_then(|end| usize::try_from(end).ok()).filter(|&it| it <= end);
    let operations =
        operations.ok_or_else(|| from.malformed("header of a line program ends after the program", start))?;
    if from.number(version, 2)? > 3 {
        return Err(from.malformed("line program has a version above 3, which no cubin has", version));
    }
    let mut state = State {
        steps: from.number(after_length, 1)?,
        line_range: from.number(after_length + 3, 1)?,
        base: from.number(after_length + 4, 1)? as u8,
        address: 0,
    };
    if state.line_range == 0 || state.base == 0 {
        return Err(from.malformed("line_range or opcode_base of a line program is 0", after_length));
    }
    let lengths = after_length + 5;
    let mut at = lengths + usize::from(state.base) - 1;
    let operands = from.bytes.get(lengths..at).ok_or_else(|| from.truncated(lengths))?;
    loop {
        let (directory, end) = from.string(at)?;
        at = end;
        if directory.is_empty() {
            break;
        }
    }
    let mut files = Vec::new();
    loop {
        let (name, end) = from.string(at)?;
        if name.is_empty() {
            at = end;
            break;
        }
        files.push((at..end - 1, name));
        at = end;
        for _ in 0..3 {
            at = from.uleb(at)?.1;
        }
    }
    let names = (operations == at + 4 && !is_64).then(|| from.number(at, 4).map(|base| (at, base)));
    let names = names.transpose()?;
    let mut program = Program {
        range: start..end,
        offset_bytes,
        operations,
        files,
        names,
        sequences: Vec::new(),
        rest: operations..operations,
    };
    let mut at = operations;
    while at < end {
        let sequence = sequence(from, at..end, &mut state, operands, names.is_some())?;
        let Some(sequence) = sequence else { break };
        at = sequence.range.end;
        program.sequences.push(sequence);
    }
    program.rest = at..end;
    Ok(program)
}

/// What operations need of a header, and the address.
struct State {
    steps: u64,
    line_range: u64,
    base: u8,
    address: u64,
}

/// Reads a sequence; `None` if the operations do not end it.
fn sequence(
    from: &Original<'_>,
    operations: Range<usize>,
    state: &mut State,
    operands: &[u8],
    has_names: bool,
) -> Result<Option<Sequence>> {
    let mut sequence =
        Sequence { range: operations.clone(), start: None, bytes: 0, names: Vec::new(), files: Vec::new() };
    state.address = 0;
    let mut first = None;
    let mut at = operations.start;
    while at < operations.end {
        let begin = at;
        let opcode = from.bytes[at];
        at += 1;
        match opcode {
            0 => {
                let (length, inside) = from.uleb(at)?;
                at = usize::try_from(length).ok().and_then(|length| inside.checked_add(length)).unwrap_or(0);
                if length == 0 || at > operations.end || at == 0 {
                    return Err(from.malformed("extended operation ends outside the line program", begin));
                }
                match from.bytes[inside] {
                    END_SEQUENCE => {
                        sequence.range.end = at;
                        sequence.bytes = state.address.wrapping_sub(first.unwrap_or(0));
                        return Ok(Some(sequence));
                    }
                    SET_ADDRESS => {
                        let field = inside + 1;
                        state.address = from.number(field, (at - field).min(8))?;
                        if first.is_none() {
                            sequence.start = from.relocation(field).map(|it| (*it, state.address));
                            first = Some(state.address);
                        }
                    }
                    DEFINE_FILE => sequence.files.push(begin..at),
                    INLINED if has_names => {
                        let (call, next) = from.uleb(inside + 1)?;
                        let (name, _) = from.uleb(next)?;
                        if call != 0 {
                            sequence.names.push((begin..at, Some(call), name));
                        }
                    }
                    FUNCTION if has_names => {
                        let (name, _) = from.uleb(inside + 1)?;
                        sequence.names.push((begin..at, None, name));
                    }
                    _ => {}
                }
            }
            // DW_LNS_advance_pc, const_add_pc and fixed_advance_pc.
            2 if state.base > 2 => {
                let (by, end) = from.uleb(at)?;
                state.address = state.address.wrapping_add(by.wrapping_mul(state.steps));
                at = end;
            }
            8 if state.base > 8 => state.special(255),
            9 if state.base > 9 => {
                state.address = state.address.wrapping_add(from.number(at, 2)?);
                at += 2;
            }
            _ if opcode < state.base => {
                for _ in 0..operands[usize::from(opcode) - 1] {
                    at = from.uleb(at)?.1;
                }
            }
            _ => state.special(opcode),
        }
        if at > operations.end {
            return Err(from.malformed("operation ends outside the line program", begin));
        }
    }
    Ok(None)
}

impl State {
    fn special(&mut self, opcode: u8) {
        let steps = u64::from(opcode - self.base) / self.line_range;
        self.address = self.address.wrapping_add(steps.wrapping_mul(self.steps));
    }
}

impl Program<'_> {
    /// Appends the program with some of its sequences, and returns its offset. `file` returns other names of files.
    pub(super) fn copy(
        &self,
        from: &Original<'_>,
        is_kept: impl Fn(&Sequence) -> bool,
        file: impl Fn(&[u8]) -> Option<Vec<u8>>,
        strings: &mut Strings<'_>,
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
                to.number(0, 4)?;
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
