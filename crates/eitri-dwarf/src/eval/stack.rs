//! Stack elements and their implicit conversions (A.2.5.4.4.3).

use super::fault::{Fault, brief, error, ill_formed};
use super::location::Location;
use super::value::Value;

/// An evaluation's result.
pub type Outcome = Element;

/// A stack element, or an evaluation's result.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// A value.
    Value(Value),
    /// A location.
    Location(Location),
}

impl Element {
    /// Returns the value, or converts a location where the specification allows it: a single location in the default
    /// address space, at a byte's start.
    ///
    /// # Errors
    /// Ill-formed for any other location.
    pub(super) fn into_value(self, address_bytes: u8) -> Result<Value, Fault> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Location(location) => {
                complete(&location)?;
                let address = location.default_address().ok_or_else(|| {
                    ill_formed(format!(
                        "only a byte of the default address space converts to a value (A.2.5.4.4.3): {}",
                        brief(&location)
                    ))
                })?;
                Ok(Value::generic(address, address_bytes))
            }
        }
    }
}

impl core::fmt::Display for Element {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Location(location) => location.fmt(f),
        }
    }
}

/// Refuses a composite under construction.
///
/// # Errors
/// Ill-formed for an incomplete composite.
pub(super) fn complete(location: &Location) -> Result<(), Fault> {
    if location.is_incomplete() {
        Err(ill_formed("an incomplete composite cannot be used as a location (A.2.5.4.4.6)"))
    } else {
        Ok(())
    }
}

/// Returns an integral value as an unsigned number. 2^128 - 1 represents all larger numbers, because no address
/// space, register or size is as large.
///
/// # Errors
/// Ill-formed if the type is not integral; an evaluation error for an implicit pointer value, which can only be
/// dereferenced or converted to a location (A.2.5.4.4.5).
pub(super) fn integral(value: &Value) -> Result<u128, Fault> {
    if value.as_pointer().is_some() {
        return Err(pointer_misused());
    }
    if !value.ty().is_integral() {
        return Err(ill_formed(format!("value {value} does not have an integral type")));
    }
    Ok(value.as_u128().unwrap_or(u128::MAX))
}

pub(super) fn pointer_misused() -> Fault {
    error("an implicit pointer value cannot be used this way (A.2.5.4.4.5)")
}
