//! The promise: evaluating an expression whose location is not a composite does not allocate.

#[path = "../benches/emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of benchmarks")]
mod memory;

use eitri::eval::{BaseType, Caller, Context, Evaluator, Location, OwnedBody, Snapshot, TypeEncoding};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::target::{SpaceId, Target};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Expressions with such locations, on the evaluator's fast path and off it.
const LOCATIONS: &[&str] = &[
    "reg3",
    "regx rax",
    "breg5 8",
    "fbreg -24",
    "call_frame_cfa; plus_uconst 8",
    "addr 0x1000",
    "breg5 0x100; deref; plus_uconst 8; deref_size 1",
    "breg5 1; stack_value",
    "lit1; lit2; plus; lit3; mul; dup; dup; rot; swap; drop; stack_value",
    "lit0; const1u 45; dup; dup; mul; rot; rot; plus; swap; lit1; minus; dup; bra -13; drop",
    "breg5 0; lit4; offset",
    "reg3; lit8; bit_offset",
    "reg3; deref_type 8 @0x13; convert @0x10; lit0; convert @0x10; plus; stack_value",
    "implicit_value {01 02 03 04}",
    "implicit_pointer @0x40 0",
    "entry_value (reg5); plus_uconst 8",
    "push_lane; lit1; plus; stack_value",
    "lit0; lit0; form_aspace_address; drop; undefined",
    "call4 @0x40",
    "",
];

#[test]
fn locations_without_composites_are_found_without_allocation() {
    let target = Target::x86_64();
    let encoding = Encoding::new(8, Dialect::Llvm);
    let context = Context::new(encoding, &target);
    let mut machine = Snapshot::default();
    machine.lane = Some(0);
    for reg in 0..8 {
        machine.registers.insert(Reg(reg), 0x1000u64.to_le_bytes().to_vec());
    }
    machine.store(SpaceId::DEFAULT, None, 0x1000, &0x1000u64.to_le_bytes().repeat(64));
    machine.cfa = Some(Location::memory(SpaceId::DEFAULT, 64, 0x1040));
    for (offset, encoding) in [(0x10, TypeEncoding::Signed), (0x13, TypeEncoding::Unsigned)] {
        machine.types.insert((0, offset), BaseType::new(encoding, 64));
    }
    machine.entries.insert(0x40, (OwnedBody::Expression(vec![0x75, 8]), 0));
    let caller = Caller { registers: [(Reg(5), Location::register(Reg(3), 64))].into(), ..Caller::default() };
    machine.callers.push(caller);
    machine.frame_base = Some((OwnedBody::Expression(vec![0x56]), 0));
    let mut evaluator = Evaluator::new();
    let mut of_all = Vec::new();
    for text in LOCATIONS {
        let expr =
            text::parse(text, encoding, Some(&target)).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut found = None;
        let count = memory::allocations_of(|| {
            found = Some(evaluator.location(expr.bytes(), &machine, &context));
        });
        of_all.push((text, found.expect("it was evaluated").map(|found| found.to_string()), count));
    }
    for (text, found, count) in of_all {
        assert!(found.is_ok(), "{text}: {found:?}");
        assert_eq!(count, 0, "{text}: {found:?}");
    }
}
