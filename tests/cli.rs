//! The command: its output, its files, and its exit codes.

mod baseline;
mod code;
use crate::common;
mod companions;
mod configuration;
mod cubin;
mod cubin_pcs;
mod dump_tables;
mod examples;
mod file_kinds;
mod help;
mod hints;
mod import;
use crate::common::cubin as kernel;
mod lint;
mod machines;
mod modules;
mod near;
mod output;
mod output_schemas;
mod places;
mod ptx;
mod source_paths;
mod split;
mod stats;
mod summary;
mod targets;
use crate::common::tools;
use crate::common::validate;
mod variables;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use eitri::emit::elf::{ObjectCode, new_object};
use eitri::target::Target;
use pretty_assertions::assert_eq;

/// Machine code of the quickstart.
const CODE: [u32; 10] = [
    0x7e0602f2, 0xd7610028, 0x00010e04, 0x8f048305, 0xe0700010, 0x80000300, 0x06060703, 0xd7600004,
    0x00010f28, 0xbf810000,
];

fn root(path: &str) -> PathBuf {
    Path::new(crate::common::ROOT).join(path)
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root(path)).expect("a file of the project")
}

/// A folder for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("eitri-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path that is text").to_owned()
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), bytes).expect("a file is written");
        self.path(name)
    }

    /// Makes a named pipe. Who opens it waits for another process.
    #[cfg(unix)]
    fn pipe(&self, name: &str) -> String {
        let made =
            tools::Tool::new("mkfifo", "coreutils").run(&[self.path(name)]).expect("a tool of every system");
        assert!(made.succeeded, "{made}");
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Ran {
    code: i32,
    out: Vec<u8>,
    errors: String,
}

impl Ran {
    fn text(&self) -> String {
        String::from_utf8(self.out.clone()).expect("text")
    }
}

fn ran(output: Output) -> Ran {
    let errors = String::from_utf8(output.stderr).expect("text");
    Ran { code: output.status.code().expect("it ended by itself"), out: output.stdout, errors }
}

fn eitri() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eitri"));
    command.current_dir(root("")).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Ran {
    ran(eitri().args(arguments).output().expect("the command runs"))
}

fn run_with(input: &[u8], arguments: &[&str]) -> Ran {
    let mut command = eitri();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    child.stdin.take().expect("is piped").write_all(input).expect("is read");
    ran(child.wait_with_output().expect("it ends"))
}

/// `scale.json` describes the quickstart: both produce the same object, byte for byte.
#[test]
fn the_description_of_the_quickstart_makes_the_same_object() {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let code = ObjectCode::text(CODE.iter().flat_map(|word| word.to_le_bytes()).collect());
    let object = new_object(&target, &code.with_function("scale", 0, 0x28), &[]).expect("an object");
    let path = root("examples/data/scale_code.o");
    // Other tests read the file.
    if common::bless() && std::fs::read(&path).ok().as_ref() != Some(&object) {
        std::fs::write(&path, &object).expect("the object is written");
    }
    assert!(std::fs::read(path).expect("the code") == object, "EITRI_BLESS=1 rewrites scale_code.o");

    let folder = Folder::new("same");
    let out = folder.path("scale.o");
    let ran = run(&[
        "emit",
        "examples/scale.json",
        "--object",
        "examples/data/scale_code.o",
        "--for",
        "llvm",
        "-o",
        &out,
    ]);
    assert_eq!((ran.code, &*ran.errors, &*ran.text()), (0, "", ""));
    let written = std::fs::read(&out).expect("it is written");

    let status = Command::new(common::example("quickstart"))
        .arg(folder.path("quickstart"))
        .output()
        .expect("the example");
    assert!(status.status.success());
    let expected = std::fs::read(folder.path("quickstart/scale.o")).expect("the example's object");
    assert!(written == expected, "the objects are not the same");
}

/// The quickstart shows the output of the commands.
#[test]
fn the_quickstart_shows_what_the_commands_print() {
    let folder = Folder::new("readme");
    let commands = [
        "eitri emit examples/scale.json --object examples/data/scale_code.o --for llvm -o scale.o",
        "eitri check examples/scale.json scale.o --for llvm",
        "eitri dump scale.o --target amdgpu-gfx1030-wave32",
    ];
    let mut shown = String::new();
    for command in commands {
        let place = folder.path("scale.o");
        let arguments: Vec<&str> =
            command.split(' ').skip(1).map(|word| if word == "scale.o" { &*place } else { word }).collect();
        let ran = run(&arguments);
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{command}");
        shown += &format!("$ {command}\n{}", ran.text());
    }
    common::check_page(
        "docs/quickstart.md",
        &[
            ("<!-- examples/scale.json -->", text("examples/scale.json")),
            ("<!-- the three commands -->", shown),
        ],
    );
}

/// One variable that only some consumers can be given.
fn lane_wise(register: &str) -> String {
    format!(
        r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{{"unit": {{"name": "a.cl"}}}},
{{"base_type": {{"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"function": {{"in": "a.cl", "name": "k", "code": {{"symbol": "k", "bytes": 64}}}}}},
{{"variable": {{"in": "k", "name": "x", "type": "int", "live": [[0, 32, {register}], [32, 64, {{"register": "s4"}}]]}}}}
]}}"#
    )
}

#[test]
fn standard_input_and_output_are_files() {
    let description = lane_wise(r#"{"per_lane": "v3"}"#);
    let written = run_with(description.as_bytes(), &["emit", "-", "--allow", "no-frame", "-o", "-"]);
    assert_eq!((written.code, &*written.errors), (0, ""));
    // The symbol of the code is external.
    let symbols = eitri::emit::elf::symbols(&written.out).expect("an object");
    assert!(symbols.iter().any(|symbol| symbol.name == "k"), "{symbols:?}");
    let dumped = run_with(&written.out, &["dump", "-"]);
    assert_eq!(dumped.code, 0, "{}", dumped.errors);
    assert!(dumped.text().contains("push_lane; lit4; mul"), "{}", dumped.text());
    let folder = Folder::new("standard");
    let path = folder.file("a.json", description);
    let checked = run_with(&written.out, &["check", &path, "-"]);
    assert_eq!((checked.code, &*checked.errors), (0, ""), "{}", checked.text());
}

#[test]
fn differences_are_findings() {
    let folder = Folder::new("findings");
    let one = lane_wise(r#"{"per_lane": "v3"}"#);
    let two = lane_wise(r#"{"per_lane": "v4"}"#);
    let one = folder.file("1.json", one);
    let two = folder.file("2.json", two);
    let out = folder.path("1.o");
    assert_eq!(run(&["emit", &one, "-o", &out]).code, 0);
    let ran = run(&["check", &two, &out]);
    assert_eq!((ran.code, &*ran.errors), (1, ""));
    assert!(ran.text().contains("location: unit `a.cl`, function `k`, variable `x`"), "{}", ran.text());
    // Findings about the whole object have no location.
    let cpu = r#"{"eitri": 1, "target": "x86_64", "describe": []}"#;
    let ran = run(&["check", &folder.file("cpu.json", cpu), &out, "--for", "llvm"]);
    assert_eq!((ran.code, &*ran.errors), (1, ""));
    let text = ran.text();
    assert!(text.starts_with("attribute: expected ELF machine 62, found 224\n"), "{text}");
    assert!(text.contains("attribute: expected processor none, found `gfx1030`\n"), "{text}");
}

#[test]
fn undescribed_entries_can_be_allowed() {
    let folder = Folder::new("extra");
    let json = folder.file("a.json", lane_wise(r#"{"per_lane": "v3"}"#));
    let out = folder.path("a.o");
    assert_eq!(run(&["emit", &json, "-o", &out]).code, 0);
    let none = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": []}"#;
    let none = folder.file("none.json", none);
    let ran = run(&["check", &none, &out]);
    assert_eq!((ran.code, &*ran.errors), (1, ""));
    let expected = "extra: unit `a.cl`: expected no more, found a unit `a.cl`\n";
    assert!(ran.text().starts_with(expected), "{}", ran.text());
    let ran = run(&["check", &none, &out, "--allow", "extra"]);
    assert_eq!((ran.code, &*ran.errors), (0, ""), "{}", ran.text());
    // Described entities must still exist.
    let other = folder.file("b.json", lane_wise(r#"{"per_lane": "v4"}"#));
    assert_eq!(run(&["check", &other, &out, "--allow", "extra"]).code, 1);
}

#[test]
fn partial_output_omits_inexpressible_properties() {
    let folder = Folder::new("partial");
    let json = folder.file("a.json", lane_wise(r#"{"per_lane": "v3"}"#));
    let out = folder.path("a.o");
    let why = "unit `a.cl`, function `k`, variable `x`, pc 0x0..0x20: DWARF 5 cannot express the current lane of \
               a register";
    let strict = run(&["emit", &json, "--for", "dwarf5", "-o", &out]);
    assert_eq!(
        (strict.code, &*strict.errors),
        (2, &*format!("eitri: {json}: {why}\n--partial omits it, and lists it\n"))
    );
    assert!(!Path::new(&out).exists(), "nothing is written");
    let partial = run(&["emit", &json, "--for", "dwarf5", "--partial", "--allow", "no-frame", "-o", &out]);
    assert_eq!((partial.code, &*partial.errors), (0, &*format!("omitted: {why}\n")));
    let checked = run(&["check", &json, &out, "--for", "dwarf5", "--partial"]);
    assert_eq!((checked.code, &*checked.errors), (0, ""), "{}", checked.text());
}

#[test]
fn unusable_input_is_named() {
    let folder = Folder::new("unusable");
    let wrong = folder.file("wrong.json", lane_wise(r#"{"lane": ["v3", 32]}"#));
    let right = folder.file("right.json", lane_wise(r#"{"lane": ["v3", 31]}"#));
    // The code at the symbol has 40 bytes.
    let long = lane_wise(r#"{"lane": ["v3", 31]}"#).replace(r#""k""#, r#""scale""#);
    let long = folder.file("long.json", long);
    let out = folder.path("out.o");
    let missing = folder.path("missing");
    let cases: &[(&[&str], &str)] = &[
        (
            &["emit", &wrong, "-o", &out],
            "wrong.json: line 5, column 63, `describe[3].variable.live[0]`, unit `a.cl`, \
            function `k`, variable `x`, pc 0x0..0x20: lane 32 is out of range for a 32-lane wave\n",
        ),
        (&["emit", &missing, "-o", &out], "missing: No such file"),
        (&["emit", &right, "--object", &right, "-o", &out], "right.json: "),
        (
            &["emit", &right, "--object", "examples/data/scale_code.o", "-o", &out],
            "scale_code.o: unit `a.cl`, function `k`: the object has no symbol `k`, where its code is\n",
        ),
        (
            &["emit", &long, "--object", "examples/data/scale_code.o", "-o", &out],
            "scale_code.o: unit `a.cl`, function `scale`, section .text: code of 0x40 bytes at symbol `scale` goes \
             past the end of the section, which has 0x28 bytes\n",
        ),
        (&["emit", &right, "-o", "/nowhere/at/all.o"], "/nowhere/at/all.o: No such file"),
        (&["check", &right, &right], "right.json: "),
        (&["dump", &right], "right.json: "),
        (&["dump", "--target", "amdgpu-gfx9999-wave32", &right], "unknown target: `amdgpu-gfx9999-wave32`"),
        (
            &["emit", &right, "--for", "everyone", "-o", &out],
            "invalid value 'everyone' for '--for <CONSUMER>'",
        ),
        (&["emit", &right], "required arguments were not provided"),
        (&["melt"], "unrecognized subcommand"),
        (&["emit", &right, "--replace", "-o", &out], "--object <FILE>"),
    ];
    for (arguments, expected) in cases {
        let ran = run(arguments);
        assert_eq!((ran.code, &*ran.text()), (2, ""), "{arguments:?}");
        assert!(ran.errors.contains(expected), "{arguments:?}: {}", ran.errors);
    }
    assert!(!Path::new(&out).exists(), "nothing is written");
}

#[test]
fn help_has_an_example_that_works() {
    for command in ["emit", "check", "dump", "conform"] {
        let ran = run(&[command, "--help"]);
        assert_eq!((ran.code, &*ran.errors), (0, ""));
        assert!(ran.text().contains(&format!("Example: eitri {command} ")), "{}", ran.text());
    }
    // The help of each command states its own view of omissions.
    let partial = |command| {
        let text = run(&[command, "--help"]).text();
        let (_, after) = text.split_once("--partial\n").expect("the option");
        after.lines().next().map(|line| line.trim().to_owned())
    };
    let of_emit = "Omit information that the consumer's format cannot express, and list it on standard error";
    assert_eq!(partial("emit").as_deref(), Some(of_emit));
    let of_check = "Accept the omissions that --partial makes: information that the consumer's format cannot";
    assert_eq!(partial("check").as_deref(), Some(of_check));
    assert_eq!(run(&["--help"]).code, 0);
}

/// A file of three vectors: one passes, one has a wrong result, one an error of the wrong class.
const VECTORS: &str = r#"{"format": "eitri-vectors-1", "target": {"name": "x86_64"},
"machine": {"registers": {"0": "01 02 03 04 05 06 07 08"}}, "vectors": [
{"name": "right", "dialect": "dwarf5", "expr": "50", "read": 16, "expect": {"bytes": "01 02"}},
{"name": "wrong", "dialect": "dwarf5", "expr": "50", "read": 16, "expect": {"location": "reg:1", "bytes": "01 02"}},
{"name": "wrong class", "dialect": "dwarf5", "expr": "31 30 1b", "expect": {"error": "ill-formed"}}
]}"#;

#[test]
fn vectors_are_run_and_those_that_fail_are_printed() {
    let samples = run(&["conform", "goldens/conformance/sample.json", "goldens/conformance/sample_gpu.json"]);
    let counts = "75 passed, 0 failed, 0 wrong error class, 0 unsupported\n";
    assert_eq!((samples.code, &*samples.text(), &*samples.errors), (0, counts, ""));

    let wrong = "wrong: expected location reg:1, bytes 01 02; found location reg:0, bytes 01 02\n";
    let class = "wrong class: wrong error class: expected error ill-formed; found error evaluation (division by \
                 zero; operation 2, offset 0x2)\n";
    let ran = run_with(VECTORS.as_bytes(), &["conform", "-"]);
    let counts = "1 passed, 1 failed, 1 wrong error class, 0 unsupported\n";
    assert_eq!((ran.code, ran.text(), &*ran.errors), (1, format!("{wrong}{class}{counts}"), ""));

    // With several files, each line names its file.
    let folder = Folder::new("conform");
    let first = folder.file("1.json", VECTORS);
    let second = folder.file("2.json", VECTORS);
    let ran = run(&["conform", &first, &second, "--only", "class"]);
    let counts = "0 passed, 0 failed, 2 wrong error class, 0 unsupported\n";
    assert_eq!((ran.code, ran.text()), (1, format!("{first}: {class}{second}: {class}{counts}")));
    let ran = run(&["conform", &first, "--only", "right"]);
    assert_eq!((ran.code, &*ran.text()), (0, "1 passed, 0 failed, 0 wrong error class, 0 unsupported\n"));
}

#[test]
fn vectors_are_printed_as_json() {
    let ran = run_with(VECTORS.as_bytes(), &["conform", "-", "--format", "json"]);
    let found = "error evaluation (division by zero; operation 2, offset 0x2)";
    // Results as JSON, for another program to judge.
    let bytes = r#""answer":{"bytes":"01 02","location":"reg:0"}"#;
    let error = r#""answer":{"error":"evaluation"}"#;
    let lines = format!(
        "{{\"name\":\"right\",\"outcome\":\"passed\",\"found\":\"location reg:0, bytes 01 02\",{bytes}}}\n\
         {{\"name\":\"wrong\",\"outcome\":\"failed\",\"found\":\"location reg:0, bytes 01 02\",{bytes}}}\n\
         {{\"name\":\"wrong class\",\"outcome\":\"wrong error class\",\"found\":\"{found}\",{error}}}\n"
    );
    assert_eq!((ran.code, ran.text(), &*ran.errors), (1, lines, ""));
}

#[test]
fn malformed_vectors_are_refused_with_file_vector_and_key() {
    let folder = Folder::new("malformed");
    let good = folder.file("good.json", VECTORS);
    let cases = [
        (
            VECTORS.replace("eitri-vectors-1", "eitri-vectors-2"),
            "line 1, column 12, `format`: unknown variant",
        ),
        (
            VECTORS.replace("\"50\"", "\"5\""),
            "`vectors[0].expr`, vector `right`: invalid value: string \"5\"",
        ),
        (
            VECTORS.replace("reg:1", "reg:99"),
            "`vectors[1].expect.location`, vector `wrong`: the target has no register",
        ),
        (
            VECTORS.replace("wrong class", "wrong"),
            "`vectors[2].name`, vector `wrong`: name is already the name of another vector",
        ),
        (
            VECTORS.replace("\"read\": 16", "\"reads\": 16"),
            "`vectors[0].reads`, vector `right`: unknown field `reads`",
        ),
        (VECTORS[..300].to_owned(), "the bytes end inside the file of vectors"),
        (VECTORS.replace("x86_64", "x87"), "line 1, column 50, `target.name`: unknown target: `x87`"),
    ];
    for (text, expected) in cases {
        let bad = folder.file("bad.json", &text);
        let ran = run(&["conform", &good, &bad]);
        assert_eq!((ran.code, &*ran.text()), (2, ""), "nothing is run: {}", ran.errors);
        assert!(ran.errors.starts_with(&format!("eitri: {bad}: ")), "{}", ran.errors);
        assert!(ran.errors.contains(expected), "not {expected}: {}", ran.errors);
    }
}

#[test]
fn debug_sections_are_replaced_and_compressed() {
    let folder = Folder::new("replace");
    let json = "examples/scale.json";
    let first = folder.path("1.o");
    let again = folder.path("2.o");
    assert_eq!(run(&["emit", json, "--object", "examples/data/scale_code.o", "-o", &first]).code, 0);
    let refused = run(&["emit", json, "--object", &first, "-o", &again]);
    assert!(refused.code == 2 && refused.errors.contains("1.o: "), "{}", refused.errors);
    assert_eq!(run(&["emit", json, "--object", &first, "--replace", "-o", &again]).code, 0);
    assert_eq!(run(&["check", json, &again]).code, 0);
    assert!(std::fs::read(&first).expect("is there") == std::fs::read(&again).expect("is there"));
    let packed = folder.path("3.o");
    for how in ["--compress-debug-sections", "--compress-debug-sections=zstd"] {
        assert_eq!(run(&["emit", json, how, "-o", &packed]).code, 0);
        let ran = run(&["check", json, &packed]);
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{how}: {}", ran.text());
    }
}

#[test]
fn tables_type_units_and_split_units_are_written_when_asked_for() {
    let folder = Folder::new("tables");
    let json = "examples/scale.json";
    let out = folder.path("out.o");
    let cases: &[(&[&str], &str)] = &[
        (&["--names"], ".debug_names"),
        (&["--aranges"], ".debug_aranges"),
        (&["--for", "dwarf4", "--partial", "--pubnames"], ".debug_pubnames"),
        (&["--for", "dwarf4", "--partial", "--type-units"], ".debug_types"),
        (&["--split-dwarf"], ".debug_addr"),
    ];
    for (options, section) in cases {
        let emit = [&["emit", json, "--object", "examples/data/scale_code.o", "-o", &out], *options].concat();
        assert_eq!(run(&emit).code, 0, "{options:?}");
        let bytes = std::fs::read(&out).expect("it is written");
        let has = bytes.windows(section.len()).any(|window| window == section.as_bytes());
        assert!(has, "{options:?}: no {section}");
        let options: Vec<&str> = options.to_vec();
        let ran = run(&[&["check", json, &out], &options[..]].concat());
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{options:?}: {}", ran.text());
    }
    assert!(folder.0.join("out.dwo").exists(), "the split unit");
    assert_eq!(run(&["emit", json, "--split-dwarf", "-o", "-"]).code, 2);
}

/// Two units with a variable each; the second can set its split file name.
fn two_units(split_name: &str) -> String {
    format!(
        r#"{{"eitri": 1, "target": "x86_64", "describe": [
{{"unit": {{"name": "src/a.c"}}}}, {{"unit": {{"name": "src/b.c"{split_name}}}}},
{{"base_type": {{"unit": "src/a.c", "name": "int", "encoding": "signed", "bits": 32}}}},
{{"base_type": {{"unit": "src/b.c", "name": "int", "encoding": "signed", "bits": 32}}}}
]}}"#
    )
}

/// Split files are named as by gcc and clang; a file of another unit is not overwritten.
#[test]
fn files_of_split_units_are_named_after_the_object() {
    let folder = Folder::new("split");
    let json = folder.file("two.json", two_units(""));
    for (out, files) in [
        ("one.o", ["one-a.dwo", "one-b.dwo"]),
        // Neither overwrites the other's.
        ("two.o", ["two-a.dwo", "two-b.dwo"]),
    ] {
        let out = folder.path(out);
        assert_eq!(run(&["emit", &json, "--for", "dwarf5", "--split-dwarf", "-o", &out]).code, 0);
        assert!(files.iter().all(|file| folder.0.join(file).exists()), "{files:?}");
    }
    for out in ["one.o", "two.o"] {
        let ran = run(&["check", &json, &folder.path(out), "--for", "dwarf5", "--split-dwarf"]);
        assert_eq!((ran.code, &*ran.errors), (0, ""), "{}", ran.text());
    }
    // The object names its split files, whatever its own name is.
    std::fs::rename(folder.path("one.o"), folder.path("other.o")).expect("the object is there");
    let ran = run(&["check", &json, &folder.path("other.o"), "--for", "dwarf5", "--split-dwarf"]);
    assert_eq!((ran.code, &*ran.errors), (0, ""), "{}", ran.text());

    let chosen = folder.file("chosen.json", two_units(r#", "split_name": "./out""#));
    let same = folder.file("same.json", two_units(r#", "split_name": "same.json""#));
    let (split, input) =
        ("would be written over by the file of a split unit", "the output would replace an input");
    for (json, out, refusal) in
        [(&json, "out-a.dwo.o", None), (&chosen, "out", Some(split)), (&same, "x.o", Some(input))]
    {
        let ran = run(&["emit", json, "--for", "dwarf5", "--split-dwarf", "-o", &folder.path(out)]);
        assert_eq!(ran.code, if refusal.is_some() { 2 } else { 0 }, "{out}: {}", ran.errors);
        assert!(refusal.is_none_or(|refusal| ran.errors.contains(refusal)), "{}", ran.errors);
    }
    for file in ["out", "out-a.dwo", "x.o", "x-a.dwo"] {
        assert!(!folder.0.join(file).exists(), "{file} is written");
    }
    let one = ["emit", "examples/scale.json", "--split-dwarf", "-o", &folder.path("scale.dwo")];
    assert_eq!(run(&one).code, 2, "the object would be its own split unit");
}

/// Words of a module with one `DebugSource`, whose text operand is `text`; ids are below 10.
fn module(text: u32) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x0001_0100, 0, 10, 0];
    let import = "OpenCL.DebugInfo.100\0\0\0\0".as_bytes().as_chunks::<4>().0;
    words.extend([8 << 16 | 11, 1].into_iter().chain(import.iter().map(|word| u32::from_le_bytes(*word))));
    words.extend([3 << 16 | 7, 2, u32::from_le_bytes(*b"a.c\0")]);
    words.extend([2 << 16 | 19, 3]);
    words.extend([7 << 16 | 12, 3, 4, 1, 35, 2, text]);
    words
}
#[test]
fn modules_are_printed_and_checked() {
    let folder = Folder::new("spirv");
    let little = |words: Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let big = |words: Vec<u32>| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let printed = "SPIR-V 1.1, ids below 10\n%1 = \"OpenCL.DebugInfo.100\"\n\
                   %4 = DebugSource File: %2 \"a.c\", Text: %2 \"a.c\"\n";
    for (name, bytes) in [("little.spv", little(module(2))), ("big.spv", big(module(2)))] {
        let right = folder.file(name, bytes);
        let dumped = run(&["dump", &right]);
        assert_eq!((dumped.code, &*dumped.errors, &*dumped.text()), (0, "", printed));
        let checked = run(&["check", &right]);
        let expected = "0 findings, 0 notes; 1 debug instruction\n";
        assert_eq!((checked.code, &*checked.errors, &*checked.text()), (0, "", expected));
    }
    let verbose = run(&["dump", "-v", &folder.path("little.spv")]).text();
    assert!(verbose.contains("\n    18: %4 = DebugSource "), "{verbose}");

    let wrong = folder.file("wrong.spv", little(module(3)));
    let checked = run(&["check", &wrong]);
    let expected = "operand-kind (4.2 Compilation Unit): word 18, DebugSource %4, operand Text: %3, an OpTypeVoid is \
                    not an OpString\n1 finding, 0 notes; 1 debug instruction\n";
    assert_eq!((checked.code, &*checked.errors, &*checked.text()), (1, "", expected));

    let cut = folder.file("cut.spv", &little(module(2))[..92]);
    for command in ["dump", "check"] {
        let ran = run(&[command, &cut]);
        let expected = format!("eitri: {cut}: word 18: the words end inside the instruction of opcode 12\n");
        assert_eq!((ran.code, ran.errors), (2, expected));
    }
    let no_module = run(&["check", &folder.file("a.json", "{}")]);
    assert_eq!(no_module.code, 2);
    assert!(no_module.errors.contains("a description is compared with an object"), "{}", no_module.errors);
}

/// The command reports an unknown set of debug instructions and exits with 1.
#[test]
fn modules_with_another_set() {
    let folder = Folder::new("other-set");
    let mut words = module(2);
    let import = "SPIRV.debug\0\0\0\0\0\0\0\0\0\0\0\0\0".as_bytes().as_chunks::<4>().0;
    words[7..13].copy_from_slice(&import.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>());
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let file = folder.file("a.spv", bytes);
    let set = "\"SPIRV.debug\" is not a known set; it has 1 debug instruction\n";
    let checked = run(&["check", &file]);
    let expected =
        format!("unknown-set (2 Binary Form): word 5: {set}1 finding, 0 notes; 0 debug instructions\n");
    assert!(checked.code == 1, "exit {}: {}", checked.code, checked.text());
    assert_eq!((&*checked.errors, &*checked.text()), ("", &*expected));
    let dumped = run(&["dump", &file]);
    let expected = format!("SPIR-V 1.1, ids below 10\n%1 = {set}");
    assert_eq!((dumped.code, &*dumped.errors, &*dumped.text()), (1, "", &*expected));
}

/// A command that takes longer than a second shows its file and the seconds on a terminal, erases the line at the end, and
/// shows nothing elsewhere. `script` runs it on a pseudo-terminal.
#[test]
fn a_line_shows_how_long_a_command_takes() {
    let folder = Folder::new("progress");
    let written = run_with(lane_wise(r#"{"per_lane": "v3"}"#).as_bytes(), &["emit", "-", "-o", "-"]);
    let object = folder.file("a.o", &written.out);
    let eitri = env!("CARGO_BIN_EXE_eitri");
    let text = folder.path("a.txt");
    let slowly = format!("(sleep 1.5; cat {object}) | {eitri} dump - > {text}");
    let shell = |tool: tools::Tool, arguments: &[&str]| {
        let run = tool.run(arguments)?;
        assert!(run.succeeded, "{run}");
        Some((format!("{}{}", run.out, run.errors), std::fs::read(&text).expect("a text")))
    };
    let script = tools::Tool::new("script", "bsdutils");
    let Some((shown, on_terminal)) = shell(script, &["-qec", &slowly, "/dev/null"]) else { return };
    assert!(shown.contains("dump 1s -"), "{shown:?}");
    // The last sequence erases the line (ECMA-48: EL, or ED), and no text is after it.
    let end = shown.rsplit("\x1b[").next().expect("a sequence");
    assert!(["K", "2K", "0J", "J"].contains(&end.trim_end_matches('\r')), "{shown:?}");
    let (shown, elsewhere) =
        shell(tools::Tool::new("sh", "dash"), &["-c", &slowly]).expect("a shell is installed");
    assert_eq!(shown, "");
    assert!(!elsewhere.is_empty() && on_terminal == elsewhere);
    let quick = format!("{eitri} dump {object} > {text}");
    assert_eq!(shell(script, &["-qec", &quick, "/dev/null"]), Some((String::new(), elsewhere)));
}
