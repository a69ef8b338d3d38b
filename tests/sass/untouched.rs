//! Objects of nvcc for sm_100 and later, as nvcc leaves them: ptxas writes functions of a file in another order in Mercury
//! copies, and repeats rules of frames there.

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::read::nvidia::lines;
use eitri::read::{ElfSymbolKind, Object};
use pretty_assertions::assert_eq;

use super::mercury::linked;
use super::*;
use crate::rewrite::nvlink::compiled as compiled_by_nvcc;

/// Functions of the file alone, of all files, and without instructions.
const SOURCE: &str = r#"
namespace {
__device__ __noinline__ int hidden(int x) {
  int y = x * 11;
  y = y * y + x;
  return y ^ 0x5a5;
}
}
static __device__ __noinline__ int local(int x) {
  int y = x * 13;
  y = y * y + x;
  return y ^ 0x3a3;
}
__device__ __noinline__ int shared(int x) { int y = x * 17; return y - 1; }
template<class T> __device__ __noinline__ T twice(T v) { T s = v * 2; return s + 1; }
__device__ __noinline__ void nothing() { }
extern "C" __global__ void empty() { }
extern "C" __global__ void k(int *p) {
  nothing();
  p[0] = twice<int>(p[1]) + shared(hidden(p[2])) + local(p[3]);
  p[1] = (int) twice<double>((double) p[5]);
}"#;

/// ptxas repeats a row of the kernel in the copy alone.
const REPEATED: &str = r#"
class B { public: __device__ virtual int v(int a) { return a; } int x; };
class D : public B { public: __device__ int v(int a) override { return a * x + 1; } double y; };
__device__ __noinline__ int use(B *b) { return b->v(5); }
__global__ void k(int *p, int n) { D d; d.x = n; d.y = 2; p[0] = use(&d); auto f = [=](int q) { return q * n; }; p[1] = f(3); }"#;

const PROCESSORS: [&str; 2] = ["sm_100", "sm_120"];

/// Compiles a relocatable object; `None` without nvcc.
fn object(processor: &str, source: &str, debug: &str) -> Option<Vec<u8>> {
    let folder = Folder::new();
    compiled_by_nvcc(&folder, processor, "k", source, debug)?;
    Some(std::fs::read(folder.path().join("k.o")).expect("an object"))
}

#[test]
fn objects_of_nvcc_agree_with_their_copies() {
    for processor in PROCESSORS {
        for (source, debug) in [(SOURCE, "-G"), (SOURCE, "-lineinfo"), (REPEATED, "-lineinfo")] {
            let Some(bytes) = object(processor, source, debug) else { return };
            assert_eq!(differing(&bytes), Vec::<String>::new(), "{processor} {debug}");
        }
    }
}

/// nvlink drops one of two functions with the same name from the sections that it makes again, but not from their copies.
#[test]
fn linked_cubins_agree_with_their_copies() {
    let other = r#"
template<class T> __device__ __noinline__ T twice(T v) { T s = v * 2; return s + 1; }
extern "C" __global__ void other(int *p) { *p = twice<int>(*p); }"#;
    for processor in PROCESSORS {
        for debug in ["-G", "-lineinfo"] {
            let Some(one) = object(processor, SOURCE, debug) else { return };
            let Some(two) = object(processor, other, debug) else { return };
            let Some(bytes) = linked(processor, [&one, &two]) else { return };
            let copies = Object::read_mercury(&bytes).expect("a cubin").expect("copies");
            let is_filled = |name: &str| copies.section(name).is_some_and(|section| !section.data.is_empty());
            assert!(is_filled(".debug_line") && is_filled(".debug_frame"), "{processor}");
            assert_eq!(differing(&bytes), Vec::<String>::new(), "{processor} {debug}");
        }
    }
}

/// Findings about copies.
fn differing(bytes: &[u8]) -> Vec<String> {
    let report = lint(bytes, &LintOptions::default()).expect("a report");
    let all = report.findings.iter().filter(|it| it.code == LintCode::MercuryDiffers);
    all.map(|it| format!("{} {:#x}: {}", it.section, it.offset, it.written)).collect()
}

/// Each function's rows say which Mercury pcs it has, wherever its rows are in the table. nvlink makes the rows again, so
/// that a variable from row to row is from row to row in the linked file too.
#[test]
fn variables_of_local_functions_move_with_their_rows() {
    for processor in PROCESSORS {
        let Some(bytes) = object(processor, SOURCE, "-lineinfo") else { return };
        let other = "extern \"C\" __global__ void other(int *p) { *p = 1; }";
        let Some(second) = object(processor, other, "-lineinfo") else { return };
        let before = Object::read(&bytes).expect("a cubin");
        let functions = before.symbols().iter().filter(|it| it.kind == ElfSymbolKind::Func && it.is_defined);
        let names: Vec<String> = functions.map(|symbol| symbol.name.to_string()).collect();
        assert!(names.iter().any(|name| name.contains("hidden")) && names.len() >= 6, "{names:?}");
        let mut moved = Vec::new();
        for name in &names {
            let rows_before = rows(&before, name);
            // The first row's pc is the function's, and the last row ends it.
            let [_, start, end, ..] = rows_before[..] else { continue };
            let target = target(processor);
            let size = before.symbol(name).expect("a function").size;
            let module = variable(&target, name, size, start..end).expect("a module");
            let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections");
            let how = with::<AttachOptions>(|options| options.existing = Existing::KeepLines);
            let attached = attach_with(&bytes, &target, &written.sections, &how);
            let attached = attached.unwrap_or_else(|error| panic!("{processor} {name}: {error}"));
            let Some(linked) = linked(processor, [&attached, &second]) else { return };
            let after = Object::read(&linked).expect("a cubin");
            let rows_after = rows(&after, name);
            assert_eq!(rows_before.len(), rows_after.len(), "{processor} {name}");
            let at = after.symbol_address(name).expect("a function");
            let dwarf = eitri::read::Dwarf::read(&after).expect("entries");
            let variable = dwarf.entries().find(|it| it.name().as_deref() == Some("v")).expect("a variable");
            let list = variable.locations(gimli::DW_AT_location).expect("a list").expect("a list");
            let bounds: Vec<_> = list.iter().map(|it| [it.start - at, it.end - at]).collect();
            assert_eq!(bounds, [[rows_after[1], rows_after[2]]], "{processor} {name}");
            moved.push(name);
        }
        let is_moved = |part: &str| moved.iter().any(|name| name.contains(part));
        assert!(["hidden", "local", "k"].iter().all(|part| is_moved(part)), "{processor}: {moved:?}");
    }
}

/// Pcs of a function's rows, in bytes from its start, in order and each once.
fn rows(object: &Object<'_>, function: &str) -> Vec<u64> {
    let start = object.symbol_address(function).expect("a function");
    let size = object.symbol(function).expect("a function").size;
    let mut pcs = Vec::new();
    for program in lines(object) {
        let program = program.expect("lines");
        let mut rows = program.rows();
        while let Some(row) = rows.next_row().expect("a row") {
            pcs.extend(row.address.checked_sub(start).filter(|pc| *pc <= size));
        }
    }
    pcs.dedup();
    pcs
}

fn variable(target: &Target, function: &str, size: u64, pcs: std::ops::Range<u64>) -> eitri::Result<Module> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let function = m.function(unit, function)?.code(function, size).id();
    m.variable(function, "v", int)?.live(pcs, Loc::per_lane(target.register_named("R4")?))?;
    m.finish()
}
