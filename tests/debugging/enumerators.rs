//! Values of enumerations are numbers, with the names that gdb prints.

use eitri::eval::{Context, DebugInfo, Evaluator, Snapshot, TypeEncoding};
use eitri::read::{Dwarf, Object};
use eitri::target::{SpaceId, Target};

use super::{CC, CXX, GDB, compile};
use crate::common::tools::Folder;

const C: &str = r"
enum color { RED = 1, GREEN = 7, ALSO_GREEN = 7, BLUE = 200 };
enum level { LOW = -3, NONE = 0, HIGH = 5 };
typedef const enum color shade;
enum color a = GREEN;
enum level b = LOW;
shade c = BLUE;
enum color d = (enum color)3;
int main(void) { return a + b + c + d; }
";

const CPP: &str = r"
enum class small : unsigned char { One = 1, Last = 255 };
enum class wide : long long { Low = -5000000000, High = 5000000000 };
small a = small::Last;
wide b = wide::Low;
int main() { return (int)a + (int)b; }
";

/// The variables of a program by gdb, without the enumeration's name: a program that does not run has its initial values.
fn gdb(folder: &Folder, names: &[&str]) -> Option<Vec<String>> {
    let prints: Vec<String> = names.iter().map(|name| format!("print {name}")).collect();
    let mut arguments = vec!["-batch", "-nx"];
    arguments.extend(prints.iter().flat_map(|print| ["-ex", print]));
    arguments.push("program");
    let ran = GDB.run_in(folder.path(), &arguments)?;
    let value = |line: &str| Some(line.split_once(" = ")?.1.rsplit("::").next()?.to_owned());
    Some(ran.out.lines().filter_map(value).collect())
}

/// The variables by their type and the bytes in the program's data: the number, and the enumerator.
fn values(program: &[u8], names: &[&str]) -> Vec<(String, Option<String>)> {
    let object = Object::read(program).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let (info, target) = (DebugInfo::new(&dwarf), Target::x86_64());
    let mut machine = Snapshot::default();
    for section in object.sections().iter().filter(|section| section.is_loaded()) {
        machine.store(SpaceId::DEFAULT, None, section.address, &section.data);
    }
    let value = |name: &&str| {
        let entry = dwarf.variable_named(name, None).expect("the variable").entry;
        let ty = info.variable_type(entry.offset()).expect("numbers");
        let location = info.variable_location(entry, &machine, &target).expect("a location");
        let context = Context::in_unit(entry.unit(), &target);
        let read = Evaluator::new().read(&location, ty, &machine, &context).expect("a number");
        let number = match ty.encoding {
            TypeEncoding::Signed => read.as_i128().expect("a number"),
            _ => read.as_u64().expect("a number").into(),
        };
        let enumerator = entry.ty().expect("a type").enumerator(number as u64);
        (number.to_string(), enumerator.and_then(|one| Some(one.name()?.into_owned())))
    };
    names.iter().map(value).collect()
}

#[test]
fn enumerators_are_those_of_gdb() {
    let named = |number: &str, name: Option<&str>| (number.to_owned(), name.map(str::to_owned));
    let cases = [
        (
            CC,
            "a.c",
            C,
            &["a", "b", "c", "d"][..],
            vec![
                named("7", Some("GREEN")),
                named("-3", Some("LOW")),
                named("200", Some("BLUE")),
                named("3", None),
            ],
        ),
        (CXX, "a.cc", CPP, &["a", "b"], vec![named("255", Some("Last")), named("-5000000000", Some("Low"))]),
    ];
    for (compiler, file, source, names, expected) in cases {
        for version in ["-gdwarf-2", "-gdwarf-5"] {
            let folder = Folder::new();
            folder.file(file, source);
            let options = [version, "-gstrict-dwarf", "-no-pie"];
            let Some(program) = compile(compiler, &folder, &[file], &options) else { return };
            let found = values(&std::fs::read(program).expect("the program"), names);
            assert_eq!(found, expected, "{file} {version}");
            let Some(by_gdb) = gdb(&folder, names) else { return };
            for ((_, name), gdb) in found.iter().zip(by_gdb) {
                assert!(name.as_ref().is_none_or(|name| *name == gdb), "{name:?}, {gdb}");
            }
        }
    }
}
