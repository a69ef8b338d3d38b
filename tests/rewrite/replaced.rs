//! Copies of a function that nvlink replaces by the copy of a later object, because that one needs fewer registers: rows and
//! frames of both keep their relocation.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use eitri::import::UnimportedReason;
use eitri::read::Object;
use eitri::rewrite::RewriteChange;
use pretty_assertions::assert_eq;

use super::cubins::dumped;
use super::nvlink::{NVLINK, Outputs, compiled, disassembled};
use super::rewritten;
use crate::common::tools::Folder;

/// A function that needs 70 registers with `-O3`, and 43 with `-G`.
const SOURCE: &str = r#"
template<class T> __device__ __noinline__ T mix(const T *p, int n) {
  T a[12];
  for (int i = 0; i < 12; i++) a[i] = p[i * n];
  T s = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 12; i++) { a[i] = a[i] * a[(i + 5) % 12] + p[k]; s += a[i]; }
  return s;
}
extern "C" __global__ void KERNEL(float *p, int n) { *p = mix<float>(p, n); }"#;
const MIX: &str = "_Z3mixIfET_PKS0_i";
const PROCESSORS: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// Options of two objects. The second object's function needs fewer registers. `-Xptxas=-lineinfo` gives a function rows of
/// the PTX alone, because the PTX has no source lines.
const PAIRS: [[&str; 2]; 7] = [
    ["-lineinfo", "-G"],
    ["-lineinfo", "-lineinfo -maxrregcount=24"],
    ["-G", "-lineinfo -maxrregcount=24"],
    ["-O3", "-lineinfo -maxrregcount=24"],
    ["-lineinfo", "-O3 -maxrregcount=24"],
    ["-lineinfo", "-Xptxas=-lineinfo -maxrregcount=24"],
    ["-Xptxas=-lineinfo", "-lineinfo -maxrregcount=24"],
];

/// Name of an object of a pair, with its place in the pair. Equal options have one object.
fn object(number: usize, place: usize) -> String {
    let first = PAIRS.iter().position(|pair| pair[place] == PAIRS[number][place]).expect("the pair");
    format!("{}{first}", ["a", "b"][place])
}

/// Objects with their names.
type Objects = BTreeMap<String, Vec<u8>>;
static OBJECTS: Outputs<String, Objects> = Outputs::new();

/// Compiles the objects of the pairs, which all are in one folder.
fn objects(processor: &str) -> Option<Folder> {
    let objects = OBJECTS.get(processor.to_owned(), || {
        let folder = Folder::new();
        let mut objects = Objects::new();
        for (number, pair) in PAIRS.iter().enumerate() {
            for (place, kernel) in ["kernel_a", "kernel_b"].iter().enumerate() {
                let Entry::Vacant(entry) = objects.entry(object(number, place)) else { continue };
                let source = SOURCE.replace("KERNEL", kernel);
                compiled(&folder, processor, entry.key(), &source, pair[place])?;
                let path = folder.path().join(format!("{}.o", entry.key()));
                entry.insert(std::fs::read(path).expect("an object"));
            }
        }
        Some(objects)
    })?;
    let folder = Folder::new();
    for (name, bytes) in objects {
        folder.file(&format!("{name}.o"), bytes);
    }
    Some(folder)
}

fn linked(folder: &Folder, processor: &str, options: &[&str], objects: &[&str]) -> Option<Vec<u8>> {
    let arch = format!("-arch={processor}");
    let objects: Vec<String> = objects.iter().map(|name| format!("{name}.o")).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let words = [&[&*arch], options, &objects, &["-o", "linked.cubin"]].concat();
    NVLINK.run_in(folder.path(), &words)?.clean();
    Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
}

/// The function's code and rows as nvdisasm prints them.
fn code(bytes: &[u8]) -> Option<String> {
    let text = disassembled(bytes)?;
    let head = format!(".text.{MIX} ");
    let code = text.split("//-----").find(|part| part.contains(&head)).expect("the function");
    assert!(code.lines().count() > 20, "{code}");
    Some(code.to_owned())
}

/// What `dump` prints of the function: rows, frame, lists and homes. `has_frames` is whether frames are part of it.
fn said(bytes: &[u8], has_frames: bool) -> Vec<String> {
    let text = dumped(bytes);
    let frame = |line: &str| line.contains("cfa=") || line.starts_with(MIX);
    let lines = text.lines().filter(|line| line.contains(&format!("{MIX}+")) && (has_frames || !frame(line)));
    lines.map(str::to_owned).collect()
}

/// The function's code in a link of the kept object alone.
struct Alone {
    cubin: Vec<u8>,
    code: String,
}

/// Links objects of pairs alone, by their names.
fn alone(folder: &Folder, processor: &str, numbers: &[usize]) -> Option<BTreeMap<String, Alone>> {
    let mut all = BTreeMap::new();
    for name in numbers.iter().map(|&number| object(number, 1)) {
        if let Entry::Vacant(entry) = all.entry(name) {
            let cubin = linked(folder, processor, &["-g"], &[entry.key()])?;
            let code = code(&cubin)?;
            let cubin = rewritten(&cubin, |_| {}).unwrap_or_else(|error| panic!("{}: {error}", entry.key()));
            entry.insert(Alone { cubin: cubin.object, code });
        }
    }
    Some(all)
}

/// The rewritten file says what it says when the kept object is linked alone.
fn is_kept(name: &str, linked: &[u8], alone: &Alone, has_frames: bool) -> Option<()> {
    let after = rewritten(linked, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(code(&after.object)?, alone.code, "{name}");
    assert_eq!(said(&after.object, has_frames), said(&alone.cubin, has_frames), "{name}");
    assert!(has_frames || said(&after.object, true) == said(&after.object, false), "{name}");
    let again = rewritten(&after.object, |_| {}).expect("a rewritten cubin");
    assert!(again.object == after.object && again.changes.is_empty(), "{name}");
    Some(())
}

/// Links the pairs for a processor in both orders.
fn pairs_are_kept(processor: &str) -> Option<()> {
    let folder = objects(processor)?;
    let all: Vec<usize> = (0..PAIRS.len()).collect();
    let alone = alone(&folder, processor, &all)?;
    let is_remade = matches!(processor, "sm_100" | "sm_120");
    for (number, pair) in PAIRS.iter().enumerate() {
        let [a, b] = [object(number, 0), object(number, 1)];
        let name = format!("{processor} {pair:?}");
        // The kept copy is the first one.
        let first = linked(&folder, processor, &["-g"], &[&b, &a])?;
        is_kept(&format!("{name}, first"), &first, &alone[&b], true)?;
        let later = linked(&folder, processor, &["-g"], &[&a, &b])?;
        let has_all_rows =
            pair.iter().all(|options| !options.starts_with("-O3") && !options.starts_with("-Xptxas"));
        if is_remade && !has_all_rows {
            // Rows have the size of the new code, whosever they are.
            let error = rewritten(&later, |_| {}).expect_err("rows of one copy");
            assert!(error.to_string().contains(MIX) && error.at().offset.is_some(), "{name}: {error}");
            continue;
        }
        is_kept(&name, &later, &alone[&b], !is_remade)?;
    }
    Some(())
}

#[test]
fn later_copies_keep_their_rows_frame_and_map() {
    std::thread::scope(|scope| {
        for processor in PROCESSORS {
            scope.spawn(move || pairs_are_kept(processor));
        }
    });
}

/// The report lists what goes.
#[test]
fn replaced_copies_are_listed() {
    let Some(folder) = objects("sm_90") else { return };
    let Some(later) = linked(&folder, "sm_90", &["-g"], &["a0", "b0"]) else { return };
    let changes = rewritten(&later, |_| {}).expect("a cubin").changes;
    for section in [".debug_line", ".nv_debug_line_sass", ".debug_frame"] {
        let count = changes.iter().filter(|change| {
            matches!(change, RewriteChange::Removed(fact)
                if fact.section == section && fact.reason == UnimportedReason::OtherCopy)
        });
        assert_eq!(count.count(), 1, "{section}: {changes:?}");
    }
}

/// `nvlink -r` has chosen too. With the rewritten object, the linked file has the frame of the kept code for all processors.
fn partial_links_are_kept(processor: &str) -> Option<()> {
    let folder = objects(processor)?;
    let numbers = [0, 1, 2];
    let alone = alone(&folder, processor, &numbers)?;
    for number in numbers {
        let [a, b] = [object(number, 0), object(number, 1)];
        let partial = linked(&folder, processor, &["-r"], &[&a, &b])?;
        let name = format!("{processor} {number}");
        let after = rewritten(&partial, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}")).object;
        assert!(Object::read(&after).expect("a cubin").is_relocatable());
        folder.file("partial.o", after);
        let last = linked(&folder, processor, &["-g"], &["partial"])?;
        is_kept(&name, &last, &alone[&b], true)?;
    }
    Some(())
}

#[test]
fn replaced_copies_go_after_partial_links() {
    std::thread::scope(|scope| {
        for processor in ["sm_80", "sm_90", "sm_120"] {
            scope.spawn(move || partial_links_are_kept(processor));
        }
    });
}
