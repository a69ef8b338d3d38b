//! What is printed does not act on the terminal, and what is written replaces no input.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Folder, Ran, root, run};

/// A name that changes the title, the colours and the order of a terminal, and begins a line of its own.
const NAME: &str = "a\x1b]0;t\x07\x1b[2J\x1b[1;31mX\u{9b}31m\u{202e}\r\n::error::b";

const COLORS: [&str; 5] = ["\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m", "\x1b[0m"];

fn description(live: &str) -> String {
    let unit = format!("{NAME}.c");
    let live: serde_json::Value = serde_json::from_str(live).expect("JSON");
    json!({"eitri": 1, "target": "x86_64", "describe": [
        {"unit": {"name": unit, "directory": NAME, "producer": NAME}},
        {"base_type": {"unit": unit, "name": NAME, "encoding": "signed", "bits": 32, "id": "int"}},
        {"function": {"in": unit, "name": NAME, "code": {"symbol": NAME, "bytes": 64}, "id": "f"}},
        {"variable": {"in": "f", "name": NAME, "type": "int", "live": [[0, 32, live], [32, 64, {"register": "rbx"}]]}},
    ]})
    .to_string()
}

/// An archive with a short name.
fn archive(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut all = format!(
        "!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        format!("{name}/"),
        0,
        0,
        0,
        644,
        bytes.len()
    )
    .into_bytes();
    all.extend(bytes);
    all
}

/// Checks that no printed character acts on a terminal, apart from the colours if the command uses them.
fn check(ran: &Ran, has_colors: bool, what: &str) {
    for text in [ran.text(), ran.errors.clone()] {
        let mut text = text;
        for color in COLORS.iter().filter(|_| has_colors) {
            text = text.replace(color, "");
        }
        let acts = |char: &char| {
            char.is_control() && !matches!(char, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(char)
        };
        assert_eq!(text.chars().find(acts), None, "{what}: {text:?}");
        assert!(!text.contains("\n::error::b"), "{what}: {text}");
        // A colour of the command is around its own word, not in the name.
        assert!(!text.contains("[2J\x1b"), "{what}: {text:?}");
    }
}

#[test]
fn names_of_others_do_not_act_on_the_terminal() {
    let folder = Folder::new("output-names");
    let json = folder.file("d.json", description(r#"{"register": "rax"}"#));
    let other = folder.file("other.json", description(r#"{"register": "rcx"}"#));
    let raw = folder.file("raw.json", description(r#"{"lane": ["rax", 1]}"#));
    let object = folder.path("d.o");
    let mut all = Vec::new();
    for color in ["never", "always"] {
        let mut ask = |arguments: &[&str], code: i32| {
            let ran = run(&[arguments, &["--color", color]].concat());
            assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.text(), ran.errors);
            check(&ran, color == "always", &format!("{arguments:?}"));
            all.push(ran.text() + &ran.errors);
        };
        ask(&["emit", &json, "-o", &object], 0);
        ask(&["emit", &raw, "-o", &folder.path("raw.o")], 2);
        ask(&["check", &json, &object], 0);
        ask(&["check", &other, &object], 1);
        let bytes = fs::read(&object).expect("an object");
        let whole = folder.file("whole.a", archive("\x1b[2Jm.o", &bytes));
        let broken = folder.file("broken.a", archive("\x1b[2J.o", &bytes[..200]));
        for file in [&object, &whole] {
            ask(&["dump", file], 0);
            ask(&["dump", "-v", file], 0);
            for format in ["text", "json"] {
                ask(&["stats", file, "--format", format], 0);
                ask(&["stats", file, "--format", format, "--lines"], 0);
                ask(&["stats", file, "--format", format, "--against", file], 0);
            }
            for format in ["text", "json", "sarif", "github"] {
                ask(&["lint", file, "--format", format, "--fail-on", "error"], 0);
            }
            ask(&["lint", file, "--only", NAME], 0);
            ask(&["lint", file, "--only", &format!("{NAME}b")], 2);
            ask(&["eval", file, "--var", NAME, "--pc", &format!("{NAME}+0x1"), "--target", "x86_64"], 1);
            ask(&["explain", file, "--var", NAME, "--pc", &format!("{NAME}+0x1"), "--target", "x86_64"], 1);
            ask(&["eval", file, "--var", &format!("{NAME}b"), "--pc", "0x0", "--target", "x86_64"], 2);
            ask(&["eval", file, "--var", "x", "--pc", &format!("{NAME}b+0x1")], 2);
        }
        for command in ["dump", "stats", "lint"] {
            ask(&[command, &broken], 2);
            ask(&[command, &folder.path(NAME)], 2);
        }
        ask(&["report", &broken, "-o", &folder.path("page.html")], 2);
    }
    // Some outputs have the names.
    assert!(all.iter().filter(|text| text.contains("[2J")).count() > 30);
}

#[test]
fn output_replaces_no_input() {
    let folder = Folder::new("output-inputs");
    let files = [
        ("d.json", fs::read(root("examples/scale.json"))),
        ("code.o", fs::read(root("examples/data/scale_code.o"))),
        ("a.spv", fs::read(root("tests/spirv/foreign/glslang.g.spv"))),
        ("m.json", Ok(br#"{"target": "x86_64", "machine": {}}"#.to_vec())),
        ("t.txt", Ok(b"\n".repeat(100))),
    ];
    let files = files.map(|(name, bytes)| {
        let bytes = bytes.expect("a file");
        (folder.file(name, &bytes), bytes)
    });
    let [json, code, module, machine, text] = files.each_ref().map(|file| &*file.0);
    let around = folder.path(".");
    let mut asked: Vec<Vec<&str>> = vec![
        vec!["emit", json, "-o", json],
        vec!["emit", json, "--object", code, "-o", code],
        vec!["emit", json, "--object", code, "-o", json],
        vec!["report", code, "-o", code],
        vec!["explain", "lit1", "--machine", machine, "--svg", machine],
        vec!["explain", "lit1", "--target", machine, "--svg", machine],
    ];
    asked.push(vec!["attach", module, "-o", module]);
    asked.push(vec!["attach", module, "--source", text, "-o", text]);
    asked.push(vec!["strip", module, "-o", module]);
    #[cfg(unix)]
    for (name, target) in [("link.json", "d.json"), ("link.o", "code.o")] {
        std::os::unix::fs::symlink(target, folder.path(name)).expect("a link");
    }
    let link = folder.path("link.json");
    let below = format!("{around}/d.json");
    if cfg!(unix) {
        asked.push(vec!["emit", json, "-o", &link]);
        asked.push(vec!["emit", &link, "-o", json]);
    }
    asked.push(vec!["emit", json, "-o", &below]);
    for arguments in &asked {
        let ran = run(arguments);
        let is_refused = ran.code == 2 && ran.errors.contains("the output would replace an input");
        assert!(is_refused, "{arguments:?}: {}", ran.errors);
        for (path, bytes) in &files {
            assert!(fs::read(path).expect("a file") == *bytes, "{arguments:?} changes {path}");
        }
    }
    // Devices are read and written.
    #[cfg(unix)]
    assert_eq!(run(&["emit", json, "--object", code, "-o", "/dev/null"]).code, 0);
}
