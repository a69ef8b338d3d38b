//! Programs whose types `dwz -m` moved to a supplementary file. What they say is in llvm-dwarfdump's text of the program
//! before.

use std::collections::BTreeSet;

use eitri::rewrite::{RewriteOptions, rewrite};

use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const DWZ: Tool = Tool::new("dwz", "dwz");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

const SHARED: &str = "struct point { int x; int y; long weight; const char *label; };
enum kind { NOTHING, POINT = 7, LINE = -3 };
struct thing { enum kind kind; struct point first, last; unsigned bits : 5; struct thing *next; int (*call)(struct point *, int); };
typedef struct thing *reference;
";

/// Tag, name, file and line of the entries that have them.
fn declared(folder: &Folder, program: &str) -> Option<BTreeSet<String>> {
    let ran = DWARFDUMP.run_in(folder.path(), &["--debug-info", program])?;
    assert!(ran.succeeded, "{ran}");
    let text = ran.to_string();
    let entries = text.split("\n\n").filter_map(|entry| {
        let tag = entry.split_whitespace().find(|word| word.starts_with("DW_TAG_"))?;
        let value = |name: &str| {
            let line = entry.lines().find_map(|line| line.trim().strip_prefix(name))?;
            Some(line.trim().trim_matches(|char| matches!(char, '(' | ')' | '"')).to_string())
        };
        let [name, file, line] = ["DW_AT_name", "DW_AT_decl_file", "DW_AT_decl_line"].map(value);
        Some(format!("{tag} {} {} {}", name?, file?, line?))
    });
    Some(entries.collect())
}

/// File numbers of entries in the supplementary file are those of the line tables there.
#[test]
fn types_in_a_supplementary_file_keep_their_files() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path().join("include")).expect("a folder");
        folder.file("include/shared.h", SHARED);
        folder.file("include/first.h", "typedef long first_type;");
        for name in ["one", "two"] {
            let source = format!(
                "#include \"first.h\"\nfirst_type first_of_{name};\n#include \"shared.h\"\nint work(reference it) {{ return it->last.x + it->bits; }}\n\
                 int main(int count, char **arguments) {{ return work((void *)arguments) + count; }}\n"
            );
            folder.file(&format!("{name}.c"), source);
            let arguments = ["-g", version, "-Iinclude", &format!("{name}.c"), "-o", name];
            let Some(ran) = GCC.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
        }
        std::fs::copy(folder.path().join("one"), folder.path().join("whole")).expect("a copy");
        let Some(ran) = DWZ.run_in(folder.path(), &["-m", "common.dbg", "one", "two"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let [one, common] =
            ["one", "common.dbg"].map(|name| std::fs::read(folder.path().join(name)).expect("a file"));
        let mut options = RewriteOptions::default();
        options.supplementary = Some(&common);
        let after = rewrite(&one, &options).expect("it is rewritten");
        let lost: Vec<_> = after.unimported.iter().map(ToString::to_string).collect();
        assert_eq!(lost, [] as [&str; 0], "{version}");
        folder.file("after", &after.object);
        let Some([whole, after]) =
            declared(&folder, "whole").zip(declared(&folder, "after")).map(<[_; 2]>::from)
        else {
            return;
        };
        assert!(whole.len() > 15, "{whole:#?}");
        assert_eq!(after, whole, "{version}");
    }
}
