//! A process stopped by gdb deep in calls, through libc and out of a signal handler: frames computed from registers
//! and stack bytes alone, compared with gdb's.

use std::path::{Path, PathBuf};

use eitri::eval::{CallStack, Frame, Snapshot, read_bits};
use eitri::op::{Dialect, Encoding, Reg};
use eitri::read::{FrameSection, Frames, Object, Sections};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use crate::common::with;
use crate::unwind::tools::{Folder, Tool, skip};

pub const GDB: Tool = Tool::new("gdb", "gdb");
pub const GCC: Tool = Tool::new("gcc", "gcc");
pub const CLANG: Tool = Tool::new("clang-19", "clang-19");

/// Registers by DWARF number, as spelled in questions to gdb.
const NAMES: [&str; 17] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "rip",
];

/// Callee-saved registers: rbx, rbp, rsp, r12 to r15, and the pc.
const KEPT: [u64; 8] = [3, 6, 7, 12, 13, 14, 15, 16];

pub fn hex(text: &str) -> u64 {
    let digits = text.trim().trim_start_matches("0x").trim_end_matches([',', ':', ';']);
    u64::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// gdb's information about a frame.
#[derive(Debug, Default)]
struct Known {
    /// Contents of registers, by DWARF number.
    registers: Vec<u64>,
    /// "frame at": the canonical frame address; `None` for the outermost frame.
    cfa: Option<u64>,
    /// Addresses of the caller's saved registers.
    saved: Vec<(u64, u64)>,
    is_outermost: bool,
}

/// gdb's information about the process.
struct Asked {
    frames: Vec<Known>,
    /// Bytes from the innermost stack pointer on.
    stack: Vec<u8>,
    /// Address of the variable `outermost`.
    outermost: u64,
}

/// Runs the program up to `stop`, queries all frames, and dumps the stack to a file.
fn ask(folder: &Folder, program: &Path) -> Option<Asked> {
    let stack = folder.path().join("stack");
    let formats = "%lx ".repeat(NAMES.len());
    let names = NAMES.map(|name| format!("${name}")).join(", ");
    let commands = [
        // Extends the stack beyond the dumped range.
        format!("set environment PADDING {}", "x".repeat(4000)),
        "handle SIGUSR1 nostop noprint pass".into(),
        "set backtrace past-main on".into(),
        "set backtrace past-entry on".into(),
        "break stop".into(),
        "run".into(),
        "printf \"OUTERMOST %lx\\n\", &outermost".into(),
        format!("dump binary memory {} $rsp *(char **)&outermost", stack.display()),
        format!("frame apply all -q printf \"REGISTERS {formats}\\n\", {names}"),
        "frame apply all -q info frame".into(),
    ];
    let arguments = ["-batch", "-nx"].map(String::from).into_iter();
    let arguments = arguments.chain(commands.into_iter().flat_map(|command| ["-ex".into(), command]));
    let arguments: Vec<String> = arguments.chain([program.to_str().expect("a path").into()]).collect();
    let output = GDB.run(&arguments)?;
    if output.errors.contains("ptrace") {
        skip("gdb may not trace programs here");
        return None;
    }
    assert!(output.succeeded, "{output}");
    let mut frames = Vec::new();
    for line in output.out.lines() {
        if let Some(numbers) = line.strip_prefix("REGISTERS ") {
            let registers = numbers.split_whitespace().map(hex).collect();
            frames.push(Known { registers, ..Known::default() });
        }
    }
    let outermost = output.out.lines().find_map(|line| line.strip_prefix("OUTERMOST ")).map(hex);
    let mut number = 0;
    for line in output.out.lines() {
        if let Some((level, cfa)) =
            line.strip_prefix("Stack level ").and_then(|line| line.split_once(", frame at "))
        {
            number = level.parse().expect("a number");
            frames[number].cfa = Some(hex(cfa)).filter(|&cfa| cfa != 0);
        }
        let frame: Option<&mut Known> = frames.get_mut(number);
        if let Some(frame) = frame {
            frame.is_outermost |= line.contains("Outermost frame");
            for saved in line.split(", ").filter_map(|part| part.trim().split_once(" at 0x")) {
                let number = NAMES.iter().position(|name| *name == saved.0);
                frame.saved.extend(number.map(|number| (number as u64, hex(saved.1))));
            }
        }
    }
    assert!(frames.len() > 10, "{output}");
    let stack = std::fs::read(stack).expect("the stack");
    Some(Asked { frames, stack, outermost: outermost.expect("an address") })
}

fn compile(folder: &Folder, tool: Tool, flags: &str) -> Option<PathBuf> {
    let source = Path::new(crate::common::ROOT).join("tests/unwind/data/deep.c");
    let program = folder.path().join("deep");
    let mut arguments: Vec<&str> = flags.split_whitespace().collect();
    arguments.extend(["-o", program.to_str()?, source.to_str()?]);
    tool.run(&arguments)?.clean();
    Some(program)
}

/// Compares the frames found by this crate.
fn compare(program: &Path, asked: &Asked, what: &str) {
    let known = &asked.frames;
    let bytes = std::fs::read(program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let mut sections = Sections::of(&object);
    // Difference between the loaded address and that in the file.
    let output = object.symbol_address("outermost").expect("the variable");
    sections.eh_frame_address += asked.outermost - output;
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let frames = [FrameSection::Debug, FrameSection::Eh]
        .map(|section| Frames::read(&sections, section, encoding).expect("call frame information"));
    let innermost = &known[0].registers;
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(innermost[16]));
    for (number, value) in innermost.iter().enumerate() {
        machine.registers.insert(Reg(number as u64), value.to_le_bytes().to_vec());
    }
    machine.store(SpaceId::DEFAULT, None, innermost[7], &asked.stack);
    let target = Target::x86_64();
    let calls = CallStack::new(&machine, &frames, &target);
    let all: Result<Vec<Frame<'_, '_, '_>>, _> = calls.frames().collect();
    let all = all.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let pcs: Vec<_> = all.iter().map(|frame| format!("{:x}", frame.resumes_at())).collect();
    let expected: Vec<_> = known.iter().map(|frame| format!("{:x}", frame.registers[16])).collect();
    assert_eq!(pcs, expected, "{what}");
    for (frame, known) in all.iter().zip(known) {
        let at = format!("{what}: frame {}, pc {:#x}", frame.number(), frame.pc());
        if let Some(cfa) = known.cfa.filter(|_| !frame.is_signal()) {
            assert_eq!(frame.cfa().map(|cfa| cfa.default_address()), Ok(Some(cfa)), "{at}");
        }
        for reg in KEPT {
            // Registers are undefined outside of `main`; gdb knows none in `_start`.
            if known.is_outermost && reg != 7 && reg != 16 {
                continue;
            }
            let location = frame.register(Reg(reg)).unwrap_or_else(|fault| panic!("{at}: {fault}"));
            let read = read_bits(&location, 64, &machine).unwrap_or_else(|fault| panic!("{at}: {fault}"));
            let value = u64::from_le_bytes(read.bytes.try_into().expect("eight bytes"));
            assert_eq!(
                format!("{value:x}"),
                format!("{:x}", known.registers[reg as usize]),
                "{at}, {reg}: {location}"
            );
        }
        for &(reg, address) in &known.saved {
            let location = frame.saved(Reg(reg)).unwrap_or_else(|fault| panic!("{at}: {fault}"));
            assert_eq!(location.to_string(), format!("mem:0:{address:#x}"), "{at}, {}", NAMES[reg as usize]);
        }
    }
    let signals = all.iter().filter(|frame| frame.is_signal()).count();
    let saved: usize = known.iter().map(|frame| frame.saved.len()).sum();
    assert!(signals == 1 && saved > 60 && all.len() >= 18, "{what}: {signals}, {saved}, {}", all.len());
}

#[test]
fn frames_of_a_process_are_those_that_gdb_finds() {
    for (tool, flags) in [
        (GCC, "-O1 -static"),
        (GCC, "-O2 -static-pie -fPIE -fno-omit-frame-pointer"),
        (GCC, "-O0 -static -g -fno-asynchronous-unwind-tables -fno-unwind-tables"),
        (CLANG, "-O1 -static"),
        (CLANG, "-O2 -static -gdwarf-4 -fno-asynchronous-unwind-tables -fno-unwind-tables"),
    ] {
        let folder = Folder::new();
        let Some(program) = compile(&folder, tool, flags) else { return };
        let Some(asked) = ask(&folder, &program) else { return };
        compare(&program, &asked, &format!("{} {flags}", tool.name));
    }
}
