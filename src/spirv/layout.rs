//! A module's logical layout: where ids are defined and where functions begin and end. One pass over the words builds
//! it; dominators and capabilities are computed when they are first needed, because most modules never need them.

use core::ops::Range;
use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::Set;
use super::dominance::Dominance;
use super::grammar::{IMPLIED_CAPABILITIES, STORAGE_CLASS_CAPABILITIES};
use super::opcodes::{self as op, Results, results};
use super::words::{HEADER, Id, Instruction, Words, string_bytes};
use crate::error::{Count, Error, Result};

/// A module's index: definitions, functions and imported instruction sets.
#[derive(Debug, Clone)]
pub struct ModuleLayout<'a> {
    words: Words<'a>,
    ids: Ids,
    again: Vec<usize>,
    perhaps: HashSet<Id>,
    sets: IndexMap<Id, Set>,
    /// Names of later versions than the known ones, which are read as the newest known version.
    later_sets: IndexMap<Id, String>,
    unknown_sets: IndexMap<Id, String>,
    functions: Vec<FunctionLayout>,
    globals_end: usize,
    highest: Id,
    /// Positions of all sets' extended instructions.
    extended: Vec<u32>,
    /// Capabilities that the module declares, explicitly or implicitly, computed on first use.
    capabilities: OnceLock<HashSet<u32>>,
    /// Dominators for each function, computed on first use.
    dominators: OnceLock<Vec<OnceLock<Dominance>>>,
}

/// A function, from its `OpFunction` to the end of its `OpFunctionEnd`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionLayout {
    /// Result id of the `OpFunction`.
    pub id: Id,
    /// The function's words, counted from the module's start.
    pub at: Range<usize>,
}

/// A constant number or boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Constant {
    /// The value; signed types are sign-extended to 64 bits. `None` for types wider than 64 bits, for types that are
    /// not numbers, and for specialization constants.
    pub value: Option<u64>,
    /// Size of the integer type in bits; `None` for other types.
    pub integer_bits: Option<u32>,
    /// Whether the type is boolean.
    pub is_boolean: bool,
    /// Whether the instruction is an `OpConstant`, `OpConstantTrue` or `OpConstantFalse`, rather than another constant
    /// instruction.
    pub is_plain: bool,
}

impl<'a> ModuleLayout<'a> {
    /// Indexes the words in one pass.
    ///
    /// # Errors
    /// The error names the word, for a string without an end.
    pub fn new(words: Words<'a>) -> Result<Self> {
        Self::unchecked(words)
    }

    /// Indexes words with a checked header and unchecked instructions.
    ///
    /// # Errors
    /// The errors of [`Words::new`], and an error with the word for a string without an end.
    pub(crate) fn unchecked(words: Words<'a>) -> Result<Self> {
        let mut layout = Self {
            words,
            ids: Ids::new(words),
            again: Vec::new(),
            perhaps: HashSet::new(),
            sets: IndexMap::new(),
            later_sets: IndexMap::new(),
            unknown_sets: IndexMap::new(),
            functions: Vec::new(),
            globals_end: HEADER,
            highest: Id(0),
            extended: Vec::new(),
            capabilities: OnceLock::new(),
            dominators: OnceLock::new(),
        };
        let mut open: Option<FunctionLayout> = None;
        let module = words.all();
        let mut next = HEADER;
        while let Some(&first) = module.get(next) {
            #[cfg(test)]
            super::words::STEPS.set(super::words::STEPS.get() + 1);
            let start = next;
            let opcode = first as u16;
            let results = results(opcode);
            let instruction = Instruction { at: start, words: words.checked(start, first, results)? };
            next += instruction.words.len();
            let result = match results {
                Some(Results::None) => None,
                Some(Results::Id) => Some(Id(instruction.words[1])),
                Some(Results::TypedId) => Some(Id(instruction.words[2])),
                None => {
                    // An unknown opcode may have a result. If so, it is the first or second operand, so that both count
                    // as possibly defined.
                    layout.perhaps.extend(instruction.operands().iter().take(2).map(|&word| Id(word)));
                    None
                }
            };
            if let Some(id) = result {
                layout.highest = layout.highest.max(id);
                if !layout.ids.define(id, start) {
                    layout.again.push(start);
                }
            }
            match opcode {
                op::STRING | op::EXT_INST_IMPORT | op::EXTENSION => layout.text(instruction)?,
                op::EXT_INST | op::EXT_INST_FORWARD => {
                    let start = u32::try_from(start).map_err(|_| Error::malformed("more than 2^32 words"))?;
                    layout.extended.push(start);
                }
                op::FUNCTION => {
                    let id = result.unwrap_or(Id(0));
                    // A function without an end extends to the next function.
                    let ended = open.replace(FunctionLayout { id, at: start..start });
                    layout.functions.extend(ended.map(|it| FunctionLayout { at: it.at.start..start, ..it }));
                }
                op::FUNCTION_END => {
                    let ended = open.take();
                    let end = instruction.end();
                    layout.functions.extend(ended.map(|it| FunctionLayout { at: it.at.start..end, ..it }));
                }
                _ => {}
            }
        }
        let end = words.all().len();
        // The last function may have no end.
        layout.functions.extend(open.map(|it| FunctionLayout { at: it.at.start..end, ..it }));
        layout.globals_end = layout.functions.first().map_or(end, |first| first.at.start);
        Ok(layout)
    }

    /// Checks that a string has an end, and records an instruction set's name.
    fn text(&mut self, instruction: Instruction<'_>) -> Result<()> {
        let text = string_bytes(instruction.operands(), usize::MAX);
        let text = text.ok_or_else(|| Error::malformed("the string has no end").at_word(instruction.at))?;
        if instruction.opcode() == op::EXT_INST_IMPORT {
            let Some(id) = instruction.result() else { return Ok(()) };
            let name = || String::from_utf8_lossy(&text).into();
            if let Some(set) = Set::named(&text) {
                self.sets.insert(id, set);
            } else if is_later(&text) {
                self.sets.insert(id, Set::NEWEST);
                self.later_sets.insert(id, name());
            } else if is_of_debug_instructions(&text) {
                self.unknown_sets.insert(id, name());
            }
        }
        Ok(())
    }

    /// The module's words.
    pub fn words(&self) -> Words<'a> {
        self.words
    }

    /// The instruction that defines the id; the first, if there are several.
    #[inline]
    pub fn definition(&self, id: Id) -> Option<Instruction<'a>> {
        self.ids.get(id).map(|word| self.words.at(word))
    }

    /// Instructions that define an id again, in order.
    pub fn again(&self) -> impl Iterator<Item = Instruction<'a>> {
        self.again.iter().map(|&at| self.words.at(at))
    }

    /// Whether an instruction with an unknown opcode may define the id.
    pub fn may_be_defined(&self, id: Id) -> bool {
        self.perhaps.contains(&id)
    }

    /// The imported debug instruction sets, with their ids. [Later versions](Self::later_sets) count as the newest
    /// known version.
    pub fn sets(&self) -> impl Iterator<Item = (Id, Set)> {
        self.sets.iter().map(|(&id, &set)| (id, set))
    }

    /// Imported `NonSemantic.Shader.DebugInfo` versions later than all known versions, with their ids and names. A
    /// later version contains all instructions from earlier versions, with the same numbers and operands; operands that
    /// it adds are optional and last.
    pub fn later_sets(&self) -> impl Iterator<Item = (Id, &str)> {
        self.later_sets.iter().map(|(&id, name)| (id, &**name))
    }

    /// Name of a known debug instruction set, or of a later version.
    pub(crate) fn set_name(&self, id: Id) -> Option<&str> {
        self.later_sets.get(&id).map(|name| &**name).or_else(|| self.set(id).map(Set::name))
    }

    /// Unknown imported debug instruction sets, each with its id, its name, and the number of its instructions in the
    /// module. A set is recognized by a name with `DebugInfo` or `debug` between dots, as in `OpenCL.DebugInfo.200` and
    /// `SPIRV.debug`. Sets that describe graphs and sets without instructions are omitted.
    pub fn unknown_sets(&self) -> impl Iterator<Item = (Id, &str, usize)> {
        let mut counts: HashMap<Id, usize> = HashMap::new();
        if !self.unknown_sets.is_empty() {
            for instruction in self.extended() {
                if let Some(&set) = instruction.operands().first() {
                    *counts.entry(Id(set)).or_default() += 1;
                }
            }
        }
        let sets = self.unknown_sets.iter();
        sets.filter_map(move |(&id, name)| Some((id, &**name, *counts.get(&id)?)))
    }

    /// The debug instruction set imported under this id.
    pub fn set(&self, id: Id) -> Option<Set> {
        // Nearly all modules import one set, so that the first comparison saves the hash.
        match self.sets.first() {
            Some((&first, &set)) if first == id => Some(set),
            _ => self.sets.get(&id).copied(),
        }
    }

    /// Whether the module declares the capability with this number.
    pub fn has_capability(&self, number: u32) -> bool {
        // Capabilities are the first instructions.
        let globals = self.words.between(HEADER..self.globals_end);
        globals.take_while(|it| it.opcode() == op::CAPABILITY).any(|it| it.operands() == [number])
    }

    /// The capabilities that a storage class requires (any of them suffices), if the module declares none of them,
    /// explicitly or implicitly.
    pub(crate) fn lacking_capabilities(&self, storage_class: u32) -> Option<&'static [u32]> {
        // The table is sorted by class.
        let row = STORAGE_CLASS_CAPABILITIES.binary_search_by_key(&storage_class, |&(class, _)| class);
        let (_, required) = STORAGE_CLASS_CAPABILITIES[row.ok()?];
        let declared = self.capabilities.get_or_init(|| self.find_capabilities());
        (!required.iter().any(|capability| declared.contains(capability))).then_some(required)
    }

    fn find_capabilities(&self) -> HashSet<u32> {
        let mut capabilities = HashSet::new();
        for instruction in self.words.between(HEADER..self.globals_end) {
            let number = match (instruction.opcode(), instruction.operands()) {
                (op::CAPABILITY, &[number, ..]) | (op::CONDITIONAL_CAPABILITY, &[_, number, ..]) => number,
                _ => continue,
            };
            let mut pending = vec![number];
            // A capability may imply capabilities that imply more.
            while let Some(number) = pending.pop() {
                if capabilities.insert(number)
                    && let Ok(row) = IMPLIED_CAPABILITIES.binary_search_by_key(&number, |&(it, _)| it)
                {
                    pending.extend(IMPLIED_CAPABILITIES[row].1);
                }
            }
        }
        capabilities
    }

    /// Whether the id imports a set that describes the program, known or not.
    pub(crate) fn is_debug_set(&self, id: Id) -> bool {
        self.sets.contains_key(&id) || self.unknown_sets.contains_key(&id)
    }

    /// The functions, in order.
    pub fn functions(&self) -> &[FunctionLayout] {
        &self.functions
    }

    /// The function that contains the word.
    pub fn function_at(&self, at: usize) -> Option<&FunctionLayout> {
        let next = self.functions.partition_point(|function| function.at.start <= at);
        self.functions[..next].last().filter(|function| at < function.at.end)
    }

    /// Whether the instruction at one word dominates the instruction at a later word in the same function: both are in
    /// the same block, or every path to the later block passes the earlier block.
    pub(crate) fn dominates(&self, one: usize, later: usize) -> bool {
        // Most uses are in the same block shortly after the definition; then no dominators are needed. The search is
        // bounded, because it would otherwise be quadratic in a long block.
        let between = self.words.between(one..later).take(MOST_STEPS);
        let mut steps = 0;
        let mut has_label = false;
        for instruction in between {
            steps += 1;
            has_label |= instruction.opcode() == op::LABEL;
        }
        if !has_label && steps < MOST_STEPS {
            return true;
        }
        let next = self.functions.partition_point(|function| function.at.start <= one);
        let Some(index) = next.checked_sub(1) else { return true };
        let dominators = self.dominators.get_or_init(|| vec![OnceLock::new(); self.functions.len()]);
        let is_long = |id: Id| {
            let ty = self.definition(id).and_then(|it| self.definition(it.result_type()?));
            ty.is_some_and(|ty| ty.operands().first().is_some_and(|&bits| bits > 32))
        };
        let of_function = || Dominance::new(self.words, self.functions[index].at.clone(), is_long);
        dominators[index].get_or_init(of_function).dominates(one, later)
    }

    /// All sets' extended instructions.
    pub(crate) fn extended(&self) -> impl Iterator<Item = Instruction<'a>> {
        self.extended.iter().map(|&at| self.words.at(at as usize))
    }

    /// The highest defined id; 0 if there are no definitions.
    pub(crate) fn highest(&self) -> Id {
        self.highest
    }

    /// The first word after the sections before the functions.
    pub fn globals_end(&self) -> usize {
        self.globals_end
    }

    /// Text of an `OpString`. Invalid UTF-8 is replaced.
    pub fn string(&self, id: Id) -> Option<String> {
        let bytes = self.string_start(id, usize::MAX)?;
        Some(String::from_utf8_lossy(&bytes).into())
    }

    /// The first bytes of an `OpString`: at least `most` if the string is that long, and up to three more.
    pub(crate) fn string_start(&self, id: Id, most: usize) -> Option<Vec<u8>> {
        let string = self.definition(id).filter(|it| it.opcode() == op::STRING)?;
        string_bytes(string.operands(), most)
    }

    /// The constant that the id names.
    pub fn constant(&self, id: Id) -> Option<Constant> {
        let constant = self.definition(id).filter(|it| op::is_constant(it.opcode()))?;
        let ty = constant.result_type().and_then(|ty| self.definition(ty))?;
        let opcode = constant.opcode();
        let operands = constant.operands();
        let integer = match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT, &[bits, signed, ..]) => Some((bits, signed != 0)),
            _ => None,
        };
        let value = match (opcode, integer, operands) {
            (op::CONSTANT_TRUE, ..) => Some(1),
            (op::CONSTANT_FALSE, ..) => Some(0),
            (op::CONSTANT_NULL, Some(_), _) => Some(0),
            (op::CONSTANT, Some((..=32, is_signed)), &[word, ..]) => {
                // Types narrower than 32 bits are stored in a word, extended according to their sign.
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

/// Limit for the instructions between a definition and a use that are searched for a block's end.
const MOST_STEPS: usize = 16;

/// The shader debug set's name, without the version number.
const SHADER_VERSIONS: &[u8] = b"NonSemantic.Shader.DebugInfo.";

/// Whether the name belongs to a version after [`Set::NEWEST`]. Version 200 is a proposal with no known successor.
fn is_later(name: &[u8]) -> bool {
    let number = name.strip_prefix(SHADER_VERSIONS).filter(|number| number.iter().all(u8::is_ascii_digit));
    let number = number.and_then(|number| core::str::from_utf8(number).ok()?.parse::<u32>().ok());
    number.is_some_and(|number| number > Set::NEWEST_VERSION)
}

/// Whether the name belongs to a set that describes graphs rather than the program.
pub(crate) fn is_of_graphs(name: &[u8]) -> bool {
    name.starts_with(b"NonSemantic.Graph.DebugInfo.")
}

/// Whether a set with this name has instructions that describe the program, unlike `NonSemantic.DebugPrintf`, which
/// prints.
fn is_of_debug_instructions(name: &[u8]) -> bool {
    if is_of_graphs(name) {
        return false;
    }
    let is = |part: &[u8]| part.eq_ignore_ascii_case(b"DebugInfo") || part.eq_ignore_ascii_case(b"debug");
    name.split(|&byte| byte == b'.').any(is)
}

/// Describes an unknown set, for messages.
pub(crate) fn unknown_set(name: &str, count: usize) -> String {
    format!("{name:?} is not a known set; it has {}", Count(count, "debug instruction"))
}

/// Definition positions by id: a vector for the low ids that most modules use, a map for the rest. A header can claim
/// any bound, so that the vector's length must not depend on the bound alone.
#[derive(Debug, Clone)]
struct Ids {
    near: Vec<u32>,
    limit: usize,
    far: HashMap<Id, u32>,
}

impl Ids {
    /// An empty index. The vector is never longer than the module, whatever id bound the header claims.
    fn new(words: Words<'_>) -> Self {
        let limit = words.all().len();
        Self { near: vec![0; limit.min(words.bound() as usize)], limit, far: HashMap::new() }
    }

    /// Records a definition. Returns whether the id was undefined before.
    #[inline]
    fn define(&mut self, id: Id, at: usize) -> bool {
        // A module has fewer than 2^32 words, because no caller reads files of 16 GiB at once.
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

    /// Records a definition whose id is not below the header's bound.
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
            None => self.far.get(&id).map(|&word| word as usize),
        }
    }
}
