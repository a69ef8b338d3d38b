//! Programs that rewrite debug sections: LLVM's dwarfutil, dwz, and the garbage collection of lld. What they keep says
//! the same as before.

use std::path::{Path, PathBuf};

use eitri::build::Builder;
use eitri::consumer::Policy;
use eitri::emit::elf::{
    CodeContents, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding,
    SymbolLocation as ElfPlace, Visibility, new_object,
};
use eitri::lower::{Consumer, lower};
use eitri::model::{BaseEncoding, Loc, SourceLine};

use super::LLD;
use super::common::{Folder, Ran, Tool};
use super::described::{Known, Machine, Options, Place, object};
use super::dump::{Entry, entries, hex, symbols};
use super::facts::address;
use super::link::link;

const DWARFUTIL: Tool = Tool::new("llvm-dwarfutil-19", "llvm-19");
const DWZ: Tool = Tool::new("dwz", "dwz");

/// Two objects of the same types, linked.
fn linked(folder: &Folder, consumer: &Consumer) -> Option<PathBuf> {
    let objects = ["", "second_"].map(|prefix| {
        let places = |place: &Place| place.known != Known::None;
        let options = Options { prefix, places, ..Options::new(Machine::Cpu) };
        folder.file(&format!("{prefix}object.o"), object(options, consumer).0)
    });
    link(folder, Machine::Cpu, &[&objects[0], &objects[1]])
}

/// Variables, parameters and functions with what is said of them, in the order of their text: the tools move entries.
fn facts(entries: &[Entry]) -> Vec<String> {
    const SAID: [&str; 6] = ["name", "type", "decl_line", "const_value", "abstract_origin", "high_pc"];
    let tags = ["variable", "formal_parameter", "subprogram", "inlined_subroutine", "call_site"];
    // Entries by name, without their offsets and the bounds of arrays, which depend on the unit around them.
    let text = |value: &str| match value.split_once('"') {
        Some((_, name)) => name
            .trim_start_matches("::")
            .trim_end_matches('"')
            .split('[')
            .next()
            .unwrap_or_default()
            .to_owned(),
        None => value.to_owned(),
    };
    let said = |entry: &Entry| {
        let said = SAID.map(|name| format!("{name} {}", entry.attribute(name).map_or("-".into(), text)));
        let mut places = entry.places();
        // Indexed addresses become addresses.
        for (_, place) in places.iter_mut().filter(|(_, place)| place.starts_with("DW_OP_addr")) {
            *place = "an address".into();
        }
        format!("{}: {}; {places:?}", entry.tag, said.join(", "))
    };
    // The parameters of function types, which have no names, go with types that nothing refers to.
    let is_named = |entry: &Entry| entry.name().is_some() || entry.attribute("abstract_origin").is_some();
    let kept = entries.iter().filter(|entry| tags.contains(&&*entry.tag) && is_named(entry));
    // dwarfutil 19 drops variables in data, of clang's output as well.
    let in_code = kept.map(said).filter(|fact| !fact.ends_with("[(None, \"an address\")]"));
    let mut facts: Vec<_> = in_code.collect();
    facts.sort();
    facts
}

/// Runs a program that writes another file, and compares the facts of both.
fn keeps_facts(from: &Path, to: &Path, run: impl FnOnce() -> Option<Ran>) {
    let Some(ran) = run() else { return };
    ran.clean();
    let (Some(before), Some(after)) = (entries(from), entries(to)) else { return };
    let before = facts(&before);
    let after = facts(&after);
    assert!(before.len() > 20, "{before:#?}");
    let lost: Vec<_> = before.iter().filter(|fact| !after.contains(fact)).collect();
    assert!(lost.is_empty(), "lost: {lost:#?}\nof: {after:#?}");
}

/// dwarfutil 19 copies references in forms of a fixed size, and drops the attributes of others.
#[test]
fn dwarfutil_keeps_types_of_default_output() {
    for consumer in [Consumer::dwarf5(), Consumer::llvm()] {
        let folder = Folder::new();
        let Some(from) = linked(&folder, &consumer) else { return };
        let to = folder.path().join("rewritten.so");
        keeps_facts(&from, &to, || DWARFUTIL.run(&[&from, &to]));
    }
}

/// dwz 0.15 reads DWARF 5 without `.debug_addr` only.
#[test]
fn dwz_keeps_facts_of_dwarf_4() {
    let folder = Folder::new();
    let Some(from) = linked(&folder, &Consumer::named("dwarf4").expect("a name")) else { return };
    let to = folder.path().join("rewritten.so");
    keeps_facts(&from, &to, || DWZ.run(&["-o".as_ref(), to.as_os_str(), from.as_os_str()]));
}

/// The linker drops a section of code to which nothing refers; its function gets a tombstone address, and the other
/// function keeps all facts.
#[test]
fn linker_garbage_collection_keeps_facts_of_used_functions() -> eitri::Result<()> {
    let mut m = Builder::new(Machine::Cpu.target());
    let rdi = m.target().register_named("rdi").expect("a register");
    let unit = m.unit("a.c");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    for name in ["dead", "used"] {
        let f = m.function(unit, name)?.code(name, 8).returns(int)?.declared(SourceLine::new(file, 3)).id();
        m.variable(f, "n", int)?.declared(SourceLine::new(file, 4)).live(2..6, Loc::register(rdi))?;
        m.row(f, eitri::model::LineTableRow::new(0, file, 3))?;
    }
    let module = m.finish()?;
    let mut code = ObjectCode::default();
    for (index, name) in (1..).zip(["dead", "used"]) {
        let section = CodeSection::new(format!(".text.{name}"), CodeContents::Code, vec![0x90; 8], 16);
        code.sections.push(section);
        code.symbols.push(CodeSymbol {
            name: name.into(),
            place: ElfPlace::Section { index, offset: 0 },
            size: 8,
            kind: CodeSymbolKind::Function,
            binding: SymbolBinding::Global,
            visibility: Visibility::Default,
        });
    }
    for version in 2..=5 {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let sections = lower(&module, &consumer, Policy::Strict)?.sections;
        let folder = Folder::new();
        let from = folder.file("a.o", new_object(module.target(), &code, &sections)?);
        let to = folder.path().join("a");
        let arguments = ["--gc-sections", "-e", "used", "-o"].map(std::ffi::OsStr::new);
        let arguments = [&arguments[..], &[to.as_os_str(), from.as_os_str()]].concat();
        let Some(ran) = LLD.run(&arguments) else { return Ok(()) };
        ran.clean();
        let (Some(entries), Some(symbols)) = (entries(&to), symbols(&to)) else { return Ok(()) };
        let at = entries.iter().position(|entry| entry.name() == Some("used")).expect("the function");
        let start = address(&symbols, "used");
        assert_eq!(entries[at].attribute("low_pc").map(hex), Some(start), "DWARF {version}");
        assert_eq!(entries[at].attribute("high_pc").map(hex), Some(start + 8), "DWARF {version}");
        let n = &entries[at + 1];
        assert_eq!((n.name(), n.attribute("type")), (Some("n"), Some("\"int\"")), "DWARF {version}");
        let places = [(Some(start + 2..start + 6), "DW_OP_reg5 RDI".to_owned())];
        assert_eq!(n.places(), places, "DWARF {version}");
    }
    Ok(())
}
