//! Objects that LLVM's linker joins: of a function that two objects have, it keeps the code of the first, and what is said of
//! the other copy goes.

use eitri::read::{Dwarf, Object};
use eitri::target::Target;

use super::{loaded, rewritten};
use crate::common::tools::{Folder, Tool};

const CLANG: Tool = Tool::new("clang++-19", "clang-19");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

const FIRST: &str = r#"
template<class T> __attribute__((noinline)) T twice(T v) { T s = v * 2; return s + 1; }
extern "C" __attribute__((amdgpu_kernel)) void first(int *p) { *p = twice<int>(*p); }"#;
const SECOND: &str = r#"
template<class T> __attribute__((noinline)) T twice(T v) { T s = v; for (int i = 0; i < 3; i++) s += v; return s; }
extern "C" int unused(int a) { int z = a * 3; return z + 7; }
extern "C" __attribute__((amdgpu_kernel)) void second(int *p) { *p = twice<int>(*p) + p[1]; }"#;

/// Names of functions with their size in bytes, if they have code.
fn functions(bytes: &[u8]) -> Vec<(String, Option<u64>)> {
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("entries");
    let functions = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_subprogram);
    functions
        .map(|entry| {
            let pcs = entry.ranges().expect("pcs").first().cloned();
            let name = entry.name().expect("a name").into_owned();
            (name, pcs.filter(|pcs| dwarf.is_code(pcs.start)).map(|pcs| pcs.end - pcs.start))
        })
        .collect()
}

#[test]
fn dropped_copies_go_after_each_kind_of_link() {
    const LINKS: [&[&str]; 3] = [
        &["-r"],
        &["-shared"],
        &["-shared", "--gc-sections", "-u", "first.kd", "-u", "second.kd", "--version-script=kept"],
    ];
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        folder.file("kept", "{ global: first*; second*; local: *; };");
        for (name, source) in [("a", FIRST), ("b", SECOND)] {
            folder.file(&format!("{name}.cpp"), source);
            let [from, to] = [format!("{name}.cpp"), format!("{name}.o")];
            let target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib", "-ffunction-sections"];
            let words = [&target[..], &["-O1", version, "-c", &from, "-o", &to]].concat();
            let Some(ran) = CLANG.run_in(folder.path(), &words) else { return };
            assert!(ran.succeeded, "{ran}");
        }
        for link in LINKS {
            let name = format!("{version} {link:?}");
            let words = [link, &["a.o", "b.o", "-o", "linked"]].concat();
            let Some(ran) = LLD.run_in(folder.path(), &words) else { return };
            assert!(ran.succeeded, "{ran}");
            let before = std::fs::read(folder.path().join("linked")).expect("an object");
            let target = Target::named("amdgpu-gfx1100-wave32").expect("a target");
            let set = |options: &mut eitri::rewrite::RewriteOptions<'_>| {
                options.gc = true;
                options.target = Some(target.clone());
            };
            let after = rewritten(&before, set).unwrap_or_else(|error| panic!("{name}: {error}")).object;
            loaded::are_equal(&name, &before, &after);
            let again = rewritten(&after, set).expect("a rewritten object").object;
            assert!(again == after, "{name}: a second rewrite changes it");
            let twice = |bytes: &[u8]| {
                let all = functions(bytes);
                all.into_iter()
                    .filter(|(name, _)| name.contains("twice"))
                    .map(|(_, size)| size)
                    .collect::<Vec<_>>()
            };
            let object = Object::read(&before).expect("an object");
            let size = object.symbol("_Z5twiceIiET_S0_").expect("the function").size;
            assert_eq!(twice(&before).len(), 2, "{name}: both copies are described");
            assert_eq!(twice(&after), [Some(size)], "{name}");
            let is_kept = functions(&after).iter().any(|(name, _)| name == "unused");
            assert_eq!(is_kept, !link.contains(&"--gc-sections"), "{name}");
            let path = folder.file("after", &after);
            let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) else { return };
            assert!(ran.succeeded, "{name}: {ran}");
        }
    }
}
