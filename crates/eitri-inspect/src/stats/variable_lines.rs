//! Source lines at which variables have a location.
//!
//! The numbers are those that `llvm-dwarfdump --show-variable-coverage` prints: a line counts for a variable if a line
//! table row is in its location's ranges, in its scope, and in the function without the calls inlined into it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use gimli::constants as dw;

use super::attributes::linkage_name;
use super::lines;
use super::statistics::distinct;
use crate::ranges::{LONG_LIST, RangeLists};
use eitri_dwarf::error::{At, Error, Result};
use eitri_dwarf::read::{Dwarf, Entry, Object, OtherUnits, ReadOptions, ResolvedValue, SplitFiles, Unit};

/// A file, by number, and a line.
type Line = (u32, u64);
/// Lines in order, each once.
type Lines = Rc<[Line]>;

/// A variable's source lines: in a single instance, or summed over several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableLines {
    /// Linkage name, or else name, of the function or inlined function.
    pub function: String,
    /// Files and lines of the calls by which the function was inlined, the innermost first; empty for a sum.
    pub calls: Vec<(String, u64)>,
    /// Name.
    pub name: String,
    /// File and line where it is declared.
    pub declared: (String, u64),
    /// Number of instances.
    pub instances: u64,
    /// Lines in the scope that have code.
    pub scope: u64,
    /// Lines in the scope at which the variable has a location.
    pub located: u64,
    /// Lines in the base, if it has the variable.
    pub base: Option<BaseLines>,
}

impl VariableLines {
    /// Returns a sum's average over the instances, such as [`scope`](Self::scope).
    pub fn average(&self, sum: u64) -> f64 {
        sum as f64 / self.instances as f64
    }
}

/// A variable's source lines in an unoptimised build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BaseLines {
    /// Lines at which the variable has a location there.
    pub located: u64,
    /// Located lines that have code in the optimised build.
    pub present: u64,
}

/// What identifies a variable across builds: function, variable, file and line where it is declared.
type Key = (String, String, String, u64);

struct Instance {
    key: Key,
    calls: Vec<(String, u64)>,
    scope: Lines,
    located: Lines,
    function: Lines,
}

/// A build's object file.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// The object file's bytes.
    pub bytes: &'a [u8],
    /// Split files.
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

/// Returns the source lines of each variable in an object file, beside those in an unoptimised build of the same
/// source. Variables are matched by function, name and declaration. With `combine`, an inlined function's instances are
/// a single element, whose [average](VariableLines::average) is the number that `llvm-dwarfdump
/// --show-variable-coverage --combine-inline-variable-instances` prints.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`], and errors in line programs, ranges and lists.
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
#[non_exhaustive]
pub struct ReadableLines {
    /// Variables, in file order.
    pub variables: Vec<VariableLines>,
    /// Errors in the object's other parts.
    pub unreadable: Vec<Error>,
    /// Errors in the unoptimised build's other parts.
    pub unreadable_base: Vec<Error>,
}

/// Returns the source lines of the variables that can be read, as [`variable_lines`] does, with the errors in the other
/// parts. Variables in a unit whose line program cannot be read are left out.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_with`], and errors from the finder in [`Build::split`].
pub fn readable_variable_lines(
    build: Build<'_>,
    base: Option<Build<'_>>,
    combine: bool,
) -> Result<ReadableLines> {
    let mut files = HashMap::new();
    let mut unreadable = Vec::new();
    let mut unreadable_base = Vec::new();
    let mut known: BTreeMap<Key, Vec<Line>> = BTreeMap::new();
    if let Some(base) = base {
        for instance in instances(base, &mut files, &mut unreadable_base)? {
            let own = known.entry(instance.key).or_default();
            own.extend(instance.located.iter());
            own.sort_unstable();
            own.dedup();
        }
    }
    let mut variables: Vec<VariableLines> = Vec::new();
    for instance in instances(build, &mut files, &mut unreadable)? {
        let base = known.get(&instance.key).map(|lines| BaseLines {
            located: lines.len() as u64,
            present: lines.iter().filter(|line| instance.function.binary_search(line).is_ok()).count() as u64,
        });
        let (function, name, file, line) = instance.key;
        let scope = instance.scope.len() as u64;
        let located = instance.located.len() as u64;
        let calls = instance.calls;
        let declared = (file, line);
        let instances = 1;
        variables.push(VariableLines { function, calls, name, declared, instances, scope, located, base });
    }
    variables.sort_by(|a, b| {
        let key = |variable: &VariableLines| {
            (variable.function.clone(), variable.name.clone(), variable.declared.clone())
        };
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
        variables.iter_mut().for_each(|variable| variable.calls.clear());
    }
    let (unreadable, unreadable_base) =
        (distinct(unreadable.into_iter()), distinct(unreadable_base.into_iter()));
    Ok(ReadableLines { variables, unreadable, unreadable_base })
}

/// A unit's rows: address, and file and line.
struct Rows {
    rows: Vec<(u64, Line)>,
    paths: Vec<Option<String>>,
}

impl Rows {
    fn read(dwarf: &Dwarf<'_>, unit: &Unit<'_>, files: &mut HashMap<String, u32>) -> Result<Rc<Self>> {
        let Some(program) = dwarf.lines(unit)? else {
            return Ok(Rc::new(Self { rows: Vec::new(), paths: Vec::new() }));
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
        Ok(Rc::new(Self { rows, paths }))
    }

    fn add(&self, range: &Range<u64>, lines: &mut Vec<Line>) {
        let from = self.rows.partition_point(|row| row.0 < range.start);
        lines.extend(self.rows[from..].iter().take_while(|row| row.0 < range.end).map(|row| row.1));
    }

    fn lines<'a>(&self, ranges: impl IntoIterator<Item = &'a Range<u64>>) -> Vec<Line> {
        let mut lines = Vec::new();
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

/// Returns a build's variables, and appends the errors in unreadable parts of the object. The split unit finder takes
/// the errors in files.
fn instances(
    build: Build<'_>,
    files: &mut HashMap<String, u32>,
    unreadable: &mut Vec<Error>,
) -> Result<Vec<Instance>> {
    let object = Object::read_with(build.bytes, build.supplementary, None)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable())?;
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
    instances: &mut Vec<Instance>,
    errors: &mut Vec<Error>,
) {
    let others = OtherUnits::default();
    // Units can share a line program, whose rows are read again only for another folder.
    let mut last: Option<(Option<u64>, Option<&str>, Rc<Rows>)> = None;
    let mut ranges = RangeLists::default();
    let mut lists = HashMap::new();
    for unit in dwarf.units() {
        let folder = unit.comp_dir.as_deref();
        let known = last.as_ref().filter(|last| (unit.stmt_list, folder) == (last.0, last.1));
        let rows = match known.map_or_else(|| Rows::read(dwarf, unit, files), |last| Ok(last.2.clone())) {
            Ok(rows) => rows,
            Err(error) => {
                let unit = unit.name.as_deref().map(String::from);
                errors.push(error.or_at(At::new(|context| context.unit = unit)));
                continue;
            }
        };
        if known.is_none() {
            lists.clear();
        }
        last = Some((unit.stmt_list, folder, rows.clone()));
        let ranges = &mut ranges;
        let lists = &mut lists;
        let function = None;
        let scope = None;
        let mut unit = InUnit { unit, rows, others: &others, ranges, lists, function, scope };
        for entry in dwarf.entries_of(unit.unit) {
            eitri_dwarf::work::step();
            if !matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter) {
                continue;
            }
            match unit.instance(entry) {
                Ok(instance) => instances.extend(instance),
                Err(error) => errors.push(error.or_at(entry.place())),
            }
        }
    }
}

/// Unit whose variables are read.
struct InUnit<'a, 'r, 'o> {
    unit: &'r Unit<'o>,
    rows: Rc<Rows>,
    others: &'a OtherUnits<'o>,
    ranges: &'a mut RangeLists,
    /// Lines in the code of long range lists, by the first range's address: the list is in `ranges`.
    lists: &'a mut HashMap<*const Range<u64>, Lines>,
    /// Lines in the last variable's function, with the function's entry index.
    function: Option<(usize, Lines)>,
    /// Lines in the last variable's scope, without lines outside the function, with the scope's entry index.
    scope: Option<(usize, Lines)>,
}

impl<'r, 'o> InUnit<'_, 'r, 'o> {
    /// Returns the lines in an entry's code.
    fn lines(&mut self, entry: Entry<'r, 'o>) -> Result<Lines> {
        let ranges = self.ranges.ranges(entry)?;
        if ranges.len() < LONG_LIST {
            return Ok(self.rows.lines(&*ranges).into());
        }
        let lines = self.lists.entry(ranges.as_ptr()).or_insert_with(|| self.rows.lines(&*ranges).into());
        Ok(lines.clone())
    }

    /// Returns a function's lines, except lines of the calls inlined into it.
    fn function_lines(&mut self, function: Entry<'r, 'o>) -> Result<Lines> {
        let lines = self.lines(function)?;
        let mut inlined = HashMap::new();
        let mut scopes = vec![function];
        while let Some(scope) = scopes.pop() {
            for child in scope.children() {
                if child.tag() == dw::DW_TAG_inlined_subroutine {
                    let ranges = self.ranges.ranges(child)?;
                    inlined.insert(ranges.as_ptr(), ranges);
                } else {
                    scopes.push(child);
                }
            }
        }
        if inlined.is_empty() {
            return Ok(lines);
        }
        let inlined = self.rows.lines(inlined.values().flat_map(|ranges| ranges.iter()));
        Ok(lines.iter().copied().filter(|line| inlined.binary_search(line).is_err()).collect())
    }

    /// Returns the lines of a variable or parameter in a function with code.
    fn instance(&mut self, entry: Entry<'r, 'o>) -> Result<Option<Instance>> {
        let functions = around(entry);
        let Some(function) = functions.first().copied() else { return Ok(None) };
        // An abstract instance has no code, nor does a function that the linker discarded.
        if !self.ranges.ranges(function)?.is_live() {
            return Ok(None);
        }
        let (Some(name), Some(own)) = (entry.name(), linkage_name(function)) else { return Ok(None) };
        let lines = match &self.function {
            Some((index, lines)) if *index == function.index() => lines.clone(),
            _ => self.function_lines(function)?,
        };
        self.function = Some((function.index(), lines.clone()));
        let parent = entry.parent().unwrap_or(function);
        let scope = match &self.scope {
            Some((index, scope)) if *index == parent.index() => scope.clone(),
            _ => {
                let scope = self.lines(parent)?;
                scope.iter().copied().filter(|line| lines.binary_search(line).is_ok()).collect()
            }
        };
        self.scope = Some((parent.index(), scope.clone()));
        let rows = &self.rows;
        let file = match entry.declared_file() {
            Some((declared, file)) if declared.unit().offset != self.unit.offset => {
                self.others.path(declared, file).unwrap_or_default()
            }
            file => rows.path(file.map(|file| file.1)),
        };
        let line = entry.inherited(dw::DW_AT_decl_line).and_then(ResolvedValue::unsigned).unwrap_or(0);
        let calls = functions.iter().filter(|call| call.tag() == dw::DW_TAG_inlined_subroutine);
        let calls = calls.map(|call| {
            (rows.path(call.number(dw::DW_AT_call_file)), call.number(dw::DW_AT_call_line).unwrap_or(0))
        });
        Ok(Some(Instance {
            key: (own, name.into_owned(), file, line),
            calls: calls.collect(),
            located: located(entry, &scope, rows)?,
            scope,
            function: lines,
        }))
    }
}

/// Returns the lines in a scope at which a variable has a location.
fn located(variable: Entry<'_, '_>, scope: &Lines, rows: &Rows) -> Result<Lines> {
    if variable.has(dw::DW_AT_const_value) {
        return Ok(scope.clone());
    }
    let Some(list) = variable.locations(dw::DW_AT_location)? else { return Ok(Lines::default()) };
    if list.iter().any(|entry| entry.is_default() && !entry.expr.is_empty()) {
        return Ok(scope.clone());
    }
    let ranges: Vec<_> =
        list.iter().filter(|entry| !entry.expr.is_empty()).map(|entry| entry.start..entry.end).collect();
    let mut lines = rows.lines(&ranges);
    lines.retain(|line| scope.binary_search(line).is_ok());
    Ok(lines.into())
}

/// Returns the inlined calls around an entry, the innermost first, and the function.
fn around<'r, 'o>(entry: Entry<'r, 'o>) -> Vec<Entry<'r, 'o>> {
    let mut ranges_of_scope = Vec::new();
    for parent in std::iter::successors(entry.parent(), |entry| entry.parent()) {
        match parent.tag() {
            dw::DW_TAG_inlined_subroutine => ranges_of_scope.push(parent),
            dw::DW_TAG_subprogram => {
                ranges_of_scope.push(parent);
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
