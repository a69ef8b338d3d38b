//! Loads that have not been waited for: a register has its old contents until the counter of its load has gone down.
//!
//! Counters and their order: AMD's instruction set manuals, "Data dependency resolution" (`S_WAITCNT`). Loads through one
//! counter return in order, except scalar loads, and except where scalar loads and LDS share a counter.

use core::ops::Range;

use smallvec::SmallVec;

use super::code::{Code, Instruction, Register, Waits};
use super::flow::{FlowState, blocks, states};
use crate::target::code::{Flow, SourceOperand};

/// A counter of outstanding memory instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counter {
    /// Vector memory.
    Vector,
    /// Scalar memory, LDS and messages; from gfx12 on, LDS.
    Scalar,
    /// Scalar memory from gfx12 on.
    Constant,
}

const COUNTERS: [Counter; 3] = [Counter::Vector, Counter::Scalar, Counter::Constant];

/// Limit on outstanding instructions that are followed; the counters have at most 6 bits.
const MOST: usize = 64;

/// An instruction that was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Issued {
    registers: SmallVec<[(Register, u16); 1]>,
    /// Whether it can return before earlier instructions, or after later ones.
    is_unordered: bool,
}

/// Instructions that were issued, by counter; the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State([Vec<Issued>; 3]);

impl Waits {
    /// Returns for each counter the number of instructions that may be outstanding after an instruction.
    fn limits(self, instruction: &Instruction) -> [Option<usize>; 3] {
        let Some(SourceOperand::Constant(number)) = instruction.decoded.source else { return [None; 3] };
        let bits = number as u64;
        let field = |first: u32, bits_wide: u32| Some((bits >> first & ((1 << bits_wide) - 1)) as usize);
        match (instruction.name(), self) {
            ("s_waitcnt", Self::Gfx9 | Self::Gfx10) => {
                let vector = (bits & 15 | (bits >> 14 & 3) << 4) as usize;
                [Some(vector), field(8, if self == Self::Gfx9 { 4 } else { 6 }), None]
            }
            ("s_waitcnt", Self::Gfx11) => [field(10, 6), field(4, 6), None],
            ("s_waitcnt_vmcnt" | "s_wait_loadcnt", _) => [field(0, 6), None, None],
            ("s_waitcnt_lgkmcnt" | "s_wait_dscnt", _) => [None, field(0, 6), None],
            ("s_wait_kmcnt", _) => [None, None, field(0, 5)],
            ("s_wait_loadcnt_dscnt", _) => [field(8, 6), field(0, 6), None],
            ("s_wait_idle", _) => [Some(0); 3],
            _ => [None; 3],
        }
    }

    /// Returns the counters of an instruction, each with whether results can come out of order.
    fn counters(self, instruction: &Instruction) -> SmallVec<[(Counter, bool); 2]> {
        let name = instruction.name();
        let is_load = !instruction.writes().is_empty();
        let mut counters = SmallVec::new();
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if starts(&[
            "s_load",
            "s_buffer_load",
            "s_scratch_load",
            "s_memtime",
            "s_memrealtime",
            "s_sendmsg_rtn",
        ]) {
            counters.push((if self == Self::Gfx12 { Counter::Constant } else { Counter::Scalar }, true));
        } else if starts(&["ds_"]) {
            counters.push((Counter::Scalar, false));
        } else if starts(&["flat_"]) {
            // An access to LDS or memory: both counters.
            if is_load || self == Self::Gfx9 {
                counters.push((Counter::Vector, true));
            }
            counters.push((Counter::Scalar, true));
        } else if starts(&["global_", "scratch_", "buffer_", "tbuffer_", "image_"]) {
            // Stores have a counter of their own from gfx10 on.
            if is_load || self == Self::Gfx9 {
                counters.push((Counter::Vector, false));
            }
        }
        counters
    }
}

impl State {
    fn run(&mut self, waits: Waits, instruction: &Instruction) {
        if instruction.flow == Flow::Call {
            // By convention, a function waits for everything before it does anything else.
            *self = Self::default();
            return;
        }
        for (index, limit) in waits.limits(instruction).into_iter().enumerate() {
            let Some(limit) = limit else { continue };
            let issued = &mut self.0[index];
            if limit == 0 {
                issued.clear();
            } else if issued.iter().all(|one| !one.is_unordered) {
                issued.drain(..issued.len().saturating_sub(limit));
            }
        }
        // A register that is written again waits for nothing: the hardware keeps the order.
        for (counter, is_unordered) in waits.counters(instruction) {
            let registers = instruction.writes().iter().map(|write| ((write.kind, write.first), write.count));
            let index = COUNTERS.iter().position(|one| *one == counter).unwrap_or(0);
            let issued = &mut self.0[index];
            if issued.len() == MOST {
                let oldest = issued.remove(0);
                issued[0].registers.extend(oldest.registers);
                issued[0].is_unordered |= oldest.is_unordered;
            }
            issued.push(Issued { registers: registers.collect(), is_unordered });
        }
    }
}

impl FlowState for State {
    /// Adds the instructions that are outstanding on another path. Returns whether anything changed.
    fn join(&mut self, other: &Self) -> bool {
        let mut has_changed = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if own == other {
                continue;
            }
            for one in other {
                let registers = |issued: &Issued| issued.registers.clone();
                if own.iter().any(|known| known.is_unordered && registers(known) == one.registers) {
                    continue;
                }
                has_changed = true;
                // Their order is not known.
                own.retain(|known| known.registers != one.registers);
                own.push(Issued { registers: one.registers.clone(), is_unordered: true });
            }
            // The other path has fewer instructions that came later.
            for known in own.iter_mut() {
                has_changed |= !known.is_unordered;
                known.is_unordered = true;
            }
        }
        has_changed
    }
}

/// Pcs at which registers do not have the results of their loads.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Registers with pcs, sorted by register.
    ranges: Vec<(Register, u16, Range<u64>)>,
}

impl Pending {
    /// Follows the loads in a function.
    pub(super) fn new(code: &Code, waits: Waits) -> Self {
        let blocks = blocks(code);
        // The counters limit how often a state grows.
        let states = states(code, &blocks, State::default(), |state, index| {
            state.run(waits, &code.instructions[index]);
        });
        let mut pending = Self::default();
        for (block, state) in blocks.into_iter().zip(states) {
            let mut state = state.unwrap_or_default();
            let mut since: Vec<(Register, u16, u64)> = Vec::new();
            let end = code.instructions[block.end - 1].end();
            for instruction in &code.instructions[block] {
                let out = outstanding(&state);
                let (still, done): (Vec<_>, Vec<_>) = since
                    .into_iter()
                    .partition(|one| out.iter().any(|known| (known.0, known.1) == (one.0, one.1)));
                let pc = instruction.pc;
                pending.ranges.extend(done.into_iter().map(|(reg, count, from)| (reg, count, from..pc)));
                since = still;
                for (reg, count) in out {
                    if !since.iter().any(|known| (known.0, known.1) == (reg, count)) {
                        since.push((reg, count, pc));
                    }
                }
                state.run(waits, instruction);
            }
            pending.ranges.extend(since.into_iter().map(|(reg, count, from)| (reg, count, from..end)));
        }
        pending.ranges.sort_by_key(|range| (range.0, range.2.start));
        pending
    }

    /// Whether a register's load is outstanding at a pc.
    pub(super) fn is_pending(&self, (kind, number): Register, pc: u64) -> bool {
        // A load sets at most 32 registers.
        let first = self.ranges.partition_point(|range| range.0 < (kind, number.saturating_sub(32)));
        self.ranges[first..]
            .iter()
            .take_while(|range| range.0 <= (kind, number))
            .any(|range| number - range.0.1 < range.1 && range.2.contains(&pc))
    }
}

fn outstanding(state: &State) -> Vec<(Register, u16)> {
    let mut all: Vec<_> =
        state.0.iter().flatten().flat_map(|issued| issued.registers.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::code::InstructionSet;
    use crate::target::{Gfx, Wave};

    /// Encodings of `llvm-mc-19 --show-encoding`: vector memory, and the counter of scalar memory and LDS.
    #[test]
    fn waits_have_the_limits_of_their_encodings() {
        let cases: [(&str, u32, [Option<usize>; 3]); 9] = [
            // s_waitcnt vmcnt(0), s_waitcnt lgkmcnt(0), s_waitcnt vmcnt(3) lgkmcnt(1)
            ("gfx900", 0xbf8c_0f70, [Some(0), Some(15), None]),
            ("gfx900", 0xbf8c_c07f, [Some(63), Some(0), None]),
            ("gfx900", 0xbf8c_0173, [Some(3), Some(1), None]),
            ("gfx1030", 0xbf8c_3f70, [Some(0), Some(63), None]),
            ("gfx1030", 0xbf8c_c07f, [Some(63), Some(0), None]),
            ("gfx1100", 0xbf89_03f7, [Some(0), Some(63), None]),
            ("gfx1100", 0xbf89_fc07, [Some(63), Some(0), None]),
            // s_wait_loadcnt 0x0, s_wait_kmcnt 0x0
            ("gfx1200", 0xbfc0_0000, [Some(0), None, None]),
            ("gfx1200", 0xbfc7_0000, [None, None, Some(0)]),
        ];
        for (gfx, word, limits) in cases {
            let set = InstructionSet::of(Gfx::named(gfx).unwrap(), Wave::W32)
                .or_else(|| InstructionSet::of(Gfx::named(gfx).unwrap(), Wave::W64));
            let decoded = set.unwrap().decode(&word.to_le_bytes()).unwrap();
            let instruction = Instruction {
                pc: 0,
                decoded,
                flow: Flow::Next,
                target: None,
                words: [word, 0],
                called: None,
            };
            let waits = Waits::of_processor(gfx).unwrap();
            assert_eq!(waits.limits(&instruction), limits, "{gfx} {word:#x}");
        }
    }
}
