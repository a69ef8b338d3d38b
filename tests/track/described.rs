//! Statements about code in JSON are the same as calls.

use eitri::json::locate;
use eitri::model::Module;
use eitri::track::{CodeEffects, Keep};
use serde_json::{Value, json};

use super::program::{At, BYTES, Op, Program, Source, Stated, blocks};
use super::random;

fn place(at: At) -> Value {
    match at {
        At::Scalar(n) => json!({"register": format!("s{n}")}),
        At::Row(n) => json!({"per_lane": format!("v{n}")}),
        At::Slot(n) => json!({"stack_slot": 4 * n}),
        At::Lane(n, lane) => json!({"lane": [format!("v{n}"), lane]}),
        At::Constant(_) => panic!("a constant is no place"),
    }
}

fn value(source: &Source) -> String {
    match source {
        Source::Value(name) => name.clone(),
        Source::Constant(bits) => format!("#{bits}"),
        _ => panic!("a value or a constant"),
    }
}

/// The description of a program.
fn described(program: &Program) -> String {
    let blocks = blocks(program);
    let mut edges = Vec::new();
    let mut wave_edges = Vec::new();
    for (from, pcs) in blocks.iter().enumerate() {
        for (to, is_empty) in program.next(pcs.end - BYTES) {
            let to = blocks.iter().position(|pcs| pcs.start == to).expect("a block begins there");
            if is_empty { wave_edges.push((from, to)) } else { edges.push((from, to)) }
        }
    }
    let mut exec = vec![];
    let mut instructions = vec![];
    let mut values = vec![];
    let mut names = vec![];
    let is_whole = program.is_whole();
    for ((pc, (op, more)), is_whole) in (0..).step_by(BYTES as usize).zip(&program.code).zip(is_whole) {
        let pcs = json!([pc, pc + BYTES]);
        let effect = match op {
            Op::Define(to, name) => {
                values.push(json!({"id": name, "bits": 32}));
                Some(("define", json!([[name, to.iter().map(|&at| place(at)).collect::<Vec<_>>()]])))
            }
            Op::Redefine(to, source) => Some(("redefine", json!([[value(source), [place(*to)]]]))),
            Op::Copy(to, from) => {
                let key = if from.is_row() && !to.is_row() { "copy_uniform" } else { "copy" };
                Some((key, json!([[[place(*from)], [place(*to)]]])))
            }
            Op::Clobber(to) => Some(("clobber", to.iter().map(|&at| place(at)).collect())),
            Op::Save(_) if !more.is_empty() => Some(("clobber", more.iter().map(|&at| place(at)).collect())),
            _ => None,
        };
        if let Some((key, operands)) = effect {
            instructions.push(json!({"pcs": pcs, key: operands, "all_lanes": is_whole}));
        }
        let write = match op {
            Op::Save(mask) => ("save", mask),
            Op::And(mask) => ("and", mask),
            Op::AndNot(mask) => ("and_not", mask),
            Op::Else(mask) => ("else", mask),
            Op::Restore(mask) => ("restore", mask),
            _ => continue,
        };
        exec.push(json!([pc, pc + BYTES, {write.0: format!("mask {}", write.1)}]));
    }
    for bits in 0..2u32 {
        let bytes: String = bits.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        values.push(json!({"id": format!("#{bits}"), "constant": bytes}));
    }
    let assign = program.assigns.iter().map(|(pc, variable, source)| match source {
        Source::Contents(at) => json!({"at": pc, "variable": variable, "contents": [place(*at)]}),
        Source::Nothing => json!({"at": pc, "variable": variable}),
        other => json!({"at": pc, "variable": variable, "value": value(other)}),
    });
    let assign: Vec<Value> = assign.collect();
    for name in program.variables() {
        names.push(json!({"variable": {"in": "k", "name": name, "type": "int", "id": name}}));
    }
    let pcs: Vec<Value> = blocks.iter().map(|pcs| json!([pcs.start, pcs.end])).collect();
    let mut describe = vec![
        json!({"unit": {"name": "a.cl"}}),
        json!({"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}),
        json!({"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": program.pc()}, "kernel": true}}),
    ];
    describe.extend(names);
    describe.push(json!({"code": {"function": "k", "blocks": pcs, "edges": edges, "wave_edges": wave_edges,
        "exec": exec, "values": values, "instructions": instructions, "assign": assign}}));
    json!({"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": describe}).to_string()
}

#[test]
fn statements_in_json_are_the_calls() {
    for seed in 0..120 {
        let program = random::program(seed, 5);
        let text = described(&program);
        let mut stated = Stated::new(&program);
        let (module, all) =
            CodeEffects::from_json(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let [code] = &all[..] else { panic!("one statement") };
        let one = code.track().expect("the code fits");
        let two = stated.code.track().expect("the code fits");
        for (name, &id) in &stated.variables {
            for pc in (0..program.pc()).step_by(BYTES as usize) {
                let one = one.places_at(id, pc);
                let two = two.places_at(id, pc);
                assert_eq!(one.expect("known"), two.expect("known"), "seed {seed}: {name} at {pc:#x}");
            }
        }
        assert_eq!(one.check(&module).claimed, 0);
        // The locations are those of the calls.
        two.describe(&mut stated.builder, Keep::All).expect("locations");
        let located = locate(&text, Keep::All).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let module = Module::from_json(&located.text).expect("a description");
        assert_eq!(module, stated.builder.finish().expect("a module"), "seed {seed}");
        let (_, again) = CodeEffects::from_json(&located.text).expect("a description");
        let report = again[0].track().expect("the code fits").check(&module);
        assert!(report.is_sound() && report.missed.is_empty(), "seed {seed}: {report}");
    }
}

/// No text panics: neither a part of a description nor one with a value of another type.
#[test]
fn wrong_texts_are_refused() {
    let text = described(&random::program(7, 4));
    for end in 0..text.len() {
        assert!(locate(&text[..end], Keep::All).is_err(), "{end} bytes");
    }
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let describe = whole["describe"].as_array().expect("statements");
    let code = describe.last().expect("the code")["code"].as_object().expect("an object");
    let mut refused = 0;
    for key in code.keys() {
        for other in [
            json!(null),
            json!(7),
            json!("x"),
            json!([7]),
            json!([["x"]]),
            json!({"x": 1}),
            json!([[1, 2, 3]]),
        ] {
            let mut wrong = whole.clone();
            wrong["describe"][describe.len() - 1]["code"][key] = other.clone();
            match locate(wrong.to_string(), Keep::All) {
                Err(error) => {
                    assert!(
                        error.to_string().contains("describe"),
                        "{key} {other}: without a place: {error}"
                    );
                    refused += 1;
                }
                Ok(_) => assert!(other.is_null(), "{key}: {other}"),
            }
        }
    }
    assert!(refused > 6 * code.len(), "{refused}");
}

/// References that nobody made, and statements that contradict each other.
#[test]
fn wrong_statements_are_refused_with_their_place() {
    let around = |code: &str| {
        format!(
            r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [{{"unit": {{"name": "a.cl"}}}},
            {{"base_type": {{"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}}},
            {{"function": {{"in": "a.cl", "name": "k", "code": {{"symbol": "k", "bytes": 32}}}}}},
            {{"variable": {{"in": "k", "name": "x", "type": "int", "id": "x"}}}},
            {{"code": {{"function": "k", "blocks": [[0, 32]], {code}}}}}]}}"#
        )
    };
    let refused = |code: &str| locate(around(code), Keep::All).expect_err("refused").to_string();
    let cases = [
        (r#""edges": [[0, 1]]"#, "block 1 of this code"),
        (
            r#""assign": [{"at": 0, "variable": "x", "value": "a"}]"#,
            "no value of this code has the id or name `a`",
        ),
        (r#""assign": [{"at": 0, "variable": "y"}]"#, "`y`"),
        (r#""instructions": [{"pcs": [0, 4], "clobber": [{}]}]"#, "place has 0 keys for its storage"),
        (
            r#""instructions": [{"pcs": [0, 4], "clobber": [{"own": "p"}]}]"#,
            "no place of this code has the id or name `p`",
        ),
        (
            r#""instructions": [{"pcs": [0, 8]}, {"pcs": [4, 8]}]"#,
            "pc 0x4..0x8, block 0x0..0x20: instruction overlaps 0x0..0x8",
        ),
        (r#""values": [{"id": "a"}]"#, "value `a` has an invalid combination of keys"),
        (
            r#""values": [{"id": "a", "bits": 1}, {"id": "a", "bits": 1}]"#,
            "another value of this code has the id `a`",
        ),
        (
            r#""values": [{"id": "a", "bits": 64}], "entry": [["a", [{"register": "s4"}]]]"#,
            "block 0x0..0x20, s4: the value",
        ),
        (r#""exec": [[0, 4, {"and": "m"}]]"#, "mask"),
        (r#""homes": [[4, 4, "x", {"stack_slot": 0}]]"#, "pc 0x4..0x4"),
    ];
    for (code, what) in cases {
        let message = refused(code);
        assert!(message.contains(what) && message.contains("describe[4]"), "{code}: {message}");
    }
    let twice = around(r#""edges": []"#)
        .replace(r#"{"variable":"#, r#"{"code": {"function": "k", "blocks": []}}, {"variable":"#);
    let message = locate(twice, Keep::All).expect_err("refused").to_string();
    assert!(message.contains("has a second statement `code`"), "{message}");
    let placed = around(r#""assign": [{"at": 0, "variable": "x"}]"#)
        .replace(r#""id": "x"}"#, r#""id": "x", "always": {"register": "s4"}}"#);
    let message = locate(placed, Keep::All).expect_err("refused").to_string();
    assert!(message.contains("`x` already has locations"), "{message}");
    let none = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": []}"#;
    assert!(
        locate(none, Keep::All)
            .expect_err("refused")
            .to_string()
            .contains("description has no statement `code`")
    );
}
