#![doc = include_str!("../../docs/description.md")]

mod apply;
mod apply_lanes;
mod apply_names;
mod apply_types;
mod expression;
mod frames;
mod ids;
mod lists;
mod loc;
mod names;
pub(crate) mod place;
mod read;
pub(crate) mod schema;
mod shape;
mod statement;
pub(crate) mod words;
mod write;
mod write_lanes;
mod write_names;
mod write_types;
mod written;

pub use loc::{LOCATIONS, NUMBERS};
pub use statement::STATEMENTS;
pub(crate) use statement::document_schema;

use std::io::Write;

use crate::error::Result;
use crate::model::Module;

impl Module {
    /// Reads a [description](crate::json).
    ///
    /// # Errors
    /// Whatever the [`Builder`](crate::build::Builder) refuses;
    /// [`ErrorKind::Malformed`](crate::error::ErrorKind::Malformed) and
    /// [`Truncated`](crate::error::ErrorKind::Truncated) where the text is no description, and
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where it refers to what was not said.
    /// [`At::json`](crate::error::At::json) is the place in the text.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        read::module(text.as_ref())
    }

    /// The [description](crate::json) of this module: [`from_json`](Self::from_json) makes an equal one of it.
    ///
    /// # Panics
    /// Never: memory can be written to.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out).expect("memory can be written to");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Writes the [description](crate::json) of this module, a statement on each line.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::error::ErrorKind::Io).
    pub fn write_json(&self, to: impl Write) -> Result<()> {
        write::module(self, to)
    }
}
