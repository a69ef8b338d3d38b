//! Binding values that JSON has in two forms: sums and indexes.

use core::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::objects::objects;
use crate::json::schema::{HasSchema, Schemas};
use crate::json::values::{Named, Signed};
#[cfg(feature = "spirv")]
use {
    super::binder::Binder,
    crate::error::{Error, Result as Outcome},
    crate::spirv::Index,
};

/// A number to add, or a list of several numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::json) struct Sums(pub Vec<Signed>);

impl<'de> Deserialize<'de> for Sums {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsSums;
        impl<'de> Visitor<'de> for AsSums {
            type Value = Sums;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a signed number of 32 bits, or a list of them")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Sums, E> {
                Ok(Sums(vec![Signed(number)]))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Sums, E> {
                let number = i64::try_from(number);
                number
                    .map(|it| Sums(vec![Signed(it)]))
                    .map_err(|_| E::custom("a number of more than 32 bits"))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Sums, E> {
                Signed::deserialize(de::value::StrDeserializer::new(text)).map(|it| Sums(vec![it]))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, json: S) -> Result<Sums, S::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(json)).map(Sums)
            }
        }
        from.deserialize_any(AsSums)
    }
}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [only] => only.serialize(to),
            all => all.serialize(to),
        }
    }
}

impl HasSchema for Sums {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Signed::schema(to), Vec::<Signed>::schema(to)]})
    }
}

/// An index: a number, or the id whose value it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::json) enum IndexBy<'a> {
    Number(u32),
    Id(Named<'a>),
}

objects! {
    /// The id for an index.
    IndexId { id: Named<'a> } {}
}

impl<'de: 'a, 'a> Deserialize<'de> for IndexBy<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsIndex;
        impl<'de> Visitor<'de> for AsIndex {
            type Value = IndexBy<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of 32 bits, or an object with an `id`")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<IndexBy<'de>, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(IndexBy::Number).map_err(wrong)
            }
            fn visit_map<M: MapAccess<'de>>(self, json: M) -> Result<IndexBy<'de>, M::Error> {
                let id = IndexId::deserialize(de::value::MapAccessDeserializer::new(json));
                id.map(|it| IndexBy::Id(it.id))
            }
        }
        from.deserialize_any(AsIndex)
    }
}

impl Serialize for IndexBy<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(to),
            Self::Id(id) => IndexId::new(id.clone()).serialize(to),
        }
    }
}

impl HasSchema for IndexBy<'_> {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [u32::schema(to), IndexId::schema(to)]})
    }
}

#[cfg(feature = "spirv")]
impl Sums {
    /// Returns the numbers, which have 32 bits each.
    pub fn numbers(self) -> Outcome<Vec<i32>> {
        let number = |Signed(plus)| {
            i32::try_from(plus).map_err(|_| Error::bad_argument(format!("{plus} does not fit in 32 bits")))
        };
        self.0.into_iter().map(number).collect()
    }
}

#[cfg(feature = "spirv")]
impl<'a> IndexBy<'a> {
    pub fn read(self, binder: &Binder<'_, 'a>) -> Outcome<Index> {
        Ok(match self {
            Self::Number(number) => Index::Number(number),
            Self::Id(id) => Index::Id(binder.id(&id)?),
        })
    }

    pub fn write(index: Index) -> Self {
        match index {
            Index::Number(number) => Self::Number(number),
            Index::Id(id) => Self::Id(Named::Number(id.0.into())),
        }
    }
}
