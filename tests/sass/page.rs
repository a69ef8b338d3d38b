//! The page on cubins names a test for each part of NVIDIA's sections.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::ROOT;

/// Counts of the functions after `#[test]` in a folder's Rust files, by name.
fn tests(folder: &Path, counts: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests(&path, counts);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let parts = text.split("#[test]").skip(1);
            let names = parts.filter_map(|part| part.split_once("fn ")?.1.split_once('('));
            names.for_each(|(name, _)| *counts.entry(name.to_owned()).or_default() += 1);
        }
    }
}

/// Each cell is the name of exactly one test, or a dash whose reason is under the table.
#[test]
fn tests_that_the_page_names_exist() {
    let root = Path::new(ROOT);
    let page = std::fs::read_to_string(root.join("docs/nvidia.md")).expect("the page");
    let (_, section) = page.split_once("\n## NVIDIA's sections and their tests\n").expect("the section");
    let mut lines = section.lines().skip_while(|line| !line.starts_with("| part |"));
    assert_eq!(lines.next(), Some("| part | read | validated | printed | emitted | merged |"));
    let rows: Vec<&str> = lines.by_ref().skip(1).take_while(|line| line.starts_with('|')).collect();
    let parts = [
        "abbreviations",
        "forms",
        "attributes",
        "linkage names",
        "expressions",
        "unit header",
        "entry walk",
        "LEB128",
        "pubnames, pubtypes",
        "bounds",
        "classifier of sections",
        "Mercury mirrors",
        "line merging",
        "PTX text and its lines",
    ];
    let mut counts = BTreeMap::new();
    for folder in ["tests", "crates/eitri-dwarf/src"] {
        tests(&root.join(folder), &mut counts);
    }
    let reasons: Vec<&str> = lines.filter(|line| line.starts_with("* ")).collect();
    let mut names = 0;
    assert_eq!(rows.len(), parts.len());
    for (row, part) in rows.iter().zip(parts) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, cells @ ..] = &cells[..] else { panic!("{row}") };
        assert_eq!((*name, cells.len()), (part, 5), "{row}");
        for cell in cells {
            if *cell == "–" {
                assert!(
                    reasons.iter().any(|reason| reason[2..].starts_with(part)),
                    "{part}: no reason for a dash"
                );
                continue;
            }
            let test = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
            let test = test.unwrap_or_else(|| panic!("{part}: {cell}"));
            assert_eq!(counts.get(test), Some(&1), "{part}: {test}");
            names += 1;
        }
    }
    assert!(names > 50, "{names}");
}
