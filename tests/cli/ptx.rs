//! PTX for NVIDIA's debugger by the command: written, checked, printed, and the cubin of it compared.

use pretty_assertions::assert_eq;

use super::kernel::{PTXAS, REGISTERS, TEXT, described};
use super::{Folder, run};

#[test]
fn ptx_is_written_checked_and_printed() {
    let folder = Folder::new("ptx");
    let json = described(REGISTERS).expect("a module").to_json();
    let (description, plain, out) =
        (folder.file("d.json", json), folder.file("k.ptx", TEXT), folder.path("out.ptx"));
    // CUDA-GDB is the default consumer for NVIDIA's targets, and ptxas makes the frames: no warning.
    let emit = ["emit", &description, "--object", &plain, "-o", &out];
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
    for part in ["[0x10003, 0x10005): regx %r1\n", "[0x10005, 0x10008): regx %r3\n", "DW_AT_name: \"by\"\n"] {
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

#[test]
fn ptx_that_cannot_be_read_is_refused_with_its_line() {
    let folder = Folder::new("bad-ptx");
    let json = described(REGISTERS).expect("a module").to_json();
    let (description, out) = (folder.file("d.json", json), folder.path("out.ptx"));
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
