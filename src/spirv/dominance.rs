//! Dominance among the blocks of a function: section 2.16.1 of the core specification, "each consumption of a result
//! is dominated by its definition".

use core::ops::Range;

use hashbrown::HashMap;

use super::opcodes as op;
use super::words::{Id, Instruction, Words};

/// Blocks of a function in the order of the words, and the tree of immediate dominators.
#[derive(Debug, Clone)]
pub(crate) struct Dominators {
    /// Word of each label.
    starts: Vec<usize>,
    /// First and last number in a walk over the tree; `None` for unreachable blocks.
    numbers: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    /// Finds the dominators of the blocks in a range of words. `long` states whether a switch on an id has literals of
    /// two words.
    pub fn new(words: Words<'_>, function: Range<usize>, long: impl Fn(Id) -> bool) -> Self {
        let (mut starts, mut labels) = (Vec::new(), HashMap::new());
        for instruction in words.between(function.clone()).filter(|it| it.opcode() == op::LABEL) {
            labels.extend(instruction.result().map(|label| (label, starts.len())));
            starts.push(instruction.at);
        }
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); starts.len()];
        let mut block = None;
        for instruction in words.between(function) {
            match instruction.opcode() {
                op::LABEL => block = instruction.result().and_then(|label| labels.get(&label).copied()),
                opcode if op::is_terminator(opcode) => {
                    if let Some(block) = block.take() {
                        let targets = targets(instruction, &long).into_iter();
                        successors[block].extend(targets.filter_map(|label| labels.get(&label)));
                    }
                }
                _ => {}
            }
        }
        let parents = parents(&successors);
        Self { numbers: numbers(&parents), starts }
    }

    /// Whether the block with one word dominates the block with another. Everything dominates an unreachable block.
    pub fn dominates(&self, one: usize, other: usize) -> bool {
        let number = |word| {
            let next = self.starts.partition_point(|&start| start <= word);
            // Parameters precede all blocks.
            next.checked_sub(1).map(|block| self.numbers[block])
        };
        match (number(one), number(other)) {
            (None, _) | (_, Some(None)) => true,
            (Some(Some((first, last))), Some(Some((other, _)))) => (first..=last).contains(&other),
            _ => false,
        }
    }
}

/// Labels to which a terminator can branch.
fn targets(terminator: Instruction<'_>, long: impl Fn(Id) -> bool) -> Vec<Id> {
    match (terminator.opcode(), terminator.operands()) {
        (op::BRANCH, &[to, ..]) => vec![Id(to)],
        (op::BRANCH_CONDITIONAL, &[_, one, other, ..]) => vec![Id(one), Id(other)],
        (op::SWITCH, &[selector, default, ref cases @ ..]) => {
            let each = if long(Id(selector)) { 3 } else { 2 };
            let cases = cases.chunks_exact(each).map(|case| Id(case[each - 1]));
            [Id(default)].into_iter().chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

/// Immediate dominators by the iteration of Cooper, Harvey and Kennedy; `None` for unreachable blocks. Block 0 is its
/// own.
fn parents(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let count = successors.len();
    let (mut order, mut seen) = (Vec::new(), vec![false; count]);
    let mut stack = Vec::new();
    if count > 0 {
        seen[0] = true;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.pop() {
        match successors[block].get(next) {
            None => order.push(block),
            Some(&to) => {
                stack.push((block, next + 1));
                if !core::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
        }
    }
    order.reverse();
    let mut rank = vec![usize::MAX; count];
    for (index, &block) in order.iter().enumerate() {
        rank[block] = index;
    }
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &block in &order {
        for &to in &successors[block] {
            predecessors[to].push(block);
        }
    }
    let mut parents: Vec<Option<usize>> = vec![None; count];
    if count > 0 {
        parents[0] = Some(0);
    }
    let mut has_changed = true;
    while core::mem::take(&mut has_changed) {
        for &block in order.iter().skip(1) {
            let known = predecessors[block].iter().copied().filter(|&before| parents[before].is_some());
            let common = known.reduce(|mut one, mut other| {
                while one != other {
                    match rank[one] > rank[other] {
                        true => one = parents[one].unwrap_or(0),
                        false => other = parents[other].unwrap_or(0),
                    }
                }
                one
            });
            if common != parents[block] {
                parents[block] = common;
                has_changed = true;
            }
        }
    }
    parents
}

/// Numbers each block before those that it dominates; also the last of these numbers.
fn numbers(parents: &[Option<usize>]) -> Vec<Option<(u32, u32)>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (block, parent) in parents.iter().enumerate().skip(1) {
        if let Some(parent) = *parent {
            children[parent].push(block);
        }
    }
    let (mut numbers, mut next, mut stack) = (vec![None; parents.len()], 0, Vec::new());
    if !parents.is_empty() {
        stack.push((0, false));
    }
    while let Some((block, is_done)) = stack.pop() {
        if is_done {
            if let Some((_, last)) = &mut numbers[block] {
                *last = next - 1;
            }
            continue;
        }
        numbers[block] = Some((next, next));
        next += 1;
        stack.push((block, true));
        stack.extend(children[block].iter().map(|&child| (child, false)));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dominators of a graph, found by removing each block in turn and looking at what is still reached.
    fn reference(successors: &[Vec<usize>]) -> Vec<Vec<bool>> {
        let reached = |without: Option<usize>| {
            let mut seen = vec![false; successors.len()];
            let mut stack: Vec<usize> = (without != Some(0)).then_some(0).into_iter().collect();
            while let Some(block) = stack.pop() {
                if !core::mem::replace(&mut seen[block], true) {
                    stack.extend(successors[block].iter().copied().filter(|&to| Some(to) != without));
                }
            }
            seen
        };
        let all = reached(None);
        (0..successors.len())
            .map(|one| {
                let without = reached(Some(one));
                (0..successors.len()).map(|other| !all[other] || all[one] && !without[other]).collect()
            })
            .collect()
    }

    #[test]
    fn graphs() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..500 {
            let count = 1 + random(9);
            let successors: Vec<Vec<usize>> =
                (0..count).map(|_| (0..random(4)).map(|_| random(count)).collect()).collect();
            let starts = (0..count).map(|block| block * 10).collect();
            let found = Dominators { numbers: numbers(&parents(&successors)), starts };
            let expected = reference(&successors);
            for (one, of_one) in expected.iter().enumerate() {
                for (other, &is) in of_one.iter().enumerate() {
                    let is_found = found.dominates(one * 10 + 1, other * 10 + 2);
                    assert_eq!(is_found, is, "{successors:?}: {one} of {other}");
                }
            }
        }
    }
}
