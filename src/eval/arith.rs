//! Arithmetic, comparison and conversion of values (DWARF 5, sections 2.5.1.4 to 2.5.1.6).
//!
//! The generic type has no signedness; `div`, `abs`, `neg`, `shra` and comparisons take it as signed, the rest
//! as unsigned. Values of any other type are taken as their type says. Nothing overflows: the low bits stay.

use super::fault::{Fault, error, ill_formed, unsupported};
use super::stack::pointer_misused;
use super::value::{BaseType, TypeEncoding, Value};

/// An operation that takes two values of one type and gives one of that type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    And,
    Div,
    Minus,
    Mod,
    ModFloor,
    Mul,
    Or,
    Plus,
    Shl,
    Shr,
    Shra,
    Xor,
}

/// An operation that takes one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Abs,
    Neg,
    Not,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

/// A value as what it is calculated with.
#[derive(Debug, Clone, Copy)]
enum Number {
    Int { unsigned: u128, signed: i128 },
    F32(f32),
    F64(f64),
}

fn number(value: &Value) -> Result<Number, Fault> {
    let ty = value.ty();
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    if ty.elements != 1 {
        return Err(unsupported("arithmetic on vectors"));
    }
    let bits = value.as_u128().zip(value.as_i128());
    let Some((unsigned, signed)) = bits else {
        return Err(unsupported("arithmetic on more than 128 bits"));
    };
    match (ty.encoding, ty.bits) {
        (TypeEncoding::Float, 32) => Ok(Number::F32(f32::from_bits(unsigned as u32))),
        (TypeEncoding::Float, 64) => Ok(Number::F64(f64::from_bits(unsigned as u64))),
        (TypeEncoding::Float, bits) => Err(unsupported(format!("floating point of {bits} bits"))),
        (TypeEncoding::Other(code), _) => Err(unsupported(format!("arithmetic on DW_ATE {code:#x}"))),
        _ => Ok(Number::Int { unsigned, signed }),
    }
}

fn pair(left: &Value, right: &Value) -> Result<(Number, Number), Fault> {
    let numbers = (number(left)?, number(right)?);
    if left.ty() != right.ty() {
        return Err(ill_formed(format!("the operands are of different types: {left} and {right}")));
    }
    Ok(numbers)
}

fn of_int(ty: BaseType, bits: u128) -> Value {
    match ty.size() {
        ..=64 => Value::new(ty, bits as u64),
        _ => Value::from_bytes(ty, &bits.to_le_bytes()),
    }
}

fn of_f32(ty: BaseType, number: f32) -> Value {
    Value::new(ty, number.to_bits().into())
}

fn of_f64(ty: BaseType, number: f64) -> Value {
    Value::new(ty, number.to_bits())
}

#[cold]
fn not_integral() -> Fault {
    ill_formed("the operation needs operands of an integral type")
}

/// `left` is the former second element of the stack, `right` the former top.
pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = left.ty();
    let needs_integral = !matches!(op, Binary::Div | Binary::Minus | Binary::Mul | Binary::Plus);
    let numbers = pair(left, right)?;
    if needs_integral && !ty.is_integral() {
        return Err(not_integral());
    }
    match numbers {
        (Number::F32(a), Number::F32(b)) => Ok(of_f32(ty, float(op, a.into(), b.into()) as f32)),
        (Number::F64(a), Number::F64(b)) => Ok(of_f64(ty, float(op, a, b))),
        (Number::Int { unsigned: a, signed: sa }, Number::Int { unsigned: b, signed: sb }) => {
            Ok(of_int(ty, int(op, ty, (a, sa), (b, sb))?))
        }
        // Both are of one type, so both are of one kind.
        _ => Err(ill_formed("the operands are of different types")),
    }
}

/// Sums, products and quotients of two `f32` in `f64`, rounded once more, are those of `f32`.
fn float(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Div => a / b,
        Binary::Minus => a - b,
        Binary::Mul => a * b,
        _ => a + b,
    }
}

fn int(op: Binary, ty: BaseType, (a, sa): (u128, i128), (b, sb): (u128, i128)) -> Result<u128, Fault> {
    let is_signed = ty.encoding.is_signed();
    let divides = matches!(op, Binary::Div | Binary::Mod | Binary::ModFloor);
    if divides && b == 0 {
        return Err(error("division by zero"));
    }
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    Ok(match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if is_signed || ty.is_generic() => sa.wrapping_div(sb) as u128,
        Binary::Div => a / b,
        Binary::Mod if is_signed => sa.wrapping_rem(sb) as u128,
        Binary::Mod => a % b,
        // Of unsigned numbers the two remainders are the same, so that the operation would say nothing new
        // of the generic type unless it is taken as signed.
        Binary::ModFloor if is_signed || ty.is_generic() => {
            let rest = sa.wrapping_rem(sb);
            if rest != 0 && (rest < 0) != (sb < 0) { (rest + sb) as u128 } else { rest as u128 }
        }
        Binary::ModFloor => a % b,
        Binary::Shl => a.checked_shl(shift).unwrap_or(0),
        Binary::Shr => a.checked_shr(shift).unwrap_or(0),
        Binary::Shra => (sa >> shift.min(127)) as u128,
    })
}

/// An operation on the top of the stack.
pub(super) fn unary(op: Unary, value: &Value) -> Result<Value, Fault> {
    let ty = value.ty();
    let number = number(value)?;
    if op == Unary::Not && !ty.is_integral() {
        return Err(not_integral());
    }
    Ok(match (op, number) {
        (Unary::Not, Number::Int { unsigned, .. }) => of_int(ty, !unsigned),
        (Unary::Neg, Number::Int { unsigned, .. }) => of_int(ty, unsigned.wrapping_neg()),
        (Unary::Abs, Number::Int { signed, .. }) if ty.encoding.is_signed() || ty.is_generic() => {
            of_int(ty, signed.unsigned_abs())
        }
        (Unary::Abs, Number::Int { unsigned, .. }) => of_int(ty, unsigned),
        (Unary::Neg, Number::F32(a)) => of_f32(ty, -a),
        (Unary::Neg, Number::F64(a)) => of_f64(ty, -a),
        (_, Number::F32(a)) => of_f32(ty, a.abs()),
        (_, Number::F64(a)) => of_f64(ty, a.abs()),
    })
}

/// Compares the former second element of the stack with the former top.
pub(super) fn compare(op: Compare, left: &Value, right: &Value) -> Result<bool, Fault> {
    let ordering = match pair(left, right)? {
        (Number::F32(a), Number::F32(b)) => a.partial_cmp(&b),
        (Number::F64(a), Number::F64(b)) => a.partial_cmp(&b),
        (Number::Int { unsigned: a, signed: sa }, Number::Int { unsigned: b, signed: sb }) => {
            let is_signed = left.ty().is_generic() || left.ty().encoding.is_signed();
            Some(if is_signed { sa.cmp(&sb) } else { a.cmp(&b) })
        }
        _ => None,
    };
    // What is not ordered (not a number) is not equal, and nothing else.
    let Some(ordering) = ordering else { return Ok(op == Compare::Ne) };
    Ok(match op {
        Compare::Eq => ordering.is_eq(),
        Compare::Ge => ordering.is_ge(),
        Compare::Gt => ordering.is_gt(),
        Compare::Le => ordering.is_le(),
        Compare::Lt => ordering.is_lt(),
        Compare::Ne => ordering.is_ne(),
    })
}

/// The value in another type: the same number, as far as the type can hold it.
pub(super) fn convert(value: &Value, ty: BaseType) -> Result<Value, Fault> {
    let number = number(value)?;
    if ty == value.ty() {
        return Ok(value.clone());
    }
    // Of a value without bits only the type is of interest: can it be calculated with?
    self::number(&Value::new(ty, 0))?;
    let is_float = |bits| ty.encoding == TypeEncoding::Float && ty.bits == bits;
    let signed_source = value.ty().encoding.is_signed();
    Ok(match number {
        Number::Int { signed, .. } if signed_source && is_float(32) => of_f32(ty, signed as f32),
        Number::Int { signed, .. } if signed_source && is_float(64) => of_f64(ty, signed as f64),
        Number::Int { unsigned, .. } if is_float(32) => of_f32(ty, unsigned as f32),
        Number::Int { unsigned, .. } if is_float(64) => of_f64(ty, unsigned as f64),
        Number::Int { unsigned, .. } if ty.encoding == TypeEncoding::Boolean => {
            of_int(ty, (unsigned != 0).into())
        }
        Number::Int { signed, .. } if signed_source => of_int(ty, signed as u128),
        Number::Int { unsigned, .. } => of_int(ty, unsigned),
        Number::F32(a) if is_float(64) => of_f64(ty, a.into()),
        Number::F32(a) if is_float(32) => of_f32(ty, a),
        Number::F64(a) if is_float(32) => of_f32(ty, a as f32),
        Number::F64(a) if is_float(64) => of_f64(ty, a),
        Number::F32(a) => int_of_float(a.into(), ty)?,
        Number::F64(a) => int_of_float(a, ty)?,
    })
}

/// Rounds towards zero. A number that the type cannot hold has no defined result anywhere.
fn int_of_float(number: f64, ty: BaseType) -> Result<Value, Fault> {
    if ty.encoding == TypeEncoding::Boolean {
        return Ok(of_int(ty, (number != 0.0).into()));
    }
    let whole = number.trunc();
    let is_signed = ty.encoding.is_signed() || (ty.is_generic() && whole < 0.0);
    let end = 2f64.powi(ty.bits as i32 - i32::from(is_signed));
    let start = if is_signed { -end } else { 0.0 };
    if !(start..end).contains(&whole) {
        return Err(error(format!("{number} does not fit {} bits", ty.bits)));
    }
    Ok(of_int(ty, if is_signed { (whole as i128) as u128 } else { whole as u128 }))
}

/// The same bits in another type.
pub(super) fn reinterpret(value: &Value, ty: BaseType) -> Result<Value, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    if value.ty().size() != ty.size() {
        return Err(ill_formed(format!(
            "{} bits are reinterpreted as a type of {} bits",
            value.ty().size(),
            ty.size()
        )));
    }
    Ok(value.with_bytes(|bytes| Value::from_bytes(ty, bytes)))
}
