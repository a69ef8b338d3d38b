//! Integers of any size: machine integers up to 128 bits, big integers beyond.

use num_bigint::{BigInt, Sign};

use super::arith::{Binary, Unary};
use super::fault::{Fault, error};
use super::value::{BaseType, Value};

/// Largest size of machine integers in bits.
const NARROW: u64 = 128;

/// Whether the type is signed for operations that take the generic type as signed.
pub(super) fn signed_like_generic(ty: BaseType) -> bool {
    ty.is_generic() || ty.encoding.is_signed()
}

/// Returns the bits as a big number, signed or unsigned.
pub(super) fn big(value: &Value, signed: bool) -> BigInt {
    value.with_bytes(|bytes| {
        let number = BigInt::from_bytes_le(Sign::Plus, bytes);
        let size = value.ty().size();
        if signed && size > 0 && value.bit(size - 1) { number - (BigInt::from(1) << size) } else { number }
    })
}

/// Returns the low bits of a number as a value.
pub(super) fn of_big(ty: BaseType, number: &BigInt) -> Value {
    let mut bytes = number.to_signed_bytes_le();
    let fill = if number.sign() == Sign::Minus { 0xff } else { 0 };
    bytes.resize(bytes.len().max(ty.size().div_ceil(8) as usize), fill);
    Value::from_bytes(ty, &bytes)
}

fn of_narrow(ty: BaseType, bits: u128) -> Value {
    match ty.size() {
        ..=64 => Value::new(ty, bits as u64),
        _ => Value::from_bytes(ty, &bits.to_le_bytes()),
    }
}

#[cold]
fn division_by_zero() -> Fault {
    error("division by zero")
}

/// Computes an operation on two integers of one type. Shift counts are always unsigned.
pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = left.ty();
    if ty.size() > NARROW {
        return wide_binary(op, left, right);
    }
    let (a, b) = (left.low_u128(), right.low_u128());
    let divides = matches!(op, Binary::Div | Binary::Mod | Binary::ModFloor);
    if divides && b == 0 {
        return Err(division_by_zero());
    }
    let (sa, sb) = (left.as_i128().unwrap_or(0), right.as_i128().unwrap_or(0));
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    let signed = signed_like_generic(ty);
    let bits = match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if signed => sa.wrapping_div(sb) as u128,
        Binary::Div => a / b,
        Binary::Mod if ty.encoding.is_signed() => sa.wrapping_rem(sb) as u128,
        // For unsigned numbers both remainders are equal, so the operation would be redundant for the generic type
        // unless it is taken as signed.
        Binary::ModFloor if signed => {
            let rest = sa.wrapping_rem(sb);
            if rest != 0 && (rest < 0) != (sb < 0) { (rest + sb) as u128 } else { rest as u128 }
        }
        Binary::Mod | Binary::ModFloor => a % b,
        Binary::Shl => a.checked_shl(shift).unwrap_or(0),
        Binary::Shra if signed => (sa >> shift.min(127)) as u128,
        Binary::Shr | Binary::Shra => a.checked_shr(shift).unwrap_or(0),
    };
    Ok(of_narrow(ty, bits))
}

fn wide_binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = left.ty();
    let signed = match op {
        Binary::Div | Binary::ModFloor | Binary::Shra => signed_like_generic(ty),
        Binary::Mod => ty.encoding.is_signed(),
        _ => false,
    };
    let (a, b) = (big(left, signed), big(right, signed));
    let divides = matches!(op, Binary::Div | Binary::Mod | Binary::ModFloor);
    if divides && b.sign() == Sign::NoSign {
        return Err(division_by_zero());
    }
    // A shift by the size or more leaves 0, or only the sign.
    let shift = right.as_u64().map_or(ty.size(), |by| by.min(ty.size()));
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
    if ty.size() > NARROW {
        let number = big(value, op == Unary::Abs);
        return match op {
            Unary::Abs => of_big(ty, &BigInt::from(number.magnitude().clone())),
            Unary::Neg => of_big(ty, &-number),
            Unary::Not => of_big(ty, &!number),
        };
    }
    let bits = value.low_u128();
    of_narrow(
        ty,
        match op {
            Unary::Not => !bits,
            Unary::Neg => bits.wrapping_neg(),
            Unary::Abs => value.as_i128().unwrap_or(0).unsigned_abs(),
        },
    )
}

pub(super) fn compare(left: &Value, right: &Value) -> core::cmp::Ordering {
    let signed = signed_like_generic(left.ty());
    if left.ty().size() > NARROW {
        return big(left, signed).cmp(&big(right, signed));
    }
    match signed {
        true => left.as_i128().cmp(&right.as_i128()),
        false => left.low_u128().cmp(&right.low_u128()),
    }
}

/// Returns the same number in another integral type, truncated to its size.
pub(super) fn resize(value: &Value, ty: BaseType) -> Value {
    let signed = value.ty().encoding.is_signed();
    if value.ty().size().max(ty.size()) > NARROW {
        return of_big(ty, &big(value, signed));
    }
    of_narrow(ty, if signed { value.as_i128().unwrap_or(0) as u128 } else { value.low_u128() })
}
