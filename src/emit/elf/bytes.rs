//! Numbers and strings in ELF structures, in the file's byte order, at any alignment.

use object::{Endian, Endianness};

/// The string at an offset in a string table, without the zero byte at its end.
pub(super) fn string_at(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
}

/// The number at `offset`, which the caller has checked against `bytes`.
pub(super) fn u16_at(order: Endianness, bytes: &[u8], offset: usize) -> u16 {
    order.read_u16(array_at(bytes, offset))
}

/// The number at `offset`, which the caller has checked against `bytes`.
pub(super) fn u32_at(order: Endianness, bytes: &[u8], offset: usize) -> u32 {
    order.read_u32(array_at(bytes, offset))
}

/// The number at `offset`, which the caller has checked against `bytes`.
pub(super) fn u64_at(order: Endianness, bytes: &[u8], offset: usize) -> u64 {
    order.read_u64(array_at(bytes, offset))
}

/// `N` bytes at `offset`. Callers pass only field offsets in entries with a known size.
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[offset..offset + N]);
    array
}

/// Replaces the number at `offset`, which the caller has checked against `bytes`.
pub(super) fn set_u16(order: Endianness, bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&order.write_u16(value));
}

/// Replaces the number at `offset`, which the caller has checked against `bytes`.
pub(super) fn set_u32(order: Endianness, bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&order.write_u32(value));
}

/// Replaces the number at `offset`, which the caller has checked against `bytes`.
pub(super) fn set_u64(order: Endianness, bytes: &mut [u8], offset: usize, value: u64) {
    bytes[offset..offset + 8].copy_from_slice(&order.write_u64(value));
}

/// The strings of a string table, with their offsets. A string without an end is none.
pub(super) fn strings(table: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    table.split_inclusive(|&byte| byte == 0).filter_map(move |string| {
        let start = next;
        next += string.len();
        Some((start, string.strip_suffix(&[0])?))
    })
}
