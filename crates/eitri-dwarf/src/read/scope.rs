//! Lookup at a pc, and by name: scopes, variables and lines, the variable of a name in the innermost scope with code, and
//! the address of a function.

use core::ops::Range;
use std::collections::BTreeMap;

use gimli::constants as dw;

use super::dwarf::{Dwarf, SUPPLEMENTARY};
use super::entry::Entry;
use super::pcs::{
    self, CodeLine, CodeScopes, CurrentLocation, ScopeVariable, ScopeVariables, is_variable, scopes_around,
    scopes_in, variables_of,
};
use super::value::ResolvedValue;
use crate::error::{Count, Error, ErrorKind, Named, PcText, Result};
use crate::near;

impl<'o> Dwarf<'o> {
    /// Returns the scopes with code at a pc, the innermost first. If several functions have the code, the scopes are those
    /// of the first of [`functions_at`](Self::functions_at).
    ///
    /// The pc is an address in the file, without load bias; in a relocatable object, an address in the section's addresses
    /// that the [reader](crate::read::Object) assigned. For the caller of a frame, it is an address in the call instruction,
    /// not the return address. In a file with skeleton units, the scopes are in the [split units](Self::read_split), and
    /// [`errors`](CodeScopes::errors) names the unit that has them; [`read::scopes_at`](crate::read::scopes_at) looks in several
    /// files.
    ///
    /// ```
    /// # fn main() -> eitri_dwarf::Result<()> {
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let pc = dwarf.address_in("squares", 0x13)?;
    /// let scopes = dwarf.scopes_at(pc);
    /// let functions = scopes.frames().filter_map(|frame| frame.last());
    /// let names: Vec<_> = functions.filter_map(|function| function.name()).collect();
    /// assert_eq!(names, ["square", "squares"]);
    /// let call = scopes[0].call.as_ref().expect("an inlined call");
    /// assert_eq!(call.to_string(), "/src/squares.c:9:18");
    /// # Ok(())
    /// # }
    /// ```
    pub fn scopes_at(&self, pc: u64) -> CodeScopes<'_, 'o> {
        scopes_at(&[self], pc)
    }

    /// Returns the variables, parameters and constants in scope at a pc, those of the innermost scope first, with their
    /// locations. The scopes are those of [`scopes_at`](Self::scopes_at). Variables outside all functions are left out:
    /// [`variable_named`](Self::variable_named) finds them, too.
    ///
    /// ```
    /// # fn main() -> eitri_dwarf::Result<()> {
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// use eitri_dwarf::read::{CurrentLocation, Dwarf, Object};
    ///
    /// let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let pc = dwarf.address_in("squares", 0x13)?;
    /// let scope = dwarf.variables_at(pc);
    /// for variable in &scope.variables {
    ///     let name = variable.name().unwrap_or_default();
    ///     match &variable.location {
    ///         CurrentLocation::Expression(_) => println!("{name}: at all pcs"),
    ///         CurrentLocation::Entries(entries) => println!("{name}: {:x?}", entries[0].pcs(0)),
    ///         other => println!("{name}: {other:?}"),
    ///     }
    /// }
    /// // `y` is optimized out.
    /// assert_eq!(scope.variables[1].location, CurrentLocation::Missing);
    /// # Ok(())
    /// # }
    /// ```
    pub fn variables_at(&self, pc: u64) -> ScopeVariables<'_, 'o> {
        variables_of(self.scopes_at(pc))
    }

    /// Returns the source position of the code at a pc: the row of the line table whose code contains it. Of several rows
    /// for the same address, it is the last. If several units have rows, as for functions that a linker merged, it is a row
    /// of the unit with the [function](Self::functions_at). `None` if the line table has no code there.
    ///
    /// The pc is an address as in [`scopes_at`](Self::scopes_at). Inlined calls in a cubin's line table are in the
    /// [row](crate::read::LineRow::inlined). The first call makes an index, in one pass over all line programs; each call
    /// reads the header of a line program and the rows of a sequence.
    ///
    /// # Errors
    /// The first error of a line program, if no row that can be read has the pc.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> eitri_dwarf::Result<()> {
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let pc = dwarf.address_in("squares", 0x14)?;
    /// let line = dwarf.line_at(pc)?.expect("the function has lines");
    /// assert_eq!(line.to_string(), "/src/squares.c:2:15");
    /// assert_eq!((line.pcs, line.row.is_stmt), (pc - 1..pc + 2, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn line_at(&self, pc: u64) -> Result<Option<CodeLine>> {
        pcs::line_at(self, pc)
    }

    /// Returns the functions with code at a pc, without inlined functions: the innermost first, where functions are
    /// nested, and otherwise in file order. There are several where a linker merged functions with equal code. Functions
    /// that a linker discarded, and functions whose ranges cannot be read, are left out.
    ///
    /// The first call makes an index, in one pass over all entries.
    pub fn functions_at(&self, pc: u64) -> Vec<Entry<'_, 'o>> {
        pcs::functions::functions_at(self, pc)
    }

    /// Returns the variable, parameter or constant with a name at a pc: the one in the innermost scope with code there,
    /// or else outside all functions, and in the unit with code there if several units have one. A variable without a location
    /// in a block without pcs counts only if there is no other: see [`is_shadowed`](ScopeVariable::is_shadowed). Declarations
    /// and functions that a linker discarded are ignored; without a pc, so are all variables in functions.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`] if no variable has the name, or the error of a scope that may have code at the pc, if
    /// its ranges cannot be read; [`ErrorKind::AmbiguousName`] if several scopes at the same depth have such a variable.
    pub fn variable_named(&self, name: &str, pc: Option<u64>) -> Result<ScopeVariable<'_, 'o>> {
        variable_named(std::slice::from_ref(&self), name, pc)
    }
}

/// Returns the scopes with code at a pc in an object and its split units, as [`Dwarf::scopes_at`] does in a single file. The
/// scopes are those of the first file with a function there.
pub fn scopes_at<'d, 'o>(files: &[&'d Dwarf<'o>], pc: u64) -> CodeScopes<'d, 'o> {
    let mut files_with_code = files.iter().filter(|dwarf| pcs::has_function(dwarf, pc));
    let Some(first) = files_with_code.next() else {
        let errors = files.iter().flat_map(|dwarf| pcs::errors_without_function(dwarf, pc, files)).collect();
        return CodeScopes { pc, scopes: Vec::new(), others: Vec::new(), errors };
    };
    let mut scopes = pcs::scopes_at(first, pc);
    scopes.others.extend(files_with_code.flat_map(|dwarf| dwarf.functions_at(pc)));
    scopes
}

/// Returns the variables in scope at a pc in an object and its split units, as [`Dwarf::variables_at`] does in a single file.
pub fn variables_at<'d, 'o>(files: &[&'d Dwarf<'o>], pc: u64) -> ScopeVariables<'d, 'o> {
    variables_of(scopes_at(files, pc))
}

/// Returns the functions with code at a pc in an object and its split units, as [`Dwarf::functions_at`] does in a single file:
/// those of each file in turn.
pub fn functions_at<'d, 'o>(files: &[&'d Dwarf<'o>], pc: u64) -> Vec<Entry<'d, 'o>> {
    files.iter().flat_map(|dwarf| dwarf.functions_at(pc)).collect()
}

/// Returns the variable with a name at a pc in an object and its split units, as [`Dwarf::variable_named`] does in a
/// single file.
///
/// # Errors
/// The errors that [`Dwarf::variable_named`] returns.
pub fn variable_named<'d, 'o>(
    files: &[&'d Dwarf<'o>],
    name: &str,
    pc: Option<u64>,
) -> Result<ScopeVariable<'d, 'o>> {
    let mut variables = variables_named(files, name, pc)?;
    if variables.len() > 1 {
        let candidates = variables.iter().map(described).collect();
        let kind = Named::Variable { pc: pc.map(|pc| pc_text(files, pc)) };
        let name = name.to_owned();
        return Err(ErrorKind::AmbiguousName { kind, name, candidates }.into());
    }
    Ok(variables.swap_remove(0))
}

/// Returns all variables that [`variable_named`] cannot tell apart, at least one: there are several for a template that is
/// instantiated in several units and kept once, or for functions with identical code that a linker merged. Their
/// locations can be equal.
///
/// # Errors
/// [`ErrorKind::UnknownName`] if there is none, or the error of a scope that may have code at the pc.
pub fn variables_named<'d, 'o>(
    files: &[&'d Dwarf<'o>],
    name: &str,
    pc: Option<u64>,
) -> Result<Vec<ScopeVariable<'d, 'o>>> {
    let is_named = |entry: Entry<'_, '_>| entry.name().as_deref() == Some(name);
    let mut in_scope = Vec::new();
    let mut error = None;
    for (dwarf, pc) in files.iter().flat_map(|dwarf| pc.map(|pc| (*dwarf, pc))) {
        let functions = dwarf.functions_at(pc);
        if functions.is_empty() {
            error = error.or(pcs::errors_without_function(dwarf, pc, files).into_iter().next());
        }
        for function in functions {
            let ScopeVariables { scopes, variables } = variables_of(scopes_in(function, pc));
            error = error.or(scopes.errors.into_iter().next());
            in_scope.extend(
                variables.into_iter().filter(|variable| variable.location != CurrentLocation::Declared),
            );
        }
    }
    // Several functions can have code at the pc: the variable with the most scopes around it is the innermost.
    let depth = |variable: &ScopeVariable<'_, '_>| (variable.scope.and_then(scopes_around), variable.blocks);
    let mut variables: Vec<_> =
        in_scope.iter().filter(|variable| is_named(variable.entry)).cloned().collect();
    if variables.iter().any(|variable| !variable.is_in_removed_block()) {
        variables.retain(|variable| !variable.is_in_removed_block());
    }
    let innermost = variables.iter().map(depth).max();
    variables.retain(|variable| Some(depth(variable)) == innermost);
    if !variables.is_empty() {
        return Ok(variables);
    }
    // File scope (C 6.2.1): several units can have variables with the same name.
    let outside = || files.iter().flat_map(|dwarf| dwarf.entries().chain(imported(dwarf))).filter(is_outside);
    let named = outside().filter(|entry| is_named(*entry));
    variables.extend(named.map(|entry| ScopeVariable::outside_functions(entry, pc)));
    if let (Some(pc), [_, _, ..]) = (pc, &variables[..]) {
        let unit = |variable: &ScopeVariable<'d, 'o>| variable.entry.unit();
        let units = variables.chunk_by(|previous, next| core::ptr::eq(unit(previous), unit(next)));
        let with_code = units.filter(|together| together.first().is_some_and(|one| has_code(one.entry, pc)));
        let near: Vec<_> = with_code.flatten().cloned().collect();
        if !near.is_empty() {
            variables = near;
        }
    }
    if variables.is_empty() {
        if let Some(error) = error {
            return Err(error);
        }
        let known = in_scope.iter().map(|variable| variable.entry).chain(outside());
        let nearest = near::nearest(name, known.filter_map(Entry::name));
        let is_outside_code = |pc: &u64| !files.iter().any(|dwarf| pcs::has_function(dwarf, *pc));
        let outside_code = pc.filter(is_outside_code).map(|pc| Named::OutsideCode { pc: pc_text(files, pc) });
        let kind = outside_code.unwrap_or_else(|| Named::Variable { pc: pc.map(|pc| pc_text(files, pc)) });
        let name = name.to_owned();
        return Err(ErrorKind::UnknownName { kind, name, nearest }.into());
    }
    Ok(variables)
}

/// Whether an entry is a variable outside all functions, and not a declaration.
fn is_outside(entry: &Entry<'_, '_>) -> bool {
    is_variable(entry.tag()) && !entry.has(dw::DW_AT_declaration) && scopes_around(*entry) == Some(0)
}

impl<'o> Dwarf<'o> {
    /// Returns the address at an offset in bytes from the start of the function with this name or linkage name.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`] if no function with code has the name; [`ErrorKind::AmbiguousName`] if several have
    /// it and start at different addresses; [`ErrorKind::BadArgument`] if the function has no code at the address; and
    /// The errors that [`Entry::ranges`] returns.
    pub fn address_in(&self, function: &str, offset: u64) -> Result<u64> {
        address_in(&[self], function, offset)
    }

    fn functions(&self) -> impl Iterator<Item = Entry<'_, 'o>> {
        self.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram)
    }
}

/// Returns the address at a byte offset from a function's start in an object and its split units, as
/// [`Dwarf::address_in`] does in a single file.
///
/// # Errors
/// The errors that [`Dwarf::address_in`] returns.
pub fn address_in(files: &[&Dwarf<'_>], function: &str, offset: u64) -> Result<u64> {
    let is_name = |value: Option<ResolvedValue<'_>>| {
        value.and_then(ResolvedValue::text).is_some_and(|name| name == function)
    };
    let mut functions: Vec<(u64, Entry<'_, '_>)> = Vec::new();
    for entry in files.iter().flat_map(|dwarf| dwarf.functions()) {
        // Before DWARF 4, and in PTX, the linkage name has the attribute of the MIPS compilers.
        let names = [dw::DW_AT_name, dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
        let names = names.map(|name| entry.inherited(name));
        if names.into_iter().any(is_name)
            && let Some(start) = start(entry)?
            && functions.iter().all(|known| known.0 != start)
        {
            functions.push((start, entry));
        }
    }
    match functions[..] {
        [(start, entry)] => {
            let address = start.checked_add(offset);
            let ranges = live_ranges(entry)?;
            let is_code = |address: &u64| ranges.iter().any(|range| range.contains(address));
            address.filter(is_code).ok_or_else(|| {
                let bytes = ranges.iter().map(|range| range.end.saturating_sub(range.start));
                let bytes = bytes.fold(0, u64::saturating_add);
                let text = format!(
                    "offset {offset:#x} is outside `{function}`, which has {bytes:#x}",
                    bytes = Count(bytes, "byte")
                );
                Error::bad_argument(text)
            })
        }
        [] => Err(unknown_function(files.iter().copied(), function)),
        _ => {
            let candidates = functions.iter().map(|(start, _)| pc_text(files, *start).to_string()).collect();
            let name = function.into();
            Err(ErrorKind::AmbiguousName { kind: Named::Function, name, candidates }.into())
        }
    }
}

/// Returns a pc as an object's files write it.
fn pc_text(files: &[&Dwarf<'_>], pc: u64) -> Box<PcText<'static>> {
    let text = files.first().map_or_else(|| PcText::address(pc), |dwarf| dwarf.pc_notation().pc(pc));
    Box::new(text.into_owned())
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

/// Returns an entry's ranges without those that a linker discarded.
fn live_ranges(entry: Entry<'_, '_>) -> Result<Vec<Range<u64>>> {
    let mut ranges = entry.ranges()?;
    ranges.retain(|range| entry.dwarf().is_code(range.start));
    Ok(ranges)
}

/// Whether a variable's unit has code at a pc, by its own ranges or by its functions' ranges: a unit can lack ranges,
/// and a split unit's ranges are in its skeleton unit.
fn has_code(variable: Entry<'_, '_>, pc: u64) -> bool {
    let mut entries = variable.dwarf().entries_of(variable.unit());
    let own = entries.next();
    let functions = entries.filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    own.into_iter()
        .chain(functions)
        .any(|entry| live_ranges(entry).is_ok_and(|ranges| ranges.iter().any(|range| range.contains(&pc))))
}

/// Returns the entries in supplementary units that a file's units import, directly or in several steps.
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

fn described(variable: &ScopeVariable<'_, '_>) -> String {
    let entry = variable.entry;
    let place = entry.place();
    let unit = place.unit.map_or_else(String::new, |unit| format!(" of unit `{unit}`"));
    let function = place.function.map_or_else(String::new, |function| format!(", function `{function}`"));
    format!("entry {:#x}{unit}{function}", entry.dwarf().place(entry.offset()).1)
}
