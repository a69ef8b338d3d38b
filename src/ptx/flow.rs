//! Positions at which registers can have values.

use core::ops::RangeInclusive;

use hashbrown::HashMap;

use super::lexer::{Kind, Lexer};
use super::text::{Function, Text};

/// Positions of a function from which each register can have a value.
///
/// Code runs in the order of the text, except for jumps. A register can have a value at a position if an instruction
/// before the position in the text names the register, or if a jump back over the position comes after such an
/// instruction. This is true at each position that a definition reaches, and at some others: in the other branch of a
/// condition, and after an instruction that only reads the register. No opcode needs a table of its destinations.
#[derive(Debug)]
pub(crate) struct Flow<'t> {
    /// Position of the first instruction that names each register.
    named: HashMap<&'t str, u64>,
    /// Positions between which control can flow back and forth, in ascending order: jumps back with a position in common
    /// are joined.
    loops: Vec<RangeInclusive<u64>>,
}

impl<'t> Flow<'t> {
    pub(crate) fn new(text: &Text<'t>, function: &Function<'t>) -> Self {
        let mut first_label: HashMap<&str, u64> = HashMap::new();
        for label in &function.labels {
            // The labels are in the order of the text: the first of a name leads back farthest.
            first_label.entry(label.name).or_insert(label.position as u64);
        }
        let farthest = function.labels.first().map(|label| label.position as u64);
        let (mut named, mut jumps): (_, Vec<(u64, u64)>) = (HashMap::new(), Vec::new());
        for (position, &start) in (0..).zip(&function.instructions) {
            let (mut from, mut depth) = (Lexer::from(text.text, start), 0u32);
            let (mut is_guard, mut opcode) = (false, None);
            // The tokens of the instruction, which were read before without an error.
            while let Ok(Some(token)) = from.next() {
                match token.kind {
                    Kind::Symbol(b';') if depth == 0 => break,
                    Kind::Symbol(b'{') => depth += 1,
                    Kind::Symbol(b'}') => depth = depth.saturating_sub(1),
                    Kind::Symbol(b'@') => is_guard = true,
                    Kind::Word => {
                        // An element of a vector is `%v.x`, and an opcode has modifiers.
                        let name = token.text.split('.').next().unwrap_or(token.text);
                        if name.starts_with('%') {
                            named.entry(name).or_insert(position);
                        }
                        match opcode {
                            _ if is_guard => is_guard = false,
                            None => {
                                opcode = Some(name);
                                // The list of the targets of an indirect branch is not read.
                                jumps.extend(farthest.filter(|_| name == "brx").map(|to| (to, position)));
                            }
                            Some("bra") => {
                                let target = first_label.get(token.text).copied();
                                jumps.extend(target.or(farthest).map(|to| (to, position)));
                            }
                            Some(_) => {}
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut jumps: Vec<_> =
            jumps.into_iter().filter(|(to, from)| to <= from).map(|(to, from)| to..=from).collect();
        jumps.sort_unstable_by_key(|jump| *jump.start());
        let mut loops: Vec<RangeInclusive<u64>> = Vec::new();
        for jump in jumps {
            match loops.last_mut() {
                Some(last) if jump.start() <= last.end() => {
                    *last = *last.start()..=*last.end().max(jump.end());
                }
                _ => loops.push(jump),
            }
        }
        Self { named, loops }
    }

    /// Returns the position of the first instruction that names a register.
    pub(crate) fn first(&self, register: &str) -> Option<u64> {
        self.named.get(register).copied()
    }

    /// Returns whether a register can have a value that an instruction of the function sets, before the instruction at a
    /// position.
    pub(crate) fn is_set(&self, register: &str, position: u64) -> bool {
        let Some(first) = self.first(register) else { return false };
        let index = self.loops.partition_point(|range| *range.end() < position);
        let around = self.loops.get(index).filter(|range| range.contains(&position));
        first < position || around.is_some_and(|range| first <= *range.end())
    }
}
