//! Lists omissions: properties that neither set has an operand for.

use indexmap::IndexMap;

use super::entities::Globals;
use super::{functions, variables};
use crate::model::{ScopeId, ScopeKind, SecondaryMap, TypeKind, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::binding::Statement;
use crate::spirv::mode::Feature;

/// Lists properties that neither set has an operand for.
pub(super) fn omissions(out: &mut Globals<'_, '_, '_>) {
    let module = out.module;
    for (id, ty) in &module.types {
        if let Some(bytes) = ty.alignment {
            out.omit(Subject::Type(id), Property::Alignment, Reason::OfBytes(bytes));
        }
        if let TypeKind::Subroutine { is_variadic: true, .. } = ty.kind {
            out.omit(Subject::Type(id), Property::Variadic, Reason::NoOperand);
        }
        if ty.is_unprototyped {
            out.omit(Subject::Type(id), Property::Unprototyped, Reason::NoOperand);
        }
        let has_place = matches!(
            ty.kind,
            TypeKind::Composite(_)
                | TypeKind::Enum { .. }
                | TypeKind::Typedef { .. }
                | TypeKind::Unspecified { .. }
        );
        if !has_place && ty.line.is_some() {
            out.omit(Subject::Type(id), Property::Line, Reason::NoOperand);
        }
        if !has_place && module.scopes[ty.scope].kind != ScopeKind::Unit {
            out.omit(Subject::Type(id), Property::EnclosingScope, Reason::NoOperand);
        }
    }
    for attribute in &module.lists.attributes {
        let property = Property::of_attribute(attribute.name);
        out.omit(attribute.owner.into(), property, Reason::NoOperandOf(attribute.name));
    }
    omit_unused_instances(out);
    for id in module.functions.keys() {
        functions::omit_of_function(out, id);
    }
    for id in core::mem::take(&mut out.locals.multiple) {
        variables::omit_of_variable(out, id);
    }
    for label in module.labels.keys() {
        out.omit(Subject::Label(label), Property::Entity, Reason::NoOperand);
    }
    let mut calls: IndexMap<Subject, usize> = IndexMap::new();
    for call in module.calls.values() {
        let function = module.function_of(call.scope);
        let subject = function.map_or(Subject::Scope(call.scope), Subject::Function);
        *calls.entry(subject).or_default() += 1;
    }
    for (subject, count) in calls {
        out.omit(subject, Property::Calls, Reason::Counted(count));
    }
}

/// Records inlined calls, inlined blocks and inlined variables that nothing refers to. The sets only encode a call's
/// location and its function or block; an inlined block or variable appears only where an instruction belongs to it.
fn omit_unused_instances(out: &mut Globals<'_, '_, '_>) {
    let module = out.module;
    if !module.scopes.values().any(|scope| matches!(scope.kind, ScopeKind::Inlined { .. })) {
        return;
    }
    let mut is_named = SecondaryMap::<ScopeId, bool>::new();
    let mut is_bound = SecondaryMap::<VariableId, bool>::new();
    for (_, statement) in &out.described.binding.statements {
        match *statement {
            // Unknown ids are refused where the statement is lowered.
            Statement::Scope(Some(scope)) if module.scopes.is_valid(scope) => is_named[scope] = true,
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                let Some(data) = module.variables.get(variable) else { continue };
                is_bound[variable] = true;
                is_named[data.scope] = true;
            }
            Statement::Scope(_) | Statement::Line(_) => {}
        }
    }
    for (id, variable) in &module.variables {
        let Some(origin) = variable.origin else { continue };
        let has_own = out.writer.mode.has(Feature::InlinedVariables) && !out.is_global(out.origin(origin));
        if has_own {
            is_named[variable.scope] = true;
        } else if !is_bound[id] {
            out.omit(Subject::Variable(id), Property::Entity, Reason::NotBound);
        }
    }
    let mut left = Vec::new();
    // A scope's contents follow the scope, so that the reverse order reaches all parents.
    for id in module.scopes.keys().rev().filter(|&id| out.described.relations.inlined[id].is_some()) {
        let data = &module.scopes[id];
        let is_call = matches!(data.kind, ScopeKind::Inlined { .. });
        // A call refers to its parent.
        if let Some(parent) = data.parent.filter(|_| is_named[id] || is_call) {
            is_named[parent] = true;
        }
        if !is_named[id] && (is_call || data.origin.is_some()) {
            left.push(id);
        }
    }
    for id in left.into_iter().rev() {
        out.omit(Subject::Scope(id), Property::Entity, Reason::NoInstructions);
    }
}
