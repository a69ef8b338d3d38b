//! Right objects that `check` once rejected.

use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Module;

fn is_right(consumer: &Consumer, statements: &str) {
    is_right_on("x86_64", consumer, statements);
}

fn is_right_on(target: &str, consumer: &Consumer, statements: &str) {
    let text = format!(r#"{{"eitri": 1, "target": "{target}", "describe": [{statements}]}}"#);
    let module = Module::from_json(text).unwrap_or_else(|error| panic!("{statements}: {error}"));
    let written = lower(&module, consumer, Policy::Partial).unwrap();
    let code = ObjectCode::text(vec![0; 0x80]).with_function("k", 0, 0x40).with_function("other", 0x40, 0x40);
    let object = new_object(module.target(), &code, &written.sections).unwrap();
    let report = eitri::check(&module, consumer, &written.omissions, &object).unwrap();
    let name = &consumer.name;
    assert!(report.is_clean(), "{name} {}: {statements}: {report}", consumer.version);
}

fn all_versions(statements: &str) {
    for version in 2..=5 {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        is_right(&consumer, statements);
    }
}

/// Before DWARF 5, an empty name ends the list of directories.
#[test]
fn a_file_in_a_directory_without_a_name() {
    for directory in [r#"{"describe_unit": {"unit": "a.c", "directory": "/src"}},"#, ""] {
        for name in ["", ".", "/src"] {
            all_versions(&format!(
                r#"{{"unit": {{"name": "a.c", "language": "C"}}}}, {directory}
                {{"file": {{"unit": "a.c", "name": "b.h", "directory": "{name}", "id": "x"}}}},
                {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "k", "bytes": 64}}}}}},
                {{"rows": {{"function": "f", "rows": [[0, "x", 2]]}}}}"#
            ));
        }
    }
}

/// Functions `f` and `g`, where `g` starts `behind` bytes after `f`, and the listed frames, each with its own CFA.
fn functions(behind: u64, frames: &[(&str, u64)]) -> String {
    let bytes = |name: &str| if name == "f" { 64 } else { 64 - 2 * behind };
    let function = |name, offset| {
        let code = format!(r#"{{"symbol": "k", "offset": {offset}, "bytes": {}}}"#, bytes(name));
        format!(r#", {{"function": {{"in": "a.c", "name": "{name}", "code": {code}}}}}"#)
    };
    let frame = |&(name, by): &(&str, u64)| {
        let end = bytes(name);
        format!(
            r#", {{"frame": {{"function": "{name}", "rules": [
            [0, {end}, "cfa", {{"memory": ["default", {{"plus": [{{"register": "rsp"}}, {by}]}}]}}],
            [0, {end}, "rip", {{"offset": ["cfa", -8]}}]]}}}}"#
        )
    };
    let unit = r#"{"unit": {"name": "a.c", "language": "C"}}"#;
    let frames: String = frames.iter().map(frame).collect();
    format!("{unit}{}{}{frames}", function("f", 0), function("g", behind))
}

/// Aliases, functions that a linker folds, and a function within another.
#[test]
fn frames_of_functions_that_share_code() {
    for behind in [0, 16] {
        for frames in [&[("f", 8)][..], &[("g", 8)], &[("f", 8), ("g", 8)], &[("f", 8), ("g", 16)]] {
            for mut consumer in [Consumer::dwarf5(), Consumer::llvm()] {
                is_right(&consumer, &functions(behind, frames));
                consumer.frames.eh_frame = true;
                is_right(&consumer, &functions(behind, frames));
            }
        }
    }
}

/// Outside of functions the stack base is unknown, so that neither the procedure nor its first bits can be read.
#[test]
fn a_procedure_of_which_the_first_bits_have_a_meaning() {
    let mut consumer = Consumer::llvm();
    for shared in [None, Some(16)] {
        consumer.expressions.shared_from_bytes = shared;
        let parts = r#"{"parts": [[{"register": "s4"}, 32], [{"stack_slot": 8}, 32]]}"#;
        let statements = format!(
            r#"{{"unit": {{"name": "a.cl", "language": "OpenCL"}}}}, {{"procedure": {{"unit": "a.cl", "id": "p", "loc": {parts}}}}}"#
        );
        is_right_on("amdgpu-gfx900-wave64", &consumer, &statements);
    }
}

/// The first bits of an entry equal a complete procedure, but the entry belongs to another one.
#[test]
fn a_procedure_whose_first_bits_are_another_one() {
    let procedure = |id, loc| format!(r#", {{"procedure": {{"unit": "a.cl", "id": "{id}", "loc": {loc}}}}}"#);
    let all = procedure("all", r#""undefined""#);
    let some = procedure("some", r#"{"parts": [["undefined", 8]]}"#);
    for procedures in [format!("{all}{some}"), format!("{some}{all}")] {
        let statements = format!(r#"{{"unit": {{"name": "a.cl", "language": "OpenCL"}}}}{procedures}"#);
        is_right_on("amdgpu-gfx900-wave64", &Consumer::llvm(), &statements);
    }
}

/// Base classes, and regions of lanes, whose raw expressions only some consumers have.
#[test]
fn raw_expressions_of_other_dialects_are_omitted() {
    let raw = |text: &str| format!(r#"{{"text": "{text}", "dialect": "llvm"}}"#);
    let class = format!(
        r#"{{"unit": {{"name": "a.cc"}}}}, {{"structure": {{"unit": "a.cc", "name": "A", "bytes": 4}}}},
        {{"structure": {{"unit": "a.cc", "name": "B", "bytes": 16}}}},
        {{"base": {{"unit": "a.cc", "of": "B", "type": "A", "virtual": {}}}}}"#,
        raw("deref; offset")
    );
    let lanes = |pcs: &str, mask: &str| {
        format!(
            r#"{{"unit": {{"name": "a.cl"}}}},
            {{"function": {{"in": "a.cl", "name": "f", "code": {{"symbol": "k", "bytes": 64}}, "kernel": true}}}},
            {{"region": {{"in": "f", "kind": "switch", "pcs": {pcs}, "waits_at": 56, "masks": [[0, 64, {mask}]]}}}}"#
        )
    };
    let register = r#"{"register": "s10"}"#.to_owned();
    let masks = [register, format!(r#"{{"expr": {}}}"#, raw("regx s10; lit0; offset"))];
    let kernels = ["[16, 40]", "[0, 64]"].map(|pcs| masks.each_ref().map(|mask| lanes(pcs, mask)));
    for version in 2..=5 {
        for mut consumer in crate::sabotage::waves::consumers().into_iter().chain([Consumer::dwarf5()]) {
            consumer.version = version;
            is_right(&consumer, &class);
            for statements in kernels.iter().flatten() {
                is_right_on("amdgpu-gfx1030-wave32", &consumer, statements);
            }
        }
    }
}
