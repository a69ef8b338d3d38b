//! LEB128 numbers and length fields.

/// Appends an unsigned LEB128 number.
#[inline(always)]
pub fn uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed LEB128 number.
#[inline(always)]
pub fn sleb(out: &mut Vec<u8>, mut value: i64) {
    while !(-0x40..0x40).contains(&value) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}

/// Appends an empty length field and returns the offset after it.
pub fn begin_length(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; 4]);
    out.len()
}

/// Fills in the length field before `start` with the number of bytes from `start` on.
pub fn end_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    out[start - 4..start].copy_from_slice(&length.to_le_bytes());
}
