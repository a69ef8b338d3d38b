//! Facts without a unit: line tables of `-lineinfo` in cubins, and the frames of a file that has no unit at all.

use hashbrown::HashSet;

use super::unimported::{UnimportedFact, UnimportedReason};
use crate::read::{Dwarf, FrameSection, Object, nvidia};

/// Returns the facts of a file that belong to none of its units.
pub(super) fn facts(object: &Object<'_>, dwarf: &Dwarf<'_>) -> Vec<UnimportedFact> {
    let mut facts = Vec::new();
    if object.is_cubin() {
        lines(object, dwarf, &mut facts);
    }
    if dwarf.units().is_empty() {
        let section = FrameSection::Debug;
        let frames = dwarf.frames_of_code(section);
        let fact = |offset, reason| UnimportedFact::new(section.name(), offset, reason);
        facts.extend(frames.fdes.iter().map(|fde| fact(fde.offset, reason(dwarf, fde.start))));
        facts.extend(
            frames.errors.iter().map(|error| {
                fact(error.at().offset.unwrap_or(0), UnimportedReason::Unreadable(error.clone()))
            }),
        );
    }
    facts
}

/// Lists each program with rows to which no unit refers.
fn lines(object: &Object<'_>, dwarf: &Dwarf<'_>, facts: &mut Vec<UnimportedFact>) {
    let owned: HashSet<u64> = dwarf.units().iter().filter_map(|unit| unit.stmt_list).collect();
    for program in nvidia::lines(object) {
        let first = program.and_then(|program| {
            let row = program.rows().next_row()?.copied();
            Ok((program.offset, row))
        });
        let (offset, reason) = match first {
            Ok((_, None)) => continue,
            Ok((offset, Some(row))) => (offset, reason(dwarf, row.address)),
            Err(error) => (error.at().offset.unwrap_or(0), UnimportedReason::Unreadable(error)),
        };
        if !owned.contains(&offset) {
            facts.push(UnimportedFact::new(".debug_line", offset, reason));
        }
    }
}

fn reason(dwarf: &Dwarf<'_>, start: u64) -> UnimportedReason {
    if dwarf.is_code(start) { UnimportedReason::NoFunction } else { UnimportedReason::DiscardedCode }
}
