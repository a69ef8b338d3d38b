//! Hints at the end of messages: the option, command or argument order that was probably intended.

use std::path::Path;

use eitri::Error;
use eitri::error::{ErrorKind, Feature};

use super::{Failure, in_file};

/// Hint for an output that is also an input.
pub const OTHER_OUTPUT: &str = "each output takes the name of another file";

/// The command that lists the valid names, for an unknown name.
pub fn list_of(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::UnknownTarget { .. }
        | ErrorKind::TargetLacks {
            feature: Feature::Lanes | Feature::LaneScratch | Feature::WaveScratch,
            ..
        } => "`eitri targets` lists the targets",
        _ => "",
    }
}

/// Adds the file to an error, and a hint if the consumer cannot express something.
pub fn if_refused(file: &Path, hint: Option<&'static str>) -> impl Fn(Error) -> Failure {
    move |error| {
        let hint = hint.filter(|_| matches!(error.kind(), ErrorKind::Inexpressible { .. }));
        in_file(file)(error).and(hint.unwrap_or_default())
    }
}

/// Adds the file to an error from attaching sections, and a hint if the object has the section already.
pub fn if_there(file: &Path) -> impl Fn(Error) -> Failure {
    move |error| {
        let hint = match error.kind() {
            ErrorKind::AlreadyPresent(_) => "--replace removes the debug sections of the object first",
            _ => "",
        };
        in_file(file)(error).and(hint)
    }
}

pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// Whether the bytes are JSON, such as a description.
pub fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}
