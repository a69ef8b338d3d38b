//! Copies of a function that nvlink replaces by the copy of a later object, because that one needs fewer registers: rows and
//! frames of both keep their relocation.

use eitri::import::UnimportedReason;
use eitri::read::Object;
use eitri::rewrite::RewriteChange;
use pretty_assertions::assert_eq;

use super::cubins::dumped;
use super::nvlink::{NVLINK, compiled, disassembled};
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

/// Options of two objects. The second object's function needs fewer registers.
const PAIRS: [[&str; 2]; 5] = [
    ["-lineinfo", "-G"],
    ["-lineinfo", "-lineinfo -maxrregcount=24"],
    ["-G", "-lineinfo -maxrregcount=24"],
    ["-O3", "-lineinfo -maxrregcount=24"],
    ["-lineinfo", "-O3 -maxrregcount=24"],
];

/// Compiles each object of the pairs once, as `a0.o` and `b0.o` for the first pair.
fn objects(processor: &str) -> Option<Folder> {
    let folder = Folder::new();
    for (place, name) in ["a", "b"].iter().enumerate() {
        let source = SOURCE.replace("KERNEL", &format!("kernel_{name}"));
        for (number, pair) in PAIRS.iter().enumerate() {
            let first = PAIRS.iter().position(|other| other[place] == pair[place]).expect("the pair");
            if first == number {
                compiled(&folder, processor, name, &source, pair[place])?;
                let object = std::fs::read(folder.path().join(format!("{name}.o"))).expect("an object");
                folder.file(&format!("{name}{number}.o"), object);
            } else {
                let object =
                    std::fs::read(folder.path().join(format!("{name}{first}.o"))).expect("an object");
                folder.file(&format!("{name}{number}.o"), object);
            }
        }
    }
    Some(folder)
}

fn linked(folder: &Folder, processor: &str, options: &[&str], objects: &[&str]) -> Option<Vec<u8>> {
    let arch = format!("-arch={processor}");
    let words = [&[&*arch], options, objects, &["-o", "linked.cubin"]].concat();
    NVLINK.run_in(folder.path(), &words)?.clean();
    Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
}

/// The function's code and rows as nvdisasm prints them.
fn code(bytes: &[u8]) -> Option<Vec<String>> {
    let text = disassembled(bytes)?;
    let head = format!(".text.{MIX} ");
    let parts: Vec<String> =
        text.split("//-----").filter(|part| part.contains(&head)).map(str::to_owned).collect();
    assert_eq!(parts.len(), 2, "{text}");
    assert!(parts.iter().all(|part| part.lines().count() > 20));
    Some(parts)
}

/// What `dump` prints of the function: rows, frame, lists and homes. `has_frames` is whether frames are part of it.
fn said(bytes: &[u8], has_frames: bool) -> Vec<String> {
    let text = dumped(bytes);
    let frame = |line: &str| line.contains("cfa=") || line.starts_with(MIX);
    let lines = text.lines().filter(|line| line.contains(&format!("{MIX}+")) && (has_frames || !frame(line)));
    lines.map(str::to_owned).collect()
}

/// The rewritten file says what it says when the kept object is linked alone.
fn is_kept(name: &str, linked: &[u8], alone: &[u8], has_frames: bool) -> Option<()> {
    let after = rewritten(linked, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected = rewritten(alone, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}")).object;
    assert_eq!(code(&after.object)?, code(alone)?, "{name}");
    assert_eq!(said(&after.object, has_frames), said(&expected, has_frames), "{name}");
    assert!(has_frames || said(&after.object, true) == said(&after.object, false), "{name}");
    let again = rewritten(&after.object, |_| {}).expect("a rewritten cubin");
    assert!(again.object == after.object && again.changes.is_empty(), "{name}");
    Some(())
}

#[test]
fn later_copies_keep_their_rows_frame_and_map() {
    for processor in PROCESSORS {
        let Some(folder) = objects(processor) else { return };
        let is_remade = matches!(processor, "sm_100" | "sm_120");
        for (number, pair) in PAIRS.iter().enumerate() {
            let [a, b] = ["a", "b"].map(|name| format!("{name}{number}.o"));
            let Some(alone) = linked(&folder, processor, &["-g"], &[&b]) else { return };
            let name = format!("{processor} {pair:?}");
            // The kept copy is the first one.
            let Some(first) = linked(&folder, processor, &["-g"], &[&b, &a]) else { return };
            if is_kept(&format!("{name}, first"), &first, &alone, true).is_none() {
                return;
            }
            let Some(later) = linked(&folder, processor, &["-g"], &[&a, &b]) else { return };
            let has_all_rows = pair.iter().all(|options| !options.starts_with("-O3"));
            if is_remade && !has_all_rows {
                // Rows have the size of the new code, whosever they are.
                let error = rewritten(&later, |_| {}).expect_err("rows of one copy");
                assert!(error.to_string().contains(MIX) && error.at().offset.is_some(), "{name}: {error}");
                continue;
            }
            if is_kept(&name, &later, &alone, !is_remade).is_none() {
                return;
            }
        }
    }
}

/// The report lists what goes.
#[test]
fn replaced_copies_are_listed() {
    let Some(folder) = objects("sm_90") else { return };
    let Some(later) = linked(&folder, "sm_90", &["-g"], &["a0.o", "b0.o"]) else { return };
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
#[test]
fn replaced_copies_go_after_partial_links() {
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(folder) = objects(processor) else { return };
        for number in [0, 1, 2] {
            let [a, b] = ["a", "b"].map(|name| format!("{name}{number}.o"));
            let Some(alone) = linked(&folder, processor, &["-g"], &[&b]) else { return };
            let Some(partial) = linked(&folder, processor, &["-r"], &[&a, &b]) else { return };
            let name = format!("{processor} {number}");
            let after = rewritten(&partial, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}")).object;
            assert!(Object::read(&after).expect("a cubin").is_relocatable());
            folder.file("partial.o", after);
            let Some(last) = linked(&folder, processor, &["-g"], &["partial.o"]) else { return };
            if is_kept(&name, &last, &alone, true).is_none() {
                return;
            }
        }
    }
}
