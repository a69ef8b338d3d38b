//! Descriptions in files.

use std::path::Path;

use eitri::error::ErrorKind;
use eitri::model::Module;

use super::{Failure, hints, in_file, input};

/// Reads the description in a file.
pub fn describe(file: &Path) -> Result<Module, Failure> {
    described(file, &input(file)?)
}

/// Reads the description in a file's text.
pub fn described(file: &Path, text: &[u8]) -> Result<Module, Failure> {
    if hints::is_elf(text) {
        return Err(not_described(file));
    }
    Module::from_json(text).map_err(in_file(file))
}

/// Refuses an object file where a description is expected.
pub fn not_described(file: &Path) -> Failure {
    in_file(file)(ErrorKind::BadArgument("this is an object file; expected a description".into()).into())
}
