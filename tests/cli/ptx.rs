//! PTX for NVIDIA's debugger by the command: written, checked, printed, and the cubin of it compared.

use eitri::emit::ptx;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Module;
use pretty_assertions::assert_eq;

use super::kernel::{PTXAS, REGISTERS, TEXT, described};
use super::{Folder, run};

#[test]
fn ptx_is_written_checked_and_printed() {
    let folder = Folder::new("ptx");
    let json = described(REGISTERS).expect("a module").to_json();
    let (description, plain, out) =
        (folder.file("d.json", json), folder.file("k.ptx", TEXT), folder.path("out.ptx"));
    // CUDA-GDB is the default consumer for NVIDIA's targets, and ptxas makes the frames: no warning about them. The inlined
    // call and the blocks cross.
    let emit = ["emit", &description, "--object", &plain, "--allow", "overlapping-scopes", "-o", &out];
    let ran = run(&emit);
    assert_eq!((ran.code, &*ran.errors, ran.text()), (0, "", String::new()));
    let text = std::fs::read_to_string(&out).expect("the text");
    // Detaching returns the text.
    assert_eq!(eitri::emit::ptx::detach(&text).expect("PTX"), TEXT);
    assert!(text.contains(".target sm_80, debug\n") && text.contains(".section\t.debug_loc"), "{text}");

    let check = |description: &str, object: &str| run(&["check", description, object]);
    let ran = check(&description, &out);
    assert_eq!((ran.code, &*ran.errors), (0, ""), "{}", ran.text());
    assert!(ran.text().starts_with("0 findings, 0 unproven, 0 omitted;"), "{}", ran.text());
    let other = described(["%r3", "%r2", "%r5", "%r4"]).expect("a module").to_json();
    let other = folder.file("other.json", other);
    let ran = check(&other, &out);
    assert_eq!(ran.code, 1, "{}", ran.text());
    let expected = "location: unit `k.cu`, function `k`, variable `i`, pc 0x3..0x4, lane 0: expected reg:%r5, found reg:%r1";
    assert!(ran.text().contains(expected), "{}", ran.text());

    let ran = run(&["dump", &out]);
    assert_eq!((ran.code, &*ran.errors), (0, ""));
    for part in ["k+[0x3, 0x5): regx %r1\n", "k+[0x5, 0x8): regx %r3\n", "DW_AT_name: \"by\"\n"] {
        assert!(ran.text().contains(part), "{part}: {}", ran.text());
    }

    // A second description is refused, or replaces the first.
    let mut again = emit;
    again[3] = &out;
    let ran = run(&again);
    assert_eq!((ran.code, ran.errors.contains("already")), (2, true), "{}", ran.errors);
    let mut again: Vec<&str> = again.to_vec();
    again.push("--replace");
    let replaced = folder.path("replaced.ptx");
    let output = again.iter().rposition(|one| *one == out).expect("the output");
    again[output] = &replaced;
    assert_eq!(run(&again).code, 0);
    assert_eq!(std::fs::read_to_string(&replaced).expect("the text"), text);

    // Text has no sections that could be compressed, and no line table that could stay.
    for (option, message) in
        [("--compress-debug-sections", "PTX has no compressed"), ("--keep-lines", "PTX has no line table")]
    {
        let ran = run(&["emit", &description, "--object", &plain, option, "-o", &folder.path("no.ptx")]);
        assert_eq!((ran.code, ran.errors.contains(message)), (2, true), "{}", ran.errors);
    }

    let cubin = folder.path("k.cubin");
    let Some(ran) = PTXAS.run(&["-arch=sm_80", "-g", &out, "-o", &cubin]) else { return };
    ran.clean();
    let ran = check(&description, &cubin);
    assert_eq!((ran.code, &*ran.errors), (0, ""), "{}", ran.text());
    let last = ran.text().lines().last().expect("totals").to_owned();
    assert!(
        last.starts_with("0 findings, 4 variables at ") && last.contains(" described, 100.0 % located"),
        "{last}"
    );
    assert_eq!(check(&other, &cubin).code, 1);
}

/// Statements of a description of the kernel with a variable.
fn with_variable(instructions: u64, variable: &str) -> String {
    format!(
        r#"{{"eitri": 1, "target": "nvptx-sm_80", "describe": [
{{"unit": {{"name": "k.cu"}}}},
{{"base_type": {{"unit": "k.cu", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"base_type": {{"unit": "k.cu", "name": "long", "encoding": "signed", "bits": 64}}}},
{{"base_type": {{"unit": "k.cu", "name": "bool", "encoding": "boolean", "bits": 8}}}},
{{"function": {{"in": "k.cu", "name": "k", "code": {{"symbol": "k", "bytes": {instructions}}}, "kernel": true}}}},
{{"variable": {{"in": "k", "name": "x", {variable}}}}}]}}"#
    )
}

/// ptxas takes all of these. `emit` refuses them, and `check` finds them in a text and in a cubin that were written
/// without the comparison.
#[test]
fn description_that_contradicts_its_text_is_refused_and_found() {
    let folder = Folder::new("contradictions");
    let declared = ".reg .pred %p<2>;\n.shared .align 4 .b32 tile[4];\n.reg .b64";
    let text =
        TEXT.replace(".reg .b64", declared).replace("%r2; ret;", "%r2;\nsetp.eq.u32 %p1, %r1, 0; ret;");
    let plain = folder.file("k.ptx", &text);
    let out = folder.path("out.ptx");
    let cases = [
        (
            11,
            r#""type": "int", "live": [[5, 8, {"per_lane": "%r99"}]]"#,
            "declares there, found %r99, which is not declared",
        ),
        (
            11,
            r#""type": "int", "live": [[5, 8, {"per_lane": "%r8"}]]"#,
            "declares there, found %r8, which is not declared",
        ),
        (
            11,
            r#""type": "int", "live": [[5, 8, {"per_lane": "%x"}]]"#,
            "declares there, found %x, which is not declared",
        ),
        (
            11,
            r#""type": "long", "live": [[5, 8, {"per_lane": "%r3"}]]"#,
            "expected a register of 64 bits, found %r3, a register of 32 bits",
        ),
        (
            11,
            r#""type": "int", "live": [[10, 11, {"per_lane": "%p1"}]]"#,
            "expected a register of 32 bits, found %p1, a predicate",
        ),
        (
            11,
            r#""type": "int", "always": {"memory": ["global", {"address": ["tile", 0]}]}"#,
            "expected `tile` in the state space .shared, found `tile` in the space global",
        ),
        (
            11,
            r#""type": "int", "always": {"global_symbol": "tile"}"#,
            "expected `tile` in the state space .shared, found `tile` in the space default",
        ),
        (
            10,
            r#""type": "int", "live": [[5, 8, {"per_lane": "%r3"}]]"#,
            "expected 11 instructions of `k`, found 10 instructions",
        ),
        (
            11,
            r#""type": "int", "live": [[1, 4, {"per_lane": "%r3"}]]"#,
            "found %r3, which is first set at 0x4",
        ),
        (
            11,
            r#""type": "int", "live": [[0, 4, {"memory": ["global", {"read": [{"per_lane": "%rd1"}, 64]}]}]]"#,
            "found %rd1, which is first set at 0x0",
        ),
    ];
    for (instructions, variable, expected) in cases {
        let json = with_variable(instructions, variable);
        let description = folder.file("d.json", &json);
        let ran = run(&["emit", &description, "--object", &plain, "-o", &out]);
        let first = ran.errors.lines().next().unwrap_or_default();
        assert_eq!((ran.code, ran.errors.lines().count()), (2, 1), "{variable}: {}", ran.errors);
        assert!(first.starts_with("eitri: ") && first.contains(expected), "{variable}: {first}");
        assert!(first.contains("d.json: ") && first.contains("unit `k.cu`, function `k`"), "{first}");
        assert!(!std::path::Path::new(&out).exists());

        let module = Module::from_json(json.as_bytes()).expect("a module");
        let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
        let attached =
            ptx::attach(&text, module.target(), &written.sections, &ptx::PtxAttachOptions::default());
        let written = folder.file("written.ptx", attached.expect("a text"));
        let ran = run(&["check", &description, &written]);
        assert!(ran.code == 1 && ran.text().contains(expected), "{variable}: {}", ran.text());
        let cubin = folder.path("k.cubin");
        let Some(ran) = PTXAS.run(&["-arch=sm_80", "-g", &written, "-o", &cubin]) else { continue };
        ran.clean();
        let ran = run(&["check", &description, &cubin]);
        assert!(ran.code == 1 && ran.text().contains(expected), "{variable}: {}{}", ran.text(), ran.errors);
    }
    let right = [
        r#""type": "int", "live": [[5, 8, {"per_lane": "%r3"}]]"#,
        r#""type": "bool", "live": [[10, 11, {"per_lane": "%p1"}]]"#,
        r#""type": "bool", "live": [[5, 8, {"per_lane": "%r3"}]]"#,
        r#""type": "int", "always": {"memory": ["shared", {"address": ["tile", 0]}]}"#,
    ];
    for variable in right {
        let description = folder.file("d.json", with_variable(11, variable));
        let ran = run(&["emit", &description, "--object", &plain, "-o", &out]);
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{variable}");
    }
    let doubtful = [
        (
            r#""type": "int", "live": [[1, 3, {"per_lane": "%rd1"}]]"#,
            "%rd1 has 64 bits, and the variable has 32 bits",
        ),
        (
            r#""type": "int", "live": [[4, 8, {"per_lane": "%r3"}]]"#,
            "no value of %r3, which is first set at 0x4, reaches the start of the pc range",
        ),
    ];
    for (variable, expected) in doubtful {
        let description = folder.file("d.json", with_variable(11, variable));
        let emit = ["emit", &description, "--object", &plain, "-o", &out];
        let ran = run(&emit);
        assert_eq!((ran.code, ran.errors.lines().count()), (0, 1), "{}", ran.errors);
        let start = "warning (doubtful-register): unit `k.cu`, function `k`, variable `x`, pc 0x";
        assert!(ran.errors.starts_with(start) && ran.errors.contains(expected), "{}", ran.errors);
        let ran = run(&[&emit[..], &["--allow", "doubtful-register"]].concat());
        assert_eq!((ran.code, &*ran.errors), (0, ""));
    }
    // All mistakes are listed.
    let two = with_variable(10, r#""type": "int", "live": [[5, 8, {"per_lane": "%r99"}]]"#);
    let ran = run(&["emit", &folder.file("d.json", two), "--object", &plain, "-o", &out]);
    assert_eq!((ran.code, ran.errors.lines().count()), (2, 2), "{}", ran.errors);
}

#[test]
fn ptx_that_cannot_be_read_is_refused_with_its_line() {
    let folder = Folder::new("bad-ptx");
    let json = described(REGISTERS).expect("a module").to_json();
    let description = folder.file("d.json", json);
    let out = folder.path("out.ptx");
    let long = format!("{TEXT}// {}\n/* not closed", "x".repeat(1 << 20));
    let cases = [
        (TEXT.replace("ret;", "/* not closed"), "line 17"),
        (TEXT.replace("ret;\n}", "ret;\n"), "line "),
        (TEXT.replace("}\n", ""), "line "),
        (TEXT.to_owned() + ".section .debug_info {\n.b8 256\n}\n", "line 20"),
        (TEXT.to_owned() + ".section .debug_info {\n.b8 1\n", "line "),
        (TEXT.replace(".version 8.0", ".version \"8.0"), "line 1"),
        (long, "line 20"),
    ];
    for (text, expected) in cases {
        let plain = folder.file("k.ptx", &text);
        let ran = run(&["emit", &description, "--object", &plain, "--for", "cuda-gdb", "-o", &out]);
        let start = &text[text.len().saturating_sub(60)..];
        assert_eq!(ran.code, 2, "{start}: {}", ran.errors);
        assert!(ran.errors.contains(expected) && ran.errors.contains("column"), "{start}: {}", ran.errors);
        assert!(!std::path::Path::new(&out).exists(), "{start}");
    }
}
