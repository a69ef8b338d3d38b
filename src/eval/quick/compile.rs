//! Expressions compiled for the fast evaluator.

use std::borrow::Cow;

use super::super::wide::operations;
use super::code::{Instructions, Source};
use super::opcode::*;
use crate::op::{Encoding, Op, Reg};

/// An expression with decoded operations, for evaluation on many machines: at every stop of a debugger, at every pc, in
/// every lane.
///
/// Each evaluation has the result that [`Evaluator`](crate::eval::Evaluator) has for the bytes: the same location or
/// value, or the same fault at the same operation. Compiling never fails: an invalid operation is a fault of the
/// evaluation that reaches it.
///
/// * Operands are decoded, targets of branches found, and frequent sequences (a literal and its operation, a register's
///   contents and their target, a register and its piece) fused to one instruction.
/// * Operations on numbers of the generic type, the default address space and whole registers are executed from the
///   instructions. At any other one, and at any possible fault, the full evaluator continues with the bytes.
/// * The encoding is that of the compiled expression; [`Context::encoding`](crate::eval::Context) is ignored.
///
/// Compiling takes 40 to 900 ns (`benches/README.md`): an expression that is evaluated a few times is evaluated faster
/// from its bytes.
///
/// ```
/// use eitri::eval::{Compiled, Context, Evaluator, Snapshot};
/// use eitri::op::{Dialect, Encoding, Reg, text};
/// use eitri::target::Target;
///
/// let target = Target::x86_64();
/// let encoding = Encoding::new(8, Dialect::Dwarf5);
/// let expr = text::parse("breg5 16; lit4; plus", encoding, Some(&target))?;
/// let compiled = Compiled::new(expr.bytes(), encoding);
///
/// let context = Context::new(encoding, &target);
/// let mut evaluator = Evaluator::new();
/// for rdi in [0x1000u64, 0x2000, 0x3000] {
///     let mut machine = Snapshot::default();
///     machine.registers.insert(Reg(5), rdi.to_le_bytes().to_vec());
///     let location = evaluator.locate_compiled(&compiled, &machine, &context).unwrap();
///     assert_eq!(location.default_address(), Some(rdi + 20));
/// }
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Compiled<'e> {
    expr: Cow<'e, [u8]>,
    encoding: Encoding,
    instructions: Vec<Instruction>,
    single: Option<Single>,
}

/// The operation of an expression that needs no stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Single {
    Register(Reg),
    /// An offset from the frame base.
    FrameBase(i64),
}

/// An operation, or several fused ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Instruction {
    /// Constant or offset. Of a branch: index of the target, and above it the steps of the search for it. Of a piece of
    /// memory: offset, and above it the number of bytes.
    pub operand: u64,
    /// Offset in bytes of the first operation.
    pub at: u32,
    /// Register, size in bytes or index. Of a branch: whether its search must be remembered.
    pub small: u16,
    pub code: u8,
    /// Number of operations.
    pub steps: u8,
}

/// Marks an invalid target.
const NOWHERE: u64 = u32::MAX as u64;

impl<'e> Compiled<'e> {
    /// Compiles an expression.
    pub fn new(expr: impl Into<Cow<'e, [u8]>>, encoding: Encoding) -> Self {
        let expr = expr.into();
        let instructions = match u32::try_from(expr.len()) {
            Ok(len) if len < u32::MAX => compile(&expr, encoding),
            // Offsets have 32 bits.
            _ => vec![Instruction::other(0); 2],
        };
        let single = match *instructions {
            [Instruction { code: REGX, small, .. }, _] => Some(Single::Register(Reg(small.into()))),
            [Instruction { code: FBREG, operand, .. }, _] => Some(Single::FrameBase(operand as i64)),
            _ => None,
        };
        Self { expr, encoding, instructions, single }
    }

    /// Returns the bytes of the expression.
    pub fn bytes(&self) -> &[u8] {
        &self.expr
    }

    /// Returns the encoding of the expression.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    #[inline(always)]
    pub(in super::super) fn source(&self) -> Source<'_, Instructions<'_>> {
        let code = Instructions::new(&self.instructions);
        Source { code, expr: &self.expr, encoding: &self.encoding }
    }

    #[inline(always)]
    pub(in super::super) fn single(&self) -> Option<Single> {
        self.single
    }
}

impl Instruction {
    /// Returns an instruction that the fast evaluator does not execute.
    fn other(at: usize) -> Self {
        Self { code: OTHER, at: at as u32, steps: 1, ..Self::default() }
    }

    /// Returns the index of a branch's target, and the steps of the search for it.
    #[inline(always)]
    pub fn target(self) -> Option<(usize, u64)> {
        let to = self.operand & NOWHERE;
        (to != NOWHERE).then_some((to as usize, self.operand >> 32))
    }

    /// Whether the search for a branch's target must be remembered.
    #[inline(always)]
    pub fn is_remembered(self) -> bool {
        self.small != 0
    }

    fn is_branch(self) -> bool {
        matches!(self.code, BRA | SKIP | DUP_BRA)
    }

    /// Converts an operation. A branch's operand is the offset of its target in bytes.
    fn of(op: &Op<'_>, at: usize, end: usize) -> Self {
        let (code, operand, small) = match *op {
            Op::ConstU { value } => (CONSTU, value, 0),
            Op::ConstS { value } => (CONSTU, value as u64, 0),
            Op::Drop {} => (DROP, 0, 0),
            Op::Pick { index: 0 } => (DUP, 0, 0),
            Op::Pick { index } => (PICK, 0, index.into()),
            Op::Swap {} => (SWAP, 0, 0),
            Op::Rot {} => (ROT, 0, 0),
            Op::And {} => (AND, 0, 0),
            Op::Div {} => (DIV, 0, 0),
            Op::Minus {} => (MINUS, 0, 0),
            Op::Mod {} => (MOD, 0, 0),
            Op::Mul {} => (MUL, 0, 0),
            Op::Or {} => (OR, 0, 0),
            Op::Plus {} => (PLUS, 0, 0),
            Op::Shl {} => (SHL, 0, 0),
            Op::Shr {} => (SHR, 0, 0),
            Op::Shra {} => (SHRA, 0, 0),
            Op::Xor {} => (XOR, 0, 0),
            Op::Abs {} => (ABS, 0, 0),
            Op::Neg {} => (NEG, 0, 0),
            Op::Not {} => (NOT, 0, 0),
            Op::PlusUconst { value } => (PLUS_UCONST, value, 0),
            Op::Eq {} => (EQ, 0, 0),
            Op::Ge {} => (GE, 0, 0),
            Op::Gt {} => (GT, 0, 0),
            Op::Le {} => (LE, 0, 0),
            Op::Lt {} => (LT, 0, 0),
            Op::Ne {} => (NE, 0, 0),
            Op::Nop {} => (NOP, 0, 0),
            Op::Skip { by } => (SKIP, end.wrapping_add_signed(by.into()) as u64, 0),
            Op::Bra { by } => (BRA, end.wrapping_add_signed(by.into()) as u64, 0),
            Op::Deref {} => (DEREF, 0, 0),
            Op::DerefSize { bytes } => (DEREF_SIZE, 0, bytes.into()),
            Op::Addr { address } => (ADDR, address, 0),
            Op::CallFrameCfa {} => (CALL_FRAME_CFA, 0, 0),
            Op::FbReg { by } => (FBREG, by as u64, 0),
            Op::BregX { reg: Reg(reg @ ..=0xffff), by } => (BREGX, by as u64, reg as u16),
            Op::RegX { reg: Reg(reg @ ..=0xffff) } => (REGX, 0, reg as u16),
            Op::StackValue {} => (STACK_VALUE, 0, 0),
            Op::Piece { bytes } => (PIECE, bytes, 0),
            _ => (OTHER, 0, 0),
        };
        Self { operand, at: at as u32, small, code, steps: 1 }
    }

    /// Fuses the instruction with a following operation, if there is an opcode for both.
    fn fused(self, next: Self) -> Option<Self> {
        let by = i32::try_from(self.operand as i64).map(|by| u64::from(by as u32));
        let (code, operand, small) = match (self.code, next.code) {
            (CONSTU, code) if let Some(code) = with_literal(code) => (code, self.operand, 0),
            (CONSTU, STACK_VALUE) => (LITERAL_STACK_VALUE, self.operand, 0),
            (LITERAL_STACK_VALUE, PIECE) if let Ok(bytes) = u16::try_from(next.operand) => {
                (LITERAL_STACK_VALUE_PIECE, self.operand, bytes)
            }
            (BREGX, DEREF) => (BREG_DEREF, self.operand, self.small),
            (PLUS_UCONST, DEREF) => (PLUS_DEREF, self.operand, 0),
            (REGX, PIECE) => (REGISTER_PIECE, next.operand, self.small),
            (BREGX, PIECE) if let (Ok(by), ..=0xffff) = (by, next.operand) => {
                (BREG_PIECE, by | next.operand << 32, self.small)
            }
            (DUP, MUL) => (DUP_MUL, 0, 0),
            (DUP, BRA) => (DUP_BRA, next.operand, next.small),
            _ => return None,
        };
        Some(Self { operand, at: self.at, small, code, steps: self.steps + next.steps })
    }
}

/// Returns the opcode of a literal fused with the operation of an opcode.
fn with_literal(code: u8) -> Option<u8> {
    Some(match code {
        AND => LITERAL_AND,
        DIV => LITERAL_DIV,
        MINUS => LITERAL_MINUS,
        MOD => LITERAL_MOD,
        MUL => LITERAL_MUL,
        OR => LITERAL_OR,
        PLUS => LITERAL_PLUS,
        SHL => LITERAL_SHL,
        SHR => LITERAL_SHR,
        SHRA => LITERAL_SHRA,
        XOR => LITERAL_XOR,
        EQ => LITERAL_EQ,
        GE => LITERAL_GE,
        GT => LITERAL_GT,
        LE => LITERAL_LE,
        LT => LITERAL_LT,
        NE => LITERAL_NE,
        _ => return None,
    })
}

fn compile(expr: &[u8], encoding: Encoding) -> Vec<Instruction> {
    // Most operations have two bytes or more.
    let mut all = Vec::with_capacity(expr.len() / 2 + 1);
    let mut at = 0;
    for (end, op) in operations(expr, encoding, 0) {
        all.push(Instruction::of(&op, at, end));
        at = end;
    }
    if at < expr.len() {
        // An invalid operation: its fault belongs to the evaluation that reaches it.
        all.push(Instruction::other(at));
    }
    all.push(Instruction::other(expr.len()));
    // Branches are rare.
    let mut targets: Vec<u32> =
        all.iter().filter(|one| one.is_branch()).filter_map(|one| one.operand.try_into().ok()).collect();
    targets.sort_unstable();
    let searches = searches(&all, &targets);
    fuse(&mut all, &targets);
    link(&mut all, &searches);
    all
}

/// Returns the steps of the search for the target of each branch, in the order of branches: an eighth of the number of
/// operations between it and the branch, or between it and the start. A target at the end needs no search.
fn searches(all: &[Instruction], targets: &[u32]) -> Vec<u32> {
    if targets.is_empty() {
        return Vec::new();
    }
    let branches = all.iter().enumerate().filter(|(_, one)| one.is_branch());
    let steps = branches.map(|(index, one)| match position(all, one.operand) {
        Some(to) if to + 1 == all.len() => 0,
        Some(to) if to > index => (to - index - 1) as u32 / 8,
        Some(to) => to as u32 / 8,
        None => 0,
    });
    steps.collect()
}

/// Returns the index of the instruction at an offset in bytes.
fn position(all: &[Instruction], offset: u64) -> Option<usize> {
    all.binary_search_by(|one| u64::from(one.at).cmp(&offset)).ok()
}

/// Fuses operations. The first one can be the target of a branch, the others cannot.
fn fuse(all: &mut Vec<Instruction>, targets: &[u32]) {
    let mut len: usize = 0;
    for index in 0..all.len() {
        let next = all[index];
        let is_target = !targets.is_empty() && targets.binary_search(&next.at).is_ok();
        let before = len.checked_sub(1).map(|last| all[last]).filter(|_| !is_target);
        match before.and_then(|before| before.fused(next)) {
            Some(both) => all[len - 1] = both,
            None => {
                all[len] = next;
                len += 1;
            }
        }
    }
    all.truncate(len);
}

/// Replaces the offsets of targets by their indexes.
fn link(all: &mut [Instruction], searches: &[u32]) {
    let is_remembered = searches.iter().any(|&steps| steps > 0);
    let mut searches = searches.iter();
    for index in 0..all.len() {
        if all[index].is_branch() {
            let to = position(all, all[index].operand).map_or(NOWHERE, |to| to as u64);
            let steps = searches.next().copied().unwrap_or(0);
            all[index].operand = to | u64::from(steps) << 32;
            all[index].small = is_remembered.into();
        }
    }
}
