//! An expression's operations, with literals of any size.
//!
//! A LEB128 number can be of any size, and a literal larger than the generic type is valid: its low bits are used
//! (A.2.5.4.3.1). The decoder's 64-bit numbers suffice for all operations but one: see [`wide`](super::wide).

use crate::op::{Decoder, Encoding, Op};

/// Decodes an operation that pushes or adds a literal, with its constant's low 64 bits. Returns the operation and the
/// next operation's offset.
pub(super) fn truncated(expr: &[u8], offset: usize) -> Option<(Op<'static>, usize)> {
    let (&code, number) = expr.get(offset..)?.split_first()?;
    let len = number.iter().position(|&byte| byte < 0x80)? + 1;
    let low =
        // Ten groups of seven bits contain the low 64 bits.
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

/// Decodes an expression's operations from an offset up to an invalid operation, each with its end offset.
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
                // Only a wide constant lets decoding go on; any other error ends it.
                let (op, end) = truncated(expr, start)?;
                decoder.seek(end);
                op
            }
        };
        Some((decoder.offset(), op))
    })
}
