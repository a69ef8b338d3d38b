//! Types of type units. A type unit has a copy of each type that it needs and that has no type unit, such as `int` or a type
//! definition, and of the namespaces around its types. A unit that gets the types of several type units gets such a type or
//! namespace once: its own, if it has an equal type, and otherwise the copy of the first type unit.

use core::ops::Range;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::candidates::Candidates;
use super::graph::Graph;
use super::signature::Signatures;
use crate::read::Dwarf;

/// The types and namespaces of a file with type units, by what they say.
#[derive(Debug, Default)]
pub(in crate::import) struct CopiedTypes {
    candidates: Candidates,
    /// Class of each type: types of one class are equal.
    classes: Vec<u32>,
    types: Firsts,
    namespaces: Firsts,
}

/// The first of equal entries, by their class.
#[derive(Debug, Default)]
struct Firsts {
    /// Whether each entry is in a type unit.
    is_copy: Vec<bool>,
    /// In type units.
    copies: HashMap<u32, u32>,
    /// In each other unit, by the unit's offset.
    own: HashMap<(u32, u64), u32>,
}

impl Firsts {
    fn add(&mut self, number: u32, class: u32, unit: &crate::read::Unit<'_>) {
        let is_copy = unit.kind == dw::DW_UT_type;
        self.is_copy.push(is_copy);
        if is_copy {
            self.copies.entry(class).or_insert(number);
        } else {
            self.own.entry((class, unit.offset)).or_insert(number);
        }
    }

    /// Returns the first entry that a unit has for a copy.
    fn get(&self, class: u32, unit_offset: u64) -> Option<u32> {
        self.own.get(&(class, unit_offset)).or_else(|| self.copies.get(&class)).copied()
    }
}

impl CopiedTypes {
    /// Compares the types of a file, if it has type units.
    pub(in crate::import) fn new(dwarf: &Dwarf<'_>) -> Self {
        let units = dwarf.units();
        if !units.iter().any(|unit| unit.kind == dw::DW_UT_type) {
            return Self::default();
        }
        let candidates = Candidates::new(dwarf);
        let classes = {
            let mut signatures = Signatures::new(dwarf, &candidates);
            Graph::new(&candidates, &mut signatures).classes()
        };
        let mut this = Self { classes, ..Self::default() };
        for ((number, candidate), &class) in (0..).zip(&candidates.all).zip(&this.classes) {
            this.types.add(number, class, &units[candidate.unit as usize]);
        }
        for namespace in &candidates.namespaces {
            this.namespaces.add(namespace.index, namespace.number, &units[namespace.unit as usize]);
        }
        this.candidates = candidates;
        this
    }

    /// Returns the index of the entry that is imported for a unit instead of an entry in a type unit.
    pub(in crate::import) fn first(&self, index: usize, unit_offset: u64) -> Option<usize> {
        let namespaces = &self.candidates.namespaces;
        if let Ok(position) = namespaces.binary_search_by_key(&index, |namespace| namespace.index as usize) {
            let is_copy = self.namespaces.is_copy[position];
            let first = self.namespaces.get(namespaces[position].number, unit_offset);
            return first.map(|first| first as usize).filter(|&first| is_copy && first != index);
        }
        let number = self.copy(index)?;
        let first = self.types.get(self.classes[number as usize], unit_offset)?;
        let [copy, first] = [number, first].map(|number| self.candidates.all[number as usize].entries());
        (copy != first).then(|| first.start + (index - copy.start))
    }

    /// Returns the types and namespaces in type units that are not imported, each with an equal type or namespace that is.
    pub(in crate::import) fn repeated(&self, is_imported: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let Candidates { all, namespaces } = &self.candidates;
        let types = all.iter().zip(&self.classes).zip(&self.types.is_copy);
        let types = types.map(|((ty, &class), &is_copy)| (ty.start, (false, class), is_copy));
        let around = namespaces.iter().zip(&self.namespaces.is_copy);
        let around = around.map(|(around, &is_copy)| (around.index, (true, around.number), is_copy));
        let entries: Vec<_> = types.chain(around).collect();
        let (imported, left): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(index, ..)| is_imported(*index));
        let known: HashMap<(bool, u32), u32> =
            imported.into_iter().map(|(index, class, _)| (class, index)).collect();
        let copies = left.into_iter().filter(|&(.., is_copy)| is_copy);
        copies.filter_map(|(index, class, _)| Some((index, *known.get(&class)?))).collect()
    }

    /// Returns the indices of the type in a type unit that has an entry.
    pub(in crate::import) fn entries(&self, index: usize) -> Option<Range<usize>> {
        self.copy(index).map(|number| self.candidates.all[number as usize].entries())
    }

    /// Returns the number of the type in a type unit that has an entry.
    fn copy(&self, index: usize) -> Option<u32> {
        self.candidates.containing(index).filter(|&number| self.types.is_copy[number as usize])
    }
}
