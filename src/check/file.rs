//! File with entries: an object, or the file of a split unit.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::machine::{List, Lists};
use super::procedures::{Referred, referred};
use super::report::Report;
use super::tree::{Described, Found};
use crate::eval::DebugInfo;
use crate::read::{Dwarf, LineProgram, Unit, Value};

/// Entries of a file, with the lists and line programs that they refer to.
pub(super) struct File<'a, 'o> {
    pub(super) dwarf: &'a Dwarf<'o>,
    /// Entries for expressions that refer to some.
    pub(super) info: DebugInfo<'a, 'o>,
    pub(super) lists: Lists<'o>,
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
        let mut lists = Lists::new();
        for entry in dwarf.entries() {
            if !matches!(entry.attr(dw::DW_AT_location), Some(Value::LocList(_))) {
                continue;
            }
            match entry.locations(dw::DW_AT_location) {
                Ok(found) => {
                    let found = found.unwrap_or_default().into_iter().map(Into::into).collect();
                    lists.insert(entry.offset(), List::new(found));
                }
                Err(error) => report.unreadable(described.object, &error, entry.place()),
            }
        }
        let (info, referred) = (DebugInfo::new(dwarf), referred(dwarf));
        Self { dwarf, info, lists, programs, referred, lanes: RefCell::default() }
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
