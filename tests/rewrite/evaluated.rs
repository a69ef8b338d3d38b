//! What `eval` says of the variables of linked cubins, before and after a rewrite: at each instruction of each function, on
//! a machine whose bytes in registers and memory all differ.

use std::collections::BTreeMap;

use eitri::conform::{StoppedObject, VectorMachine, VectorTarget};
use eitri::emit::elf::replace_contents;
use eitri::error::ErrorKind;
use eitri::eval::{DebugInfo, Machine, Unavailable};
use eitri::op::Reg;
use eitri::read::{Dwarf, Entry, Object};
use eitri::target::{SpaceId, Target};

use super::nvlink::{FIRST, SECOND, X, Y, linked};
use super::rewritten;

/// Size of an instruction in bytes.
const INSTRUCTION: usize = 16;
/// Each processor with relocations or copies of another kind.
const PROCESSORS: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// A stopped processor. Each byte of its registers and its memory depends on where it is.
struct Witness<'t> {
    target: &'t Target,
    pc: u64,
}

/// Bytes from `start` on in a kind of storage.
fn fill(kind: u64, start: u64, into: &mut [u8]) {
    for (byte, at) in into.iter_mut().zip(start..) {
        let mixed = (at ^ kind << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *byte = (mixed >> 37) as u8;
    }
}

impl Machine for Witness<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let register = self.target.register(reg).filter(|_| frame == 0).ok_or(Unavailable)?;
        fill(1 + register.reg.0, at.into(), into);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let lane = lane.map_or(0, |lane| u64::from(lane) + 1);
        fill(0x1_0000 + (u64::from(space.0) << 8) + lane, address, into);
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        Some(3)
    }

    fn lanes(&self) -> u64 {
        32
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.pc)
    }
}

/// Names of a function's variables, and of those outside functions in its unit.
fn variables(function: Entry<'_, '_>) -> Vec<String> {
    let is_variable = |entry: &Entry<'_, '_>| {
        matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
    };
    let unit = function.unit();
    let outside = function.dwarf().entries_of(unit).filter(|entry| entry.depth() == 1);
    let all = function.descendants().chain(outside).filter(is_variable);
    let mut names: Vec<String> = all.filter_map(|entry| Some(entry.name()?.into_owned())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Functions with code, with their symbols.
fn functions<'d, 'o>(object: &Object<'_>, dwarf: &'d Dwarf<'o>) -> Vec<(String, Entry<'d, 'o>)> {
    let functions = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_subprogram);
    let here = functions.filter_map(|entry| {
        let start = entry.low_pc().filter(|&start| dwarf.is_code(start))?;
        let symbol = object.symbol_at(start).expect("a symbol");
        Some((symbol.name.to_string(), entry))
    });
    here.collect()
}

/// Answer by pc in bytes from the function's start, and variable.
type Answers = BTreeMap<(u64, String), String>;

/// Returns what `eval` answers for variables at each instruction of a function.
fn answers(bytes: &[u8], function: &str, names: &[String]) -> Answers {
    let object = Object::read(bytes).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let files = [&dwarf];
    let stopped = StoppedObject::new(&object, &files).expect("a map of registers");
    let symbol = object.symbol(function).expect("the function");
    let (start, size) = (symbol.address, symbol.size);
    let target = DebugInfo::new(&dwarf).target(&object).expect("a target");
    let named = VectorTarget::from(target.clone());
    let mut answers = Answers::new();
    for offset in (0..size).step_by(INSTRUCTION) {
        let mut machine = VectorMachine::default();
        machine.snapshot.lane = Some(3);
        machine.snapshot.lanes = Some(32);
        machine.snapshot.pc = Some(start + offset);
        for name in names {
            let reader = Witness { target: &target, pc: start + offset };
            let answer = stopped.evaluate(
                name,
                (&machine, &reader, &named),
                None,
                &mut |stop| stop.text(&stop.answer(), 1000),
                &|left, right| left == right,
            );
            let answer = answer.unwrap_or_else(|error| match error.kind() {
                ErrorKind::UnknownName { .. } => "not in scope".to_owned(),
                kind => format!("error: {kind}"),
            });
            answers.insert((offset, name.clone()), answer);
        }
    }
    answers
}

/// Answers of all functions.
type Functions = BTreeMap<String, Answers>;

/// Returns the answers for all variables of a file's functions.
fn all_answers(bytes: &[u8]) -> Functions {
    let object = Object::read(bytes).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let functions = functions(&object, &dwarf).into_iter();
    functions
        .map(|(function, entry)| (function.clone(), answers(bytes, &function, &variables(entry))))
        .collect()
}

/// Number of answers with the bytes of a variable.
fn with_bytes(functions: &Functions) -> usize {
    functions.values().flat_map(Answers::values).filter(|text| text.contains("bytes")).count()
}

/// Rewrites without options, and with all that a cubin takes.
fn rewrites(name: &str, bytes: &[u8]) -> [Vec<u8>; 2] {
    [false, true].map(|is_small| {
        let rewritten = rewritten(bytes, |options| {
            options.dedupe = is_small;
            options.gc = is_small;
        });
        rewritten.unwrap_or_else(|error| panic!("{name}: {error}")).object
    })
}

#[test]
fn variables_of_linked_cubins_have_the_same_answers() {
    for processor in PROCESSORS {
        let debug = [["-G", "-G"], ["-lineinfo", "-G"]];
        // Lines without entries are kept alike by all processors.
        for debug in &debug[..if processor == "sm_80" { 2 } else { 1 }] {
            let name = format!("{processor} {debug:?}");
            let Some(before) = linked(processor, &[(X, debug[0]), (Y, debug[1])], &["-g"]) else { return };
            let expected = all_answers(&before);
            let count = with_bytes(&expected);
            assert!(count > 200, "{name}: {count} answers have bytes");
            for after in rewrites(&name, &before) {
                pretty_assertions::assert_eq!(expected, all_answers(&after), "{name}");
            }
        }
    }
}

/// A function that two objects have is that of the first, which is also linked alone: in the linked file, two entries with
/// different answers are at its code.
#[test]
fn variables_of_kept_copies_have_the_answers_of_their_object() {
    for processor in PROCESSORS {
        for options in [&["-g"][..], &[]] {
            let name = format!("{processor} {options:?}");
            let link = |sources: &[(&str, &str)]| linked(processor, sources, options);
            let both = [(FIRST, "-G"), (SECOND, "-G")];
            let [Some(before), Some(alone)] = [link(&both), link(&both[..1])] else { return };
            let mut expected = all_answers(&before);
            // Without `-g`, the entry of a function without code is not asked for.
            expected.extend(all_answers(&alone));
            let count = with_bytes(&expected);
            assert!(count > 20, "{name}: {count} answers have bytes");
            for after in rewrites(&name, &before) {
                pretty_assertions::assert_eq!(expected, all_answers(&after), "{name}");
            }
        }
    }
}

/// A bound of a home, and one of a list, that moves by an instruction changes answers.
#[test]
fn moved_bounds_change_answers() {
    let Some(bytes) = linked("sm_80", &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
    let [after, _] = rewrites("sm_80", &bytes);
    let object = Object::read(&after).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let all = functions(&object, &dwarf);
    let (function, entry) = all.iter().find(|(name, _)| name == "kx").expect("the kernel");
    let names = variables(*entry);
    let expected = answers(&after, function, &names);
    let raw = Object::raw_sections(&after).expect("sections");
    let section = |name: &str| raw.iter().find(|(known, _)| known == name).expect("a section").1.to_vec();
    let changes = |name: &str, field: usize| {
        let mut contents = section(name);
        let bound = u16::from_le_bytes([contents[field], contents[field + 1]]) - INSTRUCTION as u16;
        contents[field..field + 2].copy_from_slice(&bound.to_le_bytes());
        answers(&replace_contents(&after, name, contents).expect("a cubin"), function, &names) != expected
    };
    const MAP: &str = ".nv_debug_info_reg_sass";
    let homes = section(MAP);
    let zero = |from: usize| from + homes[from..].iter().position(|&byte| byte == 0).expect("a name");
    assert!(homes.starts_with(b"kx\0"));
    // After the number of homes: a word, the name of a register, its home, and both bounds.
    let mut ends = Vec::new();
    let mut at = zero(0) + 5;
    let end = homes.windows(3).position(|name| name == b"ky\0").expect("the second kernel");
    while at < end {
        let home = zero(at + 4) + 1;
        ends.push(home + 8);
        at = home + 12;
    }
    assert!(ends.iter().any(|&field| changes(MAP, field)));
    // The end of the first list's first entry.
    assert!(changes(".debug_loc", 8));
}
