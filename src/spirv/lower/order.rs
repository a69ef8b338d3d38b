//! Instruction order: each item is written once, after the items that it refers to. Section 2.2 "Forward references".
//!
//! An item is open while the items that it refers to are written. A reference to an open item closes a cycle, which the
//! set cannot encode: the reference is cut, or in a mode with forward references it precedes the item.
//!
//! Expendable references are visited before an item is opened: its scope, and the references that it can best do
//! without. Cycles are therefore cut there: a local class that its function returns is reached from the function, and
//! loses its scope.

use super::entities::Globals;
use super::slots::{Item, State, Step};
use super::{composites, functions, references, scopes, types, variables};
use crate::error::Result;
use crate::model::TypeId;
use crate::spirv::words::Id;

/// Writes an item and everything it refers to, then the members of all types among them.
pub(super) fn root(out: &mut Globals<'_, '_, '_>, item: Item) -> Result<()> {
    visit(out, item)?;
    while let Some((ty, ids)) = out.pending.composites.pop_front() {
        members(out, ty, &ids).map_err(|error| error.or_at(out.module.at_type(ty)))?;
    }
    Ok(())
}

/// Writes a type's members and base classes, under the ids that the type already refers to.
fn members(out: &mut Globals<'_, '_, '_>, ty: TypeId, ids: &[Id]) -> Result<()> {
    for (part, &id) in composites::parts(out, ty).into_iter().zip(ids) {
        if let Some(item) = composites::referenced(out, ty, part) {
            visit(out, item)?;
        }
        composites::part(out, id, ty, part)?;
    }
    Ok(())
}

/// Writes an item and everything it refers to. The stack is explicit, because types may be nested deeply.
fn visit(out: &mut Globals<'_, '_, '_>, item: Item) -> Result<()> {
    if out.slots.state(item) != State::New {
        return Ok(());
    }
    if is_ready(out, item) {
        return write(out, item);
    }
    // The buffer is kept, so that no visit allocates.
    let mut steps = core::mem::take(&mut out.pending.steps);
    steps.push(Step::Into(item));
    while let Some(step) = steps.pop() {
        match step {
            Step::Into(item) | Step::Open(item) if out.slots.state(item) != State::New => {}
            // The stack is last in, first out; reversing keeps the order of references.
            Step::Into(item) => {
                steps.push(Step::Open(item));
                let start = steps.len();
                before(out, item, |first| steps.push(Step::Into(first)));
                steps[start..].reverse();
            }
            Step::Open(item) => {
                out.slots.slot(item).state = State::Open;
                out.pending.open += 1;
                steps.push(Step::Write(item));
                let start = steps.len();
                named(out, item, |named| steps.push(Step::Into(named)));
                steps[start..].reverse();
            }
            Step::Write(item) => {
                write(out, item)?;
                out.pending.open -= 1;
            }
        }
    }
    out.pending.steps = steps;
    Ok(())
}

/// Whether all references are written or open, so that no stack is needed; this is the usual case. An item that refers
/// to itself is not ready.
fn is_ready(out: &Globals<'_, '_, '_>, item: Item) -> bool {
    let mut is_ready = true;
    before(out, item, |first| is_ready &= out.slots.state(first) != State::New);
    if is_ready {
        named(out, item, |named| is_ready &= out.slots.state(named) != State::New);
    }
    is_ready
}

/// Writes an item whose references are all written or open.
fn write(out: &mut Globals<'_, '_, '_>, item: Item) -> Result<()> {
    match item {
        Item::Type(id) => types::ty(out, id),
        Item::FunctionType(id) => functions::function_type(out, id),
        Item::Function(id) => functions::function(out, id),
        Item::Scope(id) => scopes::block(out, id),
        Item::Variable(id) => variables::variable(out, id),
    }
    .map_err(|error| error.or_at(out.at_item(item)))?;
    out.slots.slot(item).state = State::Done;
    Ok(())
}

/// References to visit before an item is opened.
fn before(out: &Globals<'_, '_, '_>, item: Item, mut each: impl FnMut(Item)) {
    let module = out.module;
    let mut scope = |scope| scopes::scope_before(out, scope).into_iter().for_each(&mut each);
    match item {
        Item::Type(id) => types::before_type(out, id, each),
        Item::FunctionType(_) => {}
        Item::Function(id) => {
            scope(scopes::parent(out, module.functions[id].scope));
            module.functions[id].specification.map(Item::Function).into_iter().for_each(each);
        }
        Item::Scope(id) => scope(scopes::parent(out, id)),
        Item::Variable(id) => scope(module.variables[id].scope),
    }
}

/// An item's other references.
fn named(out: &Globals<'_, '_, '_>, item: Item, mut each: impl FnMut(Item)) {
    let module = out.module;
    match item {
        Item::Type(id) => types::named_by_type(out, id, each),
        Item::FunctionType(id) => {
            let parameters = functions::parameters(out, id).iter().map(|&id| module.variables[id].ty);
            let types = module.functions[id].returns.into_iter().chain(parameters);
            types.filter_map(|ty| references::type_item(out, ty)).for_each(each);
        }
        Item::Function(id) => each(Item::FunctionType(id)),
        Item::Scope(_) => {}
        Item::Variable(id) => {
            let variable = &module.variables[id];
            references::type_item(out, variable.ty).into_iter().for_each(&mut each);
            let member = variable.specification.filter(|&of| out.is_static_member(of) && out.is_encoded(of));
            member.map(Item::Variable).into_iter().for_each(each);
        }
    }
}
