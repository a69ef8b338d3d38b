//! `.debug_macro` and `.debug_macinfo`, compared with the output of `llvm-dwarfdump`.

use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::read::{Dwarf, MacroAction, Macros, Object, Sections};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::reader::bytes::Bytes;
use crate::reader::compiled::{CLANG, GCC, compile, dumped, hex, sources};

/// Entries of a list in the tool's notation: `name - numbers and text`.
fn printed(list: &Macros<'_>) -> Vec<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let entries = list.entries().map(|one| {
        let one = one.unwrap();
        let kind = match (list.version, one.opcode) {
            (_, 1) => "define",
            (_, 2) => "undef",
            (_, 3) => "start_file",
            (_, 4) => "end_file",
            (Some(4), 5) => "define_indirect",
            (Some(4), 6) => "undef_indirect",
            (Some(4), 7) => "transparent_include",
            (_, 5) => "define_strp",
            (_, 6) => "undef_strp",
            (_, 7) => "import",
            (_, 11) => "define_strx",
            (_, 12) => "undef_strx",
            other => panic!("{other:?}"),
        };
        let prefix = match list.version {
            None => "DW_MACINFO",
            Some(4) => "DW_MACRO_GNU",
            Some(_) => "DW_MACRO",
        };
        let rest = match one.entry {
            MacroAction::Define { line, text: bytes } | MacroAction::Undef { line, text: bytes } => {
                format!(" - lineno: {line} macro: {}", text(bytes))
            }
            MacroAction::StartFile { line, file } => format!(" - lineno: {line} filenum: {file}"),
            MacroAction::EndFile => String::new(),
            MacroAction::Import { offset } => {
                let digits = 2 + 2 * usize::from(list.offset_bytes);
                format!(" - import offset: {offset:#0digits$x}")
            }
            other => panic!("{other:?}"),
        };
        format!("{prefix}_{kind}{rest}")
    });
    entries.collect()
}

#[test]
fn macros_are_those_that_llvm_reads() {
    let folder = sources();
    // A linked file has one section, to which the tool's offsets refer.
    let linked = "-shared -nostdlib -fPIC";
    for (tool, flags, count) in [
        (GCC, format!("{linked} -g3 -gdwarf-5"), 100),
        (GCC, format!("{linked} -g3 -gdwarf-4"), 100),
        (GCC, format!("{linked} -g3 -gdwarf-5 -gdwarf64"), 100),
        (GCC, format!("{linked} -g3 -gstrict-dwarf -gdwarf-4"), 100),
        (GCC, format!("{linked} -g3 -gstrict-dwarf -gdwarf-2"), 100),
        (CLANG, "-c -fdebug-macro -gdwarf-5".into(), 100),
        (CLANG, "-c -fdebug-macro -gdwarf-4".into(), 100),
        (CLANG, "-c -fdebug-macro -gdwarf-5 --target=s390x-linux-gnu".into(), 100),
    ] {
        let Some(path) = compile(tool, folder.path(), "macros.c", &flags, "a.o") else { return };
        let Some(output) = dumped("--debug-macro", &path) else { return };
        let bytes = std::fs::read(&path).unwrap();
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let first = dwarf.macros(&dwarf.units()[0]).unwrap().unwrap();
        let is_info = flags.contains("strict") || flags.contains("macro -gdwarf-4");
        assert_eq!(first.version.is_none(), is_info, "{flags}");
        let mut found = 0;
        for list in output.split("\n0x").skip(1) {
            let (offset, rest) = list.split_once(":\n").unwrap();
            let expected: Vec<String> =
                rest.lines().filter(|l| l.contains("DW_")).map(|l| l.trim_start().into()).collect();
            let offset = hex(offset);
            let list = if offset == first.offset { first.clone() } else { first.import(offset).unwrap() };
            let ours = printed(&list);
            assert_eq!(ours, expected, "{flags}");
            found += ours.len();
        }
        assert!(found > count, "{flags}: {found}");
        assert_eq!(first.offset, 0);
        if first.version.is_some() {
            assert_eq!(first.line_program, dwarf.units()[0].stmt_list);
        }
        let text = eitri::dump::print(&bytes, None).unwrap();
        for line in
            ["2: define LOCAL(x) ((x) + WIDE)", "undef WIDE", "define WIDE 3", "define WIDE 2", "m.h\""]
        {
            assert!(text.contains(&line[2 * usize::from(line.starts_with('2'))..]), "{flags}: {line}");
        }
        assert!(!text.contains("<section"), "{text}");
    }
}

/// In a relocatable object, imported lists are in sections of their own.
#[test]
fn imports_are_found_in_sections_of_one_name() {
    let folder = sources();
    let Some(path) = compile(GCC, folder.path(), "macros.c", "-c -g3 -gdwarf-5", "a.o") else { return };
    let bytes = std::fs::read(&path).unwrap();
    let object = Object::read(&bytes).unwrap();
    let sections = object.sections().iter().filter(|section| section.name == ".debug_macro");
    assert!(sections.count() > 2);
    let text = eitri::dump::print(&bytes, None).unwrap();
    for line in [
        "import",
        "  1: define WIDE 2",
        "  3: define LOCAL(x) ((x) + WIDE)",
        "  4: undef WIDE",
        "define __STDC__ 1",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let sections = Sections::of(&object);
    let list = Macros::read(&sections, 0).unwrap();
    let imported = list.entries().filter_map(|one| match one.unwrap().entry {
        MacroAction::Import { offset } => Some(list.import(offset).unwrap().entries().count()),
        _ => None,
    });
    assert!(imported.sum::<usize>() > 100);
}

/// Lists that import each other in a chain that is longer than a stack could hold.
#[test]
fn long_chain_of_macro_imports_is_printed() {
    const LISTS: u32 = 50_000;
    let mut macros = Bytes::new(false, false);
    for number in 1..LISTS {
        // The list after this one: each has 9 bytes.
        macros.u16(5).u8s([0, 7]).u32(number * 9).u8s([0]);
    }
    macros.u16(5).u8s([0, 1]).uleb(7).string("LAST 1").u8s([0]);
    // A unit with `DW_AT_macros`.
    let mut unit = Bytes::new(false, false);
    unit.u16(5).u8s([1, 8]).u32(0).u8s([1]).u32(0);
    let mut info = Bytes::new(false, false);
    info.unit(&unit);
    let abbreviations = [1, 0x11, 0, 0x79, 0x17, 0, 0, 0];
    let section = |name, bytes: &[u8]| Section {
        name,
        bytes: bytes.to_vec(),
        relocations: Vec::new(),
        is_strings: false,
        group: None,
    };
    let sections = [
        section(".debug_info", &info.bytes),
        section(".debug_abbrev", &abbreviations),
        section(".debug_macro", &macros.bytes),
    ];
    let bytes = new_object(&Target::x86_64(), &ObjectCode::text(vec![0x90; 16]), &sections).unwrap();
    let text = eitri::dump::print(&bytes, None).unwrap();
    assert!(text.contains("7: define LAST 1\n"));
    assert_eq!(text.matches("import").count(), LISTS as usize - 1);
}
