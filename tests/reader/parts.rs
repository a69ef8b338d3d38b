//! One part that cannot be read, between others that are read.

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy, Tables};
use eitri::dump;
use eitri::emit::elf::{ObjectCode as ElfCode, new_object};
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::error::ErrorKind;
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::lower;
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::op::{Dialect, Encoding, Expr};
use eitri::read::{Dwarf, Entry, FrameSection, Frames, Object, ReadOptions, ResolvedValue, Sections};
use eitri::report::readable_report;
use eitri::stats::{Build, readable_variable_lines, stats, variable_lines};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::common::with;
use crate::reader::bytes::Bytes;
use crate::reader::objects::records;

/// `.debug_frame` with a CIE before each FDE, as ptxas writes it: FDEs of 56 and 64 bytes, whose pointers are too large by 8
/// bytes for each earlier FDE of 56.
fn pairs(style: &Bytes, pointers: [u64; 3]) -> Bytes {
    let mut all = style.empty();
    for (index, pointer) in pointers.into_iter().enumerate() {
        let mut cie = style.empty();
        cie.offset(u64::MAX).u8s([4]).string("").u8s([8, 0]).uleb(1).sleb(-8).uleb(16).u8s([0x0c, 7, 8]);
        let offset = all.len();
        let mut fde = style.empty();
        fde.offset(offset + pointer).u64(0x4000 + 0x100 * index as u64).u64(0x100).u8s([0; 16]);
        all.unit(&cie).unit(&fde);
    }
    all
}

fn frames_of(all: &Bytes) -> (Vec<u64>, usize, usize, bool) {
    let sections = with::<Sections>(|sections| {
        sections.big_endian = all.big_endian;
        sections.debug_frame = &all.bytes;
    });
    let encoding = Encoding::new(8, Dialect::Llvm).with_big_endian(all.big_endian);
    let frames = Frames::read_readable(&sections, FrameSection::Debug, encoding);
    assert!(frames.errors.iter().all(|error| error.at().section.is_some() && error.at().offset.is_some()));
    let starts = frames.fdes.iter().map(|fde| fde.start).collect();
    let is_strict = Frames::read(&sections, FrameSection::Debug, encoding).is_err();
    (starts, frames.errors.len(), frames.recovered.len(), is_strict)
}

#[test]
fn an_entry_with_a_wrong_pointer_hides_no_other() {
    for style in Bytes::all() {
        let all = vec![0x4000, 0x4100, 0x4200];
        assert_eq!(frames_of(&pairs(&style, [0, 0, 0])), (all.clone(), 0, 0, false));
        // 8 bytes for each earlier FDE, or 16 for one of an empty function: the CIE before the FDE is meant.
        assert_eq!(frames_of(&pairs(&style, [0, 8, 16])), (all.clone(), 0, 2, true));
        assert_eq!(frames_of(&pairs(&style, [0, 8, 8])), (all.clone(), 0, 2, true));
        assert_eq!(frames_of(&pairs(&style, [0, 16, 24])), (all, 0, 2, true));
        // No multiple of 8, and too large by more than that.
        assert_eq!(frames_of(&pairs(&style, [0, 4, 0])), (vec![0x4000, 0x4200], 1, 0, true));
        assert_eq!(frames_of(&pairs(&style, [0, 0, 40])), (vec![0x4000, 0x4100], 1, 0, true));
    }
}

/// Units by hand, DWARF 4: the second of three has version 9 or an unknown abbreviation. Bytes of zeros end the section.
#[test]
fn a_unit_that_cannot_be_read_hides_no_other() {
    for style in Bytes::all() {
        for (version, code, is_broken) in [(4, 1, false), (9, 1, true), (4, 77, true)] {
            let mut abbreviations = style.empty();
            abbreviations.uleb(1).uleb(0x11).u8s([0]).uleb(3).uleb(8).u8s([0, 0, 0]);
            let mut info = style.empty();
            for (version, code, name) in [(4, 1, "a"), (version, code, "b"), (4, 1, "c")] {
                let mut unit = style.empty();
                unit.u16(version).offset(0).u8s([8]).uleb(code).string(name);
                info.unit(&unit);
            }
            info.u8s([0; 4]);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_info = &info.bytes;
                sections.debug_abbrev = &abbreviations.bytes;
            });
            let strict = Dwarf::from_sections(sections, &ReadOptions::new());
            assert_eq!(strict.is_err(), is_broken, "version {version}, code {code}");
        }
    }
}

/// An object of clang with two kernels, whose unit gets another version: what is not in the unit is printed and checked.
#[test]
fn the_rest_of_an_object_is_printed_and_checked() {
    let file = std::path::Path::new(crate::common::ROOT).join("tests/objects/llvm19/k02_reduce.gfx1030.O2.o");
    let good = std::fs::read(file).expect("an object");
    let info =
        Object::read(&good).expect("it is read").section(".debug_info").expect("units").data[..4].to_vec();
    let header = [&info[..], &[5, 0, 1, 8]].concat();
    let at = good.windows(8).position(|one| one == header).expect("the header of the unit");
    let mut bad = good.clone();
    bad[at + 4] = 9;
    let mut out = Vec::new();
    let error = dump::print_to(&mut out, &bad, None, None, Dialect::Llvm, dump::DumpOptions::default());
    assert!(matches!(error.expect_err("a unit").kind(), ErrorKind::Unsupported(_)));
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains("unit: <section .debug_info, offset 0x0: "), "{text}");
    assert!(text.contains("frames: .debug_frame"), "{text}");
    let report = lint(&bad, &LintOptions::default()).expect("it is checked");
    assert_eq!((report.unreadable.len(), report.count(LintCode::Unreadable)), (1, 1));
}

/// A module of three units, each with a name in all tables, and a location that is an error of the description.
fn three_units() -> (Module, ElfCode) {
    let mut m = Builder::new(Target::x86_64());
    let mut code = ElfCode::text(vec![0x90; 0x80]);
    let registers: Vec<_> = m.target().registers().take(4).map(|one| one.reg).collect();
    let [rsp, rip] = ["rsp", "rip"].map(|name| m.target().register_named(name).unwrap());
    for (at, name) in (0..).step_by(0x30).zip(["a", "b", "c"]) {
        let unit = m.unit(&format!("{name}.c"));
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let file = m.file(unit, &format!("{name}.c"), None).unwrap();
        m.macros(unit).unwrap().define(0, &format!("M{name} 1")).unwrap();
        let f = m.function(unit, &format!("f{name}")).unwrap().code(&format!("f{name}"), 0x20).id();
        let cfa = Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8));
        let mut frame = m.frame(f).unwrap();
        frame.cfa(0..0x20, cfa).unwrap().saved(0..0x20, rip, Loc::cfa().offset(-8)).unwrap();
        m.row(f, LineTableRow::new(0, file, 2)).unwrap();
        m.row(f, LineTableRow::new(8, file, 3)).unwrap();
        let places = [0, 1].map(|number| Loc::register(registers[number]));
        let [first, second] = places;
        // Ranges with a gap are lists: those of a block, and of an inlined call.
        let block = m.block(f, &[0..4, 8..12]).unwrap();
        m.variable(block, &format!("i{name}"), int).unwrap().live(0..4, Loc::register(registers[0])).unwrap();
        let g = m.function(unit, &format!("g{name}")).unwrap().id();
        m.inlined(f, g, &[12..14, 16..18], SourceLine::new(file, 4)).unwrap();
        m.variable(f, &format!("x{name}"), int)
            .unwrap()
            .live(0..8, first)
            .unwrap()
            .live(8..16, second)
            .unwrap();
        let zero = m.expr(Expr::raw([0x30]), &[]).unwrap();
        m.variable(f, &format!("z{name}"), int).unwrap().live(0..8, Loc::expr(zero)).unwrap();
        code = code.with_function(format!("f{name}"), at, 0x20);
    }
    (m.finish().unwrap(), code)
}

/// Whether a text is about one of two of the units of [`three_units`].
fn is_of_others(line: &str) -> bool {
    let names = ["a", "c"].map(|name| ["f", "x", "z", "M"].map(|of| format!("{of}{name}")));
    let is_named =
        |name: &String| line.contains(&format!("\"{name}\"")) || line.contains(&format!(" {name} "));
    names.as_flattened().iter().any(is_named)
        || ["\"a.c\"", "\"c.c\"", " 0x10000 ", " 0x10060 "].iter().any(|text| line.contains(text))
}

/// Each part of the second of three units, damaged in turn: what `dump`, `lint`, `stats` and `report` say of the others
/// does not change, and the error has section and offset.
#[test]
fn damaged_part_of_a_unit_changes_nothing_about_other_units() {
    let (module, code) = three_units();
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        consumer.tables =
            Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
        let sections = lower(&module, &consumer, Policy::Strict).unwrap().sections;
        let object = |sections: &[Section]| new_object(module.target(), &code, sections).unwrap();
        let good = object(&sections);
        let read = Object::read(&good).unwrap();
        let dwarf = Dwarf::read(&read).unwrap();
        let unit = &dwarf.units()[1];
        let root = dwarf.root(unit).unwrap();
        let variable = dwarf.entries_of(unit).find(|one| one.name().as_deref() == Some("xb")).unwrap();
        let offset = |entry: Entry<'_, '_>, name| match entry.attr(name) {
            Some(ResolvedValue::LocList(offset) | ResolvedValue::Offset(offset)) => offset,
            value => panic!("{name}: {value:?}"),
        };
        let frames = Frames::read(dwarf.sections(), FrameSection::Debug, unit.encoding).unwrap();
        let lines = unit.stmt_list.unwrap();
        let (lists, macros) = match version {
            4 => (".debug_loc", None),
            _ => (".debug_loclists", Some(offset(root, dw::DW_AT_macros))),
        };
        let with_ranges = |tag| {
            let mut all = dwarf.entries_of(unit);
            let entry = all.find(|one| one.tag() == tag && one.has(dw::DW_AT_ranges)).expect("ranges");
            match entry.attr(dw::DW_AT_ranges) {
                Some(ResolvedValue::RngList(offset)) => offset,
                value => panic!("{value:?}"),
            }
        };
        // The bytes that make each part unreadable: versions, an abbreviation code, the size of an expression or the kind
        // of a list entry, an opcode with an invalid address size, the pointer to a common information entry.
        let list = offset(variable, dw::DW_AT_location) + if version == 4 { 17 } else { 0 };
        let opcode = lines + 4 + lines_header(&sections, lines);
        let mut damages = vec![
            (".debug_info", unit.offset + 4, 9, true),
            (".debug_info", root.offset(), 0x7f, true),
            (lists, list, 0x7f, true),
            (".debug_line", lines + 4, 9, true),
            (".debug_line", opcode + 1, 4, true),
            (".debug_frame", frames.fdes[1].offset + 4, 5, true),
            (".debug_aranges", aranges(&sections) + 4, 9, false),
        ];
        damages.extend(macros.map(|at| (".debug_macro", at, 9, false)));
        // Each number is a range of `.debug_ranges`.
        if version == 5 {
            let tags = [dw::DW_TAG_lexical_block, dw::DW_TAG_inlined_subroutine];
            damages.extend(tags.map(|tag| (".debug_rnglists", with_ranges(tag), 0x7f, true)));
        }
        for (name, at, byte, is_counted) in damages {
            let mut sections = sections.clone();
            let section = sections.iter_mut().find(|one| one.name == name).expect(name);
            let relocated = section.relocations.iter_mut();
            let mut relocated =
                relocated.filter(|one| (one.offset..one.offset + u64::from(one.bytes)).contains(&at));
            match relocated.next() {
                Some(relocation) => relocation.addend += u64::from(byte),
                None => section.bytes[at as usize] = byte,
            }
            let bad = object(&sections);
            let what = format!("DWARF {version}, {name} at {at:#x}");

            let printed = |bytes: &[u8]| {
                let mut out = Vec::new();
                let _ = dump::print_to(&mut out, bytes, None, None, Dialect::Llvm, Default::default());
                String::from_utf8(out).unwrap()
            };
            let before = printed(&good);
            let after = printed(&bad);
            let others = |text: &str| {
                text.lines().filter(|line| is_of_others(line)).map(String::from).collect::<Vec<_>>()
            };
            assert_eq!(others(&after), others(&before), "{what}");
            assert!(
                after.lines().any(|line| line.contains(&format!("<section {name}, offset 0x"))),
                "{what}\n{after}"
            );

            let checked = |bytes: &[u8]| lint(bytes, &LintOptions::default()).expect(&what);
            let others = |report: &eitri::lint::LintReport| {
                let of_others = report
                    .findings
                    .iter()
                    .filter(|one| one.unit.as_deref().is_some_and(|unit| unit != "b.c"));
                of_others.map(|one| (one.code, one.function.clone(), one.pcs.clone())).collect::<Vec<_>>()
            };
            let before = checked(&good);
            let after = checked(&bad);
            assert!(others(&before).len() >= 2 && others(&before) == others(&after), "{what}: {after:?}");
            let is_reported = after.findings.iter().any(|one| one.code == LintCode::Unreadable);
            assert_eq!(is_reported, is_counted, "{what}: {:?}", after.findings);

            let measured = |bytes: &[u8]| stats(bytes, &Default::default()).expect(&what);
            let others = |found: &eitri::stats::Statistics| {
                found.functions.iter().filter(|one| one.name != "fb").cloned().collect::<Vec<_>>()
            };
            let before = measured(&good);
            let after = measured(&bad);
            assert!(others(&before).len() == 2 && others(&before) == others(&after), "{what}");
            let errors = &after.unreadable;
            assert!(before.unreadable.is_empty() && errors.is_empty() != is_counted, "{what}: {errors:?}");
            let (_, of_page) = readable_report(&bad, &Default::default()).expect(&what);
            assert_eq!(of_page.len(), errors.len(), "{what}: {of_page:?}");
            for error in errors.iter().chain(&of_page) {
                assert_eq!(error.at().section.as_deref(), Some(name), "{what}: {error}");
                assert!(error.at().offset.is_some(), "{what}: {error}");
            }
        }
    }
}

/// Returns the places of the relocation records of a section's relocations in an ELF file for x86-64, with the offsets of
/// their fields.
fn relocation_records(bytes: &[u8], section: &str) -> Vec<(usize, u64)> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let object = Object::read(bytes).unwrap();
    let table = word(0x28) as usize;
    let name = format!(".rela{section}");
    let index = object.sections().iter().position(|one| *one.name == name);
    let Some(header) = index.map(|index| table + 64 * index) else { return Vec::new() };
    let start = word(header + 24) as usize;
    let size = word(header + 32) as usize;
    (start..start + size).step_by(24).map(|at| (at, word(at))).collect()
}

/// Each relocation, with a type that cannot be applied: the object is read, the error has section and offset and is named by
/// all commands, and no line of the dump has a new number.
#[test]
fn relocation_that_cannot_be_applied_is_an_error_of_what_reads_its_field() {
    let (module, code) = three_units();
    let mut count = 0;
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        consumer.tables =
            Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
        let sections = lower(&module, &consumer, Policy::Strict).unwrap().sections;
        let good = new_object(module.target(), &code, &sections).unwrap();
        let printed = |bytes: &[u8]| {
            let mut out = Vec::new();
            let printed = dump::print_to(&mut out, bytes, None, None, Dialect::Llvm, Default::default());
            (String::from_utf8(out).unwrap(), printed)
        };
        let whole = printed(&good).0;
        let known: Vec<_> = whole.lines().collect();
        for section in &sections {
            for (record, offset) in relocation_records(&good, section.name) {
                let mut bad = good.clone();
                // R_X86_64_GOT32.
                bad[record + 8] = 3;
                let what = format!("DWARF {version}, {} at {offset:#x}", section.name);
                let object = Object::read(&bad).expect(&what);
                let [error] = object.errors() else { panic!("{what}: {:?}", object.errors()) };
                let place = (error.at().section.as_deref(), error.at().offset);
                assert_eq!(place, (Some(section.name), Some(offset)), "{what}");
                assert!(Dwarf::read(&object).is_err(), "{what}");
                let (text, result) = printed(&bad);
                assert_eq!(result.unwrap_err().at().offset, Some(offset), "{what}");
                let message = "unsupported relocation type 3 of machine 62";
                for line in text.lines() {
                    let is_shorter = || known.iter().any(|known| known.starts_with(line));
                    // Or what is counted from an unknown base, or refers to a unit or entry that is left out.
                    let is_named = [message, "has no base", "without name", "no unit", "no entry"];
                    let is_named = is_named.iter().any(|text| line.contains(text));
                    assert!(is_named || is_shorter(), "{what}: {line}");
                }
                count += 1;
                if count % 4 != 0 && version == 4 {
                    continue;
                }
                let report = lint(&bad, &LintOptions::default()).expect(&what);
                assert!(report.count(LintCode::Unreadable) >= 1, "{what}: {report:?}");
                let errors = stats(&bad, &Default::default()).expect(&what).unreadable;
                let of_page = readable_report(&bad, &Default::default()).expect(&what).1;
                for all in [&report.unreadable, &errors, &of_page] {
                    let places = all.iter().map(|one| (one.at().section.as_deref(), one.at().offset));
                    assert_eq!(places.filter(|one| *one == place).count(), 1, "{what}: {all:?}");
                }
            }
        }
    }
    assert!(count >= 100, "{count}");
}

/// Lines of the variables of an object with one damaged line program: those of the other units.
#[test]
fn damaged_line_program_loses_variable_lines_of_its_unit_alone() {
    let (module, code) = three_units();
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let sections = lower(&module, &consumer, Policy::Strict).unwrap().sections;
        let good = new_object(module.target(), &code, &sections).unwrap();
        let lines = {
            let read = Object::read(&good).unwrap();
            Dwarf::read(&read).unwrap().units()[1].stmt_list.unwrap()
        };
        let all = variable_lines(Build::new(&good), None, false).unwrap();
        let names: Vec<_> = all.iter().map(|one| &*one.name).collect();
        assert!(["xa", "xb", "xc", "ib"].iter().all(|name| names.contains(name)), "{names:?}");
        // The version of the program, and an opcode after its first rows.
        let opcode = lines + 4 + lines_header(&sections, lines) + 1;
        for (at, byte) in [(lines + 4, 9), (opcode, 4)] {
            let mut sections = sections.clone();
            let section = sections.iter_mut().find(|one| one.name == ".debug_line").unwrap();
            section.bytes[at as usize] = byte;
            let bad = new_object(module.target(), &code, &sections).unwrap();
            assert!(variable_lines(Build::new(&bad), None, false).is_err());
            let found = readable_variable_lines(Build::new(&bad), None, false).unwrap();
            let of_others = all.iter().filter(|one| !one.name.ends_with('b')).cloned().collect::<Vec<_>>();
            assert_eq!(found.variables, of_others);
            let [error] = &found.unreadable[..] else { panic!("{:?}", found.unreadable) };
            assert_eq!(error.at().section.as_deref(), Some(".debug_line"), "{error}");
            assert!(error.at().unit.as_deref() == Some("b.c") && error.at().offset.is_some(), "{error}");
            // The other build is damaged: nothing is known of its unit.
            let against = readable_variable_lines(Build::new(&good), Some(Build::new(&bad)), false).unwrap();
            assert_eq!((against.unreadable.len(), against.unreadable_base.len()), (0, 1));
            let known = against.variables.iter().filter(|one| one.base.is_some()).map(|one| &one.name);
            let known: Vec<_> = known.collect();
            assert!(known.iter().all(|name| !name.ends_with('b')) && known.len() >= 4, "{known:?}");
        }
    }
}

/// Returns what begins the text of a table.
fn heading(section: &str) -> &str {
    match section {
        ".debug_aranges" => "addresses:",
        ".debug_pubnames" => "pubnames:",
        ".debug_pubtypes" => "pubtypes:",
        _ => "names:",
    }
}

/// Each byte of the tables of names and of address ranges, damaged in turn: what is printed of the units, frames and lines
/// does not change, what is printed of the other tables does not either, and an error has the table's section and an offset.
#[test]
fn damaged_table_changes_nothing_that_is_printed_outside_the_table() {
    let (module, code) = three_units();
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        consumer.tables =
            Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
        let sections = lower(&module, &consumer, Policy::Strict).unwrap().sections;
        let names = [".debug_names", ".debug_pubnames", ".debug_pubtypes", ".debug_aranges"];
        let printed = |sections: &[Section]| {
            let bytes = new_object(module.target(), &code, sections).unwrap();
            let mut out = Vec::new();
            let _ = dump::print_to(&mut out, &bytes, None, None, Dialect::Llvm, Default::default());
            let text = String::from_utf8(out).unwrap();
            let parts = text.split("\n\n").map(String::from);
            let (tables, rest): (Vec<_>, Vec<_>) =
                parts.partition(|part| names.iter().any(|name| part.starts_with(heading(name))));
            (tables, rest, bytes)
        };
        let (whole, rest, _) = printed(&sections);
        let mut damaged = 0;
        for (index, section) in sections.iter().enumerate().filter(|one| names.contains(&one.1.name)) {
            for (at, change) in (0..section.bytes.len()).flat_map(|at| [(at, 0xff), (at, 1)]) {
                // A relocated field is 0.
                let mut relocated = section.relocations.iter();
                if relocated.any(|one| (one.offset..one.offset + u64::from(one.bytes)).contains(&(at as u64)))
                {
                    continue;
                }
                let mut sections = sections.clone();
                sections[index].bytes[at] ^= change;
                let (tables, others, bytes) = printed(&sections);
                let what = format!("DWARF {version}, {} at {at:#x}", section.name);
                assert_eq!(others, rest, "{what}");
                let of_others = |tables: &[String]| {
                    let others = tables.iter().filter(|part| !part.starts_with(heading(section.name)));
                    others.cloned().collect::<Vec<_>>()
                };
                assert_eq!(of_others(&tables), of_others(&whole), "{what}");
                for line in tables.concat().lines().filter(|line| line.contains("<section ")) {
                    let place = format!("<section {}, offset 0x", section.name);
                    assert!(line.contains(&place), "{what}: {line}");
                    damaged += 1;
                }
                let read = Object::read(&bytes).unwrap();
                let unreadable = Dwarf::read(&read).map(|dwarf| dwarf.units().len());
                assert_eq!(unreadable.unwrap(), 3, "{what}");
            }
        }
        assert!(damaged > 20, "{damaged}");
    }
}

/// Returns the bytes of the header of a line program after its length, with the program's `DW_LNE_set_address` next.
fn lines_header(sections: &[Section], program: u64) -> u64 {
    let lines = &sections.iter().find(|one| one.name == ".debug_line").unwrap().bytes[program as usize..];
    let at = lines.windows(3).position(|one| one == [0, 9, 2]).expect("DW_LNE_set_address");
    at as u64 - 4
}

/// Returns the offset of the second set of `.debug_aranges`.
fn aranges(sections: &[Section]) -> u64 {
    let bytes = &sections.iter().find(|one| one.name == ".debug_aranges").unwrap().bytes;
    u64::from(u32::from_le_bytes(bytes[..4].try_into().unwrap())) + 4
}

/// After a unit whose length has no known relocation, the place of the next unit is unknown, whatever number the field has.
#[test]
fn unit_after_unreadable_length_is_not_guessed() {
    for stored in [9, 0] {
        let mut info = Bytes::new(false, false);
        for length in [9, 0, 9] {
            info.u32(length).u16(5).u8s([1, 8]).u32(0).u8s([1]);
        }
        let target = RelocationTarget::Section(".debug_abbrev");
        let relocation = Relocation { offset: 13, bytes: 4, target, addend: 0 };
        let section = |name, bytes: &[u8], relocations| Section {
            name,
            bytes: bytes.to_vec(),
            relocations,
            is_strings: false,
            group: None,
        };
        // A unit without attributes.
        let abbreviations = [1, 0x11, 0, 0, 0, 0];
        let sections = [
            section(".debug_info", &info.bytes, vec![relocation]),
            section(".debug_abbrev", &abbreviations, Vec::new()),
        ];
        let mut bytes = new_object(&Target::x86_64(), &ElfCode::text(vec![0x90; 16]), &sections).unwrap();
        let [record] = records(&bytes)[..] else { panic!("one relocation") };
        // R_X86_64_GOT32.
        bytes[record + 8] = 3;
        let start = bytes.windows(info.bytes.len()).position(|window| window == info.bytes).unwrap();
        bytes[start + 13] = stored;
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).unwrap();
        let units: Vec<_> = dwarf.units().iter().map(|unit| unit.offset).collect();
        assert_eq!(units, [0], "{stored}");
        let errors: Vec<_> =
            dwarf.errors().iter().map(|error| (error.at().section.as_deref(), error.at().offset)).collect();
        assert_eq!(errors, [(Some(".debug_info"), Some(13))], "{stored}");
    }
}
