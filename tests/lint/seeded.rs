//! The promise: faults that are seeded into the objects of seven producers are found. Each changes a few bytes of a fact that the
//! object itself contradicts; `mutations.rs` lists the changes that an object cannot show.

use std::collections::BTreeMap;
use std::path::Path;

use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::op::{Decoder, Op};
use eitri::read::{Dwarf, Entry, FrameSection, Object};
use gimli::constants as dw;
use object::{Object as _, ObjectSection};

use super::compiled::object_of;
use super::source::SOURCE;
use super::tools::{Folder, Tool};
use crate::common::cases::cases;

/// Program of a CPU in Rust, with an inlined function.
const RUST: &str = "
#[inline] fn twice(x: i32) -> i32 { let y = x * 2; y + 1 }
#[unsafe(no_mangle)] pub fn sum(all: &[i32], by: (i64, i32)) -> i64 {
    let mut total = by.0;
    for (index, &one) in all.iter().enumerate() {
        let scaled = twice(one) as i64 * by.1 as i64;
        if scaled & 1 == 0 { let half = scaled / 2; total ^= half; }
        total += scaled + index as i64;
    }
    total
}
";

/// Kernel in CUDA, with a function and arrays.
const CUDA: &str = "
__device__ __noinline__ int sum(int *p, int n) {
  int t[12]; for (int i = 0; i < 12; i++) t[i] = p[i];
  int s = 0; for (int i = 0; i < n; i++) s ^= t[(i * 3) % 12];
  return s;
}
extern \"C\" __global__ void k(int *p, float *q, int n) {
  float v = q[n]; int a[10];
  for (int i = 0; i < 10; i++) a[i] = i * n;
  p[threadIdx.x] = sum(a, n) + (int)v + a[n % 10];
}
";

/// A producer, and its objects in `tests/objects`.
const PRODUCERS: &[(&str, &[&str])] = &[
    (
        "LLVM 19",
        &[
            "llvm19/k02_reduce.gfx1030.O2.o",
            "llvm19/k04_diverge.gfx1100.O2.hsaco",
            "llvm19/k14_spill.gfx1030.O2.hsaco",
        ],
    ),
    (
        "LLVM 22",
        &[
            "llvm22/h13_templ.gfx900.O2.hsaco",
            "llvm22/k01_saxpy.gfx1030.O2.hsaco",
            "llvm22/k14_spill.gfx1100.O2.hsaco",
        ],
    ),
    (
        "AMD",
        &[
            "amd/k02_reduce.gfx1100.O2.hsaco",
            "amd/k05_loopbreak.gfx1030.O2.hsaco",
            "amd/k06_calls.gfx942.O2.hsaco",
        ],
    ),
    (
        "Triton",
        &["triton/reduce_rows.gfx942.hsaco", "triton/add.gfx1100.hsaco", "triton/scan_limit.sm_90.cubin"],
    ),
];

/// A producer's name and objects.
type Producer = (&'static str, Vec<Vec<u8>>);

/// The producers' objects; those of the compilers that are installed are made anew.
fn producers() -> Option<Vec<Producer>> {
    let folder = Path::new(crate::common::ROOT).join("tests/objects");
    let read = |name: &&str| std::fs::read(folder.join(name)).expect("an object");
    let mut all: Vec<_> =
        PRODUCERS.iter().map(|(name, files)| (*name, files.iter().map(read).collect::<Vec<_>>())).collect();
    let own = Folder::new();
    own.file("k.cu", CUDA);
    let clang = object_of(Tool::new("clang-19", "clang-19"), "a.c", SOURCE, &["-g", "-O2"])?;
    all[0].1.push(clang);
    let mut gcc = Vec::new();
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        gcc.push(object_of(Tool::new("gcc", "gcc"), "a.c", SOURCE, &[version, "-O2"])?);
    }
    all.push(("gcc", gcc));
    own.file("a.rs", RUST);
    let rustc = Tool::new("rustc", "rustc");
    let ran =
        rustc.run_in(own.path(), &["-g", "-O", "--crate-type=lib", "--emit=obj", "a.rs", "-o", "rust.o"])?;
    assert!(ran.succeeded, "{ran}");
    let nvcc = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");
    let ran = nvcc.run_in(own.path(), &["-cubin", "-G", "-arch=sm_90", "k.cu", "-o", "k.cubin"])?;
    assert!(ran.succeeded, "{ran}");
    for (name, file) in [("rustc", "rust.o"), ("ptxas", "k.cubin")] {
        all.push((name, vec![std::fs::read(own.path().join(file)).expect("an object")]));
    }
    Some(all)
}

/// A change of an object.
struct Seed {
    fault: &'static str,
    /// Offset in the file.
    at: usize,
    bytes: Vec<u8>,
    /// Lint codes that find the fault; one is enough.
    codes: &'static [LintCode],
}

/// The changes that an object has places for.
struct Seeds<'r, 'o> {
    object: &'r Object<'o>,
    dwarf: &'r Dwarf<'o>,
    /// Start of each section in the file.
    starts: BTreeMap<String, usize>,
    all: Vec<Seed>,
}

const ILL_FORMED: &[LintCode] = &[LintCode::IllFormed, LintCode::Unreadable];

impl Seeds<'_, '_> {
    /// Returns the place of a section's bytes in the file.
    fn place(&self, bytes: &[u8]) -> Option<usize> {
        self.object.sections().iter().find_map(|section| {
            let offset = (bytes.as_ptr() as usize).checked_sub(section.data.as_ptr() as usize)?;
            (offset < section.data.len()).then(|| Some(self.starts.get(&*section.name)? + offset))?
        })
    }

    fn add(&mut self, fault: &'static str, at: usize, bytes: &[u8], codes: &'static [LintCode]) {
        self.all.push(Seed { fault, at, bytes: bytes.to_vec(), codes });
    }

    /// Changes of a location's expression.
    fn expression(&mut self, expr: &[u8], entry: Entry<'_, '_>) {
        let Some(at) = self.place(expr) else { return };
        let Ok(operations) = Decoder::new(expr, entry.unit().encoding).collect::<Result<Vec<_>, _>>() else {
            return;
        };
        let Some(last) = operations.last() else { return };
        // DW_OP_plus without operands.
        self.add("an operation without operands", at, &[0x22], ILL_FORMED);
        if last.offset + 1 == expr.len() {
            // DW_OP_const8u.
            self.add("an operation that is cut off", at + last.offset, &[0x0e], ILL_FORMED);
        }
        // Triton's types without bits have findings of their own.
        let has_size = entry.ty().is_some_and(|ty| ty.number(dw::DW_AT_byte_size) != Some(0));
        let ends = operations.iter().skip(1).map(|next| next.offset).chain([expr.len()]);
        for (operation, end) in operations.iter().zip(ends) {
            let bytes = end - operation.offset - 1;
            match operation.op {
                Op::RegX { .. } if bytes > 1 && expr[operation.offset] == 0x90 => {
                    let number = [&vec![0xff; bytes - 1][..], &[0x7f]].concat();
                    let codes = &[LintCode::UnknownRegister, LintCode::IllFormed];
                    self.add("a register that does not exist", at + operation.offset + 1, &number, codes);
                }
                Op::FbReg { .. } if bytes > 1 => {
                    let codes = &[LintCode::UnknownRegister];
                    self.add("regx for fbreg", at + operation.offset, &[0x90], codes);
                }
                Op::Piece { .. } if bytes == 1 && end == expr.len() && has_size => {
                    let codes = &[LintCode::PiecesBeyondType];
                    self.add("a piece of 64 bytes", end_of(at, expr), &[0x40], codes);
                }
                Op::StackValue { .. } if operations.len() == 2 && constant(&operations[0].op) => {
                    let codes = &[LintCode::ConstantAsAddress];
                    // DW_OP_nop.
                    self.add("a constant without stack_value", at + operation.offset, &[0x96], codes);
                }
                Op::Mul { .. } if expr[operation.offset - 1] == 0x34 => {
                    let codes = &[LintCode::LaneBeyondWave];
                    self.add("lanes of five bytes", at + operation.offset - 1, &[0x35], codes);
                }
                _ => {}
            }
        }
    }

    /// Changes of an entry's location and attributes.
    fn entry(&mut self, entry: Entry<'_, '_>) {
        for location in entry.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default() {
            // An empty range is read by no debugger.
            if location.start >= location.end && !location.is_default() {
                continue;
            }
            self.expression(location.expr, entry);
            if let Some(at) = self.place(location.expr).filter(|_| !location.is_default()) {
                self.add_reversed(at);
            }
        }
        let (name, offset) = self.dwarf.place(entry.offset());
        let Some(section) = self.object.section(name) else { return };
        let data = &section.data[offset as usize..section.data.len().min(offset as usize + 48)];
        let Some(start) = self.place(data) else { return };
        let find = |bytes: &[u8]| {
            let mut places = data.windows(bytes.len()).enumerate().filter(|(_, window)| *window == bytes);
            places.next().filter(|_| places.next().is_none()).map(|(at, _)| start + at)
        };
        if let Some(ty) = entry.reference(dw::DW_AT_type) {
            let distance = ty.offset().wrapping_sub(entry.unit().offset) as u32;
            if let Some(at) =
                find(&distance.to_le_bytes()).filter(|_| self.dwarf.entry_at(ty.offset() + 1).is_none())
            {
                let bytes = (distance + 1).to_le_bytes();
                self.add("a type inside an entry", at, &bytes, &[LintCode::BadReference]);
            }
        }
        let size =
            entry.ranges().ok().and_then(|ranges| Some((ranges.first()?.end - ranges.first()?.start) as u32));
        if let Some(size) = size.filter(|size| *size > 0 && entry.tag() == dw::DW_TAG_subprogram)
            && let Some(at) = find(&size.to_le_bytes())
        {
            let bytes = (size + 0x10_0000).to_le_bytes();
            self.add("a function beyond its code", at, &bytes, &[LintCode::ExtentNotCode]);
        }
    }

    /// Exchanges the bounds of a list entry before its expression, where each has one byte.
    fn add_reversed(&mut self, expr: usize) {
        let Some(at) = expr.checked_sub(4) else { return };
        self.add("a range whose bounds are exchanged", at, &[], &[LintCode::ReversedRange]);
    }

    fn frames(&mut self) {
        for section in [FrameSection::Debug, FrameSection::Eh] {
            let Some(start) = self.starts.get(section.name()).copied() else { continue };
            let frames = self.dwarf.readable_frames(section);
            for fde in &frames.fdes {
                let first = frames.instructions(fde).next().and_then(Result::ok);
                let Some(first) = first else { continue };
                let codes = &[LintCode::BadFrameInstruction, LintCode::Unreadable];
                self.add("an unknown frame instruction", start + first.offset as usize, &[0x3f], codes);
            }
        }
    }
}

fn end_of(at: usize, expr: &[u8]) -> usize {
    at + expr.len() - 1
}

fn constant(op: &Op<'_>) -> bool {
    matches!(op, Op::ConstU { .. } | Op::ConstS { .. })
}

/// The changes of an object, with the file's bytes where a change exchanges them.
fn seeds(bytes: &[u8]) -> Vec<Seed> {
    let file = object::File::parse(bytes).expect("an ELF file");
    let starts = file
        .sections()
        .filter_map(|section| Some((section.name().ok()?.to_owned(), section.file_range()?.0 as usize)));
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let mut seeds = Seeds { object: &object, dwarf: &dwarf, starts: starts.collect(), all: Vec::new() };
    for entry in dwarf.entries() {
        seeds.entry(entry);
    }
    seeds.frames();
    let mut all = seeds.all;
    all.retain_mut(|seed| {
        if !seed.bytes.is_empty() {
            return true;
        }
        // DW_LLE_offset_pair, start, end, length.
        let [kind, start, end, _] = bytes[seed.at..seed.at + 4] else { return false };
        seed.bytes = vec![kind, end, start];
        kind == 4 && start < end && end < 0x80
    });
    all
}

fn findings(bytes: &[u8]) -> Vec<LintFinding> {
    lint(bytes, &LintOptions::default()).map(|report| report.findings).unwrap_or_default()
}

/// Seeds and findings of a fault.
type Counts = BTreeMap<&'static str, [usize; 2]>;

fn seeded(bytes: &[u8], counts: &mut Counts, missed: &mut Vec<String>) {
    let before = findings(bytes);
    let mut by_fault: BTreeMap<&'static str, Vec<Seed>> = BTreeMap::new();
    for seed in seeds(bytes) {
        by_fault.entry(seed.fault).or_default().push(seed);
    }
    let most = cases(12);
    for (fault, seeds) in by_fault {
        // Spread evenly over the object.
        let step = seeds.len().div_ceil(most);
        for seed in seeds.iter().step_by(step) {
            let mut changed = bytes.to_vec();
            changed[seed.at..seed.at + seed.bytes.len()].copy_from_slice(&seed.bytes);
            let is_new =
                |finding: &LintFinding| seed.codes.contains(&finding.code) && !before.contains(finding);
            let after = findings(&changed);
            let counts = counts.entry(fault).or_default();
            counts[0] += 1;
            if after.iter().any(is_new) {
                counts[1] += 1;
            } else {
                missed.push(format!("{fault} at {:#x}", seed.at));
            }
        }
    }
}

#[test]
fn seeded_faults_of_each_producer_are_found() {
    let Some(producers) = producers() else { return };
    let mut missed = Vec::new();
    for (producer, objects) in producers {
        let mut counts = Counts::new();
        for bytes in &objects {
            let mut own = Vec::new();
            seeded(bytes, &mut counts, &mut own);
            missed.extend(own.into_iter().map(|fault| format!("{producer}: {fault}")));
        }
        let [total, found] = counts.values().fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        println!("{producer}: {found} of {total}");
        for (fault, [total, found]) in &counts {
            println!("  {fault}: {found} of {total}");
        }
        assert!(counts.len() >= 4 && total >= 20, "{producer}: {counts:?}");
    }
    // An expression with a `call_ref` is not judged, because other entries are not called; and a location is not compared with
    // the wave where a computation reads it.
    let expected = ["LLVM 19: an operation without operands at 0x28d9", "AMD: lanes of five bytes at 0xafe"];
    assert_eq!(missed, expected);
}
