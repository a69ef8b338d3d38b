//! Compilation of an expression: a proof of its stack at each operation, with an instruction for each.

use smallvec::SmallVec;

use super::super::arith::{Binary, Compare, Unary};
use super::super::wide::operations;
use super::code::Bytes;
use super::instruction::{Code, Instruction};
use super::kinds::Kind;
use super::opcode::{BRA, SKIP};
use super::stack::HEIGHT;
use super::translate::{Calculate, Query, calculation, query, vendor};
use crate::op::{Encoding, Name, Op};
use crate::target::SpaceId;

/// Instructions of an expression, and what their evaluation requires.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// Instructions; the last one is the end.
    pub all: Vec<Instruction>,
    /// Kind of the resulting element; [`Kind::Nothing`] for the composite.
    pub outcome: Kind,
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

/// Maximum number of parts of a composite.
const MOST_PARTS: u32 = 64;

/// The stack at an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Kinds {
    /// Elements above the composite under construction, bottom first.
    all: SmallVec<[Kind; 8]>,
    /// Number of parts of the composite.
    parts: u32,
}

/// Target of a branch.
pub struct Label {
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

struct Compiler<'c> {
    code: Bytes<'c>,
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
pub(super) fn compile(expr: &[u8], encoding: &Encoding) -> Option<Program> {
    if !(1..=8).contains(&encoding.address_bytes) {
        return None;
    }
    let program = Program {
        // Most operations have two bytes or more.
        all: Vec::with_capacity(expr.len() / 2 + 2),
        outcome: Kind::Nothing,
        mask: u64::MAX >> (64 - u32::from(encoding.address_bytes) * 8),
        steps: 0,
        height: 0,
        parts: 0,
        needs_flat: false,
        is_for_cfi: true,
    };
    let mut compiler = Compiler {
        code: Bytes::new(expr, encoding, 0),
        kinds: Kinds::default(),
        is_reached: true,
        sealed: 0,
        labels: labels(expr, *encoding),
        branches: SmallVec::new(),
        program,
    };
    while let Some(code) = compiler.code.opcode() {
        compiler.label()?;
        match compiler.is_reached {
            true => compiler.operation(code)?,
            false => _ = compiler.code.decode()?,
        }
        compiler.code.advance();
        compiler.program.steps += 1;
    }
    compiler.label()?;
    compiler.end()
}

/// Returns the targets of branches, in order.
fn labels(expr: &[u8], encoding: Encoding) -> SmallVec<[Label; 2]> {
    let mut found = SmallVec::<[usize; 2]>::new();
    if expr.iter().any(|code| matches!(*code, BRA | SKIP)) {
        let targets = operations(expr, encoding, 0).filter_map(|(end, op)| match op {
            Op::Skip { distance } | Op::Bra { distance } => Some(end.wrapping_add_signed(distance.into())),
            _ => None,
        });
        found.extend(targets);
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter().map(|at| Label { at, to: None, number: 0, kinds: None }).collect()
}

impl Compiler<'_> {
    fn operation(&mut self, code: u8) -> Option<()> {
        let start = self.code;
        let mut done = calculation(code, self);
        if done.is_none() {
            self.code = start;
            done = query(code, self);
        }
        if done.is_none() {
            self.code = start;
            done = vendor(self);
        }
        let height = self.kinds.all.len() + usize::from(self.kinds.parts > 0);
        self.program.height = self.program.height.max(height);
        done
    }

    /// Requires the stack to be the same from all branches to the operation.
    fn label(&mut self) -> Option<()> {
        if self.labels.is_empty() {
            return Some(());
        }
        let at = self.code.offset();
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

    fn jump(&mut self, code: Code, by: i16) -> Option<()> {
        let at = self.code.next().checked_add_signed(by.into())?;
        let index = self.labels.binary_search_by_key(&at, |label| label.at).ok()?;
        let label = &mut self.labels[index];
        match &label.kinds {
            Some(kinds) if *kinds != self.kinds => return None,
            Some(_) => {}
            None => label.kinds = Some(self.kinds.clone()),
        }
        self.record(Instruction::new(code));
        let (from, number) = (self.program.all.len() - 1, self.program.steps as usize);
        self.branches.push(Branch { from, number, label: index });
        self.sealed = self.program.all.len();
        Some(())
    }

    /// Appends an instruction, or fuses it with the last one.
    fn record(&mut self, one: Instruction) {
        let all = &mut self.program.all;
        let is_open = all.len() > self.sealed;
        match all.last_mut().filter(|_| is_open).and_then(|last| Some((last.fused(one)?, last))) {
            Some((fused, last)) => *last = fused,
            None => all.push(one),
        }
    }

    /// Pops a number.
    fn number(&mut self) -> Option<()> {
        self.kinds.all.pop()?.number().map(|_| ())
    }

    /// Records a calculation with `count` numbers.
    fn calculate(&mut self, count: usize, one: Instruction) -> Option<()> {
        for _ in 0..count {
            self.number()?;
        }
        self.record(one);
        self.kinds.all.push(Kind::Value);
        Some(())
    }

    fn rotated(&mut self, count: usize, code: Code) -> Option<()> {
        let start = self.kinds.all.len().checked_sub(count)?;
        self.kinds.all[start..].rotate_right(1);
        self.record(Instruction::new(code));
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
            (true, Some(&kind), _) => kind,
            (true, None, 1..) => Kind::Nothing,
            _ => return None,
        };
        self.program.all.push(Instruction::new(Code::End));
        (self.program.height < HEIGHT).then_some(self.program)
    }
}

impl<'c> Calculate<'c> for Compiler<'c> {
    fn code(&mut self) -> &mut Bytes<'c> {
        &mut self.code
    }

    fn constant(&mut self, number: u64) -> Option<()> {
        let operand = number & self.program.mask;
        self.calculate(0, Instruction { operand, ..Instruction::new(Code::Const) })
    }

    fn discard(&mut self) -> Option<()> {
        self.kinds.all.pop()?;
        self.record(Instruction::new(Code::Drop));
        Some(())
    }

    fn pick(&mut self, index: u8) -> Option<()> {
        let kind = self.kind(index.into());
        let code = if index == 0 { Code::Dup } else { Code::Pick };
        match kind {
            Kind::Nothing => return None,
            kind => self.kinds.all.push(kind),
        }
        self.record(Instruction { small: index.into(), ..Instruction::new(code) });
        Some(())
    }

    fn swap(&mut self) -> Option<()> {
        self.rotated(2, Code::Swap)
    }

    fn rotate(&mut self) -> Option<()> {
        self.rotated(3, Code::Rot)
    }

    fn unary(&mut self, op: Unary) -> Option<()> {
        self.calculate(1, Instruction::new(Code::unary(op)))
    }

    fn binary(&mut self, op: Binary) -> Option<()> {
        self.calculate(2, Instruction::new(Code::binary(op)))
    }

    fn compare(&mut self, op: Compare) -> Option<()> {
        self.calculate(2, Instruction::new(Code::compare(op)))
    }

    fn add(&mut self, number: u64) -> Option<()> {
        let operand = number & self.program.mask;
        self.calculate(1, Instruction { operand, ..Instruction::new(Code::PlusConst) })
    }

    fn skip(&mut self, by: i16) -> Option<()> {
        self.jump(Code::Jump, by)?;
        self.is_reached = false;
        Some(())
    }

    fn branch(&mut self, by: i16) -> Option<()> {
        self.number()?;
        self.jump(Code::JumpIf, by)
    }
}

impl<'c> Query<'c> for Compiler<'c> {
    fn code(&mut self) -> &mut Bytes<'c> {
        &mut self.code
    }

    fn height(&self) -> usize {
        self.kinds.all.len()
    }

    fn kind(&self, index: usize) -> Kind {
        self.kinds.all.iter().rev().nth(index).copied().unwrap_or(Kind::Nothing)
    }

    fn set_kind(&mut self, kind: Kind) {
        if let Some(top) = self.kinds.all.last_mut() {
            *top = kind;
        }
    }

    fn allow(&mut self, name: Name) -> Option<()> {
        self.program.is_for_cfi &= name.row().is_for_cfi;
        Some(())
    }

    fn flat(&mut self) -> Option<()> {
        self.program.needs_flat = true;
        Some(())
    }

    fn part(&mut self) -> Option<()> {
        self.kinds.parts += 1;
        self.program.parts = self.program.parts.max(self.kinds.parts);
        (self.kinds.parts <= MOST_PARTS).then_some(())
    }

    fn address_in_space(&mut self) -> Option<()> {
        self.number()?;
        self.number()?;
        let all = &mut self.program.all;
        let is_open = all.len() > self.sealed;
        let space = all.pop_if(|last| is_open && last.code == Code::Const)?;
        let space = SpaceId(space.operand.try_into().ok()?);
        self.kinds.all.push(Kind::Memory(space));
        if space == SpaceId::DEFAULT {
            self.program.needs_flat = true;
        } else {
            self.record(Instruction { small: space.0, ..Instruction::new(Code::Space) });
        }
        Some(())
    }

    fn modulo_floor(&mut self) -> Option<()> {
        Calculate::binary(self, Binary::ModFloor)
    }

    fn emit(&mut self, one: Instruction, pops: usize, pushed: Option<Kind>) -> Option<()> {
        let height = self.kinds.all.len().checked_sub(pops)?;
        self.kinds.all.truncate(height);
        self.kinds.all.extend(pushed);
        self.record(one);
        Some(())
    }
}

/// Returns the number of steps of a search for the target of a branch, both given by the number of their operation. The
/// search begins at the branch or at the start, and an eighth of its operations count.
fn search(from: usize, to: usize) -> usize {
    if to > from { (to - from - 1) / 8 } else { to / 8 }
}
