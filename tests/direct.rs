//! The promise: the direct execution of common operations gives the results of the evaluator's general rules, which a
//! traced evaluation uses alone.

use crate::common::with;
use eitri::eval::{
    BaseType, Caller, Context, Element, Evaluator, ExpressionSite, Layout, Limits, Location, Machine,
    OwnedBody, ResultKind, Snapshot, SpaceLayout, TypeEncoding,
};
use eitri::op::{Dialect, Encoding, Reg};
use eitri::target::{Per, SpaceId};
use proptest::prelude::*;

/// Start of mapped memory, in the middle of a 16-bit address space.
const START: u64 = 0x4000;

/// Operations as bytes. Operands may be truncated or be bytes of another operation, which is then evaluated.
fn operation() -> impl Strategy<Value = Vec<u8>> {
    let small = prop_oneof![0u8..8, any::<u8>()];
    prop_oneof![
        // Small numbers, and larger ones in all spellings.
        6 => (0x30u8..0x38).prop_map(|code| vec![code]),
        2 => (0x08u8..0x12, any::<[u8; 8]>()).prop_map(|(code, number)| {
            let len = match code {
                0x08 | 0x09 => 1,
                0x0a | 0x0b => 2,
                0x0c | 0x0d => 4,
                0x0e | 0x0f => 8,
                // LEB128 of any length.
                _ => number.iter().position(|byte| *byte < 0x80).map_or(8, |last| last + 1),
            };
            [&[code], &number[..len]].concat()
        }),
        // The stack, arithmetic, comparisons.
        3 => (0x12u8..0x18).prop_map(|code| if code == 0x15 { vec![code, 1] } else { vec![code] }),
        10 => (0x19u8..0x2f).prop_map(|code| match code {
            0x23 => vec![code, 9],
            0x28 => vec![code, 3, 0],
            _ => vec![code],
        }),
        // Branches, mostly by a few bytes.
        2 => (prop_oneof![Just(0x28u8), Just(0x2f)], -12i16..12)
            .prop_map(|(code, by)| [&[code][..], &by.to_le_bytes()].concat()),
        // Registers, and memory at their contents.
        2 => (0x50u8..0x56).prop_map(|code| vec![code]),
        4 => (0x70u8..0x76, 0u8..0x80).prop_map(|(code, by)| vec![code, by]),
        1 => (0u8..8, any::<u8>()).prop_map(|(reg, by)| vec![0x92, reg, by & 0x7f]),
        1 => Just(vec![0x90, 3]),
        3 => Just(vec![0x06]),
        1 => (0u8..10).prop_map(|bytes| vec![0x94, bytes]),
        2 => (0u8..0x80).prop_map(|by| vec![0x91, by]),
        1 => Just(vec![0x9c]),
        1 => any::<[u8; 8]>().prop_map(|address| [&[0x03][..], &address].concat()),
        1 => Just(vec![0x9f]),
        1 => Just(vec![0x96]),
        3 => (0u8..10).prop_map(|bytes| vec![0x93, bytes]),
        // Calls of an entry, implicit values, entry values.
        1 => Just(vec![0x98, 0x40, 0]),
        1 => Just(vec![0x9e, 2, 7, 8]),
        1 => Just(vec![0xa3, 1, 0x51]),
        // Frequent sequences, and loops.
        1 => (0x70u8..0x74).prop_map(|code| vec![code, 8, 0x06]),
        1 => Just(vec![0x23, 8, 0x06]),
        2 => (0x70u8..0x74, 0u8..0x80).prop_map(|(code, by)| vec![code, 8, 0x06, 0x23, by]),
        1 => (0x50u8..0x56, 0u8..10).prop_map(|(code, bytes)| vec![code, 0x93, bytes]),
        1 => (0x70u8..0x74, 0u8..10).prop_map(|(code, bytes)| vec![code, 4, 0x93, bytes]),
        1 => (0x30u8..0x38, 0u8..10).prop_map(|(code, bytes)| vec![code, 0x9f, 0x93, bytes]),
        1 => Just(vec![0x12, 0x1e]),
        1 => (-40i16..4).prop_map(|by| [&[0x31, 0x1c, 0x12, 0x28][..], &by.to_le_bytes()].concat()),
        // AMD's operations: the lane, addresses of spaces, offsets, and registers that are read.
        2 => Just(vec![0xe9, 0x03]),
        2 => (0x30u8..0x38).prop_map(|code| vec![0xe9, 0x03, code, 0x1e]),
        2 => prop_oneof![Just(0x30u8), Just(0x35), Just(0x36), Just(0x37), Just(0x12)]
            .prop_map(|space| vec![space, 0xe9, 0x02]),
        2 => (0x30u8..0x40, prop_oneof![Just(0x04u8), Just(0x06)]).prop_map(|(by, code)| vec![by, 0xe9, code]),
        1 => prop_oneof![Just(0x04u8), Just(0x06)].prop_map(|code| vec![0xe9, code]),
        1 => (0u8..0x40).prop_map(|by| vec![0xe9, 0x05, by]),
        1 => (0x50u8..0x56, 0x30u8..0x38).prop_map(|(reg, by)| vec![reg, by, 0xe9, 0x04]),
        1 => (0x50u8..0x56, 0u8..10).prop_map(|(reg, bytes)| vec![reg, 0x94, bytes]),
        1 => (0x50u8..0x56).prop_map(|reg| vec![reg, 0x06]),
        // Typed values: a constant, a register, a conversion.
        1 => Just(vec![0xa4, 0x10, 4, 1, 2, 3, 0x80]),
        1 => Just(vec![0xa5, 1, 0x13]),
        1 => prop_oneof![Just(0u8), Just(0x10), Just(0x13)].prop_map(|ty| vec![0xa8, ty]),
        // Arbitrary bytes.
        1 => prop::collection::vec(small, 1..4),
    ]
}

fn expression(operations: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(operation(), 0..operations).prop_map(|all| all.concat())
}

/// A machine with numbers and pointers of `address_bytes` bytes.
fn machine(address_bytes: u8, big_endian: bool) -> Snapshot {
    let pointer = |to: u64| -> Vec<u8> {
        let bytes = to.to_le_bytes()[..address_bytes.into()].to_vec();
        if big_endian { bytes.into_iter().rev().collect() } else { bytes }
    };
    let mut machine = with::<Snapshot>(|machine| {
        machine.big_endian = big_endian;
        machine.pc = Some(0x10);
    });
    for reg in 0..4u64 {
        machine.registers.insert(Reg(reg), (START + reg * 0x40).to_le_bytes().to_vec());
    }
    machine.registers.insert(Reg(4), vec![0xff; 8]);
    machine.types.insert((0, 0x10), BaseType::new(TypeEncoding::Signed, 32));
    machine.types.insert((0, 0x13), BaseType::new(TypeEncoding::Unsigned, 64));
    for at in (0..0x400).step_by(address_bytes.into()) {
        machine.store(SpaceId::DEFAULT, None, START + at, &pointer(START + at * 7 % 0x300));
    }
    machine.cfa = Some(Location::memory(SpaceId::DEFAULT, u32::from(address_bytes) * 8, START + 0x80));
    let saved = [(Reg(1), Location::memory(SpaceId::DEFAULT, u32::from(address_bytes) * 8, START + 0x20))];
    for lane in 0..2u8 {
        let bytes: Vec<u8> = (0..0x60).map(|at| (at % 8) * (lane + 1)).collect();
        machine.store(SpaceId(5), Some(lane.into()), 0, &bytes);
        machine.store(SpaceId(6), None, u64::from(lane) * 0x60, &bytes);
    }
    machine.callers = vec![Caller { pc: None, cfa: None, registers: saved.into() }];
    machine
}

/// Registers 0 to 4 have 64 bits, 5 has 8; addresses of the default space have any size.
fn layout(address_bits: u32, per: Per) -> Layout {
    let registers = (0..5).map(|reg| (Reg(reg), 64)).chain([(Reg(5), 8)]).collect();
    let space = |address_bits, per| SpaceLayout { address_bits, per };
    let spaces = [
        (SpaceId::DEFAULT, space(address_bits, per)),
        // Memory of each lane, and shared memory with addresses of a few bits.
        (SpaceId(5), space(32, Per::Lane)),
        (SpaceId(6), space(7, Per::Process)),
    ];
    Layout { registers, spaces: spaces.into() }
}

proptest! {
    #![proptest_config(crate::common::cases::config(2000))]

    #[test]
    fn direct_execution_gives_the_same_answers(
        // Most stacks are empty at the start, some nearly full.
        below in prop_oneof![5 => Just(0usize), 1 => 56usize..68],
        expr in expression(24),
        frame_base in prop_oneof![3 => Just(vec![0x53]), 1 => expression(4)],
        called in expression(3),
        address_bytes in prop_oneof![6 => Just(8u8), 2 => Just(4), 2 => Just(2), 1 => Just(0)],
        (fits, shared) in (prop::bool::weighted(0.9), prop::bool::weighted(0.95)),
        (frame, kind, cfi) in (
            prop::bool::weighted(0.1),
            prop_oneof![Just(ResultKind::Location), Just(ResultKind::Value), Just(ResultKind::Any)],
            prop::bool::weighted(0.1),
        ),
        dialect in prop_oneof![4 => Just(Dialect::Dwarf5), 4 => Just(Dialect::Llvm), 1 => Just(Dialect::Dwarf6)],
        (lane, lanes) in (prop_oneof![1 => Just(None), 6 => (0u64..4).prop_map(Some)], 1u64..5),
        (code_big_endian, big_endian) in (prop::bool::weighted(0.1), prop::bool::weighted(0.2)),
        (steps, depth, stack, parts) in (
            prop_oneof![2 => Just(10_000u64), 1 => 0..40u64],
            prop_oneof![4 => Just(32u32), 1 => 0..2u32],
            prop_oneof![4 => Just(4096u32), 1 => 0..6u32],
            prop_oneof![4 => Just(65_536u32), 1 => 0..4u32],
        ),
    ) {
        let expr = [(0..below).map(|number| 0x30 + number as u8 % 32).collect(), expr].concat();
        let mut machine = machine(address_bytes.max(2), big_endian);
        (machine.lane, machine.lanes) = (lane, Some(lanes));
        machine.frame_base = Some((OwnedBody::Expression(frame_base), 0));
        machine.entries.insert(0x40, (OwnedBody::Expression(called), 0));
        let bits = u32::from(address_bytes) * 8;
        let per = if shared { Per::Process } else { Per::Lane };
        let target = layout(if fits { bits } else { 24 }, per);
        let encoding = Encoding::new(address_bytes, dialect).with_big_endian(code_big_endian);
        let place = if cfi { ExpressionSite::Cfi } else { ExpressionSite::Location };
        let context = Context::new(encoding, &target).with_frame(frame.into()).with_kind(kind).with_place(place);
        let limits = { let mut limits = Limits::default(); limits.steps = steps; limits.depth = depth; limits.stack = stack; limits.parts = parts; limits };
        let mut evaluator = Evaluator::new().with_limits(limits);
        let quick = evaluator.evaluate(&expr, &machine, &context);
        let long = evaluator.traced(&expr, &machine, &context, &mut |_| ());
        prop_assert_eq!(&quick, &long, "{:02x?}", expr);
        // Evaluations do not influence later ones.
        prop_assert_eq!(&quick, &evaluator.evaluate(&expr, &machine, &context));
        if kind == ResultKind::Location {
            // The retained result does not depend on earlier ones, even while they are in use.
            let mut held = Vec::new();
            for before in [&expr[..], &[0x50, 0x93, 4, 0x93, 2, 0x35, 0x9f, 0x93, 1], &[0x31], &expr] {
                let _ = evaluator.locate(before, &machine, &context);
                let kept = evaluator.locate(&expr, &machine, &context).cloned().map(Element::Location);
                prop_assert_eq!(&quick, &kept);
                held.push(kept);
            }
            prop_assert!(held.iter().all(|held| *held == quick));
        }
    }
}

proptest! {
    #![proptest_config(crate::common::cases::config(200))]

    /// Every truncation of an expression, and every limit of steps.
    #[test]
    fn truncated_and_limited_execution_gives_the_same_answers(
        expr in expression(12),
        kind in prop_oneof![Just(ResultKind::Location), Just(ResultKind::Value)],
    ) {
        let (target, machine) = (layout(64, Per::Process), machine(8, false));
        let encoding = Encoding::new(8, Dialect::Dwarf5);
        let context = Context::new(encoding, &target).with_kind(kind);
        for end in 0..=expr.len() {
            let expr = &expr[..end];
            for steps in 0..60 {
                let mut evaluator = Evaluator::new().step_limit(steps);
                let long = evaluator.traced(expr, &machine, &context, &mut |_| ());
                prop_assert_eq!(&long, &evaluator.evaluate(expr, &machine, &context), "{:02x?} {}", expr, steps);
            }
        }
    }
}

/// Results and operations of faults, worked out by hand.
#[test]
fn faults_of_common_operations_name_their_operation() {
    let target = layout(64, Per::Process);
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let context = Context::new(encoding, &target).with_kind(ResultKind::Value);
    let machine = machine(8, false);
    let value = |expr: &[u8]| Evaluator::new().value(expr, &machine, &context);
    let place = |expr: &[u8]| {
        let fault = value(expr).expect_err("a fault");
        (fault.class, fault.operation, fault.offset)
    };
    use eitri::eval::Class::{Evaluation, IllFormed};
    // lit7; lit0; div: a division by zero.
    assert_eq!(place(&[0x37, 0x30, 0x1b]), (Evaluation, Some(2), Some(2)));
    // lit0; plus: too few elements.
    assert_eq!(place(&[0x30, 0x22]), (IllFormed, Some(1), Some(1)));
    // nop; breg4 0; deref: at the last byte of memory.
    assert_eq!(place(&[0x96, 0x74, 0, 0x06]), (Evaluation, Some(2), Some(3)));
    // lit1; dup; bra beyond the end.
    assert_eq!(place(&[0x31, 0x12, 0x28, 9, 0]), (IllFormed, Some(2), Some(2)));
    // lit2; lit9; skip over lit3 to plus: 11.
    assert_eq!(value(&[0x32, 0x39, 0x2f, 1, 0, 0x33, 0x22]).map(|it| it.as_u64()), Ok(Some(11)));
    // lit3; dup; mul; lit1; minus: 8.
    assert_eq!(value(&[0x33, 0x12, 0x1e, 0x31, 0x1c]).map(|it| it.as_u64()), Ok(Some(8)));
}

/// The generic type has the size of an address of the encoding, and constants have its order of bytes.
#[test]
fn common_operations_use_the_encoding() {
    let target = layout(64, Per::Process);
    let eight = Encoding::new(8, Dialect::Dwarf5);
    let value = |expr: &[u8], encoding| {
        let context = Context::new(encoding, &target).with_kind(ResultKind::Value);
        Evaluator::new().value(expr, &machine(8, false), &context).map(|it| it.as_u64())
    };
    // lit0; not.
    for (address_bytes, ones) in [(4, 0xffff_ffff), (8, u64::MAX)] {
        assert_eq!(value(&[0x30, 0x20], Encoding::new(address_bytes, Dialect::Dwarf5)), Ok(Some(ones)));
    }
    // const2u 0x0102, in either order of bytes; an operation that only the general rules execute: convert to generic.
    for (big_endian, number) in [(false, 0x0201), (true, 0x0102)] {
        assert_eq!(value(&[0x0a, 1, 2, 0xa8, 0], eight.with_big_endian(big_endian)), Ok(Some(number)));
    }
}

/// Operations give the same results where the fixed stack of the direct execution is full.
#[test]
fn full_fixed_stack_gives_the_same_results() {
    let target = layout(64, Per::Process);
    let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
    let machine = machine(8, false);
    let mut evaluator = Evaluator::new();
    for height in 55..75 {
        // Literals, a duplicate, the second element, the third, exchanges, a register, an address.
        for pushes in [
            &[0x33][..],
            &[0x31, 0x1c],
            &[0x12, 0x1e],
            &[0x12],
            &[0x14],
            &[0x15, 2],
            &[0x16, 0x14],
            &[0x17, 0x12],
            &[0x52],
            &[0x71, 3],
        ] {
            let mut expr: Vec<u8> = (0..height).map(|number| 0x30 + number as u8 % 32).collect();
            for after in 0..4 {
                expr.extend(pushes);
                let quick = evaluator.location(&expr, &machine, &context).map(Element::Location);
                let long = evaluator.traced(&expr, &machine, &context, &mut |_| ());
                assert_eq!(quick, long, "{height} elements, {after} times {pushes:02x?}");
            }
        }
    }
}

/// The largest expressions that fit the fixed stack of the direct execution, and one more.
#[test]
fn stacks_of_any_height_are_evaluated() {
    let target = layout(64, Per::Process);
    let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
    for height in 1..200 {
        let mut expr = vec![0x31; height];
        expr.extend(vec![0x22; height - 1]);
        let sum = Evaluator::new().value(&expr, &machine(8, false), &context);
        assert_eq!(sum.map(|sum| sum.as_u64()), Ok(Some(height as u64)));
    }
}

/// The direct execution queries the machine as rarely as the general rules do.
#[test]
fn machine_is_queried_once_for_each_read() {
    struct Counting(Snapshot, std::cell::Cell<usize>);
    impl Machine for Counting {
        fn register(
            &self,
            reg: Reg,
            frame: u32,
            at: u32,
            into: &mut [u8],
        ) -> Result<(), eitri::eval::Unavailable> {
            self.1.set(self.1.get() + 1);
            self.0.register(reg, frame, at, into)
        }
        fn memory(
            &self,
            space: SpaceId,
            lane: Option<u32>,
            address: u64,
            into: &mut [u8],
        ) -> Result<(), eitri::eval::Unavailable> {
            self.1.set(self.1.get() + 1);
            self.0.memory(space, lane, address, into)
        }
    }
    let machine = Counting(machine(8, false), std::cell::Cell::new(0));
    let target = layout(64, Per::Process);
    let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
    // A register, its target, and the target of that.
    let found = Evaluator::new().location(&[0x71, 0x08, 0x06, 0x06], &machine, &context);
    assert!(found.is_ok());
    assert_eq!(machine.1.get(), 3);
}
