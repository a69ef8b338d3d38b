//! Location lists of the format.

use std::borrow::Cow;

use serde::Deserialize;

use super::words::{Bytes, Offset, Parsed, Wrong};
use crate::eval::ListEntry;

/// An entry of a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub(super) enum ListText {
    BaseAddress { start: Parsed<Offset> },
    OffsetPair { start: Parsed<Offset>, end: Parsed<Offset>, expr: Bytes },
    StartEnd { start: Parsed<Offset>, end: Parsed<Offset>, expr: Bytes },
    StartLength { start: Parsed<Offset>, length: Parsed<Offset>, expr: Bytes },
    Default { expr: Bytes },
}

/// The entries that have an expression, with base addresses applied. `base` is that of the unit.
pub(super) fn entries(
    list: &[ListText],
    mut base: Option<u64>,
    address_bytes: u8,
) -> Result<Vec<ListEntry<'static>>, Wrong> {
    let largest = u64::MAX >> (64 - 8 * u32::from(address_bytes.clamp(1, 8)));
    let mut entries = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let (bounds, Bytes(expr)) = match entry {
            ListText::BaseAddress { start } => {
                base = Some(start.0.0);
                continue;
            }
            ListText::OffsetPair { start, end, expr } => {
                let base = base.ok_or_else(|| Wrong::new("there is no base address").at(index))?;
                let at = |offset: &Parsed<Offset>| base.wrapping_add(offset.0.0) & largest;
                (Some((at(start), at(end))), expr)
            }
            ListText::StartEnd { start, end, expr } => (Some((start.0.0, end.0.0)), expr),
            ListText::StartLength { start, length, expr } => {
                (Some((start.0.0, start.0.0.saturating_add(length.0.0))), expr)
            }
            ListText::Default { expr } => (None, expr),
        };
        entries.push(ListEntry { bounds, expr: Cow::Owned(expr.clone()) });
    }
    Ok(entries)
}
