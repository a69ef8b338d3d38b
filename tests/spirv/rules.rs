//! Each rule: a module that breaks it is found, by the name of the rule, and one that does not is not. What `spirv-val`
//! says is compared.

use eitri::spirv::{Report, Rule, read, validate};

use crate::assemble::assemble;
use crate::cases::{self, Case, Verdict};
use crate::tools::{Folder, skip};
use crate::{OPENCL, SHADER, SPIRV_VAL, bytes, shader101};

/// The text of a case.
fn edited(text: &str, case: &Case) -> String {
    let mut text = text.to_owned();
    for (find, replace) in case.edits {
        assert!(text.contains(find), "{}: {find}", case.name);
        text = text.replacen(find, replace, 1);
    }
    text
}

/// The module of the other set, as far as `spirv-val` understands it.
fn shader() -> String {
    let lines = SHADER.lines().filter(|line| !line.contains("%inherits = "));
    lines.map(|line| line.trim_end_matches(" %inherits")).collect::<Vec<_>>().join("\n") + "\n"
}

/// The cases, and their words.
fn all() -> Vec<(&'static Case, Vec<u32>)> {
    let shader = shader();
    let opencl = cases::OPENCL.iter().map(|case| (case, assemble(&edited(OPENCL, case)).words));
    let later = shader101();
    let shader = cases::SHADER.iter().map(|case| (case, assemble(&edited(&shader, case)).words));
    let later = cases::SHADER101.iter().map(|case| (case, assemble(&edited(&later, case)).words));
    opencl.chain(shader).chain(later).collect()
}

fn report(words: &[u32]) -> Report {
    validate(&read(words).expect("reads"))
}

#[test]
fn every_mistake_is_found_by_its_rule() {
    let mut wrong = Vec::new();
    for (case, words) in all() {
        let report = report(&words);
        let mut rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
        rules.dedup();
        if rules != Vec::from_iter(case.rule) {
            wrong.push(format!("{}: expected {:?}, found {report}", case.name, case.rule));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// There is a case of every rule, and a module that is right with every note.
#[test]
fn every_rule_has_a_case() {
    let notes: Vec<Rule> =
        all().iter().flat_map(|(_, words)| report(words).notes).map(|note| note.rule).collect();
    for rule in Rule::ALL {
        let is_there = match rule.is_note() {
            true => notes.contains(rule),
            false => all().iter().any(|(case, _)| case.rule == Some(*rule)),
        };
        assert!(is_there, "{}", rule.name());
    }
}

/// Where `spirv-val` differs is part of the cases: what it accepts that breaks a rule, and what it rejects that breaks
/// none.
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

/// The whole module of the other set is right too.
#[test]
fn a_module_with_every_instruction_is_clean() {
    for text in [OPENCL, SHADER, &shader101()] {
        let report = report(&assemble(text).words);
        assert!(report.is_clean() && report.notes.is_empty(), "{report}");
    }
}
