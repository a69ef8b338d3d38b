//! Call frame instructions: DWARF 5 sections 6.4.2 and 7.24, and GNU's, AArch64's and LLVM's instructions.

use super::cursor::{Cursor, max_address};
use super::frame::{Cie, FrameProgram, FrameSection, unknown_augmentation, value};
use crate::cfi::table::{for_each_instruction, is_in_dialect};
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Encoding, Reg};

/// A call frame instruction. The CIE's factors are applied: steps and offsets are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "`register` is the one whose rule it is, in the frame of the caller")]
pub enum CallFrameInstruction<'o> {
    /// No operation.
    Nop,
    /// Starts a new row.
    AdvanceLoc {
        /// Distance in bytes from the start of the previous row.
        bytes: u64,
    },
    /// Starts a new row at an address.
    SetLoc { address: u64 },
    /// The CFA is a register plus an offset.
    DefCfa { register: Reg, offset: i64 },
    /// The CFA gets a new register, and keeps its offset.
    DefCfaRegister { register: Reg },
    /// The CFA gets a new offset, and keeps its register.
    DefCfaOffset { offset: i64 },
    /// The CFA is the result of an expression.
    DefCfaExpression { expr: &'o [u8] },
    /// The CFA is a register plus an offset, in an address space (`DW_CFA_LLVM_def_aspace_cfa`).
    DefAspaceCfa { register: Reg, offset: i64, space: u64 },
    /// The register cannot be restored.
    Undefined { register: Reg },
    /// The register has not changed.
    SameValue { register: Reg },
    /// The register is saved at an offset from the CFA.
    Offset { register: Reg, offset: i64 },
    /// The value of the register is an offset from the CFA.
    ValOffset { register: Reg, offset: i64 },
    /// The register is saved in a second register.
    Register { register: Reg, from: Reg },
    /// The register is saved at the result of an expression, whose initial stack contains the CFA.
    Expression { register: Reg, expr: &'o [u8] },
    /// The register's value is the result of an expression, whose initial stack contains the CFA.
    ValExpression { register: Reg, expr: &'o [u8] },
    /// The register has the rule of the CIE again.
    Restore { register: Reg },
    /// Pushes all rules on a stack.
    RememberState,
    /// Pops all rules from the stack.
    RestoreState,
    /// Sets how many bytes of arguments are pushed (`DW_CFA_GNU_args_size`).
    ArgsSize { bytes: u64 },
    /// Toggles whether the return address is signed (AArch64). On SPARC the same number saves the register window.
    NegateRaState,
}

/// A call frame instruction with its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInstruction<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Opcode, without an operand that shares the byte.
    pub opcode: u8,
    /// Decoded instruction.
    pub instruction: CallFrameInstruction<'o>,
}

/// The instructions of an entry, in order.
///
/// # Errors
/// [`Truncated`](ErrorKind::Truncated) where the entry ends within an instruction, and
/// [`Unsupported`](ErrorKind::Unsupported) for unknown opcodes, with the offset, and for an unknown augmentation of the
/// CIE. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct CallFrameInstructions<'o> {
    from: Cursor<'o>,
    start: u64,
    encoding: Encoding,
    code_alignment: u64,
    data_alignment: i64,
    pointer_encoding: u8,
    section: FrameSection,
    /// Section address.
    address: u64,
    /// Augmentation of the CIE and its offset, if unknown: the bytes need not be instructions.
    unknown: Option<(&'o [u8], u64)>,
}

const WHAT: &str = "a call frame instruction";

impl<'o> CallFrameInstructions<'o> {
    pub(super) fn new(section: FrameSection, address: u64, cie: &Cie<'o>, program: FrameProgram<'o>) -> Self {
        Self {
            from: Cursor::new("", program.bytes, cie.encoding.big_endian),
            start: program.offset,
            encoding: cie.encoding,
            code_alignment: cie.code_alignment,
            data_alignment: cie.data_alignment,
            pointer_encoding: cie.pointer_encoding,
            section,
            address,
            unknown: (!cie.is_known).then_some((cie.augmentation, cie.offset)),
        }
    }

    /// Returns the encoding of expressions in the instructions.
    pub(super) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(super) fn section(&self) -> FrameSection {
        self.section
    }

    /// Writes the next instruction to the caller's variable, because a copy right after partial writes takes longer
    /// than the read itself.
    #[inline]
    pub(super) fn read(&mut self, into: &mut FrameInstruction<'o>) -> Result<bool> {
        if let Some((augmentation, offset)) = self.unknown.take() {
            self.from.finish();
            return Err(unknown_augmentation(augmentation, offset).in_section(self.section.name()));
        }
        if self.from.is_at_end() {
            return Ok(false);
        }
        into.offset = self.start + self.from.offset();
        match self.read_one(into) {
            Ok(()) => Ok(true),
            Err(error) => Err(self.failed(error)),
        }
    }

    #[inline]
    fn read_one(&mut self, into: &mut FrameInstruction<'o>) -> Result<()> {
        let first = self.from.u8(WHAT)?;
        // The two high bits, or the whole byte if both are 0.
        into.opcode = if first & 0xc0 == 0 { first } else { first & 0xc0 };
        into.instruction = self.instruction(into.opcode, first & 0x3f)?;
        Ok(())
    }

    /// Ends the iteration after an error. The error's offset counts from the first instruction.
    fn failed(&mut self, error: Error) -> Error {
        self.from.finish();
        let offset = error.at().offset.map_or(self.start, |offset| self.start.saturating_add(offset));
        Error::new(error.kind().clone()).in_section(self.section.name()).at_offset(offset)
    }

    fn steps(&self, steps: u64) -> u64 {
        steps.wrapping_mul(self.code_alignment)
    }

    fn fixed_steps(&mut self, bytes: u8) -> Result<u64> {
        let steps = self.from.uint(bytes, WHAT)?;
        Ok(self.steps(steps))
    }

    fn register(&mut self) -> Result<Reg> {
        self.from.uleb(WHAT).map(Reg)
    }

    fn unsigned(&mut self) -> Result<i64> {
        self.from.uleb(WHAT).map(|offset| offset as i64)
    }

    fn factored(&mut self) -> Result<i64> {
        Ok(self.unsigned()?.wrapping_mul(self.data_alignment))
    }

    fn signed_factored(&mut self) -> Result<i64> {
        Ok(self.from.sleb(WHAT)?.wrapping_mul(self.data_alignment))
    }

    fn expression(&mut self) -> Result<&'o [u8]> {
        let len = self.from.uleb(WHAT)?;
        self.from.take(len, WHAT)
    }

    /// Reads the operand of `DW_CFA_set_loc`.
    fn location(&mut self) -> Result<u64> {
        let bytes = self.encoding.address_bytes;
        if self.section == FrameSection::Debug {
            return self.from.uint(bytes, WHAT);
        }
        let address = self.start + self.from.offset();
        let start = match self.pointer_encoding & 0xf0 {
            0x00 => 0,
            0x10 => self.address.wrapping_add(address),
            other => {
                let text = format!("unsupported pointer encoding {other:#x} in {WHAT}");
                return Err(self.from.error(ErrorKind::Unsupported(text), self.from.offset()));
            }
        };
        let value = value(&mut self.from, self.pointer_encoding & 0x0f, bytes)?;
        Ok(start.wrapping_add(value) & max_address(bytes))
    }
}

/// Reads an operand. `$low` is the low six bits of the opcode.
macro_rules! operand {
    ($from:ident $low:ident LowSteps) => {
        $from.steps($low.into())
    };
    ($from:ident $low:ident Steps1) => {
        $from.fixed_steps(1)?
    };
    ($from:ident $low:ident Steps2) => {
        $from.fixed_steps(2)?
    };
    ($from:ident $low:ident Steps4) => {
        $from.fixed_steps(4)?
    };
    ($from:ident $low:ident Steps8) => {
        $from.fixed_steps(8)?
    };
    ($from:ident $low:ident Address) => {
        $from.location()?
    };
    ($from:ident $low:ident LowRegister) => {
        Reg($low.into())
    };
    ($from:ident $low:ident Register) => {
        $from.register()?
    };
    ($from:ident $low:ident Bytes) => {
        $from.unsigned()?
    };
    ($from:ident $low:ident Factored) => {
        $from.factored()?
    };
    ($from:ident $low:ident SignedFactored) => {
        $from.signed_factored()?
    };
    ($from:ident $low:ident NegatedFactored) => {
        $from.factored()?.wrapping_neg()
    };
    ($from:ident $low:ident Expression) => {
        $from.expression()?
    };
    ($from:ident $low:ident Space) => {
        $from.from.uleb(WHAT)?
    };
    ($from:ident $low:ident Size) => {
        $from.from.uleb(WHAT)?
    };
}

macro_rules! make_reader { ($(
    $kind:ident $constant:ident $name:literal $code:literal { $($field:ident: $operand:ident),* }
    $since:literal $dialects:ident;
)*) => {
    impl<'o> CallFrameInstructions<'o> {
        #[inline]
        fn instruction(&mut self, opcode: u8, low: u8) -> Result<CallFrameInstruction<'o>> {
            Ok(match opcode {
                $($code if is_in_dialect!($dialects self.encoding.dialect) => {
                    CallFrameInstruction::$kind { $($field: operand!(self low $operand)),* }
                })*
                other => {
                    let text = format!("unknown call frame instruction {other:#04x}");
                    return Err(self.from.error(ErrorKind::Unsupported(text), self.from.offset() - 1));
                }
            })
        }
    }
} }
for_each_instruction!(make_reader);

impl<'o> Iterator for CallFrameInstructions<'o> {
    type Item = Result<FrameInstruction<'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut read = FrameInstruction { offset: 0, opcode: 0, instruction: CallFrameInstruction::Nop };
        match self.read(&mut read) {
            Ok(is_there) => is_there.then_some(Ok(read)),
            Err(error) => Some(Err(error)),
        }
    }
}
