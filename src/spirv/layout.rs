//! The logical layout of a module: what defines each id, and where the functions are.
//!
//! SPIR-V specification, section 2.4 "Logical Layout of a Module".

use core::ops::Range;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::Set;
use super::opcodes::{self as op, Results, results};
use super::words::{HEADER, Id, Instruction, Words, string_bytes};
use crate::error::{Count, Error, Result};

/// Where everything is.
#[derive(Debug, Clone)]
pub struct Layout<'a> {
    words: Words<'a>,
    ids: Ids,
    again: Vec<usize>,
    perhaps: HashSet<Id>,
    sets: IndexMap<Id, Set>,
    unknown_sets: IndexMap<Id, String>,
    functions: Vec<Function>,
    globals_end: usize,
    highest: Id,
    /// The words where extended instructions begin, of any set.
    extended: Vec<usize>,
}

/// A function: words from its `OpFunction` to behind its `OpFunctionEnd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The result of the `OpFunction`.
    pub id: Id,
    /// Its words, counted from the start of the module.
    pub at: Range<usize>,
}

/// A constant number or truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// The value, of a signed type with its sign in all 64 bits. Of a type of more than 64 bits, and of one that is no
    /// number, it is not known; nor is that of a specialization constant.
    pub value: Option<u64>,
    /// Bits of its integer type; `None` if it is of another type.
    pub integer_bits: Option<u32>,
    /// Whether it is true or false.
    pub is_boolean: bool,
    /// Whether it is an `OpConstant`, `OpConstantTrue` or `OpConstantFalse`, and no other constant instruction.
    pub is_plain: bool,
}

impl<'a> Layout<'a> {
    /// Goes through the words once.
    ///
    /// # Errors
    /// With the word: if a string has no end.
    pub fn new(words: Words<'a>) -> Result<Self> {
        Self::of(words)
    }

    /// The same of words of which only the header is known to be right.
    ///
    /// # Errors
    /// With the word: as [`Words::new`], and if a string has no end.
    pub(crate) fn of(words: Words<'a>) -> Result<Self> {
        let mut layout = Self {
            words,
            ids: Ids::new(words),
            again: Vec::new(),
            perhaps: HashSet::new(),
            sets: IndexMap::new(),
            unknown_sets: IndexMap::new(),
            functions: Vec::new(),
            globals_end: HEADER,
            highest: Id(0),
            extended: Vec::new(),
        };
        let mut open: Option<Function> = None;
        let (all, mut next) = (words.all(), HEADER);
        while let Some(&first) = all.get(next) {
            #[cfg(test)]
            super::words::STEPS.set(super::words::STEPS.get() + 1);
            let (at, opcode) = (next, first as u16);
            let results = results(opcode);
            let instruction = Instruction { at, words: words.checked(at, first, results)? };
            next += instruction.words.len();
            let result = match results {
                Some(Results::None) => None,
                Some(Results::Id) => Some(Id(instruction.words[1])),
                Some(Results::TypedId) => Some(Id(instruction.words[2])),
                None => {
                    // Its result, if it has one, is the first or the second operand.
                    layout.perhaps.extend(instruction.operands().iter().take(2).map(|&word| Id(word)));
                    None
                }
            };
            if let Some(id) = result {
                layout.highest = layout.highest.max(id);
                if !layout.ids.define(id, at) {
                    layout.again.push(at);
                }
            }
            match opcode {
                op::STRING | op::EXT_INST_IMPORT | op::EXTENSION => layout.text(instruction)?,
                op::EXT_INST | op::EXT_INST_FORWARD => layout.extended.push(at),
                op::FUNCTION => {
                    let id = result.unwrap_or(Id(0));
                    // One without an end goes on to the next.
                    let ended = open.replace(Function { id, at: at..at });
                    layout.functions.extend(ended.map(|it| Function { at: it.at.start..at, ..it }));
                }
                op::FUNCTION_END => {
                    let ended = open.take();
                    let end = instruction.end();
                    layout.functions.extend(ended.map(|it| Function { at: it.at.start..end, ..it }));
                }
                _ => {}
            }
        }
        let end = words.all().len();
        layout.functions.extend(open.map(|it| Function { at: it.at.start..end, ..it }));
        layout.globals_end = layout.functions.first().map_or(end, |first| first.at.start);
        Ok(layout)
    }

    /// Looks at an instruction that has a text: it has an end, and may be the name of a set.
    fn text(&mut self, instruction: Instruction<'_>) -> Result<()> {
        let text = string_bytes(instruction.operands(), usize::MAX);
        let text = text.ok_or_else(|| Error::malformed("the string has no end").at_word(instruction.at))?;
        if instruction.opcode() == op::EXT_INST_IMPORT {
            let Some(id) = instruction.result() else { return Ok(()) };
            match Set::named(&text) {
                Some(set) => drop(self.sets.insert(id, set)),
                None if is_of_debug_instructions(&text) => {
                    self.unknown_sets.insert(id, String::from_utf8_lossy(&text).into());
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The words.
    pub fn words(&self) -> Words<'a> {
        self.words
    }

    /// The instruction that defines the id; the first, if there are several.
    #[inline]
    pub fn definition(&self, id: Id) -> Option<Instruction<'a>> {
        self.ids.get(id).map(|at| self.words.at(at))
    }

    /// Instructions that define an id which one before them has defined, in order.
    pub fn again(&self) -> impl Iterator<Item = Instruction<'a>> {
        self.again.iter().map(|&at| self.words.at(at))
    }

    /// Whether an instruction of which nothing is known may define the id.
    pub fn may_be_defined(&self, id: Id) -> bool {
        self.perhaps.contains(&id)
    }

    /// The imported sets of debug instructions, with the ids that stand for them.
    pub fn sets(&self) -> impl Iterator<Item = (Id, Set)> {
        self.sets.iter().map(|(&id, &set)| (id, set))
    }

    /// Imported sets of debug instructions that are not known, by their names: one of the parts between the dots is
    /// `DebugInfo` or `debug`, as in `NonSemantic.Shader.DebugInfo.200` and `SPIRV.debug`. With the ids that stand for
    /// them, and how many instructions the module has of each, if it has some.
    pub fn unknown_sets(&self) -> impl Iterator<Item = (Id, &str, usize)> {
        let mut counts: HashMap<Id, usize> = HashMap::new();
        if !self.unknown_sets.is_empty() {
            for instruction in self.extended() {
                if let Some(&set) = instruction.operands().first() {
                    *counts.entry(Id(set)).or_default() += 1;
                }
            }
        }
        let all = self.unknown_sets.iter();
        all.filter_map(move |(&id, name)| Some((id, &**name, *counts.get(&id)?)))
    }

    /// The set of debug instructions that the id stands for.
    pub fn set(&self, id: Id) -> Option<Set> {
        self.sets.get(&id).copied()
    }

    /// Whether the module declares a capability, by its number.
    pub fn has_capability(&self, number: u32) -> bool {
        // They come first.
        let all = self.words.between(HEADER..self.globals_end);
        all.take_while(|it| it.opcode() == op::CAPABILITY).any(|it| it.operands() == [number])
    }

    /// The functions, in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function that has the word.
    pub fn function_at(&self, at: usize) -> Option<&Function> {
        let next = self.functions.partition_point(|function| function.at.start <= at);
        self.functions[..next].last().filter(|function| at < function.at.end)
    }

    /// Extended instructions, of any set.
    pub(crate) fn extended(&self) -> impl Iterator<Item = Instruction<'a>> {
        self.extended.iter().map(|&at| self.words.at(at))
    }

    /// The highest id that is defined; 0 if none is.
    pub(crate) fn highest(&self) -> Id {
        self.highest
    }

    /// The first word behind the sections that come before the functions.
    pub fn globals_end(&self) -> usize {
        self.globals_end
    }

    /// The text of an `OpString`. What is no UTF-8 is replaced.
    pub fn string(&self, id: Id) -> Option<String> {
        let bytes = self.string_start(id, usize::MAX)?;
        Some(String::from_utf8_lossy(&bytes).into())
    }

    /// The first bytes of an `OpString`: at least so many, if it has them, and at most three more.
    pub(crate) fn string_start(&self, id: Id, most: usize) -> Option<Vec<u8>> {
        let string = self.definition(id).filter(|it| it.opcode() == op::STRING)?;
        string_bytes(string.operands(), most)
    }

    /// The constant that the id is.
    pub fn constant(&self, id: Id) -> Option<Constant> {
        let constant = self.definition(id).filter(|it| op::is_constant(it.opcode()))?;
        let ty = constant.result_type().and_then(|ty| self.definition(ty))?;
        let (opcode, operands) = (constant.opcode(), constant.operands());
        let integer = match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT, &[bits, signed, ..]) => Some((bits, signed != 0)),
            _ => None,
        };
        let value = match (opcode, integer, operands) {
            (op::CONSTANT_TRUE, ..) => Some(1),
            (op::CONSTANT_FALSE, ..) => Some(0),
            (op::CONSTANT_NULL, Some(_), _) => Some(0),
            (op::CONSTANT, Some((..=32, is_signed)), &[word, ..]) => {
                // Less than 32 bits are extended to a word, as their sign asks.
                Some(if is_signed { i64::from(word as i32) as u64 } else { u64::from(word) })
            }
            (op::CONSTANT, Some((..=64, _)), &[low, high, ..]) => {
                Some(u64::from(high) << 32 | u64::from(low))
            }
            _ => None,
        };
        Some(Constant {
            value,
            integer_bits: integer.map(|(bits, _)| bits),
            is_boolean: ty.opcode() == op::TYPE_BOOL,
            is_plain: matches!(opcode, op::CONSTANT_TRUE | op::CONSTANT_FALSE | op::CONSTANT),
        })
    }
}

/// Whether a set of this name is of debug instructions: what `NonSemantic.DebugPrintf` prints is none.
fn is_of_debug_instructions(name: &[u8]) -> bool {
    let is = |part: &[u8]| part.eq_ignore_ascii_case(b"DebugInfo") || part.eq_ignore_ascii_case(b"debug");
    name.split(|&byte| byte == b'.').any(is)
}

/// A set that is not known, for messages.
pub(crate) fn unknown_set(name: &str, count: usize) -> String {
    format!("{name:?}: a set that is not known, with {}", Count(count, "debug instruction"))
}

impl Set {
    /// The set of this name.
    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name().as_bytes() == name)
    }
}

/// Where ids are defined. Most modules number theirs from 1 on, but ids of any size are ids.
#[derive(Debug, Clone)]
struct Ids {
    near: Vec<u32>,
    limit: usize,
    far: HashMap<Id, u32>,
}

impl Ids {
    /// For a module: no more are near than it has words, whatever its header says.
    fn new(words: Words<'_>) -> Self {
        let limit = words.all().len();
        Self { near: vec![0; limit.min(words.bound() as usize)], limit, far: HashMap::new() }
    }

    /// Whether it was not defined before.
    #[inline]
    fn define(&mut self, id: Id, at: usize) -> bool {
        // A module has less words than 2^32: a file of 16 GiB is not read at once.
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        match self.near.get_mut(id.0 as usize) {
            Some(place @ 0) => {
                *place = at;
                true
            }
            Some(_) => false,
            None => self.define_beyond(id, at),
        }
    }

    /// The same of an id that the header has not.
    #[cold]
    fn define_beyond(&mut self, id: Id, at: u32) -> bool {
        let index = id.0 as usize;
        if index < self.limit {
            self.near.resize(index + 1, 0);
            self.near[index] = at;
            return true;
        }
        match self.far.entry(id) {
            hashbrown::hash_map::Entry::Occupied(_) => false,
            hashbrown::hash_map::Entry::Vacant(entry) => {
                entry.insert(at);
                true
            }
        }
    }

    #[inline]
    fn get(&self, id: Id) -> Option<usize> {
        match self.near.get(id.0 as usize) {
            // No instruction begins at word 0.
            Some(0) => None,
            Some(&at) => Some(at as usize),
            None => self.far.get(&id).map(|&at| at as usize),
        }
    }
}
