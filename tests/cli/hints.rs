//! Hints at the option, or the order of arguments, that was probably intended.

use super::{Folder, lane_wise, run};

const CODE: &str = "examples/data/scale_code.o";

#[test]
fn debug_sections_that_are_there_suggest_replace() {
    let folder = Folder::new("hint-replace");
    let first = folder.path("1.o");
    assert_eq!(run(&["emit", "examples/scale.json", "--object", CODE, "-o", &first]).code, 0);
    let ran = run(&["emit", "examples/scale.json", "--object", &first, "-o", &folder.path("2.o")]);
    assert!(ran.code == 2 && ran.errors.contains("1.o: "), "{}", ran.errors);
    assert!(
        ran.errors.ends_with("--replace removes the debug sections of the object first\n"),
        "no word of --replace: {}",
        ran.errors
    );
    // No hint if the option would not help: another error comes first.
    let other = folder.file("other.json", lane_wise(r#"{"lane": ["v3", 31]}"#));
    let ran = run(&["emit", &other, "--object", CODE, "-o", &folder.path("2.o")]);
    assert!(ran.code == 2 && !ran.errors.contains("--replace"), "{}", ran.errors);
}

#[test]
fn a_refusal_suggests_partial() {
    let folder = Folder::new("hint-partial");
    let json = folder.file("a.json", lane_wise(r#"{"per_lane": "v3"}"#));
    let out = folder.path("a.o");
    let strict = run(&["emit", &json, "--for", "dwarf5", "-o", &out]);
    let hint = "--partial omits it, and lists it\n";
    assert!(strict.code == 2 && strict.errors.ends_with(hint), "no word of --partial: {}", strict.errors);
    // `check` of an object written with --partial.
    assert_eq!(run(&["emit", &json, "--for", "dwarf5", "--partial", "-o", &out]).code, 0);
    let ran = run(&["check", &json, &out, "--for", "dwarf5"]);
    let hint = "--partial is for objects written with it\n";
    assert!(ran.code == 2 && ran.errors.ends_with(hint), "no word of --partial: {}", ran.errors);
    // An error in the description does not get a hint.
    let wrong = folder.file("wrong.json", lane_wise(r#"{"lane": ["v3", 32]}"#));
    let ran = run(&["emit", &wrong, "--for", "dwarf5", "-o", &out]);
    assert!(ran.code == 2 && !ran.errors.contains("--partial"), "{}", ran.errors);
}

#[test]
fn swapped_arguments_are_recognised() {
    let folder = Folder::new("hint-order");
    let out = folder.path("scale.o");
    assert_eq!(run(&["emit", "examples/scale.json", "--object", CODE, "-o", &out]).code, 0);
    let ran = run(&["check", &out, "examples/scale.json"]);
    let hint = format!("the description comes first: eitri check examples/scale.json {out}\n");
    assert!(ran.code == 2 && ran.errors.ends_with(&hint), "the order is not suggested: {}", ran.errors);
    // An object in place of a description, and the reverse.
    let ran = run(&["emit", CODE, "--object", "examples/scale.json", "-o", &out]);
    let what = format!("{CODE}: this is an object file; expected a description\n");
    assert!(ran.code == 2 && ran.errors.ends_with(&what), "{}", ran.errors);
    let ran = run(&["dump", "examples/scale.json"]);
    assert!(ran.code == 2 && ran.errors.contains("this is a description"), "{}", ran.errors);
    let ran = run(&["check", &out]);
    assert!(ran.code == 2 && ran.errors.contains("eitri check DESCRIPTION OBJECT"), "{}", ran.errors);
}
