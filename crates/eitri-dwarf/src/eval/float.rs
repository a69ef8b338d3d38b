//! IEEE 754 binary floating point, in 16, 32 and 64 bits.
//!
//! Results are exact and rounded once, to the nearest, ties to even. Results that IEEE 754 leaves open are fixed here,
//! so that they are equal on all hosts: a NaN result is the first NaN operand, made quiet; without a NaN operand it is
//! the positive quiet NaN without payload.

use num_bigint::BigUint;

/// An IEEE 754 format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    bits: u32,
    /// Fraction bits, without the leading 1.
    fraction: u32,
}

/// A decoded number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// NaN; the payload is at the top of 52 bits.
    Nan { negative: bool, payload: u64 },
    /// Positive or negative infinity.
    Infinite { negative: bool },
    /// `mantissa · 2^exponent`.
    Finite { negative: bool, mantissa: u64, exponent: i32 },
}

/// Fraction bits in the largest format.
const LARGEST: u32 = 52;

impl Format {
    /// Returns the format with a size, if IEEE 754 has exactly one.
    pub fn with_size(bits: u32) -> Option<Self> {
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

    /// The exponent field for infinity and NaN.
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
        // Subnormal numbers have the same exponent as the smallest normal numbers, without the leading 1.
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

    /// Encodes the number nearest to the parts.
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

    /// Encodes the number nearest to `mantissa · 2^exponent`. With `more` the exact number is slightly larger; the
    /// mantissa must then have more than 64 bits.
    fn round(self, mantissa: u128, more: bool, exponent: i32) -> u64 {
        if mantissa == 0 {
            return 0;
        }
        let leading = exponent + mantissa.ilog2() as i32;
        // The exponent that the result's last bit has.
        let last = leading.max(1 - self.bias()) - self.fraction as i32;
        let kept = match last - exponent {
            // Less than half the last bit.
            128.. => return 0,
            by @ 1.. => {
                let kept = mantissa >> by;
                let rest = mantissa & ((1 << by) - 1);
                let half = 1 << (by - 1);
                // Ties go to the even neighbour; `more` breaks a tie upward.
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
        // A carry past the largest exponent gives infinity, never a NaN.
        bits.min(self.top() << self.fraction)
    }

    /// Encodes the number nearest to an integer. A number that is too large becomes infinite.
    pub fn of_integer(self, negative: bool, magnitude: &BigUint) -> u64 {
        let skipped = magnitude.bits().saturating_sub(127);
        let more = magnitude.trailing_zeros().is_some_and(|zeros| zeros < skipped);
        // At most 127 bits are left; and the largest exponent is below 2^11.
        // Skipped bits matter only as "more than": they break ties.
        let mantissa = u128::try_from(magnitude >> skipped).unwrap_or(0);
        let bits = self.round(mantissa, more, skipped.min(1 << 16) as i32);
        if negative { bits | self.sign() } else { bits }
    }

    /// Converts a number to the nearest number in another format.
    pub fn convert(self, bits: u64, to: Self) -> u64 {
        if self == to { bits } else { to.of_parts(self.parts(bits)) }
    }

    fn double(self, bits: u64) -> f64 {
        f64::from_bits(self.convert(bits, Self { bits: 64, fraction: LARGEST }))
    }

    /// Computes an operation on two numbers.
    ///
    /// Sums, products and quotients of numbers up to 32 bits may be rounded to 64 bits first, and then to their own
    /// size: the result equals a single rounding, because 53 significant bits are at least twice 24 and two more.
    pub fn calculate(self, a: u64, b: u64, op: impl FnOnce(f64, f64) -> f64) -> u64 {
        for bits in [a, b] {
            if let nan @ Parts::Nan { .. } = self.parts(bits) {
                // Through the parts, so that a signalling NaN becomes quiet.
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
