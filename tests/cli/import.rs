//! `eitri import`.

use eitri::model::Module;
use pretty_assertions::assert_eq;

use super::{Folder, run};

/// An object of LLVM, from OpenCL C.
const OBJECT: &str = "tests/objects/llvm19/k06_calls.gfx1100.O0.hsaco";

#[test]
fn description_of_a_foreign_object_is_an_input_of_other_commands() {
    let folder = Folder::new("import");
    let out = folder.path("calls.json");
    let ran = run(&["import", OBJECT, "-o", &out]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    // What is left is listed, a line for each fact.
    assert!(ran.errors.lines().all(|line| line.starts_with("not imported: unit `")), "{}", ran.errors);
    let text = std::fs::read_to_string(&out).expect("a description");
    let module = Module::from_json(&text).expect("a description");
    let names: Vec<_> = module.functions().map(|(_, function)| module.string(function.name)).collect();
    assert!(names.contains(&"calls") && names.contains(&"leaf"), "{names:?}");
    assert_eq!(module.to_json(), text);
    let object = folder.path("new.hsaco");
    let emitted = run(&["emit", &out, "--object", OBJECT, "--replace", "--partial", "-o", &object]);
    assert_eq!(emitted.code, 0, "{}", emitted.errors);
}

#[test]
fn strict_import_fails_where_a_fact_is_left() {
    let folder = Folder::new("import_strict");
    let out = folder.path("calls.json");
    let ran = run(&["import", OBJECT, "--strict", "--summary", "-o", &out]);
    assert_eq!(ran.code, 1);
    assert!(ran.errors.contains("not imported: 3 NoFrameBase"), "{}", ran.errors);
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn only_the_selected_function_is_imported() {
    let ran = run(&["import", OBJECT, "--only", "leaf", "--summary", "-o", "-"]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let module = Module::from_json(ran.text()).expect("a description");
    let names: Vec<_> = module.functions().map(|(_, function)| module.string(function.name)).collect();
    assert_eq!(names, ["leaf"]);
}

#[test]
fn several_objects_are_one_description() {
    let [first, second] =
        ["tests/objects/llvm19/k02_reduce.gfx1030.O2.o", "tests/objects/llvm19/k14_spill.gfx1030.O2.hsaco"];
    let folder = Folder::new("import_several");
    let out = folder.path("both.json");
    let module = |files: &[&str]| {
        let arguments = [&["import"], files, &["--summary", "-o", &out]].concat();
        let ran = run(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.errors);
        (
            Module::from_json(std::fs::read_to_string(&out).expect("a description")).expect("a description"),
            ran.errors,
        )
    };
    let count = |module: &Module| (module.units().count(), module.functions().count());
    let [one, other] = [first, second].map(|file| module(&[file]).0);
    let (both, errors) = module(&[first, second]);
    assert_eq!(count(&both), (count(&one).0 + count(&other).0, count(&one).1 + count(&other).1));
    // Facts that are left name their file.
    assert!(
        errors.lines().all(|line| line.contains("gfx1030.O2.o: ") || line.contains("gfx1030.O2.hsaco: ")),
        "{errors}"
    );
}

#[test]
fn objects_of_two_targets_are_refused_with_both_names() {
    let folder = Folder::new("import_targets");
    let out = folder.path("both.json");
    let ran = run(&["import", "examples/data/squares.o", OBJECT, "--summary", "-o", &out]);
    assert_ne!(ran.code, 0);
    for text in ["squares.o", "k06_calls.gfx1100.O0.hsaco", "x86_64", "gfx1100"] {
        assert!(ran.errors.contains(text), "{text}: {}", ran.errors);
    }
    assert!(!std::path::Path::new(&out).exists());
}
