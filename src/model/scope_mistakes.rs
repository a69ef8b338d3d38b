//! Detects rows, variables and scopes that are valid, but that a compiler rarely means.

use core::cmp::Reverse;
use core::ops::Range;

use hashbrown::HashMap;

use super::Module;
use super::ids::ScopeId;
use super::scopes::ScopeKind;
use super::warnings::{Warned, Warning};

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 3] = [late_rows, duplicate_variables, overlapping_scopes];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

/// Returns a warning for each part of a function's code whose first row is after the part's start.
fn late_rows(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, function) in &module.functions {
        for part in function.code_parts() {
            let start = part.pcs.start;
            let Some(first) = module.rows_in(id, &part.pcs).first().filter(|row| row.pc > start) else {
                continue;
            };
            let what = format!(
                "no row has the line of these pcs; expected a row at {start:#x}, with line 0 for code without a source line"
            );
            warnings.push(Warning::of_function(module, Warned::LateRow(id), id, Some(start..first.pc), what));
        }
    }
    warnings
}

/// Returns a warning for each variable that its scope has already: with the same name, type and declaration, or as an
/// instance of the same variable.
fn duplicate_variables(module: &Module) -> Vec<Warning> {
    let mut known = HashMap::new();
    let mut warnings = Vec::new();
    for (id, variable) in &module.variables {
        if variable.name.is_none() && variable.origin.is_none() {
            continue;
        }
        let key = (
            (variable.scope, variable.name, variable.origin, variable.ty),
            (variable.line, variable.linkage_name, variable.is_declaration, variable.specification),
        );
        let first = *known.entry(key).or_insert(id);
        if first != id {
            let what =
                "variable is in its scope twice; expected one variable with a live range for each location";
            let warned = Warned::DuplicateVariable(first, id);
            let warning = Warning { warned, at: module.at_variable(id, None), what: what.into() };
            warnings.push((module.function_of(variable.scope), warning));
        }
    }
    warnings.sort_by_key(|&(function, _)| function);
    warnings.into_iter().map(|(_, warning)| warning).collect()
}

/// A pc range of a scope.
#[derive(Debug, Clone, Copy)]
struct Code {
    /// The scope around it.
    around: ScopeId,
    start: u64,
    end: u64,
    scope: ScopeId,
}

/// Returns a warning for each block or inlined call with a pc range that begins or ends within a range of a scope beside it:
/// neither scope is in the other, so that two scopes are the innermost at one pc. A range within a range is as good as nested:
/// debuggers take the smaller range.
fn overlapping_scopes(module: &Module) -> Vec<Warning> {
    let mut code = Vec::new();
    for (scope, data) in &module.scopes {
        if let (ScopeKind::Block | ScopeKind::Inlined { .. }, Some(around)) = (&data.kind, data.parent) {
            let ranges = module.ranges(scope).iter();
            code.extend(ranges.map(|pcs| Code { around, start: pcs.start, end: pcs.end, scope }));
        }
    }
    // A range comes after those that contain it.
    code.sort_unstable_by_key(|range| (range.around, range.start, Reverse(range.end), range.scope));
    let mut overlaps: HashMap<ScopeId, (ScopeId, Range<u64>)> = HashMap::new();
    // Ranges that contain the current range, the innermost last.
    let mut around: Vec<Code> = Vec::new();
    for range in code {
        let is_over = |before: &Code| before.around != range.around || before.end <= range.start;
        while around.pop_if(|before| is_over(before)).is_some() {}
        let crossed = around.last().filter(|before| before.start < range.start && before.end < range.end);
        if let Some(before) = crossed.filter(|before| before.scope != range.scope) {
            let [first, second] = [before.scope.min(range.scope), before.scope.max(range.scope)];
            overlaps.entry(second).or_insert((first, range.start..before.end));
        }
        around.push(range);
    }
    let mut overlaps: Vec<_> = overlaps.into_iter().collect();
    overlaps.sort_by_key(|(second, (_, pcs))| (module.function_of(*second), pcs.start, *second));
    let warning = |(second, (first, pcs))| {
        let what = format!(
            "{} shares code with {} in the same scope; expected separate code, or one scope in the other",
            kind(module, second),
            kind(module, first)
        );
        let at = module.at_scope(second).with(|context| context.pcs = Some(pcs));
        Warning { warned: Warned::OverlappingScopes(first, second), at, what }
    };
    overlaps.into_iter().map(warning).collect()
}

/// Returns a scope's kind, for a message.
fn kind(module: &Module, scope: ScopeId) -> String {
    match module.scopes[scope].kind {
        ScopeKind::Inlined { function, .. } => {
            format!("an inlined call of `{}`", module.string(module.functions[function].name))
        }
        _ => "a block".into(),
    }
}
