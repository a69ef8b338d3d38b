//! The table of instructions as it is written from: of one set, and only what a writer asks.

use std::sync::LazyLock;

use crate::spirv::operand::Field;
use crate::spirv::table::{Name, Set};

/// An operand that the set has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub field: Field,
    /// Whether a number is a literal, and not the id of a constant.
    pub is_literal: bool,
    /// Whether it comes again.
    pub is_many: bool,
}

/// The instructions of a set, in the order of the table.
#[derive(Debug)]
pub(super) struct Forms(Vec<Form>);

/// An instruction.
#[derive(Debug)]
pub(super) struct Form {
    /// Its number, if the set has it.
    pub number: Option<u32>,
    /// Its operands, in order.
    pub operands: Vec<Operand>,
}

static ALL: LazyLock<[Forms; 3]> = LazyLock::new(|| Set::ALL.map(Forms::new));

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

    /// Those of a set.
    pub fn of(set: Set) -> &'static Self {
        &ALL[set as usize]
    }

    /// An instruction.
    pub fn get(&self, name: Name) -> &Form {
        &self.0[name as usize]
    }
}

impl Form {
    /// The operand of a field: the first from a place on, or, of those that take turns, before. The place is moved
    /// behind it. `None` if the set has none.
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

    /// The same if it is not the one at the place.
    fn further(&self, field: Field, from: usize) -> Option<usize> {
        let is = |place: &usize| self.operands[*place].field == field;
        (from..self.operands.len()).find(is).or_else(|| (0..from).find(is))
    }
}
