//! Rejects ids and lines that do not belong to the module or the unit.

use crate::error::{ErrorKind, Result};
use crate::model::{Entity, EntityId, Module, ScopeId, SourceLine, Symbol, UnitId};

/// Entity name in an error: its id, if it does not exist.
pub(super) fn entity_text(module: &Module, entity: Entity) -> String {
    match entity {
        Entity::Variable(id) => match module.variables.get(id).and_then(|variable| variable.name) {
            Some(name) => format!("variable `{}`", module.string(name)),
            None => id.to_string(),
        },
        Entity::Type(id) if module.types.is_valid(id) => module.called(id),
        Entity::Type(id) => id.to_string(),
        Entity::Procedure(id) => id.to_string(),
        Entity::Symbol(symbol, _) => match module.strings.get(symbol.0.as_u32()) {
            Some(name) => format!("symbol `{name}`"),
            None => format!("the symbol {}", symbol.0),
        },
    }
}

/// Refuses an id that does not exist.
#[inline]
pub(super) fn known(is_there: bool, error: impl FnOnce() -> ErrorKind) -> Result<()> {
    if is_there { Ok(()) } else { Err(error().into()) }
}

/// Refuses a symbol that does not exist.
pub(super) fn known_symbol(module: &Module, symbol: Symbol) -> Result<()> {
    let Symbol(name) = symbol;
    if !module.owner().admits(name.owner()) {
        return Err(ErrorKind::OtherBuilder(format!("symbol {name}")).into());
    }
    known(name.index() < module.strings.len(), || ErrorKind::UnknownId(format!("symbol {name}")))
}

/// Rejects a line in another unit's file.
pub(super) fn check_line(module: &Module, line: Option<SourceLine>, scope: ScopeId) -> Result<()> {
    check_line_of(module, line, module.scopes[scope].unit)
}

#[inline]
pub(super) fn check_line_of(module: &Module, line: Option<SourceLine>, unit: UnitId) -> Result<()> {
    match line {
        Some(line) if module.files.get(line.file).is_none_or(|file| file.unit != unit) => {
            Err(module.unknown_in(line.file, " of this unit").into())
        }
        _ => Ok(()),
    }
}
