//! Debug information in texts of PTX: what is written, that it can be removed to the byte, and that `check` finds what
//! is wrong.

use crate::common;

use crate::common::with;
use eitri::build::{Builder, DataMember};
use eitri::check::CheckReport;
use eitri::emit::ptx::{self, Existing, PtxAttachOptions};
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::error::{Construct, ErrorKind};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine, UnitId, Val, VariableId};
use eitri::omission::{Omission, Property, Reason};
use eitri::target::{Sm, Target};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn target() -> Target {
    Target::nvptx(Sm::named("sm_90").expect("a processor"))
}

/// Adds the debug information of a module to a text.
fn attached(text: &str, module: &Module, policy: Policy) -> eitri::Result<(String, Lowered)> {
    let written = lower(module, &Consumer::cuda_gdb(), policy)?;
    let how = with::<PtxAttachOptions>(|options| options.lines = written.lines.as_ref());
    Ok((ptx::attach(text, module.target(), &written.sections, &how)?, written))
}

fn check(text: &str, module: &Module, written: &Lowered) -> eitri::Result<CheckReport> {
    eitri::check(module, &Consumer::cuda_gdb(), &written.omissions, text.as_bytes())
}

/// A text of a kernel with `count` instructions in one of several layouts. Some instructions share a line or have a
/// label. Registers of the module can have values when the kernel begins.
fn text(count: u64, layout: u8) -> String {
    let mut text = String::from("// Blanks and comments.\n.version 8.0\n.target sm_90");
    text += if layout & 1 == 1 { ", texmode_independent\n" } else { " // a comment\n" };
    text += ".address_size 64\n.global .b32 table[4] = {1, 2, 3, 4};\n.shared .b8 tile[16];\n";
    text += ".reg .b64 %rd<64>; .reg .b32 %r<10>;\n";
    text += ".visible .entry k(.param .u64 k_param_0)\n{\n\t.local .b8 depot[32];";
    for number in 0..count {
        text += match (number + u64::from(layout)) % 4 {
            0 => "\n\t",
            1 => " ",
            2 => "\n$L_a: ",
            _ => "\r\n  /* a; b */ ",
        };
        text += "add.s64 %rd1, %rd2, %rd3;";
    }
    text + if layout & 2 == 2 { "\n}\n" } else { "}" }
}

/// Live range of a variable: number of a location, register, offset, pcs.
type Place = (u8, u8, i64, u64, u64);
/// Row: pc, line, whether the instruction is of an inlined call.
type Line = (u64, u32, bool);

/// A kernel of `count` instructions with a variable for each place, and with rows.
fn module(count: u64, places: &[Place], rows: &[Line]) -> eitri::Result<Module> {
    let mut m = Builder::new(target());
    let unit = m.unit("src/a.cu");
    let file = m.primary_file(unit)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let inlined = m.function(unit, "inlined")?.declared(SourceLine::new(file, 1)).id();
    let kernel = m.function(unit, "k")?.code("k", count).kernel().declared(SourceLine::new(file, 2)).id();
    for (number, &(what, reg, by, start, end)) in places.iter().enumerate() {
        let loc = loc(&mut m, what, reg, by)?;
        m.variable(kernel, &format!("v{number}"), long)?.live(start..end, loc)?;
    }
    let call = SourceLine::new(file, 7).column(3);
    let of_call: Vec<_> = rows.iter().filter(|row| row.2).map(|row| row.0..row.0 + 1).collect();
    if !of_call.is_empty() {
        m.inlined(kernel, inlined, &of_call, call)?;
    }
    for &(pc, line, _) in rows {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }
    m.finish()
}

/// Locations that entries for CUDA-GDB have, by number.
fn loc(m: &mut Builder, number: u8, reg: u8, by: i64) -> eitri::Result<Loc> {
    let gpu = target();
    let register = gpu.register_named(&format!("%rd{}", reg % 9))?;
    let narrow = Loc::per_lane(gpu.register_named("%r1")?);
    let value = Loc::per_lane(register).read(64);
    let space = |name| Ok::<_, eitri::Error>(gpu.space_named(name)?.id);
    Ok(match number % 10 {
        0 => Loc::per_lane(register),
        1 => Loc::memory(space("global")?, value.plus(by)),
        2 => Loc::memory(space("local")?, Val::address(m.symbol("depot"), by.abs())),
        3 => Loc::memory(space("shared")?, Val::address(m.symbol("tile"), 0)),
        4 => Loc::memory(space("param")?, Val::address(m.symbol("k_param_0"), 0)),
        5 => Loc::stack_slot(by),
        6 => Loc::value(value.plus(by).mul(Val::constant(300))),
        7 => Loc::implicit(&by.to_le_bytes()),
        8 => Loc::parts([(Loc::per_lane(register), 32), (narrow, 32)]),
        _ => Loc::value(narrow.read(32).sub(Val::constant(by as u64))),
    })
}

proptest! {
    #![proptest_config(common::cases::config(96))]

    #[test]
    fn random_descriptions_are_written_checked_and_removed(
        count in 1u64..12,
        layout in 0u8..16,
        places in prop::collection::vec((any::<u8>(), any::<u8>(), -200i64..200, 0u64..12, 1u64..13), 0..12),
        rows in prop::collection::vec((0u64..12, 1u32..9, any::<bool>()), 0..6),
    ) {
        let in_code = |&(what, reg, by, start, end): &Place| match (start % count, end.min(count)) {
            (start, end) if start < end => (what, reg, by, start, end),
            _ => (what, reg, by, 0, count),
        };
        let places: Vec<Place> = places.iter().map(in_code).collect();
        let mut rows: Vec<Line> = rows.into_iter().filter(|row| row.0 < count).collect();
        rows.sort_unstable();
        rows.dedup_by_key(|row| row.0);
        if let Some(first) = rows.first_mut() {
            first.0 = 0;
        }
        let module = module(count, &places, &rows).expect("a module");
        let plain = text(count, layout);
        let (written, lowered) = attached(&plain, &module, Policy::Strict).expect("a text");
        prop_assert_eq!(ptx::detach(&written).expect("PTX"), &*plain);
        let report = check(&written, &module, &lowered).expect("a report");
        prop_assert!(report.is_clean(), "{}\n{}", report, written);
        // Replacing gives the same text again.
        let how = { let mut options = PtxAttachOptions::default(); options.existing = Existing::Replace; options.lines = lowered.lines.as_ref(); options };
        let again = ptx::attach(&written, module.target(), &lowered.sections, &how).expect("a text");
        prop_assert_eq!(again, written);
    }
}

/// One of each location, and rows with an inlined call.
fn sample() -> (String, Module) {
    let places: Vec<Place> = (0..10).map(|what| (what, what, 40, what.into(), 11)).collect();
    let module =
        module(12, &places, &[(0, 2, false), (3, 4, false), (5, 1, true), (8, 9, false)]).expect("a module");
    (text(12, 0), module)
}

#[test]
fn a_text_with_debug_information_is_the_reviewed_one() {
    let (plain, module) = sample();
    let (written, _) = attached(&plain, &module, Policy::Strict).expect("a text");
    common::check_golden("ptx/sample.ptx", &written);
    let dump = eitri::dump::print(written.as_bytes(), None).expect("a dump");
    common::check_golden("ptx/sample.txt", &dump);
}

#[test]
fn labels_are_only_where_something_begins_or_ends() {
    let places = [(0, 1, 0, 3, 5), (0, 2, 0, 5, 9)];
    let module = module(12, &places, &[]).expect("a module");
    let (written, _) = attached(&text(12, 2), &module, Policy::Strict).expect("a text");
    // Pcs 3, 5 and 9; 0 and 12, where the function begins and ends.
    assert_eq!(
        written.matches("$L__eitri_").count() - written.matches(".b64\t$L__eitri_").count(),
        5,
        "{written}"
    );
    assert!(written.contains(".b64\tk\n.b64\t$L__eitri_4\n"), "{written}");
}

#[test]
fn rows_alone_have_neither_sections_nor_the_option() {
    let (plain, module) = sample();
    let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let how = with::<PtxAttachOptions>(|options| options.lines = written.lines.as_ref());
    let rows = ptx::attach(&plain, module.target(), &[], &how).expect("a text");
    assert!(!rows.contains(".debug_info") && !rows.contains(", debug"), "{rows}");
    assert!(rows.contains(".loc\t1 1 0, function_name $L__eitri_names+0, inlined_at 1 7 3"), "{rows}");
    assert_eq!(ptx::detach(&rows).expect("PTX"), plain);
}

#[test]
fn check_finds_every_mistake_in_the_text() {
    let (plain, module) = sample();
    let (written, lowered) = attached(&plain, &module, Policy::Strict).expect("a text");
    let lines: Vec<&str> = written.lines().collect();
    let mut mistakes = 0;
    let mut missed = Vec::new();
    // The same meaning in other bytes: a constant as `sdata`, a flag that is not 1.
    let same = [("udata", ",87,15,0,0,0: byte 28 bits 0x2"), ("flag", "\t2,1: byte 1 ")];
    let mut judge = |changed: Vec<String>, what: String| {
        if same.iter().any(|(_, same)| what.contains(same)) {
            return;
        }
        mistakes += 1;
        let text = changed.join("\n");
        if check(&text, &module, &lowered).is_ok_and(|report| report.is_clean()) {
            missed.push(what);
        }
    };
    for (at, line) in lines.iter().enumerate() {
        let replaced = |with: String| {
            let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            all[at] = with;
            all
        };
        // A byte of a section: another one.
        if let Some(numbers) = line.strip_prefix(".b8\t") {
            let numbers: Vec<u8> = numbers.split(',').map(|number| number.parse().expect("a byte")).collect();
            for index in 0..numbers.len() {
                for bit in [1 << ((index + at) % 8), 0xff] {
                    let mut numbers = numbers.clone();
                    numbers[index] ^= bit;
                    let text: Vec<String> = numbers.iter().map(u8::to_string).collect();
                    judge(
                        replaced(format!(".b8\t{}", text.join(","))),
                        format!("{at}: {line}: byte {index} bits {bit:#x}"),
                    );
                }
            }
        }
        // A reference: to the next label.
        if let Some(number) =
            line.strip_prefix(".b64\t$L__eitri_").and_then(|number| number.parse::<u32>().ok())
        {
            let other = if number == 0 { 1 } else { number - 1 };
            judge(replaced(format!(".b64\t$L__eitri_{other}")), format!("{at}: {line}"));
        }
        if *line == ".b64\tk" {
            judge(replaced(".b64\t$L__eitri_1".into()), format!("{at}: {line}"));
        }
        if line.starts_with(".b32\t.debug_loc") {
            judge(replaced(format!("{line}1")), format!("{at}: {line}"));
        }
        // A row: its line.
        if let Some(rest) = line.trim_start().strip_prefix(".loc\t1 ") {
            let (number, rest) = rest.split_once(' ').expect("a column");
            let number: u32 = number.parse().expect("a line");
            let is_call = rest.starts_with("3");
            if !is_call {
                judge(replaced(format!("\t.loc\t1 {} {rest}", number + 1)), format!("{at}: {line}"));
            }
        }
    }
    assert!(mistakes > 500, "{mistakes}");
    assert_eq!(missed, Vec::<String>::new(), "{} of {mistakes}", missed.len());
}

/// Abbreviation: code, tag, pairs of attribute and form.
type Abbreviation = (u64, u64, Vec<(u64, u64)>);

/// Abbreviations of a section. DWARF 2 section 7.5.3.
fn abbreviations(mut bytes: &[u8]) -> Vec<Abbreviation> {
    let mut number = || {
        let mut value = 0;
        let mut shift = 0;
        while let [byte, rest @ ..] = bytes {
            bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    };
    let mut all = Vec::new();
    loop {
        let code = number();
        if code == 0 {
            return all;
        }
        // The flag of children is a byte, and below 128.
        let (tag, _) = (number(), number());
        let mut attributes = Vec::new();
        loop {
            match (number(), number()) {
                (0, 0) => break,
                pair => attributes.push(pair),
            }
        }
        all.push((code, tag, attributes));
    }
}

/// A kernel with a wide variable, a structure with a bit field, and an enumeration.
fn types(bit_field_at: u64) -> eitri::Result<Module> {
    let gpu = target();
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cu");
    let file = m.primary_file(unit)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let many = m.array(unit, long, &[Some(64)])?;
    let color = m.enumeration(unit, Some("color"), long, &[("red", 0), ("blue", -1)])?;
    let pair = m.structure(unit, Some("pair"), 16)?;
    m.data_member(pair, DataMember::new("one", long, 0))?;
    m.data_member(pair, DataMember::bit_field("bits", long, bit_field_at, 3))?;
    let kernel = m
        .function(unit, "k")?
        .code("k", 12)
        .kernel()
        .linkage_name("_Z1k")
        .declared(SourceLine::new(file, 1))
        .id();
    let reg = |name: &str| gpu.register_named(name).map(Loc::per_lane);
    let parts = (0..64).map(|number| Ok((reg(&format!("%rd{number}"))?, 64)));
    let parts = Loc::parts(parts.collect::<eitri::Result<Vec<_>>>()?);
    m.variable(kernel, "wide", many)?.always(parts)?;
    m.variable(kernel, "one", long)?.live(2..9, reg("%rd1")?)?;
    m.variable(kernel, "seven", color)?.live(3..5, reg("%rd2")?)?;
    m.variable(kernel, "both", pair)?.live(3..5, Loc::parts([(reg("%rd1")?, 64), (reg("%rd2")?, 64)]))?;
    m.finish()
}

/// ptxas reads the forms of DWARF 2 alone, up to 256 attributes, and cuobjdump the tags up to 0x42: the numbers here
/// are those of DWARF 2 section 7, and the limits are what the tools answered.
#[test]
fn entries_have_the_forms_that_the_tools_read() -> eitri::Result<()> {
    // addr, block2, data2, data4, data8, string, block1, data1, flag, sdata, udata, ref_addr, ref4.
    const FORMS: [u64; 13] = [0x01, 0x03, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x10, 0x13];
    let module = types(64)?;
    let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict)?;
    let section = |name: &str| written.sections.iter().find(|section| section.name == name);
    let names: Vec<&str> = written.sections.iter().map(|section| section.name).collect();
    assert_eq!(names, [".debug_abbrev", ".debug_info", ".debug_loc"]);
    let all = abbreviations(&section(".debug_abbrev").expect("abbreviations").bytes);
    for (index, (code, tag, attributes)) in (1..).zip(&all) {
        assert_eq!(*code, index, "codes are in the order of the section");
        assert!(*tag <= 0x42 && attributes.len() <= 256, "{tag:#x}");
        for (attribute, form) in attributes {
            assert!(FORMS.contains(form), "attribute {attribute:#x} of tag {tag:#x} in form {form:#x}");
        }
        let position = |wanted: u64| attributes.iter().position(|(attribute, _)| *attribute == wanted);
        // DW_AT_MIPS_linkage_name is in front of DW_AT_name.
        if let (Some(linkage), Some(name)) = (position(0x2007), position(0x03)) {
            assert!(linkage < name);
        }
    }
    let of = |tag: u64| all.iter().filter(move |one| one.1 == tag).flat_map(|one| &one.2);
    // The unit has a low pc and no ranges; a function's high pc is an address.
    assert!(of(0x11).any(|one| *one == (0x11, 0x01)) && of(0x11).all(|(attribute, _)| *attribute != 0x55));
    assert!(of(0x2e).any(|one| *one == (0x12, 0x01)) && of(0x2e).any(|one| *one == (0x2007, 0x08)));
    // 64 registers with their sizes take more than 255 bytes; one register takes a block with a length of one byte.
    assert!(of(0x34).any(|one| *one == (0x02, 0x03)) && of(0x34).any(|one| *one == (0x02, 0x06)));
    // Version 2, and the address size 8.
    let info = &section(".debug_info").expect("entries").bytes;
    assert_eq!((&info[4..6], info[10]), (&[2, 0][..], 8));
    let (text, written) = attached(&text(12, 0), &module, Policy::Strict)?;
    let report = check(&text, &module, &written)?;
    assert!(report.is_clean(), "{report}");
    // A bit field one bit further on is another one, although its offset has two attributes.
    assert!(!check(&text, &types(65)?, &written)?.is_clean());
    Ok(())
}

/// nvcc writes `DW_LANG_C_plus_plus` for every C++, the class of each pointer (generic is 12, shared is 8), and numbers
/// of DWARF 2 for other constants. The debugger gets the first expressible place of several.
#[test]
fn facts_are_those_that_nvcc_writes() -> eitri::Result<()> {
    let gpu = target();
    let mut m = Builder::new(gpu.clone());
    let shared = gpu.space_named("shared")?.id;
    let [unit, other] = ["a.cu", "b.rs"].map(|name| m.unit(name));
    m.describe_unit(unit)?.language(gimli::DW_LANG_C_plus_plus_17.0);
    m.describe_unit(other)?.language(gimli::DW_LANG_Rust.0);
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let generic = m.pointer(unit, Some(long))?;
    let to_shared = m.pointer_into(unit, Some(long), shared)?;
    let kernel = m.function(unit, "k")?.code("k", 12).kernel().id();
    let at = |name: &str| gpu.register_named(name).map(Loc::per_lane);
    m.variable(kernel, "generic", generic)?.live(2..9, at("%rd1")?)?;
    m.variable(kernel, "narrow", to_shared)?.live(2..9, at("%r1")?)?;
    let lane = Loc::lane(gpu.register_named("%rd2")?, 3);
    m.variable(kernel, "several", long)?.live_in(2..9, &[lane, at("%rd3")?, at("%rd4")?])?;
    m.variable(kernel, "constant", long)?.always(Loc::implicit(&(-7i64).to_le_bytes()))?;
    let module = m.finish()?;
    let (written, lowered) = attached(&text(12, 0), &module, Policy::Strict)?;
    assert!(check(&written, &module, &lowered)?.is_clean());
    let dump = eitri::dump::print(written.as_bytes(), None)?;
    let languages = dump.lines().filter(|line| line.contains("DW_AT_language"));
    assert_eq!(
        languages.collect::<Vec<_>>(),
        ["  DW_AT_language: DW_LANG_C_plus_plus", "  DW_AT_language: DW_LANG_Rust"]
    );
    let classes = dump.lines().filter(|line| line.contains("DW_AT_address_class"));
    assert_eq!(classes.collect::<Vec<_>>(), ["    DW_AT_address_class: 12", "    DW_AT_address_class: 8"]);
    assert!(dump.contains("+[0x2, 0x9): regx %rd3\n") && !dump.contains("regx %rd4"), "{dump}");
    // The 64 bits of -7.
    assert!(dump.contains("DW_AT_const_value: 18446744073709551609\n"), "{dump}");
    // DW_FORM_ref_addr has the size of an address in DWARF 2.
    let mut consumer = Consumer::cuda_gdb();
    consumer.forms.push((gimli::DW_AT_type, gimli::DW_FORM_ref_addr));
    let lowered = lower(&module, &consumer, Policy::Strict)?;
    let [abbreviation, info] = [".debug_abbrev", ".debug_info"]
        .map(|name| lowered.sections.iter().find(|section| section.name == name).expect("a section"));
    let all = abbreviations(&abbreviation.bytes);
    assert!(all.iter().flat_map(|one| &one.2).any(|one| *one == (0x49, 0x10)), "{all:?}");
    let is_of_entries = |one: &&Relocation| one.target == RelocationTarget::Section(".debug_info");
    let mut references = info.relocations.iter().filter(is_of_entries);
    assert_eq!((references.clone().count(), references.all(|one| one.bytes == 8)), (6, true));
    let written =
        ptx::attach(&text(12, 0), module.target(), &lowered.sections, &PtxAttachOptions::default())?;
    assert!(eitri::check(&module, &consumer, &lowered.omissions, written.as_bytes())?.is_clean());
    Ok(())
}

/// Properties that CUDA-GDB's entries lack, each with the reason.
#[test]
fn inexpressible_locations_are_refused_or_listed() {
    let gpu = target();
    let reg = |name: &str| gpu.register_named(name).expect("a register");
    let space = |name: &str| gpu.space_named(name).expect("a space").id;
    let at_register = |space| Loc::memory(space, Loc::per_lane(reg("%rd1")).read(64));
    let cases: Vec<(Loc, Construct)> = vec![
        (Loc::lane(reg("%rd1"), 3), Construct::LaneOfWave),
        (Loc::register(reg("UR4")), Construct::RegisterNumber("UR4".into())),
        (Loc::per_lane(reg("CC")), Construct::RegisterNumber("CC".into())),
        (Loc::per_lane(reg("%rd1")).bit_offset(4), Construct::Operation("bit_piece")),
        (
            Loc::parts([(at_register(space("global")), 16), (at_register(space("shared")), 16)]),
            Construct::SecondSpace("global".into(), "shared".into()),
        ),
        (Loc::value(at_register(space("global")).read(32)), Construct::Memory(Some("global".into()))),
    ];
    let all_lanes = (Loc::register(reg("%rd1")), Construct::WholeRegister("%rd1".into()));
    for ((loc, expected), count) in cases.into_iter().map(|case| (case, 1)).chain([(all_lanes, 64)]) {
        let mut m = Builder::new(gpu.clone());
        let unit = m.unit("a.cu");
        let mut int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        if count > 1 {
            int = m.array(unit, int, &[Some(count)]).expect("a type");
        }
        let kernel = m.function(unit, "k").expect("a function").code("k", 12).id();
        m.variable(kernel, "v", int).expect("a variable").live(2..9, loc.clone()).expect("a location");
        let module = m.finish().expect("a module");
        let error = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect_err("no encoding");
        let ErrorKind::Inexpressible { what, consumer } = error.kind() else { panic!("{error}") };
        assert_eq!((what, consumer.as_str()), (&expected, "CUDA-GDB"), "{loc:?}");
        let (written, lowered) = attached(&text(12, 2), &module, Policy::Partial).expect("a text");
        let [omission] = &lowered.omissions[..] else { panic!("{:?}", lowered.omissions) };
        assert_eq!(omission.reason, Reason::Inexpressible(expected));
        let report = check(&written, &module, &lowered).expect("a report");
        assert!(report.is_clean(), "{report}");
    }
}

/// Each omission excuses a difference of its own: attributes in a unit, flags of the rows of a function, locations.
#[test]
fn every_omission_excuses_a_difference() {
    let module = Module::from_json(
        r#"{"eitri": 1, "target": "nvptx-sm_90", "describe": [
{"unit": {"name": "a.cu"}}, {"unit": {"name": "b.cu"}},
{"base_type": {"unit": "a.cu", "name": "int", "encoding": "signed", "bits": 32}},
{"structure": {"unit": "a.cu", "name": "s", "bytes": 16, "id": "s"}},
{"describe_type": {"unit": "a.cu", "type": "s", "alignment": 16}},
{"function": {"in": "a.cu", "name": "k", "code": {"symbol": "k", "bytes": 12}, "noreturn": true}},
{"rows": {"function": "k", "rows": [[0, "a.cu", 3], [4, "a.cu", 4, 0, {"not_stmt": true}]]}},
{"function": {"in": "b.cu", "name": "f", "noreturn": true}},
{"variable": {"in": "k", "name": "i", "type": "int", "live": [[2, 9, {"lane": ["%r1", 3]}]]}}]}"#,
    )
    .expect("a module");
    let (written, lowered) = attached(&text(12, 2), &module, Policy::Partial).expect("a text");
    let judged = |omissions: &[Omission]| {
        eitri::check(&module, &Consumer::cuda_gdb(), omissions, written.as_bytes()).expect("a report")
    };
    let report = judged(&lowered.omissions);
    assert!(report.is_clean(), "{report}");
    let mut properties = Vec::new();
    for index in 0..lowered.omissions.len() {
        let mut others = lowered.omissions.clone();
        let one = others.remove(index);
        assert!(!judged(&others).is_clean(), "{one}");
        properties.push(one.property);
    }
    properties.sort_unstable();
    let count = |property| properties.iter().filter(|&&one| one == property).count();
    let counts = [Property::Attributes, Property::RowFlags, Property::Location].map(count);
    assert_eq!(counts, [3, 1, 1], "{:?}", lowered.omissions);
}

/// Qualifiers, template template parameters and packs have tags that came after those that the tools know. What refers to
/// a type with such a qualifier refers to the qualified type.
#[test]
fn entries_with_unknown_tags_are_refused_or_listed() {
    let described = |statements: &str| {
        let text = format!(
            r#"{{"eitri": 1, "target": "nvptx-sm_90", "describe": [
{{"unit": {{"name": "a.cu"}}}},
{{"base_type": {{"unit": "a.cu", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"structure": {{"unit": "a.cu", "name": "s", "bytes": 4, "id": "s"}}}},
{{"function": {{"in": "a.cu", "name": "k", "code": {{"symbol": "k", "bytes": 12}}}}}},
{{"variable": {{"in": "a.cu", "name": "plain", "type": "int", "always": {{"global_symbol": "table"}}}}}},
{statements}]}}"#
        );
        Module::from_json(&text).expect("a module")
    };
    let cases = [
        (
            r#"{"qualified": {"unit": "a.cu", "qualifier": "atomic", "of": "int", "id": "at"}},
{"qualified": {"unit": "a.cu", "qualifier": "const", "of": "at", "id": "const at"}},
{"qualified": {"unit": "a.cu", "qualifier": "atomic", "id": "atomic void"}},
{"pointer": {"unit": "a.cu", "to": "atomic void", "id": "p"}},
{"variable": {"in": "k", "name": "q", "type": "p"}},
{"variable": {"in": "a.cu", "name": "g", "type": "const at", "always": {"global_symbol": "table"}}}"#,
            gimli::DW_TAG_atomic_type,
            2,
        ),
        (
            r#"{"template": {"function": "k", "argument": {"template": "vector"}, "name": "T"}}"#,
            gimli::DW_TAG_GNU_template_template_param,
            1,
        ),
        (
            r#"{"template": {"function": "k", "argument": {"type": "int"}, "name": "T"}},
{"template": {"function": "k", "argument": {"pack": [{"argument": {"type": "int"}}]}, "name": "P"}},
{"template": {"unit": "a.cu", "of": "s", "argument": {"pack": []}, "name": "P"}}"#,
            gimli::DW_TAG_GNU_template_parameter_pack,
            2,
        ),
    ];
    for (statements, tag, count) in cases {
        let module = described(statements);
        let error = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect_err("an unknown tag");
        let expected = Construct::Tag(tag);
        assert!(
            matches!(error.kind(), ErrorKind::Inexpressible { what, .. } if *what == expected),
            "{error}"
        );
        let (written, lowered) = attached(&text(12, 2), &module, Policy::Partial).expect("a text");
        assert_eq!(lowered.omissions.len(), count, "{:?}", lowered.omissions);
        let judged = |omissions: &[Omission]| {
            eitri::check(&module, &Consumer::cuda_gdb(), omissions, written.as_bytes()).expect("a report")
        };
        let report = judged(&lowered.omissions);
        assert!(report.is_clean(), "{report}");
        for index in 0..count {
            let mut others = lowered.omissions.clone();
            let one = others.remove(index);
            assert_eq!(one.reason, Reason::Inexpressible(expected.clone()));
            assert!(!judged(&others).is_clean(), "{one}");
        }
    }
}

/// 256 attributes of an entry are as many as ptxas and cuobjdump 13.5 read: with 257, "unexpectedly too many dwarf
/// attributes for any DW_TAG entry".
#[test]
fn entries_have_as_many_attributes_as_the_tools_read() {
    for (count, is_refused) in [(256, false), (257, true)] {
        // Code 2 after an entry without attributes: a variable with `DW_AT_name` as strings.
        let mut bytes = vec![1, 0x11, 1, 0, 0, 2, 0x34, 0];
        bytes.extend([3, 8].repeat(count));
        bytes.extend([0, 0, 0]);
        let section =
            Section { name: ".debug_abbrev", bytes, relocations: Vec::new(), is_strings: false, group: None };
        let result = ptx::attach(&text(2, 0), &target(), &[section], &PtxAttachOptions::default());
        assert_eq!(result.is_err(), is_refused, "{count}");
        if let Err(error) = result {
            assert!(error.to_string().contains("abbreviation 2 has 257 attributes"), "{error}");
        }
    }
}

/// Locations that no expression of DWARF 2 to 4 in ptxas's operations has, each with what is refused.
#[test]
fn choices_calls_and_pointers_are_refused_or_listed() {
    type Make = fn(&mut Builder, UnitId, VariableId) -> Loc;
    fn lane(name: &str) -> Loc {
        Loc::per_lane(target().register_named(name).expect("a register"))
    }
    let cases: [(&str, Make, &str); 5] = [
        (
            "select",
            |_, _, _| Loc::select(lane("%r1").read(32), lane("%r2"), lane("%r3"), 1, 32),
            "a choice by a mask",
        ),
        (
            "overlay",
            |_, _, _| lane("%r1").overlay(lane("%r2"), lane("%r3").read(32), Val::constant(8)),
            "an overlay whose offset is known only at run time",
        ),
        ("pointer", |_, _, other| Loc::pointer_to(other, 0), "operation `implicit_pointer`"),
        ("bits", |_, _, _| Loc::parts([(lane("%r1"), 3), (lane("%r2"), 29)]), "operation `bit_piece`"),
        (
            "run time",
            |_, _, _| lane("%r1").bit_offset_by(lane("%r2").read(32)),
            "an offset known at run time",
        ),
    ];
    for (what, make, expected) in cases {
        let mut m = Builder::new(target());
        let unit = m.unit("a.cu");
        let int = m.base_type(unit, "int", BaseEncoding::Unsigned, 32).expect("a type");
        let kernel = m.function(unit, "k").expect("a function").code("k", 12).kernel().id();
        let mut of_register = m.variable(kernel, "other", int).expect("a variable");
        let other = of_register.live(1..9, lane("%r9")).expect("a location").id();
        let loc = make(&mut m, unit, other);
        m.variable(kernel, "v", int).expect("a variable").live(2..9, loc).expect(what);
        let module = m.finish().expect("a module");
        let error = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect_err(what);
        assert!(matches!(error.kind(), ErrorKind::Inexpressible { .. }), "{error}");
        assert_eq!(error.kind().to_string(), format!("CUDA-GDB cannot express {expected}"), "{what}");
        let (written, lowered) = attached(&text(12, 2), &module, Policy::Partial).expect("a text");
        assert!(!lowered.omissions.is_empty(), "{what}");
        let report = check(&written, &module, &lowered).expect("a report");
        assert!(report.is_clean(), "{what}: {report}");
        // The other variable keeps its location.
        assert!(written.contains(".debug_loc"), "{what}: {written}");
    }
}

/// ptxas would read the operand of a call as operations: the location of the procedure takes its place.
#[test]
fn calls_are_replaced_by_the_location() {
    let gpu = target();
    let global = gpu.space_named("global").expect("a space").id;
    let memory = Loc::memory(global, Loc::per_lane(gpu.register_named("%rd1").expect("a register")).read(64));
    let mut m = Builder::new(gpu);
    let unit = m.unit("a.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = m.function(unit, "k").expect("a function").code("k", 12).kernel().id();
    let procedure = m.procedure(unit, &memory).expect("a procedure");
    for (name, loc) in [("called", Loc::call(procedure)), ("direct", memory)] {
        m.variable(kernel, name, int).expect("a variable").live(2..9, loc).expect("a location");
    }
    let module = m.finish().expect("a module");
    let (written, lowered) = attached(&text(12, 2), &module, Policy::Strict).expect("a text");
    assert!(check(&written, &module, &lowered).expect("a report").is_clean());
    // Both lists have the same entry, and the procedure has no location: it would be read at all pcs.
    let dump = eitri::dump::print(written.as_bytes(), None).expect("a dump");
    assert_eq!(dump.matches("+[0x2, 0x9): bregx %rd1 0\n").count(), 2, "{dump}");
    assert!(dump.contains("DW_TAG_dwarf_procedure 0\n  DW_TAG_subprogram"), "{dump}");
}

/// The debugger fails where it reads a register that has no home: the contents of registers are read at pcs alone.
#[test]
fn registers_are_read_where_the_value_lives() {
    let gpu = target();
    let global = gpu.space_named("global").expect("a space").id;
    let memory = Loc::memory(global, Loc::per_lane(gpu.register_named("%rd1").expect("a register")).read(64));
    let module = |is_always: bool| {
        let mut m = Builder::new(gpu.clone());
        let unit = m.unit("a.cu");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let kernel = m.function(unit, "k").expect("a function").code("k", 12).kernel().id();
        let mut variable = m.variable(kernel, "v", int).expect("a variable");
        if is_always { variable.always(memory.clone()) } else { variable.live(0..12, memory.clone()) }
            .expect("a location");
        m.finish().expect("a module")
    };
    // The caller states that the register has the value at all pcs.
    assert!(lower(&module(false), &Consumer::cuda_gdb(), Policy::Strict).is_ok());
    let always = module(true);
    let error = lower(&always, &Consumer::cuda_gdb(), Policy::Strict).expect_err("a register");
    let ErrorKind::Inexpressible { what, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(*what, Construct::RegisterAtAllPcs("%rd1".into()));
    let (written, lowered) = attached(&text(12, 2), &always, Policy::Partial).expect("a text");
    assert_eq!(lowered.omissions.len(), 1);
    assert!(check(&written, &always, &lowered).expect("a report").is_clean());
}

/// A text of 1 MB in one line with 20,000 labels: time that grows with the square of a line would not end.
#[test]
fn a_long_line_is_written_and_restored() {
    let count = 40_000;
    let plain = text(1, 2).replace("add.s64 %rd1, %rd2, %rd3;", &"add.s64 %rd1, %rd2, %rd3;".repeat(count));
    assert!(plain.len() > 1_000_000 && plain.lines().count() < 20);
    let places: Vec<Place> = (0..10_000).map(|n| (0, n as u8, 0, 4 * n + 1, 4 * n + 3)).collect();
    let module = module(count as u64, &places, &[(0, 2, false), (39_999, 3, false)]).expect("a module");
    let (written, _) = attached(&plain, &module, Policy::Strict).expect("a text");
    // Two for each variable, and that of the function's start.
    assert_eq!(written.matches(": add.s64").count(), 20_001);
    assert_eq!(ptx::detach(&written).expect("PTX"), plain);
}

#[test]
fn texts_that_do_not_fit_are_refused() {
    let fails =
        |text: &str, module: &Module| attached(text, module, Policy::Strict).expect_err(text).to_string();
    let (plain, of_twelve) = sample();
    let error = fails(&text(11, 2), &of_twelve);
    // The closing brace is alone on the last line.
    let line = text(11, 2).lines().count();
    let expected =
        format!("position 12 is outside function `k`, which ends in line {line} and has 11 instructions");
    assert_eq!(error, expected);
    let without = plain.replace("entry k(", "entry other(");
    assert_eq!(fails(&without, &of_twelve), "the object has no symbol `k`");
    let without = plain.replace("tile", "tiles");
    let error = fails(&without, &of_twelve);
    assert!(error.contains("the object has no symbol `tile`") && error.contains("`tiles`"), "{error}");
    let old = plain.replace(".version 8.0", ".version 7.1");
    assert_eq!(
        fails(&old, &of_twelve),
        "target PTX 7.1 has no inlined calls in `.loc` (PTX 7.2); needed by the line row of an inlined call"
    );
    let late = module(12, &[(0, 1, 0, 3, 5)], &[(2, 7, false)]).expect("a module");
    assert_eq!(
        fails(&plain, &late),
        "first row is at position 2 in `k`; expected position 0, because ptxas misplaces labels otherwise"
    );
    let (twice, _) = attached(&plain, &of_twelve, Policy::Strict).expect("a text");
    assert_eq!(fails(&twice, &of_twelve), "the PTX text already has a section .debug_abbrev");
    let written = lower(&of_twelve, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let fails_with = |change: fn(&mut ptx::Lines)| {
        let mut lines = written.lines.clone().expect("lines");
        change(&mut lines);
        let mut options = PtxAttachOptions::default();
        options.lines = Some(&lines);
        ptx::attach(&plain, of_twelve.target(), &written.sections, &options).expect_err("refused").to_string()
    };
    assert_eq!(
        fails_with(|lines| lines.files[0] = "a\0.cu".into()),
        r#"file name "a\0.cu" contains `"`, a line break or a zero byte, which PTX cannot express"#
    );
    assert_eq!(
        fails_with(|lines| lines.calls[0].function = "f\0g".into()),
        r#"name "f\0g" of an inlined function contains a zero byte, which would end it in .debug_str"#
    );
    let amd =
        Builder::new(Target::named("amdgpu-gfx1030-wave32").expect("a target")).finish().expect("a module");
    assert_eq!(
        ptx::attach(&plain, amd.target(), &[], &PtxAttachOptions::default()).expect_err("AMD").to_string(),
        "code is PTX, but target amdgpu-gfx1030-wave32 is ELF machine 224"
    );
}
