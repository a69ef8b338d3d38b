//! Units, files, namespaces, blocks, inlined calls and macros: registered, and written from the model.

use std::io::Write;

use super::read::Reader;
use super::statement::{
    FileFacts, Ref, ScopeFacts, UnitFacts, describe_scope, file_statement, macros_statement, scope_statement,
    unit_statement,
};
use super::values::{Line, Text};
use super::write::Writer;
use crate::error::Result;
use crate::model::{FileId, Module, ScopeId, ScopeKind, SourceLine, UnitId};

impl<'a> Reader<'a> {
    pub fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    pub fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
        self.names.scopes.find((), scope)
    }

    /// Registers a unit under its id, or else under its name, its scope likewise, and its file under the name.
    pub fn named_unit(&mut self, unit: UnitId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let scope = self.builder.described().unit(unit).scope;
        let file = self.builder.primary_file(unit)?;
        self.names.units.add(unit, id, name.map(|name| ((), name)))?;
        self.names.scopes.add(scope, id, name.map(|name| ((), name)))?;
        self.names.files.add(file, None, name.map(|name| (unit, name)))
    }

    /// Registers a file under its id, or else under its name, in its unit.
    pub fn named_file(&mut self, file: FileId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let unit = self.builder.described().file(file).unit;
        self.names.files.add(file, id, name.map(|name| (unit, name)))
    }

    /// Registers nothing: nothing references the entity by an id or a name.
    pub fn unnamed<T>(&mut self, _: T, _: Option<&Text<'a>>, _: Option<&Text<'a>>) -> Result<()> {
        Ok(())
    }

    /// Registers a new scope under its id, or else under its name, if any.
    pub fn named_scope(
        &mut self,
        scope: ScopeId,
        id: Option<&Text<'a>>,
        name: Option<&Text<'a>>,
    ) -> Result<()> {
        self.names.scopes.add(scope, id, name.map(|name| ((), name)))
    }

    pub fn unit_of(&self, scope: ScopeId) -> UnitId {
        self.builder.described().scope(scope).unit
    }

    pub fn file(&self, unit: UnitId, file: &Ref<'a>) -> Result<FileId> {
        self.names.files.find(unit, file)
    }

    pub fn line(&self, unit: UnitId, line: &Line<'a>) -> Result<SourceLine> {
        Ok(SourceLine { file: self.file(unit, &line.file)?, line: line.line, column: line.column })
    }
}

impl<'m, W: Write> Writer<'m, W> {
    /// Writes a unit, which makes a scope and a file, after the files with smaller ids.
    fn unit(&mut self, id: UnitId) -> Result<()> {
        let (known, unit) = (self.known, self.module.unit(id));
        if let Some(before) = unit.file.as_u32().checked_sub(1) {
            self.ensure_file(FileId::from_u32(before))?;
        }
        self.counts.scopes += 1;
        self.counts.files += 1;
        let (name, name_id) = (known.text(unit.name), known.scope_id(unit.scope));
        self.statement(&unit_statement(known, name, name_id, (), UnitFacts::of(known, id)))?;
        let file = self.module.file(unit.file);
        match (known.file_id(unit.file), file.md5, file.source) {
            (None, None, None) => Ok(()),
            _ => self.file_statement(unit.file),
        }
    }

    pub fn file(&mut self, id: FileId) -> Result<()> {
        let unit = self.module.unit(self.module.file(id).unit);
        self.ensure_scope(unit.scope)?;
        if unit.file == id {
            return Ok(());
        }
        self.counts.files += 1;
        self.file_statement(id)
    }

    fn file_statement(&mut self, id: FileId) -> Result<()> {
        let (known, file) = (self.known, self.module.file(id));
        let (unit, name_id, facts) = (known.unit_ref(file.unit), known.file_id(id), FileFacts::of(known, id));
        self.statement(&file_statement(known, unit, name_id, file, facts))
    }

    pub fn scope(&mut self, id: ScopeId) -> Result<()> {
        let (known, module, scope) = (self.known, self.module, self.module.scope(id));
        let parent = match (scope.parent, &scope.kind) {
            (None, _) => return self.unit(scope.unit),
            (_, ScopeKind::Type(ty)) => return self.ensure_type(*ty),
            (Some(parent), _) => parent,
        };
        // The enclosing scope and the referenced entities come first.
        if let ScopeKind::Inlined { call, .. } = scope.kind {
            self.ensure_file(call.file)?;
        }
        self.counts.scopes += 1;
        let json = match scope.kind {
            ScopeKind::Function(function) => self.function(function, parent),
            _ => {
                let (within, name_id) = (known.scope_ref(parent), known.scope_id(id));
                let of = (&scope.kind, scope.origin, module.ranges(id));
                let Some(json) = scope_statement(known, within, name_id, of, ()) else {
                    return Ok(());
                };
                json
            }
        };
        self.statement(&json)?;
        let facts = ScopeFacts::of(known, id);
        if facts.is_empty() {
            return Ok(());
        }
        let json = describe_scope(known, known.scope_ref(id), None, (), facts);
        if self.is_line_written(scope.line) {
            return self.statement(&json);
        }
        self.later.push(json);
        Ok(())
    }

    pub fn macros(&mut self, module: &'m Module) -> Result<()> {
        for (id, _) in module.units().filter(|&(id, _)| !module.macros(id).is_empty()) {
            let unit = self.known.unit_ref(id);
            self.statement(&macros_statement(self.known, unit, None, module.macros(id), ()))?;
        }
        Ok(())
    }
}
