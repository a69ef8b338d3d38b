//! Register allocation: the code as regalloc2 sees it.
//!
//! The allocator works on the wave's graph. A value that waiting lanes need is used after the wait, so the value stays
//! alive meanwhile. A scalar is spilled to a lane of a vector register that the allocator does not know, a row to
//! scratch memory.

use regalloc2::{
    Algorithm, Block, Function, Inst as InstId, InstRange, MachineEnv, Operand, OperandConstraint, Output,
    PReg, PRegSet, RegAllocError, RegClass, RegallocOptions, VReg,
};

use crate::isa::Reg;
use crate::lower::{FRAME, RETURN, SCALAR, VECTOR};
use crate::ssa::{Code, Inst, Kind, Src, Term};

/// Limits of the code: lower ones make spills and far jumps in small shaders.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Number of registers of each class for the allocator.
    pub scalar: usize,
    pub vector: usize,
    /// Number of dwords that a branch leads over: a longer jump is to an address.
    pub reach: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { scalar: 57, vector: 63, reach: 1 << 15 }
    }
}

/// The first vector register whose lanes have spilled scalars.
pub const LANES: u32 = 64;

/// Vector registers that a function leaves as they were, or restores; calls overwrite all others below.
pub const PRESERVED: std::ops::Range<u32> = 40..56;
/// The allocator's own, of each class.
pub const SCRATCH: u32 = 63;

/// The registers that a call overwrites.
pub fn overwritten() -> impl Iterator<Item = Reg> {
    let scalars = (2..=SCRATCH).filter(|n| !(RETURN..=FRAME).contains(n)).map(Reg::S);
    scalars.chain((0..PRESERVED.start).chain([SCRATCH]).map(Reg::V))
}

/// The code with all blocks in a row, each with its terminator as last instruction.
#[derive(Debug)]
pub struct Flat<'c> {
    pub code: &'c Code,
    /// Instructions: block and index in it; the index behind the last is the terminator.
    pub insts: Vec<(usize, usize)>,
    operands: Vec<Vec<Operand>>,
    ranges: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    preds: Vec<Vec<Block>>,
    vregs: usize,
}

/// The register of the machine for one of the allocator.
pub fn fixed(reg: Reg) -> PReg {
    match reg {
        Reg::V(n) => PReg::new(n as usize, VECTOR),
        Reg::S(n) => PReg::new(n as usize, SCALAR),
        _ => PReg::invalid(),
    }
}

impl<'c> Flat<'c> {
    pub fn new(code: &'c Code) -> Self {
        let mut position = vec![usize::MAX; code.blocks.len()];
        for (at, &block) in code.order.iter().enumerate() {
            position[block] = at;
        }
        let blocks = |of: &mut dyn Iterator<Item = usize>| -> Vec<Block> {
            of.map(|block| Block::new(position[block])).collect()
        };
        let mut flat = Self {
            code,
            insts: Vec::new(),
            operands: Vec::new(),
            ranges: Vec::new(),
            succs: Vec::new(),
            preds: Vec::new(),
            vregs: code.classes.len(),
        };
        for &id in &code.order {
            let block = &code.blocks[id];
            let start = flat.insts.len();
            for (index, inst) in block.insts.iter().enumerate() {
                flat.insts.push((id, index));
                let operands = flat.operands_of(inst);
                flat.operands.push(operands);
            }
            flat.insts.push((id, block.insts.len()));
            flat.operands.push(match block.term {
                Some(Term::If(Src::V(vreg)) | Term::Split(Src::V(vreg), _)) => vec![Operand::reg_use(vreg)],
                _ => Vec::new(),
            });
            flat.ranges.push(InstRange::new(InstId::new(start), InstId::new(flat.insts.len())));
            flat.succs.push(blocks(&mut block.succs.iter().map(|(to, _)| *to)));
            flat.preds.push(blocks(&mut block.preds.iter().copied()));
        }
        flat
    }

    /// Sources, the row that lanes keep, the result, temporaries.
    fn operands_of(&mut self, inst: &Inst) -> Vec<Operand> {
        if let Kind::Entry(values) = &inst.kind {
            return values.iter().map(|&(vreg, reg)| Operand::reg_fixed_def(vreg, fixed(reg))).collect();
        }
        if let Kind::Call(..) | Kind::Return = &inst.kind {
            let at = |n: usize| fixed(Reg::V(n as u32));
            let arguments = inst.uses().enumerate().map(|(n, vreg)| Operand::reg_fixed_use(vreg, at(n)));
            let results = inst.defines().enumerate().map(|(n, vreg)| Operand::reg_fixed_def(vreg, at(n)));
            return arguments.chain(results).collect();
        }
        let mut all = Vec::new();
        for src in &inst.src {
            if let Src::V(vreg) = src {
                all.push(Operand::reg_use(*vreg));
            }
        }
        match (inst.tied, inst.dst, &inst.kind) {
            (Some(old), Some(dst), _) => {
                all.push(Operand::reg_use(old));
                all.push(Operand::reg_reuse_def(dst, all.len() - 1));
            }
            (_, Some(dst), Kind::Collective(..)) => {
                // The result is written before the last source is read.
                all.push(Operand::reg_def_at_start(dst));
                for _ in 0..2 {
                    let temp = VReg::new(self.vregs, VECTOR);
                    self.vregs += 1;
                    all.push(Operand::reg_temp(temp));
                }
            }
            (_, Some(dst), _) => all.push(Operand::reg_def(dst)),
            _ => {}
        }
        all
    }

    /// Allocates registers. The kernel is called by nobody, so it need not save what others preserve.
    pub fn run(&self, limits: Limits, is_kernel: bool) -> Result<Output, RegAllocError> {
        let set = |all: &mut dyn Iterator<Item = Reg>| all.map(fixed).collect::<PRegSet>();
        let count = limits.vector.clamp(6, SCRATCH as usize);
        let preserved = if is_kernel { 0 } else { count / 4 };
        let end = if is_kernel { SCRATCH } else { PRESERVED.start };
        // 0 and 1 have the address of the kernel's arguments; without registers that pass values, no call can be made.
        let few = limits.scalar.clamp(6, 60);
        let first = overwritten().filter(|reg| matches!(reg, Reg::S(_)) && *reg != Reg::S(SCRATCH));
        let scalars = set(&mut first.take(few));
        let passed = self.operands.iter().flatten().filter_map(|operand| match operand.constraint() {
            OperandConstraint::FixedReg(reg) if reg.class() == VECTOR => Some(Reg::V(reg.hw_enc() as u32)),
            _ => None,
        });
        let rows = (0..end).take(count - preserved).map(Reg::V);
        let vectors = set(&mut rows.chain(passed));
        let others = set(&mut PRESERVED.take(preserved).map(Reg::V));
        let none = PRegSet::empty();
        let scratch = [Reg::S(SCRATCH), Reg::V(SCRATCH)].map(fixed);
        let env = MachineEnv {
            preferred_regs_by_class: [scalars, vectors, none],
            non_preferred_regs_by_class: [none, others, none],
            scratch_by_class: [Some(scratch[0]), Some(scratch[1]), None],
            fixed_stack_slots: Vec::new(),
        };
        let options = RegallocOptions {
            verbose_log: false,
            validate_ssa: cfg!(debug_assertions),
            algorithm: Algorithm::Ion,
        };
        regalloc2::run(self, &env, &options)
    }
}

impl Function for Flat<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.code.blocks[self.code.order[block.index()]].params
    }

    fn is_ret(&self, inst: InstId) -> bool {
        let (block, index) = self.insts[inst.index()];
        let block = &self.code.blocks[block];
        index == block.insts.len() && block.term == Some(Term::End)
    }

    fn is_branch(&self, inst: InstId) -> bool {
        let (block, index) = self.insts[inst.index()];
        let block = &self.code.blocks[block];
        index == block.insts.len() && block.term != Some(Term::End)
    }

    fn branch_blockparams(&self, block: Block, _inst: InstId, succ: usize) -> &[VReg] {
        &self.code.blocks[self.code.order[block.index()]].succs[succ].1
    }

    fn inst_operands(&self, inst: InstId) -> &[Operand] {
        &self.operands[inst.index()]
    }

    fn inst_clobbers(&self, inst: InstId) -> PRegSet {
        let (block, index) = self.insts[inst.index()];
        match self.code.blocks[block].insts.get(index).map(|inst| &inst.kind) {
            Some(Kind::Call(_, results)) => {
                let is_result = |reg: &Reg| matches!(*reg, Reg::V(n) if (n as usize) < results.len());
                overwritten().filter(|reg| !is_result(reg)).map(fixed).collect()
            }
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, _class: RegClass) -> usize {
        1
    }
}
