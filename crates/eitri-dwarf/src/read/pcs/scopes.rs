//! Scopes with code at a pc.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use super::members::{Members, is_code_scope};
use crate::error::{Error, ErrorKind};
use crate::read::{Dwarf, Entry, LineProgram, ResolvedValue, Unit};

/// Scopes with code at a pc, the innermost first: blocks, inlined calls, and last the function that contains them. A
/// list of [`CodeScope`].
///
/// Empty if no function has code there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CodeScopes<'r, 'o> {
    /// The pc.
    pub pc: u64,
    /// The scopes.
    pub scopes: Vec<CodeScope<'r, 'o>>,
    /// Other functions with code at the pc: a linker merges functions with equal code, and nested functions are in the
    /// functions around them.
    pub others: Vec<Entry<'r, 'o>>,
    /// Errors of scopes that may have code at the pc, because their ranges cannot be read, and of the header that has the
    /// files of calls. If no function has code at the pc, also the errors of functions, and of skeleton units with code there
    /// whose split unit was not read.
    pub errors: Vec<Error>,
}

/// A scope with code: a function, an inlined call, or a block.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CodeScope<'r, 'o> {
    /// The entry. Its tag is the kind of the scope.
    pub entry: Entry<'r, 'o>,
    /// Addresses of the code in the file, without [load bias](crate::eval::Machine::load_bias), in file order, without
    /// those that a linker discarded.
    pub ranges: Arc<[Range<u64>]>,
    /// Position of the call, if it is an inlined call.
    pub call: Option<EntryPosition>,
}

/// Source position that an entry has: of an inlined call (DWARF 5 section 3.3.8.2), or of a
/// [declaration](Entry::declared_at) (section 2.14).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPosition {
    /// File path, with the compilation's folder.
    pub file: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column, counted from 1.
    pub column: Option<u64>,
}

impl<'r, 'o> CodeScopes<'r, 'o> {
    /// Returns the frames that a debugger shows for the pc, the innermost first: a frame is a function or an inlined call,
    /// the last of these scopes, after the blocks in it. The position in the first frame is the [line](Dwarf::line_at) of
    /// the pc, and in each other frame the [`call`](CodeScope::call) of the frame before.
    pub fn frames(&self) -> impl Iterator<Item = &[CodeScope<'r, 'o>]> {
        self.scopes.split_inclusive(CodeScope::is_function)
    }
}

impl<'r, 'o> Deref for CodeScopes<'r, 'o> {
    type Target = [CodeScope<'r, 'o>];

    fn deref(&self) -> &Self::Target {
        &self.scopes
    }
}

impl<'r, 'o> CodeScope<'r, 'o> {
    /// Returns the name of the function, or of the inlined function. Blocks rarely have names.
    pub fn name(&self) -> Option<Cow<'o, str>> {
        self.entry.name()
    }

    /// Whether it is a function or an inlined function, and not a block.
    pub fn is_function(&self) -> bool {
        matches!(self.entry.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine)
    }
}

/// The position as `file:line:column`, without the parts that are unknown.
impl fmt::Display for EntryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::lines::position(f, self.file.as_deref(), self.line, self.column)
    }
}

/// Whether a function of a file has code at a pc.
pub(in crate::read) fn has_function(dwarf: &Dwarf<'_>, pc: u64) -> bool {
    super::function_at(dwarf, pc).is_some()
}

/// Returns the errors of a file that can be the reason why no function has code at a pc: those of functions whose ranges
/// cannot be read, and of skeleton units with code there, whose split units are in none of the files.
pub(in crate::read) fn errors_without_function(
    dwarf: &Dwarf<'_>,
    pc: u64,
    files: &[&Dwarf<'_>],
) -> Vec<Error> {
    let mut errors = super::functions::index(dwarf).errors.clone();
    let split = files.iter().flat_map(|file| file.units()).filter(|unit| unit.is_split());
    let known: HashSet<u64> = split.filter_map(|unit| unit.dwo_id).collect();
    let is_known = |unit: &Unit<'_>| unit.dwo_id.is_some_and(|id| known.contains(&id));
    let mut ranges = Vec::new();
    for unit in dwarf.units().iter().filter(|unit| unit.is_skeleton() && !is_known(unit)) {
        crate::work::step();
        let Some(root) = dwarf.root(unit) else { continue };
        // The ranges before an error are good.
        let _ = super::functions::read_code_ranges(root, &mut ranges);
        if ranges.iter().any(|range| range.contains(&pc)) {
            let name = unit.dwo_name.as_deref().unwrap_or_default();
            let pc = dwarf.pc_notation().pc(pc);
            let problem =
                format!("code at pc {pc} is described by the split unit `{name}`, which was not read");
            errors.push(Error::new(ErrorKind::Unsupported(problem)).or_at(root.place()));
        }
    }
    errors
}

/// Returns the scopes at a pc in a file with a function there.
pub(in crate::read) fn scopes_at<'r, 'o>(dwarf: &'r Dwarf<'o>, pc: u64) -> CodeScopes<'r, 'o> {
    let mut functions = dwarf.functions_at(pc);
    if functions.is_empty() {
        return CodeScopes { pc, scopes: Vec::new(), others: Vec::new(), errors: Vec::new() };
    }
    let function = functions.remove(0);
    CodeScopes { others: functions, ..scopes_in(function, pc) }
}

/// Returns the scopes at a pc in a function with code there.
pub(in crate::read) fn scopes_in<'r, 'o>(function: Entry<'r, 'o>, pc: u64) -> CodeScopes<'r, 'o> {
    let mut chain = Chain { pc, lists: HashMap::new(), program: None, errors: Vec::new() };
    let mut scopes: Vec<_> = chain.scope(function).into_iter().collect();
    let mut outer = function;
    loop {
        let inner = Members::of_scope(outer).map(|(member, _)| member);
        let mut inner =
            inner.filter(|member| is_code_scope(member.tag()) && member.tag() != dw::DW_TAG_subprogram);
        let Some(scope) = inner.find_map(|member| chain.scope(member)) else { break };
        outer = scope.entry;
        scopes.push(scope);
    }
    scopes.reverse();
    CodeScopes { pc, scopes, others: Vec::new(), errors: chain.errors }
}

/// Facts that the scopes in a chain share.
struct Chain<'o> {
    pc: u64,
    /// Ranges by the offset of their list: scopes often have the ranges of the scope around them.
    lists: HashMap<u64, Arc<[Range<u64>]>>,
    /// The header with the files of calls, once it is needed.
    program: Option<Option<LineProgram<'o>>>,
    errors: Vec<Error>,
}

impl<'o> Chain<'o> {
    /// Returns a scope, if it has code at the pc.
    fn scope<'r>(&mut self, entry: Entry<'r, 'o>) -> Option<CodeScope<'r, 'o>> {
        let ranges = self.ranges(entry);
        ranges.iter().any(|range| range.contains(&self.pc)).then(|| CodeScope {
            entry,
            ranges,
            call: (entry.tag() == dw::DW_TAG_inlined_subroutine).then(|| self.call(entry)),
        })
    }

    /// Returns the ranges that can be read.
    fn ranges(&mut self, entry: Entry<'_, 'o>) -> Arc<[Range<u64>]> {
        let list = match entry.attr(dw::DW_AT_ranges) {
            Some(ResolvedValue::RngList(offset)) => Some(offset),
            _ => None,
        };
        if let Some(known) = list.and_then(|list| self.lists.get(&list)) {
            return known.clone();
        }
        let mut ranges = Vec::new();
        if let Err(error) = super::functions::read_code_ranges(entry, &mut ranges) {
            self.errors.push(error.or_at(entry.place()));
        }
        let ranges: Arc<[_]> = ranges.into();
        self.lists.extend(list.map(|list| (list, ranges.clone())));
        ranges
    }

    fn call(&mut self, entry: Entry<'_, 'o>) -> EntryPosition {
        let unit = entry.unit();
        let file = entry.number(dw::DW_AT_call_file).and_then(|number| {
            let program = match &mut self.program {
                Some(known) => known,
                unknown => unknown.insert(entry.dwarf.lines(unit).unwrap_or_else(|error| {
                    self.errors.push(error.or_at(entry.place()));
                    None
                })),
            };
            program.as_ref()?.full_path(number, unit.comp_dir.as_deref())
        });
        let [line, column] = [dw::DW_AT_call_line, dw::DW_AT_call_column].map(|name| entry.number(name));
        EntryPosition {
            file,
            line: line.filter(|line| *line > 0),
            column: column.filter(|column| *column > 0),
        }
    }
}
