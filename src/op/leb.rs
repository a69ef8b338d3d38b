//! LEB128 numbers: DWARF 5 section 7.6.

/// Appends an unsigned LEB128 number.
#[inline]
pub(crate) fn write_uleb(out: &mut Vec<u8>, value: u64) {
    uleb_after(out, [], value);
}

/// Appends a byte and an unsigned LEB128 number.
#[inline]
pub(crate) fn write_byte_uleb(out: &mut Vec<u8>, byte: u8, value: u64) {
    uleb_after(out, [byte], value);
}

/// Appends a byte and two unsigned LEB128 numbers: the head of an entry of a list.
#[inline(always)]
pub(crate) fn write_byte_ulebs(out: &mut Vec<u8>, byte: u8, [first, second]: [u64; 2]) {
    if first.max(second) >= 1 << 14 {
        write_byte_uleb(out, byte, first);
        return write_uleb(out, second);
    }
    // Both numbers in one word, as most have one or two bytes.
    let two = |value: u64| {
        let has_two = u64::from(value >= 0x80);
        (u64::from(two_bytes(value as u32)) | has_two << 7, 1 + has_two as usize)
    };
    let ((first, first_len), (second, second_len)) = (two(first), two(second));
    let all = u64::from(byte) | first << 8 | second << (8 + 8 * first_len);
    let end = out.len() + 1 + first_len + second_len;
    out.extend_from_slice(&all.to_le_bytes());
    out.truncate(end);
}

/// Appends a signed LEB128 number.
pub(crate) fn write_sleb(out: &mut Vec<u8>, mut value: i64) {
    while !(-0x40..0x40).contains(&value) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}

/// Appends a byte and a signed LEB128 number.
#[inline]
pub(crate) fn write_byte_sleb(out: &mut Vec<u8>, byte: u8, value: i64) {
    out.push(byte);
    write_sleb(out, value);
}

/// Appends bytes and a number. Numbers of one or two bytes, the most frequent, are written without a branch on the
/// length, which would often be mispredicted.
#[inline(always)]
fn uleb_after<const N: usize>(out: &mut Vec<u8>, before: [u8; N], value: u64) {
    if value < 1 << 14 {
        return short(out, before, two_bytes(value as u32), value >= 0x80);
    }
    out.extend_from_slice(&before);
    long(out, value);
}

#[inline(never)]
fn long(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Moves the bits of a number of 14 bits from bit 7 on to bit 8.
#[inline(always)]
fn two_bytes(value: u32) -> u32 {
    value + (value & 0x3f80)
}

/// Appends a number of one or two bytes.
#[inline(always)]
fn short<const N: usize>(out: &mut Vec<u8>, before: [u8; N], number: u32, has_two: bool) {
    let number = number & 0x7f7f | u32::from(has_two) << 7;
    let all = before.iter().rev().fold(number, |all, &byte| all << 8 | u32::from(byte));
    let end = out.len() + N + 1 + usize::from(has_two);
    out.extend_from_slice(&all.to_le_bytes());
    out.truncate(end);
}

/// Returns the length in bytes of the shortest encoding.
pub(crate) const fn uleb_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Returns the length in bytes of the shortest encoding.
pub(crate) const fn sleb_len(value: i64) -> usize {
    let magnitude = (value ^ (value >> 63)) as u64;
    (65 - magnitude.leading_zeros() as usize).div_ceil(7)
}

/// Reads an unsigned number at `at` and returns it with the offset after it. `None` if the bytes end first or the
/// number exceeds 64 bits; padding is accepted.
#[inline(always)]
pub(crate) fn read_uleb(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    match read_short(bytes, at) {
        Some((number, len)) => Some((number, at + len)),
        None => read_long_uleb(bytes, at),
    }
}

/// Reads the bits of a number of up to three bytes, as most have, and returns them with its length in bytes.
#[inline(always)]
fn read_short(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let low = |byte: u8| u64::from(byte & 0x7f);
    match *bytes.get(at..)? {
        [one @ ..0x80, ..] => Some((low(one), 1)),
        [one, two @ ..0x80, ..] => Some((low(one) | low(two) << 7, 2)),
        [one, two, three @ ..0x80, ..] => Some((low(one) | low(two) << 7 | low(three) << 14, 3)),
        _ => None,
    }
}

#[inline(never)]
fn read_long_uleb(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut shift = 0u32;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        let low = u64::from(byte & 0x7f);
        match shift {
            0..63 => value |= low << shift,
            63 if low <= 1 => value |= low << 63,
            _ if low == 0 => {}
            _ => return None,
        }
        if byte < 0x80 {
            return Some((value, at));
        }
        shift = shift.saturating_add(7);
    }
}

/// Reads a signed number at `at` and returns it with the offset after it. `None` if the bytes end first or the number
/// exceeds 64 bits; padding is accepted.
#[inline(always)]
pub(crate) fn read_sleb(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    match read_short(bytes, at) {
        Some((number, len)) => {
            let unused = 64 - 7 * len as u32;
            Some(((number << unused) as i64 >> unused, at + len))
        }
        None => read_long_sleb(bytes, at),
    }
}

#[inline(never)]
fn read_long_sleb(bytes: &[u8], mut at: usize) -> Option<(i64, usize)> {
    let mut value = 0i64;
    let mut shift = 0u32;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        let low = i64::from(byte & 0x7f);
        match shift {
            0..63 => value |= low << shift,
            63 if low == 0 || low == 0x7f => value |= low << 63,
            _ if shift > 63 && low == (value >> 63) & 0x7f => {}
            _ => return None,
        }
        shift = shift.saturating_add(7);
        if byte < 0x80 {
            if shift < 64 && byte & 0x40 != 0 {
                value |= -1 << shift;
            }
            return Some((value, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_written_and_numbers_come_back() {
        for shift in 0..64 {
            for near in [-1i64, 0, 1] {
                let signed = (1i64 << shift).wrapping_add(near);
                for value in [signed, signed.wrapping_neg()] {
                    let mut out = Vec::new();
                    write_sleb(&mut out, value);
                    assert_eq!((out.len(), read_sleb(&out, 0)), (sleb_len(value), Some((value, out.len()))));
                    out.clear();
                    write_uleb(&mut out, value as u64);
                    assert_eq!(out.len(), uleb_len(value as u64));
                    assert_eq!(read_uleb(&out, 0), Some((value as u64, out.len())));
                }
            }
        }
    }

    #[test]
    fn the_head_of_an_entry_is_a_byte_and_two_numbers() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, u64::MAX];
        for (first, second) in numbers.into_iter().flat_map(|first| numbers.map(|second| (first, second))) {
            let (mut head, mut one_by_one) = (vec![9], vec![9, 4]);
            write_byte_ulebs(&mut head, 4, [first, second]);
            write_uleb(&mut one_by_one, first);
            write_uleb(&mut one_by_one, second);
            assert_eq!(head, one_by_one);
        }
    }

    #[test]
    fn padding_is_read_and_overflow_is_not() {
        assert_eq!(read_uleb(&[0xa5, 0x80, 0x80, 0x00], 0), Some((0x25, 4)));
        assert_eq!(read_sleb(&[0xff, 0xff, 0x7f], 0), Some((-1, 3)));
        assert_eq!(read_uleb(&[0xff; 12], 0), None);
        assert_eq!(read_uleb(&[0x80, 0x80], 0), None);
        assert_eq!(read_uleb(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02], 0), None);
    }
}
