//! `eitri eval` and `eitri explain`: output and figures, and agreement of figures with the denoted bits.

use crate::common;
mod lanes;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::with;
use common::check_golden;
use eitri::dump::{figure, steps};
use eitri::eval::{Body, Context, Element, Snapshot, Storage, spans};
use eitri::op::{Dialect, Encoding, text};
use eitri::target::{ByteOrder, SpaceId, Target};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Runs the command in the folder of the project. Returns exit code, output and error output.
fn eitri(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eitri"));
    command.current_dir(crate::common::ROOT).stdin(Stdio::null()).args(arguments);
    let output = command.output().expect("the command runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("it ended by itself"), text(output.stdout), text(output.stderr))
}

/// Path of a file for this test.
fn temporary(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("eitri-explain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder.join(name)
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a path that is text")
}

/// The object of the quickstart, under a name of the test.
fn scale(name: &str) -> PathBuf {
    let out = temporary(name);
    let code = "examples/data/scale_code.o";
    let json = "examples/scale.json";
    let (code, _, errors) = eitri(&["emit", json, "--object", code, "--allow", "no-frame", "-o", path(&out)]);
    assert_eq!((code, &*errors), (0, ""));
    out
}

/// A variable of 12 bytes, of lane 2: 4 in each of two vector registers, 4 spilled to private memory.
const SPREAD: &str = "regx v8; push_lane; lit4; mul; offset; piece 4; \
                      regx v9; push_lane; lit4; mul; offset; piece 4; \
                      lit4; lit8; mul; lit5; form_aspace_address; piece 4; piece_end";
/// A part in a vector register, then one in private memory.
const PARTS: &str =
    "regx v8; offset_uconst 8; piece 4; const1u 32; lit5; form_aspace_address; piece 4; piece_end";
/// Parts of a register, undefined and known bits, a dangling implicit pointer, and more bytes than a figure shows.
const KINDS: &str = "regx v8; lit20; bit_offset; bit_piece 5 0; bit_piece 3 0; implicit_value {01 02 03}; piece 2; \
                     regx v9; offset_uconst 60; piece 60; implicit_pointer @0x40 4; piece 8";

/// Runs `explain`, and compares text and figure with the golden files of this name.
fn explained(name: &str, code: i32, arguments: &[&str]) -> String {
    let svg = temporary(&format!("{name}.svg"));
    let arguments = [&["explain"], arguments, &["--svg", path(&svg)]].concat();
    let (found, text, errors) = eitri(&arguments);
    assert_eq!((found, &*errors), (code, ""), "{name}: {text}");
    let svg = std::fs::read_to_string(&svg).expect("the picture");
    check_golden(&format!("explain/{name}.txt"), &text);
    check_golden(&format!("explain/{name}.svg"), &svg);
    svg
}

/// Compares a figure with that of the documentation.
fn documented(name: &str, svg: &str) {
    let page = Path::new(crate::common::ROOT).join("docs").join(name);
    if common::bless() {
        std::fs::write(&page, svg).expect("the picture is written");
    }
    assert!(std::fs::read_to_string(page).ok().as_deref() == Some(svg), "EITRI_BLESS=1 rewrites docs/{name}");
}

const WAVE: &str = "goldens/explain/wave.json";
const HOST: &str = "goldens/explain/host.json";

#[test]
fn explanations_are_as_reviewed() {
    explained("spread", 0, &[SPREAD, "--machine", WAVE, "--read", "96"]);
    let parts = explained("parts", 0, &[PARTS, "--machine", WAVE, "--read", "64"]);
    documented("parts.svg", &parts);
    explained("kinds", 0, &[KINDS, "--machine", WAVE]);
    let read = "fbreg 0; deref; deref_type 4 @0x30; convert @0x0; stack_value";
    explained("read", 0, &[read, "--machine", HOST, "--read", "64"]);
    explained("call", 0, &["call4 @0x40; implicit_pointer @0x50 4; swap", "--machine", HOST, "--read", "32"]);
    explained("fault", 1, &["lit3; regx rax; deref; lit0; div", "--machine", HOST, "--kind", "value"]);
    let scale = scale("explained.o");
    let variable = ["--var", "n", "--pc", "0x10024", path(&scale), "--machine", WAVE];
    explained("places", 0, &variable);
}

#[test]
fn an_expression_is_text_or_hexadecimal() {
    let (code, text, _) = eitri(&["eval", SPREAD, "--machine", WAVE, "--read", "96"]);
    // Lane 2: byte 0 is the lane, the others are a pattern per register; private memory is ascending.
    let location = "location [reg:v8+64/32, reg:v9+64/32, mem:5:0x20@2/32]";
    let bytes = "bytes 02 80 00 81 02 90 00 91 60 61 62 63";
    assert_eq!((code, &*text), (0, &*format!("{location}, {bytes}\n")));
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let bytes = text::parse(SPREAD, Encoding::new(8, Dialect::Llvm), Some(&target)).expect("an expression");
    let hex: Vec<String> = bytes.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(eitri(&["eval", &hex.concat(), "--machine", WAVE, "--read", "96"]).1, text);
    assert_eq!(eitri(&["eval", &hex.join(" "), "--machine", WAVE, "--read", "96"]).1, text);
}

#[test]
fn arguments_change_the_machine() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&["push_lane", "--machine", WAVE, "--lane", "7", "--kind", "value"], 0, "value 0x7"),
        (
            &["push_lane", "--target", "amdgpu-gfx1030-wave32", "--lane", "31", "--kind", "value"],
            0,
            "value 0x1f",
        ),
        (
            &["minus", "--target", "x86_64", "--initial", "0x9", "--initial", "2", "--kind", "any"],
            0,
            "value 0x7",
        ),
        (&["lit2; offset", "--target", "x86_64", "--initial", "reg:3"], 0, "location reg:rbx+16"),
        (&["regx v3", "--for", "rocgdb-legacy", "--target", "amdgpu-gfx900-wave64"], 0, "location reg:v3"),
        (&["e0", "--dialect", "legacy", "--target", "x86_64"], 1, "error ill-formed ("),
        (&["regx rax", "--machine", HOST, "--frame", "3", "--read", "8"], 1, "error evaluation ("),
        (&["regx rbx", "--target", "x86_64", "--read", "8"], 1, "location reg:rbx, error unmapped ("),
        (
            &["lit1; lit0; div", "--target", "x86_64", "--kind", "value"],
            1,
            "error evaluation (division by zero",
        ),
    ];
    for (arguments, code, begins) in cases {
        let (found, text, errors) = eitri(&[&["eval"], *arguments].concat());
        assert_eq!((found, &*errors), (*code, ""), "{arguments:?}: {text}");
        assert!(text.starts_with(begins), "{arguments:?}: {text}");
    }
    // Location and reason: operation, offset, rule.
    let (_, text, _) = eitri(&["eval", "lit1; const2u 0; div", "--target", "x86_64"]);
    assert!(text.contains("; operation 2, offset 0x4)"), "{text}");
}

/// Lane k of `v8` contains the byte k, then `80 00 81`; the private memory of lane 2 alone has contents.
#[test]
fn all_lanes_have_a_line_for_each_group_of_equal_answers() {
    let ask = |expr: &str, arguments: &[&str]| {
        eitri(&[&["eval", expr, "--lane", "all", "--machine", WAVE], arguments].concat())
    };
    let answer = |code, text: &str| (code, text.to_owned(), String::new());
    let lanes = "regx v8; push_lane; lit4; mul; offset";
    let each: String =
        (0..32).map(|k| format!("lane {k}: location reg:v8+{}, bytes {k:02x} 80 00 81\n", 32 * k)).collect();
    let first = each.replace("reg:v8+0,", "reg:v8,");
    assert_eq!(ask(lanes, &["--read", "32"]), answer(0, &first));
    // The same register in all lanes, and equal contents of locations that differ.
    let common = "lanes 0-31: location reg:s4, bytes 07 a0 00 a1\n";
    assert_eq!(ask("regx s4", &["--read", "32"]), answer(0, common));
    let second_byte = format!("{lanes}; offset_uconst 1");
    assert_eq!(ask(&second_byte, &["--read", "8"]), answer(0, "lanes 0-31: bytes 80\n"));
    // 32 lanes in groups of eight: the lane without its three lower bits.
    let value =
        "lanes 0-7: value 0x0\nlanes 8-15: value 0x1\nlanes 16-23: value 0x2\nlanes 24-31: value 0x3\n";
    assert_eq!(ask("push_lane; lit3; shr", &["--kind", "value"]), answer(0, value));
    // The faults name their lanes.
    let (code, text, _) = ask("const1u 32; lit5; form_aspace_address", &["--read", "16"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((code, lines.len()), (1, 32), "{text}");
    assert_eq!(lines[2], "lane 2: location mem:5:0x20@2, bytes 60 61");
    assert!(lines[3].starts_with("lane 3: location mem:5:0x20@3, error unmapped ("), "{text}");
    // A fault of the evaluation in the lanes from 16 on.
    let (code, text, _) = ask("lit1; push_lane; lit16; lt; div", &["--kind", "value"]);
    assert_eq!(code, 1);
    assert!(
        text.starts_with("lanes 0-15: value 0x1\nlanes 16-31: error evaluation (division by zero"),
        "{text}"
    );
    // A target without lanes has one.
    let one = eitri(&["eval", "regx rax", "--lane", "all", "--target", "x86_64"]);
    assert_eq!(one, answer(0, "lane 0: location reg:rax\n"));
}

#[test]
fn answers_in_json_have_the_keys_of_expectations() {
    let ask = |expr: &str, arguments: &[&str]| {
        let all = [&["eval", expr, "--format", "json", "--machine", WAVE], arguments].concat();
        let (code, text, errors) = eitri(&all);
        assert_eq!((errors.as_str(), text.lines().count()), ("", 1), "{text}");
        (code, serde_json::from_str::<Value>(&text).expect("JSON"))
    };
    let memory = "const1u 32; lit5; form_aspace_address";
    let (code, lane) = ask(memory, &["--read", "16"]);
    assert_eq!((code, &lane), (0, &json!({"location": "mem:5:0x20@2", "bytes": "60 61"})));
    let (code, all) = ask(memory, &["--lane", "all", "--read", "16"]);
    let groups = all["lanes"].as_array().expect("groups");
    assert_eq!((code, groups.len()), (1, 32), "{all}");
    let third = json!({"first": 2, "last": 2, "location": "mem:5:0x20@2", "bytes": "60 61"});
    assert_eq!(groups[2], third);
    assert_eq!((&groups[3]["location"], &groups[3]["error"]), (&json!("mem:5:0x20@3"), &json!("unmapped")));
    assert!(groups[3]["why"].as_str().is_some_and(|why| !why.is_empty()), "{all}");
    assert!(groups[3].get("bytes").is_none(), "{all}");
    let (_, all) =
        ask("regx v8; push_lane; lit4; mul; offset; offset_uconst 1", &["--lane", "all", "--read", "8"]);
    assert_eq!(all, json!({"lanes": [{"first": 0, "last": 31, "bytes": "80"}]}));
    let (code, value) = ask("push_lane; lit3; shr", &["--kind", "value", "--lane", "9"]);
    assert_eq!((code, value), (0, json!({"value": "0x1"})));
}

/// A variable whose location list has an entry for a vector register, and the value lane / 16.
#[test]
fn a_variable_has_an_answer_in_all_lanes() {
    let scale = scale("all_lanes.o");
    let machine = temporary("all_lanes.json");
    let lanes: Vec<String> = (0..32).map(|lane| format!("{:02x} 00 00 00", lane / 16)).collect();
    let text = format!(
        r#"{{"target": "amdgpu-gfx1030-wave32", "machine": {{"registers": {{"v3": "{}"}}}}}}"#,
        lanes.join(" ")
    );
    std::fs::write(&machine, text).expect("is written");
    let ask = |arguments: &[&str]| {
        let all = ["eval", path(&scale), "--var", "x", "--machine", path(&machine), "--pc"];
        eitri(&[&all, arguments].concat())
    };
    let found = ask(&["0x10004", "--lane", "all"]);
    assert_eq!(
        found,
        (0, "lanes 0-15: bytes 00 00 00 00\nlanes 16-31: bytes 01 00 00 00\n".into(), "".into())
    );
    let found = ask(&["0x10000", "--lane", "all"]);
    assert_eq!(found, (0, "lanes 0-31: location undefined, bytes -- -- -- --\n".into(), "".into()));
}

#[test]
fn lanes_that_cannot_be_shown_are_refused() {
    for (arguments, problem) in [
        (&["eval", "lit0", "--lane", "nine"][..], "expected a lane, like 5, or `all`"),
        (&["explain", "lit0", "--lane", "all"], "--lane all: `explain` shows the steps in one lane"),
    ] {
        let (code, text, errors) = eitri(&[arguments, &["--target", "x86_64"]].concat());
        assert_eq!((code, &*text), (2, ""), "{arguments:?}");
        assert!(errors.contains(problem), "{errors}");
    }
    let machine = temporary("many_lanes.json");
    std::fs::write(&machine, r#"{"target": "x86_64", "machine": {"lanes": 65}}"#).expect("is written");
    let (code, _, errors) = eitri(&["eval", "lit0", "--lane", "all", "--machine", path(&machine)]);
    assert_eq!(code, 2);
    assert!(errors.contains("the machine's number of lanes is 65; expected 1 to 64"), "{errors}");
}

#[test]
fn a_variable_is_that_of_the_innermost_scope() {
    let scale = scale("variables.o");
    let ask = |arguments: &[&str]| {
        let all = [&["eval", path(&scale), "--machine", WAVE], arguments].concat();
        eitri(&all)
    };
    let found = |arguments: &[&str]| ask(arguments).1.trim_end().to_owned();
    // The description has s4, then lane 7 of v40, and both at the end.
    assert_eq!(found(&["--var", "n", "--pc", "0x10000", "--read", "0"]), "location reg:s4");
    assert_eq!(found(&["--var", "n", "--pc", "0x10010", "--read", "0"]), "location reg:v40+224");
    let both = found(&["--var", "n", "--pc", "0x10024", "--read", "0"]);
    assert_eq!(both, "location reg:s4 | reg:v40+224");
    assert_eq!(
        found(&["--var", "x", "--pc", "0x10004", "--lane", "9", "--read", "0"]),
        "location reg:v3+288"
    );
    assert_eq!(found(&["--var", "x", "--pc", "0x10000"]), "location undefined, bytes -- -- -- --");
    assert!(found(&["--var", "old", "--pc", "0x10018"]).starts_with("location mem:5:0x10@2, error unmapped"));
    for (arguments, fault) in [
        (
            &["--var", "nobody", "--pc", "0x10000"][..],
            "no variable in scope at pc 0x10000 has the name `nobody`",
        ),
        (
            &["--var", "n", "--pc", "0x10028"],
            "pc 0x10028 is in no function, and no variable outside functions has the name `n`; expected an address in a \
             function, or a function with the bytes from its start",
        ),
        (
            &["--var", "n"],
            "no variable outside functions has the name `n`, and no pc was given; expected the pc for a variable of a function",
        ),
    ] {
        let (code, text, errors) = ask(arguments);
        assert_eq!((code, &*text), (2, ""), "{arguments:?}");
        assert!(errors.contains(fault), "{errors}");
    }
}

/// Two functions with identical merged code, and a block in one of them that shadows a variable. Variables of one name that
/// agree at the pc have one answer.
#[test]
fn variables_that_differ_are_ambiguous_and_listed() {
    let json = r#"{"eitri": 1, "target": "x86_64", "describe": [
{"unit": {"name": "a.c"}},
{"base_type": {"unit": "a.c", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.c", "name": "f", "code": {"symbol": "f", "bytes": 40}}},
{"function": {"in": "a.c", "name": "g", "code": {"symbol": "f", "bytes": 40}}},
{"variable": {"in": "f", "name": "x", "type": "int", "live": [[0, 40, {"register": "rax"}]]}},
{"variable": {"in": "g", "name": "x", "type": "int", "live": [[0, 40, {"register": "rbx"}]]}},
{"variable": {"in": "f", "name": "y", "type": "int", "live": [[0, 40, {"register": "rax"}]]}},
{"variable": {"in": "g", "name": "y", "type": "int",
    "live": [[0, 16, {"register": "rax"}], [16, 24, {"register": "rdx"}]]}},
{"block": {"in": "f", "id": "inner", "pcs": [[8, 16]]}},
{"variable": {"in": "inner", "name": "x", "type": "int", "live": [[8, 16, {"register": "rcx"}]]}}
]}"#;
    let description = temporary("ambiguous.json");
    let object = temporary("ambiguous.o");
    std::fs::write(&description, json).expect("is written");
    let allow = ["--allow", "shared-code"];
    let emitted =
        eitri(&[&["emit", path(&description), "--for", "dwarf5", "-o", path(&object)], &allow[..]].concat());
    assert_eq!(emitted, (0, String::new(), String::new()));
    let ask_for =
        |name: &str, pc: &str| eitri(&["eval", "--var", name, "--pc", pc, path(&object), "--read", "0"]);
    let ask = |pc: &str| ask_for("x", pc);
    let bytes = std::fs::read(&object).expect("the object");
    let read = eitri::read::Object::read(&bytes).expect("an object");
    let start = eitri::read::Dwarf::read(&read).expect("DWARF").entries().find_map(|one| one.low_pc());
    let start = start.expect("code");
    let inner = ask(&format!("{:#x}", start + 8));
    assert_eq!(inner, (0, "location reg:rcx\n".to_owned(), String::new()));
    let (code, text, errors) = ask(&format!("{start:#x}"));
    assert_eq!((code, &*text), (2, ""));
    assert!(errors.contains("`x` is ambiguous at pc"), "{errors}");
    for function in ["function `f`", "function `g`"] {
        assert!(errors.contains(function), "{errors}");
    }
    // `y` is in one register first, in two then, and last without a location in one function.
    let of_y = |by: u64| ask_for("y", &format!("{:#x}", start + by));
    assert_eq!(of_y(15), (0, "location reg:rax\n".to_owned(), String::new()));
    let dwarf = eitri::read::Dwarf::read(&read).expect("DWARF");
    let entries: Vec<_> = dwarf.entries().filter(|one| one.name().as_deref() == Some("y")).collect();
    let [of_f, of_g] = &entries[..] else { panic!("two entries") };
    let listed = format!(
        "entry {:#x} of unit `a.c`, function `f`; entry {:#x} of unit `a.c`, function `g`",
        of_f.offset(),
        of_g.offset()
    );
    for by in [16, 23, 24, 39] {
        let (code, text, errors) = of_y(by);
        assert_eq!((code, &*text), (2, ""), "{by}: {errors}");
        assert!(errors.contains(&format!("`y` is ambiguous at pc {:#x}: {listed}", start + by)), "{errors}");
    }
}

#[test]
fn unusable_input_is_named() {
    let cases: &[(&[&str], &str)] = &[
        (&["regx v3"], "the target is unknown"),
        (&["frob", "--target", "x86_64"], "operation 0: unknown operation `frob`"),
        (
            &["31 3", "--target", "x86_64"],
            "`31 3` is not a list of bytes; expected two hexadecimal digits for each byte",
        ),
        (&["lit3", "--target", "x86_64", "--initial", "here"], "--initial: "),
        (&["lit3", "--target", "x86_64", "--pc", "soon"], "--pc soon: the function has no object file"),
        (&["lit3", "--target", "x86_64", "--pc", "0xg"], "invalid value '0xg' for '--pc <ADDRESS>'"),
        (&["lit3", "--machine", "Cargo.toml"], "Cargo.toml: "),
        (&["lit3", "--machine", HOST, "--pc", "0x10", "--frame", "1"], "the machine has no frame 1"),
        (&["--var", "x", "Cargo.toml", "--target", "x86_64"], "Cargo.toml: "),
    ];
    for command in ["eval", "explain"] {
        for (arguments, expected) in cases {
            let (code, text, errors) = eitri(&[&[command], *arguments].concat());
            assert_eq!((code, &*text), (2, ""), "{arguments:?}: {errors}");
            assert!(errors.contains(expected), "{arguments:?}: {errors}");
        }
        let (code, text, _) = eitri(&[command, "--help"]);
        assert!(code == 0 && text.contains(&format!("Example: eitri {command} ")), "{text}");
    }
}

// Figures.

/// The value of an attribute of an element.
fn attribute<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

fn number(line: &str, name: &str) -> Option<u128> {
    attribute(line, name)?.parse().ok()
}

/// Bits by name of their storage.
type Bits = BTreeSet<(String, u128)>;

/// Bits that are filled in a panel, by their position on the rulers; and all visible bits.
fn seen(panel: &str) -> Result<(Bits, Bits), String> {
    let mut filled = Bits::new();
    let mut visible = Bits::new();
    for ruler in panel.split("<g class=\"ruler\"").skip(1) {
        let name = attribute(ruler, "data-storage").ok_or("a ruler without a name")?;
        let of_class = |line: &&str, class: &str| attribute(line, "class") == Some(class);
        let bytes: Vec<(u128, u128)> = ruler
            .lines()
            .filter(|line| of_class(line, "byte"))
            .map(|line| Some((number(line, "x")?, number(line, "data-byte")?)))
            .collect::<Option<_>>()
            .ok_or("a byte without a place")?;
        for (_, byte) in &bytes {
            visible.extend((0..8).map(|bit| (name.to_owned(), byte * 8 + bit)));
        }
        for fill in ruler.split("<g class=\"fill\"").skip(1) {
            let fill = fill.split("</g>").next().unwrap_or_default();
            let (from, bits) = number(fill, "data-from").zip(number(fill, "data-bits")).ok_or("no size")?;
            let mut drawn = BTreeSet::new();
            for rect in fill.lines().filter(|line| of_class(line, "bits")) {
                let (x, width) = number(rect, "x").zip(number(rect, "width")).ok_or("no place")?;
                for (byte_x, byte) in &bytes {
                    // A byte is 24 pixels wide, a bit 3.
                    drawn.extend(
                        (0..8)
                            .filter(|bit| (x..x + width).contains(&(byte_x + bit * 3)))
                            .map(|bit| byte * 8 + bit),
                    );
                }
            }
            let shown = |bit: &u128| visible.contains(&(name.to_owned(), *bit));
            let bits_of_text: BTreeSet<u128> = (from..from + bits).filter(shown).collect();
            // Bits after the first four bytes can be hidden in a long ruler.
            let mut first = from..(from + bits).min((from / 8 + 4) * 8);
            if bits_of_text != drawn || !first.all(|bit| bits_of_text.contains(&bit)) {
                return Err(format!("{name}: {bits} bits from {from} on, and {drawn:?} are filled"));
            }
            filled.extend(drawn.into_iter().map(|bit| (name.to_owned(), bit)));
        }
    }
    Ok((filled, visible))
}

fn name(storage: &Storage, target: &Target) -> String {
    match storage {
        Storage::Register { reg, .. } => target.register(*reg).expect("a register").name().to_string(),
        Storage::Memory { space, lane: None, .. } => target.space(*space).expect("a space").name.to_string(),
        Storage::Memory { space, lane: Some(lane), .. } => {
            format!("{} of lane {lane}", target.space(*space).expect("a space").name)
        }
        Storage::Implicit(_) => "implicit".into(),
        Storage::Undefined => "undefined".into(),
        Storage::ImplicitPointer(_) | Storage::Composite(_) => panic!("not in these expressions"),
    }
}

/// The first difference between a figure and the locations on top of the stack.
fn difference(expr: &str, edit: impl Fn(String) -> String) -> Option<String> {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let encoding = Encoding::new(8, Dialect::Llvm);
    let bytes = text::parse(expr, encoding, Some(&target)).expect("an expression");
    let mut machine = with::<Snapshot>(|machine| {
        machine.lane = Some(2);
        machine.lanes = Some(32);
    });
    machine.store(SpaceId::DEFAULT, None, 0x1000, &[7; 64]);
    let context = Context::new(encoding, &target);
    let taken = steps(Body::Expression(bytes.bytes()), &machine, &context, Some(&target));
    let object = Some(40);
    let svg = edit(figure(&taken, &machine, &target, object));
    let panels: Vec<&str> = svg.split("<g class=\"panel\"").skip(1).collect();
    for (index, step) in taken.steps.iter().enumerate() {
        let (filled, visible) = match seen(panels[index]) {
            Ok(seen) => seen,
            Err(what) => return Some(format!("panel {index}: {what}")),
        };
        let mut expected = Bits::new();
        let mut undefined = 0;
        if let (Some(Element::Location(top)), Some(bits)) = (step.stack.last(), taken.bits_at(index, object))
        {
            for span in spans(top, bits, ByteOrder::Little).expect("it has these bits") {
                for place in &span.places {
                    let name = name(&place.storage, &target);
                    let from = if name == "undefined" { undefined } else { place.offset };
                    undefined += if name == "undefined" { span.bits } else { 0 };
                    expected.extend((from..from + span.bits).map(|bit| (name.clone(), bit)));
                }
            }
        }
        // Hidden bits cannot be compared.
        expected.retain(|bit| visible.contains(bit));
        if filled != expected {
            return Some(format!("panel {index}: filled {filled:?}, expected {expected:?}"));
        }
    }
    None
}

/// A part of a composite.
fn part() -> impl Strategy<Value = String> {
    let bytes = 1u32..=40;
    let register = (0u32..4, 0u32..88, bytes.clone())
        .prop_map(|(reg, at, bytes)| format!("regx v{reg}; offset_uconst {at}; piece {bytes}"));
    let bits = (0u32..4, 0u32..500, 1u32..30)
        .prop_map(|(reg, at, bits)| format!("regx v{reg}; constu {at}; bit_offset; bit_piece {bits} 0"));
    let memory =
        (0x1000u32..0x1060, bytes.clone()).prop_map(|(at, bytes)| format!("addr {at:#x}; piece {bytes}"));
    let lane = (0u32..64, bytes.clone())
        .prop_map(|(at, bytes)| format!("constu {at}; lit5; form_aspace_address; piece {bytes}"));
    let implicit =
        any::<[u8; 3]>().prop_map(|[a, b, c]| format!("implicit_value {{{a:02x} {b:02x} {c:02x}}}; piece 3"));
    prop_oneof![register, bits, memory, lane, implicit, bytes.prop_map(|bytes| format!("piece {bytes}"))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn pictures_fill_what_is_denoted(parts in prop::collection::vec(part(), 1..6), offset in 0u32..8) {
        let expr = format!("{}; piece_end; constu {offset}; bit_offset", parts.join("; "));
        prop_assert_eq!(difference(&expr, |svg| svg), None);
    }
}

/// More parts than a ruler can show with their context.
#[test]
fn parts_far_from_each_other_are_all_shown() {
    let part = |index: u64| format!("addr {:#x}; piece {}", 0x1000 * (index + 1) + index, 3 + 5 * index);
    let parts: Vec<String> = (0..20).map(part).collect();
    let expr = format!("{}; piece_end", parts.join("; "));
    assert_eq!(difference(&expr, |svg| svg), None);
}

#[test]
fn a_wrong_picture_is_noticed() {
    let expr = "regx v0; offset_uconst 12; piece 4; addr 0x1010; piece 2";
    assert_eq!(difference(expr, |svg| svg), None);
    // A fill moved by a byte, with and without consistent metadata.
    let moved = |svg: String, says: bool| {
        let (before, after) = svg.split_once("data-from=\"96\"").expect("it is filled from bit 96 on");
        let line = after.lines().find(|line| line.contains("class=\"bits\"")).expect("it is drawn");
        let x = number(line, "x").expect("somewhere");
        let line_moved = line.replacen(&format!(" x=\"{x}\""), &format!(" x=\"{}\"", x + 24), 1);
        let from = if says { 104 } else { 96 };
        format!("{before}data-from=\"{from}\"{}", after.replacen(line, &line_moved, 1))
    };
    assert!(difference(expr, |svg| moved(svg, false)).is_some_and(|what| what.contains("bits from 96 on")));
    assert!(difference(expr, |svg| moved(svg, true)).is_some_and(|what| what.contains("expected")));
    // A missing fill.
    let gone = |svg: String| svg.replace("class=\"fill\"", "class=\"nothing\"");
    assert!(difference(expr, gone).is_some());
}
