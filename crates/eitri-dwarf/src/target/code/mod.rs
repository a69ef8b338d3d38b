//! AMD GPU instructions from gfx9 to gfx12.0, and the registers that they write.
//!
//! Formats and opcodes come from the instruction set manuals; `gfx9.txt` to `gfx12.txt` have a line for each opcode: its
//! number, its destinations, its name. An encoding that is missing there has *unknown* destinations, which is different
//! from an instruction without destinations: a caller must treat an unknown instruction as a possible write.
//!
//! ```
//! use eitri_dwarf::target::code::{InstructionSet, RegisterKind};
//! use eitri_dwarf::target::{Gfx, Wave};
//!
//! // v_writelane_b32 v40, s4, 7
//! let bytes = [0xd7610028_u32, 0x00010e04].map(u32::to_le_bytes).concat();
//! let set = InstructionSet::of(Gfx::GFX1030, Wave::W32).expect("a known instruction set");
//! let instruction = set.decode(&bytes).expect("an instruction");
//! let written = instruction.writes().expect("known destinations");
//! assert!(written.len() == 1 && written[0].contains(RegisterKind::Vector, 40));
//! ```

mod format;
mod outline;
mod table;

use core::fmt;
use core::ops::Range;

use super::{Gfx, Wave};
pub use format::{DecodedInstruction, SourceOperand};
#[doc(hidden)]
pub use table::Flow;
use table::{Generation, Tables};

/// Kind of register in an instruction operand.
///
/// Exhaustive: a match names all kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterKind {
    /// Scalar registers, by encoding number: `s0` is 0, `vcc` 106, `exec` 126.
    Scalar,
    /// Vector registers.
    Vector,
    /// Accumulation registers.
    Accumulator,
}

/// Number of `vcc_lo` among scalar operands.
pub const VCC: u16 = 106;
/// Number of `exec_lo` among scalar operands.
pub const EXEC: u16 = 126;

/// Consecutive 32-bit registers (32 bits in each lane for vector registers) that an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Destination {
    /// Kind of the registers.
    pub kind: RegisterKind,
    /// Number of the first register.
    pub first: u16,
    /// Number of registers.
    pub count: u16,
}

impl Destination {
    /// Returns the registers with these numbers.
    pub fn new(kind: RegisterKind, numbers: Range<u16>) -> Self {
        Self { kind, first: numbers.start, count: numbers.end.saturating_sub(numbers.start) }
    }

    /// Whether a register is among the destinations.
    pub fn contains(&self, kind: RegisterKind, number: u16) -> bool {
        self.kind == kind && number.wrapping_sub(self.first) < self.count
    }
}

/// `v3`, `s[4:5]`, `vcc`, `exec`.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.kind {
            RegisterKind::Scalar if self.first == EXEC => return f.write_str("exec"),
            RegisterKind::Scalar if self.first == VCC => return f.write_str("vcc"),
            RegisterKind::Scalar => "s",
            RegisterKind::Vector => "v",
            RegisterKind::Accumulator => "a",
        };
        match self.count {
            1 => write!(f, "{prefix}{}", self.first),
            _ => write!(f, "{prefix}[{}:{}]", self.first, self.first + self.count.saturating_sub(1)),
        }
    }
}

/// Instruction decoder for a processor.
#[derive(Debug, Clone, Copy)]
pub struct InstructionSet {
    tables: &'static Tables,
    generation: Generation,
    wave: Wave,
    /// Whether matrix results are in accumulation registers without a bit that says so: gfx908.
    has_fixed_accumulators: bool,
    /// Whether a bit of memory instructions selects an accumulation register for the data: gfx90a, gfx94x and gfx950.
    has_unified_registers: bool,
    /// Whether bit 13 of a scratch instruction selects a vector address: gfx94x and gfx950.
    has_scratch_address_bit: bool,
}

impl InstructionSet {
    /// Returns the instruction set of a processor, for a wave size. `None` for gfx12.5, where a mode register extends the
    /// register numbers of each instruction.
    pub fn of(gfx: Gfx, wave: Wave) -> Option<Self> {
        let name = gfx.name();
        let generation = match name {
            _ if name.starts_with("gfx9") => Generation::Gfx9,
            _ if name.starts_with("gfx10") => Generation::Gfx10,
            _ if name.starts_with("gfx11") => Generation::Gfx11,
            _ if name.starts_with("gfx120") || name == "gfx12-generic" => Generation::Gfx12,
            _ => return None,
        };
        let has_fixed_accumulators = name == "gfx908";
        let has_scratch_address_bit = table::has_scratch_address_bit(name);
        let has_unified_registers = has_scratch_address_bit || name == "gfx90a";
        let tables = table::tables(generation, name);
        Some(Self {
            tables,
            generation,
            wave,
            has_fixed_accumulators,
            has_unified_registers,
            has_scratch_address_bit,
        })
    }
}
