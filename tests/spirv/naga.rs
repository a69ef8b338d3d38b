//! Modules of naga, described and attached in every mode. `naga/README.md` describes how they were made.

use eitri::spirv::{ModuleSource, Words, attach, describe, from_bytes, import, read, strip};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::spirv::attached::{complaints, modes, validated};

macro_rules! modules { ($($name:literal),* $(,)?) => {
    [$(($name, include_bytes!(concat!("naga/", $name, ".spv")) as &[u8])),*]
} }

pub const MODULES: [(&str, &[u8]); 20] = modules![
    "arrays",
    "atomics",
    "bits",
    "blur",
    "choices",
    "dispatch",
    "diverge",
    "images",
    "lit",
    "loops",
    "matrices",
    "nested",
    "overrides",
    "pointers",
    "prefix",
    "reduce",
    "shading",
    "switch",
    "textured",
    "tuples",
];

pub fn words(bytes: &[u8]) -> Vec<u32> {
    from_bytes(bytes).expect("is a module")
}

/// The module with an unknown language in its `OpSource`: older validators reject the number of WGSL.
pub fn without_language(words: &[u32]) -> Vec<u32> {
    let mut all = words.to_vec();
    for it in Words::new(words).expect("is a module").instructions().filter(|it| it.opcode() == 3) {
        all[it.at + 1] = 0;
    }
    all
}

/// A module is described, attached and imported, with the same meaning each time.
#[test]
fn every_module_is_attached_in_every_mode() {
    let mut wrong = Vec::new();
    let mut variables = 0;
    let mut lines = 0;
    for (name, bytes) in MODULES {
        let words = words(bytes);
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        variables += described.variables.len();
        for mode in modes() {
            let at = format!("{name}, {} {}", mode.name(), mode.set().name());
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let attached = attached.unwrap_or_else(|error| panic!("{at}: {error}"));
            let checked = attached.check(&described.module, &described.binding, &mode).expect("reads");
            if !checked.is_clean() {
                wrong.push(format!("{at}: {checked}"));
            }
            assert_eq!(attached.detach().expect("is whole"), described.words, "{at}");
            let facts = read(&attached.words).expect("reads");
            lines += facts.iter().filter(|fact| fact.number == 103).count();
            // The import is attached again, and means the same.
            let imported = import(&facts, &Target::shader()).expect("can be described");
            let plain = strip(&attached.words).expect("is a module");
            let again = attach(&plain, &imported.module, &imported.binding, &mode);
            let again = again.unwrap_or_else(|error| panic!("{at}, again: {error}"));
            let checked = again.check(&imported.module, &imported.binding, &mode).expect("reads");
            if !checked.is_clean() {
                wrong.push(format!("{at}, again: {checked}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(variables > 150 && lines > 500, "{variables} {lines}");
}

/// `spirv-val` has the complaints of the module without debug instructions.
#[test]
fn the_validators_take_every_module() {
    for (name, bytes) in MODULES {
        let words = without_language(&words(bytes));
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        let Some(expected) = complaints(&described.words) else { return };
        for mode in validated() {
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let words = attached.expect("is attached").words;
            let at = format!("{name}, {} {}", mode.name(), mode.set().name());
            assert_eq!(complaints(&words).as_ref(), Some(&expected), "{at}");
        }
    }
}
