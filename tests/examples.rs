//! The examples run, and their output depends neither on the time nor on the folder.

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use pretty_assertions::assert_eq;

/// The examples that print and write no file.
const PRINT_ONLY: [&str; 2] = ["inlined", "minimal"];

/// The example that needs the feature `regalloc2`.
const ALLOCATED: &str = "allocated";

/// The example that needs the feature `rspirv`.
const RSPIRV: &str = "rspirv_shader";

/// The example that reads an object and a trace of its run.
const REPLAY: &str = "replay";

/// Names of the examples that need no input, one per file.
fn names() -> Vec<String> {
    let folder = Path::new(crate::common::ROOT).join("examples");
    let files = std::fs::read_dir(folder).expect("the examples").map(|file| file.expect("a file").path());
    let sources = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut names: Vec<String> =
        sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.retain(|name| name != REPLAY);
    names.sort();
    names
}

/// Runs an example in its own folder. Returns the output, without the folder, and the files.
fn run(name: &str, turn: u32) -> (String, BTreeMap<String, Vec<u8>>) {
    let folder = std::env::temp_dir().join(format!("eitri-example-{}-{name}-{turn}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let output = Command::new(common::example(name)).arg(&folder).output().expect("the example");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{name}: {}\n{printed}", String::from_utf8_lossy(&output.stderr));

    let place = folder.to_str().expect("a path");
    let mut paths = 0;
    for word in printed.split_whitespace().filter(|word| word.starts_with(place)) {
        let path = word.trim_end_matches([':', ',', '.']);
        assert!(Path::new(path).is_file(), "{name} prints {path}, which is not there");
        paths += 1;
    }
    assert!(paths > 0 || PRINT_ONLY.contains(&name), "{name} does not say what it wrote:\n{printed}");

    let files = std::fs::read_dir(&folder).expect("the folder").map(|file| {
        let path = file.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(&path).expect("what was written"))
    });
    let files: BTreeMap<String, Vec<u8>> = files.collect();
    let printed = printed.replace(place, "FOLDER");
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    (printed, files)
}

#[test]
fn examples_run_and_write_the_same_bytes_twice() {
    let names = names();
    assert!(names.iter().any(|name| name == "quickstart"));
    for name in names {
        let first = run(&name, 1);
        let second = run(&name, 2);
        assert_eq!(first.0, second.0, "{name}");
        assert_eq!(first.1.keys().collect::<Vec<_>>(), second.1.keys().collect::<Vec<_>>(), "{name}");
        for (file, bytes) in &first.1 {
            assert!(*bytes == second.1[file], "{name}: {file}");
        }
        assert!(!first.1.is_empty() || PRINT_ONLY.contains(&&*name), "{name} writes nothing");
    }
}

#[test]
fn objects_of_examples_say_what_was_reviewed() {
    let objects = [
        ("quickstart", "scale.o"),
        ("cpu", "sum.o"),
        ("diverged", "weigh.o"),
        ("frames", "sum.o"),
        ("attach", "uspill.debug.o"),
        ("own_dwarf", "own_dwarf.o"),
        ("cuda_kernel", "cuda_kernel.debug.ptx"),
        ("sass_kernel", "sass_kernel.debug.cubin"),
        ("spirv_kernel", "saxpy.debug.o"),
        (ALLOCATED, "sum.o"),
    ];
    let with_object = objects.iter().map(|(name, _)| *name).chain(PRINT_ONLY).chain([RSPIRV]);
    let with_object: Vec<&str> = with_object.collect();
    assert!(names().iter().all(|name| with_object.contains(&name.as_str())), "each example has a golden");
    for (name, object) in objects {
        let (_, files) = run(name, 3);
        let target = match name {
            "cpu" => "x86_64",
            "cuda_kernel" | "sass_kernel" => "nvptx-sm_80",
            _ => "amdgpu-gfx1030-wave32",
        };
        let target = eitri::target::Target::named(target).expect("a target");
        let text = eitri::dump::print(&files[object], Some(&target)).expect("an object that can be read");
        common::check_golden(&format!("examples/{name}.txt"), &text);
    }
}
#[test]
fn modules_of_examples_say_what_was_reviewed() {
    let print = |bytes: &[u8]| {
        let words = eitri::spirv::from_bytes(bytes).expect("words");
        let facts = eitri::spirv::read(&words).expect("a module");
        eitri::spirv::print(&facts, Default::default())
    };
    let (_, files) = run("spirv_kernel", 5);
    for name in ["debug", "vulkan"] {
        let text = print(&files[&format!("saxpy.{name}.spv")]);
        common::check_golden(&format!("examples/spirv_kernel.{name}.txt"), &text);
    }
    let (_, files) = run(RSPIRV, 6);
    common::check_golden("examples/rspirv_shader.txt", &print(&files["scale.spv"]));
}

/// Lines of an example, from one with the prefix `first` to one with the prefix `last`, without their indentation.
fn part(name: &str, first: &str, last: &str) -> String {
    let path = Path::new(crate::common::ROOT).join("examples").join(name).with_extension("rs");
    let source = std::fs::read_to_string(path).expect("the example");
    let mut lines = source.lines().skip_while(|line| !line.trim_start().starts_with(first)).peekable();
    let indent = lines.peek().map(|line| line.len() - line.trim_start().len()).expect("the first line");
    let mut text = String::new();
    for line in lines {
        text += line.get(indent..).unwrap_or_default();
        text += "\n";
        if line.trim_start().starts_with(last) {
            return text;
        }
    }
    panic!("{name} has no line that begins with {last}");
}

#[test]
fn the_pages_show_examples_and_what_they_print() {
    let source = |name: &str| {
        let path = Path::new(crate::common::ROOT).join("examples").join(name).with_extension("rs");
        std::fs::read_to_string(path).expect("the example")
    };
    let printed = |name| run(name, 4).0.replace("FOLDER", "target/examples");
    let variables = printed("minimal");
    let lines: Vec<&str> = variables.lines().collect();
    let first = lines.iter().position(|line| line.contains("DW_TAG_variable")).expect("a variable");
    let variables = lines[first..first + 11].join("\n") + "\n";
    common::check_page(
        "README.md",
        &[
            (
                "<!-- examples/minimal.rs: the description and its check -->",
                part("minimal", "let gpu", "print!"),
            ),
            ("<!-- output of minimal, in part -->", variables),
        ],
    );
    common::check_page(
        "docs/quickstart.md",
        &[
            ("<!-- examples/quickstart.rs -->", source("quickstart")),
            ("<!-- output of quickstart -->", printed("quickstart")),
        ],
    );
    common::check_page(
        "docs/frames.md",
        &[
            (
                "<!-- examples/frames.rs: a frame -->",
                part("frames", "// In bytes of the wave", ".undefined(0x34"),
            ),
            ("<!-- output of frames -->", printed("frames")),
        ],
    );
    common::check_page(
        "docs/cpu.md",
        &[
            (
                "<!-- examples/cpu.rs: a function -->",
                part("cpu", "let sum = m.function", ".saved(0x01..0x10"),
            ),
            ("<!-- examples/cpu.rs: the object -->", part("cpu", "// gdb and lldb read", "assert!(report")),
        ],
    );
    common::check_page(
        "docs/divergence.md",
        &[
            ("<!-- examples/diverged.rs: the code -->", part("diverged", "0x7d080280", "0xbf810000")),
            ("<!-- examples/diverged.rs: lanes -->", part("diverged", "let mut lanes", "lanes.whole_wave")),
            ("<!-- output of diverged -->", printed("diverged")),
        ],
    );
    common::check_page(
        "docs/debuggers.md",
        &[
            ("<!-- examples/inlined.rs: frames and variables -->", part("inlined", "let info", "Ok(())")),
            ("<!-- output of inlined -->", printed("inlined")),
        ],
    );
    let first = "struct Emitted";
    let glue = part(ALLOCATED, first, "// Up to here.").replace("// Up to here.\n", "");
    let lines = glue.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 40, "the glue has {lines} lines");
    common::check_page("docs/locations.md", &[("<!-- examples/allocated.rs: the glue -->", glue)]);
}

/// Each package can be built alone, with the objects that examples in its documentation read.
#[test]
fn objects_of_packages_are_equal() {
    let folder = |path: &str| Path::new(crate::common::ROOT).join(path);
    for package in ["crates/eitri-dwarf/data", "crates/eitri-inspect/data"] {
        let files = std::fs::read_dir(folder(package)).expect("a folder");
        let mut count = 0;
        for file in files.map(|file| file.expect("a file").path()) {
            let original = folder("examples/data").join(file.file_name().expect("a name"));
            let [copy, original] = [&file, &original].map(|path| std::fs::read(path).expect("a file"));
            assert!(copy == original, "{} differs from the file in examples/data", file.display());
            count += 1;
        }
        assert!(count > 0, "{package}");
    }
}
