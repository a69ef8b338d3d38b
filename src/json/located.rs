//! Descriptions with the locations that follow from statements about code.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ids::Known;
use super::later::Later;
use super::lists::Elements;
use super::position::{self, with_position};
use super::read::{finish, read};
use super::reader::{Coded, WHAT};
use super::statement::Statement;
use super::values::Text;
use super::variables::{DescribeVariable, VariableFacts};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Module;
use crate::track::{CodeEffects, Keep};

/// What [`locate`] returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The description with the locations.
    pub text: String,
    /// Assignments of values that some lane's path does not define, as text.
    pub unproven: Vec<String>,
}

/// Derives variables' locations from the statements about code, and appends them to a [description](crate::json): a
/// statement `describe_variable` for each variable that has some.
///
/// # Errors
/// The errors of [`CodeEffects::from_json`] and of [`CodeEffects::track`]; and
/// [`ErrorKind::BadArgument`] for a variable that has locations already, or a description without such statements.
pub fn locate(text: impl AsRef<[u8]>, keep: Keep) -> Result<Located> {
    let text = position::utf8(WHAT, text.as_ref())?;
    let reader = read(text, None)?;
    if reader.coded.is_empty() {
        let what = "description has no statement `code`; derived locations follow from such statements";
        return Err(with_position(Error::bad_argument(what), position::key(text, "describe")));
    }
    // First the module without the locations, then with them.
    let module = finish(text, reader.builder)?;
    let mut reader = read(text, None)?;
    let coded = core::mem::take(&mut reader.coded);
    let mut builder = reader.builder;
    let mut unproven = Vec::new();
    for (&function, code) in &coded {
        let located = |error: Error| {
            let error = error.or_at(module.at_scope(module.function(function).scope));
            with_position(error, position::statement(text, code.index))
        };
        for (variable, id) in &code.variables {
            if module.always(*variable).is_some() || !module.live(*variable).is_empty() {
                let what = format!("`{}` already has locations, so that none can be derived for it", &**id);
                return Err(located(Error::bad_argument(what)));
            }
        }
        let tracked = code.code.track().map_err(located)?;
        unproven.extend(tracked.unproven().iter().map(|assignment| {
            let pcs = assignment.pc..assignment.pc + 1;
            let variable = module.at_variable(assignment.variable, Some(pcs));
            format!("{variable}: the assigned value is not defined on each path of a lane")
        }));
        tracked.describe(&mut builder, keep).map_err(located)?;
    }
    let module = finish(text, builder)?;
    let text = appended(text, &module, coded.values())?;
    // References in locations that the compiler gave may have different ids in the text.
    if Module::from_json(&text)? != module {
        let what = "locations in the description would refer to other entities than before";
        return Err(ErrorKind::Unsupported(what.into()).into());
    }
    Ok(Located { text, unproven })
}

/// A description's list of statements.
#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    describe: &'a RawValue,
}

/// Appends variables' locations to the list of statements.
fn appended<'a>(text: &str, module: &Module, coded: impl Iterator<Item = &'a Coded<'a>>) -> Result<String> {
    let known = Known::new(module);
    let mut statements = String::new();
    for (variable, id) in coded.flat_map(|code| &code.variables) {
        let live = module.live(*variable);
        if live.is_empty() {
            continue;
        }
        let facts = VariableFacts {
            live: Some(Later::Model(Elements { known: &known, items: live })),
            ..Default::default()
        };
        let variable = Text(id.to_string().into());
        let statement = Statement::DescribeVariable(DescribeVariable::new(variable).with(facts));
        let json = serde_json::to_string(&statement).map_err(|error| Error::malformed(error.to_string()))?;
        statements += &format!(",\n{json}");
    }
    let list: List<'_> = serde_json::from_str(text).map_err(|error| Error::malformed(error.to_string()))?;
    // The list is a part of the text, so that the pointers' difference is the offset at which to insert.
    let end = list.describe.get().as_ptr() as usize + list.describe.get().len() - 1 - text.as_ptr() as usize;
    Ok(format!("{}{statements}\n{}", text[..end].trim_end(), &text[end..]))
}

/// Reads a description with its statements about code.
pub(super) fn read_code(text: &[u8]) -> Result<(Module, Vec<CodeEffects>)> {
    let text = position::utf8(WHAT, text)?;
    let mut reader = read(text, None)?;
    let coded = core::mem::take(&mut reader.coded);
    Ok((finish(text, reader.builder)?, coded.into_values().map(|coded| coded.code).collect()))
}
