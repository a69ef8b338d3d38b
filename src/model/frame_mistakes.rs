//! Detects frames, calls and locations that are valid, but that a compiler rarely means.

use core::ops::Range;
use std::collections::BTreeSet;

use super::ids::{EntityId, FunctionId, LocId};
use super::nodes::Node;
use super::warnings::{Warned, Warning};
use super::{Column, FrameRule, Module};
use crate::error::Count;
use crate::op::Reg;
use crate::target::{Scaling, SpaceId};

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 6] = [
        unscaled_frames,
        unsaved_bases,
        called_kernels,
        undescribed_calls,
        slots_outside_frames,
        larger_than_types,
    ];
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
             {name} * {lanes}"
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

/// Returns a warning for each variable with a stack slot that is not within its function's frame.
fn slots_outside_frames(module: &Module) -> Vec<Warning> {
    let lanes = i64::from(module.target.lanes());
    let mut found = Vec::new();
    for (id, variable) in &module.variables {
        let Some(function) = module.function_of(variable.scope) else { continue };
        let Some(extent) = &module.functions[function].frame_extent else { continue };
        let Some(bits) = module.types[variable.ty].value_bits else { continue };
        let outside = module.live(id).iter().find_map(|live| {
            let slot = slot(module, live.loc)?;
            let start =
                slot.checked_mul(lanes)?.checked_sub(frame_of_slots(module, function, live.pcs().start)?)?;
            let end = start.checked_add(i64::try_from(bits.div_ceil(8)).ok()?.checked_mul(lanes)?)?;
            (start < extent.start || extent.end < end).then(|| (live.pcs(), start..end))
        });
        let Some((pcs, slot)) = outside else { continue };
        let what = format!(
            "stack slot has the wave's bytes {}..{} around the canonical frame address; expected bytes within {}..{}, the \
             frame's extent",
            slot.start, slot.end, extent.start, extent.end
        );
        found.push(Warning { warned: Warned::Slot(id), at: module.at_variable(id, Some(pcs)), what });
    }
    found
}

/// Returns a stack slot's offset in bytes of one lane, if a location is one.
fn slot(module: &Module, loc: LocId) -> Option<i64> {
    let mut nodes = module.nodes(loc);
    let Some(Node::StackAddress(mut offset)) = nodes.next() else { return None };
    let Some(Node::Memory(SpaceId::PRIVATE_LANE)) = nodes.next() else { return None };
    for node in nodes {
        let Node::Offset(by) = node else { return None };
        offset = offset.checked_add(by)?;
    }
    Some(offset)
}

/// Returns the canonical frame address's distance in the wave's bytes from the base of the function's stack slots, if the
/// address is at a constant distance.
fn frame_of_slots(module: &Module, function: FunctionId, pc: u64) -> Option<i64> {
    let base = module.functions[function].stack.base?;
    let rule = module.frame_rule(function, Column::Cfa, pc)?;
    let mut nodes = module.nodes(rule.loc).peekable();
    if nodes.next() != Some(Node::ReadRegister(base)) {
        return None;
    }
    if let Some(Node::Const(lanes)) = nodes.next_if(|node| matches!(node, Node::Const(_))) {
        let is_scaled = nodes.next() == Some(Node::Mul) && lanes == u64::from(module.target.lanes());
        is_scaled.then_some(())?;
    }
    nodes.try_fold(0i64, |distance, node| match node {
        Node::Plus(by) | Node::Offset(by) => distance.checked_add(by),
        Node::Memory(SpaceId::PRIVATE_WAVE) => Some(distance),
        _ => None,
    })
}

/// Returns a warning for each variable with a location of several parts, of which the last begins where the variable has
/// ended.
fn larger_than_types(module: &Module) -> Vec<Warning> {
    let mut found = Vec::new();
    for (id, variable) in &module.variables {
        let Some(bits) = module.types[variable.ty].value_bits.filter(|&bits| bits > 0) else { continue };
        let live = module.live(id).iter().map(|live| (Some(live.pcs()), live.loc));
        let mut locations = live.chain(variable.always.map(|loc| (None, loc)));
        let is_larger = |loc| Some(parts_bits(module, loc)?).filter(|(_, before_last)| *before_last >= bits);
        let Some((pcs, (all, _))) = locations.find_map(|(pcs, loc)| Some((pcs, is_larger(loc)?))) else {
            continue;
        };
        let what = format!(
            "location has parts with {}, but the variable has {}",
            Count(all, "bit"),
            Count(bits, "bit")
        );
        found.push(Warning { warned: Warned::Larger(id), at: module.at_variable(id, pcs), what });
    }
    found
}

/// Returns the bits of a location's parts, and those before the last part. `None` if it has none, or parts of parts.
fn parts_bits(module: &Module, loc: LocId) -> Option<(u64, u64)> {
    let nodes = module.nodes(loc);
    if !matches!(nodes.clone().last(), Some(Node::Parts(_))) {
        return None;
    }
    if nodes.clone().filter(|node| matches!(node, Node::Parts(_))).count() > 1 {
        return None;
    }
    let parts = nodes.filter_map(|node| match node {
        Node::Part(bits) => Some(bits),
        _ => None,
    });
    let (all, last) = parts.fold((0u64, 0), |(all, _), bits| (all.saturating_add(bits), bits));
    Some((all, all - last))
}
