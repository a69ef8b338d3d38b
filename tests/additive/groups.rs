//! Type units: a linker keeps one of several section groups with the same signature.

use eitri::emit::elf::*;
use eitri::emit::{RelocationTarget, Section};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use super::support::*;
use crate::common::with;

/// A unit with a variable for each type, and a type unit for each type, given by signature and size. As in version 5,
/// types are in `.debug_info`.
fn typed(types: &[(u64, u8)]) -> Vec<Section> {
    #[rustfmt::skip]
    let abbrev = vec![
        // compile_unit with children: name strp, language data2
        1, 0x11, 1, 0x03, 0x0e, 0x13, 0x05, 0, 0,
        // type_unit with children: language data2
        2, 0x41, 1, 0x13, 0x05, 0, 0,
        // structure_type without children: name strp, byte_size data1
        3, 0x13, 0, 0x03, 0x0e, 0x0b, 0x0b, 0, 0,
        // variable without children: name strp, type ref_sig8
        4, 0x34, 0, 0x03, 0x0e, 0x49, 0x20, 0, 0,
        0,
    ];
    let strings = b"\0test.cpp\0it\0pair\0".to_vec();
    let section = |name, bytes, relocations, group| Section {
        name,
        bytes,
        relocations,
        is_strings: name == ".debug_str",
        group,
    };
    let with_length = |mut unit: Vec<u8>| {
        let length = unit.len() as u32 - 4;
        unit[..4].copy_from_slice(&length.to_le_bytes());
        unit
    };
    let mut unit = vec![0, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x1a, 0];
    let mut relocations = vec![to_section(8, ".debug_abbrev", 0), to_section(13, ".debug_str", 1)];
    for (signature, _) in types {
        relocations.push(to_section(unit.len() as u64 + 1, ".debug_str", 10));
        unit.extend([4, 0, 0, 0, 0]);
        unit.extend(signature.to_le_bytes());
    }
    unit.push(0);
    let mut sections = vec![
        section(".debug_abbrev", abbrev, vec![], None),
        section(".debug_info", with_length(unit), relocations, None),
        section(".debug_str", strings, vec![], None),
    ];
    for &(signature, size) in types {
        // length, version, DW_UT_type, address size, abbreviations, signature, offset of the type, entries
        let mut unit = vec![0, 0, 0, 0, 5, 0, 2, 8, 0, 0, 0, 0];
        unit.extend(signature.to_le_bytes());
        unit.extend([27, 0, 0, 0, 2, 0x1a, 0, 3, 0, 0, 0, 0, size, 0]);
        let relocations = vec![to_section(8, ".debug_abbrev", 0), to_section(28, ".debug_str", 13)];
        sections.push(section(".debug_info", with_length(unit), relocations, Some(signature)));
    }
    sections
}

fn object(function: &str, sections: &[Section]) -> Vec<u8> {
    // ret
    let code = ObjectCode::text(vec![0xc3]).with_function(function, 0, 1);
    new_object(&Target::x86_64(), &code, sections).unwrap()
}

const ONE: u64 = 0x0123_4567_89ab_cdef;
/// A signature with the highest bit set, whose decimal form has no leading zeros.
const TWO: u64 = 0xfedc_ba98_7654_3210;

#[test]
fn a_group_is_what_a_linker_takes_it_for() {
    let bytes = object("f", &typed(&[(ONE, 8), (TWO, 12)]));
    let read = read(&bytes);
    let rows: Vec<_> = read.sections[4..].iter().map(|s| (s.name.as_str(), s.kind, s.flags)).collect();
    // SHF_GROUP is 0x200, SHF_INFO_LINK 0x40, SHF_MERGE with SHF_STRINGS 0x30.
    let expected = [
        (".debug_abbrev", 1, 0),
        (".debug_info", 1, 0),
        (".rela.debug_info", 4, 0x40),
        (".debug_str", 1, 0x30),
        (".group", 17, 0),
        (".debug_info", 1, 0x200),
        (".rela.debug_info", 4, 0x240),
        (".group", 17, 0),
        (".debug_info", 1, 0x200),
        (".rela.debug_info", 4, 0x240),
    ];
    assert_eq!(rows, expected);
    for (index, members, signature) in
        [(8, [9, 10], "81985529216486895"), (11, [12, 13], "18364758544493064720")]
    {
        let group = &read.sections[index];
        // GRP_COMDAT is 1. The symbol is local, without a type, at the start of the group.
        let words = [1, members[0], members[1]];
        assert_eq!(group.bytes, words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect::<Vec<_>>());
        assert_eq!((group.entry, group.align, group.link), (4, 4, 2));
        assert_eq!(read.symbols[group.info as usize], (signature.into(), 0, 0, index as u16, 0, 0));
        assert!(group.info < read.locals);
    }
    // Group symbols do not name code.
    let names: Vec<String> = symbols(&bytes).unwrap().into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["f"]);

    let folder = Folder::new();
    let path = folder.file("typed.o", &bytes);
    clean(READELF, &["-SsrgW"], &[&path]);
    if let Some(text) = clean(LLVM_READELF, &["-gW"], &[&path]) {
        assert!(
            text.contains("COMDAT group section [    8] `.group' [81985529216486895] contains 2"),
            "{text}"
        );
    }
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
}

/// Links objects with two linkers, which must agree, and returns the type units in the listing of `llvm-dwarfdump`.
fn type_units(objects: &[&[u8]]) -> Option<Vec<String>> {
    let folder = Folder::new();
    let paths: Vec<_> = objects.iter().enumerate().map(|(i, o)| folder.file(&format!("{i}.o"), o)).collect();
    let inputs: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
    let output = folder.path().join("linked");
    let linked = |linker| {
        clean(linker, &["-shared", "-z", "noexecstack", "-o", output.to_str().unwrap()], &inputs)?;
        let text = clean(DWARFDUMP, &["--verify"], &[&output])?;
        assert!(text.contains("No errors"), "{text}");
        let text = clean(DWARFDUMP, &["--debug-info", "--debug-types"], &[&output])?;
        let units = text.lines().filter(|line| line.contains("Type Unit:"));
        // The offset of a unit depends on the linker.
        Some(units.filter_map(|line| Some(line.split_once("Type Unit:")?.1.to_owned())).collect())
    };
    let found: Option<Vec<String>> = linked(LLD);
    if let (Some(found), Some(other)) = (&found, linked(LD)) {
        assert_eq!(found, &other);
    }
    found
}

#[test]
fn linker_keeps_one_copy_of_a_type_unit() {
    let first = object("f", &typed(&[(ONE, 8)]));
    let second = object("g", &typed(&[(TWO, 12), (ONE, 8)]));
    let Some(units) = type_units(&[&first, &second]) else { return };
    assert_eq!(units.len(), 2, "{units:?}");
    assert!(units[0].contains("type_signature = 0x0123456789abcdef"), "{units:?}");
    assert!(units[1].contains("type_signature = 0xfedcba9876543210"), "{units:?}");
}

/// Groups have the same names as LLVM's.
#[test]
fn a_type_of_clang_is_the_same_type() {
    const SOURCE: &str = "struct pair { int x, y; } it;";
    let arguments = ["--target=x86_64-linux-gnu", "-fPIC", "-gdwarf-5", "-fdebug-types-section"];
    let Some(theirs) = compile(CLANG, "pair.cpp", SOURCE, &arguments) else { return };
    let group = read(&theirs);
    let signature = &group.symbols[group.section(".group").info as usize].0;
    let signature: u64 = signature.parse().expect("a number");
    let ours = object("f", &typed(&[(signature, 8)]));
    for objects in [[&theirs[..], &ours], [&ours, &theirs]] {
        let Some(units) = type_units(&objects) else { return };
        assert_eq!(units.len(), 1, "{units:?}");
        assert!(units[0].contains(&format!("type_signature = {signature:#018x}")), "{units:?}");
    }
}

#[test]
fn groups_are_replaced_like_sections() {
    let target = Target::x86_64();
    let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    let once = object("f", &typed(&[(ONE, 8), (TWO, 12)]));
    let after = attach_with(&once, &target, &typed(&[(ONE, 8)]), &how).unwrap();
    let read = read(&after);
    assert_eq!(read.sections.iter().filter(|section| section.name == ".group").count(), 1);
    assert_eq!(read.sections.iter().filter(|section| section.name == ".debug_info").count(), 2);
    let Some(units) = type_units(&[&after]) else { return };
    assert_eq!(units.len(), 1);
}

/// In an object linked by eitri or by a linker, the units are consecutive.
#[test]
fn linked_object_contains_no_groups() {
    let sections = typed(&[(ONE, 8), (TWO, 12)]);
    let Some(plain) = link(&object("f", &[]), &["-O0"]) else { return };
    let ours = attach(&plain, &Target::x86_64(), &sections).unwrap();
    let theirs = read(&link(&object("f", &sections), &["-O0"]).unwrap());
    let read = read(&ours);
    for name in [".debug_info", ".debug_abbrev", ".debug_str"] {
        assert_eq!(read.sections.iter().filter(|section| section.name == name).count(), 1);
        assert_eq!(read.section(name).bytes, theirs.section(name).bytes, "{name}");
    }
    assert!(read.sections.iter().all(|section| section.name != ".group"));
    let folder = Folder::new();
    let path = folder.file("typed.so", &ours);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
}

/// References to a section of a group are adjusted by its position in the concatenated section.
#[test]
fn a_reference_inside_of_a_group_stays_in_it() {
    let part = |name, size, group, relocations| Section {
        name,
        bytes: vec![0; size],
        relocations,
        is_strings: false,
        group,
    };
    let sections = [
        part(".debug_a", 16, Some(TWO), vec![]),
        part(".debug_a", 4, Some(ONE), vec![to_section(0, ".debug_a", 3)]),
        part(".debug_b", 8, Some(ONE), vec![to_section(0, ".debug_a", 1), to_section(4, ".debug_c", 2)]),
        part(".debug_c", 4, None, vec![]),
    ];
    let relocatable = object("f", &sections);
    let read_back = read(&relocatable);
    assert_eq!(
        read_back.relocations[".debug_b"],
        [(0, 10, ".debug_a".into(), 1), (4, 10, ".debug_c".into(), 2)]
    );
    // One group has both, and precedes the first.
    let names: Vec<&str> = read_back.sections[4..].iter().map(|section| section.name.as_str()).collect();
    let expected = [
        ".group",
        ".debug_a",
        ".group",
        ".debug_a",
        ".rela.debug_a",
        ".debug_b",
        ".rela.debug_b",
        ".debug_c",
    ];
    assert_eq!(names, expected);
    let words = [1, 7, 8, 9, 10].iter().flat_map(|word: &u32| word.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(read_back.sections[6].bytes, words);
    let section_symbols: Vec<u16> =
        read_back.symbols.iter().filter(|symbol| symbol.1 == 3).map(|symbol| symbol.3).collect();
    assert_eq!(section_symbols, [7, 11]);

    let Some(plain) = link(&object("f", &[]), &[]) else { return };
    let linked = read(&attach(&plain, &Target::x86_64(), &sections).unwrap());
    assert_eq!(linked.number(".debug_a", 16, 4), 16 + 3);
    assert_eq!(linked.number(".debug_b", 0, 4), 16 + 1);
    assert_eq!(linked.number(".debug_b", 4, 4), 2);
}

#[test]
fn a_reference_into_a_group_is_refused() {
    let refused = |sections: &[Section], expected: &str| {
        let error = new_object(&Target::x86_64(), &ObjectCode::text(vec![0xc3]), sections).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let mut sections = typed(&[(ONE, 8)]);
    let RelocationTarget::Section(name) = &mut sections[3].relocations[1].target else { unreachable!() };
    *name = ".debug_types";
    let types = Section { name: ".debug_types", ..typed(&[(TWO, 8)]).pop().unwrap() };
    refused(
        &sections,
        "section .debug_info, offset 0x1c: relocation refers to section .debug_types, which is not among the added sections",
    );
    sections.push(types);
    refused(
        &sections,
        "section .debug_info, offset 0x1c: relocation refers to section .debug_types, which is in other groups only",
    );
    let twice = [typed(&[(ONE, 8)]), typed(&[(ONE, 8)]).split_off(3)].concat();
    refused(
        &twice,
        "section .debug_info: section is added twice; expected one section with this name in each group",
    );
}
