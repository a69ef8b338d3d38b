//! Call sites: the values that a caller passed, for entry values of the called frame (DWARF 5, section 3.4).

use std::borrow::Cow;

use gimli::{DwAt, DwTag, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::debug_info::{DebugInfo, entry_with};
use super::machine::{Body, CallValue, Machine};
use crate::op::{Decoder, Encoding, Op, Reg};
use crate::read::{self, Dwarf, Value};

/// Tags of call sites and of their parameters: DWARF 5's and GNU's before it.
const SITES: [DwTag; 2] = [dw::DW_TAG_call_site, dw::DW_TAG_GNU_call_site];
const PARAMETERS: [DwTag; 2] = [dw::DW_TAG_call_site_parameter, dw::DW_TAG_GNU_call_site_parameter];
/// Attributes of both.
const RETURN_PC: [DwAt; 2] = [dw::DW_AT_call_return_pc, dw::DW_AT_low_pc];
const ORIGIN: [DwAt; 2] = [dw::DW_AT_call_origin, dw::DW_AT_abstract_origin];
const TARGET: [DwAt; 2] = [dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target];
const TAIL_CALL: [DwAt; 2] = [dw::DW_AT_call_tail_call, dw::DW_AT_GNU_tail_call];
const PARAMETER: [DwAt; 2] = [dw::DW_AT_call_parameter, dw::DW_AT_abstract_origin];
const VALUE: [DwAt; 2] = [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value];
/// Maximum number of entries from a subprogram to its declaration.
const MOST_STEPS: usize = 16;

/// Call sites and subprograms of a file.
#[derive(Debug)]
pub(super) struct Calls {
    /// Return pc and entry of each call site, sorted.
    sites: Vec<(u64, u64)>,
    /// Entries of subprograms with code, by the entry that declares them.
    by_declaration: HashMap<u64, Vec<u64>>,
    /// The same of external subprograms, by linkage name.
    by_name: HashMap<String, Vec<u64>>,
}

impl Calls {
    pub(super) fn read(dwarf: &Dwarf<'_>, subprograms: impl Iterator<Item = u64>) -> Self {
        let sites = dwarf.entries().filter(|entry| SITES.contains(&entry.tag()));
        let mut sites: Vec<_> = sites
            .filter_map(|site| match first(site, &RETURN_PC)? {
                Value::Address(pc) => Some((pc, site.offset())),
                _ => None,
            })
            .collect();
        sites.sort_unstable();
        let (mut by_declaration, mut by_name) = (HashMap::new(), HashMap::new());
        for offset in subprograms {
            let Some(subprogram) = dwarf.entry_at(offset) else { continue };
            let all: &mut Vec<u64> = by_declaration.entry(declaration(subprogram).offset()).or_default();
            all.push(offset);
            if let Some(name) = external_name(subprogram) {
                let all: &mut Vec<u64> = by_name.entry(name.into_owned()).or_default();
                all.push(offset);
            }
        }
        Self { sites, by_declaration, by_name }
    }

    /// Returns the entry of the only subprogram with code that is meant by a reference to it. Several can be meant
    /// where a compiler cloned a function: then it is not known which one is called. `dwarf` is the file of the call sites;
    /// the referenced entry can be a declaration in its supplementary file.
    fn subprogram(&self, dwarf: &Dwarf<'_>, referenced: read::Entry<'_, '_>) -> Option<u64> {
        let only = |all: Option<&Vec<u64>>| match all.map(Vec::as_slice) {
            Some(&[only]) => Some(only),
            _ => None,
        };
        let declared = self.by_declaration.get(&declaration(referenced).offset());
        if declared.is_some() {
            return only(declared);
        }
        // The declaration of a subprogram of another unit.
        let found = only(self.by_name.get(&*external_name(referenced)?))?;
        let entry = dwarf.entry_at(found)?;
        only(self.by_declaration.get(&declaration(entry).offset()))
    }

    /// Whether a subprogram can be entered again by tail calls before it returns to its caller: then its parameters need
    /// not be those of the call. It is unknown for a tail call to an unknown subprogram, which is taken as such a call.
    fn can_call_itself(&self, callee: read::Entry<'_, '_>) -> bool {
        let (mut known, mut left) = (HashSet::new(), vec![callee]);
        while let Some(subprogram) = left.pop() {
            for site in subprogram.descendants().filter(|site| SITES.contains(&site.tag())) {
                crate::work::step();
                if first(site, &TAIL_CALL) != Some(Value::Flag(true)) {
                    continue;
                }
                let called =
                    reference(site, &ORIGIN).and_then(|origin| self.subprogram(callee.dwarf(), origin));
                let Some(called) = called.filter(|&called| called != callee.offset()) else { return true };
                if known.insert(called) {
                    left.extend(callee.dwarf().entry_at(called));
                }
            }
        }
        false
    }
}

impl<'o> DebugInfo<'_, 'o> {
    /// Returns the value that the caller of a frame passed, from the first matching parameter of the call site.
    ///
    /// The caller is the one that unwinding finds, and need not have called the subprogram of the frame: a subprogram
    /// that it called can have jumped there. So the call site must name the subprogram, or compute its address.
    fn passed(
        &self,
        machine: &dyn Machine,
        frame: u32,
        matches: impl Fn(read::Entry<'_, 'o>) -> bool,
    ) -> Option<CallValue<'_>> {
        let callee = self.subprogram(machine.pc(frame)?)?;
        let calls = self.calls();
        // The program location of the caller is the address before the return address.
        let return_pc = machine.pc(frame.checked_add(1)?)?.checked_add(1)?;
        let from = calls.sites.partition_point(|&(pc, _)| pc < return_pc);
        let &[(_, site)] = calls.sites[from..].chunk_by(|one, other| one.0 == other.0).next()? else {
            return None;
        };
        let site = self.dwarf().entry_at(site).filter(|_| calls.sites[from].0 == return_pc)?;
        let target = match reference(site, &ORIGIN) {
            Some(origin) if calls.subprogram(self.dwarf(), origin) == Some(callee.offset()) => None,
            Some(_) => return None,
            None => match first(site, &TARGET)? {
                Value::Expr(expr) => {
                    let first = callee.ranges().ok()?.first()?.start;
                    Some((entry_with(site, Body::Expression(expr)), first))
                }
                _ => return None,
            },
        };
        if calls.can_call_itself(callee) {
            return None;
        }
        let mut parameters = site.children().filter(|child| PARAMETERS.contains(&child.tag()));
        let parameter = parameters.find(|parameter| matches(*parameter))?;
        match first(parameter, &VALUE)? {
            Value::Expr(expr) => {
                Some(CallValue { value: entry_with(parameter, Body::Expression(expr)), target })
            }
            _ => None,
        }
    }

    /// Implements [`Machine::entry_value`].
    pub(super) fn entry_value(
        &self,
        machine: &dyn Machine,
        expr: &[u8],
        encoding: Encoding,
        frame: u32,
    ) -> Option<CallValue<'_>> {
        self.passed(machine, frame, |parameter| match parameter.attr(dw::DW_AT_location) {
            Some(Value::Expr(location)) => {
                location == expr || {
                    let reg = register(expr, encoding);
                    reg.is_some() && reg == register(location, parameter.unit().encoding)
                }
            }
            _ => false,
        })
    }

    /// Implements [`Machine::call_value`].
    pub(super) fn call_value(
        &self,
        machine: &dyn Machine,
        parameter: u64,
        frame: u32,
    ) -> Option<CallValue<'_>> {
        let parameter = declaration(self.dwarf().entry_at(parameter)?).offset();
        self.passed(machine, frame, |passed| {
            reference(passed, &PARAMETER).is_some_and(|entry| declaration(entry).offset() == parameter)
        })
    }
}

/// Returns the first of some attributes that an entry has.
fn first<'o>(entry: read::Entry<'_, 'o>, names: &[DwAt]) -> Option<Value<'o>> {
    names.iter().find_map(|&name| entry.attr(name))
}

/// Returns the entry that the first of some attributes refers to.
fn reference<'r, 'o>(entry: read::Entry<'r, 'o>, names: &[DwAt]) -> Option<read::Entry<'r, 'o>> {
    names.iter().find_map(|&name| entry.reference(name))
}

/// Returns the entry that an entry completes, directly or not: the abstract instance and the declaration.
fn declaration<'r, 'o>(entry: read::Entry<'r, 'o>) -> read::Entry<'r, 'o> {
    let completed = |entry: &read::Entry<'r, 'o>| {
        reference(*entry, &[dw::DW_AT_abstract_origin, dw::DW_AT_specification])
    };
    core::iter::successors(Some(entry), completed).take(MOST_STEPS).last().unwrap_or(entry)
}

/// Returns the name by which other units refer to a subprogram.
fn external_name<'o>(subprogram: read::Entry<'_, 'o>) -> Option<Cow<'o, str>> {
    subprogram.inherited(dw::DW_AT_external).filter(|external| *external == Value::Flag(true))?;
    let linkage = subprogram.inherited(dw::DW_AT_linkage_name).and_then(Value::text);
    linkage.or_else(|| subprogram.name())
}

/// Returns the register of an expression that is a register's name alone.
fn register(expr: &[u8], encoding: Encoding) -> Option<Reg> {
    let mut operations = Decoder::new(expr, encoding);
    match operations.next()?.ok()?.op {
        Op::RegX { reg } if operations.next().is_none() => Some(reg),
        _ => None,
    }
}
