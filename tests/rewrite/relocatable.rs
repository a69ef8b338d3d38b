//! Relocatable cubins: what ptxas wrote is said as before, and nvlink makes the same linked cubin of it.

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::rewrite::RewriteOptions;

use super::cubins::{dumped, printed_homes};
use super::nvlink::{FIRST, NVLINK, Outputs, X, Y, compiled, disassembled, printed};
use super::{loaded, rewritten};
use crate::common::cases::{Random, cases};
use crate::common::tools::Folder;

const PROCESSORS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];

static OBJECTS: Outputs<[String; 3], Vec<u8>> = Outputs::new();

/// Functions that only this file has, in an order that ptxas changes in copies.
const LOCAL: &str = r#"
#include "s.h"
namespace { __device__ __noinline__ int hidden(int x) { return x * 11; } }
static __device__ __noinline__ int local(int x) { int y = x * 13; return y * y + x; }
template<class T> __device__ __noinline__ T twice(T v) { T s = v * 2; return s + 1; }
__device__ __noinline__ void nothing() { }
extern "C" __global__ void empty() { }
extern "C" __global__ void many(int *p, S s) {
  nothing();
  p[0] = twice<int>(p[1]) + hidden(p[2]) + local(p[3]) + s.a;
  p[1] = (int) twice<double>((double) p[5]);
}"#;

/// Rewrites an object, and requires that its loaded bytes and its facts stay, that fields contain their addends, that copies
/// agree, and that a second rewrite changes nothing.
fn checked(name: &str, before: &[u8], set: fn(&mut RewriteOptions<'_>)) -> Vec<u8> {
    let after = rewritten(before, set);
    let after = after.unwrap_or_else(|error| panic!("{name}: {error}")).object;
    loaded::are_equal(name, before, &after);
    pretty_assertions::assert_eq!(facts(before), facts(&after), "{name}");
    let object = Object::read(&after).expect("a cubin");
    assert!(object.is_relocatable() && object.stale_fields().is_none(), "{name}");
    let report = lint(&after, &LintOptions::default()).expect("a report");
    let wrong = |code| matches!(code, LintCode::MercuryDiffers | LintCode::Unreadable | LintCode::StaleField);
    let found: Vec<_> = report.findings.iter().filter(|it| wrong(it.code)).collect();
    assert!(found.is_empty(), "{name}: {found:?}");
    // Tables of relocations and of symbols can grow, most in partial links, whose relocations are restored; and ptxas lets
    // originals and copies share bytes.
    assert!(after.len() <= before.len() + before.len() / 8, "{name}: {} {}", before.len(), after.len());
    let again = rewritten(&after, set).expect("a rewritten cubin");
    assert!(again.object == after && again.changes.is_empty(), "{name}: a second rewrite changes it");
    after
}

/// What `dump` prints, apart from the offsets of frames' common entries, which ptxas writes wrong from sm_90 on.
fn facts(bytes: &[u8]) -> String {
    let text = dumped(bytes);
    text.lines().map(|line| line.replace(", with the common entry before it", "") + "\n").collect()
}

/// Links objects with debug information.
fn linked(processor: &str, objects: &[&[u8]], options: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let arch = format!("-arch={processor}");
    let names: Vec<String> = (0..objects.len()).map(|index| format!("{index}.o")).collect();
    for (name, object) in names.iter().zip(objects) {
        folder.file(name, object);
    }
    let mut words = vec![&*arch, "-g", "-o", "linked.cubin"];
    words.extend(options);
    words.extend(names.iter().map(|name| &**name));
    NVLINK.run_in(folder.path(), &words)?.clean();
    Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
}

fn object(processor: &str, source: &str, debug: &str) -> Option<Vec<u8>> {
    OBJECTS.get([processor, source, debug].map(str::to_owned), || {
        let folder = Folder::new();
        compiled(&folder, processor, "part", source, debug)?;
        Some(std::fs::read(folder.path().join("part.o")).expect("an object"))
    })
}

#[test]
fn objects_are_linked_to_what_the_originals_are_linked_to() {
    for processor in PROCESSORS {
        for debug in [["-G", "-G"], ["-lineinfo", "-G"], ["-G", "-lineinfo"]] {
            let name = format!("{processor} {debug:?}");
            let sources = [(LOCAL, debug[0]), (Y, debug[1])];
            let mut originals = Vec::new();
            for (source, debug) in sources {
                let Some(bytes) = object(processor, source, debug) else { return };
                originals.push(bytes);
            }
            let after: Vec<Vec<u8>> =
                originals.iter().map(|bytes| checked(&name, bytes, |it| it.dedupe = true)).collect();
            let originals: Vec<&[u8]> = originals.iter().map(Vec::as_slice).collect();
            let after: Vec<&[u8]> = after.iter().map(Vec::as_slice).collect();
            let Some(expected) = linked(processor, &originals, &[]) else { return };
            let Some(actual) = linked(processor, &after, &[]) else { return };
            let Some(code) = disassembled(&expected) else { return };
            pretty_assertions::assert_eq!(disassembled(&actual), Some(code), "{name}");
            pretty_assertions::assert_eq!(facts(&expected), facts(&actual), "{name}");
            let Some([old, new]) = printed(&expected, &actual) else { return };
            assert_eq!(printed_homes(&old), printed_homes(&new), "{name}");
            // Each frame names the common entry before it, which ptxas's own addends do not do for sm_90.
            let object = Object::read(&actual).expect("a cubin");
            let dwarf = Dwarf::read(&object).expect("entries");
            let frames = dwarf.frames(FrameSection::Debug).expect("frames");
            for fde in &frames.fdes {
                let last = frames.cies.iter().rev().find(|cie| cie.offset < fde.offset);
                assert_eq!(frames.cie(fde).offset, last.expect("a common entry").offset, "{name}");
            }
        }
    }
}

/// nvlink writes no relocations of offsets when it links with `-r`, so that the entries of a second input are unreadable. A rewrite
/// gives the offsets their relocations.
#[test]
fn objects_of_partial_links_get_relocations() {
    for processor in PROCESSORS {
        let Some(x) = object(processor, X, "-G") else { return };
        let Some(local) = object(processor, LOCAL, "-G") else { return };
        let Some(y) = object(processor, Y, "-G") else { return };
        let Some(partial) = linked(processor, &[&x, &local], &["-r"]) else { return };
        let after = checked(processor, &partial, |_| {});
        // The first input's offsets stay.
        let [first, rewritten] = [&partial, &after].map(|object| linked(processor, &[object, &y], &[]));
        let [Some(first), Some(rewritten)] = [first, rewritten] else { return };
        pretty_assertions::assert_eq!(facts(&first), facts(&rewritten), "{processor}");
        let Some(second) = linked(processor, &[&y, &partial], &[]) else { return };
        assert!(unreadable(&second) > 0, "{processor}");
        let Some(actual) = linked(processor, &[&y, &after], &[]) else { return };
        assert_eq!(unreadable(&actual), 0, "{processor}");
        let Some(whole) = linked(processor, &[&y, &x, &local], &[]) else { return };
        let [Some(expected), Some(actual)] = [&whole, &actual].map(|bytes| disassembled(bytes)) else {
            return;
        };
        // nvlink has another order of functions after `-r`.
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        pretty_assertions::assert_eq!(sorted(&expected), sorted(&actual), "{processor}");
    }
}

/// Types of units that nvlink joined with `-r` are described once; nvlink relocates the references to the other unit.
#[test]
fn merged_types_stay_the_types_of_both_units() {
    for processor in PROCESSORS {
        // Both have the type of one file.
        let folder = Folder::new();
        for (name, source) in [("x", X), ("y", Y)] {
            if compiled(&folder, processor, name, source, "-G").is_none() {
                return;
            }
        }
        let [x, y] = ["x.o", "y.o"].map(|name| std::fs::read(folder.path().join(name)).expect("an object"));
        let Some(first) = object(processor, FIRST, "-G") else { return };
        let Some(partial) = linked(processor, &[&x, &y], &["-r"]) else { return };
        let merged = rewritten(&partial, |options| options.dedupe = true).expect("a cubin");
        assert!(merged.merged_types > 0, "{processor}");
        let Some(bytes) = linked(processor, &[&first, &merged.object], &[]) else { return };
        let [before, after] = [dumped(&partial), dumped(&bytes)];
        let count = |text: &str| {
            ["DW_AT_name: \"S\"", "DW_AT_type: DW_TAG_structure_type \"S\""]
                .map(|part| text.matches(part).count())
        };
        // Each unit has a parameter of the type and a pointer to it; the pointers are equal too.
        assert_eq!(count(&before), [2, 4], "{processor}: {before}");
        assert_eq!(count(&after), [1, 3], "{processor}: {after}");
        assert_eq!(unreadable(&bytes), 0, "{processor}");
    }
}

/// Number of findings about what cannot be read.
fn unreadable(bytes: &[u8]) -> usize {
    let report = lint(bytes, &LintOptions::default()).expect("a report");
    report.findings.iter().filter(|it| it.code == LintCode::Unreadable).count()
}

/// For sm_90, ptxas writes no relocation for the offset of the names of inlined functions, so that nvlink leaves the second
/// object those of the first. A rewrite adds the relocation.
#[test]
fn names_of_inlined_functions_stay_with_their_object() {
    let source = |kernel: &str, helper: &str| {
        format!(
            "__device__ __forceinline__ float {helper}(float v) {{ float t = v * v; return t + 1.0f; }}
            extern \"C\" __global__ void {kernel}(float *p) {{ p[threadIdx.x] = {helper}(p[threadIdx.x]) + p[1]; }}"
        )
    };
    for processor in PROCESSORS {
        let mut objects = Vec::new();
        for (kernel, helper) in [("first", "long_name_of_one"), ("second", "two")] {
            let Some(bytes) = object(processor, &source(kernel, helper), "-lineinfo") else { return };
            objects.push(checked(processor, &bytes, |_| {}));
        }
        let Some(bytes) = linked(processor, &[&objects[0], &objects[1]], &[]) else { return };
        let text = dumped(&bytes);
        let names = ["long_name_of_one", "two"].map(|name| {
            text.lines()
                .any(|line| line.contains("inlined") && line.contains(&format!("{}{name}", name.len())))
        });
        assert_eq!(names, [true; 2], "{processor}: {text}");
    }
}

/// Damaged objects are rewritten or refused, whether they have copies or not. Code stays.
#[test]
fn damaged_objects_are_rewritten_or_refused() {
    for (processor, seed) in [("sm_80", 0x1d4f_0a61_77c2_9be3), ("sm_120", 0x6b1e_55d0_f4a9_2087)] {
        let Some(bytes) = object(processor, LOCAL, "-G") else { return };
        let count = cases(200);
        let mut random = Random(seed);
        let mut used = 0;
        for number in 0..count {
            let damaged = random.damaged(&bytes, number, count);
            let Ok(rewritten) = rewritten(&damaged, |options| options.gc = number % 2 == 0) else { continue };
            used += 1;
            assert!(rewritten.object.len() <= 4 * damaged.len() + 65536, "{processor} {number}");
            let [old, new] = [&damaged, &rewritten.object].map(|bytes| {
                let object = Object::read(bytes).expect("a cubin");
                let code = object.sections().iter().filter(|section| section.is_code());
                code.map(|section| section.data.to_vec()).collect::<Vec<_>>()
            });
            assert_eq!(old, new, "{processor} {number}");
        }
        assert!(used > count / 16, "{processor}: {used} of {count} are rewritten");
    }
}
