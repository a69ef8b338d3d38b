//! Expressions of the operations that a consumer reads.

use crate::consumer::Consumer;
use crate::emit::info::Pending;
use crate::error::{Construct, Result};
use crate::op::{Decoder, Encoder, Encoding, Op};

/// Replaces the encodings in an expression by those that the consumer reads, from `start` to the end of `out`.
/// References move along.
///
/// # Errors
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) for an operation that the consumer does not read.
pub(super) fn restrict(
    consumer: &Consumer,
    encoding: Encoding,
    out: &mut Vec<u8>,
    start: usize,
    pending: &mut [Pending],
) -> Result<()> {
    let expr = out.split_off(start);
    let mut pending = pending.iter_mut().filter(|one| one.at >= start).peekable();
    let mut decoder = Decoder::new(&expr, encoding).peekable();
    while let Some(decoded) = decoder.next() {
        let decoded = decoded?;
        let end = decoder.peek().and_then(|next| next.as_ref().ok()).map_or(expr.len(), |next| next.offset);
        let (from, to) = (start + decoded.offset, out.len());
        let bytes = &expr[decoded.offset..end];
        while let Some(one) = pending.next_if(|one| one.at < start + end) {
            one.at = one.at - from + to;
        }
        match decoded.op {
            _ if consumer.operations.has(bytes[0]) => out.extend_from_slice(bytes),
            Op::ConstU { value } if consumer.operations.has(0x10) => {
                Encoder::new(out, encoding).raw(&[0x10]).raw(&leb(value));
            }
            Op::ConstS { value } if consumer.operations.has(0x10) && consumer.operations.has(0x1f) => {
                Encoder::new(out, encoding).raw(&[0x10]).raw(&leb(value.unsigned_abs()));
                if value < 0 {
                    Encoder::new(out, encoding).neg();
                }
            }
            op => return Err(consumer.inexpressible(Construct::Operation(op.row().text))),
        }
    }
    Ok(())
}

fn leb(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    crate::op::write_uleb(&mut bytes, value);
    bytes
}
