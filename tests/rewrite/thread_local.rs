//! Thread-local variables of relocatable objects: their offsets have relocations of a kind of their own.

use eitri::build::Builder;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Val};
use eitri::output::{OutputOptions, new_output};
use eitri::target::Target;

use super::debugged::is_run;
use super::kept::{compiled, gdb};
use super::rewritten;
use crate::common::tools::{Folder, Tool};

const PROGRAM: &str = "
static __thread long with_value = -7;
__thread int zero;
extern __thread int other_thread;
int global = 3;
static int here(void) {
  static __thread int counter = 40;
  return ++counter;
}
int main(void) {
  zero = 5;
  with_value += here() + other_thread;
  return with_value + zero + global == 57 ? 0 : 1;
}
";

/// The second variable of its section.
const OTHER: &str = "__thread int before = 1; __thread int other_thread = 9;";

/// Two objects are rewritten, then linked. `.tdata` and `.tbss` begin at offset 0 in a relocatable object both.
#[test]
fn thread_local_variables_of_relocatable_objects_keep_locations() {
    let compilers = [
        (Tool::new("gcc", "gcc"), "-gdwarf-2"),
        (Tool::new("gcc", "gcc"), "-gdwarf-5"),
        (Tool::new("clang-19", "clang-19"), "-gdwarf-4"),
        (Tool::new("clang-19", "clang-19"), "-gdwarf-5"),
    ];
    for (compiler, version) in compilers {
        let folder = Folder::new();
        for (name, text) in [("a", PROGRAM), ("b", OTHER)] {
            let source = format!("{name}.c");
            let Some(bytes) = compiled(&folder, compiler, (&source, text), &["-c", version]) else { return };
            let after = rewritten(&bytes, |_| {}).expect("it is rewritten");
            let lost: Vec<_> = after.unimported.iter().map(ToString::to_string).collect();
            assert!(lost.is_empty() && after.omissions.is_empty(), "{version}: {lost:#?}");
            let again = rewritten(&after.object, |_| {}).expect("it is rewritten again");
            assert!(again.object == after.object, "{version}: a second rewrite changes bytes");
            std::fs::copy(folder.path().join("before"), folder.path().join(format!("{name}.o")))
                .expect("a copy");
            folder.file(&format!("{name}1.o"), &after.object);
        }
        let commands = [
            "break main",
            "run",
            "next",
            "next",
            "print with_value",
            "print zero",
            "print other_thread",
            "print &other_thread == &before + 1",
            "print global",
            "print here::counter",
        ];
        let mut shown = Vec::new();
        for objects in [["a.o", "b.o"], ["a1.o", "b1.o"]] {
            let linked =
                Tool::new("gcc", "gcc").run_in(folder.path(), &[&objects[..], &["-o", "program"]].concat());
            let Some(linked) = linked else { return };
            assert!(linked.succeeded, "{linked}");
            let Some(text) = gdb(&folder, "./program", &commands) else { return };
            shown.push(text);
        }
        pretty_assertions::assert_eq!(shown[0], shown[1], "{version}");
        if is_run(&shown[0]) {
            let values = ["$1 = 43", "$2 = 5", "$3 = 9", "$4 = 1", "$5 = 3", "$6 = 41"];
            assert!(values.iter().all(|value| shown[0].contains(value)), "{version}: {}", shown[0]);
        }
    }
}

/// `ld.lld` refuses `R_AARCH64_TLS_DTPREL64` in an object, and AMD's GPUs have no such relocation.
#[test]
fn thread_local_symbol_without_a_relocation_is_omitted() -> eitri::Result<()> {
    let has_relocation = [
        ("x86_64", true),
        ("s390x", true),
        ("riscv64", true),
        ("aarch64", false),
        ("amdgpu-gfx1030-wave32", false),
    ];
    for (name, has_relocation) in has_relocation {
        let mut m = Builder::new(Target::named(name)?);
        let unit = m.unit("a.c");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let counter = m.symbol("counter");
        m.variable(unit, "counter", int)?.always(Loc::thread_local(Val::address(counter, 0)))?;
        let module = m.finish()?;
        let omissions = lower(&module, &Consumer::dwarf5(), Policy::Partial)?.omissions;
        let omissions: Vec<_> = omissions.iter().map(ToString::to_string).collect();
        let expected =
            "unit `a.c`, variable `counter`: DWARF 5 cannot express a symbol in thread-local storage";
        let is_listed = omissions.iter().any(|omission| omission == expected);
        assert_eq!(is_listed, !has_relocation, "{name}: {omissions:#?}");
    }
    Ok(())
}

/// An object without code links with the object that has the variable, as gcc's own does.
#[test]
fn thread_local_symbols_of_an_object_without_code_are_linked() -> eitri::Result<()> {
    for version in [4, 5] {
        let folder = Folder::new();
        folder.file("t.c", "__thread int counter = 7; int main(void) { return counter != 7; }");
        let mut m = Builder::new(Target::named("x86_64")?);
        let unit = m.unit("described.c");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let counter = m.symbol("counter");
        m.variable(unit, "described", int)?.external().always(Loc::thread_local(Val::address(counter, 0)))?;
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let output = new_output(&m.finish()?, &consumer, None, &OutputOptions::default())?;
        assert!(output.omissions.is_empty(), "{:?}", output.omissions);
        folder.file("described.o", &output.bytes);
        let gcc = Tool::new("gcc", "gcc");
        let Some(ran) = gcc.run_in(folder.path(), &["t.c", "described.o", "-o", "program"]) else {
            return Ok(());
        };
        assert!(ran.succeeded, "{ran}");
        let commands = ["break main", "run", "print described"];
        let Some(text) = gdb(&folder, "./program", &commands) else { return Ok(()) };
        assert!(!is_run(&text) || text.contains("$1 = 7"), "{version}: {text}");
    }
    Ok(())
}
