//! JSON shapes: an object for fields, and an object with one key for a choice. The code that `serde` derives would
//! accept a list for an object too, and would report a second key only as an unexpected value.

use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess,
    Visitor,
};

use super::values::Text;

/// Restricts a derived `Deserialize` to these shapes.
pub(crate) struct Shaped<D>(pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Shaped<D> {
    type Error = D::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        what: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Choice { what, visitor })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// A choice: an object whose key selects the alternative, or the word alone for an alternative without operands.
struct Choice<V> {
    /// The choice's name with its article, for errors.
    what: &'static str,
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Choice<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (an object with one key)", self.what)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<V::Value, E> {
        self.visitor.visit_enum(word.into_deserializer())
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut json: A) -> Result<V::Value, A::Error> {
        // The key is kept for the error about a second key.
        let Some(key) = json.next_key()? else { return Err(no_key(self.what)) };
        let mut json = Keyed { key, is_read: false, json };
        let chosen = self.visitor.visit_enum(WithOperands(MapAccessDeserializer::new(&mut json)))?;
        one_key(self.what, &json.key, json.json)?;
        Ok(chosen)
    }
}

/// A choice by a key, whose value has the alternative's operands. An alternative without operands is a word.
struct WithOperands<C>(C);

impl<'de, C: EnumAccess<'de>> EnumAccess<'de> for WithOperands<C> {
    type Error = C::Error;
    type Variant = WithOperands<C::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), C::Error> {
        let (chosen, operands) = self.0.variant_seed(seed)?;
        Ok((chosen, WithOperands(operands)))
    }
}

impl<'de, V: VariantAccess<'de>> VariantAccess<'de> for WithOperands<V> {
    type Error = V::Error;

    fn unit_variant(self) -> Result<(), V::Error> {
        Err(de::Error::custom(
            "word is the key of an object; expected the word alone, because it has no operands",
        ))
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, V::Error> {
        self.0.newtype_variant_seed(seed)
    }

    #[inline]
    fn tuple_variant<W: Visitor<'de>>(self, len: usize, visitor: W) -> Result<W::Value, V::Error> {
        self.0.tuple_variant(len, visitor)
    }

    #[inline]
    fn struct_variant<W: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: W,
    ) -> Result<W::Value, V::Error> {
        self.0.struct_variant(fields, visitor)
    }
}

/// Error for an empty object instead of a choice.
pub(super) fn no_key<E: de::Error>(what: &str) -> E {
    E::custom(format!("{what} has no key; expected one key"))
}

/// Refuses a second key.
#[inline]
pub(super) fn one_key<'de, A: MapAccess<'de>>(what: &str, first: &str, mut json: A) -> Result<(), A::Error> {
    let Some(second) = json.next_key::<Text<'de>>()? else { return Ok(()) };
    let mut keys = format!("`{first}` and `{}`", &*second);
    json.next_value::<IgnoredAny>()?;
    while let Some((key, _)) = json.next_entry::<Text<'de>, IgnoredAny>()? {
        keys += &format!(" and `{}`", &*key);
    }
    Err(de::Error::custom(format!("{what} has the keys {keys}; expected one key")))
}

/// An object whose first key was already read.
struct Keyed<'de, A> {
    key: Text<'de>,
    is_read: bool,
    json: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Keyed<'de, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        // The first key was taken from the map already, and is handed out again.
        if core::mem::replace(&mut self.is_read, true) {
            return self.json.next_key_seed(seed);
        }
        seed.deserialize((*self.key).into_deserializer()).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.json.next_value_seed(seed)
    }
}
