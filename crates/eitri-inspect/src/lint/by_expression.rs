//! Table with expressions as keys.

use hashbrown::HashMap;

/// A value for each expression. A short expression is kept as a number, so that a comparison does not touch the file.
#[derive(Debug)]
pub(crate) struct ByExpression<'r, V> {
    short: HashMap<u128, V>,
    long: HashMap<&'r [u8], V>,
}

impl<V> Default for ByExpression<'_, V> {
    fn default() -> Self {
        Self { short: HashMap::new(), long: HashMap::new() }
    }
}

impl<'r, V> ByExpression<'r, V> {
    pub(crate) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    pub(crate) fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }

    #[inline]
    pub(crate) fn get(&self, expr: &[u8]) -> Option<&V> {
        match number(expr) {
            Some(number) => self.short.get(&number),
            None => self.long.get(expr),
        }
    }

    pub(crate) fn insert(&mut self, expr: &'r [u8], value: V) {
        match number(expr) {
            Some(number) => self.short.insert(number, value),
            None => self.long.insert(expr, value),
        };
    }
}

/// Returns a number that identifies the bytes; `None` if there are more than 15.
#[inline]
fn number(expr: &[u8]) -> Option<u128> {
    let (low, high) = match expr {
        [] => (0, 0),
        [first, .., last] if expr.len() < 4 => {
            let middle = expr[expr.len() / 2];
            (u64::from(u32::from_le_bytes([*first, middle, *last, 0])), 0)
        }
        [byte] => (u64::from(*byte), 0),
        _ if expr.len() < 8 => {
            let first = expr.first_chunk()?;
            let last = expr.last_chunk()?;
            (u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32, 0)
        }
        _ if expr.len() < 16 => {
            let first = expr.first_chunk()?;
            let last = expr.last_chunk()?;
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last) >> 8)
        }
        _ => return None,
    };
    Some(u128::from(low) | u128::from(high) << 64 | (expr.len() as u128) << 120)
}

#[cfg(test)]
mod tests {
    use super::number;

    /// Different expressions have different numbers: every byte and every length changes the number.
    #[test]
    fn numbers_identify() {
        for len in 0..16 {
            let mut bytes: Vec<u8> = (1..=len).collect();
            let own = number(&bytes).expect("a short one has a number");
            assert_eq!(own >> 120, len.into());
            for index in 0..bytes.len() {
                bytes[index] ^= 0x80;
                assert_ne!(number(&bytes), Some(own), "byte {index} of {len}");
                bytes[index] ^= 0x80;
            }
        }
        assert_eq!(number(&[0; 16]), None);
    }
}
