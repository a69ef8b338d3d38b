//! Rows of line tables, besides their lines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;

/// Properties of a row besides its line.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", expecting = "an object", deny_unknown_fields, default)]
pub(super) struct RowFacts {
    #[serde(skip_serializing_if = "is_zero")]
    pub discriminator: u32,
    /// Not the beginning of a statement.
    #[serde(skip_serializing_if = "is_false")]
    pub not_stmt: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub prologue_end: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub epilogue_begin: bool,
}
shaped! { RowFacts }

impl HasSchema for RowFacts {
    fn schema(to: &mut Schemas) -> Value {
        let flags = ["not_stmt", "prologue_end", "epilogue_begin"];
        let flags = flags.map(|key| (key, bool::schema(to), true));
        schema::object(flags.into_iter().chain([("discriminator", u32::schema(to), true)]))
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}
