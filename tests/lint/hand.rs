//! Sections typed by hand for x86-64: what compilers rarely or never write, and must not mislead, hang or stop the rooms
//! that read any producer's objects.

use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lint::{LintCode, LintOptions, LintReport, lint};
use eitri::op::write_uleb;
use eitri::read::{Dwarf, FrameSection, Object, ReadOptions};
use eitri::report::{ReportOptions, report};
use eitri::stats::{StatsOptions, stats};
use eitri::target::Target;
use gimli::constants as dw;

/// Start of the code in [`object`], which has this many bytes.
const CODE: u64 = 0x10000;
const CODE_BYTES: u64 = 0x100;
/// Offset of the first entry in a unit's root, by the root that [`unit`] writes.
const FIRST: usize = 12 + 1 + 8 + 4 + 1;

fn uleb(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_uleb(&mut bytes, value);
    bytes
}

/// Returns an abbreviation: number, tag, whether it has children, and names with forms.
fn abbreviation(code: u64, tag: dw::DwTag, has_children: bool, specs: &[(dw::DwAt, dw::DwForm)]) -> Vec<u8> {
    let mut bytes = [uleb(code), uleb(tag.0.into()), vec![u8::from(has_children)]].concat();
    for (name, form) in specs {
        bytes.extend([uleb(name.0.into()), uleb(form.0.into())].concat());
    }
    bytes.extend([0, 0]);
    bytes
}

/// Abbreviations: 1 is the unit's root, 2 a function, 3 a variable with a list, 4 a base type, 5 a variable with an
/// expression.
fn abbreviations() -> Vec<u8> {
    let code = [(dw::DW_AT_low_pc, dw::DW_FORM_addr), (dw::DW_AT_high_pc, dw::DW_FORM_data4)];
    let name = (dw::DW_AT_name, dw::DW_FORM_string);
    let ty = (dw::DW_AT_type, dw::DW_FORM_ref4);
    let location = |form| (dw::DW_AT_location, form);
    let size = (dw::DW_AT_byte_size, dw::DW_FORM_data1);
    let encoding = (dw::DW_AT_encoding, dw::DW_FORM_data1);
    let language = (dw::DW_AT_language, dw::DW_FORM_data1);
    [
        abbreviation(1, dw::DW_TAG_compile_unit, true, &[code[0], code[1], language]),
        abbreviation(2, dw::DW_TAG_subprogram, true, &[name, code[0], code[1]]),
        abbreviation(3, dw::DW_TAG_variable, false, &[name, ty, location(dw::DW_FORM_sec_offset)]),
        abbreviation(4, dw::DW_TAG_base_type, false, &[name, size, encoding]),
        abbreviation(5, dw::DW_TAG_variable, false, &[name, ty, location(dw::DW_FORM_exprloc)]),
        abbreviation(6, dw::DW_TAG_array_type, true, &[ty]),
        abbreviation(7, dw::DW_TAG_subrange_type, false, &[(dw::DW_AT_upper_bound, dw::DW_FORM_sdata)]),
        abbreviation(8, dw::DW_TAG_enumeration_type, true, &[size]),
        abbreviation(9, dw::DW_TAG_enumerator, false, &[name]),
        vec![0],
    ]
    .concat()
}

/// Returns bytes after their length, in 4 bytes.
fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

/// Returns a unit of DWARF 5 in some language: the root with its entries.
fn unit(language: dw::DwLang, entries: &[Vec<u8>]) -> Vec<u8> {
    let header = [5, 0, dw::DW_UT_compile.0, 8, 0, 0, 0, 0];
    let root = [&[1][..], &code(), &[language.0 as u8]].concat();
    with_length(&[&header[..], &root, &entries.concat(), &[0]].concat())
}

/// Start address and size of the code.
fn code() -> Vec<u8> {
    [&CODE.to_le_bytes()[..], &(CODE_BYTES as u32).to_le_bytes()].concat()
}

fn function(variables: &[Vec<u8>]) -> Vec<u8> {
    [&b"\x02f\0"[..], &code(), &variables.concat(), &[0]].concat()
}

fn with_list(name: &str, ty: usize, list: u32) -> Vec<u8> {
    [b"\x03", name.as_bytes(), b"\0", &(ty as u32).to_le_bytes(), &list.to_le_bytes()].concat()
}

fn with_expression(name: &str, ty: usize, expr: &[u8]) -> Vec<u8> {
    [b"\x05", name.as_bytes(), b"\0", &(ty as u32).to_le_bytes(), &uleb(expr.len() as u64), expr].concat()
}

/// Returns a signed base type.
fn base_type(name: &str, bytes: u8) -> Vec<u8> {
    [b"\x04", name.as_bytes(), &[0, bytes, dw::DW_ATE_signed.0]].concat()
}

/// Returns a table of location lists with a single list, at [`LIST`].
fn lists(entries: &[u8]) -> Vec<u8> {
    with_length(&[&[5, 0, 8, 0, 0, 0, 0, 0][..], entries, &[dw::DW_LLE_end_of_list.0]].concat())
}
const LIST: u32 = 12;

/// Returns an entry at pcs from the unit's start.
fn at(start: u64, end: u64, expr: &[u8]) -> Vec<u8> {
    let head = [vec![dw::DW_LLE_offset_pair.0], uleb(start), uleb(end), uleb(expr.len() as u64)];
    [&head.concat()[..], expr].concat()
}

fn object(sections: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let section = |(name, bytes): &(&'static str, Vec<u8>)| Section {
        name,
        bytes: bytes.clone(),
        relocations: Vec::new(),
        is_strings: false,
        group: None,
    };
    let sections: Vec<_> = sections.iter().map(section).collect();
    let code = ObjectCode::text(vec![0x90; CODE_BYTES as usize]).with_function("f", 0, CODE_BYTES);
    new_object(&Target::x86_64(), &code, &sections).expect("an object")
}

/// Returns an object with a unit in C, and a list.
fn in_c(entries: &[Vec<u8>], list: &[u8]) -> Vec<u8> {
    let info = unit(dw::DW_LANG_C11, entries);
    object(&[(".debug_abbrev", abbreviations()), (".debug_info", info), (".debug_loclists", lists(list))])
}

fn diagnosed(object: &[u8]) -> LintReport {
    lint(object, &LintOptions::default()).expect("it is read")
}

fn found(object: &[u8], code: LintCode) -> usize {
    diagnosed(object).findings.iter().filter(|finding| finding.code == code).count()
}

/// Lint, statistics and page of an object: they say something, and do not stop.
fn inspect(object: &[u8]) {
    diagnosed(object);
    stats(object, &StatsOptions::default()).expect("it is counted");
    report(object, &ReportOptions::default()).expect("it is drawn");
}

#[test]
fn an_expression_of_any_depth_and_size_is_read() {
    // DW_OP_dup and DW_OP_plus, DW_OP_neg, DW_OP_deref, and DW_OP_plus_uconst of a duplicate.
    for (operations, count) in
        [(&[0x12, 0x22][..], 64), (&[0x1f], 100_000), (&[0x06], 100_000), (&[0x12, 0x23, 1, 0x1e], 64)]
    {
        let expr = [&[0x70, 0][..], &operations.repeat(count), &[0x9f]].concat();
        let variable = with_expression("x", FIRST, &expr);
        inspect(&in_c(&[base_type("long", 8), function(&[variable])], &[]));
    }
}

/// Variables with one list: the operations count for each variable, whatever the types between them.
#[test]
fn operations_of_a_shared_list_count_for_each_variable() {
    let list: Vec<u8> = (0..20).flat_map(|pc| at(4 * pc, 4 * pc + 4, &[0x50])).collect();
    let types = [base_type("long", 8), base_type("i", 4)];
    let (long, int) = (FIRST, FIRST + types[0].len());
    for order in [[long, long, int], [long, int, long], [int, long, long]] {
        let variables: Vec<_> = order.iter().map(|ty| with_list("x", *ty, LIST)).collect();
        let object = in_c(&[types.concat(), function(&variables)], &list);
        let found = stats(&object, &StatsOptions::default()).expect("it is counted");
        assert_eq!(found.contents.operations.values().sum::<u64>(), 60, "{order:?}");
    }
}

/// DWARF 5 section 2.6.2: a list with a default location only is a list. The two pieces of 8 bytes are more than the type
/// has.
#[test]
fn a_default_location_is_in_its_list() {
    let pieces = [0x50, 0x93, 8, 0x51, 0x93, 8];
    let default = [&[dw::DW_LLE_default_location.0, 6][..], &pieces].concat();
    let object = in_c(&[base_type("i", 4), function(&[with_list("x", FIRST, LIST)])], &default);
    let report = diagnosed(&object);
    let beyond = report.findings.iter().find(|finding| finding.code == LintCode::PiecesBeyondType);
    let beyond = beyond.expect("the pieces are found");
    assert_eq!((&*beyond.section, beyond.offset), (".debug_loclists", u64::from(LIST)));
}

/// Variables of two types with one list: the finding about one type is at its variable on the page, and the words of a
/// lane's pcs are not the words of a variable with the same expression.
#[test]
fn findings_of_a_shared_list_are_at_their_variable() {
    let list: Vec<u8> =
        (0..4).flat_map(|pc| at(4 * pc, 4 * pc + 4, &[0x50, 0x93, 4, 0x51, 0x93, 4])).collect();
    let types = [base_type("long", 8), base_type("i", 4)];
    let (long, int) = (FIRST, FIRST + types[0].len());
    let both = |first, second| {
        let variables = [with_list("a", first, LIST), with_list("b", second, LIST)];
        in_c(&[types.concat(), function(&variables)], &list)
    };
    for object in [both(long, int), both(int, long)] {
        assert!(found(&object, LintCode::PiecesBeyondType) > 0);
        let page = report(&object, &ReportOptions::default()).expect("a page");
        let Some(others) = crate::report::asked(&page, "", "others") else { return };
        assert_eq!(others, 0, "findings outside their variables");
    }
}

/// DWARF 5 section 5.13 and table 7.17: the default lower bound is 1 in Fortran, 0 in C. An enumeration is a dimension
/// with an element for each enumerator, section 5.5.
#[test]
fn arrays_have_the_lower_bound_of_their_language() {
    let subrange = vec![7, 3];
    let enumeration = [&[8, 1][..], b"\x09A\0", b"\x09B\0", &[0]].concat();
    // Languages, a dimension, and bytes in 4-byte elements. Fortran 2018 and C 2017 were registered after DWARF 5.
    let cases = [
        (dw::DW_LANG_C11, &subrange, 16),
        (dw::DW_LANG_Fortran90, &subrange, 12),
        (dw::DW_LANG_Ada95, &subrange, 12),
        (dw::DwLang(0x2d), &subrange, 12),
        (dw::DwLang(0x2c), &subrange, 16),
        (dw::DW_LANG_C11, &enumeration, 8),
    ];
    for (language, dimension, bytes) in cases {
        let array = [&[6][..], &(FIRST as u32).to_le_bytes(), dimension, &[0]].concat();
        let info = unit(language, &[base_type("i", 4), array]);
        let object = object(&[(".debug_abbrev", abbreviations()), (".debug_info", info)]);
        let object = Object::read(&object).expect("an object");
        let dwarf = Dwarf::read(&object).expect("units");
        let array = dwarf.entries().find(|entry| entry.tag() == dw::DW_TAG_array_type).expect("an array");
        assert_eq!(array.size_bits(), Some(8 * bytes), "{language:?}");
    }
}

/// An unreadable unit is an error, and the debug information is not missing. An object without code needs none.
#[test]
fn debug_information_is_missing_only_where_there_is_none() {
    let unknown = with_length(&[9, 0, dw::DW_UT_compile.0, 8, 0, 0, 0, 0]);
    let unreadable = object(&[(".debug_abbrev", vec![0]), (".debug_info", unknown)]);
    assert_eq!(found(&unreadable, LintCode::NoDebugInfo), 0);
    assert_eq!(found(&object(&[]), LintCode::NoDebugInfo), 1);
    let empty = new_object(&Target::x86_64(), &ObjectCode::text(Vec::new()), &[]).expect("an object");
    assert_eq!(found(&empty, LintCode::NoDebugInfo), 0);
}

/// Sums of sizes that do not fit into 64 bits.
#[test]
fn sizes_can_exceed_64_bits() {
    let piece = [&[0x50, 0x93][..], &uleb(1 << 61)].concat();
    let variable = with_expression("x", FIRST, &piece.repeat(2));
    let mut object = in_c(&[base_type("void", 0), function(&[variable])], &[]);
    inspect(&object);
    // Two sections without bytes in the file become code of the largest size.
    let half = |object: &[u8], at: usize| usize::from(u16::from_le_bytes([object[at], object[at + 1]]));
    let table = u64::from_le_bytes(object[0x28..0x30].try_into().expect("8 bytes")) as usize;
    let (size, count) = (half(&object, 0x3a), half(&object, 0x3c));
    for header in (1..count).rev().take(2).map(|index| table + index * size) {
        object[header + 4..header + 8].copy_from_slice(&8u32.to_le_bytes());
        object[header + 8..header + 16].copy_from_slice(&6u64.to_le_bytes());
        object[header + 32..header + 40].copy_from_slice(&u64::MAX.to_le_bytes());
    }
    let _ = stats(&object, &StatsOptions::default());
    let _ = lint(&object, &LintOptions::default());
}

/// A run of zeros between units is one error, and the units around it are read.
#[test]
fn zeros_between_units_are_a_single_error() {
    let units = unit(dw::DW_LANG_C11, &[base_type("i", 4)]);
    let info = [&units[..], &[0; 4096], &units].concat();
    let object = object(&[(".debug_abbrev", abbreviations()), (".debug_info", info)]);
    let object = Object::read(&object).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).expect("units");
    assert_eq!((dwarf.units().len(), dwarf.errors().len()), (2, 1), "{:?}", dwarf.errors());
}

/// Frames of an object without units, with a relocation of an unknown type: the error is there, and the other frame.
#[test]
fn frames_without_units_are_read_around_an_unknown_relocation() {
    const SOURCE: &str = "int f(int x) { return x + 1; } int g(int x) { return x + 2; }";
    let gcc = crate::common::tools::Tool::new("gcc", "gcc");
    let Some(mut object) = super::compiled::object_of(gcc, "a.c", SOURCE, &["-O2", "-g0"]) else { return };
    // R_X86_64_PC32 against the code, in the first of two records of `.rela.eh_frame`.
    let records: Vec<usize> = (0..object.len() - 24)
        .filter(|at| {
            object[at + 8..at + 12] == [2, 0, 0, 0] && object[*at..at + 8] == [0x20, 0, 0, 0, 0, 0, 0, 0]
        })
        .collect();
    let [record] = records[..] else { panic!("{records:?}") };
    object[record + 8] = 99;
    let object = Object::read(&object).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).expect("no units");
    let frames = dwarf.readable_frames(FrameSection::Eh);
    assert_eq!((frames.fdes.len(), frames.errors.len()), (1, 1), "{:?}", frames.errors);
    assert!(!dwarf.errors().is_empty());
}

/// Debug sections that share the bytes of a file are refused: joined, they would be larger by any factor.
#[test]
fn sections_with_the_same_bytes_are_refused() {
    let bytes = vec![1; 0x4000];
    let sections = vec![(".debug_str", bytes.clone()), (".debug_line_str", bytes)];
    let mut object = object(&sections);
    object[16..18].copy_from_slice(&1u16.to_le_bytes());
    assert!(Object::read(&object).is_ok());
    let original = object.clone();
    let word = |at: usize| u64::from_le_bytes(original[at..at + 8].try_into().expect("8 bytes")) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes([original[at], original[at + 1]]));
    let (table, size, count) = (word(0x28), half(0x3a), half(0x3c));
    let headers: Vec<usize> = (0..count).map(|index| table + index * size).collect();
    let large: Vec<usize> = headers.iter().copied().filter(|header| word(header + 32) >= 0x4000).collect();
    let first = &original[large[0]..large[0] + size];
    // All other sections become copies of the first large section.
    for header in headers.into_iter().skip(1).filter(|header| *header != large[0]) {
        if word(header + 32) < 0x4000 && half(0x3e) != (header - table) / size {
            object[header..header + size].copy_from_slice(first);
        }
    }
    let error = Object::read(&object).expect_err("sections overlap");
    assert!(error.to_string().contains("overlap"), "{error}");
}
