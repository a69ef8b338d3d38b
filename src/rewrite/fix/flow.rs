//! Forward data flow over a function's instructions: the states in which its blocks begin.

use core::ops::Range;

use super::code::Code;

/// A state that grows where paths join, and not without limit.
pub(super) trait FlowState: Clone {
    /// Adds the state on another path. Returns whether anything changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// Returns the indices of each block's instructions, which run one after the other. A branch can leave a block before its
/// end.
pub(super) fn blocks(code: &Code) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for index in 0..code.instructions.len() {
        match blocks.last_mut() {
            Some(block) if code.is_straight(index) => block.end = index + 1,
            _ => blocks.push(index..index + 1),
        }
    }
    blocks
}

/// Returns the states in which blocks begin; `None` for a block that is not reached. `run` changes a state by an
/// instruction. A block is run again whenever the state in which it begins grows.
pub(super) fn states<S: FlowState>(
    code: &Code,
    blocks: &[Range<usize>],
    start: S,
    mut run: impl FnMut(&mut S, usize),
) -> Vec<Option<S>> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); code.instructions.len()];
    for (number, block) in blocks.iter().enumerate() {
        code.before(block.start).for_each(|before| after[before].push(number));
    }
    let mut at_start = vec![None; blocks.len()];
    let Some(first) = at_start.first_mut() else { return at_start };
    *first = Some(start);
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        crate::work::step();
        let Some(mut state) = at_start[number].clone() else { continue };
        for index in blocks[number].clone() {
            run(&mut state, index);
            for &next in &after[index] {
                let has_grown = match &mut at_start[next] {
                    Some(known) => known.join(&state),
                    unknown => {
                        *unknown = Some(state.clone());
                        true
                    }
                };
                if has_grown {
                    open.push(next);
                }
            }
        }
    }
    at_start
}
