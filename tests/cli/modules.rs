//! `attach` and `strip` on SPIR-V modules.

use eitri::spirv::{Mode, Set, Source, attach, describe, from_bytes, read, strip};
use pretty_assertions::assert_eq;

use super::{Folder, root, run};

const SHADER: &str = "tests/spirv/foreign/glslang.g.spv";

#[test]
fn debug_instructions_are_attached_and_stripped() {
    let folder = Folder::new("modules");
    let (module, out, stripped) = (root(SHADER), folder.path("debug.spv"), folder.path("plain.spv"));
    let module = module.to_str().expect("a path that is text");
    let ran = run(&["attach", module, "-o", &out]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    // The library makes the same words; the default of a shader is `vulkan`.
    let words = from_bytes(&std::fs::read(module).expect("a file")).expect("is a module");
    let described = describe(&words, &Source::default()).expect("is a module");
    let expected = attach(&described.words, &described.module, &described.binding, &Mode::vulkan());
    let expected = expected.expect("is attached");
    let made = from_bytes(&std::fs::read(&out).expect("is written")).expect("is a module");
    assert_eq!(made, expected.words);
    let omitted = ran.errors.lines().filter(|line| line.starts_with("omitted: ")).count();
    assert_eq!(omitted, expected.omissions.len());

    let twice = run(&["attach", &out, "-o", &stripped]);
    assert_eq!(twice.code, 2);
    let set = Set::Shader.name();
    let refused =
        format!("eitri: {out}: the module has instructions of {set} already\n--replace removes them first\n");
    assert_eq!(twice.errors, refused);

    let replaced = run(&["attach", &out, "--replace", "--for", "exact", "-o", &stripped]);
    assert_eq!(replaced.code, 0, "{}", replaced.errors);
    let ran = run(&["strip", &out, "-o", &stripped]);
    assert_eq!((ran.code, &*ran.errors), (0, ""));
    let plain = from_bytes(&std::fs::read(&stripped).expect("is written")).expect("is a module");
    assert_eq!(plain, strip(&made).expect("is a module"));
    assert_eq!(read(&plain).expect("reads").iter().count(), 0);
}

#[test]
fn the_source_can_be_given() {
    let folder = Folder::new("source");
    let (module, out) = (root(SHADER), folder.path("debug.spv"));
    let module = module.to_str().expect("a path that is text");
    let source = folder.file("other.wgsl", "a line\n".repeat(50));
    let arguments =
        ["attach", module, "--source", &source, "--language", "10", "--for", "vulkan", "-o", &out];
    let ran = run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let printed = run(&["dump", &out]).text();
    assert!(printed.contains(&format!("\"{source}\"")) && printed.contains("\"f32\""), "{printed}");
    assert_eq!(run(&["check", &out]).code, 0);

    // Lines of the module are beyond a shorter text.
    let short = folder.file("short.wgsl", "one line\n");
    let ran = run(&["attach", module, "--source", &short, "-o", &out]);
    assert_eq!(ran.code, 2);
    assert!(ran.errors.contains("line 2"), "{}", ran.errors);

    let ran = run(&["attach", module, "--for", "vulcan", "-o", &out]);
    assert!(ran.code == 2 && ran.errors.contains("vulkan"), "{}", ran.errors);
}
