//! Linked cubins: nvlink concatenates what its inputs say, and a rewrite leaves what is said of the linked code. NVIDIA's
//! tools and LLVM's print it.

use eitri::dump::{DumpOptions, dump};
use eitri::json::write_rewritten;
use eitri::read::nvidia::RegisterMap;
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::rewrite::RewriteChange;

use super::nvlink::{FIRST, SECOND, X, Y, disassembled, linked, printed};
use super::{loaded, rewritten};
use crate::common::cases::{Random, cases};
use crate::common::tools::{Folder, Tool};

const READELF: Tool = Tool::new("readelf", "binutils");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Processors: with relocations in fields, with addends, and with copies for the finalizer.
const PROCESSORS: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// The errors that llvm-dwarfdump finds, as lines without offsets.
fn verified(bytes: &[u8]) -> Option<Vec<String>> {
    let folder = Folder::new();
    let path = folder.file("a.cubin", bytes);
    let ran = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()])?;
    let words = |line: &str| -> String {
        line.split(' ')
            .filter(|word| !word.starts_with("0x") && !word.starts_with("[0x"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all = ran.out.lines().chain(ran.errors.lines());
    let errors: Vec<_> = all.filter(|line| line.starts_with("error: ")).map(words).collect();
    assert_eq!(ran.succeeded, errors.is_empty(), "{ran}");
    Some(errors)
}

/// Homes of registers in what cuobjdump prints.
pub fn printed_homes(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("(reg: ")).collect()
}

/// What `dump` prints, without the copies for the finalizer, which a rewrite empties.
pub fn dumped(bytes: &[u8]) -> String {
    let object = Object::read(bytes).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let text = dump(&object, &dwarf, None, DumpOptions::default());
    text.lines().filter(|line| !line.starts_with("copy ")).map(|line| format!("{line}\n")).collect()
}

/// Names of functions with code, with their size in bytes, in the order of their entries.
fn functions(bytes: &[u8]) -> Vec<(String, u64)> {
    let object = Object::read(bytes).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let functions = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_subprogram);
    let described = functions.filter_map(|entry| {
        let pcs = entry.ranges().expect("pcs").first()?.clone();
        Some((entry.name().expect("a name").into_owned(), pcs.end - pcs.start))
    });
    described.collect()
}

fn mapped(bytes: &[u8]) -> Vec<(String, usize)> {
    let object = Object::read(bytes).expect("a cubin");
    let map = RegisterMap::read(&object).expect("a map");
    map.functions.iter().map(|function| (function.name().into_owned(), function.homes().len())).collect()
}

/// Rewrites a cubin, and requires that its loaded bytes stay, that it does not grow, and that a second rewrite changes
/// nothing.
fn repaired(name: &str, before: &[u8]) -> Vec<u8> {
    let after = rewritten(before, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    loaded::are_equal(name, before, &after.object);
    assert!(after.object.len() <= before.len(), "{name}: the file grows");
    let again = rewritten(&after.object, |_| {}).expect("a rewritten cubin");
    assert!(again.object == after.object && again.changes.is_empty(), "{name}: a second rewrite changes it");
    after.object
}

/// Where each function has one object, all tools print the same.
#[test]
fn linked_objects_keep_what_the_tools_print() {
    for processor in PROCESSORS {
        for debug in [["-G", "-G"], ["-lineinfo", "-G"], ["-lineinfo", "-lineinfo"]] {
            let name = format!("{processor} {debug:?}");
            let Some(before) = linked(processor, &[(X, debug[0]), (Y, debug[1])], &["-g"]) else { return };
            let after = repaired(&name, &before);
            let Some(code) = disassembled(&before) else { return };
            pretty_assertions::assert_eq!(disassembled(&after), Some(code), "{name}");
            let Some([old, new]) = printed(&before, &after) else { return };
            // Abbreviations have tags, too.
            let is_entry = |line: &&str| line.contains("DW_TAG_") && line.contains("Abbrev Number");
            let tags = |text: &str| text.lines().filter(is_entry).count();
            assert_eq!(tags(&old), tags(&new), "{name}");
            assert!(tags(&old) > 0 || !debug.contains(&"-G"), "{name}: {old}");
            assert_eq!(printed_homes(&old), printed_homes(&new), "{name}");
            assert_eq!(verified(&before), verified(&after), "{name}");
            assert_eq!(dumped(&before), dumped(&after), "{name}");
        }
    }
}

/// Triton's cubins, which no linker joined, keep what they say. Equal lists are stored once.
#[test]
fn cubins_of_triton_keep_what_they_say() {
    let folder = std::path::Path::new(crate::common::ROOT).join("tests/objects/triton");
    let mut shrunk = 0;
    for name in ["add", "matmul", "reduce_rows", "scan_limit"] {
        let before = std::fs::read(folder.join(format!("{name}.sm_90.cubin"))).expect("a cubin");
        let after = repaired(name, &before);
        assert_eq!(dumped(&before), dumped(&after), "{name}");
        let size =
            |bytes: &[u8]| Object::read(bytes).expect("a cubin").section(".debug_loc").map(|it| it.size);
        shrunk += usize::from(size(&after) < size(&before));
    }
    assert!(shrunk > 0, "no list is stored once");
}

/// nvlink keeps the code of the first object, which needs no more registers. `twice` has the size that cuobjdump prints for its symbol.
#[test]
fn kept_code_keeps_its_entry_rows_frame_and_map() {
    for processor in PROCESSORS {
        for (debug, has_entry) in [
            (["-G", "-G"], true),
            (["-lineinfo", "-G"], false),
            (["-G", "-lineinfo"], true),
            (["-Xptxas=-O3", "-G"], false),
        ] {
            let name = format!("{processor} {debug:?}");
            let sources = [(FIRST, debug[0]), (SECOND, debug[1])];
            let Some(before) = linked(processor, &sources, &["-g"]) else { return };
            let after = repaired(&name, &before);
            let Some(code) = disassembled(&before) else { return };
            pretty_assertions::assert_eq!(disassembled(&after), Some(code), "{name}");
            if printed(&before, &after).is_none() {
                return;
            }
            let object = Object::read(&after).expect("a cubin");
            let size = object.symbol("_Z5twiceIiET_S0_").expect("the function").size;
            let described = functions(&after);
            let twice: Vec<_> = described.iter().filter(|(name, _)| name.contains("twice")).collect();
            assert_eq!(twice.len(), usize::from(has_entry), "{name}: {described:?}");
            assert!(twice.iter().all(|(_, bytes)| *bytes == size), "{name}: {twice:?} {size:#x}");
            let maps = mapped(&after);
            let count = maps.iter().filter(|(name, _)| name == "_Z5twiceIiET_S0_").count();
            assert_eq!(count, usize::from(has_entry), "{name}: {maps:?}");
            let dwarf = Dwarf::read(&object).expect("entries");
            let frames = dwarf.frames(FrameSection::Debug).expect("frames");
            assert!(frames.fdes.iter().all(|fde| dwarf.is_code(fde.start)), "{name}");
            let starts: std::collections::BTreeSet<_> = frames.fdes.iter().map(|fde| fde.start).collect();
            assert_eq!(starts.len(), frames.fdes.len(), "{name}");
        }
    }
}

/// ptxas writes wrong pointers to common entries for sm_90, which can be offsets of later entries. Each frame has the common
/// entry before it.
#[test]
fn frames_keep_the_common_entry_before_them() {
    use std::fmt::Write as _;
    let mut source =
        String::from("__device__ __noinline__ void nothing() {}\n__device__ __noinline__ void none() {}\n");
    for number in 0..20 {
        write!(
            source,
            "__device__ __noinline__ int f{number}(int *p) {{ return p[{number}] * {number} + p[1]; }}
            extern \"C\" __global__ void k{number}(int *p) {{ nothing(); none(); *p = f{number}(p); }}\n"
        )
        .expect("a string");
    }
    for processor in PROCESSORS {
        let Some(before) = linked(processor, &[(&source, "-lineinfo")], &["-g"]) else { return };
        let after = rewritten(&before, |_| {}).unwrap_or_else(|error| panic!("{processor}: {error}"));
        for bytes in [&before, &after.object] {
            let object = Object::read(bytes).expect("a cubin");
            let dwarf = Dwarf::read(&object).expect("entries");
            let frames = dwarf.frames_of_code(FrameSection::Debug);
            assert!(frames.fdes.len() >= 40, "{processor}: {}", frames.fdes.len());
            for fde in &frames.fdes {
                let last = frames.cies.iter().rev().find(|cie| cie.offset < fde.offset);
                assert_eq!(frames.cie(fde).offset, last.expect("a common entry").offset, "{processor}");
            }
        }
    }
}

/// Without `-g`, nvlink drops functions that nothing calls, and keeps what is said of them.
#[test]
fn dropped_functions_go_with_rows_frames_and_maps() {
    for processor in PROCESSORS {
        let Some(before) = linked(processor, &[(FIRST, "-G"), (SECOND, "-G")], &[]) else { return };
        let has_unused = |bytes: &[u8]| {
            let object = Object::read(bytes).expect("a cubin");
            let dwarf = Dwarf::read(&object).expect("entries");
            let is_entry = dwarf.entries().any(|entry| entry.name().as_deref() == Some("unused"));
            [is_entry, mapped(bytes).iter().any(|(name, _)| name == "unused")]
        };
        assert_eq!(has_unused(&before), [true; 2], "{processor}");
        let after = repaired(processor, &before);
        assert_eq!(has_unused(&after), [false; 2], "{processor}");
        let names: Vec<_> = functions(&after).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["twice<int>", "first", "second"].map(str::to_owned), "{processor}");
        let Some(code) = disassembled(&before) else { return };
        pretty_assertions::assert_eq!(disassembled(&after), Some(code), "{processor}");
        if printed(&before, &after).is_none() {
            return;
        }
    }
}

/// Copies with equal sizes and different variables, in a cubin whose line table is gone: nothing says whose code it is.
#[test]
fn undecidable_copies_are_an_error_that_names_both() {
    let source = |variable: &str, kernel: &str| {
        format!(
            "template<class T> __device__ __noinline__ T twice(T v) {{ T {variable} = v * 2; return {variable} + 1; }}
            extern \"C\" __global__ void {kernel}(int *p) {{ *p = twice<int>(*p); }}"
        )
    };
    let [one, two] = [source("a", "first"), source("b", "second")];
    let Some(bytes) = linked("sm_80", &[(&one, "-G"), (&two, "-G")], &["-g"]) else { return };
    // With lines, the first object's entry is kept.
    let after = repaired("with lines", &bytes);
    assert!(dumped(&after).contains("\"a\"") && !dumped(&after).contains("\"b\""));
    let without = eitri::emit::elf::replace_contents(&bytes, ".rel.debug_line", Vec::new()).expect("a cubin");
    let without = eitri::emit::elf::replace_contents(&without, ".debug_line", Vec::new()).expect("a cubin");
    let error = rewritten(&without, |_| {}).expect_err("no rows").to_string();
    for part in ["twice", "part0.cu", "part1.cu", ".debug_info"] {
        assert!(error.contains(part), "{error}");
    }
}

/// Equal types of two objects are described once on request, and only the second object refers to the first.
#[test]
fn equal_types_of_objects_are_merged_on_request() {
    for processor in ["sm_80", "sm_120"] {
        let Some(before) = linked(processor, &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
        let merged = rewritten(&before, |options| options.dedupe = true).expect("a cubin");
        let count = |bytes: &[u8]| dumped(bytes).matches("DW_AT_name: \"S\"").count();
        assert_eq!([count(&before), count(&merged.object)], [2, 1], "{processor}");
        assert!(merged.merged_types > 0, "{processor}");
        let Some(code) = disassembled(&before) else { return };
        pretty_assertions::assert_eq!(disassembled(&merged.object), Some(code), "{processor}");
        if printed(&before, &merged.object).is_none() {
            return;
        }
        assert_eq!(verified(&before), verified(&merged.object), "{processor}");
        let again = rewritten(&merged.object, |options| options.dedupe = true).expect("a cubin");
        assert!(again.object == merged.object, "{processor}");
    }
}

/// Copies of debug sections for the finalizer become empty, and are listed with the sizes that readelf prints, the copies of
/// their relocations among them.
#[test]
fn emptied_copies_are_listed_with_their_sizes() {
    for processor in ["sm_90", "sm_100", "sm_120"] {
        let Some(before) = linked(processor, &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
        let folder = Folder::new();
        let path = folder.file("a.cubin", &before);
        let Some(ran) = READELF.run(&["-SW".as_ref(), path.as_os_str()]) else { return };
        let is_copy = |name: &str| {
            let name = name.strip_prefix(".nv.merc").unwrap_or_default();
            let name = name.strip_prefix(".rela").unwrap_or(name);
            name.starts_with(".debug_") || name.starts_with(".nv_debug_")
        };
        let sections = ran.out.lines().filter_map(|line| {
            let mut words = line.split_once("] ")?.1.split_whitespace();
            let name = words.next().filter(|name| is_copy(name))?;
            Some((name.to_owned(), u64::from_str_radix(words.nth(3)?, 16).ok()?))
        });
        let expected: Vec<(String, u64)> = sections.filter(|(_, size)| *size > 0).collect();
        let after = rewritten(&before, |_| {}).expect("a cubin");
        let emptied: Vec<_> = after
            .changes
            .iter()
            .filter_map(|change| match change {
                RewriteChange::Emptied(copies) => Some(&copies.sections),
                _ => None,
            })
            .flatten()
            .cloned()
            .collect();
        assert_eq!(emptied, expected, "{processor}");
        assert_eq!(expected.len() > 10, processor != "sm_90", "{ran}");
        let json: serde_json::Value =
            serde_json::from_str(&write_rewritten(&after, "a.cubin")).expect("JSON");
        let written: Vec<_> = json["emptied"].as_array().expect("a list").iter().collect();
        let expected = expected.iter().map(|(name, bytes)| serde_json::json!({"name": name, "bytes": bytes}));
        assert_eq!(written, expected.collect::<Vec<_>>().iter().collect::<Vec<_>>(), "{processor}");
    }
}

#[test]
fn other_consumers_and_name_indices_are_refused() {
    let Some(bytes) = linked("sm_80", &[(X, "-G")], &["-g"]) else { return };
    let dwarf5 = eitri::Consumer::named("dwarf5").expect("a consumer");
    let error =
        rewritten(&bytes, |options| options.consumer = Some(dwarf5)).expect_err("DWARF 5").to_string();
    assert!(error.contains("cuda-gdb-sass"), "{error}");
    assert!(rewritten(&bytes, |options| options.names = true).is_err());
}

/// Damaged cubins are rewritten or refused. What stays loaded stays.
#[test]
fn damaged_linked_cubins_are_rewritten_or_refused() {
    let Some(bytes) = linked("sm_90", &[(FIRST, "-G"), (SECOND, "-G")], &[]) else { return };
    let count = cases(500);
    let mut random = Random(0x3c6e_f372_fe94_f82b);
    let mut used = 0;
    for number in 0..count {
        let damaged = random.damaged(&bytes, number, count);
        let options = |options: &mut eitri::rewrite::RewriteOptions<'_>| {
            options.dedupe = number % 2 == 0;
            options.gc = number % 3 == 0;
        };
        let Ok(rewritten) = rewritten(&damaged, options) else { continue };
        used += 1;
        assert!(rewritten.object.len() <= 4 * damaged.len() + 65536, "number {number}");
        let [old, new] = [&damaged, &rewritten.object].map(|bytes| {
            let object = Object::read(bytes).expect("a cubin");
            let code = object.sections().iter().filter(|section| section.is_code());
            code.map(|section| section.data.to_vec()).collect::<Vec<_>>()
        });
        assert_eq!(old, new, "number {number}");
    }
    assert!(used > count / 16, "{used} of {count} are rewritten");
}
