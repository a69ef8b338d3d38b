//! Code whose lanes leave: many that return early, and sides of masks in one another.

use core::ops::Range;

use eitri::Result;
use eitri::build::{BlockId, Builder, ControlFlow, ExecWrite, MaskId};
use eitri::model::{BaseEncoding, Loc, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Place};

/// Variables to which values are assigned in turn.
const VARIABLES: u64 = 32;
/// Scalar registers and rows that are written in turn.
const REGISTERS: u64 = 12;
/// Instructions of a piece of straight code.
const PIECE: u64 = 8;
const BYTES: u64 = 4;

/// Shapes of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Lanes return behind each piece of code, and wait for the end of the function.
    Exits,
    /// The side of each mask contains the next mask, and lanes return in each.
    Deep,
}

/// Blocks and writes of EXEC, as code is made.
struct Flow {
    gpu: Target,
    flow: ControlFlow,
    pc: u64,
    /// The pc at which the block begins that is made.
    start: u64,
    pieces: Vec<u64>,
}

impl Flow {
    fn mask(&mut self) -> MaskId {
        let place = Loc::register(self.gpu.sgpr(100).expect("the target has it"));
        self.flow.mask(&[(0..u64::from(u32::MAX), place)])
    }

    fn write(&mut self, write: ExecWrite) {
        self.flow.write(self.pc..self.pc + BYTES, write);
        self.pc += BYTES;
    }

    fn piece(&mut self) {
        self.pieces.push(self.pc);
        self.pc += PIECE * BYTES;
    }

    /// Ends the block that is made.
    fn block(&mut self) -> BlockId {
        let pcs = core::mem::replace(&mut self.start, self.pc)..self.pc;
        self.flow.block(pcs)
    }
}

/// A function of a shape, with its number of instructions.
pub struct Divergent {
    pub builder: Builder,
    pub variables: Vec<VariableId>,
    pub code: CodeEffects,
    pub instructions: usize,
}

impl Divergent {
    /// Makes a function with a number of exits or masks.
    pub fn new(shape: Shape, count: usize) -> Result<Self> {
        let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
        let mut made =
            Flow { gpu: gpu.clone(), flow: ControlFlow::new(), pc: 0, start: 0, pieces: Vec::new() };
        let returns = made.mask();
        made.piece();
        made.write(ExecWrite::Save(returns));
        match shape {
            Shape::Exits => exits(&mut made, returns, count),
            Shape::Deep => deep(&mut made, returns, count),
        }
        let Flow { flow, pc: end, pieces, .. } = made;
        let mut builder = Builder::new(gpu.clone());
        let unit = builder.unit("a.cl");
        let int = builder.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let kernel = builder.function(unit, "k")?.code("k", end).kernel().id();
        let variable = |n: u64| Ok(builder.variable(kernel, &format!("x{n}"), int)?.id());
        let variables = (0..VARIABLES).map(variable).collect::<Result<Vec<_>>>()?;
        let mut code = CodeEffects::new(&gpu, flow);
        for (at, &pc) in (0..).zip(&pieces) {
            piece(&gpu, &mut code, &variables, at, pc)?;
        }
        Ok(Self { builder, variables, code, instructions: (end / BYTES) as usize })
    }
}

/// Each piece is a block; lanes leave behind it, and the wave if none remains.
fn exits(made: &mut Flow, returns: MaskId, count: usize) {
    let mut blocks = Vec::new();
    for _ in 0..count {
        made.piece();
        made.write(ExecWrite::AndNot(returns));
        blocks.push(made.block());
    }
    made.write(ExecWrite::Restore(returns));
    made.piece();
    let end = made.block();
    for (at, &block) in blocks.iter().enumerate() {
        match blocks.get(at + 1) {
            Some(&next) => made.flow.edge(block, next).wave_edge(block, end),
            None => made.flow.edge(block, end),
        };
    }
}

/// Sides of masks in one another, each with another side; some lanes return.
fn deep(made: &mut Flow, returns: MaskId, count: usize) {
    let masks: Vec<MaskId> = (0..count).map(|_| made.mask()).collect();
    let mut heads = Vec::new();
    for &mask in &masks {
        made.piece();
        made.write(ExecWrite::Save(mask));
        made.write(ExecWrite::And(mask));
        heads.push(made.block());
    }
    made.piece();
    made.write(ExecWrite::AndNot(returns));
    let mut last = made.block();
    if let Some(&head) = heads.last() {
        made.flow.edge(head, last);
    }
    for pair in heads.windows(2) {
        made.flow.edge(pair[0], pair[1]);
    }
    for (&mask, &head) in masks.iter().zip(&heads).rev() {
        made.write(ExecWrite::Else(mask));
        made.piece();
        made.write(ExecWrite::AndNot(returns));
        made.write(ExecWrite::Restore(mask));
        let other = made.block();
        made.flow.edge(last, other).wave_edge(head, other);
        last = other;
    }
    made.write(ExecWrite::Restore(returns));
    made.piece();
    let end = made.block();
    made.flow.edge(last, end);
}

/// States what a piece of code does: a scalar is saved in a lane, its register and rows are used, and it is restored.
fn piece(gpu: &Target, code: &mut CodeEffects, variables: &[VariableId], at: u64, pc: u64) -> Result<()> {
    let register = |n: u64| (n % REGISTERS) as u16;
    let scalar = |n: u64| gpu.sgpr(4 + register(n));
    let row = |n: u64| gpu.vgpr(register(n));
    let saved = Place::lane(gpu.vgpr(40)?, u32::from(register(at)));
    let pcs = |n: u64| -> Range<u64> { pc + n * BYTES..pc + (n + 1) * BYTES };
    let [a, b, c, d] = [(); 4].map(|()| code.value(32));
    code.instruction(pcs(0)).define(a, &[Place::register(scalar(at)?)])?;
    code.instruction(pcs(1)).copy(&[Place::register(scalar(at + 1)?)], &[saved])?;
    code.instruction(pcs(2)).define(b, &[Place::register(scalar(at + 1)?)])?;
    code.instruction(pcs(3)).define(c, &[Place::per_lane(row(at)?)])?;
    code.instruction(pcs(4)).copy(&[Place::per_lane(row(at)?)], &[Place::stack_slot(0)])?.all_lanes();
    code.instruction(pcs(5)).define(d, &[Place::per_lane(row(at + 5)?)])?;
    code.instruction(pcs(6)).copy(&[Place::stack_slot(0)], &[Place::per_lane(row(at + 7)?)])?.all_lanes();
    code.instruction(pcs(7)).copy(&[saved], &[Place::register(scalar(at + 1)?)])?;
    for (n, (value, pc)) in (0..).zip([(a, pcs(0).end), (b, pcs(2).end), (c, pcs(3).end), (d, pcs(5).end)]) {
        code.assign(pc, variables[((4 * at + n) % VARIABLES) as usize], value)?;
    }
    Ok(())
}
