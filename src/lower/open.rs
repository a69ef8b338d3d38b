//! Open scopes: their own entries are written, and their children are not.

use super::children::ScopeItem;
use super::constants::{call_tag, template_tag};
use super::lists::{Base, Code};
use super::units::Units;
use crate::model::{
    FunctionId, ScopeId, ScopeKind, Stack, TemplateParameter, TypeId, VariableId, VariableKind,
};

/// Function instance with code.
#[derive(Clone, Copy)]
pub(super) struct Instance {
    pub(super) base: Base,
    /// Function address.
    pub(super) code: Code,
    pub(super) stack: Stack,
    pub(super) bytes: u64,
    /// Whether the function has an abstract instance, whose entries describe the variables.
    pub(super) has_abstract: bool,
}

/// Returns whether this instance has the entries that a function has only once. They belong to the abstract instance,
/// if there is one.
pub(super) fn is_first(instance: Option<&Instance>) -> bool {
    !instance.is_some_and(|instance| instance.has_abstract)
}

/// Scope whose own entry is written, and whose children are not all written.
pub(super) struct Open {
    pub(super) scope: ScopeId,
    /// The enclosing function's instance.
    pub(super) instance: Option<Instance>,
    next: Next,
}

/// Next child to be written.
enum Next {
    Type(Option<TypeId>),
    Scope(Option<ScopeId>),
    /// Position in the scope's code of inner functions.
    CodeApart(usize),
}

/// Scope children, in the order of their entries.
pub(super) enum Child {
    Type(TypeId),
    /// All variables.
    Variables,
    Scope(ScopeId),
    /// Inlined function inside a function, whose code has its entry here.
    CodeApart(FunctionId),
    /// All imports, labels and calls, which are the last.
    Items,
}

impl Open {
    /// Opens a scope. The unit's types precede all other entries; a function's are in its abstract instance, if it has
    /// one.
    pub(super) fn new(units: &Units<'_>, scope: ScopeId, instance: Option<&Instance>) -> Self {
        let has_types = is_first(instance) && units.module.scopes[scope].parent.is_some();
        let first = if has_types { units.children.first_type(scope) } else { None };
        Self { scope, instance: instance.copied(), next: Next::Type(first) }
    }

    /// Returns the next child; [`Child::Items`] is the last.
    pub(super) fn next(&mut self, units: &Units<'_>) -> Child {
        let children = &units.children;
        match self.next {
            Next::Type(Some(ty)) => {
                self.next = Next::Type(children.next_type(ty));
                Child::Type(ty)
            }
            Next::Type(None) => {
                self.next = Next::Scope(children.first_scope(self.scope));
                Child::Variables
            }
            Next::Scope(Some(inner)) => {
                self.next = Next::Scope(children.next_scope(inner));
                Child::Scope(inner)
            }
            Next::Scope(None) => {
                self.next = Next::CodeApart(0);
                self.next(units)
            }
            Next::CodeApart(at) => {
                self.next = Next::CodeApart(at + 1);
                children.code_apart(self.scope, at).map_or(Child::Items, Child::CodeApart)
            }
        }
    }
}

/// Returns whether a scope's entry has children.
pub(super) fn has_children(units: &Units<'_>, scope: ScopeId, instance: Option<&Instance>) -> bool {
    // Most scopes with children have variables, so the other tests are rarely needed.
    if units.children.first_variable(scope).is_some() || more_arguments(units, scope, instance).is_some() {
        return true;
    }
    let mut scopes =
        core::iter::successors(units.children.first_scope(scope), |&inner| units.children.next_scope(inner));
    let mut types =
        core::iter::successors(units.children.first_type(scope), |&ty| units.children.next_type(ty));
    let has_types = is_first(instance) && types.any(|ty| has_type_entry(units, ty));
    // Only the first instance has template parameters, and only those whose tags the consumer knows.
    let has_templates = || match units.module.scopes[scope].kind {
        ScopeKind::Function(function) => {
            let knows = |parameter: &TemplateParameter| {
                units.consumer.entries.knows_tag(template_tag(&parameter.argument))
            };
            is_first(instance) && units.module.functions[function].templates.iter().any(knows)
        }
        _ => false,
    };
    let entries = &units.consumer.entries;
    has_types
        || has_templates()
        || scopes.any(|inner| has_scope_entry(units, inner, instance))
        || units.scope_items.range(scope).any(|index| match units.scope_items.get(index) {
            ScopeItem::Import(_) => is_first(instance),
            ScopeItem::Label(_) => has_labels(units, scope, instance),
            ScopeItem::Call(_) => instance.is_some() && entries.knows_tag(call_tag(units.consumer.version)),
        })
}

/// Returns whether an instance has a function's labels: the code, or the abstract instance without code.
pub(super) fn has_labels(units: &Units<'_>, scope: ScopeId, instance: Option<&Instance>) -> bool {
    let module = units.module;
    let function = module.function_of(scope);
    instance.is_some() || function.is_some_and(|function| module.functions[function].address.is_none())
}

/// Returns whether a scope's entry is a child in the enclosing scope's entry.
pub(super) fn has_scope_entry(units: &Units<'_>, scope: ScopeId, instance: Option<&Instance>) -> bool {
    match units.module.scopes[scope].kind {
        // A type's entry writes the type's own scope.
        ScopeKind::Unit | ScopeKind::Type(_) => false,
        // An inlined function's abstract instance has it already.
        ScopeKind::Function(function) => {
            is_first(instance) && !units.module.functions[function].is_undescribed
        }
        ScopeKind::Inlined { .. } => instance.is_some() || !units.children.is_of_code(scope),
        // The entities of a namespace in a function are static, so that the abstract instance describes them.
        ScopeKind::Namespace { .. } => is_first(instance),
        ScopeKind::Block => true,
    }
}

/// Returns whether a type has an entry in its scope: base types are at the unit's start, other types may have type
/// units, and the consumer may not know a qualifier.
pub(super) fn has_type_entry(units: &Units<'_>, ty: TypeId) -> bool {
    !units.module.types[ty].kind.is_base() && !units.type_units.has(ty) && units.with_entry(ty) == Some(ty)
}

/// A variadic function's last parameter, or `Some(None)` without parameters. `None` if the scope is not a variadic
/// function, or if the arguments belong to its abstract instance.
pub(super) fn more_arguments(
    units: &Units<'_>,
    scope: ScopeId,
    instance: Option<&Instance>,
) -> Option<Option<VariableId>> {
    let module = units.module;
    let ScopeKind::Function(function) = module.scopes[scope].kind else { return None };
    if !module.functions[function].is_variadic || !is_first(instance) {
        return None;
    }
    let variables = core::iter::successors(units.children.first_variable(scope), |&variable| {
        units.children.next_variable(variable)
    });
    // The entry for further arguments follows the last parameter.
    let parameters = variables.filter(|&id| module.variables[id].kind == VariableKind::Parameter);
    Some(parameters.last())
}
