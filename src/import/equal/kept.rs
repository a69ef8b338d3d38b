//! Copies that stay. A reference to another unit has the size of an offset, and one in the unit half of it or less: a small
//! type with many references in its unit takes less room than the references to another unit would.

use gimli::constants as dw;
use hashbrown::HashMap;

use super::candidates::Candidates;
use super::graph::Graph;
use crate::read::{Dwarf, Entry, ResolvedValue};

/// Average number of bytes that a reference to another unit takes more than a reference in the unit.
const SAVED: usize = 2;

/// Returns the type that is imported for each type: the first equal type, or the unit's first equal type if its copy stays.
pub(super) fn representatives(
    dwarf: &Dwarf<'_>,
    candidates: &Candidates,
    graph: &Graph,
    classes: &[u32],
) -> Vec<u32> {
    let units = dwarf.units();
    let mut firsts: HashMap<u32, u32> = HashMap::new();
    let mut copies: HashMap<(u32, u32), u32> = HashMap::new();
    let mut all = Copies { of_unit: Vec::new(), references: vec![0; classes.len()], first: Vec::new() };
    for (number, &class) in (0..).zip(classes) {
        let unit = candidates.all[number as usize].unit;
        all.first.push(*firsts.entry(class).or_insert(number));
        all.of_unit.push(*copies.entry((class, unit)).or_insert(number));
    }
    // Only a compile unit has types by itself.
    let unit_of = |number: u32| candidates.all[number as usize].unit;
    let can_stay = |number: u32| {
        let candidate = candidates.all[number as usize];
        candidate.start + 1 == candidate.end
            && units[candidate.unit as usize].kind == dw::DW_UT_compile
            && unit_of(all.first[number as usize]) != candidate.unit
    };
    // References from entries that stay.
    let mut waiting = Vec::new();
    for entry in dwarf.entries() {
        let Some(referred) = entry.reference(dw::DW_AT_type).filter(|to| is_near(entry, *to)) else {
            continue;
        };
        let around = candidates.containing(entry.index());
        if around.is_some_and(|around| all.first[around as usize] != around) {
            continue;
        }
        waiting.extend(candidates.containing(referred.index()));
    }
    let is_base =
        |number| candidates.entry(dwarf, number).is_some_and(|entry| entry.tag() == dw::DW_TAG_base_type);
    // Expressions can only refer to base types of their unit.
    let mut stays: Vec<bool> =
        (0..classes.len() as u32).map(|number| can_stay(number) && is_base(number)).collect();
    while let Some(number) = waiting.pop() {
        crate::work::step();
        let copy = all.of_unit[number as usize];
        if stays[copy as usize] || !can_stay(copy) {
            continue;
        }
        all.references[copy as usize] += 1;
        let Some(entry) = candidates.entry(dwarf, copy) else { continue };
        if all.references[copy as usize] * SAVED > bytes(entry) {
            stays[copy as usize] = true;
            waiting.extend(graph.refers(copy).filter(|&to| unit_of(to) == unit_of(copy)));
        }
    }
    let representative = |(&first, &copy): (&u32, &u32)| if stays[copy as usize] { copy } else { first };
    all.first.iter().zip(&all.of_unit).map(representative).collect()
}

/// The copies of equal types.
struct Copies {
    /// The first equal type in the unit, for each type.
    of_unit: Vec<u32>,
    /// Number of references to the unit's copies, at the first of them.
    references: Vec<usize>,
    /// The first equal type, for each type.
    first: Vec<u32>,
}

fn is_near(entry: Entry<'_, '_>, to: Entry<'_, '_>) -> bool {
    core::ptr::eq(entry.dwarf(), to.dwarf()) && entry.unit().offset == to.unit().offset
}

/// Returns about how many bytes an entry takes with its reference to another unit. What it depends on does not change if it
/// is written again.
fn bytes(entry: Entry<'_, '_>) -> usize {
    let mut bytes = 1;
    for attribute in entry.attributes() {
        bytes += match attribute.value {
            // A short text is in the entry, a long text has an index.
            ResolvedValue::String(text) => text.bytes().len().min(2) + 1,
            ResolvedValue::Reference(_) | ResolvedValue::Signature(_) => 4,
            ResolvedValue::Unsigned(0x100..) => 2,
            ResolvedValue::Flag(_) => 0,
            _ => 1,
        };
    }
    bytes
}
