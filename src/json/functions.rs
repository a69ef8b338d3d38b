//! Functions: applied to the builder, and written from the model.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::Known;
use super::kinds::kind;
use super::later::Later;
use super::lists::{Elements, Row, each};
use super::read::Reader;
use super::rows::{Outcome, Property, call, property, set};
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{Code, FunctionFacts, Ref, Statement, describe_function, function_statement, objects};
use super::values::{Named, Number, Text, Word};
use super::write::Writer;
use crate::error::{Error, Result};
use crate::model::{self, FileId, FunctionId, ScopeId, ScopeKind, UnitId};
use crate::target::Scaling;

/// The address and the size. The keys of the address are rows of [`alternatives`](super::choices).
impl<'a> Property<'a, FunctionId> for Code<'a> {
    fn read(mut self, reader: &mut Reader<'a>, id: FunctionId, unit: UnitId) -> Result<()> {
        let Number(bytes) = self.bytes;
        self.choose(reader, unit, id, bytes)
    }

    fn write(known: &'a Known<'a>, id: FunctionId) -> Option<Self> {
        let function = known.module.function(id);
        let address = function.address.as_ref()?;
        Some(Code::new(Number(function.bytes)).chosen(known, address))
    }
}

property! {
    /// A stack frame.
    object Stack of |known, id: FunctionId| by describe_function {
        base: [register] = known.module.function(id).stack.base => stack_base;
        scaling: [word Scaling] = Some(known.module.function(id).stack.scaling)
            .filter(|&scaling| scaling != known.module.target.scaling()) => scaling;
        at_zero: [flag] = known.module.function(id).is_stack_at_zero => stack_at_zero;
    }
}

impl<'a> Reader<'a> {
    /// Resolves a reference to a function. Returns its unit too.
    pub fn function(&self, function: &Ref<'a>) -> Result<(FunctionId, UnitId)> {
        let scope = self.scope(function)?;
        match self.builder.described().scope(scope).kind {
            ScopeKind::Function(function) => Ok((function, self.unit_of(scope))),
            _ => Err(Error::bad_argument(format!("`{}` is not a function", &**function))),
        }
    }

    /// Registers a function under its id, or else under its name, in its unit and as a scope. A definition has the
    /// name of its declaration, which is therefore ambiguous.
    pub fn named_function(
        &mut self,
        function: FunctionId,
        id: Option<&Text<'a>>,
        name: Option<&Text<'a>>,
    ) -> Result<()> {
        let module = self.builder.described();
        let made = module.function(function);
        let scope = made.scope;
        let of_declaration = name.is_none().then(|| Text(module.string(made.name).to_owned().into()));
        let named = name.or(of_declaration.as_ref());
        let unit = self.unit_of(scope);
        self.names.functions.add(function, id, named.map(|name| (unit, name)))?;
        self.names.scopes.add(scope, id, named.map(|name| ((), name)))
    }

    /// Adds the rows of a line table to a function.
    pub fn rows(
        &mut self,
        function: FunctionId,
        unit: UnitId,
        rows: &Later<'a, Elements<'a, Row<'a>>>,
    ) -> Result<()> {
        let Later::Text(rows) = *rows else { return Ok(()) };
        // The file of the previous row, which is usually the next row's too.
        let mut last: Option<(Ref<'a>, FileId)> = None;
        let add = |reader: &mut Reader<'a>, row: Row<'a>| {
            let file = match &last {
                Some((name, file)) if *name == row.file => *file,
                _ => {
                    let file = reader.file(unit, &row.file)?;
                    last = Some((row.file, file));
                    file
                }
            };
            let at = model::Row::new(row.pc.0, file, row.line).column(row.column.unwrap_or(0));
            let row = row.facts.map_or(at, |facts| facts.value(at));
            reader.builder.row(function, row)
        };
        self.part(rows, |reader, json| each(reader, unit, json, add))
    }
}

impl<'m, W: Write> Writer<'m, W> {
    pub fn function(&mut self, id: FunctionId, parent: ScopeId) -> Statement<'m> {
        let (known, function) = (self.known, self.module.function(id));
        let mut facts = FunctionFacts::of(known, id);
        // A kernel is always external.
        facts.external = facts.external.filter(|_| !function.is_kernel);
        let mut locs = [function.frame_base, function.static_link].into_iter().flatten();
        let is_ready = function.returns.is_none_or(|ty| self.is_type_written(ty))
            && self.is_line_written(function.line)
            && function.object_pointer.is_none()
            && locs.all(|loc| self.is_loc_written(loc))
            && !known.declared.contains(&id);
        if !is_ready {
            let later = FunctionFacts {
                returns: facts.returns.take(),
                declared: facts.declared.take(),
                object_pointer: facts.object_pointer.take(),
                frame_base: facts.frame_base.take(),
                static_link: facts.static_link.take(),
                ..FunctionFacts::default()
            };
            self.later.push(describe_function(known, known.function_ref(id), None, (), later));
        }
        let (within, name_id) = (known.scope_ref(parent), known.scope_id(function.scope));
        function_statement(known, within, name_id, function, facts)
    }
}
