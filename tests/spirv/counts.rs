//! Counts in messages: nouns agree with the number 1.

use std::fs;
use std::path::Path;

use eitri::spirv::DebugOperation::{BitPiece, Fragment};
use eitri::spirv::{Attached, Initial, evaluate, import, read, validate};
use eitri::target::Target;

use crate::spirv::OPENCL;
use crate::spirv::assemble::assemble;

/// The module with every instruction, after one replacement in its text.
fn edited(find: &str, replace: &str) -> Vec<u32> {
    assert!(OPENCL.contains(find), "{find}");
    assemble(&OPENCL.replacen(find, replace, 1)).words
}

fn found(find: &str, replace: &str) -> String {
    validate(&read(&edited(find, replace)).expect("reads")).to_string()
}

fn listed(find: &str, replace: &str) -> String {
    let words = edited(find, replace);
    let imported = import(&read(&words).expect("reads"), &Target::x86_64()).expect("can be described");
    imported.omissions.iter().map(|left| format!("{left}\n")).collect()
}

#[test]
fn counts_of_one_are_singular() {
    let short = read(&[0x0723_0203, 0x0001_0600, 0, 10, 0, 1 << 16 | 19]).expect_err("is too short");
    let attached = Attached { words: vec![0], added: vec![3..4], bound: 1, omissions: vec![] };
    let detached = attached.detach().expect_err("has no words 3..4");
    let operations = [BitPiece { offset: 0, size: 2 }, Fragment { offset: 0, size: 1 }];
    let initial = Initial::Address(eitri::eval::Element::Value(eitri::eval::Value::generic(0, 8)));
    let layout = eitri::eval::Layout::default();
    let piece = evaluate(&operations, &initial, &eitri::eval::Snapshot::default(), &layout);
    let unknown = ("%dbg = ", "%later = OpExtInstImport \"OpenCL.DebugInfo.200\"\n%dbg = ");
    let later = OPENCL.replacen(unknown.0, unknown.1, 1);
    let later = later.replacen("%none = ", "%removed = OpExtInst %void %later !0\n%none = ", 1);
    let later = validate(&read(&assemble(&later).words).expect("reads")).to_string();
    let cases = [
        (short.to_string(), "has 1 word; expected at least 2"),
        (detached.to_string() + "\n", "outside the module, which has 1 word\n"),
        (
            piece.expect_err("is no piece of this size").to_string(),
            "has 1 bit; expected 2 bits, the size of the piece",
        ),
        (later, "is not a known set; it has 1 debug instruction\n"),
        (found("Vector %int 4", "Vector %int"), "it cannot have 1 operand\n"),
        (found("PlusUconst 8", "PlusUconst"), "PlusUconst has 0 operands; expected 1"),
        (listed("%n_int %u32 Signed", "%n_int %u1 Unspecified"), "not its size of 1 bit\n"),
        (
            listed("%n_other %none %source 2 1 %unit %u32", "%n_other %none %source 2 1 %unit %u1"),
            "its values are imported as unsigned numbers of 1 bit\n",
        ),
    ];
    let wrong: Vec<_> = cases.iter().filter(|(text, expected)| !text.contains(expected)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Words that end like plurals.
const VERBS: [&str; 13] = [
    "as",
    "comes",
    "contains",
    "describes",
    "does",
    "ends",
    "has",
    "holds",
    "includes",
    "is",
    "provides",
    "says",
    "stands",
];

/// No text has a plural directly after a placeholder: the counting type prints its noun. Words between a number and
/// its noun are not found.
#[test]
fn messages_count_nouns_with_count() {
    let mut folders = vec![Path::new(crate::common::ROOT).join("src/spirv")];
    let mut texts = 0;
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("is a folder") {
            let path = entry.expect("is there").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("is text");
            let lines = text.lines().enumerate();
            for (number, line) in lines.filter(|(_, line)| !line.trim_start().starts_with("//")) {
                for behind in line.split("} ").skip(1) {
                    texts += 1;
                    let mut words = behind.split(|char: char| !char.is_ascii_lowercase());
                    let noun = words.find(|&word| word != "more" && word != "debug").unwrap_or_default();
                    if noun.len() > 1 && noun.ends_with('s') && !VERBS.contains(&noun) {
                        wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
                    }
                }
            }
        }
    }
    assert!(texts > 100, "{texts}");
    assert!(wrong.is_empty(), "nouns behind numbers:\n{}", wrong.join("\n"));
}
