//! Variables as structures are those that the same statements in JSON describe.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

use eitri_c::*;

const STATEMENTS: &str = r#"[{"unit": {"name": "a.cl"}},
    {"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
    {"base_type": {"unit": "a.cl", "name": "long", "encoding": "signed", "bits": 64}},
    {"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}, "kernel": true}}]"#;
const OK: eitri_result = eitri_result::EITRI_OK;

fn node(kind: u32, number: u64, other: i64) -> eitri_node {
    eitri_node { kind, number, other }
}

/// A description with the statements.
fn described() -> *mut eitri_description {
    let mut description = null_mut();
    // SAFETY: texts and places are there.
    unsafe {
        assert_eq!(
            eitri_description_new(c"amdgpu-gfx1030-wave32".as_ptr(), &raw mut description, null_mut()),
            OK
        );
    }
    add(description, STATEMENTS);
    description
}

fn add(description: *mut eitri_description, text: &str) {
    // SAFETY: the text is there, and the description lives.
    let added = unsafe { eitri_description_add(description, text.as_ptr().cast(), text.len(), null_mut()) };
    assert_eq!(added, OK);
}

fn register(description: *mut eitri_description, name: &CStr) -> u64 {
    let mut number = 0;
    // SAFETY: texts and places are there.
    let found =
        unsafe { eitri_description_register(description, name.as_ptr(), &raw mut number, null_mut()) };
    assert_eq!(found, OK, "{name:?}");
    number
}

/// A variable of `k` with a type, and without anything else.
fn variable(name: &CStr, ty: &CStr) -> eitri_variable {
    eitri_variable {
        size: size_of::<eitri_variable>(),
        scope: c"k".as_ptr(),
        name: name.as_ptr(),
        r#type: ty.as_ptr(),
        id: null(),
        is_parameter: 0,
        file: null(),
        line: 0,
        column: 0,
        always: null(),
        always_count: 0,
        live: null(),
        live_count: 0,
    }
}

fn live(start: u64, end: u64, nodes: &[eitri_node]) -> eitri_live {
    eitri_live { start, end, nodes: nodes.as_ptr(), nodes_count: nodes.len() }
}

/// Adds a variable; returns the error's message.
fn push(description: *mut eitri_description, variable: &eitri_variable) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the pointers in the structure are to local variables.
    let result = unsafe { eitri_description_variable(description, variable, &raw mut error) };
    if result == OK { Ok(()) } else { Err(message(error)) }
}

fn message(error: *mut eitri_error) -> String {
    // SAFETY: a text of the library.
    let text = unsafe { CStr::from_ptr(eitri_error_message(error)) }.to_str().expect("UTF-8").to_owned();
    eitri_error_free(error);
    text
}

/// The module as JSON; or the error's message.
fn finished(description: *mut eitri_description) -> Result<String, String> {
    let (mut module, mut json, mut error) = (null_mut(), null_mut(), null_mut());
    // SAFETY: handles and places are there.
    unsafe {
        if eitri_description_finish(description, &raw mut module, &raw mut error) != OK {
            return Err(message(error));
        }
        assert_eq!(eitri_module_to_json(module, &raw mut json, null_mut()), OK);
        let (data, size) = (eitri_buffer_data(json).cast::<u8>(), eitri_buffer_size(json));
        let text = String::from_utf8(std::slice::from_raw_parts(data, size).to_vec()).expect("UTF-8");
        eitri_buffer_free(json);
        eitri_module_free(module);
        Ok(text)
    }
}

/// Every kind of node, as a structure and in JSON. Between the variables are statements that refer to one.
#[test]
fn structures_and_json_describe_equal_modules() {
    let [structures, json] = [described(), described()];
    let [s4, s5, v3, v40, exec] =
        [c"s4", c"s5", c"v3", c"v40", c"exec"].map(|name| register(structures, name));
    let read = |register| node(EITRI_NODE_READ_REGISTER, register, 0);
    let constant = |value| node(EITRI_NODE_CONSTANT, value, 0);
    let value = node(EITRI_NODE_VALUE, 0, 0);
    let cases: [(&CStr, Vec<eitri_node>, &str); 20] = [
        (c"int", vec![node(EITRI_NODE_REGISTER, s4, 0)], r#"{"register": "s4"}"#),
        (c"int", vec![node(EITRI_NODE_PER_LANE, v3, 0)], r#"{"per_lane": "v3"}"#),
        (c"int", vec![node(EITRI_NODE_LANE, v40, 7)], r#"{"lane": ["v40", 7]}"#),
        (c"int", vec![node(EITRI_NODE_STACK_SLOT, 0, 16)], r#"{"stack_slot": 16}"#),
        (c"int", vec![constant(4096), node(EITRI_NODE_MEMORY, 1, 0)], r#"{"memory": [1, 4096]}"#),
        (
            c"int",
            vec![constant(64), node(EITRI_NODE_MEMORY, 3, 0), node(EITRI_NODE_OFFSET, 0, 8)],
            r#"{"offset": [{"memory": [3, 64]}, 8]}"#,
        ),
        (c"int", vec![node(EITRI_NODE_CFA, 0, 0)], r#""cfa""#),
        (
            c"long",
            vec![
                node(EITRI_NODE_REGISTER, s4, 0),
                node(EITRI_NODE_PART, 32, 0),
                node(EITRI_NODE_UNDEFINED, 0, 0),
                node(EITRI_NODE_PART, 32, 0),
                node(EITRI_NODE_PARTS, 2, 0),
            ],
            r#"{"parts": [[{"register": "s4"}, 32], ["undefined", 32]]}"#,
        ),
        (c"int", vec![constant(u64::MAX), value], r#"{"value": "0xffffffffffffffff"}"#),
        (c"long", vec![read(exec), value], r#"{"value": {"register": "exec"}}"#),
        (
            c"int",
            vec![node(EITRI_NODE_LANE, v40, 8), node(EITRI_NODE_READ, 16, 0), value],
            r#"{"value": {"read": [{"lane": ["v40", 8]}, 16]}}"#,
        ),
        (
            c"int",
            vec![read(s4), node(EITRI_NODE_PLUS, 0, -8), value],
            r#"{"value": {"plus": [{"register": "s4"}, -8]}}"#,
        ),
        (
            c"int",
            vec![read(s4), read(s5), node(EITRI_NODE_ADD, 0, 0), value],
            r#"{"value": {"add": [{"register": "s4"}, {"register": "s5"}]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_SUB, 0, 0), value],
            r#"{"value": {"sub": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_MUL, 0, 0), value],
            r#"{"value": {"mul": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_AND, 0, 0), value],
            r#"{"value": {"and": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_OR, 0, 0), value],
            r#"{"value": {"or": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_XOR, 0, 0), value],
            r#"{"value": {"xor": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_SHL, 0, 0), value],
            r#"{"value": {"shl": [{"register": "s4"}, 3]}}"#,
        ),
        (
            c"int",
            vec![read(s4), constant(3), node(EITRI_NODE_SHR, 0, 0), value],
            r#"{"value": {"shr": [{"register": "s4"}, 3]}}"#,
        ),
    ];
    for (index, (ty, nodes, location)) in cases.iter().enumerate() {
        let (name, id) = (format!("x{index}"), format!("#{index}"));
        let [c_name, c_id] = [&name, &id].map(|text| CString::new(text.as_str()).expect("no NUL"));
        let ranges = [live(0, 8, nodes), live(8, 0x20, nodes)];
        let mut made = variable(&c_name, ty);
        (made.id, made.is_parameter) = (c_id.as_ptr(), u8::from(index % 2 == 1));
        let declared = if index % 3 == 0 {
            (made.file, made.line, made.column) = (c"a.cl".as_ptr(), 5, 2);
            r#", "declared": ["a.cl", 5, 2]"#
        } else {
            ""
        };
        let is_always = index % 4 == 2;
        let locations = if is_always {
            (made.always, made.always_count) = (nodes.as_ptr(), nodes.len());
            format!(r#""always": {location}"#)
        } else {
            (made.live, made.live_count) = (ranges.as_ptr(), ranges.len());
            format!(r#""live": [[0, 8, {location}], [8, 32, {location}]]"#)
        };
        push(structures, &made).expect("a right variable");
        let statement = if made.is_parameter != 0 { "parameter" } else { "variable" };
        let ty = ty.to_str().expect("UTF-8");
        add(
            json,
            &format!(
                r#"{{"{statement}": {{"in": "k", "name": "{name}", "type": "{ty}", "id": "{id}", {locations}{declared}}}}}"#
            ),
        );
        // A statement after the variable finds it.
        let later = format!(r#"{{"describe_variable": {{"variable": "{id}", "artificial": true}}}}"#);
        add(structures, &later);
        add(json, &later);
    }
    let expected = finished(json).expect("a module");
    assert_eq!(finished(structures).expect("a module"), expected);
    // It stays, and can be finished again.
    assert_eq!(finished(structures).expect("a module"), expected);
    eitri_description_free(structures);
    eitri_description_free(json);
}

/// A mistake that the structure alone shows is an error of the call. Other mistakes are errors at the end, which name the
/// variable.
#[test]
fn wrong_variables_are_refused() {
    let description = described();
    let right = [node(EITRI_NODE_REGISTER, register(description, c"s4"), 0)];
    let at_call = [
        (
            eitri_variable { size: 3, ..variable(c"x", c"int") },
            "`variable` has the size 3; expected sizeof(eitri_variable)",
        ),
        (eitri_variable { scope: null(), ..variable(c"x", c"int") }, "`scope` is NULL"),
        (eitri_variable { r#type: null(), ..variable(c"x", c"int") }, "`type` is NULL"),
        (eitri_variable { live_count: 1, ..variable(c"x", c"int") }, "`live` is NULL, and its size is 1"),
        (eitri_variable { name: c"\xff".as_ptr(), ..variable(c"x", c"int") }, "`name` is not UTF-8"),
        (
            eitri_variable { line: 42, column: 7, ..variable(c"x", c"int") },
            "`file` is NULL, `line` is 42 and `column` is 7; expected a file",
        ),
    ];
    for (wrong, expected) in at_call {
        let said = push(description, &wrong).expect_err(expected);
        assert!(said.contains(expected), "{said}");
    }
    for (wrong, expected) in [
        (node(31, 0, 0), "node 1 of `always` has the kind 31; expected EITRI_NODE_REGISTER or another kind"),
        (node(EITRI_NODE_LANE, 0, -1), "node 1 of `always` has the lane -1; expected 0 or more"),
        (node(EITRI_NODE_MEMORY, 1 << 32, 0), "has the space 4294967296; expected less than 2^32"),
        (node(EITRI_NODE_REGISTER, 0, 99), "node 1 of `always` has 99 in `other`; expected 0 for its kind"),
        (node(EITRI_NODE_PLUS, 5, 0), "has 5 in `number`; expected 0 for its kind"),
        (node(EITRI_NODE_ADD, 0, -1), "has -1 in `other`; expected 0 for its kind"),
    ] {
        let nodes = [right[0], wrong];
        let always = (nodes.as_ptr(), nodes.len());
        let made = eitri_variable { always: always.0, always_count: always.1, ..variable(c"x", c"int") };
        let said = push(description, &made).expect_err(expected);
        assert!(said.contains(expected), "{said}");
    }
    for (nodes, expected) in [
        (&[right[0], right[0]][..], "the nodes are 2 locations or numbers; expected one location"),
        (&[node(EITRI_NODE_VALUE, 0, 0)], "operand of node 0 is nothing; expected a number"),
        (&[], "the nodes are 0 locations or numbers; expected one location"),
    ] {
        let ranges = [live(0, 8, &right), live(8, 12, nodes)];
        let made = eitri_variable { live: ranges.as_ptr(), live_count: 2, ..variable(c"x", c"int") };
        let said = push(description, &made).expect_err(expected);
        assert_eq!(said, format!("variable `x`, pc 0x8..0xc: {expected}"));
    }
    // Nothing of a refused variable stays.
    let empty = finished(description).expect("a module");
    assert!(!empty.contains("\"x\""), "{empty}");
    eitri_description_free(description);

    let at_end: [(eitri_variable, &[eitri_live], &str); 4] = [
        (
            variable(c"x", c"itn"),
            &[live(0, 8, &right)],
            "`variables[1]` of `x`: no type of this unit has the id or name `itn` so far; did you mean `int`?",
        ),
        (
            variable(c"x", c"int"),
            &[live(8, 8, &right)],
            "`variables[1]`, unit `a.cl`, function `k`, variable `x`, pc 0x8..0x8: range does not end after its start",
        ),
        // Found when all is there.
        (
            variable(c"x", c"int"),
            &[live(0, 8, &right), live(4, 12, &right)],
            "`variables[1]`, unit `a.cl`, function `k`, variable `x`, pc 0x4..0xc: live range overlaps 0x0..0x8",
        ),
        (
            variable(c"x", c"int"),
            &[live(0, 0x80, &right)],
            "`variables[1]`, unit `a.cl`, function `k`, variable `x`, pc 0x0..0x80: range is outside the function, which has 0x40 bytes",
        ),
    ];
    for (wrong, ranges, expected) in at_end {
        let description = described();
        push(description, &variable(c"before", c"int")).expect("a right variable");
        let made = eitri_variable { live: ranges.as_ptr(), live_count: ranges.len(), ..wrong };
        push(description, &made).expect("it is read at the end");
        let said = finished(description).expect_err(expected);
        assert!(said.starts_with(expected), "{said}\n{expected}");
        eitri_description_free(description);
    }

    let mut number = 0;
    let mut error = null_mut();
    let description = described();
    // SAFETY: texts and places are there.
    let found = unsafe {
        let name: *const c_char = c"v400".as_ptr();
        eitri_description_register(description, name, &raw mut number, &raw mut error)
    };
    assert_eq!(found, eitri_result::EITRI_ERROR);
    assert!(message(error).contains("`v400`"));
    eitri_description_free(description);
}
