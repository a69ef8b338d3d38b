//! Debuggers: a running program, stopped at a breakpoint. The same description for a GPU is linked.

pub mod ask;
mod program;
mod questions;

use std::path::PathBuf;

use eitri::consumer::{Consumer, Policy, Tables};
use eitri::emit::elf::{AttachOptions, Compression, attach_with, new_object_with, symbol_named};
use eitri::lower::lower;
use gimli::Format;

use super::common::Folder;
use super::described::Machine;
use super::dump::{entries, hex, symbols};
use super::facts::address;
use super::link::link;
use super::{CC, DWARFDUMP};
use crate::common::with;
use ask::Debugger;
use program::{BYTES, PROGRAM, STOP, code, module};
use questions::{Says, questions};

/// Options for writing the description.
struct Written {
    consumer: Consumer,
    compression: Compression,
}

impl Written {
    fn version(version: u16) -> Self {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        Self { consumer, compression: Compression::None }
    }

    fn dwarf64() -> Self {
        let mut written = Self::version(5);
        written.consumer.format = Format::Dwarf64;
        written
    }

    /// Module with type units.
    fn type_units(version: u16) -> Self {
        let mut written = Self::version(version);
        written.consumer.has_type_units = true;
        written
    }

    fn split() -> Self {
        let mut written = Self::version(5);
        written.consumer.is_split = true;
        written
    }

    /// Module with lookup tables.
    fn tables(version: u16) -> Self {
        let mut written = Self::version(version);
        written.consumer.tables =
            Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
        written
    }
    fn compressed() -> Self {
        Self { compression: Compression::Zlib, ..Self::version(5) }
    }

    /// The linked program; `None` without a compiler.
    fn program(&self, folder: &Folder) -> Option<PathBuf> {
        let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
        folder.file("work.s", PROGRAM);
        CC.run(&["-c", &path("work.s"), "-o", &path("plain.o")])?.clean();
        let plain = std::fs::read(path("plain.o")).expect("what was assembled");
        assert_eq!(symbol_named(&plain, "work").unwrap().size, BYTES, "the pcs are as they stand there");
        let module = module(Machine::Cpu, &self.consumer, &path("")).expect("the module");
        let policy = if self.consumer.version < 4 { Policy::Partial } else { Policy::Strict };
        let written = lower(&module, &self.consumer, policy).expect("sections");
        let files = written.split_files(module.target()).expect("objects");
        for (name, bytes) in &files {
            folder.file(name, bytes);
        }
        assert_eq!(files.iter().map(|&(name, _)| name).eq(["work.c.dwo"]), self.consumer.is_split);
        let has_groups = written.sections.iter().any(|section| section.group.is_some());
        assert_eq!(has_groups, self.consumer.has_type_units);
        let how = with::<AttachOptions>(|options| options.compression = self.compression);
        let object = attach_with(&plain, module.target(), &written.sections, &how).expect("an object");
        folder.file("work.o", object);
        CC.run(&[path("work.o"), "-o".into(), path("program")])?.clean();
        Some(folder.path().join("program"))
    }

    /// Asks all questions, and `more`.
    fn ask(&self, debugger: Debugger, more: &[(&str, Says)]) -> Option<()> {
        let folder = Folder::new();
        let program = self.program(&folder)?;
        let version = self.consumer.version;
        let questions = questions();
        let asked = questions.iter().filter_map(|question| question.of(debugger, version));
        let asked: Vec<(&str, Says)> = asked.chain(more.iter().copied()).collect();
        let words: Vec<&str> = asked.iter().map(|(words, _)| *words).collect();
        // After the prologue, then in the inlined call.
        let (second, first) = match debugger {
            Debugger::Gdb => (format!("tbreak *((char *) work + {STOP})"), "break work"),
            Debugger::Lldb => (format!("breakpoint set -a &work+{STOP}"), "breakpoint set -n work"),
        };
        let output = debugger.ask(&folder, &program, &[first, "run", &second, "continue"], &words)?;
        // A line without other code.
        assert!(output.before.contains("at work.c:11"), "{}", output.ran);
        let wrong: Vec<String> = asked
            .iter()
            .zip(&output.answers)
            .filter(|((_, says), answer)| !says.is(answer, &output.ran.errors))
            .map(|((question, says), answer)| format!("{question}: expected {says:?}, but: {answer}"))
            .collect();
        assert!(wrong.is_empty(), "DWARF {version}:\n{}\n{}", wrong.join("\n"), output.ran);
        let known = |line: &&str| {
            let words = asked.iter().filter_map(|(_, says)| says.complaint());
            HARMLESS.iter().copied().chain(words).any(|words| line.contains(words))
        };
        let complaints =
            output.ran.errors.lines().filter(|line| COMPLAINTS.iter().any(|word| line.contains(word)));
        let unknown: Vec<&str> = complaints.filter(|line| !known(line)).collect();
        assert!(unknown.is_empty(), "DWARF {version}: {unknown:?}\n{}", output.ran);
        Some(())
    }
}

const COMPLAINTS: [&str; 3] = ["error:", "warning:", "During symbol reading"];
const HARMLESS: [&str; 2] = [
    // lldb 19 complains about a variable with a constant value, and shows the value.
    "has an invalid location: DW_OP_implicit_value",
    // gdb complains about a unit with several functions, whose lists contain their own base addresses.
    "Location list used without specifying the CU base address",
];

#[test]
fn gdb_prints_what_was_described() {
    let mut all: Vec<Written> = (2..=5).map(Written::version).collect();
    all.extend([Written::dwarf64(), Written::split(), Written::tables(5), Written::tables(4)]);
    all.extend([Written::type_units(4), Written::type_units(5)]);
    all.push(Written::compressed());
    for written in all {
        if written.ask(Debugger::Gdb, &[]).is_none() {
            return;
        }
    }
}

#[test]
fn lldb_prints_what_was_described() {
    let mut all: Vec<Written> = (3..=5).map(Written::version).collect();
    all.extend([Written::split(), Written::tables(5), Written::tables(4)]);
    all.push(Written::compressed());
    for written in all {
        let has_names = written.consumer.tables.names;
        // gdb's own index, or the written one, which must not contain constants (DWARF 5, 6.1.1.1).
        let (index, ten) = if has_names {
            ("DW_IDX_die_offset", Says::Complaint("can't find global variable 'TEN'"))
        } else {
            ("Manual DWARF index", Says::Value("10"))
        };
        let more = [("image dump symfile program", Says::Words(index)), ("target variable TEN", ten)];
        if written.ask(Debugger::Lldb, &more).is_none() {
            return;
        }
    }
}

/// lldb does not read DWARF64, in any version.
#[test]
fn lldb_does_not_know_64_bits() {
    let folder = Folder::new();
    let Some(program) = Written::dwarf64().program(&folder) else { return };
    let Some(output) = Debugger::Lldb.ask(&folder, &program, &[], &["breakpoint set -n work"]) else {
        return;
    };
    assert!(
        output.answers[0].contains("`work, address") && !output.answers[0].contains("work.c"),
        "{}",
        output.ran
    );
}

/// Some locations of the same module, for a GPU.
const GPU_PLACES: &[(&str, u64, u64, &str)] = &[
    ("n", 0x10, 0x48, "DW_OP_regx SGPR0"),
    ("wide", 0x20, 0x50, "DW_OP_regx SGPR1, DW_OP_piece 0x4, DW_OP_regx SGPR2, DW_OP_piece 0x4"),
    ("f", 0x30, 0x50, "DW_OP_regx SGPR4"),
    ("from_base", 0x28, 0x48, "DW_OP_fbreg -8"),
];

/// Operations that LLVM 19 does not know: implicit pointers of DWARF 5 and GNU, and GNU's typed operations, which a
/// frame address in two registers requires before DWARF 5.
const UNKNOWN: [&str; 3] = ["<decoding error> a0 ", "<decoding error> f2 ", "<decoding error> f5 "];

#[test]
fn the_same_is_linked_for_a_gpu() {
    let mut all: Vec<Written> = (2..=5).map(Written::version).collect();
    all.extend([Written::dwarf64(), Written::tables(5)]);
    all.push(Written::compressed());
    for Written { consumer, compression } in all {
        let version = consumer.version;
        let module = module(Machine::Gpu, &consumer, "/src").expect("the module");
        let policy = if version < 4 { Policy::Partial } else { Policy::Strict };
        let written = lower(&module, &consumer, policy).expect("sections");
        let object = new_object_with(module.target(), &code(Machine::Gpu), &written.sections, compression);
        let folder = Folder::new();
        let object = folder.file("work.o", object.expect("an object"));
        let Some(path) = link(&folder, Machine::Gpu, &[&object]) else { return };
        let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) else { return };
        let unknown: usize = UNKNOWN.iter().map(|operation| ran.out.matches(operation).count()).sum();
        let errors = ran.out.lines().filter(|line| line.starts_with("error:"));
        let (of_operations, others): (Vec<&str>, Vec<&str>) =
            errors.partition(|line| line.contains("DIE contains"));
        let is_known = version < 5 || unknown == 1;
        assert!(
            of_operations.len() == unknown && is_known && ran.errors.is_empty(),
            "DWARF {version}: {ran}"
        );
        let sum = format!("error: Invalid DWARF expressions occurred {unknown} time(s).");
        assert_eq!(others, ["error: Aggregated error counts:", &sum], "DWARF {version}: {ran}");

        let (Some(entries), Some(symbols)) = (entries(&path), symbols(&path)) else { return };
        let named = |tag: &str, name: &str| {
            let mut named = entries.iter().filter(|entry| entry.tag == tag && entry.name() == Some(name));
            named.next().unwrap_or_else(|| panic!("{name}"))
        };
        let start = address(&symbols, "work");
        assert_eq!(named("subprogram", "work").attribute("low_pc").map(hex), Some(start));
        for &(name, from, to, place) in GPU_PLACES {
            let places = named("variable", name).places();
            assert_eq!(
                places,
                [(Some(start + from..start + to), place.to_owned())],
                "DWARF {version}: {name}"
            );
        }
    }
}
