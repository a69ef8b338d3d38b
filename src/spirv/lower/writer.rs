//! Encodes debug instructions, with the strings, types and constants that they refer to.
//!
//! One encoder serves all sets: the caller passes the operands that an instruction has in any set, and the
//! [table](mod@super::super::table) selects the set's operands and distinguishes literals from ids.

use crate::spirv::provider::DebugOperation;
use core::hash::BuildHasher;
use smallvec::SmallVec;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::error::{Count, Error, ErrorKind, Result};
use crate::model::Module;
use crate::omission::{Omission, Property, Reason, Subject};
use crate::spirv::layout::ModuleLayout;
use crate::spirv::mode::Mode;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::rows::{Forms, forms};
use crate::spirv::table::InstructionName;
use crate::spirv::words::{HEADER, Id, Ids, string_words};

/// Maximum length of an instruction, in words.
pub(super) const MOST_WORDS: usize = 0xffff;

const INT64: u32 = 11;
const NON_SEMANTIC: &str = "SPV_KHR_non_semantic_info";
const RELAXED: &str = "SPV_KHR_relaxed_extended_instruction";

/// Maximum operand count for instructions with a fixed operand list.
const MOST_KNOWN: usize = 8;

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// An id.
    Id(Id),
    /// A later instruction's id, which only `OpExtInstWithForwardRefsKHR` may refer to.
    Later(Id),
    /// A number: a literal or a constant id, depending on the set.
    Number(u32),
}

impl From<Id> for Word {
    fn from(id: Id) -> Self {
        Self::Id(id)
    }
}

impl From<u32> for Word {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

/// Position of a string's words. Positions are kept instead of copies, because a module can have many strings.
#[derive(Debug, Clone, Copy)]
enum Text {
    /// A word in the original module.
    Existing(usize),
    /// A word among the new words.
    New(usize),
}

/// Writes debug instructions.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    pub layout: &'a ModuleLayout<'a>,
    pub mode: &'a Mode,
    pub out: Preamble,
    forms: &'static Forms,
    /// Whether numbers are literals rather than constant ids.
    has_literals: bool,
    ids: Ids,
    import: Id,
    void: Id,
    none: Option<Id>,
    hasher: DefaultHashBuilder,
    texts: HashTable<(Id, Text)>,
    /// Buffer for the words of the string that is looked up.
    text: Vec<u32>,
    integers: [Option<Id>; 2],
    /// Whether the module can have 64-bit integers.
    is_wide: bool,
    /// Whether the extension for forward references is declared.
    has_relaxed_extension: bool,
    constants: HashMap<(bool, u64), Id>,
    undefined: Option<Id>,
    /// `OpConstantFalse` and `OpConstantTrue`.
    booleans: [Option<Id>; 2],
    bool_type: Option<Id>,
    pub(super) expressions: Expressions,
}

impl<'a> Writer<'a> {
    /// Indexes the module's strings, types and constants.
    pub fn new(layout: &'a ModuleLayout<'a>, mode: &'a Mode) -> Result<Self> {
        let mut writer = Self {
            layout,
            mode,
            out: Preamble::default(),
            forms: forms(mode.set),
            has_literals: !mode.set.is_shader(),
            // New ids start at the module's bound, so that no existing id is reused.
            ids: Ids::after(layout.words().bound()),
            import: Id(0),
            void: Id(0),
            none: None,
            hasher: DefaultHashBuilder::default(),
            texts: HashTable::new(),
            text: Vec::new(),
            integers: [None; 2],
            is_wide: false,
            has_relaxed_extension: false,
            constants: HashMap::new(),
            undefined: None,
            booleans: [None; 2],
            bool_type: None,
            expressions: Expressions::default(),
        };
        writer.index_module();
        writer.is_wide = writer.integers[1].is_some() || layout.has_capability(INT64);
        writer.void = match writer.existing(|opcode, _| opcode == op::TYPE_VOID) {
            Some(void) => void,
            None => writer.declare(op::TYPE_VOID, &[])?,
        };
        let set = mode.set;
        writer.import = match layout.sets().find(|&(_, it)| it == set) {
            Some((import, _)) => import,
            None => {
                let import = writer.ids.fresh()?;
                let mut words = Vec::new();
                string_words(set.name(), &mut words);
                writer.out.imports.push((words.len() as u32 + 2) << 16 | u32::from(op::EXT_INST_IMPORT));
                writer.out.imports.push(import.0);
                writer.out.imports.extend(words);
                import
            }
        };
        // SPIR-V 1.6 contains the extension.
        if set.is_shader() && layout.words().version() < (1, 6) {
            writer.extension(NON_SEMANTIC);
        }
        Ok(writer)
    }

    /// Declares an extension unless the module already does.
    pub fn extension(&mut self, name: &str) {
        let mut text = Vec::new();
        string_words(name, &mut text);
        let words = self.layout.words();
        let mut globals = words.between(HEADER..self.layout.globals_end());
        if !globals.any(|it| it.opcode() == op::EXTENSION && it.operands() == text) {
            self.out.extensions.push((text.len() as u32 + 1) << 16 | u32::from(op::EXTENSION));
            self.out.extensions.extend(text);
        }
    }

    /// Indexes the module's strings, integer types and constants.
    fn index_module(&mut self) {
        let words = self.layout.words();
        for instruction in words.between(HEADER..self.layout.globals_end()) {
            let word = instruction.at;
            let operands = instruction.operands();
            let Some(id) = instruction.result() else { continue };
            match (instruction.opcode(), operands) {
                (op::STRING, text) => {
                    let hash = self.hasher.hash_one(text);
                    let module = words.all();
                    // Strings are compared as words: equal texts have equal words, because the padding is zero.
                    let is_equal = |&(_, other): &(Id, Text)| string_at(other, module, &[]) == text;
                    let entry = self
                        .texts
                        .entry(hash, is_equal, |&(_, it)| self.hasher.hash_one(string_at(it, module, &[])));
                    if let Entry::Vacant(entry) = entry {
                        entry.insert((id, Text::Existing(word)));
                    }
                }
                (op::TYPE_INT, &[bits @ (32 | 64), 0]) => {
                    let integer = &mut self.integers[usize::from(bits == 64)];
                    // The first type counts, because a module can contain equal types under several ids.
                    *integer = integer.or(Some(id));
                }
                (op::CONSTANT, operands) => {
                    let Some(ty) = instruction.result_type() else { continue };
                    let value = match *operands {
                        [word] if Some(ty) == self.integers[0] => (false, u64::from(word)),
                        [low, high] if Some(ty) == self.integers[1] => {
                            (true, u64::from(high) << 32 | u64::from(low))
                        }
                        _ => continue,
                    };
                    self.constants.entry(value).or_insert(id);
                }
                _ => {}
            }
        }
    }

    /// The first instruction before the functions that satisfies the predicate.
    fn existing(&self, is: impl Fn(u16, &[u32]) -> bool) -> Option<Id> {
        let globals = self.layout.words().between(HEADER..self.layout.globals_end());
        globals.filter(|it| is(it.opcode(), it.operands())).find_map(|it| it.result())
    }

    /// A new id.
    pub fn fresh(&mut self) -> Result<Id> {
        self.ids.fresh()
    }

    /// Whether a constant can have the value; 64-bit integers need a capability.
    pub fn has_room(&self, value: u64) -> bool {
        self.is_wide || value <= u64::from(u32::MAX)
    }

    /// Writes a new type.
    fn declare(&mut self, opcode: u16, operands: &[u32]) -> Result<Id> {
        let id = self.ids.fresh()?;
        self.out.constants.push((operands.len() as u32 + 2) << 16 | u32::from(opcode));
        self.out.constants.push(id.0);
        self.out.constants.extend_from_slice(operands);
        Ok(id)
    }

    /// The `OpString` for a text without zero bytes.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the text does not fit one instruction.
    pub fn string(&mut self, text: &str) -> Result<Id> {
        self.text.clear();
        string_words(text, &mut self.text);
        if self.text.len() + 2 > MOST_WORDS {
            let bytes = Count(text.len(), "byte");
            let what = format!("a string has {bytes}; an instruction has at most 65535 words");
            return Err(Error::new(ErrorKind::TooLarge(what)));
        }
        // Existing and new strings share the table, so that each text exists once.
        let old = self.layout.words().all();
        let new = &self.out.strings;
        let text = &self.text;
        let hash = self.hasher.hash_one(&text[..]);
        let is_equal = |&(_, other): &(Id, Text)| string_at(other, old, new) == text;
        let entry =
            self.texts.entry(hash, is_equal, |&(_, it)| self.hasher.hash_one(string_at(it, old, new)));
        let id = match entry {
            Entry::Occupied(entry) => return Ok(entry.get().0),
            Entry::Vacant(entry) => {
                let id = self.ids.fresh()?;
                entry.insert((id, Text::New(new.len())));
                id
            }
        };
        self.out.strings.push((self.text.len() as u32 + 2) << 16 | u32::from(op::STRING));
        self.out.strings.push(id.0);
        self.out.strings.extend_from_slice(&self.text);
        Ok(id)
    }

    /// Maximum size of one string's text, in bytes.
    pub const fn most_text() -> usize {
        (MOST_WORDS - 2) * 4 - 1
    }

    /// An unsigned constant with 32 bits, or with 64 bits if necessary.
    pub fn constant(&mut self, value: u64) -> Result<Id> {
        // A value that fits 32 bits always gets the 32-bit type, so that equal numbers share a constant.
        let is_long = value > u64::from(u32::MAX);
        if let Some(&id) = self.constants.get(&(is_long, value)) {
            return Ok(id);
        }
        let index = usize::from(is_long);
        let ty = self.unsigned(index)?;
        let id = self.ids.fresh()?;
        let words = [value as u32, (value >> 32) as u32];
        let words = &words[..=index];
        self.out.constants.push((words.len() as u32 + 3) << 16 | u32::from(op::CONSTANT));
        self.out.constants.extend_from_slice(&[ty.0, id.0]);
        self.out.constants.extend_from_slice(words);
        self.constants.insert((is_long, value), id);
        Ok(id)
    }

    /// The unsigned integer type with 32 or 64 bits.
    fn unsigned(&mut self, index: usize) -> Result<Id> {
        let ty = match self.integers[index] {
            Some(ty) => ty,
            None => self.declare(op::TYPE_INT, &[[32, 64][index], 0])?,
        };
        self.integers[index] = Some(ty);
        Ok(ty)
    }

    /// A boolean constant: one that the module already has, or a new one.
    pub fn boolean(&mut self, is: bool) -> Result<Id> {
        let index = usize::from(is);
        if let Some(id) = self.booleans[index] {
            return Ok(id);
        }
        let opcode = [op::CONSTANT_FALSE, op::CONSTANT_TRUE][index];
        let id = match self.existing(|it, _| it == opcode) {
            Some(id) => id,
            None => {
                let ty = match (self.existing(|it, _| it == op::TYPE_BOOL), self.bool_type) {
                    (Some(ty), _) | (None, Some(ty)) => ty,
                    (None, None) => self.declare(op::TYPE_BOOL, &[])?,
                };
                self.bool_type = Some(ty);
                let id = self.ids.fresh()?;
                self.out.constants.extend([3 << 16 | u32::from(opcode), ty.0, id.0]);
                id
            }
        };
        self.booleans[index] = Some(id);
        Ok(id)
    }

    /// An `OpUndef`: the value of an unavailable variable.
    pub fn undefined(&mut self) -> Result<Id> {
        if let Some(id) = self.undefined {
            return Ok(id);
        }
        let ty = self.unsigned(0)?;
        let id = self.ids.fresh()?;
        self.out.constants.extend([3 << 16 | u32::from(op::UNDEF), ty.0, id.0]);
        self.undefined = Some(id);
        Ok(id)
    }

    /// `OpTypeVoid`.
    pub fn void(&self) -> Id {
        self.void
    }

    /// The `DebugInfoNone`.
    pub fn none(&mut self) -> Result<Id> {
        match self.none {
            Some(none) => Ok(none),
            None => {
                let none = self.instruction(InstructionName::InfoNone, &[])?;
                self.none = Some(none);
                Ok(none)
            }
        }
    }

    /// Writes a debug instruction before the functions. The operands are in table order; operands that the set lacks
    /// are skipped.
    pub fn instruction(&mut self, name: InstructionName, operands: &[(Field, Word)]) -> Result<Id> {
        let id = self.fresh()?;
        self.define(id, name, operands)?;
        Ok(id)
    }

    /// Writes a debug instruction under an id that was allocated before.
    pub fn define(&mut self, id: Id, name: InstructionName, operands: &[(Field, Word)]) -> Result<()> {
        // The buffer is moved out, because encoding can add constants to the writer.
        let mut words = core::mem::take(&mut self.out.debug);
        let result = self.encode(&mut words, id, name, operands);
        self.out.debug = words;
        result
    }

    /// Writes a debug instruction in a function: appends it to `words`.
    pub fn in_body(
        &mut self,
        words: &mut Vec<u32>,
        name: InstructionName,
        operands: &[(Field, Word)],
    ) -> Result<Id> {
        let id = self.fresh()?;
        self.encode(words, id, name, operands)?;
        Ok(id)
    }

    /// Writes an instruction with a fixed operand list whose numbers every set encodes equally, so that no lookup is
    /// needed.
    #[inline]
    pub fn define_all<const N: usize>(
        &mut self,
        id: Id,
        name: InstructionName,
        operands: [Word; N],
    ) -> Result<()> {
        let mut words = core::mem::take(&mut self.out.debug);
        let result = self.encode_all(&mut words, id, name, operands);
        self.out.debug = words;
        result
    }

    /// Writes such an instruction in a function.
    #[inline]
    pub fn all_in_body<const N: usize>(
        &mut self,
        words: &mut Vec<u32>,
        name: InstructionName,
        operands: [Word; N],
    ) -> Result<()> {
        let id = self.fresh()?;
        self.encode_all(words, id, name, operands)
    }

    #[inline]
    fn encode_all<const N: usize>(
        &mut self,
        to: &mut Vec<u32>,
        id: Id,
        name: InstructionName,
        operands: [Word; N],
    ) -> Result<()> {
        let number = self.forms[name as usize].number.ok_or_else(|| self.unsupported(name))?;
        debug_assert!(name.row().takes(self.mode.set, N), "{} with {}", name.text(), Count(N, "operand"));
        const { assert!(N <= MOST_KNOWN) };
        // The instruction is built on the stack and appended at once.
        let mut words = [0; 5 + MOST_KNOWN];
        let mut is_forward = false;
        for (to, word) in words[5..].iter_mut().zip(operands) {
            *to = match word {
                Word::Id(id) => id.0,
                Word::Later(id) => {
                    is_forward = true;
                    id.0
                }
                Word::Number(number) if self.has_literals => number,
                Word::Number(number) => self.constant(number.into())?.0,
            };
        }
        let opcode = if is_forward { self.forward() } else { op::EXT_INST };
        // The length is known in advance, because every operand is one word.
        words[0] = (N as u32 + 5) << 16 | u32::from(opcode);
        (words[1], words[2], words[3], words[4]) = (self.void.0, id.0, self.import.0, number);
        to.extend_from_slice(&words[..5 + N]);
        Ok(())
    }

    fn unsupported(&self, name: InstructionName) -> Error {
        let set = self.mode.set.name();
        let name = name.text();
        Error::new(ErrorKind::Unsupported(format!("{set} has no {name}")))
    }

    /// The opcode for an instruction with forward references, whose extension is declared on first use.
    fn forward(&mut self) -> u16 {
        if !core::mem::replace(&mut self.has_relaxed_extension, true) {
            self.extension(RELAXED);
        }
        op::EXT_INST_FORWARD
    }

    fn encode(
        &mut self,
        to: &mut Vec<u32>,
        id: Id,
        name: InstructionName,
        operands: &[(Field, Word)],
    ) -> Result<()> {
        let set = self.mode.set;
        let start = to.len();
        let form = &self.forms[name as usize];
        let number = form.number.ok_or_else(|| self.unsupported(name))?;
        // The length is filled in at the end.
        to.extend_from_slice(&[0, self.void.0, id.0, self.import.0, number]);
        let mut next = 0;
        let mut is_forward = false;
        for &(field, word) in operands {
            let Some(operand) = form.next(field, &mut next) else { continue };
            to.push(match word {
                Word::Id(id) => id.0,
                Word::Later(id) => {
                    is_forward = true;
                    id.0
                }
                Word::Number(number) if operand.is_literal => number,
                Word::Number(number) => self.constant(number.into())?.0,
            });
        }
        let len = to.len() - start;
        let opcode = if is_forward { self.forward() } else { op::EXT_INST };
        if len > MOST_WORDS {
            to.truncate(start);
            let what = format!("{} has {}; at most 65535 are possible", name.text(), Count(len, "word"));
            return Err(Error::new(ErrorKind::TooLarge(what)));
        }
        to[start] = (len as u32) << 16 | u32::from(opcode);
        debug_assert!(name.row().takes(set, len - 5), "{} with {}", name.text(), Count(len - 5, "operand"));
        Ok(())
    }

    /// Lists an omission.
    pub fn omit(&mut self, module: &Module, subject: Subject, property: Property, reason: Reason) {
        self.out.omissions.push(Omission::of_module(module, subject, property, reason));
    }

    /// Whether the set encodes numbers as constant ids.
    pub fn is_shader(&self) -> bool {
        self.mode.set.is_shader()
    }

    /// Everything written.
    pub fn finish(mut self) -> Preamble {
        self.out.bound = self.ids.bound();
        self.out
    }
}

/// The words of an `OpString` in the module or among the new strings.
fn string_at<'w>(text: Text, old: &'w [u32], new: &'w [u32]) -> &'w [u32] {
    let (words, at) = match text {
        Text::Existing(at) => (old, at),
        Text::New(at) => (new, at),
    };
    let len = (words[at] >> 16) as usize;
    &words[at + 2..at + len]
}

/// Ids for the operations and expressions that are written already.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    pub operations: HashMap<DebugOperation, Id>,
    pub expressions: HashMap<SmallVec<[DebugOperation; 4]>, Id>,
    /// The expression without operations, which most variables use.
    pub empty: Option<Id>,
}

impl Expressions {
    /// Whether no expression is written yet.
    pub fn is_empty(&self) -> bool {
        self.empty.is_none() && self.expressions.is_empty()
    }
}

/// New instructions before the functions, by module section.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    /// `OpExtension`.
    pub extensions: Vec<u32>,
    /// `OpExtInstImport`.
    pub imports: Vec<u32>,
    /// `OpString`.
    pub strings: Vec<u32>,
    /// Types and constants.
    pub constants: Vec<u32>,
    /// Debug instructions before the functions.
    pub debug: Vec<u32>,
    /// The id bound.
    pub bound: u32,
    /// Omissions.
    pub omissions: Vec<Omission>,
}
