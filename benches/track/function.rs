//! Functions for the allocator: a chain of diamonds and loops over a window of live values, as many as are wanted.

use core::ops::Range;

use eitri::build::ControlFlow;
use eitri::target::Target;
use eitri::track::regalloc2::{MachineCode, Spills};
use eitri::track::{Place, Places};
use regalloc2::{
    Allocation, Block, Edit, Function, Inst, InstPosition, InstRange, MachineEnv, Operand, Output, PReg,
    PRegSet, RegClass, VReg,
};

/// Instructions in a block, without the branch.
const BODY: usize = 12;
/// Values from which operands are chosen.
const WINDOW: usize = 20;

#[derive(Default)]
pub struct Func {
    operands: Vec<Vec<Operand>>,
    blocks: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    preds: Vec<Vec<Block>>,
    params: Vec<Vec<VReg>>,
    passed: Vec<Vec<VReg>>,
    vregs: usize,
    random: u64,
}

impl Func {
    /// Makes a function of about `instructions` instructions.
    pub fn new(instructions: usize) -> Self {
        let mut f = Self { random: 0x9e37_79b9_7f4a_7c15, ..Self::default() };
        let mut window = Vec::new();
        f.body(&mut window, WINDOW);
        // A diamond, and a loop whose edge block goes back: every fifth and sixth block.
        while f.operands.len() < instructions {
            let head = f.end();
            let (mut one, mut two) = (window.clone(), window.clone());
            f.edge(head, head + 1);
            f.edge(head, head + 2);
            f.body(&mut one, BODY);
            let left = f.end();
            f.body(&mut two, BODY);
            let right = f.end();
            f.edge(left, right + 1);
            f.edge(right, right + 1);
            let merged = f.value(RegClass::Int);
            f.pass(left, one[one.len() - 1]);
            f.pass(right, two[two.len() - 1]);
            f.params.push(vec![merged]);
            window.push(merged);
            f.body(&mut window, BODY);
            let join = f.end();
            f.edge(join, join + 1);
            // The loop, with a value that is carried.
            let carried = f.value(RegClass::Int);
            let first = *window.last().expect("a value");
            f.pass(join, first);
            f.params.push(vec![carried]);
            window.push(carried);
            f.body(&mut window, BODY);
            let around = f.end();
            f.edge(around, around + 1);
            f.edge(around, around + 2);
            let next = *window.last().expect("a value");
            let back = f.end();
            f.edge(back, around);
            f.pass(back, next);
            f.body(&mut window, BODY);
        }
        f.end();
        for (from, succs) in f.succs.iter().enumerate() {
            succs.iter().for_each(|to| f.preds[to.index()].push(Block::new(from)));
        }
        f
    }

    fn next(&mut self, below: usize) -> usize {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    fn value(&mut self, class: RegClass) -> VReg {
        self.vregs += 1;
        VReg::new(self.vregs - 1, class)
    }

    /// Adds instructions to the last block: a definition, and two uses of the window.
    fn body(&mut self, window: &mut Vec<VReg>, count: usize) {
        for _ in 0..count {
            let mut operands = Vec::new();
            let def = self.value(RegClass::Int);
            operands.push(Operand::reg_def(def));
            let start = window.len().saturating_sub(WINDOW);
            for _ in 0..2.min(window.len()) {
                let at = start + self.next(window.len() - start);
                operands.push(Operand::reg_use(window[at]));
            }
            self.operands.push(operands);
            window.push(def);
        }
    }

    /// Ends the last block by a branch, and returns its number.
    fn end(&mut self) -> usize {
        let start = self.blocks.last().map_or(0, |block| block.last().index() + 1);
        self.operands.push(Vec::new());
        self.blocks.push(InstRange::new(Inst::new(start), Inst::new(self.operands.len())));
        let block = self.blocks.len() - 1;
        self.succs.resize(block + 1, Vec::new());
        self.preds.resize(block + 3, Vec::new());
        self.passed.resize(block + 1, Vec::new());
        if self.params.len() < block + 1 {
            self.params.push(Vec::new());
        }
        block
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.succs.resize(self.succs.len().max(from + 1), Vec::new());
        self.succs[from].push(Block::new(to));
    }

    fn pass(&mut self, from: usize, value: VReg) {
        self.passed[from].push(value);
    }

    /// Registers in which each value is defined, by instruction.
    pub fn defined(&self) -> impl Iterator<Item = (Inst, VReg)> {
        let all = self.operands.iter().enumerate();
        all.filter_map(|(inst, operands)| Some((Inst::new(inst), operands.first()?.vreg())))
    }
}

impl Function for Func {
    fn num_insts(&self) -> usize {
        self.operands.len()
    }
    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }
    fn entry_block(&self) -> Block {
        Block::new(0)
    }
    fn block_insns(&self, block: Block) -> InstRange {
        self.blocks[block.index()]
    }
    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }
    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }
    fn block_params(&self, block: Block) -> &[VReg] {
        &self.params[block.index()]
    }
    fn is_ret(&self, inst: Inst) -> bool {
        inst.index() + 1 == self.operands.len()
    }
    fn is_branch(&self, inst: Inst) -> bool {
        self.operands[inst.index()].is_empty() && !self.is_ret(inst)
    }
    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[VReg] {
        let to = self.succs[block.index()][succ];
        if self.params[to.index()].is_empty() { &[] } else { &self.passed[block.index()] }
    }
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[inst.index()]
    }
    fn inst_clobbers(&self, _: Inst) -> PRegSet {
        PRegSet::empty()
    }
    fn num_vregs(&self) -> usize {
        self.vregs
    }
    fn spillslot_size(&self, _: RegClass) -> usize {
        1
    }
}

pub fn env() -> MachineEnv {
    let registers = (0..24).map(|n| PReg::new(n, RegClass::Int)).collect::<PRegSet>();
    MachineEnv {
        preferred_regs_by_class: [registers, PRegSet::empty(), PRegSet::empty()],
        non_preferred_regs_by_class: [PRegSet::empty(); 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: vec![],
    }
}

/// Code of 4 bytes for each instruction and each move.
pub struct Emitted {
    scalars: Vec<Place>,
    inst: Vec<Range<u64>>,
    edits: Vec<Range<u64>>,
    blocks: Vec<Range<u64>>,
    spills: Spills,
}

impl Emitted {
    pub fn new(gpu: &Target, f: &Func, output: &Output) -> Self {
        let rows: Vec<_> = (0..256).map(|n| gpu.vgpr(n).expect("a register")).collect();
        let spills = Spills::new(gpu, f, output, &rows, 0).expect("lanes enough");
        let scalars = (0..64).map(|n| Place::register(gpu.sgpr(n).expect("a register"))).collect();
        let (inst, blocks) = (vec![0..0; f.num_insts()], Vec::new());
        let mut emitted = Self { scalars, inst, edits: vec![0..0; output.edits.len()], blocks, spills };
        let (mut pc, mut edit) = (0, 0);
        for block in (0..f.num_blocks()).map(Block::new) {
            let start = pc;
            for inst in f.block_insns(block).iter() {
                for side in [InstPosition::Before, InstPosition::After] {
                    if side == InstPosition::After {
                        emitted.inst[inst.index()] = pc..pc + 4;
                        pc += 4;
                    }
                    while let Some((at, Edit::Move { from, to })) = output.edits.get(edit)
                        && at.inst() == inst
                        && at.pos() == side
                    {
                        let bytes = if from == to { 0 } else { 4 };
                        emitted.edits[edit] = pc..pc + bytes;
                        (pc, edit) = (pc + bytes, edit + 1);
                    }
                }
            }
            emitted.blocks.push(start..pc);
        }
        emitted
    }

    pub fn flow(&self, f: &Func) -> ControlFlow {
        let mut flow = ControlFlow::new();
        let ids: Vec<_> = self.blocks.iter().map(|pcs| flow.block(pcs.clone())).collect();
        for (from, id) in ids.iter().enumerate() {
            for to in f.block_succs(Block::new(from)) {
                flow.edge(*id, ids[to.index()]);
            }
        }
        flow
    }

    pub fn end(&self) -> u64 {
        self.blocks.last().map_or(0, |pcs| pcs.end)
    }
}

impl MachineCode for Emitted {
    fn inst(&self, inst: Inst) -> Range<u64> {
        self.inst[inst.index()].clone()
    }
    fn edit(&self, edit: usize) -> Range<u64> {
        self.edits[edit].clone()
    }
    fn places(&self, at: Allocation, class: RegClass) -> Places {
        match (at.as_reg(), at.as_stack()) {
            (Some(register), _) => self.scalars[register.hw_enc()].into(),
            (_, Some(slot)) => self.spills.places(slot, class),
            _ => Places::none(),
        }
    }
    fn all_lanes(&self, _: usize) -> bool {
        false
    }
}
