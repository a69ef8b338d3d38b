//! File with entries: an object, or a split unit's file.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::homes::Homes;
use super::lines::Rows;
use super::list::{List, list_of};
use super::referred::References;
use super::report::CheckReport;
use super::tree::{Described, Found};
use crate::eval::DebugInfo;
use crate::model::UnitId;
use crate::read::{Dwarf, Entry, LineProgram, Unit};

/// A file's entries, with the lists and line programs that they refer to.
pub(super) struct File<'a, 'o> {
    pub(super) dwarf: &'a Dwarf<'o>,
    /// Entries for expressions that refer to entries.
    pub(super) info: DebugInfo<'a, 'o>,
    /// Last location list that was read, by its entry's offset: the pcs of a variable read the same list in turn.
    last_list: RefCell<Option<(u64, Rc<List<'o>>)>>,
    /// Line programs by offset.
    pub(super) programs: BTreeMap<u64, Rc<LineProgram<'o>>>,
    /// Rows from the line program that was compared last.
    pub(super) rows: RefCell<Rows>,
    /// Entries that expressions refer to.
    pub(super) references: References<'a, 'o>,
    /// Lane counts of the subprograms around scopes, by entry offset.
    pub(super) lanes: RefCell<HashMap<u64, Option<u64>>>,
    /// Homes of PTX registers.
    pub(super) homes: Homes<'a>,
}

impl<'a, 'o> File<'a, 'o> {
    /// Reads line programs and all location lists, so that a list that cannot be read is reported even if nothing
    /// compares it.
    pub(super) fn new(described: Described<'a>, dwarf: &'a Dwarf<'o>, report: &mut CheckReport) -> Self {
        let mut programs = BTreeMap::new();
        for unit in dwarf.units() {
            let Some(offset) = unit.stmt_list.filter(|offset| !programs.contains_key(offset)) else {
                continue;
            };
            // The comparison of the unit reports a program that cannot be read.
            programs.extend(dwarf.lines(unit).ok().flatten().map(|program| (offset, Rc::new(program))));
        }
        let mut list = Vec::new();
        for entry in dwarf.entries() {
            let Some(offset) = list_of(entry) else { continue };
            list.clear();
            if dwarf.read_locations(entry.unit(), offset, &mut list).is_err()
                // The slow reader repeats the error with its position.
                && let Err(error) = entry.locations(dw::DW_AT_location)
            {
                report.unreadable(described.object, &error, entry.place());
            }
        }
        let homes = Homes::new(described.object).unwrap_or_else(|error| {
            report.unreadable(described.object, &error, error.at().clone());
            Homes::default()
        });
        Self {
            dwarf,
            homes,
            info: DebugInfo::new(dwarf),
            last_list: RefCell::default(),
            programs,
            rows: RefCell::default(),
            references: References::new(dwarf),
            lanes: RefCell::default(),
        }
    }

    /// An entry's location list, if it has a list that can be read.
    pub(super) fn list(&self, entry: Entry<'_, 'o>) -> Option<Rc<List<'o>>> {
        self.list_at(entry, list_of(entry)?)
    }

    /// An entry's location list at an offset, if it can be read.
    pub(super) fn list_at(&self, entry: Entry<'_, 'o>, offset: u64) -> Option<Rc<List<'o>>> {
        // One list is enough: a variable's pcs ask for it in a row.
        let mut last = self.last_list.borrow_mut();
        if let Some((_, list)) = last.as_ref().filter(|(offset, _)| *offset == entry.offset()) {
            return Some(Rc::clone(list));
        }
        let list = Rc::new(List::read(entry, offset)?);
        *last = Some((entry.offset(), Rc::clone(&list)));
        Some(list)
    }

    /// A unit's entries as the consumer reads them.
    pub(super) fn reader(&self, described: Described<'a>, unit: UnitId) -> Found<'_, 'o> {
        let Described { module, consumer, omitted, .. } = described;
        let is_big_endian = module.target.is_big_endian();
        Found { consumer, programs: &self.programs, is_big_endian, omitted: omitted.attributes_of(unit) }
    }

    /// A unit's line program.
    pub(super) fn program(&self, unit: &Unit<'o>) -> Option<Rc<LineProgram<'o>>> {
        self.programs.get(&unit.stmt_list?).cloned()
    }
}
