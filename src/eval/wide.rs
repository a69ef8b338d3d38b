//! Constants of more than 64 bits.
//!
//! A LEB128 number can be of any size, and a literal that is larger than the generic type is not wrong: the low
//! bits are used (A.2.5.4.3.1). What decodes operations has numbers of 64 bits, which is enough for all others but
//! one: what is added to a value is of that value's type, which can be wider (DWARF 5, 2.5.1.4).

use num_bigint::{BigInt, Sign};

use super::integer::of_big;
use super::value::{BaseType, Value};
use crate::op::{Decoder, Encoding, Op};

/// The operation at `offset` with the low 64 bits of its constant, and where the next one starts, if it is one
/// that pushes or adds a literal.
#[cold]
pub(super) fn truncated(expr: &[u8], offset: usize) -> Option<(Op<'static>, usize)> {
    let (&code, number) = expr.get(offset..)?.split_first()?;
    let len = number.iter().position(|&byte| byte < 0x80)? + 1;
    let low =
        number[..len].iter().take(10).rev().fold(0u128, |low, &byte| low << 7 | u128::from(byte & 0x7f));
    let value = low as u64;
    let op = match code {
        0x10 => Op::ConstU { value },
        // More than 64 bits are there, so that none is missing.
        0x11 => Op::ConstS { value: value as i64 },
        0x23 => Op::PlusUconst { value },
        _ => return None,
    };
    Some((op, offset + 1 + len))
}

/// The constant of an operation that has a single unsigned LEB128 one, as a value of a type: as many low bits as
/// that has.
#[cold]
pub(super) fn constant(operation: &[u8], ty: BaseType) -> Value {
    let number = operation.get(1..).unwrap_or_default();
    let most = ty.size().div_ceil(7) as usize;
    let more = number.iter().take(most).take_while(|&&byte| byte >= 0x80).count();
    let digits: Vec<u8> = number.iter().take(most.min(more + 1)).map(|byte| byte & 0x7f).collect();
    of_big(ty, &BigInt::from_radix_le(Sign::Plus, &digits, 1 << 7).unwrap_or_default())
}

/// The operations of an expression from an offset on, up to one that is none; each with where it ends.
pub(super) fn operations(
    expr: &[u8],
    encoding: Encoding,
    from: usize,
) -> impl Iterator<Item = (usize, Op<'_>)> {
    let mut decoder = Decoder::new(expr, encoding);
    decoder.seek(from);
    core::iter::from_fn(move || {
        let start = decoder.offset();
        let op = match decoder.next()? {
            Ok(decoded) => decoded.op,
            Err(_) => {
                let (op, end) = truncated(expr, start)?;
                decoder.seek(end);
                op
            }
        };
        Some((decoder.offset(), op))
    })
}
