//! The program that debuggers stop in, and its description: for a CPU, on which it runs, and for a GPU, for which it
//! is only linked.

use eitri::build::{Builder, Extent};
use eitri::emit::elf::{
    CodeContents, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding, SymbolLocation,
    Visibility,
};
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Entity, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::op::{Expr, Op, Reg, Slot};
use eitri::target::SpaceId;

use crate::programs::described::Machine;

/// Assembly with pcs. [`module`] describes the effects of each instruction on the variables.
pub const PROGRAM: &str = r#"
        .text
        .globl work
        .type work,@function
work:
        .cfi_startproc
        pushq %rbp                      # 00
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        .p2align 2
        movq %rsp, %rbp                 # 04
        .cfi_def_cfa_register %rbp
        .p2align 2
        movl $42, %eax                  # 08
        .p2align 2
        movl $0x12345678, %ecx          # 10
        .p2align 2
        movl $0x9abcdef0, %edx          # 18
        .p2align 2
        movl $-7, -8(%rbp)              # 20
        .p2align 2
        movl $0x2d5, %esi               # 28
        .p2align 2
        movl $0x3fc00000, %r8d          # 30
        movd %r8d, %xmm1
        .p2align 2
        leal 1(%rax), %edi              # 3c
        .p2align 2
        nopl (%rax)                     # 40
        .p2align 2
        addl %edi, %eax                 # 44
        .p2align 2
        popq %rbp                       # 48
        .cfi_def_cfa %rsp, 8
        .p2align 2
        retq                            # 4c
        .cfi_endproc
        .p2align 2
        .size work, .-work
        .globl main
        .type main,@function
main:
        .cfi_startproc
        callq work                      # 00
        .p2align 2
        xorl %eax, %eax                 # 08
        .p2align 2
        retq                            # 0c
        .cfi_endproc
        .p2align 2
        .size main, .-main
        .data
        .globl counter
        .type counter,@object
        .size counter, 4
counter: .long 77
        .section .note.GNU-stack,"",@progbits
"#;
/// Size of `work` in bytes.
pub const BYTES: u64 = 0x50;
/// Size of `main` in bytes.
pub const MAIN_BYTES: u64 = 0x10;
/// A pc in the inlined call, after its first pc, where a debugger may show the caller or the callee.
pub const STOP: u64 = 0x44;

/// The symbols of the program, with code of no operations.
pub fn code(machine: Machine) -> ObjectCode {
    let mut code = ObjectCode::text(machine.nops(BYTES + MAIN_BYTES))
        .with_function("work", 0, BYTES)
        .with_function("main", BYTES, MAIN_BYTES);
    code.sections.push(CodeSection::new(".data", CodeContents::Data, 77u32.to_le_bytes().into(), 4));
    code.symbols.push(CodeSymbol {
        name: "counter".into(),
        place: SymbolLocation::Section { index: 2, offset: 0 },
        size: 4,
        kind: CodeSymbolKind::Object,
        binding: SymbolBinding::Global,
        visibility: Visibility::Protected,
    });
    code
}

/// Registers for locations, of 32 bits or more, named as in the program.
struct Registers {
    rax: Reg,
    rcx: Reg,
    rdx: Reg,
    rsi: Reg,
    rdi: Reg,
    xmm1: Reg,
    /// Registers with the frame address: two if one is too small.
    frame: [Reg; 2],
}

impl Registers {
    fn new(m: &Builder, machine: Machine) -> eitri::Result<Self> {
        let target = m.target();
        Ok(match machine {
            Machine::Cpu => {
                let r = |name| target.register_named(name);
                let frame = [r("rbp")?, r("rbp")?];
                let rax = r("rax")?;
                let rcx = r("rcx")?;
                let rdx = r("rdx")?;
                Self { rax, rcx, rdx, rsi: r("rsi")?, rdi: r("rdi")?, xmm1: r("xmm1")?, frame }
            }
            Machine::Gpu => {
                let s = |number| target.sgpr(number);
                let frame = [s(32)?, s(33)?];
                let rax = s(0)?;
                let rcx = s(1)?;
                let rdx = s(2)?;
                Self { rax, rcx, rdx, rsi: s(4)?, rdi: s(5)?, xmm1: s(6)?, frame }
            }
        })
    }

    /// Memory at an offset in bytes from the frame address.
    fn slot(&self, by: i64) -> Loc {
        let [low, high] = self.frame;
        let frame = if low == high { Val::register(low) } else { Val::pair(low, high) };
        Loc::memory(SpaceId::DEFAULT, frame.plus(by))
    }
}

/// The description. Raw expressions are encoded for the consumer; the directory contains only split units.
pub fn module(machine: Machine, consumer: &Consumer, directory: &str) -> eitri::Result<Module> {
    let mut m = Builder::new(machine.target());
    let r = Registers::new(&m, machine)?;
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
    let to_int = m.pointer(unit, Some(int))?;
    m.variable(unit, "counter", int)?
        .declared(SourceLine::new(file, 1))
        .external()
        .always(Loc::global_symbol(counter))?;
    m.constant(unit, "LIMIT", int, &1000u32.to_le_bytes())?;

    let twice = m.function(unit, "twice")?.declared(SourceLine::new(file, 3)).returns(int)?.id();
    let v = m.parameter(twice, "v", int)?.declared(SourceLine::new(file, 3)).id();
    let doubled = m.variable(twice, "doubled", int)?.declared(SourceLine::new(file, 4)).id();

    let work = m
        .function(unit, "work")?
        .code("work", BYTES)
        .returns(int)?
        .declared(SourceLine::new(file, 9))
        .external()
        .id();
    let n = m.variable(work, "n", int)?.live(0x10..0x48, Loc::register(r.rax))?.id();
    // An array of `n` elements, and one of 42 - 40 = 2.
    let by_variable = m.array_of(unit, int, &[Extent::variable(n)], None)?;
    let by_number = Extent::value(Val::register(r.rax).plus(-40)).from(1);
    let by_number = m.array_of(unit, int, &[by_number, Extent::fixed(3)], None)?;
    m.variable(work, "by_variable", by_variable)?.live(0x28..0x48, r.slot(-8))?;
    m.variable(work, "by_number", by_number)?.live(0x28..0x48, r.slot(-24))?;
    m.variable(work, "wide", ulong)?.live(0x20..BYTES, Loc::over([r.rcx, r.rdx]))?;
    m.variable(work, "mixed", ulong)?
        .live(0x28..0x48, Loc::parts([(r.slot(-8), 32), (Loc::register(r.rcx), 32)]))?;
    let one = Loc::implicit(&1u32.to_le_bytes());
    m.variable(work, "padded", ulong)?
        .live(0x20..0x48, Loc::parts([(Loc::register(r.rcx), 32), (one, 32)]))?;
    let one = Loc::value(Val::register(r.rax).plus(-41));
    m.variable(work, "beside", ulong)?
        .live(0x20..0x48, Loc::parts([(Loc::register(r.rcx), 32), (one, 32)]))?;
    m.variable(work, "spilled", int)?.live(0x28..0x48, r.slot(-8))?;
    m.variable(work, "f", flags)?.live(0x30..BYTES, Loc::register(r.rsi))?;
    m.variable(work, "in_frame", flags)?.live(0x28..0x48, r.slot(-8))?;
    // Five bits of a register, extended to 32.
    let zeros = Loc::implicit(&[0; 4]);
    let mode = Loc::parts([(Loc::register(r.rsi).bit_offset(3), 5), (zeros, 27)]);
    m.variable(work, "shade", color)?.live(0x30..BYTES, mode)?;
    m.variable(work, "one", float)?.live(0x00..BYTES, Loc::implicit(&1f32.to_le_bytes()))?;
    m.variable(work, "ratio", float)?.live(0x3c..BYTES, Loc::register(r.xmm1))?;
    m.variable(work, "next", int)?.live(0x10..0x48, Loc::value(Val::register(r.rax).plus(1)))?;
    m.variable(work, "joined", ulong)?.live(0x20..BYTES, Loc::value(Val::pair(r.rcx, r.rdx)))?;
    m.variable(work, "half", ulong)?
        .live(0x20..BYTES, Loc::parts([(Loc::register(r.rcx), 32), (Loc::undefined(), 32)]))?;
    m.variable(work, "gone", int)?.live(0x08..0x10, Loc::register(r.rcx))?;
    let called = m.variable(work, "called", int)?.id();
    if consumer.version >= 3 {
        let procedure = m.procedure(unit, &r.slot(-8))?;
        let mut call = Expr::build(consumer.encoding(8));
        call.refer(Op::Call4 { entry: 0 }, Slot(0));
        let call = m.expr(call.finish()?, &[Entity::Procedure(procedure)])?;
        m.describe_variable(called)?.live(0x28..0x48, Loc::expr(call))?;
    }
    m.variable(work, "narrow", uint)?.live(0x18..0x48, Loc::value(Loc::register(r.rcx).read(16)))?;
    m.variable(unit, "TEN", int)?.const_value(&10u32.to_le_bytes())?;
    m.variable(work, "to_n", to_int)?.live(0x10..0x48, Loc::pointer_to(n, 0))?;
    m.describe_function(work)?.frame_base(&r.slot(0))?;
    let mut from_base = Expr::build(consumer.encoding(8));
    from_base.ops().fbreg(-8);
    let from_base = m.expr(from_base.finish()?, &[])?;
    m.variable(work, "from_base", int)?.live(0x28..0x48, Loc::expr(from_base))?;
    let block = m.block(work, &[0x30..0x48])?;
    m.variable(block, "node", to_node)?.live(0x30..0x48, Loc::implicit(&[0; 8]))?;
    let call = m.inlined(block, twice, &[0x40..0x48], SourceLine::new(file, 16).column(5))?;
    m.inlined_variable(call, v)?.live(0x40..0x48, Loc::register(r.rdi))?;
    let sum = Val::register(r.rdi).add(Val::register(r.rdi));
    m.inlined_variable(call, doubled)?.live(0x40..0x48, Loc::value(sum))?;
    let rows = [(0x00, 9), (0x08, 11), (0x10, 12), (0x20, 13), (0x28, 14), (0x30, 15), (0x40, 4), (0x48, 17)];
    for (pc, line) in rows {
        let row = LineTableRow::new(pc, file, line);
        m.row(work, if pc == 8 { row.prologue_end() } else { row })?;
    }
    // Another function, so that the unit does not begin at `work`; and a block with two ranges.
    let main = m
        .function(unit, "main")?
        .code("main", MAIN_BYTES)
        .returns(int)?
        .declared(SourceLine::new(file, 20))
        .external()
        .id();
    let block = m.block(main, &[0x00..0x08, 0x0c..MAIN_BYTES])?;
    m.variable(block, "apart", int)?.live(0x00..MAIN_BYTES, Loc::implicit(&5u32.to_le_bytes()))?;
    m.row(main, LineTableRow::new(0x00, file, 21))?;
    m.row(main, LineTableRow::new(0x08, file, 22))?;
    m.finish()
}
