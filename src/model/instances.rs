//! Function instances as functions, for formats that have no instances.

use std::borrow::Cow;

use super::functions::{Function, MemberFunction};
use super::maps::SecondaryMap;
use super::{Module, ScopeId, ScopeKind};

/// Returns the module with each [function instance](Function::origin), its variables and its blocks as they are with all
/// that they take from the function: names, types, lines. Instances keep their origin, variables and blocks do not.
pub(crate) fn with_whole_instances(module: &Module) -> Cow<'_, Module> {
    if module.functions.values().all(|function| function.origin.is_none()) {
        return Cow::Borrowed(module);
    }
    let mut whole_module = module.clone();
    // A function comes before its instances, which can have instances.
    for (id, function) in module.functions() {
        if let Some(origin) = function.origin {
            whole_module.functions[id] = whole(function, &whole_module.functions[origin]);
        }
    }
    // Whether the innermost body around each scope is an instance's. A scope follows the scope around it.
    let mut is_instance = SecondaryMap::<ScopeId, bool>::new();
    for (id, scope) in &module.scopes {
        is_instance[id] = match scope.kind {
            ScopeKind::Function(function) => module.functions[function].origin.is_some(),
            ScopeKind::Inlined { .. } => false,
            _ => scope.parent.is_some_and(|parent| is_instance[parent]),
        };
    }
    for (id, _) in module.variables().filter(|(_, variable)| is_instance[variable.scope]) {
        let variable = &mut whole_module.variables[id];
        let Some(origin) = variable.origin.take() else { continue };
        let origin_data = &module.variables[origin];
        let first = &module.variables[module.first_origin(id)];
        variable.name = first.name;
        variable.line = variable.line.or(origin_data.line).or(first.line);
        variable.is_artificial |= first.is_artificial;
        variable.is_external |= first.is_external;
        variable.memory_space = variable.memory_space.or(first.memory_space);
        variable.accessibility = variable.accessibility.or(first.accessibility);
        variable.linkage_name = variable.linkage_name.or(first.linkage_name);
    }
    for (id, _) in module.scopes().filter(|&(id, _)| is_instance[id]) {
        let scope = &mut whole_module.scopes[id];
        let origin = |id: ScopeId| module.scopes[id].origin;
        scope.origin = None;
        let mut blocks = core::iter::successors(Some(id), |&id| origin(id));
        scope.line = blocks.find_map(|id| module.scopes[id].line);
    }
    Cow::Owned(whole_module)
}

/// Returns an instance with the properties of its function.
fn whole(instance: &Function, function: &Function) -> Function {
    let (own, inherited) = (instance.member, function.member);
    Function {
        returns: instance.returns.or(function.returns),
        linkage_name: instance.linkage_name.or(function.linkage_name),
        line: instance.line.or(function.line),
        body_line: if instance.body_line == 0 { function.body_line } else { instance.body_line },
        is_external: instance.is_external || function.is_external,
        is_variadic: instance.is_variadic || function.is_variadic,
        is_unprototyped: instance.is_unprototyped || function.is_unprototyped,
        is_noreturn: instance.is_noreturn || function.is_noreturn,
        is_main: instance.is_main || function.is_main,
        is_declared_inline: instance.is_declared_inline || function.is_declared_inline,
        convention: instance.convention.or(function.convention),
        specification: function.specification,
        member: MemberFunction {
            accessibility: own.accessibility.or(inherited.accessibility),
            virtuality: own.virtuality.or(inherited.virtuality),
            is_explicit: own.is_explicit || inherited.is_explicit,
            is_deleted: own.is_deleted || inherited.is_deleted,
            defaulted: own.defaulted.or(inherited.defaulted),
        },
        templates: if instance.templates.is_empty() { function } else { instance }.templates.clone(),
        ..instance.clone()
    }
}
