//! Constants of more than 64 bits.
//!
//! A LEB128 number can be of any size, and a literal larger than the generic type is valid: its low bits are used
//! (A.2.5.4.3.1). The decoder's 64-bit numbers suffice for all operations but one: `DW_OP_plus_uconst` adds a constant
//! of its operand's type, which can be wider (DWARF 5, 2.5.1.4).

use num_bigint::{BigInt, Sign};

use super::integer::of_big;
use super::value::{BaseType, Value};
use crate::op::{Decoder, Encoding, Op};

/// Decodes an operation that pushes or adds a literal, with the low 64 bits of its constant. Returns the operation and
/// the offset of the next one.
#[cold]
pub(super) fn truncated(expr: &[u8], offset: usize) -> Option<(Op<'static>, usize)> {
    let (&code, number) = expr.get(offset..)?.split_first()?;
    let len = number.iter().position(|&byte| byte < 0x80)? + 1;
    let low =
        number[..len].iter().take(10).rev().fold(0u128, |low, &byte| low << 7 | u128::from(byte & 0x7f));
    let value = low as u64;
    let op = match code {
        0x10 => Op::ConstU { value },
        // The constant has more than 64 bits, so no bit is missing for the sign.
        0x11 => Op::ConstS { value: value as i64 },
        0x23 => Op::PlusUconst { value },
        _ => return None,
    };
    Some((op, offset + 1 + len))
}

/// Returns the unsigned LEB128 constant of an operation as a value of a type: its lowest bits, as many as the type has.
#[cold]
pub(super) fn constant(operation: &[u8], ty: BaseType) -> Value {
    let number = operation.get(1..).unwrap_or_default();
    let most = ty.size().div_ceil(7) as usize;
    let more = number.iter().take(most).take_while(|&&byte| byte >= 0x80).count();
    let digits: Vec<u8> = number.iter().take(most.min(more + 1)).map(|byte| byte & 0x7f).collect();
    of_big(ty, &BigInt::from_radix_le(Sign::Plus, &digits, 1 << 7).unwrap_or_default())
}

/// Decodes the operations of an expression from an offset up to an invalid one, each with the offset of its end.
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
