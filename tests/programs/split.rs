//! Split units: other tools read an object with its split files, and a package of these.

use std::path::{Path, PathBuf};

use eitri::emit::elf::new_object;
use eitri::lower::{Consumer, Lowered, Policy, lower};

use super::common::Folder;
use super::described::{FILES, Known, MACHINES, Machine, Options, Place, code, module, object};
use super::dump::{Entry, addresses, entries, entries_with};
use super::link::link;
use super::{DWARFDUMP, DWP, EU_READELF, READELF};

const NAMES: [&str; 2] = ["work.cl.dwo", "other.cl.dwo"];

/// An object with skeletons and the files of its two split units, in the compilation directory.
struct Split {
    folder: Folder,
    options: Options,
    main: PathBuf,
    written: Lowered,
}

impl Split {
    fn new(machine: Machine, consumer: Consumer) -> Self {
        let folder = Folder::new();
        let places = |place: &Place| place.known != Known::None;
        let directory = folder.path().to_str().expect("a path").to_owned().leak();
        let options = Options { places, directory, ..Options::new(machine) };
        let mut consumer = consumer;
        consumer.is_split = true;
        let module = module(options).expect("the module");
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let bytes = new_object(module.target(), &code(options), &written.sections).expect("an object");
        let main = folder.file("main.o", bytes);
        for (name, bytes) in written.split_files(module.target()).expect("objects") {
            folder.file(name, bytes);
        }
        assert!(written.split.iter().map(|unit| unit.name.as_str()).eq(NAMES));
        Self { folder, options, main, written }
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        NAMES.into_iter().map(|name| self.folder.path().join(name))
    }

    /// The object, unlinked and linked.
    fn objects(&self) -> Vec<PathBuf> {
        let linked = link(&self.folder, self.options.machine, &[&self.main]);
        [Some(self.main.clone()), linked].into_iter().flatten().collect()
    }
}

/// Facts of an entry, without section offsets.
fn output(entry: &Entry, unit: &Entry, folder: &Path, addresses: &[u64]) -> String {
    // LLVM does not use the skeleton for names of files.
    let file = |text: &str| {
        let text = text.trim_matches('"');
        let number = text.strip_prefix("0x").and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let name = match number.or_else(|| text.parse().ok()) {
            None => return text.to_owned(),
            Some(0) => unit.name().expect("a name").into(),
            Some(number) => [FILES[number].0.unwrap_or("."), FILES[number].1].join("/"),
        };
        folder.join(name.trim_start_matches("./")).display().to_string()
    };
    let address = |text: String| match text.split_once("DW_OP_addrx 0x") {
        Some((before, index)) => {
            let index = usize::from_str_radix(index, 16).expect("an index");
            format!("{before} the address {:x}", addresses[index])
        }
        None => text,
    };
    let attributes = entry.attributes.iter().map(|(name, value)| match name.as_str() {
        "location" => {
            let places = entry.places().into_iter().map(|(pcs, text)| (pcs, address(text)));
            format!("{name}: {:x?}", places.collect::<Vec<_>>())
        }
        "ranges" => format!("{name}: {:x?}", entry.ranges(name)),
        "decl_file" | "call_file" => format!("{name}: {}", file(value)),
        _ => format!("{name}: {value}"),
    });
    format!("{} {}: {}", entry.depth, entry.tag, attributes.collect::<Vec<_>>().join(", "))
}

/// Whether the attribute belongs to the skeleton, or locates a table.
fn is_of_skeleton(name: &str) -> bool {
    let tables = ["addr_base", "str_offsets_base", "rnglists_base", "loclists_base"];
    tables.contains(&name) || ["comp_dir", "stmt_list", "low_pc", "high_pc", "ranges"].contains(&name)
}

#[test]
fn llvm_finds_in_split_units_what_the_whole_ones_say() {
    for machine in MACHINES {
        let split = Split::new(machine, Consumer::dwarf5());
        let folder = Folder::new();
        let plain = folder.file("plain.o", object(split.options, &Consumer::dwarf5()).0);
        let (Some(plain), Some(main)) =
            (link(&folder, machine, &[&plain]), link(&split.folder, machine, &[&split.main]))
        else {
            return;
        };
        let (Some(of_plain), Some(of_main)) = (addresses(&plain), addresses(&main)) else { return };
        let plain = entries(&plain).expect("entries");
        let found = entries_with(&["--debug-info", "--dwo"], &main).expect("entries");
        let skeletons: Vec<&Entry> = found.iter().filter(|entry| entry.tag == "skeleton_unit").collect();
        assert_eq!(skeletons.len(), 2);
        let units: Vec<&Entry> = plain.iter().filter(|entry| entry.depth == 0).collect();
        for ((skeleton, unit), name) in skeletons.iter().zip(&units).zip(NAMES) {
            assert_eq!(skeleton.attribute("dwo_name"), Some(format!("\"{name}\"").as_str()));
            for name in ["comp_dir", "low_pc", "high_pc", "stmt_list"] {
                assert_eq!(skeleton.attribute(name), unit.attribute(name), "{name}");
            }
            assert_eq!(skeleton.ranges("ranges"), unit.ranges("ranges"));
        }
        let all_said = |entries: Vec<Entry>, addresses: &[u64]| {
            let mut unit = None;
            let mut all = Vec::new();
            for mut entry in entries.into_iter().filter(|entry| entry.tag != "skeleton_unit") {
                if entry.depth == 0 {
                    entry.attributes.retain(|(name, _)| !is_of_skeleton(name));
                    unit = Some(entry.clone());
                }
                let unit = unit.as_ref().expect("a unit");
                all.push(output(&entry, unit, split.folder.path(), addresses));
            }
            all
        };
        let found = all_said(found, &of_main);
        let whole = all_said(plain, &of_plain);
        pretty_assertions::assert_eq!(found, whole);
    }
}

#[test]
fn llvm_finds_no_errors_in_objects_and_files() {
    for machine in MACHINES {
        for tables in [false, true] {
            let mut consumer = Consumer::dwarf5();
            (consumer.tables.names, consumer.tables.aranges) = (tables, tables);
            let split = Split::new(machine, consumer);
            for path in split.objects().into_iter().chain(split.files()) {
                let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) else { return };
                // LLVM 19 looks up entries of split units in the skeleton, also for its own objects.
                let is_known = |line: &str| {
                    let known = ["references a non-existing DIE", "references nonexistent DIE", "Aggregated"];
                    tables && known.iter().any(|known| line.contains(known))
                };
                let all = ran.out.lines().chain(ran.errors.lines());
                let found = |word| all.clone().find(|line| line.contains(word) && !is_known(line));
                assert_eq!((found("error:"), found("warning:")), (None, None), "{ran}");
                assert!(ran.out.contains("Verifying"), "{ran}");
            }
        }
    }
}

#[test]
fn gnus_tools_read_objects_and_files() {
    let split = Split::new(Machine::Cpu, Consumer::dwarf5());
    for path in split.objects() {
        // With the files that the skeletons name: binutils 2.40 does not read split files alone.
        let Some(ran) = READELF.run(&["-wK".as_ref(), "-w".as_ref(), path.as_os_str()]) else { return };
        let output = ran.clean();
        for (path, unit) in split.files().zip(&split.written.split) {
            assert!(
                output.contains(&format!("Found separate debug object file: {}", path.display())),
                "{output}"
            );
            assert!(output.contains(&format!("DWO ID:        {:#x}", unit.id)), "{output}");
        }
        for complaint in ["warning", "corrupt", "invalid", "truncated"] {
            assert!(!output.to_lowercase().contains(complaint), "{complaint}: {output}");
        }
    }
    for path in split.objects() {
        let Some(ran) = EU_READELF.run(&["-w".as_ref(), path.as_os_str()]) else { return };
        assert!(ran.clean().contains("Unit type: skeleton"));
    }
    let skeleton = format!("--dwarf-skeleton={}", split.main.display());
    for path in split.files() {
        let Some(ran) = EU_READELF.run(&[skeleton.as_ref(), "-w".as_ref(), path.as_os_str()]) else { return };
        assert!(ran.clean().contains("Unit type: split_compile"));
    }
}

#[test]
fn a_packager_takes_the_files() {
    for machine in MACHINES {
        let split = Split::new(machine, Consumer::dwarf5());
        let packed = split.folder.path().join("main.dwp");
        let arguments = split.files().map(PathBuf::into_os_string);
        let arguments: Vec<_> = arguments.chain(["-o".into(), packed.clone().into_os_string()]).collect();
        let Some(ran) = DWP.run(&arguments) else { return };
        ran.clean();
        let Some(ran) = DWARFDUMP.run(&["--debug-cu-index".as_ref(), packed.as_os_str()]) else { return };
        // The packager drops the processor, which LLVM reports as missing.
        assert!(ran.succeeded && (machine == Machine::Gpu || ran.errors.is_empty()), "{ran}");
        for unit in &split.written.split {
            assert!(ran.out.contains(&format!("0x{:016x}", unit.id)), "{ran}");
        }
        let facts = |path: &Path| {
            let output =
                DWARFDUMP.run(&["--debug-info".as_ref(), path.as_os_str()]).expect("it ran before").out;
            let facts = |line: &str| {
                let tag = line.split_once(": ").map(|(_, tag)| tag).filter(|tag| tag.contains("DW_TAG_"));
                tag.or(line.contains("DW_AT_name").then_some(line)).map(String::from)
            };
            // Indices of strings are not compared.
            let name = |fact: String| fact.rsplit(" = ").next().unwrap_or_default().to_owned();
            output.lines().filter_map(facts).map(name).collect::<Vec<_>>()
        };
        let of_files: Vec<_> = split.files().flat_map(|path| facts(&path)).collect();
        assert!(of_files.len() > 60);
        assert_eq!(facts(&packed), of_files);
    }
}
