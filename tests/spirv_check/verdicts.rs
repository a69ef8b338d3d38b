//! Verdicts on all mutants, written to the file named by `EITRI_VERDICTS`, to compare two versions of the check.

use std::fmt::Write as _;

use eitri::spirv::{Mode, Set, read};

use crate::spirv_check::moves;
use crate::spirv_check::omissions::{modes, tangled};
use crate::spirv_check::random::targets;
use crate::spirv_check::sabotage::{Written, others};

/// Lists the verdicts on one module: unchanged, with every operand replaced, and with every placement fault.
fn list(name: &str, written: &Written, every: usize, out: &mut String) {
    let mut number = 0;
    let mut judge = |what: &str, words: &[u32]| {
        number += 1;
        if number % every == 0 {
            let verdict = match written.checked(words) {
                Ok(checked) if checked.is_clean() => "clean",
                Ok(_) => "found",
                Err(_) => "error",
            };
            writeln!(out, "{name} {what}: {verdict}").expect("a string");
        }
    };
    let facts = read(&written.words).expect("is a module");
    for fact in facts.iter() {
        let Some(instruction) = fact.name() else { continue };
        for operand in fact.operands() {
            let Some(field) = operand.field() else { continue };
            for other in others(&facts, fact.set, operand) {
                let mut words = written.words.clone();
                words[fact.at + 5 + operand.index] = other;
                let text = instruction.text();
                let field = field.text();
                judge(&format!("{} {text} {field} {} -> {other}", fact.at, operand.word), &words);
            }
        }
    }
    moves::each(&facts, |what, words| judge(&what, &words));
}

#[test]
fn verdicts_are_listed() {
    let Ok(path) = std::env::var("EITRI_VERDICTS") else { return };
    let mut out = String::new();
    for (target, mode) in targets().iter().zip(modes().iter().cycle()) {
        for mode in modes().iter().chain([mode]).take(7) {
            let written = Written::of(tangled(target), mode.clone());
            let name = format!("tangled {} {:?} {}", mode.name(), mode.set(), target.name());
            list(&name, &written, if target == &targets()[0] { 1 } else { 7 }, &mut out);
        }
    }
    let own = [
        Mode::exact(Set::OpenCl),
        Mode::exact(Set::Shader),
        Mode::validating(Set::OpenCl),
        Mode::validating(Set::Shader),
        Mode::translator(),
    ];
    for (seed, target) in (0..12).zip(targets().iter().cycle()) {
        for mode in &own {
            let written = Written::new(seed, target, mode.clone());
            let name = format!("seed {seed} {} {:?}", mode.name(), mode.set());
            list(&name, &written, if mode.name() == "exact" { 3 } else { 6 }, &mut out);
        }
    }
    std::fs::write(path, out).expect("can be written");
}
