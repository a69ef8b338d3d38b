//! `dump`: abbreviation tables in verbose output, and frame rules of many registers.

use super::{root, run, tools::Tool};
use pretty_assertions::assert_eq;

const PEER: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Objects of several producers: LLVM, Triton, and a compiler for x86-64.
const OBJECTS: [&str; 4] = [
    "tests/objects/llvm19/k06_calls.gfx1100.O0.hsaco",
    "tests/objects/llvm19/k02_reduce.gfx1030.O2.o",
    "tests/objects/triton/scan_limit.sm_90.cubin",
    "crates/eitri-inspect/data/squares.o",
];

/// Abbreviations as lines: code, tag and children; then names and forms.
fn tables(verbose: &str) -> Vec<String> {
    let mut lines = verbose.lines().peekable();
    let mut all = Vec::new();
    while let Some(line) = lines.next() {
        if !line.starts_with("abbreviations: @0x") {
            continue;
        }
        while let Some(line) = lines.next_if(|line| line.starts_with("  ") && !line.starts_with("  DW_TAG")) {
            let line = line.trim();
            all.push(line.split(" @0x").next().unwrap_or(line).to_owned());
        }
    }
    all
}

/// What llvm-dwarfdump prints for `--debug-abbrev`, in the same words.
fn expected(peer: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in peer.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [code, tag, children] if code.starts_with('[') => {
                let code = code.trim_matches(['[', ']']);
                let children = if children == "DW_CHILDREN_yes" { ", with children" } else { "" };
                all.push(format!("{code} {tag}{children}"));
            }
            [name, form] if name.starts_with("DW_AT_") => all.push(format!("{name} {form}")),
            [name, form, value] if name.starts_with("DW_AT_") => all.push(format!("{name} {form} {value}")),
            _ => {}
        }
    }
    all
}

#[test]
fn verbose_dump_has_the_abbreviations_of_llvm_dwarfdump() {
    for object in OBJECTS {
        let Some(peer) = PEER.run(&["--debug-abbrev", &root(object).display().to_string()]) else { return };
        let expected = expected(&peer.clean());
        assert!(expected.len() > 5, "{object}: {expected:?}");
        let verbose = run(&["dump", "-v", object]).text();
        assert_eq!(tables(&verbose), expected, "{object}");
        assert!(!run(&["dump", object]).text().contains("abbreviations:"), "{object}");
    }
}

/// Registers in an item such as `s0-s2,v7`.
fn members(item: &str) -> Vec<String> {
    let mut all = Vec::new();
    for run in item.split(',') {
        match run.split_once('-') {
            None => all.push(run.to_owned()),
            Some((first, last)) => {
                let kind: String = first.chars().take_while(char::is_ascii_alphabetic).collect();
                let number = |name: &str| name[kind.len()..].parse::<u32>().expect("a number");
                all.extend((number(first)..=number(last)).map(|number| format!("{kind}{number}")));
            }
        }
    }
    all
}

/// Call frame information of AMD's LLVM for a called function: a call overwrites most registers. llvm-dwarfdump prints an
/// instruction for each.
#[test]
fn registers_with_one_rule_are_an_item() {
    let object = "tests/objects/amd/k14_spill.gfx1100.O2.hsaco";
    let Some(peer) = PEER.run(&["--debug-frame", &root(object).display().to_string()]) else { return };
    let instructions = peer.clean().matches("DW_CFA_undefined:").count();
    assert!(instructions > 20, "{instructions}");
    // Verbose output has an item for each run of instructions, and the rows have one item each.
    let verbose = run(&["dump", "-v", object]).text();
    let lines: Vec<&str> =
        verbose.lines().filter_map(|line| line.strip_prefix("  DW_CFA_undefined ")).collect();
    let count = |line: &&str| members(line.split(' ').next().unwrap_or_default()).len();
    assert_eq!(lines.iter().map(count).sum::<usize>(), instructions);
    assert!(lines.len() < instructions / 4, "{lines:?}");
    for row in run(&["dump", object]).text().lines().filter(|line| line.contains("=undefined")) {
        assert_eq!(row.matches("=undefined").count(), 1, "{row}");
    }
}
