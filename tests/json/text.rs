//! A text that is not a description is refused with a position, for every kind of mistake.

use eitri::error::{ErrorKind, Named};
use eitri::model::Module;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const SCALE: &str = include_str!("../../examples/scale.json");

/// A description of one variable with these live ranges.
fn with(live: &str) -> String {
    format!(
        r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{{"unit": {{"name": "a.cl"}}}}, {{"base_type": {{"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"function": {{"in": "a.cl", "name": "f", "code": {{"symbol": "f", "bytes": 64}}}}}},
{{"variable": {{"in": "f", "name": "n", "type": "int", "live": {live}}}}}
]}}"#
    )
}

fn refused(text: &str) -> String {
    match Module::from_json(text) {
        Ok(_) => panic!("no error: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_their_json_position() {
    let head = r#"{"eitri": 1, "target": "x86_64", "describe": ["#;
    let unit = |rest: &str| format!("{head}\n{{\"unit\": {{\"name\": \"a\"}}}},\n{rest}]}}");
    let cases = [
        ("".into(), "line 1, column 1: the bytes end inside the description"),
        ("[]".into(), "line 1, column 1: invalid type: sequence, expected a description"),
        (r#"{"eitri": 2}"#.into(), "line 1, column 11, `eitri`: format version is 2; expected 1"),
        (r#"{"eitri": 1, "target": "pdp11"}"#.into(), "line 1, column 24, `target`: unknown target: `pdp11`"),
        (r#"{"eitri": 1, "target": "x86_64"}"#.into(), "line 1, column 1: missing field `describe`"),
        (r#"{"eitri": 1, "eitri": 1}"#.into(), "line 1, column 14, `eitri`: duplicate field `eitri`"),
        (
            r#"{"eitri": 1, "author": 1}"#.into(),
            "line 1, column 14, `author`: unknown field `author`, expected one of `eitri`, `target`, `describe`",
        ),
        (
            unit(r#"{"unit": {"nam": "b"}}"#),
            "line 3, column 11, `describe[1].unit.nam`: unknown field `nam`, expected one of `name`, `id`, `directory`, `producer`, `command_line`, `optimized`, `language`",
        ),
        (
            unit(r#"{"unit": {"name": 5}}"#),
            "line 3, column 19, `describe[1].unit.name`: invalid type: integer `5`, expected a string",
        ),
        (unit(r#"{"unit": {"id": "b"}}"#), "line 3, column 10, `describe[1].unit`: missing field `name`"),
        (
            unit(r#"{"unit": {"name": "b", "name": "b"}}"#),
            "line 3, column 24, `describe[1].unit.name`: duplicate field `name`",
        ),
        (
            unit(r#"{"unit": {"name": "b", "language": "Klingon"}}"#),
            "line 3, column 36, `describe[1].unit.language`: no language is `DW_LANG_Klingon`",
        ),
        (
            unit(r#"{"unit": {"name": "b", "language": "OpenCl"}}"#),
            "line 3, column 36, `describe[1].unit.language`: no language is `DW_LANG_OpenCl`; did you mean `OpenCL`?",
        ),
        (
            unit(r#"{"namespace": {"in": "b", "name": "n"}}"#),
            "line 3, column 22, `describe[1].namespace.in`: no scope has the id or name `b` so far; did you mean `a`?",
        ),
        (
            unit(r#"{"unit": {"name": "b", "id": "u"}}, {"unit": {"name": "c", "id": "u"}}"#),
            "line 3, column 66, `describe[2].unit.id`: another unit has the id `u`",
        ),
        (
            unit(r#"{"unit": {"name": "a"}}, {"namespace": {"in": "a", "name": "n"}}"#),
            "line 3, column 47, `describe[2].namespace.in`: `a` is the name of more than one scope; expected an id",
        ),
        (
            unit(r#"{"base_type": {"unit": "a", "name": "t", "encoding": "roman", "bits": 8}}"#),
            "line 3, column 54, `describe[1].base_type.encoding`: unknown variant `roman`",
        ),
        (
            unit(r#"{"base_type": {"unit": "a", "name": "t", "encoding": "float", "bits": -8}}"#),
            "line 3, column 71, `describe[1].base_type.bits`: invalid value: integer `-8`, expected a number below 2^64",
        ),
        (
            unit(
                r#"{"base_type": {"unit": "a", "name": "t", "encoding": "float", "bits": 99999999999999999999}}"#,
            ),
            "line 3, column 71, `describe[1].base_type.bits`: invalid type: floating point",
        ),
        (
            unit(
                r#"{"base_type": {"unit": "a", "name": "t", "encoding": "float", "bits": "0xfffffffffffffffff"}}"#,
            ),
            "line 3, column 71, `describe[1].base_type.bits`: invalid value: string",
        ),
        (
            unit(r#"{"function": {"in": "a", "name": "f", "code": {"bytes": 4}}}"#),
            "line 3, column 1, `describe[1].function`: code has an invalid combination of keys",
        ),
        (
            unit(r#"{"function": {"in": "a", "name": "f"}, "function": {"in": "a", "name": "f"}}"#),
            "line 3, column 1, `describe[1]`: a statement has the keys `function` and `function`; expected one key",
        ),
        (
            unit(r#"{"namespace": {"in": "a"}, "file": {}, "label": 7}"#),
            "line 3, column 1, `describe[1]`: a statement has the keys `namespace` and `file` and `label`; expected one key",
        ),
        (unit("{}"), "line 3, column 1, `describe[1]`: a statement has no key; expected one key"),
        (
            unit("[]"),
            "line 3, column 1, `describe[1]`: invalid type: sequence, expected a statement (an object with one key)",
        ),
        (
            unit("7"),
            "line 3, column 1, `describe[1]`: invalid type: integer `7`, expected a statement (an object with one key)",
        ),
        (
            unit(r#"{"unit": ["b"]}"#),
            "line 3, column 10, `describe[1].unit`: invalid type: sequence, expected an object",
        ),
        (
            unit(r#"{"function": {"in": "a", "name": "f", "code": [4, "f"]}}"#),
            "line 3, column 47, `describe[1].function.code`: invalid type: sequence, expected an object",
        ),
        (
            unit(r#"{"macros": {"unit": "a", "macros": [{"define": [0, "A 1"], "undefine": [0, "A"]}]}}"#),
            "line 3, column 37, `describe[1].macros.macros[0]`: a macro has the keys `define` and `undefine`; expected one key",
        ),
        (
            unit(r#"{"macros": {"unit": "a", "macros": [{}]}}"#),
            "line 3, column 37, `describe[1].macros.macros[0]`: a macro has no key; expected one key",
        ),
        (
            with(r#"[[0, 4, {"expr": ["a800"]}]]"#),
            "line 4, column 79, `describe[3].variable.live[0][2].expr`: invalid type: sequence, expected an object",
        ),
        (
            unit(r#"{"melt": {}}"#),
            "line 3, column 2, `describe[1].melt`: unknown variant `melt`, expected one of `unit`",
        ),
        (
            unit(r#"{"file": {"unit": "a", "name": "b", "md5": "00"}}"#),
            "line 3, column 1, `describe[1].file`: MD5 sum has 1 byte; expected 16",
        ),
        (
            unit(r#"{"file": {"unit": "a", "name": "b", "md5": "0g"}}"#),
            "line 3, column 44, `describe[1].file.md5`: invalid value: string \"0g\", expected bytes",
        ),
        (format!("{} 7", unit("").replace(",\n]", "]")), "column 28: trailing characters"),
        (
            unit("{\"unit\": {\"name\": \"é\", \"nam\": 1}}"),
            "line 3, column 24, `describe[1].unit.nam`: unknown field",
        ),
        (
            with("7"),
            "line 4, column 62, `describe[3].variable.live`: invalid type: integer `7`, expected a list",
        ),
        (
            with("[7]"),
            "line 4, column 63, `describe[3].variable.live[0]`: invalid type: integer `7`, expected a list",
        ),
        (
            with("[[0, 4]]"),
            "line 4, column 63, `describe[3].variable.live[0]`: invalid length 2, expected a list of two pcs and a location",
        ),
        (
            with(r#"[[0, 4, {"register": "s999"}]]"#),
            "line 4, column 83, `describe[3].variable.live[0][2].register`: the target has no register `s999` (amdgpu-gfx1030-wave32)",
        ),
        (
            with(r#"[[0, 4, {"lane": ["v4"]}]]"#),
            "line 4, column 79, `describe[3].variable.live[0][2].lane`: invalid length 1, expected more operands",
        ),
        (
            with(r#"[[0, 4, {"lane": ["x4", 1]}]]"#),
            "line 4, column 80, `describe[3].variable.live[0][2].lane[0]`: the target has no register `x4`",
        ),
        (
            with(r#"[[0, 4, {"regster": "s4"}]]"#),
            "line 4, column 71, `describe[3].variable.live[0][2].regster`: unknown variant `regster`, expected one of `register`, `lane`, `per_lane`",
        ),
        (with(r#"[[0, 4, {}]]"#), "`describe[3].variable.live[0][2]`: a node has no key; expected one key"),
        (
            with(r#"[[0, 4, {"register": "s4", "lane": ["v4", 1]}]]"#),
            "`describe[3].variable.live[0][2]`: a node has the keys `register` and `lane`; expected one key",
        ),
        (
            with(r#"[[0, 4, {"memory": ["attic", 0]}]]"#),
            "`describe[3].variable.live[0][2].memory[0]`: the target has no address space `attic` (amdgpu-gfx1030-wave32)",
        ),
        (
            with(r#"[[0, 4, {"call": "p"}]]"#),
            "`describe[3].variable.live[0][2].call`: no procedure has the id or name `p` so far",
        ),
        (
            with(
                r#"[[0, 4, {"expr": {"bytes": "98 0000", "fixups": [{"offset": 1, "kind": {"entry": 4}, "entity": {"type": "int"}}]}}]]"#,
            ),
            "fix-up at offset 0x1 is past the end of the expression, which has 3 bytes",
        ),
        (with(r#"[[0, 4, {"expr": {"text": "melt"}}]]"#), "operation 0: unknown operation `melt`"),
        (
            with(r#"[[4, 8, {"register": "s4"}], [8, 12, {"lane": ["v4", 32]}]]"#),
            "line 4, column 91, `describe[3].variable.live[1]`, unit `a.cl`, function `f`, variable `n`, pc 0x8..0xc: lane 32 is out of range for a 32-lane wave",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in &cases {
        let found = refused(text);
        if !found.contains(expected) {
            wrong.push(format!("{text}\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_utf8_is_refused_with_its_position() {
    let mut bytes = SCALE.as_bytes().to_vec();
    bytes[30] = 0xff;
    let error = Module::from_json(&bytes).expect_err("no UTF-8");
    assert!(error.to_string().contains("line 3, column"), "{error}");
    assert_eq!(error.kind(), &ErrorKind::Malformed("the description is not UTF-8".into()));
}

/// The target may come last, because some programs sort keys.
#[test]
fn keys_may_come_in_any_order() {
    let sorted = serde_json::from_str::<serde_json::Value>(SCALE).expect("JSON").to_string();
    assert!(sorted.starts_with(r#"{"describe""#));
    assert!(
        Module::from_json(sorted).expect("a description") == Module::from_json(SCALE).expect("a description")
    );
    let late = with(r#"[[0, 4, {"lane": ["v4", 32]}]]"#);
    let late = late
        .replace(r#""eitri": 1, "target": "amdgpu-gfx1030-wave32", "#, "")
        .replace("\n]}", "\n], \"eitri\": 1, \"target\": \"amdgpu-gfx1030-wave32\"}");
    assert!(refused(&late).contains("`describe[3].variable.live[0]`"), "{}", refused(&late));
}

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, inner: &str, close: &str, count: usize| {
        with(&format!("[[0, 4, {}{inner}{}]]", open.repeat(count), close.repeat(count)))
    };
    for count in [200, 100_000] {
        for (open, inner, close) in [
            (r#"{"offset": ["#, "\"undefined\"", ", 1]}"),
            (r#"{"parts": [["#, "\"undefined\"", ", 32]]}"),
            (r#"{"value": {"read": ["#, "\"undefined\"", ", 32]}}"),
        ] {
            let error = refused(&deep(open, inner, close, count));
            assert!(error.contains("location has 129 levels; expected at most 128"), "{error}");
            // The position stays readable.
            let (start, end) = error.split_once('…').expect("the path is not all there");
            assert!(start.contains("`describe[3].variable.live[0][2]."), "{error}");
            assert!(end.contains("[0]`: ") && error.len() < 250, "{error}");
        }
        for open in ["[", r#"{"a": "#] {
            let close = if open == "[" { "]" } else { "}" };
            let text = with(&format!("{}1{}", open.repeat(count), close.repeat(count)));
            refused(&text);
            refused(&open.repeat(count));
        }
    }
    // The greatest depth that the builder allows.
    assert!(Module::from_json(deep(r#"{"offset": ["#, "\"undefined\"", ", 1]}", 127)).is_ok());
}

#[test]
fn every_beginning_of_a_description_is_refused() {
    let text = SCALE.trim_end();
    for end in 0..text.len() {
        let error = Module::from_json(&text[..end]).expect_err("there is more");
        assert!(error.at().json.is_some(), "{error}");
        assert_eq!(error.kind(), &ErrorKind::Truncated("the description".into()), "{end}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// A changed description is read or refused, without a panic.
    #[test]
    fn changed_descriptions_never_panic(changes in prop::collection::vec((any::<usize>(), any::<u8>(), 0..4u8), 1..6)) {
        const PIECES: [&[u8]; 8] =
            [b"\"", b"{", b"]", b",", b"18446744073709551615", b"-1", b"null", b"\"undefined\""];
        let mut text = SCALE.as_bytes().to_vec();
        for (at, byte, how) in changes {
            let at = at % text.len();
            match how {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                2 => text.insert(at, byte),
                _ => drop(text.splice(at..at + 1, PIECES[usize::from(byte) % 8].iter().copied())),
            }
        }
        if let Err(error) = Module::from_json(&text) {
            prop_assert!(error.at().json.is_some(), "{}", error);
        }
    }
}

/// Wrong references have kinds, by which a program can react.
#[test]
fn wrong_references_have_kinds() {
    let refused = |statements: &str| {
        let text = format!(
            r#"{{"eitri": 1, "target": "x86_64", "describe": [{{"unit": {{"name": "a"}}}}, {statements}]}}"#
        );
        Module::from_json(text).expect_err("a wrong reference").kind().clone()
    };
    let kind = Named::Described("scope");
    let name = String::from("a");
    assert_eq!(
        refused(r#"{"namespace": {"in": "b"}}"#),
        ErrorKind::UnknownName { kind: kind.clone(), name: "b".into(), nearest: vec!["a".into()] }
    );
    assert_eq!(
        refused(r#"{"unit": {"name": "a"}}, {"namespace": {"in": "a"}}"#),
        ErrorKind::AmbiguousName { kind, name, candidates: Vec::new() }
    );
    assert_eq!(
        refused(r#"{"unit": {"name": "b", "id": "u"}}, {"unit": {"name": "c", "id": "u"}}"#),
        ErrorKind::DuplicateName { kind: Named::Described("unit"), name: "u".into() }
    );
}
