//! Special opcode parameters, chosen by the steps that occur in a program.

use super::rows::LineState;
use crate::emit::format::Format;
use crate::op::{sleb_len, uleb_len};

/// Special opcode parameters: a special opcode advances the line by `line_base` to `line_base + line_range - 1`, and
/// the pc by as many instructions as the remaining numbers allow. DWARF 5 section 6.2.5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(super) line_base: i8,
    pub(super) line_range: u8,
    pub(super) opcode_base: u8,
    /// How many instructions `const_add_pc` advances: as many as special opcode 255.
    pub(super) const_add: u8,
}

/// First special opcode, after all standard opcodes in DWARF 3 and later.
const OPCODE_BASE: u8 = gimli::DW_LNS_set_isa.0 + 1;
/// First special opcode in DWARF 2, which lacks the last three standard opcodes.
const OPCODE_BASE_2: u8 = gimli::DW_LNS_fixed_advance_pc.0 + 1;

/// Candidates for `line_base` and `line_range`. Small line ranges suit code that was not optimised, or that has
/// instructions of many lengths; large ones suit optimised code with instructions of one length, where lines jump
/// about. The three shapes together come within one percent of each unit's best pair, measured on kernels and CPU
/// programs, optimised or not.
const RANGES: [(i8, u8); 3] = [(-5, 14), (-1, 6), (-20, 42)];

/// The opcodes from one row to the next, in their order. `fixed_advance_pc` is missing, because it would be shorter
/// only for steps from 2¹⁴ to 2¹⁶ bytes, on targets with one-byte instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The operand for `advance_line`; 0 without that opcode.
    pub(super) lines: i64,
    /// How many `const_add_pc` opcodes there are.
    pub(super) const_adds: u8,
    /// The operand for `advance_pc`, in instructions; 0 without that opcode.
    pub(super) instructions: u64,
    /// The special opcode that appends the row.
    pub(super) special: u8,
}

impl Shape {
    pub(super) const fn new((line_base, line_range): (i8, u8), opcode_base: u8) -> Self {
        Self { line_base, line_range, opcode_base, const_add: (255 - opcode_base) / line_range }
    }

    /// The shortest opcodes that advance by `instructions` and `lines`.
    #[inline]
    pub(super) const fn step(&self, instructions: u64, lines: i64) -> Step {
        let base = self.line_base as i64;
        let range = self.line_range as u32;
        let most = base + range as i64 - 1;
        // `advance_line` covers lines beyond a special opcode's range. The special opcode takes a part of them only if
        // `advance_line` gets shorter.
        let in_special = if base <= lines && lines <= most {
            lines
        } else {
            let closest = if lines < base { base } else { most };
            if sleb_len(lines - closest) < sleb_len(lines) { closest } else { 0 }
        };
        let first = self.opcode_base as u32 + (in_special - base) as u32;
        // The special opcode's largest advance, in instructions: that of opcode 255, or one less.
        let const_add = self.const_add as u64;
        let room = const_add - (first + range * self.const_add as u32 > 255) as u64;
        let (const_adds, by_themselves, in_special_too) = if instructions <= room {
            (0, 0, instructions)
        } else if instructions >= const_add && instructions - const_add <= room {
            (1, 0, instructions - const_add)
        } else if instructions >= 2 * const_add && instructions - 2 * const_add <= room {
            // Not longer than `advance_pc`, and shorter where its operand would take two bytes more.
            (2, 0, instructions - 2 * const_add)
        } else if uleb_len(instructions - room) < uleb_len(instructions) {
            (0, instructions - room, room)
        } else {
            (0, instructions, 0)
        };
        let special = (first + range * in_special_too as u32) as u8;
        Step { lines: lines - in_special, const_adds, instructions: by_themselves, special }
    }

    /// Step size in bytes.
    const fn bytes(&self, instructions: u64, lines: i64) -> u8 {
        let step = self.step(instructions, lines);
        let mut bytes = 1 + step.const_adds as usize;
        if step.lines != 0 {
            bytes += 1 + sleb_len(step.lines);
        }
        if step.instructions != 0 {
            bytes += 1 + uleb_len(step.instructions);
        }
        bytes as u8
    }
}

/// Half-open range of line advances in [`SIZES`].
const LINES: (i64, i64) = (-24, 40);
/// How many instruction advances [`SIZES`] has, from 0 on.
const INSTRUCTIONS: usize = 64;

/// Sizes in bytes for the most frequent steps, with each of the [`RANGES`].
static SIZES: [[[u8; RANGES.len()]; (LINES.1 - LINES.0) as usize]; INSTRUCTIONS] = {
    let mut sizes = [[[0; RANGES.len()]; (LINES.1 - LINES.0) as usize]; INSTRUCTIONS];
    // Computed when the crate is compiled, so that the survey adds one table row for each program row.
    let mut instructions = 0;
    while instructions < INSTRUCTIONS {
        let mut line = 0;
        while line < (LINES.1 - LINES.0) as usize {
            sizes[instructions][line] = bytes_by_range(instructions as u64, LINES.0 + line as i64);
            line += 1;
        }
        instructions += 1;
    }
    sizes
};

const fn bytes_by_range(instructions: u64, lines: i64) -> [u8; RANGES.len()] {
    let mut bytes = [0; RANGES.len()];
    let mut index = 0;
    while index < RANGES.len() {
        bytes[index] = Shape::new(RANGES[index], OPCODE_BASE).bytes(instructions, lines);
        index += 1;
    }
    bytes
}

/// How many of the shortest instructions fit as many bytes.
#[inline]
pub(super) fn instructions(bytes: u64, min_instruction_bytes: u64) -> u64 {
    // A division would take as long as the rest of a row.
    if min_instruction_bytes.is_power_of_two() {
        bytes >> min_instruction_bytes.trailing_zeros()
    } else {
        bytes / min_instruction_bytes
    }
}

/// Survey of a program's steps: sums their sizes for each candidate shape.
#[derive(Debug)]
pub(crate) struct Survey {
    version: u16,
    min_instruction_bytes: u64,
    pc: u64,
    line: u32,
    bytes: [u64; RANGES.len()],
    rows: usize,
    is_marked: bool,
}

/// Approximate bytes for a header, and for a sequence's beginning and end.
const HEADER_BYTES: usize = 100;
const SEQUENCE_BYTES: usize = 20;

impl Survey {
    pub(crate) fn new(format: Format, min_instruction_bytes: u8) -> Self {
        Self {
            version: format.version,
            min_instruction_bytes: min_instruction_bytes.max(1).into(),
            pc: 0,
            line: LineState::INITIAL.line,
            bytes: [0; RANGES.len()],
            rows: 0,
            is_marked: false,
        }
    }

    /// Begins a function's sequence.
    pub(crate) fn begin_sequence(&mut self) {
        self.pc = 0;
        self.line = LineState::INITIAL.line;
    }

    /// Adds a row. `is_marked`: the row ends a prologue or begins an epilogue.
    #[inline]
    pub(crate) fn row(&mut self, pc: u64, line: u32, is_marked: bool) {
        let instructions = instructions(pc - self.pc, self.min_instruction_bytes);
        let lines = i64::from(line) - i64::from(self.line);
        (self.pc, self.line) = (pc, line);
        self.rows += 1;
        self.is_marked |= is_marked;
        let sizes = usize::try_from(instructions).ok().and_then(|index| SIZES.get(index));
        let sizes =
            sizes.zip(usize::try_from(lines - LINES.0).ok()).and_then(|(sizes, index)| sizes.get(index));
        let sizes = sizes.copied().unwrap_or_else(|| bytes_by_range(instructions, lines));
        for (sum, bytes) in self.bytes.iter_mut().zip(sizes) {
            *sum += u64::from(bytes);
        }
    }

    /// Approximate bytes for a program with `sequences` sequences, whose rows have columns.
    pub(crate) fn approximate_bytes(&self, sequences: usize) -> usize {
        let steps = self.bytes.iter().min().map_or(0, |&bytes| bytes as usize);
        HEADER_BYTES + SEQUENCE_BYTES * sequences + steps + 2 * self.rows
    }

    /// The shape that takes the fewest bytes.
    pub(crate) fn shape(&self) -> Shape {
        let least = self.bytes.iter().zip(RANGES).min_by_key(|(bytes, _)| **bytes);
        // A DWARF 2 reader may assume that version's opcodes, but marked rows need later ones.
        let opcode_base = if self.version == 2 && !self.is_marked { OPCODE_BASE_2 } else { OPCODE_BASE };
        Shape::new(least.map_or(RANGES[0], |(_, range)| range), opcode_base)
    }
}
