//! Files, and their lines and columns. A line is compared by its file's path, because both sides number files
//! differently.

use super::described::{Duplicates, Projection, Properties};
use super::shapes::{Quoted, Shape, Text, shape};
use crate::model::{FileId, SourceLine};
use crate::omission::{Property, Subject};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

pub(super) fn path_text(projection: &mut Projection<'_>, file: FileId) -> Text {
    let text = projection.paths[file].unwrap_or_else(|| projection.shapes.text_of(&projection.path(file)));
    *projection.paths[file].insert(text)
}

pub(super) fn files(projection: &mut Projection<'_>) {
    for (id, file) in projection.module.files() {
        let path = projection.path(id);
        let mut properties = Properties::new();
        let text = file.source.map(|text| projection.module.string(text)).filter(|text| !text.is_empty());
        if let Some(text) =
            text.filter(|_| !projection.omissions.has(Subject::File(id), Property::SourceText))
        {
            properties.push((Property::SourceText, "text".into(), shape!(projection.shapes; Quoted(text))));
        }
        let has_checksums = projection.mode.set.has_operand(InstructionName::Source, Field::Checksum);
        if let Some(md5) = file.md5.filter(|_| has_checksums) {
            let number = u128::from_be_bytes(md5);
            properties.push((
                Property::Checksum,
                "checksum".into(),
                shape!(projection.shapes; format!("{number:032x}")),
            ));
        }
        let key = shape!(projection.shapes; "file", path);
        projection.record(key, Subject::File(id), &properties, Duplicates::Merged);
    }
}

/// The shape of an entity's line.
pub(super) fn line(
    projection: &mut Projection<'_>,
    line: Option<SourceLine>,
    subject: Subject,
    property: Property,
) -> Shape {
    let line = projection.omissions.line(subject, property, line);
    line_shape(projection, line)
}

/// A line's shape; line 0 is not a line.
pub(super) fn line_shape(projection: &mut Projection<'_>, line: Option<SourceLine>) -> Shape {
    match line.filter(|line| line.line != 0) {
        Some(SourceLine { file, line, column }) => {
            let path = path_text(projection, file);
            shape!(projection.shapes; path, u64::from(line), u64::from(column))
        }
        None => shape!(projection.shapes; "no line"),
    }
}

/// The shape of an `OpLine` that the module already had, by its file's path.
pub(super) fn line_at(projection: &mut Projection<'_>, file: Id, line: u32, column: u32) -> Shape {
    let path = projection.layout.string(file).unwrap_or_default();
    if line == 0 || path.is_empty() {
        line_shape(projection, None)
    } else {
        shape!(projection.shapes; path, u64::from(line), u64::from(column))
    }
}
