//! Faults of an importer are found by the comparison of facts: each property that an import has is changed in the imported
//! description, one at a time, and what is then written must differ from the object.
//!
//! The description as JSON has each property as a value, so that the changes follow from the values: a number becomes
//! another, a reference another of its kind, an element of a list or a key is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{AttachOptions, Existing, UndefinedSymbols, attach_with};
use eitri::import::{ImportOptions, ImportedDwarf, ImportedExpressions, import};
use eitri::lower::lower;
use eitri::model::Module;
use eitri::read::{Dwarf, Object};
use eitri::target::Target;
use serde_json::Value;

use super::foreign::{PROGRAMS, Program};
use super::{compare, consumer, sections};
use crate::common::cases::{Random, cases};
use crate::common::tools::{Folder, Tool};
use crate::common::with;

/// A value in the description: the indices and keys that lead to it.
type Steps = Vec<Step>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Index(usize),
}

/// How a value is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Another number or text.
    Other,
    /// A key or an element is lost.
    Lost,
    /// An element is exchanged with the next.
    Swapped,
}

const CHANGES: [Change; 3] = [Change::Other, Change::Lost, Change::Swapped];

/// The kind of a value: its keys, with the position in a list of fixed length, such as the column of a row.
fn kind(path: &[Step], root: &Value) -> String {
    let mut text = String::new();
    let mut value = root;
    for (depth, step) in path.iter().enumerate() {
        match step {
            Step::Key(key) => {
                text += "/";
                text += key;
                value = &value[key];
            }
            Step::Index(index) => {
                // The elements of the outer lists are alike; the elements of tuples are not.
                let is_tuple =
                    value.as_array().is_some_and(|all| all.len() < 6 && !all.iter().all(Value::is_array));
                text += &if depth > 2 && is_tuple { format!("[{index}]") } else { "[]".into() };
                value = &value[*index];
            }
        }
    }
    text
}

fn walk(value: &Value, path: &mut Steps, each: &mut impl FnMut(&Steps)) {
    let inner: Vec<(Step, &Value)> = match value {
        Value::Object(keys) => keys.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(all) => {
            all.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect()
        }
        _ => Vec::new(),
    };
    for (step, value) in inner {
        path.push(step);
        each(path);
        walk(value, path, each);
        path.pop();
    }
}

fn at<'v>(root: &'v Value, path: &[Step]) -> &'v Value {
    path.iter().fold(root, |value, step| match step {
        Step::Key(key) => &value[key],
        Step::Index(index) => &value[*index],
    })
}

fn at_mut<'v>(root: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(root, |value, step| match step {
        Step::Key(key) => &mut value[key],
        Step::Index(index) => &mut value[*index],
    })
}

/// Returns the changed descriptions to try, in order: the first that is a description counts.
fn changed(root: &Value, path: &[Step], change: Change, alike: &[&Value]) -> Vec<Value> {
    let with = |new: Value| {
        let mut all = root.clone();
        *at_mut(&mut all, path) = new;
        all
    };
    let (last, around) = path.split_last().expect("a value in the description");
    match (change, at(root, path)) {
        (Change::Other, Value::Number(number)) => {
            let number = number.as_i64().unwrap_or(i64::MAX - 8);
            [1, -1, 2, 4, 8, 256].map(|by| with((number + by).into())).into()
        }
        (Change::Other, old @ Value::String(text)) => {
            let others = alike.iter().filter(|other| **other != old && other.is_string()).take(4);
            let mut all: Vec<Value> = others.map(|other| with((*other).clone())).collect();
            // A name, with the references to it; a constant's bytes.
            all.push(renamed(root, text, &format!("{text}_")));
            all.push(with(format!("00 {text}").into()));
            all
        }
        (Change::Lost, _) => {
            let mut all = root.clone();
            match (at_mut(&mut all, around), last) {
                (Value::Object(keys), Step::Key(key)) => drop(keys.remove(key)),
                (Value::Array(elements), Step::Index(index)) => drop(elements.remove(*index)),
                _ => return Vec::new(),
            }
            vec![all]
        }
        (Change::Swapped, _) => {
            let mut all = root.clone();
            match (at_mut(&mut all, around), last) {
                (Value::Array(elements), Step::Index(index)) if index + 1 < elements.len() => {
                    elements.swap(*index, index + 1);
                }
                _ => return Vec::new(),
            }
            vec![all]
        }
        _ => Vec::new(),
    }
}

fn renamed(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) if text == from => to.into(),
        Value::Array(all) => all.iter().map(|value| renamed(value, from, to)).collect(),
        Value::Object(keys) => {
            keys.iter().map(|(key, value)| (key.clone(), renamed(value, from, to))).collect()
        }
        other => other.clone(),
    }
}

/// An object with its import.
struct Case<'o> {
    name: String,
    bytes: &'o [u8],
    imported: ImportedDwarf,
    consumer: Consumer,
    target: Target,
}

impl Case<'_> {
    fn written(&self, module: &Module) -> Option<(Vec<u8>, usize)> {
        let written = lower(module, &self.consumer, Policy::Partial).ok()?;
        let how = with::<AttachOptions>(|options| {
            options.existing = Existing::Replace;
            options.undefined = UndefinedSymbols::Allow;
        });
        let new = attach_with(self.bytes, &self.target, &written.sections, &how).ok()?;
        Some((new, written.omissions.len()))
    }

    fn differences(&self, new: &[u8]) -> Vec<String> {
        let [before, after] = [self.bytes, new].map(|bytes| Object::read(bytes).expect("it is read"));
        let [before, after] = [&before, &after].map(|object| Dwarf::read(object).expect("it is read"));
        let mut all = compare::differences(&before, &after, &self.imported.unimported);
        all.extend(sections::differences(&before, &after, &self.imported.unimported));
        all
    }
}

/// What happened to the changes of a kind.
#[derive(Default)]
struct Outcome {
    found: usize,
    unfound: Vec<String>,
}

/// Changes that are no fault, with the reason.
const NO_FAULTS: [(&str, Change, &str); 4] = [
    ("/describe[]", Change::Swapped, "entities in another order"),
    ("/describe[]/describe_function/returns", Change::Lost, "a definition has the type of its declaration"),
    (
        "/describe[]/describe_function/object_pointer",
        Change::Lost,
        "an instance has the object pointer of its function",
    ),
    (
        "/describe[]/block/pcs[]",
        Change::Swapped,
        "which range is first is a fact of blocks with an entry pc only",
    ),
];

fn sabotage(case: &Case<'_>, most: usize, outcomes: &mut BTreeMap<(String, Change), Outcome>) {
    let module = &case.imported.module;
    let (unchanged, omissions) = case.written(module).expect("the import is written");
    assert_eq!(case.differences(&unchanged), Vec::<String>::new(), "{}", case.name);
    let root: Value = serde_json::from_str(&module.to_json()).expect("JSON");
    let mut kinds: BTreeMap<String, Vec<Steps>> = BTreeMap::new();
    let describe = vec![Step::Key("describe".into())];
    walk(at(&root, &describe), &mut describe.clone(), &mut |path| {
        kinds.entry(kind(path, &root)).or_default().push(path.clone());
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (kind, paths) in kinds {
        let alike: Vec<&Value> = paths.iter().map(|path| at(&root, path)).collect();
        for change in CHANGES {
            let mut tried = 0;
            // Many changes are refused, because they contradict other values.
            for _ in 0..4 * most {
                if tried == most {
                    break;
                }
                let path = &paths[random.below(paths.len())];
                let all = changed(&root, path, change, &alike).into_iter();
                let mut modules = all.filter_map(|value| Module::from_json(value.to_string()).ok());
                let Some(wrong) = modules.find(|wrong| wrong != module) else { continue };
                let Some((new, more)) = case.written(&wrong) else { continue };
                tried += 1;
                let outcome = outcomes.entry((kind.clone(), change)).or_default();
                if more != omissions || new != unchanged && !case.differences(&new).is_empty() {
                    outcome.found += 1;
                } else {
                    let same = if new == unchanged { " (the same bytes)" } else { "" };
                    outcome.unfound.push(format!("{}: {path:?}{same}", case.name));
                }
            }
        }
    }
}

const GCC: Tool = Tool::new("gcc", "gcc");
const RUSTC: Tool = Tool::new("rustc", "rustc");

const C: &str = r#"
#define TWICE(x) ((x) * 2)
extern void fail(const char *, int) __attribute__((cold, noreturn));
extern int rare(int) __attribute__((cold));
extern int use(int);
struct S { int a; unsigned b : 3, c : 5; struct S *next; char name[8]; union { float f; int i; }; };
enum E { A, B = -3, C };
typedef struct S S_t;
typedef int (*fp_t)(int, float);
static const volatile int k = 3;
fp_t fp;
static inline int twice(int x) { int t = TWICE(x); return rare(t) + t; }
int f(S_t *s, enum E e, int b) {
    int sum = s->a + b + e;
    for (int i = 0; i < b; i++) {
        if (__builtin_expect(use(i) == 3, 0)) {
            int q = rare(sum) + b;
            if (q > 7) fail("f", q);
            sum += twice(q);
        }
        sum += twice(i);
    }
    return sum + use(sum) + k;
}
int g(int (*callback)(int), int x) { return callback(x + 3) + x; }
"#;

const RUST: &str = r#"
#![no_std]
#![crate_type = "lib"]
pub enum Shape { Circle(f64), Rect { w: u32, h: u32 }, Unit, Opt(Option<&'static u8>) }
pub trait Area { fn area(&self) -> f64; }
impl Area for Shape {
    fn area(&self) -> f64 {
        match self { Shape::Circle(r) => 3.0 * r * r, Shape::Rect { w, h } => (*w * *h) as f64, _ => 0.0 }
    }
}
#[no_mangle]
pub fn general(t: &Shape, n: i128) -> (f64, i128) { let c = |x: f64| x * t.area(); (c(2.0), n) }
"#;

#[rustfmt::skip]
const SABOTAGED: [Program; 3] = [
    Program { name: "s.c", source: C, compiler: GCC, arguments: &["-g3", "-O2", "-fno-asynchronous-unwind-tables", "-c"] },
    Program { name: "s.c", source: C, compiler: GCC, arguments: &["-g", "-O1", "-gdwarf-4", "-c"] },
    Program { name: "s.rs", source: RUST, compiler: RUSTC, arguments: &["-g", "-C", "opt-level=0", "--emit=obj"] },
];

#[test]
fn each_fault_of_an_import_is_a_difference() {
    let most = cases(1);
    let mut objects: Vec<(String, Vec<u8>, Option<&str>)> = Vec::new();
    for program in SABOTAGED.iter().chain(&PROGRAMS[6..7]) {
        objects.extend(program.compiled(&Folder::new()).map(|bytes| (program.to_string(), bytes, None)));
    }
    for (name, target) in [
        ("amd/k06_calls.gfx942.O0.hsaco", Some("amdgpu-gfx942-wave64")),
        ("llvm22/k01_saxpy.gfx1030.O2.hsaco", None),
    ] {
        let file = Path::new(crate::common::ROOT).join("tests/objects").join(name);
        objects.push((name.into(), std::fs::read(file).expect("an object"), target));
    }
    let mut outcomes = BTreeMap::new();
    for (name, bytes, target) in &objects {
        let options = with::<ImportOptions<'_>>(|options| {
            options.expressions = ImportedExpressions::Raw;
            options.target = target.and_then(|target| Target::named(target).ok());
        });
        let imported = import(bytes, &options).expect("the object is imported");
        let object = Object::read(bytes).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        let target = imported.module.target().clone();
        let consumer = consumer(&dwarf, target.lanes() > 1);
        sabotage(&Case { name: name.clone(), bytes, imported, consumer, target }, most, &mut outcomes);
    }
    let is_no_fault = |kind: &str, change: Change| NO_FAULTS.iter().any(|no| no.0 == kind && no.1 == change);
    let mut text = String::new();
    let mut found = 0;
    for ((kind, change), outcome) in &outcomes {
        found += outcome.found;
        if !outcome.unfound.is_empty() && !is_no_fault(kind, *change) {
            let Outcome { found, unfound } = outcome;
            writeln!(text, "{kind} {change:?}: {found} found, not {unfound:?}").expect("a string");
        }
    }
    let kinds: BTreeSet<&String> = outcomes.keys().map(|(kind, _)| kind).collect();
    println!("{} kinds of values, {found} changes are found", kinds.len());
    assert!(kinds.len() > 150, "{} kinds of values", kinds.len());
    assert!(text.is_empty(), "{found} found\n{text}");
}
