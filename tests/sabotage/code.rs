//! Functions with code elsewhere, or with code shared with another function.

use eitri::Result;
use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind, check_code};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, WarningKind};
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
            m.row(function, LineTableRow::new(0, file, 3 + index as u32))?;
            m.row(function, LineTableRow::new(4, file, 5 + index as u32))?;
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

/// Report for sections lowered from `written`, with code from `code`.
fn report(written: &Module, described: &Module, consumer: &Consumer, code: &ObjectCode) -> CheckReport {
    let sections = lower(written, consumer, Policy::Strict).expect("the consumer can encode it").sections;
    let object = new_object(described.target(), code, &sections).expect("an object");
    eitri::check(described, consumer, &[], &object).expect("it can be read")
}

/// Identical code folding and function merging leave one copy of identical code, for which each function has an entry
/// and rows.
#[test]
fn functions_may_be_at_one_place() {
    let folded = ObjectCode::text(vec![0; 64]).with_function("f", 16, 8).with_function("g", 16, 8);
    for consumer in consumers() {
        for is_one_unit in [true, false] {
            let module = two(is_one_unit, [8, 8]);
            let report = report(&module, &module, &consumer, &folded);
            assert!(report.is_clean(), "{is_one_unit}: {report}");
        }
    }
}

/// Wrong contents of either of two functions at one address are found.
#[test]
fn moved_code_is_found() {
    let apart = ObjectCode::text(vec![0; 64]).with_function("f", 16, 8).with_function("g", 24, 8);
    let folded = ObjectCode::text(vec![0; 64]).with_function("f", 16, 8).with_function("g", 16, 8);
    let described = two(true, [8, 8]);
    for consumer in consumers() {
        // The written entry has 12 bytes for `g`, four more than `g` has.
        for code in [&apart, &folded] {
            let report = report(&two(true, [8, 12]), &described, &consumer, code);
            let is_found = |finding: &eitri::check::CheckFinding| {
                finding.kind == FindingKind::Code && finding.at.function.as_deref() == Some("g")
            };
            assert!(report.findings.iter().any(is_found), "{report}");
            assert!(report.findings.iter().any(|one| one.kind == FindingKind::Line), "{report}");
        }
        // `f` is shorter than `g` and starts at the same address, so that the unit covers `f` anyway.
        let report = report(&two(true, [8, 12]), &two(true, [12, 8]), &consumer, &folded);
        assert!(!report.is_clean());
    }
}

/// The object has the code, in the section of the symbol.
#[test]
fn code_is_in_its_section() {
    let module = two(true, [8, 0x30]);
    let consumer = Consumer::dwarf5();
    let sections = lower(&module, &consumer, Policy::Strict).expect("the consumer can encode it").sections;
    // Another size of a symbol is a warning, except for a symbol without a size.
    let sized = |f, g| ObjectCode::text(vec![0; 64]).with_function("f", 0, f).with_function("g", 16, g);
    let larger = "code has 0x8 bytes, but the symbol `f` in the object has 0x4 bytes; expected one size";
    let smaller = "code has 0x8 bytes, but the symbol `f` in the object has 0x10 bytes; expected one size";
    for (f, expected) in [(0, None), (8, None), (4, Some(larger)), (16, Some(smaller))] {
        let object = new_object(module.target(), &sized(f, 0x30), &sections).expect("an object");
        let warnings = check_code(&module, &object).expect("all code is there");
        let kinds: Vec<_> = warnings.iter().map(|warning| (warning.kind(), &*warning.what)).collect();
        assert_eq!(kinds, expected.map(|what| (WarningKind::SymbolSize, what)).as_slice());
    }
    let right = sized(4, 0x28);
    let object = new_object(module.target(), &right, &sections).expect("an object");
    assert!(eitri::check(&module, &consumer, &[], &object).expect("it can be read").is_clean());

    let wrong = ObjectCode::text(vec![0; 64]).with_function("f", 0, 8).with_function("g", 20, 0x28);
    let object = new_object(module.target(), &wrong, &sections).expect("an object");
    let error = check_code(&module, &object).expect_err("four bytes are not there");
    let what = "code of 0x30 bytes at symbol `g` goes past the end of the section, which has 0x40 bytes";
    let place = "unit `a.c`, function `g`, section .text";
    assert_eq!(error.to_string(), format!("{place}: {what}"));
    let report = eitri::check(&module, &consumer, &[], &object).expect("it can be read");
    let finding = format!("code: {place}: expected code that is in the object, found {what}");
    assert_eq!(report.findings.iter().map(ToString::to_string).collect::<Vec<_>>(), [finding]);

    let missing = ObjectCode::text(vec![0; 64]).with_function("f", 0, 8);
    let object = new_object(module.target(), &missing, &[]).expect("an object");
    let error = check_code(&module, &object).expect_err("there is no `g`");
    let what = "unit `a.c`, function `g`: the object has no symbol `g`, where its code is";
    assert_eq!(error.to_string(), what);
    // External code is not checked.
    let mut elsewhere = missing;
    elsewhere.externals.push("g".into());
    let object = new_object(module.target(), &elsewhere, &[]).expect("an object");
    check_code(&module, &object).expect("`g` is another object's");
}
