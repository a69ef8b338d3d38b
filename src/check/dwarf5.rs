//! What a consumer of plain DWARF 5 can read: DWARF 5 section 2.6.1.
//!
//! There a location is the end of an expression or of a part of it, and no stack element. The evaluator
//! reads more than that, so what it finds does not show whether such a consumer would.

use super::locations::Place;
use super::meanings::Meanings;
use super::report::Kind;
use crate::model::Node;
use crate::op::{Decoder, Dialect, Encoding, Op};
use crate::read::Value;

impl<'a, 'o> Meanings<'_, 'a, 'o> {
    /// Looks at the form of all that is said of where a variable is, if the consumer reads DWARF 5 only.
    pub(super) fn plain_form(&mut self, place: Place<'a, 'o>) {
        if self.described.consumer.dialect != Dialect::Dwarf5 || self.has_raw(place) {
            return;
        }
        let entry = place.entry;
        let encoding = Encoding { dialect: Dialect::Dwarf5, ..entry.unit().encoding };
        let problem = match entry.attr(gimli::DW_AT_location) {
            Some(Value::Expr(expr)) => problem(expr, encoding),
            Some(Value::LocList(_)) => {
                let entries = self.file.lists.get(&entry.offset()).into_iter().flat_map(|list| &list.entries);
                entries.into_iter().find_map(|one| problem(&one.expr, encoding))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            let at = self.module.at_variable(place.id, None);
            self.report.find(Kind::Evaluation, at, "an expression of DWARF 5", problem);
        }
    }

    /// Whether the model says it with a raw expression, which can be for a reader that it knows.
    fn has_raw(&self, place: Place<'a, 'o>) -> bool {
        let module = self.module;
        let mut all = module.live(place.id).iter().map(|live| live.loc).chain(module.always(place.id));
        all.any(|loc| module.nodes(loc).any(|node| matches!(node, Node::Expr(_) | Node::Call(_))))
    }
}

/// What is wrong with an expression, if something is.
pub(super) fn problem(expr: &[u8], encoding: Encoding) -> Option<String> {
    // Whether a part is complete, whether there are parts, and whether the last operation ended one.
    let (mut is_complete, mut has_parts, mut is_end) = (false, false, false);
    for decoded in Decoder::new(expr, encoding) {
        let op = match decoded {
            Ok(decoded) => decoded.op,
            Err(error) => return Some(error.to_string()),
        };
        is_end = matches!(op, Op::Piece { .. } | Op::BitPiece { .. });
        if is_complete && !is_end {
            return Some(format!("`{}` after the end of a location", op.row().text));
        }
        has_parts |= is_end;
        is_complete = matches!(
            op,
            Op::RegX { .. } | Op::ImplicitValue { .. } | Op::StackValue {} | Op::ImplicitPointer { .. }
        );
    }
    (has_parts && !is_end).then(|| "a last part without a size".into())
}
