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

/// Moves what the programs `one` and `two` share to a supplementary file, and rewrites `one` as `after`. `whole` is `one`
/// before. Returns what is not imported.
fn rewritten_with_common_file(folder: &Folder) -> Option<Vec<String>> {
    std::fs::copy(folder.path().join("one"), folder.path().join("whole")).expect("a copy");
    let ran = DWZ.run_in(folder.path(), &["-m", "common.dbg", "one", "two"])?;
    assert!(ran.succeeded, "{ran}");
    let [one, common] =
        ["one", "common.dbg"].map(|name| std::fs::read(folder.path().join(name)).expect("a file"));
    let mut options = RewriteOptions::default();
    options.supplementary = Some(&common);
    let after = rewrite(&one, &options).expect("it is rewritten");
    folder.file("after", &after.object);
    Some(after.unimported.iter().map(ToString::to_string).collect())
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
        let Some(lost) = rewritten_with_common_file(&folder) else { return };
        assert_eq!(lost, [] as [&str; 0], "{version}");
        let Some([whole, after]) =
            declared(&folder, "whole").zip(declared(&folder, "after")).map(<[_; 2]>::from)
        else {
            return;
        };
        assert!(whole.len() > 15, "{whole:#?}");
        assert_eq!(after, whole, "{version}");
    }
}

/// The functions that calls and imports name are in the supplementary file, where nothing else refers to them.
#[test]
fn calls_and_imports_of_a_supplementary_file_keep_what_they_name() {
    const GXX: Tool = Tool::new("g++", "g++");
    const HEADER: &str = "namespace outside {\n\
        struct point { int x; int y; long weight; const char *label; };\n\
        int first(point *one, int count, const char *name); long second(point *one, long weight, point *other);\n\
        }\n";
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        folder.file("outside.h", HEADER);
        for name in ["one", "two"] {
            let source = format!(
                "#include \"outside.h\"\nnamespace {name} {{ using outside::second; using outside::point; }}\n\
                 int work_{name}(outside::point *it) {{ return outside::first(it, 3, \"a\") + {name}::second(it, 2, it); }}\n"
            );
            folder.file(&format!("{name}.cc"), source);
            let arguments = ["-g", version, "-O2", "-shared", "-fPIC", &format!("{name}.cc"), "-o", name];
            let Some(ran) = GXX.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
        }
        let Some(lost) = rewritten_with_common_file(&folder) else { return };
        assert!(lost.iter().all(|fact| fact.contains("DW_AT_GNU_locviews")), "{version}: {lost:#?}");
        let named = |program: &str| -> Option<Vec<String>> {
            let text = DWARFDUMP.run_in(folder.path(), &["--debug-info", program])?.to_string();
            let name_at = |offset: &str| {
                let entry = text.split("\n\n").find(|entry| entry.trim_start().starts_with(offset));
                let name = entry.and_then(|entry| entry.split_once("DW_AT_name\t(\"")).expect("a name").1;
                name.split('"').next().unwrap_or_default().to_owned()
            };
            let names = ["_call_site\n", "DW_TAG_imported_declaration\n"];
            let entries = text.split("\n\n").filter(|entry| names.iter().any(|name| entry.contains(name)));
            let referred = entries.filter_map(|entry| {
                let names = ["DW_AT_call_origin", "DW_AT_abstract_origin", "DW_AT_import"];
                let line = entry.lines().find(|line| names.iter().any(|name| line.contains(name)))?;
                Some(name_at(line.split_once('(')?.1.get(..10)?))
            });
            let mut named: Vec<_> = referred.collect();
            named.sort();
            Some(named)
        };
        let Some([whole, after]) = named("whole").zip(named("after")).map(<[_; 2]>::from) else { return };
        assert!(whole.len() >= 4, "{version}: {whole:#?}");
        assert_eq!(after, whole, "{version}");
    }
}
