//! Whether a comparison combines numbers: shifts, products and masks hide a mistake in most machine contents, so that
//! contents are [chosen](super::numbers) for such a comparison.

use std::rc::Rc;

use gimli::constants as dw;

use super::meanings::Meanings;
use super::numbers::{does_expression_combine, does_location_combine, offsets};
use super::referred::is_procedure;
use crate::model::LocId;
use crate::op::Encoding;

/// Returns the constants that described locations, or the object's expressions, add to numbers, if a location or an
/// expression [combines](does_combine) numbers.
pub(super) fn combined_offsets(
    meanings: &Meanings<'_, '_, '_>,
    described: &[LocId],
    exprs: &[&[u8]],
    encoding: Encoding,
) -> Option<Rc<[u64]>> {
    let nodes = described.iter().flat_map(|&loc| meanings.module.nodes(loc));
    does_combine(meanings, described, exprs, encoding)
        .then(|| offsets(nodes, exprs.iter().copied(), encoding))
}

/// Returns whether a described location, or one of the object's expressions, combines numbers, either directly or in
/// a procedure that it calls.
pub(super) fn does_combine(
    meanings: &Meanings<'_, '_, '_>,
    described: &[LocId],
    exprs: &[&[u8]],
    encoding: Encoding,
) -> bool {
    let module = meanings.module;
    let in_module = || *meanings.described_procedures_combine.get_or_init(|| do_described_combine(meanings));
    let in_object = || *meanings.encoded_procedures_combine.get_or_init(|| do_encoded_combine(meanings));
    described.iter().any(|&loc| does_location_combine(module.nodes(loc), in_module))
        || exprs.iter().any(|expr| does_expression_combine(expr, encoding, in_object))
}

fn do_described_combine(meanings: &Meanings<'_, '_, '_>) -> bool {
    let module = meanings.module;
    // A call counts as combining if any procedure does, because callees are not followed.
    module.procedures.values().any(|procedure| does_location_combine(module.nodes(procedure.loc), || false))
}

fn do_encoded_combine(meanings: &Meanings<'_, '_, '_>) -> bool {
    let mut procedures = meanings.file.dwarf.entries().filter(|&entry| is_procedure(entry));
    procedures.any(|entry| {
        let list = entry.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
        list.iter().any(|range| does_expression_combine(range.expr, entry.unit().encoding, || false))
    })
}
