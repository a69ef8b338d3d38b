//! Claims about a variable's registers, and the pcs at which the code does not contradict them.
//!
//! A producer's compiler knows the values in registers along the wave's paths, and its ranges say where. It does not know
//! that lanes wait, it writes the ranges before instructions move, and it ignores how long a load takes. A claim ends
//!
//! * where an instruction changes its register without computing the new contents from the old;
//! * where lanes run again that waited since a pc at which the variable was not there;
//! * as long as the register's load is not waited for.
//!
//! It does not begin where its register was set for something else.

use core::ops::Range;

use super::code::{Code, Instruction, Register, Waits, described, register_name};
use super::lanes::Lanes;
use super::waits::Pending;
use crate::target::code::{Flow, RegisterKind, SourceOperand};

/// A claim that a variable is somewhere.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// Addresses in the file.
    pub pcs: Range<u64>,
    /// Meant operations; equal operations are the same claim.
    pub expression: Vec<u8>,
    /// Registers that the operations read, and that have the value or a part of it.
    pub registers: Vec<Register>,
    /// The register that has the start of the function's stack frame, if the claim is about a slot.
    pub base: Option<Register>,
    /// Bytes from there to the slot.
    pub slot: i64,
}

/// The pcs at which a claim holds, and why it ends before the producer's range does.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Proven {
    pub pcs: Vec<Range<u64>>,
    pub ends: Vec<String>,
}

/// Facts about a function's code.
#[derive(Debug)]
pub(super) struct Facts {
    pub code: Code,
    pub lanes: Lanes,
    pub pending: Pending,
    pub waits: Waits,
    /// Whether the function is a kernel, whose frame begins at address 0.
    pub is_kernel: bool,
}

/// Limit on steps for a variable: the instructions of a function are visited a few times.
const MOST_ROUNDS: usize = 64;

impl Facts {
    /// Returns the pcs at which each claim about a variable holds. The claims are sorted and disjoint.
    pub(super) fn proven(&self, claims: &[Claim]) -> Vec<Proven> {
        let covered = Covered::new(&self.code, claims);
        let mut holds = vec![true; covered.count()];
        // The largest set in which each claim follows from the claims before it: what does not follow is removed until
        // nothing changes.
        let mut why: Vec<Option<String>> = vec![None; covered.count()];
        let mut is_stable = false;
        for _ in 0..MOST_ROUNDS {
            is_stable = true;
            for slot in 0..covered.count() {
                crate::work::step();
                if holds[slot]
                    && let Some(reason) = self.broken(&covered, claims, &holds, slot)
                {
                    holds[slot] = false;
                    why[slot] = Some(reason);
                    is_stable = false;
                }
            }
            if is_stable {
                break;
            }
        }
        let mut proven = vec![Proven::default(); claims.len()];
        if !is_stable {
            // A claim that is not known to hold is not made.
            return proven;
        }
        let frames = self.frames(claims);
        for (slot, &(index, claim)) in covered.slots.iter().enumerate() {
            let instruction = &self.code.instructions[index];
            let own = &claims[claim];
            let waits = |register: &Register| self.pending.is_pending(*register, instruction.pc);
            let pending = own.registers.iter().find(|register| waits(register));
            let to = &mut proven[claim];
            if let Some(reason) = why[slot].take() {
                to.ends.push(reason);
            }
            if let Some(&register) = pending {
                let text = format!("the load of {} is not waited for", register_name(register));
                if !to.ends.contains(&text) {
                    to.ends.push(text);
                }
            }
            let has_frame = own.base.is_none() || frames.get(index).copied().unwrap_or(true);
            if !has_frame {
                let text = "the register of the frame does not have its start".to_owned();
                if !to.ends.contains(&text) {
                    to.ends.push(text);
                }
            }
            if !holds[slot] || pending.is_some() || !has_frame {
                continue;
            }
            let pcs = instruction.pc.max(own.pcs.start)..instruction.end().min(own.pcs.end);
            match to.pcs.last_mut() {
                Some(last) if last.end == pcs.start => last.end = pcs.end,
                _ => to.pcs.push(pcs),
            }
        }
        proven
    }

    /// Returns the first instruction that stores to the slot of a claim: before it, nothing is in the slot.
    pub(super) fn first_store(&self, claim: &Claim) -> Option<&Instruction> {
        let (_, register) = claim.base?;
        self.code.instructions.iter().find(|instruction| {
            let store = instruction.slot_store(self.waits);
            store.is_some_and(|(base, bytes)| base == register && bytes.contains(&claim.slot))
        })
    }

    /// Returns why a claim does not hold before an instruction, although the producer's range goes on.
    fn broken(&self, covered: &Covered, claims: &[Claim], holds: &[bool], slot: usize) -> Option<String> {
        let (index, claim) = covered.slots[slot];
        let own = &claims[claim];
        let instruction = &self.code.instructions[index];
        if own.registers.is_empty() {
            return None;
        }
        // The producer's claim begins here.
        if own.pcs.start >= instruction.pc && own.pcs.start < instruction.end() {
            return self.foreign(own, index);
        }
        let changed = |before: usize| {
            let previous = &self.code.instructions[before];
            let register = own.registers.iter().find(|register| previous.changes(**register))?;
            (!is_update(previous, *register))
                .then(|| format!("{} changes {}", described(previous), register_name(*register)))
        };
        let same = |before: usize| {
            let known = covered.at(before)?;
            (claims[covered.slots[known].1].expression == own.expression).then_some(known)
        };
        // On a path from pcs without the claim, the producer's analysis decides.
        let survives = |before: usize| match same(before) {
            Some(known) if !holds[known] => {
                Err(format!("after {} the variable is not there", described(&self.code.instructions[before])))
            }
            Some(_) => changed(before).map_or(Ok(()), Err),
            None => Ok(()),
        };
        let waited = |stopped: usize| match same(stopped) {
            Some(known) if holds[known] => changed(stopped).map_or(Ok(()), Err),
            _ => Err(format!(
                "after {} the variable is not there",
                described(&self.code.instructions[stopped])
            )),
        };
        for before in self.code.before(index) {
            if let Err(reason) = survives(before) {
                return Some(reason);
            }
            for stopped in self.lanes.stopped(before) {
                if let Err(reason) = waited(stopped).and_then(|()| self.waits(own, stopped, before)) {
                    return Some(format!(
                        "{} lets lanes run that wait since {:#x}: {reason}",
                        described(&self.code.instructions[before]),
                        self.code.instructions[stopped].pc
                    ));
                }
            }
        }
        None
    }

    /// Returns the instruction that set a register of a claim for something else: a claim begins after the instruction that
    /// sets its register, where paths join, or with what a register has from the function's start. If an instruction set
    /// the register some instructions before, the producer has moved the claim, or the instruction, and the register can
    /// have another value.
    fn foreign(&self, own: &Claim, index: usize) -> Option<String> {
        let setter = |register: &Register| {
            let mut later = index;
            let mut is_directly_before = true;
            while later > 0 && self.code.is_straight(later) {
                let instruction = &self.code.instructions[later - 1];
                if instruction.changes(*register) {
                    return (!is_directly_before).then_some(instruction);
                }
                if instruction.flow != Flow::Next || instruction.writes_exec() {
                    return None;
                }
                is_directly_before &= instruction.is_idle();
                later -= 1;
            }
            None
        };
        let (register, instruction) =
            own.registers.iter().find_map(|register| Some((*register, setter(register)?)))?;
        Some(format!(
            "{} sets {} for something else: the variable's range begins later, at {:#x}",
            described(instruction),
            register_name(register),
            own.pcs.start
        ))
    }

    /// Whether a claim of lanes that wait stays true while the wave runs: scalar registers belong to the wave.
    fn waits(&self, claim: &Claim, stopped: usize, before: usize) -> Result<(), String> {
        let scalars: Vec<Register> =
            claim.registers.iter().copied().filter(|register| register.0 == RegisterKind::Scalar).collect();
        if scalars.is_empty() {
            return Ok(());
        }
        let from = stopped.min(before);
        let to = stopped.max(before);
        let is_loop = |index: usize| self.code.before(index).any(|earlier| earlier > to);
        if stopped > before || (from..=to).any(is_loop) {
            return Err("a loop can change scalar registers".into());
        }
        let changes =
            |instruction: &&Instruction| scalars.iter().any(|register| instruction.changes(*register));
        match self.code.instructions[from..=to].iter().find(changes) {
            Some(instruction) => Err(format!("{} changes a scalar register", described(instruction))),
            None => Ok(()),
        }
    }

    /// Returns for each instruction whether the frame's register has its start; empty if no instruction sets it.
    fn frames(&self, claims: &[Claim]) -> Vec<bool> {
        let Some(base) = claims.iter().find_map(|claim| claim.base) else { return Vec::new() };
        let instructions = &self.code.instructions;
        if !instructions.iter().any(|instruction| instruction.changes(base)) {
            return Vec::new();
        }
        let is_set = |index: usize, before: bool| {
            let instruction = &instructions[index];
            if !instruction.changes(base) {
                return before;
            }
            let stack = Some(SourceOperand::Register(RegisterKind::Scalar, 32));
            let zero = Some(SourceOperand::Constant(0));
            let source = instruction.decoded.source;
            instruction.name() == "s_mov_b32" && (source == stack || self.is_kernel && source == zero)
        };
        let mut has = vec![true; instructions.len()];
        for _ in 0..MOST_ROUNDS {
            let mut is_stable = true;
            for index in 0..instructions.len() {
                let now = index != 0 && self.code.before(index).all(|before| is_set(before, has[before]));
                is_stable &= now == has[index];
                has[index] = now;
            }
            if is_stable {
                return has;
            }
        }
        vec![false; instructions.len()]
    }
}

/// The instructions at which claims are made.
struct Covered {
    /// Instruction and claim, sorted by instruction.
    slots: Vec<(usize, usize)>,
}

impl Covered {
    fn new(code: &Code, claims: &[Claim]) -> Self {
        let mut slots = Vec::new();
        for (number, claim) in claims.iter().enumerate() {
            let first = code.index_from(claim.pcs.start);
            let last = code.index_from(claim.pcs.end);
            slots.extend((first..last).map(|index| (index, number)));
        }
        Self { slots }
    }

    fn count(&self) -> usize {
        self.slots.len()
    }

    fn at(&self, index: usize) -> Option<usize> {
        self.slots.binary_search_by_key(&index, |slot| slot.0).ok()
    }
}

/// Whether an instruction computes a register from its old contents: the variable gets a new value, and stays there.
fn is_update(instruction: &Instruction, register: Register) -> bool {
    // These add to the destination, which is no source operand.
    let accumulates = ["v_fmac", "v_mac", "v_pk_fmac", "v_dot"];
    let name = instruction.name();
    let own = Some(SourceOperand::Register(register.0, register.1));
    let is_destination = instruction.writes().iter().any(|write| (write.kind, write.first) == register);
    instruction.decoded.source == own
        || instruction.decoded.second == own
        || is_destination && accumulates.iter().any(|start| name.starts_with(start))
}
