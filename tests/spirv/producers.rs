//! Modules of several producers: imported, attached again in each mode, and compared.

use eitri::omission::Omission;
use eitri::spirv::{attach, from_bytes, import, read, strip};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::spirv::attached::{complaints, modes, validated};
use crate::spirv::common::check_golden;

/// A module of another producer, with its name.
macro_rules! modules { ($($name:literal),* $(,)?) => {
    [$(($name, include_bytes!(concat!("foreign/", $name, ".spv")) as &[u8])),*]
} }

pub(super) const MODULES: [(&str, &[u8]); 30] = modules![
    "glslang",
    "glslang.opt",
    "glslang.later.opt",
    "glslang.gV",
    "glslang.gV.opt",
    "glslang.sort",
    "glslang.sort.opt",
    "glslang.sort.gV",
    "glslang.sort.gV.opt",
    "slang",
    "slang.opt",
    "slang.sort",
    "slang.sort.opt",
    "slang.generic",
    "slang.generic.opt",
    "llvm15.O0",
    "llvm15.O0.opt",
    "llvm15.O2",
    "llvm15.O2.opt",
    "intel.opencl.O0",
    "intel.opencl.O0.opt",
    "intel.opencl.O2",
    "intel.opencl.O2.opt",
    "intel.shader.O0",
    "intel.shader.O0.opt",
    "intel.shader.O2",
    "intel.shader.O2.opt",
    "intel.200.O0",
    "intel.200.O0.opt",
    "intel.200.O2",
];

fn target(name: &str) -> Target {
    if name.starts_with("llvm") || name.starts_with("intel") { Target::kernel() } else { Target::shader() }
}

/// Import, attach, check: in every mode, the instructions that come back mean the imported description.
#[test]
fn imported_modules_are_attached_again() {
    let mut wrong = Vec::new();
    for (name, bytes) in MODULES {
        let words = from_bytes(bytes).expect("is a module");
        let imported = import(&read(&words).expect("reads"), &target(name)).expect("can be described");
        let plain = strip(&words).expect("is a module");
        for mode in modes() {
            let at = format!("{name}, {} {}", mode.name(), mode.set().name());
            let attached = match attach(&plain, &imported.module, &imported.binding, &mode) {
                Ok(attached) => attached,
                Err(error) => {
                    wrong.push(format!("{at}: {error}"));
                    continue;
                }
            };
            let checked = attached.check(&imported.module, &imported.binding, &mode).expect("reads");
            if !checked.is_clean() {
                wrong.push(format!("{at}: {checked}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Description and binding, written as JSON, are read back as they were.
#[test]
fn imported_modules_are_written_as_json() {
    for (name, bytes) in MODULES {
        let words = from_bytes(bytes).expect("is a module");
        let imported = import(&read(&words).expect("reads"), &target(name)).expect("can be described");
        let text = imported.binding.to_json(&imported.module).expect("is written");
        let both = eitri::spirv::Binding::from_json(&text, &words);
        let both = both.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(both, (imported.module, imported.binding), "{name}");
    }
}

/// `spirv-val` has the complaints of the module without debug instructions, also where it rejects the original.
#[test]
fn the_validator_takes_imported_modules() {
    for (name, bytes) in MODULES {
        let words = from_bytes(bytes).expect("is a module");
        let imported = import(&read(&words).expect("reads"), &target(name)).expect("can be described");
        let plain = strip(&words).expect("is a module");
        let Some(expected) = complaints(&plain) else { return };
        for mode in validated() {
            let Ok(attached) = attach(&plain, &imported.module, &imported.binding, &mode) else { continue };
            let output = complaints(&attached.words).expect("spirv-val is there");
            assert_eq!(output, expected, "{name}, {} {}", mode.name(), mode.set().name());
        }
    }
}

/// Deviations of each producer from its specification, by rule and sentence, and what cannot be imported.
#[test]
fn deviations_are_listed() {
    let mut text = String::new();
    for (name, bytes) in MODULES {
        let words = from_bytes(bytes).expect("is a module");
        let facts = read(&words).expect("reads");
        let report = eitri::spirv::validate(&facts);
        text += &format!("{name}: {}\n", facts.iter().next().map_or("", |fact| fact.set.name()));
        for finding in report.findings.iter().chain(&report.notes) {
            text += &format!("  {finding}\n");
        }
        let imported = import(&facts, &target(name)).expect("can be described");
        let omissions: Vec<String> = imported.omissions.iter().map(Omission::to_string).collect();
        for omission in omissions {
            text += &format!("  not imported: {omission}\n");
        }
    }
    check_golden("spirv/producers.txt", &text);
}
