//! gdb: a program that runs, stopped at a breakpoint.

use eitri::build::{Builder, Extent};
use eitri::emit::elf::{attach, symbol_named};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Row, SourceLine, Val};
use eitri::target::{SpaceId, Target};

use super::common::{Folder, say};
use super::{CC, GDB};

/// The program, with pcs. What each instruction does to the variables is in `module`.
const PROGRAM: &str = r#"
        .text
        .globl work
        .type work,@function
work:
        .cfi_startproc
        pushq %rbp                      # 00
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp                 # 01
        .cfi_def_cfa_register %rbp
        movl $42, %eax                  # 04
        movl $0x12345678, %ecx          # 09
        movl $0x9abcdef0, %edx          # 0e
        movl $-7, -8(%rbp)              # 13
        movl $0x2d5, %esi               # 1a
        leal 1(%rax), %edi              # 1f
        nop                             # 22
        addl %edi, %eax                 # 23
        popq %rbp                       # 25
        .cfi_def_cfa %rsp, 8
        retq                            # 26
        .cfi_endproc
        .size work, .-work
        .globl main
        .type main,@function
main:
        callq work
        xorl %eax, %eax
        retq
        .size main, .-main
        .data
        .globl counter
        .type counter,@object
        .size counter, 4
counter: .long 77
        .section .note.GNU-stack,"",@progbits
"#;
const BYTES: u64 = 0x27;

fn module(directory: &str) -> eitri::Result<Module> {
    let cpu = Target::x86_64();
    let r = |name| cpu.register_named(name);
    let (rax, rcx, rdx, rbp, rsi, rdi) = (r("rax")?, r("rcx")?, r("rdx")?, r("rbp")?, r("rsi")?, r("rdi")?);
    let mut m = Builder::new(cpu);
    let counter = m.symbol("counter");
    let unit = m.unit("work.c");
    m.describe_unit(unit)?.directory(directory).producer("eitri").language(gimli::DW_LANG_C11.0);
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let uint = m.base_type(unit, "unsigned int", BaseEncoding::Unsigned, 32)?;
    let ulong = m.base_type(unit, "unsigned long", BaseEncoding::Unsigned, 64)?;
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let flags = m.structure(unit, Some("flags"), 4)?;
    m.bit_field(flags, "low", uint, 0, 3)?
        .bit_field(flags, "mode", uint, 3, 5)?
        .bit_field(flags, "rest", uint, 8, 24)?;
    let number = m.union(unit, Some("number"), 4)?;
    m.member(number, "i", int, 0)?.member(number, "f", float, 0)?;
    let color = m.enumeration(unit, Some("color"), int, &[("red", 0), ("green", 26)])?;
    let row = m.array(unit, int, &[Some(2), Some(3)])?;
    let node = m.structure(unit, Some("node"), 40)?;
    let to_node = m.pointer(unit, Some(node))?;
    m.member(node, "next", to_node, 0)?.member(node, "row", row, 8)?.member(node, "color", color, 32)?;
    m.variable(unit, "counter", int)?.declared(file, 1).external().always(Loc::global_symbol(counter))?;
    m.constant(unit, "LIMIT", int, &1000u32.to_le_bytes())?;

    let twice = m.function(unit, "twice")?.declared(file, 3).returns(int)?.id();
    let v = m.parameter(twice, "v", int)?.declared(file, 3).id();
    let doubled = m.variable(twice, "doubled", int)?.declared(file, 4).id();

    let work = m.function(unit, "work")?.code("work", BYTES).returns(int)?.declared(file, 9).external().id();
    let slot = |by| Loc::memory(SpaceId::DEFAULT, Val::register(rbp).plus(by));
    let n = m.variable(work, "n", int)?.live(0x09..0x25, Loc::register(rax))?.id();
    // As many elements as `n` says, and two: 42 - 40.
    let by_variable = m.array_of(unit, int, &[Extent::variable(n)], None)?;
    let by_number = Extent::value(Val::register(rax).plus(-40)).from(1);
    let by_number = m.array_of(unit, int, &[by_number, Extent::fixed(3)], None)?;
    m.variable(work, "by_variable", by_variable)?.live(0x1a..0x25, slot(-8))?;
    m.variable(work, "by_number", by_number)?.live(0x1a..0x25, slot(-24))?;
    m.variable(work, "wide", ulong)?.live(0x13..BYTES, Loc::over([rcx, rdx]))?;
    m.variable(work, "spilled", int)?.live(0x1a..0x25, slot(-8))?;
    m.variable(work, "f", flags)?.live(0x1f..BYTES, Loc::register(rsi))?;
    // Five bits of a register are a value of 32.
    let zeros = Loc::implicit(&[0; 4]);
    let mode = Loc::parts([(Loc::register(rsi).bit_offset(3), 5), (zeros, 27)]);
    m.variable(work, "shade", color)?.live(0x1f..BYTES, mode)?;
    m.variable(work, "one", float)?.live(0x00..BYTES, Loc::implicit(&1f32.to_le_bytes()))?;
    m.variable(work, "next", int)?.live(0x09..0x25, Loc::value(Val::register(rax).plus(1)))?;
    m.variable(work, "half", ulong)?
        .live(0x13..BYTES, Loc::parts([(Loc::register(rcx), 32), (Loc::undefined(), 32)]))?;
    m.variable(work, "gone", int)?.live(0x04..0x09, Loc::register(rcx))?;
    let block = m.block(work, &[0x1f..0x25])?;
    m.variable(block, "node", to_node)?.live(0x1f..0x25, Loc::implicit(&[0; 8]))?;
    let call = m.inlined(block, twice, &[0x22..0x25], SourceLine { file, line: 16, column: 5 })?;
    m.inlined_variable(call, v)?.live(0x22..0x25, Loc::register(rdi))?;
    let sum = Val::register(rdi).add(Val::register(rdi));
    m.inlined_variable(call, doubled)?.live(0x22..0x25, Loc::value(sum))?;
    let rows = [(0x00, 9), (0x04, 11), (0x09, 12), (0x13, 13), (0x1a, 14), (0x1f, 15), (0x22, 4), (0x25, 17)];
    for (pc, line) in rows {
        let row = Row::new(pc, file, line);
        m.row(work, if pc == 4 { row.prologue_end() } else { row })?;
    }
    m.finish()
}

/// What gdb is asked where the program stops, and what it is to answer.
#[rustfmt::skip] // A table.
const ANSWERS: &[(&str, &str)] = &[
    // In the call that was inlined: rdi is 42 + 1.
    ("print v", "$1 = 43"),
    ("print doubled", "$2 = 86"),
    ("info frame", "inlined into frame 1"),
    ("up", "#1"),
    ("print n", "$3 = 42"),
    ("print/x wide", "$4 = 0x9abcdef012345678"),
    ("print spilled", "$5 = -7"),
    // 0x2d5 is 10 11010 101 in binary.
    ("print f", "$6 = {low = 5, mode = 26, rest = 2}"),
    ("print f.mode", "$7 = 26"),
    ("print shade", "$8 = green"),
    ("print one", "$9 = 1"),
    ("print next", "$10 = 43"),
    ("print/x half", "<optimized out>"),
    ("print gone", "<optimized out>"),
    ("print node", "(struct node *) 0x0"),
    ("print counter", "= 77"),
    ("print LIMIT", "= 1000"),
    ("info symbol &counter", "counter in section .data"),
    ("info address n", "multi-location"),
    ("info line 13", "Line 13 of \"work.c\" starts at address"),
    ("info line 4", "<work+34> and ends at"),
    ("info scope work", "Symbol spilled is multi-location"),
    ("ptype f", "unsigned int mode : 5;"),
    ("ptype node", "enum color color;"),
    ("ptype struct node", "int row[2][3];"),
    ("ptype enum color", "type = enum color {red, green = 26}"),
    ("ptype union number", "float f;"),
    ("ptype work", "type = int (void)"),
    ("info source", "Producer is eitri."),
    ("print sizeof(struct node)", "= 40"),
    ("ptype by_variable", "type = int [42]"),
    ("print by_variable[0]", "= -7"),
    ("ptype by_number", "type = int [2][3]"),
    ("print by_number[2][1]", "= -7"),
];

#[test]
fn gdb_prints_what_was_described() {
    answers(&Consumer::dwarf5());
}

#[test]
fn gdb_finds_types_in_their_units() {
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.has_type_units) = (version, true);
        answers(&consumer);
    }
}

#[test]
fn gdb_finds_split_units_beside_the_program() {
    let mut split = Consumer::dwarf5();
    split.is_split = true;
    answers(&split);
}

fn answers(consumer: &Consumer) {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    folder.file("work.s", PROGRAM);
    let Some(ran) = CC.run(&["-c", &path("work.s"), "-o", &path("plain.o")]) else { return };
    ran.clean();
    let plain = std::fs::read(path("plain.o")).expect("what was assembled");
    assert_eq!(symbol_named(&plain, "work").unwrap().size, BYTES, "the pcs are as they stand there");

    // The sources are not there, and split units are.
    let module = module(folder.path().to_str().expect("a path")).expect("the module");
    let written = lower(&module, consumer, Policy::Strict).expect("sections");
    let files = written.split_files(module.target()).expect("objects");
    for (name, bytes) in &files {
        folder.file(name, bytes);
    }
    assert_eq!(files.iter().map(|&(name, _)| name).eq(["work.c.dwo"]), consumer.is_split);
    let types = written.sections.iter().filter(|section| section.group.is_some()).count();
    assert_eq!(types, if consumer.has_type_units { 4 } else { 0 });
    folder.file("work.o", attach(&plain, module.target(), &written.sections).expect("an object"));
    let Some(ran) = CC.run(&[&path("work.o"), "-o", &path("work")]) else { return };
    ran.clean();

    // After the prologue, then in the middle of the inlined call.
    let mut script = vec!["set confirm off".into(), "break work".into(), "run".into()];
    script.extend(["tbreak *((char *) work + 0x23)".into(), "continue".into(), "backtrace".into()]);
    for (question, _) in ANSWERS {
        script.extend([format!("echo >>> {question}\\n"), (*question).into()]);
    }
    let mut arguments = vec!["-batch".to_owned(), "-nx".into()];
    arguments.extend(script.into_iter().flat_map(|line| ["-ex".to_owned(), line]));
    arguments.push(path("work"));
    let Some(ran) = GDB.run(&arguments) else { return };
    if ran.errors.contains("ptrace") {
        // Nothing that could be installed.
        return say("gdb may not trace programs here");
    }
    assert!(ran.succeeded, "{ran}");
    // The pc is behind the prologue, where nothing else stands.
    assert!(ran.out.contains("Breakpoint 1, work () at work.c:11"), "{ran}");
    let (before, answers) = ran.out.split_once(">>> ").expect("an answer");
    let frames: Vec<&str> = before.lines().filter(|line| line.starts_with('#')).collect();
    let [twice, work, main] = frames[..] else { panic!("{ran}") };
    assert!(twice.contains(" twice (v=43) at work.c:4"), "{ran}");
    assert!(work.contains("work () at work.c:16") && main.contains("in main ()"), "{ran}");
    for (said, (question, expected)) in answers.split(">>> ").zip(ANSWERS) {
        assert!(said.starts_with(question) && said[question.len()..].contains(expected), "{expected}\n{ran}");
    }
    assert_eq!(answers.split(">>> ").count(), ANSWERS.len());
}
