#![doc = include_str!("../../docs/description.md")]

mod apply;
mod apply_lanes;
mod apply_names;
mod apply_types;
mod expression;
mod frames;
mod ids;
mod later;
mod lists;
mod live;
mod loc;
mod names;
pub(crate) mod place;
mod read;
mod row;
pub(crate) mod schema;
mod shape;
mod statement;
mod target;
pub(crate) mod values;
mod write;
mod write_lanes;
mod write_names;
mod write_types;

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
    /// Every error of the [`Builder`](crate::build::Builder);
    /// [`ErrorKind::Malformed`](crate::error::ErrorKind::Malformed) and
    /// [`Truncated`](crate::error::ErrorKind::Truncated) for a text that is not a description, and
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for a reference to an unknown entity.
    /// [`At::json`](crate::error::At::json) is the position in the text.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        read::module(text.as_ref())
    }

    /// Writes the [description](crate::json) of this module, from which [`from_json`](Self::from_json) makes an equal
    /// module.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
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
