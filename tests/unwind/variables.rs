//! Variables of all frames of a stopped process, compared with gdb's values. In a caller's frame a variable has the value
//! that the caller sees, or none: a register that the callee may have overwritten is not the caller's, and a value on entry
//! is the one that was passed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use eitri::eval::{CallStack, DebugInfo, Evaluator, Frame, Machine, Snapshot, WithDebugInfo, read_bits};
use eitri::op::Reg;
use eitri::read::{Dwarf, Entry, FrameSection, Object};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::unwind::process::{CLANG, GCC, GDB, hex};
use crate::unwind::tools::{Folder, Tool, skip};

/// A variable: number of the frame without inlined calls, name and line.
type Id = (u32, String, u64);

/// Value of a variable as gdb prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Number(u64),
    /// Neither a number nor a pointer.
    Other,
    Unavailable,
}

/// Values of variables, each with the number of the stop, name and line.
type Plain = BTreeSet<(usize, String, u64, u64)>;

/// The process at a stop.
#[derive(Default)]
struct Stop {
    machine: Snapshot,
    variables: BTreeMap<Id, Vec<Known>>,
    frames: u32,
}

/// Runs the program in gdb.
fn stops(program: &Path) -> Option<Vec<Stop>> {
    let script = Path::new(crate::common::ROOT).join("tests/unwind/data/variables.py");
    let arguments = ["-batch", "-nx", "-x", script.to_str()?, program.to_str()?];
    let output = GDB.run(&arguments)?;
    if output.errors.contains("ptrace") {
        skip("gdb may not trace programs here");
        return None;
    }
    let mut stops: Vec<Stop> = Vec::new();
    for line in output.out.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], stops.last_mut()) {
            (["STOP", registers @ ..], _) => {
                let mut machine = Snapshot::default();
                for (number, value) in (0..).zip(registers) {
                    machine.registers.insert(Reg(number), hex(value).to_le_bytes().to_vec());
                }
                machine.pc = registers.last().map(|pc| hex(pc));
                stops.push(Stop { machine, ..Stop::default() });
            }
            (["XMM", low, high], Some(stop)) => {
                let reg = Reg(17 + stop.machine.registers.keys().filter(|reg| reg.0 >= 17).count() as u64);
                let bytes = [hex(low).to_le_bytes(), hex(high).to_le_bytes()].concat();
                stop.machine.registers.insert(reg, bytes);
            }
            (["MEMORY", address, bytes], Some(stop)) => {
                let bytes = bytes.as_bytes().chunks(2).map(|two| {
                    let digits = std::str::from_utf8(two).expect("digits");
                    u8::from_str_radix(digits, 16).expect("a byte")
                });
                let bytes: Vec<u8> = bytes.collect();
                stop.machine.store(SpaceId::DEFAULT, None, hex(address), &bytes);
            }
            (["VARIABLE", frame, name, line, value], Some(stop)) => {
                let id = (frame.parse().expect("a number"), name.to_string(), line.parse().expect("a line"));
                stop.variables.entry(id).or_default().push(match *value {
                    "none" => Known::Unavailable,
                    "other" => Known::Other,
                    value => Known::Number(hex(value)),
                });
            }
            (["FRAME", ..], Some(stop)) => stop.frames += 1,
            _ => {}
        }
    }
    assert_eq!(stops.len(), 20, "{output}");
    Some(stops)
}

/// Variables and parameters whose scopes contain the pc.
fn in_scope<'r, 'o>(scope: Entry<'r, 'o>, pc: u64, found: &mut Vec<Entry<'r, 'o>>) {
    for child in scope.children() {
        match child.tag() {
            dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => found.push(child),
            dw::DW_TAG_lexical_block | dw::DW_TAG_inlined_subroutine => {
                let ranges = child.ranges().expect("ranges");
                if ranges.is_empty() || ranges.iter().any(|range| range.contains(&pc)) {
                    in_scope(child, pc, found);
                }
            }
            _ => {}
        }
    }
}

/// Evaluates a variable of a frame; `None` if it is not available.
fn value(
    variable: Entry<'_, '_>,
    frame: &Frame<'_, '_, '_>,
    calls: &CallStack<'_, '_>,
    info: &DebugInfo<'_, '_>,
) -> Option<u64> {
    let unit = variable.unit();
    let context = frame.context(unit.encoding).with_unit(unit.offset);
    let location = frame.variable_location(variable);
    // The same by hand, on a call stack and on a machine with debug information.
    let machine = WithDebugInfo::new(info, calls, context);
    let machines: [&dyn Machine; 2] = [calls, &machine];
    for machine in machines {
        let by_hand = Evaluator::new().variable_location(info.body(variable), machine, &context);
        assert_eq!(by_hand, location, "{variable:?}");
    }
    let ty = variable.ty()?;
    let size = ty.size_bits()?;
    let read = read_bits(&location.ok()?, size, calls).ok()?;
    if read.defined.iter().any(|&defined| defined != 0xff) {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..read.bytes.len()].copy_from_slice(&read.bytes);
    let is_float = ty.unqualified()?.number(dw::DW_AT_encoding) == Some(dw::DW_ATE_float.0.into());
    let bits = u64::from_le_bytes(bytes);
    Some(match size {
        32 if is_float => f64::from(f32::from_bits(bits as u32)).to_bits(),
        _ => bits,
    })
}

/// Compares all variables of a program, and returns the number of values in frames of callers: all, and those that need
/// a value on entry.
///
/// Where gdb has no value, that of the program without optimization counts: `plain` has its variables by stop, name and
/// line.
fn compare(program: &Path, stops: &[Stop], plain: &Plain, what: &str) -> [usize; 2] {
    let bytes = std::fs::read(program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let frames =
        [FrameSection::Debug, FrameSection::Eh].map(|section| dwarf.frames(section).expect("frames"));
    let info = DebugInfo::new(&dwarf);
    let target = Target::x86_64();
    let mut counts = [0; 2];
    let mut wrong = Vec::new();
    for (number, stop) in stops.iter().enumerate() {
        let calls = CallStack::new(&stop.machine, &frames, &target).with_debug_info(&info);
        for frame in calls.frames().take(stop.frames as usize) {
            let frame = frame.unwrap_or_else(|fault| panic!("{what}, stop {number}: {fault}"));
            let subprogram = info.subprogram(frame.pc());
            let subprogram = subprogram.unwrap_or_else(|| panic!("{what}, stop {number}: {:#x}", frame.pc()));
            let mut found = Vec::new();
            in_scope(subprogram, frame.pc(), &mut found);
            for variable in found {
                let line = variable.inherited(dw::DW_AT_decl_line).and_then(|line| line.unsigned());
                let Some((name, line)) = variable.name().zip(line) else { continue };
                let known = stop.variables.get(&(frame.number(), name.to_string(), line));
                let known = known.map(Vec::as_slice).unwrap_or_default();
                if known.contains(&Known::Other) {
                    continue;
                }
                let Some(value) = value(variable, &frame, &calls, &info) else { continue };
                let is_plain = || plain.contains(&(number, name.to_string(), line, value));
                let is_unavailable = known.iter().all(|known| *known == Known::Unavailable);
                match known.contains(&Known::Number(value)) || is_unavailable && is_plain() {
                    true if frame.number() > 0 => {
                        counts[0] += 1;
                        let locations =
                            variable.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
                        let mut here =
                            locations.iter().filter(|entry| (entry.start..entry.end).contains(&frame.pc()));
                        // DW_OP_entry_value and DW_OP_GNU_entry_value.
                        counts[1] +=
                            usize::from(here.any(|entry| matches!(entry.expr.first(), Some(0xa3 | 0xf3))));
                    }
                    true => {}
                    false => wrong.push(format!(
                        "stop {number}, frame {}, {name} (line {line}): {value:#x}, gdb: {known:x?}",
                        frame.number()
                    )),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{what}\n{}", wrong.join("\n"));
    counts
}

/// In each of 20 programs by two compilers, a variable of any frame has gdb's value or none.
#[test]
fn variable_in_frame_of_caller_has_value_of_gdb_or_none() {
    let source = Path::new(crate::common::ROOT).join("tests/unwind/data/calls.c");
    let mut plain = Plain::new();
    for (tool, flags, least) in [
        (GCC, "-O0 -g", [100, 0]),
        (GCC, "-O2 -g", [100, 30]),
        (GCC, "-O2 -gdwarf-4", [100, 30]),
        (CLANG, "-O2 -g", [60, 5]),
    ] {
        let folder = Folder::new();
        let program = folder.path().join("calls");
        let mut arguments: Vec<&str> = flags.split_whitespace().collect();
        arguments.extend(["-no-pie", "-w", "-o"]);
        arguments.extend([program.to_str().expect("a path"), source.to_str().expect("a path")]);
        let Some(output) = Tool::run(tool, &arguments) else { return };
        output.clean();
        let Some(stops) = stops(&program) else { return };
        let what = format!("{} {flags}", tool.name);
        if plain.is_empty() {
            for (number, stop) in stops.iter().enumerate() {
                for ((_, name, line), known) in &stop.variables {
                    plain.extend(known.iter().filter_map(|known| match known {
                        Known::Number(value) => Some((number, name.clone(), *line, *value)),
                        _ => None,
                    }));
                }
            }
        }
        let counts = compare(&program, &stops, &plain, &what);
        println!("{what}: {counts:?}");
        assert!(counts[0] >= least[0] && counts[1] >= least[1], "{what}: {counts:?}");
    }
}
