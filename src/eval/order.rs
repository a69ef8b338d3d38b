//! The order of bits.
//!
//! A storage is a stream of bits (A.2.5.3). On a little-endian machine bit *n* of a stream of bytes is bit
//! *n mod 8* of byte *n div 8*, counted from the least significant: an object's number starts with its least
//! significant bit, in memory as in a register. On a big-endian machine the bits of memory, and of what is
//! implicit, count from the most significant, while those of a register still count from the least
//! significant (DWARF 5, `DW_OP_bit_piece`). An object there starts with the most significant bit of its number.

use super::value::{BaseType, Value};

/// Copies bits that count from the least significant of the first byte.
pub(super) fn copy_bits(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize) {
    copy(into, at, from, skip, bits, |bit| bit % 8);
}

/// Copies bits that count from the most significant of the first byte.
pub(super) fn copy_high_bits(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize) {
    copy(into, at, from, skip, bits, |bit| 7 - bit % 8);
}

/// Copies bits, whole bytes at once where they are. `place` says which bit of its byte one is.
#[inline(always)]
fn copy(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize, place: impl Fn(usize) -> usize) {
    if at.is_multiple_of(8) && skip.is_multiple_of(8) && bits.is_multiple_of(8) {
        let (at, skip, bytes) = (at / 8, skip / 8, bits / 8);
        into[at..at + bytes].copy_from_slice(&from[skip..skip + bytes]);
        return;
    }
    for (to, source) in (at..at + bits).zip(skip..) {
        let bit = from[source / 8] >> place(source) & 1;
        into[to / 8] = into[to / 8] & !(1 << place(to)) | bit << place(to);
    }
}

/// Turns a number of `bits` bits, the least significant byte first, into a stream that starts with its most
/// significant bit. The bytes are just as many as are needed.
pub(super) fn to_stream(bytes: &mut [u8], bits: u64) {
    bytes.reverse();
    let unused = bytes.len() as u64 * 8 - bits;
    if unused == 0 {
        return;
    }
    for index in 0..bytes.len() {
        let next = bytes.get(index + 1).copied().unwrap_or(0);
        bytes[index] = bytes[index] << unused | next >> (8 - unused);
    }
}

/// The reverse of [`to_stream`]. Bits of the last byte that are not of the stream are dropped.
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

/// The value whose bits are a stream. The bytes are just as many as are needed.
pub(super) fn value_of_stream(ty: BaseType, bytes: &mut [u8], big_endian: bool) -> Value {
    if big_endian {
        each_element(
            ty,
            bytes,
            |from, skip, element| {
                copy_high_bits(element, 0, from, skip, ty.bits as usize);
                from_stream(element, ty.bits.into());
            },
            |into, at, element| copy_bits(into, at, element, 0, ty.bits as usize),
        );
    }
    Value::from_bytes(ty, bytes)
}

/// The bits of a value as a stream.
pub(super) fn stream_of_value<T>(value: &Value, big_endian: bool, then: impl FnOnce(&[u8]) -> T) -> T {
    let ty = value.ty();
    value.with_bytes(|bytes| {
        if !big_endian {
            return then(bytes);
        }
        let mut bytes = bytes.to_vec();
        each_element(
            ty,
            &mut bytes,
            |from, skip, element| {
                copy_bits(element, 0, from, skip, ty.bits as usize);
                to_stream(element, ty.bits.into());
            },
            |into, at, element| copy_high_bits(into, at, element, 0, ty.bits as usize),
        );
        then(&bytes)
    })
}

/// Takes each element out of the bytes, and puts it back in another order.
fn each_element(
    ty: BaseType,
    bytes: &mut [u8],
    take: impl Fn(&[u8], usize, &mut [u8]),
    put: impl Fn(&mut [u8], usize, &[u8]),
) {
    let mut element = vec![0; ty.bits.div_ceil(8) as usize];
    let from = bytes.to_vec();
    bytes.fill(0);
    for index in 0..ty.elements as usize {
        let at = index * ty.bits as usize;
        element.fill(0);
        take(&from, at, &mut element);
        put(bytes, at, &element);
    }
}

/// Sets bits of a mask, or clears them.
pub(super) fn fill(mask: &mut [u8], at: usize, bits: usize, set: bool, big_endian: bool) {
    let mut bit = at;
    let end = at + bits;
    while bit < end {
        if bit.is_multiple_of(8) && end - bit >= 8 {
            mask[bit / 8] = if set { 0xff } else { 0 };
            bit += 8;
        } else {
            let one = if big_endian { 0x80 >> (bit % 8) } else { 1 << (bit % 8) };
            mask[bit / 8] = mask[bit / 8] & !one | if set { one } else { 0 };
            bit += 1;
        }
    }
}
