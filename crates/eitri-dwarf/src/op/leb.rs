//! LEB128 numbers: DWARF 5 section 7.6.

/// Appends an unsigned LEB128 number.
#[inline]
pub fn write_uleb(out: &mut Vec<u8>, value: u64) {
    write_ulebs(out, [], [value]);
}

/// Appends a byte and an unsigned LEB128 number.
#[inline]
pub fn write_byte_uleb(out: &mut Vec<u8>, byte: u8, value: u64) {
    write_ulebs(out, [byte], [value]);
}

/// Appends bytes and unsigned LEB128 numbers, at most 8 bytes if each number takes two.
///
/// The first two bytes of each number are written together without a branch on the length, because such a branch would
/// often be mispredicted. Few numbers are longer; the rest of a longer number is inserted afterwards.
#[inline(always)]
pub fn write_ulebs<const B: usize, const N: usize>(out: &mut Vec<u8>, before: [u8; B], values: [u64; N]) {
    const { assert!(B + 2 * N <= 8) };
    let mut packed = before.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
    let mut len = B;
    for value in values {
        let low = value as u32 & 0x3fff;
        // Bit 7 and above move up by one, which makes room for the continuation bit.
        let two = low + (low & 0x3f80);
        let has_two = value >= 0x80;
        packed |= u64::from(two | u32::from(has_two) << 7) << (8 * len);
        len += 1 + usize::from(has_two);
    }
    let start = out.len() + B;
    out.extend_from_slice(&packed.to_le_bytes());
    out.truncate(start - B + len);
    if values.iter().fold(0, |bits, value| bits | value) >= 1 << 14 {
        lengthen(out, start, values);
    }
}

/// Inserts the third and all later bytes of each number. The numbers begin at `offset`.
fn lengthen<const N: usize>(out: &mut Vec<u8>, mut offset: usize, values: [u64; N]) {
    for value in values {
        offset += 1 + usize::from(value >= 0x80);
        let mut rest = value >> 14;
        while rest > 0 {
            out[offset - 1] |= 0x80;
            out.insert(offset, rest as u8 & 0x7f);
            rest >>= 7;
            offset += 1;
        }
    }
}

/// Appends a signed LEB128 number.
#[inline]
pub fn write_sleb(out: &mut Vec<u8>, mut value: i64) {
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

/// Returns the length of the shortest unsigned encoding in bytes.
pub const fn uleb_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Returns the length of the shortest signed encoding in bytes.
pub const fn sleb_len(value: i64) -> usize {
    let magnitude = (value ^ (value >> 63)) as u64;
    (65 - magnitude.leading_zeros() as usize).div_ceil(7)
}

/// Reads an unsigned number at an offset and returns it with the offset after it. `None` if the bytes end first or the
/// number exceeds 64 bits; padding is accepted.
#[inline(always)]
pub fn read_uleb(bytes: &[u8], offset: usize) -> Option<(u64, usize)> {
    match Start::read(bytes, offset)? {
        Start { bits, end, is_complete: true, .. } => Some((bits, end)),
        start => uleb_rest(bytes, start),
    }
}

/// The first bytes of a number: at most three, which suffice for most numbers. Later bytes are read out of line.
struct Start {
    /// Bits from these bytes, seven from each.
    bits: u64,
    /// Offset of the next byte.
    end: usize,
    /// Number of bits in `bits`.
    shift: u32,
    /// Whether the number ends with these bytes.
    is_complete: bool,
}

impl Start {
    #[inline(always)]
    fn read(bytes: &[u8], offset: usize) -> Option<Self> {
        let rest = bytes.get(offset..)?;
        let mut bits = 0;
        // Unrolled by the compiler.
        for index in 0..3 {
            let byte = *rest.get(index)?;
            let shift = 7 * index as u32;
            bits |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(Self { bits, end: offset + index + 1, shift: shift + 7, is_complete: true });
            }
        }
        Some(Self { bits, end: offset + 3, shift: 21, is_complete: false })
    }
}

/// Reads an unsigned number from the fourth byte on.
fn uleb_rest(bytes: &[u8], Start { mut bits, mut end, mut shift, .. }: Start) -> Option<(u64, usize)> {
    loop {
        let byte = *bytes.get(end)?;
        end += 1;
        let low = u64::from(byte & 0x7f);
        // Bits past the 64th must be zero: padding.
        match shift {
            0..63 => bits |= low << shift,
            63 if low <= 1 => bits |= low << 63,
            _ if low == 0 => {}
            _ => return None,
        }
        if byte < 0x80 {
            return Some((bits, end));
        }
        shift = shift.saturating_add(7);
    }
}

/// Reads a signed number at an offset and returns it with the offset after it. `None` if the bytes end first or the
/// number exceeds 64 bits; padding is accepted.
#[inline(always)]
pub fn read_sleb(bytes: &[u8], offset: usize) -> Option<(i64, usize)> {
    match Start::read(bytes, offset)? {
        Start { bits, end, shift, is_complete: true } => Some((extended(bits as i64, shift), end)),
        start => sleb_rest(bytes, start),
    }
}

/// Returns the sign-extension of the low `bits` bits: 1 to 64.
#[inline(always)]
fn extended(number: i64, bits: u32) -> i64 {
    number << (64 - bits) >> (64 - bits)
}

/// Reads a signed number from the fourth byte on.
fn sleb_rest(bytes: &[u8], Start { bits, mut end, mut shift, .. }: Start) -> Option<(i64, usize)> {
    let mut value = bits as i64;
    loop {
        let byte = *bytes.get(end)?;
        end += 1;
        let low = i64::from(byte & 0x7f);
        // Bits past the 64th must repeat the sign: padding.
        match shift {
            0..63 => value |= low << shift,
            63 if low == 0 || low == 0x7f => value |= low << 63,
            _ if shift > 63 && low == (value >> 63) & 0x7f => {}
            _ => return None,
        }
        shift = shift.saturating_add(7);
        if byte < 0x80 {
            return Some((extended(value, shift.min(64)), end));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shortest_numbers_have_the_computed_length_and_read_back() {
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

    /// The definition, on more digits than 64 bits hold: the number, if the bytes contain its end and it fits in 128
    /// bits, and its length in bytes.
    fn number_of_digits(bytes: &[u8]) -> Option<(u128, usize)> {
        let len = bytes.iter().position(|&byte| byte < 0x80)? + 1;
        let digit = |byte: u8| u128::from(byte & 0x7f);
        Some((bytes[..len].iter().rev().fold(0, |number, &byte| number << 7 | digit(byte)), len))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn read_numbers_match_the_definition(
            digits in vec(prop_oneof![Just(0x80u8), Just(0xff), any::<u8>().prop_map(|byte| byte | 0x80)], 0..13),
            last in prop_oneof![Just(0u8), Just(1), Just(0x7f), Just(0x40), any::<u8>()],
            before in 0usize..3,
        ) {
            let bytes = [vec![0x80; before], digits, vec![last, 0x12]].concat();
            let known = number_of_digits(&bytes[before..]);
            let unsigned = known.and_then(|(number, len)| Some((u64::try_from(number).ok()?, before + len)));
            prop_assert_eq!(read_uleb(&bytes, before), unsigned);
            let signed = known.and_then(|(number, len)| {
                let unused = 128 - 7 * len as u32;
                Some((i64::try_from((number << unused) as i128 >> unused).ok()?, before + len))
            });
            prop_assert_eq!(read_sleb(&bytes, before), signed);
        }

        #[test]
        fn written_numbers_match_the_definition(numbers: [u64; 2], shifts in [0u32..64, 0u32..64]) {
            let [first, second] = [numbers[0] >> shifts[0], numbers[1] >> shifts[1]];
            let bytes = |value: u64| {
                let digits = (0..10).map(|digit| (value.checked_shr(7 * digit).unwrap_or(0) & 0x7f) as u8);
                let len = (1..10).find(|&len| value >> (7 * len) == 0).unwrap_or(10);
                // Every byte but the last continues the number.
                let continues = |index| if index + 1 < len { 0x80 } else { 0 };
                digits.take(len).enumerate().map(|(index, digit)| digit | continues(index)).collect::<Vec<u8>>()
            };
            prop_assert_eq!(uleb_len(first), bytes(first).len());
            let mut out = vec![7];
            write_uleb(&mut out, first);
            write_byte_uleb(&mut out, 8, second);
            write_ulebs(&mut out, [9, 10], [second, first]);
            let expected = [vec![7], bytes(first), vec![8], bytes(second), vec![9, 10], bytes(second), bytes(first)];
            prop_assert_eq!(out, expected.concat());
        }
    }

    #[test]
    fn padding_is_read_and_overflow_is_rejected() {
        assert_eq!(read_uleb(&[0xa5, 0x80, 0x80, 0x00], 0), Some((0x25, 4)));
        assert_eq!(read_sleb(&[0xff, 0xff, 0x7f], 0), Some((-1, 3)));
        assert_eq!(read_uleb(&[0xff; 12], 0), None);
        assert_eq!(read_uleb(&[0x80, 0x80], 0), None);
        assert_eq!(read_uleb(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02], 0), None);
    }
}
