//! Claims about a variable's registers, and the pcs at which the code does not contradict them.
//!
//! A claim begins where the producer says so. From there, it holds as long as no instruction changes its registers, on
//! every path that the wave or a lane that waits can have come: where paths join, the claim must hold on all of them. A
//! register does not have the result of a load until the wave has waited for the load.

use core::ops::Range;

use super::code::{Code, Register, described, registers};
use super::lanes::Lanes;
use super::waits::Pending;
use crate::target::code::{RegisterKind, SourceOperand};

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
}

/// The pcs at which a claim holds, and why it ends before the producer's range does.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Proven {
    pub pcs: Vec<Range<u64>>,
    pub ends: Vec<String>,
}

/// What is known about a function's code.
#[derive(Debug)]
pub(super) struct Facts {
    pub code: Code,
    pub lanes: Lanes,
    pub pending: Pending,
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
            // Nothing is claimed of which it is not known whether it holds.
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
                let text = format!("the load of {} is not waited for", registers(register, 1));
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

    /// Returns why a claim does not hold before an instruction, although the producer's range goes on.
    fn broken(&self, covered: &Covered, claims: &[Claim], holds: &[bool], slot: usize) -> Option<String> {
        let (index, claim) = covered.slots[slot];
        let own = &claims[claim];
        let instruction = &self.code.instructions[index];
        // The producer's claim begins here.
        if own.pcs.start >= instruction.pc && own.pcs.start < instruction.end() || own.registers.is_empty() {
            return None;
        }
        let survives = |before: usize| -> Result<(), String> {
            let previous = &self.code.instructions[before];
            let known = covered.at(before).filter(|&known| {
                claims[covered.slots[known].1].expression == own.expression && holds[known]
            });
            if known.is_none() {
                return Err(format!("after {} the variable is not there", described(previous)));
            }
            match own.registers.iter().find(|register| previous.changes(**register)) {
                Some(register) => Err(format!("{} changes {}", described(previous), registers(*register, 1))),
                None => Ok(()),
            }
        };
        for before in self.code.before(index) {
            if let Err(reason) = survives(before) {
                return Some(reason);
            }
            for stopped in self.lanes.stopped(before) {
                if let Err(reason) = survives(stopped).and_then(|()| self.waits(own, stopped, before)) {
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

    /// Whether a claim of lanes that wait stays true while the wave runs: scalar registers belong to the wave.
    fn waits(&self, claim: &Claim, stopped: usize, before: usize) -> Result<(), String> {
        let scalars: Vec<Register> =
            claim.registers.iter().copied().filter(|register| register.0 == RegisterKind::Scalar).collect();
        if scalars.is_empty() {
            return Ok(());
        }
        let (from, to) = (stopped.min(before), stopped.max(before));
        let is_loop = |index: usize| self.code.before(index).any(|earlier| earlier > to);
        if stopped > before || (from..=to).any(is_loop) {
            return Err("a loop can change scalar registers".into());
        }
        let changes = |instruction: &&super::code::Instruction| {
            scalars.iter().any(|register| instruction.changes(*register))
        };
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
