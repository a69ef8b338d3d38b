//! File with entries: an object, or the file of a split unit.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::machine::List;
use super::procedures::{Referred, referred};
use super::report::Report;
use super::tree::{Described, Found};
use crate::eval::DebugInfo;
use crate::read::{Dwarf, Entry, LineProgram, Unit, Value};

/// Entries of a file, with the lists and line programs that they refer to.
pub(super) struct File<'a, 'o> {
    pub(super) dwarf: &'a Dwarf<'o>,
    /// Entries for expressions that refer to some.
    pub(super) info: DebugInfo<'a, 'o>,
    /// Last location list that was read, by offset of its entry.
    last_list: RefCell<Option<(u64, Rc<List<'o>>)>>,
    /// Line programs by offset.
    pub(super) programs: BTreeMap<u64, Rc<LineProgram<'o>>>,
    /// Entries that expressions refer to.
    pub(super) referred: Referred,
    /// Numbers of lanes of the subprograms around entries, by offset of the entry.
    pub(super) lanes: RefCell<HashMap<u64, Option<u64>>>,
}

impl<'a, 'o> File<'a, 'o> {
    /// Reads line programs, the location lists of all entries, and the references of expressions.
    pub(super) fn new(described: Described<'_>, dwarf: &'a Dwarf<'o>, report: &mut Report) -> Self {
        let mut programs = BTreeMap::new();
        for unit in dwarf.units() {
            let Some(offset) = unit.stmt_list.filter(|offset| !programs.contains_key(offset)) else {
                continue;
            };
            // The comparison of the unit reports a program that cannot be read.
            programs.extend(dwarf.lines(unit).ok().flatten().map(|program| (offset, Rc::new(program))));
        }
        for entry in dwarf.entries().filter(|&entry| has_list(entry)) {
            if let Err(error) = entry.locations(dw::DW_AT_location) {
                report.unreadable(described.object, &error, entry.place());
            }
        }
        let (info, referred) = (DebugInfo::new(dwarf), referred(dwarf));
        let (last_list, lanes) = (RefCell::default(), RefCell::default());
        Self { dwarf, info, last_list, programs, referred, lanes }
    }

    /// Location list of an entry, if it has one that can be read.
    pub(super) fn list(&self, entry: Entry<'_, 'o>) -> Option<Rc<List<'o>>> {
        let mut last = self.last_list.borrow_mut();
        if let Some((_, list)) = last.as_ref().filter(|(offset, _)| *offset == entry.offset()) {
            return Some(Rc::clone(list));
        }
        let entries = entry.locations(dw::DW_AT_location).ok().filter(|_| has_list(entry))??;
        let list = Rc::new(List::new(entries.into_iter().map(Into::into).collect()));
        *last = Some((entry.offset(), Rc::clone(&list)));
        Some(list)
    }

    /// Entries as the consumer reads them.
    pub(super) fn reader(&self, Described { module, consumer, .. }: Described<'a>) -> Found<'_, 'o> {
        Found { consumer, programs: &self.programs, is_big_endian: module.target.is_big_endian() }
    }

    /// Line program of a unit.
    pub(super) fn program(&self, unit: &Unit<'o>) -> Option<Rc<LineProgram<'o>>> {
        self.programs.get(&unit.stmt_list?).cloned()
    }
}

fn has_list(entry: Entry<'_, '_>) -> bool {
    matches!(entry.attr(dw::DW_AT_location), Some(Value::LocList(_)))
}
