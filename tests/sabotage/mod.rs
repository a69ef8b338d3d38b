//! `check` finds each of the mistakes that compilers have shipped.
//!
//! A module describes the truth; the object is written from a faulty copy, or patched. `check` must find the fault
//! and name the variable, pc and lane. An object without the fault is clean.

mod attributes;
mod bias;
mod bits;
mod code;
mod described;
mod elsewhere;
mod extra;
mod headers;
mod identity;
mod lanes;
mod mutants;
mod numbers;
mod omitted;
mod operations;
mod overlapping;
mod patched;
mod patches;
mod places;
mod procedures;
mod raw;
mod right;
mod scopes;
mod spec;
mod tables;
use crate::common::tools;
mod type_units;
mod types;
mod waves;

use eitri::check::{CheckReport, FindingKind};
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Module;

/// Expected finding.
#[derive(Debug, Clone, Copy)]
struct Expected {
    kind: FindingKind,
    variable: Option<&'static str>,
    pc: Option<u64>,
    lane: Option<u32>,
}

/// Code of every module in this test: two consecutive kernels.
fn code() -> ObjectCode {
    ObjectCode::text(vec![0; 0x100])
        .with_function("k", 0, 0x40)
        .with_function("other", 0x40, 0x40)
        .with_function("data", 0xc0, 16)
}

fn sections(module: &Module, consumer: &Consumer) -> Vec<Section> {
    lower(module, consumer, Policy::Strict).unwrap().sections
}

fn object(module: &Module, sections: &[Section]) -> Vec<u8> {
    new_object(module.target(), &code(), sections).unwrap()
}

/// Describes the fault if `check` misses it.
fn missed(truth: &Module, consumer: &Consumer, sections: &[Section], fault: &Expected) -> Option<String> {
    let clean = object(truth, &self::sections(truth, consumer));
    let report = match eitri::check(truth, consumer, &[], &clean) {
        Ok(report) => report,
        Err(error) => return Some(format!("without the fault: {error}")),
    };
    if !report.is_clean() || !report.unproven.is_empty() {
        return Some(format!("without the fault: {report}"));
    }
    let report = match eitri::check(truth, consumer, &[], &object(truth, sections)) {
        Ok(report) => report,
        Err(error) => return Some(format!("not read: {error}")),
    };
    assert_is_words(&report);
    let is_found = report.findings.iter().any(|finding| {
        let at = &finding.at;
        finding.kind == fault.kind
            && fault.variable == at.variable.as_deref()
            && fault.pc.is_none_or(|pc| at.pcs.as_ref().is_some_and(|pcs| pcs.contains(&pc)))
            && fault.lane.is_none_or(|lane| finding.lane == Some(lane))
    });
    (!is_found).then(|| format!("expected {fault:?}, found {report}"))
}

/// Asserts that messages are prose, without Rust's debug output.
fn assert_is_words(report: &CheckReport) {
    for finding in &report.findings {
        let text = finding.to_string();
        let first = text.lines().next().unwrap_or_default();
        // Structures, variants, unnamed constants, missing places.
        let is_ours = ["Some(", "None", "Unknown Dw", " { ", "Unsigned(", "Entry(", ": :", "true", "false"];
        let found = is_ours.iter().find(|pattern| first.contains(**pattern));
        assert!(found.is_none(), "{found:?} in {text}");
    }
}

/// Prints the number of faults, and panics with those that were missed.
fn all_found(name: &str, missed: Vec<(&str, Option<String>)>) {
    let count = missed.len();
    let missed: Vec<_> =
        missed.into_iter().filter_map(|(fault, why)| Some(format!("{fault}: {}", why?))).collect();
    assert!(missed.is_empty(), "{} of {count} faults missed:\n\n{}", missed.len(), missed.join("\n\n"));
    println!("{name}: {count} faults seeded, {count} found");
}
