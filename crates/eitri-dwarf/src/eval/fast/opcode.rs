//! Opcodes, from the operation table.

use crate::op::{COMPACT, OperationName, opcode};

macro_rules! opcodes {
    ($($code:ident $name:ident)*) => { $(pub const $code: u8 = opcode(OperationName::$name);)* };
}

opcodes! {
    ADDR Addr  DEREF Deref  CONSTU ConstU  CONSTS ConstS  DROP Drop  PICK Pick  SWAP Swap  ROT Rot
    ABS Abs  AND And  DIV Div  MINUS Minus  MOD Mod  MUL Mul  NEG Neg  NOT Not  OR Or  PLUS Plus
    PLUS_UCONST PlusUconst  SHL Shl  SHR Shr  SHRA Shra  XOR Xor  BRA Bra  EQ Eq  GE Ge  GT Gt  LE Le  LT Lt  NE Ne
    SKIP Skip  REGX RegX  FBREG FbReg  BREGX BregX  PIECE Piece  DEREF_SIZE DerefSize  NOP Nop
    CALL_FRAME_CFA CallFrameCfa  STACK_VALUE StackValue
}

macro_rules! compact {
    ($($first:ident $(..$last:ident)? $text:literal)*) => {
        $(pub const $first: u8 = family($text).0; $(pub const $last: u8 = family($text).1;)?)*
    };
}

compact! {
    CONST1U "const1u"  CONST1S "const1s"  CONST2U "const2u"  CONST2S "const2s"
    CONST4U "const4u"  CONST4S "const4s"  CONST8U "const8u"  CONST8S "const8s"
    DUP "dup"  OVER "over"  LIT0..LIT31 "lit"  REG0..REG31 "reg"  BREG0..BREG31 "breg"
}

/// Returns the first and last opcode of a compact family.
const fn family(text: &str) -> (u8, u8) {
    let mut index = 0;
    while !is_same(COMPACT[index].text.as_bytes(), text.as_bytes()) {
        index += 1;
    }
    (COMPACT[index].first, COMPACT[index].last())
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([a, rest @ ..], [b, others @ ..]) => *a == *b && is_same(rest, others),
        _ => false,
    }
}
