//! External symbols: each is placed apart from all others.

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::target::{SpaceId, Target};

/// Module of `count` functions of `bytes` bytes, each with a frame that differs from the next one's.
fn functions(count: u64, bytes: u64) -> Module {
    let cpu = Target::x86_64();
    let rsp = cpu.register_named("rsp").unwrap();
    let pc = cpu.call_frames().return_register;
    let mut m = Builder::new(cpu);
    let unit = m.unit("a.c");
    for index in 0..count {
        let name = format!("f{index}");
        let f = m.function(unit, &name).unwrap().code(&name, bytes).id();
        let stack = Val::register(rsp).plus(8 * (1 + index as i64 % 64));
        let cfa = Loc::memory(SpaceId::DEFAULT, stack);
        m.frame(f).unwrap().cfa(0..bytes, cfa).unwrap().saved(0..bytes, pc, Loc::cfa().offset(-8)).unwrap();
    }
    m.finish().unwrap()
}

/// Report for an object with debug sections only.
fn report(described: &Module, written: &Module) -> CheckReport {
    let consumer = Consumer::dwarf5();
    let sections = lower(written, &consumer, Policy::Strict).unwrap().sections;
    let object = new_object(written.target(), &ObjectCode::elsewhere(&sections), &sections).unwrap();
    eitri::check(described, &consumer, &[], &object).unwrap()
}

fn is_clean(module: &Module) {
    let report = report(module, module);
    let first = report.findings.first().map(ToString::to_string);
    assert_eq!((report.findings.len(), first), (0, None), "findings, and the first");
}

#[test]
fn large_functions_do_not_overlap() {
    is_clean(&functions(2, 0x2000));
}

#[test]
fn many_functions_do_not_overlap() {
    is_clean(&functions(66_000, 1));
}

/// Module with a variable `offset` bytes after one of two symbols.
fn variable(index: usize, offset: i64) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let symbols = ["first", "second"].map(|name| m.symbol(name));
    for (name, symbol) in ["one", "two"].into_iter().zip(symbols) {
        m.variable(unit, name, int).unwrap().always(Loc::global_symbol(symbol)).unwrap();
    }
    let place = Loc::global_symbol(symbols[index]).offset(offset);
    m.variable(unit, "x", int).unwrap().always(place).unwrap();
    m.finish().unwrap()
}

/// An offset from one symbol never reaches another, for any distance.
#[test]
fn offset_symbols_are_distinct() {
    for shift in 0..=24 {
        let described = variable(0, 1 << shift);
        assert!(report(&described, &described).is_clean());
        let found = report(&described, &variable(1, 0)).findings;
        let is_found = found
            .iter()
            .any(|one| one.kind == FindingKind::Location && one.at.variable.as_deref() == Some("x"));
        assert!(is_found, "the fault at {:#x} is found: {found:?}", 1 << shift);
    }
}
