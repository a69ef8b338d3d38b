//! `attach` and `strip` on SPIR-V modules.

use eitri::spirv::{Mode, ModuleSource, Set, attach, describe, from_bytes, read, strip};
use pretty_assertions::assert_eq;

use super::{Folder, root, run};

const SHADER: &str = "tests/spirv/foreign/glslang.g.spv";

#[test]
fn debug_instructions_are_attached_and_stripped() {
    let folder = Folder::new("modules");
    let module = root(SHADER);
    let out = folder.path("debug.spv");
    let stripped = folder.path("plain.spv");
    let module = module.to_str().expect("a path that is text");
    let ran = run(&["attach", module, "-o", &out]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    // The library makes the same words; the default of a shader is `vulkan`.
    let words = from_bytes(&std::fs::read(module).expect("a file")).expect("is a module");
    let described = describe(&words, &ModuleSource::default()).expect("is a module");
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
        format!("eitri: {out}: the module already has {set} instructions\n--replace removes them first\n");
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
    let module = root(SHADER);
    let out = folder.path("debug.spv");
    let module = module.to_str().expect("a path that is text");
    let source = folder.file("other.wgsl", "a line\n".repeat(50));
    let arguments =
        ["attach", module, "--source", &source, "--language", "10", "--for", "vulkan", "-o", &out];
    let ran = run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let printed = run(&["dump", &out]).text();
    assert!(printed.contains(&format!("\"{source}\"")) && printed.contains("\"f32\""), "{printed}");
    assert_eq!(run(&["check", &out]).code, 0);

    // Lines of the module are beyond a shorter text: they are omitted and listed.
    let short = folder.file("short.wgsl", "one line\n");
    let ran = run(&["attach", module, "--source", &short, "-o", &out]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    assert!(ran.errors.contains("line"), "{}", ran.errors);
    assert_eq!(run(&["check", &out]).code, 0);

    let ran = run(&["attach", module, "--for", "vulcan", "-o", &out]);
    assert!(ran.code == 2 && ran.errors.contains("vulkan"), "{}", ran.errors);
}

#[test]
fn a_description_with_its_binding_is_attached() {
    let folder = Folder::new("binding");
    let page = std::fs::read_to_string(root("docs/description.md")).expect("the page");
    let (_, section) = page.split_once("# SPIR-V modules\n").expect("the section");
    let example = section.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    let description = folder.file("saxpy.json", example.expect("an example"));
    let module = root("tests/spirv/kernels/saxpy.O2.spv");
    let module = module.to_str().expect("a path that is text");
    let out = folder.path("debug.spv");
    let ran = run(&["emit", &description, "--spirv", module, "--partial", "-o", &out]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    assert_eq!(run(&["check", &out]).code, 0);
    assert!(run(&["dump", &out]).text().contains("\"xi\""));

    // An omission is an error without `--partial`.
    let vulkan = ["emit", &description, "--spirv", module, "--spirv-for", "vulkan", "-o", &out];
    let ran = run(&vulkan);
    assert!(ran.code == 2 && ran.errors.contains("--partial omits it"), "{} {}", ran.code, ran.errors);
    // A module with debug instructions is none to add those of a description to.
    let debug = folder.path("again.spv");
    let twice = run(&["emit", &description, "--spirv", &out, "--partial", "-o", &debug]);
    assert!(twice.code == 2 && twice.errors.contains("debug.spv"), "{} {}", twice.code, twice.errors);
}
