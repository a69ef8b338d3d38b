//! Register allocation: the code as regalloc2 sees it.
//!
//! The allocator works on the wave's graph. What lanes need that wait is used behind, so it stays alive meanwhile. A
//! scalar is spilled to a lane of a vector register that the allocator does not know, a row to scratch memory.

use regalloc2::{
    Algorithm, Block, Function, Inst as InstId, InstRange, MachineEnv, Operand, Output, PReg, PRegSet,
    RegAllocError, RegClass, RegallocOptions, VReg,
};

use crate::isa::Reg;
use crate::lower::{SCALAR, VECTOR};
use crate::ssa::{Code, Inst, Kind, Src, Term};

/// Number of registers of each class for the allocator: fewer for more spills.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    pub scalar: usize,
    pub vector: usize,
}

impl Default for Registers {
    fn default() -> Self {
        Self { scalar: 48, vector: 56 }
    }
}

/// The first vector register whose lanes have spilled scalars.
pub const LANES: u32 = 64;

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

    pub fn run(&self, registers: Registers) -> Result<Output, RegAllocError> {
        let mut scalars = PRegSet::empty();
        // 0 and 1 have the address of the kernel's arguments.
        for n in (2..64).take(registers.scalar.clamp(6, 60)) {
            scalars.add(PReg::new(n, SCALAR));
        }
        let mut vectors = PRegSet::empty();
        for n in (0..63).take(registers.vector.clamp(6, 62)) {
            vectors.add(PReg::new(n, VECTOR));
        }
        let env = MachineEnv {
            preferred_regs_by_class: [scalars, vectors, PRegSet::empty()],
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [Some(PReg::new(63, SCALAR)), Some(PReg::new(63, VECTOR)), None],
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

    fn inst_clobbers(&self, _inst: InstId) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, _class: RegClass) -> usize {
        1
    }
}
