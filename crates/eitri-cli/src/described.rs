//! Descriptions in files.

use std::path::Path;

use eitri::error::ErrorKind;
use eitri::model::Module;

use super::{Failure, hints, input, of};

/// Reads the description in a file.
pub fn describe(file: &Path) -> Result<Module, Failure> {
    described(file, &input(file)?)
}

/// Reads the description in the text of a file.
pub fn described(file: &Path, text: &[u8]) -> Result<Module, Failure> {
    if hints::is_elf(text) {
        return Err(not_described(file));
    }
    Module::from_json(text).map_err(of(file))
}

/// Refuses an object file where a description is expected.
pub fn not_described(file: &Path) -> Failure {
    of(file)(ErrorKind::BadArgument("a description is expected: this is an object file".into()).into())
}
