//! Conversions for programs that read with `gimli` and evaluate with this crate, or the other way round.

use gimli::{DebugInfoOffset, EndianSlice, Endianity, Expression, Piece};

use super::lists::LocationListEntry;
use super::location::{Location, SingleLocation, Storage};
use super::machine::Body;
use super::value::{BaseType, TypeEncoding, Value};
use crate::error::{Error, Result};
use crate::target::SpaceId;

impl<'a, E: Endianity> From<Expression<EndianSlice<'a, E>>> for Body<'a> {
    fn from(expression: Expression<EndianSlice<'a, E>>) -> Self {
        Self::Expression(expression.0.slice())
    }
}

impl<'a, E: Endianity> From<gimli::LocationListEntry<EndianSlice<'a, E>>> for LocationListEntry<'a> {
    /// The bounded entry with this range; gimli's lists have no default entries.
    fn from(entry: gimli::LocationListEntry<EndianSlice<'a, E>>) -> Self {
        let gimli::Range { begin, end } = entry.range;
        Self { bounds: Some((begin, end)), expr: entry.data.0.slice().into() }
    }
}

impl From<gimli::Value> for Value {
    /// The value with the same type. A generic value has 64 bits.
    fn from(value: gimli::Value) -> Self {
        let number =
            |encoding, bytes: &[u8]| Self::from_bytes(BaseType::new(encoding, 8 * bytes.len() as u32), bytes);
        match value {
            gimli::Value::Generic(bits) => Self::generic(bits, 8),
            gimli::Value::I8(value) => number(TypeEncoding::Signed, &value.to_le_bytes()),
            gimli::Value::I16(value) => number(TypeEncoding::Signed, &value.to_le_bytes()),
            gimli::Value::I32(value) => number(TypeEncoding::Signed, &value.to_le_bytes()),
            gimli::Value::I64(value) => number(TypeEncoding::Signed, &value.to_le_bytes()),
            gimli::Value::U8(value) => number(TypeEncoding::Unsigned, &value.to_le_bytes()),
            gimli::Value::U16(value) => number(TypeEncoding::Unsigned, &value.to_le_bytes()),
            gimli::Value::U32(value) => number(TypeEncoding::Unsigned, &value.to_le_bytes()),
            gimli::Value::U64(value) => number(TypeEncoding::Unsigned, &value.to_le_bytes()),
            gimli::Value::F32(value) => number(TypeEncoding::Float, &value.to_le_bytes()),
            gimli::Value::F64(value) => number(TypeEncoding::Float, &value.to_le_bytes()),
        }
    }
}

impl TryFrom<&Value> for gimli::Value {
    type Error = Error;

    /// The value with the same type: generic, or signed, unsigned or floating-point with a size that gimli has.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for another type, and for an implicit pointer.
    fn try_from(value: &Value) -> Result<Self> {
        let BaseType { encoding, bits, elements } = value.ty();
        let number = value.as_u64().filter(|_| elements == 1);
        Ok(match (encoding, bits, number) {
            (TypeEncoding::Generic, _, Some(number)) => Self::Generic(number),
            (TypeEncoding::Signed | TypeEncoding::SignedChar, 8, Some(number)) => Self::I8(number as i8),
            (TypeEncoding::Signed, 16, Some(number)) => Self::I16(number as i16),
            (TypeEncoding::Signed, 32, Some(number)) => Self::I32(number as i32),
            (TypeEncoding::Signed, 64, Some(number)) => Self::I64(number as i64),
            (TypeEncoding::Unsigned | TypeEncoding::UnsignedChar, 8, Some(number)) => Self::U8(number as u8),
            (TypeEncoding::Unsigned, 16, Some(number)) => Self::U16(number as u16),
            (TypeEncoding::Unsigned, 32, Some(number)) => Self::U32(number as u32),
            (TypeEncoding::Unsigned, 64, Some(number)) => Self::U64(number),
            (TypeEncoding::Float, 32, Some(number)) => Self::F32(f32::from_bits(number as u32)),
            (TypeEncoding::Float, 64, Some(number)) => Self::F64(f64::from_bits(number)),
            _ => return Err(Error::bad_argument(format!("gimli has no value for {value}"))),
        })
    }
}

impl<'l, E: Endianity + Default> TryFrom<&'l SingleLocation> for Piece<EndianSlice<'l, E>> {
    type Error = Error;

    /// A piece of any size. Implicit bits are bytes in memory order.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for what gimli's locations cannot express: memory of a space
    /// or lane, a register of another frame, implicit bits from a bit offset, a composite.
    fn try_from(place: &'l SingleLocation) -> Result<Self> {
        let SingleLocation { storage, offset } = place;
        let bit_offset = |bits: u128| u64::try_from(bits).ok().filter(|bits| *bits > 0);
        let (location, bits) = match storage {
            Storage::Undefined => (gimli::Location::Empty, 0),
            Storage::Memory { space: SpaceId::DEFAULT, lane: None, .. } => {
                // The address has at most 64 bits.
                (gimli::Location::Address { address: (offset / 8) as u64 }, offset % 8)
            }
            Storage::Register { reg, frame: 0, .. } => {
                (gimli::Location::Register { register: (*reg).try_into()? }, *offset)
            }
            Storage::Implicit(implicit) if implicit.is_big_number() => {
                // The offset counts from the least significant bit, as it does in a register.
                let bytes = implicit.bytes();
                if implicit.size() != 8 * bytes.len() as u64 || bytes.len() > 8 {
                    return Err(unsupported(place));
                }
                let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
                let value = match bytes.len() {
                    1 => gimli::Value::U8(number as u8),
                    2 => gimli::Value::U16(number as u16),
                    4 => gimli::Value::U32(number as u32),
                    _ => gimli::Value::Generic(number),
                };
                (gimli::Location::Value { value }, *offset)
            }
            Storage::Implicit(implicit) if *offset == 0 => {
                let value = EndianSlice::new(implicit.bytes(), E::default());
                (gimli::Location::Bytes { value }, 0)
            }
            Storage::ImplicitPointer(pointer) if *offset == 0 => {
                let Ok(entry) = usize::try_from(pointer.entry) else { return Err(unsupported(place)) };
                let value = DebugInfoOffset(entry);
                (gimli::Location::ImplicitPointer { value, byte_offset: pointer.by }, 0)
            }
            _ => return Err(unsupported(place)),
        };
        Ok(Self { size_in_bits: None, bit_offset: bit_offset(bits), location })
    }
}

impl<'l, E: Endianity + Default> TryFrom<&'l Location> for Vec<Piece<EndianSlice<'l, E>>> {
    type Error = Error;

    /// The pieces that a `gimli::Evaluation` returns for the location. Of several locations at the same time, the pieces
    /// are those of the first.
    ///
    /// # Errors
    /// The errors of a single location; and [`BadArgument`](crate::error::ErrorKind::BadArgument) for a location inside a
    /// composite, and a part that is a composite.
    fn try_from(location: &'l Location) -> Result<Self> {
        // A location has at least one place.
        let Some(place) = location.places().next() else { return Ok(Self::new()) };
        let (Storage::Composite(composite), 0) = (&place.storage, place.offset) else {
            return Ok(Self::from([place.try_into()?]));
        };
        let pieces = composite.parts().iter().filter_map(|part| {
            let piece = Piece::try_from(part.location.places().next()?);
            let size = u64::try_from(part.bits).map_err(|_| unsupported(place));
            Some(piece.and_then(|piece| Ok(Piece { size_in_bits: Some(size?), ..piece })))
        });
        pieces.collect()
    }
}

fn unsupported(place: &SingleLocation) -> Error {
    Error::bad_argument(format!("gimli has no location for {}", Location::from(place.clone())))
}
