//! The format's base types, with the names of `DW_ATE_*`.

use core::str::FromStr;

use serde::Deserialize;

use serde_json::{Value, json};

use super::values::{Number, Offset, Parsed, Textual, objects, textual};
use crate::eval::{BaseType, TypeEncoding};
use crate::json::schema::{self, HasSchema, Schemas};

objects! {
    "type"
    /// The TYPE object: a base type, or another kind of entry.
    pub(super) struct TypeText {
        encoding: Option<Parsed<Encoding>>,
        bits: Option<Number<u32>>,
        _name as "name": Option<String>,
        vector: Option<Number<u32>>,
        tag: Option<String>,
    }
}

/// A `DW_ATE_*` name, in lower case and without the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding(TypeEncoding);

/// Returns the numbers and names of all encodings.
fn names() -> impl Iterator<Item = (u8, String)> {
    let name =
        |code| Some((code, gimli::DwAte(code).static_string()?.strip_prefix("DW_ATE_")?.to_lowercase()));
    (0..gimli::DW_ATE_lo_user.0).filter_map(name)
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = names().find(|(_, name)| name == text);
        let (code, _) = named.ok_or_else(|| format!("`{text}` is not an encoding of base types"))?;
        Ok(Self(TypeEncoding::from_code(code)))
    }
}

impl Textual for Encoding {
    fn schema() -> Value {
        json!({"enum": names().map(|(_, name)| name).collect::<Vec<_>>()})
    }
}

textual! { TypeKey: "^0x[0-9a-fA-F]+(:0x[0-9a-fA-F]+)?$"; }

impl HasSchema for ValueType {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [schema::string("^\\w+/[0-9]+(x[0-9]+)?$"), TypeText::schema(to)]})
    }
}

impl TypeText {
    /// Returns the base type; `None` for another kind of entry.
    pub fn base_type(&self) -> Result<Option<BaseType>, String> {
        match (&self.encoding, &self.bits) {
            (Some(Parsed(Encoding(encoding))), Some(Number(bits))) => {
                let elements = self.vector.map_or(1, |elements| elements.0);
                if elements == 0 {
                    return Err("a vector has at least one element".into());
                }
                Ok(Some(BaseType { encoding: *encoding, bits: *bits, elements }))
            }
            // An entry with only a tag is a type, but no base type.
            (None, None) if self.tag.is_some() => Ok(None),
            (None, _) => Err("missing field `encoding`".into()),
            (_, None) => Err("missing field `bits`".into()),
        }
    }
}

/// Returns a base type's text form: `signed/32`, a vector `float/32x4`, the generic type `generic`.
pub(super) fn print(ty: BaseType) -> String {
    let name = match ty.encoding {
        TypeEncoding::Generic => return "generic".into(),
        encoding => names().find(|(code, _)| TypeEncoding::from_code(*code) == encoding),
    };
    let name = match (name, ty.encoding) {
        (Some((_, name)), _) => name,
        (None, encoding) => format!("{encoding:?}"),
    };
    match ty.elements {
        1 => format!("{name}/{}", ty.bits),
        elements => format!("{name}/{}x{elements}", ty.bits),
    }
}

/// A value's base type: a TYPE object, or text such as `signed/32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueType(pub BaseType);

impl FromStr for ValueType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a type; expected a type like `signed/32`");
        let (encoding, size) = text.split_once('/').ok_or_else(wrong)?;
        let (bits, elements) = size.split_once('x').unwrap_or((size, "1"));
        let number = |digits: &str| digits.parse().ok().filter(|&number: &u32| number != 0);
        let Encoding(encoding) = encoding.parse()?;
        let bits = number(bits).ok_or_else(wrong)?;
        Ok(Self(BaseType { encoding, bits, elements: number(elements).ok_or_else(wrong)? }))
    }
}

impl<'de> Deserialize<'de> for ValueType {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsType;
        impl<'de> serde::de::Visitor<'de> for AsType {
            type Value = ValueType;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a type like \"signed/32\", or an object")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ValueType, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<ValueType, A::Error> {
                let object = TypeText::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let ty = object.base_type().map_err(serde::de::Error::custom)?;
                ty.map(ValueType).ok_or_else(|| serde::de::Error::missing_field("encoding"))
            }
        }
        from.deserialize_any(AsType)
    }
}

/// A type's offset: `UNIT-RELATIVE`, or `UNIT:UNIT-RELATIVE` in another unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TypeKey {
    unit: Option<u64>,
    offset: u64,
}

impl TypeKey {
    /// Returns the unit's offset, and the type's offset in the unit.
    pub fn place(self, current_unit: u64) -> (u64, u64) {
        (self.unit.unwrap_or(current_unit), self.offset)
    }
}

impl FromStr for TypeKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (unit, offset) = match text.split_once(':') {
            Some((unit, offset)) => (Some(unit.parse::<Offset>()?.0), offset),
            None => (None, text),
        };
        Ok(Self { unit, offset: offset.parse::<Offset>()?.0 })
    }
}

impl core::fmt::Display for TypeKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.unit.map_or(Ok(()), |unit| write!(f, "{unit:#x}:"))?;
        write!(f, "{:#x}", self.offset)
    }
}
