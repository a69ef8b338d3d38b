//! Regions and whole-wave code with masks in any location: the output has the described meaning.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module, Val};

use super::random::{fixed_choices, module, targets};

const MODULES: u64 = 240;

/// Code of all functions, consecutively.
fn code(module: &Module) -> ObjectCode {
    let functions: Vec<_> =
        module.functions().map(|(_, function)| function).filter(|one| one.address.is_some()).collect();
    let mut code =
        ObjectCode::text(vec![0; 4 + functions.iter().map(|one| one.bytes as usize).sum::<usize>()]);
    // The symbol of addresses in the modules.
    code = code.with_function("table", 0, 4);
    let mut offset = 4;
    for function in functions {
        code = code.with_function(module.string(function.name), offset, function.bytes);
        offset += function.bytes;
    }
    code
}

#[test]
fn random_regions_are_written_as_they_were_described() {
    let mut regions = 0;
    let mut compared = 0;
    for seed in 0..MODULES {
        let module = module(&fixed_choices(seed, 600), &targets()[seed as usize % 4]);
        if module.regions().next().is_none() {
            continue;
        }
        regions += module.regions().count();
        for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
            let written = lower(&module, &consumer, Policy::Partial).expect("the inexpressible is omitted");
            let object = new_object(module.target(), &code(&module), &written.sections).expect("an object");
            let report =
                eitri::check(&module, &consumer, &written.omissions, &object).expect("it can be read");
            assert!(report.is_clean(), "seed {seed}, {}: {report}", consumer.name);
            compared += report.locations;
        }
    }
    assert!(regions > 200 && compared > 10_000, "{regions} regions, {compared} locations");
}

/// A mask that the consumer cannot express and whose omission is listed: neither side has a meaning there.
#[test]
fn a_mask_that_is_left_out_and_means_nothing_is_no_finding() {
    let target = &targets()[3];
    let value = Loc::value(Val::constant(0x5a));
    let mask = value.overlay(Loc::undefined(), Val::constant(8), Val::constant(49));
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 64).kernel().id();
    let mut lanes = m.lanes(kernel).expect("a function");
    lanes.loop_(8..32, 32, &[(0..64, mask)]).expect("a region");
    let module = m.finish().expect("it is right");
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Partial).expect("the inexpressible is omitted");
    assert_eq!(written.omissions.len(), 1);
    let object = new_object(target, &code(&module), &written.sections).expect("an object");
    let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("it can be read");
    assert!(report.is_clean(), "{report}");
    // Unlisted omissions are findings.
    let report = eitri::check(&module, &consumer, &[], &object).expect("it can be read");
    assert!(!report.is_clean());
}

/// Masks with bits of the pc: the pc of a wave is the address of its next instruction.
#[test]
fn a_mask_in_the_pc_has_the_bits_of_the_pc() {
    for target in targets().iter().filter(|target| target.lanes() > 1) {
        let pc = target.pc().expect("it is there");
        let exec = target.exec().expect("waves have one");
        let half = u64::from(target.lanes()) / 2;
        let parts = Loc::parts([(Loc::register(exec), half), (Loc::register(pc), half)]);
        let last = Loc::register(pc).bit_offset(64 - i64::from(target.lanes()));
        for mask in [Loc::register(pc), last, parts] {
            let mut m = Builder::new(target.clone());
            let unit = m.unit("a.cl");
            let kernel = m.function(unit, "k").expect("a function").code("k", 64).kernel().id();
            let mut lanes = m.lanes(kernel).expect("a function");
            lanes.loop_(8..32, 32, &[(0..64, mask.clone())]).expect("a region");
            lanes.whole_wave(16..24, &mask).expect("whole-wave code");
            let module = m.finish().expect("it is right");
            for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
                let written =
                    lower(&module, &consumer, Policy::Partial).expect("the inexpressible is omitted");
                let object = new_object(target, &code(&module), &written.sections).expect("an object");
                let report =
                    eitri::check(&module, &consumer, &written.omissions, &object).expect("it can be read");
                assert!(report.is_clean(), "{}, {}: {report}", target.name(), consumer.name);
            }
        }
    }
}

/// Whole-wave code from start to end: nothing refers to EXEC, so that no procedure for EXEC is written.
#[test]
fn whole_wave_code_throughout_has_no_procedure_that_nothing_calls() {
    let targets = targets();
    let target = targets.iter().find(|target| target.lanes() == 32).expect("a target");
    let mask = Loc::register(target.sgpr(8).expect("a register"));
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 64).kernel().id();
    m.lanes(kernel).expect("a function").whole_wave(0..64, &mask).expect("whole-wave code");
    let module = m.finish().expect("it is right");
    for consumer in [Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
        let written = lower(&module, &consumer, Policy::Strict).expect("it is expressible");
        let object = new_object(target, &code(&module), &written.sections).expect("an object");
        let report = eitri::check(&module, &consumer, &[], &object).expect("it can be read");
        assert!(report.is_clean(), "{report}");
    }
}
