//! A file's call sites, and the subprograms that they call (DWARF 5, section 3.4).

use std::borrow::Cow;

use gimli::{DwAt, DwTag, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::machine::{Body, ReferencedEntry};
use crate::op::{Decoder, Encoding, Op, Reg};
use crate::read::{self, Dwarf, ResolvedValue};

/// Tags for call sites and for their parameters: DWARF 5's and GNU's before it.
pub(super) const SITES: [DwTag; 2] = [dw::DW_TAG_call_site, dw::DW_TAG_GNU_call_site];
pub(super) const PARAMETERS: [DwTag; 2] =
    [dw::DW_TAG_call_site_parameter, dw::DW_TAG_GNU_call_site_parameter];
/// Attributes of both, in the same order.
const RETURN_PC: [DwAt; 2] = [dw::DW_AT_call_return_pc, dw::DW_AT_low_pc];
pub(super) const ORIGIN: [DwAt; 2] = [dw::DW_AT_call_origin, dw::DW_AT_abstract_origin];
pub(super) const TARGET: [DwAt; 2] = [dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target];
const TAIL_CALL: [DwAt; 2] = [dw::DW_AT_call_tail_call, dw::DW_AT_GNU_tail_call];
pub(super) const PARAMETER: [DwAt; 2] = [dw::DW_AT_call_parameter, dw::DW_AT_abstract_origin];
pub(super) const VALUE: [DwAt; 2] = [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value];
/// Maximum number of entries from a subprogram to its declaration, because references can be cyclic.
const MOST_STEPS: usize = 16;

/// A file's call sites and subprograms.
#[derive(Debug)]
pub(super) struct Calls {
    /// Each call site's return pc and entry, sorted.
    pub(super) sites: Vec<(u64, u64)>,
    /// Subprograms with code, by the entry that declares them.
    by_declaration: HashMap<u64, Vec<u64>>,
    /// External subprograms with code, by linkage name.
    by_name: HashMap<String, Vec<u64>>,
}

impl Calls {
    pub(super) fn read(dwarf: &Dwarf<'_>) -> Self {
        let sites = dwarf.entries().filter(|entry| SITES.contains(&entry.tag()));
        let mut sites: Vec<_> = sites
            .filter_map(|site| match first(site, &RETURN_PC)? {
                ResolvedValue::Address(pc) => Some((pc, site.offset())),
                _ => None,
            })
            .collect();
        // By return pc, which unwinding looks up.
        sites.sort_unstable();
        let mut by_declaration = HashMap::new();
        let mut by_name = HashMap::new();
        for subprogram in read::functions_with_code(dwarf) {
            let offset = subprogram.offset();
            let offsets: &mut Vec<u64> = by_declaration.entry(declaration(subprogram).offset()).or_default();
            offsets.push(offset);
            if let Some(name) = external_name(subprogram) {
                let offsets: &mut Vec<u64> = by_name.entry(name.into_owned()).or_default();
                offsets.push(offset);
            }
        }
        Self { sites, by_declaration, by_name }
    }

    /// Returns the only subprogram with code that a reference can mean. Several can be meant where a compiler cloned
    /// a function, and then it is unknown which clone is called. `dwarf` is the call sites' file; the referenced
    /// entry can be a declaration in its supplementary file.
    pub(super) fn subprogram(&self, dwarf: &Dwarf<'_>, referenced: read::Entry<'_, '_>) -> Option<u64> {
        let only = |offsets: Option<&Vec<u64>>| match offsets.map(Vec::as_slice) {
            Some(&[only]) => Some(only),
            _ => None,
        };
        let declared = self.by_declaration.get(&declaration(referenced).offset());
        // Several definitions give no answer, even if a name would select one of them.
        if declared.is_some() {
            return only(declared);
        }
        // The reference leads to a declaration; another unit has the subprogram.
        let definition = only(self.by_name.get(&*external_name(referenced)?))?;
        let entry = dwarf.entry_at(definition)?;
        only(self.by_declaration.get(&declaration(entry).offset()))
    }

    /// Whether a subprogram can be entered again by tail calls before it returns to its caller: then its parameters
    /// need not be the call's. For a tail call to an unknown subprogram it is unknown, so that the result is true.
    pub(super) fn can_call_itself(&self, callee: read::Entry<'_, '_>) -> bool {
        let mut known = HashSet::new();
        let mut left = vec![callee];
        while let Some(subprogram) = left.pop() {
            for site in subprogram.descendants().filter(|site| SITES.contains(&site.tag())) {
                crate::work::step();
                // Other calls return before the frame is entered again.
                if first(site, &TAIL_CALL) != Some(ResolvedValue::Flag(true)) {
                    continue;
                }
                let called =
                    reference(site, &ORIGIN).and_then(|origin| self.subprogram(callee.dwarf(), origin));
                let Some(called) = called.filter(|&called| called != callee.offset()) else { return true };
                // Each subprogram is visited once, so that recursion ends.
                if known.insert(called) {
                    left.extend(callee.dwarf().entry_at(called));
                }
            }
        }
        false
    }
}

/// Returns the first attribute among `names` that an entry has.
pub(super) fn first<'o>(entry: read::Entry<'_, 'o>, names: &[DwAt]) -> Option<ResolvedValue<'o>> {
    names.iter().find_map(|&name| entry.attr(name))
}

/// Returns the entry that the first attribute among `names` refers to.
pub(super) fn reference<'r, 'o>(entry: read::Entry<'r, 'o>, names: &[DwAt]) -> Option<read::Entry<'r, 'o>> {
    names.iter().find_map(|&name| entry.reference(name))
}

/// Returns the entry that an entry completes, directly or not: the abstract instance and the declaration.
pub(super) fn declaration<'r, 'o>(entry: read::Entry<'r, 'o>) -> read::Entry<'r, 'o> {
    let completed = |entry: &read::Entry<'r, 'o>| {
        reference(*entry, &[dw::DW_AT_abstract_origin, dw::DW_AT_specification])
    };
    core::iter::successors(Some(entry), completed).take(MOST_STEPS).last().unwrap_or(entry)
}

/// Returns the name by which other units refer to a subprogram.
fn external_name<'o>(subprogram: read::Entry<'_, 'o>) -> Option<Cow<'o, str>> {
    subprogram.inherited(dw::DW_AT_external).filter(|external| *external == ResolvedValue::Flag(true))?;
    let linkage = subprogram.inherited(dw::DW_AT_linkage_name).and_then(ResolvedValue::text);
    linkage.or_else(|| subprogram.name())
}

/// Returns the register, if an expression names a register and does nothing else.
pub(super) fn register(expr: &[u8], encoding: Encoding) -> Option<Reg> {
    let mut operations = Decoder::new(expr, encoding);
    match operations.next()?.ok()?.op {
        Op::RegX { reg } if operations.next().is_none() => Some(reg),
        _ => None,
    }
}

/// Returns an entry with its unit and encoding.
pub(super) fn entry_with<'a>(entry: read::Entry<'_, '_>, body: Body<'a>) -> ReferencedEntry<'a> {
    let unit = entry.unit();
    ReferencedEntry { body, unit: unit.offset, encoding: Some(unit.encoding) }
}
