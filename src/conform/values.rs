//! The format's values: numbers, byte strings, maps, and keys that a vector may remove.

use core::fmt;
use core::marker::PhantomData;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::Count;
use crate::eval::Architecture;
use crate::json::schema::{self, HasSchema, Schemas};
use crate::op::Reg;
use crate::target::SpaceId;

pub(super) use crate::json::position::Step;
pub(super) use crate::json::values::{Bytes, Signed};
pub(super) use crate::json::words::Word;

/// Defines objects in the format with their schema names and an optional alternative type (`or`): the type, its
/// deserialisation, and its schema, which has further `rules` in addition to the keys. A field's key is its name, or
/// the text after `as`.
macro_rules! objects { ($(
    $name:literal
    $(#[$attribute:meta])*
    $visible:vis struct $type:ident $(or $other:ty)? { $(
        $(#[$of_field:meta])* $field_visible:vis $field:ident $(as $key:literal)?: $field_type:ty
    ),* $(,)? } $(rules $rules:tt)?
)*) => { $(
    #[derive(Debug, Clone, serde::Deserialize)]
    $(#[$attribute])*
    #[serde(remote = "Self", deny_unknown_fields, expecting = "an object")]
    $visible struct $type { $(
        $(#[$of_field])* $(#[serde(rename = $key)])? $field_visible $field: $field_type,
    )* }

    $crate::conform::values::shaped!([$($other)?] $type);

    impl $crate::json::schema::HasSchema for $type {
        fn schema(to: &mut $crate::json::schema::Schemas) -> serde_json::Value {
            to.named($name, |to| {
                let object = $crate::json::schema::object([$((
                    $crate::conform::values::key!($field $($key)?),
                    <$field_type>::schema(to),
                    <$field_type>::MAY_BE_ABSENT,
                )),*]);
                $(let object = $crate::json::schema::also(object, serde_json::json!($rules));)?
                $(let object = serde_json::json!({"anyOf": [<$other>::schema(to), object]});)?
                object
            })
        }
    }
)* } }
pub(super) use objects;

/// Reads a type from an object alone. A type with an alternative reads itself.
macro_rules! shaped {
    ([] $type:ident) => {
        impl<'de> serde::Deserialize<'de> for $type {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize($crate::json::shape::Shaped(from))
            }
        }
    };
    ([$other:ty] $type:ident) => {};
}
pub(super) use shaped;

/// Returns a field's key.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}
pub(super) use key;

/// Defines an enumeration with the format's words for its variants, and the default variant.
macro_rules! choice { ($(
    $(#[$attribute:meta])*
    $visible:vis enum $type:ident $(= $default:ident)? {
        $($(#[$of_variant:meta])* $variant:ident $word:literal),* $(,)?
    }
)*) => { $(
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
    $(#[$attribute])*
    #[serde(expecting = "a word")]
    $visible enum $type { $($(#[$of_variant])* #[serde(rename = $word)] $variant),* }

    $(impl Default for $type {
        fn default() -> Self {
            Self::$default
        }
    })?

    impl $crate::json::schema::HasSchema for $type {
        const MAY_BE_ABSENT: bool = !concat!("" $(, stringify!($default))?).is_empty();

        fn schema(_: &mut $crate::json::schema::Schemas) -> serde_json::Value {
            $crate::json::schema::one_of_words([$($word),*])
        }
    }
)* } }
pub(super) use choice;

/// An optional key; `null` removes the value that the file provides.
#[derive(Debug, Clone, Default)]
pub(super) enum Given<T> {
    /// The key is absent.
    #[default]
    Absent,
    /// `null`: the value is removed.
    Taken,
    /// A value.
    Is(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Taken, Self::Is))
    }
}

/// An unsigned number with any size: a JSON number, or text such as `"0x1f"`. Stored as bytes, least significant first,
/// without trailing zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Natural(pub Vec<u8>);

impl Natural {
    /// Parses a number with up to 128 bits: hexadecimal digits after `0x`, or decimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = match text.strip_prefix("0x") {
            Some(digits) => hexadecimal(digits)?,
            None => decimal(text)?.to_le_bytes().to_vec(),
        };
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        Some(Self(bytes))
    }

    pub fn as_u128(&self) -> Option<u128> {
        let push = |number, &byte: &u8| number << 8 | u128::from(byte);
        (self.0.len() <= 16).then(|| self.0.iter().rev().fold(0, push))
    }
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    // From the end, so that the least significant byte comes first and an odd digit stands alone.
    for pair in digits.as_bytes().rchunks(2) {
        bytes.push(pair.iter().try_fold(0, |number, byte| Some(number << 4 | digit(byte)?))?);
    }
    (!bytes.is_empty()).then_some(bytes)
}

fn decimal(text: &str) -> Option<u128> {
    // `parse` accepts a sign too.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_last() {
            None => f.write_str("0x0"),
            Some((last, rest)) => {
                write!(f, "{last:#x}")?;
                rest.iter().rev().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// A number with possibly more than 64 bits, kept as text because serde would round the JSON number.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Unread(Box<RawValue>);

impl Unread {
    /// Parses the number.
    pub fn natural(&self) -> Result<Natural, Wrong> {
        let text = self.0.get();
        let number = match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            // Text must be hexadecimal; a JSON number is decimal.
            Some(text) => text.starts_with("0x").then(|| Natural::parse(text)).flatten(),
            None => Natural::parse(text),
        };
        number.ok_or_else(|| {
            Wrong::new(format!("{text} is not a number; expected at most 128 bits, or text like \"0x1f\""))
        })
    }
}

/// A number that fits `T`: a JSON number, or text such as `"0x1f"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<T>(pub T);

impl<'de, T: TryFrom<u64>> Deserialize<'de> for Number<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsNumber<T>(PhantomData<T>);
        impl<T: TryFrom<u64>> Visitor<'_> for AsNumber<T> {
            type Value = Number<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number of {}, in text like \"0x1f\"", Count(size_of::<T>() * 8, "bit"))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number<T>, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(value), &self);
                T::try_from(value).map(Number).map_err(wrong)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number<T>, E> {
                let number = text.parse().ok().and_then(|Offset(number)| T::try_from(number).ok());
                number.map(Number).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_any(AsNumber(PhantomData))
    }
}

/// An address, an offset or a pc: a JSON number, or text such as `"0x1f"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Offset(pub u64);

impl core::str::FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let natural = text.starts_with("0x").then(|| Natural::parse(text)).flatten();
        let number = natural.and_then(|natural| natural.as_u128()?.try_into().ok());
        number.map(Self).ok_or_else(|| {
            format!("`{text}` is not a number; expected at most 64 bits, in text like \"0x1f\"")
        })
    }
}

/// A register or an address space: its DWARF number as `17` or `0x11`, or its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    Number(u64),
    Name(String),
}

impl core::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = Natural::parse(text).and_then(|natural| natural.as_u128()?.try_into().ok());
        match number {
            Some(number) => Ok(Self::Number(number)),
            None if text.starts_with(|char: char| char.is_alphabetic() || char == '_') => {
                Ok(Self::Name(text.to_owned()))
            }
            None => Err(format!("`{text}` is neither a DWARF number nor a name")),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl Named {
    /// Resolves a register.
    ///
    /// # Errors
    /// A message if the architecture has no register with this name. Numbers are not checked.
    pub fn register(&self, architecture: &dyn Architecture) -> Result<Reg, String> {
        match self {
            Self::Number(number) => Ok(Reg(*number)),
            Self::Name(name) => architecture.register_named(name),
        }
    }

    /// Resolves an address space.
    ///
    /// # Errors
    /// A message if the architecture has no address space with this name, or the number is too large. Other numbers are
    /// not checked.
    pub fn space(&self, architecture: &dyn Architecture) -> Result<SpaceId, String> {
        match self {
            Self::Number(number) => match u32::try_from(*number) {
                Ok(number) => Ok(SpaceId(number)),
                Err(_) => Err(format!("the target has no address space {number}")),
            },
            Self::Name(name) => architecture.space_named(name),
        }
    }
}

/// DWARF number of a call frame information column, as text: `17`, or `0x11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Column(pub u64);

impl core::str::FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = Natural::parse(text).and_then(|natural| natural.as_u128()?.try_into().ok());
        number.map(Self).ok_or_else(|| format!("`{text}` is not the DWARF number of a register"))
    }
}

/// Text that is parsed into `T`. A JSON number is equivalent to text such as `"0x1f"`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parsed<T>(pub T);

impl<'de, T: core::str::FromStr<Err: fmt::Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsText<T>(PhantomData<T>);
        impl<T: core::str::FromStr<Err: fmt::Display>> Visitor<'_> for AsText<T> {
            type Value = Parsed<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Parsed<T>, E> {
                text.parse().map(Parsed).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Parsed<T>, E> {
                let wrong = |_| E::invalid_type(de::Unexpected::Unsigned(number), &self);
                format!("{number:#x}").parse().map(Parsed).map_err(wrong)
            }
        }
        from.deserialize_any(AsText(PhantomData))
    }
}

/// An object whose keys are read as `K`; `null` removes a key.
#[derive(Debug, Clone)]
pub(super) struct Map<K, V>(pub BTreeMap<K, Option<V>>);

impl<'de, K, V> Deserialize<'de> for Map<K, V>
where
    K: core::str::FromStr<Err: fmt::Display> + Ord,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsMap<K, V>(PhantomData<(K, V)>);
        impl<'de, K, V> Visitor<'de> for AsMap<K, V>
        where
            K: core::str::FromStr<Err: fmt::Display> + Ord,
            V: Deserialize<'de>,
        {
            type Value = Map<K, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Map<K, V>, A::Error> {
                let mut bytes = BTreeMap::new();
                while let Some(Parsed(key)) = map.next_key()? {
                    if bytes.contains_key(&key) {
                        return Err(de::Error::custom("key occurs twice"));
                    }
                    bytes.insert(key, map.next_value()?);
                }
                Ok(Map(bytes))
            }
        }
        from.deserialize_map(AsMap(PhantomData))
    }
}

/// Text in the format.
pub(super) trait Textual {
    /// Whether a JSON number may replace the text.
    const IS_NUMBER: bool = false;

    /// Returns the text's schema.
    fn schema() -> Value;
}

/// Defines text schemas by patterns.
macro_rules! textual { ($($type:ty: $pattern:expr $(, $number:literal)?;)*) => { $(
    impl $crate::conform::values::Textual for $type {
        $(const IS_NUMBER: bool = $number;)?
        fn schema() -> serde_json::Value {
            $crate::json::schema::string($pattern)
        }
    }
)* } }
pub(super) use textual;
textual! {
    String: ".*";
    Offset: "^0x0*[0-9a-fA-F]{1,16}$", true;
    Named: "^([0-9]+|0x0*[0-9a-fA-F]{1,16}|[A-Za-z_\u{80}-\u{ffff}].*)$", true;
    Column: "^([0-9]+|0x0*[0-9a-fA-F]{1,16})$";
}

/// A schema that takes `null`, too.
fn or_null(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

impl<T: HasSchema> HasSchema for Given<T> {
    const MAY_BE_ABSENT: bool = true;

    fn schema(to: &mut Schemas) -> Value {
        or_null(T::schema(to))
    }
}

impl HasSchema for IgnoredAny {
    const MAY_BE_ABSENT: bool = true;

    fn schema(_: &mut Schemas) -> Value {
        json!({})
    }
}

/// A key that may be absent, and not `null`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Maybe<T>(pub T);

impl<T: HasSchema> HasSchema for Maybe<T> {
    const MAY_BE_ABSENT: bool = true;

    fn schema(to: &mut Schemas) -> Value {
        T::schema(to)
    }
}

impl<T: Textual> HasSchema for Parsed<T> {
    fn schema(_: &mut Schemas) -> Value {
        if T::IS_NUMBER {
            json!({"anyOf": [T::schema(), {"type": "integer", "minimum": 0, "maximum": u64::MAX}]})
        } else {
            T::schema()
        }
    }
}

impl<T> HasSchema for Number<T> {
    fn schema(_: &mut Schemas) -> Value {
        let largest = u64::MAX >> (64 - 8 * size_of::<T>());
        let digits = format!("^0x0*[0-9a-fA-F]{{1,{}}}$", 2 * size_of::<T>());
        json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": largest}, schema::string(&digits)]})
    }
}

impl HasSchema for Unread {
    fn schema(_: &mut Schemas) -> Value {
        json!({"anyOf": [{"type": "integer", "minimum": 0}, schema::string("^0x[0-9a-fA-F]+$")]})
    }
}

impl<K: Textual, V: HasSchema> HasSchema for Map<K, V> {
    fn schema(to: &mut Schemas) -> Value {
        let mut schema = json!({"type": "object", "additionalProperties": or_null(V::schema(to))});
        schema["propertyNames"] = K::schema();
        schema
    }
}

/// An error in valid JSON, with its path.
#[derive(Debug)]
pub(super) struct Wrong {
    /// Path to the value, innermost key last.
    pub path: Vec<Step>,
    pub what: String,
}

impl Wrong {
    pub fn new(what: impl Into<String>) -> Self {
        Self { path: Vec::new(), what: what.into() }
    }

    /// Prefixes the path with a key.
    #[must_use]
    pub fn under(mut self, key: impl ToString) -> Self {
        self.path.insert(0, Step::Key(key.to_string()));
        self
    }

    /// Prefixes the path with a list index.
    #[must_use]
    pub fn at(mut self, index: usize) -> Self {
        self.path.insert(0, Step::Index(index));
        self
    }
}
