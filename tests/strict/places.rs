//! Errors locate the fault in a description, and summaries count correctly.

use eitri::model::Module;

/// Description with one wrong statement; `@` marks the fault.
fn described(statements: &str) -> (String, usize, usize) {
    let text = format!(
        r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{{"unit": {{"name": "a.cl"}}}},
{{"base_type": {{"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"function": {{"in": "a.cl", "name": "f", "code": {{"symbol": "f", "bytes": 64}}}}}},
{statements}
]}}"#
    );
    let (before, after) = text.split_once('@').expect("what is wrong");
    let line = before.lines().count();
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (format!("{before}{after}"), line, column)
}

/// Errors: statements, path of keys to the fault, start of the message.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &str)] = &[
    (r#"{"variable": {"in": "f", "name": "n", "type": @"flaot"}}"#, "describe[3].variable.type", "no type of this unit"),
    (r#"{"describe_unit": {"unit": "a.cl", "language": @"OpenGL"}}"#, "describe[3].describe_unit.language", "no language"),
    (r#"{"describe_unit": {"unit": "a.cl", "language": @65536}}"#, "describe[3].describe_unit.language", "no language"),
    (r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [
        [0, 8, {"register": "s4"}],
        @[4, 12, {"register": "s5"}]]}}"#, "describe[3].variable.live[1]", "live range overlaps 0x0..0x8"),
    (r#"{"variable": {"in": "f", "name": "n", "id": "n", "type": "int", "live": [@[4, 12, {"register": "s5"}]]}},
        {"describe_variable": {"variable": "n", "live": [[0, 8, {"register": "s4"}]]}}"#,
        "describe[3].variable.live[0]", "live range overlaps 0x0..0x8"),
    (r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [@[0, 8, {"stack_slot": 4}]]}}"#,
        "describe[3].variable.live[0]", "stack slot is in"),
    (r#"{"variable": {"in": "f", "name": "n", "type": "int", "always": @{"stack_slot": 4}}}"#,
        "describe[3].variable.always", "stack slot is in"),
    (r#"{"block": {"in": "f", "pcs": @[[0, 8], [4, 12]]}}"#, "describe[3].block.pcs", "range overlaps 0x0..0x8"),
    (r#"{"frame": {"function": "f", "entry_function": true, "rules": [
        [0, 8, "s33", "undefined"], @[4, 12, "s33", {"lane": ["v40", 7]}]]}}"#,
        "describe[3].frame.rules[1]", "rule overlaps 0x0..0x8; expected one rule for the column at each pc"),
    (r#"{"region": {"in": "f", "kind": "then", "pcs": [8, 16], "waits_at": 0, "masks": [[0, 64, {"register": "s6"}]]}},
        @{"region": {"in": "f", "kind": "then", "pcs": [12, 20], "waits_at": 0, "masks": [[0, 64, {"register": "s6"}]]}}"#,
        "describe[4].region", "region overlaps"),
    (r#"{"variable": {"in": @"g", "name": "n", "type": "int"}}"#, "describe[3].variable.in", "no scope"),
    (r#"{"variable": {"in": "f", "name": "n", "type": "int", "declared": [@"b.cl", 3]}}"#,
        "describe[3].variable.declared[0]", "no file of this unit"),
    (r#"{"function": {"in": "a.cl", "name": "g", "stack": {"base": @"s999"}}}"#,
        "describe[3].function.stack.base", "the target has no register"),
    (r#"{"function": {"in": "a.cl", "name": "g", "returns": @"flaot"}}"#, "describe[3].function.returns", "no type"),
];

fn wrong(cases: &[(&str, &str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (statements, path, what) in cases {
        let (text, line, column) = described(statements);
        let error = Module::from_json(&text).expect_err(statements);
        let place = error.at().json.clone().expect("a place");
        let message = error.kind().to_string();
        // A statement that is wrong as a whole is reported at its object.
        let is_there = place.path == *path && place.line == line && place.column.abs_diff(column) <= 11;
        if !is_there || !message.starts_with(what) {
            wrong.push(format!("{path} {line}:{column}: {error}"));
        }
    }
    wrong
}

/// Overlaps, types and languages.
#[test]
fn an_error_points_at_the_key() {
    assert_eq!(wrong(&WRONG[..4]), [""; 0]);
}

/// Every unknown name in a description, and every error at its end.
#[test]
fn every_error_names_its_json_position() {
    assert_eq!(wrong(WRONG), [""; 0]);
}

#[test]
fn counts_of_one_are_singular() {
    use eitri::check::CheckReport;

    use crate::common::with;
    let one = with::<CheckReport>(|report| {
        report.entries = 1;
        report.rows = 1;
        report.locations = 1;
        report.names = 1;
        report.macros = 1;
    });
    let expected =
        "0 findings, 0 unproven, 0 omitted; compared: 1 entry, 1 line row, 1 location, 1 name, 1 macro";
    let spirv = with::<eitri::spirv::ValidationReport>(|report| report.instructions = 1);
    let found = format!("{one}\n{spirv}");
    assert_eq!(found, format!("{expected}\n0 findings, 0 notes; 1 debug instruction"));
}
