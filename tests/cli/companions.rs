//! Files that an object names: split units, the debug information of a stripped program, a supplementary file.
#![cfg(unix)]

use std::collections::{BTreeSet, HashMap};
use std::fs;

use pretty_assertions::assert_eq;

use super::tools::Tool;
use super::{Folder, run};

const SOURCE: &str = "struct s { int a; long b; };\nint work(struct s *one, int count) { return one->a + count; }\n\
                      int main(int argc, char **argv) { struct s one = { argc, 0 }; return work(&one, argc); }\n";

/// Builds a program with gcc. `None` if it is not installed.
fn program(folder: &Folder, name: &str, options: &[&str]) -> Option<String> {
    folder.file(&format!("{name}.c"), SOURCE);
    let source = format!("{name}.c");
    let arguments = [&["-g", "-O2", "-fno-inline", &source, "-o", name], options].concat();
    let ran = Tool::new("gcc", "gcc").run_in(&folder.0, &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(folder.path(name))
}

fn objcopy(folder: &Folder, arguments: &[&str]) -> Option<()> {
    let ran = Tool::new("objcopy", "binutils").run_in(&folder.0, arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(())
}

const MACHINE: &str = r#"{"target": "x86_64", "machine": {"registers": {"rdi": "05 00 00 00 00 00 00 00"}}}"#;

/// The answer for a parameter, and what is on standard error.
fn ask(folder: &Folder, command: &str, program: &str, more: &[&str]) -> (i32, String, String) {
    let machine = folder.file("m.json", MACHINE);
    let question = [command, program, "--var", "argc", "--pc", "main", "--machine", &machine];
    let ran = run(&[&question, more].concat());
    (ran.code, ran.text(), ran.errors)
}

const FOUND: &str = "location reg:rdi, bytes 05 00 00 00\n";

#[test]
fn variable_of_split_unit_is_evaluated() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new(&format!("companion{version}"));
        let Some(program) = program(&folder, "split", &["-gsplit-dwarf", version]) else { return };
        assert_eq!(ask(&folder, "eval", &program, &[]), (0, FOUND.into(), String::new()));
        let (code, steps, _) = ask(&folder, "explain", &program, &[]);
        assert!(code == 0 && steps.ends_with(FOUND), "{steps}");
        let dwo = fs::read_dir(&folder.0)
            .expect("a folder")
            .filter_map(|one| one.ok()?.file_name().into_string().ok());
        let dwo = dwo.filter(|name| name.ends_with(".dwo")).collect::<Vec<_>>();
        let moved = folder.path("moved.other");
        fs::rename(folder.path(&dwo[0]), &moved).expect("a file");
        for command in ["eval", "explain"] {
            let (code, _, errors) = ask(&folder, command, &program, &[]);
            assert!(code == 2 && errors.contains(&*dwo[0]) && errors.contains("--split"), "{errors}");
            let (code, text, errors) = ask(&folder, command, &program, &["--split", &moved]);
            assert!(code == 0 && text.ends_with(FOUND), "{text}{errors}");
        }
    }
}

#[test]
fn debug_information_of_stripped_program_is_found() {
    // By the id, or by the sum of a file without one.
    for (name, id) in [("id", "-Wl,--build-id"), ("sum", "-Wl,--build-id=none")] {
        let folder = Folder::new(&format!("stripped-{name}"));
        let Some(program) = program(&folder, "whole", &[id]) else { return };
        if objcopy(&folder, &["--only-keep-debug", "whole", "part.debug"]).is_none() {
            return;
        }
        let _ = objcopy(&folder, &["--strip-debug", "--add-gnu-debuglink=part.debug", "whole", "bare"]);
        let bare = folder.path("bare");
        let expected = run(&["stats", &program]);
        for place in ["part.debug", ".debug/part.debug"] {
            let path = folder.path(place);
            assert_eq!(ask(&folder, "eval", &bare, &[]).1, FOUND);
            let ran = run(&["stats", &bare]);
            let rows = |text: &str| text.lines().skip(2).take(4).map(String::from).collect::<Vec<_>>();
            assert_eq!((ran.code, rows(&ran.text())), (0, rows(&expected.text())), "{place}");
            assert_eq!(ran.errors, format!("note: {bare}: the debug information is that of {path}\n"));
            for command in ["dump", "lint"] {
                let ran = run(&[command, &bare]);
                assert!(ran.errors.contains(&path), "{command}: {}", ran.errors);
            }
            assert!(run(&["dump", &bare]).text().contains("\"argc\""));
            fs::create_dir_all(folder.path(".debug")).expect("a folder");
            fs::rename(&path, folder.path(".debug/part.debug")).expect("a file");
            if place == ".debug/part.debug" {
                // The file of another program is not used.
                let other = folder.path("part.debug");
                fs::copy(root_program(&folder), &other).expect("a copy");
                fs::remove_file(&path).expect("a file");
            }
        }
        for command in ["dump", "lint", "stats"] {
            let ran = run(&[command, &bare]);
            assert!(ran.errors.contains("`part.debug`, which is not found"), "{command}: {}", ran.errors);
        }
        let (code, _, errors) = ask(&folder, "eval", &bare, &[]);
        assert!(code == 2 && errors.contains("`part.debug`, which is not found"), "{errors}");
        let ran = run(&["report", &bare, "-o", &folder.path("page.html")]);
        assert!(ran.errors.contains("`part.debug`, which is not found"), "{}", ran.errors);
    }
}

/// A program with another id and other contents.
fn root_program(folder: &Folder) -> String {
    program(folder, "other", &["-DOTHER", "-O0"]).expect("gcc is installed")
}

const SHARED: &str = "struct point { int x; int y; long weight; const char *label_of_point; };
struct line { struct point first_point_of_line; struct point last_point_of_line; struct line *next_line_in_list; };
enum kind_of_thing { KIND_NOTHING, KIND_POINT, KIND_LINE, KIND_SOMETHING_ELSE };
struct thing { enum kind_of_thing kind_of_this_thing; struct line contents_of_thing; unsigned long long serial_number; };
typedef struct thing *thing_reference;
static inline long weigh(struct point *p, int factor) { long total = p->weight * factor; return total + p->x; }
";

/// Builds two programs that share types, and moves the types to a supplementary file. Returns the first program, and the
/// program before that. `None` if a tool is not installed.
fn shared(folder: &Folder, version: &str, dwz: &[&str]) -> Option<(String, String)> {
    folder.file("shared.h", SHARED);
    for name in ["one", "two"] {
        let source = "#include \"shared.h\"\nlong work(thing_reference it, int count) {\n\
                      long sum = weigh(&it->contents_of_thing.last_point_of_line, count);\n\
                      struct line *at = &it->contents_of_thing;\n\
                      while (at) { sum += weigh(&at->first_point_of_line, 3); at = at->next_line_in_list; }\n\
                      return sum; }\nint main(int argc, char **argv) { return work((void *)argv, argc); }\n";
        folder.file(&format!("{name}.c"), source);
        let source = format!("{name}.c");
        let program = format!("{name}.exe");
        let arguments =
            ["-g", version, "-O2", "-fno-inline-functions", "-Wl,--build-id", &source, "-o", &program];
        let ran = Tool::new("gcc", "gcc").run_in(&folder.0, &arguments)?;
        assert!(ran.succeeded, "{ran}");
    }
    fs::copy(folder.path("one.exe"), folder.path("whole.exe")).expect("a copy");
    let ran = Tool::new("dwz", "dwz")
        .run_in(&folder.0, &[dwz, &["-m", "common.dbg", "one.exe", "two.exe"]].concat())?;
    assert!(ran.succeeded && folder.0.join("common.dbg").exists(), "{ran}");
    Some((folder.path("one.exe"), folder.path("whole.exe")))
}

/// The formats in which dwz writes: GNU's, and that of DWARF 5.
const FORMATS: [(&str, &[&str]); 3] = [("-gdwarf-4", &[]), ("-gdwarf-5", &[]), ("-gdwarf-5", &["-5"])];

/// The part of a text that does not depend on the name of the program.
fn without(text: &str, program: &str) -> String {
    text.replace(program, "PROGRAM")
}

/// Names of entries by offset, as readelf prints them.
fn entry_names(text: &str) -> HashMap<u64, String> {
    let entries = text.split(": Abbrev Number").collect::<Vec<_>>();
    let names = entries.windows(2).filter_map(|pair| {
        let offset = pair[0].rsplit_once('<')?.1.trim_end_matches('>');
        let name = pair[1].lines().find(|line| line.contains("DW_AT_name "))?;
        let name = name.rsplit_once(": ")?.1.trim();
        Some((u64::from_str_radix(offset, 16).ok()?, name.to_owned()))
    });
    names.collect()
}

#[test]
fn answers_with_supplementary_file_are_those_before_dwz() {
    for (index, (version, dwz)) in FORMATS.into_iter().enumerate() {
        let folder = Folder::new(&format!("supplementary-{index}"));
        let Some((one, whole)) = shared(&folder, version, dwz) else { return };
        for arguments in [&["stats", "--lines"][..], &["lint"]] {
            let [found, expected] = [&one, &whole].map(|program| {
                let ran = run(&[arguments, &[program]].concat());
                (ran.code, without(&ran.text(), program), ran.errors)
            });
            assert_eq!(found, expected, "{arguments:?}");
        }
        let [found, expected] = [&one, &whole].map(|program| {
            let text = run(&["stats", program]).text();
            text.lines()
                .skip(1)
                .filter(|line| !line.contains("  .debug"))
                .map(String::from)
                .collect::<Vec<_>>()
        });
        assert_eq!(found, expected);
        // All variables at all pcs of the function.
        let listed = run(&["stats", "--format", "json", &whole]).text();
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        let work = listed["functions"].as_array().unwrap().iter().find(|one| one["name"] == "work");
        let names: BTreeSet<_> = work.unwrap()["variables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert!(names.contains("factor") && names.contains("it"), "{names:?}");
        let machine = folder.file("m.json", MACHINE);
        let mut count = 0;
        for (name, pc) in names.iter().flat_map(|name| [0, 4, 8, 0x10, 0x18, 0x20].map(|pc| (name, pc))) {
            let pc = format!("work+{pc}");
            let [found, expected] = [&one, &whole].map(|program| {
                let ran = run(&["eval", program, "--var", name, "--pc", &pc, "--machine", &machine]);
                (ran.code, ran.text(), without(&ran.errors, program))
            });
            assert_eq!(found, expected, "{name} at {pc}");
            count += usize::from(found.0 == 0);
        }
        assert!(count >= 4, "{count}");
        let page = folder.path("page.html");
        let [found, expected] = [&one, &whole].map(|program| {
            let ran = run(&["report", program, "-o", &page]);
            assert_eq!((ran.code, ran.errors), (0, String::new()));
            let page = fs::read_to_string(&page).expect("a page");
            ["thing_reference", "struct line", "shared.h", "weigh"].map(|text| page.matches(text).count())
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn names_from_supplementary_file_are_those_that_readelf_and_gdb_print() {
    for (index, (version, dwz)) in FORMATS.into_iter().enumerate() {
        let folder = Folder::new(&format!("supplementary-names-{index}"));
        let Some((one, _)) = shared(&folder, version, dwz) else { return };
        let text = run(&["dump", &one]).text();
        assert!(!text.contains("in a supplementary file"), "{text}");
        // readelf follows links of GNU's format alone.
        if dwz.is_empty() {
            let readelf = |file| Tool::new("readelf", "binutils").run_in(&folder.0, &["-wi", file]);
            let (Some(main), Some(other)) = (readelf("one.exe"), readelf("common.dbg")) else { return };
            let known = entry_names(&other.out);
            let mut expected: Vec<_> = (main.out.split("<alt 0x").skip(1))
                .filter_map(|part| u64::from_str_radix(part.split('>').next()?, 16).ok())
                .filter_map(|offset| Some((offset, known.get(&offset)?.clone())))
                .collect();
            let verbose = run(&["dump", "-v", &one]).text();
            let found = verbose.lines().filter_map(|line| line.strip_suffix(" in the supplementary file"));
            let found = found.filter_map(|line| {
                let (entry, offset) = line.rsplit_once(" @0x")?;
                let name = entry.split('"').nth(1)?.to_owned();
                Some((u64::from_str_radix(offset, 16).expect("an offset"), name))
            });
            let mut found: Vec<_> = found.filter(|(offset, _)| known.contains_key(offset)).collect();
            expected.sort();
            found.sort();
            assert!(expected.len() >= 5, "{expected:?}");
            assert_eq!(found, expected);
            let Some(ran) = Tool::new("gdb", "gdb")
                .run_in(&folder.0, &["-batch", "-nx", "-ex", "info scope work", "one.exe"])
            else {
                return;
            };
            for line in ran.out.lines().filter(|line| line.contains("Symbol ")) {
                let name = line.split("Symbol ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
                assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
            }
        }
        assert!(text.contains("DW_TAG_structure_type \"line\" in the supplementary file"), "{text}");
    }
}

#[test]
fn supplementary_file_that_is_missing_or_of_other_programs_is_named() {
    let folder = Folder::new("supplementary-missing");
    let Some((one, _)) = shared(&folder, "-gdwarf-4", &[]) else { return };
    let [common, away] = ["common.dbg", "away"].map(|name| folder.path(name));
    fs::rename(&common, &away).expect("a file");
    let commands = ["dump", "stats", "lint"];
    for command in commands {
        let ran = run(&[command, &one]);
        let what = "the supplementary file `common.dbg`, which has names and entries of the object, is not read: it is not found";
        assert!(ran.errors.contains(what), "{command}: {}", ran.errors);
    }
    assert!(ask(&folder, "eval", &one, &[]).2.contains("common.dbg"));
    // The file of other programs.
    let other = Folder::new("supplementary-other");
    shared(&other, "-gdwarf-5", &[]).expect("the tools are installed");
    fs::copy(other.path("common.dbg"), &common).expect("a copy");
    for command in commands {
        let ran = run(&[command, &one]);
        let is_refused =
            ran.errors.contains("supplementary file has id ") && ran.errors.contains("; expected ");
        assert!(is_refused, "{command}: {}", ran.errors);
    }
    // No file of debug information.
    fs::write(&common, "text").expect("a file");
    assert!(run(&["dump", &one]).errors.contains("not an ELF file"));
    fs::rename(&away, &common).expect("a file");
    assert_eq!(run(&["dump", &one]).errors, "");
}

/// A function that other units declare, which is called with a constant that its code overwrites.
const CALLED: &str = "#include \"called.h\"\nint last;\n__attribute__((noinline)) int shared_function(int one, int two) {\n\
                      last = one + two; __asm__ volatile(\"\" ::: \"rdi\", \"rsi\"); return last; }\n";

/// Runs a tool in a folder, whose exit code is 0. `None` if the tool is not installed.
fn clean(folder: &Folder, tool: &Tool, arguments: &[&str]) -> Option<String> {
    let ran = tool.run_in(&folder.0, arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(ran.out)
}

/// Builds two programs of two units each with gcc's options, copies the first to `whole.exe`, and moves what the programs
/// share to a supplementary file. `None` if a tool is not installed.
fn two_units(folder: &Folder, options: &[&str], dwz: &[&str]) -> Option<()> {
    folder.file(
        "called.h",
        "#define SHARED_LIMIT 7\n#define SHARED_SUM(a, b) ((a) + (b))\n#undef NOT_SHARED\n\
         static const int shared_limit = SHARED_LIMIT;\nstatic const long shared_weight = 11;\n\
         struct shared_pair { long first_of_shared_pair; long second_of_shared_pair; struct shared_pair *next_shared_pair; };\n\
         extern int shared_function(int one, int two);\n\
         extern int another_function(struct shared_pair *one, char *two);\n",
    );
    folder.file("called.c", CALLED);
    for name in ["one", "two"] {
        let source = "#include \"called.h\"\nint main(int argc, char **argv) {\n\
                      return shared_function(argc, shared_limit) + another_function((void *)argv, *argv); }\n\
                      int another_function(struct shared_pair *one, char *two) {\n\
                      return one->first_of_shared_pair + *two + shared_weight; }\n";
        folder.file(&format!("{name}.c"), source);
        let (source, program) = (format!("{name}.c"), format!("{name}.exe"));
        let files = [&source, "called.c", "-o", &program];
        clean(folder, &Tool::new("gcc", "gcc"), &[&["-O2", "-Wl,--build-id"], options, &files].concat())?;
    }
    fs::copy(folder.path("one.exe"), folder.path("whole.exe")).expect("a copy");
    let programs = ["-m", "common.dbg", "one.exe", "two.exe"];
    clean(folder, &Tool::new("dwz", "dwz"), &[dwz, &programs].concat())?;
    Some(())
}

#[test]
fn passed_value_is_known_where_callee_is_declared_in_supplementary_file() {
    for (index, (version, dwz)) in FORMATS.into_iter().enumerate() {
        let folder = Folder::new(&format!("supplementary-calls-{index}"));
        if two_units(&folder, &["-g", version], dwz).is_none() {
            return;
        }
        let dumped = run(&["dump", &folder.path("one.exe")]).text();
        let declared = "origin: DW_TAG_subprogram \"shared_function\" in the supplementary file";
        assert!(dumped.contains(declared), "{dumped}");
        // The pc after the call, and the last instruction of the callee.
        let address = |name: &str, text: &str| {
            let function = text.split(&format!("<{name}>:")).nth(1).expect(name);
            let lines = function.lines().skip(1).take_while(|line| !line.is_empty());
            let mut rows =
                lines.map(|line| (line.split(':').next().unwrap().trim().to_owned(), line.to_owned()));
            match name {
                "main" => {
                    rows.by_ref().find(|row| row.1.contains("<shared_function>")).expect("the call");
                    rows.next().expect("an instruction after the call").0
                }
                _ => rows.find(|row| row.1.contains("ret")).expect("the end").0,
            }
        };
        let text = clean(&folder, &Tool::new("objdump", "binutils"), &["-d", "whole.exe"]).expect("objdump");
        let [after, end] = ["main", "shared_function"].map(|name| address(name, &text));
        let caller = u64::from_str_radix(&after, 16).expect("an address") - 1;
        let machine = format!(
            r#"{{"target": "x86_64", "machine": {{"pc": "0x{end}", "callers": [{{"pc": "{caller:#x}"}}]}}}}"#
        );
        let machine = folder.file("m.json", &machine);
        for program in ["whole.exe", "one.exe"] {
            let ran = run(&["eval", &folder.path(program), "--var", "two", "--machine", &machine]);
            assert_eq!(ran.errors, "");
            assert!(ran.text().ends_with(", bytes 07 00 00 00\n"), "{program}: {}", ran.text());
        }
    }
}

/// Lines of macros, without their order and depth.
fn macro_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_start);
    let mut lines: Vec<_> = lines
        .filter(|line| line.contains(": define ") || line.contains(": undef "))
        .map(String::from)
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn macros_in_supplementary_file_are_printed() {
    for (index, (version, dwz)) in FORMATS.into_iter().enumerate() {
        let folder = Folder::new(&format!("supplementary-macros-{index}"));
        if two_units(&folder, &["-g3", version], dwz).is_none() {
            return;
        }
        let [whole, one] =
            ["whole.exe", "one.exe"].map(|program| run(&["dump", &folder.path(program)]).text());
        assert!(one.contains("import in the supplementary file"), "{one}");
        let expected = macro_lines(&whole);
        assert!(
            expected.len() > 100 && expected.contains(&"1: define SHARED_LIMIT 7".into()),
            "{expected:?}"
        );
        assert_eq!(macro_lines(&one), expected);
        fs::remove_file(folder.path("common.dbg")).expect("a file");
        let alone = run(&["dump", &folder.path("one.exe")]).text();
        assert!(alone.contains("import in a supplementary file"), "{alone}");
        assert!(!alone.contains("define SHARED_LIMIT"), "{alone}");
    }
}
