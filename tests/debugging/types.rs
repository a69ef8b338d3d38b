//! Types of variables: names, sizes and members, also where a type unit or another unit defines them.

use std::collections::BTreeMap;

use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Entry, Object};

use super::{CC, CLANG, CLANGXX, CXX, compile, gdb};
use crate::common::tools::{Folder, Tool};

const C: &str = r"
struct point { int x, y; };
struct box { struct point low, high; const char *name; short tab[4]; struct box *next; };
union bits { float f; unsigned u; };
enum color { RED, GREEN = 5 };
typedef unsigned long word;
struct hidden;
extern struct hidden *opaque(void);
struct point origin = {1, 2};
struct box boxes[2][3];
union bits bits;
enum color color = GREEN;
word count;
struct { int a; char b[3]; } unnamed;
const char *const label = 0;
const volatile int flag = 1;
int *pointers[3];
int (*rows)[4];
int (*compare)(const void *, struct point, double);
struct box *(*table[2])(enum color, ...);
void (*nothing)(void);
void *anything;
int *restrict *quick;
const struct point *const *chain;
struct hidden *pointer;
int main(void) { pointer = opaque(); return boxes[0][0].tab[1] + origin.x; }
";

const OTHER: &str = r"
struct hidden { long first; char second; };
struct hidden value;
struct hidden *opaque(void) { return &value; }
";

const CPP: &str = r"
namespace geo {
template <class T> struct Vec { T x, y; };
class Base { public: virtual ~Base() {} int id = 3; virtual int f(int k) { return k; } };
struct Shape : Base { Vec<float> v; enum class Mode { On, Off } mode; int f(int k) override; };
int Shape::f(int k) { return k + (int)v.x; }
namespace { struct Local { int a; }; }
Local local;
}
enum Plain { One };
geo::Shape shape;
geo::Shape &reference = shape;
geo::Vec<int> (*make)(const geo::Base &, int &&);
int geo::Base::*member = &geo::Base::id;
geo::Shape::Mode mode;
Plain plain;
const geo::Base *const bases[2] = {};
geo::Local *inside = &geo::local;
int main(int count, char **) { return reference.f(2) + inside->a + (bases[count] != nullptr); }
";

/// Prints each variable with its type's name and size, and the names of the members.
const SCRIPT: &str = r#"
import gdb
for name in NAMES.split():
    t = gdb.parse_and_eval(name).type
    plain = t.strip_typedefs().unqualified()
    members = []
    if plain.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        members = [f.name for f in plain.fields() if not f.is_base_class and not f.name.startswith("_vptr")]
    print("|".join([name, str(t), str(t.sizeof), ",".join(members)]))
"#;

/// Names of the variables outside functions.
fn variables<'r, 'o>(dwarf: &'r Dwarf<'o>) -> BTreeMap<String, Entry<'r, 'o>> {
    let is_outside = |entry: &Entry<'_, '_>| {
        entry.tag() == dw::DW_TAG_variable
            && entry.has_inherited(dw::DW_AT_location)
            && entry.parent().is_some_and(|parent| parent.tag() != dw::DW_TAG_subprogram)
    };
    let variables = dwarf.entries().filter(is_outside);
    variables.filter_map(|entry| Some((entry.qualified_name()?, entry))).collect()
}

/// Compares with gdb; returns the number of variables.
fn compare(compiler: Tool, sources: &[(&str, &str)], options: &[&str]) -> Option<usize> {
    let folder = Folder::new();
    for (name, text) in sources {
        folder.file(name, text);
    }
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    let program = compile(compiler, &folder, &names, options)?;
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let variables = variables(&dwarf);
    let asked: Vec<&str> = variables.keys().map(String::as_str).collect();
    // gdb has no name for what is in an unnamed namespace.
    let asked = asked.join(" ").replace("(anonymous namespace)::", "");
    let answers = gdb(&program, &SCRIPT.replace("NAMES", &format!("{asked:?}")))?;
    let what = format!("{} {options:?}", compiler.name);
    let mut count = 0;
    for line in answers.lines() {
        let [name, type_name, bytes, members] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{what}: {answers}")
        };
        let entry = variables.get(name).unwrap_or_else(|| panic!("{what}: {name}"));
        let ty = entry.ty().expect("a type");
        assert_eq!(ty.type_name(), type_name, "{what}: {name}");
        assert_eq!(
            ty.size_bits().map(|bits| (bits / 8).to_string()).as_deref(),
            Some(bytes),
            "{what}: {name}"
        );
        let ty = ty.unqualified().expect("a type");
        let found = ty.children().filter(|child| child.tag() == dw::DW_TAG_member);
        let found: Vec<_> = found.filter_map(|member| Some(member.name()?.into_owned())).collect();
        let found: Vec<_> =
            found.iter().filter(|name| !name.starts_with("_vptr")).map(|name| &**name).collect();
        assert_eq!(found.join(","), members, "{what}: {name}");
        count += 1;
    }
    assert_eq!(count, variables.len(), "{what}: {answers}");
    Some(count)
}

const OPTIONS: [&[&str]; 4] = [
    &["-gdwarf-5"],
    &["-gdwarf-4"],
    &["-gdwarf-5", "-fdebug-types-section"],
    &["-gdwarf-4", "-fdebug-types-section"],
];

#[test]
fn types_in_c_are_those_of_gdb() {
    for compiler in [CC, CLANG] {
        for options in OPTIONS {
            let Some(count) = compare(compiler, &[("a.c", C), ("b.c", OTHER)], options) else { return };
            assert_eq!(count, 18);
        }
    }
}

#[test]
fn types_in_cpp_are_those_of_gdb() {
    for compiler in [CXX, CLANGXX] {
        for options in OPTIONS {
            let Some(count) = compare(compiler, &[("a.cc", CPP)], options) else { return };
            assert_eq!(count, 9);
        }
    }
}

/// The members of the type that a pointer's unit only declares.
fn pointed_to(options: &[&str], other: &[(&str, &str)]) -> Option<Option<Vec<String>>> {
    let folder = Folder::new();
    folder.file("a.c", C);
    let mut names = vec!["a.c"];
    for (name, text) in other {
        folder.file(name, text);
        names.push(name);
    }
    let program = compile(CC, &folder, &names, options)?;
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pointer = variables(&dwarf)["pointer"];
    let declared = pointer.ty().and_then(Entry::unqualified).and_then(Entry::ty).expect("a declaration");
    assert_eq!((declared.name().as_deref(), declared.size_bits()), (Some("hidden"), None));
    let definition = declared.definition();
    let members = |ty: Entry<'_, '_>| {
        ty.children().filter_map(|member| Some(member.name()?.into_owned())).collect::<Vec<_>>()
    };
    // A definition defines itself.
    assert_eq!(definition.map(|ty| ty.definition() == Some(ty)), definition.map(|_| true));
    Some(definition.map(members))
}

#[test]
fn declaration_is_completed_by_the_unit_with_the_type() {
    let members = Some(vec!["first".to_owned(), "second".to_owned()]);
    for options in OPTIONS {
        let Some(found) = pointed_to(options, &[("b.c", OTHER)]) else { return };
        assert_eq!(found, members, "{options:?}");
        // The same type in a second unit.
        let same = "struct hidden { long first; char second; }; struct hidden more;";
        assert_eq!(pointed_to(options, &[("b.c", OTHER), ("c.c", same)]), Some(members.clone()));
    }
}

#[test]
fn declaration_with_different_definitions_has_none() {
    // C 6.2.7 allows it: the types of different units are different types.
    let different = "struct hidden { char first; long second; }; struct hidden more;";
    let Some(found) = pointed_to(&[], &[("b.c", OTHER), ("c.c", different)]) else { return };
    assert_eq!(found, None);
    // A unit without the type.
    let opaque = "void *opaque(void) { return 0; }";
    assert_eq!(pointed_to(&[], &[("b.c", opaque)]), Some(None));
}

#[test]
fn qualified_names_are_those_of_the_source() {
    let folder = Folder::new();
    folder.file("a.cc", CPP);
    let Some(program) = compile(CXX, &folder, &["a.cc"], &[]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let functions = dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    let with_code = functions.filter(|entry| entry.low_pc().is_some());
    let mut names: Vec<_> = with_code.filter_map(Entry::qualified_name).collect();
    names.sort();
    names.dedup();
    // Of the source; constructors and destructors are generated by the compiler.
    let expected = [
        "geo::Base::Base",
        "geo::Base::f",
        "geo::Base::~Base",
        "geo::Shape::Shape",
        "geo::Shape::f",
        "geo::Shape::~Shape",
        "main",
    ];
    let names: Vec<_> = names
        .iter()
        .map(String::as_str)
        .filter(|name| expected.contains(name) || !name.starts_with('_'))
        .collect();
    assert_eq!(names, expected);
    let local = dwarf.entries().find(|entry| entry.name().as_deref() == Some("Local"));
    let local = local.and_then(Entry::qualified_name);
    assert_eq!(local.as_deref(), Some("geo::(anonymous namespace)::Local"));
    let on = dwarf.entries().find(|entry| entry.name().as_deref() == Some("On"));
    assert_eq!(on.and_then(Entry::qualified_name).as_deref(), Some("geo::Shape::Mode::On"));
    let one = dwarf.entries().find(|entry| entry.name().as_deref() == Some("One"));
    assert_eq!(one.and_then(Entry::qualified_name).as_deref(), Some("One"));
}
