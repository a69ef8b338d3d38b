//! Choices made by a list of numbers. After its end the first choice is taken, which is the simplest, so that a shorter
//! list makes a simpler module.

pub struct Choices<'n> {
    numbers: &'n [u16],
    at: usize,
}

impl<'n> Choices<'n> {
    pub fn new(numbers: &'n [u16]) -> Self {
        Self { numbers, at: 0 }
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        (usize::from(number) * count) >> 16
    }

    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below((last - first + 1) as usize) as u64
    }

    pub fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == one_in - 1
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A number of 64 bits, often near a power of 2 or another edge.
    pub fn bits(&mut self) -> u64 {
        match self.below(4) {
            0 => self.between(0, 200),
            1 => u64::MAX << self.below(64),
            2 => 1 << self.below(64),
            _ => (0..4).fold(0, |bits, _| bits << 16 | self.below(1 << 16) as u64),
        }
    }
}
