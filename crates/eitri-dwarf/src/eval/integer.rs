//! Integers of any size: machine [words](super::word) up to 64 bits, big integers beyond.

use num_bigint::{BigInt, Sign};

use super::fault::{Fault, error};
use super::value::{BaseType, Value};
use super::word::{self, Binary, Signs, Unary};

/// Returns how many bits of a word a type's integers lack. `None` if they are larger than a word.
fn unused(ty: BaseType) -> Option<u32> {
    (1..=64).contains(&ty.size()).then(|| 64 - ty.size() as u32)
}

fn signs(ty: BaseType) -> Signs {
    match ty.encoding {
        _ if ty.is_generic() => Signs::Generic,
        encoding if encoding.is_signed() => Signs::Signed,
        _ => Signs::Unsigned,
    }
}

fn word(value: &Value) -> u64 {
    value.low_u128() as u64
}

/// Whether the type is signed for operations that take the generic type as signed.
pub(super) fn signed_like_generic(ty: BaseType) -> bool {
    ty.is_generic() || ty.encoding.is_signed()
}

/// Returns the bits as a big number, signed or unsigned.
pub(super) fn big(value: &Value, signed: bool) -> BigInt {
    value.with_bytes(|bytes| {
        let number = BigInt::from_bytes_le(Sign::Plus, bytes);
        let size = value.ty().size();
        // Two's complement: a set sign bit subtracts 2^size.
        if signed && size > 0 && value.bit(size - 1) { number - (BigInt::from(1) << size) } else { number }
    })
}

/// Returns a number's low bits as a value.
pub(super) fn of_big(ty: BaseType, number: &BigInt) -> Value {
    let mut bytes = number.to_signed_bytes_le();
    let fill = if number.sign() == Sign::Minus { 0xff } else { 0 };
    // Sign extension, because the type can be wider than the number.
    bytes.resize(bytes.len().max(ty.size().div_ceil(8) as usize), fill);
    Value::from_bytes(ty, &bytes)
}

fn division_by_zero() -> Fault {
    error("division by zero")
}

/// Computes an operation on two integers with the same type.
pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = left.ty();
    let Some(unused) = unused(ty) else { return wide_binary(op, left, right) };
    let result = word::binary(op, signs(ty), unused, word(left), word(right));
    result.map(|bits| Value::new(ty, bits)).ok_or_else(division_by_zero)
}

fn wide_binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = left.ty();
    let signed = match op {
        Binary::Div | Binary::ModFloor | Binary::Shra => signed_like_generic(ty),
        Binary::Mod => ty.encoding.is_signed(),
        _ => false,
    };
    let a = big(left, signed);
    let b = big(right, signed);
    let divides = matches!(op, Binary::Div | Binary::Mod | Binary::ModFloor);
    if divides && b.sign() == Sign::NoSign {
        return Err(division_by_zero());
    }
    // A shift by the size or more leaves 0, or only the sign, so that larger counts need no larger number.
    let shift = right.as_u64().map_or(ty.size(), |count| count.min(ty.size()));
    let number = match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a + b,
        Binary::Minus => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Mod => a % b,
        Binary::ModFloor => {
            let rest = a % &b;
            // The truncated remainder has the dividend's sign; the floored remainder has the divisor's.
            let crosses = rest.sign() != Sign::NoSign && rest.sign() != b.sign();
            if crosses { rest + b } else { rest }
        }
        Binary::Shl => a << shift,
        Binary::Shr | Binary::Shra => a >> shift,
    };
    Ok(of_big(ty, &number))
}

/// Computes an operation on one integer. `DW_OP_abs` "interprets it as a signed value" of any type.
pub(super) fn unary(op: Unary, value: &Value) -> Value {
    let ty = value.ty();
    if let Some(unused) = unused(ty) {
        return Value::new(ty, word::unary(op, unused, word(value)));
    }
    let number = big(value, op == Unary::Abs);
    match op {
        Unary::Abs => of_big(ty, &BigInt::from(number.magnitude().clone())),
        Unary::Neg => of_big(ty, &-number),
        Unary::Not => of_big(ty, &!number),
    }
}

pub(super) fn compare(left: &Value, right: &Value) -> core::cmp::Ordering {
    let ty = left.ty();
    match unused(ty) {
        Some(unused) => word::order(signs(ty), unused, word(left), word(right)),
        None => {
            let signed = signed_like_generic(ty);
            big(left, signed).cmp(&big(right, signed))
        }
    }
}

/// Returns the same number in another integral type, truncated to its size.
pub(super) fn resize(value: &Value, ty: BaseType) -> Value {
    let is_signed = value.ty().encoding.is_signed();
    match unused(value.ty()).filter(|_| ty.size() <= 64) {
        Some(unused) if is_signed => Value::new(ty, word::signed(unused, word(value)) as u64),
        Some(_) => Value::new(ty, word(value)),
        None => of_big(ty, &big(value, is_signed)),
    }
}
