//! The table of instructions, reduced to one set and to the columns that the writer needs.

use std::sync::LazyLock;

use crate::spirv::operand::Field;
use crate::spirv::table::{Name, Set};

/// An operand of an instruction in the set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub field: Field,
    /// Whether a number is a literal rather than the id of a constant.
    pub is_literal: bool,
    /// Whether the operand can be repeated.
    pub is_many: bool,
}

/// Instructions of a set, in the order of the table.
#[derive(Debug)]
pub(super) struct Forms(Vec<Form>);

/// An instruction in a set.
#[derive(Debug)]
pub(super) struct Form {
    /// Number of the instruction; `None` if the set lacks it.
    pub number: Option<u32>,
    /// Operands, in order.
    pub operands: Vec<Operand>,
}

static ALL: LazyLock<[Forms; 4]> = LazyLock::new(|| Set::ALL.map(Forms::new));

impl Forms {
    fn new(set: Set) -> Self {
        let form = |name: &Name| {
            let row = name.row();
            let operands = row.operands(set).map(|operand| Operand {
                field: operand.field,
                is_literal: operand.kind.is_literal(set),
                is_many: operand.repeat.is_many(),
            });
            Form { number: row.number(set), operands: operands.collect() }
        };
        Self(Name::ALL.iter().map(form).collect())
    }

    /// The instructions of a set.
    pub fn for_set(set: Set) -> &'static Self {
        &ALL[set as usize]
    }

    /// The form of an instruction.
    pub fn get(&self, name: Name) -> &Form {
        &self.0[name as usize]
    }
}

impl Form {
    /// The next operand with this field, from position `at` on; for operands that alternate, also before. Moves the
    /// position past the operand. `None` if the set lacks the operand.
    #[inline]
    pub fn next(&self, field: Field, at: &mut usize) -> Option<Operand> {
        let form = match self.operands.get(*at) {
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
        let is = |place: &usize| self.operands[*place].field == field;
        (from..self.operands.len()).find(is).or_else(|| (0..from).find(is))
    }
}
