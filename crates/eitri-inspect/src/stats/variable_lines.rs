//! Source lines at which variables have a location.
//!
//! The numbers are those of `llvm-dwarfdump --show-variable-coverage`: a line counts for a variable if a row of the line
//! table is in a range of its location, in its scope, and in the function without the calls inlined into it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use gimli::constants as dw;

use super::attributes::linkage_name;
use super::lines;
use super::statistics::distinct;
use eitri_dwarf::error::{At, Error, Result};
use eitri_dwarf::op::Dialect;
use eitri_dwarf::read::{Dwarf, Entry, Object, OtherUnits, SplitFiles, Unit, Value};

/// A file, by number, and a line.
type Line = (u32, u64);
/// Lines in order, each once.
type Lines = Vec<Line>;

/// Source lines of a variable: of one instance, or the sum of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableLines {
    /// Linkage name of the function or inlined function, or else its name.
    pub function: String,
    /// Files and lines of the calls by which the function was inlined, the innermost first; empty for a sum.
    pub calls: Vec<(String, u64)>,
    /// Name.
    pub name: String,
    /// File and line of the declaration.
    pub declared: (String, u64),
    /// Number of instances.
    pub instances: u64,
    /// Lines of the scope that have code.
    pub scope: u64,
    /// Lines of the scope at which the variable has a location.
    pub located: u64,
    /// Lines of the base, if it has the variable.
    pub base: Option<BaseLines>,
}

impl VariableLines {
    /// Returns the average of a sum over the instances, such as [`scope`](Self::scope).
    pub fn average(&self, sum: u64) -> f64 {
        sum as f64 / self.instances as f64
    }
}

/// Source lines of a variable in an unoptimised build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseLines {
    /// Lines at which the variable has a location there.
    pub located: u64,
    /// Located lines that have code in the optimised build.
    pub present: u64,
}

/// Name of a variable across builds: function, variable, file and line of the declaration.
type Key = (String, String, String, u64);

struct Instance {
    key: Key,
    calls: Vec<(String, u64)>,
    scope: Lines,
    located: Lines,
    function: Lines,
}

/// Object file of a build.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// Contents of the object file.
    pub bytes: &'a [u8],
    /// Files of split units.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
}

impl<'a> Build<'a> {
    /// Returns a build without other files.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, split: SplitFiles::default(), supplementary: None }
    }
}

/// Returns the source lines of each variable of an object file, beside those of an unoptimised build of the same source.
/// Variables are matched by function, name and declaration. With `combine`, the instances of an inlined function are one
/// element, whose [average](VariableLines::average) is that of
/// `llvm-dwarfdump --show-variable-coverage --combine-inline-variable-instances`.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`], and those of line programs, ranges and lists.
pub fn variable_lines(
    build: Build<'_>,
    base: Option<Build<'_>>,
    combine: bool,
) -> Result<Vec<VariableLines>> {
    let ReadableLines { variables, unreadable, unreadable_base } =
        readable_variable_lines(build, base, combine)?;
    unreadable_base.into_iter().chain(unreadable).next().map_or(Ok(variables), Err)
}

/// Source lines of the variables that can be read.
#[derive(Debug, Clone, Default)]
pub struct ReadableLines {
    /// Variables, in the order of the file.
    pub variables: Vec<VariableLines>,
    /// Errors of the other parts of the object.
    pub unreadable: Vec<Error>,
    /// Errors of the other parts of the unoptimised build.
    pub unreadable_base: Vec<Error>,
}

/// Returns the source lines of the variables that can be read, as [`variable_lines`] does, with the errors of the other parts.
/// The variables of a unit whose line program cannot be read are left out.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_readable`], and those of the finder of [`Build::split`].
pub fn readable_variable_lines(
    build: Build<'_>,
    base: Option<Build<'_>>,
    combine: bool,
) -> Result<ReadableLines> {
    let mut files = HashMap::new();
    let mut unreadable = Vec::new();
    let mut unreadable_base = Vec::new();
    let mut known: BTreeMap<Key, Lines> = BTreeMap::new();
    if let Some(base) = base {
        for one in instances(base, &mut files, &mut unreadable_base)? {
            let own = known.entry(one.key).or_default();
            own.extend(one.located);
            own.sort_unstable();
            own.dedup();
        }
    }
    let mut variables: Vec<VariableLines> = Vec::new();
    for one in instances(build, &mut files, &mut unreadable)? {
        let base = known.get(&one.key).map(|lines| BaseLines {
            located: lines.len() as u64,
            present: lines.iter().filter(|line| one.function.binary_search(line).is_ok()).count() as u64,
        });
        let (function, name, file, line) = one.key;
        let scope = one.scope.len() as u64;
        let located = one.located.len() as u64;
        let calls = one.calls;
        let declared = (file, line);
        let instances = 1;
        variables.push(VariableLines { function, calls, name, declared, instances, scope, located, base });
    }
    variables.sort_by(|a, b| {
        let key = |one: &VariableLines| (one.function.clone(), one.name.clone(), one.declared.clone());
        key(a).cmp(&key(b))
    });
    if combine {
        variables.dedup_by(|next, sum| {
            let is_same =
                (&next.function, &next.name, &next.declared) == (&sum.function, &sum.name, &sum.declared);
            if is_same {
                sum.calls.clear();
                sum.instances += 1;
                sum.scope += next.scope;
                sum.located += next.located;
                if let (Some(sum), Some(next)) = (&mut sum.base, next.base) {
                    sum.located += next.located;
                    sum.present += next.present;
                }
            }
            is_same
        });
        variables.iter_mut().for_each(|one| one.calls.clear());
    }
    let (unreadable, unreadable_base) =
        (distinct(unreadable.into_iter()), distinct(unreadable_base.into_iter()));
    Ok(ReadableLines { variables: variables, unreadable, unreadable_base })
}

/// Rows of a unit: address, and file and line.
struct Rows {
    rows: Vec<(u64, Line)>,
    paths: Vec<Option<String>>,
}

impl Rows {
    fn read(dwarf: &Dwarf<'_>, unit: &Unit<'_>, files: &mut HashMap<String, u32>) -> Result<Self> {
        let Some(program) = dwarf.lines(unit)? else {
            return Ok(Self { rows: Vec::new(), paths: Vec::new() });
        };
        let paths = lines::paths(&program, unit);
        let numbers: Vec<u32> = paths
            .iter()
            .map(|path| {
                let next = files.len() as u32;
                *files.entry(path.clone().unwrap_or_default()).or_insert(next)
            })
            .collect();
        let mut rows = Vec::new();
        for row in program.rows() {
            eitri_dwarf::work::step();
            let row = row?;
            let file = usize::try_from(row.file).ok().and_then(|file| numbers.get(file));
            if let Some(file) = file.filter(|_| row.line != 0 && !row.end_sequence) {
                rows.push((row.address, (*file, row.line)));
            }
        }
        rows.sort_unstable();
        Ok(Self { rows, paths })
    }

    fn add(&self, range: &Range<u64>, all: &mut Lines) {
        let from = self.rows.partition_point(|row| row.0 < range.start);
        all.extend(self.rows[from..].iter().take_while(|row| row.0 < range.end).map(|row| row.1));
    }

    fn of<'a>(&self, ranges: impl IntoIterator<Item = &'a Range<u64>>) -> Lines {
        let mut lines = Lines::new();
        ranges.into_iter().for_each(|range| self.add(range, &mut lines));
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    fn path(&self, file: Option<u64>) -> String {
        let path = file.and_then(|file| self.paths.get(usize::try_from(file).ok()?)?.clone());
        path.unwrap_or_default()
    }
}

/// Returns the lines of a function without those of the calls inlined into it.
fn function_lines(function: Entry<'_, '_>, rows: &Rows) -> Result<Lines> {
    let mut lines = rows.of(&function.ranges()?);
    let mut inlined = Vec::new();
    let mut scopes = vec![function];
    while let Some(scope) = scopes.pop() {
        for child in scope.children() {
            match child.tag() {
                dw::DW_TAG_inlined_subroutine => inlined.extend(child.ranges()?),
                _ => scopes.push(child),
            }
        }
    }
    let inlined = rows.of(&inlined);
    lines.retain(|line| inlined.binary_search(line).is_err());
    Ok(lines)
}

/// Returns the variables of a build, and appends the errors of what cannot be read of the object. The finder of split units
/// takes the errors of files.
fn instances(
    build: Build<'_>,
    files: &mut HashMap<String, u32>,
    unreadable: &mut Vec<Error>,
) -> Result<Vec<Instance>> {
    let object = Object::read_with(build.bytes, build.supplementary, None)?;
    let dwarf = Dwarf::read_readable(&object, Dialect::Llvm, 1)?;
    let mut rows = Vec::new();
    build.split.with(&object, &dwarf, |split| {
        for dwarf in std::iter::once(&dwarf).chain(split) {
            let mut errors = match dwarf.split_file() {
                None => dwarf.errors().to_vec(),
                Some(_) => Vec::new(),
            };
            instances_in(dwarf, files, &mut rows, &mut errors);
            unreadable.extend(build.split.take_unreadable(dwarf, errors)?);
        }
        Ok(())
    })?;
    Ok(rows)
}

fn instances_in(
    dwarf: &Dwarf<'_>,
    files: &mut HashMap<String, u32>,
    all: &mut Vec<Instance>,
    errors: &mut Vec<Error>,
) {
    let others = OtherUnits::default();
    for unit in dwarf.units() {
        let rows = match Rows::read(dwarf, unit, files) {
            Ok(rows) => rows,
            Err(error) => {
                let unit = unit.name.as_deref().map(String::from);
                errors.push(error.or_at(At { unit, ..At::default() }));
                continue;
            }
        };
        let mut unit = InUnit { unit, rows, others: &others, last: None };
        for entry in dwarf.entries_of(unit.unit) {
            eitri_dwarf::work::step();
            if !matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter) {
                continue;
            }
            match unit.instance(entry) {
                Ok(instance) => all.extend(instance),
                Err(error) => errors.push(error.or_at(entry.place())),
            }
        }
    }
}

/// Unit whose variables are read.
struct InUnit<'a, 'r, 'o> {
    unit: &'r Unit<'o>,
    rows: Rows,
    others: &'a OtherUnits<'o>,
    /// Lines of the function of the last variable, with the index of its entry.
    last: Option<(usize, Lines)>,
}

impl<'r, 'o> InUnit<'_, 'r, 'o> {
    /// Returns the lines of a variable or parameter of a function with code.
    fn instance(&mut self, entry: Entry<'r, 'o>) -> Result<Option<Instance>> {
        let rows = &self.rows;
        let functions = around(entry);
        let Some(function) = functions.first().copied() else { return Ok(None) };
        // An abstract instance has no code, nor does a function that the linker discarded.
        if !function.ranges()?.iter().any(|range| entry.dwarf().is_code(range.start)) {
            return Ok(None);
        }
        let (Some(name), Some(own)) = (entry.name(), linkage_name(function)) else { return Ok(None) };
        if self.last.as_ref().is_none_or(|last| last.0 != function.index()) {
            self.last = Some((function.index(), function_lines(function, rows)?));
        }
        let lines = self.last.as_ref().map(|last| &last.1[..]).unwrap_or_default();
        let ranges = entry.parent().map(Entry::ranges).transpose()?.unwrap_or_default();
        let mut scope = rows.of(&ranges);
        scope.retain(|line| lines.binary_search(line).is_ok());
        let file = match entry.declared_file() {
            Some((declared, file)) if declared.unit().offset != self.unit.offset => {
                self.others.path(declared, file).unwrap_or_default()
            }
            file => rows.path(file.map(|file| file.1)),
        };
        let line = entry.inherited(dw::DW_AT_decl_line).and_then(Value::unsigned).unwrap_or(0);
        let calls = functions.iter().filter(|one| one.tag() == dw::DW_TAG_inlined_subroutine);
        let calls = calls.map(|one| {
            (rows.path(one.number(dw::DW_AT_call_file)), one.number(dw::DW_AT_call_line).unwrap_or(0))
        });
        Ok(Some(Instance {
            key: (own, name.into_owned(), file, line),
            calls: calls.collect(),
            located: located(entry, &scope, rows)?,
            scope,
            function: lines.to_vec(),
        }))
    }
}

/// Returns the lines of a scope at which a variable has a location.
fn located(variable: Entry<'_, '_>, scope: &Lines, rows: &Rows) -> Result<Lines> {
    if variable.has(dw::DW_AT_const_value) {
        return Ok(scope.clone());
    }
    let Some(list) = variable.locations(dw::DW_AT_location)? else { return Ok(Lines::new()) };
    if list.iter().any(|one| one.is_default() && !one.expr.is_empty()) {
        return Ok(scope.clone());
    }
    let ranges: Vec<_> =
        list.iter().filter(|one| !one.expr.is_empty()).map(|one| one.start..one.end).collect();
    let mut lines = rows.of(&ranges);
    lines.retain(|line| scope.binary_search(line).is_ok());
    Ok(lines)
}

/// Returns the inlined calls around an entry, the innermost first, and the function.
fn around<'r, 'o>(entry: Entry<'r, 'o>) -> Vec<Entry<'r, 'o>> {
    let mut ranges_of_scope = Vec::new();
    for one in std::iter::successors(entry.parent(), |entry| entry.parent()) {
        match one.tag() {
            dw::DW_TAG_inlined_subroutine => ranges_of_scope.push(one),
            dw::DW_TAG_subprogram => {
                ranges_of_scope.push(one);
                break;
            }
            _ => {}
        }
    }
    // Without the function, the entry is in none.
    if ranges_of_scope.last().is_none_or(|last| last.tag() != dw::DW_TAG_subprogram) {
        Vec::new()
    } else {
        ranges_of_scope
    }
}
