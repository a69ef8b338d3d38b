//! Arithmetic, comparison and value conversion (DWARF 5, sections 2.5.1.4 to 2.5.1.6).
//!
//! The generic type has no signedness; `div`, `abs`, `shra` and comparisons take it as signed, the rest as unsigned.
//! Values with other types have their type's signedness. Overflow wraps: the low bits remain. Vectors are computed
//! element by element.

use num_bigint::{BigInt, BigUint};

use super::fault::{Fault, error, ill_formed, unsupported};
use super::float::{Format, Parts};
use super::integer;
use super::stack::pointer_misused;
use super::value::{BaseType, TypeEncoding, Value};
use super::word::{Binary, Compare, Unary};
use crate::error::Count;

/// Representation of an element in calculations.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    Float(Format),
}

/// Returns how calculations represent a type's elements. With `integral` the operation is defined for integral types
/// only.
fn kind(ty: BaseType, integral: bool) -> Result<Kind, Fault> {
    match ty.encoding {
        // Encodings in the target's own range may be integral (A.2.5.2).
        TypeEncoding::Other(code) if !integral || code >= 0x80 => {
            Err(unsupported(format!("arithmetic on DW_ATE {code:#x}")))
        }
        encoding if integral && !encoding.is_integral() => {
            Err(ill_formed("operand does not have an integral type (DWARF 5, 2.5.1.4)"))
        }
        TypeEncoding::Float => {
            let format = Format::with_size(ty.bits);
            format
                .map(Kind::Float)
                .ok_or_else(|| unsupported(format!("floating point of {}", Count(ty.bits, "bit"))))
        }
        _ => Ok(Kind::Integer),
    }
}

/// Refuses implicit pointers, and values whose types differ.
fn same_type(left: &Value, right: &Value) -> Result<BaseType, Fault> {
    if left.as_pointer().or(right.as_pointer()).is_some() {
        return Err(pointer_misused());
    }
    if left.ty() != right.ty() {
        return Err(different(left, right));
    }
    Ok(left.ty())
}

fn different(left: &Value, right: &Value) -> Fault {
    ill_formed(format!("the operands are of different types: {left} and {right} (DWARF 5, 2.5.1.4)"))
}

/// Returns a number's bits, at most 64.
fn bits(value: &Value) -> u64 {
    value.low_u128() as u64
}

/// Computes a binary operation: `left` is the former second stack element, `right` the former top.
pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ty = same_type(left, right)?;
    let integral = !matches!(op, Binary::Div | Binary::Minus | Binary::Mul | Binary::Plus);
    let kind = kind(ty, integral)?;
    // Vectors are rare: scalars take the path without a copy.
    if ty.elements == 1 {
        return scalar_binary(op, kind, left, right);
    }
    let element = |index| scalar_binary(op, kind, &left.element(index), &right.element(index));
    Value::of_elements(ty, element)
}

fn scalar_binary(op: Binary, kind: Kind, left: &Value, right: &Value) -> Result<Value, Fault> {
    let Kind::Float(format) = kind else { return integer::binary(op, left, right) };
    let result = format.calculate(bits(left), bits(right), |a, b| match op {
        Binary::Div => a / b,
        Binary::Minus => a - b,
        Binary::Mul => a * b,
        _ => a + b,
    });
    Ok(Value::new(left.ty(), result))
}

/// Computes an operation on the top stack element.
pub(super) fn unary(op: Unary, value: &Value) -> Result<Value, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    let ty = value.ty();
    let kind = kind(ty, op == Unary::Not)?;
    let apply = |value: &Value| match (kind, op) {
        (Kind::Integer, op) => integer::unary(op, value),
        (Kind::Float(format), Unary::Abs) => Value::new(value.ty(), format.absolute(bits(value))),
        (Kind::Float(format), _) => Value::new(value.ty(), format.negated(bits(value))),
    };
    if ty.elements == 1 {
        Ok(apply(value))
    } else {
        Value::of_elements(ty, |index| Ok(apply(&value.element(index))))
    }
}

/// Adds a number with the value's type (`DW_OP_plus_uconst`).
pub(super) fn plus_constant(value: &Value, by: &Value) -> Result<Value, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    if !value.ty().is_integral() {
        return Err(ill_formed(format!("value {value} does not have an integral type")));
    }
    integer::binary(Binary::Plus, value, by)
}

/// Compares the former second stack element with the former top.
pub(super) fn compare(op: Compare, left: &Value, right: &Value) -> Result<bool, Fault> {
    let ty = same_type(left, right)?;
    let kind = kind(ty, false)?;
    let order = |left: &Value, right: &Value| match kind {
        Kind::Float(format) => format.compare(bits(left), bits(right)),
        Kind::Integer => Some(integer::compare(left, right)),
    };
    if ty.elements != 1 {
        let mut elements = 0..ty.elements;
        let equal = |index| order(&left.element(index), &right.element(index)).is_some_and(|it| it.is_eq());
        return match op {
            Compare::Eq => Ok(elements.all(equal)),
            Compare::Ne => Ok(!elements.all(equal)),
            _ => Err(ill_formed("vectors cannot be ordered")),
        };
    }
    // An unordered result (NaN) is unequal, and neither greater nor less.
    Ok(order(left, right).map_or(op == Compare::Ne, |order| op.holds(order)))
}

/// Whether a value is 0 (`DW_OP_bra`): the number 0, or a vector with only zeros.
pub(super) fn is_zero(value: &Value) -> Result<bool, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    let ty = value.ty();
    Ok(match Format::with_size(ty.bits).filter(|_| ty.encoding == TypeEncoding::Float) {
        Some(format) => (0..ty.elements).all(|index| format.absolute(bits(&value.element(index))) == 0),
        None => value.is_zero(),
    })
}

/// Converts a value to another type: the same number, where the type can represent it.
pub(super) fn convert(value: &Value, ty: BaseType) -> Result<Value, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    let from = value.ty();
    let kinds = (kind(from, false)?, kind(ty, false)?);
    // The check of both kinds comes first, because a type without arithmetic has no conversion either.
    if from == ty {
        return Ok(value.clone());
    }
    if from.elements != ty.elements {
        return Err(ill_formed(format!(
            "{} converted to {}; expected the same number of elements",
            Count(from.elements, "element").are(),
            ty.elements
        )));
    }
    if ty.elements == 1 {
        return scalar_convert(value, ty, kinds);
    }
    Value::of_elements(ty, |index| scalar_convert(&value.element(index), ty.element(), kinds))
}

fn scalar_convert(value: &Value, ty: BaseType, kinds: (Kind, Kind)) -> Result<Value, Fault> {
    if ty.encoding == TypeEncoding::Boolean {
        // Truncation would turn 0.5 or 256 into false.
        return Ok(Value::new(ty, (!is_zero(value)?).into()));
    }
    match kinds {
        (Kind::Integer, Kind::Integer) => Ok(integer::resize(value, ty)),
        (Kind::Integer, Kind::Float(format)) => {
            let number = integer::big(value, value.ty().encoding.is_signed());
            let negative = number.sign() == num_bigint::Sign::Minus;
            Ok(Value::new(ty, format.of_integer(negative, number.magnitude())))
        }
        (Kind::Float(from), Kind::Float(to)) => Ok(Value::new(ty, from.convert(bits(value), to))),
        (Kind::Float(from), Kind::Integer) => of_float(from.parts(bits(value)), ty),
    }
}

/// Rounds towards zero. A number outside the type's range has no defined result.
fn of_float(parts: Parts, ty: BaseType) -> Result<Value, Fault> {
    let Parts::Finite { negative, mantissa, exponent } = parts else {
        return Err(error("only a finite number converts to an integer"));
    };
    let magnitude = match u64::try_from(exponent) {
        Ok(exponent) => BigUint::from(mantissa) << exponent,
        // A negative exponent drops fraction bits, which rounds towards zero.
        Err(_) => BigUint::from(mantissa.checked_shr(exponent.unsigned_abs()).unwrap_or(0)),
    };
    let number = if negative { -BigInt::from(magnitude) } else { BigInt::from(magnitude) };
    let value = integer::of_big(ty, &number);
    // The generic type accepts a number that fits as signed or as unsigned.
    let fits = [false, true].into_iter().any(|signed| {
        (ty.is_generic() || signed == ty.encoding.is_signed()) && integer::big(&value, signed) == number
    });
    // No wrap-around here: the specification leaves a number outside the range undefined.
    if fits { Ok(value) } else { Err(error(format!("{number} does not fit {}", Count(ty.bits, "bit")))) }
}

/// Returns the same bits as a value with another type.
pub(super) fn reinterpret(value: &Value, ty: BaseType) -> Result<Value, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    if value.ty().size() != ty.size() {
        return Err(ill_formed(format!(
            "{} reinterpreted as a type of {}; expected the same size",
            Count(value.ty().size(), "bit").are(),
            Count(ty.size(), "bit")
        )));
    }
    Ok(value.with_bytes(|bytes| Value::from_bytes(ty, bytes)))
}
