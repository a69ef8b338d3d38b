//! Each vector cites the deciding text, in a form listed in the README.

use super::{files, name, vectors};

/// The text before a quotation at the end of `text`, if there is one.
fn quoted(text: &str) -> Option<&str> {
    let (before, quotation) = text.split_once(": \"")?;
    quotation.strip_suffix('"').filter(|quotation| quotation.len() > 2).map(|_| before)
}

/// Whether the text is a section number, optionally followed by words.
fn is_section(text: &str) -> bool {
    let number = text.split([' ', ':']).next().unwrap_or_default();
    number.contains('.') && number.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// Whether a citation has an accepted form.
fn is_accepted(spec: &str) -> bool {
    if let Some(other) = spec.strip_prefix("by analogy with ") {
        return is_accepted(other);
    }
    // Locations on the stack with its chapters, the AMDGPU extension, the standards: a section decides.
    let section = ["R A.", "A.", "DWARF 2 ", "DWARF 5 ", "LSB 5.0 "]
        .iter()
        .find_map(|document| spec.strip_prefix(document));
    if is_section(section.unwrap_or(spec)) {
        return true;
    }
    // Committee issues, and unsubmitted texts of the working group: a quoted sentence decides.
    if let Some(issue) = spec.strip_prefix("DWARF issue ") {
        let number = quoted(issue).and_then(|before| before.split(',').next());
        return number.and_then(|number| number.split_once('.')).is_some_and(|(date, index)| {
            date.len() == 6 && date.parse::<u32>().is_ok() && index.parse::<u32>().is_ok()
        });
    }
    if spec.starts_with("DWARF working group, ") || spec.starts_with("User Guide for AMDGPU, ") {
        return quoted(spec).is_some();
    }
    // Registries only assign numbers to names; tools only have a practice.
    spec.strip_prefix("number in ")
        .or(spec.strip_prefix("practice of "))
        .is_some_and(|rest| rest.contains(": "))
}

#[test]
fn each_citation_has_an_accepted_shape() {
    let mut wrong = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents) {
            let spec = vector["spec"].as_str().unwrap_or_default();
            if !is_accepted(spec) {
                wrong += &format!("{file}: {}: `{spec}`\n", name(vector));
            }
        }
    }
    assert!(wrong.is_empty(), "citations of no accepted shape:\n{wrong}");
}

#[test]
fn notes_and_names_of_tools_are_no_citations() {
    for right in [
        "A.2.5.4.4.6 DW_OP_piece: \"the size\"",
        "R A.3.3.5",
        "4.3.2 Registers: \"a sentence\"",
        "DWARF 5 2.5.1.4",
        "LSB 5.0 10.6.1.1: \"a sentence\"",
        "DWARF issue 230524.1, 3.14: \"a sentence\"",
        "DWARF working group, part 15: \"a sentence\"",
        "number in LLVM's Dwarf.def: DW_OP_LLVM_nop 0x01",
        "practice of ROCgdb, test dw2-lane-pc: half of the lanes",
        "by analogy with A.2.5.4.4.6",
    ] {
        assert!(is_accepted(right), "{right}");
    }
    for wrong in [
        "",
        "A.",
        "DWARF 6 draft: a, b -> a mod b",
        "ROCgdb: offset",
        "LLVM Dwarf.def: nop",
        "DWARF issue 230524.1: accept any location",
        "DWARF issue 2305: \"a sentence\"",
        "DWARF working group, part 15: loc -> composite loc",
        "User Guide for AMDGPU, register identifiers: reserved",
        "by analogy with the LLVM extension",
        "DWARF 5",
    ] {
        assert!(!is_accepted(wrong), "{wrong}");
    }
}
