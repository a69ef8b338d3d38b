//! Objects that the crate `object` writes: other programs read, link and debug what [`add`] puts there.

use std::path::{Path, PathBuf};
use std::process::Command;

use eitri::Result;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::object::add;
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::lower::lower;
use eitri::object::write::{Object, SectionId, StandardSection, Symbol, SymbolSection};
use eitri::object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use gimli::Format;

use super::common::{Folder, Tool};
use super::debugger::ask::Debugger;
use super::described::{FUNCTIONS, Known, Machine, Options, Place, module};
use super::dump::{Entry, addresses, entries, hex, symbols};
use super::facts::address;
use super::link::link;
use super::{CC, DWARFDUMP, LLD};
use crate::common::built;

const MACH_LINKER: Tool = Tool::new("ld64.lld-19", "lld-19");
const COFF_LINKER: Tool = Tool::new("lld-link-19", "lld-19");
const DSYMUTIL: Tool = Tool::new("dsymutil-19", "llvm-19");

/// Formats, with the processors of which LLVM's tools read addresses.
const CONTAINERS: [(BinaryFormat, Architecture); 6] = [
    (BinaryFormat::Elf, Architecture::X86_64),
    (BinaryFormat::Elf, Architecture::Aarch64),
    (BinaryFormat::MachO, Architecture::X86_64),
    (BinaryFormat::MachO, Architecture::Aarch64),
    (BinaryFormat::Coff, Architecture::X86_64),
    (BinaryFormat::Coff, Architecture::Aarch64),
];

/// An object with the code and data of the described module. Data comes first, so that no code is at address 0.
fn plain((format, architecture): (BinaryFormat, Architecture), prefix: &str) -> Object<'static> {
    let mut object = Object::new(format, architecture, Endianness::Little);
    let data = object.section_id(StandardSection::Data);
    let text = object.section_id(StandardSection::Text);
    let zeros = object.section_id(StandardSection::UninitializedData);
    object.append_section_data(data, &[7; 24], 8);
    for (name, _, bytes) in FUNCTIONS {
        let symbol = symbol(&mut object, &format!("{prefix}{name}"), SymbolKind::Text);
        object.add_symbol_data(symbol, text, &vec![0x90; bytes as usize], 32);
    }
    // In Mach-O, data without contents comes after the debug sections.
    let table = symbol(&mut object, &format!("{prefix}table"), SymbolKind::Data);
    object.add_symbol_bss(table, zeros, 64, 8);
    object
}

fn symbol(object: &mut Object<'_>, name: &str, kind: SymbolKind) -> eitri::object::write::SymbolId {
    object.add_symbol(Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    })
}

/// The object of the described module.
fn described(
    container: (BinaryFormat, Architecture),
    options: Options,
    consumer: &Consumer,
) -> Result<Vec<u8>> {
    let written = lower(&module(options)?, consumer, Policy::Partial)?;
    let mut object = plain(container, options.prefix);
    add(&mut object, &written.sections)?;
    Ok(object.write().expect("an object"))
}

/// Objects for x86-64 in each format, unlinked; COFF also linked; with the addresses of their symbols. Linkers of Mach-O
/// leave debug sections out.
pub fn containers(folder: &Folder, consumer: &Consumer) -> Vec<(PathBuf, Vec<(String, u64)>)> {
    let mut paths = Vec::new();
    for container in CONTAINERS.into_iter().filter(|container| container.1 == Architecture::X86_64) {
        let object = described(container, Options::new(Machine::Cpu), consumer).expect("an object");
        let path = folder.file(&format!("{:?}.o", container.0), object);
        if container.0 == BinaryFormat::Coff {
            paths.extend(link_coff(folder, &exports(&[""]), &[&path]));
        }
        paths.push(path);
    }
    paths.into_iter().filter_map(|path| plain_symbols(&path).map(|symbols| (path, symbols))).collect()
}

/// The addresses of symbols, without the prefix of Mach-O.
fn plain_symbols(path: &Path) -> Option<Vec<(String, u64)>> {
    let plain = |name: String| name.strip_prefix('_').map_or(name.clone(), str::to_owned);
    Some(symbols(path)?.into_iter().map(|(name, address)| (plain(name), address)).collect())
}

/// Exported functions of the described modules.
fn exports(prefixes: &[&str]) -> Vec<String> {
    let named = prefixes.iter().flat_map(|prefix| FUNCTIONS.map(|(name, ..)| format!("{prefix}{name}")));
    named.collect()
}

fn link_coff(folder: &Folder, exports: &[String], objects: &[&Path]) -> Option<PathBuf> {
    let output = folder.path().join(format!("linked-{}.dll", objects.len()));
    let mut arguments: Vec<String> =
        ["/dll", "/noentry", "/nodefaultlib", "/debug:dwarf"].map(String::from).into();
    arguments.push(format!("/out:{}", output.display()));
    arguments.extend(exports.iter().map(|name| format!("/export:{name}")));
    arguments.extend(objects.iter().map(|path| path.display().to_string()));
    let ran = COFF_LINKER.run(&arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(output)
}

/// Links a library, and collects its debug information. Returns both.
fn link_mach(folder: &Folder, architecture: &str, objects: &[&Path]) -> Option<(PathBuf, PathBuf)> {
    let library = folder.path().join("library.dylib");
    let mut arguments: Vec<String> =
        ["-arch", architecture, "-platform_version", "macos", "11.0", "11.0", "-dylib", "-o"]
            .map(String::from)
            .into();
    arguments.push(library.display().to_string());
    arguments.extend(objects.iter().map(|path| path.display().to_string()));
    MACH_LINKER.run(&arguments)?.clean();
    let collected = folder.path().join("library.dwarf");
    // LLVM 19 verifies no name table of a unit with a local variable at an address in a list.
    let arguments = [
        "--flat".as_ref(),
        "--accelerator=None".as_ref(),
        library.as_os_str(),
        "-o".as_ref(),
        collected.as_os_str(),
    ];
    DSYMUTIL.run(&arguments)?.clean();
    Some((library, collected))
}

fn is_verified(path: &Path) -> Option<()> {
    let output = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()])?.clean();
    assert!(output.contains("No errors.") && !output.contains("warning"), "{output}");
    Some(())
}

/// Options with locations that LLVM 19 decodes.
fn options(prefix: &'static str) -> Options {
    let places = |place: &Place| place.known != Known::None;
    Options { prefix, places, ..Options::new(Machine::Cpu) }
}

/// Compares the addresses of functions, and of data, with those of their symbols.
fn addresses_are(path: &Path, symbols: &[(String, u64)], prefixes: &[&str]) -> Option<()> {
    let entries = entries(path)?;
    let addresses = addresses(path)?;
    for prefix in prefixes {
        for (name, _, bytes) in FUNCTIONS {
            let name = format!("{prefix}{name}");
            let start = address(symbols, &name);
            let is_named = |entry: &Entry| {
                let origin = entry.attribute("abstract_origin").map(|name| name.trim_matches('"'));
                [entry.name(), origin].contains(&Some(&name))
            };
            let mut found = entries.iter().filter(|entry| {
                entry.tag == "subprogram" && is_named(entry) && entry.attribute("low_pc").is_some()
            });
            let entry = found.next().unwrap_or_else(|| panic!("{}: {name}", path.display()));
            let pcs = ["low_pc", "high_pc"].map(|name| entry.attribute(name).map(hex));
            assert_eq!(pcs, [Some(start), Some(start + bytes)], "{}: {name}", path.display());
        }
        let table = address(symbols, &format!("{prefix}table"));
        // Each unit counts its addresses from its own start.
        let is_table = |entry: &Entry| {
            let text = entry.attribute("location").and_then(|text| text.strip_prefix("DW_OP_addr "));
            text.is_some_and(|number| hex(number) == table)
        };
        assert!(
            addresses.contains(&table) || entries.iter().any(is_table),
            "{}: {prefix}table",
            path.display()
        );
    }
    Some(())
}

#[test]
fn llvm_finds_code_and_data_in_objects_of_each_format() {
    let folder = Folder::new();
    for container in CONTAINERS {
        let object = described(container, options(""), &Consumer::dwarf5()).expect("an object");
        let path = folder.file("object.o", object);
        if is_verified(&path).is_none() {
            return;
        }
        let Some(symbols) = plain_symbols(&path) else { return };
        if addresses_are(&path, &symbols, &[""]).is_none() {
            return;
        }
    }
}

/// Two objects, so that offsets in the debug sections of the second change.
#[test]
fn linkers_of_each_format_keep_debug_information() {
    const PREFIXES: [&str; 2] = ["", "second_"];
    let folder = Folder::new();
    for container in CONTAINERS {
        let (format, architecture) = container;
        let objects = PREFIXES.map(|prefix| {
            let object = described(container, options(prefix), &Consumer::dwarf5()).expect("an object");
            folder.file(&format!("{prefix}object.o"), object)
        });
        let objects = objects.each_ref().map(PathBuf::as_path);
        let linked = match (format, architecture) {
            (BinaryFormat::Elf, Architecture::X86_64) => {
                link(&folder, Machine::Cpu, &objects).map(|path| (path.clone(), path))
            }
            (BinaryFormat::MachO, Architecture::X86_64) => link_mach(&folder, "x86_64", &objects),
            (BinaryFormat::MachO, _) => link_mach(&folder, "arm64", &objects),
            (BinaryFormat::Coff, _) => {
                link_coff(&folder, &exports(&PREFIXES), &objects).map(|path| (path.clone(), path))
            }
            _ => continue,
        };
        let Some((library, path)) = linked else { return };
        let Some(symbols) = plain_symbols(&library) else { return };
        if is_verified(&path).is_none() || addresses_are(&path, &symbols, &PREFIXES).is_none() {
            return;
        }
    }
}

#[test]
fn gdb_and_lldb_print_variables_of_an_object_of_the_crate() {
    let folder = Folder::new();
    let ran = Command::new(built::example("cpu")).arg(folder.path()).output().expect("the example");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let [object, program] = ["sum.o", "sum"].map(|name| folder.path().join(name));
    let Some(ran) = CC.run(&[object.as_os_str(), "-o".as_ref(), program.as_os_str()]) else { return };
    ran.clean();
    if is_verified(&program).is_none() {
        return;
    }
    let page = Path::new(crate::common::ROOT).join("docs/cpu.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, session) = page.split_once("<!-- gdb -->\n```text\n").expect("a session on the page");
    let (session, _) = session.split_once("```").expect("its end");
    let asked: Vec<(&str, Vec<&str>)> = session
        .split("(gdb) ")
        .skip(1)
        .filter_map(|part| part.split_once('\n'))
        .map(|(command, answer)| (command, answer.lines().collect()))
        .collect();
    assert!(asked.iter().map(|(_, answer)| answer.len()).sum::<usize>() > 5, "{asked:?}");
    let questions: Vec<&str> = asked.iter().map(|(command, _)| *command).collect();
    if let Some(output) = Debugger::Gdb.ask(&folder, &program, &[], &questions) {
        for ((command, expected), answer) in asked.iter().zip(&output.answers) {
            for part in expected.iter().flat_map(|line| line.split('…')).map(str::trim) {
                assert!(answer.contains(part), "{command}: {part}: {}", output.ran);
            }
        }
    }
    let commands = ["breakpoint set -f sum.c -l 4", "run", "continue", "breakpoint delete -f"];
    let questions = ["frame variable n", "frame variable i", "frame variable total", "bt", "finish"];
    if let Some(output) = Debugger::Lldb.ask(&folder, &program, &commands, &questions) {
        for (answer, expected) in output.answers.iter().zip(["n = 4", "i = 3", "total = 4", "sum.c:9", "10"])
        {
            assert!(answer.contains(expected), "{expected}: {}", output.ran);
        }
    }
}

/// Linkers keep one of several type units with the same signature.
#[test]
fn linkers_merge_type_units_of_objects_of_the_crate() {
    let folder = Folder::new();
    let mut consumer = Consumer::dwarf5();
    consumer.has_type_units = true;
    let objects = ["", "second_"].map(|prefix| {
        let object = described((BinaryFormat::Elf, Architecture::X86_64), options(prefix), &consumer)
            .expect("an object");
        folder.file(&format!("{prefix}object.o"), object)
    });
    let count =
        |path: &Path| Some(entries(path)?.into_iter().filter(|entry| entry.tag == "type_unit").count());
    let Some(units) = count(&objects[0]) else { return };
    assert!(units > 3, "{units}");
    let [first, second] = objects.each_ref().map(|path| path.as_os_str());
    for (index, linker) in [LLD, CC].into_iter().enumerate() {
        let output = folder.path().join(format!("linked-{index}.so"));
        let arguments = ["-shared".as_ref(), first, second, "-o".as_ref(), output.as_os_str()];
        let Some(ran) = linker.run(&arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        assert_eq!(count(&output), Some(units), "{}", linker.name);
    }
}

/// The message for sections that a format does not take.
fn refused(format: BinaryFormat, sections: &[Section]) -> String {
    let mut object = plain((format, Architecture::X86_64), "");
    add(&mut object, sections).expect_err("an error").to_string()
}

fn sections(change: impl FnOnce(&mut Consumer)) -> Vec<Section> {
    let mut consumer = Consumer::dwarf5();
    change(&mut consumer);
    lower(&module(options("")).expect("a module"), &consumer, Policy::Partial).expect("sections").sections
}

#[test]
fn fields_without_a_relocation_are_refused_with_section_and_offset() {
    let wide = sections(|consumer| consumer.format = Format::Dwarf64);
    let first = wide.iter().find(|section| !section.relocations.is_empty()).expect("a relocation");
    assert_eq!(
        refused(BinaryFormat::Coff, &wide),
        format!(
            "section {}, offset {:#x}: COFF has no relocation for a section offset of 8 bytes; expected 32-bit DWARF",
            first.name, first.relocations[0].offset
        )
    );
    let units = sections(|consumer| consumer.has_type_units = true);
    for format in [BinaryFormat::Coff, BinaryFormat::MachO] {
        let message = refused(format, &units);
        assert!(
            message.ends_with(": type units need section groups, which only ELF has; expected no type units"),
            "{message}"
        );
    }
    let mut frames = Section {
        name: ".eh_frame",
        bytes: vec![0; 8],
        relocations: vec![Relocation {
            offset: 4,
            bytes: 4,
            target: RelocationTarget::Distance("work".into()),
            addend: 0,
        }],
        is_strings: false,
        group: None,
    };
    assert_eq!(
        refused(BinaryFormat::MachO, &[frames.clone()]),
        "section .eh_frame: `.eh_frame` is not supported in Mach-O; expected `.debug_frame`"
    );
    frames.relocations[0].target = RelocationTarget::Symbol("wrok".into());
    for format in [BinaryFormat::Elf, BinaryFormat::Coff] {
        assert_eq!(
            refused(format, &[frames.clone()]),
            "section .eh_frame, offset 0x4: the object has no symbol `wrok`"
        );
    }
    frames.relocations[0].target = RelocationTarget::Section(".debug_line");
    assert_eq!(
        refused(BinaryFormat::Elf, &[frames.clone()]),
        "section .eh_frame, offset 0x4: relocation refers to section .debug_line, which is not among the added sections"
    );
    let mut wasm = Object::new(BinaryFormat::Wasm, Architecture::Wasm32, Endianness::Little);
    let message = add(&mut wasm, &[]).expect_err("an error").to_string();
    assert_eq!(message, "format Wasm is not supported; expected ELF, Mach-O or COFF");
}

/// A Mach-O address is a number in the field, for which the section must be known.
#[test]
fn two_sections_with_one_name_are_refused_in_mach_o() {
    let mut object = plain((BinaryFormat::MachO, Architecture::X86_64), "");
    let text = |object: &mut Object<'_>| -> SectionId {
        object.add_section(b"__TEXT".to_vec(), b"__text".to_vec(), SectionKind::Text)
    };
    let second = text(&mut object);
    object.append_section_data(second, &[0x90], 1);
    let message = add(&mut object, &sections(|_| {})).expect_err("an error").to_string();
    let (_, what) = message.split_once(": ").expect("section and offset");
    assert_eq!(what, "object has several sections `__TEXT,__text`; expected a name for each section");
}

/// A linker finds the entries after those of another table in the section.
#[test]
fn eh_frame_is_appended_to_the_table_of_the_object() {
    const FUNCTIONS: [(&str, u64); 4] = [("main", 16), ("outer", 14), ("middle", 27), ("inner", 25)];
    let mut consumer = Consumer::dwarf5();
    consumer.frames.debug_frame = false;
    consumer.frames.eh_frame = true;
    let module = super::frames::module().expect("a module");
    let written = lower(&module, &consumer, Policy::Strict).expect("sections");
    let folder = Folder::new();
    for format in [BinaryFormat::Elf, BinaryFormat::Coff] {
        let mut object = Object::new(format, Architecture::X86_64, Endianness::Little);
        let text = object.section_id(StandardSection::Text);
        for (name, bytes) in FUNCTIONS {
            let symbol = symbol(&mut object, name, SymbolKind::Text);
            object.add_symbol_data(symbol, text, &vec![0x90; bytes as usize], 32);
        }
        // A common entry: 12 bytes; version 1, alignment factors 1 and -8, return address column 16.
        let table = object.section_id(StandardSection::EhFrame);
        object.append_section_data(table, &[12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0], 8);
        add(&mut object, &written.sections).expect("sections are added");
        let path = folder.file("object.o", object.write().expect("an object"));
        let linked = match format {
            BinaryFormat::Elf => link(&folder, Machine::Cpu, &[&path]),
            _ => link_coff(&folder, &FUNCTIONS.map(|(name, _)| name.to_owned()), &[&path]),
        };
        let Some(linked) = linked else { return };
        let Some(symbols) = symbols(&linked) else { return };
        let Some(ran) = DWARFDUMP.run(&["--eh-frame".as_ref(), linked.as_os_str()]) else { return };
        let output = ran.clean();
        let pcs: Vec<&str> = output.lines().filter_map(|line| Some(line.split_once("pc=")?.1)).collect();
        let expected = FUNCTIONS.map(|(name, bytes)| {
            let start = address(&symbols, name);
            format!("{start:08x}...{:08x}", start + bytes)
        });
        assert_eq!(pcs, expected, "{format:?}");
    }
}
