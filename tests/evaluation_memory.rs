//! The promise: evaluating any expression takes bounded memory, with a step limit far above that of these expressions.

#[path = "../benches/emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of benchmarks")]
mod memory;

use eitri::conform::{ConformReport, VectorFile};
use eitri::dump::steps;
use eitri::eval::{
    BaseType, Body, Class, Context, Element, Evaluator, LocationListEntry, OwnedBody, Snapshot, TypeEncoding,
    read_bits, spans, write_bits,
};
use eitri::op::{Dialect, Encoder, Encoding, text};
use eitri::target::{ByteOrder, SpaceId, Target};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

const ENCODING: Encoding = Encoding::new(8, Dialect::Llvm);
const MIB: usize = 1 << 20;

/// The result, and the peak memory.
fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let mut given = None;
    let peak = memory::peak_of(|| {
        given = Some(run());
        1
    });
    (given.expect("it was run"), peak.ratio() as usize)
}

fn bytes(expr: &str) -> Vec<u8> {
    let expr = text::parse(expr, ENCODING, Some(&Target::x86_64()));
    expr.unwrap_or_else(|error| panic!("{error}")).bytes().to_vec()
}

/// 60,000 parts, each of the same 64 KiB.
fn many_of_much() -> Vec<u8> {
    let mut expr = Vec::new();
    let mut encoder = Encoder::new(&mut expr, ENCODING);
    encoder.implicit_value(&[0; 1 << 16]);
    encoder.finish().expect("it is written");
    expr.extend(bytes("extend 8 60000"));
    expr
}

/// `count` places, each a composite of `count` parts, all with different boundaries.
fn many_ends(count: u64) -> Vec<LocationListEntry<'static>> {
    let entry = |place: u64| {
        let part = |index: u64| {
            let bits = if index == 0 { place + 1 } else { count };
            format!("addr {:#x}; bit_piece {bits} 0", 0x1000 * (place + 1) + index * 2 * count)
        };
        let expr: Vec<String> = (0..=count).map(part).collect();
        LocationListEntry { bounds: None, expr: bytes(&expr.join("; ")).into() }
    };
    (0..count).map(entry).collect()
}

/// A single test, as memory is counted across threads.
#[test]
fn expressions_stay_within_memory() {
    let target = Target::x86_64();
    let context = Context::new(ENCODING, &target);
    let mut machine = Snapshot::default();
    machine.pc = Some(0);
    let mut evaluator = Evaluator::new();

    // The complete location would take some gigabytes as a message.
    let expr = [many_of_much(), bytes("lit1; plus")].concat();
    let (fault, most) = peak(|| evaluator.evaluate(&expr, &machine, &context).expect_err("no value"));
    assert_eq!(fault.class, Class::IllFormed);
    assert!(fault.rule.contains(": [implicit:0000") && fault.rule.contains('…'), "{}", fault.rule);
    assert!(most < 32 * MIB, "{most} bytes");

    let location = evaluator.location(&many_of_much(), &machine, &context).expect("a location");
    // Bits after the last part are undefined.
    let (bits, most) = peak(|| read_bits(&location, 480_008, &machine).expect("the bits"));
    assert!(bits.defined.ends_with(&[0xff, 0]) && most < 32 * MIB, "{most} bytes");

    // A report is truncated as well, also for large reads.
    let hex: String = expr[..expr.len() - 2].iter().map(|byte| format!("{byte:02x}")).collect();
    let json = format!(
        r#"{{"format": "eitri-vectors-1", "target": {{"name": "x86_64"}}, "vectors": [
            {{"name": "a", "dialect": "llvm", "expr": "{hex}", "expect": {{"location": "undefined"}}}},
            {{"name": "b", "dialect": "llvm", "expr": "", "read": {}, "expect": {{"bytes": "--"}}}}]}}"#,
        8 * MIB
    );
    let file = VectorFile::from_json(json).expect("a file of vectors");
    let (report, most) = peak(|| {
        let mut report = ConformReport::default();
        file.run("", None, &mut report);
        report
    });
    for (_, outcome) in &report.outcomes {
        let found = &outcome.found;
        assert!(found.ends_with('…') && found.len() < 1 << 17, "{}: {} bytes", outcome.name, found.len());
    }
    assert!(most < 32 * MIB, "{most} bytes");

    // Spans of all places would have more than a million places.
    let list = many_ends(110);
    let location = evaluator.list(&list, &machine, &context).expect("a location");
    let (found, most) = peak(|| spans(&location, 110 * 110, ByteOrder::Little).expect_err("too many"));
    assert_eq!(found.class, Class::Evaluation);
    assert!(most < 512 * MIB, "{most} bytes");
    machine.store(SpaceId::DEFAULT, None, 0, &[0; 1 << 16]);
    let before = machine.clone();
    let refused = write_bits(&location, 110 * 110, &[0xff; 8192], &mut machine).expect_err("too many");
    assert_eq!(refused.class, Class::Evaluation);
    assert!(machine == before, "a store that is refused changes nothing");
    // Reading needs a single place.
    assert!(read_bits(&location, 110 * 110, &machine).is_ok());

    // A constant that is pushed again and again.
    machine.entries.insert(0x40, (OwnedBody::Constant(vec![0; MIB]), 0));
    let expr = bytes("call_ref @0x40; skip -8");
    let (fault, most) = peak(|| evaluator.evaluate(&expr, &machine, &context).expect_err("no end"));
    assert_eq!(fault.class, Class::Evaluation);
    assert!(most < 128 * MIB, "{most} bytes");

    // Stacks of large values, recorded after each step.
    machine.types.insert((0, 0x10), BaseType::new(TypeEncoding::Unsigned, 1 << 16));
    let expr = bytes(&format!("lit1; convert @0x10{}", "; dup".repeat(900)));
    let (taken, most) = peak(|| steps(Body::Expression(&expr), &machine, &context, Some(&target)));
    assert!(
        taken.more > 700 && taken.steps.len() + taken.more == 902,
        "{} and {} more",
        taken.steps.len(),
        taken.more
    );
    assert!(matches!(taken.result, Err(_) | Ok(Element::Value(_))));
    assert!(most < 128 * MIB, "{most} bytes");
}
