//! Functions whose code is elsewhere, or the same as another's.

use eitri::Result;
use eitri::build::Builder;
use eitri::check::{Kind, Report, check_code};
use eitri::emit::elf::{Code, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Row};
use eitri::target::Target;

/// Functions `f` and `g`, in one unit or in two, with a variable and a row each.
fn two(is_one_unit: bool, bytes: [u64; 2]) -> Module {
    let module = || -> Result<Module> {
        let cpu = Target::x86_64();
        let regs = [cpu.register_named("rax")?, cpu.register_named("rcx")?];
        let mut m = Builder::new(cpu);
        let mut unit = m.unit("a.c");
        for (index, name) in ["f", "g"].into_iter().enumerate() {
            if index == 1 && !is_one_unit {
                unit = m.unit("b.c");
            }
            let file = m.primary_file(unit)?;
            let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
            let function = m.function(unit, name)?.code(name, bytes[index]).external().id();
            m.variable(function, &format!("in_{name}"), int)?
                .live(0..4, Loc::register(regs[index]))?
                .live(4..8, Loc::register(regs[1 - index]))?;
            m.row(function, Row::new(0, file, 3 + index as u32))?;
            m.row(function, Row::new(4, file, 5 + index as u32))?;
        }
        m.finish()
    };
    module().expect("a module")
}

fn consumers() -> [Consumer; 2] {
    let mut tables = Consumer::dwarf5();
    (tables.tables.aranges, tables.tables.names) = (true, true);
    [Consumer::dwarf5(), tables]
}

/// What is found where `written` was written, and the code is where `code` says.
fn report(written: &Module, said: &Module, consumer: &Consumer, code: &Code) -> Report {
    let sections = lower(written, consumer, Policy::Strict).expect("it can be said").sections;
    let object = new_object(said.target(), code, &sections).expect("an object");
    eitri::check(said, consumer, &[], &object).expect("it can be read")
}

/// Code that is the same is there once after linking with identical code folded, or where a compiler has made
/// one of two functions: an entry for each is right, and so are rows for each.
#[test]
fn functions_may_be_at_one_place() {
    let folded = Code::text(vec![0; 64]).with_function("f", 16, 8).with_function("g", 16, 8);
    for consumer in consumers() {
        for is_one_unit in [true, false] {
            let module = two(is_one_unit, [8, 8]);
            let report = report(&module, &module, &consumer, &folded);
            assert!(report.is_clean(), "{is_one_unit}: {report}");
        }
    }
}
