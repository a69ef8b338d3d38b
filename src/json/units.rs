//! Units, files, namespaces, blocks, inlined calls and macros: applied to the builder, and written from the model.

use core::ops::Range;
use std::io::Write;

use super::choices::MacroStep;
use super::read::Reader;
use super::statement::{
    self, Block, DescribeScope, DescribeUnit, File, FileFacts, Inlined, InlinedBlock, Macros, Namespace, Pcs,
    Ref, ScopeFacts, Statement, Unit, UnitFacts,
};
use super::values::{Line, Number};
use super::write::Writer;
use crate::error::{Error, Result};
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

impl<'a> Namespace<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let parent = reader.scope(&self.r#in)?;
        let scope = match (self.name.as_deref(), self.inline) {
            (None, Some(false)) => {
                return Err(Error::bad_argument("a namespace without a name is an inline one"));
            }
            (None, _) => reader.builder.anonymous_namespace(parent)?,
            (Some(name), Some(true)) => reader.builder.inline_namespace(parent, name)?,
            (Some(name), _) => reader.builder.namespace(parent, name)?,
        };
        reader.names.scopes.add(scope, self.id.as_ref(), self.name.as_ref().map(|name| ((), name)))
    }
}

impl<'a> Block<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let parent = reader.scope(&self.r#in)?;
        let scope = reader.builder.block(parent, &ranges(&self.pcs));
        let scope = reader.of_key("pcs", scope)?;
        reader.names.scopes.add(scope, self.id.as_ref(), None)
    }
}

impl<'a> InlinedBlock<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (parent, origin) = (reader.scope(&self.r#in)?, reader.scope(&self.origin)?);
        let scope = reader.builder.inlined_block(parent, origin, &ranges(&self.pcs));
        let scope = reader.of_key("pcs", scope)?;
        reader.names.scopes.add(scope, self.id.as_ref(), None)
    }
}

impl<'a> Inlined<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let parent = reader.scope(&self.r#in)?;
        let unit = reader.unit_of(parent);
        let function = reader.names.functions.find(unit, &self.function)?;
        let call = reader.line(unit, &self.call)?;
        let scope = reader.builder.inlined(parent, function, &ranges(&self.pcs), call);
        let scope = reader.of_key("pcs", scope)?;
        reader.names.scopes.add(scope, self.id.as_ref(), None)
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

fn ranges(pcs: &[Pcs]) -> Vec<Range<u64>> {
    pcs.iter().map(|(Number(start), Number(end))| *start..*end).collect()
}

impl<'a> Reader<'a> {
    pub fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    pub fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
        self.names.scopes.find((), scope)
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
        let within = known.scope_ref(parent);
        let pcs = || module.ranges(id).iter().map(|pcs| (Number(pcs.start), Number(pcs.end))).collect();
        if let ScopeKind::Inlined { call, .. } = scope.kind {
            self.ensure_file(call.file)?;
        }
        self.counts.scopes += 1;
        /// A statement with its required fields, its id, and optional fields.
        macro_rules! json { ($variant:ident($($value:expr),*) $($field:ident: $may:expr)?) => {{
            let mut json = $variant::new($($value),*);
            json.id = known.scope_id(id);
            $(json.$field = $may;)?
            json
        }} }
        let json = match scope.kind {
            ScopeKind::Unit | ScopeKind::Type(_) => return Ok(()),
            ScopeKind::Namespace { name, is_inline } => {
                let mut json = json!(Namespace(within) name: name.map(|name| known.text(name)));
                json.inline = (is_inline && name.is_some()).then_some(true);
                Statement::Namespace(json)
            }
            ScopeKind::Function(function) => self.function(function, parent),
            ScopeKind::Block => match scope.origin {
                None => Statement::Block(json!(Block(within, pcs()))),
                Some(origin) => {
                    Statement::InlinedBlock(json!(InlinedBlock(within, known.scope_ref(origin), pcs())))
                }
            },
            ScopeKind::Inlined { function, call } => Statement::Inlined(json!(Inlined(
                within,
                known.function_ref(function),
                pcs(),
                known.line(call)
            ))),
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
