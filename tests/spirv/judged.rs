//! Findings that were judged by hand: each of `hlsl/README.md` is found.

use std::path::Path;

use eitri::lint::LintOptions;
use eitri::spirv::{from_bytes, lint};

/// Table with the module, the offset in bytes, the code, the variable and the verdict.
const LIST: &str = include_str!("hlsl/README.md");

#[test]
fn judged_findings_are_found() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/spirv"));
    let (_, table) = LIST.split_once("| verdict |\n|---|---|---|---|---|\n").expect("the table");
    let mut count = 0;
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [module, offset, code, variable, verdict] = cells[..] else { panic!("{line}") };
        assert!(verdict.starts_with("true: "), "{line}");
        let name = format!("{}.spv", module.trim_matches('`'));
        let own = folder.join("hlsl").join(&name);
        let file = if own.is_file() { own } else { folder.join("foreign").join(&name) };
        let words = from_bytes(&std::fs::read(&file).expect("a module")).expect("is a module");
        let report = lint(&words, &LintOptions::default()).expect("is diagnosed");
        let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).expect("an offset");
        let variable = Some(variable.trim_matches('`')).filter(|name| *name != "-");
        let is_it = report.findings.iter().any(|finding| {
            (finding.code.name(), finding.offset, finding.variable.as_deref()) == (code, offset, variable)
        });
        assert!(is_it, "{line}");
        count += 1;
    }
    assert_eq!(count, 60);
}
