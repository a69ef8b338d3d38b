//! Changes of finished modules: locations and frames.

use super::builder::Builder;
use super::order::Order;
use crate::model::{FunctionId, Module, VariableId};

/// Returns a builder for a finished module whose locations and frames change. Entities cannot be added.
pub(crate) fn resumed(mut module: Module) -> Builder {
    // The rules that `finish` adds for kernels are added again.
    let Module { lists, functions, variables, .. } = &mut module;
    lists.frame_rules.retain(|rule| !functions[rule.function].is_frame_implied);
    for function in functions.values_mut() {
        function.frame = 0..0;
    }
    for variable in variables.values_mut() {
        variable.live = 0..0;
    }
    let mut order = Order::resumed();
    for (id, function) in &module.functions {
        order.keep_rows(id, function.rows.len());
    }
    Builder::over(module, order)
}

/// Removes the locations of variables.
pub(crate) fn unlocate(m: &mut Builder, is_unlocated: impl Fn(VariableId) -> bool) {
    let Module { lists, variables, .. } = &mut m.module;
    lists.live.retain(|live| !is_unlocated(live.variable));
    let unlocated: Vec<VariableId> = variables.keys().filter(|id| is_unlocated(*id)).collect();
    for id in unlocated {
        variables[id].always = None;
        variables[id].is_constant = false;
    }
}

/// Removes the frame rules of functions.
pub(crate) fn unframe(m: &mut Builder, is_unframed: impl Fn(FunctionId) -> bool) {
    m.module.lists.frame_rules.retain(|rule| !is_unframed(rule.function));
}
