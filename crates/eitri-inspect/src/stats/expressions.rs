//! Expressions in the locations of a unit: each is looked up once for all that is counted of it.

use std::rc::Rc;

use gimli::constants as dw;

use crate::lint::{ByExpression, Expr, Judge};
use eitri_dwarf::op::{Decoder, Encoding, Op};
use eitri_dwarf::read::ListEntry;

/// An expression.
#[derive(Debug)]
struct Expression<'r> {
    bytes: &'r [u8],
    count: u64,
    needs_entry_value: bool,
    /// The expression as lint knows it, if its locations were diagnosed.
    judged: Option<Rc<Expr>>,
}

/// Expressions of a unit.
#[derive(Debug, Default)]
pub(super) struct Expressions<'r> {
    numbers: ByExpression<'r, u32>,
    all: Vec<Expression<'r>>,
    /// Numbers of the expressions of the location that was added last.
    last: Vec<u32>,
}

/// Number of expressions from which on they are given up before the next location.
const MOST: usize = 1 << 12;

impl<'r> Expressions<'r> {
    /// Whether they have to be [cleared](Self::clear) before another location is added.
    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.all.clear();
        self.last.clear();
    }

    /// Counts the expressions of a location of a number of variables.
    pub(super) fn add(&mut self, list: &[ListEntry<'r>], encoding: Encoding, variables: u64) {
        self.last.clear();
        for &ListEntry { expr: bytes, .. } in list {
            eitri_dwarf::work::step();
            let number = match self.numbers.get(bytes) {
                Some(known) => *known,
                None => {
                    let number = self.all.len() as u32;
                    self.numbers.insert(bytes, number);
                    let needs_entry_value = needs_entry_value(bytes, encoding);
                    self.all.push(Expression { bytes, count: 0, needs_entry_value, judged: None });
                    number
                }
            };
            self.all[number as usize].count += variables;
            self.last.push(number);
        }
    }

    /// Returns for each expression of the last location whether it needs a value at the entry of the function.
    pub(super) fn need_entry_values(&self) -> impl Iterator<Item = bool> {
        self.last.iter().map(|number| self.all[*number as usize].needs_entry_value)
    }

    /// Returns the expressions of the last location, in the form that lint diagnoses.
    pub(super) fn judged<'e>(
        &'e mut self,
        judge: &mut Judge<'_, 'r, '_>,
    ) -> impl Iterator<Item = &'e Expr> + use<'e, 'r> {
        for number in &self.last {
            let counted = &mut self.all[*number as usize];
            counted.judged.get_or_insert_with(|| judge.read(counted.bytes));
        }
        self.last.iter().filter_map(|number| self.all[*number as usize].judged.as_deref())
    }

    /// Returns the expressions with the number of each.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'r [u8], u64)> {
        self.all.iter().map(|one| (one.bytes, one.count))
    }
}

/// Whether an expression uses a value at the entry of the function.
fn needs_entry_value(expr: &[u8], encoding: Encoding) -> bool {
    // The operation has one of two opcodes.
    let opcodes = [dw::DW_OP_entry_value.0, dw::DW_OP_GNU_entry_value.0];
    if !expr.iter().any(|byte| opcodes.contains(byte)) {
        return false;
    }
    let operations = Decoder::new(expr, encoding).map_while(Result::ok);
    operations.into_iter().any(|one| matches!(one.op, Op::EntryValue { .. }))
}
