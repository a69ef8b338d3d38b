//! Linkers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eitri::emit::elf::new_object;
use eitri::lower::Consumer;
use object::{Object, ObjectSegment};

use super::common::Folder;
use super::described::{FUNCTIONS, Known, MACHINES, Machine, Options, Place, code, object};
use super::dump::{Entry, entries, hex, lines, symbols};
use super::facts::address;
use super::{CC, DWARFDUMP, LLD};

/// Links objects into a shared one; `None` without the linker.
pub fn link(folder: &Folder, machine: Machine, objects: &[&Path]) -> Option<PathBuf> {
    let output = folder.path().join(format!("linked-{}.so", objects.len()));
    let emulation = match machine {
        Machine::Gpu => "elf64_amdgpu",
        Machine::Cpu => "elf_x86_64",
    };
    let arguments = ["-m", emulation, "-shared", "-o"].map(OsStr::new);
    let arguments: Vec<&OsStr> = arguments
        .into_iter()
        .chain([output.as_os_str()])
        .chain(objects.iter().map(|path| path.as_os_str()))
        .collect();
    let messages = LLD.run(&arguments)?.clean();
    assert!(messages.is_empty(), "{messages}");
    Some(output)
}

/// Loaded segments: addresses and bytes.
fn segments(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let mut bytes = std::fs::read(path).expect("what was linked");
    // The ELF header is loaded too. The header's fields for section headers do not affect a loader.
    bytes[40..48].fill(0);
    bytes[58..64].fill(0);
    let file = object::File::parse(&*bytes).expect("an ELF file");
    file.segments().map(|segment| (segment.address(), segment.data().expect("its bytes").to_vec())).collect()
}

#[test]
fn loaded_bytes_are_independent_of_debug_sections() {
    for machine in MACHINES {
        let options = Options::new(machine);
        let plain = new_object(&machine.target(), &code(options), &[]).expect("an object");
        let mut linked = Vec::new();
        for object in [plain, object(options, &Consumer::llvm()).0] {
            let folder = Folder::new();
            let path = folder.file("object.o", object);
            let Some(path) = link(&folder, machine, &[&path]) else { return };
            linked.push(segments(&path));
        }
        assert!(linked[0].len() > 2);
        assert!(linked[0] == linked[1]);
    }
}

#[test]
fn two_objects_become_one() {
    const PREFIXES: [&str; 2] = ["", "second_"];
    for machine in MACHINES {
        let folder = Folder::new();
        let objects = PREFIXES.map(|prefix| {
            let places = |place: &Place| place.known != Known::None;
            let options = Options { prefix, places, ..Options::new(machine) };
            folder.file(&format!("{prefix}object.o"), object(options, &Consumer::dwarf5()).0)
        });
        let Some(path) = link(&folder, machine, &[&objects[0], &objects[1]]) else { return };
        let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) else { return };
        let output = ran.clean();
        assert!(output.contains("No errors.") && output.contains("4 / 4"), "{output}");

        let (Some(entries), Some(symbols), Some(lines)) = (entries(&path), symbols(&path), lines(&path))
        else {
            return;
        };
        let names = |tag: &str| {
            let of_tag = entries.iter().filter(|entry| entry.tag == tag);
            of_tag.filter_map(Entry::name).collect::<Vec<_>>()
        };
        assert_eq!(names("compile_unit"), ["work.cl", "other.cl", "work.cl", "other.cl"]);
        for (prefix, tables) in PREFIXES.iter().zip(lines.chunks(2)) {
            for (name, _, bytes) in FUNCTIONS {
                let name = format!("{prefix}{name}");
                let start = address(&symbols, &name);
                // The concrete entry of `both` refers to the abstract one with the name.
                let mut with_code = entries.iter().filter(|entry| {
                    let names =
                        [entry.name(), entry.attribute("abstract_origin").map(|name| name.trim_matches('"'))];
                    entry.tag == "subprogram"
                        && names.contains(&Some(&name))
                        && entry.attribute("low_pc").is_some()
                });
                let entry = with_code.next().expect("the function");
                assert_eq!(entry.attribute("low_pc").map(hex), Some(start), "{name}");
                assert_eq!(entry.attribute("high_pc").map(hex), Some(start + bytes), "{name}");
                assert!(with_code.next().is_none());
                let ends = tables.iter().flat_map(|table| &table.rows).filter(|row| row.0 == start + bytes);
                assert!(ends.filter(|row| row.5.contains("end_sequence")).count() == 1, "{name}");
            }
        }
    }
}

#[test]
fn the_linker_of_the_system_takes_objects() {
    let folder = Folder::new();
    let places = |place: &Place| place.known != Known::None;
    let options = Options { places, ..Options::new(Machine::Cpu) };
    let path = folder.file("object.o", object(options, &Consumer::dwarf5()).0);
    let output = folder.path().join("linked.so");
    let arguments = ["-shared", "-nostdlib", "-Wl,-z,noexecstack", "-o"].map(OsStr::new);
    let Some(ran) = CC.run(&[&arguments[..], &[output.as_os_str(), path.as_os_str()]].concat()) else {
        return;
    };
    ran.clean();
    let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), output.as_os_str()]) else { return };
    // This linker merges suffixes of strings, which LLVM's verifier does not expect.
    let errors = ran.out.lines().filter(|line| line.starts_with("error:"));
    let mut others = errors.filter(|line| !line.contains("string offset") && !line.contains("Aggregated"));
    assert_eq!(others.next(), None, "{ran}");
    let (Some(entries), Some(symbols)) = (entries(&output), symbols(&output)) else { return };
    let work = entries.iter().find(|entry| entry.tag == "subprogram" && entry.name() == Some("work"));
    let start = work.and_then(|entry| entry.attribute("low_pc")).map(hex);
    assert_eq!(start, Some(address(&symbols, "work")));
}
