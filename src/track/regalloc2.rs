//! Converts the crate `regalloc2`'s output to statements about code.
//!
//! [`add`] takes operands, moves, clobbers and block parameters from the function and the allocator's output. The compiler
//! adds what only it knows: the pcs and places of a [`MachineCode`], arguments ([`CodeEffects::entry`]), and assignments
//! ([`CodeEffects::assign`]).
//!
//! ```
//! use std::ops::Range;
//!
//! use eitri::regalloc2::{Allocation, Inst, RegClass};
//! use eitri::target::Target;
//! use eitri::track::regalloc2::{MachineCode, Spills};
//! use eitri::track::{Place, Places};
//!
//! /// What the compiler knows after encoding.
//! struct Emitted<'a> {
//!     gpu: &'a Target,
//!     inst: Vec<Range<u64>>,
//!     edits: Vec<Range<u64>>,
//!     spills: Spills,
//! }
//!
//! impl MachineCode for Emitted<'_> {
//!     fn inst(&self, inst: Inst) -> Range<u64> {
//!         self.inst[inst.index()].clone()
//!     }
//!     fn edit(&self, edit: usize) -> Range<u64> {
//!         self.edits[edit].clone()
//!     }
//!     fn places(&self, at: Allocation, class: RegClass) -> Places {
//!         // Integers are in scalar registers, one for the wave, and floats in vector
//!         // registers, one for each lane.
//!         let number = |reg: regalloc2::PReg| reg.hw_enc() as u16;
//!         match (at.as_reg(), at.as_stack(), class) {
//!             (Some(reg), _, RegClass::Int) => {
//!                 Place::register(self.gpu.sgpr(number(reg)).expect("s0 to s105")).into()
//!             }
//!             (Some(reg), _, _) => {
//!                 Place::per_lane(self.gpu.vgpr(number(reg)).expect("v0 to v255")).into()
//!             }
//!             (_, Some(slot), _) => self.spills.places(slot, class),
//!             _ => Places::none(),
//!         }
//!     }
//!     fn all_lanes(&self, _edit: usize) -> bool {
//!         false
//!     }
//! }
//! ```

use core::ops::{Index, Range};

use ::regalloc2::{
    Allocation, Block, Edit, Function, Inst, InstPosition, Operand, OperandKind, Output, RegClass, SpillSlot,
    VReg,
};
use indexmap::IndexMap;

use super::code::{CodeEffects, InstructionEffects};
use super::facts::ValueId;
use super::place::{Place, Places};
use crate::build::BlockId;
use crate::error::{At, Error, ErrorKind, Result};
use crate::op::Reg;
use crate::target::Target;

/// A function's machine code, after encoding.
pub trait MachineCode {
    /// Returns an instruction's half-open pc range, in bytes from the function's start. The range is empty if no
    /// machine instruction was encoded.
    fn inst(&self, inst: Inst) -> Range<u64>;

    /// Returns the half-open pc range of `Output::edits[edit]`.
    fn edit(&self, edit: usize) -> Range<u64>;

    /// Returns the places in a register or spill slot that contains a value in a class.
    fn places(&self, at: Allocation, class: RegClass) -> Places;

    /// Whether the move `Output::edits[edit]` is also executed for inactive lanes.
    fn all_lanes(&self, edit: usize) -> bool;

    /// Whether the pcs belong to one machine instruction, so that no wave stops between them. Pcs no longer than the
    /// target's shortest instruction always do.
    fn is_single(&self, _pcs: &Range<u64>) -> bool {
        false
    }

    /// Returns the index of the operand that the instruction only copies to its single definition: the compiler's own
    /// move, masked or not.
    fn copied(&self, _inst: Inst) -> Option<usize> {
        None
    }

    /// Whether an instruction is also executed for inactive lanes.
    fn is_whole_wave(&self, _inst: Inst) -> bool {
        false
    }
}

/// The values of virtual registers.
#[derive(Debug, Clone)]
pub struct Values(Vec<ValueId>);

impl Values {
    /// Returns a virtual register's value.
    pub fn get(&self, register: VReg) -> Option<ValueId> {
        self.0.get(register.vreg()).copied()
    }
}

impl Index<VReg> for Values {
    type Output = ValueId;

    /// Returns a virtual register's value.
    ///
    /// # Panics
    /// If the function lacks the register.
    fn index(&self, register: VReg) -> &ValueId {
        &self.0[register.vreg()]
    }
}

/// Adds an allocated function's operands, moves, clobbers and block parameters.
///
/// A block begins and ends in the control flow block that contains its pcs. Blocks without code are passed through: what
/// they pass on comes from their predecessors. Virtual registers that no encoded instruction defines have no value yet;
/// [`CodeEffects::entry`] gives a value to arguments.
///
/// # Errors
/// The errors of [`InstructionEffects::define`], [`InstructionEffects::copy`] and [`CodeEffects::incoming`]; and
/// [`ErrorKind::BadArgument`] if a block is outside the control flow, or has parameters and begins inside a control flow
/// block.
pub fn add(
    code: &mut CodeEffects,
    function: &impl Function,
    output: &Output,
    machine: &impl MachineCode,
) -> Result<Values> {
    add_all(code, function, output, machine).map_err(|error| code.in_block(error))
}

fn add_all(
    code: &mut CodeEffects,
    function: &impl Function,
    output: &Output,
    machine: &impl MachineCode,
) -> Result<Values> {
    let blocks = Blocks::new(code, function, output, machine);
    let bits = bits(code, function, output, machine)?;
    let edges = Edges { function, blocks: &blocks };
    let values = values(code, &edges, &bits)?;
    let step = u64::from(code.target.min_instruction_bytes());
    let adder = Adder { function, output, machine, values: &values, step };
    for inst in 0..function.num_insts() {
        adder.inst(code, Inst::new(inst))?;
    }
    for edit in 0..output.edits.len() {
        adder.edit(code, edit)?;
    }
    Ok(values)
}

/// Each block's pc range, from its instructions and moves.
struct Blocks {
    pcs: Vec<Range<u64>>,
    /// Control flow blocks, by first pc.
    flow: Vec<(u64, u64, BlockId)>,
}

impl Blocks {
    fn new(
        code: &CodeEffects,
        function: &impl Function,
        output: &Output,
        machine: &impl MachineCode,
    ) -> Self {
        let mut pcs = vec![0..0; function.num_blocks()];
        let mut add = |block: usize, more: Range<u64>| {
            if !more.is_empty() {
                let known: &mut Range<u64> = &mut pcs[block];
                let start = if known.is_empty() { more.start } else { known.start.min(more.start) };
                *known = start..known.end.max(more.end);
            }
        };
        for block in 0..function.num_blocks() {
            let insts = function.block_insns(Block::new(block));
            insts.iter().for_each(|inst| add(block, machine.inst(inst)));
            // Edits are sorted by instruction.
            let first = output.edits.partition_point(|(at, _)| at.inst() < insts.first());
            let edits = output.edits[first..].iter().enumerate();
            for (index, _) in edits.take_while(|(_, (at, _))| at.inst() <= insts.last()) {
                add(block, machine.edit(first + index));
            }
        }
        let each = code.flow.blocks.iter().enumerate();
        let mut flow: Vec<_> = each.map(|(id, pcs)| (pcs.start, pcs.end, BlockId(id))).collect();
        flow.sort_unstable();
        Self { pcs, flow }
    }

    fn has_code(&self, block: Block) -> bool {
        !self.pcs[block.index()].is_empty()
    }

    /// Returns the control flow block that contains a pc, and the block's first pc.
    fn containing(&self, pc: u64) -> Result<(u64, BlockId)> {
        let after = self.flow.partition_point(|&(start, ..)| start <= pc);
        let block = self.flow[..after].last().filter(|&&(_, end, _)| pc < end);
        let missing = || Error::bad_argument("instruction is outside the control flow");
        let (start, _, id) = block.ok_or_else(|| located(missing(), pc..pc + 1))?;
        Ok((*start, *id))
    }

    /// Returns the control flow block that a block begins.
    fn begun(&self, block: Block) -> Result<BlockId> {
        let pcs = self.pcs[block.index()].clone();
        let (start, id) = self.containing(pcs.start)?;
        if start != pcs.start {
            let what = format!(
                "block with parameters begins inside a control flow block, which begins at {start:#x}"
            );
            return Err(located(Error::bad_argument(what), pcs));
        }
        Ok(id)
    }

    fn left(&self, block: Block) -> Result<BlockId> {
        Ok(self.containing(self.pcs[block.index()].end - 1)?.1)
    }
}

fn located(error: Error, pcs: Range<u64>) -> Error {
    error.or_at(At::new(|context| context.pcs = Some(pcs)))
}

fn operands<'a>(
    function: &'a impl Function,
    output: &'a Output,
    inst: Inst,
) -> impl Iterator<Item = (Operand, Allocation)> + Clone {
    let operands = function.inst_operands(inst).iter().copied();
    let allocated = operands.zip(output.inst_allocs(inst).iter().copied());
    allocated.filter(|(operand, _)| operand.as_fixed_nonallocatable().is_none())
}

/// Returns each virtual register's size in bits: the size of its places, or of the values copied to it.
fn bits(
    code: &mut CodeEffects,
    function: &impl Function,
    output: &Output,
    machine: &impl MachineCode,
) -> Result<Vec<u32>> {
    let mut bits = vec![0u32; function.num_vregs()];
    for inst in (0..function.num_insts()).map(Inst::new) {
        for (operand, to) in operands(function, output, inst) {
            let Some(bits) = bits.get_mut(operand.vreg().vreg()) else { continue };
            let is_def = operand.kind() == OperandKind::Def;
            // Definitions are exact; uses only fill in what no definition gives.
            if (*bits == 0 || is_def) && to.is_some() {
                let places = machine.places(to, operand.class());
                let size = places.iter().map(|&place| code.size(place)).sum::<Result<u32>>();
                let size = size.map_err(|error| located(error, machine.inst(inst)))?;
                *bits = if size == 0 { *bits } else { size };
            }
        }
    }
    // Registers that are only passed on get their sizes from the other end, through any number of blocks.
    let mut is_changed = true;
    while core::mem::take(&mut is_changed) {
        for block in (0..function.num_blocks()).map(Block::new) {
            for (index, &to) in function.block_succs(block).iter().enumerate() {
                let last = function.block_insns(block).last();
                let given = function.branch_blockparams(block, last, index);
                for (&given, &parameter) in given.iter().zip(function.block_params(to)) {
                    let [a, b] = [given, parameter].map(|register| register.vreg());
                    let (Some(&from_bits), Some(&to_bits)) = (bits.get(a), bits.get(b)) else { continue };
                    is_changed |= (from_bits == 0) != (to_bits == 0);
                    bits[a] = if from_bits == 0 { to_bits } else { from_bits };
                    bits[b] = if to_bits == 0 { from_bits } else { to_bits };
                }
            }
        }
    }
    bits.iter_mut().filter(|bits| **bits == 0).for_each(|bits| *bits = 32);
    Ok(bits)
}

/// Arguments that blocks pass to their successors.
struct Edges<'a, F> {
    function: &'a F,
    blocks: &'a Blocks,
}

impl<F: Function> Edges<'_, F> {
    /// Returns the blocks with code from which a lane comes to a block, and the register that each passes for each
    /// parameter.
    fn sources(&self, block: Block) -> Vec<(Block, Vec<VReg>)> {
        let function = self.function;
        let mut sources = Vec::new();
        // Blocks without code, what they pass on, and the number of such blocks in between.
        let mut open: Vec<(Block, Vec<VReg>, usize)> = Vec::new();
        let parameters = function.block_params(block);
        if !parameters.is_empty() {
            open.push((block, parameters.to_vec(), 0));
        }
        while let Some((to, wanted, depth)) = open.pop() {
            // Follow edges backwards through blocks without code.
            let parameters = function.block_params(to);
            for &from in function.block_preds(to) {
                let last = function.block_insns(from).last();
                let edges = function.block_succs(from).iter().enumerate();
                for (index, _) in edges.filter(|&(_, &other)| other == to) {
                    let given = function.branch_blockparams(from, last, index);
                    let passed = |register: VReg| {
                        let index = parameters.iter().position(|parameter| *parameter == register);
                        index.and_then(|index| given.get(index)).copied().unwrap_or(register)
                    };
                    let given: Vec<VReg> = wanted.iter().map(|&register| passed(register)).collect();
                    // A loop without code runs forever, so that the search is bounded.
                    let may_continue = depth < function.num_blocks();
                    if self.blocks.has_code(from) || from == function.entry_block() {
                        sources.push((from, given));
                    } else if may_continue {
                        open.push((from, given, depth + 1));
                    }
                }
            }
        }
        sources.retain(|(from, _)| self.blocks.has_code(*from));
        sources.sort_by_key(|(from, _)| from.index());
        sources.dedup();
        sources
    }

    /// Returns the block with code that begins where a block begins, if no other block leads there.
    fn begun(&self, block: Block) -> Option<Block> {
        let mut current = block;
        for _ in 0..self.function.num_blocks() {
            if self.blocks.has_code(current) {
                return Some(current);
            }
            match self.function.block_succs(current) {
                [next] if self.function.block_preds(*next).len() == 1 => current = *next,
                _ => return None,
            }
        }
        None
    }
}

/// Adds the values of all registers, and the values that block parameters receive.
fn values(code: &mut CodeEffects, edges: &Edges<'_, impl Function>, bits: &[u32]) -> Result<Values> {
    let function = edges.function;
    // The register that each register equals, if there is one.
    let mut same: Vec<Option<VReg>> = vec![None; bits.len()];
    let mut merged: IndexMap<usize, BlockId> = IndexMap::new();
    let mut received: Vec<(BlockId, usize, Option<VReg>)> = Vec::new();
    for block in (0..function.num_blocks()).map(Block::new) {
        let sources = edges.sources(block);
        let Some(begun) = edges.begun(block).filter(|_| !sources.is_empty()) else { continue };
        for (index, &parameter) in function.block_params(block).iter().enumerate() {
            let given: Vec<(Block, VReg)> =
                sources.iter().map(|(from, given)| (*from, given[index])).collect();
            if let [(_, register)] = given[..] {
                // A parameter with one source is that source, and needs no merge.
                same[parameter.vreg()] = Some(register);
                continue;
            }
            merged.insert(parameter.vreg(), edges.blocks.begun(begun)?);
            for group in given.chunk_by(|a, b| a.0 == b.0) {
                // Paths through blocks without code bring different values, and it is unknown which.
                let register = (group.len() == 1).then_some(group[0].1);
                received.push((edges.blocks.left(group[0].0)?, parameter.vreg(), register));
            }
        }
    }
    let represented = |register: usize| {
        let mut current = register;
        for _ in 0..bits.len() {
            match same[current] {
                Some(next) if next.vreg() < bits.len() => current = next.vreg(),
                _ => break,
            }
        }
        current
    };
    let mut values: Vec<Option<ValueId>> = vec![None; bits.len()];
    for register in 0..bits.len() {
        let equal = represented(register);
        let value = values[equal].unwrap_or_else(|| match merged.get(&equal) {
            Some(&block) => code.merged(block, bits[equal]),
            None => code.value(bits[equal]),
        });
        values[equal] = Some(value);
        values[register] = Some(value);
    }
    let values = Values(values.into_iter().flatten().collect());
    for (from, parameter, given) in received {
        let value = match given.and_then(|register| values.get(register)) {
            Some(value) => value,
            None => code.value(bits[parameter]),
        };
        code.incoming(from, values.0[parameter], value)?;
    }
    Ok(values)
}

struct Adder<'a, F, M> {
    function: &'a F,
    output: &'a Output,
    machine: &'a M,
    values: &'a Values,
    step: u64,
}

impl<F: Function, M: MachineCode> Adder<'_, F, M> {
    fn instruction<'c>(&self, code: &'c mut CodeEffects, pcs: Range<u64>) -> InstructionEffects<'c> {
        let is_single = pcs.end - pcs.start <= self.step || self.machine.is_single(&pcs);
        // A wave can stop between the machine instructions of one allocator instruction.
        if is_single { code.instruction(pcs) } else { code.instructions(pcs) }
    }

    fn inst(&self, code: &mut CodeEffects, inst: Inst) -> Result<()> {
        let pcs = self.machine.inst(inst);
        let clobbers = self.function.inst_clobbers(inst);
        let mut defs = operands(self.function, self.output, inst)
            .filter(|(operand, _)| operand.kind() == OperandKind::Def)
            .peekable();
        // Without definitions and clobbers, an instruction changes nothing that is tracked.
        if pcs.is_empty() || (defs.peek().is_none() && clobbers.into_iter().next().is_none()) {
            return Ok(());
        }
        let places = |(operand, to): (Operand, Allocation)| self.machine.places(to, operand.class());
        let mut instruction = self.instruction(code, pcs);
        for preg in clobbers {
            instruction.clobber(&self.machine.places(Allocation::reg(preg), preg.class()))?;
        }
        let copied = self.machine.copied(inst).and_then(|index| {
            let operand = *self.function.inst_operands(inst).get(index)?;
            let from = *self.output.inst_allocs(inst).get(index)?;
            Some(places((operand, from)))
        });
        let mut defs: Vec<_> = defs.collect();
        // Several operands for the same definition share an allocation.
        defs.dedup_by_key(|(operand, _)| operand.vreg());
        for def in &defs {
            let value = self.value(def.0.vreg())?;
            let to = places(*def);
            match &copied {
                Some(from) if defs.len() == 1 => instruction.define_copy(value, from, &to)?,
                _ => instruction.define(value, &to)?,
            };
        }
        if self.machine.is_whole_wave(inst) {
            instruction.all_lanes();
        }
        Ok(())
    }

    fn value(&self, register: VReg) -> Result<ValueId> {
        let missing = || ErrorKind::UnknownId(format!("{register} in this function")).into();
        self.values.get(register).ok_or_else(missing)
    }

    fn edit(&self, code: &mut CodeEffects, index: usize) -> Result<()> {
        let (point, Edit::Move { from, to }) = &self.output.edits[index];
        let pcs = self.machine.edit(index);
        if pcs.is_empty() || from == to {
            return Ok(());
        }
        let Some(class) = class(*from, *to) else {
            let side = match point.pos() {
                InstPosition::Before => "before",
                InstPosition::After => "after",
            };
            let what = format!(
                "move from {from} to {to}, {side} instruction {}, has no register",
                point.inst().index()
            );
            return Err(located(Error::bad_argument(what), pcs));
        };
        let [from, to] = [*from, *to].map(|end| self.machine.places(end, class));
        let mut instruction = self.instruction(code, pcs);
        if from.is_empty() {
            // Without a tracked source, the contents are unknown.
            instruction.clobber(&to)?;
        } else if to.is_empty() {
            return Ok(());
        } else {
            instruction.copy(&from, &to)?;
        }
        if self.machine.all_lanes(index) {
            instruction.all_lanes();
        }
        Ok(())
    }
}

/// Returns a move's class, from its register.
fn class(from: Allocation, to: Allocation) -> Option<RegClass> {
    [from, to].into_iter().find_map(|end| end.as_reg()).map(|register| register.class())
}

/// Storage for spill slots: scalars ([`RegClass::Int`]) go to lanes in vector registers that the compiler reserves,
/// vectors to each lane's stack.
#[derive(Debug, Clone)]
pub struct Spills {
    rows: Vec<Reg>,
    lanes: u32,
    base: i64,
    /// Each slot's first dword and number of dwords, by index and whether the slot contains a scalar.
    slots: IndexMap<(usize, bool), (u32, u32)>,
    /// Number of dwords for vectors and for scalars.
    used: [u32; 2],
}

impl Spills {
    /// Assigns storage to an allocated function's spill slots: lanes in `rows` in order, and dwords on the stack from
    /// `base` bytes on. One unit of `Function::spillslot_size` is a dword.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRegister`]; [`ErrorKind::DoesNotFit`] if `rows` have too few lanes.
    pub fn new(
        target: &Target,
        function: &impl Function,
        output: &Output,
        rows: &[Reg],
        base: i64,
    ) -> Result<Self> {
        let mut spills =
            Self { rows: rows.to_vec(), lanes: target.lanes(), base, slots: IndexMap::new(), used: [0; 2] };
        for &row in rows {
            target.register(row).ok_or_else(|| target.unknown_register(row))?;
        }
        for (_, Edit::Move { from, to }) in &output.edits {
            for slot in [from, to].into_iter().filter_map(|end| end.as_stack()) {
                class(*from, *to).into_iter().for_each(|class| spills.add(function, slot, class));
            }
        }
        for inst in (0..function.num_insts()).map(Inst::new) {
            for (operand, to) in operands(function, output, inst) {
                to.as_stack().into_iter().for_each(|slot| spills.add(function, slot, operand.class()));
            }
        }
        let needs = spills.used[1].into();
        let has = rows.len() as u64 * u64::from(spills.lanes);
        if needs > has {
            let what = "scalars in lanes of reserved vector registers".into();
            return Err(ErrorKind::DoesNotFit { what, needs, has }.into());
        }
        Ok(spills)
    }

    fn add(&mut self, function: &impl Function, slot: SpillSlot, class: RegClass) {
        let is_scalar = class == RegClass::Int;
        let size = function.spillslot_size(class) as u32;
        let next = &mut self.used[usize::from(is_scalar)];
        self.slots.entry((slot.index(), is_scalar)).or_insert_with(|| {
            let first = *next;
            *next += size;
            (first, size)
        });
    }

    /// Returns the places in a spill slot that contains a value in a class.
    pub fn places(&self, slot: SpillSlot, class: RegClass) -> Places {
        let is_scalar = class == RegClass::Int;
        let Some(&(first, size)) = self.slots.get(&(slot.index(), is_scalar)) else { return Places::none() };
        let place = |dword: u32| {
            if is_scalar {
                Place::lane(self.rows[(dword / self.lanes) as usize], dword % self.lanes)
            } else {
                Place::stack_slot(self.base.saturating_add(4 * i64::from(dword)))
            }
        };
        (first..first + size).map(place).collect()
    }

    /// Returns how much of each lane's stack holds vectors, in bytes.
    pub fn stack_bytes(&self) -> u64 {
        4 * u64::from(self.used[0])
    }
}
