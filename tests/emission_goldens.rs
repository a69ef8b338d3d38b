//! The promise: every version of DWARF, in both formats, is written as reviewed, section by section and byte by byte.
//!
//! `goldens/emit/*.txt` are the dumps, with offsets and forms, of one module: two units; types of each kind; a
//! function with blocks, an inlined call and variables in every kind of location; lines with checksums and embedded
//! text; macros; all lookup tables. `EITRI_BLESS=1` rewrites them. Changes are to be reviewed:
//!
//! * against the output of `readelf -w`, `llvm-dwarfdump` and `dwarfdump` for the same object, which
//!   [`goldens_are_read_alike_by_other_tools`] repeats as far as a program can: offset, tag and form of every entry and attribute, rows
//!   of line programs, names and ranges in tables;
//! * against the specification of the version: header sizes (DWARF 5 section 7.4 and 7.5.1, DWARF 2 to 4 section
//!   7.5.1), forms ([`forms_are_those_of_the_version`]), numbers of files (from 0 in version 5, from 1 before),
//!   `high_pc` (an address before version 4), offsets of lists.

use crate::common;
use crate::common::clean as above;
#[allow(dead_code, reason = "each test uses a part")]
use crate::common::tools;

use common::{check_golden, golden};
use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy, Tables};
use eitri::dump::{DumpOptions, print_to};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::lower;
use eitri::model::{Address, BaseEncoding, LineTableRow, Loc, Module, Qualifier, SourceLine, Val};
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object};
use eitri::target::{SpaceId, Target};
use gimli::{Format, constants as dw};
use tools::{Folder, Tool};

const LLVM: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const READELF: Tool = Tool::new("readelf", "binutils");

/// File names with their target, version and format.
fn all() -> Vec<(String, Target, u16, Format)> {
    let versions =
        (2..=5).flat_map(|version| [Format::Dwarf32, Format::Dwarf64].map(|format| (version, format)));
    let mut all: Vec<_> = versions
        .map(|(version, format)| {
            (format!("dwarf{version}-{}.txt", 8 * format.word_size()), Target::x86_64(), version, format)
        })
        .collect();
    all.push(("dwarf5-32-s390x.txt".into(), Target::s390x(), 5, Format::Dwarf32));
    all
}

/// Two registers.
fn registers(target: &Target) -> [eitri::op::Reg; 2] {
    let names = if target.is_big_endian() { ["r2", "r11"] } else { ["rdi", "rbp"] };
    names.map(|name| target.register_named(name).unwrap())
}

pub fn module(target: Target) -> eitri::Result<Module> {
    let [first, base] = registers(&target);
    let mut m = Builder::new(target);
    let data = m.symbol("data");
    let unit = m.unit("a.cc");
    m.describe_unit(unit)?.directory("/src").producer("eitri").language(gimli::DW_LANG_C_plus_plus_14.0);
    let file = m.primary_file(unit)?;
    let header = m.file(unit, "a.h", Some("include"))?;
    m.file_md5(file, core::array::from_fn(|byte| byte as u8))?;
    m.file_md5(header, [0xaa; 16])?;
    m.file_source(file, "#include \"a.h\"\nint twice(int n)\n{ return MAX(n, 1); }\n")?;

    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let space = m.namespace(unit, "space")?;
    let node = m.structure(unit, Some("node"), 16)?;
    let next = m.pointer(unit, Some(node))?;
    m.bit_field(node, "low", int, 0, 3)?.member(node, "next", next, 8)?;
    m.describe_type(node)?.within(space)?.declared(SourceLine::new(header, 4));
    let count = m.static_member(node, "count", int)?.external().id();
    m.definition(unit, count)?.always(Loc::global_symbol(data))?;
    let color = m.enumeration(unit, Some("color"), int, &[("red", 0), ("none", -1)])?;
    let table = m.array(unit, int, &[Some(3), None])?;
    let name = m.typedef(unit, "name", Some(table))?;
    let constant = m.qualified(unit, Qualifier::Const, Some(int))?;
    m.subroutine(unit, Some(int), &[next, color])?;
    m.variable(space, "shared", name)?
        .external()
        .declared(SourceLine::new(header, 9))
        .always(Loc::global_symbol(data).offset(8))?;
    // In memory order.
    let seven = if m.target().is_big_endian() { [0, 0, 0, 7] } else { [7, 0, 0, 0] };
    m.constant(space, "seven", constant, &seven)?;

    let max =
        m.function(unit, "max")?.declared(SourceLine::new(header, 2)).returns(int)?.declared_inline().id();
    let of = m.parameter(max, "a", int)?.id();
    let twice = m.function(unit, "twice")?.code("twice", 0x40).external().linkage_name("_Z5twicei").id();
    m.describe_function(twice)?.returns(int)?.declared(SourceLine::new(file, 2));
    let at_base = Loc::memory(SpaceId::DEFAULT, Val::register(base).plus(-16));
    m.parameter(twice, "n", int)?
        .declared(SourceLine::new(file, 2))
        .live(0..0x10, Loc::register(first))?
        .live(0x10..0x40, at_base.clone())?;
    m.variable(twice, "whole", int)?.live(0..0x40, at_base)?;
    let block = m.block(twice, &[8..0x10, 0x18..0x20])?;
    m.variable(block, "to", next)?.live(8..0x10, Loc::value(Val::address(data, 4)))?;
    let call = SourceLine::new(file, 3).column(10);
    let inlined = m.inlined(twice, max, &[0x20..0x28], call)?;
    m.inlined_variable(inlined, of)?.live(0x20..0x24, Loc::register(first))?;
    for row in [
        LineTableRow::new(0, file, 2),
        {
            let mut row = LineTableRow::new(4, file, 3).column(3);
            row.is_prologue_end = true;
            row
        },
        {
            let mut row = LineTableRow::new(0x20, header, 2).column(7);
            row.is_stmt = false;
            row.discriminator = 2;
            row
        },
        {
            let mut row = LineTableRow::new(0x38, file, 300);
            row.is_epilogue_begin = true;
            row
        },
    ] {
        m.row(twice, row)?;
    }
    m.macros(unit)?
        .define(0, "__cplusplus 201402L")?
        .file(0, file)?
        .file(1, header)?
        .define(2, "MAX(a,b) ((a) > (b) ? (a) : (b))")?
        .end_file()?
        .undefine(4, "MAX")?
        .end_file()?;

    let other = m.unit("b.c");
    m.describe_unit(other)?.language(gimli::DW_LANG_C99.0);
    let file = m.primary_file(other)?;
    let f =
        m.function(other, "f")?.address(Address::Constant(0x7000), 8).declared(SourceLine::new(file, 1)).id();
    m.row(f, LineTableRow::new(0, file, 1))?;
    m.macros(other)?.file(0, file)?.define(1, "A")?.end_file()?;
    m.finish()
}

fn consumer(version: u16, format: Format) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    (consumer.version, consumer.format) = (version, format);
    consumer.tables = Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
    consumer
}

fn object(target: &Target, consumer: &Consumer) -> Vec<u8> {
    let module = module(target.clone()).unwrap();
    let written = lower(&module, consumer, Policy::Partial).unwrap();
    let code =
        ObjectCode::text(vec![0; 0x80]).with_function("twice", 0, 0x40).with_function("data", 0x60, 32);
    let object = new_object(target, &code, &written.sections).unwrap();
    let report = eitri::check(&module, consumer, &written.omissions, &object).unwrap();
    assert!(report.is_clean(), "{report}");
    object
}

fn text_of(object: &[u8], target: &Target) -> String {
    let mut text = Vec::new();
    let options = {
        let mut options = DumpOptions::default();
        options.verbose = true;
        options
    };
    print_to(&mut text, object, None, Some(target), Dialect::Dwarf5, options).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_version_is_written_as_reviewed() {
    for (name, target, version, format) in all() {
        let object = object(&target, &consumer(version, format));
        let text = text_of(&object, &target);
        check_golden(&format!("emit/{name}"), &text);
    }
}

#[test]
fn no_golden_file_is_unused() {
    let folder = std::fs::read_dir(golden("emit")).expect("the folder");
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected: Vec<_> = all().into_iter().map(|(name, ..)| name).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

/// `lint` has no finding above a note in the golden objects, nor in those for other consumers.
#[test]
fn objects_have_no_finding_above_a_note() {
    let mut wrong = Vec::new();
    for (name, target, version, format) in all() {
        wrong.extend(above::above_notes(&name, &object(&target, &consumer(version, format))));
        for mut consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
            (consumer.version, consumer.format) = (version, format);
            let name = format!("{name} for {}", consumer.name);
            wrong.extend(above::above_notes(&name, &object(&target, &consumer)));
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

/// The version that introduced a form: DWARF 2 to 5, table "Attribute form encodings" of section 7.5.
fn since(form: gimli::DwForm) -> u16 {
    match form.0 {
        0x01 | 0x03..=0x16 => 2,
        0x17..=0x19 | 0x20 => 4,
        0x1a..=0x2c => 5,
        _ => u16::MAX,
    }
}

#[test]
fn forms_are_those_of_the_version() {
    for (name, target, version, format) in all() {
        let object = object(&target, &consumer(version, format));
        let object = Object::read(&object).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        for entry in dwarf.entries() {
            assert_eq!(entry.unit().encoding.version, version);
            for attribute in entry.attributes() {
                let form = attribute.form;
                assert!(since(form) <= version, "{name}: {form} in version {version}");
                // Offsets have no form of their own before version 4.
                let is_offset =
                    [dw::DW_AT_stmt_list, dw::DW_AT_ranges, dw::DW_AT_macro_info].contains(&attribute.name);
                let expected = if format == Format::Dwarf32 { dw::DW_FORM_data4 } else { dw::DW_FORM_data8 };
                if is_offset && version < 4 {
                    assert_eq!(form, expected, "{name}: {}", attribute.name);
                }
            }
        }
    }
}

/// Entries in the output of `llvm-dwarfdump`: offset, tag and abbreviation, each with names and forms of attributes.
fn printed(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [offset, tag, code, ..] if tag.starts_with("DW_TAG_") => {
                let offset = u64::from_str_radix(offset.trim_start_matches("0x").trim_end_matches(':'), 16);
                all.push(format!("{:#x} {tag} {code}", offset.unwrap()));
            }
            [name, form, ..] if name.starts_with("DW_AT_") && form.starts_with("[DW_FORM_") => {
                all.last_mut().unwrap().push_str(&format!(" {name} {form}"));
            }
            _ => {}
        }
    }
    all
}

/// Other readers find every entry and attribute at the same offset, in the same form, without warnings.
#[test]
fn goldens_are_read_alike_by_other_tools() {
    let folder = Folder::new();
    for (name, target, version, format) in all() {
        let bytes = object(&target, &consumer(version, format));
        let path = folder.file(&format!("{name}.o"), &bytes);
        let read = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&read).unwrap();
        let entries = dwarf.entries().map(|entry| {
            let head = format!("{:#x} {} [{}]", entry.offset(), entry.tag(), entry.abbreviation());
            let attributes = entry.attributes();
            attributes.fold(head, |text, one| format!("{text} {} [{}]", one.name, one.form))
        });
        if let Some(ran) = LLVM.run(&["--debug-info".as_ref(), "--verbose".as_ref(), path.as_os_str()]) {
            pretty_assertions::assert_eq!(printed(&ran.clean()), entries.collect::<Vec<_>>(), "{name}");
        }
        if let Some(ran) = LLVM.run(&["--verify".as_ref(), path.as_os_str()]) {
            assert!(ran.clean().contains("No errors."), "{name}");
        }
        // `readelf` decodes the hashes of a big-endian index in the byte order of the host: skip these.
        let wanted = if target.is_big_endian() { "-wilmrsoLRO" } else { "-w" };
        if let Some(ran) = READELF.run(&["-W".as_ref(), wanted.as_ref(), path.as_os_str()]) {
            let output = ran.clean();
            let is_bad =
                |line: &&str| ["arning", "User defined", "rror:"].iter().any(|bad| line.contains(bad));
            assert_eq!(output.lines().find(is_bad), None, "{name}");
        }
    }
}
