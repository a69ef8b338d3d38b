//! Expressions that a consumer of plain DWARF 5 can read: DWARF 5 section 2.6.1.
//!
//! In plain DWARF 5 a location ends an expression or a piece; it is not a stack element. The evaluator accepts more,
//! so that its result does not show whether such a consumer can read the expression.

use super::describe::Describe;
use super::meanings::Meanings;
use super::places::Place;
use super::report::FindingKind;
use crate::consumer::Consumer;
use crate::model::Node;
use crate::op::{Decoder, Dialect, Encoding, Op};
use crate::read::ResolvedValue;

/// Checks the form that a variable's expressions have, if the consumer reads plain DWARF 5 only.
pub(super) fn check_form<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, place: Place<'a, 'o>) {
    let consumer = meanings.described.consumer;
    if consumer.expressions.dialect != Dialect::Dwarf5 || has_raw(meanings, place) {
        return;
    }
    let encoding = place.entry.unit().encoding.with_dialect(Dialect::Dwarf5);
    let problem = |expr: &[u8]| problem_for(Some(consumer), expr, encoding);
    report_first_problem(meanings, place, "an expression of DWARF 5", problem);
}

/// Checks that the operations for a variable without bits can be decoded. Its location is not evaluated, because no
/// bit could differ.
pub(super) fn check_decodable<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, place: Place<'a, 'o>) {
    if !has_raw(meanings, place) {
        let encoding = place.entry.unit().encoding;
        let problem = |expr: &[u8]| Some(Decoder::new(expr, encoding).find_map(Result::err)?.to_string());
        report_first_problem(meanings, place, "an expression", problem);
        let of_other_class = place.entry.attr(gimli::DW_AT_location);
        let is_location =
            |value: &ResolvedValue<'_>| matches!(value, ResolvedValue::Expr(_) | ResolvedValue::LocList(_));
        if let Some(value) = of_other_class.filter(|value| !is_location(value)) {
            let site = meanings.module.at_variable(place.id, None);
            meanings.report.find(FindingKind::Evaluation, site, "an expression", value.describe());
        }
    }
}

/// Reports the first problem in a variable's expressions.
fn report_first_problem<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    place: Place<'a, 'o>,
    expected: &str,
    problem: impl Fn(&[u8]) -> Option<String>,
) {
    let problem = match place.entry.attr(gimli::DW_AT_location) {
        Some(ResolvedValue::Expr(expr)) => problem(expr),
        Some(ResolvedValue::LocList(_)) => {
            let list = meanings.file.list(place.entry);
            let mut entries = list.iter().flat_map(|list| &list.entries);
            entries.find_map(|entry| problem(&entry.expr))
        }
        _ => None,
    };
    if let Some(problem) = problem {
        let site = meanings.module.at_variable(place.id, None);
        meanings.report.find(FindingKind::Evaluation, site, expected, problem);
    }
}

/// Returns whether the module has a raw expression here, which may be for a particular reader.
fn has_raw<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, place: Place<'a, 'o>) -> bool {
    let module = meanings.module;
    let mut locs = module.live(place.id).iter().map(|live| live.loc).chain(module.always(place.id));
    locs.any(|loc| module.nodes(loc).any(|node| matches!(node, Node::Expr(_) | Node::Call(_))))
}

/// Returns the first DWARF 5 violation in an expression.
pub(super) fn problem(expr: &[u8], encoding: Encoding) -> Option<String> {
    problem_for(None, expr, encoding)
}

/// Returns the first DWARF 5 violation in an expression, or else the first operation that a consumer does not read.
fn problem_for(consumer: Option<&Consumer>, expr: &[u8], encoding: Encoding) -> Option<String> {
    let mut unread = None;
    // Whether a location is complete, whether there are pieces, and whether the last operation was a piece.
    let mut is_complete = false;
    let mut has_parts = false;
    let mut is_end = false;
    for decoded in Decoder::new(expr, encoding) {
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(error) => return Some(error.to_string()),
        };
        let op = decoded.op;
        let code = expr[decoded.offset];
        unread = unread.or(consumer
            .filter(|consumer| !consumer.expressions.operations.has(code))
            .map(|consumer| (consumer.name, code)));
        is_end = matches!(op, Op::Piece { .. } | Op::BitPiece { .. });
        // After a complete location only a piece may follow: section 2.6.1.2.
        if is_complete && !is_end {
            return Some(format!("`{}` after the end of a location", op.row().text));
        }
        has_parts |= is_end;
        is_complete = matches!(
            op,
            Op::RegX { .. } | Op::ImplicitValue { .. } | Op::StackValue {} | Op::ImplicitPointer { .. }
        );
    }
    // A composite ends with a piece, otherwise its last part has no size.
    if has_parts && !is_end {
        return Some("a last part without a size".into());
    }
    // Reported last: a violation explains more than an unread operation.
    let (name, code) = unread?;
    Some(format!("opcode {code:#04x}, over which {name} does not step"))
}
