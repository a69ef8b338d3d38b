//! Dominance among a function's blocks, which section 2.16.1 of the core specification requires: "each consumption of a
//! result is dominated by its definition".

use core::ops::Range;

use hashbrown::HashMap;

use super::opcodes as op;
use super::words::{Id, Instruction, Words};
use crate::dominators::{Dominators, UNREACHED};

/// A function's blocks in module order, numbered by a walk over the dominator tree so that comparing two ranges tells
/// whether a block dominates another.
#[derive(Debug, Clone)]
pub(crate) struct Dominance {
    /// Word of each label.
    starts: Vec<usize>,
    /// First and last number in the block's dominator subtree; `None` for an unreachable block.
    numbers: Vec<Option<(u32, u32)>>,
}

impl Dominance {
    /// Finds the dominators of all blocks in a word range. `is_long` states whether a switch on an id has two-word
    /// literals.
    pub fn new(words: Words<'_>, function: Range<usize>, is_long: impl Fn(Id) -> bool) -> Self {
        let mut starts = Vec::new();
        let mut labels = HashMap::new();
        for instruction in words.between(function.clone()).filter(|it| it.opcode() == op::LABEL) {
            labels.extend(instruction.result().map(|label| (label, starts.len() as u32)));
            starts.push(instruction.at);
        }
        let mut successors: Vec<Vec<u32>> = vec![Vec::new(); starts.len()];
        // A terminator counts only inside a block: invalid modules may have several in a row.
        let mut block = None;
        for instruction in words.between(function) {
            match instruction.opcode() {
                op::LABEL => block = instruction.result().and_then(|label| labels.get(&label).copied()),
                opcode if op::is_terminator(opcode) => {
                    if let Some(block) = block.take() {
                        let targets = targets(instruction, &is_long).into_iter();
                        successors[block as usize].extend(targets.filter_map(|label| labels.get(&label)));
                    }
                }
                _ => {}
            }
        }
        Self { numbers: numbers(&successors), starts }
    }

    /// Whether the block that contains word `above` dominates the block that contains word `below`. Every block dominates
    /// an unreachable block.
    pub fn dominates(&self, above: usize, below: usize) -> bool {
        let number = |word| {
            let next = self.starts.partition_point(|&start| start <= word);
            // Parameters precede all blocks.
            next.checked_sub(1).map(|block| self.numbers[block])
        };
        match (number(above), number(below)) {
            // A path to an unreachable block does not exist, so that every block is on all such paths.
            (None, _) | (_, Some(None)) => true,
            (Some(Some((first, last))), Some(Some((below, _)))) => (first..=last).contains(&below),
            _ => false,
        }
    }
}

/// Labels to which a terminator can branch.
fn targets(terminator: Instruction<'_>, is_long: impl Fn(Id) -> bool) -> Vec<Id> {
    match (terminator.opcode(), terminator.operands()) {
        (op::BRANCH, &[to, ..]) => vec![Id(to)],
        (op::BRANCH_CONDITIONAL, &[_, if_true, if_false, ..]) => vec![Id(if_true), Id(if_false)],
        (op::SWITCH, &[selector, default, ref cases @ ..]) => {
            let words = if is_long(Id(selector)) { 3 } else { 2 };
            let cases = cases.chunks_exact(words).map(|case| Id(case[words - 1]));
            [Id(default)].into_iter().chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

/// Numbers each block before the blocks that it dominates. Returns each subtree's first and last number.
fn numbers(successors: &[Vec<u32>]) -> Vec<Option<(u32, u32)>> {
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); successors.len()];
    for (block, successors) in successors.iter().enumerate() {
        for &to in successors {
            predecessors[to as usize].push(block as u32);
        }
    }
    let Dominators { order, immediate } = Dominators::new(
        successors.len(),
        |block, index| successors[block as usize].get(index).copied(),
        |block| predecessors[block as usize].iter().copied(),
    );
    // The order visits dominators first, so that the reverse order adds up all subtree sizes.
    let mut sizes = vec![1; successors.len()];
    for &block in order.iter().rev().filter(|&&block| block != 0) {
        sizes[immediate[block as usize] as usize] += sizes[block as usize];
    }
    // The next free number in each numbered block's subtree.
    let mut next = vec![UNREACHED; successors.len()];
    let mut numbers = vec![None; successors.len()];
    for &block in &order {
        let size = sizes[block as usize];
        let first = if block == 0 { 0 } else { next[immediate[block as usize] as usize] };
        if block != 0 {
            next[immediate[block as usize] as usize] += size;
        }
        next[block as usize] = first + 1;
        numbers[block as usize] = Some((first, first + size - 1));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes which blocks dominate which, by removing each block in turn and looking at what is still reached.
    fn reference(successors: &[Vec<u32>]) -> Vec<Vec<bool>> {
        let count = successors.len();
        let reached = |without: Option<usize>| {
            let mut seen = vec![false; count];
            let mut stack: Vec<usize> = (without != Some(0)).then_some(0).into_iter().collect();
            while let Some(block) = stack.pop() {
                if !core::mem::replace(&mut seen[block], true) {
                    let next = successors[block].iter().map(|&to| to as usize);
                    stack.extend(next.filter(|&to| Some(to) != without));
                }
            }
            seen
        };
        let reachable = reached(None);
        let dominated = |above: usize| {
            let without = reached(Some(above));
            (0..count).map(|below| !reachable[below] || reachable[above] && !without[below]).collect()
        };
        (0..count).map(dominated).collect()
    }

    #[test]
    fn dominance_in_random_graphs_is_as_defined() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..500 {
            let count = 1 + random(9);
            let successors: Vec<Vec<u32>> =
                (0..count).map(|_| (0..random(4)).map(|_| random(count) as u32).collect()).collect();
            let starts = (0..count).map(|block| block * 10).collect();
            let dominance = Dominance { numbers: numbers(&successors), starts };
            for (above, row) in reference(&successors).iter().enumerate() {
                for (below, &expected) in row.iter().enumerate() {
                    let is_dominated = dominance.dominates(above * 10 + 1, below * 10 + 2);
                    assert_eq!(is_dominated, expected, "{successors:?}: {above} and {below}");
                }
            }
        }
    }
}
