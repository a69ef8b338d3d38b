//! Descriptions of several objects as one description.

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::import::{ImportOptions, import};
use eitri::lower::lower;
use eitri::model::{BaseEncoding, Module, SourceLine};
use eitri::target::Target;

use crate::agreement::choices::Choices;
use crate::agreement::{modules, targets};
use crate::common::cases::cases;
use crate::common::random::fixed_choices;
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const LD: Tool = Tool::new("ld", "binutils");

const FIRST: &str = r"
struct S { int a; struct S *next; };
enum E { A, B = 4 };
extern int use(struct S *);
static inline int twice(int x) { int t = x * 2; return t; }
int first(struct S *s, enum E e) { int r = twice(s->a) + e; { int q = use(s) + r; return q * 3; } }
";
const SECOND: &str = r"
typedef unsigned long size;
extern int use(const char *);
size second(const char *text, size n) { size i = 0; for (; i < n; i++) if (use(text + i)) break; return i; }
";

/// The linker puts two objects together, and the import of its object is the imports of the objects together.
#[test]
fn imports_together_are_the_import_of_the_linked_object() {
    let folder = Folder::new();
    folder.file("a.c", FIRST);
    folder.file("b.c", SECOND);
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let imported = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).expect("an object");
            import(&bytes, &ImportOptions::default()).expect("the object is imported").module
        };
        for (source, object) in [("a.c", "a.o"), ("b.c", "b.o")] {
            let arguments =
                ["-g", version, "-O2", "-fno-asynchronous-unwind-tables", "-c", "-o", object, source];
            let Some(ran) = GCC.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
        }
        let Some(ran) = LD.run_in(folder.path(), &["-r", "-o", "ab.o", "a.o", "b.o"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let mut together = imported("a.o");
        let second = imported("b.o");
        let types = together.types().count() + second.types().count();
        together.append(&second).expect("one target");
        assert_eq!(together.types().count(), types);
        assert!(together == imported("ab.o"), "{version}");
        let again = Module::from_json(together.to_json()).expect("the description is read");
        assert!(again == together, "{version}");
    }
}

/// The sections of two descriptions together have the entries of both, and a file with them is the same description.
#[test]
fn random_descriptions_together_are_written_and_read() {
    for seed in 0..cases(40) as u64 {
        let numbers = fixed_choices(seed, 600);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let [one, other] = [(); 2].map(|()| modules::module(&mut choices, target.clone()).module);
        let empty = Builder::new(one.target().clone()).finish().expect("a module");
        let mut alone = one.clone();
        alone.append(&empty).expect("one target");
        assert!(alone == one, "{seed}");
        let mut alone = empty;
        alone.append(&other).expect("one target");
        assert!(alone == other, "{seed}");
        let mut together = one.clone();
        together.append(&other).expect("one target");
        let counts = |module: &Module| {
            [
                module.units().count(),
                module.types().count(),
                module.variables().count(),
                module.calls().count(),
            ]
        };
        let sums = core::array::from_fn(|index| counts(&one)[index] + counts(&other)[index]);
        assert_eq!(counts(&together), sums, "{seed}");
        let again = Module::from_json(together.to_json()).expect("the description is read");
        pretty_assertions::assert_eq!(again.to_json(), together.to_json(), "{seed}");
        assert!(again == together, "{seed}");
        // Each unit has the entries that it has alone: only references to strings and other sections differ.
        let consumer = Consumer::dwarf5();
        let size = |module: &Module| {
            let written = lower(module, &consumer, Policy::Partial).expect("sections");
            let info = written.sections.iter().find(|section| section.name == ".debug_info");
            (info.map_or(0, |section| section.bytes.len()), written.omissions.len())
        };
        let [one, other, together] = [size(&one), size(&other), size(&together)];
        assert_eq!(together.1, one.1 + other.1, "{seed}");
        // Offsets of type units and lists can take more bytes.
        assert!(
            together.0.abs_diff(one.0 + other.0) <= together.0 / 8,
            "{seed}: {one:?} {other:?} {together:?}"
        );
    }
}

#[test]
fn descriptions_of_two_targets_are_refused() {
    let mut one = Builder::new(Target::x86_64()).finish().expect("a module");
    let gpu = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut m = Builder::new(gpu);
    m.unit("k.cl");
    let error = one.append(&m.finish().expect("a module")).expect_err("another target").to_string();
    assert!(error.contains("`amdgpu-gfx1030-wave32`") && error.contains("`x86_64`"), "{error}");
    assert_eq!(one.units().count(), 0);
}

/// Units, functions and files of one name keep their names, and references in the file have ids: what one unit has does not
/// go to the other.
#[test]
fn units_of_one_name_are_told_apart_in_the_file() {
    let module = |bits: u64, variable: &str| {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        let file = m.file(unit, "a.h", None).expect("a file");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, bits).expect("a type");
        let f = m.function(unit, "f").expect("a function").code("f", 16).returns(int).expect("a type").id();
        let line = SourceLine::new(file, 3);
        m.variable(f, variable, int).expect("a variable").declared(line);
        m.finish().expect("a module")
    };
    let mut together = module(32, "first");
    together.append(&module(64, "second")).expect("one target");
    let text = together.to_json();
    let again = Module::from_json(&text).expect("the description is read");
    assert!(again == together, "{text}");
    let sizes: Vec<_> = again
        .variables()
        .map(|(id, variable)| {
            let unit = again.scope(variable.scope).unit;
            let name = variable.name.map(|name| again.string(name).to_owned());
            (name.expect("a name"), unit, again.ty(again.variable(id).ty).bits())
        })
        .collect();
    let [(first, one, left), (second, other, right)] = &sizes[..] else { panic!("{sizes:?}") };
    assert!(one != other && again.string(again.unit(*one).name) == again.string(again.unit(*other).name));
    assert_eq!((&**first, left, &**second, right), ("first", &Some(32), "second", &Some(64)), "{text}");
    // Each reference to a unit is an id.
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let statements = all["describe"].as_array().expect("statements");
    let units: Vec<_> = statements.iter().filter_map(|one| one["unit"]["id"].as_str()).collect();
    assert_eq!(units, ["unit#0", "unit#1"], "{text}");
    assert!(!text.contains("\"in\":\"a.c\""), "{text}");
}
