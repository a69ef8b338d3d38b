//! Parts of statements that are read once their owner is known.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::{HasSchema, Schemas};

/// A statement part whose reading is deferred until its owner is known, and which is written as `T`.
#[derive(Debug)]
pub(super) enum Later<'a, T> {
    Text(&'a RawValue),
    Model(T),
}

impl<'de: 'a, 'a, T> Deserialize<'de> for Later<'a, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(from).map(Self::Text)
    }
}

impl<T: Serialize> Serialize for Later<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(to),
            Self::Model(model) => model.serialize(to),
        }
    }
}

impl<T: HasSchema> HasSchema for Later<'_, T> {
    fn schema(to: &mut Schemas) -> Value {
        T::schema(to)
    }
}
