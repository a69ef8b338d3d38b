//! The promise: rows of inlined functions in Mercury copies are those of the original, with the row of the call.

use eitri::lint::{LintCode, LintOptions, lint};
use object::{Object as _, ObjectSection};

use crate::common::tools::{Folder, Tool};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

const SOURCE: &str = r#"
__device__ __forceinline__ int twice(int a) {
  return a * 2 + clock();
}
__device__ __forceinline__ int both(int a, int b) {
  int first = twice(a);
  int second = twice(b);
  return first ^ second;
}
extern "C" __global__ void k(int *p, int n) {
  p[0] = twice(n);
  p[1] = both(n, p[2]);
  p[3] = both(p[4], n);
}
"#;

/// Operands of NVIDIA's opcode for inlined functions that are the row of a call: each in a byte.
fn calls(bytes: &[u8]) -> Vec<usize> {
    const INLINED_CALL: u8 = 0x90;
    let file = object::File::parse(bytes).expect("an ELF file");
    let section = file.section_by_name(".nv.merc.debug_line").expect("rows").file_range().expect("bytes");
    let range = section.0 as usize..(section.0 + section.1) as usize;
    let is_call = |at: &usize| {
        let [zero, length, opcode, call, ..] = bytes[*at..] else { return false };
        zero == 0 && (3..=6).contains(&length) && opcode == INLINED_CALL && (2..0x80).contains(&call)
    };
    range.filter(is_call).map(|at| at + 3).collect()
}

#[test]
fn changed_calls_of_copies_are_found() {
    let folder = Folder::new();
    folder.file("a.cu", SOURCE);
    for processor in ["sm_100", "sm_120"] {
        let arch = format!("-arch={processor}");
        let arguments = ["-cubin", "-lineinfo", &arch, "a.cu", "-o", "a.cubin"];
        let Some(ran) = NVCC.run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("a.cubin")).expect("a cubin");
        let differs = |bytes: &[u8]| {
            let report = lint(bytes, &LintOptions::default()).expect("it is read");
            report.findings.iter().any(|finding| finding.code == LintCode::MercuryDiffers)
        };
        assert!(!differs(&bytes), "{processor}");
        let calls = calls(&bytes);
        assert!(calls.len() >= 3, "{processor}: {calls:x?}");
        let is_found = |at: &&usize| {
            let mut changed = bytes.clone();
            changed[**at] -= 1;
            differs(&changed)
        };
        // The row before can have the same position, so that it is the same call.
        let found = calls.iter().filter(is_found).count();
        assert!(2 * found >= calls.len(), "{processor}: {found} of {calls:x?}");
    }
}
