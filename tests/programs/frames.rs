//! Call frame information: debuggers unwind with it, and other tools print its rows.
//!
//! The program has no other unwind information: it is assembled from functions that move the stack pointer and have no
//! frame pointer.

use std::path::{Path, PathBuf};

use eitri::Result;
use eitri::build::{Builder, FrameBuilder};
use eitri::consumer::{Consumer, FrameForm, Policy};
use eitri::emit::elf::{ObjectCode, attach, new_object, symbol_named};
use eitri::lower::lower;
use eitri::model::{Loc, Module, Val};
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, Wave};

use super::common::{Folder, Tool};
use super::debugger::ask::Debugger;
use super::{CC, DWARFDUMP, READELF};

/// The comments have the size of the instruction and the size of the stack after it, in bytes.
const PROGRAM: &str = r#"
    .text
    .globl main, outer, middle, inner
    .type main, @function
main:
    subq $8, %rsp           # 4, 16
    callq outer             # 5, 16
    xorl %eax, %eax         # 2, 16
    addq $8, %rsp           # 4, 8
    retq
    .size main, . - main
    .type outer, @function
outer:
    subq $40, %rsp          # 4, 48
    callq middle            # 5, 48
    addq $40, %rsp          # 4, 8
    retq
    .size outer, . - outer
    .type middle, @function
middle:
    pushq %rbx              # 1, 16
    subq $200, %rsp         # 7, 216
    movl $7, %ebx           # 5, 216
    callq inner             # 5, 216
    addq $200, %rsp         # 7, 16
    popq %rbx               # 1, 8
    retq
    .size middle, . - middle
    .type inner, @function
inner:
    subq $96, %rsp          # 4, 104
    movq %rbx, 8(%rsp)      # 5, 104
    movl $9, %ebx           # 5, 104
    nop                     # 1, 104: stopped here
    movq 8(%rsp), %rbx      # 5, 104
    addq $96, %rsp          # 4, 8
    retq
    .size inner, . - inner
    .section .note.GNU-stack, "", @progbits
"#;

/// Offset in `inner` where the program stops.
const STOP: u64 = 14;

const RBX: Reg = Reg(3);
const RSP: Reg = Reg(7);
const RIP: Reg = Reg(16);

/// Describes canonical frame addresses, each as a distance in bytes from the stack pointer, from an offset in the
/// function on.
fn stack(frame: &mut FrameBuilder<'_>, size: u64, all: &[(u64, i64)]) -> Result<()> {
    for (index, &(start, by)) in all.iter().enumerate() {
        let end = all.get(index + 1).map_or(size, |&(next, _)| next);
        frame.cfa(start..end, Loc::memory(SpaceId::DEFAULT, Val::register(RSP).plus(by)))?;
    }
    frame.saved(0..size, RIP, Loc::cfa().offset(-8))?;
    Ok(())
}

/// A function, its size, and the distances of the canonical frame address from the stack pointer, with their first
/// offsets.
type Moves = (&'static str, u64, &'static [(u64, i64)]);

pub fn module() -> Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("stack.s");
    let functions: [Moves; 4] = [
        ("main", 16, &[(0, 8), (4, 16), (15, 8)]),
        ("outer", 14, &[(0, 8), (4, 48), (13, 8)]),
        ("middle", 27, &[(0, 8), (1, 16), (8, 216), (25, 16), (26, 8)]),
        ("inner", 25, &[(0, 8), (4, 104), (24, 8)]),
    ];
    for (name, size, by) in functions {
        let f = m.function(unit, name)?.code(name, size).external().id();
        let mut frame = m.frame(f)?;
        stack(&mut frame, size, by)?;
        match name {
            "middle" => frame.saved(1..26, RBX, Loc::cfa().offset(-16))?,
            "inner" => frame.saved(9..20, RBX, Loc::cfa().offset(-96))?,
            _ => &mut frame,
        };
    }
    m.finish()
}

/// The linked program with the sections for a consumer.
fn program(folder: &Folder, consumer: Option<&Consumer>) -> Option<PathBuf> {
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    folder.file("stack.s", PROGRAM);
    CC.run(&["-c", &path("stack.s"), "-o", &path("plain.o")])?.clean();
    let plain = std::fs::read(path("plain.o")).expect("what was assembled");
    let module = module().expect("a module");
    for (_, function) in module.functions() {
        let name = module.string(function.name);
        assert_eq!(symbol_named(&plain, name).expect("a symbol").size, function.bytes, "{name}");
    }
    let object = match consumer {
        None => plain,
        Some(consumer) => {
            let written = lower(&module, consumer, Policy::Strict).expect("sections");
            attach(&plain, module.target(), &written.sections).expect("an object")
        }
    };
    folder.file("stack.o", object);
    CC.run(&[path("stack.o"), "-o".into(), path("program")])?.clean();
    Some(folder.path().join("program"))
}

fn form(version: u16, is_eh: bool) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    consumer.version = version;
    consumer.frames = {
        let mut frames = FrameForm::STANDARD;
        frames.debug_frame = !is_eh;
        frames.eh_frame = is_eh;
        frames
    };
    consumer
}

/// Functions in a backtrace.
fn names(backtrace: &str) -> Vec<&str> {
    let frames = backtrace.lines().filter(|line| line.starts_with('#'));
    frames
        .filter_map(|line| {
            line.split_whitespace().find(|word| ["main", "outer", "middle", "inner"].contains(word))
        })
        .collect()
}

fn asked(folder: &Folder, program: &Path) -> Option<(String, String, String)> {
    let stop = format!("break *((char *) &inner + {STOP})");
    // In `middle`, the register has its value at the call; in `outer`, that at the call of `middle`.
    let questions = ["bt", "frame 1", "print $rbx", "print $rbx == $before"];
    let commands = ["break *(char *) &middle", "run", "set $before = $rbx", &stop, "continue"];
    let output = Debugger::Gdb.ask(
        folder,
        program,
        &commands,
        &[&questions[..3], &["frame 2"], &questions[3..]].concat(),
    )?;
    Some((output.answers[0].clone(), output.answers[2].clone(), output.answers[4].clone()))
}

#[test]
fn gdb_unwinds_by_what_is_written_alone() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = Folder::new();
    // Without the sections gdb cannot unwind: its results come from them.
    let Some(bare) = program(&folder, None) else { return };
    let Some((backtrace, ..)) = asked(&folder, &bare) else { return };
    assert_ne!(names(&backtrace), ["inner", "middle", "outer", "main"], "{backtrace}");
    for consumer in [form(5, true), form(5, false), form(4, false), form(3, false), form(2, false)] {
        let folder = Folder::new();
        let Some(program) = program(&folder, Some(&consumer)) else { return };
        let Some((backtrace, ebx, is_before)) = asked(&folder, &program) else { return };
        let name = consumer.version;
        assert_eq!(names(&backtrace), ["inner", "middle", "outer", "main"], "{name}: {backtrace}");
        assert!(ebx.contains("= 7"), "{name}: {ebx}");
        assert!(is_before.contains("= 1"), "{name}: {is_before}");
    }
}

fn ran(tool: Tool, arguments: &[&str], object: &Path) -> Option<String> {
    let object = object.to_str().expect("a path");
    Some(tool.run(&[arguments, &[object]].concat())?.clean())
}

/// Rows of `middle` in the output of both tools.
#[test]
fn frame_rows_are_printed_by_other_tools() {
    let folder = Folder::new();
    let module = module().expect("a module");
    let code = ObjectCode::text(vec![0x90; 82])
        .with_function("main", 0, 16)
        .with_function("outer", 16, 14)
        .with_function("middle", 30, 27)
        .with_function("inner", 57, 25);
    let dwarf64 = {
        let mut consumer = form(5, false);
        consumer.format = gimli::Format::Dwarf64;
        consumer
    };
    let forms = [form(5, false), form(4, false), form(3, false), form(2, false), form(5, true), dwarf64];
    for (index, consumer) in forms.iter().enumerate() {
        let written = lower(&module, consumer, Policy::Strict).expect("sections");
        let object = new_object(module.target(), &code, &written.sections).expect("an object");
        let object = folder.file(&format!("{index}.o"), object);
        if let Some(text) = ran(DWARFDUMP, &["--debug-frame"], &object) {
            let rows: Vec<&str> =
                text.lines().filter_map(|line| line.split_once(": CFA=").map(|(_, row)| row)).collect();
            #[rustfmt::skip]
            let expected = [
                // The common entry of all four.
                "RSP+8: RIP=[CFA-8]",
                "RSP+8: RIP=[CFA-8]", "RSP+16: RIP=[CFA-8]", "RSP+8: RIP=[CFA-8]",
                "RSP+8: RIP=[CFA-8]", "RSP+48: RIP=[CFA-8]", "RSP+8: RIP=[CFA-8]",
                "RSP+8: RIP=[CFA-8]", "RSP+16: RBX=[CFA-16], RIP=[CFA-8]", "RSP+216: RBX=[CFA-16], RIP=[CFA-8]",
                "RSP+16: RBX=[CFA-16], RIP=[CFA-8]", "RSP+8: RIP=[CFA-8]",
                "RSP+8: RIP=[CFA-8]", "RSP+104: RIP=[CFA-8]", "RSP+104: RBX=[CFA-96], RIP=[CFA-8]",
                "RSP+104: RIP=[CFA-8]", "RSP+8: RIP=[CFA-8]",
            ];
            let rows: Vec<&str> = rows.into_iter().skip_while(|row| *row != expected[0]).collect();
            let listed: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
            let without_common = &listed[listed.len() - 16.min(listed.len())..];
            assert_eq!(without_common, &expected[1..], "{text}");
        }
        if let Some(text) = ran(READELF, &["-wF"], &object) {
            let rows: Vec<String> = text
                .lines()
                .filter_map(|line| {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    (words.len() > 2 && words[0].len() == 16 && words[1].starts_with("rsp+"))
                        .then(|| words[1..].join(" "))
                })
                .collect();
            #[rustfmt::skip]
            let expected = [
                "rsp+8 c-8", "rsp+16 c-8", "rsp+8 c-8",
                "rsp+8 c-8", "rsp+48 c-8", "rsp+8 c-8",
                "rsp+8 u c-8", "rsp+16 c-16 c-8", "rsp+216 c-16 c-8", "rsp+16 c-16 c-8", "rsp+8 u c-8",
                "rsp+8 u c-8", "rsp+104 u c-8", "rsp+104 c-96 c-8", "rsp+104 u c-8", "rsp+8 u c-8",
            ];
            let listed = &rows[rows.len() - 16.min(rows.len())..];
            assert_eq!(listed, expected, "{text}");
        }
    }
}

/// LLVM knows the register, the space and the operations of these frames.
#[test]
fn llvm_prints_the_frames_of_waves() -> Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let exec = gpu.exec().expect("one");
    let v40 = gpu.vgpr(40)?;
    let v41 = gpu.vgpr(41)?;
    let [s30, s31, s32, s33] = [30, 31, 32, 33].map(|n| gpu.sgpr(n).expect("a register"));
    let mut m = Builder::new(gpu);
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "kernel")?.code("kernel", 0x40).kernel().id();
    m.frame(kernel)?.entry_function()?;
    let f = m.function(unit, "f")?.code("f", 0x40).id();
    m.frame(f)?
        .cfa(0..0x40, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32)))?
        .return_address(0..0x40, s30, s31)?
        .saved_in_lane(8..0x3c, s33, v40, 31)?
        .saved_to_scratch(0xc..0x3c, v40, 4, None)?
        .saved_to_scratch(0x10..0x38, v41, 8, Some(Val::entry_value(exec)))?;
    let module = m.finish()?;
    let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
    let code =
        ObjectCode::text(vec![0; 0x80]).with_function("kernel", 0, 0x40).with_function("f", 0x40, 0x40);
    let object = new_object(module.target(), &code, &written.sections)?;
    let folder = Folder::new();
    let object = folder.file("a.o", object);
    let Some(text) = ran(DWARFDUMP, &["--debug-frame"], &object) else { return Ok(()) };
    // LLVM prints vendor operations in call frame information as bytes.
    for part in [
        "DW_CFA_def_cfa_expression: DW_OP_lit0, DW_OP_lit6, <decoding error> e9 02",
        "DW_CFA_undefined: PC_REG",
        "DW_CFA_LLVM_def_aspace_cfa: SGPR32_LO16 +0 in addrspace6",
        "PC_REG=[DW_OP_regx SGPR30_LO16, DW_OP_piece 0x4, DW_OP_regx SGPR31_LO16, DW_OP_piece 0x4]",
        // Lane 31 is at byte 124.
        "SGPR33_LO16=[DW_OP_regx 0x628, <decoding error> e9 05 7c]",
        // 4 bytes per lane, 32 lanes.
        "reg1576=[CFA+128]",
        // 8 bytes per lane: 256.
        "reg1577=[DW_OP_regx 0x629, DW_OP_swap, <decoding error> e9 05 80 02 e9 07 01 94 04 e9 0c 20 20]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let starts =
        text.lines().filter_map(|line| Some(line.trim().split_once(": CFA=SGPR32_LO16+0 in addrspace6")?.0));
    assert_eq!(starts.collect::<Vec<_>>(), ["0x40", "0x48", "0x4c", "0x50", "0x78", "0x7c"], "{text}");
    Ok(())
}
