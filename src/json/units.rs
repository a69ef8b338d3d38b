//! Units, files, namespaces, blocks, inlined calls and macros: applied to the builder, and written from the model.

use std::io::Write;

use super::choices::MacroStep;
use super::read::Reader;
use super::statement::{
    self, DescribeScope, DescribeUnit, File, FileFacts, Macros, Ref, ScopeFacts, Statement, Unit, UnitFacts,
};
use super::values::{Line, Text};
use super::write::Writer;
use crate::error::Result;
use crate::model::{FileId, Module, ScopeId, ScopeKind, SourceLine, UnitId};

impl<'a> Unit<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.builder.unit(&self.name);
        let scope = reader.builder.described().unit(unit).scope;
        let file = reader.builder.primary_file(unit)?;
        let named = Some(((), &self.name));
        reader.names.units.add(unit, self.id.as_ref(), named)?;
        reader.names.scopes.add(scope, self.id.as_ref(), named)?;
        reader.names.files.add(file, None, Some((unit, &self.name)))?;
        self.facts().describe(reader, unit, unit)
    }
}

impl<'a> DescribeUnit<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        self.facts().describe(reader, unit, unit)
    }
}

impl<'a> File<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let facts = self.facts();
        let file = reader.builder.file(unit, &self.name, facts.directory.as_deref())?;
        facts.describe(reader, file, unit)?;
        reader.names.files.add(file, self.id.as_ref(), Some((unit, &self.name)))
    }
}

impl<'a> DescribeScope<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.scope)?;
        let unit = reader.unit_of(scope);
        self.facts().describe(reader, scope, unit)
    }
}

impl<'a> Macros<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        self.macros.iter().try_for_each(|step| step.read(reader, unit))
    }
}

impl<'a> Reader<'a> {
    pub fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    pub fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
        self.names.scopes.find((), scope)
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
        let mut json = Unit::new(known.text(unit.name)).with(UnitFacts::of(known, id));
        json.id = known.scope_id(unit.scope);
        self.counts.scopes += 1;
        self.counts.files += 1;
        self.statement(&Statement::Unit(json))?;
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
        let directory = file.directory.map(|directory| known.text(directory));
        let facts = FileFacts { directory, ..FileFacts::of(known, id) };
        let mut json = File::new(known.unit_ref(file.unit), known.text(file.name)).with(facts);
        json.id = known.file_id(id);
        self.statement(&Statement::File(json))
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
                let Some(json) = statement::scope_statement(known, within, name_id, of) else {
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
        let json = Statement::DescribeScope(DescribeScope::new(known.scope_ref(id)).with(facts));
        if self.is_line_written(scope.line) {
            return self.statement(&json);
        }
        self.later.push(json);
        Ok(())
    }

    pub fn macros(&mut self, module: &'m Module) -> Result<()> {
        for (id, _) in module.units().filter(|&(id, _)| !module.macros(id).is_empty()) {
            let steps = module.macros(id).iter().map(|step| MacroStep::write(self.known, step));
            let json = statement::Macros::new(self.known.unit_ref(id), steps.collect());
            self.statement(&Statement::Macros(json))?;
        }
        Ok(())
    }
}
