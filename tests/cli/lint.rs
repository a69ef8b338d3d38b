//! `lint`: formats, choice of findings, containers, exit codes.

use std::path::PathBuf;

use super::{Folder, common, run, run_with, text};
use eitri::lint::{LintOptions, lint};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const OBJECT: &str = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";
/// The smallest objects of each producer, and a container.
const OBJECTS: [&str; 5] = [
    OBJECT,
    "tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco",
    "tests/objects/triton/scan_limit.gfx1100.hsaco",
    "tests/objects/triton/scan_limit.sm_90.cubin",
    "tests/objects/containers/k01_k06.a",
];

#[test]
fn each_format_is_as_reviewed() {
    for (format, file) in
        [("text", "text.txt"), ("json", "json.txt"), ("sarif", "sarif.json"), ("github", "github.txt")]
    {
        let arguments: Vec<&str> = ["lint", "--format", format].into_iter().chain(OBJECTS).collect();
        let ran = run(&arguments);
        assert_eq!((ran.code, ran.errors.as_str()), (1, ""), "{format}");
        // The folder in which the command ran is that of the checkout.
        let here = super::root("").canonicalize().expect("a folder").display().to_string();
        common::check_golden(&format!("lint/command-{file}"), &ran.text().replace(&here, "/here"));
    }
}

/// Findings as JSON.
fn findings(arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["lint", "--format", "json"].iter().chain(arguments).copied().collect();
    let out = run(&all).text();
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn findings_are_chosen_by_code_and_by_level() {
    let all = findings(&[OBJECT]);
    let levels = |arguments: &[&str]| {
        let found = findings(arguments);
        found.iter().map(|one| one["level"].as_str().expect("a level").to_owned()).collect::<Vec<_>>()
    };
    let count = |code: &str| all.iter().filter(|one| one["code"] == code).count();
    assert_eq!((count("register-as-memory"), count("no-cfa"), count("no-lane-pc")), (3, 1, 1));
    assert!(!findings(&["--allow", "note", OBJECT]).iter().any(|one| one["level"] == "note"));
    assert_eq!(findings(&["--allow", "register-as-memory", OBJECT]).len(), all.len() - 3);
    assert!(levels(&["--warn", "error", OBJECT]).iter().all(|level| level != "error"));
    assert!(levels(&["--deny", "note", OBJECT]).iter().all(|level| level == "error"));
    assert_eq!(findings(&["--only", "saxpy", OBJECT]).len(), all.len());
    let ran = run(&["lint", "--only", "saxpi", OBJECT]);
    assert!(ran.code == 2 && ran.errors.contains("did you mean `saxpy`?"), "{}", ran.errors);
    assert_eq!(findings(&["--max", "2", OBJECT]).len(), 2);
}

/// A module of SPIR-V between objects: in each format, with the choices of findings, and damaged.
#[test]
fn spirv_module_is_diagnosed_like_an_object() {
    const MODULE: &str = "tests/spirv/foreign/glslang.opt.spv";
    let found = findings(&[OBJECT, MODULE]);
    let of_module: Vec<_> = found.iter().filter(|finding| finding["file"] == MODULE).collect();
    let [finding] = &of_module[..] else { panic!("{of_module:?}") };
    // `DebugValue` of a variable of `width` in code whose scope is `main`, at word 1287.
    let expected = ["foreign-variable", "main", "range", "module"].map(|text| json!(text));
    assert_eq!(["code", "function", "variable", "section"].map(|key| finding[key].clone()), expected);
    assert_eq!(finding["offset"], 4 * 1287);
    for format in ["text", "sarif", "github"] {
        let ran = run(&["lint", "--format", format, MODULE]);
        assert!(ran.code == 1 && ran.text().contains("foreign-variable"), "{}", ran.text());
    }
    assert_eq!(run(&["lint", "--allow", "foreign-variable", MODULE]).code, 0);
    assert_eq!(run(&["lint", "--only", "main", MODULE]).code, 1);
    assert_eq!(run(&["lint", "--only", "mian", MODULE]).code, 2);
    let folder = Folder::new("lint-spirv");
    let damaged = folder.path("damaged.spv");
    let bytes = std::fs::read(PathBuf::from(common::ROOT).join(MODULE)).expect("a module");
    std::fs::write(&damaged, &bytes[..bytes.len() - 8]).expect("a file");
    let ran = run(&["lint", &damaged]);
    assert!(ran.code == 2 && ran.errors.contains("damaged.spv"), "{}", ran.errors);
}

#[test]
fn the_exit_code_depends_on_the_level() {
    assert_eq!(run(&["lint", OBJECT]).code, 1);
    assert_eq!(run(&["lint", OBJECT, "--warn", "error"]).code, 0);
    assert_eq!(run(&["lint", OBJECT, "--warn", "error", "--fail-on", "warning"]).code, 1);
    let ran = run(&["lint", "Cargo.toml", OBJECT]);
    // The next file is still read.
    assert_eq!(ran.code, 2);
    assert!(ran.errors.contains("Cargo.toml") && ran.text().contains("register-as-memory"), "{}", ran.errors);
    assert_eq!(run(&["lint"]).code, 2);
    assert_eq!(run(&["lint", OBJECT, "--allow", "register-as-memroy"]).code, 2);
}

#[test]
fn findings_of_a_baseline_are_omitted() {
    let folder = Folder::new("baseline");
    let old = run(&["lint", "--format", "json", OBJECT]).out;
    let old = folder.file("old.json", old);
    let ran = run(&["lint", OBJECT, "--baseline", &old, "--format", "json"]);
    assert!(
        ran.code == 0 && ran.text().lines().count() == 1 && ran.text().contains("\"new\":0"),
        "{}",
        ran.text()
    );
    let line = text(&old).lines().next().expect("a finding").to_owned();
    let other = line.replace("\"version\":3", "\"version\":1");
    assert_ne!(other, line);
    let number = "{\"version\":2,\"fingerprint\":\"0\"}\n";
    let earlier = "line 1: a finding from another version (1; expected 2 or 3)";
    let rows = [("{}\n", "line 1: not a finding"), (number, "line 1: not a finding"), (&*other, earlier)];
    for (lines, problem) in rows {
        let bad = folder.file("bad.json", lines);
        let ran = run(&["lint", OBJECT, "--baseline", &bad]);
        assert!(ran.code == 2 && ran.errors.contains(problem), "{lines}: {}", ran.errors);
    }
}

#[test]
fn codes_are_listed_and_explained() {
    let codes = run(&["lint", "--codes"]);
    assert_eq!(codes.code, 0);
    assert!(text("docs/lint.md").contains(&codes.text()));
    for line in codes.text().lines() {
        let code = line.split_whitespace().next().expect("a code");
        let page = run(&["lint", "--explain", code]);
        assert!(page.code == 0 && page.text().starts_with(&format!("{code}: ")), "{code}");
    }
    let ran = run(&["lint", "--explain", "no-lanes"]);
    assert!(ran.code == 2 && ran.errors.contains("no-lane"), "{}", ran.errors);
}

#[test]
fn members_of_containers_are_read() {
    let bundle = "tests/objects/containers/k06.hipfb";
    let names = |arguments: &[&str]| {
        let mut names: Vec<String> =
            findings(arguments).iter().map(|one| one["file"].as_str().expect("a name").to_owned()).collect();
        names.dedup();
        names
    };
    let member = |gfx: &str| format!("{bundle}(hipv4-amdgcn-amd-amdhsa--{gfx})");
    assert_eq!(names(&[bundle]), [member("gfx900"), member("gfx1030")]);
    assert_eq!(names(&[bundle, "--member", "gfx1030"]), [member("gfx1030")]);
    let ran = run(&["lint", bundle, "--member", "gfx11"]);
    assert!(ran.code == 2 && ran.errors.contains(&member("gfx1030")), "{}", ran.errors);
    let archive = "tests/objects/containers/k01_k06.a";
    let expected =
        ["k01_saxpy.gfx900.O2.hsaco", "k06_calls.gfx900.O2.o"].map(|name| format!("{archive}({name})"));
    assert_eq!(names(&[archive]), expected);
    let host = "tests/objects/containers/host_with_hip_fatbin.o";
    assert_eq!(names(&[host]).len(), 2);
    // An archive of host objects: the header of the member, and the object.
    let host = std::fs::read(super::root(host)).expect("an object");
    let header = format!("{:16}{:12}{:6}{:6}{:8}{:10}`\n", "host.o/", 0, 0, 0, 644, host.len());
    let folder = Folder::new("hosts");
    let archive = folder.file("hosts.a", [b"!<arch>\n", header.as_bytes(), &host].concat());
    let member = |gfx: &str| format!("{archive}(host.o)(hipv4-amdgcn-amd-amdhsa--{gfx})");
    assert_eq!(names(&[&archive]), [member("gfx900"), member("gfx1030")]);
}

/// A part that cannot be read is named, and hides no other.
#[cfg(unix)]
#[test]
fn parts_that_cannot_be_read_hide_no_others() {
    let folder = Folder::new("parts");
    let good = std::fs::read(super::root(OBJECT)).expect("an object");
    let bundle = std::fs::read(super::root("tests/objects/containers/k06.hipfb")).expect("a bundle");
    let names = |arguments: &[&str]| {
        let all = findings(arguments);
        let names = all.into_iter().map(|one| one["file"].as_str().expect("a name").to_owned());
        names.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    let failures = |arguments: &[&str]| {
        let ran = run(&[&["lint"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}");
        ran.errors
    };
    let header = |name: &str, size: usize| {
        format!("{name:16}{:12}{:6}{:6}{:8}{size:10}`\n", 0, 0, 0, 644).into_bytes()
    };
    // A bundle that is cut, and then an object.
    let member = |name: &str, bytes: &[u8]| {
        assert_eq!(bytes.len() % 2, 0);
        [header(name, bytes.len()), bytes.to_vec()].concat()
    };
    let cut = [b"!<arch>\n".to_vec(), member("cut.o/", &bundle[..300]), member("good.o/", &good)].concat();
    let archive = folder.file("cut.a", cut);
    assert_eq!(names(&[&archive]), [format!("{archive}(good.o)")]);
    assert!(failures(&[&archive]).contains(&format!("{archive}(cut.o): ")), "{}", failures(&[&archive]));
    assert_eq!(run(&["lint", &archive, "--member", "good"]).code, 1);
    assert!(failures(&[&archive, "--member", "cut"]).contains("(cut.o): "));
    // One object is not chosen for another that cannot be read.
    let report = |more: &[&str]| {
        run(&[&["report", archive.as_str(), "-o", &folder.path("page.html")], more].concat()).code
    };
    assert_eq!((report(&[]), report(&["--member", "good"])), (2, 0));
    // Members of a thin archive: no file, a pipe, a file.
    folder.file("good.o", &good);
    folder.pipe("pipe.o");
    let members = ["none.o/", "pipe.o/", "good.o/"].map(|name| header(name, good.len()));
    let archive = folder.file("thin.a", [b"!<thin>\n".to_vec(), members.concat()].concat());
    assert_eq!(names(&[&archive]), [format!("{archive}(good.o)")]);
    let errors = failures(&[&archive]);
    assert!(errors.contains(&format!("{archive}(none.o): ")), "{errors}");
    assert!(errors.contains(&format!("{archive}(pipe.o): not a regular file")), "{errors}");
    // A host object whose section has no bundle is still an object.
    let mut host =
        std::fs::read(super::root("tests/objects/containers/host_with_hip_fatbin.o")).expect("an object");
    let mark = b"__CLANG_OFFLOAD_BUNDLE__";
    let places: Vec<_> = (0..host.len()).filter(|at| host[*at..].starts_with(mark)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| host[*at] = b'x');
    let host = folder.file("host.o", host);
    let ran = run(&["stats", &host, "--format", "json"]);
    assert_eq!((ran.code, ran.text().lines().count()), (2, 1), "{}", ran.errors);
    assert!(ran.errors.contains(&format!("{host}: section .hip_fatbin, ")), "{}", ran.errors);
}

#[test]
fn standard_input_and_colours_are_supported() {
    let object = std::fs::read(super::root(OBJECT)).expect("an object");
    let ran = run_with(&object, &["lint", "-"]);
    assert!(ran.code == 1 && ran.text().starts_with("standard input: "));
    assert!(!ran.text().contains('\x1b'));
    assert!(run(&["lint", OBJECT, "--color", "always"]).text().contains("\x1b[1;31m"));
}

/// `script` runs the command on a terminal.
#[test]
fn a_terminal_has_colours_unless_the_environment_refuses_them() {
    let shown = |environment: &str| {
        let command =
            format!("{environment} {} lint {}", env!("CARGO_BIN_EXE_eitri"), super::root(OBJECT).display());
        let script = super::tools::Tool::new("script", "bsdutils");
        Some(script.run(&["-qec", &command, "/dev/null"])?.out)
    };
    let Some(coloured) = shown("env -u NO_COLOR") else { return };
    let plain = shown("NO_COLOR=1").expect("the program is there");
    assert!(coloured.contains("\x1b[1;31m"), "{coloured}");
    assert_eq!(shown("NO_COLOR="), Some(coloured));
    assert!(plain.contains("register-as-memory") && !plain.contains('\x1b'), "{plain}");
}

/// The reader of the output has ended, as `head` does: no message.
#[test]
fn a_closed_pipe_is_no_error() {
    let formats = ["text", "json", "sarif", "github"].map(|format| vec!["lint", OBJECT, "--format", format]);
    for arguments in formats.into_iter().chain([vec!["stats", OBJECT], vec!["dump", OBJECT]]) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = super::eitri();
        let child = command.args(&arguments).stdout(writer).stderr(std::process::Stdio::piped()).spawn();
        let ran = super::ran(child.expect("the command runs").wait_with_output().expect("it ends"));
        assert_eq!(ran.errors, "", "{arguments:?}");
    }
}

/// A finding has the line of the source, where the file is found.
#[test]
fn the_source_line_is_shown() {
    let folder = Folder::new("source");
    let lines: Vec<_> = (1..=8).map(|line| format!("\t  text\t{line}\n")).collect();
    folder.file("k01_saxpy.cl", lines.concat());
    let lint = |at: &std::path::Path| {
        let mut command = super::eitri();
        command.current_dir(at).arg("lint").arg(super::root(OBJECT));
        super::ran(command.output().expect("the command runs")).text()
    };
    let out = lint(&folder.0);
    for line in [4, 5, 6] {
        assert!(out.contains(&format!("\n      /src/k01_saxpy.cl:{line} | text {line}\n")), "{out}");
    }
    let without = lint(&super::root(""));
    assert!(without.contains("\n      /src/k01_saxpy.cl:4\n"), "{without}");
}

/// The object with another name of the source, of the same length.
fn renamed(new: &[u8; 12]) -> Vec<u8> {
    let mut object = std::fs::read(super::root(OBJECT)).expect("an object");
    let name = b"k01_saxpy.cl";
    let places: Vec<_> =
        object.windows(name.len()).enumerate().filter(|one| one.1 == name).map(|one| one.0).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|&at| object[at..at + name.len()].copy_from_slice(new));
    object
}

/// Names in an object lead to no file outside the current folder, that of the object, and those that the command names,
/// to none that is not regular, and to none of more than 16 MiB.
#[cfg(unix)]
#[test]
fn sources_are_files_of_the_folders() {
    let folder = Folder::new("sources");
    std::fs::create_dir_all(folder.path("here/x")).expect("a folder");
    let object = |name: &[u8; 12]| folder.file("here/a.hsaco", renamed(name));
    let lint = |name: &[u8; 12], more: &[&str]| {
        let mut command = super::eitri();
        // Without a limit, a device would fill the memory.
        command.current_dir(folder.path("here")).arg("lint").arg(object(name)).args(more);
        super::ran(command.output().expect("the command runs")).text()
    };
    let lines = (1..=8).map(|line| format!("text {line}\n")).collect::<String>();
    folder.file("here/x/a_file.cl", &lines);
    assert!(lint(b"./x/a_file.c", &[]).contains("a_file.c:4\n"));
    assert!(lint(b"x//a_file.cl", &[]).contains("a_file.cl:4 | text 4\n"));
    // From another folder, by the object's.
    let mut command = super::eitri();
    let output = command.current_dir("/").arg("lint").arg(object(b"x//a_file.cl")).output();
    assert!(super::ran(output.expect("the command runs")).text().contains("a_file.cl:4 | text 4\n"));
    // A file outside, a link to it, and the folder that is named.
    folder.file("secret.cl", &lines);
    std::os::unix::fs::symlink(folder.path("secret.cl"), folder.path("here/linked_to.cl")).expect("a link");
    // The folder of the compilation is `/src`.
    assert!(lint(b"../secret.cl", &[]).contains(" /secret.cl:4\n"));
    assert!(lint(b"linked_to.cl", &[]).contains("linked_to.cl:4\n"));
    assert!(lint(b"../secret.cl", &["--source", ".."]).contains(" /secret.cl:4 | text 4\n"));
    assert!(lint(b"/etc//passwd", &[]).contains("passwd:4\n"));
    // No reader of a pipe waits for a writer.
    folder.pipe("here/a__pipe__.cl");
    assert!(lint(b"a__pipe__.cl", &[]).contains("a__pipe__.cl:4\n"));
    assert!(lint(b"a__pipe__.cl", &["--source", "."]).contains("a__pipe__.cl:4\n"));
    assert!(lint(b"/dev/./zero\0", &["--source", "/dev"]).contains("zero:4\n"));
    let large = std::fs::File::create(folder.path("here/is_large_.cl")).expect("a file");
    std::io::Write::write_all(&mut &large, lines.as_bytes()).expect("text");
    for (bytes, end) in [(16 << 20, " | text 4\n"), ((16 << 20) + 1, "\n")] {
        large.set_len(bytes).expect("a size");
        assert!(lint(b"is_large_.cl", &[]).contains(&format!("is_large_.cl:4{end}")), "{bytes}");
    }
}

/// GitHub's toolkit: `%`, line feeds; in properties also `:` and `,`.
#[test]
fn properties_of_workflow_commands_are_escaped() {
    let folder = Folder::new("github");
    let object = folder.file("a%b,c:d.hsaco", renamed(b"%,:\n::a%0A.c"));
    let out = run(&["lint", &object, "--format", "github"]).text();
    let line = out.lines().find(|line| line.contains("title=register-as-memory")).expect("a finding");
    let start = "::error file=/src/%25%2C%3A%0A%3A%3Aa%250A.c,line=4,title=register-as-memory::";
    let message = line.strip_prefix(start).unwrap_or_else(|| panic!("{line}"));
    // The name of the object is in the message.
    assert!(
        message.starts_with(&object.replace('%', "%25")) && message.contains("a%25b,c:d.hsaco: "),
        "{message}"
    );
}

/// With a limit, the errors are printed first, those of one level in the order of the file. All findings are counted.
#[test]
fn a_limit_retains_the_heaviest_findings() {
    let all = findings(&[OBJECT]);
    let errors = all.iter().filter(|one| one["level"] == "error");
    let others = all.iter().filter(|one| one["level"] != "error");
    assert!(errors.clone().count() > 2 && all[1]["level"] == "note", "the second finding is a note");
    let heaviest: Vec<_> = errors.clone().chain(others).cloned().collect();
    for most in [0, 2, errors.count() + 1, all.len(), all.len() + 1] {
        let found = findings(&[OBJECT, "--max", &most.to_string()]);
        assert_eq!(found, heaviest[..most.min(all.len())]);
    }
    let ran = run(&["lint", OBJECT, "--max", "3"]).text();
    assert!(ran.contains("error[") && !ran.contains("note["), "{ran}");
    assert!(ran.contains(&format!("{} findings not printed", all.len() - 3)), "{ran}");
}

/// A finding whose file has no name is at the object.
#[test]
fn a_declaration_without_a_file_is_at_the_object() {
    let folder = Folder::new("nameless");
    let object = folder.file("a.hsaco", renamed(&[0; 12]));
    let out = run(&["lint", &object, "--format", "github"]).text();
    assert!(out.lines().all(|line| line.contains(&format!(" file={object},title="))), "{out}");
    let log: Value = serde_json::from_slice(&run(&["lint", &object, "--format", "sarif"]).out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let uri = |one: &Value| one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    let whole = format!("file://{object}");
    assert!(!results.is_empty() && results.iter().all(|one| uri(one) == whole), "{results:?}");
}

/// SARIF 2.1.0 by the schema of OASIS, minified: sarif-schema-2.1.0.json of errata 01.
#[test]
fn sarif_is_valid_by_the_published_schema() {
    let folder = Folder::new("sarif");
    let log = |name: &str, objects: &[&str]| {
        let all: Vec<&str> = ["lint", "--format", "sarif"].iter().chain(objects).copied().collect();
        (PathBuf::from(folder.file(name, run(&all).out)), true)
    };
    let hostile = folder.file("a.hsaco", renamed(b"\x1b[31m\n::ab.c"));
    let containers = ["k01_k06.a", "k06.hipfb", "host_with_hip_fatbin.o"];
    let containers = containers.map(|name| format!("tests/objects/containers/{name}"));
    let mut all = vec![
        (super::root("goldens/lint/command-sarif.json"), true),
        log("hostile.json", &[&hostile]),
        log("none.json", &["examples/data/saxpy.o"]),
        log("containers.json", &containers.each_ref().map(String::as_str)),
    ];
    let right: Value = serde_json::from_str(&text("goldens/lint/command-sarif.json")).expect("JSON");
    let wrong = [
        ("/version", json!("2.0.0")),
        ("/runs/0/tool", json!({})),
        ("/runs/0/tool/driver/name", json!(7)),
        ("/runs/0/results/0/level", json!("fatal")),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/results/0/partialFingerprints", json!({"a": 1})),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(0)),
    ];
    for (index, (pointer, value)) in wrong.into_iter().enumerate() {
        let mut log = right.clone();
        *log.pointer_mut(pointer).expect("a value") = value;
        all.push((folder.file(&format!("{index}.json"), log.to_string()).into(), false));
    }
    super::validate::by(&super::root("tests/cli/sarif-2.1.0.json.gz"), &all);
}

/// Each line is valid by the schema, and lines with other keys or values are not.
#[test]
fn lines_are_valid_by_the_schema() {
    let folder = Folder::new("schema");
    let lines = text("goldens/lint/command-json.txt");
    let mut all: Vec<(PathBuf, bool)> = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        all.push((folder.file(&format!("{index}.json"), line).into(), true));
    }
    let parsed = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let right = parsed.into_iter().find(|one| !one["expression"].is_null() && !one["pcs"].is_null());
    let right = right.expect("a finding with an expression");
    let wrong = [
        ("version", json!(1)),
        ("code", json!("no-such-code")),
        ("level", json!("fatal")),
        ("pcs", json!(["0x0"])),
        ("pcs", json!([0, 4])),
        ("declared", json!({"file": "a.c"})),
        ("expression", json!({"text": "lit0", "fault": 0})),
        ("fingerprint", json!("12")),
        ("offset", json!(-1)),
        ("evidence", json!("text")),
        ("author", json!("me")),
    ];
    for (index, (key, value)) in wrong.into_iter().enumerate() {
        let mut line = right.clone();
        line[key] = value;
        all.push((folder.file(&format!("wrong{index}.json"), line.to_string()).into(), false));
    }
    for key in right.as_object().expect("an object").keys() {
        let mut line = right.clone();
        line.as_object_mut().expect("an object").remove(key);
        all.push((folder.file(&format!("without-{key}.json"), line.to_string()).into(), false));
    }
    super::validate::by(&super::root("docs/finding.schema.json"), &all);
}

/// The page lists the keys of the schema.
#[test]
fn the_page_has_the_keys_of_the_schema() {
    let page = text("docs/lint.md");
    let schema: Value = serde_json::from_str(&run(&["schema", "finding"]).text()).expect("JSON");
    let (_, rows) = page.split_once("| field | value |\n|---|---|\n").expect("the table");
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let mut listed: Vec<_> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|keys| keys.split(','))
        .map(|key| key.trim().trim_matches('`').to_owned())
        .collect();
    listed.sort();
    let keys: Vec<_> = schema["properties"].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(listed, keys);
}

/// Names of a file are text: they neither colour a terminal nor begin a line.
#[test]
fn names_cannot_act_on_a_terminal() {
    let folder = Folder::new("hostile");
    let object = folder.file("a.hsaco", renamed(b"\x1b[31m\n::ab.c"));
    let out = run(&["lint", &object]).text();
    assert!(out.contains(r": \u{1b}[31m\n::ab.c: function `saxpy`"), "{out}");
    let github = run(&["lint", &object, "--format", "github"]).text();
    let is_command = |line: &str| {
        ["::error file=", "::warning file=", "::notice file="].iter().any(|start| line.starts_with(start))
    };
    assert!(github.lines().all(is_command) && github.contains("%0A"), "{github}");
    for out in
        [out, github, run(&["lint", &object, "--format", "sarif"]).text(), run(&["stats", &object]).text()]
    {
        assert!(!out.contains('\x1b') && !out.lines().any(|line| line.starts_with("::a")), "{out}");
    }
}

/// `lint`, `stats` and `report` read the files of split units in the folder of the object, or those that are named.
#[test]
fn files_of_split_units_are_read() {
    let folder = Folder::new("lint-split");
    let json = "examples/scale.json";
    let code = "examples/data/scale_code.o";
    let object = folder.path("out.o");
    let page = folder.path("page.html");
    assert_eq!(run(&["emit", json, "--object", code, "--split-dwarf", "-o", &object]).code, 0);
    let functions = |more: &[&str]| {
        let all = [&["stats", &object, "--format", "json"], more].concat();
        let found: Value = serde_json::from_str(&run(&all).text()).expect("JSON");
        found["#functions"].as_u64().expect("a number")
    };
    let elsewhere = |more: &[&str]| {
        let found = findings(&[&[object.as_str()], more].concat());
        found.iter().filter(|one| one["code"] == "split-unit-elsewhere").count()
    };
    let shown = |more: &[&str]| {
        assert_eq!(run(&[&["report", &object, "-o", &page], more].concat()).code, 0);
        text(&page).len()
    };
    assert_eq!((functions(&[]), elsewhere(&[])), (1, 0));
    let whole = shown(&[]);
    let other = folder.path("other.dwo");
    std::fs::rename(folder.path("out.dwo"), &other).expect("the split unit");
    assert_eq!((functions(&[]), elsewhere(&[])), (0, 1));
    assert!(shown(&[]) < whole);
    // The name of a package.
    let beside = format!("{object}.dwp");
    std::fs::copy(&other, &beside).expect("a copy");
    assert_eq!((functions(&[]), elsewhere(&[]), shown(&[])), (1, 0, whole));
    std::fs::remove_file(&beside).expect("it is there");
    let named = ["--split", other.as_str()];
    assert_eq!((functions(&named), elsewhere(&named), shown(&named)), (1, 0, whole));
    let missing = run(&["lint", &object, "--split", &folder.path("no.dwo")]);
    assert!(missing.code == 2 && missing.errors.contains("no.dwo"), "{}", missing.errors);
    // A file of other units is not used.
    let two = folder.file("two.json", super::two_units(""));
    let emit = ["emit", &two, "--for", "dwarf5", "--split-dwarf", "-o", &folder.path("two.o")];
    assert_eq!(run(&emit).code, 0);
    std::fs::rename(folder.path("two-a.dwo"), folder.path("out.dwo")).expect("a split unit");
    assert_eq!((functions(&[]), elsewhere(&[])), (0, 1));
    // One that is named, and used for no object, is a wrong argument; one for the other object is not.
    let stale = folder.path("out.dwo");
    let unused =
        format!("eitri: {stale}: no skeleton unit without its split unit has the id of a unit in this file");
    for command in [&["lint", &object][..], &["stats", &object], &["report", &object, "-o", &page]] {
        let ran = run(&[command, &["--split", &stale]].concat());
        assert_eq!((ran.code, ran.errors.trim()), (2, unused.as_str()), "{command:?}");
    }
    for command in [&["lint", "--allow", "error"][..], &["stats"]] {
        let files = [&object, &folder.path("two.o"), "--split", &other, "--split", &stale];
        let ran = run(&[command, &files].concat());
        assert_eq!((ran.code, ran.errors.as_str()), (0, ""), "{command:?}");
    }
    // Split units alone: the message names what is to be read.
    for command in [&["lint", &other][..], &["stats", &other], &["report", &other, "-o", &page]] {
        let ran = run(command);
        let is_named =
            ran.errors.contains(&other) && ran.errors.contains("the object with their skeleton units");
        assert!(ran.code == 2 && is_named, "{command:?}: {}", ran.errors);
    }
    folder.file("out.dwo", "no object");
    let broken = run(&["stats", &object]);
    assert!(broken.code == 2 && broken.errors.contains("out.dwo`: not an ELF file"), "{}", broken.errors);
}

/// The report of the library is the text of the command without the names of objects: a finding is its group, and a report
/// all groups and the numbers.
#[test]
fn library_displays_what_the_command_prints() {
    for object in &OBJECTS[..4] {
        let printed = run(&["lint", object]).text();
        let path = super::root(object);
        let bytes = std::fs::read(&path).expect("an object");
        let report = lint(&bytes, &LintOptions::default()).expect("it is read");
        let plain = printed.replace(&format!("{object}: "), "");
        assert!(plain.len() < printed.len() && report.findings.len() > 2, "{object}");
        assert_eq!(format!("{report}\n"), plain, "{object}");
        // The lines of a finding are among those of the report, in order.
        for finding in report.findings.iter().filter(|finding| report.count(finding.code) == 1) {
            let text = finding.to_string();
            assert!(!text.ends_with('\n'), "{text}");
            let mut lines = plain.lines();
            assert!(text.lines().all(|line| lines.any(|printed| printed == line)), "{text}\n{plain}");
        }
    }
}

/// A name in a file cannot act on a terminal that the report is printed to.
#[test]
fn displayed_names_are_escaped() {
    let bytes = std::fs::read(super::root(OBJECT)).expect("an object");
    let mut report = lint(&bytes, &LintOptions::default()).expect("it is read");
    report.findings[0].variable = Some("\u{1b}[2Jx\n".into());
    let text = report.findings[0].to_string();
    assert!(text.contains("\\u{1b}[2Jx\\n"), "{text}");
    assert!(!report.to_string().contains('\u{1b}'), "{report}");
}
