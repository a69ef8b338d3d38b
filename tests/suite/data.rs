//! Vectors as data: identifiers, targets, documents, proposals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{files, name, vectors};

#[test]
fn names_are_identifiers_in_the_whole_suite() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut twice = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents) {
            if let Some(other) = known.insert(name(vector).to_owned(), file.clone()) {
                twice += &format!("`{}` of {file} is in {other}\n", name(vector));
            }
        }
    }
    assert!(twice.is_empty(), "names that two vectors have:\n{twice}");
}

#[test]
fn targets_are_written_out() {
    let mut missing = BTreeSet::new();
    for (file, contents) in files() {
        let own = vectors(&contents).iter().map(|vector| &vector["target"]);
        for target in own.chain([&contents["target"]]) {
            let Some(target) = target["name"].as_str().filter(|name| *name != "generic") else { continue };
            if contents["targets"][target].is_null() {
                missing.insert(format!("{file}: `{target}` is not in `targets`"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether DWARF 5 alone decides a vector in its encoding.
fn is_of_dwarf_5(vector: &Value) -> bool {
    let given = vector["valid_in"].as_array();
    vector["dialect"] == "dwarf5"
        && given.is_none_or(|given| given.iter().any(|document| document == "dwarf5"))
}

/// A location operation ends an expression of DWARF 5, or a piece (2.6.1.1): gimli reports these errors otherwise.
const ENDED: [&str; 2] = ["invalid expression terminator", "piece followed by non-piece"];

#[test]
fn vectors_of_the_stack_model_are_not_of_dwarf_5() {
    let mut wrong = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents).iter().filter(|vector| is_of_dwarf_5(vector)) {
            let doc = vector["doc"].as_str().unwrap_or_default();
            if ENDED.iter().any(|error| doc.contains(error)) {
                wrong += &format!("{file}: `{}`: {doc}\n", name(vector));
            }
        }
    }
    assert!(wrong.is_empty(), "vectors whose meaning DWARF 5 does not have:\n{wrong}");
}

#[test]
fn proposals_have_a_status() {
    let mut wrong = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents) {
            let status = vector["status"].as_str();
            let issue = vector["issue"].as_str();
            let is_right = match (vector["dialect"] == "dwarf6", status) {
                (true, Some("accepted" | "open")) => issue.is_some(),
                (true, Some("in progress" | "removed")) => true,
                (true, _) => false,
                (false, status) => status.is_none() && issue.is_none(),
            };
            if !is_right {
                wrong += &format!("{file}: `{}`: {status:?} {issue:?}\n", name(vector));
            }
        }
    }
    assert!(wrong.is_empty(), "vectors without the status of their proposal:\n{wrong}");
}

/// Explicit targets equal the tables typed from the user guide, and the built-in targets.
#[test]
fn targets_are_those_of_the_user_guide() {
    use eitri::eval::Architecture;
    use eitri::op::Reg;
    use eitri::target::{SpaceId, Target};

    let typed = include_str!("../../goldens/target/amdgpu.txt");
    let mut registers = 0;
    let mut files_seen = 0;
    for (file, contents) in files() {
        for (name, _) in contents["targets"].as_object().into_iter().flatten() {
            let text = serde_json::json!({
                "format": "eitri-vectors-1", "targets": contents["targets"], "target": {"name": name},
                "vectors": [{"name": "it", "dialect": "llvm", "expr": "", "expect": {"location": "undefined"}}]
            });
            let vectors = eitri::conform::VectorFile::from_json(text.to_string()).expect("is read");
            let target = vectors.vectors().next().expect("a vector").target;
            assert!(target.built_in().is_none(), "{file}: {name} is not taken from the file");
            let lines = typed.lines().filter(|line| line.starts_with(&format!("{name} ")));
            for line in lines.filter(|line| line.matches('|').count() == 4) {
                let columns: Vec<_> = line.split('|').map(str::trim).collect();
                let number = columns[1].parse().expect("a number");
                assert_eq!(target.register_bits(Reg(number)), columns[3].parse().ok(), "{file}: {line}");
                registers += 1;
            }
            let built_in = Target::named(name).expect("a built-in target");
            for number in 0..0x1000 {
                let bits = built_in.register_bits(Reg(number));
                assert_eq!(target.register_bits(Reg(number)), bits, "{file}: {name}, register {number}");
            }
            for number in 0..0x80 {
                let space = SpaceId(number);
                assert_eq!(
                    target.space(space),
                    Architecture::space(&built_in, space),
                    "{file}: {name}, {number}"
                );
            }
            assert_eq!(target.largest_address_bits(), built_in.largest_address_bits());
            files_seen += 1;
        }
    }
    assert!(registers > 100 && files_seen >= 9, "{registers} {files_seen}");
}

#[test]
fn malformed_targets_are_refused() {
    let of = |target: Value| {
        let text = serde_json::json!({
            "format": "eitri-vectors-1", "targets": {"mine": target}, "target": {"name": "mine"},
            "vectors": [{"name": "it", "dialect": "llvm", "expr": "", "expect": {"location": "undefined"}}]
        });
        eitri::conform::VectorFile::from_json(text.to_string()).map(drop)
    };
    let with = |registers: Value| {
        of(serde_json::json!({"address_size": 8, "endian": "little", "registers": registers}))
    };
    let register = |numbers: Value| serde_json::json!([{"dwarf": numbers, "name": "r", "bits": 32}]);
    assert!(with(register(serde_json::json!([3, 9]))).is_ok());
    let cases = [
        (
            with(register(serde_json::json!([9, 3]))),
            "targets.mine.registers[0]",
            "expected an ascending range",
        ),
        (with(register(serde_json::json!([0, 0x1_0000]))), "targets.mine.registers[0]", "at most"),
        (
            with(register(serde_json::json!([3]))),
            "targets.mine.registers[0].dwarf",
            "the last number of a range",
        ),
        (
            with(serde_json::json!([
                {"dwarf": [0, 3], "name": "r", "bits": 32}, {"dwarf": 2, "name": "x", "bits": 64}
            ])),
            "targets.mine.registers[1]",
            "register 2 occurs twice",
        ),
        (of(serde_json::json!({"name": "generic"})), "targets.mine.name", "definition has a name"),
        (of(Value::Null), "targets.mine", "definition is empty"),
    ];
    for (result, path, what) in cases {
        let error = result.expect_err(path);
        let place = error.at().json.as_ref().map(|json| json.path.clone()).unwrap_or_default();
        assert!(place == path && error.to_string().contains(what), "{path}: {what}: {error}");
    }
}

/// Vectors of DWARF 5 with a different result in gimli 0.34, and the reason: gimli does not implement the rule.
#[rustfmt::skip]
const GIMLI: &[(&str, &str)] = &[
    ("abs-u32-interpreted-as-signed", "2.5.1.4: \"interprets it as a signed value\""),
    ("consts-70-bits", "2.5.1.1: what is larger than a stack element is truncated to its low-order bits"),
    ("constu-65-bits", "2.5.1.1: the same"),
    ("constu-100-bits", "2.5.1.1: the same"),
    ("constu-padded-beyond-ten", "7.6: an LEB128 number can be padded"),
    ("deref-type-65-bits", "2.5.1.3: the size is the type's, and not limited by that of an address"),
    ("deref-type-u128", "2.5.1.3: the same"),
    ("deref-type-wider-than-address", "2.5.1.3: the same"),
    ("empty-any", "2.6.1.1.4: an empty description is of an object that is not there"),
    ("empty-location", "2.6.1.1.4: the same"),
    ("float-from-signed", "2.5.1.6: the value is converted, and is -3"),
    ("mismatch-shift-count", "2.5.1.4: both operands have the same type"),
    ("neg-u32-interpreted-as-signed", "2.5.1.4: \"interprets it as a signed value\""),
    ("piece-largest", "2.6.1.2: the size is any unsigned LEB128 number"),
    ("plus-uconst-65-bits", "7.6: an LEB128 number has any size, and the sum is one of the generic type"),
    ("plus-uconst-f32", "2.5.1.4: it is not among the operations that take floating point"),
    ("shr-i32-logically", "2.5.1.4: any integral type can be shifted"),
    ("skip-back-behind-wide-literal", "2.5.1.1: as constu-65-bits"),
];

#[test]
fn each_answer_of_gimli_that_differs_was_looked_at() {
    let mut differs = BTreeSet::new();
    for (_, contents) in files() {
        for vector in vectors(&contents).iter().filter(|vector| is_of_dwarf_5(vector)) {
            if vector["doc"].as_str().is_some_and(|doc| doc.contains("gimli 0.34 answers")) {
                differs.insert(name(vector).to_owned());
            }
        }
    }
    let known: BTreeSet<_> = GIMLI.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(
        differs, known,
        "a vector that gimli answers otherwise is not of DWARF 5, or here with the reason"
    );
}
