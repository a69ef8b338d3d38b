//! Members of archives, bundles and host objects are rewritten in their place; the tools that made the containers read
//! them.

use std::path::Path;

use eitri::read::containers::members;
use eitri::rewrite::{RewriteOptions, rewrite, rewrite_members};

use super::loaded;
use crate::common::tools::{Folder, Tool};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join("tests/objects/containers").join(name)).expect("a file")
}

/// Rewrites the members that have debug information and whose names contain a text.
fn rewritten(bytes: &[u8], chosen: &str) -> Option<Vec<u8>> {
    let new = rewrite_members("file", bytes, &mut |name, member| {
        let is_object = name.contains(chosen) && name.contains('(');
        is_object.then(|| rewrite(member, &RewriteOptions::default()).map(|new| new.object)).transpose()
    });
    new.expect("it is rewritten")
}

/// Names and contents of members.
fn contents(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let all = members(bytes).expect("it is read").expect("a container");
    all.into_iter().map(|one| (one.name, one.bytes.expect("contents").into_owned())).collect()
}

/// In each container, a chosen member is the rewritten object, and the other member has its bytes.
#[test]
fn chosen_members_are_rewritten() {
    for (name, chosen) in [
        ("k01_k06.a", "k01_saxpy"),
        ("k01_k06.a", "k06_calls"),
        ("k06.hipfb", "gfx900"),
        ("k06.hipfb", "gfx1030"),
        ("host_with_hip_fatbin.o", "gfx900"),
        ("host_with_hip_fatbin.o", "gfx1030"),
    ] {
        let before = file(name);
        let after = rewritten(&before, chosen).unwrap_or_else(|| panic!("{name}: {chosen} is not rewritten"));
        let (old, new) = (contents(&before), contents(&after));
        assert_eq!(old.len(), new.len(), "{name}");
        for ((old_name, old), (new_name, new)) in old.iter().zip(&new) {
            assert_eq!(old_name, new_name, "{name}");
            if old_name.contains(chosen) {
                // A member of a host object keeps its room.
                let expected = rewrite(old, &RewriteOptions::default()).expect("it is rewritten").object;
                assert!(new == &expected && new != old, "{name}({old_name})");
                loaded::are_equal(name, old, new);
            } else {
                assert!(new == old, "{name}({old_name})");
            }
        }
        // Bundles begin at the alignment of the bundler.
        if name == "k06.hipfb" {
            let offset = |at: usize| u64::from_le_bytes(after[at..at + 8].try_into().expect("eight bytes"));
            let length = usize::try_from(offset(48)).expect("a length");
            assert_eq!([offset(32) % 4096, offset(56 + length) % 4096], [0, 0], "{name}");
        }
        if name.starts_with("host") {
            loaded_but_bundle(name, &before, &after);
        }
    }
}

/// A host object keeps everything else.
fn loaded_but_bundle(name: &str, before: &[u8], after: &[u8]) {
    use eitri::object::{Object, ObjectSection};
    let sections = |bytes: &[u8]| -> Vec<(String, u64, Vec<u8>)> {
        let file = eitri::object::File::parse(bytes).expect("an object");
        let all = file.sections().filter(|section| section.name() != Ok(".hip_fatbin"));
        all.map(|one| (one.name().unwrap_or("").to_owned(), one.align(), one.data().unwrap_or(&[]).to_vec()))
            .collect()
    };
    assert_eq!(sections(before), sections(after), "{name}");
}

/// clang's bundler unbundles what was written.
#[test]
fn bundler_reads_the_bundle() {
    let folder = Folder::new();
    let after = rewritten(&file("k06.hipfb"), "gfx1030").expect("a member is rewritten");
    let bundle = folder.file("new.hipfb", &after).display().to_string();
    let out = folder.path().join("out.hsaco").display().to_string();
    let tool = Tool::new("clang-offload-bundler-19", "clang-tools-19");
    let arguments = [
        "--type=o",
        "--unbundle",
        "--targets=hipv4-amdgcn-amd-amdhsa--gfx1030",
        &format!("--input={bundle}"),
        &format!("--output={out}"),
    ];
    let Some(ran) = tool.run(&arguments) else { return };
    assert!(ran.succeeded, "{ran}");
    let expected = contents(&after).pop().expect("a member").1;
    assert!(std::fs::read(&out).expect("a member") == expected);
}

/// An archive with a symbol table, as the archiver makes it: its offsets follow, so that the linker finds the members.
#[test]
fn symbol_table_of_an_archive_follows() {
    let folder = Folder::new();
    let mut objects = Vec::new();
    for name in ["a_long_name_of_an_object_file", "b", "c"] {
        folder.file(&format!("{name}.c"), format!("int {name}(int x) {{ int y = x + 1; return y; }}\n"));
        let (source, object) = (format!("{name}.c"), format!("{name}.o"));
        let gcc = Tool::new("gcc", "gcc");
        let Some(ran) = gcc.run_in(folder.path(), &["-g", "-c", &source, "-o", &object]) else { return };
        assert!(ran.succeeded, "{ran}");
        objects.push(object);
    }
    let arguments: Vec<&str> =
        ["rcs", "lib.a"].into_iter().chain(objects.iter().map(String::as_str)).collect();
    let Some(ran) = Tool::new("ar", "binutils").run_in(folder.path(), &arguments) else { return };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("lib.a")).expect("an archive");
    let after = rewritten(&bytes, "").expect("members are rewritten");
    assert!(after.len() != bytes.len());
    std::fs::write(folder.path().join("libnew.a"), &after).expect("a file");
    let Some(ran) = Tool::new("nm", "binutils").run_in(folder.path(), &["-s", "libnew.a"]) else { return };
    for (name, object) in
        [("a_long_name_of_an_object_file", &objects[0]), ("b", &objects[1]), ("c", &objects[2])]
    {
        assert!(ran.out.contains(&format!("{name} in {object}")), "{ran}");
    }
    // The linker takes the members by the table.
    folder.file("main.c", "int b(int), c(int);\nint main(void) { return b(1) + c(2) - 5; }\n");
    let gcc = Tool::new("gcc", "gcc");
    let Some(ran) = gcc.run_in(folder.path(), &["main.c", "-L.", "-lnew", "-o", "main"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let Some(ran) = Tool::new("./main", "the test").run_in(folder.path(), &[] as &[&str]) else { return };
    assert!(ran.succeeded, "{ran}");
}

/// What does not change, stays: no member is rewritten.
#[test]
fn containers_without_a_chosen_member_stay() {
    for name in ["k01_k06.a", "k06.hipfb", "host_with_hip_fatbin.o"] {
        assert_eq!(rewritten(&file(name), "another"), None, "{name}");
    }
}
