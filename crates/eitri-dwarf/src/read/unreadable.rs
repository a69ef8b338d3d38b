//! Fields whose relocations cannot be applied: their numbers are unknown.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;

/// A field of a section whose relocation cannot be applied. What contains the field cannot be read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UnreadableField {
    /// Section name.
    pub section: Arc<str>,
    /// Offset of the field's first byte in the section, in bytes.
    pub offset: u64,
    /// Reason, with section and offset.
    pub error: Error,
}

/// Returns a section's fields, from fields that are sorted by section and offset.
pub(in crate::read) fn of_section<'o>(all: &'o [UnreadableField], section: &str) -> &'o [UnreadableField] {
    let start = all.partition_point(|field| *field.section < *section);
    let rest = &all[start..];
    &rest[..rest.partition_point(|field| *field.section == *section)]
}

/// Returns a section's fields that begin within a range.
pub(super) fn within(of_section: &[UnreadableField], range: Range<u64>) -> &[UnreadableField] {
    let start = of_section.partition_point(|field| field.offset < range.start);
    let rest = &of_section[start..];
    &rest[..rest.partition_point(|field| field.offset < range.end)]
}
