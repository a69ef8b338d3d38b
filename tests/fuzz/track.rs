//! Calls of `eitri::track` that follow from bytes: none panics, and what is derived is right by its own check.

use eitri::build::{BlockId, Builder, ControlFlow, ExecWrite, MaskId};
use eitri::model::{BaseEncoding, Half, Loc, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Keep, Place, ValueId};

/// Choices from bytes; zero when they are used up.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % count.max(1)
    }

    /// Mostly in the function and aligned.
    fn pc(&mut self) -> u64 {
        match self.below(16) {
            0 => self.below(256) as u64,
            1 => u64::from(u32::MAX) + self.below(3) as u64,
            _ => 4 * self.below(34) as u64,
        }
    }

    fn pcs(&mut self) -> core::ops::Range<u64> {
        let start = self.pc();
        start..start.saturating_add(4 * self.below(6) as u64)
    }

    fn place(&mut self, gpu: &Target, own: &[Place]) -> Place {
        let number = self.below(4) as u16;
        let row = gpu.vgpr(number).expect("known");
        let scalar = gpu.sgpr(number).expect("known");
        let place = match self.below(8) {
            0 | 1 => Place::register(scalar),
            2 | 3 => Place::per_lane(row),
            4 => Place::lane(row, self.below(34) as u32),
            5 => Place::stack_slot(4 * self.below(6) as i64 - 8),
            6 => Place::lane_bit(scalar),
            _ => own.get(self.below(2)).copied().unwrap_or(Place::register(row)),
        };
        match self.below(8) {
            0 => place.half(Half::Low),
            1 => place.half(Half::High),
            2 => place.bits(self.below(70) as u32),
            _ => place,
        }
    }

    fn places(&mut self, gpu: &Target, own: &[Place]) -> Vec<Place> {
        (0..self.below(4)).map(|_| self.place(gpu, own)).collect()
    }

    fn flow(&mut self) -> (ControlFlow, Vec<BlockId>) {
        let mut flow = ControlFlow::new();
        let mut at = 0;
        let mut blocks = Vec::new();
        for _ in 0..1 + self.below(6) {
            let end = at + 4 * self.below(8) as u64;
            let pcs = if self.below(16) == 0 { self.pcs() } else { at..end };
            blocks.push(flow.block(pcs));
            at = end;
        }
        for to in 1..blocks.len() {
            // Each block is reached, mostly.
            let from = blocks[self.below(to)];
            match self.below(8) {
                0 => flow.wave_edge(from, blocks[to]),
                1 => flow.lane_edge(from, blocks[to]),
                _ => flow.edge(from, blocks[to]),
            };
        }
        for _ in 0..self.below(4) {
            let [from, to] = [0, 1].map(|_| blocks[self.below(blocks.len())]);
            flow.edge(from, to);
        }
        let masks: Vec<MaskId> = (0..2).map(|_| flow.mask(&[])).collect();
        // Nested, mostly.
        let mut pc = self.pc();
        for _ in 0..self.below(7) {
            let mask = masks[self.below(2)];
            let write = match self.below(5) {
                0 => ExecWrite::Save(mask),
                1 => ExecWrite::And(mask),
                2 => ExecWrite::AndNot(mask),
                3 => ExecWrite::Else(mask),
                _ => ExecWrite::Restore(mask),
            };
            flow.write(pc..pc + 4, write);
            pc = if self.below(8) == 0 { self.pc() } else { pc + 4 * self.below(4) as u64 };
        }
        (flow, blocks)
    }
}

/// Returns whether the code can be tracked.
pub fn track(data: &[u8]) -> bool {
    let mut choices = Choices(data);
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let [word, wide] =
        [32, 64].map(|bits| m.base_type(unit, "t", BaseEncoding::Unsigned, bits).expect("a type"));
    let kernel = m.function(unit, "k").expect("a unit").code("k", 256).kernel().id();
    let variable = |m: &mut Builder, ty| m.variable(kernel, "x", ty).expect("a scope and a type").id();
    let variables: Vec<VariableId> = [word, word, wide].into_iter().map(|ty| variable(&mut m, ty)).collect();
    let (flow, blocks) = choices.flow();
    let mut code = CodeEffects::new(&gpu, flow);
    let own: Vec<Place> = [Loc::stack_slot(64), Loc::register(gpu.sgpr(90).expect("known"))]
        .iter()
        .filter_map(|loc| code.place(loc).ok())
        .collect();
    let mut values: Vec<ValueId> = [8, 16, 32, 32, 32, 64].map(|bits| code.value(bits)).into();
    values.push(code.constant(&[1, 0, 0, 0]));
    values.push(code.merged(blocks[choices.below(blocks.len())], 32));
    values.push(code.merged(blocks[choices.below(blocks.len())], 64));
    while !choices.0.is_empty() {
        let value = values[choices.below(values.len())];
        let x = variables[choices.below(variables.len())];
        // A call that is refused adds nothing.
        match choices.below(8) {
            0..=3 => {
                let pcs = choices.pcs();
                let [from, to] = [0, 1].map(|_| choices.places(&gpu, &own));
                let kind = choices.below(12);
                let mut at = match kind {
                    10 => code.instructions(pcs),
                    _ => code.instruction(pcs),
                };
                let _ = match kind {
                    0 | 1 => at.define(value, &to).map(drop),
                    2 => at.redefine(value, &to).map(drop),
                    3 => at.copy_uniform(&from, &to).map(drop),
                    4 => at.clobber(&to).map(drop),
                    5 => at.define_copy(value, &from, &to).map(drop),
                    _ => at.copy(&from, &to).map(drop),
                };
                if choices.below(8) == 0 {
                    at.all_lanes();
                }
            }
            4 => drop(code.assign(choices.pc(), x, value)),
            5 => {
                let start = choices.below(64) as u32;
                let bits = start..start + choices.below(33) as u32;
                drop(code.assign_bits(choices.pc(), x, bits, value));
            }
            6 => match choices.below(4) {
                0 => drop(code.unassign(choices.pc(), x)),
                1 => drop(code.home(choices.pcs(), x, &Loc::stack_slot(16))),
                _ => {
                    let places = choices.places(&gpu, &own);
                    drop(code.assign_contents(choices.pc(), x, &places));
                }
            },
            _ => {
                let from = blocks[choices.below(blocks.len())];
                let other = values[choices.below(values.len())];
                let _ = code.incoming(from, value, other);
                let places = choices.places(&gpu, &own);
                let _ = code.entry(value, &places);
            }
        }
    }
    let Ok(tracked) = code.track() else { return false };
    for pc in (0..300).step_by(2) {
        for &x in &variables {
            let _ = tracked.places_at(x, pc);
        }
    }
    if tracked.describe(&mut m, Keep::All).is_err() {
        return true;
    }
    let Ok(module) = m.finish() else { return true };
    let report = tracked.check(&module);
    assert!(report.is_sound(), "{report}");
    true
}
