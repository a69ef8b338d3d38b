//! `eitri locate`, and `eitri check --code`.

use eitri::model::Module;
use pretty_assertions::assert_eq;

use super::{Folder, run};

/// The counter of a loop: moves of the back edge stand before the branch. `live` are the locations of the description.
pub fn description(live: &str) -> String {
    format!(
        r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{{"unit": {{"name": "a.cl"}}}},
{{"base_type": {{"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"function": {{"in": "a.cl", "name": "k", "code": {{"symbol": "k", "bytes": 40}}, "kernel": true}}}},
{{"variable": {{"in": "k", "name": "i", "type": "int", "id": "i"{live}}}}},
{{"code": {{"function": "k", "blocks": [[0, 8], [8, 32], [32, 40]], "edges": [[0, 1], [1, 1], [1, 2]],
    "values": [{{"id": "a", "bits": 32}}, {{"id": "b", "bits": 32}}, {{"id": "c", "bits": 32}}],
    "instructions": [
        {{"pcs": [0, 4], "define": [["a", [{{"register": "s4"}}]]]}},
        {{"pcs": [4, 8], "define": [["b", [{{"register": "s6"}}]]]}},
        {{"pcs": [12, 16], "define": [["c", [{{"register": "s5"}}]]]}},
        {{"pcs": [20, 24], "copy": [[[{{"register": "s5"}}], [{{"register": "s4"}}]]]}},
        {{"pcs": [24, 28], "copy": [[[{{"register": "s6"}}], [{{"register": "s5"}}]]]}}
    ],
    "assign": [{{"at": 4, "variable": "i", "value": "a"}}, {{"at": 16, "variable": "i", "value": "c"}}]}}}}
]}}
"#
    )
}

#[test]
fn locations_are_derived_and_appended() {
    let folder = Folder::new("locate");
    let given = folder.file("k.json", description(""));
    let out = folder.path("located.json");
    let ran = run(&["locate", &given, "-o", &out]);
    assert_eq!((ran.code, &*ran.errors), (0, ""));
    let located = std::fs::read_to_string(&out).expect("a description");
    // The statements are as they were, and one follows.
    let before = description("");
    let after = located.clone();
    let kept = before.strip_suffix("\n]}\n").expect("the end of the list");
    let added = after.strip_prefix(kept).expect("the same statements");
    assert!(added.starts_with(",\n{\"describe_variable\":") && added.ends_with("\n]}\n"), "{added}");
    let live = r#", "live": [[4, 16, {"register": "s4"}], [16, 24, {"register": "s5"}],
        [24, 28, [{"register": "s4"}, {"register": "s5"}]], [28, 40, {"register": "s4"}]]"#;
    let expected = Module::from_json(description(live)).expect("a description");
    assert_eq!(Module::from_json(&located).expect("a description"), expected);
    // The output is an input of the other commands.
    let object = folder.path("k.o");
    assert_eq!(run(&["emit", &out, "--allow", "no-frame", "-o", &object]).code, 0);
    let checked = run(&["check", &out, &object, "--code"]);
    assert_eq!((checked.code, &*checked.errors), (0, ""), "{}", checked.text());
    assert!(checked.text().starts_with("code: 9 claimed, 9 right, 9 recoverable, 0 unchecked\n0 findings"));
    // One location at a time, on standard output.
    let one = run(&["locate", &given, "--keep", "one", "-o", "-"]);
    let one = Module::from_json(one.text()).expect("a description");
    assert!(!one.to_json().contains("[24,28,["), "{}", one.to_json());
}

#[test]
fn locations_that_the_code_refutes_are_found() {
    let folder = Folder::new("stale");
    let live = r#", "live": [[4, 16, {"register": "s4"}], [16, 32, {"register": "s5"}], [32, 40, {"register": "s4"}]]"#;
    let given = folder.file("k.json", description(live));
    let object = folder.path("k.o");
    assert_eq!(run(&["emit", &given, "--allow", "no-frame", "-o", &object]).code, 0);
    assert_eq!(run(&["check", &given, &object]).code, 0);
    let checked = run(&["check", &given, &object, "--code"]);
    let text = checked.text();
    let expected = "code: 8 claimed, 7 right, 9 recoverable, 0 unchecked\n\
        stale: unit `a.cl`, function `k`, variable `i`, pc 0x1c..0x20: expected the variable in s5, found s5 was \
        overwritten at 0x18, copied from s6; the variable is in s4\n    block 0x8..0x20\n1 finding";
    assert!(checked.code == 1 && text.starts_with(expected), "{text}");
}

#[test]
fn unusable_input_has_its_exit_code() {
    let folder = Folder::new("unlocatable");
    let live = r#", "live": [[4, 16, {"register": "s4"}]]"#;
    let given = folder.file("k.json", description(live));
    let ran = run(&["locate", &given, "-o", "-"]);
    assert!(ran.code == 2 && ran.errors.contains("`i` already has locations"), "{}", ran.errors);
    let ran = run(&["locate", "examples/data/uspill.o", "-o", "-"]);
    assert!(ran.code == 2 && ran.errors.contains("expected a description"), "{}", ran.errors);
}
