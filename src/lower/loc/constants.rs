//! Constant bytes on a big-endian machine. Where a piece is part of an implicit value, DWARF 5 section 2.6.1.2 counts its
//! bits from the value's least significant bit, but debuggers count them from its first byte. Only a value without other
//! bits is the same for all of them.

use super::expression::ExpressionWriter;
use super::fragments::Fragment;
use crate::error::{Construct, Result};

/// Writes bits of constant bytes as pieces: the whole bytes, and a number with the bits after them.
pub(super) fn known_pieces(
    out: &mut ExpressionWriter<'_, '_>,
    bytes: &[u8],
    Fragment { from, bits, .. }: Fragment,
) -> Result<()> {
    let outside = || out.context.consumer.inexpressible(Construct::ConstantEnd);
    let from = usize::try_from(from).map_err(|_| outside())?;
    let bits = usize::try_from(bits).map_err(|_| outside())?;
    if from.checked_add(bits).is_none_or(|end| end > 8 * bytes.len()) {
        return Err(outside());
    }
    let whole: Vec<u8> = (0..bits / 8).map(|index| number(bytes, from + 8 * index, 8) as u8).collect();
    if !whole.is_empty() {
        out.encoder.implicit_value(&whole).piece(whole.len() as u64);
    }
    let rest = bits % 8;
    if rest > 0 {
        out.encoder.constu(number(bytes, from + bits - rest, rest)).stack_value().bit_piece(rest as u64, 0);
    }
    Ok(())
}

/// Returns the number in at most 64 bits of bytes; `None` if the bytes do not have the bits.
pub(super) fn known_number(bytes: &[u8], from: i64, bits: u64) -> Option<u64> {
    let from = usize::try_from(from).ok()?;
    let bits = usize::try_from(bits).ok().filter(|&bits| bits <= 64)?;
    (from.checked_add(bits)? <= 8 * bytes.len()).then(|| number(bytes, from, bits))
}

/// Returns the number in at most 64 bits of bytes, of which the first is the most significant. The bytes have the bits.
pub(super) fn number(bytes: &[u8], from: usize, bits: usize) -> u64 {
    let bit = |index: usize| u64::from(bytes[index / 8] >> (7 - index % 8) & 1);
    (from..from + bits).fold(0, |number, index| number << 1 | bit(index))
}
