//! Detects frames and calls that are valid, but that a compiler rarely means.

use core::ops::Range;
use std::collections::BTreeSet;

use super::ids::{EntityId, FunctionId};
use super::nodes::Node;
use super::warnings::{Warned, Warning};
use super::{Column, FrameRule, Module};
use crate::op::Reg;
use crate::target::{Scaling, SpaceId};

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 4] =
        [unscaled_frames, unsaved_bases, called_kernels, undescribed_calls];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

fn warning(
    module: &Module,
    warned: Warned,
    function: FunctionId,
    pcs: Option<Range<u64>>,
    what: String,
) -> Warning {
    let at = module.at_scope(module.functions[function].scope).with(|at| at.pcs = pcs);
    Warning { warned, at, what }
}

/// Returns a warning for each function whose frame is at the wave's byte that a register with bytes of one lane contains.
fn unscaled_frames(module: &Module) -> Vec<Warning> {
    let lanes = module.target.lanes();
    let mut found = Vec::new();
    for (id, function) in module.functions.iter().filter(|_| lanes > 1) {
        if function.stack.scaling != Scaling::Lane {
            continue;
        }
        let mut addresses =
            cfa_rules(module, id).filter_map(|rule| Some((rule, plain_register(module, rule)?)));
        let Some((rule, reg)) = addresses.next() else { continue };
        let name = Column::Register(reg).name(&module.target);
        let what = format!(
            "frame is at the byte of the wave's memory that {name} contains, but {name} counts the bytes of one lane; expected \
             {name} times {lanes}"
        );
        found.push(warning(module, Warned::UnscaledFrame(id), id, Some(rule.pcs()), what));
    }
    found
}

/// Returns the register to which an address in the wave's memory adds at most a constant.
fn plain_register(module: &Module, rule: &FrameRule) -> Option<Reg> {
    let mut nodes = module.nodes(rule.loc);
    let Some(Node::ReadRegister(reg)) = nodes.next() else { return None };
    let mut is_in_wave = false;
    let is_plain = nodes.all(|node| {
        is_in_wave |= node == Node::Memory(SpaceId::PRIVATE_WAVE);
        matches!(node, Node::Plus(_) | Node::Offset(_) | Node::Memory(_))
    });
    (is_plain && is_in_wave).then_some(reg)
}

/// Returns the canonical frame address's rules, sorted by pc.
fn cfa_rules(module: &Module, id: FunctionId) -> impl Iterator<Item = &FrameRule> {
    module.frame(id).iter().filter(|rule| rule.column == Column::Cfa)
}

/// Returns a warning for each register that moves its function's frame, and has no rule meanwhile, although it counts as
/// unchanged without a rule.
fn unsaved_bases(module: &Module) -> Vec<Warning> {
    let mut found = Vec::new();
    for (id, function) in &module.functions {
        let mut rules = cfa_rules(module, id);
        let Some(entry) = rules.next() else { continue };
        let at_entry = bases(module, entry);
        let mut warned = BTreeSet::new();
        for rule in rules {
            let now = bases(module, rule);
            for &reg in at_entry.union(&now) {
                let bits = module.target.register(reg).map(|register| register.bits);
                let is_kept = function.unruled_bits(&module.target, reg) == bits;
                if rule.loc == entry.loc || !is_kept || module.target.cfa_register() == Some(reg) {
                    continue;
                }
                let Some(pcs) = first_unruled(module, id, reg, rule.pcs()) else { continue };
                if !warned.insert(reg) {
                    continue;
                }
                let name = Column::Register(reg).name(&module.target);
                let change = match (at_entry.contains(&reg), now.contains(&reg)) {
                    (true, true) => "is at another distance from the frame than on entry",
                    (true, false) => "is no longer the base of the frame",
                    (false, _) => "becomes the base of the frame",
                };
                let what = format!(
                    "{name} {change} and has no rule, so that it counts as unchanged since the call; expected a rule for {name}"
                );
                found.push(warning(module, Warned::UnsavedBase(id, reg), id, Some(pcs), what));
            }
        }
    }
    found
}

/// Registers that an address depends on.
fn bases(module: &Module, rule: &FrameRule) -> BTreeSet<Reg> {
    let register = |node| match node {
        Node::ReadRegister(reg) => Some(reg),
        _ => None,
    };
    module.nodes(rule.loc).filter_map(register).collect()
}

/// Returns the first pcs in a range at which a register has no rule.
fn first_unruled(module: &Module, id: FunctionId, reg: Reg, pcs: Range<u64>) -> Option<Range<u64>> {
    let mut pc = pcs.start;
    while let Some(rule) = module.frame_rule(id, Column::Register(reg), pc) {
        pc = rule.pcs().end;
        if pc >= pcs.end {
            return None;
        }
    }
    Some(pc..pcs.end)
}

/// Returns a warning for each kernel that a described call calls, or that has a return address.
fn called_kernels(module: &Module) -> Vec<Warning> {
    let mut callers: Vec<Option<FunctionId>> = vec![None; module.functions.len()];
    for call in module.calls.values() {
        if let Some(callee) = call.callee {
            callers[callee.index()] = callers[callee.index()].or(module.function_of(call.scope));
        }
    }
    let returns = Column::Register(module.target.call_frames().return_register);
    let mut found = Vec::new();
    for (id, function) in module.functions.iter().filter(|(_, function)| function.is_kernel) {
        let returning = module
            .frame_by_column(id)
            .find(|rule| rule.column == returns && module.nodes(rule.loc).last() != Some(Node::Undefined));
        let (what, pcs) = match (callers[id.index()], returning) {
            (Some(caller), _) => {
                let caller = module.string(module.functions[caller].name);
                let what = format!(
                    "kernel is called by function `{caller}`; expected a function that is not a kernel"
                );
                (what, None)
            }
            (None, Some(rule)) => (
                "kernel has a return address; expected none, because the host launches it".into(),
                Some(rule.pcs()),
            ),
            (None, None) => continue,
        };
        if !function.is_declaration {
            found.push(warning(module, Warned::CalledKernel(id), id, pcs, what));
        }
    }
    found
}

/// Returns a warning for each function with calls that does not state which of its calls are described.
fn undescribed_calls(module: &Module) -> Vec<Warning> {
    let callers: BTreeSet<FunctionId> =
        module.calls.values().filter_map(|call| module.function_of(call.scope)).collect();
    let silent = |id: &FunctionId| {
        let function = &module.functions[*id];
        function.calls.is_none() && function.address.is_some()
    };
    let what =
        "function has calls without a statement which of its calls are described; expected `describes`";
    let found = callers.into_iter().filter(silent);
    found.map(|id| warning(module, Warned::UndescribedCalls(id), id, None, what.into())).collect()
}
