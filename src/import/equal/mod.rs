//! Equal types of different units: types that say the same, and refer to types that are equal. Which they are follows from
//! the facts of the entries, so that it holds for every attribute of every producer.
//!
//! Types are compared outside functions only, with all that they contain: members, static members, member functions and
//! nested types. Their names, with the namespaces around them, and their source lines are facts, too, and so is the
//! language. Types of namespaces without a name are different in each unit, as are types that refer to code, data or
//! variables.
//!
//! The first of several equal types is imported, and the others refer to it. This leaves
//! * [types of one name](names) that differ: each unit keeps its own;
//! * [small copies](kept) that take less room than references to another unit.

mod candidates;
mod copied;
mod graph;
mod kept;
mod names;
mod partition;
mod signature;

pub(super) use copied::CopiedTypes;
pub use names::DifferentTypes;

use crate::read::Dwarf;
use candidates::Candidates;
use graph::Graph;
use signature::Signatures;

/// The equal types of a file.
#[derive(Debug, Default)]
pub(crate) struct EqualTypes {
    /// Sorted by entry.
    duplicates: Vec<Duplicate>,
    pub(crate) different: Vec<DifferentTypes>,
}

/// A type that is not imported, because an equal type is. The entries of both have the same order.
#[derive(Debug, Clone, Copy)]
struct Duplicate {
    /// Index of the type's entry.
    start: u32,
    /// Index after the last entry in it.
    end: u32,
    /// Index of the equal type's entry.
    first: u32,
}

impl EqualTypes {
    /// Finds the equal types of a file's units.
    pub(crate) fn new(dwarf: &Dwarf<'_>) -> Self {
        let candidates = Candidates::new(dwarf);
        let mut signatures = Signatures::new(dwarf, &candidates);
        let mut graph = Graph::new(&candidates, &mut signatures);
        let mut classes = graph.classes();
        let (kept, different) = names::different(dwarf, &candidates, &mut signatures, &classes);
        if !kept.is_empty() {
            graph.separate(&candidates, |number| kept.contains(&classes[number as usize]));
            classes = graph.classes();
        }
        let representatives = kept::representatives(dwarf, &candidates, &graph, &classes);
        let mut duplicates = Vec::new();
        for (number, (candidate, representative)) in (0..).zip(candidates.all.iter().zip(representatives)) {
            if representative != number {
                let first = candidates.all[representative as usize].start;
                duplicates.push(Duplicate { start: candidate.start, end: candidate.end, first });
            }
        }
        Self { duplicates, different }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.duplicates.is_empty()
    }

    /// Number of types instead of which an equal type is imported.
    pub(crate) fn count(&self) -> usize {
        self.duplicates.len()
    }

    /// Returns the index of the entry that is imported instead of the entry with an index.
    pub(crate) fn first(&self, index: usize) -> Option<usize> {
        let after = self.duplicates.partition_point(|duplicate| duplicate.start as usize <= index);
        let duplicate = self.duplicates[..after].last().filter(|duplicate| index < duplicate.end as usize)?;
        Some(duplicate.first as usize + (index - duplicate.start as usize))
    }
}
