//! Bit order.
//!
//! A storage is a stream of bits (A.2.5.3). On a little-endian machine a byte stream's bit *n* is bit *n mod 8* in
//! byte *n div 8*, counted from the least significant: an object's number starts with its least significant bit, in
//! memory and in registers. On a big-endian machine bits in memory and in known bytes count from the most significant,
//! and bits in a register and in a known number still from the least significant (DWARF 5, `DW_OP_bit_piece`). There an
//! object starts with its number's most significant bit, and so does each of a composite's parts: a part's first bits are
//! the last of its register's bits.

/// Copies bits, counted from the first byte's least significant bit.
pub(super) fn copy_bits(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize) {
    copy(into, at, from, skip, bits, |bit| bit % 8);
}

/// Copies bits, counted from the first byte's most significant bit.
pub(super) fn copy_high_bits(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize) {
    copy(into, at, from, skip, bits, |bit| 7 - bit % 8);
}

/// Copies bits, by whole bytes where aligned. `place` maps a stream bit to the bit in its byte.
#[inline]
fn copy(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize, place: impl Fn(usize) -> usize) {
    if at.is_multiple_of(8) && skip.is_multiple_of(8) && bits.is_multiple_of(8) {
        let first = at / 8;
        let skip = skip / 8;
        let bytes = bits / 8;
        into[first..first + bytes].copy_from_slice(&from[skip..skip + bytes]);
        return;
    }
    for (to, source) in (at..at + bits).zip(skip..) {
        let bit = from[source / 8] >> place(source) & 1;
        into[to / 8] = into[to / 8] & !(1 << place(to)) | bit << place(to);
    }
}

/// Converts a number with `bits` bits, least significant byte first, to a stream that starts with its most
/// significant bit. The slice is exactly as long as needed.
pub(super) fn to_stream(bytes: &mut [u8], bits: u64) {
    bytes.reverse();
    let unused = bytes.len() as u64 * 8 - bits;
    if unused == 0 {
        return;
    }
    for index in 0..bytes.len() {
        let next = bytes.get(index + 1).copied().unwrap_or(0);
        // Unused high bits of the number would otherwise be the first bits of the stream.
        bytes[index] = bytes[index] << unused | next >> (8 - unused);
    }
}

/// Reverses [`to_stream`]. Bits in the last byte beyond the stream are dropped.
pub(super) fn from_stream(bytes: &mut [u8], bits: u64) {
    let unused = bytes.len() as u64 * 8 - bits;
    if unused != 0 {
        let mut carry = 0;
        for byte in bytes.iter_mut() {
            let now = carry | *byte >> unused;
            carry = *byte << (8 - unused);
            *byte = now;
        }
    }
    bytes.reverse();
}

/// Sets or clears bits in a mask.
pub(super) fn fill(mask: &mut [u8], at: usize, bits: usize, set: bool, big_endian: bool) {
    let end = at + bits;
    // Whole bytes at once; bit by bit only at both ends.
    let whole = at.next_multiple_of(8).min(end)..end;
    let whole = whole.start..whole.start + whole.len() / 8 * 8;
    mask[whole.start / 8..whole.end / 8].fill(if set { 0xff } else { 0 });
    for bit in (at..whole.start).chain(whole.end..end) {
        let bit_mask = if big_endian { 0x80 >> (bit % 8) } else { 1 << (bit % 8) };
        mask[bit / 8] = mask[bit / 8] & !bit_mask | if set { bit_mask } else { 0 };
    }
}
