//! Compilation of an expression: a proof of its stack at each operation, with an instruction for each.

use smallvec::SmallVec;

use super::super::arith::{Binary, Compare};
use super::super::wide::operations;
use super::code::{Code, Instruction};
use super::kinds::{Kind, Kinds, Outcome};
use super::run::HEIGHT;
use crate::op::{Dialect, Encoding, Op, Reg};
use crate::target::SpaceId;

/// Instructions of an expression, and what their evaluation requires.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// Instructions; the last one is the end.
    pub all: Vec<Instruction>,
    pub outcome: Outcome,
    /// Mask of the generic type's bits, of 64.
    pub mask: u64,
    /// Number of operations.
    pub steps: u64,
    /// Maximum number of elements on the stack.
    pub height: usize,
    /// Maximum number of parts of a composite.
    pub parts: u32,
    /// Whether addresses of the default space must have the size of the generic type, in memory that all lanes share.
    pub needs_flat: bool,
    /// Whether all operations are allowed in call frame information.
    pub is_for_cfi: bool,
}

/// Limits of a composite: no composite within them is larger than the largest address space.
const MOST_PARTS: u32 = 64;
const MOST_BYTES: u64 = 1 << 13;

/// Target of a branch.
struct Label {
    /// Offset in bytes.
    at: usize,
    /// Index of the instruction, once it is known.
    to: Option<usize>,
    /// Number of the operation.
    number: usize,
    kinds: Option<Kinds>,
}

/// Branch to a label.
struct Branch {
    /// Index of the instruction.
    from: usize,
    /// Number of the operation.
    number: usize,
    label: usize,
}

struct Compiler {
    encoding: Encoding,
    kinds: Kinds,
    /// Whether the operation is reached from the one before.
    is_reached: bool,
    /// Number of instructions that may not be fused with later ones.
    sealed: usize,
    labels: SmallVec<[Label; 2]>,
    branches: SmallVec<[Branch; 2]>,
    program: Program,
}

/// Compiles an expression. `None` if there is no proof of its stack.
pub(super) fn compile(expr: &[u8], encoding: Encoding) -> Option<Program> {
    if !(1..=8).contains(&encoding.address_bytes) {
        return None;
    }
    let program = Program {
        // Most operations have two bytes or more.
        all: Vec::with_capacity(expr.len() / 2 + 2),
        outcome: Outcome::Parts,
        mask: u64::MAX >> (64 - u32::from(encoding.address_bytes) * 8),
        steps: 0,
        height: 0,
        parts: 0,
        needs_flat: false,
        is_for_cfi: true,
    };
    let mut compiler = Compiler {
        encoding,
        kinds: Kinds::default(),
        is_reached: true,
        sealed: 0,
        labels: labels(expr, encoding),
        branches: SmallVec::new(),
        program,
    };
    let mut at = 0;
    for (end, op) in operations(expr, encoding, 0) {
        compiler.label(at)?;
        if compiler.is_reached {
            compiler.operation(&op, end)?;
        }
        compiler.program.steps += 1;
        at = end;
    }
    // An invalid operation has no end.
    if at < expr.len() {
        return None;
    }
    compiler.label(at)?;
    compiler.end()
}

/// Returns the targets of branches, in order.
fn labels(expr: &[u8], encoding: Encoding) -> SmallVec<[Label; 2]> {
    let mut found = SmallVec::<[usize; 2]>::new();
    if expr.iter().any(|code| matches!(code, 0x28 | 0x2f)) {
        let targets = operations(expr, encoding, 0).filter_map(|(end, op)| match op {
            Op::Skip { by } | Op::Bra { by } => Some(end.wrapping_add_signed(by.into())),
            _ => None,
        });
        found.extend(targets);
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter().map(|at| Label { at, to: None, number: 0, kinds: None }).collect()
}

impl Compiler {
    /// Requires the stack to be the same from all branches to an offset.
    fn label(&mut self, at: usize) -> Option<()> {
        if self.labels.is_empty() {
            return Some(());
        }
        let Ok(index) = self.labels.binary_search_by_key(&at, |label| label.at) else { return Some(()) };
        let label = &mut self.labels[index];
        match (&label.kinds, self.is_reached) {
            (Some(kinds), true) if *kinds != self.kinds => return None,
            (Some(kinds), _) => self.kinds = kinds.clone(),
            (None, true) => label.kinds = Some(self.kinds.clone()),
            // Only later branches lead here.
            (None, false) => return None,
        }
        (label.to, label.number) = (Some(self.program.all.len()), self.program.steps as usize);
        (self.is_reached, self.sealed) = (true, self.program.all.len());
        Some(())
    }

    fn branch(&mut self, code: Code, end: usize, by: i16) -> Option<()> {
        let at = end.checked_add_signed(by.into())?;
        let index = self.labels.binary_search_by_key(&at, |label| label.at).ok()?;
        let label = &mut self.labels[index];
        match &label.kinds {
            Some(kinds) if *kinds != self.kinds => return None,
            Some(_) => {}
            None => label.kinds = Some(self.kinds.clone()),
        }
        self.push(Instruction::new(code));
        let (from, number) = (self.program.all.len() - 1, self.program.steps as usize);
        self.branches.push(Branch { from, number, label: index });
        self.sealed = self.program.all.len();
        Some(())
    }

    fn push(&mut self, one: Instruction) {
        let all = &mut self.program.all;
        let is_open = all.len() > self.sealed;
        match all.last_mut().filter(|_| is_open).and_then(|last| Some((last.fused(one)?, last))) {
            Some((fused, last)) => *last = fused,
            None => all.push(one),
        }
    }

    fn element(&mut self, kind: Kind, one: Instruction) {
        self.push(one);
        self.kinds.all.push(kind);
    }

    /// Pushes a constant of the generic type.
    fn constant(&mut self, number: u64) {
        let operand = number & self.program.mask;
        self.element(Kind::Value, Instruction { operand, ..Instruction::new(Code::Const) });
    }

    /// Returns the size of the generic type in bits.
    fn bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }

    fn is_draft(&self) -> bool {
        self.encoding.dialect == Dialect::Dwarf6
    }

    fn operation(&mut self, op: &Op<'_>, end: usize) -> Option<()> {
        self.program.is_for_cfi &= op.row().is_for_cfi;
        match *op {
            Op::ConstU { value } => self.constant(value),
            Op::ConstS { value } => self.constant(value as u64),
            Op::Drop {} => {
                self.kinds.all.pop()?;
                self.push(Instruction::new(Code::Drop));
            }
            Op::Pick { index } => {
                let picked = self.kinds.below(index.into())?;
                let code = if index == 0 { Code::Dup } else { Code::Pick };
                self.element(picked, Instruction { small: index.into(), ..Instruction::new(code) });
            }
            Op::Swap {} => self.rotate(2, Code::Swap)?,
            Op::Rot {} => self.rotate(3, Code::Rot)?,

            Op::And {} => self.binary(Binary::And)?,
            Op::Div {} => self.binary(Binary::Div)?,
            Op::Minus {} => self.binary(Binary::Minus)?,
            Op::Mod {} => self.binary(Binary::Mod)?,
            Op::ModFloor {} => self.binary(Binary::ModFloor)?,
            Op::Mul {} => self.binary(Binary::Mul)?,
            Op::Or {} => self.binary(Binary::Or)?,
            Op::Plus {} => self.binary(Binary::Plus)?,
            Op::Shl {} => self.binary(Binary::Shl)?,
            Op::Shr {} => self.binary(Binary::Shr)?,
            Op::Shra {} => self.binary(Binary::Shra)?,
            Op::Xor {} => self.binary(Binary::Xor)?,
            Op::Abs {} => self.unary(Instruction::new(Code::Abs))?,
            Op::Neg {} => self.unary(Instruction::new(Code::Neg))?,
            Op::Not {} => self.unary(Instruction::new(Code::Not))?,
            Op::PlusUconst { value } => {
                let operand = value & self.program.mask;
                self.unary(Instruction { operand, ..Instruction::new(Code::PlusConst) })?;
            }
            Op::Eq {} => self.compare(Compare::Eq)?,
            Op::Ge {} => self.compare(Compare::Ge)?,
            Op::Gt {} => self.compare(Compare::Gt)?,
            Op::Le {} => self.compare(Compare::Le)?,
            Op::Lt {} => self.compare(Compare::Lt)?,
            Op::Ne {} => self.compare(Compare::Ne)?,

            Op::Nop {} | Op::GnuUninit {} => {}
            Op::Skip { by } => {
                self.branch(Code::Jump, end, by)?;
                self.is_reached = false;
            }
            Op::Bra { by } => {
                self.kinds.pop_number()?;
                self.branch(Code::JumpIf, end, by)?;
            }

            Op::Addr { address } => {
                self.memory(Instruction { operand: address, ..Instruction::new(Code::Address) })
            }
            Op::BregX { reg, by } => {
                let small = reg.0.try_into().ok()?;
                self.memory(Instruction { operand: by as u64, small, ..Instruction::new(Code::Based) });
            }
            Op::FbReg { by } => {
                self.memory(Instruction { operand: by as u64, ..Instruction::new(Code::FrameBase) })
            }
            Op::CallFrameCfa {} if !self.is_draft() => self.memory(Instruction::new(Code::Cfa)),
            Op::Deref {} => self.deref(self.encoding.address_bytes)?,
            Op::DerefSize { bytes } => self.deref(bytes)?,
            Op::RegX { reg: Reg(reg) } => {
                let small = reg.try_into().ok()?;
                self.element(
                    Kind::Register(small),
                    Instruction { small, ..Instruction::new(Code::Register) },
                );
            }
            Op::StackValue {} => {
                self.kinds.pop_number()?;
                self.kinds.all.push(Kind::Known);
            }
            Op::Piece { bytes } if !self.is_draft() => self.piece(bytes)?,

            Op::PushLane {} if !self.is_draft() => self.element(Kind::Value, Instruction::new(Code::Lane)),
            Op::FormAspaceAddress {} if !self.is_draft() => self.space()?,
            Op::Offset {} if !self.is_draft() => {
                self.kinds.pop_number()?;
                self.offset(8, Code::Offset, Code::RegisterOffset)?;
            }
            Op::BitOffset {} if !self.is_draft() => {
                self.kinds.pop_number()?;
                let Kind::Register(_) = self.kinds.below(0)? else { return None };
                self.offset(1, Code::Offset, Code::RegisterOffset)?;
            }
            Op::OffsetUconst { bytes: operand @ 0..=0xffff } if !self.is_draft() => {
                self.offset(8, Code::OffsetConst, Code::RegisterOffsetConst)?;
                let last = self.program.all.last_mut()?;
                last.operand = operand;
            }
            _ => return None,
        }
        self.height(self.kinds.height());
        Some(())
    }

    fn height(&mut self, height: usize) {
        self.program.height = self.program.height.max(height);
    }

    fn rotate(&mut self, count: usize, code: Code) -> Option<()> {
        let start = self.kinds.all.len().checked_sub(count)?;
        self.kinds.all[start..].rotate_right(1);
        self.push(Instruction::new(code));
        Some(())
    }

    fn unary(&mut self, one: Instruction) -> Option<()> {
        self.kinds.pop_number()?;
        self.element(Kind::Value, one);
        Some(())
    }

    fn binary(&mut self, op: Binary) -> Option<()> {
        self.kinds.pop_number()?;
        self.unary(Instruction::new(Code::binary(op)))
    }

    fn compare(&mut self, op: Compare) -> Option<()> {
        self.kinds.pop_number()?;
        self.unary(Instruction::new(Code::compare(op)))
    }

    /// Pushes a byte of the default space.
    fn memory(&mut self, one: Instruction) {
        self.program.needs_flat = true;
        self.element(Kind::Memory(SpaceId::DEFAULT), one);
    }

    fn deref(&mut self, bytes: u8) -> Option<()> {
        if bytes == 0 || bytes > self.encoding.address_bytes {
            return None;
        }
        let (code, small) = match self.kinds.all.pop()? {
            Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
                self.program.needs_flat = true;
                (Code::Deref, 0)
            }
            Kind::Memory(space) => (Code::DerefSpace, space.0),
            Kind::Register(reg) => (Code::ReadAt, reg),
            Kind::Known => return None,
        };
        self.element(Kind::Value, Instruction { bytes, small, ..Instruction::new(code) });
        Some(())
    }

    /// Forms an address in a constant space.
    fn space(&mut self) -> Option<()> {
        self.kinds.pop_number()?;
        self.kinds.pop_number()?;
        let all = &mut self.program.all;
        let is_open = all.len() > self.sealed;
        let space = all.pop_if(|last| is_open && last.code == Code::Const)?;
        let space = SpaceId(space.operand.try_into().ok()?);
        self.kinds.all.push(Kind::Memory(space));
        if space == SpaceId::DEFAULT {
            self.program.needs_flat = true;
        } else {
            self.push(Instruction { small: space.0, ..Instruction::new(Code::Space) });
        }
        Some(())
    }

    /// Moves the top element, a location, by a number of units of `unit` bits.
    fn offset(&mut self, unit: u8, memory: Code, register: Code) -> Option<()> {
        let kind = self.kinds.all.pop()?;
        let (code, small, moved) = match kind {
            Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
                self.program.needs_flat = true;
                (memory, SpaceId::DEFAULT.0, Kind::Memory(SpaceId::DEFAULT))
            }
            Kind::Memory(space) => (memory, space.0, kind),
            Kind::Register(reg) => (register, reg, kind),
            Kind::Known => return None,
        };
        self.element(moved, Instruction { small, bytes: unit, ..Instruction::new(code) });
        Some(())
    }

    fn piece(&mut self, bytes: u64) -> Option<()> {
        let bits = self.bits();
        if self.kinds.all.len() > 1 || bytes >= MOST_BYTES || self.kinds.parts == MOST_PARTS || bits < 32 {
            return None;
        }
        let operand = bytes * 8;
        let (code, small) = match self.kinds.all.pop() {
            None => (Code::PieceNothing, 0),
            Some(Kind::Value | Kind::Memory(SpaceId::DEFAULT)) => {
                self.program.needs_flat = true;
                (Code::PieceMemory, 0)
            }
            Some(Kind::Memory(space)) => (Code::PieceSpace, space.0),
            Some(Kind::Register(reg)) => (Code::PieceRegister, reg),
            Some(Kind::Known) if operand <= bits.into() => (Code::PieceKnown, 0),
            Some(Kind::Known) => return None,
        };
        self.push(Instruction { operand, small, ..Instruction::new(code) });
        self.kinds.parts += 1;
        self.program.parts = self.program.parts.max(self.kinds.parts);
        Some(())
    }

    /// Links the branches, and returns the program.
    fn end(mut self) -> Option<Program> {
        let end = self.program.all.len();
        for &Branch { from, number, label } in &self.branches {
            let Label { to, number: target, .. } = self.labels[label];
            let to = to?;
            let searched = if to == end { 0 } else { search(number, target) };
            let repeated = (number + 1).saturating_sub(target);
            let steps = u32::try_from(searched + repeated).ok()?;
            self.program.all[from].operand = u64::from(u32::try_from(to).ok()?) | u64::from(steps) << 32;
        }
        self.program.outcome = match (self.is_reached, self.kinds.all.last(), self.kinds.parts) {
            (true, Some(&kind), _) => Outcome::Top(kind),
            (true, None, 1..) => Outcome::Parts,
            _ => return None,
        };
        self.program.all.push(Instruction::new(Code::End));
        (self.program.height < HEIGHT).then_some(self.program)
    }
}

/// Returns the number of steps of a search for the target of a branch, both given by the number of their operation. The
/// search begins at the branch or at the start, and an eighth of its operations count.
fn search(from: usize, to: usize) -> usize {
    if to > from { (to - from - 1) / 8 } else { to / 8 }
}
