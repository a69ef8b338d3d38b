//! Entries that a file's expressions refer to.

use core::cell::OnceCell;
use std::collections::BTreeMap;

use gimli::constants as dw;

use super::list::List;
use crate::op::{Decoder, Op};
use crate::read::{Dwarf, Entry, ResolvedValue, Unit};

pub(super) fn is_procedure(entry: Entry<'_, '_>) -> bool {
    entry.tag() == dw::DW_TAG_dwarf_procedure
}

/// Entries that expressions refer to. They are looked for when the first expression asks, because that decodes all
/// expressions of the file.
pub(super) struct References<'a, 'o> {
    dwarf: &'a Dwarf<'o>,
    entries: OnceCell<BTreeMap<u64, Referred<'o>>>,
}

/// Entry that an expression refers to.
#[derive(Default)]
pub(super) struct Referred<'o> {
    /// Whether an entry other than a procedure refers to it.
    pub(super) is_root: bool,
    /// Its location list, if it has a list that can be read. Each pc of a variable calls the same list.
    list: OnceCell<Option<List<'o>>>,
}

impl<'a, 'o> References<'a, 'o> {
    pub(super) fn new(dwarf: &'a Dwarf<'o>) -> Self {
        Self { dwarf, entries: OnceCell::new() }
    }

    /// Returns the entries by offset.
    pub(super) fn entries(&self) -> &BTreeMap<u64, Referred<'o>> {
        self.entries.get_or_init(|| {
            let mut entries: BTreeMap<u64, Referred<'o>> = BTreeMap::new();
            for entry in self.dwarf.entries() {
                for offset in refers_to(entry) {
                    entries.entry(offset).or_default().is_root |= !is_procedure(entry);
                }
            }
            entries
        })
    }

    /// Returns the location list of an entry that an expression refers to.
    pub(super) fn list(&self, offset: u64) -> Option<&List<'o>> {
        let list = &self.entries().get(&offset)?.list;
        list.get_or_init(|| List::of_entry(self.dwarf.entry_at(offset)?)).as_ref()
    }
}

/// Returns offsets: the entries that an entry's expressions refer to.
pub(super) fn refers_to(entry: Entry<'_, '_>) -> Vec<u64> {
    let mut offsets = Vec::new();
    for attribute in entry.attributes() {
        match attribute.value {
            ResolvedValue::Expr(expr) => refers(expr, entry.unit(), &mut offsets),
            ResolvedValue::LocList(_) => {
                // The comparison of the attribute reports a list that cannot be read.
                let list = entry.locations(attribute.name).ok().flatten().unwrap_or_default();
                list.iter().for_each(|range| refers(range.expr, entry.unit(), &mut offsets));
            }
            _ => {}
        }
    }
    offsets
}

fn refers<'o>(expr: &'o [u8], unit: &Unit<'o>, offsets: &mut Vec<u64>) {
    // A work list, as expressions can be nested.
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        for decoded in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
            let in_unit = |offset: u64| Some(unit.offset.wrapping_add(offset));
            let entry = match decoded.op {
                Op::Call2 { entry } | Op::Call4 { entry } | Op::GnuParameterRef { entry } => in_unit(entry),
                Op::CallRef { entry }
                | Op::ImplicitPointer { entry, .. }
                | Op::AspaceImplicitPointer { entry, .. }
                | Op::GnuVariableValue { entry } => Some(entry),
                Op::ConstType { ty, .. }
                | Op::RegvalType { ty, .. }
                | Op::DerefType { ty, .. }
                | Op::XderefType { ty, .. }
                | Op::Convert { ty }
                | Op::Reinterpret { ty } => in_unit(ty),
                Op::EntryValue { expr } => {
                    exprs.push(expr);
                    None
                }
                _ => None,
            };
            offsets.extend(entry);
        }
    }
}
