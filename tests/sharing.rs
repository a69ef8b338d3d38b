//! The promise: repeated expressions are written once where that makes the file smaller, with the same meaning.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::target::{Gfx, SpaceId, Target, Wave};

/// Variables in memory, each at an offset from one long number.
fn module(variables: u64) -> Module {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap();
    let low = target.sgpr(4).unwrap();
    let high = target.sgpr(5).unwrap();
    let mut m = Builder::new(target);
    let unit = m.unit("again.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let kernel = m.function(unit, "again").unwrap().code("again", 0x100).kernel().id();
    let read = |reg| Loc::register(reg).read(32);
    let base = |_| {
        let high = read(high).shl(Val::constant(32));
        read(low).or(high).xor(Val::constant(0x0123_4567_89ab_cdef)).plus(0x1000)
    };
    for index in 0..variables {
        let place = |offset| Loc::memory(SpaceId::DEFAULT, base(()).add(Val::constant(offset)));
        let mut variable = m.variable(kernel, &format!("v{index}"), int).unwrap();
        variable.live(0x00..0x40, place(8 * index)).unwrap().live(0x40..0x80, place(8 * index + 4)).unwrap();
    }
    m.finish().unwrap()
}

/// Size of all sections, and number of occurrences of `what` in the dump. The object is checked.
fn written(module: &Module, consumer: &Consumer, what: &str) -> (usize, usize) {
    let (bytes, calls, _) = compared(module, consumer, what);
    (bytes, calls)
}

/// Size, occurrences, and number of compared entries.
fn compared(module: &Module, consumer: &Consumer, what: &str) -> (usize, usize, u64) {
    let lowered = lower(module, consumer, Policy::Strict).unwrap();
    let code = ObjectCode::text(vec![0; 0x100]).with_function("again", 0, 0x100);
    let object = new_object(module.target(), &code, &lowered.sections).unwrap();
    let report = eitri::check(module, consumer, &lowered.omissions, &object).unwrap();
    assert!(report.is_clean(), "{report}");
    let text = eitri::dump::print(&object, Some(module.target())).unwrap();
    let bytes = lowered.sections.iter().map(|section| section.bytes.len()).sum();
    (bytes, text.matches(what).count(), report.entries)
}

/// Only described entities are compared. Procedures for repeated expressions are not; their number depends on the
/// bytes saved, which differ in split units.
#[test]
fn comparison_is_independent_of_sharing() {
    let module = module(20);
    let shared = Consumer::llvm();
    let mut plain = shared.clone();
    plain.expressions.shared_from_bytes = None;
    let (_, calls, entries) = compared(&module, &shared, "call2");
    assert_eq!(calls, 40);
    // The unit, the function, its frame, and its variables.
    assert_eq!((entries, compared(&module, &plain, "call2").2), (23, 23));
}

#[test]
fn a_long_number_is_written_once() {
    let module = module(20);
    for (consumer, call) in [(Consumer::llvm(), "call2"), (Consumer::dwarf5(), "call2")] {
        let from = |bytes| {
            let mut consumer = consumer.clone();
            consumer.expressions.shared_from_bytes = bytes;
            consumer
        };
        let shared = from(Some(16));
        let plain = from(None);
        let ((smaller, calls), (larger, none)) =
            (written(&module, &shared, call), written(&module, &plain, call));
        assert_eq!((calls, none), (40, 0));
        assert!(smaller + 40 * 16 < larger, "{smaller} {larger}");
        // A threshold above every expression.
        assert_eq!(written(&module, &from(Some(200)), call), (larger, 0));
        // DWARF 3 introduced calls.
        let old = |bytes| {
            let mut consumer = from(bytes);
            consumer.version = 2;
            consumer
        };
        assert_eq!(written(&module, &old(Some(16)), call), written(&module, &old(None), call));
    }
}

#[test]
fn unrepeated_expressions_stay_inline() {
    let once = module(0);
    let consumer = Consumer::llvm();
    assert_eq!(written(&once, &consumer, "DW_TAG_dwarf_procedure").1, 0);
}
