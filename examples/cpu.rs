//! Two functions for x86-64, in an object that the crate `object` writes: linked with `cc`, debugged with gdb or lldb.
use std::error::Error;
use std::path::PathBuf;

use eitri::build::Builder;
use eitri::emit::elf::write_file;
use eitri::emit::object;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Language, LineTableRow, Loc, Val};
use eitri::object::write::{Object, StandardSection, Symbol, SymbolSection};
use eitri::object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use eitri::target::{SpaceId, Target};

/// `int sum(int n)`, and `main`, which returns `sum(4)`. The numbers on the right are pcs.
#[rustfmt::skip]
const SUM: [u8; 0x11] = [
    0x55,             // 00  push rbp
    0x48, 0x89, 0xe5, // 01  mov rbp, rsp
    0x89, 0x7d, 0xfc, // 04  mov [rbp - 4], edi     n is spilled, and edi becomes i
    0x31, 0xc0,       // 07  xor eax, eax           total
    0x01, 0xf8,       // 09  add eax, edi
    0xff, 0xcf,       // 0b  dec edi
    0x75, 0xfa,       // 0d  jnz 09
    0x5d,             // 0f  pop rbp
    0xc3,             // 10  ret
];
#[rustfmt::skip]
const MAIN: [u8; 0x0b] = [
    0xbf, 0x04, 0x00, 0x00, 0x00, // 00  mov edi, 4
    0xe8, 0xd6, 0xff, 0xff, 0xff, // 05  call sum   which is 0x20 bytes before main
    0xc3,                         // 0a  ret
];

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = Target::x86_64();
    let [rax, rdi, rbp, rsp, rip] = ["rax", "rdi", "rbp", "rsp", "rip"]
        .map(|name| cpu.register_named(name).expect("a register of x86-64"));
    let memory = |base, bytes| Loc::memory(SpaceId::DEFAULT, Val::register(base).plus(bytes));

    let mut m = Builder::new(cpu);
    let unit = m.unit("sum.c");
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.language(Language::C11);
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;

    let sum = m.function(unit, "sum")?.code("sum", 0x11).external().returns(int)?.id();
    // rbp - 4 is 20 bytes below the canonical frame address, which the frame defines.
    m.parameter(sum, "n", int)?
        .live(0x00..0x07, Loc::register(rdi))?
        .live(0x07..0x10, Loc::cfa().offset(-20))?;
    m.variable(sum, "i", int)?.live(0x07..0x0f, Loc::register(rdi))?;
    m.variable(sum, "total", int)?.live(0x09..0x11, Loc::register(rax))?;
    for (pc, line) in [(0x00, 1), (0x07, 2), (0x09, 4), (0x0b, 3), (0x0f, 5)] {
        m.row(sum, LineTableRow::new(pc, file, line))?;
    }
    // Where the caller's registers are: a debugger unwinds with it, and the canonical frame address is part of it.
    m.frame(sum)?
        .cfa(0x00..0x01, memory(rsp, 8))?
        .cfa(0x01..0x04, memory(rsp, 16))?
        .cfa(0x04..0x10, memory(rbp, 16))?
        .cfa(0x10..0x11, memory(rsp, 8))?
        .saved(0x00..0x11, rip, Loc::cfa().offset(-8))?
        .saved(0x01..0x10, rbp, Loc::cfa().offset(-16))?;

    let main = m.function(unit, "main")?.code("main", 0x0b).external().returns(int)?.id();
    m.row(main, LineTableRow::new(0x00, file, 9))?;
    m.frame(main)?.cfa(0x00..0x0b, memory(rsp, 8))?.saved(0x00..0x0b, rip, Loc::cfa().offset(-8))?;
    let module = m.finish()?;
    // Valid, but usually a mistake.
    assert_eq!(module.warnings(), []);

    // gdb and lldb read plain DWARF 5.
    let consumer = Consumer::dwarf5();
    let written = lower(&module, &consumer, Policy::Strict)?;

    let mut file = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = file.section_id(StandardSection::Text);
    for (name, code) in [("sum", &SUM[..]), ("main", &MAIN[..])] {
        let symbol = file.add_symbol(Symbol {
            name: name.into(),
            value: 0,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
        file.add_symbol_data(symbol, text, code, 32);
    }
    // The stack need not be executable.
    file.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object::add(&mut file, &written.sections)?;
    let bytes = file.write()?;

    let report = eitri::check(&module, &consumer, &written.omissions, &bytes)?;
    println!("{report}");
    assert!(report.is_clean());

    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/examples".into()));
    let path = folder.join("sum.o");
    std::fs::create_dir_all(&folder)?;
    write_file(&path, &bytes)?;
    println!("{}", path.display());
    Ok(())
}
