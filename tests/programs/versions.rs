//! Every version in both formats: other programs read the output, and `check` is clean.

use eitri::consumer::{Consumer, Policy, Tables};
use eitri::lower::lower;
use gimli::Format;

use super::common::{Folder, Ran};
use super::described::{Known, Machine, Options, code, module};
use super::{DWARFDUMP, EU_READELF, LIBDWARF, READELF};

const COMPLAINTS: [&str; 7] = ["warning", "error:", "corrupt", "user defined", "invalid", "truncated", "???"];

fn options() -> Options {
    Options { places: |place| place.known == Known::Both, ..Options::new(Machine::Cpu) }
}

/// Each combination, with the object.
fn objects() -> impl Iterator<Item = (String, Consumer, Vec<u8>)> {
    let versions = [(2, false), (3, false), (4, false), (5, false), (4, true), (5, true)];
    let combinations = versions.into_iter().flat_map(|one| [(one, Format::Dwarf32), (one, Format::Dwarf64)]);
    combinations.map(|((version, has_type_units), format)| {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.format) = (version, format);
        consumer.has_type_units = has_type_units;
        let module = module(options()).expect("the module");
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let object = eitri::emit::elf::new_object(module.target(), &code(options()), &written.sections);
        let object = object.expect("an object");
        let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("is read");
        assert!(report.is_clean(), "DWARF {version}, {format:?}: {report}");
        let types = if has_type_units { "-types" } else { "" };
        (format!("dwarf{version}-{}{types}", 8 * format.word_size()), consumer, object)
    })
}

fn no_complaints(name: &str, ran: Ran) {
    // Lists of DWARF 2 have no base addresses: each bound of an object that is not linked has a relocation.
    let relocated = "warning: this section has relocations - addresses seen here may not be accurate.";
    let output = ran.clean().to_lowercase().replace(relocated, "");
    let complaint = COMPLAINTS.iter().find(|complaint| output.contains(**complaint));
    assert_eq!(complaint, None, "{name}: {output}");
}

#[test]
fn every_version_is_read_by_other_tools_and_checked() {
    let folder = Folder::new();
    for (name, _, object) in objects() {
        let path = folder.file(&format!("{name}.o"), object);
        if let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) {
            no_complaints(&name, ran);
        }
        if let Some(ran) = READELF.run(&["-W".as_ref(), "-w".as_ref(), path.as_os_str()]) {
            no_complaints(&name, ran);
        }
        if let Some(ran) = EU_READELF.run(&["-w".as_ref(), path.as_os_str()]) {
            no_complaints(&name, ran);
        }
        if let Some(ran) = LIBDWARF.run(&["-a".as_ref(), path.as_os_str()]) {
            no_complaints(&name, ran);
        }
    }
}

/// All lookup tables.
#[test]
fn tables_are_verified_by_others() {
    let folder = Folder::new();
    for (version, format) in
        (2..=5).flat_map(|version| [(version, Format::Dwarf32), (version, Format::Dwarf64)])
    {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.format) = (version, format);
        consumer.tables =
            Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
        let module = module(options()).expect("the module");
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let object = eitri::emit::elf::new_object(module.target(), &code(options()), &written.sections);
        let path = folder.file(&format!("tables{version}.o"), object.expect("an object"));
        let name = format!("DWARF {version}, {format:?}");
        if let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) {
            no_complaints(&name, ran);
        }
        for arguments in ["-wi", "-wA", "-wp", "-wr", "-wm"] {
            if let Some(ran) = READELF.run(&["-W".as_ref(), arguments.as_ref(), path.as_os_str()]) {
                no_complaints(&name, ran);
            }
        }
    }
}
