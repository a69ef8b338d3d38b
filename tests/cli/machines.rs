//! Machine files and vectors in the notation of descriptions: registers and spaces by name, a target as a string,
//! plain numbers.

use eitri::conform::{VectorFile, VectorMachine};
use eitri::op::Reg;
use eitri::target::Target;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Folder, root, run};

/// Pairs of a machine with numbers and the same machine in the notation of descriptions.
const PAIRS: [(&str, &str); 9] = [
    (
        r#""machine": {"registers": {"36": "01 02 03 04"}}"#,
        r#""machine": {"registers": {"s4": "01 02 03 04"}}"#,
    ),
    (r#""machine": {"pc": "0x2a"}"#, r#""machine": {"pc": 42}"#),
    (r#""machine": {"cfa": "0x2a", "tls": "0x10"}"#, r#""machine": {"cfa": 42, "tls": 16}"#),
    (r#""machine": {"load_bias": "0x7000"}"#, r#""machine": {"load_bias": 28672}"#),
    (r#""machine": {"object": "reg:1539+8"}"#, r#""machine": {"object": "reg:v3+8"}"#),
    (r#""machine": {"object": "mem:5:0x10@3"}"#, r#""machine": {"object": "mem:private_lane:0x10@3"}"#),
    (
        r#""machine": {"memory": [{"space": 5, "address": "0x10", "bytes": "01", "lane": 2}]}"#,
        r#""machine": {"memory": [{"space": "private_lane", "address": 16, "bytes": "01", "lane": 2}]}"#,
    ),
    (
        r#""machine": {"callers": [{"pc": "0x40", "registers": {"36": "reg:1539+224"}}]}"#,
        r#""machine": {"callers": [{"pc": 64, "registers": {"s4": "reg:v3+224"}}]}"#,
    ),
    (
        r#""machine": {}, "stops": [{"registers": {"1": "0f"}}]"#,
        r#""machine": {}, "stops": [{"registers": {"exec": "0f"}}]"#,
    ),
];

#[test]
fn machines_take_the_words_of_descriptions() {
    for (numbers, words) in PAIRS {
        let numbers = format!("{{\"target\": {{\"name\": \"amdgpu-gfx1030-wave32\"}}, {numbers}}}");
        let words = format!("{{\"target\": \"amdgpu-gfx1030-wave32\", {words}}}");
        let read = |text: &str| {
            VectorMachine::with_target(text, None, None).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(read(&words), read(&numbers), "{words}");
    }
    // A target described in a file has the names given there.
    let layout = r#"{"name": "generic", "address_size": 4, "offset_size": 4, "endian": "little",
        "registers": [{"dwarf": 7, "name": "acc", "bits": 32}, {"dwarf": 8, "name": "7", "bits": 32}],
        "spaces": [{"id": 2, "name": "heap", "address_bits": 16, "per": "process"}]}"#;
    let read = |machine: &str| {
        let text = format!("{{\"target\": {layout}, \"machine\": {machine}}}");
        VectorMachine::with_target(text, None, None).map(|(machine, _)| machine)
    };
    let words = read(r#"{"registers": {"acc": "01"}, "object": "mem:heap:16"}"#).expect("names of the file");
    assert_eq!(words, read(r#"{"registers": {"7": "01"}, "object": "mem:2:0x10"}"#).expect("numbers"));
    // One register under two keys.
    let twice = read(r#"{"registers": {"acc": "01", "0x7": "02"}}"#).unwrap_err().to_string();
    assert!(twice.contains("register 7 occurs twice"), "{twice}");
    let unknown = read(r#"{"registers": {"acx": "01"}}"#).unwrap_err().to_string();
    assert!(unknown.contains("the target has no register `acx`; did you mean `acc`?"), "{unknown}");
}

/// Keys whose values are addresses, offsets and pcs.
const ADDRESSES: [&str; 13] = [
    "pc",
    "cfa",
    "tls",
    "load_bias",
    "base_address",
    "unit",
    "address",
    "start",
    "end",
    "length",
    "entry",
    "debug_addr",
    "space",
];

/// A location with register names.
fn location_in_words(text: &str, target: &Target) -> String {
    let mut parts = text.split("reg:");
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|char: char| !char.is_ascii_digit()).unwrap_or(part.len());
        let reg = part[..end].parse().ok().map(Reg);
        let name = reg.and_then(|reg| Some(target.register(reg)?.name().to_string()));
        words += &format!("reg:{}{}", name.unwrap_or_else(|| part[..end].into()), &part[end..]);
    }
    words
}

/// Rewrites a file in the notation of descriptions: registers by name, numbers without quotes, a target as its name.
fn in_words(value: &mut Value, key: &str, target: &mut Option<Target>) {
    match value {
        Value::Object(object) => {
            if key == "target" && object.get("name").is_some() {
                *target = object["name"].as_str().and_then(|name| Target::named(name).ok());
            }
            if let Some(Value::Object(own)) = object.get("target")
                && own.contains_key("name")
            {
                *target = own["name"].as_str().and_then(|name| Target::named(name).ok());
            }
            if key == "registers"
                && let Some(target) = target
            {
                let named = |key: &String| {
                    let number = Reg(key.parse().ok()?);
                    Some(target.register(number)?.name().to_string())
                };
                *object = std::mem::take(object)
                    .into_iter()
                    .map(|(key, value)| (named(&key).unwrap_or(key), value))
                    .collect();
            }
            if let ("written", Some(target)) = (key, &*target) {
                let renamed = std::mem::take(object).into_iter();
                *object = renamed.map(|(key, value)| (location_in_words(&key, target), value)).collect();
            }
            for (key, value) in object.iter_mut() {
                in_words(value, key, target);
            }
            if key == "target"
                && object.len() == 1
                && let Some(name) = object.get("name")
            {
                *value = name.clone();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| in_words(value, key, target)),
        Value::String(text) => {
            let digits = text.strip_prefix("0x").filter(|_| ADDRESSES.contains(&key));
            if let Some(number) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
                *value = json!(number);
            } else if let (Some(target), "location" | "object") = (&*target, key) {
                *value = location_in_words(text, target).into();
            }
        }
        _ => {}
    }
}

#[test]
fn vectors_have_the_same_meaning_as_text() {
    let mut count = 0;
    let mut changed = 0;
    for entry in std::fs::read_dir(root("goldens/conformance")).expect("the vectors") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        let Ok(numbers) = VectorFile::from_json(value.to_string()) else { continue };
        let whole = value["target"]["name"].as_str().and_then(|name| Target::named(name).ok());
        in_words(&mut value["target"], "target", &mut whole.clone());
        in_words(&mut value["machine"], "machine", &mut whole.clone());
        for vector in value["vectors"].as_array_mut().expect("the vectors") {
            // In a vector, a target without a name modifies that of the file.
            in_words(vector, "vector", &mut whole.clone());
        }
        if value["target"].is_null() {
            value.as_object_mut().expect("a file").remove("target");
        }
        if value["machine"].is_null() {
            value.as_object_mut().expect("a file").remove("machine");
        }
        let words = VectorFile::from_json(value.to_string())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (words, numbers) in words.vectors().zip(numbers.vectors()) {
            assert!(words == numbers, "{}: {}", path.display(), numbers.name);
            count += 1;
        }
        changed += usize::from(value != serde_json::from_str::<Value>(&text).expect("JSON"));
    }
    assert!(count > 1000 && changed > 20, "{count} vectors, {changed} files");
}

/// Replaces each value of a text by a value of every kind, and passes each result to `judge`.
fn with_every_value_replaced(text: &str, judge: &mut dyn FnMut(&str)) {
    fn places(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        found.push(path.clone());
        let mut inner = |key: String, value: &Value| {
            path.push(key);
            places(value, path, found);
            path.pop();
        };
        match value {
            Value::Object(object) => object.iter().for_each(|(key, value)| inner(key.clone(), value)),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(index, value)| inner(index.to_string(), value));
            }
            _ => {}
        }
    }
    let whole: Value = serde_json::from_str(text).expect("JSON");
    let mut found = Vec::new();
    places(&whole, &mut Vec::new(), &mut found);
    for path in found {
        for other in [
            json!(5),
            json!(-1),
            json!(2.5),
            json!("word"),
            json!(true),
            json!([]),
            json!([5]),
            json!({}),
            json!({"word": 5}),
        ] {
            let mut changed = whole.clone();
            let mut at = &mut changed;
            for key in &path {
                at = match at {
                    Value::Array(list) => &mut list[key.parse::<usize>().expect("an index")],
                    object => &mut object[key],
                };
            }
            *at = other;
            judge(&changed.to_string());
        }
    }
}

/// Messages do not contain names of Rust types.
#[test]
fn messages_have_no_names_of_rust() {
    let mut count = 0;
    let mut judge = |error: Option<eitri::Error>| {
        count += 1;
        let Some(error) = error else { return };
        let message = error.to_string();
        for name in ["struct ", "enum ", "Text", "tuple", "newtype", "unit variant", "untagged"] {
            assert!(!message.contains(name), "{message}");
        }
    };
    let machine = r#"{"target": {"name": "generic", "address_size": 4, "offset_size": 4, "endian": "little", "version": 5,
        "registers": [{"dwarf": 7, "name": "acc", "bits": 32}],
        "spaces": [{"id": 2, "name": "heap", "address_bits": 16, "per": "process"}]},
        "machine": {"registers": {"7": "01"}, "memory": [{"space": 2, "address": "0x10", "bytes": "01"}], "lane": 0,
        "pc": "0x10", "frame": 0, "cfa": "0x20", "frame_base": {"expr": "50"}, "object": "reg:7", "debug_addr": ["0x10"],
        "callers": [{"pc": "0x10", "cfa": "0x30", "registers": {"7": "reg:7"}}],
        "initial_stack": [{"value": "0x1f"}, {"value": "2a00", "type": "signed/16"}, {"location": "reg:7"}],
        "types": {"0x2a": {"encoding": "signed", "bits": 32, "name": "int"}},
        "entries": {"0x40": {"loclist": [{"kind": "offset_pair", "start": "0x0", "end": "0x4", "expr": "50"}]}}},
        "stops": [{"pc": "0x14"}]}"#;
    with_every_value_replaced(machine, &mut |text| judge(VectorMachine::stops(text, None, None).err()));
    let vectors = r#"{"format": "eitri-vectors-1", "target": {"name": "x86_64"}, "vectors": [
        {"name": "a", "doc": "b", "spec": "c", "dialect": "dwarf6", "opcodes": {"offset": "0xac"}, "expr": "50",
        "result": "location", "where": "location", "read": 16, "write": "01 02",
        "expect": {"location": "reg:0", "bytes": "01 02", "why": "d", "written": {"reg:0": "01 02 00 00 00 00 00 00"}}},
        {"name": "e", "dialect": "dwarf5", "loclist": [{"kind": "default", "expr": "50"}],
        "expect": {"value": "0x1f", "type": {"encoding": "signed", "bits": 32}}},
        {"name": "p", "dialect": "dwarf5", "expr": "50", "expect": {"pointer": {"entry": "0x40", "offset": -4}}}]}"#;
    with_every_value_replaced(vectors, &mut |text| judge(VectorFile::from_json(text).err()));
    let description = std::fs::read_to_string(root("examples/scale.json")).expect("a description");
    with_every_value_replaced(&description, &mut |text| judge(eitri::model::Module::from_json(text).err()));
    assert!(count > 1000, "{count}");
}

#[test]
fn the_command_takes_such_a_file() {
    let folder = Folder::new("machine-words");
    let machine =
        r#"{"target": "amdgpu-gfx1030-wave32", "machine": {"pc": 42, "registers": {"s4": "01 02 03 04"}}}"#;
    let machine = folder.file("machine.json", machine);
    let ran = run(&["eval", "regx s4", "--machine", &machine, "--read", "32"]);
    assert!(ran.code == 0, "{}", ran.errors);
    assert!(ran.text().ends_with("bytes 01 02 03 04\n"), "{}", ran.text());
}

/// The target in a machine's file counts, even if it is unknown and the object names another.
#[test]
fn an_unknown_target_of_a_machine_is_refused() {
    let folder = Folder::new("machine-target");
    let description = folder.file(
        "a.json",
        r#"{"eitri": 1, "target": "x86_64", "describe": [{"unit": {"name": "a.c"}},
            {"base_type": {"unit": "a.c", "name": "int", "encoding": "signed", "bits": 32}},
            {"function": {"in": "a.c", "name": "f", "code": {"symbol": "f", "bytes": 16}}},
            {"variable": {"in": "f", "name": "v", "type": "int", "live": [[0, 16, {"register": "rax"}]]}}]}"#,
    );
    let object = folder.path("a.o");
    let ran = run(&["emit", &description, "--allow", "no-frame", "-o", &object]);
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let eval = |machine: &str| {
        let machine = folder.file("machine.json", machine);
        run(&["eval", "--var", "v", "--pc", "f", &object, "--machine", &machine, "--read", "0"])
    };
    let ran = eval(r#"{"target": "amdgpu-gfx9999-wave64", "machine": {}}"#);
    assert!(
        ran.code == 2 && ran.errors.contains("unknown target: `amdgpu-gfx9999-wave64`"),
        "{}",
        ran.errors
    );
    let ran = eval(r#"{"machine": {}}"#);
    assert_eq!((ran.code, ran.text()), (0, "location reg:rax\n".into()), "{}", ran.errors);
}

/// Operations that are accepted for DWARF 6 without a number (issues 230524.1 and 250924.2): a text has them by name, and
/// an offset is in bytes. Bytes cannot have them.
#[test]
fn operations_of_dwarf6_are_evaluated_from_text() {
    let folder = Folder::new("dwarf6");
    let machine =
        r#"{"target": {"name": "x86_64"}, "machine": {"registers": {"0": "11 22 33 44 55 66 77 88"}}}"#;
    let machine = folder.file("machine.json", machine);
    let eval = |expr| run(&["eval", expr, "--dialect", "dwarf6", "--machine", &machine]);
    for (expr, expected) in [
        ("reg0; lit4; offset", "location reg:rax+32\n"),
        ("lit7; lit2; mod_floor; stack_value", "location implicit:0100000000000000\n"),
        ("undefined", "location undefined\n"),
        ("composite; reg0; piece 4", "location [reg:rax/32]\n"),
    ] {
        let ran = eval(expr);
        assert_eq!((ran.code, &*ran.errors, ran.text()), (0, "", expected.to_string()), "{expr}");
    }
    assert_eq!(eval("e1").code, 1);
}
