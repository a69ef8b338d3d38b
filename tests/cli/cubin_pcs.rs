//! Pcs of cubins: each command writes them as a function and an offset in its code, as nvdisasm prints it, and `--pc`
//! takes what a command printed.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::common::check_golden;
use super::tools::Tool;
use super::{Folder, run};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");
const NVLINK: Tool = Tool::new("nvlink", "nvidia-cuda-nvcc of PyPI");
const NVDISASM: Tool = Tool::new("nvdisasm", "nvidia-cuda-nvcc of PyPI");

/// A function that ptxas leaves in a section, and functions that it puts after the kernel that calls them.
const SOURCE: &str = r#"
template<class T> __device__ __noinline__ T twice(T v) { return v * 2 + 1; }
__device__ __forceinline__ float squared(float v) {
  float t = v * v;
  return t + 1.0f;
}
static __device__ __noinline__ int local(int a) {
  int z = a * 3;
  return z + 7;
}
extern "C" __global__ void first(int *p) { *p = twice<int>(*p); }
extern "C" __global__ void second(float *out, const float *in, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float v = in[i];
    sum += squared(v) + local(i);
  }
  out[threadIdx.x] = sum;
}
"#;

const TRITON: &str = "tests/objects/triton/scan_limit.sm_90.cubin";

/// Line of the last row at each function and offset.
type Rows = BTreeMap<(String, u64), u64>;

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a number")
}

/// Rows that nvdisasm prints before the instruction at their offset.
fn disassembled_rows(cubin: &str) -> Option<Rows> {
    let text = NVDISASM.run(&["-g", "-c", cubin])?.clean();
    let mut rows = Rows::new();
    let mut function = String::new();
    let mut line = None;
    for text in text.lines() {
        if let Some(name) = text.strip_prefix(".text.").and_then(|text| text.strip_suffix(':')) {
            name.clone_into(&mut function);
        } else if let Some((_, number)) =
            text.trim().strip_prefix("//## File").and_then(|it| it.split_once(", line "))
        {
            line = Some(number.trim().parse().expect("a line"));
        } else if let Some(offset) = text.trim().strip_prefix("/*").and_then(|text| text.split_once("*/"))
            && let Some(line) = line.take()
        {
            rows.insert((function.clone(), hexadecimal(offset.0)), line);
        }
    }
    Some(rows)
}

/// Rows that `dump` prints.
fn dumped_rows(cubin: &str) -> Rows {
    let text = run(&["dump", cubin]).text();
    let tables = text.split("\nlines: ").skip(1);
    let lines = tables.flat_map(|table| table.lines().skip(1).take_while(|line| line.starts_with("  ")));
    let rows = lines.filter_map(|line| {
        let (function, rest) = line.trim().split_once("+0x")?;
        let (offset, row) = rest.split_once(' ')?;
        let line = row.trim().split(':').nth(1)?;
        Some(((function.to_owned(), hexadecimal(offset)), line.parse().expect("a line")))
    });
    rows.collect()
}

/// The offsets are those that nvdisasm prints in the function's section, in cubins of ptxas and of nvlink.
#[test]
fn pcs_of_rows_are_those_of_the_disassembly() {
    let folder = Folder::new("cubin-pcs");
    let source = folder.file("k.cu", SOURCE);
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let arch = format!("-arch={processor}");
        for options in [&["-G"][..], &["-lineinfo"], &["-G", "-rdc=true"], &["-lineinfo", "-rdc=true"]] {
            let cubin = folder.path("k.cubin");
            let words = [&["-cubin", &*arch, &source, "-o", &cubin], options].concat();
            let Some(ran) = NVCC.run(&words) else { return };
            assert!(ran.succeeded, "{ran}");
            let mut files = vec![cubin.clone()];
            if options.len() > 1 {
                let linked = folder.path("linked.cubin");
                let Some(ran) = NVLINK.run(&[&*arch, "-g", &cubin, "-o", &linked]) else { return };
                ran.clean();
                files.push(linked);
            }
            for file in files {
                let Some(expected) = disassembled_rows(&file) else { return };
                assert!(expected.len() >= 8, "{processor} {options:?}: {expected:?}");
                assert_eq!(dumped_rows(&file), expected, "{processor} {options:?} {file}");
            }
        }
    }
}

/// A function that ptxas puts after a kernel has the kernel's section: `second+0x...` and its own name are the same pc.
#[test]
fn printed_pcs_are_read() {
    let folder = Folder::new("cubin-pcs-read");
    let source = folder.file("k.cu", SOURCE);
    let cubin = folder.path("k.cubin");
    let Some(ran) = NVCC.run(&["-cubin", "-arch=sm_80", "-G", &source, "-o", &cubin]) else { return };
    assert!(ran.succeeded, "{ran}");
    let dump = run(&["dump", &cubin]).text();
    let lines: Vec<&str> = dump.lines().map(str::trim).collect();
    // The list of `sum`, with the name after it.
    let name = lines.iter().position(|line| *line == "DW_AT_name: \"sum\"").expect("the variable");
    let entry = lines[..name].iter().rfind(|line| line.starts_with("second+[0x")).expect("a list");
    let start = entry.strip_prefix("second+[").and_then(|entry| entry.split_once(", ")).expect("a range").0;
    let ran = run(&["explain", &cubin, "--var", "sum", "--pc", &format!("second+{start}"), "--lane", "0"]);
    assert!(ran.text().contains(&format!("pc: second+{start}\n")), "{} {}", ran.text(), ran.errors);
    // The name in the source is not that of the section.
    let ran = run(&["eval", &cubin, "--var", "missing", "--pc", "local+0x30"]);
    let section = lines
        .iter()
        .find(|line| line.starts_with("function ") && line.contains("local"))
        .expect("a function");
    let section = section.strip_prefix("function ").and_then(|it| it.split_once(':')).expect("a name").0;
    assert!(ran.errors.contains(&format!("no variable in scope at pc {section}+0x30 has")), "{}", ran.errors);
    let again = run(&["eval", &cubin, "--var", "missing", "--pc", &format!("{section}+0x30")]);
    assert_eq!(ran.errors, again.errors);
    let beyond = run(&["eval", &cubin, "--var", "sum", "--pc", "second+0x10000"]);
    assert!(beyond.errors.contains("offset 0x10000 is outside `second`, which has 0x"), "{}", beyond.errors);
}

/// What commands print of a cubin, without a pc as the reader's address.
#[test]
fn commands_write_pcs_of_cubins_by_function() {
    let folder = Folder::new("cubin-pcs-commands");
    let empty = folder.file("d.json", r#"{"eitri": 1, "target": "nvptx-sm_90", "describe": []}"#);
    let [out, description, page] = ["out.cubin", "out.json", "out.html"].map(|name| folder.path(name));
    let commands: &[&[&str]] = &[
        &["dump", TRITON],
        &["lint", TRITON],
        &["lint", "--summary", TRITON],
        &["lint", "--format", "github", TRITON],
        &["stats", TRITON],
        &["stats", "--format", "json", TRITON],
        &["check", &empty, TRITON, "--for", "cuda-gdb-sass"],
        &["eval", TRITON, "--var", "nothing", "--pc", "scan_limit+0x20"],
        &["eval", TRITON, "--var", "x", "--pc", "scan_limit+0x3a0"],
        &["explain", TRITON, "--var", "offs", "--pc", "scan_limit+0xa0", "--lane", "0"],
        &["import", TRITON, "-o", &description],
        &["rewrite", TRITON, "-o", &out],
        &["report", TRITON, "-o", &page],
    ];
    let mut text = String::new();
    for command in commands {
        let ran = run(command);
        let words = command.join(" ");
        text += &format!("$ eitri {words}\n{}{}\n", ran.text(), ran.errors);
    }
    let text = text.replace(folder.0.to_str().expect("text"), "/tmp");
    let address = |word: &&str| word.len() == 7 && word.starts_with("0x1");
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    assert_eq!(words.filter(address).collect::<Vec<_>>(), Vec::<&str>::new());
    check_golden("cubin/commands.txt", &text);
}

/// JSON and SARIF keep the reader's addresses, and add the function.
#[test]
fn findings_have_both_pcs() {
    let ran = run(&["lint", "--format", "json", TRITON]);
    let lines = ran.text();
    let findings = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut count = 0;
    for finding in findings.filter(|finding| !finding["pcs"].is_null()) {
        let [pcs, own] = [&finding["pcs"], &finding["function_pcs"]["pcs"]]
            .map(|pcs| [0, 1].map(|index| hexadecimal(&pcs[index].as_str().expect("text")[2..])));
        assert_eq!(finding["function_pcs"]["function"], "scan_limit");
        // The reader's first address is 0x10000.
        assert_eq!(pcs.map(|pc| pc - 0x10000), own);
        count += 1;
    }
    assert!(count > 1, "{lines}");
    let log: Value = serde_json::from_str(&run(&["lint", "--format", "sarif", TRITON]).text()).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let texts: Vec<_> = results.iter().filter_map(|it| it["properties"]["functionPcs"].as_str()).collect();
    assert_eq!(texts.len(), count);
    // `cuobjdump -elf` prints the list's first bounds as 0xa0 and 0x210.
    assert_eq!(texts[0], "scan_limit+[0xa0, 0x210)");
    // Objects of other machines have addresses alone.
    let other = run(&["lint", "--format", "json", "tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco"]).text();
    let first: Value = serde_json::from_str(other.lines().next().expect("a finding")).expect("JSON");
    assert!(first["function_pcs"].is_null(), "{first}");
}
