//! Mutants of modules with debug instructions: one that `validate` and `spirv-val` accept is imported, attached again and
//! stripped, and both validators accept the results.

use eitri::spirv::{
    HEADER, Mode, ModuleSource, Set, Words, attach, describe, from_bytes, import, read, strip, strip_unused,
    validate,
};
use eitri::target::Target;

use crate::common::cases::{Random, cases};
use crate::spirv::attached::{all, complaints};
use crate::spirv::naga;

/// Modules without a complaint, each with its set.
fn modules() -> Vec<(String, Vec<u32>, Set)> {
    let foreign: [(&str, &[u8]); 2] = [
        ("glslang", include_bytes!("foreign/glslang.gV.spv")),
        ("sort", include_bytes!("foreign/glslang.sort.gV.spv")),
    ];
    let foreign =
        foreign.map(|(name, bytes)| (name.to_owned(), from_bytes(bytes).expect("is a module"), Set::Shader));
    let shaders = ["blur", "matrices"].map(|name| {
        let bytes = naga::MODULES.iter().find(|module| module.0 == name).expect("a module").1;
        (name.to_owned(), naga::without_language(&naga::words(bytes)), Mode::validating(Set::Shader))
    });
    let kernels = all().into_iter().filter(|bound| ["saxpy.O0", "structs.O0"].contains(&&*bound.name));
    let kernels = kernels.map(|bound| (bound.name, bound.words, Mode::validating(Set::OpenCl)));
    let described = shaders.into_iter().chain(kernels).map(|(name, words, mode)| {
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        let attached = attach(&described.words, &described.module, &described.binding, &mode);
        (name, attached.expect("is attached").words, mode.set())
    });
    foreign.into_iter().chain(described).collect()
}

/// The module with one operand of one instruction replaced: by that of another instruction with the same opcode, or by a
/// number nearby.
fn mutant(words: &[u32], numbers: &mut Random) -> Vec<u32> {
    let all: Vec<_> =
        Words::new(words).expect("is a module").instructions().map(|it| (it.at, it.words.len())).collect();
    let mut mutant = words.to_vec();
    let (at, len) = all[numbers.below(all.len())];
    if len == 1 {
        return mutant;
    }
    let operand = 1 + numbers.below(len - 1);
    let same =
        all.iter().filter(|&&(other, _)| words[other] == words[at]).map(|&(other, _)| words[other + operand]);
    let same: Vec<u32> = same.collect();
    mutant[at + operand] = match numbers.below(3) {
        0 => mutant[at + operand].wrapping_add(1),
        1 => mutant[at + operand].wrapping_sub(1),
        _ => same[numbers.below(same.len())],
    };
    assert!(at >= HEADER);
    mutant
}

/// What is wrong with a mutant; `None` for one that a validator does not accept.
fn wrong(words: &[u32], set: Set) -> Option<Result<(), String>> {
    let facts = read(words).ok()?;
    if !validate(&facts).is_clean() || !complaints(words)?.is_empty() {
        return None;
    }
    let target = if set == Set::OpenCl { Target::kernel() } else { Target::shader() };
    let both = |what: &str, words: &[u32]| {
        let report = validate(&read(words).map_err(|error| format!("{what}: {error}"))?);
        match (report.is_clean(), complaints(words).unwrap_or_default()) {
            (false, _) => Err(format!("{what}: {report}")),
            (true, complaint) if !complaint.is_empty() => Err(format!("{what}: {complaint}")),
            _ => Ok(()),
        }
    };
    let tried = || {
        let mode = Mode::validating(set);
        let imported = import(&facts, &target).map_err(|error| format!("import: {error}"))?;
        let plain = strip(words).map_err(|error| format!("strip: {error}"))?;
        both("stripped", &plain)?;
        both("stripped of unused", &strip_unused(words).map_err(|error| error.to_string())?)?;
        let attached = attach(&plain, &imported.module, &imported.binding, &mode);
        let attached = attached.map_err(|error| format!("attach: {error}"))?;
        let checked = attached.check(&imported.module, &imported.binding, &mode);
        let checked = checked.map_err(|error| format!("check: {error}"))?;
        if !checked.is_clean() {
            return Err(format!("check: {checked}"));
        }
        both("attached", &attached.words)?;
        let described =
            describe(words, &ModuleSource::default()).map_err(|error| format!("describe: {error}"))?;
        let attached = attach(&described.words, &described.module, &described.binding, &mode);
        both("described", &attached.map_err(|error| format!("attach described: {error}"))?.words)
    };
    Some(tried())
}

#[test]
fn accepted_mutants_are_attached_and_stripped() {
    let count = cases(6);
    let mut accepted = 0;
    let mut faults = Vec::new();
    for (name, words, set) in modules() {
        let Some(complaint) = complaints(&words) else { return };
        assert_eq!(complaint, "", "{name}");
        let mut numbers = Random(7);
        for number in 0..count {
            let Some(result) = wrong(&mutant(&words, &mut numbers), set) else { continue };
            accepted += 1;
            faults.extend(result.err().map(|fault| format!("{name}, mutant {number}: {fault}")));
        }
    }
    println!("{accepted} accepted mutants");
    assert!(faults.is_empty(), "{} of {accepted}:\n{}", faults.len(), faults.join("\n"));
    assert!(accepted > 0);
}
