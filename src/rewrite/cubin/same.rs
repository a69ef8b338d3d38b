//! Entries that say the same about one code.

use gimli::constants as dw;

use crate::read::{Attribute, Entry, ListEntry, ResolvedValue};

/// Attributes whose values differ between units with the same meaning: positions of entries and numbers of files.
const OF_UNIT: [gimli::DwAt; 3] = [dw::DW_AT_sibling, dw::DW_AT_decl_file, dw::DW_AT_call_file];

/// Whether two functions say the same, in entries with the same order. What they refer to is the same if its kind and
/// name are.
pub(super) fn are_same(one: Entry<'_, '_>, two: Entry<'_, '_>) -> bool {
    let [left, right] = [one, two].map(|entry| core::iter::once(entry).chain(entry.descendants()));
    let depths = one.depth() as isize - two.depth() as isize;
    one.descendants().len() == two.descendants().len()
        && left.zip(right).all(|(left, right)| {
            left.depth() as isize - right.depth() as isize == depths && is_same(left, right)
        })
}

fn is_same(left: Entry<'_, '_>, right: Entry<'_, '_>) -> bool {
    let [one, two] = [own(left), own(right)];
    left.tag() == right.tag()
        && one.len() == two.len()
        && one.iter().zip(&two).all(|(one, two)| one.name == two.name && is_value(left, one, right, two))
}

/// Whether two lists say the same, wherever they are.
pub(super) fn are_same_lists(one: Option<&[ListEntry<'_>]>, two: Option<&[ListEntry<'_>]>) -> bool {
    let facts = |entry: &ListEntry<'_>| (entry.is_default(), entry.start, entry.end);
    let [one, two] = [one.unwrap_or_default(), two.unwrap_or_default()];
    one.len() == two.len()
        && one.iter().zip(two).all(|(one, two)| facts(one) == facts(two) && one.expr == two.expr)
}

/// Returns the attributes whose values mean the same in all units.
fn own<'o>(entry: Entry<'_, 'o>) -> Vec<Attribute<'o>> {
    entry.attributes().filter(|attribute| !OF_UNIT.contains(&attribute.name)).collect()
}

fn is_value(left: Entry<'_, '_>, one: &Attribute<'_>, right: Entry<'_, '_>, two: &Attribute<'_>) -> bool {
    match (one.value, two.value) {
        (ResolvedValue::Reference(_), ResolvedValue::Reference(_)) => {
            match (left.referred(one.value), right.referred(two.value)) {
                (Some(one), Some(two)) => one.tag() == two.tag() && one.name() == two.name(),
                (one, two) => one.is_none() && two.is_none(),
            }
        }
        (ResolvedValue::LocList(_), ResolvedValue::LocList(_)) => {
            match (left.locations(one.name), right.locations(two.name)) {
                (Ok(one), Ok(two)) => are_same_lists(one.as_deref(), two.as_deref()),
                _ => false,
            }
        }
        (ResolvedValue::RngList(_), ResolvedValue::RngList(_)) => {
            matches!((left.ranges(), right.ranges()), (Ok(one), Ok(two)) if one == two)
        }
        (one, two) => one == two,
    }
}
