//! Who may name whom. What reads and evaluates shares nothing with what writes, so that a mistake in one
//! is not made up for by the same mistake in the other.

use std::path::{Path, PathBuf};

/// A folder of `src`, and the modules of the crate that nothing in it may name.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("read", &["lower", "emit", "build", "model", "check", "json"]),
    ("eval", &["lower", "emit", "build", "model", "check", "json"]),
    ("model", &["lower", "emit", "build", "read", "eval", "check", "dump", "json"]),
    ("emit", &["lower", "build", "model", "read", "eval", "check", "dump", "json"]),
    ("build", &["lower", "emit", "read", "eval", "check", "dump", "json"]),
    ("lower", &["read", "eval", "check", "dump", "json"]),
    ("op", &["lower", "emit", "build", "model", "read", "eval", "check", "dump", "json"]),
    ("cfi", &["lower", "emit", "build", "model", "read", "eval", "check", "dump", "json"]),
    ("target", &["lower", "emit", "build", "model", "read", "eval", "check", "dump", "json"]),
    ("json", &["lower", "emit", "read", "eval", "check", "dump"]),
    ("spirv", &["lower", "emit", "read", "check", "dump", "json"]),
    ("conform", &["lower", "emit", "build", "model", "check", "dump"]),
];

/// What of `src/spirv` finds debug instructions and judges them, and what that may not name: what writes them, and what
/// raises them to a model.
const SPIRV_READS: [&str; 9] =
    ["layout", "names", "opcodes", "operand", "read", "table", "text", "validate", "words"];
const SPIRV_WRITES: [&str; 16] = [
    "attach", "binding", "build", "check", "eval", "evaluate", "held", "ids", "lower", "mode", "model",
    "raise", "rspirv", "Binding", "Held", "Mode",
];

/// What of `src/spirv` says whether it was written right, and what that may not name: what writes.
const SPIRV_PROVES: [&str; 3] = ["check", "evaluate", "raise"];
const SPIRV_LOWERS: [&str; 6] = ["attach", "ids", "lower", "rspirv", "Ids", "Written"];

/// What the model may have of operations: register numbers, whole expressions, and LEB128.
const OF_OP: [&str; 8] =
    ["Reg", "Expr", "read_uleb", "read_sleb", "write_uleb", "write_sleb", "uleb_len", "sleb_len"];

fn sources(under: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(under)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                files.push((path, code(&text)));
            }
        }
    }
    files.sort();
    files
}

/// The text without comments. A comment may name anything.
fn code(text: &str) -> String {
    let line = |line: &str| match line.split_once("//") {
        Some((code, _)) => code.to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// How the file's module can name the crate by going up: `super::` for `src/read/mod.rs`, twice that for
/// `src/read/elf.rs`.
fn crate_from(file: &Path) -> String {
    let inside = file.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("is in `src`");
    let levels = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
    "super::".repeat(levels)
}

/// The names after each `path::`, those in braces one by one.
fn names(text: &str, path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(path) {
        // `path` may be the end of a longer name, or path.
        if text[..at].ends_with(|char: char| char.is_alphanumeric() || char == '_' || char == ':') {
            continue;
        }
        let rest = &text[at + path.len()..];
        match rest.strip_prefix('{') {
            None => names.push(rest.to_owned()),
            Some(list) => {
                let (mut depth, mut name) = (0, String::new());
                for char in list.chars() {
                    match char {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => names.push(std::mem::take(&mut name)),
                        _ if depth == 0 => name.push(char),
                        _ => {}
                    }
                }
                names.push(name);
            }
        }
    }
    let word = |name: &String| {
        name.trim_start().chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect()
    };
    names.iter().map(word).collect()
}

#[test]
fn layers_name_only_what_is_below() {
    for (folder, forbidden) in FORBIDDEN {
        let under = format!("src/{folder}");
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(&under).is_dir() {
            continue;
        }
        for (path, text) in sources(&under) {
            let mut named = names(&text, "crate::");
            named.extend(names(&text, "eitri::"));
            named.extend(names(&text, &crate_from(&path)));
            for name in named {
                assert!(!forbidden.contains(&&*name), "{}: `{folder}` names `{name}`", path.display());
            }
        }
    }
}

#[test]
fn what_reads_spirv_names_nothing_that_writes_it() {
    assert!(name_nothing_of(&SPIRV_READS, &SPIRV_WRITES) > 10);
}

#[test]
fn what_proves_spirv_names_nothing_that_writes_it() {
    assert!(name_nothing_of(&SPIRV_PROVES, &SPIRV_LOWERS) > 10);
}

/// Looks through the parts of `src/spirv` for names that may not be there. How many files there are.
fn name_nothing_of(parts: &[&str], forbidden: &[&str]) -> usize {
    let spirv = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spirv");
    let mut count = 0;
    for (path, text) in sources("src/spirv") {
        let inside = path.strip_prefix(&spirv).expect("is in it").with_extension("");
        let first = inside.iter().next().and_then(|first| first.to_str()).expect("a name");
        if !parts.contains(&first) {
            continue;
        }
        count += 1;
        let (to_crate, mut named) = (crate_from(&path), names(&text, "crate::"));
        named.extend(names(&text, &to_crate));
        named.extend(names(&text, "crate::spirv::"));
        named.extend(names(&text, to_crate.strip_prefix("super::").expect("is in a folder")));
        for name in named {
            assert!(!forbidden.contains(&&*name), "{}: names `{name}`", path.display());
        }
    }
    count
}

#[test]
fn the_model_has_of_operations_only_numbers() {
    for (path, text) in sources("src/model") {
        for name in names(&text, "crate::op::") {
            assert!(OF_OP.contains(&&*name), "{}: the model names `op::{name}`", path.display());
        }
    }
}

#[test]
fn nothing_is_left_to_do() {
    for (path, text) in sources("src") {
        for missing in ["todo!", "unimplemented!", "dbg!"] {
            assert!(!text.contains(missing), "{}: {missing}", path.display());
        }
    }
}

#[test]
fn names_are_found() {
    let text = code(
        "use crate::{a::B, c::{D, e}};\nuse crate::op::{Reg, x}; // crate::z\nother_crate::y; super::f();",
    );
    assert_eq!(names(&text, "crate::"), ["a", "c", "op"]);
    assert_eq!(names(&text, "crate::op::"), ["Reg", "x"]);
    assert_eq!(names(&text, "super::"), ["f"]);
}
