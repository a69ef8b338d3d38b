//! Instructions of compiled expressions.

use super::super::arith::{Binary, Compare, Unary};

macro_rules! codes {
    (
        binary $($binary:ident $binary_const:ident)*;
        compare $($compare:ident $compare_const:ident)*;
        others $($(#[$meta:meta])* $other:ident)*;
    ) => {
        /// Operation of an instruction. `…Const` has the operand in place of the top element.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Code {
            $($binary, $binary_const,)*
            $($compare, $compare_const,)*
            $($(#[$meta])* $other,)*
        }

        impl Code {
            pub fn binary(op: Binary) -> Self {
                match op { $(Binary::$binary => Self::$binary,)* }
            }

            pub fn unary(op: Unary) -> Self {
                match op { Unary::Abs => Self::Abs, Unary::Neg => Self::Neg, Unary::Not => Self::Not }
            }

            pub fn compare(op: Compare) -> Self {
                match op { $(Compare::$compare => Self::$compare,)* }
            }

            /// Whether the instruction is one that the direct evaluation executes too, with the machine or the target.
            pub fn is_query(self) -> bool {
                (self as u8) >= Self::Address as u8 && (self as u8) < Self::BasedDeref as u8
            }

            /// Returns the code for a constant in place of the top element.
            pub fn with_const(self) -> Option<Self> {
                Some(match self {
                    $(Self::$binary => Self::$binary_const,)*
                    $(Self::$compare => Self::$compare_const,)*
                    Self::Offset => Self::OffsetConst,
                    Self::RegisterOffset => Self::RegisterOffsetConst,
                    _ => return None,
                })
            }
        }
    };
}

codes! {
    binary And AndConst  Div DivConst  Minus MinusConst  Mod ModConst  ModFloor ModFloorConst  Mul MulConst
        Or OrConst  Plus PlusConst  Shl ShlConst  Shr ShrConst  Shra ShraConst  Xor XorConst;
    compare Eq EqConst  Ge GeConst  Gt GtConst  Le LeConst  Lt LtConst  Ne NeConst;
    others
        Const Drop Dup Pick Swap Rot Abs Neg Not
        /// Duplicates and multiplies.
        Square
        Jump JumpIf
        /// Jumps if the top is not 0, which remains.
        JumpIfTop

        // Queries of the machine or the target.
        /// An address of the file.
        Address
        /// A register's contents and an offset.
        Based
        FrameBase Cfa
        /// Reads the default space, at the top element.
        Deref
        /// Reads another space, at the top element.
        DerefSpace
        /// Reads a register from the bit on top.
        ReadAt
        Register Lane
        /// Converts the top element to an address of a space.
        Space
        /// Moves an address by a number.
        Offset OffsetConst
        /// Moves a bit of a register by a number of bits.
        RegisterOffset RegisterOffsetConst
        PieceNothing PieceMemory PieceSpace PieceKnown PieceRegister

        // Fused ones.
        /// Reads at a register's contents and an offset.
        BasedDeref
        /// Adds a constant, and reads.
        PlusDeref
        /// Reads a register from bit 0.
        Read
        /// A constant as a piece.
        ConstPiece
        /// A register and its piece.
        RegisterPiece
        /// Memory at a register's contents and its piece.
        BasedPiece
        End;
}

/// An operation, or several fused ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Constant or offset. A jump has the index of its target, and above it the number of steps; a piece its size in
    /// bits; a fused piece of memory the offset, and above it the size in bits.
    pub operand: u64,
    /// Register, address space, index or unit.
    pub small: u32,
    /// Size in bytes.
    pub bytes: u8,
    pub code: Code,
}

impl Instruction {
    pub const fn new(code: Code) -> Self {
        Self { operand: 0, small: 0, bytes: 0, code }
    }

    /// Returns both instructions as one, if there is a code for that.
    pub fn fused(self, next: Self) -> Option<Self> {
        use Code::{
            BasedDeref, BasedPiece, Const, ConstPiece, Deref, Dup, JumpIf, JumpIfTop, Mul, Offset,
            PieceKnown, PieceMemory, PieceRegister, PlusConst, PlusDeref, Read, ReadAt, Register,
            RegisterOffset, RegisterPiece, Square,
        };
        Some(match (self.code, next.code) {
            (Const, Offset) => Self { operand: self.operand, code: Code::OffsetConst, ..next },
            (Const, RegisterOffset) => {
                Self { operand: self.operand, code: Code::RegisterOffsetConst, ..next }
            }
            (Const, PieceKnown) if let Ok(small) = u32::try_from(next.operand) => {
                Self { code: ConstPiece, small, ..self }
            }
            (Const, code) => Self { code: code.with_const()?, ..self },
            (Code::Based, Deref) => Self { code: BasedDeref, bytes: next.bytes, ..self },
            (Code::Based, PieceMemory) => {
                let by = i32::try_from(self.operand as i64).ok()?;
                let bits = u64::from(u32::try_from(next.operand).ok()?);
                Self { code: BasedPiece, operand: u64::from(by as u32) | bits << 32, ..self }
            }
            (PlusConst, Deref) => Self { code: PlusDeref, bytes: next.bytes, ..self },
            (Register, ReadAt) => Self { code: Read, ..next },
            (Register, PieceRegister) => Self { code: RegisterPiece, ..next },
            (Dup, Mul) => Self::new(Square),
            (Dup, JumpIf) => Self { code: JumpIfTop, ..next },
            _ => return None,
        })
    }
}
