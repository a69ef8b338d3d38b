//! Source files in a module and in a line program, in one form.

use std::borrow::Cow;

use crate::consumer::Consumer;
use crate::model::{File, FileId, Module};
use crate::read::LineProgram;

/// Source file: directory, name, MD5 digest.
pub(super) type Source<'t> = (Cow<'t, str>, Cow<'t, str>, Option<[u8; 16]>);

/// A module's source file, as a line program with this version has it. Before DWARF 5 a line program has neither the
/// unit's directory nor digests, and an empty name ends the directory list: `.` replaces an empty directory.
pub(super) fn described<'t>(module: &'t Module, consumer: &Consumer, id: FileId, version: u16) -> Source<'t> {
    let File { unit, name, directory, md5, source: _ } = module.file(id);
    let unit = module.unit(*unit).directory.filter(|_| version >= 5);
    let directory = directory.or(unit).map(|directory| module.string(directory));
    let directory = match directory {
        Some("") if version < 5 => ".",
        directory => directory.unwrap_or_default(),
    };
    if consumer.has_line_directives {
        // A directive has one path.
        let name = module.string(*name);
        let path = if directory == "." || directory.is_empty() {
            name.into()
        } else {
            format!("{}/{name}", directory.trim_end_matches('/')).into()
        };
        return ("".into(), path, None);
    }
    (directory.into(), module.string(*name).into(), md5.filter(|_| version >= 5))
}

/// A line program's source file; `None` if the file or its directory is not listed.
pub(super) fn source<'o>(program: &LineProgram<'o>, file: u64) -> Option<Source<'o>> {
    let file = program.file(file)?;
    let directory = match program.directory(file.directory) {
        None if program.version < 5 && file.directory == 0 => &[],
        directory => directory?,
    };
    Some((String::from_utf8_lossy(directory), String::from_utf8_lossy(file.path), file.md5))
}
