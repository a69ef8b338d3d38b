//! Functions that regalloc2 allocates, of its own generator: what is derived is compared with a machine that runs the
//! output with tags.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use arbitrary::Unstructured;
use eitri::build::{BlockId, Builder, ControlFlow};
use eitri::error::ErrorKind;
use eitri::model::{BaseEncoding, Loc, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::regalloc2::{self as adapter, MachineCode, Spills};
use eitri::track::{CodeEffects, Place, Places};
use regalloc2::fuzzing::func::{Func, Options, machine_env};
use regalloc2::{
    Allocation, Block, Edit, Function, Inst, InstPosition, OperandKind, Output, RegClass, RegallocOptions,
    VReg,
};

use super::random::Random;
use crate::common::cases::cases;

const OPTIONS: Options = Options {
    reused_inputs: true,
    fixed_regs: true,
    fixed_nonallocatable: true,
    clobbers: true,
    callsite_ish_constraints: true,
    num_blocks: 1..=10,
    num_vregs_per_block: 0..=20,
    ..Options::DEFAULT
};

/// The code of a function: each instruction and each move has some bytes, or none.
struct Emitted<'a> {
    gpu: &'a Target,
    inst: Vec<Range<u64>>,
    edits: Vec<Range<u64>>,
    spills: Spills,
    /// Pcs of each block.
    blocks: Vec<Range<u64>>,
    /// Instructions that only copy an operand.
    copied: Vec<Option<usize>>,
}

impl MachineCode for Emitted<'_> {
    fn inst(&self, inst: Inst) -> Range<u64> {
        self.inst[inst.index()].clone()
    }

    fn edit(&self, edit: usize) -> Range<u64> {
        self.edits[edit].clone()
    }

    fn places(&self, at: Allocation, class: RegClass) -> Places {
        let Some(reg) = at.as_reg() else {
            return at.as_stack().map_or(Places::none(), |slot| self.spills.places(slot, class));
        };
        // Registers of one class are not those of another.
        let number = reg.hw_enc() as u16;
        let row = |number| Place::per_lane(self.gpu.vgpr(number).expect("the target has it"));
        match class {
            RegClass::Int => [Place::register(self.gpu.sgpr(number).expect("the target has it"))].into(),
            RegClass::Float => [row(number)].into(),
            RegClass::Vector => [row(64 + 2 * number), row(65 + 2 * number)].into(),
        }
    }

    fn all_lanes(&self, edit: usize) -> bool {
        edit.is_multiple_of(3)
    }

    fn is_single(&self, pcs: &Range<u64>) -> bool {
        pcs.start % 16 < 8
    }

    fn copied(&self, inst: Inst) -> Option<usize> {
        self.copied[inst.index()]
    }
}

/// Whether the first operand is a definition that may be a copy of the second, by its constraints.
fn copied(f: &Func, output: &Output, inst: Inst) -> Option<usize> {
    let operands = f.inst_operands(inst);
    let all = output.inst_allocs(inst);
    let is_def = |at: usize| operands.get(at).is_some_and(|operand| operand.kind() == OperandKind::Def);
    let is_only = is_def(0) && !(1..operands.len()).any(is_def);
    let is_alike = operands.len() > 1
        && operands[1].as_fixed_nonallocatable().is_none()
        && operands[0].class() == operands[1].class()
        && all[1].is_some();
    (is_only && is_alike && inst.index().is_multiple_of(2)).then_some(1)
}

impl<'a> Emitted<'a> {
    fn new(gpu: &'a Target, f: &Func, output: &Output, random: &mut Random) -> Self {
        let rows: Vec<_> = (200..256).map(|number| gpu.vgpr(number).expect("the target has it")).collect();
        let spills = Spills::new(gpu, f, output, &rows, 16).expect("there are lanes enough");
        let mut emitted = Self {
            gpu,
            inst: vec![0..0; f.num_insts()],
            edits: vec![0..0; output.edits.len()],
            spills,
            blocks: Vec::new(),
            copied: (0..f.num_insts()).map(|inst| copied(f, output, Inst::new(inst))).collect(),
        };
        let mut pc = 0;
        let mut edit = 0;
        for block in (0..f.num_blocks()).map(Block::new) {
            let start = pc;
            for inst in f.block_insns(block).iter() {
                let mut edits = |side: InstPosition, pc: &mut u64, random: &mut Random| {
                    while output.edits.get(edit).is_some_and(|(at, _)| at.inst() == inst && at.pos() == side)
                    {
                        let Edit::Move { from, to } = output.edits[edit].1;
                        let bytes = if from == to { 0 } else { 4 + 4 * random.below(2) as u64 };
                        emitted.edits[edit] = *pc..*pc + bytes;
                        *pc += bytes;
                        edit += 1;
                    }
                };
                edits(InstPosition::Before, &mut pc, random);
                let is_jump = f.is_branch(inst) && f.block_succs(block).len() == 1 && block.index() > 0;
                let bytes = if is_jump && random.is_one_of(2) { 0 } else { 4 + 4 * random.below(3) as u64 };
                emitted.inst[inst.index()] = pc..pc + bytes;
                pc += bytes;
                edits(InstPosition::After, &mut pc, random);
            }
            emitted.blocks.push(start..pc);
        }
        assert_eq!(edit, output.edits.len());
        emitted
    }

    /// The blocks with code that follow one.
    fn next(&self, f: &Func, block: Block) -> BTreeSet<usize> {
        let (mut open, mut found, mut passed) =
            (f.block_succs(block).to_vec(), BTreeSet::new(), BTreeSet::new());
        while let Some(block) = open.pop() {
            match self.blocks[block.index()].is_empty() {
                false => drop(found.insert(block.index())),
                true if passed.insert(block.index()) => open.extend(f.block_succs(block)),
                true => {}
            }
        }
        found
    }

    fn flow(&self, f: &Func) -> ControlFlow {
        let mut flow = ControlFlow::new();
        let ids: BTreeMap<usize, BlockId> = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, pcs)| !pcs.is_empty())
            .map(|(block, pcs)| (block, flow.block(pcs.clone())))
            .collect();
        // Only blocks that are reached.
        for (&block, &from) in &ids {
            for next in self.next(f, Block::new(block)) {
                flow.edge(from, ids[&next]);
            }
        }
        flow
    }
}

/// One execution, with a tag for what each definition makes.
struct Execution<'a> {
    f: &'a Func,
    output: &'a Output,
    emitted: &'a Emitted<'a>,
    storage: BTreeMap<(Allocation, RegClass), u64>,
    registers: Vec<u64>,
    variables: Vec<u64>,
    /// Variables that are assigned at a pc: those of registers.
    assigned: &'a BTreeMap<u64, Vec<usize>>,
    next: u64,
}

impl Execution<'_> {
    fn stand(&mut self, pc: u64, look: &mut impl FnMut(u64, &[u64], &BTreeMap<(Allocation, RegClass), u64>)) {
        for &register in self.assigned.get(&pc).into_iter().flatten() {
            self.variables[register] = self.registers[register];
        }
        look(pc, &self.variables, &self.storage);
    }

    fn edits(
        &mut self,
        at: usize,
        look: &mut impl FnMut(u64, &[u64], &BTreeMap<(Allocation, RegClass), u64>),
    ) {
        let Edit::Move { from, to } = self.output.edits[at].1;
        if from == to {
            return;
        }
        self.stand(self.emitted.edits[at].start, look);
        let class = [from, to].into_iter().find_map(|end| end.as_reg()).expect("a register").class();
        let tag = self.storage.get(&(from, class)).copied().unwrap_or(0);
        self.storage.insert((to, class), tag);
    }

    fn run(
        &mut self,
        random: &mut Random,
        steps: usize,
        look: &mut impl FnMut(u64, &[u64], &BTreeMap<(Allocation, RegClass), u64>),
    ) {
        let f = self.f;
        let output = self.output;
        let mut block = f.entry_block();
        for _ in 0..steps {
            for inst in f.block_insns(block).iter() {
                let first = output.edits.partition_point(|(at, _)| at.inst() < inst);
                let count = output.edits[first..].iter().take_while(|(at, _)| at.inst() == inst).count();
                let before = output.edits[first..first + count]
                    .partition_point(|(at, _)| at.pos() == InstPosition::Before);
                (first..first + before).for_each(|edit| self.edits(edit, look));
                let pcs = self.emitted.inst(inst);
                if !pcs.is_empty() {
                    self.stand(pcs.start, look);
                    self.define(inst);
                }
                (first + before..first + count).for_each(|edit| self.edits(edit, look));
            }
            let nexts = f.block_succs(block);
            if nexts.is_empty() {
                return;
            }
            let index = random.below(nexts.len());
            let given = f.branch_blockparams(block, f.block_insns(block).last(), index);
            let tags: Vec<u64> = given.iter().map(|register| self.registers[register.vreg()]).collect();
            block = nexts[index];
            for (parameter, tag) in f.block_params(block).iter().zip(tags) {
                self.registers[parameter.vreg()] = tag;
            }
        }
    }

    fn define(&mut self, inst: Inst) {
        let operands = self.f.inst_operands(inst);
        let all = self.output.inst_allocs(inst);
        let of = self.emitted.copied(inst);
        let from = of.and_then(|at| self.storage.get(&(all[at], operands[at].class())).copied());
        for preg in self.f.inst_clobbers(inst) {
            self.next += 1;
            self.storage.insert((Allocation::reg(preg), preg.class()), self.next);
        }
        for (operand, &to) in operands.iter().zip(all) {
            if operand.kind() == OperandKind::Def && operand.as_fixed_nonallocatable().is_none() {
                self.next += 1;
                let tag = if of.is_some() { from.unwrap_or(0) } else { self.next };
                self.registers[operand.vreg().vreg()] = tag;
                self.storage.insert((to, operand.class()), tag);
            }
        }
    }
}

/// All locations of registers and slots that have a value.
fn locs(emitted: &Emitted<'_>, holders: &[Allocation], class: RegClass) -> Vec<Loc> {
    let of = |place: &Place| -> Loc {
        let rows = (0..256).map(|number| emitted.gpu.vgpr(number).expect("the target has it"));
        let scalars = (0..64).map(|number| emitted.gpu.sgpr(number).expect("the target has it"));
        let mut known: Vec<(Place, Loc)> =
            rows.map(|row| (Place::per_lane(row), Loc::per_lane(row))).collect();
        known.extend(scalars.map(|register| (Place::register(register), Loc::register(register))));
        for row in 200..256 {
            let row = emitted.gpu.vgpr(row).expect("the target has it");
            known.extend((0..32).map(|lane| (Place::lane(row, lane), Loc::lane(row, lane))));
        }
        known.extend((0..2048).map(|slot| (Place::stack_slot(4 * slot), Loc::stack_slot(4 * slot))));
        known.into_iter().find(|(one, _)| one == place).expect("a place of this machine").1
    };
    thread_local! {
        static KNOWN: std::cell::RefCell<BTreeMap<Place, Loc>> = Default::default();
    }
    let of = |place: &Place| {
        KNOWN.with_borrow_mut(|known| known.entry(*place).or_insert_with(|| of(place)).clone())
    };
    let all: Vec<Places> = holders.iter().map(|&at| emitted.places(at, class)).collect();
    if class != RegClass::Vector {
        return all.iter().map(|places| of(&places[0])).collect();
    }
    let mut found = Vec::new();
    for low in &all {
        for high in &all {
            let is_slot =
                low == high && holders.iter().zip(&all).any(|(at, one)| one == low && at.is_stack());
            found.push(if is_slot {
                of(&low[0])
            } else {
                Loc::parts([(of(&low[0]), 32), (of(&high[1]), 32)])
            });
        }
    }
    found
}

#[derive(Debug, Default)]
struct Totals {
    functions: u64,
    claimed: u64,
    right: u64,
    recoverable: u64,
    moves: u64,
    spilled: u64,
    passed: u64,
}

fn compare(seed: u64, totals: &mut Totals) {
    let mut random = Random(seed);
    let bytes: Vec<u8> = (0..4000).flat_map(|_| random.next().to_le_bytes()).collect();
    let Ok(f) = Func::arbitrary_with_options(&mut Unstructured::new(&bytes), &OPTIONS) else { return };
    let output = match regalloc2::run(&f, &machine_env(), &RegallocOptions::default()) {
        Ok(output) => output,
        Err(regalloc2::RegAllocError::TooManyLiveRegs) => return,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    let emitted = Emitted::new(&gpu, &f, &output, &mut random);
    let end = emitted.blocks.last().expect("a block").end;
    let mut builder = Builder::new(gpu.clone());
    let unit = builder.unit("a.cl");
    let kernel = builder.function(unit, "k").expect("a unit").code("k", end).kernel().id();
    let types =
        [32, 64].map(|bits| builder.base_type(unit, "t", BaseEncoding::Unsigned, bits).expect("a type"));
    let mut code = CodeEffects::new(&gpu, emitted.flow(&f));
    let values =
        adapter::add(&mut code, &f, &output, &emitted).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    // A variable for each register, assigned where the register is defined.
    let mut assigned: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut variables: BTreeMap<usize, (VariableId, RegClass)> = BTreeMap::new();
    let mut assign = |pc: u64, register: VReg, code: &mut CodeEffects| {
        let ty = types[usize::from(register.class() == RegClass::Vector)];
        let name = format!("x{}", register.vreg());
        let id = builder.variable(kernel, &name, ty).expect("a scope and a type").id();
        variables.insert(register.vreg(), (id, register.class()));
        assigned.entry(pc).or_default().push(register.vreg());
        code.assign(pc, id, values[register]).expect("a value");
    };
    for block in (0..f.num_blocks()).map(Block::new) {
        let pcs = emitted.blocks[block.index()].clone();
        totals.passed += u64::from(pcs.is_empty());
        if pcs.is_empty() {
            continue;
        }
        f.block_params(block).iter().for_each(|&parameter| assign(pcs.start, parameter, &mut code));
        for inst in f.block_insns(block).iter().filter(|inst| emitted.inst(*inst).end < pcs.end) {
            let defs = f.inst_operands(inst).iter().filter(|operand| operand.kind() == OperandKind::Def);
            defs.for_each(|def| assign(emitted.inst(inst).end, def.vreg(), &mut code));
        }
    }
    let tracked = match code.track() {
        Ok(tracked) => tracked,
        Err(error) if matches!(error.kind(), ErrorKind::Irreducible { .. }) => return,
        Err(error) if error.to_string().contains("not reachable") => return,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    assert_eq!(tracked.unproven(), [], "seed {seed}");
    // Allocations with the variable's value at every stop of the machine at a pc.
    let mut seen: BTreeMap<(u64, usize), BTreeSet<Allocation>> = BTreeMap::new();
    for run in 0..6 {
        let mut execution = Execution {
            f: &f,
            output: &output,
            emitted: &emitted,
            storage: BTreeMap::new(),
            registers: vec![0; f.num_vregs()],
            variables: vec![0; f.num_vregs()],
            assigned: &assigned,
            next: 0,
        };
        execution.run(&mut Random(seed ^ run << 40), 60, &mut |pc, tags, storage| {
            for (&register, &(_, class)) in &variables {
                let tag = tags[register];
                let holders =
                    storage.iter().filter(|((_, of), has)| *of == class && **has == tag && tag != 0);
                let holders: BTreeSet<Allocation> = holders.map(|((at, _), _)| *at).collect();
                let known = seen.entry((pc, register)).or_insert_with(|| holders.clone());
                known.retain(|at| holders.contains(at));
            }
        });
    }
    totals.functions += 1;
    totals.moves += output.edits.len() as u64;
    totals.spilled += output.num_spillslots as u64;
    for ((pc, register), holders) in seen {
        let (id, class) = variables[&register];
        let holders: Vec<Allocation> = holders.into_iter().collect();
        let allowed = locs(&emitted, &holders, class);
        let claimed = tracked.places_at(id, pc).expect("known");
        for loc in &claimed {
            assert!(allowed.contains(loc), "seed {seed}: x{register} at {pc:#x} in {loc:?}, and {holders:?}");
        }
        totals.claimed += claimed.len() as u64;
        totals.right += claimed.len() as u64;
        totals.recoverable += holders.len() as u64;
    }
}

#[test]
fn functions_of_the_allocator_have_true_places() {
    let count = cases(60) as u64;
    let mut totals = Totals::default();
    (0..count).for_each(|seed| compare(seed, &mut totals));
    println!("{totals:?}");
    assert!(totals.functions * 4 > count && totals.moves > 300 && totals.passed > 0, "{totals:?}");
    let part = totals.claimed as f64 / totals.recoverable as f64;
    assert!(part > 0.9, "{part}: {totals:?}");
}
