//! Writes bindings.

use std::io::Write;

use super::super::ids::Known;
use super::super::write;
use super::bound::Bound;
use crate::error::{Error, Result};
use crate::model::Module;
use crate::spirv::{Binding, Statement};

impl Binding {
    /// Writes a module's [description](crate::json) with this binding, from which [`from_json`](Self::from_json) makes
    /// an equal module and binding. Ids are written as numbers.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) for a line in another unit's file than the
    /// function's, and for bits that end at their start; [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId)
    /// for an entity that the module lacks.
    pub fn to_json(&self, module: &Module) -> Result<String> {
        let mut out = Vec::new();
        self.write_json(module, &mut out)?;
        String::from_utf8(out).map_err(|_| Error::malformed("JSON is UTF-8"))
    }

    /// Writes the same, with each statement in the description on a line.
    ///
    /// # Errors
    /// The errors that [`to_json`](Self::to_json) returns, and [`ErrorKind::Io`](crate::error::ErrorKind::Io).
    pub fn write_json(&self, module: &Module, to: impl Write) -> Result<()> {
        self.belongs_to(module)?;
        self.statements().iter().try_for_each(|(_, statement)| is_of(module, statement))?;
        let function =
            self.functions.iter().find(|(id, code)| code.is_some() && !module.functions.is_valid(*id));
        let global = self.globals.iter().find(|(id, code)| code.is_some() && !module.variables.is_valid(*id));
        let function = function.map(|it| module.unknown(it.0));
        if let Some(error) = function.or_else(|| global.map(|it| module.unknown(it.0))) {
            return Err(error.into());
        }
        let statements = || self.statements().iter().map(|(_, statement)| statement);
        let globals = module.variables.keys().filter(|&id| self.global_id(id).is_some());
        let variables = statements().filter_map(|it| it.variable()).chain(globals);
        let scopes = statements().filter_map(|it| match it {
            Statement::Scope(scope) => *scope,
            _ => None,
        });
        let known = Known::new(module).referenced(variables, scopes);
        let bound = Bound::write(&known, self)?;
        write::module(&known, Some(("spirv", &bound)), to)
    }
}

/// Checks that a statement's entities are the module's.
fn is_of(module: &Module, statement: &Statement) -> Result<()> {
    let error = match statement {
        Statement::Scope(Some(scope)) if !module.scopes.is_valid(*scope) => module.unknown(*scope),
        Statement::Line(Some(line)) if !module.files.is_valid(line.file) => module.unknown(line.file),
        it => match it.variable() {
            Some(variable) if !module.variables.is_valid(variable) => module.unknown(variable),
            _ => return Ok(()),
        },
    };
    Err(error.into())
}
