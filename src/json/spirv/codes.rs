//! A binding's functions with their statements in order.

use hashbrown::{HashMap, HashSet};

use super::binder::Binder;
use crate::error::{Error, Result};
use crate::model::{FunctionId, Module, UnitId};
use crate::spirv::{Binding, Id, Position, Provider, Statement};

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

/// Returns the units that have a language number.
pub(super) fn languages<'m>(
    module: &'m Module,
    binding: &'m Binding,
) -> impl Iterator<Item = (UnitId, u32)> + 'm {
    module.units().filter_map(|(unit, _)| Some((unit, binding.language_number(unit)?)))
}

/// Returns the functions with their statements. A function recurs where the statements of several functions alternate.
pub(super) fn codes<'m>(binding: &'m Binding, module: &Module) -> Result<Vec<BoundCode<'m>>> {
    let bound = module.functions().filter_map(|(id, _)| Some((binding.function_id(id)?, id)));
    let mut unwritten: Vec<(Id, FunctionId)> = bound.collect();
    let described: HashMap<Id, FunctionId> = unwritten.iter().rev().copied().collect();
    let function = |code, function| BoundCode { code, function, statements: Vec::new() };
    let mut written = Vec::new();
    let mut codes = HashSet::new();
    let mut last = None;
    for &(at, statement) in binding.statements() {
        let code = match at {
            Position::Start { function, .. } | Position::Before { function, .. } => function,
            // The position does not depend on the function.
            Position::After(after) => last.or(unwritten.first().map(|it| it.0)).unwrap_or(after),
        };
        let id = described.get(&code).copied();
        if last != Some(code) {
            written.push(function(code, id));
            last = Some(code);
            codes.insert(code);
        }
        if let Statement::Line(Some(line)) = statement {
            let unit = id.map_or(Binder::first(), |id| module.scope(module.function(id).scope).unit);
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
    unwritten.retain(|&(code, id)| described.get(&code) != Some(&id) || !codes.contains(&code));
    written.extend(unwritten.into_iter().map(|(code, id)| function(code, Some(id))));
    Ok(written)
}
