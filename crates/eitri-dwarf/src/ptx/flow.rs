//! Control flow in PTX: the positions that register values reach.

use core::cell::Cell;
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::lexer::{Kind, Lexer};
use super::text::{Function, Text};

/// A function's control flow, with the instructions that set each register.
///
/// A register can have a value at a position if control can flow there from an instruction that sets the register. An
/// instruction sets the registers before its first memory operand, or the registers in its first operand if it has no
/// memory operand (PTX ISA, "Instruction Operands"). This set includes every destination, and also the first source if
/// the instruction has no destination. The analysis therefore needs no operand table for each opcode, and can miss a
/// mistake, but never reports a correct location. A jump to an unknown label, or through a target list, may lead to any
/// label.
#[derive(Debug)]
pub struct Flow<'t> {
    /// Positions at which instructions set each register, in ascending order.
    set: HashMap<&'t str, Vec<u64>>,
    /// First position in each block, in ascending order.
    starts: Vec<u64>,
    /// Predecessor nodes for each block. After the blocks is a node for jumps that may lead to any label, and then a node
    /// for each label that several blocks define, because edges from all jumps to all such blocks would be a product.
    pub(super) before: Vec<Vec<usize>>,
    /// Remaining block visits. When none are left, each register counts as set everywhere, because visiting all blocks
    /// for all registers would take quadratic time.
    pub(super) visits: Cell<usize>,
}

/// Block visits for each instruction in a function.
const VISITS: usize = 256;

/// Jump destination.
enum Jump<'t> {
    To(&'t str),
    ToAny,
    /// The function's end.
    Out,
}

/// Registers that an instruction sets, and where control goes next.
#[derive(Default)]
struct Step<'t> {
    sets: Vec<&'t str>,
    jump: Option<Jump<'t>>,
    /// Whether the next instruction can follow.
    continues: bool,
}

impl<'t> Step<'t> {
    /// Reads an instruction's tokens, which were read before without an error.
    fn read(mut from: Lexer<'t>) -> Self {
        let mut step = Self { continues: true, ..Self::default() };
        // Number of registers in the destination operands, when it is known.
        let mut first = None;
        let mut depth = 0u32;
        let mut is_guard = false;
        let mut is_guarded = false;
        let mut opcode = None;
        while let Ok(Some(token)) = from.next() {
            match token.kind {
                Kind::Symbol(b';') if depth == 0 => break,
                // Address registers are sources, and so are all operands after an address.
                Kind::Symbol(b'[') => {
                    first = Some(step.sets.len());
                    break;
                }
                Kind::Symbol(b'{' | b'(') => depth += 1,
                Kind::Symbol(b'}' | b')') => depth = depth.saturating_sub(1),
                Kind::Symbol(b',') if depth == 0 => first = first.or(Some(step.sets.len())),
                Kind::Symbol(b'@') => (is_guard, is_guarded) = (true, true),
                Kind::Word if is_guard => is_guard = false,
                Kind::Word => {
                    // A vector element is `%v.x`, and an opcode has modifiers.
                    let name = token.text.split('.').next().unwrap_or(token.text);
                    match opcode {
                        None => {
                            opcode = Some(name);
                            step.jump = match name {
                                "brx" => Some(Jump::ToAny),
                                "ret" | "exit" => Some(Jump::Out),
                                _ => None,
                            };
                        }
                        Some("bra") => step.jump = Some(Jump::To(token.text)),
                        Some(_) if name.starts_with('%') => step.sets.push(name),
                        Some(_) => {}
                    }
                }
                _ => {}
            }
        }
        step.sets.truncate(first.unwrap_or(step.sets.len()));
        step.continues = step.jump.is_none() || is_guarded;
        step
    }
}

impl<'t> Flow<'t> {
    pub fn new(text: &Text<'t>, function: &Function<'t>) -> Self {
        let steps: Vec<Step<'t>> =
            function.instructions.iter().map(|&start| Step::read(Lexer::from(text.text, start))).collect();
        let mut set: HashMap<&str, Vec<u64>> = HashMap::new();
        let mut starts = vec![0];
        starts.extend(function.labels.iter().map(|label| label.position as u64));
        for (position, step) in (0..).zip(&steps) {
            starts.extend(step.jump.is_some().then_some(position + 1));
            for register in &step.sets {
                set.entry(register).or_default().push(position);
            }
        }
        starts.retain(|&start| start < steps.len() as u64);
        starts.sort_unstable();
        starts.dedup();
        let block = |position: u64| starts.partition_point(|&start| start <= position).saturating_sub(1);
        let any = starts.len();
        let mut before = vec![Vec::new(); any + 1];
        // The node from which control flows to a label.
        let mut labels: HashMap<&str, usize> = HashMap::new();
        for label in function.labels.iter().filter(|label| label.position < steps.len()) {
            let to = block(label.position as u64);
            before[to].push(any);
            let node = match labels.get(label.name).copied() {
                None => to,
                Some(shared) if shared > any => {
                    before[to].push(shared);
                    shared
                }
                Some(first) => {
                    let shared = before.len();
                    before.push(Vec::new());
                    before[first].push(shared);
                    before[to].push(shared);
                    shared
                }
            };
            labels.insert(label.name, node);
        }
        for index in 0..any {
            let end = starts.get(index + 1).map_or(steps.len(), |&start| start as usize);
            let Some(last) = end.checked_sub(1).map(|last| &steps[last]) else { continue };
            if last.continues && index + 1 < any {
                before[index + 1].push(index);
            }
            match &last.jump {
                Some(Jump::To(label)) => before[labels.get(label).copied().unwrap_or(any)].push(index),
                Some(Jump::ToAny) => before[any].push(index),
                Some(Jump::Out) | None => {}
            }
        }
        Self { set, starts, before, visits: Cell::new(VISITS * steps.len()) }
    }

    /// Returns the position at which a register is set first.
    pub fn first(&self, register: &str) -> Option<u64> {
        self.set.get(register)?.first().copied()
    }

    /// Returns whether a register can have a value from this function before some instruction in a position range.
    pub fn is_set(&self, register: &str, positions: Range<u64>) -> bool {
        let Some(set) = self.set.get(register) else { return false };
        let is_set_in = |range: Range<u64>| {
            set.get(set.partition_point(|&position| position < range.start))
                .is_some_and(|&position| position < range.end)
        };
        let starts = |position: u64| self.starts.partition_point(|&start| start <= position);
        let first = starts(positions.start).saturating_sub(1);
        let blocks = first..starts(positions.end.saturating_sub(1));
        let start = self.starts.get(first).copied().unwrap_or(0);
        if is_set_in(start..positions.end.saturating_sub(1)) {
            return true;
        }
        let mut seen = HashSet::new();
        let mut pending: Vec<usize> =
            blocks.filter_map(|block| self.before.get(block)).flatten().copied().collect();
        while let Some(block) = pending.pop() {
            if !seen.insert(block) {
                continue;
            }
            let Some(left) = self.visits.get().checked_sub(1) else { return true };
            self.visits.set(left);
            // The nodes after the blocks have no instructions.
            let start = self.starts.get(block).copied().unwrap_or(u64::MAX);
            if is_set_in(start..self.starts.get(block + 1).copied().unwrap_or(u64::MAX)) {
                return true;
            }
            pending.extend_from_slice(&self.before[block]);
        }
        false
    }
}
