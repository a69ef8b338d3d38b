//! The types that can be equal to types of other units: those outside functions, with all that they contain.

use core::ops::Range;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::super::node::{Class, class};
use crate::read::{Dwarf, Entry};

/// A type outside functions and other types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Index of its entry.
    pub(super) start: u32,
    /// Index after the last entry in it.
    pub(super) end: u32,
    /// Index of its unit.
    pub(super) unit: u32,
    /// Number of the namespaces around it; `None` in a namespace without a name, which is a different namespace in each unit.
    pub(super) around: Option<u32>,
}

impl Candidate {
    pub(super) fn entries(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The candidates of a file, in the order of their entries.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) all: Vec<Candidate>,
    /// The namespaces with a name, in the order of their entries.
    pub(super) namespaces: Vec<NamedNamespace>,
}

/// An entry of a namespace.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedNamespace {
    /// Index of the entry.
    pub(super) index: u32,
    /// Index of its unit.
    pub(super) unit: u32,
    /// Number, which equal namespaces of all units have.
    pub(super) number: u32,
}

/// A namespace: the number of the namespaces around it, its tag, its name, and whether it is inline.
type Namespace<'o> = (u32, u16, &'o [u8], bool);

impl Candidates {
    pub(super) fn new(dwarf: &Dwarf<'_>) -> Self {
        let mut all = Vec::new();
        let mut namespaces_with_names = Vec::new();
        // Number 0 is the unit itself.
        let mut namespaces: HashMap<Namespace<'_>, u32> = HashMap::new();
        for (unit, info) in (0..).zip(dwarf.units()) {
            let kinds = [dw::DW_UT_compile, dw::DW_UT_partial, dw::DW_UT_type];
            let Some(root) = dwarf.root(info).filter(|_| kinds.contains(&info.kind)) else { continue };
            // Scopes whose children are left, with the number of each.
            let mut open = vec![(root.children(), Some(0))];
            while let Some((children, around)) = open.last_mut() {
                let around = *around;
                let Some(entry) = children.next() else {
                    open.pop();
                    continue;
                };
                if class(entry) == Class::Type {
                    all.push(Candidate { start: entry.index() as u32, end: end(entry), unit, around });
                } else if matches!(entry.tag(), dw::DW_TAG_namespace | dw::DW_TAG_module) {
                    let name = match entry.attr(dw::DW_AT_name) {
                        Some(crate::read::ResolvedValue::String(name)) => Some(name.bytes()),
                        _ => None,
                    };
                    let is_inline = entry.has(dw::DW_AT_export_symbols);
                    let next = namespaces.len() as u32 + 1;
                    let number = around.zip(name).map(|(around, name)| {
                        *namespaces.entry((around, entry.tag().0, name, is_inline)).or_insert(next)
                    });
                    let index = entry.index() as u32;
                    namespaces_with_names.extend(number.map(|number| NamedNamespace { index, unit, number }));
                    open.push((entry.children(), number));
                }
            }
        }
        all.sort_unstable_by_key(|candidate: &Candidate| candidate.start);
        namespaces_with_names.sort_unstable_by_key(|namespace: &NamedNamespace| namespace.index);
        Self { all, namespaces: namespaces_with_names }
    }

    /// Returns the number of the candidate that contains an entry.
    pub(super) fn containing(&self, index: usize) -> Option<u32> {
        let number =
            self.all.partition_point(|candidate| candidate.start as usize <= index).checked_sub(1)?;
        self.all[number].entries().contains(&index).then_some(number as u32)
    }

    /// Returns a candidate's entry.
    pub(super) fn entry<'d, 'o>(&self, dwarf: &'d Dwarf<'o>, number: u32) -> Option<Entry<'d, 'o>> {
        dwarf.entry_with_index(self.all[number as usize].start as usize)
    }
}

fn end(entry: Entry<'_, '_>) -> u32 {
    (entry.index() + 1 + entry.descendants().len()) as u32
}
