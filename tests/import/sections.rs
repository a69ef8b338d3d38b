//! Facts in other sections than `.debug_info`: rows, frames and macros, as `read` sees them.

use std::collections::{BTreeMap, BTreeSet};

use eitri::gimli::constants as dw;
use eitri::import::{UnimportedFact, UnimportedReason};
use eitri::read::{Dwarf, FrameSection, LineProgram, LineRow, MacroAction, Macros, Unit};

/// Half-open pc ranges of functions.
type Code = Vec<(u64, u64)>;

/// Returns the differences between the rows, frames and macros of two objects, except those that an import lists.
pub fn differences(before: &Dwarf<'_>, after: &Dwarf<'_>, unimported: &[UnimportedFact]) -> Vec<String> {
    let mut all = Vec::new();
    let left: BTreeSet<(&str, u64)> = unimported.iter().map(|fact| (fact.section, fact.offset)).collect();
    for (old, new) in units(before).iter().zip(&units(after)) {
        rows(before, old, after, new, &left, &mut all);
        files(before, old, after, new, unimported, &mut all);
        let [old, new] = [macros(before, old), macros(after, new)];
        if old != new && !unimported.iter().any(|fact| fact.section.starts_with(".debug_mac")) {
            all.push(format!("macros: {:?}", old.iter().zip(&new).find(|(old, new)| old != new)));
        }
    }
    // Frames belong to functions with code.
    let code: BTreeSet<u64> =
        units(after).iter().flat_map(|unit| code(after, unit)).map(|body| body.0).collect();
    let is_refused = |fact: &&UnimportedFact| matches!(fact.section, ".debug_frame" | ".eh_frame");
    let refused: BTreeSet<(&str, u64)> =
        unimported.iter().filter(is_refused).map(|fact| (fact.section, fact.offset)).collect();
    let [old, new] =
        [(before, &refused), (after, &BTreeSet::new())].map(|(dwarf, left)| frames(dwarf, &code, left));
    for (start, rows) in &old {
        if new.get(start) != Some(rows) {
            all.push(format!("frame at {start:#x}: {rows:#?} became {:#?}", new.get(start)));
        }
    }
    all
}

/// Compile units.
fn units<'d, 'o>(dwarf: &'d Dwarf<'o>) -> Vec<&'d Unit<'o>> {
    dwarf.units().iter().filter(|unit| unit.kind == dw::DW_UT_compile).collect()
}

/// Ranges of the functions with code, and of code with rows alone, sorted.
fn code(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Code {
    let functions = dwarf.entries_of(unit).filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    let ranges = functions.filter_map(|entry| entry.ranges().ok()).flatten();
    let mut code: Code =
        ranges.map(|range| (range.start, range.end)).filter(|(start, end)| start < end).collect();
    code.sort_unstable();
    // Code without an entry has rows alone, such as thunks: each row outside functions, up to the next.
    let mut outside = Vec::new();
    let mut last: Option<LineRow> = None;
    for row in dwarf.lines(unit).expect("it is read").iter().flat_map(LineProgram::rows) {
        let row = row.expect("a row");
        if let Some(last) = last.filter(|last| !is_inside(&code, last.address) && last.address < row.address)
        {
            outside.push((last.address, row.address));
        }
        last = (!row.end_sequence).then_some(row);
    }
    code.extend(outside);
    code.sort_unstable();
    code.dedup();
    code
}

/// Whether an address is in the last range that begins at or before it.
fn is_inside(code: &Code, address: u64) -> bool {
    let count = code.partition_point(|body| body.0 <= address);
    code[..count].last().is_some_and(|body| address < body.1)
}

/// The rows that begin at each address in code, with the row that applies at a function's start.
type Rows = BTreeMap<u64, Vec<String>>;

fn rows(
    before: &Dwarf<'_>,
    old: &Unit<'_>,
    after: &Dwarf<'_>,
    new: &Unit<'_>,
    left: &BTreeSet<(&str, u64)>,
    all: &mut Vec<String>,
) {
    // A row's offset is not known here: a listed row excuses its unit.
    let program = before.lines(old).expect("it is read");
    let next =
        units(before).iter().filter_map(|unit| unit.stmt_list).filter(|&at| Some(at) > old.stmt_list).min();
    let own = program.as_ref().map(|program| program.offset..next.unwrap_or(u64::MAX));
    let mut code = code(after, new);
    code.extend(self::code(before, old));
    code.sort_unstable();
    code.dedup();
    let [known, found] = [(before, old), (after, new)].map(|(dwarf, unit)| rows_of(dwarf, unit, &code));
    if known == found {
        return;
    }
    let is_listed = |&&(section, offset): &&(&str, u64)| {
        section == ".debug_line" && own.as_ref().is_some_and(|own| own.contains(&offset))
    };
    let outside = left.iter().filter(is_listed).count();
    for address in known.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        let [known, found] = [known.get(address), found.get(address)];
        if known != found {
            all.push(format!("rows at {address:#x} ({outside} listed): {known:?} became {found:?}"));
        }
    }
}

fn rows_of(dwarf: &Dwarf<'_>, unit: &Unit<'_>, code: &Code) -> Rows {
    let mut rows = Rows::new();
    let Some(program) = dwarf.lines(unit).expect("it is read") else { return rows };
    let mut last: Option<LineRow> = None;
    for row in program.rows() {
        let row = row.expect("a row");
        if let Some(last) = last {
            let first = code.partition_point(|body| body.0 <= last.address);
            for (start, _) in code[first..].iter().take_while(|body| body.0 < row.address) {
                rows.entry(*start).or_default().push(text(&program, unit, last));
            }
        }
        last = (!row.end_sequence).then_some(row);
        if is_inside(code, row.address) && !row.end_sequence {
            rows.entry(row.address).or_default().push(text(&program, unit, row));
        }
    }
    rows
}

fn text(program: &LineProgram<'_>, unit: &Unit<'_>, row: LineRow) -> String {
    let LineRow { line, column, discriminator, is_stmt, prologue_end, epilogue_begin, .. } = row;
    let file = program.full_path(row.file, unit.comp_dir.as_deref()).unwrap_or_default();
    let flags = [is_stmt, prologue_end, epilogue_begin].map(u8::from);
    format!("{}:{line}:{column} {discriminator} {flags:?}", plain(&file))
}

/// Removes `.` and `..` from a path, in which two tables can differ.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Rows of frames by the start of their code: each row begins at a pc, and equal neighbours are one row. Where a function
/// has no frame in `.debug_frame`, and no other function has, `.eh_frame` describes it.
fn frames(
    dwarf: &Dwarf<'_>,
    code: &BTreeSet<u64>,
    left: &BTreeSet<(&str, u64)>,
) -> BTreeMap<u64, Vec<String>> {
    let mut all = BTreeMap::new();
    for section in [FrameSection::Debug, FrameSection::Eh] {
        if !all.is_empty() {
            break;
        }
        let frames = dwarf.frames(section).expect("it is read");
        let is_left = |offset| left.contains(&(section.name(), offset));
        for fde in frames.fdes.iter().filter(|fde| code.contains(&fde.start) && !is_left(fde.offset)) {
            let mut rows: Vec<(String, u64)> = Vec::new();
            let mut next = frames.rows(fde);
            while let Some(row) = next.next_row().expect("a row") {
                let text = format!("{:?} {:?}", row.cfa, row.rules);
                if row.start < row.end && rows.last().is_none_or(|(last, _)| *last != text) {
                    rows.push((text, row.start));
                }
            }
            let column = frames.cie(fde).return_register;
            let text: Vec<String> =
                rows.into_iter().map(|(text, start)| format!("{start:#x} {column:?} {text}")).collect();
            all.entry(fde.start).or_insert(text);
        }
    }
    all
}

/// Compares the sums and texts of the files that both line tables have.
fn files(
    before: &Dwarf<'_>,
    old: &Unit<'_>,
    after: &Dwarf<'_>,
    new: &Unit<'_>,
    unimported: &[UnimportedFact],
    all: &mut Vec<String>,
) {
    if unimported.iter().any(|fact| matches!(fact.reason, UnimportedReason::PartialSums)) {
        return;
    }
    let [known, found] = [(before, old), (after, new)].map(|(dwarf, unit)| {
        let mut files = BTreeMap::new();
        let Some(program) = dwarf.lines(unit).expect("it is read") else { return files };
        for (number, file) in (0..).zip(&program.files) {
            // Before DWARF 5, files are numbered from 1.
            let number = if program.version < 5 { number + 1 } else { number };
            let path = program.full_path(number, unit.comp_dir.as_deref()).unwrap_or_default();
            files.insert(plain(&path), (file.md5, file.source.filter(|text| !text.is_empty())));
        }
        files
    });
    for (path, contents) in &known {
        if found.get(path).is_some_and(|found| found != contents) {
            all.push(format!("sum or text of file {path}"));
        }
    }
}

/// Macros in their order, with the files around them. Lists that a list imports are in their place.
fn macros(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let Some(list) = dwarf.macros(unit).expect("it is read") else { return all };
    let program = dwarf.lines(unit).expect("it is read");
    add(list, unit, program.as_ref(), &mut all);
    all
}

fn add(mut list: Macros<'_>, unit: &Unit<'_>, program: Option<&LineProgram<'_>>, all: &mut Vec<String>) {
    while let Some(entry) = list.next_entry() {
        match entry.expect("an entry").entry {
            MacroAction::Define { line, text } => {
                all.push(format!("{line} define {}", String::from_utf8_lossy(text)));
            }
            MacroAction::Undef { line, text } => {
                all.push(format!("{line} undefine {}", String::from_utf8_lossy(text)));
            }
            MacroAction::StartFile { line, file } => {
                let path = program.and_then(|program| program.full_path(file, unit.comp_dir.as_deref()));
                all.push(format!("{line} file {}", plain(&path.unwrap_or_default())));
            }
            MacroAction::EndFile => all.push("end".into()),
            MacroAction::Import { offset } => {
                add(list.import(offset).expect("a list"), unit, program, all);
            }
            other => all.push(format!("{other:?}")),
        }
    }
}
