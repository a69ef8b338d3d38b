//! `lint --baseline`: what is new, what stayed, what is gone.

use super::{Folder, run, text, tools::Tool};
use pretty_assertions::assert_eq;
use serde_json::Value;

const OBJECT: &str = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";
const OTHER: &str = "tests/objects/llvm19/k04_diverge.gfx1100.O2.hsaco";

/// Runs `lint` in a folder.
fn lint_in(folder: &std::path::Path, arguments: &[&str]) -> super::Ran {
    let mut command = super::eitri();
    command.current_dir(folder).arg("lint").args(arguments);
    super::ran(command.output().expect("the command runs"))
}

/// Number of findings, each counted.
fn count(objects: &[&str]) -> usize {
    let all: Vec<&str> = ["lint", "--format", "json"].iter().chain(objects).copied().collect();
    run(&all).text().lines().count()
}

#[test]
fn new_stayed_and_gone_findings_are_told_apart() {
    let folder = Folder::new("baseline-states");
    let file = folder.path("known.json");
    let written = run(&["lint", OBJECT, "--baseline", &file, "--update-baseline"]);
    let known = count(&[OBJECT]);
    let expected = format!("baseline {file}: {known} new, 0 stayed, 0 gone\n");
    assert_eq!((written.code, written.errors.as_str(), written.text()), (0, "", expected));
    // Each line has what survives another build, and a number.
    let lines: Vec<Value> =
        text(&file).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.iter().map(|line| line["count"].as_u64().expect("a number")).sum::<u64>(), known as u64);
    for line in &lines {
        let keys: Vec<_> = line.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["code", "count", "function", "inlined", "shape", "unit", "variable", "version"]);
    }
    // The same object: nothing is new, and the exit code is that of no finding.
    let same = run(&["lint", OBJECT, "--baseline", &file]);
    assert!(
        same.text().ends_with(&format!("baseline {file}: 0 new, {known} stayed, 0 gone\n")),
        "{}",
        same.text()
    );
    assert_eq!(same.code, 0);
    // Another object: all are new, and the known findings are gone, with their names.
    let other = run(&["lint", OTHER, "--baseline", &file]);
    let new = count(&[OTHER]);
    let state = format!("baseline {file}: {new} new, 0 stayed, {known} gone\n");
    let said = other.text();
    assert!(other.code == 1 && said.contains(&state), "{said}");
    assert!(
        said.contains("\n  gone: register-as-memory: `")
            && said.contains(" in `saxpy` (k01_saxpy.cl): breg; "),
        "{said}"
    );
    // JSON has the same in its last line; its lines are a baseline again.
    let json = run(&["lint", OTHER, "--baseline", &file, "--format", "json"]).text();
    let last: Value = serde_json::from_str(json.lines().last().expect("a line")).expect("JSON");
    let number = |key: &str| last[key].as_u64().expect("a number") as usize;
    assert_eq!((number("new"), number("stayed")), (new, 0));
    let gone = last["gone"].as_array().expect("a list");
    assert_eq!(gone.iter().map(|line| line["count"].as_u64().expect("a number")).sum::<u64>(), known as u64);
    let again = folder.file("again.json", &json);
    let ran = run(&["lint", OTHER, "--baseline", &again]);
    assert_eq!(ran.code, 0, "{}", ran.text());
    // An update takes what is there now, and nothing else.
    assert_eq!(run(&["lint", OTHER, "--baseline", &file, "--update-baseline"]).code, 0);
    assert!(!text(&file).contains("saxpy"));
    // With chosen functions, the findings in other functions are not gone.
    let some = run(&["lint", OTHER, OBJECT, "--only", "saxpy", "--baseline", &file]);
    assert!(some.text().contains(" 0 gone\n"), "{}", some.text());
}

#[test]
fn baseline_is_only_replaced_as_a_whole() {
    let folder = Folder::new("baseline-whole");
    let missing = folder.path("none.json");
    let ran = run(&["lint", OBJECT, "--baseline", &missing]);
    assert!(ran.code == 2 && ran.errors.ends_with("--update-baseline writes it\n"), "{}", ran.errors);
    let ran = run(&["lint", OBJECT, "--update-baseline"]);
    assert!(ran.code == 2 && ran.errors.contains("expected --baseline"), "{}", ran.errors);
    // A file that cannot be read would leave findings out.
    let old = folder.file("old.json", "");
    let ran = run(&["lint", OBJECT, "Cargo.toml", "--baseline", &old, "--update-baseline"]);
    assert!(ran.code == 2 && ran.errors.contains("the baseline is not written"), "{}", ran.errors);
    assert_eq!(text(&old), "");
    for choice in [&["--only", "saxpy"][..], &["--member", "x"], &["--max", "1"]] {
        let ran = run(&[&["lint", OBJECT, "--baseline", &old, "--update-baseline"], choice].concat());
        assert_eq!(ran.code, 2, "{choice:?}");
    }
    // SARIF: the results are new; standard error has the numbers.
    let ran = run(&["lint", OBJECT, "--baseline", &old, "--format", "sarif"]);
    assert!(ran.errors.contains(" new, 0 stayed, 0 gone"), "{}", ran.errors);
    let log: Value = serde_json::from_slice(&ran.out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(!results.is_empty() && results.iter().all(|result| result["baselineState"] == "new"));
}

/// A kernel, and the same kernel after lines, another kernel, and a statement that needs registers were added. Clang 19
/// chooses other registers and addresses, and makes the same mistakes about the first kernel.
#[test]
fn baseline_survives_moved_lines_and_another_build() {
    const KERNEL: &str = "__kernel void scale(__global float *x, int n) {\n\
        int i = get_global_id(0);\n\
        float old = x[i];\n\
        if (i < n) {\n\
            float next = old * 2.0f;\n\
            x[i] = next + (float)i;\n\
        }\n\
        }\n";
    let before = "\n\n\n__kernel void first(__global int *y, __global int *z) {\n\
        int j = get_local_id(0);\n\
        y[j] += z[j + 7];\n\
        }\n";
    let folder = Folder::new("baseline-moved");
    let compile = |name: &str, source: String| {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
        let source = folder.file(&format!("{name}/k.cl"), source);
        let object = folder.path(&format!("{name}/k.o"));
        let target = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-x", "cl", "-cl-std=CL2.0"];
        let rest =
            ["-Xclang", "-finclude-default-header", "-O2", "-g", "-nogpulib", "-c", &source, "-o", &object];
        let ran = Tool::new("clang-19", "clang-19").run(&[&target[..], &rest].concat())?;
        assert!(ran.succeeded, "{ran}");
        Some(object)
    };
    let Some(old) = compile("old", KERNEL.into()) else { return };
    let new = compile("new", format!("{before}{KERNEL}")).expect("the compiler is there");
    let file = folder.path("known.json");
    assert_eq!(run(&["lint", &old, "--baseline", &file, "--update-baseline"]).code, 0);
    assert!(text(&file).contains("\"function\":\"scale\""), "{}", text(&file));
    let ran = run(&["lint", &new, "--baseline", &file, "--format", "json"]).text();
    let lines: Vec<Value> = ran.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (last, new_findings) = lines.split_last().expect("a line");
    assert_eq!(last["gone"], serde_json::json!([]), "{last}");
    assert!(last["stayed"].as_u64() > Some(0), "{last}");
    let functions: Vec<_> = new_findings.iter().map(|finding| finding["function"].as_str()).collect();
    assert!(functions.iter().all(|function| *function != Some("scale")), "{ran}");
    // The addresses and lines are others: the builds differ in what a baseline does not compare.
    let declared = |object: &str| {
        let out = run(&["lint", object, "--only", "scale", "--format", "json"]).text();
        let first: Value = serde_json::from_str(out.lines().next().expect("a finding")).expect("JSON");
        first["declared"]["line"].as_u64()
    };
    assert_ne!(declared(&old), declared(&new));
}

#[test]
fn files_beside_those_of_the_configuration_are_a_part() {
    let folder = Folder::new("baseline-part");
    std::fs::copy(super::root(OBJECT), folder.path("a.hsaco")).expect("a copy");
    std::fs::copy(super::root(OTHER), folder.path("b.hsaco")).expect("a copy");
    folder.file(
        "eitri.toml",
        "[lint]\npaths = [\"*.hsaco\"]\nbaseline = \"known.json\"\nfail-on = \"never\"\n",
    );
    let lint = |arguments: &[&str]| lint_in(&folder.0, arguments);
    assert_eq!(lint(&["--update-baseline"]).code, 0);
    let all = text(&folder.path("known.json"));
    let said = lint(&["a.hsaco"]).text();
    assert!(said.contains("0 new, ") && said.contains(" 0 gone"), "{said}");
    assert_eq!(lint(&["a.hsaco", "--update-baseline"]).code, 0);
    assert_eq!(text(&folder.path("known.json")), all);
}

#[test]
fn objects_without_debug_information_are_told_apart() {
    let folder = Folder::new("baseline-bare");
    let source = folder.file("f.c", "int f(void) { return 1; }");
    let compiler = Tool { name: "cc", package: "gcc" };
    for name in ["m.o", "n.o"] {
        let object = folder.path(name);
        let Some(ran) = compiler.run(&["-c", &source, "-o", &object]) else { return };
        assert!(ran.succeeded, "{ran}");
    }
    let [m, n] = ["m.o", "n.o"].map(|name| folder.path(name));
    let file = folder.path("known.json");
    assert_eq!(run(&["lint", &m, "--baseline", &file, "--update-baseline"]).code, 0);
    let said = run(&["lint", &n, "--baseline", &file, "--fail-on", "warning"]);
    assert!(said.code == 1 && said.text().contains("1 new, 0 stayed, 1 gone"), "{}", said.text());
}

#[test]
fn count_of_a_line_is_positive() {
    let folder = Folder::new("baseline-count");
    let file = folder.path("known.json");
    assert_eq!(run(&["lint", OBJECT, "--baseline", &file, "--update-baseline"]).code, 0);
    let line = text(&file).lines().next().expect("a line").to_owned();
    let (before, after) = line.split_once("\"count\":").expect("a count");
    let after = after.trim_start_matches(|char: char| char.is_ascii_digit());
    let with = |count: &str| format!("{before}\"count\":{count}{after}\n");
    folder.file("known.json", with("0"));
    assert_eq!(run(&["lint", OBJECT, "--baseline", &file]).code, 2);
    // Empty lines, a byte order mark, and a sum that no machine counts to.
    let most = with("18446744073709551615");
    folder.file("known.json", format!("\u{feff}{most}\n{most}"));
    assert_eq!(run(&["lint", OBJECT, "--baseline", &file, "--fail-on", "never"]).code, 0);
}

/// Compiles OpenCL C with clang 19 for gfx1030 in a folder.
fn compiled(folder: &Folder, source: &str, object: &str) -> Option<String> {
    let object = folder.path(object);
    let target = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-x", "cl", "-cl-std=CL2.0"];
    let rest = ["-Xclang", "-finclude-default-header", "-O2", "-g", "-nogpulib", "-c", source, "-o", &object];
    let ran = Tool::new("clang-19", "clang-19").run(&[&target[..], &rest].concat())?;
    assert!(ran.succeeded, "{ran}");
    Some(object)
}

/// A kernel with a constant in a private variable, for which clang 19 writes `lit7; lit1; swap; xderef; stack_value`, and a
/// variable in a register.
fn kernel(constant: u32, has_fault: bool) -> String {
    let use_it = if has_fault {
        "float old = x[i]; if (old > 1.0f) { float next = old * 2.0f; x[i] = next + c; }"
    } else {
        "x[i] += 1.0f;"
    };
    format!(
        "__kernel void f(__global float *x) {{\n  unsigned c = {constant};\n  int i = get_global_id(0);\n  {use_it}\n}}\n"
    )
}

/// Constants that clang encodes with `lit`, `const1u`, `const2u` and `const4u`.
#[test]
fn baseline_survives_other_constants() {
    let folder = Folder::new("baseline-constants");
    let file = folder.path("known.json");
    let mut known = None;
    for constant in [7, 8, 40, 1000, 100_000] {
        let source = folder.file("k.cl", kernel(constant, true));
        let Some(object) = compiled(&folder, &source, "k.o") else { return };
        let update = run(&["lint", &object, "--baseline", &file, "--update-baseline"]);
        assert_eq!(update.code, 0, "{}", update.text());
        if known.is_some() {
            assert!(update.text().contains(" 0 new, "), "{constant}: {}", update.text());
            assert!(update.text().contains(" 0 gone\n"), "{constant}: {}", update.text());
        }
        // The summary has the same groups, and the fingerprints are equal.
        let json = run(&["lint", &object, "--format", "json"]).text();
        let prints: Vec<_> = json
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["fingerprint"].clone())
            .collect();
        let shapes: Vec<_> = text(&file).lines().map(String::from).collect();
        assert!(shapes.iter().any(|line| line.contains("const; lit1; swap; xderef")), "{shapes:?}");
        match &known {
            Some(known) => assert_eq!(known, &(prints, shapes), "{constant}"),
            None => known = Some((prints, shapes)),
        }
    }
}

/// A fault is mended in one of two units with the same file name, and made in the other.
#[test]
fn units_with_equal_file_names_are_told_apart() {
    let folder = Folder::new("baseline-names");
    let build = |names: [&str; 2], faulty: usize, at: &str| -> Option<Vec<String>> {
        let objects = names.iter().enumerate().map(|(index, name)| {
            std::fs::create_dir_all(folder.path(&format!("{at}/{name}"))).expect("a folder");
            let source = folder.file(&format!("{at}/{name}/x.cl"), kernel(7, index == faulty));
            compiled(&folder, &source, &format!("{at}/{name}.o"))
        });
        objects.collect()
    };
    let file = folder.path("known.json");
    let lint = |objects: &[String], update: bool| {
        let objects = objects.iter().map(String::as_str);
        let update = if update { Some("--update-baseline") } else { None };
        let all: Vec<&str> = ["lint", "--baseline", &file].into_iter().chain(update).chain(objects).collect();
        run(&all).text()
    };
    let Some(old) = build(["a", "b"], 0, "one") else { return };
    lint(&old, true);
    let said = lint(&old, false);
    assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "{said}");
    // The other way round, in another folder.
    let new = build(["a", "b"], 1, "two").expect("the compiler is there");
    let said = lint(&new, false);
    assert!(!said.contains(": 0 new, ") && !said.contains(" 0 gone\n"), "{said}");
    assert!(said.contains("in `f` (a/x.cl): "), "{said}");
    // The same faults in another folder stay known.
    let moved = build(["a", "b"], 0, "three").expect("the compiler is there");
    let said = lint(&moved, false);
    assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "{said}");
    // A run with one of the objects keeps the names of both units in an update.
    folder.file("eitri.toml", "[lint]\npaths = [\"*.o\"]\nbaseline = \"known.json\"\n");
    let config = folder.path("eitri.toml");
    run(&["lint", "--config", &config, &moved[0], "--update-baseline"]);
    let said = lint(&moved, false);
    assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "{said}");
    // JSON has the units' names, too.
    let objects = moved.iter().map(String::as_str);
    let json = run(&["lint", "--format", "json"].into_iter().chain(objects).collect::<Vec<_>>()).text();
    std::fs::write(&file, json).expect("a file");
    let said = lint(&moved, false);
    assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "{said}");
    let said = lint(&new, false);
    assert!(!said.contains(": 0 new, ") && !said.contains(" 0 gone\n"), "{said}");
}

/// A unit that is compiled for two GPUs: a fault that is mended in one object and made in the other is new there.
#[test]
fn objects_with_the_same_unit_are_told_apart() {
    let folder = Folder::new("baseline-objects");
    let compile = |constant, has_fault, object: &str| {
        let source = folder.file("x.cl", kernel(constant, has_fault));
        compiled(&folder, &source, object)
    };
    let file = folder.path("known.json");
    let [first, second] = ["gfx1030.o", "gfx1100.o"];
    let Some(one) = compile(7, true, first) else { return };
    let two = compile(7, false, second).expect("the compiler is there");
    run(&["lint", &one, &two, "--baseline", &file, "--update-baseline"]);
    assert!(text(&file).contains("\"object\":\"gfx1030.o\""), "{}", text(&file));
    let said = run(&["lint", &one, &two, "--baseline", &file]).text();
    assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "{said}");
    compile(7, false, first);
    compile(7, true, second);
    let said = run(&["lint", &one, &two, "--baseline", &file]).text();
    assert!(!said.contains(": 0 new, ") && !said.contains(" 0 gone\n"), "{said}");
    assert!(said.contains("(x.cl in gfx1030.o)"), "{said}");
}

/// An object's name in a baseline has the object's folder, which the name on the command line need not have.
#[test]
fn objects_are_known_from_inside_their_folder() {
    let folder = Folder::new("baseline-inside");
    let source = folder.file("x.cl", kernel(7, true));
    for name in ["gfx1030", "gfx1100"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        if compiled(&folder, &source, &format!("{name}/k.o")).is_none() {
            return;
        }
    }
    let lint = |from: &str, objects: &[&str], known: &str| {
        let arguments = [objects, &["--fail-on", "never", "--baseline", known]].concat();
        lint_in(&folder.0.join(from), &arguments).text()
    };
    lint("", &["gfx1030/k.o", "gfx1100/k.o", "--update-baseline"], "known.json");
    for (from, objects) in [
        ("", ["./gfx1030/k.o", "./gfx1100/k.o"]),
        ("gfx1030", ["k.o", "../gfx1100/k.o"]),
        ("gfx1100", ["../gfx1030/k.o", "k.o"]),
    ] {
        let said = lint(from, &objects, &folder.path("known.json"));
        assert!(said.contains(": 0 new, ") && said.contains(" 0 gone\n"), "in `{from}`: {said}");
    }
}
