//! Variables in scope, compared with lldb: entries and their order, and the locations in force.

use std::collections::BTreeMap;
use std::path::Path;

use eitri::read::{CurrentLocation, Dwarf, Object, ScopeVariable};
use pretty_assertions::assert_eq;

use super::{Folder, Tool, objects, pcs, programs};

const LLDB: Tool = Tool::new("lldb-19", "lldb-19");

/// Maximum number of pcs in a file: lldb takes a millisecond for each.
const MOST: usize = 60;

/// What comes before the bytes of an operation that lldb does not know.
const UNKNOWN: &str = "<decoding error> ";

/// A variable: the entry's offset, its name, and the location.
type Variable = (u64, String, Place);

/// A location in force: the pcs of a list entry, or the whole scope, with the first operation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Here { pcs: Option<(u64, u64)>, operation: String },
    Constant,
    Nowhere,
}

/// Returns the variables in lldb at each pc. It lists those with a location at the pc, and those without any location.
fn asked(folder: &Folder, file: &Path, pcs: &[u64]) -> Option<Vec<Vec<Variable>>> {
    let mut commands = format!("target create --no-dependents {}\n", file.display());
    commands.extend(pcs.iter().map(|pc| format!("image lookup --verbose --address {pc:#x}\n")));
    let commands = folder.file("commands", commands);
    let ran = LLDB.run(&["--no-lldbinit", "--batch", "--source", commands.to_str().expect("a path")])?;
    let answers: BTreeMap<u64, Vec<Variable>> = ran
        .out
        .split("(lldb) image lookup --verbose --address 0x")
        .skip(1)
        .map(|answer| {
            let (pc, answer) = answer.split_once('\n').expect("lines");
            let lines = answer.lines().filter_map(|line| line.trim().strip_prefix("Variable: id = {0x"));
            (hex(pc), lines.map(variable).collect())
        })
        .collect();
    Some(pcs.iter().map(|pc| answers.get(pc).unwrap_or_else(|| panic!("{ran}")).clone()).collect())
}

fn hex(digits: &str) -> u64 {
    u64::from_str_radix(digits.trim(), 16).unwrap_or_else(|_| panic!("{digits}"))
}

/// Reads `ID}, name = "NAME", …, location = [START, END) -> OPERATIONS, decl = …`.
fn variable(line: &str) -> Variable {
    let (id, rest) = line.split_once("}, name = \"").expect(line);
    let (name, rest) = rest.split_once('"').expect(line);
    let (_, location) = rest.split_once(", location = ").expect(line);
    let location = location.split(", decl =").next().expect(line);
    let (pcs, operations) = match location.strip_prefix("[0x") {
        Some(bounded) => {
            let (pcs, operations) = bounded.split_once(") -> ").expect(line);
            let (start, end) = pcs.split_once(", 0x").expect(line);
            (Some((hex(start), hex(end))), operations)
        }
        None => (None, location),
    };
    let place = match operations {
        "<empty>" => Place::Nowhere,
        // lldb does not know the vendor's operation.
        operations if operations.starts_with(UNKNOWN) => {
            let code = operations[UNKNOWN.len()..].split(' ').next().expect(line);
            Place::Here { pcs, operation: gimli::DwOp(hex(code) as u8).to_string() }
        }
        operations => {
            let operation = operations.split(|char: char| !char.is_alphanumeric() && char != '_').next();
            Place::Here { pcs, operation: operation.expect(line).to_owned() }
        }
    };
    (hex(id), name.to_owned(), place)
}

/// Returns a variable as lldb lists it. `None` if lldb does not list it.
fn listed(variable: &ScopeVariable<'_, '_>) -> Option<Variable> {
    assert!(variable.problem.is_none(), "{variable:?}");
    let scope = variable.scope.expect("a scope");
    let is_within = scope.descendants().any(|entry| entry == variable.entry);
    let operation = |expr: &[u8]| expr.first().map(|&code| gimli::DwOp(code).to_string());
    let place = match &variable.location {
        CurrentLocation::Expression(expr) => Place::Here { pcs: None, operation: operation(expr)? },
        CurrentLocation::Entries(entries) => {
            let pcs = entries[0].pcs(0).map(|pcs| (pcs.start, pcs.end));
            Place::Here { pcs, operation: operation(entries[0].expr)? }
        }
        CurrentLocation::Missing => Place::Nowhere,
        // lldb makes an expression of the constant.
        CurrentLocation::Constant(_) => Place::Constant,
        _ => return None,
    };
    // Of the variables of an abstract instance that an inlined call lacks, lldb lists the parameters alone.
    let is_parameter = variable.entry.tag() == gimli::DW_TAG_formal_parameter;
    (is_within || is_parameter)
        .then(|| (variable.entry.offset(), variable.name().unwrap_or_default().into_owned(), place))
}

/// Compares a file, and returns the number of variables, and of those in list entries. `None` without lldb.
fn compare(folder: &Folder, name: &str, bytes: &[u8]) -> Option<[usize; 2]> {
    let file = folder.file("asked", bytes);
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pcs = pcs(&dwarf);
    let pcs: Vec<u64> = pcs.iter().copied().step_by(pcs.len().div_ceil(MOST).max(1)).collect();
    let mut counts = [0; 2];
    for (pc, mut asked) in pcs.iter().zip(asked(folder, &file, &pcs)?) {
        let found = dwarf.variables_at(*pc);
        let listed: Vec<_> = found.variables.iter().filter_map(listed).collect();
        for (_, constant) in listed.iter().zip(&mut asked).filter(|(ours, _)| ours.2 == Place::Constant) {
            constant.2 = Place::Constant;
        }
        assert_eq!(listed, asked, "{name}, pc {pc:#x}");
        counts[0] += listed.len();
        counts[1] += listed.iter().filter(|one| matches!(one.2, Place::Here { pcs: Some(_), .. })).count();
    }
    Some(counts)
}

#[test]
fn variables_in_programs_are_those_of_lldb() {
    let folder = Folder::new();
    for program in programs(&folder) {
        let bytes = std::fs::read(&program).expect("a program");
        let Some([all, bounded]) = compare(&folder, &program.display().to_string(), &bytes) else { return };
        assert!(all > 120 && bounded > 40, "{}: {all}, {bounded}", program.display());
    }
}

/// Returns an object for lldb, which has neither AMD's machine nor OpenCL's types: the header names x86-64, and the unit of
/// an OpenCL program has C's language. Entries, lists and code are unchanged.
fn readable(mut bytes: Vec<u8>) -> Vec<u8> {
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let units = dwarf.units().iter();
    let opencl = units.filter(|unit| unit.language == Some(gimli::DW_LANG_OpenCL.0.into()));
    let offsets: Vec<_> = opencl.map(|unit| unit.offset as usize).collect();
    let data = object.section(".debug_info").expect("the section").data.to_vec();
    let start = position(&bytes, &data).expect("not compressed");
    for unit in offsets {
        // The header has 11 or 12 bytes, and the first entry has the producer in up to 4 bytes before the language.
        let language = position(&data[unit + 11..unit + 24], &[0x15, 0]).expect("the language");
        bytes[start + unit + 11 + language] = gimli::DW_LANG_C99.0 as u8;
    }
    // `EI_OSABI`, `EI_ABIVERSION`, `e_machine`, `e_flags`.
    bytes[7..9].fill(0);
    bytes[18..20].copy_from_slice(&62u16.to_le_bytes());
    bytes[48..52].fill(0);
    bytes
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[test]
fn variables_in_objects_for_gpus_are_those_of_lldb() {
    let folder = Folder::new();
    let mut sum = [0; 2];
    for object in objects() {
        let bytes = readable(std::fs::read(&object).expect("an object"));
        let Some(counts) = compare(&folder, &object.display().to_string(), &bytes) else { return };
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sum[0] > 5_000 && sum[1] > 1_000, "{sum:?}");
}
