//! Variables in all frames of a process with several loaded files, as gdb prints them.

use std::path::Path;

use eitri::eval::{CallStack, DebugInfo, Evaluator, Frame, Snapshot, read_bits};
use eitri::op::Reg;
use eitri::read::{Dwarf, Entry, FrameSection, Frames, Object};
use eitri::target::{SpaceId, Target};

use super::{CC, compile, gdb};
use crate::common::tools::{Folder, skip};

const LIBRARY: &str = r"
static int tally = 40;
int again(int (*visit)(int, long), int n, long more) {
    int sum = 0;
    for (int i = 0; i < n; i++) { tally++; sum += visit(i + n, more * 3); }
    return sum + tally;
}
";

/// `leave` ends with a call that does not return: its return address is in the next function.
const MAIN: &str = r"
static int tally = 7;
volatile int sink;
int again(int (*)(int, long), int, long);
__attribute__((noinline, noreturn)) void stop(int code) { sink = code; __builtin_trap(); }
__attribute__((noinline, noreturn)) void leave(int why, long kept) { sink = kept; stop(why + 1); }
__attribute__((noinline)) int after(int x) { return x + sink; }
static int visit(int first, long second) {
    tally += first;
    if (first > 2) leave(first * 2, second);
    return first;
}
int main(int count, char **words) { int n = count + 2; return again(visit, n, 100) + after(n); }
";

/// A stopped process, with gdb's answers.
struct Process {
    machine: Snapshot,
    library_bias: u64,
    /// Loaded pc and name of each frame.
    frames: Vec<(u64, String)>,
    /// Frame, name and value of each variable; no value if it is optimized out.
    variables: Vec<(usize, String, Option<u64>)>,
    /// Values of `tally` in the files.
    tallies: Vec<u64>,
}

pub(super) fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a number")
}

fn stopped(program: &Path) -> Option<Process> {
    let answer = gdb(program, include_str!("modules.py"))?;
    if !answer.contains("STATIC") {
        skip("gdb may not trace programs here");
        return None;
    }
    let mut process = Process {
        machine: Snapshot::default(),
        library_bias: 0,
        frames: Vec::new(),
        variables: Vec::new(),
        tallies: Vec::new(),
    };
    for line in answer.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["REGISTERS", ref values @ ..] => {
                let values = values.iter().map(|value| hex(value));
                process.machine.pc = values.clone().next_back();
                let registers = (0..).map(Reg).zip(values.map(|value| value.to_le_bytes().to_vec()));
                process.machine.registers.extend(registers);
            }
            ["MEMORY", address, bytes] => {
                let digits = bytes.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).expect("digits"));
                let bytes: Vec<u8> = digits.map(|two| u8::from_str_radix(two, 16).expect("a byte")).collect();
                process.machine.store(SpaceId::DEFAULT, None, hex(address), &bytes);
            }
            ["BIAS", "program", bias] => process.machine.load_bias = hex(bias),
            ["BIAS", _, bias] => process.library_bias = hex(bias),
            ["STATIC", _, value] => process.tallies.push(hex(value)),
            ["FRAME", _, pc, name] => process.frames.push((hex(pc), name.into())),
            ["VARIABLE", frame, name, value] => {
                let value = (value != "none").then(|| hex(value));
                process.variables.push((frame.parse().expect("a number"), name.into(), value));
            }
            _ => {}
        }
    }
    process.machine.pc = process.machine.pc.map(|pc| pc - process.machine.load_bias);
    Some(process)
}

/// Returns the program and its library, if the compiler is installed.
fn programs(folder: &Folder, options: &[&str]) -> Option<[Vec<u8>; 2]> {
    folder.file("library.c", LIBRARY);
    folder.file("main.c", MAIN);
    let library = compile(CC, folder, &["library.c"], &[options, &["-shared", "-fPIC"]].concat())?;
    std::fs::rename(library, folder.path().join("library.so")).expect("the library");
    let options = [options, &["-pie", "-fPIE", "-Wl,-rpath,."]].concat();
    compile(CC, folder, &["main.c", "library.so"], &options)?;
    Some(["program", "library.so"].map(|name| std::fs::read(folder.path().join(name)).expect("the file")))
}

fn frames<'o>(dwarf: &Dwarf<'o>) -> [Frames<'o>; 2] {
    [FrameSection::Debug, FrameSection::Eh].map(|section| dwarf.frames(section).expect("frames"))
}

/// Returns a variable of a frame; `None` if it is optimized out.
fn value(frame: &Frame<'_, '_, '_>, entry: Entry<'_, '_>, machine: &Snapshot) -> Option<u64> {
    let bits = entry.ty().and_then(Entry::size_bits).expect("a size");
    let location = frame.variable_location(entry);
    let read = match location.and_then(|location| read_bits(&location, bits, machine)) {
        Ok(read) => read,
        // An expression with a register that calls do not preserve.
        Err(fault) if fault.is_undefined => return None,
        Err(fault) => panic!("{entry:?}: {fault}"),
    };
    let mut bytes = [0; 8];
    bytes[..read.bytes.len()].copy_from_slice(&read.bytes);
    (!read.is_undefined()).then(|| u64::from_le_bytes(bytes))
}

#[test]
fn variables_in_frames_of_a_program_and_its_library_are_those_of_gdb() {
    for options in [&["-O0"][..], &["-O1"], &["-O2"], &["-O2", "-gdwarf-4"]] {
        let folder = Folder::new();
        let Some([program, library]) = programs(&folder, options) else { return };
        let Some(process) = stopped(&folder.path().join("program")) else { return };
        let objects = [&program, &library].map(|bytes| Object::read(bytes).expect("an object"));
        let [main, library] =
            objects.each_ref().map(|object| Dwarf::read(object).expect("debug information"));
        let infos = [&main, &library].map(DebugInfo::new);
        let sections = [&main, &library].map(frames);
        let target = Target::x86_64();
        let stack = CallStack::new(&process.machine, &sections[0], &target)
            .with_debug_info(&infos[0])
            .with_module(process.library_bias, &[&infos[1]], &sections[1]);
        let outward: Vec<_> =
            stack.frames().take(process.frames.len()).collect::<Result<_, _>>().expect("frames");
        assert_eq!(outward.len(), process.frames.len());
        for (frame, (pc, name)) in outward.iter().zip(&process.frames) {
            assert_eq!(frame.resumes_at() + frame.load_bias(), *pc, "{options:?} {name}");
            let function = frame.debug_info().and_then(|info| info.subprogram(frame.pc()));
            let function = function.and_then(|function| function.name()).expect("a name");
            assert_eq!(function, *name, "{options:?}");
        }
        let in_library = outward.iter().filter(|frame| frame.load_bias() == process.library_bias).count();
        assert_eq!(in_library, 1, "{options:?}");
        let mut values = 0;
        for (number, name, expected) in &process.variables {
            let frame = &outward[*number];
            let info = frame.debug_info().expect("debug information");
            let found = info.dwarf().variables_at(frame.pc());
            let variable = found.variables.iter().find(|variable| variable.name().as_deref() == Some(name));
            let variable = variable.unwrap_or_else(|| panic!("{options:?} {number} {name}"));
            let value = value(frame, variable.entry, &process.machine);
            // gdb takes registers that a callee may have overwritten for the caller's. A value that a caller in another file
            // passed is unknown.
            let is_certain = *number == 0 || options == ["-O0"];
            if value.is_some() || is_certain {
                assert_eq!(value, *expected, "{options:?}, frame {number}, {name}");
            }
            values += usize::from(value.is_some());
        }
        assert!(values >= 4, "{options:?}: {values}");
        // A variable outside all functions is the same in all frames.
        for (dwarf, expected) in [&main, &library].into_iter().zip(&process.tallies) {
            let tally = dwarf.variable_named("tally", None).expect("a variable");
            for frame in &outward {
                assert_eq!(value(frame, tally.located, &process.machine), Some(*expected), "{options:?}");
            }
        }
    }
}

#[test]
fn frame_at_return_address_is_in_the_calling_function() {
    let folder = Folder::new();
    let Some([program, _]) = programs(&folder, &["-O2"]) else { return };
    let Some(process) = stopped(&folder.path().join("program")) else { return };
    let object = Object::read(&program).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let (info, sections, target) = (DebugInfo::new(&dwarf), frames(&dwarf), Target::x86_64());
    // The caller as a state of its own, as a core dump or another unwinder gives it.
    let (return_address, name) = &process.frames[1];
    let mut recorded = process.machine.clone();
    let pc = return_address - recorded.load_bias;
    recorded.pc = Some(pc);
    let function = |stack: &CallStack<'_, '_>| {
        let frame = stack.innermost().expect("a frame");
        let function = info.subprogram(frame.pc()).and_then(Entry::name).expect("a function");
        (frame.pc(), frame.resumes_at(), function.into_owned())
    };
    let stack = CallStack::new(&recorded, &sections, &target).with_debug_info(&info);
    assert_ne!(function(&stack).2, *name);
    let stack = CallStack::new(&recorded, &sections, &target).with_debug_info(&info).at_return_address();
    assert_eq!(function(&stack), (pc - 1, pc, name.clone()));
    assert_eq!(eitri::eval::Machine::pc(&stack, 0), Some(pc - 1));
}

/// A function of the main program with a frame base that needs the canonical frame address, stopped.
fn with_frame_base(
    change: impl FnOnce(&mut Snapshot, u64),
    ask: impl FnOnce(&DebugInfo<'_, '_>, Entry<'_, '_>, &Snapshot) -> String,
) -> Option<String> {
    let folder = Folder::new();
    folder.file(
        "a.c",
        "int f(int x) { volatile int local = x; return local; } int main(void) { return f(3); }",
    );
    let program = compile(CC, &folder, &["a.c"], &["-O0"])?;
    let bytes = std::fs::read(program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let start = dwarf.address_in("f", 0).expect("the function");
    let mut machine = Snapshot::default();
    // After `push %rbp; mov %rsp, %rbp`: rbp is register 6.
    machine.pc = Some(start + 7);
    machine.registers.insert(Reg(6), 0x7000_u64.to_le_bytes().to_vec());
    change(&mut machine, start);
    let local = dwarf.variable_named("local", Some(start + 7)).expect("a variable").located;
    Some(ask(&DebugInfo::new(&dwarf), local, &machine))
}

fn located(info: &DebugInfo<'_, '_>, entry: Entry<'_, '_>, machine: &Snapshot) -> String {
    let target = Target::x86_64();
    match info.variable_location(entry, machine, &target) {
        Ok(location) => location.to_string(),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn missing_frame_address_or_frame_base_has_its_cause() {
    // gcc's frame base is DW_OP_call_frame_cfa, and the CFA is rbp + 16. `local` is at fbreg -20.
    let Some(known) = with_frame_base(|_, _| {}, located) else { return };
    assert_eq!(known, format!("mem:0:{:#x}", 0x7000 + 16 - 20));

    let short = with_frame_base(
        |machine, _| {
            machine.registers.insert(Reg(6), vec![0, 0x70, 0, 0]);
        },
        located,
    )
    .expect("an answer");
    for part in ["the canonical frame address is unknown", "rule register 6+16", "register 6"] {
        assert!(short.contains(part), "{short}");
    }

    let nowhere = with_frame_base(|machine, _| machine.pc = None, located).expect("an answer");
    assert!(nowhere.contains("frame base") && nowhere.contains("no program location"), "{nowhere}");

    // A pc with the load bias, which belongs to no function.
    let elsewhere = with_frame_base(|machine, start| machine.pc = Some(start + 0x5500_0000), located);
    let elsewhere = elsewhere.expect("an answer");
    assert!(elsewhere.contains("no function of the debug information has code at pc 0x5500"), "{elsewhere}");
}

#[test]
fn call_stack_with_debug_information_evaluates_expressions() {
    let by_stack = |info: &DebugInfo<'_, '_>, entry: Entry<'_, '_>, machine: &Snapshot| {
        let target = Target::x86_64();
        let sections = frames(info.dwarf());
        let stack = CallStack::new(machine, &sections, &target).with_debug_info(info);
        let frame = stack.innermost().expect("a frame");
        let unit = entry.unit();
        let context = frame.context(unit.encoding).with_unit(unit.offset);
        let location = Evaluator::new().variable_location(info.body(entry), &stack, &context);
        location.expect("a location").to_string()
    };
    let Some(found) = with_frame_base(|_, _| {}, by_stack) else { return };
    assert_eq!(found, format!("mem:0:{:#x}", 0x7000 + 16 - 20));
}

#[test]
fn entry_of_another_file_is_refused() {
    let refused = |info: &DebugInfo<'_, '_>, entry: Entry<'_, '_>, machine: &Snapshot| {
        let target = Target::x86_64();
        let sections = frames(info.dwarf());
        let stack = CallStack::new(machine, &sections, &target);
        let frame = stack.innermost().expect("a frame");
        frame.variable_location(entry).expect_err("no debug information").to_string()
    };
    let Some(refused) = with_frame_base(|_, _| {}, refused) else { return };
    assert!(refused.contains("debug information the call stack does not have"), "{refused}");
}
