//! Malformed parts of cubins, each in either of two objects: a rewrite is an error with section and offset. nvlink copies most
//! of them, and crashes with four.

use eitri::build::Builder;
use eitri::emit::elf::{AttachOptions, Existing, attach_with, replace_contents, symbol_named};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::read::Object;
use eitri::target::{Sm, Target};

use super::nvlink::{NVLINK, X, Y, compiled};
use super::rewritten;
use crate::common::tools::{Folder, Tool};
use crate::common::with;

/// Prefix of the copies from which nvlink makes the debug sections for sm_100 and later.
const COPIES: &str = ".nv.merc";

/// Change of a section's contents; `usize` is the size of `.debug_info`.
type Change = fn(&mut Vec<u8>, usize);

/// A malformed part.
struct Malformed {
    name: &'static str,
    /// Section that is changed.
    section: &'static str,
    /// Section that the error names.
    expected: &'static str,
    change: Change,
    linked: Linked,
}

/// What nvlink makes of an object with the malformed part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linked {
    /// A file with the malformed part.
    Copied,
    /// An error; or a file without a trace of the part.
    Otherwise,
}
use Linked::{Copied, Otherwise};

fn set(bytes: &mut [u8], offset: usize, number: &[u8]) {
    bytes[offset..offset + number.len()].copy_from_slice(number);
}

/// Offset after the first name in a map, where the number of words is.
fn after_name(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == 0).expect("a name") + 1
}

fn cut(bytes: &mut Vec<u8>, count: usize) {
    bytes.truncate(bytes.len() - count);
}

/// Sets a field of the last relocation with an addend: offset (8 bytes), type (4), symbol (4), addend (8).
fn set_last(bytes: &mut [u8], offset: usize, number: &[u8]) {
    let start = bytes.len() - 24;
    set(bytes, start + offset, number);
}

/// Sets the addend of the relocation of the offset of a unit's abbreviations, which is at 6.
fn set_abbreviations(bytes: &mut [u8], addend: u64) {
    let is_unit = |relocation: &&mut [u8]| relocation[..8] == 6u64.to_le_bytes();
    let relocation = bytes.chunks_exact_mut(24).find(is_unit).expect("a relocation");
    relocation[16..].copy_from_slice(&addend.to_le_bytes());
}

const fn part(
    name: &'static str,
    [section, expected]: [&'static str; 2],
    linked: Linked,
    change: Change,
) -> Malformed {
    Malformed { name, section, expected, change, linked }
}

const INFO: &str = ".debug_info";
const ABBREVIATIONS: &str = ".debug_abbrev";
const LISTS: &str = ".debug_loc";
const LINES: &str = ".debug_line";
const PTX_LINES: &str = ".nv_debug_line_sass";
const FRAMES: &str = ".debug_frame";
const MAP: &str = ".nv_debug_info_reg_sass";
const TYPES: &str = ".nv_debug_info_reg_type";
const RELOCATIONS: &str = ".rela.debug_info";

const MALFORMED: &[Malformed] = &[
    part("unit length beyond the section", [INFO, INFO], Copied, |it, _| {
        set(it, 0, &0x10000u32.to_le_bytes())
    }),
    part("unit length of 64-bit DWARF", [INFO, INFO], Copied, |it, _| set(it, 0, &[0xff; 4])),
    part("unit version", [INFO, INFO], Copied, |it, _| set(it, 4, &[9])),
    part("address size", [INFO, INFO], Copied, |it, _| set(it, 10, &[3])),
    part("abbreviation code", [INFO, INFO], Copied, |it, _| set(it, 11, &[0x7f])),
    part("cut unit", [INFO, INFO], Copied, |it, _| cut(it, 5)),
    part("form", [ABBREVIATIONS, INFO], Copied, |it, _| set(it, 4, &[0x7f])),
    part("open abbreviations", [ABBREVIATIONS, ABBREVIATIONS], Copied, |it, _| cut(it, 3)),
    part("cut abbreviations", [ABBREVIATIONS, ABBREVIATIONS], Copied, |it, _| cut(it, 20)),
    part("abbreviations beyond the section", [RELOCATIONS, ABBREVIATIONS], Copied, |it, _| {
        set_abbreviations(it, 0x10_0000);
    }),
    part("cut list", [LISTS, LISTS], Copied, |it, _| cut(it, 5)),
    part("list without end", [LISTS, LISTS], Copied, |it, _| cut(it, 16)),
    part("line table length", [LINES, LINES], Copied, |it, _| set(it, 0, &0x10000u32.to_le_bytes())),
    part("line table version", [LINES, LINES], Copied, |it, _| set(it, 4, &[9])),
    part("line table header length", [LINES, LINES], Copied, |it, _| set(it, 6, &0x10000u32.to_le_bytes())),
    part("opcode_base 0", [LINES, LINES], Copied, |it, _| set(it, 14, &[0])),
    part("cut line table", [LINES, LINES], Copied, |it, _| cut(it, 5)),
    part("opcode_base 0 of PTX lines", [PTX_LINES, PTX_LINES], Copied, |it, _| set(it, 14, &[0])),
    part("cut PTX lines", [PTX_LINES, PTX_LINES], Copied, |it, _| cut(it, 5)),
    part("frame length", [FRAMES, FRAMES], Copied, |it, _| set(it, 4, &0x10000u64.to_le_bytes())),
    part("frame version", [FRAMES, FRAMES], Copied, |it, _| set(it, 20, &[9])),
    part("cut frame", [FRAMES, FRAMES], Copied, |it, _| cut(it, 5)),
    part("count of a map", [MAP, MAP], Copied, |it, _| {
        let count = after_name(it);
        set(it, count, &[0xff; 4]);
    }),
    part("cut map", [MAP, MAP], Copied, |it, _| cut(it, 3)),
    part("map of an unknown function", [MAP, MAP], Copied, |it, _| it[0] ^= 1),
    part("count of types", [TYPES, TYPES], Copied, |it, _| {
        let count = after_name(it);
        set(it, count, &[0xff; 4]);
    }),
    part("cut types", [TYPES, TYPES], Copied, |it, _| cut(it, 3)),
    part("relocation type 99", [RELOCATIONS, INFO], Copied, |it, _| set_last(it, 8, &[99])),
    // An internal error of nvlink.
    part("relocation type 255", [RELOCATIONS, INFO], Otherwise, |it, _| set_last(it, 8, &[0xff])),
    // nvlink drops such relocations; the field that they leave is right by accident.
    part("relocation's symbol", [RELOCATIONS, INFO], Otherwise, |it, _| {
        set_last(it, 12, &[0xff, 0xff, 0xff])
    }),
    part("relocation across the end", [RELOCATIONS, INFO], Otherwise, |it, size| {
        set_last(it, 0, &(size as u64 - 1).to_le_bytes());
    }),
    part("relocation after the end", [RELOCATIONS, INFO], Otherwise, |it, size| {
        set_last(it, 0, &(size as u64 + 100).to_le_bytes());
    }),
];

/// Objects of two sources; `None` without nvcc.
fn objects(processor: &str) -> Option<[Vec<u8>; 2]> {
    let folder = Folder::new();
    for (name, source) in [("x", X), ("y", Y)] {
        compiled(&folder, processor, name, source, "-G")?;
    }
    Some(["x.o", "y.o"].map(|name| std::fs::read(folder.path().join(name)).expect("an object")))
}

/// The object with a malformed part, in a section with this prefix.
fn changed(object: &[u8], malformed: &Malformed, prefix: &str) -> Vec<u8> {
    let raw = Object::raw_sections(object).expect("sections");
    let find = |name: &str| {
        let name = format!("{prefix}{name}");
        raw.iter().find(|section| section.0 == *name).expect("the section").1
    };
    let mut contents = find(malformed.section).to_vec();
    (malformed.change)(&mut contents, find(INFO).len());
    replace_contents(object, &format!("{prefix}{}", malformed.section), contents).expect("an object")
}

/// Requires an error with the section that is malformed and an offset.
fn refused(object: &[u8], malformed: &Malformed, prefix: &str, what: &str) {
    let Malformed { name, section, expected, .. } = malformed;
    let Err(error) = rewritten(object, |_| {}) else { panic!("{what}: {name} is rewritten") };
    let at = error.at();
    // Where abbreviations end too early, and what follows them, decides which section has the first error. A relocation that
    // cannot be kept is named by its table.
    let names = match *section {
        ABBREVIATIONS => vec![*expected, INFO],
        RELOCATIONS => vec![*expected, RELOCATIONS],
        // The bytes of the next object are taken for the rest, and its first name lacks them. A map and its types have one name.
        MAP | TYPES => vec![MAP, TYPES],
        _ => vec![*expected],
    };
    let is_expected = names.iter().any(|name| at.section.as_deref() == Some(&*format!("{prefix}{name}")));
    assert!(is_expected && at.offset.is_some(), "{what}: {name}: {error}");
}

#[test]
fn malformed_parts_of_linked_objects_are_errors() {
    for processor in ["sm_80", "sm_90"] {
        let Some([x, y]) = objects(processor) else { return };
        let folder = Folder::new();
        folder.file("y.o", y);
        for malformed in MALFORMED.iter().filter(|it| it.linked == Copied) {
            folder.file("bad.o", changed(&x, malformed, ""));
            for order in [["bad.o", "y.o"], ["y.o", "bad.o"]] {
                let arch = format!("-arch={processor}");
                let words = [&*arch, "-g", order[0], order[1], "-o", "linked.cubin"];
                let Some(ran) = NVLINK.run_in(folder.path(), &words) else { return };
                assert!(ran.succeeded, "{}: {ran}", malformed.name);
                let linked = std::fs::read(folder.path().join("linked.cubin")).expect("a cubin");
                refused(&linked, malformed, "", &format!("{processor} {order:?}"));
            }
        }
    }
}

#[test]
fn malformed_parts_of_relocatable_objects_are_errors() {
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(objects) = objects(processor) else { return };
        for (object, name) in objects.iter().zip(["x", "y"]) {
            for malformed in MALFORMED {
                refused(&changed(object, malformed, ""), malformed, "", &format!("{processor} {name}"));
            }
        }
    }
}

/// With `opcode_base` 0, and with a map whose count or bytes exceed it, in a copy, nvlink 13.5 crashes, or takes all memory;
/// with the symbol of a copy's relocation it crashes.
#[test]
fn malformed_copies_in_relocatable_objects_are_errors() {
    for processor in ["sm_100", "sm_120"] {
        let Some(objects) = objects(processor) else { return };
        for (object, name) in objects.iter().zip(["x", "y"]) {
            for malformed in MALFORMED {
                let bytes = changed(object, malformed, COPIES);
                refused(&bytes, malformed, COPIES, &format!("{processor} {name}"));
            }
        }
    }
}

/// The command prints the error, and writes nothing.
#[test]
fn malformed_objects_are_not_written() {
    let Some([x, _]) = objects("sm_120") else { return };
    let folder = Folder::new();
    let command = Tool::new(env!("CARGO_BIN_EXE_eitri"), "the command");
    for (prefix, name) in
        [("", "cut unit"), (COPIES, "opcode_base 0"), (COPIES, "count of a map"), (COPIES, "cut map")]
    {
        let malformed = MALFORMED.iter().find(|it| it.name == name).expect("a part");
        let file = folder.file("bad.o", changed(&x, malformed, prefix));
        let out = folder.path().join("out.o");
        let Some(ran) = command.run(&["rewrite".as_ref(), file.as_os_str(), "-o".as_ref(), out.as_os_str()])
        else {
            return;
        };
        assert!(!ran.succeeded && !out.exists(), "{name}: {ran}");
        let section = format!("bad.o: section {prefix}{}, offset 0x", malformed.section);
        assert!(ran.errors.contains(&section), "{name}: {ran}");
    }
}

/// Attaches a variable in a register to the kernel of an object.
fn attached(object: &[u8], processor: &str, kernel: &str, existing: Existing) -> eitri::Result<Vec<u8>> {
    let target = Target::nvptx(Sm::named(processor).expect("a processor"));
    let size = symbol_named(object, kernel).expect("the kernel").size;
    let mut m = Builder::new(target.clone());
    let unit = m.unit("made.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let function = m.function(unit, kernel)?.code(kernel, size).kernel().id();
    m.variable(function, "v", int)?.always(Loc::per_lane(target.register_named("R4")?))?;
    let written = lower(&m.finish()?, &Consumer::cuda_gdb_sass(), Policy::Strict)?;
    let options = with::<AttachOptions>(|options| options.existing = existing);
    attach_with(object, &target, &written.sections, &options)
}

/// An attached description replaces a malformed part, or is an error with section and offset where the part stays: both line
/// tables with `KeepLines`, and frames, because the description has none.
#[test]
fn malformed_parts_are_replaced_or_refused_when_attached() {
    for (processor, prefixes) in [("sm_80", &[""][..]), ("sm_90", &[""]), ("sm_120", &["", COPIES])] {
        let Some(objects) = objects(processor) else { return };
        for (object, kernel) in objects.iter().zip(["kx", "ky"]) {
            for (malformed, prefix) in MALFORMED.iter().flat_map(|it| prefixes.iter().map(move |to| (it, to)))
            {
                let bytes = changed(object, malformed, prefix);
                for existing in [Existing::Replace, Existing::KeepLines] {
                    let name = format!("{processor} {kernel} {prefix} {existing:?}: {}", malformed.name);
                    let is_line = matches!(malformed.section, LINES | PTX_LINES);
                    let stays = malformed.section == FRAMES || is_line && existing == Existing::KeepLines;
                    match attached(&bytes, processor, kernel, existing) {
                        Ok(result) => {
                            assert!(!stays, "{name} stays");
                            let report = lint(&result, &LintOptions::default()).expect("a report");
                            let unreadable =
                                report.findings.iter().find(|it| it.code == LintCode::Unreadable);
                            assert!(unreadable.is_none(), "{name}: {unreadable:?}");
                        }
                        Err(error) => {
                            let section = format!("{prefix}{}", malformed.section);
                            assert_eq!(error.at().section.as_deref(), Some(&*section), "{name}: {error}");
                            assert!(stays && error.at().offset.is_some(), "{name}: {error}");
                        }
                    }
                }
            }
        }
    }
}
