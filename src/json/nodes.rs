//! Schemas for locations and numbers, from the [node](crate::model::Node) table.

use serde_json::{Value, json};

use super::expression::Expression;
use super::loc::{ExpressionAt, NumberAt, Place};
use super::schema::{self, HasSchema, Schemas};
use super::values::{Bytes, Named, Number, Ref, Signed, Text};
use super::words::Word;
use crate::model::{Form, Half, Kind, NodeRow, Operand, Sort, rows};

impl HasSchema for Place<'_> {
    fn schema(to: &mut Schemas) -> Value {
        nodes(Sort::Loc, to)
    }
}

impl HasSchema for NumberAt<'_> {
    fn schema(to: &mut Schemas) -> Value {
        nodes(Sort::Val, to)
    }
}

impl HasSchema for ExpressionAt<'_> {
    fn schema(to: &mut Schemas) -> Value {
        Expression::schema(to)
    }
}

/// Returns the schema for a sort's nodes, from the node table.
fn nodes(sort: Sort, to: &mut Schemas) -> Value {
    let name = match sort {
        Sort::Loc => "location",
        Sort::Val => "value",
    };
    to.named(name, |to| {
        let described = |row: &NodeRow, schema: Value| {
            let mut schema = schema::about(schema, &row.doc.concat(), "");
            schema["examples"] = json!([serde_json::from_str::<Value>(row.example).unwrap_or_default()]);
            schema
        };
        let mut any = Vec::new();
        let mut keys = Vec::new();
        for row in rows(sort) {
            let operand = match row.form {
                // A part's schema is inside the schema of `parts`.
                Form::Bare if sort == Sort::Loc => continue,
                Form::Bare => {
                    any.push(described(row, Number::schema(to)));
                    continue;
                }
                Form::Word => {
                    any.push(described(row, json!({"const": row.key})));
                    continue;
                }
                Form::Operands([only]) => operand_schema(only, to),
                Form::Operands(several) => schema::list(several.iter().map(|operand| operand_schema(operand, to)).collect()),
                Form::List([only]) => json!({"type": "array", "items": operand_schema(only, to)}),
                Form::List(several) => {
                    json!({"type": "array", "items": schema::list(several.iter().map(|operand| operand_schema(operand, to)).collect())})
                }
                Form::Parts => {
                    let items = vec![titled("place", nodes(Sort::Loc, to)), titled("bits", Number::schema(to))];
                    json!({"type": "array", "items": schema::list(items)})
                }
            };
            keys.push((row.key, described(row, operand)));
        }
        any.push(schema::one_of_keys(keys));
        json!({"anyOf": any})
    })
}

/// Returns an operand's schema.
fn operand_schema(operand: &Operand, to: &mut Schemas) -> Value {
    let schema = match operand.kind {
        Kind::Node(sort) => nodes(sort, to),
        Kind::Bytes => Bytes::schema(to),
        Kind::Register | Kind::Space => Named::schema(to),
        Kind::Variable | Kind::Procedure => Ref::schema(to),
        Kind::Symbol => Text::schema(to),
        Kind::Expression => Expression::schema(to),
        Kind::Half => Word::<Half>::schema(to),
        Kind::Unsigned32 => u32::schema(to),
        Kind::Unsigned => Number::schema(to),
        Kind::Signed => Signed::schema(to),
    };
    titled(operand.name, schema)
}

/// Adds a definition's title to a schema.
fn titled(name: &str, mut schema: Value) -> Value {
    schema["title"] = name.into();
    schema
}
