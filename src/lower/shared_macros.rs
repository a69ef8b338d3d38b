//! Macros that several lists have, and that are written once.

use core::ops::Range;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;

use super::section::Part;
use crate::consumer::Consumer;
use crate::model::{Macro, Module, UnitId};

/// Bytes that refer to a list: an opcode, an offset and its relocation in an object file, ELF64 with an addend.
const IMPORT_BYTES: usize = 1 + 4 + 24;
/// Bytes of a list without entries: the header and the end.
const LIST_BYTES: usize = 4;

/// Definitions that follow each other in several files, as those of a header have them: they are a list that all units
/// import. DWARF 5 section 6.3.3; `.debug_macinfo` has no such entry.
#[derive(Default)]
pub(super) struct SharedMacros<'m> {
    /// The unit that writes each list, and the list's number.
    lists: HashMap<&'m [Macro], (UnitId, u64)>,
}

impl<'m> SharedMacros<'m> {
    pub(super) fn new(module: &'m Module, consumer: &Consumer) -> Self {
        // A split unit's macros are in its file.
        if consumer.version < 5 || consumer.is_split {
            return Self::default();
        }
        let mut counts: IndexMap<&'m [Macro], (UnitId, usize), DefaultHashBuilder> = IndexMap::default();
        for unit in module.units.keys() {
            let macros = module.macros(unit);
            for run in runs(macros) {
                counts.entry(&macros[run]).or_insert((unit, 0)).1 += 1;
            }
        }
        let saves_bytes = |run: &[Macro], count: usize| {
            let bytes: usize = run.iter().map(|what| 3 + text(module, what).len()).sum();
            (count - 1) * bytes > LIST_BYTES + count * IMPORT_BYTES
        };
        let shared = counts.into_iter().filter(|(run, (_, count))| saves_bytes(run, *count));
        let lists = shared.zip(0..).map(|((run, (unit, _)), number)| (run, (unit, number))).collect();
        Self { lists }
    }

    /// Returns the unit that writes a list with these entries, and the list's number, if several lists have them.
    pub(super) fn list(&self, entries: &[Macro]) -> Option<(UnitId, u64)> {
        self.lists.get(entries).copied()
    }
}

/// A unit's macros.
#[derive(Debug, Default)]
pub(super) struct UnitMacros {
    pub(super) part: Part,
    /// Lists that other units import: the number, and the offset in the part.
    pub(super) lists: Vec<(u64, u64)>,
}

/// Returns the definitions that follow each other, without files between them.
pub(super) fn runs(macros: &[Macro]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let is_file = |what: &Macro| matches!(what, Macro::File { .. } | Macro::EndFile);
    macros.split(is_file).filter_map(move |run| {
        let range = start..start + run.len();
        start = range.end + 1;
        Some(range).filter(|range| !range.is_empty())
    })
}

fn text<'m>(module: &'m Module, what: &Macro) -> &'m str {
    match *what {
        Macro::Define { text, .. } => module.string(text),
        Macro::Undefine { name, .. } => module.string(name),
        Macro::File { .. } | Macro::EndFile => "",
    }
}
