//! A function that regalloc2 allocated: its locations follow from the allocator's output.
use std::ops::Range;
use std::path::PathBuf;

use eitri::build::{Builder, ControlFlow};
use eitri::emit::elf::{self, new_object, write_file};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::regalloc2::{self as adapter, MachineCode, Spills};
use eitri::track::{CodeEffects, Keep, Place, Places};
use regalloc2::{
    Allocation, Block, Edit, Function, Inst, InstPosition, InstRange, MachineEnv, Operand, Output, PReg,
    PRegSet, RegClass, VReg,
};

// From here to the next such line: what a compiler that has regalloc2 adds to have locations.
struct Emitted<'a> {
    gpu: &'a Target,
    inst: Vec<Range<u64>>,
    edits: Vec<Range<u64>>,
    spills: Spills,
}

impl MachineCode for Emitted<'_> {
    fn inst(&self, inst: Inst) -> Range<u64> {
        self.inst[inst.index()].clone()
    }
    fn edit(&self, edit: usize) -> Range<u64> {
        self.edits[edit].clone()
    }
    fn places(&self, at: Allocation, class: RegClass) -> Places {
        match (at.as_reg(), at.as_stack(), class) {
            (Some(reg), _, RegClass::Int) => sgpr(self.gpu, reg).into(),
            (Some(reg), _, _) => vgpr(self.gpu, reg).into(),
            (_, Some(slot), _) => self.spills.places(slot, class),
            _ => Places::none(),
        }
    }
    fn all_lanes(&self, _: usize) -> bool {
        false // This kernel has no code in which lanes wait.
    }
}

/// Adds what the compiler alone knows: arguments, and which variable has which value from which pc on.
fn track(k: &Kernel, flow: ControlFlow, out: &Output, e: &Emitted<'_>) -> eitri::Result<CodeEffects> {
    let mut code = CodeEffects::new(e.gpu, flow);
    let values = adapter::add(&mut code, k, out, e)?;
    for (operand, at) in k.inst_operands(Inst::new(0)).iter().zip(out.inst_allocs(Inst::new(0))) {
        code.entry(values[operand.vreg()], &e.places(*at, operand.class()))?;
    }
    for &(inst, variable, vreg) in &k.assignments {
        code.assign(e.inst[inst].end, k.ids[variable], values[vreg])?;
    }
    Ok(code)
}
// Up to here.

/// Machine instructions, without their registers.
#[derive(Clone, Copy, PartialEq)]
enum Op {
    Arguments,
    AddFloat,
    AddInt,
    Decrement,
    /// Leaves a loop if the operand is zero.
    Leave,
    Jump,
    End,
}

#[derive(Default)]
struct Kernel {
    insts: Vec<(Op, Vec<Operand>)>,
    #[allow(clippy::type_complexity, reason = "instructions, predecessors, successors and parameters")]
    blocks: Vec<(InstRange, Vec<Block>, Vec<Block>, Vec<VReg>)>,
    passed: Vec<Vec<VReg>>,
    vregs: usize,
    /// Instruction, variable, and the register that contains it after the instruction.
    assignments: Vec<(usize, usize, VReg)>,
    ids: Vec<VariableId>,
}

const NAMES: [&str; 6] = ["n", "m", "k", "x", "z", "y"];

/// `float y = x + x; int t = n - 1; do { y += x; n--; } while (n); … m + k + t …; y += z;`
fn kernel() -> Kernel {
    let mut k = Kernel::default();
    let int = |n| VReg::new(n, RegClass::Int);
    let float = |n| VReg::new(n, RegClass::Float);
    let n = int(0);
    let m = int(1);
    let c = int(2);
    let t = int(3);
    let n1 = int(4);
    let n2 = int(5);
    let r = int(6);
    let r2 = int(7);
    let x = float(8);
    let z = float(9);
    let y = float(10);
    let y1 = float(11);
    let y2 = float(12);
    let y3 = float(13);
    k.vregs = 14;
    let [def, usd] = [Operand::reg_def, Operand::reg_use];
    let fixed = |vreg: VReg, n| Operand::reg_fixed_def(vreg, PReg::new(n, vreg.class()));
    let mut block = |insts: Vec<(Op, Vec<Operand>)>, preds: &[usize], succs: &[usize], params: &[VReg]| {
        let start = k.insts.len();
        k.insts.extend(insts);
        let range = InstRange::new(Inst::new(start), Inst::new(k.insts.len()));
        let ids = |blocks: &[usize]| blocks.iter().map(|&block| Block::new(block)).collect();
        k.blocks.push((range, ids(preds), ids(succs), params.to_vec()));
    };
    let arguments = vec![fixed(n, 4), fixed(m, 5), fixed(c, 6), fixed(x, 0), fixed(z, 1)];
    block(
        vec![
            (Op::Arguments, arguments),
            (Op::AddFloat, vec![def(y), usd(x), usd(x)]),
            (Op::Decrement, vec![def(t), usd(n)]),
            (Op::Jump, vec![]),
        ],
        &[],
        &[1],
        &[],
    );
    block(
        vec![
            (Op::AddFloat, vec![def(y2), usd(y1), usd(x)]),
            (Op::Decrement, vec![def(n2), usd(n1)]),
            (Op::Leave, vec![usd(n2)]),
        ],
        &[0, 2],
        &[2, 3],
        &[n1, y1],
    );
    block(vec![(Op::Jump, vec![])], &[1], &[1], &[]);
    block(
        vec![
            (Op::AddInt, vec![def(r), usd(m), usd(c)]),
            (Op::AddInt, vec![def(r2), usd(r), usd(t)]),
            (Op::AddFloat, vec![def(y3), usd(y2), usd(z)]),
            (Op::End, vec![usd(r2), usd(y3)]),
        ],
        &[1],
        &[],
        &[],
    );
    k.passed = vec![vec![n, y], vec![], vec![n2, y2], vec![]];
    let arguments = [n, m, c, x, z].into_iter().enumerate().map(|(index, vreg)| (0, index, vreg));
    k.assignments = arguments.chain([(1, 5, y), (4, 5, y2), (5, 0, n2), (10, 5, y3)]).collect();
    k
}

impl Function for Kernel {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }
    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }
    fn entry_block(&self) -> Block {
        Block::new(0)
    }
    fn block_insns(&self, block: Block) -> InstRange {
        self.blocks[block.index()].0
    }
    fn block_succs(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].2
    }
    fn block_preds(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].1
    }
    fn block_params(&self, block: Block) -> &[VReg] {
        &self.blocks[block.index()].3
    }
    fn is_ret(&self, inst: Inst) -> bool {
        self.insts[inst.index()].0 == Op::End
    }
    fn is_branch(&self, inst: Inst) -> bool {
        matches!(self.insts[inst.index()].0, Op::Jump | Op::Leave)
    }
    fn branch_blockparams(&self, block: Block, _: Inst, _: usize) -> &[VReg] {
        &self.passed[block.index()]
    }
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.insts[inst.index()].1
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

fn sgpr(gpu: &Target, reg: PReg) -> Place {
    Place::register(gpu.sgpr(reg.hw_enc() as u16).expect("the allocator has such registers"))
}

fn vgpr(gpu: &Target, reg: PReg) -> Place {
    Place::per_lane(gpu.vgpr(reg.hw_enc() as u16).expect("the allocator has such registers"))
}

/// Encodes an instruction for gfx1030. A jump to the next instruction takes no words; branches are patched at the end.
fn encode(op: Op, at: &[Allocation]) -> Vec<u32> {
    let r = |n: usize| at[n].as_reg().expect("operands are in registers").hw_enc() as u32;
    match op {
        Op::Arguments => vec![],
        Op::AddFloat => vec![0x0600_0100 | r(0) << 17 | r(2) << 9 | r(1)],
        Op::AddInt => vec![0x8100_0000 | r(0) << 16 | r(2) << 8 | r(1)],
        Op::Decrement => vec![0x8180_8100 | r(0) << 16 | r(1)],
        Op::Leave => vec![0xbf07_8000 | r(0), 0xbf84_0000],
        Op::Jump => vec![0xbf82_0000],
        Op::End => vec![0xbf81_0000],
    }
}

/// Words of a move. Scalars are spilled to lanes of v40, and vectors to scratch memory.
fn encode_move(from: Allocation, to: Allocation, spills: &Spills) -> Vec<u32> {
    let lane = |slot| match spills.places(slot, RegClass::Int)[..] {
        [place] => {
            (0..32).find(|&lane| place == Place::lane(v40(), lane)).map_or(0, |lane| (128 + lane) << 9)
        }
        _ => 0,
    };
    let offset = |slot| {
        let [place] = spills.places(slot, RegClass::Float)[..] else { return 0 };
        (0..1024).find(|&slot| place == Place::stack_slot(4 * slot)).map_or(0, |slot| 4 * slot as u32)
    };
    let number = |reg: PReg| reg.hw_enc() as u32;
    match (from.as_reg(), to.as_reg(), from.as_stack(), to.as_stack()) {
        (Some(from), Some(to), ..) => match from.class() {
            RegClass::Int => vec![0xbe80_0300 | number(to) << 16 | number(from)],
            _ => vec![0x7e00_0300 | number(to) << 17 | number(from)],
        },
        (Some(from), _, _, Some(slot)) => match from.class() {
            RegClass::Int => vec![0xd761_0028, lane(slot) | number(from)],
            _ => vec![0xe070_0000 | offset(slot), 0x8000_0000 | number(from) << 8],
        },
        (_, Some(to), Some(slot), _) => match to.class() {
            RegClass::Int => vec![0xd760_0000 | number(to), lane(slot) | 0x128],
            _ => vec![0xe030_0000 | offset(slot), 0x8000_0000 | number(to) << 8],
        },
        _ => vec![],
    }
}

fn v40() -> eitri::op::Reg {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    gpu.vgpr(40).expect("the target has it")
}

/// Returns the kernel's words, and the words at which its blocks begin.
fn emit(k: &Kernel, out: &Output, e: &mut Emitted<'_>) -> (Vec<u32>, Vec<usize>) {
    let (mut words, mut starts): (Vec<u32>, Vec<usize>) = Default::default();
    let pcs = |start: usize, words: &[u32]| 4 * start as u64..4 * words.len() as u64;
    for block in (0..k.num_blocks()).map(Block::new) {
        starts.push(words.len());
        for inst in k.block_insns(block).iter() {
            for side in [InstPosition::Before, InstPosition::After] {
                if side == InstPosition::After {
                    let (start, (op, _)) = (words.len(), &k.insts[inst.index()]);
                    let is_next = k.block_succs(block) == [Block::new(block.index() + 1)];
                    if !(*op == Op::Jump && is_next) {
                        words.extend(encode(*op, out.inst_allocs(inst)));
                    }
                    e.inst[inst.index()] = pcs(start, &words);
                }
                for (edit, (at, Edit::Move { from, to })) in out.edits.iter().enumerate() {
                    if at.inst() == inst && at.pos() == side && from != to {
                        let start = words.len();
                        words.extend(encode_move(*from, *to, &e.spills));
                        e.edits[edit] = pcs(start, &words);
                    }
                }
            }
        }
    }
    // The loop is left for the last block, and goes on at the one before.
    let mut branch = |inst: usize, to: usize| {
        let at = e.inst[inst].end as usize / 4 - 1;
        words[at] |= (starts[to] as i64 - at as i64 - 1) as u32 & 0xffff;
    };
    branch(6, 3);
    branch(7, 1);
    (words, starts)
}

fn main() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let mut k = kernel();
    let registers = |range: Range<usize>, class| range.map(|n| PReg::new(n, class)).collect::<PRegSet>();
    let env = MachineEnv {
        preferred_regs_by_class: [
            registers(4..7, RegClass::Int),
            registers(0..2, RegClass::Float),
            PRegSet::empty(),
        ],
        non_preferred_regs_by_class: [PRegSet::empty(); 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: vec![],
    };
    let out = regalloc2::run(&k, &env, &Default::default()).expect("the kernel can be allocated");
    let spills = Spills::new(&gpu, &k, &out, &[gpu.vgpr(40)?], 0)?;
    let mut e =
        Emitted { gpu: &gpu, inst: vec![0..0; k.num_insts()], edits: vec![0..0; out.edits.len()], spills };
    let (words, starts) = emit(&k, &out, &mut e);
    let size = 4 * words.len() as u64;

    let mut flow = ControlFlow::new();
    let ends = starts[1..].iter().copied().chain([words.len()]);
    let pcs = starts.iter().zip(ends).map(|(&start, end)| 4 * start as u64..4 * end as u64);
    let blocks: Vec<_> = pcs.map(|pcs| flow.block(pcs)).collect();
    for (from, block) in blocks.iter().enumerate() {
        for to in k.block_succs(Block::new(from)) {
            flow.edge(*block, blocks[to.index()]);
        }
    }

    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("sum.cl");
    let [int, float] = [("int", BaseEncoding::Signed), ("float", BaseEncoding::Float)]
        .map(|(name, encoding)| m.base_type(unit, name, encoding, 32));
    let kernel = m.function(unit, "sum")?.code("sum", size).kernel().id();
    let int = int?;
    let float = float?;
    for (at, name) in NAMES.into_iter().enumerate() {
        k.ids.push(m.variable(kernel, name, if at < 3 { int } else { float })?.id());
    }
    let code = track(&k, flow, &out, &e)?;
    let tracked = code.track()?;
    tracked.describe(&mut m, Keep::All)?;
    let module = m.finish()?;

    let checked = tracked.check(&module);
    println!("{checked}");
    assert!(checked.is_sound() && checked.missed.is_empty());
    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = elf::ObjectCode::text(bytes).with_function("sum", 0, size);
    let object = new_object(module.target(), &text, &written.sections)?;
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("{}{report}", eitri::dump::print(&object, Some(module.target()))?);
    assert!(report.is_clean());

    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/examples".into()));
    let path = folder.join("sum.o");
    std::fs::create_dir_all(&folder)?;
    write_file(&path, &object)?;
    println!("{}", path.display());
    Ok(())
}
