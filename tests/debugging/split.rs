//! Split units: code at a pc in several files, and files that are missing, damaged or of an older compilation.

use std::path::Path;

use eitri::eval::{CallStack, DebugInfo, Snapshot};
use eitri::op::Reg;
use eitri::read::{self, Dwarf, FrameSection, Object, Skeleton, SplitFiles};
use eitri::target::Target;

use super::{CC, compile, gdb};
use crate::common::tools::Folder;

const MAIN: &str = "
int twice(int);
static inline int inner(int x) { int y = x + 1; return y * y; }
int main(int count, char **words) { int n = inner(count); return twice(n); }
";
const OTHER: &str = "int twice(int value) { int local = value * 2; return local; }\n";

/// Compiles the program in a folder. Its split files are `program-a.dwo` and `program-b.dwo`.
fn program(folder: &Folder, options: &[&str]) -> Option<Vec<u8>> {
    folder.file("a.c", MAIN);
    folder.file("b.c", OTHER);
    let program = compile(CC, folder, &["a.c", "b.c"], &[&["-gsplit-dwarf"], options].concat())?;
    Some(std::fs::read(program).expect("the program"))
}

/// Names and contents of split files.
type Files = Vec<(String, Vec<u8>)>;

fn find(folder: &Path) -> impl Fn(&[Skeleton<'_>]) -> eitri::Result<Files> + Sync + use<> {
    let folder = folder.to_owned();
    move |skeletons: &[Skeleton<'_>]| {
        let names = skeletons.iter().map(|skeleton| skeleton.dwo_name.to_owned());
        let files = names.map(|name| (name.clone(), std::fs::read(folder.join(name))));
        Ok(files.filter_map(|(name, bytes)| Some((name, bytes.ok()?))).collect())
    }
}

/// Names of the variables of gdb's innermost frame at a function's start, with those of its blocks.
const SCRIPT: &str = r#"
import gdb
for name in ("main", "twice"):
    block = gdb.block_for_pc(int(gdb.parse_and_eval("(long)&" + name)))
    while block.function is None:
        block = block.superblock
    print(name, *[symbol.name for symbol in block if symbol.is_variable or symbol.is_argument])
"#;

#[test]
fn variables_at_a_pc_are_found_in_all_split_files() {
    for options in [&["-O0"][..], &["-O0", "-gdwarf-4"]] {
        let folder = Folder::new();
        let Some(bytes) = program(&folder, options) else { return };
        let object = Object::read(&bytes).expect("an object");
        let dwarf = Dwarf::read(&object).expect("skeletons");
        let Some(answers) = gdb(&folder.path().join("program"), SCRIPT) else { return };
        let answers: Vec<Vec<&str>> = answers.lines().map(|line| line.split(' ').collect()).collect();
        assert_eq!(answers.len(), 2, "{answers:?}");
        let compared = SplitFiles::new(&find(folder.path())).with(&object, &dwarf, |split| {
            let files: Vec<&Dwarf<'_>> = [&dwarf].into_iter().chain(split).collect();
            assert_eq!(files.len(), 3);
            for expected in &answers {
                let pc = read::address_in(&files, expected[0], 0)?;
                let found = read::variables_at(&files, pc);
                assert!(found.scopes.errors.is_empty(), "{:?}", found.scopes.errors);
                let function = found.scopes.last().and_then(|scope| scope.name());
                assert_eq!(function.as_deref(), Some(expected[0]));
                let names: Vec<_> = found.variables.iter().filter_map(|one| one.name()).collect();
                assert_eq!(names, expected[1..], "{options:?}");
                assert_eq!(read::functions_at(&files, pc).len(), 1);
                assert_eq!(read::scopes_at(&files, pc).len(), 1);
            }
            Ok(())
        });
        compared.expect("the split files");
    }
}

#[test]
fn frame_has_the_debug_information_of_the_split_unit_with_its_function() {
    let folder = Folder::new();
    let Some(bytes) = program(&folder, &["-O0", "-no-pie"]) else { return };
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("skeletons");
    let checked = SplitFiles::new(&find(folder.path())).with(&object, &dwarf, |split| {
        let files: Vec<&Dwarf<'_>> = [&dwarf].into_iter().chain(split).collect();
        let infos: Vec<DebugInfo<'_, '_>> = files.iter().map(|file| DebugInfo::new(file)).collect();
        let sections = [dwarf.frames(FrameSection::Eh)?];
        let target = Target::x86_64();
        for (name, variable) in [("main", "n"), ("twice", "local")] {
            let mut machine = Snapshot::default();
            // After `push %rbp; mov %rsp, %rbp`: the frame base is rbp + 16.
            machine.pc = Some(read::address_in(&files, name, 4)?);
            machine.registers.insert(Reg(6), 0x7000_u64.to_le_bytes().to_vec());
            let stack = CallStack::new(&machine, &sections, &target);
            let stack = infos.iter().fold(stack, CallStack::with_debug_info);
            let frame = stack.innermost().expect("a frame");
            let info = frame.debug_info().expect("debug information");
            let function = info.subprogram(frame.pc()).and_then(|function| function.name());
            assert_eq!(function.as_deref(), Some(name));
            let variable = read::variable_named(&files, variable, machine.pc)?;
            let location = frame.variable_location(variable.located).expect("a location");
            // gcc -O0 puts the only variable of both functions at rbp - 4.
            assert_eq!(location.to_string(), "mem:0:0x6ffc", "{name}");
        }
        Ok(())
    });
    checked.expect("the split files");
}

#[test]
fn pc_of_a_split_unit_that_was_not_read_is_an_error() {
    for options in [&["-O1"][..], &["-O1", "-gdwarf-4"]] {
        let folder = Folder::new();
        let Some(bytes) = program(&folder, options) else { return };
        let object = Object::read(&bytes).expect("an object");
        let dwarf = Dwarf::read(&object).expect("skeletons");
        let pc = object.symbol_address("twice").expect("the function");
        let alone = dwarf.scopes_at(pc);
        assert!(alone.is_empty());
        let texts: Vec<_> = alone.errors.iter().map(ToString::to_string).collect();
        assert!(texts.len() == 1 && texts[0].contains("b.dwo"), "{texts:?}");
        assert_eq!(dwarf.variables_at(pc).scopes.errors.len(), 1);
        let unnamed = dwarf.variable_named("local", Some(pc)).expect_err("no variable").to_string();
        assert!(unnamed.contains("b.dwo"), "{unnamed}");
        // Outside all units, nothing is missing.
        assert!(dwarf.scopes_at(1).errors.is_empty());

        // The other file alone does not help.
        std::fs::remove_file(folder.path().join("program-b.dwo")).expect("the file");
        let with_one = SplitFiles::new(&find(folder.path())).with(&object, &dwarf, |split| {
            let files: Vec<&Dwarf<'_>> = [&dwarf].into_iter().chain(split).collect();
            assert_eq!(read::scopes_at(&files, pc).errors.len(), 1);
            let main = object.symbol_address("main").expect("the function");
            assert!(read::scopes_at(&files, main).errors.is_empty());
            Ok(())
        });
        with_one.expect("a split file");
    }
}

/// Errors in the split files, and the names of the functions with code in them.
fn read_split(folder: &Folder, bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("skeletons");
    let read = SplitFiles::new(&find(folder.path())).with(&object, &dwarf, |split| {
        let errors = split.iter().flat_map(|file| file.errors()).map(ToString::to_string).collect();
        let functions = split.iter().flat_map(|file| file.entries());
        let functions = functions.filter(|entry| entry.low_pc().is_some());
        let functions = functions.filter(|entry| entry.tag() == eitri::gimli::DW_TAG_subprogram);
        Ok((errors, functions.filter_map(|entry| Some(entry.name()?.into_owned())).collect()))
    });
    read.expect("a closure lists failures")
}

#[test]
fn split_file_that_cannot_be_used_is_listed_and_the_others_are_read() {
    let folder = Folder::new();
    let Some(bytes) = program(&folder, &["-O0"]) else { return };
    let (errors, functions) = read_split(&folder, &bytes);
    assert_eq!((errors.len(), functions.len()), (0, 3), "{errors:?} {functions:?}");

    // A file that is no object.
    let path = folder.path().join("program-b.dwo");
    let original = std::fs::read(&path).expect("the file");
    std::fs::write(&path, b"nothing").expect("the file");
    let (errors, functions) = read_split(&folder, &bytes);
    assert_eq!(functions, ["main", "inner"]);
    assert!(errors.len() == 1 && errors[0].contains("program-b.dwo"), "{errors:?}");

    // A file that ends early.
    std::fs::write(&path, &original[..original.len() / 2]).expect("the file");
    let (errors, functions) = read_split(&folder, &bytes);
    assert_eq!(functions, ["main", "inner"]);
    assert!(!errors.is_empty() && errors.iter().all(|error| error.contains("program-b.dwo")), "{errors:?}");

    // A file of an older compilation, which has another id: gdb warns about it, too.
    let older = Folder::new();
    older.file("a.c", MAIN);
    older.file("b.c", OTHER.replace("* 2", "* 2L + value"));
    compile(CC, &older, &["a.c", "b.c"], &["-gsplit-dwarf", "-O0"]).expect("a compiler");
    std::fs::copy(older.path().join("program-b.dwo"), &path).expect("the file");
    let (errors, functions) = read_split(&folder, &bytes);
    assert_eq!(functions, ["main", "inner"]);
    assert!(errors.len() == 1 && errors[0].contains("file is not used"), "{errors:?}");
    let Some(answer) = gdb(&folder.path().join("program"), "gdb.execute('info scope twice')") else { return };
    assert!(!answer.contains("Symbol local"), "{answer}");
}
