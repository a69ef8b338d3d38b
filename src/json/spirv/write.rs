//! Writes bindings: functions with their statements in order.

use std::io::Write;

use hashbrown::{HashMap, HashSet};

use super::super::ids::Known;
use super::super::write;
use super::Bound;
use super::read::Binder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, UnitId};
use crate::spirv::{Binding, Id, Position, Provider, Statement};

impl Binding {
    /// Writes the [description](crate::json) of a module with this binding, from which [`from_json`](Self::from_json)
    /// makes an equal module and binding. Ids are written as numbers.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) for a line in a file of another unit than the
    /// function's, and for bits that end at their start; [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId) for
    /// an entity that the module lacks.
    pub fn to_json(&self, module: &Module) -> Result<String> {
        let mut out = Vec::new();
        self.write_json(module, &mut out)?;
        String::from_utf8(out).map_err(|_| Error::malformed("JSON is UTF-8"))
    }

    /// Writes the same, with each statement of the description on a line.
    ///
    /// # Errors
    /// The errors of [`to_json`](Self::to_json), and [`ErrorKind::Io`](crate::error::ErrorKind::Io).
    pub fn write_json(&self, module: &Module, to: impl Write) -> Result<()> {
        self.statements().iter().try_for_each(|(_, statement)| is_of(module, statement))?;
        let function =
            self.functions.iter().find(|(id, code)| code.is_some() && !module.functions.is_valid(*id));
        let global = self.globals.iter().find(|(id, code)| code.is_some() && !module.variables.is_valid(*id));
        let unknown = function.map(|it| it.0.to_string()).or(global.map(|it| it.0.to_string()));
        if let Some(id) = unknown {
            return Err(ErrorKind::UnknownId(id).into());
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

/// Checks that the entities of a statement are the module's.
fn is_of(module: &Module, statement: &Statement) -> Result<()> {
    let unknown = |id: &dyn core::fmt::Display| Err(ErrorKind::UnknownId(id.to_string()).into());
    match statement {
        Statement::Scope(Some(scope)) if !module.scopes.is_valid(*scope) => unknown(scope),
        Statement::Line(Some(line)) if !module.files.is_valid(line.file) => unknown(&line.file),
        it => match it.variable() {
            Some(variable) if !module.variables.is_valid(variable) => unknown(&variable),
            _ => Ok(()),
        },
    }
}

/// An `OpFunction`, perhaps with a described function, and statements in it.
pub(in crate::json) struct BoundCode<'m> {
    pub code: Id,
    pub function: Option<FunctionId>,
    pub statements: Vec<BoundStatement<'m>>,
}

/// A statement with its position, and the providers of all statements.
pub(in crate::json) struct BoundStatement<'m> {
    pub at: Position,
    pub statement: Statement,
    pub providers: &'m [Provider],
}

/// A list, unless it is empty.
pub(super) fn list<T>(mut items: impl Iterator<Item = T>) -> Option<impl Iterator<Item = T>> {
    let first = items.next()?;
    Some(core::iter::once(first).chain(items))
}

/// Units with a number of their language.
pub(super) fn languages<'m>(
    module: &'m Module,
    binding: &'m Binding,
) -> impl Iterator<Item = (UnitId, u32)> + 'm {
    module.units().filter_map(|(unit, _)| Some((unit, binding.language_number(unit)?)))
}

/// The functions with their statements. A function recurs where the statements of several alternate.
pub(super) fn codes<'m>(binding: &'m Binding, module: &Module) -> Result<Vec<BoundCode<'m>>> {
    let all = module.functions().filter_map(|(of, _)| Some((binding.function_id(of)?, of)));
    let mut unwritten: Vec<(Id, FunctionId)> = all.collect();
    let described: HashMap<Id, FunctionId> = unwritten.iter().rev().copied().collect();
    let function = |code, function| BoundCode { code, function, statements: Vec::new() };
    let (mut written, mut codes, mut last) = (Vec::new(), HashSet::new(), None);
    for &(at, statement) in binding.statements() {
        let code = match at {
            Position::Start { function, .. } | Position::Before { function, .. } => function,
            // The position does not depend on the function.
            Position::After(after) => last.or(unwritten.first().map(|it| it.0)).unwrap_or(after),
        };
        let of = described.get(&code).copied();
        if last != Some(code) {
            written.push(function(code, of));
            last = Some(code);
            codes.insert(code);
        }
        if let Statement::Line(Some(line)) = statement {
            let unit = of.map_or(Binder::first(), |of| module.scope(module.function(of).scope).unit);
            if module.file(line.file).unit != unit {
                let file = module.string(module.file(line.file).name);
                let what = format!("a line of {code} is in `{file}`, a file of another unit");
                return Err(Error::bad_argument(what));
            }
        }
        if let Some(function) = written.last_mut() {
            let providers = binding.providers();
            function.statements.push(BoundStatement { at, statement, providers });
        }
    }
    unwritten.retain(|&(code, of)| described.get(&code) != Some(&of) || !codes.contains(&code));
    written.extend(unwritten.into_iter().map(|(code, of)| function(code, Some(of))));
    Ok(written)
}
