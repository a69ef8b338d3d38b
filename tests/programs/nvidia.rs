//! Cubins that NVIDIA's tools made of CUDA C++: `dump` prints the lines, inlined calls, registers and homes that
//! `nvdisasm` and `cuobjdump` print.
//!
//! The tools come from PyPI: nvidia-cuda-nvcc, nvidia-nvvm, nvidia-cuda-crt, nvidia-cuda-runtime,
//! nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eitri::emit::ptx;
use eitri::lower::{Consumer, Policy, lower};
use eitri::op::Reg;
use eitri::target::Target;
use pretty_assertions::assert_eq;

use super::built;
use super::common::{Folder, Tool};
use super::cubin::{REGISTERS, TEXT, described};
use crate::common::with;

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");
const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");
const NVDISASM: Tool = Tool::new("nvdisasm", "nvidia-cuda-nvdisasm of PyPI");

/// Processors, each with the flags of a build for debugging and of one with lines alone.
const BUILDS: [(&str, &str); 8] = [
    ("sm_80", "-G -g"),
    ("sm_90", "-G -g"),
    ("sm_100", "-G -g"),
    ("sm_120", "-G -g"),
    ("sm_80", "-lineinfo -O3"),
    ("sm_90", "-lineinfo -O3"),
    ("sm_100", "-lineinfo -O3"),
    ("sm_120", "-lineinfo -O3"),
];

/// A cubin of the kernel; `None` without the tools.
fn cubin(folder: &Folder, (processor, flags): (&str, &str)) -> Option<PathBuf> {
    let source = Path::new(crate::common::ROOT).join("tests/programs/nvidia/kernel.cu");
    let out = folder.path().join("k.cubin");
    let arch = format!("-arch={processor}");
    let mut arguments: Vec<&str> = flags.split(' ').chain(["-cubin", &arch, "-o"]).collect();
    arguments.extend([out.to_str()?, source.to_str()?]);
    let ran = NVCC.run(&arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(out)
}

pub(super) fn dumped(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the cubin");
    eitri::dump::print(&bytes, None).expect("a dump")
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("a number: {text}"))
}

/// Lines by function and offset in its section: the line of the last row there, and the line of the call if the code is
/// inlined.
type Lines = BTreeMap<(String, u64), (u64, Option<u64>)>;

/// Parses `k+0x20`.
fn pc(text: &str) -> (String, u64) {
    let (function, offset) = text.rsplit_once('+').unwrap_or_else(|| panic!("a pc: {text}"));
    (function.into(), hex(offset))
}

/// Headings of the line tables in a dump: of the source, and of the PTX.
const TABLES: [&str; 2] = ["\nlines: ", "\nlines of the PTX: "];

fn lines_of_dump(dump: &str, table: &str) -> Lines {
    let (_, table) = dump.split_once(table).expect("a line table");
    let mut found = BTreeMap::new();
    let mut sequence = Vec::new();
    for row in table.lines().skip(1).take_while(|row| row.starts_with("  ")) {
        let words: Vec<&str> = row.split_whitespace().collect();
        match words[1] {
            _ if words[0] == "file" => {}
            "end" => sequence.clear(),
            position => {
                let line = position.split(':').nth(1).and_then(|line| line.parse().ok()).expect("a line");
                sequence.push(line);
                let call = row.split_once(" at row ").map(|(_, call)| call.parse::<usize>().expect("a row"));
                found.insert(pc(words[0]), (line, call.map(|call| sequence[call - 1])));
            }
        }
    }
    found
}

/// The lines that `nvdisasm` prints with a flag: `-gi` for the source, `-gp` for the PTX.
fn lines_of_tool(path: &Path, flag: &str) -> Option<Lines> {
    let text = NVDISASM.run(&[flag, "-c", path.to_str()?])?.clean();
    let mut found = BTreeMap::new();
    let mut function = "";
    let mut next = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(".text.").and_then(|line| line.strip_suffix(':')) {
            function = name;
        } else if let Some((_, note)) = line.split_once("//## File ") {
            let number = |text: &str| text.split(' ').next().and_then(|line| line.parse::<u64>().ok());
            let mut parts = note.split(", line ").skip(1);
            let line = parts.next().and_then(number).expect("a line");
            let call = parts.next().and_then(number);
            // The callers' notes follow that of the inlined code.
            next = next.or(Some((line, call)));
        } else if let Some((_, rest)) = line.split_once("/*")
            && let Some((address, _)) = rest.split_once("*/")
            && let Some(note) = next.take()
        {
            found.insert((function.to_owned(), hex(address)), note);
        }
    }
    Some(found)
}

/// Compares the lines of a dump with those of `nvdisasm`; `None` without it.
pub(super) fn compare_lines(path: &Path, flag: &str, what: &str) -> Option<Lines> {
    let dump = dumped(path);
    let expected = lines_of_tool(path, flag)?;
    let found = lines_of_dump(&dump, TABLES[usize::from(flag == "-gp")]);
    // The tool repeats the note of a line at labels, and omits rows that repeat the one before.
    let at = |pc: &(String, u64)| {
        let (place, line) = found.range(..=pc.clone()).next_back()?;
        (place.0 == pc.0).then_some(*line)
    };
    for (pc, &line) in &expected {
        assert_eq!(at(pc), Some(line), "{what} {flag} {pc:x?}");
    }
    let changes = found.iter().filter(|(pc, line)| {
        let before = found.range(..(*pc).clone()).next_back();
        before.is_none_or(|(place, before)| place.0 != pc.0 || before != *line)
    });
    for (pc, line) in changes {
        assert_eq!(expected.get(pc), Some(line), "{what} {flag} {pc:x?}");
    }
    Some(expected)
}

#[test]
fn lines_and_inlined_calls_are_those_of_nvdisasm() {
    let folder = Folder::new();
    for build in BUILDS {
        let Some(path) = cubin(&folder, build) else { return };
        let what = format!("{build:?}");
        let Some(expected) = compare_lines(&path, "-gi", &what) else { return };
        assert!(expected.len() >= 10, "{what}: {expected:?}");
        let is_debug = build.1.contains("-G");
        assert!(is_debug || expected.values().any(|(_, call)| call.is_some()), "{what}");
        let Some(of_ptx) = compare_lines(&path, "-gp", &what) else { return };
        assert!(of_ptx.len() > expected.len(), "{what}: {of_ptx:?}");
    }
}

/// Home of a class and number in the notation of `dump`.
fn home(number: u64) -> String {
    let class = number >> 24;
    let low = number & 0xff_ffff;
    match class {
        2 => format!("P{low}"),
        5 => format!("R{low}"),
        4 => format!("R{}.{}", low / 2, if low.is_multiple_of(2) { "l" } else { "h" }),
        7 => format!("local[R{}+{:#x}]", low >> 16, low & 0xffff),
        11 => format!("UR{low}"),
        _ => panic!("class {class}"),
    }
}

/// The output of `cuobjdump -elf`; `None` without it. The tool reports attributes that it does not know, such as clang's
/// `DW_AT_GNU_vector`.
pub(super) fn elf_of_tool(path: &Path) -> Option<String> {
    let ran = CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()])?;
    let mut errors = ran.errors.lines();
    assert!(ran.succeeded && errors.all(|line| line.starts_with("Unknown Attribute value ")), "{ran}");
    Some(ran.out)
}

/// Compares homes of registers, and names of registers in expressions, with those of `cuobjdump`; returns the number
/// of homes, `None` without the tool.
pub(super) fn compare_registers(path: &Path, what: &str) -> Option<usize> {
    let text = elf_of_tool(path)?;
    let dump = dumped(path);
    let mut expected = Vec::new();
    let mut name = "";
    let (_, section) = text.split_once(".section .nv_debug_info_reg_sass\n").expect("the section");
    for line in section.lines().take_while(|line| !line.starts_with(".section")) {
        if let Some(function) = line.trim().strip_prefix("Function Name: ") {
            name = function;
        } else if let Some((register, rest)) =
            line.trim().strip_prefix("(reg: ").and_then(|line| line.split_once(") "))
        {
            let numbers: Vec<u64> = rest.split(", ").map(hex).collect();
            let [start, end] = [numbers[1], numbers[2]];
            expected.push(format!("{name}+[{start:#x}, {end:#x}] {register}: {}", home(numbers[0])));
        }
    }
    let (_, registers) = dump.split_once("\nregisters of ").expect("registers");
    let found = registers.lines().take_while(|line| !line.is_empty());
    let found = found.filter_map(|line| line.strip_prefix("  ")).map(|line| {
        // The tool does not print the word.
        let (register, home) = line.rsplit_once(": ").expect("a home");
        let (register, _) = register.split_once(" word ").expect("a word");
        format!("{register}: {home}")
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{what}");
    // Each register in an expression has the name that the tool prints.
    let mut named: Vec<&str> =
        text.split("(DW_OP_regx: ").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let mut printed: Vec<&str> =
        dump.lines().filter_map(|line| line.trim().strip_prefix("DW_AT_location: regx ")).collect();
    named.sort_unstable();
    printed.sort_unstable();
    assert_eq!(printed, named, "{what}");
    Some(expected.len())
}

#[test]
fn homes_of_registers_are_those_of_cuobjdump() {
    let folder = Folder::new();
    for build in &BUILDS[..4] {
        let Some(path) = cubin(&folder, *build) else { return };
        let Some(homes) = compare_registers(&path, &format!("{build:?}")) else { return };
        assert!(homes > 50, "{build:?}");
        // nvcc writes these for C++17 and for generic pointers, as `Consumer::cuda_gdb` does.
        let dump = dumped(&path);
        assert!(dump.contains("  DW_AT_language: DW_LANG_C_plus_plus\n"), "{build:?}");
        assert!(dump.contains("DW_AT_address_class: 12\n"), "{build:?}");
    }
}

/// Types of registers, from the declarations in the PTX that the cubin contains.
#[test]
fn types_of_registers_are_those_of_the_ptx() {
    let folder = Folder::new();
    for build in &BUILDS[..2] {
        let Some(path) = cubin(&folder, *build) else { return };
        let bytes = std::fs::read(&path).expect("the cubin");
        // `.reg .b64 %rd<27>;` declares `%rd1` to `%rd26`, and `.reg .b64 %SP;` one register.
        let declared: BTreeMap<String, String> = bytes
            .split(|byte| *byte == 0)
            .filter_map(|line| core::str::from_utf8(line).ok()?.strip_prefix(".reg ."))
            .filter_map(|line| line.trim_end_matches(';').split_once(char::is_whitespace))
            .map(|(ty, name)| (name.trim().split('<').next().unwrap_or_default().into(), ty.trim().into()))
            .collect();
        assert!(declared.len() > 5, "{declared:?}");
        let mut text = Vec::new();
        let options = {
            let mut options = eitri::dump::DumpOptions::default();
            options.verbose = true;
            options
        };
        eitri::dump::print_to(&mut text, &bytes, None, None, eitri::op::Dialect::Llvm, options)
            .expect("a dump");
        let text = String::from_utf8(text).expect("text");
        let mut count = 0;
        for line in text.lines().filter(|line| line.contains(" word ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words[2].trim_end_matches(|char: char| char.is_ascii_digit());
            // A declaration within braces does not begin its line.
            let Some(ty) = declared.get(name) else { continue };
            assert_eq!(words.last(), Some(&&**ty), "{line}");
            count += 1;
        }
        assert!(count > 100, "{build:?}: {count}");
    }
}

pub(super) const PTXAS: Tool = Tool::new("ptxas", "nvidia-cuda-nvcc of PyPI");

/// Expressions of location lists as `cuobjdump` prints them: bounds and text.
fn lists_of_tool(text: &str) -> Vec<(u64, u64, String)> {
    let lists = text.lines().filter_map(|line| {
        let (start, rest) = line.trim().split_once("\t\t").filter(|(start, _)| start.starts_with("0x"))?;
        let (end, expression) = rest.split_once("\t\t")?;
        Some((hex(start), hex(end), expression.trim().to_owned()))
    });
    lists.filter(|(_, _, expression)| expression.starts_with("DW_OP_")).collect()
}

/// Addends of a relocation section as `cuobjdump` prints it, by ascending offset.
fn addends_of_tool(text: &str, section: &str) -> Vec<u64> {
    let Some((_, rest)) = text.split_once(&format!(".section {section}\t")) else { return Vec::new() };
    let rows = rest.lines().skip(1).take_while(|line| line.starts_with("0x"));
    let mut rows: Vec<(u64, u64)> = rows
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (hex(words[0]), hex(words[words.len() - 1]))
        })
        .collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, addend)| addend).collect()
}

/// Runs the example. Returns the path of its text with debug information, and its output.
fn example(folder: &Folder) -> (PathBuf, String) {
    let ran = std::process::Command::new(built::example("cuda_kernel"))
        .arg(folder.path())
        .output()
        .expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    (folder.path().join("cuda_kernel.debug.ptx"), String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn ptxas_takes_texts_with_debug_information() {
    let folder = Folder::new();
    // The example goes on to the cubins: every location that is described is there, and equal.
    let (text, printed) = example(&folder);
    let is_covered = |line: &&str| {
        line.starts_with("0 findings, 11 variables at ") && line.contains(" described, 100.0 % located, 9")
    };
    let covered = printed.lines().filter(is_covered).count();
    assert!(covered == 4 || printed.contains("there is no ptxas"), "{printed}");
    for processor in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let path = folder.path().join(format!("{processor}.cubin"));
        let arch = format!("-arch={processor}");
        let arguments =
            [arch.as_str(), "-g", text.to_str().expect("a path"), "-o", path.to_str().expect("a path")];
        // Not a word on standard error.
        let Some(ran) = PTXAS.run(&arguments) else { return };
        ran.clean();
        let dump = dumped(&path);

        let Some(expected) = compare_lines(&path, "-gi", processor) else { return };
        // The inlined function's rows, with the line of the call.
        let inlined: Vec<_> = expected.values().filter(|(_, call)| call.is_some()).copied().collect();
        assert_eq!(inlined, [(5, Some(14)), (6, Some(14))], "{processor}");
        let Some(of_ptx) = compare_lines(&path, "-gp", processor) else { return };
        assert!(of_ptx.len() > 10, "{processor}");

        let Some(ran) = CUOBJDUMP.run(&["-elf", path.to_str().expect("a path")]) else { return };
        let text = ran.clean();
        let lists = lists_of_tool(&text);
        let expressions: Vec<&str> = lists.iter().map(|(_, _, expression)| expression.as_str()).collect();
        // The locations of the description, in the order of the variables: i, was, now, element, x, by, y.
        let registers = ["%r2", "%f2", "%f2", "depot", "%f5", "%f4", "%rd4", "%f2", "%f1", "%f3"];
        assert_eq!(expressions.len(), registers.len(), "{processor}: {lists:?}");
        for (expression, register) in expressions.iter().zip(registers) {
            let expected = match register {
                "%rd4" => "DW_OP_bregx: %rd4 0x0".into(),
                // ptxas puts the frame in place of the symbol, 8 bytes below the canonical frame address.
                "depot" => format!("DW_OP_fbreg: -8; {}DW_OP_plus_uconst: 4", "DW_OP_nop; ".repeat(7)),
                _ => format!("DW_OP_regx: {register}"),
            };
            assert_eq!(*expression, expected, "{processor}");
        }
        // From sm_90 on, relocations have addends of their own: the tool prints fields that ptxas does not update, and
        // the addends behind the lists.
        let addends = addends_of_tool(&text, ".rela.debug_loc");
        let bounds = match processor {
            "sm_80" => lists.iter().map(|(start, end, _)| (*start, *end)).collect::<Vec<_>>(),
            _ => addends.chunks(2).map(|pair| (pair[0], pair[1])).collect(),
        };
        assert_eq!(bounds.len(), lists.len(), "{processor}: {bounds:x?}");
        for ((start, end), (.., expression)) in bounds.into_iter().zip(&lists) {
            let register = expression.split(' ').nth(1).expect("a register");
            let bounds = format!("scale+[{start:#x}, {end:#x}): ");
            assert!(
                dump.lines().any(|line| line.contains(&bounds) && line.contains(register)),
                "{processor}: {bounds}{register}"
            );
        }
        // Parameters are at their constant-bank offsets, 8 and 12 bytes apart.
        let addresses: Vec<u64> = text
            .lines()
            .filter_map(|line| line.split_once("(DW_OP_addr: ")?.1.strip_suffix(')').map(hex))
            .filter(|&address| address >= 0x100 && address != 0x400)
            .collect();
        assert_eq!(addresses.len(), 3, "{processor}: {addresses:x?}");
        assert_eq!([addresses[1] - addresses[0], addresses[2] - addresses[0]], [8, 12], "{processor}");
    }
}

/// The text of the example, with inlined calls, lists and the frame, assembled to a linked and to a relocatable cubin:
/// REL and RELA, sections with names of their own, and the relocation type that clears its field. The two cubins have
/// the same facts.
#[test]
fn relocatable_cubins_are_printed_as_linked_ones() {
    let folder = Folder::new();
    let (text, _) = example(&folder);
    // In relocatable cubins, the line table names the section of the PTX, and nvlink has not placed shared variables yet.
    let parts = |dump: &str| {
        let (before, rest) = dump.split_once("\nlines of the PTX: ").expect("lines of the PTX");
        let (_, after) = rest.split_once("\nregisters of ").expect("registers");
        let before = before.lines().filter(|line| !line.starts_with("    DW_AT_location: addr "));
        let after = after.lines().filter(|line| !line.starts_with("copy "));
        let [before, after] = [before.collect::<Vec<_>>().join("\n"), after.collect::<Vec<_>>().join("\n")];
        (before, lines_of_dump(dump, TABLES[1]), after)
    };
    for processor in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let arch = format!("-arch={processor}");
        let mut all = Vec::new();
        for (flag, kind) in [("-g", 2), ("-c", 1)] {
            let path = folder.path().join(format!("{processor}{flag}.cubin"));
            let [text, out] = [&text, &path].map(|path| path.to_str().expect("a path"));
            let Some(ran) = PTXAS.run(&[&arch, "-g", flag, text, "-o", out]) else { return };
            ran.clean();
            // e_type: ET_EXEC or ET_REL.
            assert_eq!(std::fs::read(&path).expect("the cubin")[16], kind);
            all.push(parts(&dumped(&path)));
        }
        assert!(
            all[0].0.contains("inlined _Z5grownff at row") && all[0].2.contains("%rd4 word 1"),
            "{processor}"
        );
        assert_eq!(all[0], all[1], "{processor}");
    }
}

/// Rows without sections: ptxas optimizes, and keeps the lines and inlined calls.
#[test]
fn rows_alone_are_lines_of_optimized_code() {
    let module = described(REGISTERS).expect("a module");
    let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let how = with::<ptx::PtxAttachOptions>(|options| options.lines = written.lines.as_ref());
    let text = ptx::attach(TEXT, module.target(), &[], &how).expect("a text");
    let folder = Folder::new();
    let source = folder.file("k.ptx", text);
    let path = folder.path().join("k.cubin");
    for processor in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let arch = format!("-arch={processor}");
        let [source, out] = [&source, &path].map(|path| path.to_str().expect("a path"));
        let Some(ran) = PTXAS.run(&[&arch, "-lineinfo", "-O3", source, "-o", out]) else { return };
        ran.clean();
        let Some(lines) = compare_lines(&path, "-gi", processor) else { return };
        // Positions 4 to 6, in lines 6 to 8, are of the call in line 4.
        assert!(lines.values().any(|line| matches!(line, (6..=8, Some(4)))), "{processor}: {lines:?}");
        assert!(lines.values().any(|line| matches!(line, (9..=11, None))), "{processor}: {lines:?}");
    }
}

/// nvdisasm's name of a uniform register, by the number in the operand of an instruction that writes one.
#[test]
fn uniform_registers_are_those_of_the_disassembly() {
    for processor in ["sm_80", "sm_90", "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"] {
        let folder = Folder::new();
        let Some(path) = cubin(&folder, (processor, "-G -g")) else { return };
        let mut bytes = std::fs::read(&path).expect("the cubin");
        let Some(line) = moves_to_uniform(&path) else { return };
        let line = line.first().expect("an instruction that writes a uniform register");
        let (_, code) = line.rsplit_once("/* 0x").expect("the instruction's first 8 bytes");
        let code = hex(code.trim_end_matches("*/").trim()).to_le_bytes();
        let at = bytes.windows(8).position(|part| part == code).expect("the instruction");
        let target = Target::named(&format!("nvptx-{processor}")).expect("a processor");
        // Before sm_100, an operand has 6 bits.
        let is_wide = processor.len() == "sm_100".len();
        for number in [0, 5, 62, 63, 64, 77, 254, 255].into_iter().filter(|number| is_wide || *number < 64) {
            // The destination is the third byte.
            bytes[at + 2] = number;
            let changed = folder.file("changed.cubin", &bytes);
            let Some(lines) = moves_to_uniform(&changed) else { return };
            let register = target.register(Reg(0x0b00_0000 | u64::from(number))).expect("a register");
            assert!(
                lines[0].contains(&format!(" {}, ", register.name())),
                "{processor} {number}: {}",
                lines[0]
            );
        }
    }
}

/// The lines of a disassembly that move a general register to a uniform register, with the encoded instructions.
fn moves_to_uniform(path: &Path) -> Option<Vec<String>> {
    let text = NVDISASM.run(&["-hex".as_ref(), "-c".as_ref(), path.as_os_str()])?.clean();
    Some(text.lines().filter(|line| line.contains(" R2UR ")).map(str::to_owned).collect())
}
