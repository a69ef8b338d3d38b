//! Expressions restricted to the operations that a consumer reads.

use crate::consumer::Consumer;
use crate::emit::info::Pending;
use crate::error::{Construct, Result};
use crate::op::{Decoder, Encoder, Encoding, Op};
use crate::target::Target;

/// Pcs at which an expression applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Extent {
    AllPcs,
    SomePcs,
}

/// Replaces the encodings in an expression, which is from `start` to the end in `out`, by those that the consumer
/// reads. `pending` are the expression's references, which move along.
///
/// # Errors
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) for an operation that the consumer does not
/// read.
pub(super) fn restrict(
    consumer: &Consumer,
    target: &Target,
    encoding: Encoding,
    extent: Extent,
    pending: &mut [Pending],
    (start, out): (usize, &mut Vec<u8>),
) -> Result<()> {
    let may_read = extent == Extent::SomePcs || consumer.expressions.has_registers_at_all_pcs;
    let expr = out.split_off(start);
    let mut pending = pending.iter_mut().peekable();
    let mut decoder = Decoder::new(&expr, encoding).peekable();
    let mut is_after_register = false;
    while let Some(decoded) = decoder.next() {
        let decoded = decoded?;
        let end = decoder.peek().and_then(|next| next.as_ref().ok()).map_or(expr.len(), |next| next.offset);
        let from = start + decoded.offset;
        let to = out.len();
        let bytes = &expr[decoded.offset..end];
        // Earlier operations may have changed their length, so the fields in this one move.
        while let Some(field) = pending.next_if(|field| field.at < start + end) {
            field.at = field.at - from + to;
        }
        match decoded.op {
            Op::BregX { reg, .. } if !may_read => {
                let register = target.register(reg);
                let name = register.map_or_else(|| reg.0.to_string(), |register| register.name().to_string());
                return Err(consumer.inexpressible(Construct::RegisterAtAllPcs(name)));
            }
            // ptxas 13.5 steps over one byte too many after `regx`, and would read the size as the operation
            // `addr`. In two bytes it is `breg19 0`, which has no effect there.
            Op::Piece { bytes: 3 } if is_after_register => out.extend_from_slice(&[bytes[0], 0x83, 0]),
            _ if consumer.expressions.operations.has(bytes[0]) => out.extend_from_slice(bytes),
            Op::ConstU { value } if consumer.expressions.operations.has(0x10) => {
                Encoder::new(out, encoding).raw(&[0x10]).raw(&leb(value));
            }
            // `constu` (0x10) and `neg` (0x1f) replace a signed constant.
            Op::ConstS { value }
                if consumer.expressions.operations.has(0x10) && consumer.expressions.operations.has(0x1f) =>
            {
                Encoder::new(out, encoding).raw(&[0x10]).raw(&leb(value.unsigned_abs()));
                if value < 0 {
                    Encoder::new(out, encoding).neg();
                }
            }
            op => return Err(consumer.inexpressible(Construct::Operation(op.row().text))),
        }
        is_after_register = matches!(decoded.op, Op::RegX { .. });
    }
    Ok(())
}

fn leb(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    crate::op::write_uleb(&mut bytes, value);
    bytes
}
