//! `stats`: lines, comparison of builds, thresholds. `report`: its files and members.

use super::tools::Tool;
use super::{Folder, run, text};
use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::target::Target;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const O2: &str = "tests/objects/llvm19/k04_diverge.gfx1100.O2.hsaco";
const BUNDLE: &str = "tests/objects/containers/k06.hipfb";

fn json(arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["stats", "--format", "json"].iter().chain(arguments).copied().collect();
    let out = run(&all).text();
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_build_is_compared_with_another() {
    let clean = "examples/data/uspill.o";
    let same = json(&[O2, "--against", O2]);
    let all = &same[0]["functions"][0];
    assert_eq!((&all["name"], &all["old"]), (&Value::Null, &all["new"]));
    // clang's entries are unsound: nothing is lost.
    assert_eq!(run(&["stats", O2, "--against", O2, "--fail-below", "100"]).code, 0);
    assert_eq!(run(&["stats", O2, "--fail-below", "50"]).code, 1);
    assert_eq!(run(&["stats", O2, "--fail-below", "0"]).code, 0);
    let ran = run(&["stats", clean]);
    assert!(ran.code == 0 && ran.text().contains("that are there twice"), "{}", ran.text());
}

/// Without variables, nothing can be seen: the least percentage fails, alone and against a build that has variables.
#[test]
fn a_build_without_variables_is_below_each_percentage() {
    let folder = Folder::new("percentages");
    let with = &*units(&folder);
    let without = "examples/data/scale_code.o";
    let alone = run(&["stats", without, "--fail-below", "50"]);
    assert!(alone.code == 1 && alone.text().contains("  all, below 50 %\n"), "{}", alone.text());
    assert_eq!(run(&["stats", without, "--fail-below", "0"]).code, 0);
    let arguments = ["stats", without, "--against", with, "--fail-below", "98"];
    let against = run(&arguments);
    assert!(
        against.code == 1 && against.text().contains("    0.0 %  all, below 98 %\n"),
        "{}",
        against.text()
    );
    let out = run(&[&arguments[..], &["--format", "json"]].concat()).text();
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(found["functions"][0]["below"], true);
    // Nothing is lost where the other build has nothing.
    assert_eq!(run(&["stats", with, "--against", without, "--fail-below", "98"]).code, 0);
    assert_eq!(run(&["stats", with, "--fail-below", "1"]).code, 0);
    assert_eq!(json(&[with, "--fail-below", "1"])[0]["below"], false);
}

#[test]
fn percentages_are_from_0_to_100() {
    for wrong in ["nan", "inf", "1e3", "-1", "100.5", "50%", ""] {
        let ran = run(&["stats", O2, &format!("--fail-below={wrong}")]);
        assert!(ran.code == 2 && ran.errors.contains("a number from 0 to 100 is expected"), "{}", ran.errors);
    }
    let help = run(&["--help"]).text();
    let help: Vec<_> = help.split_whitespace().collect();
    assert!(help.join(" ").contains("`stats` a part below `--fail-below`"));
}

/// The first method has 8 of 16 bytes in both builds, the second 16 of 16 and then 4: one name, and two linkage names.
#[test]
fn methods_of_two_classes_are_matched_by_linkage_name() {
    let folder = Folder::new("methods");
    let build = |name: &str, end: u64| {
        let description = METHODS.replace("END", &end.to_string());
        let module = Module::from_json(&description).expect("a description");
        let written = lower(&module, &Consumer::dwarf5(), Policy::Strict).expect("everything is expressible");
        let code = ObjectCode::text(vec![0x90; 32]).with_function("_ZN1A3getEv", 0, 16);
        let code = code.with_function("_ZN1B3getEv", 16, 16);
        folder.file(name, new_object(module.target(), &code, &written.sections).expect("an object"))
    };
    let old = build("old.o", 16);
    let new = build("new.o", 4);
    let ran = run(&["stats", &new, "--against", &old, "--fail-below", "60"]);
    let out = ran.text();
    assert!(out.contains("  50.0 %   50.0 %  100.0 %  _ZN1A3getEv\n"), "{out}");
    assert!(out.contains(" 100.0 %   25.0 %   25.0 %  _ZN1B3getEv, below 60 %\n"), "{out}");
    assert_eq!(ran.code, 1);
    let functions = &json(&[&new])[0]["functions"];
    let names = |index: usize| (functions[index]["name"].as_str(), functions[index]["linkage_name"].as_str());
    assert_eq!(names(1), (Some("get"), Some("_ZN1B3getEv")));
    assert!(run(&["stats", &new]).text().contains(" _ZN1B3getEv\n"));
}

const METHODS: &str = r#"{"eitri": 1, "target": "x86_64", "describe": [
{"unit": {"name": "a.cpp"}},
{"base_type": {"unit": "a.cpp", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.cpp", "name": "get", "id": "a", "linkage_name": "_ZN1A3getEv",
 "code": {"symbol": "_ZN1A3getEv", "bytes": 16}}},
{"variable": {"in": "a", "name": "v", "type": "int", "live": [[0, 8, {"register": "rax"}]]}},
{"function": {"in": "a.cpp", "name": "get", "id": "b", "linkage_name": "_ZN1B3getEv",
 "code": {"symbol": "_ZN1B3getEv", "bytes": 16}}},
{"variable": {"in": "b", "name": "v", "type": "int", "live": [[0, END, {"register": "rax"}]]}}]}"#;

const UNITS: &str = r#"{"eitri": 1, "target": "x86_64", "describe": [
{"unit": {"name": "a.c"}},
{"base_type": {"unit": "a.c", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.c", "name": "f", "code": {"symbol": "f", "bytes": 16}}},
{"variable": {"in": "f", "name": "v", "type": "int", "live": [[0, 4, {"register": "rax"}]]}},
{"unit": {"name": "b\u001b[1m.c"}},
{"base_type": {"unit": "b\u001b[1m.c", "name": "long", "encoding": "signed", "bits": 64}},
{"function": {"in": "b\u001b[1m.c", "name": "g", "code": {"symbol": "g", "bytes": 8}}},
{"variable": {"in": "g", "name": "w", "type": "long", "live": [[0, 8, {"register": "rax"}]]}}]}"#;

/// An object with the units.
fn units(folder: &Folder) -> String {
    let module = Module::from_json(UNITS).expect("a description");
    let written = lower(&module, &Consumer::dwarf5(), Policy::Strict).expect("everything is expressible");
    let code = ObjectCode::text(vec![0x90; 24]).with_function("f", 0, 16).with_function("g", 16, 8);
    folder.file("units.o", new_object(module.target(), &code, &written.sections).expect("an object"))
}

/// Sums of units by hand: 4 of 16 bytes, and 8 of 8. A name cannot change the terminal.
#[test]
fn units_are_summed() {
    let folder = Folder::new("units");
    let file = units(&folder);
    let out = run(&["stats", &file]).text();
    let units =
        "          16   25.0 %   25.0 %  unit a.c\n           8  100.0 %  100.0 %  unit b\\u{1b}[1m.c\n";
    assert!(out.contains(units), "{out}");
    let sum = |scope: u64, located: u64| json!({"scope": scope, "located": located, "unavailable": 0, "entry_values": 0, "sound": located});
    let units = json!([
        {"name": "a.c", "coverage": sum(16, 4)}, {"name": "b\u{1b}[1m.c", "coverage": sum(8, 8)},
    ]);
    assert_eq!(json(&[&file])[0]["units"], units);
    // The only unit is the file.
    assert!(!run(&["stats", O2]).text().contains("unit "));
}

/// `--combine-instances` prints averages: by hand of the instances that are printed apart.
#[test]
fn instances_are_averaged() {
    let file = "tests/objects/triton/scan_limit.gfx1100.hsaco";
    let key = |one: &Value| ["function", "name", "declared"].map(|key| one[key].clone());
    let apart = json(&["--lines", file]);
    let combined = json(&["--lines", "--combine-instances", file]);
    let mut several = 0;
    for one in &combined {
        let own: Vec<_> = apart.iter().filter(|other| key(other) == key(one)).collect();
        assert_eq!(one["instances"], own.len(), "{one}");
        for what in ["scope", "located"] {
            let sum: f64 = own.iter().filter_map(|one| one[what].as_f64()).sum();
            assert_eq!(one[what].as_f64(), Some(sum / own.len() as f64), "{one}");
        }
        several += usize::from(own.len() > 1);
    }
    assert!(several > 0 && combined.len() < apart.len());
    // `x` has a location at 1 line and at 4 lines: (1 + 4) / 2.
    let out = run(&["stats", "--lines", "--combine-instances", file]).text();
    assert!(out.contains("\n       8      2.5  scan_limit: x, 2 instances\n"), "{out}");
}

#[test]
fn contents_are_counted() {
    let found = &json(&[O2])[0];
    let operations = found["operations"].as_object().expect("operations");
    // llvm-dwarfdump-19 --debug-loclists prints these operations.
    assert!(operations["xderef"].as_u64() > Some(0), "{operations:?}");
    assert!(found["forms"]["DW_FORM_strx1"].as_u64() > Some(0), "{}", found["forms"]);
    let variable = &found["functions"][0]["variables"][0];
    assert!(variable["#bytes of entry"].as_u64() > Some(0), "{variable}");
}

/// JSON is written element by element: it takes at most twice the memory of the text.
#[test]
fn memory_of_json_is_bounded_by_memory_of_text() {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let [rax, rbx] = ["rax", "rbx"].map(|name| m.target().register_named(name).unwrap());
    const FUNCTIONS: u64 = 20_000;
    let mut code = ObjectCode::text(vec![0; 16 * FUNCTIONS as usize]);
    for index in 0..FUNCTIONS {
        let name = format!("f{index}");
        code = code.with_function(&name, 16 * index, 16);
        let function = m.function(unit, &name).unwrap().code(&name, 16).id();
        for (variable, register) in [("x", rax), ("y", rbx)] {
            m.variable(function, variable, int).unwrap().live(0..8, Loc::register(register)).unwrap();
        }
    }
    let module = m.finish().unwrap();
    let sections = lower(&module, &Consumer::dwarf5(), Policy::Strict).unwrap().sections;
    let folder = Folder::new("memory");
    let object = folder.file("a.o", new_object(module.target(), &code, &sections).unwrap());
    const PYTHON: Tool = Tool::new("python3", "python3");
    const PEAK: &str = "import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let peak = |format: &str| -> Option<u64> {
        let eitri = env!("CARGO_BIN_EXE_eitri");
        let ran = PYTHON.run(&["-c", PEAK, eitri, "stats", &object, "--format", format])?.clean();
        Some(ran.trim().parse().expect("KiB"))
    };
    let Some(text) = peak("text") else { return };
    let json = peak("json").expect("python3");
    println!("text {text} KiB, JSON {json} KiB");
    assert!(json <= 2 * text, "JSON takes {json} KiB, text {text} KiB");
}

#[test]
fn a_page_is_written_for_one_object() {
    let folder = Folder::new("report");
    let page = folder.path("page.html");
    assert_eq!(run(&["report", O2, "-o", &page]).code, 0);
    assert!(text(&page).starts_with("<!doctype html>"));
    let ran = run(&["report", O2, "-o", "-"]);
    assert_eq!(ran.text(), text(&page));
    let several = run(&["report", BUNDLE, "-o", &page]);
    assert!(several.code == 2 && several.errors.contains("--member") && several.errors.contains("gfx900"));
    assert_eq!(run(&["report", BUNDLE, "--member", "gfx900", "-o", &page]).code, 0);
    assert_eq!(run(&["report", "Cargo.toml", "-o", "-"]).code, 2);
}

/// Inputs that a page cannot use are refused, and the output does not replace an input.
#[test]
fn a_page_has_the_inputs_that_are_named() {
    let folder = Folder::new("inputs");
    let page = folder.path("page.html");
    let object = folder.file("k.hsaco", std::fs::read(super::root(O2)).expect("an object"));
    let ran = run(&["report", &object, "-o", &object]);
    assert!(ran.code == 2 && ran.errors.contains("the output would replace an input"), "{}", ran.errors);
    assert!(
        std::fs::read(&object).expect("the object") == std::fs::read(super::root(O2)).expect("an object")
    );
    let ran = run(&["report", &object, "--source", &folder.path("none"), "-o", &page]);
    assert!(ran.code == 2 && ran.errors.contains("not a folder"), "{}", ran.errors);
    for wrong in ["Cargo.toml", O2] {
        let ran = run(&["report", &object, "--disassembly", wrong, "-o", &page]);
        assert!(
            ran.code == 2 && ran.errors.contains("the text has 0 instructions"),
            "{wrong}: {}",
            ran.errors
        );
    }
}

/// Instructions of objects that are not linked are found by the offsets that llvm-objdump prints, and those of another
/// object are refused.
#[test]
fn a_page_has_the_instructions_of_its_object() {
    const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");
    let folder = Folder::new("disassembly");
    let page = folder.path("page.html");
    let text_of = |name: &str| {
        let object = format!("tests/objects/llvm19/{name}");
        let ran = OBJDUMP.run(&["-d", &super::root(&object).display().to_string()])?;
        Some((folder.file(&format!("{name}.s"), ran.clean()), object))
    };
    let (Some(unlinked), Some(linked)) =
        (text_of("k02_reduce.gfx1030.O2.o"), text_of("k04_diverge.gfx1100.O2.hsaco"))
    else {
        return;
    };
    for ((own, object), other) in [(&unlinked, &linked.0), (&linked, &unlinked.0)] {
        let without = run(&["report", object, "-o", "-"]).text();
        let with = run(&["report", object, "--disassembly", own, "-o", "-"]).text();
        assert!(with.len() > without.len() + 100, "{object}: {} and {}", with.len(), without.len());
        let ran = run(&["report", object, "--disassembly", other, "-o", &page]);
        assert!(
            ran.code == 2 && ran.errors.contains("no function of the object is in the disassembly"),
            "{}",
            ran.errors
        );
    }
}

#[test]
fn members_of_containers_are_printed() {
    let all = run(&["dump", BUNDLE]).text();
    for gfx in ["gfx900", "gfx1030"] {
        let heading = format!("{BUNDLE}(hipv4-amdgcn-amd-amdhsa--{gfx}):\n");
        assert_eq!(all.matches(&heading).count(), 1, "{heading}");
        let one = run(&["dump", BUNDLE, "--member", gfx]).text();
        assert!(!one.contains("hipv4") && all.contains(&one), "{gfx}");
    }
    assert_eq!(run(&["dump", BUNDLE, "--member", "gfx11"]).code, 2);
}

/// llvm-dwarfdump's statistics name the format.
#[test]
fn formats_have_the_names_of_llvm() {
    const PEER: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
    let cubin = "tests/objects/triton/add.sm_90.cubin";
    let objects = [O2, cubin, "examples/data/saxpy.o", "tests/objects/llvm19/k02_reduce.gfx1030.O2.o"];
    for object in objects {
        let Some(ran) = PEER.run(&["--statistics", &super::root(object).display().to_string()]) else {
            return;
        };
        let peer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let own: serde_json::Value =
            serde_json::from_str(&run(&["stats", object, "--format", "json"]).text()).expect("JSON");
        assert!(peer["format"].is_string() && own["format"] == peer["format"], "{object}: {}", own["format"]);
    }
}
