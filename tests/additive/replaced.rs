//! Replacement of a compiler's debug sections.

use std::collections::BTreeMap;

use eitri::Result;
use eitri::emit::elf::*;
use eitri::emit::{RelocationTarget, Section};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use super::support::*;

const REPLACE: AttachOptions = {
    let mut options = AttachOptions::new();
    options.existing = Existing::Replace;
    options.compression = Compression::None;
    options
};
const SHT_STRTAB: u32 = 3;
const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_GROUP: u32 = 17;
const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
const SHF_ALLOC: u64 = 2;

/// A C++ program with many references to sections and symbols by index: code in groups, types in groups, an
/// initialised pointer, and a list of address-significant symbols.
const PROGRAM: &str = "
    #define TWICE 2
    struct Pair { int x, y; int sum() const { return x + y; } };
    struct Triple { Pair pair; long z; };
    template <class T> __attribute__((noinline)) T thrice(T x) { return x * 3; }
    static int hidden(int x) { return x - 1; }
    int (*table[])(int) = {hidden, thrice<int>};
    extern \"C\" int kernel(Triple *t) { return t->pair.sum() * TWICE + thrice<int>(t->z) + table[0](3); }
    extern \"C\" void _start() { Triple t = {{1, 2}, 3}; kernel(&t); }";

const KERNELS: &str = "
    struct pair { int x, y; };
    __attribute__((noinline)) int twice(int x) { return x + x; }
    constant int table[4] = {1, 2, 3, 4};
    kernel void kernel_of(global struct pair *p) { p->y = twice(p->x) + table[p->x & 3]; }";

/// A compiled object: description, bytes, target, and the names of a function and of another symbol.
type Compiled = (String, Vec<u8>, Target, &'static str, &'static str);

/// Objects with the debug information of other compilers.
fn compiled() -> Vec<Compiled> {
    let x86: &[(Tool, &[&str])] = &[
        (CLANG, &["--target=x86_64-linux-gnu", "-gdwarf-4", "-fdebug-types-section", "-faddrsig"]),
        (CLANG, &["--target=x86_64-linux-gnu", "-gdwarf-5", "-fdebug-types-section", "-O1"]),
        (CLANG, &["--target=x86_64-linux-gnu", "-gz=zstd", "-ffunction-sections", "-fdebug-macro"]),
        (CLANG, &["--target=x86_64-linux-gnu", "-gsplit-dwarf=single", "-fdebug-types-section"]),
        (CLANG, &["--target=x86_64-linux-gnu", "-gdwarf64", "-gz", "-fno-integrated-as", "-gpubnames"]),
        (GXX, &["-g3", "-fdebug-types-section", "-ffunction-sections", "-fno-asynchronous-unwind-tables"]),
        (GXX, &["-g3", "-gdwarf-4", "-gz=zlib-gnu", "-fdebug-types-section"]),
    ];
    let mut objects = Vec::new();
    for (compiler, arguments) in x86 {
        let arguments = [*arguments, &["-fPIC", "-fno-exceptions", "-fno-stack-protector"]].concat();
        let what = format!("{} {arguments:?}", compiler.name);
        if let Some(object) = compile(*compiler, "program.cpp", PROGRAM, &arguments) {
            objects.push((what, object, Target::x86_64(), "kernel", "table"));
        }
    }
    for arguments in [&["-O1"][..], &["-O0", "-gz=zlib"], &["-O2", "-gdwarf-4", "-ffunction-sections"]] {
        let machine = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-cl-std=CL2.0"];
        let arguments = [arguments, &machine].concat();
        let what = format!("{arguments:?}");
        if let Some(object) = compile(CLANG, "kernels.cl", KERNELS, &arguments) {
            objects.push((what, object, gfx1030(), "kernel_of", "kernel_of.kd"));
        }
    }
    objects
}

/// Objects that lld can link: it no longer reads `.zdebug_str`.
fn linkable() -> Vec<Compiled> {
    compiled().into_iter().filter(|(what, ..)| !what.contains("zlib-gnu")).collect()
}

fn size_of(object: &[u8], function: &str) -> u32 {
    symbol_named(object, function).unwrap().size as u32
}

fn is_debug(section: &ReadSection) -> bool {
    let of = section.name.trim_start_matches(".rela");
    let is_named = of.starts_with(".debug_") || of.starts_with(".zdebug_") || of == ".gdb_index";
    is_named && section.flags & SHF_ALLOC == 0
}

/// Names of a group's members.
fn members(object: &ReadObject, group: &ReadSection) -> Vec<String> {
    let words = group.bytes.chunks_exact(4).skip(1);
    let index = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap()) as usize;
    words.map(|word| object.sections[index(word)].name.clone()).collect()
}

/// Name of a symbol by index; for a section symbol, the name of its section.
fn symbol_name(object: &ReadObject, index: usize) -> String {
    let symbol = &object.symbols[index];
    if symbol.1 & 15 == 3 { object.sections[usize::from(symbol.3)].name.clone() } else { symbol.0.clone() }
}

/// A section without the fields that have to change, with names instead of indices.
#[derive(Debug, PartialEq, Eq)]
struct Same {
    name: String,
    frame: (u32, u64, u64, u64, u64),
    link: String,
    info: String,
    bytes: Vec<u8>,
    members: Vec<String>,
}

/// All sections except debug information and groups of it.
fn the_rest(object: &ReadObject) -> Vec<Same> {
    let is_group_of_debug = |section: &ReadSection| {
        let members = members(object, section);
        !members.is_empty() && members.iter().all(|name| name.contains("debug_"))
    };
    let same = |section: &ReadSection| {
        let link = object.sections[section.link as usize].name.clone();
        let info = match section.kind {
            SHT_RELA => object.sections[section.info as usize].name.clone(),
            SHT_GROUP => symbol_name(object, section.info as usize),
            SHT_SYMTAB => String::new(),
            _ => section.info.to_string(),
        };
        let is_rewritten =
            matches!(section.kind, SHT_STRTAB | SHT_SYMTAB | SHT_RELA | SHT_GROUP | SHT_LLVM_ADDRSIG)
                && section.flags & SHF_ALLOC == 0;
        let bytes = if is_rewritten { Vec::new() } else { section.bytes.clone() };
        let members = if section.kind == SHT_GROUP { members(object, section) } else { Vec::new() };
        let frame = (section.kind, section.flags, section.address, section.align, section.entry);
        Same { name: section.name.clone(), frame, link, info, bytes, members }
    };
    let stays = |section: &&ReadSection| {
        !(is_debug(section) || section.kind == SHT_GROUP && is_group_of_debug(section))
    };
    object.sections.iter().filter(stays).map(same).collect()
}

/// All symbols except those of debug sections and their groups, with names of sections instead of indices.
fn symbols_of_the_rest(object: &ReadObject) -> Vec<(String, u8, u8, String, u64, u64)> {
    let mut all = Vec::new();
    for (name, info, other, index, value, size) in object.symbols.clone() {
        let section = object.sections.get(usize::from(index));
        let is_signature = section.is_some_and(|section| section.kind == SHT_GROUP);
        if !section.is_some_and(is_debug) && !is_signature {
            let place = section.map_or_else(|| format!("{index:#x}"), |section| section.name.clone());
            all.push((name, info, other, place, value, size));
        }
    }
    all
}

fn relocations_of_the_rest(object: &ReadObject) -> BTreeMap<String, Vec<ReadRela>> {
    let all = object.relocations.iter().filter(|(of, _)| !of.contains("debug_"));
    all.map(|(of, all)| (of.clone(), all.clone())).collect()
}

/// Checks that everything except debug information is unchanged, and that the given sections are the only debug
/// information.
#[track_caller]
fn check_replaced(what: &str, before: &[u8], after: &[u8], sections: &[Section]) {
    let old = read(before);
    let new = read(after);
    assert!(old.sections.iter().any(is_debug), "{what}");
    assert_eq!(the_rest(&old), the_rest(&new), "{what}");
    assert_eq!(symbols_of_the_rest(&old), symbols_of_the_rest(&new), "{what}");
    assert_eq!(relocations_of_the_rest(&old), relocations_of_the_rest(&new), "{what}");
    assert_eq!(old.segments, new.segments, "{what}");
    let found = new.sections.iter().filter(|section| is_debug(section) && section.kind != SHT_RELA);
    let found: Vec<&str> = found.map(|section| section.name.as_str()).collect();
    assert_eq!(found, sections.iter().map(|section| section.name).collect::<Vec<_>>(), "{what}");
    // Nor are there leftover bytes outside sections.
    assert!(!has(after, COMPILED_IN), "{what}");
}

#[track_caller]
fn verified(bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file("object", bytes);
    clean(READELF, &["-hSlsrgW"], &[&path]);
    clean(LLVM_READELF, &["-hSlsrgW"], &[&path]);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
    if let Some(text) = clean(DWARFDUMP, &["--debug-info"], &[&path]) {
        assert_eq!(text.matches("Compile Unit").count(), 1, "{text}");
        assert!(text.contains("test.cl") && text.contains("DW_TAG_subprogram"), "{text}");
    }
}

#[test]
fn sections_of_a_relocatable_object_are_replaced() {
    for (what, before, target, function, other) in compiled() {
        let sections = debug_sections(function, size_of(&before, function), other);
        let error = attach(&before, &target, &sections).unwrap_err().to_string();
        assert!(error.contains("the object already has a section `.debug_"), "{error}");
        let after = attach_with(&before, &target, &sections, &REPLACE).unwrap();
        check_replaced(&what, &before, &after, &sections);
        verified(&after);
        assert!(
            after == attach_with(&after, &target, &sections, &REPLACE).unwrap(),
            "{what}: once is enough"
        );
    }
}

#[test]
fn sections_of_a_linked_object_are_replaced() {
    for (what, object, target, function, other) in linkable() {
        let sections = debug_sections(function, size_of(&object, function), other);
        let relocatable = attach_with(&object, &target, &sections, &REPLACE).unwrap();
        for arguments in [&[][..], &["--gdb-index"], &["--emit-relocs"], &["-s"]] {
            let Some(before) = link(&object, arguments) else { return };
            let loaded = |bytes: &[u8]| {
                let segments = read(bytes).segments;
                let end = segments.iter().filter(|s| s.0 == 1).map(|s| s.1 + s.3).max().unwrap() as usize;
                without_section_fields(&bytes[..end])
            };
            if arguments == ["-s"] {
                // Without debug information, and with dynamic symbols only.
                let after = attach_with(&before, &target, &sections, &REPLACE).unwrap();
                assert_eq!(loaded(&before), loaded(&after));
                continue;
            }
            let after = attach_with(&before, &target, &sections, &REPLACE).unwrap();
            let what = format!("{what}, linked with {arguments:?}");
            assert!(has(&before, COMPILED_IN) || what.contains("-gz"), "{what}");
            assert_eq!(loaded(&before), loaded(&after), "{what}");
            check_replaced(&what, &before, &after, &sections);
            verified(&after);
            let again = attach_with(&after, &target, &sections, &REPLACE).unwrap();
            assert!(after == again, "{what}: once is enough");

            // Replacing before or after linking makes no difference to the loaded contents.
            let other_way = link(&relocatable, arguments).unwrap();
            assert_eq!(loaded(&before), loaded(&other_way), "{what}");
            verified(&other_way);
        }
    }
}

#[test]
fn sections_are_removed_without_replacement() {
    for (what, before, target, ..) in linkable() {
        let after = attach_with(&before, &target, &[], &REPLACE).unwrap();
        check_replaced(&what, &before, &after, &[]);
        let Some(linked) = link(&before, &[]) else { return };
        let after = attach_with(&linked, &target, &[], &REPLACE).unwrap();
        check_replaced(&what, &linked, &after, &[]);
        assert!(after.len() < linked.len(), "{what}");
    }
}

/// Replacing nothing is the same as [`attach`].
#[test]
fn replacement_without_debug_sections_equals_attach() {
    let after = attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap();
    assert_eq!(attach_with(&uspill(), &gfx1030(), &uspill_sections(), &REPLACE).unwrap(), after);
    assert_eq!(attach_with(&after, &gfx1030(), &uspill_sections(), &REPLACE).unwrap(), after);
}

#[test]
fn loaded_bytes_are_unchanged_by_replacement() {
    const SOURCE: &str = "
        __attribute__((section(\".debug_gdb_scripts\"), used)) const char scripts[] = \"\\1a\";
        void _start(void) {}";
    let Some(before) = compile(CLANG, "scripts.c", SOURCE, &["--target=x86_64-linux-gnu"]) else {
        return;
    };
    let sections = debug_sections("_start", size_of(&before, "_start"), "_start");
    let target = Target::x86_64();
    for before in [Some(before.clone()), link(&before, &[])].into_iter().flatten() {
        let after = attach_with(&before, &target, &sections, &REPLACE).unwrap();
        assert_eq!(read(&after).section(".debug_gdb_scripts").bytes, b"\x01a\0");
        check_replaced("loaded", &before, &after, &sections);
        // The section conflicts only with one of the same name.
        let same = [Section { name: ".debug_gdb_scripts", ..sections[0].clone() }];
        let error = attach_with(&before, &target, &same, &REPLACE).unwrap_err();
        assert_eq!(
            error.to_string(),
            "section .debug_gdb_scripts: the object already has a section \
             `.debug_gdb_scripts`"
        );
    }
}

fn assembled(text: &str) -> Option<Vec<u8>> {
    compile(CLANG, "source.s", text, &["--target=x86_64-linux-gnu"])
}

#[test]
fn referenced_debug_sections_are_not_removed() {
    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let Some(object) = assembled(text) else { return };
        let error = attach_with(&object, &Target::x86_64(), &[], &REPLACE).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    refused(
        ".section .debug_a,\"\",@progbits\n.byte 1\n.section .notes,\"\",@progbits\n.long .debug_a\n",
        "section .rela.notes: the object refers to symbol ",
    );
    refused(
        ".section .debug_a,\"\",@progbits\n.byte 1\n.section .notes,\"o\",@progbits,.debug_a\n.long 1\n",
        "section .notes: the object refers to section ",
    );
}

/// A group of code and its own debug section keeps the code.
#[test]
fn a_mixed_group_keeps_the_rest() {
    let text = "
        .section .text.f,\"axG\",@progbits,f,comdat\n .globl f\n .type f,@function\n f: ret\n .size f, 1\n
        .section .debug_own,\"G\",@progbits,f,comdat\n .quad f\n";
    let Some(object) = assembled(text) else { return };
    let after = read(&attach_with(&object, &Target::x86_64(), &[], &REPLACE).unwrap());
    assert_eq!(members(&after, after.section(".group")), [".text.f"]);
    assert!(read(&object).sections.iter().any(|section| section.name == ".rela.debug_own"));
    assert!(!after.sections.iter().any(|section| section.name.contains("debug_own")));
}

/// Relocations of the given sections refer to the right symbols, though their indices have changed.
#[test]
fn relocations_find_their_symbols() -> Result<()> {
    for (what, before, target, function, other) in compiled() {
        let sections = debug_sections(function, size_of(&before, function), other);
        let after = read(&attach_with(&before, &target, &sections, &REPLACE)?);
        for section in &sections {
            let expected = section.relocations.iter().map(|relocation| match &relocation.target {
                RelocationTarget::Section(name) => (*name).to_owned(),
                RelocationTarget::Symbol(name) => name.to_string(),
                RelocationTarget::Distance(name) => name.to_string(),
            });
            let found = after.relocations.get(section.name).cloned().unwrap_or_default();
            let found: Vec<String> = found.into_iter().map(|relocation| relocation.2).collect();
            assert_eq!(found, expected.collect::<Vec<_>>(), "{what}");
        }
    }
    Ok(())
}
