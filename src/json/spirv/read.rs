//! Reads bindings.

use super::super::position::{self, with_position};
use super::super::read::{finish, read_with_spirv};
use super::super::reader::WHAT;
use super::binder::Binder;
use crate::error::{Error, Result};
use crate::model::Module;
use crate::spirv::{Binding, names_of_ids, read as read_words};

impl Binding {
    /// Reads a [description](crate::json) with its key `spirv`, for the module in `words`. An id is a number, or the
    /// `OpName` that the module gives to one id alone.
    ///
    /// # Errors
    /// The errors of [`Module::from_json`], and those of [`read`](crate::spirv::read()).
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if the key is missing, or an object does not specify exactly
    /// one position; [`UnknownName`](crate::error::ErrorKind::UnknownName) or
    /// [`AmbiguousName`](crate::error::ErrorKind::AmbiguousName) if a name belongs to no id, or to several;
    /// [`UnknownName`](crate::error::ErrorKind::UnknownName) for an operation that is not a debug operation.
    pub fn from_json(text: impl AsRef<[u8]>, words: &[u32]) -> Result<(Module, Self)> {
        let text = position::utf8(WHAT, text.as_ref())?;
        let (reader, bound) = read_with_spirv(text, None)?;
        let Some(bound) = bound else {
            let what = "description has no key `spirv`; expected the ids and positions of a SPIR-V module";
            return Err(with_position(Error::bad_argument(what), position::key(text, "describe")));
        };
        let facts = read_words(words)?;
        let ids = names_of_ids(facts.layout());
        let mut binder = Binder { reader: &reader, text, ids, unit: Binder::first(), binding: Self::new() };
        bound.read(&mut binder).map_err(|error| with_position(error, position::key(text, "spirv")))?;
        let binding = binder.binding;
        Ok((finish(text, reader.builder)?, binding))
    }
}
