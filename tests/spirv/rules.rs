//! Rules: a module with a violation is found under the name of the rule; a valid one is not. The verdicts of
//! `spirv-val` are compared.

use eitri::spirv::{ValidationReport, ValidationRule, read, validate};

use crate::spirv::assemble::assemble;
use crate::spirv::cases::{self, Case, Verdict};
use crate::spirv::tools::{Folder, skip};
use crate::spirv::{OPENCL, SHADER, SPIRV_VAL, bytes, shader101};

/// Text of a case.
fn edited(text: &str, case: &Case) -> String {
    let mut text = text.to_owned();
    for (find, replace) in case.edits {
        assert!(text.contains(find), "{}: {find}", case.name);
        text = text.replacen(find, replace, 1);
    }
    text
}

/// The module of the other set, reduced to what `spirv-val` supports.
fn shader() -> String {
    let lines = SHADER.lines().filter(|line| !line.contains("%inherits = "));
    lines.map(|line| line.trim_end_matches(" %inherits")).collect::<Vec<_>>().join("\n") + "\n"
}

/// All cases, with their words.
fn all() -> Vec<(&'static Case, Vec<u32>)> {
    let shader = shader();
    let opencl = cases::OPENCL.iter().map(|case| (case, assemble(&edited(OPENCL, case)).words));
    let later = shader101();
    let shader = cases::SHADER.iter().map(|case| (case, assemble(&edited(&shader, case)).words));
    let later = cases::SHADER101.iter().map(|case| (case, assemble(&edited(&later, case)).words));
    opencl.chain(shader).chain(later).collect()
}

fn report(words: &[u32]) -> ValidationReport {
    validate(&read(words).expect("reads"))
}

#[test]
fn every_mistake_is_found_by_its_rule() {
    let mut wrong = Vec::new();
    for (case, words) in all() {
        let report = report(&words);
        let mut rules: Vec<ValidationRule> = report.findings.iter().map(|finding| finding.rule).collect();
        rules.dedup();
        if rules != Vec::from_iter(case.rule) {
            wrong.push(format!("{}: expected {:?}, found {report}", case.name, case.rule));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every rule has a case, and every note a valid module.
#[test]
fn every_rule_has_a_case() {
    let notes: Vec<ValidationRule> =
        all().iter().flat_map(|(_, words)| report(words).notes).map(|note| note.rule).collect();
    for rule in ValidationRule::ALL {
        let is_there = if rule.is_note() {
            notes.contains(rule)
        } else {
            all().iter().any(|(case, _)| case.rule == Some(*rule))
        };
        assert!(is_there, "{}", rule.name());
    }
}

/// The cases list all differences of `spirv-val`: accepted violations, and rejected valid modules.
#[test]
fn spirv_val_differs_where_that_is_known() {
    let Some(version) = SPIRV_VAL.run(&["--version"]) else { return };
    if !version.out.contains("v2023.1") {
        return skip(&format!("the cases are about SPIRV-Tools 2023.1, and this is {}", version.out));
    }
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for (case, words) in all() {
        let file = folder.file("a.spv", bytes(&words));
        let ran =
            SPIRV_VAL.run(&["--target-env".as_ref(), "spv1.1".as_ref(), file.as_os_str()]).expect("is there");
        let verdict = if ran.succeeded { Verdict::Accepts } else { Verdict::Rejects };
        if verdict != case.outside {
            wrong.push(format!("{}: {verdict:?} {ran}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The complete module of each set is valid.
#[test]
fn a_module_with_every_instruction_is_clean() {
    for text in [OPENCL, SHADER, &shader101()] {
        let report = report(&assemble(text).words);
        assert!(report.is_clean() && report.notes.is_empty(), "{report}");
    }
}
