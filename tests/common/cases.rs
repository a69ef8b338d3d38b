//! Sizes and choices of sweeps over many cases.

#![allow(dead_code, reason = "each test uses a part")]

/// Number of cases of a sweep: the number in the variable `EITRI_CASES`, or else `usual`, a sample that takes seconds.
pub fn cases(usual: usize) -> usize {
    let asked = std::env::var("EITRI_CASES").ok();
    asked.map_or(usual, |asked| asked.parse().expect("EITRI_CASES is a number"))
}

/// A configuration of `proptest` for a sweep.
pub fn config(usual: usize) -> proptest::test_runner::Config {
    let cases = u32::try_from(cases(usual)).expect("less than 2^32 cases");
    proptest::test_runner::Config { failure_persistence: None, cases, ..Default::default() }
}

/// A pseudo-random generator (xorshift64*), which is equal on every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most + 1);
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Returns a damaged file, number `number` of `count`: one byte has another value, the file ends early, or a part of it
    /// is also elsewhere, instead of the bytes there or between them. The positions are spread evenly over the file.
    pub fn damaged(&mut self, bytes: &[u8], number: usize, count: usize) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        let at = number * bytes.len() / count;
        let from = self.below(bytes.len());
        let len = (1 + self.below(64)).min(bytes.len() - from.max(at));
        match self.below(8) {
            0 => damaged.truncate(at),
            1 => damaged.copy_within(from..from + len, at),
            2 => drop(damaged.splice(at..at, bytes[from..from + len].iter().copied())),
            _ => damaged[at] ^= 1 + self.below(255) as u8,
        }
        damaged
    }

    /// Changes 1 to 4 bytes: removes, adds or flips one, replaces a digit, or cuts off the last byte.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(5) {
                0 if !bytes.is_empty() => drop(bytes.remove(at)),
                1 => bytes.insert(at, self.next() as u8),
                2 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                // Replacing a digit by a digit keeps most texts well-formed.
                3 if bytes.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                    bytes[at] = b"0123456789abcdef"[self.below(16)];
                }
                4 => bytes.truncate(bytes.len().saturating_sub(1)),
                _ => {}
            }
        }
    }
}
