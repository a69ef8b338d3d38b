//! Writes modules as statements, in an order that gives every entity its id again.
//!
//! Entities of a kind are numbered in the order of their statements, and each was made after the entities that it
//! references. Some kind therefore always has a next entity that can be written: [`Writer::ensure_scope`] and its
//! siblings first write the earlier ones. Properties of a function or variable that were set later can reference later
//! entities; they are written at the end, by a statement `describe_…`.

use std::io::Write;

use serde::Serialize;

use super::ids::Known;
use super::read::VERSION;
use super::statement::{Statement, frame_statement, rows_statement};
use super::target::TargetJson;
use crate::error::Result;
use crate::model::{
    Entity, FileId, LocId, Module, Node, ProcedureId, ScopeId, SourceLine, TypeId, VariableId,
};

/// Writes the description of a module; `more` is a further key with its value.
pub(super) fn module<'m>(
    known: &'m Known<'m>,
    more: Option<(&str, &impl Serialize)>,
    to: impl Write,
) -> Result<()> {
    let module = known.module;
    let mut writer = Writer { known, module, out: to, counts: Counts::default(), later: Vec::new() };
    write!(writer.out, "{{\"eitri\":{VERSION},\"target\":")?;
    writer.json(&TargetJson(&module.target))?;
    writer.out.write_all(b",\"describe\":[")?;
    writer.all()?;
    writer.out.write_all(b"\n]")?;
    if let Some((key, value)) = more {
        write!(writer.out, ",\"{key}\":")?;
        writer.json(value)?;
    }
    writer.out.write_all(b"}\n")?;
    writer.out.flush()?;
    Ok(())
}

pub(super) struct Writer<'m, W> {
    pub known: &'m Known<'m>,
    pub module: &'m Module,
    out: W,
    pub counts: Counts,
    /// Statements with properties that reference later entities.
    pub later: Vec<Statement<'m>>,
}

/// Number of written entities of each kind.
#[derive(Default)]
pub(super) struct Counts {
    pub statements: usize,
    pub files: u32,
    pub types: u32,
    pub scopes: u32,
    pub variables: u32,
    pub procedures: u32,
}

/// Writes all entities of a kind up to and including `id`. Each may write more of the same kind.
macro_rules! ensure { ($($method:ident $count:ident $id:ty => $write:ident;)*) => { $(
    pub fn $method(&mut self, id: $id) -> Result<()> {
        while self.counts.$count <= id.as_u32() {
            self.$write(<$id>::from_u32(self.counts.$count))?;
        }
        Ok(())
    }
)* } }

impl<'m, W: Write> Writer<'m, W> {
    fn all(&mut self) -> Result<()> {
        let module = self.module;
        for ty in module.types.keys() {
            self.ensure_type(ty)?;
        }
        for file in module.files.keys() {
            self.ensure_file(file)?;
        }
        for ty in module.types.keys() {
            self.bases_and_members(ty)?;
        }
        self.variant_parts()?;
        for variable in module.variables.keys() {
            self.ensure_variable(variable)?;
        }
        for scope in module.scopes.keys() {
            self.ensure_scope(scope)?;
        }
        for procedure in module.procedures.keys() {
            self.ensure_procedure(procedure)?;
        }
        for ty in module.types.keys() {
            self.templates(ty)?;
        }
        for function in module.functions.keys() {
            self.function_templates(function)?;
        }
        for statement in core::mem::take(&mut self.later) {
            self.statement(&statement)?;
        }
        self.imports_and_labels()?;
        self.calls()?;
        self.lanes()?;
        for (id, _) in module.functions().filter(|&(id, _)| !module.rows(id).is_empty()) {
            let function = self.known.function_ref(id);
            self.statement(&rows_statement(self.known, function, None, module.rows(id), ()))?;
        }
        for (id, function) in module.functions() {
            let (rules, extent) = (module.frame(id), function.frame_extent.clone());
            if rules.is_empty() && extent.is_none() {
                continue;
            }
            let of = (Some(rules).filter(|rules| !rules.is_empty()), extent);
            let function = self.known.function_ref(id);
            self.statement(&frame_statement(self.known, function, None, of, ()))?;
        }
        self.macros(module)
    }

    ensure! {
        ensure_file files FileId => file;
        ensure_type types TypeId => ty;
        ensure_scope scopes ScopeId => scope;
        ensure_variable variables VariableId => variable;
        ensure_procedure procedures ProcedureId => procedure;
    }

    pub fn is_type_written(&self, ty: TypeId) -> bool {
        ty.as_u32() < self.counts.types
    }

    pub fn is_line_written(&self, line: Option<SourceLine>) -> bool {
        line.is_none_or(|line| line.file.as_u32() < self.counts.files)
    }

    /// Entities that a location references and that are written before it.
    fn entities(&self, loc: LocId) -> impl Iterator<Item = Entity> + use<'m, W> {
        let module = self.module;
        module.nodes(loc).flat_map(move |node| {
            let (one, several) = match node {
                Node::PointerTo(variable, _) => (Some(Entity::Variable(variable)), &[][..]),
                Node::Call(procedure) => (Some(Entity::Procedure(procedure)), &[][..]),
                Node::Expr(expr) => (None, module.expr(expr).1),
                _ => (None, &[][..]),
            };
            one.into_iter().chain(several.iter().copied())
        })
    }

    pub fn is_loc_written(&self, loc: LocId) -> bool {
        self.entities(loc).all(|entity| match entity {
            Entity::Variable(id) => id.as_u32() < self.counts.variables,
            Entity::Procedure(id) => id.as_u32() < self.counts.procedures,
            Entity::Type(id) => self.is_type_written(id),
            Entity::Symbol(..) => true,
        })
    }

    pub fn ensure_loc(&mut self, loc: LocId) -> Result<()> {
        for entity in self.entities(loc) {
            match entity {
                Entity::Variable(id) => self.ensure_variable(id)?,
                Entity::Procedure(id) => self.ensure_procedure(id)?,
                Entity::Type(id) => self.ensure_type(id)?,
                Entity::Symbol(..) => {}
            }
        }
        Ok(())
    }

    pub fn statement(&mut self, statement: &Statement<'_>) -> Result<()> {
        self.out.write_all(if self.counts.statements == 0 { b"\n" } else { b",\n" })?;
        self.counts.statements += 1;
        self.json(statement)
    }

    fn json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| std::io::Error::from(error).into())
    }
}
