//! The control flow of a single lane: the bits that it has in lane masks, at each instruction.
//!
//! A lane's bits and the branches that the wave takes determine what the lane executes. A comparison chooses a bit, and a
//! branch on scalar conditions chooses a path; a branch on `exec` or `vcc` that is empty does not go against the lane's bit.
//! Bits that no later instruction reads are left out, so that equal states join.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::function_code::{FunctionCode, PcInstruction};
use super::lane_masks::{Bit, Bits, Masks};

/// Limit on the states at an instruction, on average.
const MOST_STATES: usize = 48;
/// Limit on the steps of all questions, for each state.
const MOST_STEPS: usize = 64;
/// Limit on the passes that find which masks are read later.
const MOST_PASSES: usize = 64;

/// A lane's state at an instruction.
#[derive(Debug)]
pub(super) struct Node {
    /// Index of the instruction.
    pub(super) instruction: usize,
    /// The lane's bit in `exec` before the instruction.
    pub(super) exec: Bit,
    /// Nodes after it, by index.
    pub(super) next: SmallVec<[u32; 2]>,
}

/// States of a lane. The first node is the function's start.
#[derive(Debug)]
pub(super) struct LaneFlow {
    pub(super) instructions: Vec<PcInstruction>,
    pub(super) nodes: Vec<Node>,
    /// Whether the instruction with this index begins a path: a branch goes to it, or none falls through to it.
    pub(super) begins: Vec<bool>,
    /// Where a lane that is off at an instruction is on again first: the smallest index such that a path to it has no
    /// instruction behind it.
    resumes: Vec<Option<usize>>,
    /// Steps that questions can still take.
    steps: Cell<usize>,
}

/// Where an instruction continues.
#[derive(Debug, Default, Clone, Copy)]
struct Successors {
    next: Option<usize>,
    target: Option<usize>,
}

impl LaneFlow {
    /// Follows a lane with a bit in `exec` through a function. `None` if an instruction is not known, the function is not
    /// decoded as a whole, a jump goes to an unknown pc, or the states are too many.
    pub(super) fn new(code: &FunctionCode<'_>, lanes: u32, exec: Bit) -> Option<Self> {
        let instructions = code.decoded()?;
        let masks =
            Masks::new(if lanes == 64 { 2 } else { 1 }, instructions.iter().map(|(_, decoded)| decoded))?;
        let index = |pc: u64| instructions.binary_search_by_key(&pc, |instruction| instruction.0).ok();
        let mut begins = vec![false; instructions.len()];
        let mut successors = Vec::with_capacity(instructions.len());
        for (number, (pc, instruction)) in instructions.iter().enumerate() {
            let name = instruction.name.unwrap_or_default();
            let is_last = matches!(name, "s_setpc_b64" | "s_endpgm" | "s_branch");
            let is_branch = name == "s_branch" || name.starts_with("s_cbranch_");
            if name.starts_with("s_subvector_loop") || name == "s_rfe_b64" || name == "s_cbranch_g_fork" {
                return None;
            }
            let after = number + 1;
            // A branch to another function leaves this one.
            let target = if is_branch { index(code.target_after(*pc, instruction)?) } else { None };
            if let Some(target) = target {
                begins[target] = true;
            }
            if is_last && after < begins.len() {
                begins[after] = true;
            }
            let next = Some(after).filter(|after| !is_last && *after < instructions.len());
            successors.push(Successors { next, target });
        }
        let live = live(&masks, &instructions, &successors)?;
        let mut flow =
            Self { instructions, nodes: Vec::new(), begins, resumes: Vec::new(), steps: Cell::new(0) };
        flow.follow(&masks, &successors, &live, exec)?;
        flow.resumes = flow.resuming();
        flow.steps = Cell::new(flow.nodes.len().saturating_mul(MOST_STEPS));
        // Code that nothing leads to is entered by a jump through registers.
        let mut is_reached = vec![false; flow.instructions.len()];
        flow.nodes.iter().for_each(|node| is_reached[node.instruction] = true);
        let is_padding =
            |(_, instruction): &PcInstruction| matches!(instruction.name, Some("s_nop" | "s_code_end"));
        let mut instructions = is_reached.iter().zip(&flow.instructions);
        instructions.all(|(is_reached, instruction)| *is_reached || is_padding(instruction)).then_some(flow)
    }

    /// Adds the nodes.
    fn follow(&mut self, masks: &Masks, successors: &[Successors], live: &[u64], exec: Bit) -> Option<()> {
        if self.instructions.is_empty() {
            return None;
        }
        let most = self.instructions.len().saturating_mul(MOST_STATES);
        let mut known: HashMap<(usize, Bits), u32> = HashMap::new();
        let mut open = Vec::new();
        let kept = |index: usize, mut bits: Bits| {
            for (number, bit) in bits.iter_mut().enumerate() {
                if live[index] >> number & 1 == 0 {
                    *bit = Bit::Unknown;
                }
            }
            (index, bits)
        };
        let first = kept(0, masks.start(exec));
        known.insert(first.clone(), 0);
        self.nodes.push(Node { instruction: 0, exec, next: SmallVec::new() });
        open.push((0, first.1));
        while let Some((number, bits)) = open.pop() {
            eitri_dwarf::work::step();
            let index = self.nodes[number as usize].instruction;
            let instruction = &self.instructions[index].1;
            let name = instruction.name.unwrap_or_default();
            let Successors { next, target } = successors[index];
            let (jumps, continues) = branches(name, bits[0], masks.vcc(&bits));
            let targets = [target.filter(|_| jumps), next.filter(|_| continues)];
            for after in masks.after(&bits, instruction) {
                for to in targets.into_iter().flatten() {
                    let key = kept(to, after.clone());
                    let node = match known.get(&key) {
                        Some(node) => *node,
                        None => {
                            let node = u32::try_from(self.nodes.len()).ok()?;
                            if self.nodes.len() >= most {
                                return None;
                            }
                            self.nodes.push(Node { instruction: to, exec: key.1[0], next: SmallVec::new() });
                            known.insert(key.clone(), node);
                            open.push((node, key.1));
                            node
                        }
                    };
                    let next = &mut self.nodes[number as usize].next;
                    if !next.contains(&node) {
                        next.push(node);
                    }
                }
            }
        }
        Some(())
    }

    /// Returns the instructions at which the lane's bit in `exec` is such, each with an instruction that has changed it so,
    /// by index.
    pub(super) fn switched(&self, is_such: impl Fn(Bit) -> bool) -> Vec<(usize, usize)> {
        let mut causes: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut is_known = vec![false; self.nodes.len()];
        let mut open = VecDeque::from([0]);
        while let Some(number) = open.pop_front() {
            eitri_dwarf::work::step();
            let node: &Node = &self.nodes[number];
            for next in node.next.iter().map(|next| *next as usize) {
                if std::mem::replace(&mut is_known[next], true) {
                    continue;
                }
                if is_such(self.nodes[next].exec) {
                    causes[next] = causes[number].filter(|_| is_such(node.exec)).or(Some(node.instruction));
                }
                open.push_back(next);
            }
        }
        let nodes = self.nodes.iter().zip(causes);
        let mut switched: Vec<_> =
            nodes.filter_map(|(node, cause)| Some((node.instruction, cause?))).collect();
        switched.sort_unstable();
        switched.dedup_by_key(|switched| switched.0);
        switched
    }

    /// Takes some steps for a question. Returns whether there were as many left.
    pub(super) fn take(&self, steps: usize) -> bool {
        eitri_dwarf::work::step();
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(steps));
        left >= steps
    }

    /// Whether a lane that is off at an instruction can be on again before another one, on a path between the two.
    pub(super) fn can_resume(&self, index: usize, end: usize) -> bool {
        self.resumes[index].is_some_and(|resumes| resumes < end)
    }

    /// Returns [`resumes`](Self::resumes), from the instructions at which lanes are switched on back to those before.
    fn resuming(&self) -> Vec<Option<usize>> {
        let mut before: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); self.nodes.len()];
        let mut open = BinaryHeap::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.exec == Bit::Off) {
            for &next in &node.next {
                let after = &self.nodes[next as usize];
                if after.exec == Bit::On {
                    open.push(Reverse((after.instruction.max(node.instruction), number)));
                } else if after.exec == Bit::Off {
                    before[next as usize].push(number as u32);
                }
            }
        }
        let mut is_known = vec![false; self.nodes.len()];
        let mut resumes: Vec<Option<usize>> = vec![None; self.instructions.len()];
        while let Some(Reverse((index, number))) = open.pop() {
            eitri_dwarf::work::step();
            if std::mem::replace(&mut is_known[number], true) {
                continue;
            }
            let first = &mut resumes[self.nodes[number].instruction];
            *first = Some(first.map_or(index, |first| first.min(index)));
            for &earlier in &before[number] {
                let instruction = self.nodes[earlier as usize].instruction;
                open.push(Reverse((index.max(instruction), earlier as usize)));
            }
        }
        resumes
    }

    /// Returns the index of the instruction at a pc.
    pub(super) fn index(&self, pc: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&pc, |instruction| instruction.0).ok()
    }
}

/// Returns whether the wave can jump and whether it can continue at a branch, by what one lane's bits allow.
fn branches(name: &str, exec: Bit, vcc: Bit) -> (bool, bool) {
    let is_on = |bit: Bit| matches!(bit, Bit::On | Bit::Ones);
    match name {
        // The other lanes decide.
        "s_cbranch_execz" => (!is_on(exec), true),
        "s_cbranch_execnz" => (true, !is_on(exec)),
        "s_cbranch_vccz" => (!is_on(vcc), true),
        "s_cbranch_vccnz" => (true, !is_on(vcc)),
        _ => (true, true),
    }
}

/// Returns the masks that are read at or after each instruction before they are overwritten, as bits by index.
fn live(masks: &Masks, instructions: &[PcInstruction], successors: &[Successors]) -> Option<Vec<u64>> {
    let used: Vec<_> = instructions.iter().map(|(_, instruction)| masks.used(instruction)).collect();
    let mut live = vec![1; instructions.len()];
    for _ in 0..MOST_PASSES {
        let mut has_grown = false;
        for index in (0..instructions.len()).rev() {
            eitri_dwarf::work::step();
            let Successors { next, target } = successors[index];
            let after = [next, target].into_iter().flatten().fold(1, |after, next| after | live[next]);
            let (reads, writes) = used[index];
            let before = reads | after & !writes;
            has_grown |= before != live[index];
            live[index] = before;
        }
        if !has_grown {
            return Some(live);
        }
    }
    None
}
