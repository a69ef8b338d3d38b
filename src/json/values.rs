//! Key values: borrowed text, references, numbers, bytes, source lines.

use core::fmt;
use std::borrow::Cow;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::schema::{self, HasSchema, Schemas};

/// Text, borrowed from the description unless it has escapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl core::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

/// Reference to an entity by its id or name.
pub(super) type Ref<'a> = Text<'a>;

/// A half-open pc range.
pub(super) type Pcs = (Number, Number);

/// Largest number that every JSON reader preserves; larger numbers are written as text.
const EXACT: u64 = 1 << 53;

/// A number: a JSON number, or hexadecimal text, `"0x1f"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub u64);

/// Signed number: a JSON number, or hexadecimal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signed(pub i64);

/// A signed or unsigned 64-bit number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer(pub i128);

/// Reads `0x…`.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    // `from_str_radix` also accepts a sign.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

/// Reads `0x…`, with an optional sign.
fn signed(text: &str) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(digits) => Some(-i128::from(hexadecimal(digits)?)),
        None => hexadecimal(text).map(Into::into),
    }
}

/// What a reader expects for an unsigned number.
const UNSIGNED: &str = "a number below 2^64, in text as \"0x1f\"";

/// Reads an unsigned 64-bit number.
pub(super) fn number<E: de::Error>(text: &str) -> Result<u64, E> {
    hexadecimal(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &UNSIGNED))
}

/// Reads a number, or text that is converted by `parse`.
struct AsNumber<T> {
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
}

impl<T: TryFrom<u64> + TryFrom<i64>> Visitor<'_> for AsNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        T::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        T::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AsNumber { expected: UNSIGNED, parse: hexadecimal }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let expected = "a signed number of 64 bits, in text as \"0x1f\" or \"-0x1f\"";
        let parse = |text: &str| signed(text)?.try_into().ok();
        from.deserialize_any(AsNumber { expected, parse }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let expected = "a number of 64 bits, in text as \"0x1f\" or \"-0x1f\"";
        from.deserialize_any(AsNumber { expected, parse: signed }).map(Self)
    }
}

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (u64::try_from(self.0), i64::try_from(self.0)) {
            (Ok(unsigned), _) => Number(unsigned).serialize(to),
            (_, Ok(signed)) => Signed(signed).serialize(to),
            // Unreachable: the builder refuses such numbers.
            _ => Err(serde::ser::Error::custom("a number of more than 64 bits")),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            small @ ..=EXACT => to.serialize_u64(small),
            large => to.collect_str(&format_args!("{large:#x}")),
        }
    }
}

impl Serialize for Signed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        match size {
            ..=EXACT => to.serialize_i64(self.0),
            _ => to.collect_str(&format_args!("{sign}{size:#x}")),
        }
    }
}

/// A list of two or three: file, line, and optionally column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub file: Text<'a>,
    pub line: u32,
    pub column: u32,
}

impl<'de: 'a, 'a> Deserialize<'de> for Line<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsLine;
        impl<'de> Visitor<'de> for AsLine {
            type Value = Line<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of a file, a line, and then perhaps a column")
            }
            fn visit_seq<S: de::SeqAccess<'de>>(self, mut json: S) -> Result<Line<'de>, S::Error> {
                let missing = |count| de::Error::invalid_length(count, &self);
                let file = json.next_element()?.ok_or_else(|| missing(0))?;
                let line = json.next_element()?.ok_or_else(|| missing(1))?;
                let column = json.next_element()?;
                if column.is_some() && json.next_element::<de::IgnoredAny>()?.is_some() {
                    return Err(missing(4));
                }
                Ok(Line { file, line, column: column.unwrap_or(0) })
            }
        }
        from.deserialize_seq(AsLine)
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.column {
            0 => (&self.file, self.line).serialize(to),
            column => (&self.file, self.line, column).serialize(to),
        }
    }
}

/// Bytes as text: two hexadecimal digits each, with optional spaces between bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Reads the text.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let mut bytes = Vec::with_capacity(text.len() / 2);
        let mut rest = text.as_bytes();
        loop {
            rest = match rest {
                [] => return Some(Self(bytes)),
                [b' ', rest @ ..] => rest,
                [high, low, rest @ ..] => {
                    bytes.push(digit(*high)? << 4 | digit(*low)?);
                    rest
                }
                _ => return None,
            };
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsBytes;
        impl Visitor<'_> for AsBytes {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes of two hexadecimal digits each")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Bytes::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_str(AsBytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        HexOf(&self.0).serialize(to)
    }
}

/// Borrowed bytes, written like [`Bytes`].
pub(crate) struct HexOf<'a>(pub &'a [u8]);

impl Serialize for HexOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Display for HexOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A register, address space or language: a name, or a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named<'a> {
    Text(Text<'a>),
    Number(u64),
}

impl<'de: 'a, 'a> Deserialize<'de> for Named<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsNamed;
        impl<'de> Visitor<'de> for AsNamed {
            type Value = Named<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Named<'de>, E> {
                Ok(Named::Text(Text(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Named<'de>, E> {
                Ok(Named::Text(Text(Cow::Owned(text.to_owned()))))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Named<'de>, E> {
                Ok(Named::Number(number))
            }
        }
        from.deserialize_any(AsNamed)
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(to),
            Self::Number(number) => Number(*number).serialize(to),
        }
    }
}

impl HasSchema for Text<'_> {
    fn schema(to: &mut Schemas) -> Value {
        <&str>::schema(to)
    }
}

impl HasSchema for Named<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("name_or_number", |to| json!({"anyOf": [<&str>::schema(to), u64::schema(to)]}))
    }
}

impl HasSchema for Number {
    fn schema(to: &mut Schemas) -> Value {
        to.named(
            "number",
            |to| json!({"anyOf": [u64::schema(to), schema::string("^0x0*[0-9a-fA-F]{1,16}$")]}),
        )
    }
}

impl HasSchema for Signed {
    fn schema(to: &mut Schemas) -> Value {
        to.named("signed", |_| {
            let text = schema::string("^(-?0x0*([0-7][0-9a-fA-F]{15}|[0-9a-fA-F]{1,15})|-0x0*80{15})$");
            json!({"anyOf": [{"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}, text]})
        })
    }
}

impl HasSchema for Integer {
    fn schema(to: &mut Schemas) -> Value {
        to.named("integer", |_| {
            let text = schema::string("^-?0x0*[0-9a-fA-F]{1,16}$");
            json!({"anyOf": [{"type": "integer", "minimum": i64::MIN, "maximum": u64::MAX}, text]})
        })
    }
}

impl HasSchema for Bytes {
    fn schema(to: &mut Schemas) -> Value {
        to.named("bytes", |_| schema::string("^ *([0-9a-fA-F]{2} *)*$"))
    }
}

impl HasSchema for Line<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("line", |to| {
            let items = [<&str>::schema(to), u32::schema(to), u32::schema(to)];
            json!({"type": "array", "prefixItems": items, "items": false, "minItems": 2})
        })
    }
}
