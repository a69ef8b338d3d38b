//! The promise: messages count correctly, `1 bit` rather than `1 bits`. No text of the crate has a number followed by
//! a plural, unless the number cannot be 1.

use std::path::{Path, PathBuf};

/// Nouns that messages count.
const COUNTED: &[&str] = &[
    "addresses",
    "arguments",
    "attributes",
    "bits",
    "buckets",
    "bytes",
    "characters",
    "elements",
    "entries",
    "files",
    "findings",
    "frames",
    "functions",
    "instructions",
    "lanes",
    "levels",
    "lines",
    "members",
    "names",
    "operands",
    "operations",
    "parts",
    "pcs",
    "places",
    "ranges",
    "registers",
    "rows",
    "sections",
    "steps",
    "times",
    "types",
    "units",
    "values",
    "variables",
    "vectors",
    "words",
];

/// Texts whose number cannot be 1, with file and reason.
const NEVER_ONE: &[(&str, &str, &str)] = &[
    ("eitri-cli/src/targets.rs", "of each of {} lanes", "a register with one value is shown without lanes"),
    ("error/facts.rs", "has {set} instructions", "the name of an instruction set"),
    ("dump/descriptions.rs", "{name} bytes {at} to {}", "from byte to byte"),
];

/// Files under a folder, except those of SPIR-V and of tests.
fn files(under: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(crate::common::ROOT).join(under)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for found in std::fs::read_dir(folder).expect("a folder") {
            let path = found.expect("a file").path();
            if path.ends_with("src/spirv") || path.ends_with("tests.rs") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files.push((path, text));
            }
        }
    }
    files.sort();
    files
}

/// A counted noun at the start of a text, after a space.
fn counted(text: &str) -> Option<&'static str> {
    let word = text.strip_prefix(' ')?;
    let end = word.find(|char: char| !char.is_alphanumeric()).unwrap_or(word.len());
    COUNTED.iter().copied().find(|counted| *counted == &word[..end])
}

/// Placeholders of a line, each with the following text.
fn placeholders(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices('}').filter_map(|(end, _)| {
        let start = line[..end].rfind('{')?;
        Some((&line[start + 1..end], &line[end + 1..]))
    })
}

#[test]
fn formats_count_in_english() {
    let mut wrong = Vec::new();
    let mut used = 0;
    for (path, text) in files("src").into_iter().chain(files("crates")).chain(files("docs")) {
        // Unit tests are at the end of a file.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for (placeholder, behind) in placeholders(line) {
                // Constants are greater than 1.
                let is_constant = placeholder.starts_with(|char: char| char.is_ascii_uppercase());
                let Some(word) = counted(behind).filter(|_| !is_constant) else { continue };
                let is_exempt =
                    |(file, part, _): &&(&str, &str, &str)| path.ends_with(file) && line.contains(part);
                match NEVER_ONE.iter().find(is_exempt) {
                    Some(_) => used += 1,
                    None => {
                        wrong.push(format!("{}:{}: {{{placeholder}}} {word}", path.display(), number + 1))
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "numbers with plurals behind them:\n{}", wrong.join("\n"));
    assert_eq!(used, NEVER_ONE.len(), "each exemption is of one text");
}

/// Whether a text has the number 1 followed by a plural.
fn has_one_of_many(line: &str) -> bool {
    line.match_indices('1').any(|(at, _)| {
        let before = line[..at].trim_end_matches("0x").chars().next_back();
        // `2^64 + 1 bytes` and `2⁶⁴ − 1 bits` are many.
        let is_sum = line[..at].ends_with("+ ") || line[..at].ends_with("− ") || line[..at].ends_with("- ");
        let is_whole = !before.is_some_and(|char| char.is_alphanumeric() || ".^-_".contains(char));
        is_whole && !is_sum && counted(&line[at + 1..]).is_some()
    })
}

#[test]
fn goldens_count_in_english() {
    assert!(
        has_one_of_many("elements of 1 bits") && has_one_of_many("0x1 bytes") && has_one_of_many("1 entries")
    );
    assert!(!has_one_of_many("2^64 + 1 bytes, 11 bits, 1 bit, 0.1 bits, 0x11 bytes, s1 bits"));
    let wrong: Vec<String> = files("goldens")
        .into_iter()
        .filter(|(path, _)| {
            !path.components().any(|part| part.as_os_str().to_string_lossy().contains("spirv"))
        })
        .flat_map(|(path, text)| {
            let lines: Vec<String> =
                text.lines().filter(|line| has_one_of_many(line)).map(Into::into).collect();
            lines.into_iter().map(move |line| format!("{}: {line}", path.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "one of many:\n{}", wrong.join("\n"));
}
