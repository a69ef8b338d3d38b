//! Labels of function instances: DWARF 5 section 3.3.8.3.

use hashbrown::HashMap;

use super::{LabelId, Module, ScopeId, ScopeKind, StringId};

/// Returns, for each label in an instance, the label with the same name in the original function or block. Only a function without code has entries for labels beside those of its instances.
pub(crate) fn label_origins(module: &Module) -> HashMap<LabelId, LabelId> {
    let mut origins = HashMap::new();
    if module.labels.is_empty() {
        return origins;
    }
    // `None` for labels of one name, which do not identify a label.
    let mut known: HashMap<(ScopeId, StringId), Option<LabelId>> = HashMap::new();
    for (id, label) in &module.labels {
        let is_abstract = module
            .function_of(label.scope)
            .is_some_and(|function| module.functions[function].address.is_none());
        if is_abstract {
            let is_first = !known.contains_key(&(label.scope, label.name));
            known.insert((label.scope, label.name), is_first.then_some(id));
        }
    }
    for (id, label) in &module.labels {
        let scope = &module.scopes[label.scope];
        let of_function = |function| module.functions[function].scope;
        let around = match scope.kind {
            ScopeKind::Function(function) => module.functions[function].origin.map(of_function),
            ScopeKind::Inlined { function, .. } => Some(of_function(function)),
            _ => scope.origin,
        };
        let origin = around.and_then(|around| known.get(&(around, label.name)).copied().flatten());
        origins.extend(origin.map(|origin| (id, origin)));
    }
    origins
}
