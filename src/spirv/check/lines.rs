//! Files, and lines and columns of them.

use super::described::{Projection, Properties};
use super::shapes::{Quoted, Shape, Text, shape};
use super::unencodable::is_absolute;
use crate::model::{FileId, ScopeId, ScopeKind, SourceLine};
use crate::omission::{Property, Subject};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Projection<'_> {
    pub(super) fn path_text(&mut self, file: FileId) -> Text {
        let text = self.paths[file].unwrap_or_else(|| self.shapes.text_of(&self.path(file)));
        *self.paths[file].insert(text)
    }

    pub(super) fn path(&self, file: FileId) -> String {
        let file = self.module.file(file);
        let directory = self.module.unit(file.unit).directory;
        let parts = [directory, file.directory, Some(file.name)];
        let mut path = String::new();
        for part in parts.into_iter().flatten().map(|part| self.module.string(part)) {
            if is_absolute(part) {
                path.clear();
            } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
                path.push('/');
            }
            path.push_str(part);
        }
        path
    }

    pub(super) fn files(&mut self) {
        for (id, file) in self.module.files() {
            let path = self.path(id);
            let mut all = Properties::new();
            let text = file.source.map(|text| self.module.string(text)).filter(|text| !text.is_empty());
            if let Some(text) = text.filter(|_| !self.omissions.has(Subject::File(id), Property::SourceText))
            {
                all.push((Property::SourceText, "text".into(), shape!(self.shapes; Quoted(text))));
            }
            let has_checksums = self.mode.set.has_operand(Name::Source, Field::Checksum);
            if let Some(md5) = file.md5.filter(|_| has_checksums) {
                let number = u128::from_be_bytes(md5);
                all.push((
                    Property::Checksum,
                    "checksum".into(),
                    shape!(self.shapes; format!("{number:032x}")),
                ));
            }
            let key = shape!(self.shapes; "file", path);
            self.record(key, Subject::File(id), &all, true);
        }
    }

    /// The file of a scope: that of its line, or, for a block without a line, of the enclosing scope.
    pub(super) fn file_of(&self, mut scope: ScopeId) -> FileId {
        loop {
            let data = self.module.scope(scope);
            let (line, next) = match data.kind {
                ScopeKind::Function(id) => {
                    let function = self.module.function(id);
                    let declared = || self.module.function(function.specification?).line;
                    (function.line.or_else(declared), None)
                }
                ScopeKind::Inlined { function, .. } => (None, Some(self.module.function(function).scope)),
                ScopeKind::Block if self.call(scope).is_some() => (None, data.origin.or(data.parent)),
                ScopeKind::Block => (data.line, data.parent),
                _ => (data.line, None),
            };
            match (line, next) {
                (Some(line), _) => return line.file,
                (None, Some(next)) => scope = next,
                (None, None) => return self.module.unit(data.unit).file,
            }
        }
    }

    /// The shape of an entity's line.
    pub(super) fn line(&mut self, line: Option<SourceLine>, subject: Subject, property: Property) -> Shape {
        let line = self.omissions.line(subject, property, line);
        self.line_shape(line)
    }

    /// The shape of a line; line 0 is not a line.
    pub(super) fn line_shape(&mut self, line: Option<SourceLine>) -> Shape {
        match line.filter(|line| line.line != 0) {
            Some(SourceLine { file, line, column }) => {
                let path = self.path_text(file);
                shape!(self.shapes; path, u64::from(line), u64::from(column))
            }
            None => shape!(self.shapes; "no line"),
        }
    }

    /// The shape of an `OpLine` that the module had, by the path of its file.
    pub(super) fn line_at(&mut self, file: Id, line: u32, column: u32) -> Shape {
        let path = self.layout.string(file).unwrap_or_default();
        match line == 0 || path.is_empty() {
            true => self.line_shape(None),
            false => shape!(self.shapes; path, u64::from(line), u64::from(column)),
        }
    }
}
