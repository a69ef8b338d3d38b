//! Lowers a model and its binding to debug instructions.
//!
//! First, `blocks` and `positions` check the binding's positions against the module. Then each entity is written once,
//! after the entities that it refers to (`order`), into the section before the functions (`writer`), because a set
//! permits forward references only in a few operands. Last, `body` writes scopes, lines and values inside each
//! function. `replacements` decides before the first instruction which types a mode replaces, because a replacement
//! changes all instructions that refer to the type.
//!
//! The invariant: each property that is not written has an omission with the reason, from the function that would write
//! the property.

mod arrays;
mod blocks;
mod body;
mod composites;
mod constants;
mod entities;
mod enumerations;
mod expressions;
mod functions;
mod inverse;
mod lines;
mod macros;
mod metadata;
mod names;
mod omissions;
mod order;
mod out;
mod pointers;
mod positions;
mod references;
mod replacements;
mod scopes;
mod slots;
mod sources;
mod templates;
mod types;
mod values;
mod variables;
mod vectors;
mod writer;

use entities::{Entities, Globals};
use slots::{Item, State};
use writer::Writer;

use super::attached::Attached;
use super::binding::Binding;
use super::layout::ModuleLayout;
use super::lines::Texts;
use super::mode::Mode;
use crate::error::Result;
use crate::model::{Module, with_whole_instances};

/// The module with all its debug instructions.
///
/// # Errors
/// The errors that [`attach`](super::attach()) returns.
pub(super) fn lower(
    layout: &ModuleLayout<'_>,
    module: &Module,
    binding: &Binding,
    mode: &Mode,
) -> Result<Attached> {
    let module = &*with_whole_instances(module);
    let texts = lines::texts(module, mode);
    let places = positions::Places::new(layout, module, binding, &texts)?;
    let mut writer = Writer::new(layout, mode)?;
    let entities = globals(&mut writer, module, binding, &texts)?;
    let out = body::body(&mut writer, module, binding, &places, &entities)?;
    Ok(out.finish(writer.finish()))
}

/// Writes all entities outside functions.
///
/// # Errors
/// The error names the function or variable: [`TooLarge`](crate::error::ErrorKind::TooLarge) for a name that does not
/// fit one instruction.
fn globals(writer: &mut Writer<'_>, module: &Module, binding: &Binding, texts: &Texts) -> Result<Entities> {
    let mut globals = Globals::new(writer, module, binding, texts);
    metadata::metadata(&mut globals)?;
    sources::sources(&mut globals)?;
    sources::units(&mut globals)?;
    // Types, functions and scopes are written with everything that they need; the variables that nothing needs follow.
    for ty in module.types.keys() {
        if let Some(item) = references::type_item(&globals, ty) {
            order::root(&mut globals, item)?;
        }
    }
    for function in module.functions.keys() {
        order::root(&mut globals, Item::Function(function))?;
    }
    for scope in module.scopes.keys() {
        if let Some(item) = scopes::scope_item(&globals, scope) {
            order::root(&mut globals, item)?;
        }
    }
    variables(&mut globals)?;
    templates::templates(&mut globals)?;
    names::imports(&mut globals)?;
    macros::macros(&mut globals)?;
    sources::entry_points(&mut globals)?;
    let scopes = scopes::scoped(&mut globals)?;
    variables::inlined_variables(&mut globals, &scopes)?;
    omissions::omissions(&mut globals);
    Ok(globals.finish(scopes))
}

/// Writes all variables.
fn variables(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    let module = out.module;
    // A local variable has twelve words, a parameter 13; the words after them go into the same buffer, so that one
    // reservation is enough.
    let behind = out.writer.layout.words().all().len() + body::most_words(out.writer, out.described.binding);
    let before = out.writer.out.strings.len() + out.writer.out.constants.len();
    out.writer.out.debug.reserve_exact(13 * module.variables.len() + before + behind);
    for (id, variable) in &module.variables {
        out.locals.places[id] = Some((variable.scope, variable.ty));
        if !variables::is_common(out, id, variable) {
            out.locals.multiple.push(id);
            if out.is_encoded(id) {
                order::root(out, Item::Variable(id))?;
            }
        } else if out.slots.variables[id].state == State::New && variables::has_named(out, variable) {
            // Nearly all variables take this path, which needs no order, because their types and scopes exist already.
            variables::local(out, id).map_err(|error| error.or_at(module.at_variable(id, None)))?;
            out.slots.variables[id].state = State::Done;
        } else {
            order::root(out, Item::Variable(id))?;
        }
    }
    Ok(())
}
