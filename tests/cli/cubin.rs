//! Variables of cubins: `eval` finds their storage by the frames and the map of registers of the cubin.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::kernel::{PTXAS, TEXT};
use super::tools::Tool;
use super::{Folder, run};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

/// A kernel with an array in its frame, which has 32 bytes.
const SOURCE: &str = "extern \"C\" __global__ void k(int *out, int n) {
  int a[8];
  for (int i = 0; i < 8; i++) a[i] = i * n;
  int s = 0;
  for (int i = 0; i < 8; i++) s += a[(i * n) & 7];
  out[threadIdx.x] = s;
}
";

/// Stack pointer of a lane: each lane has another one.
fn stack_pointer(lane: u32) -> u32 {
    0xf00 + 0x40 * lane
}

#[test]
fn variables_in_the_frame_are_in_the_local_memory_of_their_lane() {
    let folder = Folder::new("cubin");
    let source = folder.file("k.cu", SOURCE);
    let cubin = folder.path("k.cubin");
    let Some(ran) = NVCC.run(&["-arch=sm_80", "-G", "-cubin", "-o", &cubin, &source]) else { return };
    assert!(ran.succeeded, "{ran}");
    let r1: String = (0..32)
        .flat_map(|lane| stack_pointer(lane).to_le_bytes())
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for lane in [0, 3, 31] {
        let memory = json!({"space": 5, "lane": lane, "address": format!("{:#x}", stack_pointer(lane)), "bytes": "01020304"});
        let machine = json!({"registers": {"R1": r1}, "lanes": 32, "lane": lane, "memory": [memory]});
        let machine = json!({"target": {"name": "nvptx-sm_80"}, "machine": machine});
        let machine = folder.file("machine.json", machine.to_string());
        // After the prologue, the canonical frame address is R1 + 32, and the array is at -32 from it.
        let ran =
            run(&["eval", &cubin, "--var", "a", "--pc", "k+0x220", "--machine", &machine, "--read", "32"]);
        let expected = format!("location mem:5:{:#x}@{lane}, bytes 01 02 03 04\n", stack_pointer(lane));
        assert_eq!((ran.code, &*ran.errors, ran.text()), (0, "", expected));
    }
}

/// Nearly all of 300 registers are undefined in each row: after the first one, the changes are printed.
#[test]
fn rows_of_a_cubin_have_what_changes() {
    let rows = |arguments: &[&str]| -> Vec<String> {
        let all: Vec<&str> =
            ["dump", "tests/objects/triton/add.sm_90.cubin"].iter().chain(arguments).copied().collect();
        let out = run(&all).text();
        out.lines().filter(|line| line.contains(" cfa=R1+0")).map(String::from).collect()
    };
    let short = rows(&[]);
    let whole = rows(&["-v"]);
    assert_eq!((short.len(), whole.len()), (3, 3));
    assert_eq!(short[0], whole[0]);
    assert_eq!(short[1].trim_start(), "add+0x20     cfa=R1+0");
    // The registers that a call overwrites are one item.
    assert!(whole[1].contains(",R2-R254,") && whole[1].matches("=undefined").count() == 1, "{}", whole[1]);
}

/// Functions and variables of the kernel of `tests/common/cubin.rs`.
const DESCRIPTION: &str = r#"{"eitri": 1, "target": "nvptx-sm_80", "describe": [
{"unit": {"name": "k.cu"}},
{"base_type": {"unit": "k.cu", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "k.cu", "name": "k", "code": {"symbol": "k", "bytes": 10}, "kernel": true}},
{"variable": {"in": "k", "name": "by", "type": "int", "live": [[5, 8, {"per_lane": "%r3"}]]}},
{"variable": {"in": "k", "name": "mixed", "type": "int", "live": [[3, 5, {"per_lane": "%r1"}],
    [5, 7, {"memory": ["global", {"plus": [{"read": [{"per_lane": "%rd2"}, 64]}, 4]}]}]]}}]}"#;

/// Registers of PTX are in registers of the processor, by the map of the cubin: R*n* of lane 3 is 0x1000 + *n*. The class
/// of a variable is the space of its memory places alone.
#[test]
fn variables_in_registers_of_ptx_are_in_their_homes() {
    let folder = Folder::new("homes");
    let description = folder.file("d.json", DESCRIPTION);
    let plain = folder.file("k.ptx", TEXT);
    let text = folder.path("out.ptx");
    let cubin = folder.path("k.cubin");
    assert_eq!(run(&["emit", &description, "--object", &plain, "-o", &text]).code, 0);
    let Some(ran) = PTXAS.run(&["-arch=sm_80", "-g", &text, "-o", &cubin]) else { return };
    ran.clean();
    // No finding above a note.
    let lint = run(&["lint", &cubin, "--fail-on", "warning"]);
    assert_eq!((lint.code, lint.errors.as_str()), (0, ""), "{}", lint.text());
    let dump = run(&["dump", &cubin]).text();
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    // Bounds of `k+[0x10, 0x20` in front of a text.
    let bounds = |line: &str, end: &str| {
        let (bounds, rest) = line.trim().strip_prefix("k+[")?.split_once(end)?;
        let (start, end) = bounds.split_once(", ")?;
        Some((number(start), number(end), rest.to_owned()))
    };
    let places: Vec<_> = dump.lines().filter_map(|line| bounds(line, "): ")).collect();
    let homes: Vec<_> = dump.lines().filter_map(|line| bounds(line, "] ")).collect();
    // Number of the register R in which a word is, if it is in one alone.
    let home = |word: &str, pc: u64| {
        let mut here = homes.iter().filter(|(start, end, _)| (*start..=*end).contains(&pc));
        let mut here = here.by_ref().filter_map(|(.., home)| home.strip_prefix(word)?.strip_prefix(": R"));
        let home: u32 = here.next()?.parse().ok()?;
        here.next().is_none().then_some(home)
    };
    let lanes = |value: u32| -> String {
        let lane = |lane| if lane == 3 { value.to_le_bytes() } else { [0; 4] };
        (0..32).flat_map(lane).map(|byte| format!("{byte:02x}")).collect()
    };
    let registers: serde_json::Map<String, Value> =
        (0..255).map(|n| (format!("R{n}"), json!(lanes(0x1000 + n)))).collect();
    let stopped = |memory: Value| {
        let machine = json!({"registers": registers, "lanes": 32, "lane": 3, "memory": memory});
        json!({"target": {"name": "nvptx-sm_80"}, "machine": machine}).to_string()
    };
    let asked = |command: &str, variable: &str, pc: u64, memory: Value| {
        let machine = folder.file("machine.json", stopped(memory));
        run(&[command, &cubin, "--var", variable, "--pc", &format!("k+{pc:#x}"), "--machine", &machine])
    };
    let mut counts = [0; 4];
    for (start, end, place) in &places {
        for pc in (*start..*end).step_by(16) {
            let (variable, register) = match place.as_str() {
                "regx %r3" => ("by", "%r3"),
                "regx %r1" => ("mixed", "%r1"),
                "bregx %rd2 4" => ("mixed", "%rd2"),
                _ => panic!("{place}"),
            };
            let Some(low) = home(&format!("{register} word 0"), pc) else {
                let ran = asked("eval", variable, pc, json!([]));
                assert_ne!(ran.code, 0);
                let has_reason =
                    ["home at this pc", "homes at this pc"].iter().any(|part| ran.text().contains(part));
                assert!(has_reason, "{variable} {pc:#x}: {} {}", ran.text(), ran.errors);
                counts[3] += 1;
                continue;
            };
            if register == "%rd2" {
                let high = home("%rd2 word 1", pc).expect("both words");
                let address = u64::from(0x1000 + high) << 32 | u64::from(0x1000 + low);
                // Space 8 is global memory, class 5.
                let memory =
                    json!([{"space": 8, "address": format!("{:#x}", address + 4), "bytes": "0a0b0c0d"}]);
                let ran = asked("eval", variable, pc, memory);
                let expected = format!("location mem:8:{:#x}, bytes 0a 0b 0c 0d\n", address + 4);
                assert_eq!((ran.code, ran.text()), (0, expected));
                counts[2] += 1;
                continue;
            }
            let bytes: Vec<String> =
                (0x1000 + low).to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            // Lane 3 of 64 bits each.
            let expected = format!("location reg:{register}+192, bytes {}\n", bytes.join(" "));
            for command in ["eval", "explain"] {
                let ran = asked(command, variable, pc, json!([]));
                assert_eq!(ran.code, 0, "{}", ran.errors);
                assert!(ran.text().ends_with(&expected), "{variable} {pc:#x}: {expected} {}", ran.text());
            }
            counts[usize::from(variable == "mixed")] += 1;
        }
    }
    assert!(counts[..3].iter().all(|&count| count > 0), "{counts:?}");
}
