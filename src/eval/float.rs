//! Binary floating point of IEEE 754, in 16, 32 and 64 bits.
//!
//! Everything is exact and rounded once, to the nearest, ties to even. What the machine leaves open is fixed
//! here, so that results are the same everywhere: of a NaN the first operand that is one is kept, made quiet;
//! where none is, the result is the positive quiet NaN without payload.

use num_bigint::BigUint;

/// A format of IEEE 754.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    bits: u32,
    /// Bits of the fraction, without the leading 1.
    fraction: u32,
}

/// What the bits of a number mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// No number; the payload is at the top of 52 bits.
    Nan { negative: bool, payload: u64 },
    /// Larger than all numbers, or smaller.
    Infinite { negative: bool },
    /// `mantissa` times 2 to the power of `exponent`.
    Finite { negative: bool, mantissa: u64, exponent: i32 },
}

/// Bits of the fraction of the largest format.
const LARGEST: u32 = 52;

impl Format {
    /// The format of this size, if IEEE 754 has just one.
    pub fn of(bits: u32) -> Option<Self> {
        let fraction = match bits {
            16 => 10,
            32 => 23,
            64 => LARGEST,
            _ => return None,
        };
        Some(Self { bits, fraction })
    }

    fn bias(self) -> i32 {
        (1 << (self.bits - self.fraction - 2)) - 1
    }

    /// The exponent field of infinity and NaN.
    fn top(self) -> u64 {
        2 * self.bias() as u64 + 1
    }

    fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    pub fn parts(self, bits: u64) -> Parts {
        let negative = bits & self.sign() != 0;
        let field = bits >> self.fraction & self.top();
        let fraction = bits & ((1 << self.fraction) - 1);
        let lowest = 1 - self.bias() - self.fraction as i32;
        match (field, fraction) {
            (0, mantissa) => Parts::Finite { negative, mantissa, exponent: lowest },
            (field, 0) if field == self.top() => Parts::Infinite { negative },
            (field, _) if field == self.top() => {
                Parts::Nan { negative, payload: fraction << (LARGEST - self.fraction) }
            }
            (field, _) => Parts::Finite {
                negative,
                mantissa: fraction | 1 << self.fraction,
                exponent: lowest + field as i32 - 1,
            },
        }
    }

    /// The number nearest to the parts.
    pub fn of_parts(self, parts: Parts) -> u64 {
        let signed = |negative, bits: u64| if negative { bits | self.sign() } else { bits };
        match parts {
            Parts::Nan { negative, payload } => {
                let payload = payload >> (LARGEST - self.fraction) | 1 << (self.fraction - 1);
                signed(negative, self.top() << self.fraction | payload)
            }
            Parts::Infinite { negative } => signed(negative, self.top() << self.fraction),
            Parts::Finite { negative, mantissa, exponent } => {
                signed(negative, self.round(mantissa.into(), false, exponent))
            }
        }
    }

    /// The number nearest to `mantissa` times 2 to the power of `exponent`. `more` says that the exact number
    /// is a little above; the mantissa must have more than 64 bits then.
    fn round(self, mantissa: u128, more: bool, exponent: i32) -> u64 {
        if mantissa == 0 {
            return 0;
        }
        let leading = exponent + mantissa.ilog2() as i32;
        // The exponent of the last bit that the result can hold.
        let last = leading.max(1 - self.bias()) - self.fraction as i32;
        let kept = match last - exponent {
            // Less than half of it.
            128.. => return 0,
            by @ 1.. => {
                let (kept, rest) = (mantissa >> by, mantissa & ((1 << by) - 1));
                let half = 1 << (by - 1);
                let up = rest > half || rest == half && (more || kept & 1 == 1);
                kept as u64 + u64::from(up)
            }
            by => (mantissa as u64) << -by,
        };
        let hidden = 1 << self.fraction;
        if kept < hidden {
            return kept;
        }
        // A carry out of the fraction goes into the exponent.
        let field = (last + self.fraction as i32 + self.bias()) as u64;
        let bits = (field << self.fraction) + (kept - hidden);
        bits.min(self.top() << self.fraction)
    }

    /// The number nearest to an integer. What is too large is infinite.
    pub fn of_integer(self, negative: bool, magnitude: &BigUint) -> u64 {
        let skipped = magnitude.bits().saturating_sub(127);
        let more = magnitude.trailing_zeros().is_some_and(|zeros| zeros < skipped);
        // At most 127 bits are left; and the largest exponent is below 2^11.
        let mantissa = u128::try_from(magnitude >> skipped).unwrap_or(0);
        let bits = self.round(mantissa, more, skipped.min(1 << 16) as i32);
        if negative { bits | self.sign() } else { bits }
    }

    /// The same number, or the one nearest to it, in another format.
    pub fn convert(self, bits: u64, to: Self) -> u64 {
        if self == to { bits } else { to.of_parts(self.parts(bits)) }
    }

    fn double(self, bits: u64) -> f64 {
        f64::from_bits(self.convert(bits, Self { bits: 64, fraction: LARGEST }))
    }

    /// The result of an operation on two numbers.
    ///
    /// Sums, products and quotients of numbers of up to 32 bits that are rounded to 64 bits, and then to their
    /// own size, are those that would have been rounded once.
    pub fn calculate(self, a: u64, b: u64, op: impl FnOnce(f64, f64) -> f64) -> u64 {
        for bits in [a, b] {
            if let nan @ Parts::Nan { .. } = self.parts(bits) {
                return self.of_parts(nan);
            }
        }
        let result = op(self.double(a), self.double(b));
        let double = Self { bits: 64, fraction: LARGEST };
        if result.is_nan() {
            return self.of_parts(Parts::Nan { negative: false, payload: 0 });
        }
        double.convert(result.to_bits(), self)
    }

    pub fn negated(self, bits: u64) -> u64 {
        bits ^ self.sign()
    }

    pub fn absolute(self, bits: u64) -> u64 {
        bits & !self.sign()
    }

    pub fn compare(self, a: u64, b: u64) -> Option<core::cmp::Ordering> {
        self.double(a).partial_cmp(&self.double(b))
    }
}
