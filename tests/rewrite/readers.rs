//! Other readers read a rewritten program as they read the original: without a complaint.

use super::keeps_facts;
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const READELF: Tool = Tool::new("readelf", "binutils");
const EU_READELF: Tool = Tool::new("eu-readelf", "elfutils");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Units without code, in the order of the program: variables with and without addresses, and types only.
const FILES: [(&str, &str); 4] = [
    ("a.c", "int k; int main(void) { return k; }"),
    ("b.c", "int table[4]; const char *const name = \"x\";"),
    (
        "c.c",
        "struct node { struct node *next; int value; }; enum { FIRST = 1 }; struct node *unused(struct node *);",
    ),
    (
        "d.c",
        "struct node { struct node *next; int value; }; extern struct node *head; typedef struct node node;\n\
             struct uses { node n; }; _Static_assert(sizeof(struct uses) > 0, \"\");",
    ),
];

#[test]
fn units_without_code_are_read_without_complaints() {
    for compiler in [GCC, CLANG] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let folder = Folder::new();
            for (name, source) in FILES {
                folder.file(name, source);
            }
            let sources = FILES.map(|(name, _)| name);
            let words =
                [&[version, "-fno-eliminate-unused-debug-types", "-o", "before"][..], &sources].concat();
            let Some(ran) = compiler.run_in(folder.path(), &words) else { continue };
            assert!(ran.succeeded, "{ran}");
            let name = format!("{} {version}", compiler.name);
            let before = std::fs::read(folder.path().join("before")).expect("a program");
            let after = keeps_facts(&name, &before);
            std::fs::write(folder.path().join("after"), &after.object).expect("a program");
            for (tool, option) in
                [(READELF, "--debug-dump"), (EU_READELF, "--debug-dump"), (DWARFDUMP, "--verify")]
            {
                let complaints = ["before", "after"].map(|file| {
                    let ran = tool.run_in(folder.path(), &[option, file])?;
                    let lines = ran.out.lines().chain(ran.errors.lines());
                    let bad = |line: &&str| {
                        let line = line.to_lowercase();
                        ["warning", "corrupt", "invalid", "error:"].iter().any(|word| line.contains(word))
                    };
                    Some(lines.filter(bad).map(String::from).collect::<Vec<_>>())
                });
                let [Some(before), Some(after)] = complaints else { return };
                assert!(after.len() <= before.len(), "{name}, {}: {after:#?}", tool.name);
            }
        }
    }
}
