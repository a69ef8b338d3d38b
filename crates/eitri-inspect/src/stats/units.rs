//! Counts from consecutive units: their line tables, and the walk over their entries.

use super::coverage::{Coverage, FunctionCoverage, UnitCoverage};
use super::lines;
use super::origins::InputSections;
use super::part::{UnitCounts, missing};
use super::visitor::{Known, Visitor};
use crate::lint::{Diagnoser, File};
use crate::walk::LinePrograms;
use eitri_dwarf::error::{At, Error};
use eitri_dwarf::read::Dwarf;
use eitri_dwarf::read::threads::Units;

/// Results in file order.
#[derive(Debug, Default)]
pub(super) struct Covered {
    /// Functions with code.
    pub(super) functions: Vec<FunctionCoverage>,
    /// Units that have functions with code.
    pub(super) units: Vec<UnitCoverage>,
    /// Errors in line programs, ranges and lists that cannot be read.
    pub(super) unreadable: Vec<Error>,
}

/// The files of a unit. Units can share a line program: its rows are counted once, and its files are read again only for
/// another folder.
struct UnitFiles<'a> {
    program: Option<u64>,
    folder: Option<&'a str>,
    paths: Vec<Option<String>>,
}

/// Counts the units with these indices. `file` is `Some` if the sound part is measured.
pub(super) fn count<'r>(
    part: &mut UnitCounts<'r>,
    dwarf: &'r Dwarf<'r>,
    file: Option<&File<'r, '_>>,
    units: Units<'_>,
    sections: &InputSections,
    programs: &LinePrograms,
    lists_variables: bool,
) -> Covered {
    let mut unreadable = Vec::new();
    let mut known = Known::default();
    let mut last: Option<UnitFiles<'_>> = None;
    for index in units {
        let unit = &dwarf.units()[index];
        let place = || At::new(|context| context.unit = unit.name.as_deref().map(String::from));
        let folder = unit.comp_dir.as_deref();
        let is_known =
            last.as_ref().is_some_and(|last| (unit.stmt_list, folder) == (last.program, last.folder));
        // A split unit uses its skeleton's lines, which are counted there.
        let has_lines = unit.signature.is_none() && !unit.is_split() && programs.has_first(unit);
        if has_lines || unit.is_split() || !is_known {
            let program = dwarf.lines(unit).unwrap_or_else(|error| {
                unreadable.extend(has_lines.then(|| error.or_at(place())));
                None
            });
            let files = program.as_ref().map(|program| lines::paths(program, unit)).unwrap_or_default();
            if let Some(program) = program.filter(|_| has_lines) {
                let read = part.lines.add(dwarf, &program, &files);
                unreadable.extend(read.err().map(|error| error.or_at(place())));
            }
            last = Some(UnitFiles { program: unit.stmt_list, folder, paths: files });
        }
        let files = last.as_ref().map(|last| &last.paths[..]).unwrap_or_default();
        let first = part.statistics.functions.len();
        let diagnoser = file.map(|file| Diagnoser::new(file, unit));
        let mut visitor = Visitor::new(part, diagnoser, files, &mut known, lists_variables, &mut unreadable);
        visitor.start = sections.start(unit.offset);
        visitor.unit(dwarf, unit);
        let Visitor { waiting, local, start, .. } = visitor;
        for (index, origin) in waiting {
            match local.get(&origin) {
                Some(abstracts) => missing(dwarf, (index, start), abstracts, &mut part.statistics),
                None => part.across.push((index, origin)),
            }
        }
        let functions = &part.statistics.functions[first..];
        if !functions.is_empty() {
            let mut coverage = Coverage::default();
            functions.iter().for_each(|function| coverage += function.coverage);
            let name = unit.name.as_deref().map(String::from);
            part.statistics.units.push(UnitCoverage { name, coverage });
        }
    }
    part.contents.forms(known.forms.finish());
    let statistics = &mut part.statistics;
    let (functions, units) =
        (std::mem::take(&mut statistics.functions), std::mem::take(&mut statistics.units));
    Covered { functions, units, unreadable }
}
