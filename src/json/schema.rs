//! Parts of JSON Schemas (draft 2020-12), generated from the types that read or write the format.
//!
//! A schema accepts every file that eitri accepts, except for `null` for an optional key. A schema rejects unknown and
//! missing keys and values of another shape, and does not check references between statements.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::loc::{ExpressionAt, NumberAt, OperandSeed, Place};
use super::statement::Expression;
use super::values::{Bytes, Integer, Line, Named, Number, Signed, Text, Vocabulary, Word};
use crate::model::{Form, NodeRow, Operand, Sort, rows};

/// Definitions of a schema under construction.
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
    /// Whether a key of this type is optional.
    const MAY_BE_ABSENT: bool = false;

    fn schema(to: &mut Schemas) -> Value;
}

/// Name of a field in the format: the Rust name without `r#`.
pub(crate) fn key(field: &str) -> &str {
    field.trim_start_matches("r#")
}

/// An object with these keys: each with its schema, and whether it is optional.
pub(crate) fn object(keys: impl IntoIterator<Item = (&'static str, Value, bool)>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
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

/// An object with exactly one of several keys.
pub(crate) fn one_of_keys(keys: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let properties: Map<_, _> = keys.into_iter().map(|(key, schema)| (key.into(), schema)).collect();
    json!({
        "type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1
    })
}

/// Adds a description and the first version of the format with the key to a schema, unless they are empty.
pub(crate) fn about(mut schema: Value, text: &str, since: &str) -> Value {
    if !text.is_empty() {
        schema["description"] = text.trim().into();
    }
    if !since.is_empty() {
        schema["$comment"] = format!("since {since}").into();
    }
    schema
}

/// A choice of keys, each with the schemas of its operands; a key without operands is a string.
pub(crate) fn choice(keys: impl IntoIterator<Item = (&'static str, Vec<Value>)>) -> Value {
    let (mut any, mut with) = (Vec::new(), Vec::new());
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

/// A list of exactly these items.
pub(crate) fn list(items: Vec<Value>) -> Value {
    json!({"type": "array", "minItems": items.len(), "prefixItems": items, "items": false})
}

/// A string that matches a regular expression.
pub(crate) fn string(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// A choice of words.
pub(crate) fn one_of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"enum": words.into_iter().collect::<Vec<_>>()})
}

macro_rules! described { ($($(<$life:lifetime>)? $type:ty: |$to:ident| $schema:expr;)*) => { $(
    impl HasSchema for $type {
        fn schema($to: &mut Schemas) -> Value {
            $schema
        }
    }
)* } }
described! {
    bool: |_to| json!({"type": "boolean"});
    i8: |_to| json!({"type": "integer", "minimum": i8::MIN, "maximum": i8::MAX});
    u8: |_to| json!({"type": "integer", "minimum": 0, "maximum": u8::MAX});
    u16: |_to| json!({"type": "integer", "minimum": 0, "maximum": u16::MAX});
    u32: |_to| json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
    u64: |_to| json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
    &str: |_to| json!({"type": "string"});
    String: |_to| json!({"type": "string"});
    Text<'_>: |_to| json!({"type": "string"});
    Named<'_>: |to| to.named("name_or_number", |_| json!({
        "anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0, "maximum": u64::MAX}]
    }));
    Number: |to| to.named("number", |_| json!({
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": u64::MAX}, string("^0x0*[0-9a-fA-F]{1,16}$")]
    }));
    Signed: |to| to.named("signed", |_| json!({"anyOf": [
        {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
        string("^(-?0x0*([0-7][0-9a-fA-F]{15}|[0-9a-fA-F]{1,15})|-0x0*80{15})$")
    ]}));
    Integer: |to| to.named("integer", |_| json!({"anyOf": [
        {"type": "integer", "minimum": i64::MIN, "maximum": u64::MAX}, string("^-?0x0*[0-9a-fA-F]{1,16}$")
    ]}));
    Bytes: |to| to.named("bytes", |_| string("^ *([0-9a-fA-F]{2} *)*$"));
    Line<'_>: |to| to.named("line", |to| {
        let line = u32::schema(to);
        json!({"type": "array", "prefixItems": [{"type": "string"}, line, line], "items": false, "minItems": 2})
    });
}

impl<T: Vocabulary> HasSchema for Word<T> {
    fn schema(_: &mut Schemas) -> Value {
        one_of_words(T::NAMES.iter().copied())
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

macro_rules! tuples { ($(($($type:ident)*))*) => { $(
    impl<$($type: HasSchema),*> HasSchema for ($($type,)*) {
        fn schema(to: &mut Schemas) -> Value {
            list(vec![$($type::schema(to)),*])
        }
    }
)* } }
tuples! { (A B) (A B C) (A B C D) }

/// Schemas of types that are written from the model, by the types that are read.
macro_rules! parts { ($($(#[$doc:meta])* $type:ty: |$to:ident| $schema:expr;)*) => { $(
    impl HasSchema for $type {
        fn schema($to: &mut Schemas) -> Value {
            $schema
        }
    }
)* } }
parts! {
    Place<'_>: |to| nodes(Sort::Loc, to);
    NumberAt<'_>: |to| nodes(Sort::Val, to);
    ExpressionAt<'_>: |to| Expression::schema(to);
}

/// Schema of the nodes of a sort, from the table of nodes.
pub(super) fn nodes(sort: Sort, to: &mut Schemas) -> Value {
    let name = match sort {
        Sort::Loc => "location",
        Sort::Val => "value",
    };
    to.named(name, |to| {
        let described = |row: &NodeRow, schema: Value| {
            let mut schema = about(schema, &row.doc.concat(), "");
            schema["examples"] = json!([serde_json::from_str::<Value>(row.example).unwrap_or_default()]);
            schema
        };
        let (mut any, mut keys) = (Vec::new(), Vec::new());
        for row in rows(sort) {
            let operand = match row.form {
                // A part has its schema in that of `parts`.
                Form::Bare if sort == Sort::Loc => continue,
                Form::Bare => {
                    any.push(described(row, Number::schema(to)));
                    continue;
                }
                Form::Word => {
                    any.push(described(row, json!({"const": row.key})));
                    continue;
                }
                Form::Operands([only]) => operand(only, to),
                Form::Operands(several) => list(several.iter().map(|one| operand(one, to)).collect()),
                Form::List([only]) => json!({"type": "array", "items": operand(only, to)}),
                Form::List(several) => {
                    json!({"type": "array", "items": list(several.iter().map(|one| operand(one, to)).collect())})
                }
                Form::Parts => {
                    json!({"type": "array", "items": list(vec![titled("place", nodes(Sort::Loc, to)), titled("bits", Number::schema(to))])})
                }
            };
            keys.push((row.key, described(row, operand)));
        }
        any.push(one_of_keys(keys));
        json!({"anyOf": any})
    })
}

fn operand(operand: &Operand, to: &mut Schemas) -> Value {
    titled(operand.name, OperandSeed::schema(operand.kind, to))
}

/// Adds the title of a definition to a schema.
fn titled(name: &str, mut schema: Value) -> Value {
    schema["title"] = name.into();
    schema
}
