//! Scopes of a running program: debuggers find arguments by call sites of the caller, and names by imports; other
//! readers have no complaints.

use eitri::build::Builder;
use eitri::emit::elf::{attach, symbol_named};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    Accessibility, BaseEncoding, DescribedCalls, Imported, Language, LineTableRow, Loc, Module, SourceLine,
    Val,
};
use eitri::target::Target;

use super::common::Folder;
use super::debugger::ask::Debugger;
use super::dump::{Entry, entries, hex};
use super::{CC, DWARFDUMP, EU_READELF, READELF};

/// The program, with pcs. `callee` overwrites its first argument, and `middle` tail-calls it.
const PROGRAM: &str = r#"
        .text
        .globl callee
        .type callee,@function
callee:
        .cfi_startproc
        movl $1, %edi                   # 00
        nop                             # 05
        movl %esi, %eax                 # 06
        retq                            # 08
        .cfi_endproc
        .size callee, .-callee
        .globl middle
        .type middle,@function
middle:
        .cfi_startproc
        nop                             # 00
        jmp callee                      # 01
        .cfi_endproc
        .size middle, .-middle
        .globl main
        .type main,@function
main:
        .cfi_startproc
        pushq %rbx                      # 00
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        movl $20, %ebx                  # 01
        movl %ebx, %edi                 # 06
        movl $5, %esi                   # 08
        callq callee                    # 0d
        movl $6, %esi                   # 12
        callq middle                    # 17
        popq %rbx                       # 1c
        .cfi_def_cfa_offset 8
        xorl %eax, %eax                 # 1d
        retq                            # 1f
        .cfi_endproc
        .size main, .-main
        .data
        .globl counter
        .type counter,@object
        .size counter, 4
counter: .long 77
        .section .note.GNU-stack,"",@progbits
"#;
const SIZES: [(&str, u64); 3] = [("callee", 9), ("middle", 0), ("main", 0x20)];

/// Describes the program. The assembler chooses the length of the jump, and thus of `middle`.
fn module(middle_bytes: u64) -> eitri::Result<Module> {
    let cpu = Target::x86_64();
    let r = |name| cpu.register_named(name);
    let rax = r("rax")?;
    let rbx = r("rbx")?;
    let rdi = r("rdi")?;
    let rsi = r("rsi")?;
    let rsp = r("rsp")?;
    let mut m = Builder::new(cpu);
    let data = m.symbol("counter");
    let unit = m.unit("calls.cc");
    m.describe_unit(unit)?
        .directory("/src")
        .producer("eitri")
        .command_line("-O1 -g")
        .language(Language::CPP14);
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let at = |line| SourceLine::new(file, line).column(2);

    // namespace ns { extern int counter; inline namespace v1 { const int nine = 9; } }
    let ns = m.namespace(unit, "ns")?;
    m.begins(ns, at(1))?;
    let inner = m.inline_namespace(ns, "v1")?;
    m.variable(inner, "nine", int)?.declared(at(1)).const_value(&9u32.to_le_bytes())?;
    let counter = m.extern_variable(ns, "counter", int)?.linkage_name("counter").declared(at(2)).id();
    m.definition(unit, counter)?.declared(at(3)).always(Loc::global_symbol(data))?;
    let hidden = m.anonymous_namespace(unit)?;
    m.variable(hidden, "eight", int)?.const_value(&8u32.to_le_bytes())?;

    // struct box { int get (int, ...); };
    let class = m.structure(unit, Some("box"), 4)?;
    m.member(class, "x", int, 0)?;
    let this = m.pointer(unit, Some(class))?;
    let get = m
        .function_declaration(class, "get")?
        .returns(int)?
        .external()
        .accessibility(Accessibility::Public)
        .variadic()
        .id();
    let object = m.parameter(get, "this", this)?.artificial().id();
    m.describe_function(get)?.object_pointer(object)?;
    m.parameter(get, "by", int)?;

    let callee = m.function(unit, "callee")?.code("callee", 9).returns(int)?.declared(at(10)).id();
    m.describe_function(callee)?.external().frame_base(&Loc::register(rsp))?.describes(DescribedCalls::All);
    m.parameter(callee, "x", int)?
        .live(0..5, Loc::register(rdi))?
        .live(5..9, Loc::value(Val::entry_value(rdi)))?;
    m.parameter(callee, "y", int)?.live(0..9, Loc::register(rsi))?;
    m.variable(callee, "more", int)?.live(5..9, Loc::value(Val::entry_value(rdi).plus(100)))?;

    let middle = m.function(unit, "middle")?.code("middle", middle_bytes).returns(int)?.external().id();
    m.describe_function(middle)?.describes(DescribedCalls::All).declared(at(20));
    m.call(middle)?.at(1)?.returns_to(middle_bytes)?.calls(callee)?.tail().line(at(21))?;

    let main = m.function(unit, "main")?.code("main", 0x20).returns(int)?.external().main().id();
    m.describe_function(main)?.describes(DescribedCalls::All).declared(at(30));
    m.import(unit, Imported::Namespace(ns))?.name("alias")?.declared(SourceLine::new(file, 31))?;
    m.import(main, Imported::Variable(counter))?.declared(SourceLine::new(file, 31))?;
    m.label(main, "again")?.at(0x12)?.declared(SourceLine::new(file, 33))?;
    let block = m.block(main, &[0x06..0x1c])?;
    // The call sites belong to the function: LLVM 19 does not terminate with one in a block.
    let mut call = m.call(main)?;
    call.at(0x0d)?.returns_to(0x12)?.calls(callee)?.line(at(32))?;
    call.argument(&Loc::register(rdi))?.value(Val::register(rbx))?;
    call.argument(&Loc::register(rsi))?.value(Val::constant(5))?;
    let mut call = m.call(main)?;
    call.returns_to(0x1c)?.calls(middle)?.line(at(34))?;
    call.argument(&Loc::register(rdi))?.value(Val::constant(1))?;
    call.argument(&Loc::register(rsi))?.value(Val::constant(6))?;
    m.variable(block, "result", int)?.live(0x12..0x17, Loc::register(rax))?;
    // { int kept; } of a function without code.
    let last = m.function(unit, "last")?.returns(int)?.declared(at(40)).id();
    let body = m.block(last, &[])?;
    let kept = m.variable(body, "kept", int)?.declared(at(41)).id();
    let inlined = m.inlined(main, last, &[0x1c..0x1f], at(35))?;
    let instance = m.inlined_block(inlined, body, &[0x1d..0x1f])?;
    m.inlined_variable(instance, kept)?.live(0x1d..0x1f, Loc::register(rax))?;
    for (function, rows) in [
        (callee, &[(0u64, 10), (5, 11), (8, 12)][..]),
        (middle, &[(0, 20), (1, 21)]),
        (main, &[(0, 30), (6, 32), (0x12, 34), (0x1c, 35)]),
    ] {
        for &(pc, line) in rows {
            m.row(function, LineTableRow::new(pc, file, line))?;
        }
    }
    m.finish()
}

/// Questions for gdb where the program stops, with the expected answers.
#[rustfmt::skip] // A table.
const ANSWERS: &[(&str, &str)] = &[
    // In the first call, after the register of `x` is overwritten: main's rbx has the argument.
    ("print x", "= 20"),
    ("print y", "= 5"),
    ("print y@entry", "= 5"),
    ("print more", "= 120"),
    ("up", "#1"),
    ("info symbol $pc", "main + 18"),
    ("print counter", "= 77"),
    ("print alias::v1::nine", "= 9"),
    ("print ns::v1::nine", "= 9"),
    ("print eight", "= 8"),
    ("ptype box", "int get(int, ...);"),
    ("ptype callee", "type = int (int, int)"),
    ("info scope *0x12+(long)&main", "Symbol result"),
    ("info scope *0x1d+(long)&main", "Symbol kept"),
    // In the second call, by middle: a tail call without a value for the argument.
    ("continue", "callee ("),
    ("print x", "<optimized out>"),
    ("backtrace", "middle ("),
    ("up 2", "main ()"),
];

/// The object of the program with the description.
fn object(folder: &Folder, consumer: &Consumer) -> Option<Vec<u8>> {
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    folder.file("calls.s", PROGRAM);
    CC.run(&["-c", &path("calls.s"), "-o", &path("plain.o")])?.clean();
    let plain = std::fs::read(path("plain.o")).expect("what was assembled");
    for (name, bytes) in SIZES {
        let size = symbol_named(&plain, name).unwrap().size;
        assert!(bytes == 0 || size == bytes, "the pcs are as they stand there");
    }
    let module = module(symbol_named(&plain, "middle").unwrap().size).expect("the module");
    let written = lower(&module, consumer, Policy::Strict).expect("sections");
    let object = attach(&plain, module.target(), &written.sections).expect("an object");
    let report = eitri::check(&module, consumer, &written.omissions, &object).expect("a report");
    assert!(report.is_clean() && report.unproven.is_empty(), "{report}");
    Some(object)
}

fn versions() -> [Consumer; 2] {
    [5, 4].map(|version| {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        consumer
    })
}

/// Questions for lldb.
#[rustfmt::skip] // A table.
const LLDB_ANSWERS: &[(&str, &str)] = &[
    ("frame variable x", "= 20"),
    ("frame variable y", "= 5"),
    ("frame variable more", "= 120"),
    ("up", "#1"),
    ("frame info", "main at calls.cc:32"),
    ("target variable counter", "= 77"),
    ("target variable ns::v1::nine", "= 9"),
    ("target variable eight", "= 8"),
    ("image lookup -t box", "int get(int, ...);"),
    ("image lookup -v -n callee", "\"int (int, int)\""),
    ("continue", "callee("),
    ("frame variable x", "no matching call site param found"),
    ("bt", "middle() at calls.cc:21 [artificial]"),
    ("bt", "main at calls.cc:34"),
];

/// Asks a debugger at the first stop, in the callee.
fn ask(debugger: Debugger, commands: &[&str], answers: &[(&str, &str)]) {
    let questions: Vec<&str> = answers.iter().map(|(question, _)| *question).collect();
    for consumer in versions() {
        let folder = Folder::new();
        let path = |name: &str| folder.path().join(name);
        let Some(object) = object(&folder, &consumer) else { return };
        folder.file("calls.o", object);
        let Some(ran) = CC.run(&[path("calls.o").as_os_str(), "-o".as_ref(), path("calls").as_os_str()])
        else {
            return;
        };
        ran.clean();
        let Some(output) = debugger.ask(&folder, &path("calls"), commands, &questions) else { return };
        for (answer, (question, expected)) in output.answers.iter().zip(answers) {
            let version = consumer.version;
            assert!(answer.contains(expected), "DWARF {version}: {question}: {expected}\n{}", output.ran);
        }
    }
}

#[test]
fn gdb_finds_what_the_caller_gave() {
    ask(Debugger::Gdb, &["break *((char *) callee + 5)", "run"], ANSWERS);
}

#[test]
fn lldb_finds_what_the_caller_gave() {
    ask(Debugger::Lldb, &["breakpoint set -n callee", "run"], LLDB_ANSWERS);
}

#[test]
fn calls_and_imports_are_read_by_other_tools() {
    for consumer in versions() {
        let folder = Folder::new();
        let Some(object) = object(&folder, &consumer) else { return };
        let path = folder.file("calls.o", object);
        if let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) {
            let output = ran.clean();
            assert!(output.contains("No errors.") && !output.contains("warning"), "{output}");
        }
        let is_five = consumer.version == 5;
        // Names of the DWARF 5 codes, sections 7.5.3 and 7.5.4, or of GNU's.
        let words = if is_five {
            ["DW_TAG_call_site", "DW_AT_call_value", "DW_AT_call_all_calls", "DW_AT_call_tail_call"]
        } else {
            [
                "DW_TAG_GNU_call_site",
                "DW_AT_GNU_call_site_value",
                "DW_AT_GNU_all_call_sites",
                "DW_AT_GNU_tail_call",
            ]
        };
        if let Some(ran) = READELF.run(&["--debug-dump=info,loc".as_ref(), path.as_os_str()]) {
            let output = ran.clean();
            for word in words.iter().map(|word| word.trim_start_matches("DW_AT_")) {
                assert!(output.contains(word), "{word}: {output}");
            }
            let op = if is_five {
                "DW_OP_entry_value: (DW_OP_reg5 (rdi))"
            } else {
                "DW_OP_GNU_entry_value: (DW_OP_reg5 (rdi))"
            };
            assert!(output.contains(op), "{output}");
        }
        if let Some(ran) = EU_READELF.run(&["--debug-dump=info".as_ref(), path.as_os_str()]) {
            let output = ran.clean();
            assert!(!output.contains("???") && output.contains("imported_declaration"), "{output}");
        }
    }
}

/// An inlined block refers to that of the function, a namespace has a line, and the producer includes the command
/// line.
#[test]
fn llvm_reads_instances_of_blocks_and_where_namespaces_begin() {
    for consumer in versions() {
        let folder = Folder::new();
        let Some(object) = object(&folder, &consumer) else { return };
        let path = folder.file("calls.o", object);
        let Some(entries) = entries(&path) else { return };
        let of_tag = |tag| entries.iter().filter(move |entry| entry.tag == tag);
        let blocks: Vec<&Entry> = of_tag("lexical_block").collect();
        let origins: Vec<&str> =
            blocks.iter().filter_map(|block| block.attribute("abstract_origin")).collect();
        let [origin] = origins[..] else { panic!("one instance: {origins:?}") };
        let of = blocks.iter().find(|block| block.offset == hex(origin)).expect("a block");
        assert!(of.ranges("ranges").is_empty() && of.attribute("low_pc").is_none());
        let space = of_tag("namespace").find(|entry| entry.name() == Some("ns")).expect("a namespace");
        let line = ["decl_line", "decl_column"].map(|name| space.attribute(name));
        assert_eq!(line, [Some("1"), Some("2")]);
        let producer = entries[0].attribute("producer");
        assert_eq!(producer, Some("\"eitri -O1 -g\""));
    }
}
