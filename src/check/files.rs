//! Source files of a module and of a line program.

use crate::consumer::Consumer;
use crate::model::{File, FileId, Module};
use crate::read::LineProgram;

/// Source file: directory, name, MD5 digest.
pub(super) type Source = (String, String, Option<[u8; 16]>);

/// Source file of the module, as a line program of this version has it. Before DWARF 5 a line program has neither the
/// unit's directory nor digests, and an empty name ends the list of directories: `.` replaces an empty directory.
pub(super) fn described(module: &Module, consumer: &Consumer, id: FileId, version: u16) -> Source {
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
            format!("{}/{name}", directory.trim_end_matches('/'))
        };
        return (String::new(), path, None);
    }
    (directory.into(), module.string(*name).into(), md5.filter(|_| version >= 5))
}

/// Source file of a line program; `None` if the file or its directory is not listed.
pub(super) fn source(program: &LineProgram<'_>, file: u64) -> Option<Source> {
    let file = program.file(file)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let directory = match program.directory(file.directory) {
        None if program.version < 5 && file.directory == 0 => &[],
        directory => directory?,
    };
    Some((text(directory), text(file.path), file.md5))
}
