//! Detects frames that are valid, but that a compiler rarely means, and missing frames.

use core::ops::Range;
use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::ids::{FunctionId, VariableId};
use super::nodes::Node;
use super::warnings::{Warned, Warning};
use super::{Column, FrameRule, Function, Module};
use crate::op::Reg;
use crate::target::{Scaling, SpaceId};

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 2] = [unscaled_frames, unsaved_bases];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

/// Returns a warning for each function with code and without a frame. Where the ABI has `.eh_frame`, a compiler can write
/// the frames itself: the description must show that it has them.
pub(super) fn missing_frames(module: &Module) -> Vec<Warning> {
    let is_by_description = !module.target.call_frames().has_eh_frame;
    let is_without = |&(id, function): &(FunctionId, &Function)| {
        function.address.is_some() && function.bytes > 0 && module.frame(id).is_empty()
    };
    let with_frame = module.functions.iter().find(|&(id, _)| !module.frame(id).is_empty());
    let with_frame = with_frame.map(|(_, function)| module.string(function.name));
    let slots = if is_by_description { HashMap::new() } else { variables_in_frames(module) };
    let mut warnings = Vec::new();
    for (id, _) in module.functions.iter().filter(is_without) {
        let what = match (slots.get(&id), with_frame) {
            _ if is_by_description => {
                "function has code without frame rules; expected rules, which lead to its caller".into()
            }
            (Some(&variable), _) => {
                let name =
                    module.name_of(variable).map_or_else(|| variable.to_string(), |name| format!("`{name}`"));
                format!(
                    "variable {name} is relative to the canonical frame address, for which the function has no rule; expected \
                     frame rules"
                )
            }
            (None, Some(other)) => format!(
                "function has code without frame rules, but function `{other}` has rules; expected rules for both"
            ),
            (None, None) => continue,
        };
        warnings.push(Warning::of_function(module, Warned::Function(id), id, None, what));
    }
    warnings
}

/// Returns the first variable of each function with a location relative to the canonical frame address.
fn variables_in_frames(module: &Module) -> HashMap<FunctionId, VariableId> {
    let mut first = HashMap::new();
    for (id, variable) in &module.variables {
        let Some(function) = module.function_of(variable.scope) else { continue };
        let live = module.live(id).iter().map(|live| live.loc);
        let is_in_frame = |loc| module.nodes(loc).any(|node| node == Node::Cfa);
        if !first.contains_key(&function) && live.chain(variable.always).any(is_in_frame) {
            first.insert(function, id);
        }
    }
    first
}

/// Returns a warning for each function whose frame is at the wave's byte that a register with bytes of one lane contains.
fn unscaled_frames(module: &Module) -> Vec<Warning> {
    let lanes = module.target.lanes();
    let mut warnings = Vec::new();
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
             {name} * {lanes}"
        );
        warnings.push(Warning::of_function(module, Warned::UnscaledFrame(id), id, Some(rule.pcs()), what));
    }
    warnings
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
    let mut warnings = Vec::new();
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
                warnings.push(Warning::of_function(
                    module,
                    Warned::UnsavedBase(id, reg),
                    id,
                    Some(pcs),
                    what,
                ));
            }
        }
    }
    warnings
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
