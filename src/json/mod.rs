#![doc = include_str!("../../docs/description.md")]

mod attributes;
mod calls;
mod code;
mod expression;
mod facts;
mod finding;
mod frames;
mod functions;
mod ids;
mod lanes;
mod language;
mod later;
mod lists;
mod loc;
mod located;
mod members;
mod names;
mod nodes;
mod objects;
mod output_schemas;
mod plain;
pub(crate) mod position;
mod read;
mod reader;
#[cfg(feature = "rewrite")]
mod rewritten;
pub(crate) mod schema;
pub(crate) mod shape;
mod spirv;
mod statement;
#[cfg(feature = "stats")]
mod statistics;
mod target;
mod types;
#[cfg(feature = "import")]
mod unimported;
mod units;
pub(crate) mod values;
mod variables;
pub(crate) mod words;
mod write;
mod written;

pub(crate) use finding::finding_schema;
pub use finding::write_finding;
pub use loc::{LOCATIONS, NUMBERS};
pub use located::{Located, locate};
pub(crate) use output_schemas::{rewritten_schema, statistics_schema};
pub use plain::{PlainLive, PlainVariable};
pub use position::without_lines;
pub(crate) use read::document_schema;
#[cfg(feature = "rewrite")]
pub use rewritten::write_rewritten;
pub use statement::STATEMENTS;
#[cfg(feature = "stats")]
pub use statistics::write_statistics;
pub use target::{read_target, target, write_target};
#[cfg(feature = "import")]
pub use unimported::write_unimported;

use std::io::Write;

use crate::error::Result;
use crate::model::Module;
use crate::track::CodeEffects;

impl Module {
    /// Reads a [description](crate::json).
    ///
    /// # Errors
    /// Every error that the [`Builder`](crate::build::Builder) returns;
    /// [`ErrorKind::Malformed`](crate::error::ErrorKind::Malformed) and
    /// [`Truncated`](crate::error::ErrorKind::Truncated) for a text that is not a description, and
    /// [`UnknownName`](crate::error::ErrorKind::UnknownName) and
    /// [`AmbiguousName`](crate::error::ErrorKind::AmbiguousName) for a reference to no entity, or to several;
    /// [`DuplicateName`](crate::error::ErrorKind::DuplicateName) for an id that another entity has.
    /// [`At::json`](crate::error::At::json) is the position in the text.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        read::module(text.as_ref(), &|_| None)
    }

    /// Reads a [description](crate::json) with further variables, which are not written as text first: for a description
    /// that another language's compiler makes. `variables` returns the variable with a number, counted from 0, up to a number
    /// without a variable. They are in the order of their numbers of [statements before](crate::json::PlainVariable::after). After
    /// an error, they are read again.
    ///
    /// # Errors
    /// The errors of [`from_json`](Self::from_json). The path of an error about a variable is `variables[3]`, where the first has
    /// the number 0.
    pub fn from_json_with<'v>(
        text: impl AsRef<[u8]>,
        variables: impl Fn(usize) -> Option<PlainVariable<'v>>,
    ) -> Result<Self> {
        read::module(text.as_ref(), &|number| variables(number))
    }

    /// Writes this module's [description](crate::json), from which [`from_json`](Self::from_json) makes an equal
    /// module.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out).expect("memory can be written to");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Writes this module's [description](crate::json), a statement on each line.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::error::ErrorKind::Io).
    pub fn write_json(&self, to: impl Write) -> Result<()> {
        write::module(&ids::Known::new(self), None::<(&str, &())>, to)
    }
}

impl CodeEffects {
    /// Reads a [description](crate::json) with the statements about code, in their order. The module has the same ids.
    ///
    /// # Errors
    /// The errors that [`Module::from_json`] and [`CodeEffects`]'s methods return.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<(Module, Vec<Self>)> {
        located::read_code(text.as_ref())
    }
}
