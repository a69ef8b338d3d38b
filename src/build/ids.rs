//! Rejects ids and lines that do not belong to the module or the unit.

use crate::error::{ErrorKind, Result};
use crate::model::{Entity, Module, ScopeId, SourceLine, UnitId};

/// Entity name in an error: its id, if it does not exist.
pub(super) fn entity_text(module: &Module, entity: Entity) -> String {
    match entity {
        Entity::Variable(id) => match module.variables.get(id).and_then(|of| of.name) {
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
pub(super) fn known(is_there: bool, name: impl FnOnce() -> String) -> Result<()> {
    if is_there { Ok(()) } else { Err(ErrorKind::UnknownId(name()).into()) }
}

/// Rejects a line in another unit's file.
pub(super) fn check_line(module: &Module, line: Option<SourceLine>, scope: ScopeId) -> Result<()> {
    check_line_of(module, line, module.scopes[scope].unit)
}

#[inline]
pub(super) fn check_line_of(module: &Module, line: Option<SourceLine>, unit: UnitId) -> Result<()> {
    match line {
        Some(line) if module.files.get(line.file).is_none_or(|file| file.unit != unit) => {
            known(false, || format!("{} of this unit", line.file))
        }
        _ => Ok(()),
    }
}
