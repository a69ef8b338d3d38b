//! Objects with type units: what several type units have is imported once for each unit.

use std::path::Path;

use super::units::{CPP, c_files};
use super::{loaded, rewritten};
use crate::common::tools::{Folder, Tool};

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const GDB: Tool = Tool::new("gdb", "gdb");

/// Names and contents of files.
type Files = &'static [(&'static str, &'static str)];

/// Compilers with the files and the objects that are linked.
fn programs() -> Vec<(Tool, Files, Vec<&'static str>)> {
    let c: &'static [(&str, &str)] = Box::leak(c_files().into_boxed_slice());
    [("gcc", "gcc", c), ("clang-19", "clang-19", c), ("g++", "g++", &CPP), ("clang++-19", "clang-19", &CPP)]
        .into_iter()
        .map(|(name, package, files)| {
            let sources = files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".h"));
            (Tool::new(name, package), files, sources.collect())
        })
        .collect()
}

/// What gdb prints of the types of the C program.
fn types(folder: &Path, program: &str) -> Option<String> {
    let names = ["struct node", "node_t", "struct outer", "enum color", "struct even", "struct odd"];
    let commands = names.iter().flat_map(|name| ["-ex".to_owned(), format!("ptype/o {name}")]);
    let start = ["-nx", "-batch"].map(String::from);
    let arguments: Vec<String> = start.into_iter().chain(commands).chain([program.to_owned()]).collect();
    let ran = GDB.run_in(folder, &arguments)?;
    Some(ran.out + &ran.errors)
}

/// A second rewrite changes nothing, the first makes nothing larger, and gdb prints equal types of C.
#[test]
fn types_of_type_units_are_not_repeated() {
    for (compiler, files, sources) in programs() {
        for (version, level) in
            ["-gdwarf-4", "-gdwarf-5"].into_iter().flat_map(|it| [(it, "-O0"), (it, "-O2")])
        {
            let folder = Folder::new();
            for (name, source) in files {
                folder.file(name, source);
            }
            let mut arguments = vec![version, level, "-fdebug-types-section", "-o", "before"];
            arguments.extend(&sources);
            let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
            assert!(ran.succeeded, "{ran}");
            let case = format!("{} {version} {level}", compiler.name);
            let bytes = std::fs::read(folder.path().join("before")).expect("a program");
            let first = rewritten(&bytes, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
            loaded::are_equal(&case, &bytes, &first.object);
            let second = rewritten(&first.object, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(
                second.object == first.object,
                "{case}: a second rewrite changes bytes: {:#?}",
                second.sizes
            );
            // A unit also has types that only type units use.
            let before: u64 = first.sizes.iter().map(|size| size.before).sum();
            let after: u64 = first.sizes.iter().map(|size| size.after).sum();
            assert!(
                after <= before + before / 100,
                "{case}: {before}, then {after} bytes: {:#?}",
                first.sizes
            );
            folder.file("after", &first.object);
            let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--verify", "after"]) else { continue };
            assert!(!ran.out.contains("error: ") || compiler.name.starts_with('g'), "{case}: {ran}");
            if sources[0].ends_with(".c") {
                let Some(expected) = types(folder.path(), "before") else { continue };
                let Some(printed) = types(folder.path(), "after") else { continue };
                assert!(expected.contains("struct node *next;"), "{case}: {expected}");
                pretty_assertions::assert_eq!(printed, expected, "{case}");
            }
        }
    }
}

/// A member with the second nested type of a class, and a nested type with a base of the first nested type.
const NESTED: &str = "
struct Base { struct Impl { int x; }; struct Other { double d; }; Impl impl; };
struct User { Base::Other o; int tail; };
User u = {{2.5}, 7};
struct Deep { struct Data { int a, b; }; struct More : Data { int extra; }; More more; };
Deep deep;
int main() { return u.tail; }
";

/// clang declares nested types by their signature alone, without a name.
#[test]
fn nested_types_with_a_signature_are_told_apart() {
    let compiler = Tool::new("clang++-19", "clang-19");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        folder.file("a.cpp", NESTED);
        let arguments = [version, "-O0", "-fdebug-types-section", "-o", "before", "a.cpp"];
        let Some(ran) = compiler.run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let rewritten = rewritten(&bytes, |_| {}).unwrap_or_else(|error| panic!("{version}: {error}"));
        folder.file("after", &rewritten.object);
        let printed = |program| {
            let commands = ["ptype User", "print u", "ptype Deep", "ptype Deep::More", "print deep"];
            let commands = commands.iter().flat_map(|command| ["-ex", command]);
            let arguments: Vec<_> = ["-nx", "-batch"].into_iter().chain(commands).chain([program]).collect();
            let ran = GDB.run_in(folder.path(), &arguments)?;
            Some(ran.out + &ran.errors)
        };
        let Some(before) = printed("before") else { return };
        let Some(after) = printed("after") else { return };
        assert!(before.contains("{o = {d = 2.5}, tail = 7}") && before.contains("extra = 0"), "{before}");
        pretty_assertions::assert_eq!(before, after, "{version}");
    }
}

/// Units that instantiate member templates of one class, in a header.
const MEMBER_TEMPLATES: &str = "
template <class T, int N> struct Fixed {
  T data[N]; using value_type = T;
  T &at(int i) { return data[i]; }
  template <class U> U as(int i) const { return U(data[i]); }
  struct Iter { T *p; T &operator*() { return *p; } template <class U> U get() { return U(*p); } };
  Iter begin() { return {data}; }
};
template <bool B> struct Pick { template <class T> static T twice(T t) { return t + t; } };
struct Outer {
  struct Inner { int x; struct Deep { double d; template <class T> T with(T t) { return t + d; } } deep; };
  enum class Kind { A, B };
  Inner inner; Kind kind; using Alias = Inner; Alias alias;
  int method(int k) const { return inner.x + k; }
};
namespace ns { inline namespace v1 {
struct Thing { int a; virtual ~Thing() {} virtual int f() { return a; } };
struct More : Thing { using Thing::Thing; using Thing::a; int f() override { return a + 1; } };
template <class T> struct Plain { T t; template <class U> U get() { return U(t); } };
} }
int other();
";

const INSTANTIATING: [(&str, &str); 2] = [
    (
        "a.cpp",
        "#include \"h.h\"
Fixed<int, 4> fixed{{1, 2, 3, 4}}; ns::More more;
int run(int n) {
  Outer o{}; ns::Plain<int> p{n}; auto add = [&](int k) { return k + n + fixed.at(1) + fixed.as<int>(2); };
  return add(2) + o.method(1) + more.f() + Pick<false>::twice(3) + (int)p.get<long>() + (int)o.inner.deep.with(2.5)
    + *fixed.begin() + fixed.begin().get<int>();
}
int main() { return run(1) + other(); }
",
    ),
    (
        "b.cpp",
        "#include \"h.h\"
int other() {
  Fixed<int, 4> f{{4, 3, 2, 1}}; Fixed<double, 2> g{}; Outer x{}; ns::Plain<int> p{3};
  return f.at(2) + f.as<char>(1) + (int)g.at(0) + x.method(4) + (int)Pick<false>::twice(2.5) + p.get<char>();
}
",
    ),
];

/// A unit declares a class of a type unit again, with the instances of member templates that only this unit has, and clang with the
/// type definitions that other type units refer to: gdb shows the class without them.
#[test]
fn parts_that_a_unit_adds_to_a_type_are_not_shown_as_its_own() {
    let standards = ["-std=c++17", "-std=c++20"];
    for compiler in [Tool::new("g++", "g++"), Tool::new("clang++-19", "clang-19")] {
        for (version, standard) in ["-gdwarf-4", "-gdwarf-5"]
            .into_iter()
            .flat_map(|version| standards.map(|standard| (version, standard)))
        {
            let folder = Folder::new();
            folder.file("h.h", MEMBER_TEMPLATES);
            for (name, source) in INSTANTIATING {
                folder.file(name, source);
            }
            let arguments =
                [version, standard, "-O0", "-fdebug-types-section", "-o", "before", "a.cpp", "b.cpp"];
            let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
            assert!(ran.succeeded, "{ran}");
            let case = format!("{} {version} {standard}", compiler.name);
            let bytes = std::fs::read(folder.path().join("before")).expect("a program");
            let first = rewritten(&bytes, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
            // A hash of the source type, for the linker's warnings; clang's type units lack the class of virtual functions.
            let is_known =
                |fact: &String| fact.contains("GNU_odr_signature") || fact.contains("containing_type");
            let lost: Vec<_> = first.lost().filter(|fact| !is_known(fact)).collect();
            assert_eq!(lost, [""; 0], "{case}");
            let second = rewritten(&first.object, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(second.object == first.object, "{case}: a second rewrite changes bytes");
            folder.file("after", &first.object);
            let types = [
                "Fixed<int, 4>",
                "Fixed<double, 2>",
                "Fixed<int, 4>::Iter",
                "Pick<false>",
                "Outer",
                "Outer::Inner::Deep",
                "ns::More",
                "ns::Plain<int>",
            ];
            let shown = |program| {
                let types = types.iter().map(|name| format!("ptype {name}"));
                let functions = ["Fixed<int, 4>::as<int>", "Plain<int>::get<char>"];
                let scopes = functions.iter().map(|name| format!("info scope {name}"));
                let commands = types.chain(scopes).flat_map(|command| ["-ex".to_owned(), command]);
                let start = ["-nx", "-batch"].map(String::from);
                let arguments: Vec<_> = start.into_iter().chain(commands).chain([program]).collect();
                let ran = GDB.run_in(folder.path(), &arguments)?;
                Some(ran.out + &ran.errors)
            };
            let (Some(before), Some(after)) = (shown("before".into()), shown("after".into())) else { return };
            assert!(before.contains("at(int);") && !before.contains(" as<int>("), "{case}: {before}");
            pretty_assertions::assert_eq!(after, before, "{case}");
        }
    }
}
