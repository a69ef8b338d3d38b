//! Help, completions and manual pages.

use std::collections::BTreeSet;

use pretty_assertions::assert_eq;

use super::run;

pub const COMMANDS: [&str; 17] = [
    "emit",
    "check",
    "locate",
    "rewrite",
    "dump",
    "attach",
    "strip",
    "lint",
    "stats",
    "report",
    "conform",
    "eval",
    "explain",
    "targets",
    "schema",
    "completions",
    "man",
];

/// Maximum width of `--help`, in characters.
const WIDTH: usize = 100;

/// Lines of a paragraph that end although the next word would fit.
fn orphans(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_list = |line: &str| {
        let line = line.trim_start();
        ["Example:", "Usage:", "- ", "{", "}", "[", "-"].iter().any(|begin| line.starts_with(begin))
    };
    let pairs =
        lines.windows(2).filter(|pair| !pair.iter().any(|line| line.trim().is_empty() || is_list(line)));
    let same = pairs.filter(|pair| indent(pair[0]) == indent(pair[1]) && indent(pair[0]) != 2);
    let broken = same.filter(|pair| {
        let word = pair[1].split_whitespace().next().map_or(0, str::len);
        pair[0].len() + 1 + word <= WIDTH
    });
    broken.map(|pair| pair[0]).collect()
}

/// Options that occur in a text.
fn mentioned(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '-'));
    let options = words.filter(|word| {
        word.strip_prefix("--").is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_lowercase()))
            || (word.len() == 2
                && word.starts_with('-')
                && word.ends_with(|char: char| char.is_ascii_lowercase()))
    });
    options.map(String::from).collect()
}

#[test]
fn a_command_has_what_its_help_mentions() {
    for command in COMMANDS {
        let text = run(&[command, "--help"]).text();
        let Some((about, options)) = text.split_once("\nOptions:\n") else { panic!("{command}: {text}") };
        let defined: BTreeSet<String> = options
            .lines()
            .filter(|line| line.trim_start().starts_with('-') && line.len() - line.trim_start().len() <= 6)
            .flat_map(mentioned)
            .collect();
        let unknown: BTreeSet<_> =
            mentioned(&[about, options].concat()).difference(&defined).cloned().collect();
        assert!(unknown.is_empty(), "of {command} --help: {unknown:?}");
    }
}

#[test]
fn lines_are_broken_where_they_are_full() {
    for command in [""].iter().chain(&COMMANDS) {
        for option in ["--help", "-h"] {
            let arguments: Vec<&str> =
                [*command, option].into_iter().filter(|word| !word.is_empty()).collect();
            let ran = run(&arguments);
            assert_eq!((ran.code, &*ran.errors), (0, ""), "{arguments:?}");
            assert!(ran.text().lines().all(|line| line.chars().count() <= WIDTH), "{}", ran.text());
            let orphans: Vec<String> = orphans_of(&ran.text());
            assert!(orphans.is_empty(), "{arguments:?}: {orphans:#?}");
        }
    }
}

/// The orphans of a text with a list of commands, whose summaries begin in the line of the name.
fn orphans_of(text: &str) -> Vec<String> {
    let aligned: String = text
        .lines()
        .map(|line| {
            match COMMANDS
                .iter()
                .find(|name| line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(**name)))
            {
                Some(name) => format!("\n{}\n", line.replacen(*name, &" ".repeat(name.len()), 1)),
                None => format!("{line}\n"),
            }
        })
        .collect();
    orphans(&aligned).into_iter().map(String::from).collect()
}

#[test]
fn completions_and_pages_have_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(ran.text().contains(command), "{shell}: no {command}");
        }
        assert!(ran.text().contains("compress-debug-sections"), "{shell}");
    }
    let page = run(&["man"]);
    assert_eq!((page.code, &*page.errors), (0, ""));
    assert!(page.text().contains(".TH eitri 1"), "{}", page.text());
    for command in COMMANDS {
        assert!(page.text().contains(&format!("eitri\\-{command}(1)")), "no {command}: {}", page.text());
        let own = run(&["man", command]);
        assert_eq!((own.code, &*own.errors), (0, ""));
        assert!(own.text().contains(&format!(".TH eitri-{command} 1")), "{}", own.text());
        assert!(own.text().contains(concat!("\"eitri ", env!("CARGO_PKG_VERSION"), "\"")), "{}", own.text());
    }
    assert!(run(&["man", "eval"]).text().contains("\\-\\-machine"), "its options");
    assert_eq!(run(&["man", "melt"]).code, 2);
}
