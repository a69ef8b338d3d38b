//! Detects locations that are valid, but that a compiler rarely means.

use super::ids::{FunctionId, LocId, TypeId};
use super::nodes::Node;
use super::types::{BaseEncoding, TypeKind};
use super::warnings::{Warned, Warning};
use super::{Column, Module};
use crate::error::Count;
use crate::op::Reg;
use crate::target::SpaceId;

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 5] =
        [slots_outside_frames, slots_before_frames, larger_than_types, half_registers, globals_in_registers];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

/// Returns a warning for each variable with a stack slot that is not within its function's frame.
fn slots_outside_frames(module: &Module) -> Vec<Warning> {
    let lanes = i64::from(module.target.lanes());
    let mut warnings = Vec::new();
    for (id, variable) in &module.variables {
        let Some(function) = module.function_of(variable.scope) else { continue };
        let Some(extent) = module.functions[function].frame_extent() else { continue };
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
        warnings.push(Warning { warned: Warned::Slot(id), at: module.at_variable(id, Some(pcs)), what });
    }
    warnings
}

/// Returns a warning for each variable with a stack slot before a frame that begins at address 0 of private memory, where
/// no memory is. On NVIDIA's targets, slots count from the canonical frame address, above the frame.
fn slots_before_frames(module: &Module) -> Vec<Warning> {
    let mut found = Vec::new();
    if module.target.has_lane_expressions() {
        return found;
    }
    for (id, variable) in &module.variables {
        let Some(function) = module.function_of(variable.scope).map(|function| &module.functions[function])
        else {
            continue;
        };
        if function.stack.base.is_some() || !function.has_stack() {
            continue;
        }
        let live = module.live(id).iter().map(|live| (Some(live.pcs()), live.loc));
        let mut locations = live.chain(variable.always.map(|loc| (None, loc)));
        let before =
            locations.find_map(|(pcs, loc)| Some((pcs, slot(module, loc).filter(|&offset| offset < 0)?)));
        let Some((pcs, offset)) = before else { continue };
        let what = format!(
            "stack slot is at {offset}, before the frame, which begins at address 0 of a lane's memory; expected 0 or more"
        );
        found.push(Warning { warned: Warned::Slot(id), at: module.at_variable(id, pcs), what });
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
    let mut warnings = Vec::new();
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
        warnings.push(Warning { warned: Warned::Larger(id), at: module.at_variable(id, pcs), what });
    }
    warnings
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
    let (total, last) = parts.fold((0u64, 0), |(total, _), bits| (total.saturating_add(bits), bits));
    Some((total, total - last))
}

/// Returns a warning for each number in 32 bits of each of several larger registers. One register could contain it, and the
/// registers of a larger number have more bits of it.
fn half_registers(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, variable) in module.variables.iter().filter(|(_, variable)| is_number(module, variable.ty)) {
        let live = module.live(id).iter().map(|live| (Some(live.pcs()), live.loc));
        let mut locations = live.chain(variable.always.map(|loc| (None, loc)));
        let Some((pcs, (reg, bits))) = locations.find_map(|(pcs, loc)| Some((pcs, halves(module, loc)?)))
        else {
            continue;
        };
        let what = format!(
            "location has the low 32 bits of each of several registers, but {} has {}; expected `parts` with {}",
            Column::Register(reg).name(&module.target),
            Count(bits, "bit"),
            Count(bits, "bit")
        );
        warnings.push(Warning { warned: Warned::HalfRegisters(id), at: module.at_variable(id, pcs), what });
    }
    warnings
}

/// Returns whether a type is a number in one piece. Members of a structure can be in any registers.
fn is_number(module: &Module, ty: TypeId) -> bool {
    match module.unqualified_type(ty).map(|ty| &module.types[ty].kind) {
        Some(TypeKind::Base { encoding, .. }) => *encoding != BaseEncoding::ComplexFloat,
        Some(TypeKind::Pointer { .. } | TypeKind::Enum { .. }) => true,
        _ => false,
    }
}

/// Returns the first register and its size in bits, for a location of the low 32 bits of two or more registers with more
/// bits.
fn halves(module: &Module, loc: LocId) -> Option<(Reg, u32)> {
    let mut nodes = module.nodes(loc);
    let mut first = None;
    loop {
        match (nodes.next()?, nodes.next()) {
            (Node::Register(reg), Some(Node::Part(32))) => {
                let register = module.target.register(reg).filter(|it| it.bits > 32 && it.lanes == 1)?;
                first = first.or(Some((reg, register.bits)));
            }
            (Node::Parts(2..), None) => return first,
            _ => return None,
        }
    }
}

/// Returns a warning for each variable outside functions whose fixed location is in registers, which other code overwrites.
fn globals_in_registers(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, variable) in &module.variables {
        let Some(always) = variable.always.filter(|_| module.function_of(variable.scope).is_none()) else {
            continue;
        };
        let register = module.nodes(always).find_map(|node| match node {
            Node::Register(reg) | Node::Lane(reg, _) | Node::PerLane(reg) => Some(reg),
            _ => None,
        });
        let Some(reg) = register else { continue };
        let name = Column::Register(reg).name(&module.target);
        let what = format!(
            "variable outside functions is always in {name}; expected memory, or a variable of a function"
        );
        warnings.push(Warning {
            warned: Warned::GlobalInRegister(id),
            at: module.at_variable(id, None),
            what,
        });
    }
    warnings
}
