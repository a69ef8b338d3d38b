//! Numbers and strings in the structures of ELF files, which are little endian here. They need no
//! alignment: an object can lie anywhere in memory.

/// The string at an offset of a string table, without the zero byte at its end.
pub(super) fn string_at(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, offset))
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, offset))
}

/// The number at an offset that is inside of `bytes`.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, offset))
}

/// Called with offsets of fields in entries of a known size only.
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[offset..offset + N]);
    array
}
