//! The instruction table's rows: numbers, section and operands, by set. The tables for lookups by number and by set are
//! computed at compile time, because reading a module looks up every instruction.

use super::operand::*;
use super::table::{InstructionName, Set, for_each_instruction};

/// An instruction's numbers. Each instruction is in some version of `NonSemantic.Shader.DebugInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Number in `OpenCL.DebugInfo.100`.
    pub opencl: Option<u32>,
    /// Number in `NonSemantic.Shader.DebugInfo`.
    pub shader: u32,
    /// First version of `NonSemantic.Shader.DebugInfo` with the instruction.
    pub since: Set,
}

impl Numbers {
    const fn both(opencl: u32, shader: u32) -> Self {
        Self { opencl: Some(opencl), ..Self::shader(shader) }
    }

    const fn shader(shader: u32) -> Self {
        Self { opencl: None, shader, since: Set::Shader }
    }

    const fn shader101(shader: u32) -> Self {
        Self { since: Set::Shader101, ..Self::shader(shader) }
    }

    const fn shader200(shader: u32) -> Self {
        Self { since: Set::Shader200, ..Self::shader(shader) }
    }

    const fn opencl_shader200(opencl: u32, shader: u32) -> Self {
        Self { opencl: Some(opencl), ..Self::shader200(shader) }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionRow {
    /// The instruction.
    pub name: InstructionName,
    /// Name in the specifications.
    pub text: &'static str,
    /// Numbers by set.
    pub numbers: Numbers,
    /// Section in the specification.
    pub section: SpecificationSection,
    /// Part of the module that contains the instruction.
    pub area: Area,
    /// Operands in all sets.
    pub all_operands: &'static [OperandRow],
}

macro_rules! rows { ($(
    $variant:ident $text:literal $sets:ident($($number:literal),*) $section:ident $area:ident
    { $($field:ident: $kind:ident $([$($more:ident)*])?),* };
)*) => {
    static ROWS: [InstructionRow; InstructionName::ALL.len()] = [$(InstructionRow {
        name: InstructionName::$variant,
        text: $text,
        numbers: Numbers::$sets($($number),*),
        section: SpecificationSection::$section,
        area: Area::$area,
        all_operands: &[$(OperandRow::new(Field::$field, $kind)$($(.$more())*)?),*],
    }),*];
} }

for_each_instruction!(rows);

/// Instructions by set and number.
static NUMBERED: [[Option<InstructionName>; 256]; Set::ALL.len()] = {
    let mut numbered = [[None; 256]; Set::ALL.len()];
    let mut set = 0;
    while set < Set::ALL.len() {
        let mut row = 0;
        while row < ROWS.len() {
            if let Some(number) = ROWS[row].number(Set::ALL[set]) {
                numbered[Set::ALL[set] as usize][number as usize] = Some(ROWS[row].name);
            }
            row += 1;
        }
        set += 1;
    }
    numbered
};

impl InstructionName {
    /// The instruction's row.
    #[doc(hidden)]
    pub fn row(self) -> &'static InstructionRow {
        &ROWS[self as usize]
    }

    /// The instruction in a set.
    #[inline]
    pub(super) fn form(self, set: Set) -> &'static Form {
        &FORMS[set as usize][self as usize]
    }

    /// Name in the specifications.
    pub fn text(self) -> &'static str {
        self.row().text
    }

    /// Name in a set: `OpenCL.DebugInfo.100` has the name of its extension `SPV_INTEL_debug_module`.
    pub fn text_in(self, set: Set) -> &'static str {
        self.row().text_in(set)
    }

    /// Number in the set; `None` if the set lacks the instruction.
    pub fn number(self, set: Set) -> Option<u32> {
        self.row().number(set)
    }

    /// The instruction's section in the specification.
    pub fn section(self) -> SpecificationSection {
        self.row().section
    }

    /// Whether the instruction belongs inside functions, rather than before the first function.
    pub fn is_in_function(self) -> bool {
        self.row().area == Area::Body
    }

    /// The instruction with this number in the set.
    pub fn numbered(set: Set, number: u32) -> Option<Self> {
        *NUMBERED[set as usize].get(number as usize)?
    }
}

impl InstructionRow {
    /// Name in a set: `OpenCL.DebugInfo.100` has the name of its extension `SPV_INTEL_debug_module`.
    pub const fn text_in(&self, set: Set) -> &'static str {
        match (self.name, set) {
            (InstructionName::Module, Set::OpenCl) => "DebugModuleINTEL",
            _ => self.text,
        }
    }

    /// Number in the set; `None` if the set lacks the instruction.
    pub const fn number(&self, set: Set) -> Option<u32> {
        match set {
            Set::OpenCl => self.numbers.opencl,
            _ if set.includes(self.numbers.since) => Some(self.numbers.shader),
            _ => None,
        }
    }

    /// Operands in a set, in order.
    pub fn operands(&self, set: Set) -> impl Iterator<Item = &'static OperandRow> + use<> {
        self.all_operands.iter().filter(move |operand| operand.is_in(set))
    }

    /// The operand at this index, counted from 0, in an instruction with `count` operands.
    pub fn operand(&self, set: Set, index: usize, count: usize) -> Option<&'static OperandRow> {
        Some(self.form(set, count).operand(index)?.row(self.name))
    }

    /// The form of an instruction with `count` operands.
    pub(super) fn form(&self, set: Set, count: usize) -> &'static Form {
        // Version 200 has a two-operand checksum before the text; a single operand is version 100's text.
        let is_short = matches!((self.name, set, count), (InstructionName::Source, Set::Shader200, 2));
        self.name.form(if is_short { Set::Shader } else { set })
    }

    /// Whether the instruction can have `count` operands.
    pub fn takes(&self, set: Set, count: usize) -> bool {
        let is = |repeat: Repeat| self.operands(set).filter(|operand| operand.repeat == repeat).count();
        let once = is(Repeat::Once);
        let optional = is(Repeat::Optional);
        let many = is(Repeat::Many);
        let some = is(Repeat::Some);
        let pairs = is(Repeat::Pairs);
        // Optional operands may be missing; the last kinds absorb what remains.
        match count.checked_sub(once) {
            None => false,
            Some(_) if many > 0 => true,
            Some(more) if some > 0 => more >= 1,
            Some(more) if pairs > 0 => more.is_multiple_of(pairs),
            Some(more) => more <= optional,
        }
    }
}

impl Set {
    /// Whether the set has the instruction.
    pub(crate) fn has(self, name: InstructionName) -> bool {
        name.number(self).is_some()
    }

    /// Whether the instruction has the operand in this set.
    pub(crate) fn has_operand(self, name: InstructionName, field: Field) -> bool {
        let row = name.row();
        row.number(self).is_some() && row.operands(self).any(|operand| operand.field == field)
    }
}

/// Highest operand count in the table.
const MOST_OPERANDS: usize = 13;

/// An operand that an instruction has in a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub field: Field,
    /// Whether a number is a literal rather than a constant id.
    pub is_literal: bool,
    /// Whether the operand can be repeated.
    pub is_many: bool,
    /// Index in [`InstructionRow::all_operands`].
    row: u8,
}

/// An instruction as a set has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// The instruction's number; `None` if the set lacks the instruction.
    pub number: Option<u32>,
    operands: [Operand; MOST_OPERANDS],
    count: u8,
    /// Number of operands that are not repeated. Repeated operands come last.
    once: u8,
}

/// A set's instructions, in the order of the table.
pub(super) type Forms = [Form; InstructionName::ALL.len()];

static FORMS: [Forms; Set::ALL.len()] = {
    let nothing = Operand { field: Field::Name, is_literal: false, is_many: false, row: 0 };
    let nothing = Form { number: None, operands: [nothing; MOST_OPERANDS], count: 0, once: 0 };
    let mut forms = [[nothing; InstructionName::ALL.len()]; Set::ALL.len()];
    let mut set = 0;
    while set < Set::ALL.len() {
        let mut row = 0;
        while row < ROWS.len() {
            forms[Set::ALL[set] as usize][row] = form(&ROWS[row], Set::ALL[set], nothing);
            row += 1;
        }
        set += 1;
    }
    forms
};

const fn form(row: &InstructionRow, set: Set, mut form: Form) -> Form {
    form.number = row.number(set);
    let mut index = 0;
    while index < row.all_operands.len() {
        let OperandRow { field, kind, repeat, .. } = row.all_operands[index];
        // Operands that the set lacks have no position.
        if row.all_operands[index].is_in(set) {
            let is_many = repeat.is_many();
            let operand = Operand { field, is_literal: kind.is_literal(set), is_many, row: index as u8 };
            form.operands[form.count as usize] = operand;
            form.count += 1;
            form.once += !is_many as u8;
        }
        index += 1;
    }
    form
}

/// A set's instructions.
pub(super) fn forms(set: Set) -> &'static Forms {
    &FORMS[set as usize]
}

impl Form {
    /// Operands, in order.
    #[inline]
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..usize::from(self.count)]
    }

    /// The operand at an index in an instruction.
    #[inline]
    pub fn operand(&self, index: usize) -> Option<&Operand> {
        let once = usize::from(self.once);
        let count = usize::from(self.count);
        match index.checked_sub(once) {
            None => self.operands().get(index),
            Some(_) if once == count => None,
            // Repeated operands alternate, as pairs do.
            Some(more) => self.operands().get(once + more % (count - once)),
        }
    }

    /// The next operand with this field, from position `at` on; for alternating operands, also before. Moves the
    /// position past the operand. `None` if the set lacks the operand.
    #[inline]
    pub fn next(&self, field: Field, at: &mut usize) -> Option<Operand> {
        // Callers write fields in table order, so that the field is nearly always at this position.
        let form = match self.operands().get(*at) {
            Some(&form) if form.field == field => form,
            _ => {
                *at = self.further(field, *at)?;
                self.operands[*at]
            }
        };
        *at += usize::from(!form.is_many);
        Some(form)
    }

    /// The position of the field's operand, if it is not the operand at `from`.
    fn further(&self, field: Field, from: usize) -> Option<usize> {
        let operands = self.operands();
        let is = |place: &usize| operands[*place].field == field;
        (from..operands.len()).find(is).or_else(|| (0..from).find(is))
    }
}

impl Operand {
    /// The operand in the table.
    #[inline]
    pub fn row(&self, name: InstructionName) -> &'static OperandRow {
        &name.row().all_operands[usize::from(self.row)]
    }
}
