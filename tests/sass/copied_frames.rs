//! The promise: frames in Mercury copies are compared by the rules in force. What nvcc writes for kernels with arrays on the
//! stack agrees; a changed rule of a copy is found, unless the rule is in force at no pc.

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::read::{CallFrameInstruction, Dwarf, FrameInstruction, FrameSection, Object};
use object::{Object as _, ObjectSection};
use pretty_assertions::assert_eq;

use crate::common::tools::{Folder, Tool};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

/// Kernels with frames on the stack. In the copies of `cleared` and `both` for sm_100 and sm_120, a rule is in force at no pc; in
/// that of `calls`, return addresses are computed from addresses of the code.
const SOURCE: &str = r#"
#include <cstdio>
extern "C" __global__ __launch_bounds__(32) void cleared(int *p, int n) {
  long a[200]; memset(a, 0, sizeof a); a[n % 200] = 3; p[threadIdx.x] = (int)a[(n * 7) % 200];
}
extern "C" __global__ void both(int *p, int n) {
  char a[5]; a[n % 5] = n; a[(n + 1) % 5] = p[1];
  double b[200]; memset(b, 0, sizeof b); b[n % 200] = 3;
  p[threadIdx.x] = (int)a[(n * 7) % 5] + (int)b[(n * 4) % 200];
}
static __device__ __noinline__ int sum(int *p, int n) {
  int t[12]; for (int i = 0; i < 12; i++) t[i] = p[i];
  int s = 0; for (int i = 0; i < n; i++) s ^= t[(i * 3) % 12]; return s;
}
static __device__ __noinline__ int fib(int n) {
  int t[4]; t[n & 3] = n; return n < 2 ? t[n & 3] : fib(n - 1) + fib(n - 2) + t[(n + 1) & 3];
}
extern "C" __global__ void calls(int *p, int n) {
  int a[10]; for (int i = 0; i < 10; i++) a[i] = i * n;
  p[threadIdx.x] = sum(a, n) + sum(p, n + 1) + fib(n) + a[n % 10];
}
extern "C" __global__ void prints(int *p, int n) {
  int a[6]; for (int i = 0; i < 6; i++) a[i] = p[i];
  printf("%d %d\n", a[n % 6], n); p[threadIdx.x] = a[(n + 1) % 6];
}
template <class T, int N> struct Numbers {
  T v[N]; __device__ T sum(int n) { T s = 0; for (int i = 0; i < n; i++) s += v[i % N]; return s; }
};
template <class T, int N> __device__ __noinline__ T total(T *p, int n) {
  Numbers<T, N> s; for (int i = 0; i < N; i++) s.v[i] = p[i]; return s.sum(n);
}
template <class T> __global__ void totals(T *p, int n) { p[threadIdx.x] = total<T, 5>(p, n) + total<T, 9>(p, n); }
template __global__ void totals<int>(int *, int);
template __global__ void totals<double>(double *, int);
extern "C" __global__ void returns(int *p, int n) {
  for (int r = 0; r < n; r++) {
    int a[16]; for (int i = 0; i < 16; i++) a[i] = p[i + r];
    p[r] = a[(r * 3) & 15]; if (a[r & 15] == 77) return;
  }
}
"#;

fn compiled(folder: &Folder, processor: &str, options: &[&str]) -> Option<Vec<u8>> {
    let arch = format!("-arch={processor}");
    let arguments = [&["-cubin", &arch, "a.cu", "-o", "a.cubin"], options].concat();
    let ran = NVCC.run_in(folder.path(), &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("a.cubin")).expect("a cubin"))
}

/// Findings about copies: section and texts.
fn differing(bytes: &[u8]) -> Vec<[String; 3]> {
    let report = lint(bytes, &LintOptions::default()).expect("it is read");
    let findings = report.findings.into_iter().filter(|it| it.code == LintCode::MercuryDiffers);
    findings
        .map(|it| {
            [it.section.into_owned(), it.written, it.meant.map(|meant| meant.to_string()).unwrap_or_default()]
        })
        .collect()
}

#[test]
fn copies_of_nvcc_agree() {
    let folder = Folder::new();
    folder.file("a.cu", SOURCE);
    for processor in ["sm_100", "sm_103", "sm_120"] {
        for options in [&["-lineinfo"][..], &["-G"], &["-lineinfo", "-Xptxas", "-O1"]] {
            let Some(bytes) = compiled(&folder, processor, options) else { return };
            assert_eq!(differing(&bytes), Vec::<[String; 3]>::new(), "{processor} {options:?}");
        }
    }
}

/// A rule of the copies: the byte of its offset in the file, whether it is in force at some pc, and where the pcs are that
/// other rules are in force before and after it.
struct Rule {
    at: usize,
    is_in_force: bool,
    before: Vec<usize>,
    after: Vec<usize>,
    /// Size of the function's code.
    length: u64,
}

/// The rules for the canonical frame address in the copies, by the instructions after each.
fn rules(bytes: &[u8]) -> Vec<Rule> {
    let file = object::File::parse(bytes).expect("an ELF file");
    let section = file.section_by_name(".nv.merc.debug_frame").expect("frames").file_range().expect("bytes");
    let copies = Object::read_mercury(bytes).expect("a cubin").expect("copies");
    let dwarf = Dwarf::read(&copies).expect("debug information");
    let frames = dwarf.frames(FrameSection::Debug).expect("frames");
    let mut rules = Vec::new();
    for fde in &frames.fdes {
        let all: Vec<_> = frames.instructions(fde).collect::<Result<_, _>>().expect("instructions");
        for (index, instruction) in all.iter().enumerate() {
            let CallFrameInstruction::DefCfa { .. } = instruction.instruction else { continue };
            let next = all[index + 1..].iter().find_map(|next| match next.instruction {
                CallFrameInstruction::AdvanceLoc { bytes } => Some(bytes > 0),
                _ => None,
            });
            let advances = |instructions: &[FrameInstruction<'_>]| {
                let is_advance = |it: &&FrameInstruction<'_>| {
                    matches!(it.instruction, CallFrameInstruction::AdvanceLoc { .. })
                };
                let advances = instructions.iter().filter(is_advance);
                advances.map(|it| (section.0 + it.offset) as usize).collect::<Vec<_>>()
            };
            // The opcode, and the register in four bytes.
            let at = (section.0 + instruction.offset) as usize + 5;
            rules.push(Rule {
                at,
                is_in_force: next.unwrap_or(true),
                before: advances(&all[..index]),
                after: advances(&all[index + 1..]),
                length: fde.length,
            });
        }
    }
    rules
}

#[test]
fn changed_rules_of_copies_are_found() {
    let folder = Folder::new();
    folder.file("a.cu", SOURCE);
    for processor in ["sm_100", "sm_120"] {
        let Some(bytes) = compiled(&folder, processor, &["-lineinfo"]) else { return };
        let rules = rules(&bytes);
        let unused = rules.iter().filter(|rule| !rule.is_in_force).count();
        assert!(unused >= 2 && rules.len() >= unused + 5, "{processor}: {unused} of {}", rules.len());
        for rule in &rules {
            let mut changed = bytes.clone();
            // 8 bytes more or less.
            changed[rule.at] ^= 8;
            let found = differing(&changed);
            assert_eq!(found.len(), usize::from(rule.is_in_force), "{processor} {:#x}: {found:?}", rule.at);
            for [section, written, meant] in found {
                assert_eq!(section, ".nv.merc.debug_frame");
                assert!(written.starts_with("canonical frame address: R1+"), "{written}");
                assert!(meant.starts_with("canonical frame address: R1+"), "{meant}");
            }
        }
    }
}

/// The addresses in two rules for return addresses are of the same code; the operation after them is another.
#[test]
fn changed_return_addresses_of_copies_are_found() {
    let folder = Folder::new();
    folder.file("a.cu", SOURCE);
    let Some(bytes) = compiled(&folder, "sm_120", &["-lineinfo"]) else { return };
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let (start, size) =
        file.section_by_name(".nv.merc.debug_frame").expect("frames").file_range().expect("bytes");
    let frames = &bytes[start as usize..(start + size) as usize];
    // DW_OP_bregx with a register of four bytes and the offset 0, and DW_OP_plus.
    let is_sum = |bytes: &[u8]| bytes[0] == 0x92 && bytes[4] == 0x28 && bytes[5..] == [0, 0x22];
    let sums: Vec<usize> = (0..frames.len() - 7).filter(|at| is_sum(&frames[*at..at + 7])).collect();
    assert!(sums.len() > 1, "{sums:?}");
    for at in sums {
        let mut changed = bytes.clone();
        // DW_OP_minus.
        changed[start as usize + at + 6] = 0x1c;
        let found = differing(&changed);
        let [[_, written, meant]] = &found[..] else { panic!("{found:?}") };
        assert!(written.contains("minus") && !meant.contains("minus"), "{written}, {meant}");
    }
}

#[test]
fn rules_of_copies_that_are_in_force_nowhere_are_found() {
    let folder = Folder::new();
    folder.file("a.cu", SOURCE);
    for processor in ["sm_100", "sm_120"] {
        let Some(bytes) = compiled(&folder, processor, &["-lineinfo"]) else { return };
        let rules = rules(&bytes);
        let in_force = rules.iter().filter(|rule| rule.is_in_force && !rule.before.is_empty());
        let mut counts = [0, 0];
        for rule in in_force {
            let mut changed = bytes.clone();
            for &at in rule.before.iter().chain(&rule.after) {
                // DW_CFA_advance_loc4.
                assert_eq!(changed[at], 4, "{processor} {at:#x}");
                changed[at + 1..at + 5].fill(0);
            }
            // The rules before it are in force at all pcs.
            let first = rule.before[0];
            changed[first + 1..first + 5].copy_from_slice(&(rule.length as u32).to_le_bytes());
            counts[usize::from(!differing(&changed).is_empty())] += 1;
        }
        // A rule can repeat the rule before it.
        assert!(counts[1] > 3 && counts[1] >= counts[0], "{processor}: {counts:?}");
    }
}
