//! Refused inputs, and the reasons in the messages.

use eitri::Error;
use eitri::emit::Section;
use eitri::emit::elf::*;
use eitri::error::ErrorKind;
use eitri::target::{Gfx, Target, Wave};

use super::support::*;
use crate::common::with;

#[track_caller]
fn says(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn unsupported_objects_are_refused() {
    let sections = uspill_sections();
    let refused = |object: &[u8], target: &Target| attach(object, target, &sections).unwrap_err();
    let changed = |offset: usize, value: u8| {
        let mut object = uspill();
        object[offset] = value;
        refused(&object, &gfx1030())
    };
    says(&refused(b"", &gfx1030()), &["not an ELF file"]);
    says(&refused(b"!<arch>\n", &gfx1030()), &["not an ELF file"]);
    says(&refused(b"\x7fELF", &gfx1030()), &["end inside the ELF header"]);
    says(&changed(4, 1), &["ELFCLASS64"]);
    says(&changed(5, 3), &["byte order 3 is unknown"]);
    says(&changed(16, 4), &["type 4"]);
    says(&refused(&uspill(), &Target::x86_64()), &["machine 224", "x86_64 is ELF machine 62"]);
    let gfx1100 = Target::amdgpu(Gfx::GFX1100, Wave::W32).unwrap();
    says(&refused(&uspill(), &gfx1100), &["0x36", "amdgpu-gfx1100-wave32 is AMD processor 0x41"]);
    // The object does not depend on the wave size.
    attach(&uspill(), &Target::amdgpu(Gfx::GFX1030, Wave::W64).unwrap(), &sections).unwrap();
    let object = uspill();
    let error = refused(&object[..object.len() - 1], &gfx1030());
    assert!(matches!(error.kind(), ErrorKind::Truncated(what) if what == "the section headers"), "{error}");
}

#[test]
fn sections_that_are_there() {
    let once = attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap();
    let error = attach(&once, &gfx1030(), &uspill_sections()[..1]).unwrap_err();
    says(&error, &[".debug_abbrev", "already has"]);
    let twice = [&uspill_sections()[..1], &uspill_sections()[..1]].concat();
    says(&attach(&uspill(), &gfx1030(), &twice).unwrap_err(), &[".debug_abbrev", "added twice"]);
    let error = new_object(&gfx1030(), &ObjectCode::text(vec![]), &[section(".text", 0)]).unwrap_err();
    says(&error, &[".text", "already has"]);
}

fn section(name: &'static str, size: usize) -> Section {
    Section { name, bytes: vec![0; size], relocations: vec![], is_strings: false, group: None }
}

#[test]
fn relocations_that_cannot_be() {
    let objects: Vec<Vec<u8>> = [Some(uspill()), link(&uspill(), &[])].into_iter().flatten().collect();
    let refused = |relocations: &[_], expected: &[&str]| {
        for object in &objects {
            let given = Section { relocations: relocations.to_vec(), ..section(".debug_a", 16) };
            let error = attach(object, &gfx1030(), &[given, section(".debug_b", 8)]).unwrap_err();
            says(&error, &[&["section .debug_a", "offset "], expected].concat());
        }
    };
    refused(&[to_symbol(8, 8, "nowhere", 0)], &["0x8", "no symbol `nowhere`"]);
    refused(&[to_symbol(9, 8, "uspill", 0)], &["0x9", "outside its section"]);
    refused(&[to_symbol(u64::MAX, 8, "uspill", 0)], &["outside its section"]);
    refused(&[to_symbol(0, 2, "uspill", 0)], &["2 bytes"]);
    refused(&[to_symbol(0, 8, "uspill", 0), to_symbol(4, 4, "uspill", 0)], &["0x4", "before 0x8"]);
    refused(&[to_symbol(8, 4, "uspill", 0), to_symbol(0, 4, "uspill", 0)], &["ascend"]);
    refused(&[to_section(4, ".debug_c", 0)], &["0x4", ".debug_c", "not among the added sections"]);
    refused(
        &[to_section(4, ".debug_b", 9)],
        &["addend 0x9 is past the end of section .debug_b, which has 0x8"],
    );
    refused(&[to_symbol(4, 4, "uspill", 1 << 32)], &["0x4", "4-byte field"]);

    let mut filled = section(".debug_a", 8);
    filled.bytes[3] = 1;
    filled.relocations.push(to_symbol(0, 4, "uspill", 0));
    says(&attach(&uspill(), &gfx1030(), &[filled]).unwrap_err(), &[".debug_a", "expected zeros"]);
    let unended = Section { is_strings: true, bytes: vec![b'a'], ..section(".debug_str", 0) };
    says(&attach(&uspill(), &gfx1030(), &[unended]).unwrap_err(), &[".debug_str", "zero byte"]);
}

#[test]
fn symbols_that_are_elsewhere_or_ambiguous() {
    let marks = |name: &str| {
        vec![Section { relocations: vec![to_symbol(0, 8, name, 0)], ..section(".debug_marks", 8) }]
    };
    let mut code = ObjectCode::text(vec![0; 8]).with_function("here", 0, 4);
    code.externals.push("elsewhere".into());
    // A new object may list external symbols; an existing object must define all.
    let object = new_object(&gfx1030(), &code, &marks("elsewhere")).unwrap();
    assert_eq!(read(&object).relocations[".debug_marks"][0].2, "elsewhere");
    let plain = new_object(&gfx1030(), &code, &[]).unwrap();
    let error = attach(&plain, &gfx1030(), &marks("elsewhere")).unwrap_err();
    says(&error, &["section .debug_marks, offset 0x0", "`elsewhere` is not defined"]);
    says(&new_object(&gfx1030(), &code, &marks("nowhere")).unwrap_err(), &["no symbol `nowhere`"]);

    // Two local symbols with one name, as in a relocatable link of several files: the names "aaa" and "aab" become one
    // in the finished object.
    let mut code = ObjectCode::text(vec![0; 8]).with_function("aaa", 0, 4).with_function("aab", 4, 4);
    for symbol in &mut code.symbols {
        symbol.binding = eitri::emit::elf::SymbolBinding::Local;
    }
    let mut object = new_object(&gfx1030(), &code, &[]).unwrap();
    let at = object.windows(3).position(|bytes| bytes == b"aab").unwrap();
    object[at + 2] = b'a';
    let error = attach(&object, &gfx1030(), &marks("aaa")).unwrap_err();
    says(&error, &["several local symbols `aaa`"]);
    assert_eq!(symbols(&object).unwrap().len(), 2);
}

#[test]
fn an_object_without_a_symbol_table() {
    let mut object = uspill();
    // Give the last section, `.symtab`, an ordinary type (SHT_PROGBITS).
    let at = object.len() - 64 + 4;
    object[at] = 1;
    let error = attach(&object, &gfx1030(), &uspill_sections()).unwrap_err();
    says(&error, &["symbol table"]);
    // Sections without relocations do not need a symbol table.
    attach(&object, &gfx1030(), &uspill_sections()[..1]).unwrap();
    assert!(symbols(&object).unwrap().is_empty());
}

/// Loaded tables of a linked object that refer to replaced debug sections.
#[test]
fn loaded_tables_that_name_sections() {
    let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    let with_debug = attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap();
    let Some(linked) = link(&with_debug, &[]) else { return };
    let object = read(&linked);
    let index = |name: &str| object.sections.iter().position(|section| section.name == name).unwrap();
    let refused = |offset: u64, value: &[u8], expected: &str| {
        let mut object = linked.clone();
        object[offset as usize..][..value.len()].copy_from_slice(value);
        let error = attach_with(&object, &gfx1030(), &uspill_sections(), &how).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    // `st_shndx` of the first symbol after the null symbol.
    let symbol = object.section(".dynsym").offset + 24 + 6;
    let debug = index(".debug_info");
    assert!(index(".strtab") > debug);
    refused(
        symbol,
        &[debug as u8, 0],
        "section .dynsym: loaded symbol belongs to a section that is replaced",
    );
    refused(
        symbol,
        &[index(".strtab") as u8, 0],
        "section .dynsym: loaded table contains indices that change",
    );
    // Give `.comment` the type SHT_SYMTAB_SHNDX, 18.
    let table = u64::from_le_bytes(linked[40..48].try_into().unwrap());
    let comment = table + 64 * index(".comment") as u64;
    refused(comment + 4, &[18], "section .comment: section indices are outside the symbol table");
    // Link it to `.debug_info`, and then to a section that does not exist.
    refused(
        comment + 40,
        &[debug as u8],
        &format!("section .comment: the object refers to section {debug}, which is replaced"),
    );
    refused(
        comment + 40,
        &[0xff],
        &format!("section .comment: section 255 is out of range: the object has {}", object.sections.len()),
    );
    attach_with(&linked, &gfx1030(), &uspill_sections(), &how).unwrap();
}
