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
        self.check_ids(module)?;
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
