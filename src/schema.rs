//! JSON Schemas of the formats: descriptions, stopped machines, conformance vectors, findings, rewrites, statistics.
//!
//! ```
//! use eitri::schema::Schema;
//!
//! // For an editor that completes and checks descriptions.
//! for name in Schema::NAMES {
//!     let schema = Schema::named(name).expect("a known name");
//!     println!("{name}.schema.json: {} bytes", schema.to_string().len());
//! }
//! ```

use core::fmt;

use serde_json::{Map, Value, json};

use crate::conform::{machine_schema, vectors_schema};
use crate::json::schema::Schemas;
use crate::json::{document_schema, finding_schema, rewritten_schema, statistics_schema};

/// JSON Schema of a format.
///
/// ```
/// use eitri::schema::Schema;
///
/// let schema = Schema::Description.to_string();
/// assert!(schema.contains("https://json-schema.org/draft/2020-12/schema"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schema {
    /// The schema of a [description](crate::json).
    Description,
    /// The schema of a file with one or several stopped [machines](crate::conform::VectorMachine).
    Machine,
    /// The schema of a file of [conformance vectors](crate::conform).
    Vectors,
    /// The schema of a [finding](crate::json::write_finding), a line of `eitri lint --format json`.
    Finding,
    /// The schema of [what a rewrite changed](crate::json::write_rewritten), a line of `eitri rewrite --format json`.
    Rewritten,
    /// The schema of [statistics](crate::json::write_statistics), a line of `eitri stats --format json`.
    Statistics,
}

impl Schema {
    /// Names of the schemas, for [`named`](Self::named).
    pub const NAMES: [&'static str; 6] =
        ["description", "machine", "vectors", "finding", "rewritten", "statistics"];

    /// The schema with this name.
    pub fn named(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name)?;
        let all = [
            Self::Description,
            Self::Machine,
            Self::Vectors,
            Self::Finding,
            Self::Rewritten,
            Self::Statistics,
        ];
        Some(all[index])
    }

    fn value(self) -> Value {
        let mut schemas = Schemas::default();
        let (title, root) = match self {
            Self::Description => ("A description of debug information", document_schema(&mut schemas)),
            Self::Machine => ("A stopped machine", machine_schema(&mut schemas)),
            Self::Vectors => ("Conformance vectors", vectors_schema(&mut schemas)),
            Self::Finding => ("A finding of lint", finding_schema(&mut schemas)),
            Self::Rewritten => ("What a rewrite changed and lost", rewritten_schema(&mut schemas)),
            Self::Statistics => ("Statistics of an object", statistics_schema(&mut schemas)),
        };
        let mut root = match root {
            Value::Object(root) => root,
            _ => Map::new(),
        };
        root.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        root.insert("title".into(), title.into());
        root.insert("$defs".into(), json!(schemas.0));
        root.into()
    }
}

/// Prints the schema as JSON.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:#}", self.value())
    }
}
