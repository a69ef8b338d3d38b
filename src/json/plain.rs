//! Variables beside the statements of a description: a compiler's values instead of JSON text.

use core::ops::Range;

use super::reader::Reader;
use super::values::{Line, Text};
use crate::build::Blame;
use crate::error::{At, JsonPlace, Result};
use crate::model::Loc;

/// A variable or parameter in a function or another scope, as the statements `variable` and `parameter` describe it.
/// [`Module::from_json_with`](crate::model::Module::from_json_with) takes it.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy)]
pub struct PlainVariable<'a> {
    /// Number of statements before it: a statement after these can refer to its [`id`](Self::id).
    pub after: usize,
    /// Whether it is a parameter of the function.
    pub is_parameter: bool,
    /// Id or name of its scope.
    pub scope: &'a str,
    /// Name; empty for a variable without one.
    pub name: &'a str,
    /// Id or name of its type.
    pub ty: &'a str,
    /// Id for statements that refer to it.
    pub id: Option<&'a str>,
    /// Declaration: id or name of the file, and line and column, counted from 1.
    pub declared: Option<(&'a str, u32, u32)>,
    /// Location at all pcs.
    pub always: Option<&'a Loc>,
    /// Locations by pc.
    pub live: &'a [PlainLive],
}

/// A variable's location in a pc range.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone)]
pub struct PlainLive {
    /// Half-open range, in bytes from the function's start.
    pub pcs: Range<u64>,
    /// The location.
    pub loc: Loc,
}

/// Variables by number, counted from 0, up to a number without a variable.
pub(super) type PlainVariables<'a> = dyn Fn(usize) -> Option<PlainVariable<'a>> + 'a;

/// Adds the variable with a number, which errors name.
pub(super) fn apply<'a>(reader: &mut Reader<'a>, variable: &PlainVariable<'a>, number: usize) -> Result<()> {
    add(reader, variable).and_then(|()| reader.builder.take_wrong()).map_err(|error| {
        let place = JsonPlace {
            path: format!("variables[{number}]"),
            line: 0,
            column: 0,
            name: Some(variable.name.into()).filter(|name: &String| !name.is_empty()),
        };
        error.or_at(At::new(|context| context.json = Some(place)))
    })
}

fn add<'a>(reader: &mut Reader<'a>, variable: &PlainVariable<'a>) -> Result<()> {
    let (scope, unit) = reader.scope_and_unit(&Text::from(variable.scope))?;
    let ty = reader.ty(unit, &Text::from(variable.ty))?;
    let line = match variable.declared {
        Some((file, line, column)) => {
            Some(reader.line(unit, &Line { file: Text::from(file), line, column })?)
        }
        None => None,
    };
    let blame = reader.blame();
    let mut described = if variable.is_parameter {
        reader.builder.parameter(scope, variable.name, ty)?
    } else {
        reader.builder.variable(scope, variable.name, ty)?
    };
    let id = described.id();
    if let Some(line) = line {
        described.declared(line);
    }
    if let Some(loc) = variable.always {
        described.always(loc.clone())?;
        blame.seek(|blame| *blame == Blame::Always(id))?;
    }
    for PlainLive { pcs, loc } in variable.live {
        described.live(pcs.clone(), loc.clone())?;
        blame.seek(|blame| *blame == Blame::Live(id, pcs.clone()))?;
    }
    reader.names.variables.add(id, variable.id.map(Text::from).as_ref(), None)
}
