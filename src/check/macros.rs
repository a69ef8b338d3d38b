//! Macro information: DWARF 5 section 6.3.

use super::comparison::Compare;
use super::describe::Describe;
use super::files::{Source, described, source};
use super::report::FindingKind;
use crate::consumer::Consumer;
use crate::error::At;
use crate::model::{self, Module, UnitId};
use crate::read::{self, LineProgram, Macros, Unit};

/// Maximum nesting depth of lists. eitri's lists are in the unit's list.
const MOST_LISTS: usize = 16;

/// Preprocessor directive.
#[derive(Debug, PartialEq)]
enum MacroFact<'t> {
    Define(u64, String),
    Undefine(u64, String),
    File(u64, Option<Source<'t>>),
    EndFile,
    /// Directive that the module does not describe.
    Other(String),
}

impl Describe for MacroFact<'_> {
    fn describe(&self) -> String {
        match self {
            Self::Define(line, text) => format!("{} defined in line {line}", text.describe()),
            Self::Undefine(line, name) => format!("{} forgotten in line {line}", name.describe()),
            Self::File(line, file) => format!("file {} included in line {line}", file.describe()),
            Self::EndFile => "the end of a file".into(),
            Self::Other(what) => what.clone(),
        }
    }
}

/// Compares a unit's macros. The first difference is a finding, because an inserted directive shifts all later
/// directives.
pub(super) fn compare_macros<'a, 'o>(compare: &mut Compare<'a, 'o>, id: UnitId, unit: &'a Unit<'o>, at: &At) {
    let module = compare.described.module;
    let list = match compare.file.dwarf.macros(unit) {
        Ok(list) => list,
        Err(error) => return compare.report.unreadable(compare.described.object, &error, at.clone()),
    };
    let macros = module.macros(id);
    let Some(list) = list else {
        if !macros.is_empty() {
            compare.report.find(FindingKind::Macro, at.clone(), format!("{} macros", macros.len()), "none");
        }
        return;
    };
    if macros.is_empty() {
        return compare.report.find(FindingKind::Extra, at.clone(), "no macros", "a list of them");
    }
    let is_five = compare.described.consumer.version >= 5;
    compare.report.expect_equal(at, "the version of macros", &is_five.then_some(5), &list.version);
    if is_five {
        compare.report.expect_equal(
            at,
            "bytes of an offset",
            &compare.described.consumer.format.word_size(),
            &list.offset_bytes,
        );
        // A split unit uses the first line program in its own file.
        let program = if compare.split.main.is_some() { unit.stmt_list.map(|_| 0) } else { unit.stmt_list };
        compare.report.expect_equal(at, "the line program of macros", &program, &list.line_program);
    }
    // A split unit's macros can name a line program in their own file, not the skeleton's.
    let own = list
        .line_program
        .filter(|_| compare.split.main.is_some())
        .map(|offset| LineProgram::read(compare.file.dwarf.sections(), offset, unit.encoding.address_bytes));
    let own = match own.transpose() {
        Ok(own) => own,
        Err(error) => return compare.report.unreadable(compare.described.object, &error, at.clone()),
    };
    let listed = compare.file.program(unit);
    let program = if compare.split.main.is_some() { own.as_ref() } else { listed.as_deref() };
    let mut actual = Vec::new();
    let mut lists = vec![list];
    // An imported list's entries are those of the unit, and more entries than described are a difference.
    while let Some(list) = lists.last_mut()
        && actual.len() <= macros.len()
    {
        let fact = match list.next_entry() {
            None => {
                lists.pop();
                continue;
            }
            Some(Ok(fact)) => fact.entry,
            Some(Err(error)) => {
                return compare.report.unreadable(compare.described.object, &error, at.clone());
            }
        };
        match fact {
            // Lists that import each other have no end.
            read::MacroAction::Import { offset } if lists.len() < MOST_LISTS => match list_at(&lists, offset)
            {
                Some(Ok(inner)) => lists.push(inner),
                Some(Err(error)) => {
                    return compare.report.unreadable(compare.described.object, &error, at.clone());
                }
                None => {}
            },
            fact => actual.push(encoded_fact(program, fact)),
        }
    }
    let version = program.map_or(compare.described.consumer.version, |program| program.version);
    let expected: Vec<MacroFact<'_>> =
        macros.iter().map(|&fact| expected(module, compare.described.consumer, fact, version)).collect();
    compare.report.macros += expected.len() as u64;
    // In order, because the meaning of a directive depends on all before it.
    for number in 0..expected.len().max(actual.len()) {
        let expected = expected.get(number);
        let actual = actual.get(number);
        if expected != actual {
            let text =
                |fact: Option<&MacroFact<'_>>| fact.map_or_else(|| "the end".into(), Describe::describe);
            let expected = format!("macro {number} to be {}", text(expected));
            return compare.report.find(FindingKind::Macro, at.clone(), expected, text(actual));
        }
    }
}

/// Returns the list at an offset that the innermost list imports.
fn list_at<'o>(lists: &[Macros<'o>], offset: u64) -> Option<crate::Result<Macros<'o>>> {
    lists.last().map(|list| list.import(offset))
}

fn expected<'t>(module: &'t Module, consumer: &Consumer, fact: model::Macro, version: u16) -> MacroFact<'t> {
    let text = |id| module.string(id).to_owned();
    match fact {
        model::Macro::Define { line, text: id } => MacroFact::Define(line.into(), text(id)),
        model::Macro::Undefine { line, name } => MacroFact::Undefine(line.into(), text(name)),
        model::Macro::File { line, file } => {
            MacroFact::File(line.into(), Some(described(module, consumer, file, version)))
        }
        model::Macro::EndFile => MacroFact::EndFile,
    }
}

fn encoded_fact<'o>(program: Option<&LineProgram<'o>>, fact: read::MacroAction<'_>) -> MacroFact<'o> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    match fact {
        read::MacroAction::Define { line, text: bytes } => MacroFact::Define(line, text(bytes)),
        read::MacroAction::Undef { line, text: bytes } => MacroFact::Undefine(line, text(bytes)),
        read::MacroAction::StartFile { line, file } => {
            MacroFact::File(line, program.and_then(|program| source(program, file)))
        }
        read::MacroAction::EndFile => MacroFact::EndFile,
        read::MacroAction::Import { offset } => {
            MacroFact::Other(format!("the entries of the list at {offset:#x}"))
        }
        read::MacroAction::ImportSup { .. }
        | read::MacroAction::DefineSup { .. }
        | read::MacroAction::UndefSup { .. } => MacroFact::Other("what is in a supplementary file".into()),
        read::MacroAction::Vendor { number, .. } => {
            MacroFact::Other(format!("an entry of a vendor's, {number}"))
        }
        _ => MacroFact::Other("an entry of a vendor's".into()),
    }
}
