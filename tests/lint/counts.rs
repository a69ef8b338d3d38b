//! Numbers of findings per object and code, beside those of an independent classifier, which judges from the
//! disassembly: `tests/objects/counts.tsv`, and the table of the folder that the variable `EITRI_OBJECTS` names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::read::{Dwarf, Object};

/// Codes that the classifier counts.
const COUNTED: [LintCode; 15] = [
    LintCode::RegisterAsMemory,
    LintCode::ConstantDereferenced,
    LintCode::ConstantAsAddress,
    LintCode::XderefAsLocation,
    LintCode::SlotWaveScaled,
    LintCode::SlotSpaceLost,
    LintCode::NoFrameBase,
    LintCode::RemovedSymbol,
    LintCode::NoLane,
    LintCode::RegisterNotThere,
    LintCode::ZeroSizeType,
    LintCode::NoCfa,
    LintCode::NoLanePc,
    LintCode::ExtentNotCode,
    LintCode::OneNameTwoTypes,
];

/// Counts in which the classifier and `lint` differ: object, code, count of `lint`.
const DIFFERENT: &[(&str, &str, usize)] = &[
    // One value is the same in all lanes since a reduction over them, which the table leaves out.
    ("triton/reduce_rows.gfx1100.hsaco", "no-lane", 8),
    ("triton/reduce_rows.gfx942.hsaco", "no-lane", 4),
];

fn folders() -> Vec<PathBuf> {
    let own = Path::new(crate::common::ROOT).join("tests/objects");
    std::iter::once(own).chain(std::env::var_os("EITRI_OBJECTS").map(PathBuf::from)).collect()
}

#[test]
fn findings_are_those_of_the_classifier() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let table = std::fs::read_to_string(folder.join("counts.tsv")).expect("the table");
        let mut expected = BTreeMap::<&str, BTreeMap<&str, usize>>::new();
        for line in table.lines().skip(1) {
            let mut cells = line.split('\t');
            let (Some(object), Some(code), Some(count)) = (cells.next(), cells.next(), cells.next()) else {
                continue;
            };
            expected.entry(object).or_default().insert(code, count.parse().expect("a number"));
        }
        let mut totals = BTreeMap::<&str, (usize, usize)>::new();
        for (object, expected) in expected {
            let bytes = std::fs::read(folder.join(object)).expect("an object");
            let report = lint(&bytes, &LintOptions::default()).expect("the object is read");
            let mut found: BTreeMap<&str, usize> = COUNTED
                .iter()
                .map(|code| (code.name(), report.count(*code)))
                .filter(|found| found.1 > 0)
                .collect();
            found.insert("entries", report.entries);
            let codes: BTreeSet<&str> = expected.keys().chain(found.keys()).copied().collect();
            for code in codes {
                let at = |counts: &BTreeMap<&str, usize>| counts.get(code).copied().unwrap_or(0);
                let theirs = at(&expected);
                let ours = at(&found);
                let total =
                    totals.entry(LintCode::named(code).map_or("entries", LintCode::name)).or_default();
                *total = (total.0 + theirs, total.1 + ours);
                if theirs != ours && !DIFFERENT.contains(&(object, code, ours)) {
                    wrong.push(format!("{object}: {code}: {theirs} of the classifier, {ours} of lint"));
                }
            }
        }
        for (code, (theirs, ours)) in totals {
            println!("{code}: {theirs} of the classifier, {ours} of lint");
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Files of a folder and of the folders in it.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

/// Compilers take the address of a row from the instruction.
#[test]
fn rows_of_compilers_begin_at_instructions() {
    let mut all = Vec::new();
    folders().iter().for_each(|folder| files(folder, &mut all));
    let (mut rows, mut inside) = (0, Vec::new());
    for file in all {
        let bytes = std::fs::read(&file).expect("a file");
        let Ok(object) = Object::read(&bytes) else { continue };
        if object.gfx().is_none() {
            continue;
        }
        let Ok(report) = lint(&bytes, &LintOptions::default()) else { continue };
        inside.extend(report.findings.into_iter().filter(|one| one.code == LintCode::RowInsideInstruction));
        let Ok(dwarf) = Dwarf::read(&object) else { continue };
        let programs = dwarf.units().iter().filter_map(|unit| dwarf.lines(unit).ok().flatten());
        rows += programs.map(|program| program.rows().filter(Result::is_ok).count()).sum::<usize>();
    }
    assert!(rows > 1000, "{rows} rows");
    assert!(inside.is_empty(), "{inside:#?}");
}
