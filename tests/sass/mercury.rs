//! Relocatable cubins for sm_100 and later, whose debug sections nvlink makes from copies with pcs of Mercury code.

use std::collections::BTreeMap;

use eitri::dump::{DumpOptions, print_object_to};
use eitri::error::ErrorKind;
use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::op::Dialect;
use eitri::read::nvidia::{Home, MercuryCode, RegisterMap, ptx_lines};
use eitri::read::{Dwarf, FrameSection, Object};
use gimli::constants as dw;
use object::{Object as _, ObjectSection};
use pretty_assertions::assert_eq;

use super::damaged::damage;
use super::lines::with_lines;
use super::*;
use crate::common::cases::{Random, cases};

/// A relocatable cubin for sm_120 that ptxas 13.5 made of the kernel `k`, with `-lineinfo`.
pub const OBJECT: &[u8] = include_bytes!("../objects/mercury.o");

/// Variables that move at pcs of rows: those of the object above.
pub fn moving(target: &Target, name: &str, size: u64) -> eitri::Result<Module> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let helper = m.function(unit, "helper")?.declared(SourceLine::new(file, 20)).id();
    let kernel = m.function(unit, name)?.code(name, size).kernel().declared(SourceLine::new(file, 2)).id();
    for (pc, line) in [(0, 4), (0x40, 5), (0x50, 21), (0x70, 7)] {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }
    m.inlined(kernel, helper, &[0x50..0x70], SourceLine::new(file, 5))?;
    let lane = |name: &str| target.register_named(name).map(Loc::per_lane);
    let pair = Loc::per_lane_over([target.register_named("R2")?, target.register_named("R3")?]);
    let param = target.space_named("param")?.id;
    m.parameter(kernel, "argument", long)?.always(Loc::memory(param, Val::constant(0x380)))?;
    m.variable(kernel, "moving", int)?.live(0x40..0x60, lane("R4")?)?.live(0x60..size, lane("R5")?)?;
    m.variable(kernel, "pair", long)?.live(0x50..0x90, pair)?;
    m.variable(kernel, "uniform", int)?.live(0..size, Loc::register(target.register_named("UR4")?))?;
    let local = |by| Ok::<_, eitri::Error>(Loc::memory(SpaceId::PRIVATE_LANE, lane("R1")?.read(32).plus(by)));
    m.frame(kernel)?.cfa(0..0x40, local(0)?)?.cfa(0x40..size, local(8)?)?;
    m.finish()
}

pub fn attach_to(object: &[u8], processor: &str, name: &str, existing: Existing) -> eitri::Result<Vec<u8>> {
    let target = target(processor);
    let size = symbol_named(object, name)?.size;
    let written = lower(&moving(&target, name, size)?, &Consumer::cuda_gdb_sass(), Policy::Strict)?;
    attach_with(
        object,
        &target,
        &written.sections,
        &with::<AttachOptions>(|options| options.existing = existing),
    )
}

/// Links two objects with debug information. `None` without nvlink.
pub fn linked(processor: &str, objects: [&[u8]; 2]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let paths = [folder.file("a.o", objects[0]), folder.file("b.o", objects[1])];
    let out = folder.path().join("linked.cubin");
    let arch = format!("-arch={processor}");
    let words = [arch.as_ref(), "-g".as_ref(), paths[0].as_os_str(), paths[1].as_os_str()];
    let ran = NVLINK.run(&[&words[..], &["-o".as_ref(), out.as_os_str()]].concat())?;
    ran.clean();
    Some(std::fs::read(out).expect("a cubin"))
}

/// Rows of the PTX lines of a function: pcs from its start.
fn rows(object: &Object<'_>, function: &str) -> Vec<u64> {
    let start = object.symbol_address(function).expect("a function");
    let size = object.symbol(function).expect("a function").size;
    let mut pcs = Vec::new();
    for program in ptx_lines(object) {
        let program = program.expect("lines");
        let mut rows = program.rows();
        while let Some(row) = rows.next_row().expect("a row") {
            pcs.extend(row.address.checked_sub(start).filter(|pc| *pc <= size));
        }
    }
    pcs
}

/// The pcs of an object's function in the linked file, by nvlink's translation of the lines of ptxas.
fn translated(object: &[u8], linked: &[u8], function: &str) -> BTreeMap<u64, u64> {
    let [object, linked] = [object, linked].map(|bytes| Object::read(bytes).expect("a cubin"));
    let [before, after] = [&object, &linked].map(|object| rows(object, function));
    assert_eq!(before.len(), after.len());
    before.into_iter().zip(after).collect()
}

/// Bounds of a variable's list, in bytes from the function's start, with the expressions.
fn bounds(dwarf: &Dwarf<'_>, start: u64, variable: &str) -> Vec<(u64, u64, Vec<u8>)> {
    let named = |entry: &eitri::read::Entry<'_, '_>| entry.name().as_deref() == Some(variable);
    let mut all = Vec::new();
    for entry in dwarf.entries().filter(named) {
        let function = entry.parent().and_then(|parent| parent.low_pc());
        if function == Some(start) {
            let list = entry.locations(dw::DW_AT_location).expect("a list").expect("a list");
            all.extend(list.iter().map(|it| (it.start - start, it.end - start, it.expr.to_vec())));
        }
    }
    all
}

#[test]
fn linked_objects_have_what_was_attached() {
    for processor in ["sm_100", "sm_120", "sm_121"] {
        let mut originals = Vec::new();
        let mut attached = Vec::new();
        for name in ["k", "l"] {
            let Some(object) = with_lines(processor, name, Output::Relocatable) else { return };
            attached.push(attach_to(&object, processor, name, Existing::Replace).expect("a cubin"));
            originals.push(object);
        }
        let Some(reference) = linked(processor, [&originals[0], &originals[1]]) else { return };
        let Some(bytes) = linked(processor, [&attached[0], &attached[1]]) else { return };
        let Some([code, entries]) = printed(&bytes) else { return };
        let lines = ["line 4", "line 5", "line 21 inlined at \"k.cu\", line 5", "line 5", "line 7"];
        let lines: Vec<_> = lines.iter().map(|line| format!("\"k.cu\", {line}")).collect();
        // nvdisasm prints sections in another order than the units.
        assert_eq!(source_lines(&code), [&lines[..], &lines[..]].concat(), "{processor}: {code}");
        assert!(entries.contains("DW_OP_regx: %e0") && entries.contains("moving"), "{entries}");
        let object = Object::read(&bytes).expect("a cubin");
        let dwarf = Dwarf::read(&object).expect("entries");
        let map = RegisterMap::read(&object).expect("a map");
        for (name, original) in ["k", "l"].iter().zip(&originals) {
            let pcs = translated(original, &reference, name);
            let start = object.symbol_address(name).expect("a function");
            let size = object.symbol(name).expect("a function").size;
            let expected = [(pcs[&0x40], pcs[&0x60], vec![0x54]), (pcs[&0x60], size, vec![0x55])];
            assert_eq!(bounds(&dwarf, start, "moving"), expected, "{processor} {name}");
            let function = map.function_at(start).expect("a function");
            // The pair ends with the instruction at 0x80, a single one of 16 bytes.
            let pair = function.homes().iter().filter(|home| home.home == Home(0x0500_0003));
            let pair: Vec<_> = pair.map(|home| (u64::from(home.start), u64::from(home.end))).collect();
            assert_eq!(pair, [(pcs[&0x50], pcs[&0x90] - 0x10)], "{processor} {name}");
            // The frame changes at a row.
            let frames = dwarf.frames(FrameSection::Debug).expect("frames");
            let fde = frames.fde_at(start).expect("a frame");
            assert_eq!((fde.start, fde.length), (start, size), "{processor} {name}");
            let mut changes = Vec::new();
            let mut rows = frames.rows(fde);
            while let Some(row) = rows.next_row().expect("a row") {
                changes.push(row.start - start);
            }
            assert_eq!(changes, [0, pcs[&0x40]], "{processor} {name}");
        }
    }
}

/// nvlink translates entries and lists only if an object has a map of registers: each object gets one.
#[test]
fn entries_without_mapped_registers_are_translated() {
    for processor in ["sm_100", "sm_120"] {
        let Some(object) = with_lines(processor, "k", Output::Relocatable) else { return };
        let Some(second) = with_lines(processor, "l", Output::Relocatable) else { return };
        let Some(reference) = linked(processor, [&object, &second]) else { return };
        let target = target(processor);
        let size = symbol_named(&object, "k").expect("a symbol").size;
        let describe = || -> eitri::Result<Module> {
            let mut m = Builder::new(target.clone());
            let unit = m.unit("k.cu");
            let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
            let kernel = m.function(unit, "k")?.code("k", size).kernel().id();
            m.variable(kernel, "v", int)?.live(0x40..0x60, Loc::per_lane(target.register_named("R4")?))?;
            m.finish()
        };
        let module = describe().expect("a description");
        let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("it is written");
        let options = with::<AttachOptions>(|options| options.existing = Existing::Replace);
        let attached = attach_with(&object, &target, &written.sections, &options).expect("a cubin");
        let Some(bytes) = linked(processor, [&attached, &second]) else { return };
        let pcs = translated(&object, &reference, "k");
        let file = Object::read(&bytes).expect("a cubin");
        let dwarf = Dwarf::read(&file).expect("entries");
        let start = file.symbol_address("k").expect("a function");
        assert_eq!(bounds(&dwarf, start, "v"), [(pcs[&0x40], pcs[&0x60], vec![0x54])], "{processor}");
        let kernel = dwarf.entries().find(|entry| entry.low_pc() == Some(start) && entry.parent().is_some());
        let ranges = kernel.expect("a kernel").ranges().expect("ranges");
        let expected = start..start + file.symbol("k").expect("a function").size;
        assert_eq!(ranges.iter().map(|it| it.start..it.end).collect::<Vec<_>>(), [expected], "{processor}");
    }
}

/// nvlink copies range lists as they are.
#[test]
fn range_lists_are_refused_in_words() {
    let target = target("sm_120");
    let describe = || -> eitri::Result<Module> {
        let mut m = Builder::new(target.clone());
        let unit = m.unit("k.cu");
        let kernel = m.function(unit, "k")?.code("k", 0x180).kernel().id();
        m.block(kernel, &[0..0x40, 0x50..0x70])?;
        m.finish()
    };
    let module = describe().expect("a description");
    let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("it is written");
    let options = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    let error =
        attach_with(OBJECT, &target, &written.sections, &options).expect_err("range lists").to_string();
    assert!(error.contains("range list") && error.contains(".debug_ranges"), "{error}");
}

#[test]
fn kept_lines_stay_in_the_linked_file() {
    for processor in ["sm_100", "sm_120"] {
        let objects = ["k", "l"].map(|name| with_lines(processor, name, Output::Relocatable));
        let [Some(one), Some(other)] = objects else { return };
        let attached = [(&one, "k"), (&other, "l")]
            .map(|(object, name)| attach_to(object, processor, name, Existing::KeepLines).expect("a cubin"));
        let Some(before) = linked(processor, [&one, &other]) else { return };
        let Some(after) = linked(processor, [&attached[0], &attached[1]]) else { return };
        let Some([before, _]) = printed(&before) else { return };
        let Some([after, entries]) = printed(&after) else { return };
        let code = |text: &str| {
            text.lines()
                .filter(|it| it.contains("/*0") || it.contains("## File"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(code(&before), code(&after), "{processor}");
        assert!(entries.contains("moving"), "{entries}");
    }
}

/// The description and its copies agree, and a tool reads both.
#[test]
fn attached_copies_agree() {
    let bytes = attach_to(OBJECT, "sm_120", "k", Existing::Replace).expect("a cubin");
    assert_eq!(differing(&bytes), Vec::<String>::new());
    assert_eq!(differing(OBJECT), Vec::<String>::new());
    let copies = Object::read_mercury(&bytes).expect("a cubin").expect("copies");
    let dwarf = Dwarf::read(&copies).expect("entries");
    let start = copies.symbol_address("k").expect("a function");
    assert_eq!(copies.symbol("k").map(|symbol| symbol.size), Some(0x110));
    // Mercury pcs of the rows, as ptxas wrote them for 0x40, 0x60 and the end.
    let sass = Object::read(OBJECT).expect("a cubin");
    let mercury = Object::read_mercury(OBJECT).expect("a cubin").expect("copies");
    let pcs: BTreeMap<_, _> = rows(&sass, "k").into_iter().zip(rows(&mercury, "k")).collect();
    let expected = [(pcs[&0x40], pcs[&0x60], vec![0x54]), (pcs[&0x60], 0x110, vec![0x55])];
    assert_eq!(bounds(&dwarf, start, "moving"), expected);
    // A variable in one register has NVIDIA's class of registers, and one with a list has none.
    let class = |name: &str| {
        let mut entries = dwarf.entries().filter(|entry| entry.name().as_deref() == Some(name));
        entries.next().expect("a variable").number(dw::DW_AT_address_class)
    };
    assert_eq!(["uniform", "moving", "argument"].map(class), [Some(2), None, Some(7)]);
    let map = RegisterMap::read(&copies).expect("a map");
    let uniform = map.functions[0].homes().iter().find(|it| it.home == Home(0x0b00_0004)).expect("a home");
    // Up to the exit, the last instruction.
    assert_eq!((uniform.start, uniform.end), (0, 0x100));
    let code: Vec<_> = MercuryCode::all(&copies).map(|it| it.expect("a header")).collect();
    assert_eq!((code.len(), code[0].function, code[0].kind), (1, "k", 0xc000_0001));
    assert_eq!(sass.sections()[code[0].text as usize].name, ".text.k");
}

#[test]
fn pcs_without_rows_are_refused_in_words() {
    let target = target("sm_120");
    let size = symbol_named(OBJECT, "k").expect("the kernel").size;
    let attach = |object: &[u8], pcs: std::ops::Range<u64>| {
        let mut m = Builder::new(target.clone());
        let unit = m.unit("k.cu");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let kernel = m.function(unit, "k")?.code("k", size).kernel().id();
        let register = target.register_named("R4")?;
        m.variable(kernel, "x", int)?.live(pcs, Loc::per_lane(register))?;
        let written = lower(&m.finish()?, &Consumer::cuda_gdb_sass(), Policy::Strict)?;
        attach_with(object, &target, &written.sections, &replacing())
    };
    // LDG has no line of its own.
    let error = attach(OBJECT, 0x30..0x60).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("pc 0x30 of `k`"), "{error}");
    assert_eq!(error.at().section.as_deref(), Some(".debug_loc"), "{error}");
    assert!(attach(OBJECT, 0x40..0x60).is_ok() && attach(OBJECT, 0..size).is_ok());
    // Without lines, only the whole function is known.
    let Some(object) = compiled("sm_120", "k", Output::Relocatable) else { return };
    assert!(attach(&object, 0..size).is_ok());
    let error = attach(&object, 0x40..0x60).unwrap_err().to_string();
    assert!(error.contains("pc 0x40 of `k`") && error.contains("-lineinfo"), "{error}");
}

/// In a linked file, replaced sections leave no copies, and the finalizer finds nothing that contradicts.
#[test]
fn linked_files_have_no_copies() {
    let Some(cubin) = compiled("sm_120", "k", Output::Linked) else { return };
    let attached = super::attached(&cubin, "sm_120", "k");
    assert_eq!(differing(&attached.bytes), Vec::<String>::new());
    let copies = Object::read_mercury(&attached.bytes).expect("a cubin").expect("copies");
    assert!(copies.section(".debug_info").is_none_or(|section| section.data.is_empty()));
}

fn findings(bytes: &[u8]) -> Vec<LintFinding> {
    let report = lint(bytes, &LintOptions::default()).expect("a report");
    report.findings
}

/// Findings about copies.
fn differing(bytes: &[u8]) -> Vec<String> {
    let all = findings(bytes).into_iter().filter(|it| it.code == LintCode::MercuryDiffers);
    all.map(|it| format!("{} at {:#x}: {}", it.section, it.offset, it.written)).collect()
}

/// Contents of a section in the file.
fn position(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let file = object::File::parse(bytes).expect("an ELF file");
    let (start, size) = file.section_by_name(name).expect(name).file_range().expect("contents");
    start as usize..(start + size) as usize
}

/// A fact of each kind, changed in the copy alone.
#[test]
fn contradicting_copies_are_findings() {
    let bytes = attach_to(OBJECT, "sm_120", "k", Existing::Replace).expect("a cubin");
    let find = |section: &str, pattern: &[u8]| {
        let range = position(&bytes, section);
        let at = bytes[range.clone()].windows(pattern.len()).position(|window| window == pattern);
        range.start + at.unwrap_or_else(|| panic!("{section}: {pattern:x?}"))
    };
    let rule = [0x0c, 0x81, 0x80, 0x80, 0x28];
    for (section, at) in [
        (".nv.merc.debug_info", find(".nv.merc.debug_info", b"moving")),
        (".nv.merc.debug_abbrev", position(&bytes, ".nv.merc.debug_abbrev").start + 1),
        (".nv.merc.debug_str", find(".nv.merc.debug_str", b"helper")),
        (".nv.merc.debug_line", find(".nv.merc.debug_line", b"k.cu")),
        (".nv.merc.debug_loc", find(".nv.merc.debug_loc", &[1, 0, 0x55]) + 2),
        (".nv.merc.debug_frame", find(".nv.merc.debug_frame", &rule) + 1),
        // A home, and a type.
        (
            ".nv.merc.nv_debug_info_reg_sass",
            find(".nv.merc.nv_debug_info_reg_sass", &0x0500_0003u32.to_le_bytes()),
        ),
        (".nv.merc.nv_debug_info_reg_type", position(&bytes, ".nv.merc.nv_debug_info_reg_type").end - 1),
    ] {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        let found = findings(&changed);
        let is_found = found.iter().any(|finding| {
            let section = section.replace("reg_type", "reg_sass");
            matches!(finding.code, LintCode::MercuryDiffers | LintCode::Unreadable)
                && *finding.section == section
        });
        assert!(is_found, "{section}: {found:?}");
    }
    // The section of the code, to which the code of the copies belongs.
    let mut changed = bytes.clone();
    changed[position(&bytes, ".nv.capmerc.text.k").start] ^= 1;
    assert!(
        differing(&changed).iter().any(|it| it.starts_with(".nv.capmerc.text.k")),
        "{:?}",
        differing(&changed)
    );
    // A row's line.
    let lines = position(OBJECT, ".nv.merc.debug_line");
    let mut changed = OBJECT.to_vec();
    // DW_LNS_advance_line.
    let at = lines.start + OBJECT[lines].windows(2).position(|it| it == [3, 8]).expect("an advance");
    changed[at + 1] = 9;
    assert!(differing(&changed)[0].contains("line 10 in file 1"), "{:?}", differing(&changed));
}

/// A relocatable file loses what has no copy.
#[test]
fn missing_copies_are_findings() {
    let table = u64::from_le_bytes(OBJECT[40..48].try_into().expect("8 bytes")) as usize;
    let file = object::File::parse(OBJECT).expect("an ELF file");
    let index = file.section_by_name(".nv.merc.debug_line").expect("a section").index().0;
    let mut bytes = OBJECT.to_vec();
    // `sh_size`.
    bytes[table + index * 64 + 32..][..8].fill(0);
    assert!(differing(&bytes)[0].contains("no copy"), "{:?}", differing(&bytes));
    // The file without the original.
    let index = file.section_by_name(".debug_line").expect("a section").index().0;
    let mut bytes = OBJECT.to_vec();
    bytes[table + index * 64 + 32..][..8].fill(0);
    assert!(differing(&bytes)[0].contains("bytes in the copy"), "{:?}", differing(&bytes));
}

/// Errors name the copy and the offset.
#[test]
fn malformed_copies_are_located() {
    let bytes = attach_to(OBJECT, "sm_120", "k", Existing::Replace).expect("a cubin");
    let changed = |section: &str, offset: usize, new: &[u8]| {
        let mut changed = bytes.clone();
        let at = position(&bytes, section).start + offset;
        changed[at..at + new.len()].copy_from_slice(new);
        let errors: Vec<_> =
            findings(&changed).into_iter().filter(|it| it.code == LintCode::Unreadable).collect();
        errors.iter().map(|it| (it.section.to_string(), it.offset)).collect::<Vec<_>>()
    };
    let relocations = ".nv.merc.rela.debug_info";
    for (section, offset, new, expected) in [
        // Unit length, version; a line table's length, and its header's; a map's count; the size of a list's expression.
        (".nv.merc.debug_info", 4, &[9][..], ".nv.merc.debug_info"),
        (".nv.merc.debug_info", 0, &[0xff, 0xff, 1], ".nv.merc.debug_info"),
        (".nv.merc.debug_line", 0, &[0xff, 0xff, 1], ".nv.merc.debug_line"),
        (".nv.merc.debug_line", 6, &[0xff, 0xff, 1], ".nv.merc.debug_line"),
        (".nv.merc.nv_debug_info_reg_sass", 2, &[0xff; 4], ".nv.merc.nv_debug_info_reg_sass"),
        (".nv.merc.debug_loc", 16, &[0xff, 0xff], ".nv.merc.debug_loc"),
        (".nv.merc.debug_frame", 4, &[0xff, 0xff], ".nv.merc.debug_frame"),
        // The type of a relocation, and its symbol.
        (relocations, 8, &[99, 0, 0, 0], ".nv.merc.debug_info"),
        (relocations, 12, &[0xff, 0xff, 0xff], ".nv.merc.debug_info"),
        (relocations, 0, &[0xff, 0xff, 0xff], ".nv.merc.debug_info"),
        (".nv.capmerc.text.k", 8, &[0xff; 4], ".nv.capmerc.text.k"),
    ] {
        let errors = changed(section, offset, new);
        assert!(errors.iter().any(|it| it.0 == expected), "{section} {offset}: {errors:?}");
    }
}

#[test]
fn copies_are_printed_with_their_code() {
    let bytes = attach_to(OBJECT, "sm_120", "k", Existing::Replace).expect("a cubin");
    let copies = Object::read_mercury(&bytes).expect("a cubin").expect("copies");
    let mut text = Vec::new();
    print_object_to(&mut text, &copies, None, None, Dialect::Dwarf5, DumpOptions::default()).expect("a dump");
    let text = String::from_utf8(text).expect("text");
    for line in [
        "function k: 272 bytes of Mercury code\n",
        "code .nv.capmerc.text.k: for section ",
        "DW_AT_name: \"moving\"",
        "frames: .nv.merc.debug_frame",
        "registers of k",
        "k+[0x0, 0x100] %e",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// Damaged files with copies are read, judged and described, or refused with an error.
#[test]
fn mutants_are_read_judged_and_described_or_refused() {
    let whole = attach_to(OBJECT, "sm_120", "k", Existing::Replace).expect("a cubin");
    let mut random = Random(0x3e2c);
    // Read; judged with a finding about copies; attached; refused.
    let mut counts = [0u64; 4];
    for case in 0..cases(400) {
        let mut bytes = if case % 2 == 0 { OBJECT.to_vec() } else { whole.clone() };
        damage(&mut bytes, &mut random);
        if case % 3 == 0 {
            // A byte of a copy.
            let at = bytes.len() / 2 + random.below(bytes.len() / 2 + 1);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        if let Ok(Some(copies)) = Object::read_mercury(&bytes) {
            counts[0] += u64::from(Dwarf::read(&copies).is_ok());
            let options = DumpOptions::default();
            let _ = print_object_to(&mut std::io::sink(), &copies, None, None, Dialect::Dwarf5, options);
        }
        if let Ok(report) = lint(&bytes, &LintOptions::default()) {
            counts[1] += u64::from(report.findings.iter().any(|it| it.code == LintCode::MercuryDiffers));
        }
        let existing = if case % 4 < 2 { Existing::Replace } else { Existing::KeepLines };
        match attach_to(&bytes, "sm_120", "k", existing) {
            Ok(out) => {
                counts[2] += 1;
                assert!(out.len() <= 2 * bytes.len() + 16384, "{} bytes of {}", out.len(), bytes.len());
                let _ = lint(&out, &LintOptions::default());
            }
            Err(error) => {
                counts[3] += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(counts.iter().all(|count| *count > cases(400) as u64 / 40), "{counts:?}");
}

/// The command keeps lines, and prints the copies.
#[test]
fn command_keeps_lines_and_prints_copies() {
    let folder = Folder::new();
    let object = folder.file("k.o", OBJECT);
    let size = symbol_named(OBJECT, "k").expect("the kernel").size;
    let module = moving(&target("sm_120"), "k", size).expect("a module");
    let description = folder.file("d.json", module.to_json());
    let out = folder.path().join("out.o");
    let eitri = |words: &[&std::ffi::OsStr]| {
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_eitri")).args(words).output();
        let ran = ran.expect("the command runs");
        let [output, errors] = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        (ran.status.success(), output, errors)
    };
    let words = ["emit", "--for", "cuda-gdb-sass", "--keep-lines", "--object"].map(std::ffi::OsStr::new);
    let paths = [object.as_os_str(), description.as_os_str(), "-o".as_ref(), out.as_os_str()];
    let (succeeded, _, errors) = eitri(&[&words[..], &paths[..]].concat());
    assert!(succeeded, "{errors}");
    let attached = attach_to(OBJECT, "sm_120", "k", Existing::KeepLines).expect("a cubin");
    assert!(std::fs::read(&out).expect("a file") == attached);
    let (succeeded, printed, errors) = eitri(&["dump".as_ref(), "--mercury".as_ref(), out.as_os_str()]);
    assert!(succeeded && printed.contains("272 bytes of Mercury code"), "{printed}{errors}");
    // A file without copies.
    let other = folder.file("other.cubin", OPTIMIZED);
    let (succeeded, _, errors) = eitri(&["dump".as_ref(), "--mercury".as_ref(), other.as_os_str()]);
    assert!(!succeeded && errors.contains(".nv.merc"), "{errors}");
}
