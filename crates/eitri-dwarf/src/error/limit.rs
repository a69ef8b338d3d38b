//! Quantities with limits.

use core::fmt;
use core::ops::RangeInclusive;

use crate::texts;

texts! {
    /// A quantity with limits.
    Quantity(value);

    // Locations.
    LocationLevels "location has {}", counted(value, "level");
    Offset "offset is {}", counted(value, "bit");
    PartBits "part is {} wide", counted(value, "bit");
    CompositeBits "composite is {} wide", counted(value, "bit");
    VectorElements "vector has {}", counted(value, "element");
    VectorBits "vector is {} wide", counted(value, "bit");
    ReadBits "number read from a location is {} wide", counted(value, "bit");
    RegisterBits "number read from a register is {} wide", counted(value, "bit");
    PlaceBits "tracked storage is {} wide", counted(value, "bit");
    SlotOffset "stack slot offset is {}", counted(value, "byte");
    RowOffset "all-lane slot offset is {}", counted(value, "byte");
    PieceBits(id: u32) "piece of %{id} is {} wide", counted(value, "bit");

    // Types.
    BaseTypeBits(name: String) "type `{name}` is {} wide", counted(value, "bit");
    TypeBytes(name: String) "size of type `{name}` is {}", counted(value, "byte");
    MemberBits(member: String) "{member} is {} wide", counted(value, "bit");
    StrideBits(whole: String) "stride of {whole} is {}", counted(value, "bit");
    DimensionEnd "dimension ends before index {value}";

    // Code.
    CodeEnd "code ends at address {value}";
}

/// Returns a value with its noun: `1 bit`, `33 bits`.
fn counted(value: &str, noun: &str) -> String {
    let ending = if value == "1" { "" } else { "s" };
    format!("{value} {noun}{ending}")
}

/// A quantity outside its limits.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The quantity.
    pub quantity: Quantity,
    /// Accepted values.
    pub accepted: RangeInclusive<u128>,
    /// The value.
    pub value: u128,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quantity.write_text(f, &Power(self.value).to_string())?;
        write!(f, "; expected {}", Accepted(&self.accepted))
    }
}

/// Accepted values, as a message displays them.
struct Accepted<'r>(&'r RangeInclusive<u128>);

/// A number: a large power of two is displayed by its exponent, another large number as a hexadecimal number.
struct Power(u128);

/// Smallest number that is displayed as a hexadecimal number.
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
        let least = *self.0.start();
        let most = *self.0.end();
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
    fn accepted_values_are_displayed_briefly() {
        let text = |range| Accepted(&range).to_string();
        assert_eq!(text(0..=128), "at most 128");
        assert_eq!(text(1..=u128::MAX), "at least 1");
        assert_eq!(text(1..=1 << 32), "1 to 2^32");
        assert_eq!(text(0..=u64::MAX.into()), "less than 2^64");
        assert_eq!([65535, 65536, 65537].map(|it| Power(it).to_string()), ["65535", "2^16", "65537"]);
        assert_eq!(Power((1 << 32) + 1).to_string(), "0x100000001");
    }
}
