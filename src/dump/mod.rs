//! Facts as text, for people and for reviewed files.

mod names;
mod text;

pub use text::{DumpOptions, dump};

use crate::error::Result;
use crate::read::{Dwarf, Object};
use crate::target::Target;

/// The debug sections of an object file as text: [`dump`] of what [`read`](crate::read) finds in it.
///
/// Without a target, the one that the file names is taken.
///
/// # Errors
/// Those of [`Object::read`] and [`Dwarf::read`].
pub fn print(object: &[u8], target: Option<&Target>) -> Result<String> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read(&object)?;
    let found = if target.is_none() { object.target(None) } else { None };
    Ok(dump(&object, &dwarf, target.or(found.as_ref()), DumpOptions::default()))
}
