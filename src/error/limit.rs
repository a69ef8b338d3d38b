//! Quantities with limits.

use core::fmt;
use core::ops::RangeInclusive;

use super::texts;

texts! {
    /// A quantity with limits.
    Quantity;

    // Locations.
    LocationLevels "the number of levels of a location";
    Offset "an offset in bits";
    PartBits "the size of a part in bits";
    CompositeBits "the size of a composite in bits";
    VectorElements "the number of elements of a vector";
    VectorBits "the size of a vector in bits";
    ReadBits "the size in bits of the number read from a location";
    RegisterBits "the size in bits of the number read from a register";
    PlaceBits "the size of a place in bits";
    SlotOffset "the offset in bytes of a stack slot";
    RowOffset "the offset in bytes of a slot for all lanes";
    PieceBits(id: u32) "the size in bits of the piece of %{id}";

    // Types.
    BaseTypeBits(name: String) "the size in bits of type `{name}`";
    TypeBytes(name: String) "the size in bytes of type `{name}`";
    MemberBits(member: String) "the size in bits of {member}";
    StrideBits(whole: String) "the stride in bits of {whole}";
    DimensionEnd "the index after the last one of a dimension";

    // Code.
    CodeEnd "the address of the end of the code";
}

/// A quantity outside of its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The quantity.
    pub of: Quantity,
    /// Accepted values.
    pub accepted: RangeInclusive<u128>,
    /// The value.
    pub found: u128,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: {}", self.of, Accepted(&self.accepted), Power(self.found))
    }
}

/// Accepted values of a quantity, as a message has them.
struct Accepted<'r>(&'r RangeInclusive<u128>);

/// A number: a large power of two by its exponent, other large ones as hexadecimal numbers.
struct Power(u128);

/// Smallest number that is displayed as a hexadecimal one.
const HEXADECIMAL: u128 = 1 << 32;

/// Smallest power of two that is displayed by its exponent.
const LARGE: u128 = 1 << 16;

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            LARGE.. if self.0.is_power_of_two() => write!(f, "2^{}", self.0.ilog2()),
            HEXADECIMAL.. => write!(f, "{:#x}", self.0),
            number => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Accepted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (*self.0.start(), *self.0.end());
        if most == u128::MAX {
            return write!(f, "at least {least}");
        }
        if least > 0 {
            return write!(f, "{least} to {}", Power(most));
        }
        match most + 1 {
            LARGE.. if (most + 1).is_power_of_two() => write!(f, "less than {}", Power(most + 1)),
            _ => write!(f, "at most {}", Power(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_short() {
        let text = |range| Accepted(&range).to_string();
        assert_eq!(text(0..=128), "at most 128");
        assert_eq!(text(1..=u128::MAX), "at least 1");
        assert_eq!(text(1..=1 << 32), "1 to 2^32");
        assert_eq!(text(0..=u64::MAX.into()), "less than 2^64");
        assert_eq!([65535, 65536, 65537].map(|it| Power(it).to_string()), ["65535", "2^16", "65537"]);
        assert_eq!(Power((1 << 32) + 1).to_string(), "0x100000001");
    }
}
