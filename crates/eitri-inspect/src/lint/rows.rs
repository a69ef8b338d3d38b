//! Rows of line tables, compared with the instructions of their functions.

use std::collections::HashMap;

use super::file::File;
use super::function_code::{PcInstruction, described};
use eitri_dwarf::target::code::InstructionSet;

/// Instructions around the rows of a file's line tables. An instruction is decoded once, and only where a later row is in
/// the same function.
#[derive(Debug, Default)]
pub(super) struct RowInstructions<'r> {
    functions: HashMap<u64, Decoding<'r>>,
}

/// A function that is decoded up to an instruction.
#[derive(Debug)]
struct Decoding<'r> {
    start: u64,
    bytes: &'r [u8],
    /// Start of the last decoded instruction, as an offset.
    last: usize,
    /// End of the last decoded instruction, as an offset.
    end: usize,
    /// Whether the next instruction has an unknown encoding. Instructions have different lengths, so that no later
    /// instruction is known either.
    is_unknown: bool,
}

impl<'r> RowInstructions<'r> {
    /// Returns the instruction that an address is inside of, as text. `None` if an instruction begins at the address, and if
    /// the instructions of its function are not known.
    pub(super) fn around(&mut self, file: &File<'r, '_>, address: u64) -> Option<String> {
        let set = file.set?;
        let range = file.function_around(address)?;
        let function = self.functions.entry(range.start).or_insert_with(|| Decoding {
            start: range.start,
            bytes: file.bytes_at(&range),
            last: 0,
            end: 0,
            is_unknown: false,
        });
        let instruction = function.around(set, usize::try_from(address - range.start).ok()?)?;
        Some(described(&instruction))
    }
}

impl Decoding<'_> {
    fn around(&mut self, set: InstructionSet, offset: usize) -> Option<PcInstruction> {
        while self.end <= offset && !self.is_unknown {
            eitri_dwarf::work::step();
            let rest = self.bytes.get(self.end..).unwrap_or_default();
            match set.outline(rest) {
                Some(outline) => {
                    self.last = self.end;
                    self.end += usize::from(outline.bytes);
                }
                None => self.is_unknown = true,
            }
        }
        // A row before the last decoded instruction was passed: rows ascend in a sequence.
        if offset <= self.last || offset >= self.end {
            return None;
        }
        let decoded = set.decode(self.bytes.get(self.last..)?)?;
        Some((self.start.wrapping_add(self.last as u64), decoded))
    }
}
