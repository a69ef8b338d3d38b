//! Cubins: variables in PTX registers are in the processor's registers that the cubin's map has for them.

use std::path::Path;

use eitri::build::Builder;
use eitri::check::check;
use eitri::emit::elf::attach_with;
use eitri::import::{ImportOptions, ImportedDwarf, ImportedExpressions, UnimportedReason, import};
use eitri::json::write_unimported;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::target::{Sm, Target};
use serde_json::{Value, json};

use crate::common::tools::{Folder, Tool};
use crate::common::{cubin, with};
use crate::rewrite::nvlink::{FIRST, SECOND, X, Y, linked};
use crate::sass::{DWARFDUMP, replacing, target};

const READELF: Tool = Tool::new("readelf", "binutils");
const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");

fn imported(name: &str, expressions: ImportedExpressions) -> ImportedDwarf {
    let file = Path::new(crate::common::ROOT).join("tests/objects/triton").join(name);
    let bytes = std::fs::read(file).expect("a cubin");
    let options = with::<ImportOptions<'_>>(|options| options.expressions = expressions);
    import(&bytes, &options).expect("the cubin is imported")
}

/// Returns the live ranges of a variable in the description.
fn live(imported: &ImportedDwarf, name: &str) -> Value {
    let all: Value = serde_json::from_str(&imported.module.to_json()).expect("JSON");
    let statements = all["describe"].as_array().expect("statements");
    let found =
        statements.iter().flat_map(|one| [&one["variable"], &one["parameter"], &one["inlined_variable"]]);
    found.into_iter().find(|one| one["name"] == name).expect("the variable")["live"].clone()
}

/// `cuobjdump -elf` prints of the map:
///
/// ```text
/// (reg: %rd4) 0x5000000, 0x480, 0xb40
/// (reg: %rd3) 0x5000008, 0x450, 0x4f0
/// (reg: %rd3) 0x5000009, 0x460, 0x500
/// (reg: %rd4) 0x500000a, 0x470, 0xb40
/// ```
///
/// Class 5 is the general registers. The lower word is written first, and the last pc is that of an instruction of 16 bytes.
/// The list has %rd3 at [0x470, 0x4b0) and %rd4 at [0x4b0, 0xc80).
#[test]
fn ptx_register_is_imported_as_its_homes() {
    let file = Path::new(crate::common::ROOT).join("tests/objects/triton/add.sm_90.cubin");
    if let Some(ran) = CUOBJDUMP.run(&["-elf".as_ref(), file.as_os_str()]) {
        assert!(ran.out.contains("(reg: %rd4) 0x500000a, 0x470, 0xb40"), "{ran}");
    }
    let both = |low: &str, high: &str| json!({"parts": [[{"per_lane": low}, 32], [{"per_lane": high}, 32]]});
    let typed = imported("add.sm_90.cubin", ImportedExpressions::Typed);
    let expected = json!([[0x470, 0x4b0, both("R8", "R9")], [0x4b0, 0xb50, both("R10", "R0")]]);
    assert_eq!(live(&typed, "x"), expected);
    // What no variable has is listed.
    let reasons: Vec<&UnimportedReason> = typed.unimported.iter().map(|fact| &fact.reason).collect();
    assert!(reasons.iter().any(|reason| matches!(reason, UnimportedReason::RegisterHomes(_))), "{reasons:?}");
    assert!(reasons.contains(&&UnimportedReason::RegisterTypes), "{reasons:?}");
    // An expression that is copied refers to the map.
    let raw = imported("add.sm_90.cubin", ImportedExpressions::Raw);
    let ranges = live(&raw, "x");
    assert_eq!((&ranges[0][0], &ranges[1][1]), (&json!(0x470), &json!(0xc80)), "{ranges}");
}

/// Homes in other registers than the general registers have no location that all debuggers read alike.
#[test]
fn homes_of_other_classes_are_listed() {
    for name in ["matmul.sm_90.cubin", "reduce_rows.sm_90.cubin", "scan_limit.sm_90.cubin"] {
        let typed = imported(name, ImportedExpressions::Typed);
        let text = typed.module.to_json();
        assert!(!text.contains("\"%r"), "{name}: a PTX register is left");
        let is_other = |reason: &UnimportedReason| matches!(reason, UnimportedReason::RegisterHome(_));
        let others = typed.unimported.iter().filter(|fact| is_other(&fact.reason)).count();
        assert!(others > 0, "{name}");
    }
}

/// A description of the kernel of `cubin::TEXT`: `first` is at the address in %rd2, `gone` in a register that no instruction
/// reads after it is set, and `target` is the call's address in a PTX register.
fn in_memory() -> Module {
    let gpu = Target::nvptx(Sm::named("sm_80").expect("a processor"));
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("k.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = m.function(unit, "k").expect("a function").code("k", 10).kernel().id();
    let register = |name: &str| gpu.register_named(name).expect("a register");
    let address: Val = Loc::per_lane(register("%rd2")).read(64);
    let global = gpu.space_named("global").expect("a space").id;
    let first = Loc::memory(global, address.plus(4));
    m.variable(kernel, "first", int).expect("a variable").live(2..8, first).expect("a location");
    let gone = Loc::per_lane(register("%r7"));
    m.variable(kernel, "gone", int).expect("a variable").live(3..6, gone).expect("a location");
    m.finish().expect("a module")
}

/// An address that is read from a PTX register is read from the register's homes, and a register without a home is listed:
/// `cuobjdump` prints the homes of %rd2, and none of %r7.
#[test]
fn address_in_a_ptx_register_is_read_from_its_homes() {
    let Some(bytes) = cubin::assembled(&in_memory(), "sm_80") else { return };
    let folder = Folder::new();
    let path = folder.file("k.cubin", &bytes);
    if let Some(ran) = CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()]) {
        assert!(ran.out.contains("(reg: %rd2) 0x500") && !ran.out.contains("(reg: %r7)"), "{ran}");
    }
    let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
    let text = live(&imported, "first").to_string();
    assert!(!text.contains('%') && text.contains("{\"per_lane\":\"R"), "{text}");
    let reasons: Vec<String> = imported.unimported.iter().map(ToString::to_string).collect();
    let listed =
        reasons.iter().filter(|reason| reason.contains("PTX registers have no homes at its pcs: %r7"));
    assert_eq!(listed.count(), 1, "{reasons:#?}");
    assert!(!imported.module.to_json().contains("\"%r"), "a PTX register is left");
}

/// ptxas's frames count from register 0x500_0001, R1 in NVIDIA's numbers, without offset: the thread's part of R1, which
/// points to the thread's local memory.
#[test]
fn frames_are_in_local_memory_of_the_thread() {
    let typed = imported("add.sm_90.cubin", ImportedExpressions::Typed);
    let refused = typed.unimported.iter().filter(|fact| fact.section == ".debug_frame");
    assert_eq!(refused.map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    let text = typed.module.to_json();
    let frame = r#"[0,3200,"cfa",{"memory":["local",{"read":[{"per_lane":"R1"},32]}]}]"#;
    assert!(text.contains(frame), "{text}");
}

/// Rows of frames as `llvm-dwarfdump` prints them, without rows that repeat the row before; `None` without it. A register
/// without a rule keeps its value, as with the rule `same`.
fn rows(folder: &Folder, cubin: &[u8]) -> Option<Vec<String>> {
    let path = folder.file("frames.cubin", cubin);
    let ran = DWARFDUMP.run(&["--debug-frame".as_ref(), path.as_os_str()])?;
    assert!(ran.succeeded, "{}", ran.errors);
    let mut rows: Vec<String> = Vec::new();
    for frame in ran.out.split(" FDE ").skip(1) {
        let is_row = |line: &&str| line.starts_with("  0x") && line.contains(": CFA=");
        let mut last = String::new();
        for row in frame.lines().filter(is_row) {
            let (pc, rules) = row.split_once(": CFA=").expect("rules");
            let (cfa, registers) = rules.split_once(": ").unwrap_or((rules, ""));
            let others: Vec<&str> = registers.split(", ").filter(|rule| !rule.ends_with("=same")).collect();
            let rules = format!("CFA={cfa}: {}", others.join(", "));
            if last != rules {
                rows.push(format!("{pc}: {rules}"));
            }
            last = rules;
        }
    }
    Some(rows)
}

/// A function that saves registers in its frame: what it needs after a call, and the return address.
const SAVING: &str = r#"
extern "C" __device__ __noinline__ int inner(int n) { return n * 3; }
extern "C" __device__ __noinline__ int outer(int n) { return inner(n) + inner(n + 1) * n; }
extern "C" __global__ void k(int *p) { *p = outer(*p); }"#;

/// Frames of ptxas name uniform registers up to UR61, and up to UR77 from sm_100 on, and registers saved in the thread's local
/// memory. Written again, the frames have the rules that llvm-dwarfdump prints for the original.
#[test]
fn frames_keep_all_registers() {
    for (processor, last) in [("sm_75", 61), ("sm_80", 61), ("sm_100", 77), ("sm_120", 77)] {
        let Some(bytes) = linked(processor, &[(SAVING, "-G")], &["-g"]) else { return };
        let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
        let left = imported.unimported.iter().filter(|fact| fact.section == ".debug_frame");
        assert_eq!(left.map(ToString::to_string).collect::<Vec<_>>(), [""; 0], "{processor}");
        let rule = format!("\"UR{last}\",\"undefined\"");
        assert!(imported.module.to_json().contains(&rule), "{processor}");
        assert_eq!(imported.module.warnings(), [], "{processor}");
        let consumer = Consumer::cuda_gdb_sass();
        let written = lower(&imported.module, &consumer, Policy::Partial).expect("sections");
        let attached =
            attach_with(&bytes, &target(processor), &written.sections, &replacing()).expect("a cubin");
        let report = check(&imported.module, &consumer, &written.omissions, &attached).expect("a report");
        assert!(report.findings.is_empty(), "{processor}: {report}");
        let folder = Folder::new();
        let [Some(before), Some(after)] = [&bytes, &attached].map(|bytes| rows(&folder, bytes)) else {
            return;
        };
        let rule = format!("reg{}=undefined", 0x0b00_0000 + last);
        for rule in [rule.as_str(), "=[CFA-"] {
            assert!(before.iter().any(|row| row.contains(rule)), "{processor} {rule}: {before:#?}");
        }
        assert_eq!(before, after, "{processor}");
    }
}

/// `-lineinfo` leaves a line table to which no unit refers, and no unit for frames. llvm-dwarfdump counts both.
#[test]
fn lines_and_frames_without_units_are_listed() {
    for (debug, of_units) in [(["-lineinfo", "-lineinfo"], 0), (["-G", "-lineinfo"], 1)] {
        for processor in ["sm_80", "sm_120"] {
            let sources = [(X, debug[0]), (Y, debug[1])];
            let Some(bytes) = linked(processor, &sources, &["-g"]) else { return };
            let folder = Folder::new();
            let path = folder.file("a.cubin", &bytes);
            let Some(ran) =
                DWARFDUMP.run(&["--debug-line".as_ref(), "--debug-frame".as_ref(), path.as_os_str()])
            else {
                return;
            };
            let count = |text: &str| ran.out.lines().filter(|line| line.contains(text)).count();
            let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
            let listed = |section: &str| {
                let facts = imported.unimported.iter().filter(|fact| fact.section == section);
                facts.filter(|fact| fact.reason == UnimportedReason::NoFunction).count()
            };
            let name = format!("{processor} {debug:?}");
            // The unit of `-G` has a table.
            assert_eq!(listed(".debug_line"), count("Line table prologue:") - of_units, "{name}");
            assert_eq!(listed(".debug_line"), 2 - of_units, "{name}");
            // Beside a unit, code that has a frame alone is a function without an entry.
            let module = &imported.module;
            let framed = module.functions().filter(|(id, _)| !module.frame(*id).is_empty()).count();
            assert_eq!(listed(".debug_frame") + framed, count(" FDE "), "{name}");
            assert_eq!(framed > 0, of_units > 0, "{name}");
        }
    }
}

/// The code of each function of a linked cubin is at 0 in the file: pcs are those of a function, which ends where readelf says.
/// A fact of a frame belongs to the function's unit, and the map of registers belongs to no unit. The rules of UR77 become
/// rules of a register with a class that does not exist.
#[test]
fn facts_of_functions_have_their_units_and_pcs() {
    let Some(mut bytes) = linked("sm_100", &[(FIRST, "-G"), (SECOND, "-G")], &["-g"]) else { return };
    // `DW_CFA_undefined` with a number in LEB128.
    let [uniform, unknown] = [[0x07, 0xcd, 0x80, 0x80, 0x58], [0x07, 0xcd, 0x80, 0x80, 0x60]];
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(&uniform) {
            bytes[at..at + unknown.len()].copy_from_slice(&unknown);
        }
    }
    let folder = Folder::new();
    let path = folder.file("a.cubin", &bytes);
    let Some(ran) = READELF.run(&["-sW".as_ref(), path.as_os_str()]) else { return };
    let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
    let lines: Vec<String> = imported.unimported.iter().map(ToString::to_string).collect();
    assert!(lines.iter().all(|line| line.matches("unit `").count() < 2), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("pc 0x")), "{lines:#?}");
    for (unit, function, symbol) in [
        ("part0.cu", "first", "first"),
        ("part1.cu", "second", "second"),
        ("part1.cu", "unused", "unused"),
        ("part0.cu", "twice<int>", "_Z5twiceIiET_S0_"),
    ] {
        let line =
            ran.out.lines().find(|line| line.contains("FUNC") && line.ends_with(&format!(" {symbol}")));
        let Some(line) = line else {
            // nvlink drops functions that no kernel calls.
            assert_eq!(function, "unused", "{ran}");
            continue;
        };
        let size: u64 = line.split_whitespace().nth(2).expect("a size").parse().expect("a number");
        let start = format!("unit `{unit}`, function `{function}`, .debug_frame, offset ");
        let all: Vec<_> = lines.iter().filter(|line| line.starts_with(&start)).collect();
        let pcs = format!(", {symbol}+[0x0, {size:#x}): rule of register ");
        assert!(!all.is_empty() && all.iter().all(|line| line.contains(&pcs)), "{pcs}: {lines:#?}");
    }
    let homes: Vec<_> = lines.iter().filter(|line| line.contains("homes of PTX registers")).collect();
    let starts =
        ["first", "second"].map(|name| format!("function `{name}`, .nv_debug_info_reg_sass, offset "));
    assert!(starts.iter().all(|start| homes.iter().any(|line| line.starts_with(start))), "{homes:#?}");
    let json: Value = serde_json::from_str(&write_unimported(&imported.unimported)).expect("JSON");
    let frames = json.as_array().expect("facts").iter().filter(|fact| fact["section"] == ".debug_frame");
    let pcs: Vec<_> =
        frames.map(|fact| (&fact["function_pcs"]["function"], &fact["function_pcs"]["pcs"][0])).collect();
    assert!(!pcs.is_empty() && pcs.contains(&(&json!("second"), &json!("0x0"))), "{pcs:?}");
}
