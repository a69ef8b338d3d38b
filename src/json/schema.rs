//! Parts of JSON Schemas (draft 2020-12), generated from the types that read or write the format.
//!
//! A schema accepts every file that eitri accepts, except for `null` for an optional key. A schema rejects unknown and
//! missing keys and values with another shape, and does not check references between statements.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Definitions in a schema under construction.
#[derive(Debug, Default)]
pub(crate) struct Schemas(pub BTreeMap<&'static str, Value>);

impl Schemas {
    /// Returns a reference to a definition, which is made at the first use.
    pub fn named(&mut self, name: &'static str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.0.contains_key(name) {
            // Found by a definition that references itself.
            self.0.insert(name, Value::Null);
            let made = make(self);
            self.0.insert(name, made);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }
}

/// A type that is read from JSON.
pub(crate) trait HasSchema {
    /// Whether a key with this type is optional.
    const MAY_BE_ABSENT: bool = false;

    fn schema(to: &mut Schemas) -> Value;
}

/// Returns a field's name in the format: the Rust name without `r#`.
pub(crate) fn key(field: &str) -> &str {
    field.trim_start_matches("r#")
}

/// An object with these keys: each with its schema, and whether it is optional.
pub(crate) fn object(keys: impl IntoIterator<Item = (&'static str, Value, bool)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (key, schema, may_be_absent) in keys {
        if !may_be_absent {
            required.push(key);
        }
        properties.insert(key.into(), schema);
    }
    let mut object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// Adds rules to a schema.
pub(crate) fn also(mut schema: Value, rules: Value) -> Value {
    if let (Value::Object(schema), Value::Object(rules)) = (&mut schema, rules) {
        schema.extend(rules);
    }
    schema
}

/// Returns the schema for an object with exactly one of several keys.
pub(crate) fn one_of_keys(keys: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let properties: Map<_, _> = keys.into_iter().map(|(key, schema)| (key.into(), schema)).collect();
    json!({
        "type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1
    })
}

/// Adds a description and the first format version with the key to a schema, unless they are empty.
pub(crate) fn about(mut schema: Value, text: &str, since: &str) -> Value {
    if !text.is_empty() {
        schema["description"] = text.trim().into();
    }
    if !since.is_empty() {
        schema["$comment"] = format!("since {since}").into();
    }
    schema
}

/// Returns the schema for a choice between keys, each with its operands' schemas; a key without operands is a string.
pub(crate) fn choice(keys: impl IntoIterator<Item = (&'static str, Vec<Value>)>) -> Value {
    let mut any = Vec::new();
    let mut with = Vec::new();
    for (key, mut operands) in keys {
        match operands.len() {
            0 => any.push(json!({"const": key})),
            1 => with.push((key, operands.remove(0))),
            _ => with.push((key, list(operands))),
        }
    }
    any.push(one_of_keys(with));
    json!({"anyOf": any})
}

/// Returns the schema for a list with exactly these items.
pub(crate) fn list(items: Vec<Value>) -> Value {
    json!({"type": "array", "minItems": items.len(), "prefixItems": items, "items": false})
}

/// A string that matches a regular expression.
pub(crate) fn string(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// An integer in an inclusive range.
fn integer(minimum: i64, maximum: u64) -> Value {
    json!({"type": "integer", "minimum": minimum, "maximum": maximum})
}

/// Returns the schema for a choice between words.
pub(crate) fn one_of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"enum": words.into_iter().collect::<Vec<_>>()})
}

impl HasSchema for bool {
    fn schema(_: &mut Schemas) -> Value {
        json!({"type": "boolean"})
    }
}

impl HasSchema for i8 {
    fn schema(_: &mut Schemas) -> Value {
        integer(Self::MIN.into(), u64::from(Self::MAX.unsigned_abs()))
    }
}

impl HasSchema for u8 {
    fn schema(_: &mut Schemas) -> Value {
        integer(0, Self::MAX.into())
    }
}

impl HasSchema for u16 {
    fn schema(_: &mut Schemas) -> Value {
        integer(0, Self::MAX.into())
    }
}

impl HasSchema for u32 {
    fn schema(_: &mut Schemas) -> Value {
        integer(0, Self::MAX.into())
    }
}

impl HasSchema for u64 {
    fn schema(_: &mut Schemas) -> Value {
        integer(0, Self::MAX)
    }
}

impl HasSchema for &str {
    fn schema(_: &mut Schemas) -> Value {
        json!({"type": "string"})
    }
}

impl HasSchema for String {
    fn schema(to: &mut Schemas) -> Value {
        <&str>::schema(to)
    }
}

/// A value or `null`; an optional key.
impl<T: HasSchema> HasSchema for Option<T> {
    const MAY_BE_ABSENT: bool = true;

    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [T::schema(to), {"type": "null"}]})
    }
}

impl<T: HasSchema> HasSchema for Vec<T> {
    fn schema(to: &mut Schemas) -> Value {
        json!({"type": "array", "items": T::schema(to)})
    }
}

impl<T: HasSchema> HasSchema for &[T] {
    fn schema(to: &mut Schemas) -> Value {
        Vec::<T>::schema(to)
    }
}

impl<A: HasSchema, B: HasSchema> HasSchema for (A, B) {
    fn schema(to: &mut Schemas) -> Value {
        list(vec![A::schema(to), B::schema(to)])
    }
}

impl<A: HasSchema, B: HasSchema, C: HasSchema> HasSchema for (A, B, C) {
    fn schema(to: &mut Schemas) -> Value {
        list(vec![A::schema(to), B::schema(to), C::schema(to)])
    }
}

impl<A: HasSchema, B: HasSchema, C: HasSchema, D: HasSchema> HasSchema for (A, B, C, D) {
    fn schema(to: &mut Schemas) -> Value {
        list(vec![A::schema(to), B::schema(to), C::schema(to), D::schema(to)])
    }
}
