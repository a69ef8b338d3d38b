//! Traversal of nested scopes: types, functions, blocks, inlined calls and namespaces.
//!
//! The enclosing scopes are in a list, so that the depth of the scopes does not affect the depth of recursion.

use smallvec::SmallVec;

use super::dies::Dies;
use super::scopes::{Instance, is_first};
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, TypeId};
use crate::omission::Subject;

/// Scope whose own entry is written, and whose children are not all written.
pub(super) struct Open {
    scope: ScopeId,
    /// Instance of the function around the scope.
    instance: Option<Instance>,
    next: Next,
}

/// Next child of a scope: types come first, then variables, then scopes.
enum Next {
    Type(Option<TypeId>),
    Scope(Option<ScopeId>),
}

impl Dies<'_> {
    /// Starts the children of a scope. The unit's types precede all other entries; a function's are in its abstract
    /// instance, if it has one.
    pub(super) fn open(&mut self, scope: ScopeId, instance: Option<&Instance>) -> Result<Open> {
        let has_types = is_first(instance) && self.module.scopes[scope].parent.is_some();
        if has_types && let ScopeKind::Function(function) = self.module.scopes[scope].kind {
            let templates = &self.module.functions[function].templates;
            self.template_parameters(Subject::Function(function), templates)?;
        }
        let first = if has_types { self.units.children.first_type(scope) } else { None };
        Ok(Open { scope, instance: instance.copied(), next: Next::Type(first) })
    }

    /// Writes the children of a scope with all entries below them, and the end of the children. `is_one` tells that
    /// exactly one function of the unit has code.
    pub(super) fn children(&mut self, open: Open, is_one: bool) -> Result<()> {
        let mut around = SmallVec::<[Open; 4]>::new();
        around.push(open);
        while let Some(Open { scope, instance, next }) = around.last_mut() {
            let (scope, instance) = (*scope, instance.as_ref());
            let inner = match *next {
                Next::Type(Some(ty)) => {
                    *next = Next::Type(self.units.children.next_type(ty));
                    if self.has_entry(ty) { self.ty(ty)? } else { None }
                }
                Next::Type(None) => {
                    *next = Next::Scope(self.units.children.first_scope(scope));
                    self.variables(scope, instance)?;
                    continue;
                }
                Next::Scope(Some(inner)) => {
                    *next = Next::Scope(self.units.children.next_scope(inner));
                    self.scope(inner, instance, is_one)?
                }
                Next::Scope(None) => {
                    self.after_scopes(scope, instance)?;
                    self.info.end_children();
                    let is_abstract = instance.is_none();
                    around.pop();
                    match self.module.scopes[scope].kind {
                        // The code of an inlined function follows its abstract instance.
                        ScopeKind::Function(id) if is_abstract => self.code_of_function(id, is_one)?,
                        _ => None,
                    }
                }
            };
            if let Some(inner) = inner {
                around.push(inner);
            }
        }
        Ok(())
    }

    /// Writes the types that are declared in the unit's scope.
    pub(super) fn types_of_unit(&mut self, scope: ScopeId, is_one: bool) -> Result<()> {
        let mut next = self.units.children.first_type(scope);
        while let Some(ty) = next {
            if self.has_entry(ty)
                && let Some(open) = self.ty(ty)?
            {
                self.children(open, is_one)?;
            }
            next = self.units.children.next_type(ty);
        }
        Ok(())
    }

    /// Returns whether a type has an entry in its scope: base types are at the start of the unit, and others may have
    /// type units.
    pub(super) fn has_entry(&self, ty: TypeId) -> bool {
        !self.module.types[ty].kind.is_base() && !self.units.type_units.has(ty)
    }
}
