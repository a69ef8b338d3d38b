//! Frames and lines, compared with llvm-symbolizer at the first and the last byte of each row.

use std::path::Path;

use eitri::read::{Dwarf, Object};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::{COMPILERS, Folder, Tool, compile, objects, pcs, programs};

const SYMBOLIZER: Tool = Tool::new("llvm-symbolizer-19", "llvm-19");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

/// A frame: name of the function, path, line and column.
type Frame = (String, String, u64, u64);

/// Returns the frames at each pc in llvm-symbolizer. A name is that of the entry, because the symbol table has other names
/// for parts of functions.
fn asked(file: &Path, pcs: &[u64]) -> Option<Vec<Vec<Frame>>> {
    let object = format!("--obj={}", file.display());
    let options = [&*object, "--inlines", "--functions=short", "--output-style=JSON"];
    let options = options.map(String::from).into_iter();
    let arguments: Vec<String> = options.chain(pcs.iter().map(|pc| format!("{pc:#x}"))).collect();
    let answer = SYMBOLIZER.run(&arguments)?.clean();
    let answers: Vec<Value> = serde_json::from_str(&answer).expect("JSON");
    let text = |frame: &Value, key: &str| frame[key].as_str().expect(key).to_owned();
    let number = |frame: &Value, key: &str| frame[key].as_u64().expect(key);
    let frame = |frame: &Value| {
        (text(frame, "FunctionName"), text(frame, "FileName"), number(frame, "Line"), number(frame, "Column"))
    };
    let frames = |answer: &Value| answer["Symbol"].as_array().expect("frames").iter().map(frame).collect();
    Some(answers.iter().map(frames).collect())
}

fn frames(dwarf: &Dwarf<'_>, pc: u64) -> Vec<Frame> {
    let scopes = dwarf.scopes_at(pc);
    assert!(scopes.errors.is_empty() && scopes.others.is_empty(), "{scopes:?}");
    let line = dwarf.line_at(pc).expect("lines").expect("a line");
    assert!(line.pcs.contains(&pc), "{line:?}");
    let mut position = (line.file.expect("a file"), line.row.line, line.row.column);
    let functions = scopes.frames().map(|frame| frame.last().expect("a function"));
    let frames = functions.map(|function| {
        let name = function.name().expect("a name").into_owned();
        let (file, line, column) = std::mem::take(&mut position);
        if let Some(call) = function.call.clone() {
            let file = call.file.expect("a file");
            position = (file, call.line.unwrap_or(0), call.column.unwrap_or(0));
        }
        (name, file, line, column)
    });
    frames.collect()
}

/// Compares a file, and returns the number of pcs, and of those in inlined calls. `None` without llvm-symbolizer.
fn compare(file: &Path) -> Option<[usize; 2]> {
    let bytes = std::fs::read(file).expect("a file");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pcs: Vec<u64> = pcs(&dwarf).into_iter().collect();
    let asked = asked(file, &pcs)?;
    assert_eq!(asked.len(), pcs.len(), "{}", file.display());
    let mut inlined = 0;
    for (&pc, asked) in pcs.iter().zip(asked) {
        let frames = frames(&dwarf, pc);
        // The code of a row can end after its function: llvm-symbolizer has no name, and a line if the unit has the pc.
        if frames.is_empty() {
            assert!(asked.len() == 1 && asked[0].0.is_empty(), "{}, pc {pc:#x}: {asked:?}", file.display());
            continue;
        }
        assert_eq!(frames, asked, "{}, pc {pc:#x}", file.display());
        inlined += usize::from(asked.len() > 1);
    }
    Some([pcs.len(), inlined])
}

#[test]
fn frames_in_programs_are_those_of_llvm_symbolizer() {
    let folder = Folder::new();
    for program in programs(&folder) {
        let Some([pcs, inlined]) = compare(&program) else { return };
        assert!(pcs > 100 && inlined > 30, "{}: {pcs}, {inlined}", program.display());
    }
}

#[test]
fn frames_in_objects_for_gpus_are_those_of_llvm_symbolizer() {
    let mut sum = [0; 2];
    for object in objects() {
        let Some(counts) = compare(&object) else { return };
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sum[0] > 10_000 && sum[1] > 500, "{sum:?}");
}

/// llvm-symbolizer cannot tell the sections of a relocatable object apart. Their functions have the frames of the linked
/// program.
#[test]
fn frames_in_sections_of_relocatable_objects_are_those_of_the_program() {
    for compiler in COMPILERS {
        let folder = Folder::new();
        let [object, program] = ["a.o", "a"].map(|name| folder.path().join(name));
        if !compile(compiler, &["-O2", "-g", "-c", "-ffunction-sections"], &object) {
            return;
        }
        let [from, to] = [&object, &program].map(|path| path.to_str().expect("a path"));
        let Some(ran) = LLD.run(&["-e", "main", "--unresolved-symbols=ignore-all", "-o", to, from]) else {
            return;
        };
        ran.clean();
        let [object, linked] = [&object, &program].map(|path| std::fs::read(path).expect("a file"));
        let [object, linked] = [&object, &linked].map(|bytes| Object::read(bytes).expect("an object"));
        let dwarf = Dwarf::read(&object).expect("debug information");
        let mut functions = std::collections::BTreeSet::new();
        let [places, pcs]: [Vec<u64>; 2] = pcs(&dwarf)
            .iter()
            .map(|&pc| {
                let function = dwarf.functions_at(pc)[0];
                let name = function.inherited(gimli::DW_AT_linkage_name).or(function.attr(gimli::DW_AT_name));
                let name = name.and_then(|name| name.text()).expect("a name");
                // A part of the function can have a symbol of its own.
                let symbols = object.symbols().iter();
                let symbol = symbols
                    .filter(|symbol| {
                        symbol.kind == eitri::read::ElfSymbolKind::Func && symbol.name.starts_with(&*name)
                    })
                    .find(|symbol| (symbol.address..symbol.address + symbol.size).contains(&pc))
                    .unwrap_or_else(|| panic!("{pc:#x} {name}"));
                functions.insert(symbol.address);
                (pc, linked.symbol_address(&symbol.name).expect("linked") + pc - symbol.address)
            })
            .collect::<(Vec<_>, Vec<_>)>()
            .into();
        let Some(asked) = asked(&program, &pcs) else { return };
        for (&pc, asked) in places.iter().zip(asked) {
            assert_eq!(frames(&dwarf, pc), asked, "{}, pc {pc:#x}", compiler.name);
        }
        assert!(functions.len() >= 3, "{}", functions.len());
    }
}
