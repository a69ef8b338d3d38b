//! Undescribed procedures, in objects with shared expressions or lanes, whose own procedures are not described
//! either.

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module, ProcedureId, UnitId, Val};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::sabotage::patches::Patches;
use crate::sabotage::{assert_is_words, object, sections};

/// Origin of the undescribed procedures in a right object.
#[derive(Clone, Copy, PartialEq)]
enum With {
    /// Shared expressions.
    Repeated,
    Regions,
}

/// Adds procedures to a unit; the last argument is a procedure that a variable calls.
type More = fn(&mut Builder, UnitId, ProcedureId);

/// Two described procedures that variables call, and one with the given meaning that nothing calls.
fn module(with: With, uncalled: &Loc, more: More) -> Module {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let [s4, s5] = [4, 5].map(|number| m.target().sgpr(number).unwrap());
    let first = m.procedure(unit, &Loc::register(s4)).unwrap();
    let second = m.procedure(unit, &Loc::register(s5)).unwrap();
    m.procedure(unit, uncalled).unwrap();
    more(&mut m, unit, first);
    let k = m.function(unit, "k").unwrap().code("k", 0x40).kernel().id();
    m.variable(k, "x", int).unwrap().live(0..0x40, Loc::call(first)).unwrap();
    m.variable(k, "y", int).unwrap().live(0..0x40, Loc::call(second)).unwrap();
    match with {
        With::Regions => {
            let s8 = m.target().sgpr(8).unwrap();
            m.lanes(k).unwrap().loop_(4..0x20, 0x20, &[(0..0x40, Loc::register(s8))]).unwrap();
        }
        With::Repeated => {
            for offset in 0..4 {
                let high = Loc::register(s5).read(32).shl(Val::constant(32));
                let base = Loc::register(s4).read(32).or(high).xor(Val::constant(0x0123_4567_89ab_cdef));
                let place = Loc::memory(SpaceId::DEFAULT, base.plus(0x1000).add(Val::constant(8 * offset)));
                m.variable(k, &format!("v{offset}"), int).unwrap().live(0..0x20, place).unwrap();
            }
        }
    }
    m.finish().unwrap()
}

fn nothing(_: &mut Builder, _: UnitId, _: ProcedureId) {}

fn lane(number: u32) -> Loc {
    Loc::lane(Target::named("amdgpu-gfx1030-wave32").unwrap().vgpr(40).unwrap(), number)
}

/// Adds a procedure that calls the given one, and one that calls the first.
fn cycle(m: &mut Builder, unit: UnitId, called: ProcedureId) {
    let first = m.procedure(unit, &Loc::call(called)).unwrap();
    m.procedure(unit, &Loc::call(first)).unwrap();
}

/// Makes the first procedure of [`cycle`] call the second.
fn close(patches: &mut Patches) {
    let all = patches.all(dw::DW_TAG_dwarf_procedure, dw::DW_AT_location);
    // A length of one byte, then the operation with four operand bytes.
    let is_call = |bytes: &[u8]| bytes.len() == 6 && bytes[1] == dw::DW_OP_call4.0;
    let calls: Vec<_> = all.iter().filter(|(_, bytes)| is_call(bytes)).collect();
    let [(first, _), (second, target)] = calls[..] else { panic!("{all:x?}") };
    assert_eq!(target[2..], (*first as u32).to_le_bytes());
    let info = patches.bytes(".debug_info");
    assert_eq!(info[first + 1..first + 7], calls[0].1);
    info[first + 3..first + 7].copy_from_slice(&(*second as u32).to_le_bytes());
}

fn report(truth: &Module, consumer: &Consumer, patches: &Patches) -> CheckReport {
    let report = eitri::check(truth, consumer, &[], &object(truth, &patches.sections)).unwrap();
    assert_is_words(&report);
    report
}

/// Fault: name, lane of the uncalled procedure, additions, patch, and findings.
type Fault = (&'static str, u32, More, fn(&mut Patches), &'static [FindingKind]);

#[rustfmt::skip] // A table.
const FAULTS: &[Fault] = &[
    ("one more", 3, |m, unit, _| { m.procedure(unit, &lane(7)).unwrap(); }, |_| {}, &[FindingKind::Extra]),
    ("one more that calls", 3, |m, unit, called| { m.procedure(unit, &Loc::call(called).offset(1)).unwrap(); }, |_| {}, &[FindingKind::Extra]),
    ("one more that is called by one more", 3, |m, unit, _| { let one = m.procedure(unit, &lane(7)).unwrap(); m.procedure(unit, &Loc::call(one).offset(1)).unwrap(); }, |_| {}, &[FindingKind::Extra]),
    ("two that call each other", 3, cycle, close, &[FindingKind::Extra]),
    ("another one", 4, nothing, |_| {}, &[FindingKind::Extra, FindingKind::MissingEntry]),
];

#[test]
fn procedures_that_nobody_described_are_found() {
    let mut missed = Vec::new();
    for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
        for with in [With::Repeated, With::Regions] {
            let truth = module(with, &lane(3), nothing);
            let written = |module: &Module| Patches { sections: sections(module, &consumer) };
            let clean = report(&truth, &consumer, &written(&truth));
            assert!(clean.is_clean(), "{clean}");
            for &(what, number, more, patch, kinds) in FAULTS {
                let mut patches = written(&module(with, &lane(number), more));
                patch(&mut patches);
                let report = report(&truth, &consumer, &patches);
                let found = |kind: &FindingKind| report.findings.iter().any(|finding| finding.kind == *kind);
                if !kinds.iter().all(found) || report.findings.len() != kinds.len() {
                    missed.push(format!("{}: {what}: {report}", consumer.name));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n\n"));
}

/// A consumer without locations on the stack inlines procedures at their calls, so that nothing calls them.
#[test]
fn procedures_of_which_calls_are_written_out_are_found() {
    let mut consumer = Consumer::dwarf5();
    consumer.expressions.shared_from_bytes = Some(16);
    let truth = module(With::Repeated, &lane(3), nothing);
    let check =
        |module: &Module| report(&truth, &consumer, &Patches { sections: sections(module, &consumer) });
    let clean = check(&truth);
    assert!(clean.is_clean(), "{clean}");
    let kinds = |module: &Module| check(module).findings.iter().map(|one| one.kind).collect::<Vec<_>>();
    let more: More = |m, unit, _| {
        m.procedure(unit, &lane(7)).unwrap();
    };
    assert_eq!(kinds(&module(With::Repeated, &lane(3), more)), [FindingKind::Extra]);
    assert_eq!(
        kinds(&module(With::Repeated, &lane(4), nothing)),
        [FindingKind::Extra, FindingKind::MissingEntry]
    );
}
