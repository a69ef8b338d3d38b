//! The table of instructions by set: numbers, and operands by index.

use super::operand::{Field, OperandRow};
use super::table::{Name, ROWS, Row, Set};

/// Most operands of an instruction in the table.
const MOST_OPERANDS: usize = 13;

/// An operand of an instruction in a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub field: Field,
    /// Whether a number is a literal rather than the id of a constant.
    pub is_literal: bool,
    /// Whether the operand can be repeated.
    pub is_many: bool,
    /// Index in [`Row::all_operands`].
    row: u8,
}

/// An instruction in a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Number of the instruction; `None` if the set lacks it.
    pub number: Option<u32>,
    operands: [Operand; MOST_OPERANDS],
    count: u8,
    /// Number of operands that are not repeated. The others come last.
    once: u8,
}

/// Instructions of a set, in the order of the table.
pub(super) type Forms = [Form; Name::ALL.len()];

static FORMS: [Forms; Set::ALL.len()] = {
    let nothing = Operand { field: Field::Name, is_literal: false, is_many: false, row: 0 };
    let nothing = Form { number: None, operands: [nothing; MOST_OPERANDS], count: 0, once: 0 };
    let mut all = [[nothing; Name::ALL.len()]; Set::ALL.len()];
    let mut set = 0;
    while set < Set::ALL.len() {
        let mut row = 0;
        while row < ROWS.len() {
            all[Set::ALL[set] as usize][row] = form(&ROWS[row], Set::ALL[set], nothing);
            row += 1;
        }
        set += 1;
    }
    all
};

const fn form(row: &Row, set: Set, mut form: Form) -> Form {
    form.number = row.number(set);
    let mut index = 0;
    while index < row.all_operands.len() {
        let OperandRow { field, kind, repeat, .. } = row.all_operands[index];
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

/// The instructions of a set.
pub(super) fn forms(set: Set) -> &'static Forms {
    &FORMS[set as usize]
}

impl Name {
    /// The instruction in a set.
    #[inline]
    pub(super) fn form(self, set: Set) -> &'static Form {
        &FORMS[set as usize][self as usize]
    }
}

impl Form {
    /// Operands, in order.
    #[inline]
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..usize::from(self.count)]
    }

    /// The operand at an index of an instruction.
    #[inline]
    pub fn at(&self, index: usize) -> Option<&Operand> {
        let (once, count) = (usize::from(self.once), usize::from(self.count));
        match index.checked_sub(once) {
            None => self.operands().get(index),
            Some(_) if once == count => None,
            Some(more) => self.operands().get(once + more % (count - once)),
        }
    }

    /// The next operand with this field, from position `at` on; for operands that alternate, also before. Moves the
    /// position past the operand. `None` if the set lacks the operand.
    #[inline]
    pub fn next(&self, field: Field, at: &mut usize) -> Option<Operand> {
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

    /// Position of the field's operand if it is not the one at `from`.
    fn further(&self, field: Field, from: usize) -> Option<usize> {
        let all = self.operands();
        let is = |place: &usize| all[*place].field == field;
        (from..all.len()).find(is).or_else(|| (0..from).find(is))
    }
}

impl Operand {
    /// The operand in the table.
    #[inline]
    pub fn row(&self, name: Name) -> &'static OperandRow {
        &name.row().all_operands[usize::from(self.row)]
    }
}
