//! Name lookup at a pc: the variable of the innermost scope with code there.

use core::ops::Range;
use std::collections::BTreeMap;

use gimli::constants as dw;

use super::dwarf::{Dwarf, SUPPLEMENTARY};
use super::entry::Entry;
use super::value::Value;
use crate::error::{Count, Error, ErrorKind, Named, Result};
use crate::near;

impl<'o> Dwarf<'o> {
    /// Returns the variable, parameter or constant of a name at a pc: that of the innermost scope with code there, or
    /// else one outside all functions, of the unit with code there if several units have one. Declarations and functions
    /// that a linker discarded are ignored; without a pc, so are all variables of functions.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`] if there is none; [`ErrorKind::AmbiguousName`] if several scopes of equal depth have
    /// one.
    pub fn variable_at(&self, name: &str, pc: Option<u64>) -> Result<Entry<'_, 'o>> {
        variable_at(std::slice::from_ref(&self), name, pc)
    }
}

/// Returns the variable of a name at a pc in an object and its split units, as [`Dwarf::variable_at`] does in one file.
///
/// # Errors
/// The errors of [`Dwarf::variable_at`].
pub fn variable_at<'d, 'o>(files: &[&'d Dwarf<'o>], name: &str, pc: Option<u64>) -> Result<Entry<'d, 'o>> {
    let found = variables_at(files, name, pc)?;
    let [one] = found[..] else {
        let candidates = found.iter().map(|&entry| described(entry)).collect();
        let kind = Named::Variable { pc };
        let name = name.to_owned();
        return Err(ErrorKind::AmbiguousName { kind, name, candidates }.into());
    };
    Ok(one)
}

/// Returns all variables that [`variable_at`] cannot tell apart, at least one: several for a template that is
/// instantiated in several units and kept once, or for functions with identical code that a linker merged. Their
/// locations can be equal.
///
/// # Errors
/// [`ErrorKind::UnknownName`] if there is none; and the errors of [`Entry::ranges`].
pub fn variables_at<'d, 'o>(
    files: &[&'d Dwarf<'o>],
    name: &str,
    pc: Option<u64>,
) -> Result<Vec<Entry<'d, 'o>>> {
    let mut found: Vec<Entry<'d, 'o>> = Vec::new();
    let (mut innermost, mut others) = (0, Vec::new());
    for entry in files.iter().flat_map(|dwarf| dwarf.entries().chain(imported(dwarf))) {
        let is_variable =
            matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant);
        if !is_variable || entry.has(dw::DW_AT_declaration) {
            continue;
        }
        if entry.name().as_deref() != Some(name) {
            others.push(entry);
            continue;
        }
        let Some(scopes) = scopes_at(entry, pc)? else { continue };
        if found.is_empty() || scopes > innermost {
            found.clear();
            innermost = scopes;
        }
        if scopes == innermost {
            found.push(entry);
        }
    }
    // File scope (C 6.2.1): units can have variables of one name.
    if let (Some(pc), [_, _, ..]) = (pc, &found[..]) {
        let units = found.chunk_by(|one, next| core::ptr::eq(one.unit(), next.unit()));
        let with_code = units.filter(|all| all.first().is_some_and(|one| has_code(*one, pc)));
        let near: Vec<_> = with_code.flatten().copied().collect();
        if !near.is_empty() {
            found = near;
        }
    }
    if found.is_empty() {
        others.retain(|&entry| matches!(scopes_at(entry, pc), Ok(Some(_))));
        let nearest = near::nearest(name, others.iter().filter_map(|other| other.name()));
        let kind = Named::Variable { pc };
        let name = name.to_owned();
        return Err(ErrorKind::UnknownName { kind, name, nearest }.into());
    }
    Ok(found)
}

impl<'o> Dwarf<'o> {
    /// Returns the address at an offset in bytes from the start of the function with this name or linkage name.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`] if no function with code has the name; [`ErrorKind::AmbiguousName`] if several have it
    /// and start at different addresses; [`ErrorKind::BadArgument`] if the function has no code at the address; and the
    /// errors of [`Entry::ranges`].
    pub fn address_in(&self, function: &str, offset: u64) -> Result<u64> {
        address_in(&[self], function, offset)
    }

    fn functions(&self) -> impl Iterator<Item = Entry<'_, 'o>> {
        self.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram)
    }
}

/// Returns the address at an offset in bytes from the start of a function in an object and its split units, as
/// [`Dwarf::address_in`] does in one file.
///
/// # Errors
/// The errors of [`Dwarf::address_in`].
pub fn address_in(files: &[&Dwarf<'_>], function: &str, offset: u64) -> Result<u64> {
    let is_name = |value: Option<Value<'_>>| value.and_then(Value::text).is_some_and(|name| name == function);
    let mut found: Vec<(u64, Entry<'_, '_>)> = Vec::new();
    for entry in files.iter().flat_map(|dwarf| dwarf.functions()) {
        // Before DWARF 4, and in PTX, the linkage name has the attribute of the MIPS compilers.
        let names = [dw::DW_AT_name, dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
        let names = names.map(|name| entry.inherited(name));
        if names.into_iter().any(is_name)
            && let Some(start) = start(entry)?
            && found.iter().all(|one| one.0 != start)
        {
            found.push((start, entry));
        }
    }
    match found[..] {
        [(start, entry)] => {
            let address = start.checked_add(offset);
            let ranges = live_ranges(entry)?;
            let is_code = |address: &u64| ranges.iter().any(|range| range.contains(address));
            address.filter(is_code).ok_or_else(|| {
                let bytes: u64 = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
                let what = format!(
                    "the offset is within the {bytes:#x} of `{function}`: {offset:#x}",
                    bytes = Count(bytes, "byte")
                );
                Error::bad_argument(what)
            })
        }
        [] => Err(unknown_function(files.iter().copied(), function)),
        _ => {
            let candidates = found.iter().map(|(start, _)| format!("{start:#x}")).collect();
            let name = function.into();
            Err(ErrorKind::AmbiguousName { kind: Named::Function, name, candidates }.into())
        }
    }
}

/// Returns the error for a function that files do not have, with the nearest names.
pub fn unknown_function<'d, 'o: 'd>(files: impl IntoIterator<Item = &'d Dwarf<'o>>, function: &str) -> Error {
    let functions = files.into_iter().flat_map(Dwarf::functions);
    let nearest = near::nearest(function, functions.filter_map(|entry| Some(entry.name()?.into_owned())));
    ErrorKind::UnknownName { kind: Named::Function, name: function.into(), nearest }.into()
}

/// Returns the start address of an entry's code, if any.
fn start(entry: Entry<'_, '_>) -> Result<Option<u64>> {
    match entry.attr(dw::DW_AT_ranges) {
        None => Ok(entry.low_pc().filter(|start| entry.dwarf().is_code(*start))),
        // DWARF 5 section 2.18: by default, the start of the first range.
        Some(_) => Ok(live_ranges(entry)?.first().map(|range| range.start)),
    }
}

/// Returns the ranges of an entry without those that a linker discarded.
fn live_ranges(entry: Entry<'_, '_>) -> Result<Vec<Range<u64>>> {
    let mut ranges = entry.ranges()?;
    ranges.retain(|range| entry.dwarf().is_code(range.start));
    Ok(ranges)
}

/// Whether the unit of a variable has code at a pc, by its own ranges or by those of its functions: a unit can lack ranges, and those of a
/// split unit are in its skeleton unit.
fn has_code(variable: Entry<'_, '_>, pc: u64) -> bool {
    let mut entries = variable.dwarf().entries_of(variable.unit());
    let own = entries.next();
    let functions = entries.filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    own.into_iter()
        .chain(functions)
        .any(|entry| live_ranges(entry).is_ok_and(|ranges| ranges.iter().any(|range| range.contains(&pc))))
}

/// Returns the entries of the supplementary file's units that the units of a file import, directly or in several steps.
fn imported<'d, 'o>(dwarf: &'d Dwarf<'o>) -> impl Iterator<Item = Entry<'d, 'o>> {
    let imports = |entry: Entry<'d, 'o>| {
        let is_import = entry.tag() == dw::DW_TAG_imported_unit;
        is_import.then(|| entry.reference(dw::DW_AT_import)).flatten()
    };
    let mut waiting: Vec<_> = match dwarf.supplementary() {
        Some(_) => dwarf.entries().filter_map(imports).collect(),
        None => Vec::new(),
    };
    let mut known = BTreeMap::new();
    while let Some(root) = waiting.pop() {
        // Imports can be cyclic.
        if root.offset() >= SUPPLEMENTARY && known.insert(root.unit().offset, root).is_none() {
            waiting.extend(root.dwarf().entries_of(root.unit()).filter_map(imports));
        }
    }
    known.into_values().flat_map(|root| root.dwarf().entries_of(root.unit()))
}

/// Returns the number of scopes with code at a pc around a variable; `None` if it is in a scope without code there.
fn scopes_at(entry: Entry<'_, '_>, pc: Option<u64>) -> Result<Option<usize>> {
    let mut scopes = 0;
    let mut next = entry.parent();
    while let Some(scope) = next {
        next = scope.parent();
        match scope.tag() {
            dw::DW_TAG_subprogram
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_try_block
            | dw::DW_TAG_catch_block
            | dw::DW_TAG_with_stmt
            | dw::DW_TAG_entry_point => {}
            dw::DW_TAG_subroutine_type => return Ok(None),
            _ => continue,
        }
        let ranges = scope.ranges().map_err(|error| error.or_at(entry.place()))?;
        // A block without ranges has those of its parent.
        if ranges.is_empty() && scope.tag() == dw::DW_TAG_lexical_block {
            scopes += 1;
            continue;
        }
        let is_live = |range: &Range<u64>| scope.dwarf().is_code(range.start);
        if !pc.is_some_and(|pc| ranges.iter().any(|range| range.contains(&pc) && is_live(range))) {
            return Ok(None);
        }
        scopes += 1;
    }
    Ok(Some(scopes))
}

fn described(entry: Entry<'_, '_>) -> String {
    let at = entry.place();
    let unit = at.unit.map_or_else(String::new, |unit| format!(" of unit `{unit}`"));
    let function = at.function.map_or_else(String::new, |function| format!(", function `{function}`"));
    format!("entry {:#x}{unit}{function}", entry.dwarf().place(entry.offset()).1)
}
