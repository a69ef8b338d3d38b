//! Entries that the module does not describe.

use gimli::constants as dw;

use super::describe::Describe;
use super::report::{CheckReport, FindingKind};
use super::tree::Described;
use crate::error::At;
use crate::read::{Dwarf, Entry, Unit};

/// Returns whether an entry covers a described function's code.
fn has_described_code(described: Described<'_>, entry: Entry<'_, '_>) -> bool {
    // Ranges that cannot be read count as empty.
    entry.ranges().unwrap_or_default().iter().any(|pcs| described.index.code.meet(pcs))
}

/// Returns whether a unit that is not described, or a function in it, covers a described function's code.
pub(super) fn overlaps_described_code(described: Described<'_>, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> bool {
    let is_function = |entry: &Entry<'_, '_>| entry.tag() == dw::DW_TAG_subprogram;
    let root = dwarf.entries_of(unit).next();
    let functions = root.into_iter().flat_map(|root| root.descendants()).filter(is_function);
    root.into_iter().chain(functions).any(|entry| has_described_code(described, entry))
}

/// Adds a finding for an entry that is not described: [`FindingKind::Code`] for a function over described code, which a
/// debugger that looks up a pc can find instead.
pub(super) fn report_unexpected(
    report: &mut CheckReport,
    described: Described<'_>,
    entry: Entry<'_, '_>,
    at: At,
) {
    let name = entry.name().unwrap_or_default();
    let tags = [dw::DW_TAG_variable, dw::DW_TAG_formal_parameter, dw::DW_TAG_constant];
    let variable = tags.contains(&entry.tag()).then(|| name.to_string()).or(at.variable.clone());
    let text = format!("{} `{name}`", entry.tag().describe());
    // Blocks and inlined calls lie within their function's code and hide nothing.
    let is_over = entry.tag() == dw::DW_TAG_subprogram && has_described_code(described, entry);
    let kind = if is_over { FindingKind::Code } else { FindingKind::Extra };
    report.find(kind, at.with(|context| context.variable = variable), "no more", text);
}
