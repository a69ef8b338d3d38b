//! Properties of all inputs.

use eitri::eval::{
    BaseType, Class, Context, Element, Evaluator, Location, OwnedBody, Snapshot, TypeEncoding, Value,
    read_bits, spans, write_bits,
};
use eitri::op::{Dialect, Encoding, Reg};
use eitri::target::{ByteOrder, SpaceId, Target};
use num_bigint::{BigInt, Sign};
use proptest::prelude::*;

use super::LLVM;
use crate::common::with;

/// Evaluates one operation on values.
fn apply(code: &[u8], initial: &[Value], machine: &Snapshot) -> Result<Value, Class> {
    let target = Target::x86_64();
    let initial: Vec<_> = initial.iter().cloned().map(Element::Value).collect();
    let context = Context::new(LLVM, &target).with_initial(&initial);
    Evaluator::new().value(code, machine, &context).map_err(|fault| fault.class)
}

fn converted(value: &Value, ty: BaseType) -> Result<Value, Class> {
    let machine = with::<Snapshot>(|machine| machine.types = [((0, 0x10), ty)].into());
    apply(&[0xa8, 0x10], core::slice::from_ref(value), &machine)
}

/// The number that the bits encode in a type, by the definition of two's complement.
fn number(value: &Value) -> BigInt {
    let size = value.ty().size();
    let mut sum = BigInt::ZERO;
    for bit in (0..size).filter(|&bit| value.bit(bit)) {
        let weight = BigInt::from(1) << bit;
        let is_sign = value.ty().encoding == TypeEncoding::Signed && bit == size - 1;
        sum += if is_sign { -weight } else { weight };
    }
    sum
}

/// A number modulo 2 to the power of the size of a type.
fn modulo(number: BigInt, ty: BaseType) -> BigInt {
    let modulus = BigInt::from(1) << ty.size();
    ((number % &modulus) + &modulus) % modulus
}

fn low_bytes(value: &Value) -> Vec<u8> {
    value.with_bytes(<[u8]>::to_vec)
}

fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=70, Just(127), Just(128), Just(129), Just(256), Just(2048)]
}

fn integers() -> impl Strategy<Value = (Value, Value)> {
    // Small numbers of either sign are as likely as others.
    let bytes = || {
        let near_zero = (any::<u8>(), any::<bool>());
        prop_oneof![
            prop::collection::vec(any::<u8>(), 256),
            near_zero.prop_map(|(low, negative)| {
                let mut bytes = vec![if negative { 0xff } else { 0 }; 256];
                bytes[0] = low;
                bytes
            }),
        ]
    };
    (sizes(), any::<bool>(), bytes(), bytes()).prop_map(|(bits, signed, a, b)| {
        let encoding = if signed { TypeEncoding::Signed } else { TypeEncoding::Unsigned };
        let ty = BaseType::new(encoding, bits);
        (Value::from_bytes(ty, &a), Value::from_bytes(ty, &b))
    })
}

/// Division that rounds towards zero, computed on magnitudes.
fn quotient(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let a_size = BigInt::from(a.magnitude().clone());
    let b_size = BigInt::from(b.magnitude().clone());
    let quotient = &a_size / &b_size;
    let quotient = if (a.sign() == Sign::Minus) == (b.sign() == Sign::Minus) { quotient } else { -quotient };
    let rest = a - &quotient * b;
    (quotient, rest)
}

proptest! {
    #![proptest_config(crate::common::cases::config(300))]

    #[test]
    fn integers_are_calculated_modulo_their_size((a, b) in integers()) {
        let ty = a.ty();
        let x = number(&a);
        let y = number(&b);
        let machine = Snapshot::default();
        let check = |code: u8, expected: BigInt| {
            let found = apply(&[code], &[a.clone(), b.clone()], &machine).unwrap();
            prop_assert_eq!(modulo(number(&found), ty), modulo(expected, ty), "{:#x} of {} and {}", code, a, b);
            prop_assert_eq!(found.ty(), ty);
            Ok(())
        };
        check(0x22, &x + &y)?;
        check(0x1c, &x - &y)?;
        check(0x1e, &x * &y)?;
        if y == BigInt::ZERO {
            prop_assert_eq!(apply(&[0x1b], &[a.clone(), b.clone()], &machine), Err(Class::Evaluation));
            prop_assert_eq!(apply(&[0x1d], &[a.clone(), b.clone()], &machine), Err(Class::Evaluation));
        } else {
            let (quotient, rest) = quotient(&x, &y);
            check(0x1b, quotient)?;
            check(0x1d, rest)?;
        }
        // Bitwise operations.
        for (code, op) in [(0x1au8, (|a, b| a && b) as fn(bool, bool) -> bool), (0x21, |a, b| a || b), (0x27, |a, b| a != b)] {
            let found = apply(&[code], &[a.clone(), b.clone()], &machine).unwrap();
            for bit in 0..ty.size() {
                prop_assert_eq!(found.bit(bit), op(a.bit(bit), b.bit(bit)));
            }
        }
        // Shifts by up to a little more than the size.
        let by = (b.as_u64().unwrap_or(3)) % (ty.size() + 5);
        let amount = Value::new(ty, by);
        let by = number(&amount);
        let by = if by.sign() == Sign::Minus { ty.size() + 1 } else { u64::try_from(by).unwrap() };
        for (code, from) in [
            (0x24u8, (|bit: u64, by: u64, _: u64| bit.checked_sub(by)) as fn(u64, u64, u64) -> Option<u64>),
            (0x25, |bit, by, size| bit.checked_add(by).filter(|&bit| bit < size)),
        ] {
            let found = apply(&[code], &[a.clone(), amount.clone()], &machine).unwrap();
            for bit in 0..ty.size() {
                let expected = from(bit, by, ty.size()).is_some_and(|bit| a.bit(bit));
                prop_assert_eq!(found.bit(bit), expected, "{:#x} of {} by {}", code, a, by);
            }
        }
        let sign = ty.encoding == TypeEncoding::Signed && a.bit(ty.size() - 1);
        let found = apply(&[0x26], &[a.clone(), amount], &machine).unwrap();
        for bit in 0..ty.size() {
            let expected = if bit + by < ty.size() { a.bit(bit + by) } else { sign };
            prop_assert_eq!(found.bit(bit), expected, "shra of {} by {}", a, by);
        }
        // Comparisons.
        for (code, expected) in
            [(0x29u8, x == y), (0x2a, x >= y), (0x2b, x > y), (0x2c, x <= y), (0x2d, x < y), (0x2e, x != y)]
        {
            let found = apply(&[code], &[a.clone(), b.clone()], &machine).unwrap();
            prop_assert_eq!(found.as_u64(), Some(expected.into()));
        }
        // One operand.
        let signed = Value::from_bytes(BaseType { encoding: TypeEncoding::Signed, ..ty }, &low_bytes(&a));
        let size = BigInt::from(number(&signed).magnitude().clone());
        for (code, expected) in [(0x1fu8, -&x), (0x20, -&x - 1), (0x19, size)] {
            let found = apply(&[code], core::slice::from_ref(&a), &machine).unwrap();
            prop_assert_eq!(modulo(number(&found), ty), modulo(expected, ty));
        }
    }

    #[test]
    fn conversions_keep_what_fits((a, _) in integers(), bits in sizes(), signed in any::<bool>()) {
        let encoding = if signed { TypeEncoding::Signed } else { TypeEncoding::Unsigned };
        let ty = BaseType::new(encoding, bits);
        let found = converted(&a, ty).unwrap();
        prop_assert_eq!(modulo(number(&found), ty), modulo(number(&a), ty));
    }

    /// Rust's own conversions round to the nearest, ties to even.
    #[test]
    fn floats_of_integers(number in any::<i128>(), shift in 0u32..128) {
        let number = number >> shift;
        let signed = Value::from_bytes(BaseType::new(TypeEncoding::Signed, 128), &number.to_le_bytes());
        let unsigned = Value::from_bytes(BaseType::new(TypeEncoding::Unsigned, 128), &number.to_le_bytes());
        let to = |value: &Value, bits| converted(value, BaseType::new(TypeEncoding::Float, bits)).unwrap().as_u64();
        prop_assert_eq!(to(&signed, 64), Some((number as f64).to_bits()));
        prop_assert_eq!(to(&signed, 32), Some((number as f32).to_bits().into()));
        prop_assert_eq!(to(&unsigned, 64), Some((number as u128 as f64).to_bits()));
        prop_assert_eq!(to(&unsigned, 32), Some((number as u128 as f32).to_bits().into()));
    }

    #[test]
    fn floats_are_those_of_the_machine(a in any::<u32>(), b in any::<u32>(), wide in any::<(u64, u64)>()) {
        let machine = Snapshot::default();
        let x = f32::from_bits(a);
        let y = f32::from_bits(b);
        let of = |bits: u32, number: u64| Value::new(BaseType::new(TypeEncoding::Float, bits), number);
        for (code, expected) in [(0x22u8, x + y), (0x1c, x - y), (0x1e, x * y), (0x1b, x / y)] {
            let found = apply(&[code], &[of(32, a.into()), of(32, b.into())], &machine).unwrap();
            let found = f32::from_bits(found.as_u64().unwrap() as u32);
            prop_assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }
        let x = f64::from_bits(wide.0);
        let y = f64::from_bits(wide.1);
        for (code, expected) in [(0x22u8, x + y), (0x1c, x - y), (0x1e, x * y), (0x1b, x / y)] {
            let found = apply(&[code], &[of(64, wide.0), of(64, wide.1)], &machine).unwrap();
            let found = f64::from_bits(found.as_u64().unwrap());
            prop_assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }
        let narrow = converted(&of(64, wide.0), BaseType::new(TypeEncoding::Float, 32)).unwrap();
        let narrow = f32::from_bits(narrow.as_u64().unwrap() as u32);
        prop_assert!(narrow.to_bits() == (x as f32).to_bits() || narrow.is_nan() && x.is_nan());
        // Truncation, if the result fits; Rust's conversion saturates otherwise.
        let signed = BaseType::new(TypeEncoding::Signed, 64);
        let fits = x.is_finite() && x.trunc() >= i64::MIN as f64 && x.trunc() < -(i64::MIN as f64);
        let expected = if fits { Ok(x as i64 as u64) } else { Err(Class::Evaluation) };
        prop_assert_eq!(converted(&of(64, wide.0), signed).map(|value| value.as_u64().unwrap()), expected);
    }

    /// The result is the nearest number of 16 bits.
    #[test]
    fn halves_are_the_nearest(bits in any::<u32>(), exponent in 100u32..145) {
        // Most numbers are in the range of binary16.
        let bits = bits & 0x807f_ffff | exponent << 23;
        let single = BaseType::new(TypeEncoding::Float, 32);
        let half = BaseType::new(TypeEncoding::Float, 16);
        let number = f64::from(f32::from_bits(bits));
        let found = converted(&Value::new(single, bits.into()), half).unwrap().as_u64().unwrap() as u16;
        // The next number after the largest would be 2^16.
        let value = |half: u16| match half & 0x7fff {
            0x7c00 => 65536f64.copysign(if half >> 15 == 1 { -1.0 } else { 1.0 }),
            size => {
                let exponent = i32::from(size >> 10);
                let fraction = f64::from(size & 0x3ff);
                let number = match exponent {
                    0 => fraction * 2f64.powi(-24),
                    exponent => (fraction + 1024.0) * 2f64.powi(exponent - 25),
                };
                number.copysign(if half >> 15 == 1 { -1.0 } else { 1.0 })
            }
        };
        let error = (value(found) - number).abs();
        for next in [found.wrapping_sub(1), found.wrapping_add(1)] {
            if next & 0x7fff <= 0x7c00 && next >> 15 == found >> 15 {
                let other = (value(next) - number).abs();
                let nearer = number.abs() < 65536.0 && (other < error || other == error && found & 1 == 1);
                prop_assert!(!nearer, "{number} to {found:#x}, and {next:#x} is nearer");
            }
        }
        // Converting back gives the same number.
        if found & 0x7fff < 0x7c00 {
            let back = converted(&Value::new(half, found.into()), single).unwrap();
            prop_assert_eq!(f64::from(f32::from_bits(back.as_u64().unwrap() as u32)), value(found));
        }
    }
}

/// A part of a composite: storage kind, first bit and number of bits.
#[derive(Debug, Clone)]
struct Piece {
    kind: u8,
    offset: u32,
    bits: u32,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = (0u8..6, 0u32..40, 1u32..24).prop_map(|(kind, offset, bits)| Piece { kind, offset, bits });
    prop::collection::vec(piece, 1..8)
}

/// A location for each piece, all in different storages.
fn located(pieces: &[Piece], refuse: bool) -> Vec<(Location, u128)> {
    let mut all = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let number = index as u64;
        let memory = Location::memory(SpaceId::DEFAULT, 64, 0x1000 + 16 * number);
        let register = Location::register(Reg(20 + number), 128);
        let location = match piece.kind {
            0 | 1 => memory,
            2 | 3 => register,
            4 => memory.and(register),
            _ if refuse => match piece.offset % 3 {
                0 => Location::undefined(),
                1 => Location::implicit(&[0x5a; 16]),
                _ => Location::memory(SpaceId::DEFAULT, 64, 0x9000),
            },
            _ => register,
        };
        all.push((location.moved(piece.offset.into()).unwrap(), piece.bits.into()));
    }
    all
}

fn machine(big_endian: bool) -> Snapshot {
    let mut machine = with::<Snapshot>(|machine| machine.big_endian = big_endian);
    machine.store(
        SpaceId::DEFAULT,
        None,
        0x1000,
        &(0..0x100).map(|byte| byte as u8 ^ 0x35).collect::<Vec<_>>(),
    );
    for number in 0..10u8 {
        machine
            .registers
            .insert(Reg(20 + u64::from(number)), (0..16).map(|byte| byte * 7 + number).collect());
    }
    machine
}

proptest! {
    #![proptest_config(crate::common::cases::config(300))]

    #[test]
    fn written_bits_are_read_back(parts in pieces(), bytes in prop::collection::vec(any::<u8>(), 32), big in any::<bool>()) {
        let mut machine = machine(big);
        let before = machine.clone();
        let located = located(&parts, false);
        let bits: u64 = located.iter().map(|(_, bits)| *bits as u64).sum();
        let location = Location::composite(located).unwrap();
        let old = read_bits(&location, bits, &machine).unwrap();
        write_bits(&location, bits, &bytes, &mut machine).unwrap();
        let read = read_bits(&location, bits, &machine).unwrap();
        for (index, (found, defined)) in read.bytes.iter().zip(&read.defined).enumerate() {
            prop_assert_eq!(*found, bytes[index] & defined);
        }
        // Nothing else changed: writing the old bits to both places restores the machine.
        if !parts.iter().any(|part| part.kind == 4) {
            write_bits(&location, bits, &old.bytes, &mut machine).unwrap();
            prop_assert!(machine == before);
        }
    }

    #[test]
    fn a_refused_write_changes_nothing(parts in pieces(), big in any::<bool>()) {
        let mut machine = machine(big);
        let before = machine.clone();
        let located = located(&parts, true);
        let bits: u64 = located.iter().map(|(_, bits)| *bits as u64).sum();
        let location = Location::composite(located).unwrap();
        let written = write_bits(&location, bits, &[0xc3; 32], &mut machine);
        prop_assert_eq!(written.is_err(), parts.iter().any(|part| part.kind == 5));
        if written.is_err() {
            prop_assert!(machine == before);
        }
    }

    #[test]
    fn an_offset_into_a_composite_is_the_part(parts in pieces(), big in any::<bool>(), level in 0..3) {
        let machine = machine(big);
        let located = located(&parts, true);
        let mut composite = Location::composite(located.clone()).unwrap();
        let all: u128 = located.iter().map(|(_, bits)| *bits).sum();
        for _ in 0..level {
            composite = Location::composite([(composite, all)]).unwrap();
        }
        let mut start = 0;
        for (part, bits) in located {
            let inside = composite.clone().moved(start).unwrap();
            prop_assert_eq!(spans(&inside, bits, ByteOrder::Little).unwrap(), spans(&part, bits, ByteOrder::Little).unwrap());
            let read = |location: &Location| read_bits(location, bits as u64, &machine).map_err(|fault| fault.class);
            prop_assert_eq!(read(&inside), read(&part));
            start += bits as i128;
        }
    }

    #[test]
    fn random_bytes_never_panic(
        expr in prop::collection::vec(any::<u8>(), 0..40),
        called in prop::collection::vec(any::<u8>(), 0..12),
        dialect in 0..4,
        (big_endian, frame) in (any::<bool>(), 0u32..3),
        lane in prop::option::of(0u64..3),
    ) {
        let dialect = [Dialect::Dwarf5, Dialect::Llvm, Dialect::Legacy, Dialect::Dwarf6][dialect as usize];
        let mut machine = { let mut changed = machine(big_endian); changed.lane = lane; changed.lanes = Some(2); changed.tls = Some(9); changed.pc = Some(4); changed };
        machine.cfa = Some(Location::memory(SpaceId::DEFAULT, 64, 0x1040));
        machine.frame_base = Some((OwnedBody::Expression(called.clone()), 0));
        let ty = |bits, elements| BaseType { encoding: TypeEncoding::Signed, bits, elements };
        for at in 0..=255u64 {
            machine.types.insert((0, at), ty(at as u32 * 3, at as u32 % 5));
            let body = match at % 4 {
                0 => OwnedBody::Expression(called.clone()),
                1 => OwnedBody::Constant(called.clone()),
                2 => OwnedBody::Nothing,
                _ => OwnedBody::Expression(expr.clone()),
            };
            machine.entries.insert(at, (body, 0));
        }
        let target = Target::named("amdgpu-gfx1030-wave32").unwrap();
        let encoding = Encoding::new(8, dialect).with_big_endian(big_endian);
        let initial = [
            Element::Value(Value::generic(0x1010, 8)),
            Element::Location(Location::register(Reg(22), 128)),
            Element::Value(Value::generic(2, 8)),
        ];
        let context = Context::new(encoding, &target).with_frame(frame).with_initial(&initial);
        if let Ok(location) = Evaluator::new().step_limit(20_000).location(&expr, &machine, &context) {
            let _ = location.to_string();
            let _ = read_bits(&location, 33, &machine);
            let _ = write_bits(&location, 33, &[0xff; 5], &mut machine);
        }
    }
}
