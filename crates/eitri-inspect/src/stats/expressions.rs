//! The expressions in a unit's locations: each is looked up once for everything that is counted about it.

use std::rc::Rc;

use gimli::constants as dw;

use crate::lint::{ByExpression, Diagnoser, Expr};
use eitri_dwarf::op::{Decoder, Encoding, Op};
use eitri_dwarf::read::ListEntry;

/// An expression.
#[derive(Debug)]
struct Expression<'r> {
    bytes: &'r [u8],
    count: u64,
    needs: Needs,
    /// The expression as lint knows it, if its locations were diagnosed.
    diagnosed: Option<Rc<Expr>>,
}

/// What a location needs to have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing else than the machine's state.
    State,
    /// A value at function entry.
    EntryValue,
    /// The variable is unavailable.
    Unavailable,
}

/// A unit's expressions.
#[derive(Debug, Default)]
pub(super) struct Expressions<'r> {
    numbers: ByExpression<'r, u32>,
    list: Vec<Expression<'r>>,
    /// Expression numbers in the last location that was added.
    last: Vec<u32>,
}

/// Once there are this many expressions, they are given up before the next location.
const MOST: usize = 1 << 12;

impl<'r> Expressions<'r> {
    /// Whether they have to be [cleared](Self::clear) before another location is added.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.list.clear();
        self.last.clear();
    }

    /// Counts the expressions in a location that some variables share.
    pub(super) fn add(&mut self, list: &[ListEntry<'r>], encoding: Encoding, variables: u64) {
        self.last.clear();
        for &ListEntry { expr: bytes, .. } in list {
            eitri_dwarf::work::step();
            let number = match self.numbers.get(bytes) {
                Some(known) => *known,
                None => {
                    let number = self.list.len() as u32;
                    self.numbers.insert(bytes, number);
                    let needs = needs(bytes, encoding);
                    self.list.push(Expression { bytes, count: 0, needs, diagnosed: None });
                    number
                }
            };
            self.list[number as usize].count += variables;
            self.last.push(number);
        }
    }

    /// Returns what each expression in the last location needs.
    pub(super) fn needs(&self) -> impl Iterator<Item = Needs> {
        self.last.iter().map(|number| self.list[*number as usize].needs)
    }

    /// Returns the last location's expressions, in the form that lint diagnoses.
    pub(super) fn diagnosed<'e>(
        &'e mut self,
        diagnoser: &mut Diagnoser<'_, 'r, '_>,
    ) -> impl Iterator<Item = &'e Expr> + use<'e, 'r> {
        for number in &self.last {
            let counted = &mut self.list[*number as usize];
            counted.diagnosed.get_or_insert_with(|| diagnoser.read(counted.bytes));
        }
        self.last.iter().filter_map(|number| self.list[*number as usize].diagnosed.as_deref())
    }

    /// Returns each expression with its count.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'r [u8], u64)> {
        self.list.iter().map(|expression| (expression.bytes, expression.count))
    }
}

fn needs(expr: &[u8], encoding: Encoding) -> Needs {
    // Two opcodes encode a value at function entry.
    let entry_values = [dw::DW_OP_entry_value.0, dw::DW_OP_GNU_entry_value.0];
    let operations = || Decoder::new(expr, encoding).map_while(Result::ok).map(|operation| operation.op);
    if expr.iter().any(|byte| entry_values.contains(byte))
        && operations().any(|op| matches!(op, Op::EntryValue { .. }))
    {
        return Needs::EntryValue;
    }
    let is_empty = |op| {
        matches!(
            op,
            Op::Piece { .. } | Op::BitPiece { .. } | Op::PieceEnd {} | Op::Undefined { .. } | Op::Nop {}
        )
    };
    match Decoder::new(expr, encoding)
        .all(|operation| operation.is_ok_and(|operation| is_empty(operation.op)))
    {
        true => Needs::Unavailable,
        false => Needs::State,
    }
}
