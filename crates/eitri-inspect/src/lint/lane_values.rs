//! Whether two instructions can have the same result in a lane: the same operation on values that can be the same.

use smallvec::{SmallVec, smallvec};

use super::function_code::PcInstruction;
use super::lane_flow::LaneFlow;
use eitri_dwarf::target::code::{RegisterKind, SourceOperand};

/// Limit on the instructions between two results and the values that they are computed from.
const MOST_DEPTH: usize = 6;
/// Limit on the comparisons for two results.
const MOST_STEPS: usize = 512;

/// Possible contents of an operand.
#[derive(Debug, Clone, Copy)]
enum Value {
    Constant(i64),
    /// Result of the instruction with this index.
    Result(usize),
    /// Contents of a register that no instruction in the function sets.
    Input(RegisterKind, u16),
    Unknown,
}

/// Comparison of two results.
struct Comparison<'c> {
    flow: &'c LaneFlow,
    steps: usize,
}

/// Whether the instructions with two indexes can have the same result. Without knowledge of the operands, only the
/// operations are compared.
pub(super) fn can_be_equal(flow: &LaneFlow, first: usize, second: usize) -> bool {
    Comparison { flow, steps: MOST_STEPS }.results(first, second, MOST_DEPTH)
}

impl Comparison<'_> {
    fn results(&mut self, first: usize, second: usize, depth: usize) -> bool {
        eitri_dwarf::work::step();
        if first == second {
            return true;
        }
        let flow = self.flow;
        let [(_, one), (_, other)] = [&flow.instructions[first], &flow.instructions[second]];
        if one.name != other.name {
            return false;
        }
        self.steps = self.steps.saturating_sub(1);
        // An operand that is also the destination is not among the sources.
        let is_accumulated = one.name.is_some_and(|name| name.contains("mac_") || name.contains("fmac"));
        if depth == 0 || self.steps == 0 || is_accumulated {
            return true;
        }
        let mut equal = |a: Option<SourceOperand>, b: Option<SourceOperand>| {
            self.operands((a, first), (b, second), depth - 1)
        };
        if !equal(one.third, other.third) {
            return false;
        }
        // Most operations are commutative, and those that are not are compared with the operands in this order, too.
        equal(one.source, other.source) && equal(one.second, other.second)
            || equal(one.source, other.second) && equal(one.second, other.source)
    }

    /// Whether two operands, each of an instruction, can be equal.
    fn operands(
        &mut self,
        (first, at): (Option<SourceOperand>, usize),
        (second, other_at): (Option<SourceOperand>, usize),
        depth: usize,
    ) -> bool {
        let [ones, others] =
            [(first, at), (second, other_at)].map(|(operand, at)| values(self.flow, operand, at, depth));
        ones.iter().any(|one| {
            others.iter().any(|other| match (*one, *other) {
                (Value::Unknown, _) | (_, Value::Unknown) => true,
                (Value::Constant(one), Value::Constant(other)) => one == other,
                (Value::Input(kind, one), Value::Input(other_kind, other)) => {
                    (kind, one) == (other_kind, other)
                }
                (Value::Result(one), Value::Result(other)) => self.results(one, other, depth),
                _ => false,
            })
        })
    }
}

/// Returns what an operand of the instruction with an index can contain. Copies are followed.
fn values(flow: &LaneFlow, operand: Option<SourceOperand>, at: usize, depth: usize) -> SmallVec<[Value; 4]> {
    let (kind, number) = match operand {
        Some(SourceOperand::Register(kind, number)) => (kind, number),
        Some(SourceOperand::Constant(constant)) => return smallvec![Value::Constant(constant)],
        _ => return smallvec![Value::Unknown],
    };
    let writers = writers(flow, (kind, number), at);
    let Some(writers) = writers else { return smallvec![Value::Unknown] };
    if writers.is_empty() {
        return smallvec![Value::Input(kind, number)];
    }
    let mut all = SmallVec::new();
    for writer in writers {
        let instruction = &flow.instructions[writer].1;
        let is_copy = instruction.name.is_some_and(|name| matches!(name, "v_mov_b32" | "s_mov_b32"));
        if is_copy && depth > 0 {
            all.extend(values(flow, instruction.source, writer, depth - 1));
        } else {
            all.push(Value::Result(writer));
        }
        if all.len() > MOST_WRITERS {
            return smallvec![Value::Unknown];
        }
    }
    all
}

/// Limit on the instructions that can have set an operand.
const MOST_WRITERS: usize = 16;

/// Returns the instructions that can have set a register before an instruction: the last one on a path without branches to
/// it, or all in the function. `None` if they are too many, or too much was compared.
fn writers(flow: &LaneFlow, (kind, number): (RegisterKind, u16), at: usize) -> Option<SmallVec<[usize; 4]>> {
    let is_writer = |(_, instruction): &PcInstruction| {
        eitri_dwarf::work::step();
        instruction.writes().is_none_or(|writes| writes.iter().any(|write| write.contains(kind, number)))
    };
    // Functions have many results.
    if !flow.take(flow.instructions.len()) {
        return None;
    }
    let start = (0..=at).rev().find(|&index| flow.begins[index]).unwrap_or(0);
    if let Some(last) = (start..at).rev().find(|&index| is_writer(&flow.instructions[index])) {
        return Some(smallvec![last]);
    }
    let all = flow.instructions.iter().enumerate().filter(|(_, instruction)| is_writer(instruction));
    let all: SmallVec<[usize; 4]> = all.map(|(index, _)| index).take(MOST_WRITERS + 1).collect();
    (all.len() <= MOST_WRITERS).then_some(all)
}
