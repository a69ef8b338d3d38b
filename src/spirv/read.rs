//! Reads a module's debug instructions, from any set and producer. Only the structure is checked here;
//! [`validate`](super::validate()) checks the rest, so that invalid modules can still be printed.

use super::layout::ModuleLayout;
use super::names::Enumeration;
use super::opcodes as op;
use super::operand::{Field, OperandKind, OperandRow};
use super::rows::Form;
use super::table::{InstructionName, Set};
use super::words::{Id, Instruction, Words};
use crate::error::{At, Count, Error, Result};

/// Returns a module's debug instructions.
///
/// # Errors
/// The error names the word, if the words are not a module, or a debug instruction is too short. Operands are not
/// checked here: see [`validate`](super::validate()).
pub fn read(words: &[u32]) -> Result<Facts<'_>> {
    let layout = ModuleLayout::unchecked(Words::with_header(words)?)?;
    if let Some(short) = layout.extended().find(|it| it.operands().len() < 2) {
        let what = format!("OpExtInst has {}; expected at least 5", Count(short.words.len(), "word"));
        return Err(Error::malformed(what).at_word(short.at));
    }
    Ok(Facts { layout })
}

fn is_ext_inst(opcode: u16) -> bool {
    matches!(opcode, op::EXT_INST | op::EXT_INST_FORWARD)
}

/// A module's debug instructions, with its layout.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    layout: ModuleLayout<'a>,
}

/// A debug instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact<'a> {
    /// The instruction's first word, counted from the module's start.
    pub at: usize,
    /// The instruction's set.
    pub set: Set,
    /// The imported set's id.
    pub import: Id,
    /// The instruction's number in the set.
    pub number: u32,
    /// The result type's id; the type should be `OpTypeVoid`.
    pub result_type: Id,
    /// Result id.
    pub result: Id,
    /// Operands: literal words and ids.
    pub operands: &'a [u32],
    /// Whether the opcode is `OpExtInstWithForwardRefsKHR` rather than `OpExtInst`.
    pub with_forward: bool,
}

/// An operand in a debug instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// The table's row; `None` if the instruction has no operand at this index.
    pub(super) row: Option<&'static OperandRow>,
    /// The operand's index, counted from 0.
    pub index: usize,
    /// A literal or an id.
    pub word: u32,
}

impl Operand {
    /// The table's row; `None` if the instruction has no operand at this index.
    #[doc(hidden)]
    pub fn row(&self) -> Option<&'static OperandRow> {
        self.row
    }

    /// The operand's field; `None` if the instruction has no operand at this index.
    pub fn field(&self) -> Option<Field> {
        Some(self.row?.field)
    }

    /// Whether the word is a literal in the set, rather than an id.
    pub fn is_literal(&self, set: Set) -> bool {
        self.row.is_some_and(|row| row.kind.is_literal(set))
    }

    /// The enumeration or mask to which the number in the operand belongs.
    pub fn enumeration(&self) -> Option<Enumeration> {
        match self.row?.kind {
            OperandKind::Enumerant(enumeration) => Some(enumeration),
            _ => None,
        }
    }

    /// Whether the operand may refer to a later instruction: section 2.2.
    pub fn may_be_forward(&self) -> bool {
        self.row.is_some_and(|row| row.forward)
    }
}

impl<'a> Facts<'a> {
    /// The module's layout.
    pub fn layout(&self) -> &ModuleLayout<'a> {
        &self.layout
    }

    /// The debug instructions, in order.
    pub fn iter(&self) -> impl Iterator<Item = Fact<'a>> {
        self.layout.extended().filter_map(|it| self.fact(it))
    }

    /// The name of a debug instruction set, known or unknown, from which the module has instructions.
    pub fn set_name(&self) -> Option<&str> {
        let known = self.iter().next().map(|fact| fact.set.name());
        known.or_else(|| self.layout.unknown_sets().map(|(_, name, _)| name).next())
    }

    /// The debug instruction that defines the id.
    pub fn get(&self, id: Id) -> Option<Fact<'a>> {
        self.layout.definition(id).and_then(|instruction| self.fact(instruction))
    }

    /// Decodes an instruction, if it is a debug instruction.
    pub fn fact(&self, instruction: Instruction<'a>) -> Option<Fact<'a>> {
        if !is_ext_inst(instruction.opcode()) {
            return None;
        }
        let (&[import, number], operands) = instruction.operands().split_first_chunk()?;
        Some(Fact {
            at: instruction.at,
            set: self.layout.set(Id(import))?,
            import: Id(import),
            number,
            result_type: instruction.result_type()?,
            result: instruction.result()?,
            operands,
            with_forward: instruction.opcode() == op::EXT_INST_FORWARD,
        })
    }

    /// The number in an operand: a literal, or a constant's value. `None` for other operands and for specialization
    /// constants.
    pub fn number(&self, fact: &Fact<'_>, field: Field) -> Option<u64> {
        let operand = fact.operand(field)?;
        match operand.row?.kind {
            kind if kind.is_literal(fact.set) => Some(u64::from(operand.word)),
            _ => self.layout.constant(Id(operand.word))?.value,
        }
    }

    /// Text of the `OpString` that an operand refers to.
    pub fn text(&self, fact: &Fact<'_>, field: Field) -> Option<String> {
        self.layout.string(fact.id(field)?)
    }

    /// The debug instruction that an operand refers to, in the same set.
    pub fn named(&self, fact: &Fact<'_>, field: Field) -> Option<Fact<'a>> {
        self.get(fact.id(field)?).filter(|named| named.set == fact.set)
    }

    /// Encodes the module again: debug instructions from their facts, all other instructions unchanged.
    pub fn encode(&self) -> Vec<u32> {
        let words = self.layout.words();
        let mut encoded = words.all()[..super::HEADER].to_vec();
        for instruction in words.instructions() {
            match self.fact(instruction) {
                Some(fact) => fact.encode(&mut encoded),
                None => encoded.extend_from_slice(instruction.words),
            }
        }
        encoded
    }
}

impl Fact<'_> {
    /// The instruction's name; `None` if the set has no instruction with this number.
    pub fn name(&self) -> Option<InstructionName> {
        InstructionName::numbered(self.set, self.number)
    }

    /// Operands, in order.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let form = self.form();
        self.operands.iter().enumerate().map(move |(index, &word)| {
            let row = form.and_then(|(name, form)| Some(form.operand(index)?.row(name)));
            Operand { row, index, word }
        })
    }

    fn form(&self) -> Option<(InstructionName, &'static Form)> {
        let name = self.name()?;
        Some((name, name.row().form(self.set, self.operands.len())))
    }

    /// The first operand with this field.
    pub fn operand(&self, field: Field) -> Option<Operand> {
        let (name, form) = self.form()?;
        let index = form.operands().iter().position(|operand| operand.field == field)?;
        let (operand, &word) = (form.operands()[index], self.operands.get(index)?);
        Some(Operand { row: Some(operand.row(name)), index, word })
    }

    /// The id in the first operand with this field.
    pub fn id(&self, field: Field) -> Option<Id> {
        let operand = self.operand(field)?;
        matches!(operand.row?.kind, OperandKind::Id(_)).then_some(Id(operand.word))
    }

    /// The ids in all operands with this field.
    pub fn ids(&self, field: Field) -> impl Iterator<Item = Id> {
        let is = move |operand: &Operand| operand.field() == Some(field);
        self.operands().filter(is).map(|operand| Id(operand.word))
    }

    /// Appends the instruction's words.
    pub fn encode(&self, words: &mut Vec<u32>) {
        let opcode = if self.with_forward { op::EXT_INST_FORWARD } else { op::EXT_INST };
        let len = 5 + self.operands.len() as u32;
        // Five words: length and opcode, result type, result, set, number.
        words.extend([
            len << 16 | u32::from(opcode),
            self.result_type.0,
            self.result.0,
            self.import.0,
            self.number,
        ]);
        words.extend(self.operands().map(|operand| operand.word));
    }

    /// The instruction's location, for messages.
    pub(crate) fn place(&self) -> At {
        let instruction = match self.name() {
            Some(name) => format!("{} {}", name.text_in(self.set), self.result),
            None => format!("instruction {} {}", self.number, self.result),
        };
        At::new(|context| {
            context.word = Some(self.at);
            context.instruction = Some(instruction);
        })
    }
}
