//! Instructions of a function as evidence: the instructions that set a register, use a register as an address, or change
//! `exec`.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use eitri_dwarf::target::code::{
    DecodedInstruction, EXEC, Flow, InstructionSet, RegisterKind, SourceOperand,
};
use eitri_dwarf::target::is_preserved;

/// An instruction with its pc.
pub(super) type PcInstruction = (u64, DecodedInstruction);

/// A function's instructions. Only their offsets are kept; an instruction is decoded again when it is needed.
#[derive(Debug, Default)]
pub(super) struct FunctionCode<'r> {
    set: Option<InstructionSet>,
    start: u64,
    bytes: &'r [u8],
    /// End offset of the decoded instructions.
    size: u32,
    /// Whether the whole function is decoded.
    is_whole: bool,
    /// Instructions that write `exec`, as offsets.
    exec: Vec<u32>,
    /// Instructions that copy `exec` to a scalar register, as offsets.
    copies: Vec<u32>,
    /// Offsets at which a vector register contains an address in scratch, sorted by register.
    addresses: Vec<(u16, u32)>,
    /// Branches: pc and target.
    branches: Vec<(u64, u64)>,
    /// Pcs after instructions that never continue with the next instruction, in order.
    breaks: Vec<u64>,
    /// Call pcs.
    calls: Vec<u64>,
    /// Pcs of jumps to an address in registers.
    jumps: Vec<u64>,
    /// Last instruction that leaves the function, as an offset.
    leaves: Option<u32>,
    writers: OnceCell<Writers>,
    leaders: OnceCell<Vec<u64>>,
    /// Branches by target: target and pc.
    by_target: OnceCell<Vec<(u64, u64)>>,
    /// Answers of [`setters_at_leader`](Self::setters_at_leader), by register and leader.
    setters: RefCell<HashMap<(u64, u64), Rc<Setters>>>,
    /// Answers of [`uniform`](Self::uniform), by vector register number and depth.
    uniform: RefCell<HashMap<(u16, u32), bool>>,
}

/// Instructions that write registers.
#[derive(Debug, Default)]
struct Writers {
    /// Instructions with known destinations, sorted: register kind, register number and offset, in one word.
    known: Vec<u64>,
    /// Instructions that can write any register, as offsets.
    unknown: Vec<u32>,
}

/// Where a register got its value.
#[derive(Debug)]
enum Setter {
    /// The last instruction that writes the register.
    Instruction(PcInstruction),
    /// Code outside the function: no earlier instruction writes the register.
    Outside,
    /// An instruction whose destinations are not known.
    Unknown,
}

/// Where a register can have got its value at a pc, by the paths that lead there.
#[derive(Debug, Default)]
pub(super) struct Setters {
    /// Instructions that set the register, in order.
    pub(super) known: Vec<PcInstruction>,
    /// Whether a path from the function's start does not set the register.
    pub(super) outside: bool,
    /// Pc of an instruction on some path that has unknown destinations.
    pub(super) unknown: Option<u64>,
}

/// Returns the word for a register and an offset.
fn writer(kind: RegisterKind, number: u16, offset: u32) -> u64 {
    (kind as u64) << 48 | u64::from(number) << 32 | u64::from(offset)
}

/// Limit on decoded bytes in a function.
const MOST: usize = 1 << 25;
/// Limit on instructions that are searched for a copy from `exec`.
const MOST_SAVES: usize = 64;
/// Limit on the bytes of a function whose instructions are decoded all at a time.
const MOST_DECODED: u32 = 1 << 19;
/// Bytes of code that are decoded again to find a writer or a use.
const NEAR: u64 = 1 << 10;
/// Limit on the chain of definitions that is followed.
const DEEPEST: u32 = 8;

impl<'r> FunctionCode<'r> {
    /// Scans a function's code in its first range. Stops at the first unknown encoding, because instructions have
    /// different lengths; scans nothing without an instruction set.
    pub(super) fn scan(set: Option<InstructionSet>, ranges: &[Range<u64>], bytes: &'r [u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(MOST)];
        let start = ranges.first().map_or(0, |range| range.start);
        let mut code = Self { set, start, bytes, ..Self::default() };
        let Some(set) = set else { return code };
        let mut size = 0;
        loop {
            let rest = bytes.get(size..).unwrap_or_default();
            if let Some((count, address)) = set.decode_frequent(rest) {
                code.addresses.extend(address.map(|register| (register, size as u32)));
                size += count;
                continue;
            }
            let Some(outline) = set.outline(rest) else { break };
            let offset = size as u32;
            let pc = start.wrapping_add(size as u64);
            if outline.writes_exec {
                code.exec.push(offset);
            }
            if outline.copies_exec.is_some() {
                code.copies.push(offset);
            }
            if let Some(register) = outline.scratch_address {
                code.addresses.push((register, offset));
            }
            match outline.flow {
                Flow::Branch => {
                    code.branches.extend(code.target(offset).map(|target| (pc, target)));
                    let name = code.instruction(offset).and_then(|instruction| instruction.1.name);
                    if name == Some("s_branch") {
                        code.breaks.push(pc + u64::from(outline.bytes));
                    }
                }
                Flow::Call => code.calls.push(pc),
                Flow::Jump => code.jumps.push(pc),
                Flow::Next | Flow::End => {}
            }
            if matches!(outline.flow, Flow::Jump | Flow::End) {
                code.leaves = Some(offset);
                code.breaks.push(pc + u64::from(outline.bytes));
            }
            size += usize::from(outline.bytes);
        }
        code.size = size as u32;
        code.is_whole = matches!(ranges, [range] if range.end == code.end());
        code.addresses.sort_unstable();
        code
    }

    fn target(&self, offset: u32) -> Option<u64> {
        let (pc, instruction) = self.instruction(offset)?;
        self.target_after(pc, &instruction)
    }

    /// Returns where a branch at a pc goes.
    pub(super) fn target_after(&self, pc: u64, instruction: &DecodedInstruction) -> Option<u64> {
        let Some(SourceOperand::Constant(words)) = instruction.source else { return None };
        Some(pc.wrapping_add_signed(4 + 4 * words))
    }

    /// Decodes the instruction at an offset.
    fn instruction(&self, offset: u32) -> Option<PcInstruction> {
        let decoded = self.set?.decode(self.bytes.get(offset as usize..)?)?;
        Some((self.start.wrapping_add(offset.into()), decoded))
    }

    pub(super) fn instructions(&self) -> impl Iterator<Item = (u32, PcInstruction)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let offset = next;
            let instruction = (offset < self.size).then(|| self.instruction(offset))??;
            next += u32::from(instruction.1.bytes);
            Some((offset, instruction))
        })
    }

    /// Returns all instructions of the function; `None` if it is not decoded as a whole, or too large.
    pub(super) fn decoded(&self) -> Option<Vec<PcInstruction>> {
        let is_known = self.is_whole && self.size <= MOST_DECODED;
        is_known.then(|| self.instructions().map(|(_, instruction)| instruction).collect())
    }

    fn all_writers(&self) -> &Writers {
        self.writers.get_or_init(|| {
            let mut writers = Writers::default();
            let mut offset = 0;
            while offset < self.size {
                let rest = self.bytes.get(offset as usize..);
                let Some((size, writes)) =
                    self.set.zip(rest).and_then(|(set, rest)| set.decode_destinations(rest))
                else {
                    break;
                };
                match writes {
                    None => writers.unknown.push(offset),
                    Some(writes) => {
                        for write in writes {
                            for number in write.first..write.first.saturating_add(write.count) {
                                writers.known.push(writer(write.kind, number, offset));
                            }
                        }
                    }
                }
                offset += u32::from(size);
            }
            writers.known.sort_unstable();
            writers
        })
    }

    /// Returns the instructions that write a register, as offsets, in order.
    fn writers(&self, kind: RegisterKind, number: u16) -> &[u64] {
        let writers = &self.all_writers().known;
        let first = writers.partition_point(|word| *word < writer(kind, number, 0));
        let count = writers[first..].partition_point(|word| *word <= writer(kind, number, u32::MAX));
        &writers[first..first + count]
    }

    /// Returns the writers of a register before a pc, and the writers at and after the pc.
    fn writers_around(&self, kind: RegisterKind, number: u16, pc: u64) -> (&[u64], &[u64]) {
        let writers = self.writers(kind, number);
        writers.split_at(writers.partition_point(|word| self.pc(*word as u32) < pc))
    }

    fn pc(&self, offset: u32) -> u64 {
        self.start.wrapping_add(offset.into())
    }

    /// Whether an instruction writes registers that are not known, in the decoded part or after it.
    fn has_unknown_writers(&self) -> bool {
        !self.is_whole || !self.all_writers().unknown.is_empty()
    }

    /// Returns the last instruction before a pc that writes a register.
    fn setter(&self, kind: RegisterKind, number: u16, before: u64) -> Setter {
        if !(self.start..=self.end()).contains(&before) {
            return Setter::Unknown;
        }
        let known = self.writers_around(kind, number, before).0.last().map(|word| *word as u32);
        let unknown = &self.all_writers().unknown;
        let unknown = unknown[..unknown.partition_point(|offset| self.pc(*offset) < before)].last();
        match (known, unknown) {
            (known, Some(unknown)) if known.is_none_or(|known| known < *unknown) => Setter::Unknown,
            (known, _) => {
                known.and_then(|known| self.instruction(known)).map_or(Setter::Outside, Setter::Instruction)
            }
        }
    }

    /// Returns the instructions that can have set a register last at a pc, on whatever path.
    pub(super) fn setters(&self, kind: RegisterKind, number: u16, pc: u64) -> Rc<Setters> {
        if !(self.start..=self.end()).contains(&pc) {
            let unknown = Some(if pc < self.start { pc } else { self.end() });
            return Rc::new(Setters { unknown, ..Setters::default() });
        }
        let mut setters = Setters::default();
        let start = self.leader(pc, true);
        match self.setter_within(kind, number, start..pc) {
            Some(Ok(instruction)) => setters.known.push(instruction),
            Some(Err(unknown)) => setters.unknown = Some(unknown),
            None => return self.setters_at_leader(kind, number, start),
        }
        Rc::new(setters)
    }

    /// Returns the last instruction within some pcs that sets a register, or the pc of an instruction with unknown
    /// destinations after it.
    fn setter_within(
        &self,
        kind: RegisterKind,
        number: u16,
        pcs: Range<u64>,
    ) -> Option<std::result::Result<PcInstruction, u64>> {
        let within = |offset: &u32| pcs.contains(&self.pc(*offset));
        let before = self.writers_around(kind, number, pcs.end).0;
        let known = before.last().map(|word| *word as u32).filter(within);
        let unknown = &self.all_writers().unknown;
        let unknown = &unknown[..unknown.partition_point(|offset| self.pc(*offset) < pcs.end)];
        match (known, unknown.last().copied().filter(within)) {
            (known, Some(unknown)) if known.is_none_or(|known| known < unknown) => {
                Some(Err(self.pc(unknown)))
            }
            (known, _) => known.and_then(|known| self.instruction(known)).map(Ok),
        }
    }

    /// Returns the start of the code without a join before a pc, or up to and including the pc.
    fn leader(&self, pc: u64, is_included: bool) -> u64 {
        let leaders = self.leaders();
        let count = leaders.partition_point(|leader| *leader < pc || is_included && *leader == pc);
        leaders[..count].last().copied().unwrap_or(self.start)
    }

    /// Returns the branches to a pc: target and pc.
    fn branches_to(&self, target: u64) -> &[(u64, u64)] {
        let branches = self.by_target.get_or_init(|| {
            let mut branches: Vec<_> = self.branches.iter().map(|(pc, target)| (*target, *pc)).collect();
            branches.sort_unstable();
            branches
        });
        let start = branches.partition_point(|branch| branch.0 < target);
        let rest = &branches[start..];
        &rest[..rest.partition_point(|branch| branch.0 == target)]
    }

    /// Returns the instructions that can have set a register last where paths join. Entries of a location list ask for
    /// the same register again and again, so that the answers are kept.
    fn setters_at_leader(&self, kind: RegisterKind, number: u16, leader: u64) -> Rc<Setters> {
        let key = (writer(kind, number, 0), leader);
        if let Some(known) = self.setters.borrow().get(&key) {
            return known.clone();
        }
        let mut setters = Setters::default();
        let mut known = BTreeMap::new();
        let mut seen = HashSet::new();
        let mut joins = vec![leader];
        while let Some(start) = joins.pop() {
            if !seen.insert(start) {
                continue;
            }
            if start == self.start {
                setters.outside = true;
            }
            let branches = self.branches_to(start).iter().map(|branch| branch.1);
            let falls_through = start != self.start
                // Code that no branch leads to is reached by a jump to an address in registers.
                && (self.breaks.binary_search(&start).is_err() || self.branches_to(start).is_empty());
            let before = falls_through.then(|| (self.leader(start, false), start));
            let ends = branches.map(|pc| (self.leader(pc, true), pc)).chain(before);
            for (start, end) in ends {
                match self.setter_within(kind, number, start..end) {
                    Some(Ok(instruction)) => {
                        known.insert(instruction.0, instruction);
                    }
                    Some(Err(unknown)) => setters.unknown = Some(unknown),
                    None => joins.push(start),
                }
            }
        }
        setters.known = known.into_values().collect();
        let setters = Rc::new(setters);
        self.setters.borrow_mut().insert(key, setters.clone());
        setters
    }

    /// Returns the pcs at which paths begin or join, sorted: the start, branch targets, and the pcs after jumps.
    fn leaders(&self) -> &[u64] {
        self.leaders.get_or_init(|| {
            let targets = self.branches.iter().map(|branch| branch.1);
            let mut leaders: Vec<_> =
                targets.chain(self.breaks.iter().copied()).chain([self.start]).collect();
            leaders.retain(|pc| (self.start..self.end()).contains(pc));
            leaders.sort_unstable();
            leaders.dedup();
            leaders
        })
    }

    /// Returns the last call within some pcs whose function can set a register.
    pub(super) fn call(&self, kind: RegisterKind, number: u16, pcs: Range<u64>) -> Option<u64> {
        let call = self.calls.iter().rfind(|pc| pcs.contains(pc));
        call.copied().filter(|_| !is_preserved(kind, number))
    }

    /// Returns the end of the pcs, from `from` on, at which `count` registers keep the values they have after the
    /// instruction at `from`. The pcs end where an instruction, a call or a jump through registers sets or can set a
    /// register, or where control arrives from outside these pcs.
    pub(super) fn lasting(
        &self,
        kind: RegisterKind,
        (first, count): (u16, u16),
        from: u64,
        after: u64,
    ) -> u64 {
        let numbers = first..first.saturating_add(count);
        let next = numbers
            .filter_map(|number| Some(self.pc(*self.writers_around(kind, number, after).1.first()? as u32)));
        let first = |pcs: &[u64]| pcs.iter().copied().find(|pc| *pc >= after);
        let calls = [first(&self.calls), first(&self.jumps)].into_iter().flatten();
        let unknown =
            self.all_writers().unknown.iter().map(|offset| self.pc(*offset)).find(|pc| *pc >= after);
        let mut end = next.chain(calls).chain(unknown).min().unwrap_or_else(|| self.end());
        // An instruction that sets the register still has the old value before it; a later branch has the new value.
        loop {
            let enters = |(pc, to): &&(u64, u64)| !(from..end).contains(pc) && (after..end).contains(to);
            match self.branches.iter().filter(enters).map(|branch| branch.1).min() {
                Some(to) => end = to,
                None => return end,
            }
        }
    }

    /// Returns the scalar loads from an address in two scalar registers, each with the offset in bytes, and the pc after
    /// it.
    pub(super) fn loads(&self, base: u16) -> impl Iterator<Item = (PcInstruction, u64, u64)> {
        self.instructions().filter_map(move |(_, load)| {
            let (pc, instruction) = &load;
            let is_load = instruction.name.is_some_and(|name| name.starts_with("s_load_"));
            let uses_base = instruction.source == Some(SourceOperand::Register(RegisterKind::Scalar, base));
            let Some(SourceOperand::Constant(offset)) = instruction.second.filter(|_| is_load && uses_base)
            else {
                return None;
            };
            let offset = u64::try_from(offset).ok()?;
            let after = pc + u64::from(instruction.bytes);
            Some((load, offset, after))
        })
    }

    /// Returns the pc after the last decoded instruction.
    pub(super) fn end(&self) -> u64 {
        self.pc(self.size)
    }

    /// Whether the whole function is decoded.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether a vector register is used as an address in scratch within a range.
    pub(super) fn is_scratch_address(&self, number: u16, pcs: &Range<u64>) -> bool {
        let first =
            self.addresses.partition_point(|address| (address.0, self.pc(address.1)) < (number, pcs.start));
        self.addresses.get(first).is_some_and(|address| address.0 == number && self.pc(address.1) < pcs.end)
    }

    /// Returns the first instruction near a range's start that uses a vector register as an LDS address.
    pub(super) fn lds_use(&self, number: u16, pcs: &Range<u64>) -> Option<PcInstruction> {
        let address = Some(SourceOperand::Register(RegisterKind::Vector, number));
        let mut pc = pcs.start;
        let end = pcs.end.min(self.end()).min(pcs.start.saturating_add(NEAR));
        while pc < end {
            let instruction = self.instruction(u32::try_from(pc.checked_sub(self.start)?).ok()?)?;
            let is_access = |name: &str| {
                ["ds_read", "ds_write", "ds_load", "ds_store"].iter().any(|start| name.starts_with(start))
            };
            if instruction.1.source == address && instruction.1.name.is_some_and(is_access) {
                return Some(instruction);
            }
            pc += u64::from(instruction.1.bytes);
        }
        None
    }

    /// Whether each instruction that writes a vector register sets a single lane: the lanes then hold scalars that
    /// belong to the wave.
    pub(super) fn has_scalars(&self, number: u16) -> bool {
        let writers = self.writers(RegisterKind::Vector, number);
        let mut names = writers
            .iter()
            .map(|word| self.instruction(*word as u32).and_then(|(_, instruction)| instruction.name));
        !writers.is_empty()
            && !self.has_unknown_writers()
            && names.all(|name| name.is_some_and(|name| name.starts_with("v_writelane")))
    }

    /// Whether the instructions prove that a vector register has the same value in all lanes at a pc: at least one
    /// earlier instruction writes the register, and every instruction that writes it, on any path, has uniform sources.
    pub(super) fn is_uniform(&self, number: u16, pc: u64) -> bool {
        self.is_written_before(number, pc) && self.uniform(number, DEEPEST)
    }

    /// Whether an instruction before a pc writes a vector register. Otherwise the value is the caller's.
    fn is_written_before(&self, number: u16, pc: u64) -> bool {
        self.writers(RegisterKind::Vector, number).first().is_some_and(|word| self.pc(*word as u32) < pc)
    }

    fn uniform(&self, number: u16, depth: u32) -> bool {
        if let Some(known) = self.uniform.borrow().get(&(number, depth)) {
            return *known;
        }
        let is_uniform = depth > 0 && !self.has_unknown_writers() && self.has_uniform_writers(number, depth);
        self.uniform.borrow_mut().insert((number, depth), is_uniform);
        is_uniform
    }

    fn has_uniform_writers(&self, number: u16, depth: u32) -> bool {
        let writers = self.writers(RegisterKind::Vector, number);
        let same = [
            "v_mov_b32",
            "v_cvt_",
            "v_lshlrev_b32",
            "v_lshrrev_b32",
            "v_ashrrev_i32",
            "v_and_b32",
            "v_or_b32",
            "v_xor_b32",
            "v_add_u32",
            "v_add_nc_u32",
            "v_sub_u32",
            "v_sub_nc_u32",
            "v_add_f32",
            "v_mul_f32",
            "v_sub_f32",
            "v_max_f32",
            "v_min_f32",
            // The names of gfx12.
            "v_max_num_f32",
            "v_min_num_f32",
            "v_max_i32",
            "v_min_i32",
            "v_max_u32",
            "v_min_u32",
        ];
        let is_same = |pc: u64, source: Option<SourceOperand>| match source {
            None | Some(SourceOperand::Constant(_) | SourceOperand::Register(RegisterKind::Scalar, _)) => {
                true
            }
            Some(SourceOperand::Register(RegisterKind::Vector, number)) => {
                self.is_written_before(number, pc) && self.uniform(number, depth - 1)
            }
            Some(_) => false,
        };
        let is_uniform = |(pc, instruction): PcInstruction| {
            let is_simple =
                instruction.name.is_some_and(|name| same.iter().any(|start| name.starts_with(start)));
            is_simple
                && instruction.source.is_some()
                && is_same(pc, instruction.source)
                && is_same(pc, instruction.second)
        };
        let mut instructions = writers.iter().map(|word| self.instruction(*word as u32));
        !writers.is_empty() && instructions.all(|instruction| instruction.is_some_and(&is_uniform))
    }

    /// Returns the first instruction that narrows `exec`, after which lanes wait. Whole-wave code, which sets `exec` to
    /// all ones and back, does not count.
    pub(super) fn diverges(&self) -> Option<PcInstruction> {
        let is_all =
            |instruction: &DecodedInstruction| instruction.source == Some(SourceOperand::Constant(-1));
        self.exec.iter().filter_map(|&offset| self.instruction(offset)).find(|(pc, instruction)| {
            let Some(name) = instruction.name else { return false };
            let narrows =
                ["s_and_saveexec", "s_andn1", "s_andn2", "s_and_", "s_xor_", "s_nand", "s_nor", "v_cmpx"];
            if narrows.iter().any(|start| name.starts_with(start)) {
                return !(name.contains("saveexec") && is_all(instruction));
            }
            // A mask that was saved for the whole wave is restored.
            match instruction.source {
                _ if !name.starts_with("s_mov_") => false,
                Some(SourceOperand::Constant(value)) => value != -1,
                Some(SourceOperand::Register(RegisterKind::Scalar, number)) => {
                    match self.saver(number, *pc) {
                        Setter::Instruction((_, saved)) => {
                            let name = saved.name.unwrap_or_default();
                            let is_copy =
                                saved.source == Some(SourceOperand::Register(RegisterKind::Scalar, EXEC));
                            !(name.contains("saveexec") && is_all(&saved)
                                || name.starts_with("s_mov_") && is_copy)
                        }
                        Setter::Outside => true,
                        Setter::Unknown => false,
                    }
                }
                _ => true,
            }
        })
    }

    /// Returns the last instruction before a pc that writes a scalar register; [`Setter::Outside`] unless the instruction
    /// uses `exec`.
    fn saver(&self, number: u16, before: u64) -> Setter {
        let last = |offsets: &[u32]| {
            let count = offsets.partition_point(|offset| self.pc(*offset) < before);
            let mut offsets = offsets[..count].iter().rev().take(MOST_SAVES);
            offsets.find_map(|&offset| {
                let (pc, instruction) = self.instruction(offset)?;
                let writes_register = instruction
                    .writes()
                    .into_iter()
                    .flatten()
                    .any(|write| write.contains(RegisterKind::Scalar, number));
                writes_register.then_some((pc, instruction))
            })
        };
        let save =
            last(&self.exec).into_iter().chain(last(&self.copies)).max_by_key(|instruction| instruction.0);
        let saver = save.as_ref().map(|instruction| instruction.0);
        // Another instruction can write the register in between.
        let Some((pc, instruction)) = save.filter(|(pc, _)| before - pc <= NEAR) else {
            return match self.setter(RegisterKind::Scalar, number, before) {
                Setter::Instruction((pc, _)) if saver != Some(pc) => Setter::Outside,
                setter => setter,
            };
        };
        let mut next = pc + u64::from(instruction.bytes);
        while next < before {
            let rest = self.bytes.get((next - self.start) as usize..);
            let decoded = self.set.zip(rest).and_then(|(set, rest)| set.decode_destinations(rest));
            let Some((size, Some(writes))) = decoded else { return Setter::Unknown };
            if writes.iter().any(|write| write.contains(RegisterKind::Scalar, number)) {
                return Setter::Outside;
            }
            next += u64::from(size);
        }
        Setter::Instruction((pc, instruction))
    }

    /// Whether an instruction within some pcs writes `exec`.
    pub(super) fn can_switch_lanes_on(&self, pcs: &Range<u64>) -> bool {
        let first = self.exec.partition_point(|offset| self.pc(*offset) < pcs.start);
        self.exec.get(first).is_some_and(|offset| self.pc(*offset) < pcs.end)
    }

    /// Returns the last instruction that leaves the function.
    pub(super) fn returns(&self) -> Option<PcInstruction> {
        self.instruction(self.leaves?)
    }

    /// Returns the instructions that add a constant to a scalar register, each with the constant.
    pub(super) fn moves(&self, number: u16) -> impl Iterator<Item = (PcInstruction, i64)> {
        let writers = self.writers(RegisterKind::Scalar, number).iter();
        writers.filter_map(|word| self.instruction(*word as u32)).filter_map(move |(pc, instruction)| {
            let own = Some(SourceOperand::Register(RegisterKind::Scalar, number));
            let amount = match (instruction.name?, instruction.source, instruction.second) {
                // The names from gfx9 on, and those of gfx12.
                (
                    "s_add_i32" | "s_add_u32" | "s_add_co_i32" | "s_add_co_u32",
                    source,
                    Some(SourceOperand::Constant(amount)),
                ) if source == own => amount,
                ("s_addk_i32" | "s_addk_co_i32", Some(SourceOperand::Constant(amount)), _) => amount,
                _ => return None,
            };
            Some(((pc, instruction), amount))
        })
    }
}

/// Describes an instruction whose destinations are not known.
pub(super) fn unknown(pc: u64) -> String {
    format!("the instruction at {pc:#x} has unknown destinations")
}

/// Describes an instruction: its pc, name and destinations.
pub(super) fn described((pc, instruction): &PcInstruction) -> String {
    format!("{pc:#x}: {instruction}")
}
