//! Files of the source, as a module and a line program have them.

use crate::model::{File, FileId, Module};
use crate::read::LineProgram;

/// A source file: directory, name, MD5 sum.
pub(super) type Source = (String, String, Option<[u8; 16]>);

/// A file as the module has it. Before DWARF 5 a line program does not say which the unit's directory is, nor
/// sums, and an empty name ends the list of directories: in place of one there is `.`, the same directory.
pub(super) fn described(module: &Module, id: FileId, version: u16) -> Source {
    let File { unit, name, directory, md5, source: _ } = module.file(id);
    let unit = module.unit(*unit).directory.filter(|_| version >= 5);
    let directory = directory.or(unit).map(|directory| module.string(directory));
    let directory = match directory {
        Some("") if version < 5 => ".",
        directory => directory.unwrap_or_default(),
    };
    (directory.into(), module.string(*name).into(), md5.filter(|_| version >= 5))
}

/// A file as a line program has it. `None` where the file or its directory is not listed.
pub(super) fn source(program: &LineProgram<'_>, file: u64) -> Option<Source> {
    let file = program.file(file)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let directory = match program.directory(file.directory) {
        None if program.version < 5 && file.directory == 0 => &[],
        directory => directory?,
    };
    Some((text(directory), text(file.path), file.md5))
}
