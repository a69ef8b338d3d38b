//! Modules described from their own names, types, lines and control flow; and debug instructions removed.

use eitri::spirv::{
    Mode, ModuleSource, Set, TextOptions, Words, attach, describe, from_bytes, print, read, strip, validate,
};
use pretty_assertions::assert_eq;

use crate::spirv::attached::{all, complaints, modes, validated};
use crate::spirv::common::check_golden;

/// Modules of other producers, without and with debug instructions.
fn foreign() -> Vec<(&'static str, Vec<u32>)> {
    let all: [(&str, &[u8]); 8] = [
        ("glslang.g", include_bytes!("foreign/glslang.g.spv")),
        ("glslang.g.opt", include_bytes!("foreign/glslang.g.opt.spv")),
        ("matrices", include_bytes!("foreign/matrices.spv")),
        ("matrices.opt", include_bytes!("foreign/matrices.opt.spv")),
        ("glslang", include_bytes!("foreign/glslang.spv")),
        ("glslang.opt", include_bytes!("foreign/glslang.opt.spv")),
        ("slang", include_bytes!("foreign/slang.spv")),
        ("slang.opt", include_bytes!("foreign/slang.opt.spv")),
    ];
    all.into_iter().map(|(name, bytes)| (name, from_bytes(bytes).expect("is a module"))).collect()
}

/// Foreign modules, and kernels of compilers for OpenCL.
fn modules() -> Vec<(String, Vec<u32>)> {
    let kernels = all().iter().map(|bound| (bound.name.to_string(), bound.words.clone())).collect::<Vec<_>>();
    foreign().into_iter().map(|(name, words)| (name.to_owned(), words)).chain(kernels).collect()
}

#[test]
fn described_modules_are_attached() {
    let mut variables = 0;
    for (name, words) in modules() {
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        assert_eq!(described.words, strip(&words).expect("is a module"), "{name}");
        for mode in modes() {
            let at = format!("{name}, {} {}", mode.name(), mode.set().name());
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let attached = attached.unwrap_or_else(|error| panic!("{at}: {error}"));
            let checked = attached.check(&described.module, &described.binding, &mode).expect("reads");
            assert!(checked.is_clean(), "{at}: {checked}");
            assert_eq!(attached.detach().expect("is whole"), described.words, "{at}");
        }
        variables += described.variables.len();
    }
    assert!(variables > 40, "{variables}");
}

/// `spirv-val` has the complaints of the module without debug instructions.
#[test]
fn the_validator_takes_described_modules() {
    for (name, words) in modules() {
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        let Some(expected) = complaints(&described.words) else { return };
        for mode in validated() {
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let words = attached.expect("is attached").words;
            assert_eq!(complaints(&words).as_ref(), Some(&expected), "{name}, {}", mode.set().name());
        }
    }
}

/// The source of `glslang.g.spv` is `parts.comp`: names, types, lines and the text of the source.
#[test]
fn a_shader_of_glslang() {
    let words = from_bytes(include_bytes!("foreign/glslang.g.spv")).expect("is a module");
    let described = describe(&words, &ModuleSource::default()).expect("is a module");
    let attached = attach(&described.words, &described.module, &described.binding, &Mode::vulkan());
    let attached = attached.expect("is attached");
    let mut text = print(&read(&attached.words).expect("reads"), TextOptions::default());
    for omission in &attached.omissions {
        text += &format!("; omitted: {omission}\n");
    }
    check_golden("spirv/described/glslang.txt", &text);
}

/// Path, text and language of the caller replace those of the module.
#[test]
fn the_source_of_the_caller() {
    let words = from_bytes(include_bytes!("foreign/glslang.g.spv")).expect("is a module");
    let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let source = {
        let mut source = ModuleSource::default();
        source.path = Some("other.wgsl".into());
        source.text = Some(text.clone());
        source.language = Some(10);
        source
    };
    let described = describe(&words, &source).expect("is a module");
    let attached = attach(&described.words, &described.module, &described.binding, &Mode::vulkan());
    let words = attached.expect("is attached").words;
    let printed = print(&read(&words).expect("reads"), TextOptions::default());
    for expected in ["\"other.wgsl\"", "Language: %", "\"f32\"", "\"u32\""] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert_eq!(printed.matches("DebugSource ").count(), 1, "{printed}");
    let language = read(&words).expect("reads").iter().find_map(|fact| {
        let facts = read(&words).expect("reads");
        facts.number(&fact, eitri::spirv::Field::Language)
    });
    assert_eq!(language, Some(10));
}

/// The rest of a stripped module is the module: no instruction is lost besides debug instructions, lines, their
/// strings and names.
#[test]
fn only_debug_instructions_are_stripped() {
    for (name, words) in modules() {
        let stripped = strip(&words).expect("is a module");
        let facts = read(&stripped).expect("reads");
        assert_eq!(facts.iter().count(), 0, "{name}");
        assert!(validate(&facts).is_clean(), "{name}");
        let is_gone = |opcode| matches!(opcode, 5..=8 | 11 | 12 | 71 | 317);
        let rest = |words: &[u32]| -> Vec<Vec<u32>> {
            let all = Words::new(words).expect("is a module").instructions();
            all.filter(|it| !is_gone(it.opcode())).map(|it| it.words.to_vec()).collect()
        };
        assert_eq!(rest(&stripped), rest(&words), "{name}");
        if let (Some(before), Some(after)) = (complaints(&words), complaints(&stripped)) {
            assert!(after.is_empty() || !before.is_empty(), "{name}: {after}");
        }
        // Attached again, and stripped again: strings and lines are gone, types and constants stay.
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        for set in Set::ALL {
            let mode = Mode::validating(set);
            let attached =
                attach(&stripped, &described.module, &described.binding, &mode).expect("is attached");
            let again = strip(&attached.words).expect("is a module");
            assert_eq!(read(&again).expect("reads").iter().count(), 0, "{name}");
            assert_eq!(complaints(&again), complaints(&stripped), "{name}");
        }
    }
}
