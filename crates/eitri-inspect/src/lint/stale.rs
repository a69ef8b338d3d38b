//! The finding about fields that hold another number than their relocation specifies.

use super::codes::LintCode;
use super::details::Details;
use super::finding::LintFinding;
use eitri_dwarf::error::Count;
use eitri_dwarf::read::Object;

/// Returns the finding about a file's fields: a single finding, because a single producer wrote them all.
pub(super) fn field(object: &Object<'_>) -> Option<LintFinding> {
    let stale = object.stale_fields()?;
    let written = format!("{:#x} in the field, which a reader without relocations takes", stale.stored);
    let details = Details::new(written)
        .meant(format!("{:#x}, the relocation's addend", stale.addend))
        .evidence([format!("{} with another number than the addend", Count(stale.count, "field"))]);
    let section = object.sections().get(stale.section)?.name.clone().into_owned();
    Some(LintFinding::new(LintCode::StaleField, section, stale.offset, details))
}
