//! Base types for registers that expressions read: DWARF 5 section 2.5.1.4, `DW_OP_regval_type`.

use super::expressions::stack_of;
use super::units::Units;
use crate::model::{Argument, FunctionId, LocId, Module, Node, ProcedureId, TypeId, UnitId, VariableId};
use crate::omission::Subject;
use crate::op::Reg;

/// Sizes in bits of the registers in a unit's expressions that need an unsigned base type for `DW_OP_regval_type`.
pub(super) fn unsigned_sizes(units: &Units<'_>, unit: UnitId) -> Vec<u32> {
    let module = units.module;
    let address_bits = u32::from(module.target.address_bytes()) * 8;
    if module.target.registers().all(|register| register.bits >= address_bits) {
        return Vec::new();
    }
    let mut sizes: Vec<u32> = Vec::new();
    let mut used_by = |loc, base: Option<Reg>| {
        let has_read = module.nodes(loc).any(|node| matches!(node, Node::Read(_)));
        for node in module.nodes(loc) {
            let reg = match node {
                Node::ReadRegister(reg) => reg,
                Node::Register(reg) if has_read => reg,
                Node::StackAddress(_) if let Some(base) = base => base,
                _ => continue,
            };
            sizes.extend(module.target.register(reg).map(|register| register.bits));
        }
    };
    for id in units.variables.of(unit) {
        let id = VariableId::from_u32(id);
        let variable = &module.variables[id];
        let function = module.function_of(variable.scope);
        let base = function.and_then(|function| module.functions[function].stack.base);
        let locs = module.live(id).iter().map(|live| live.loc).chain(variable.always);
        locs.for_each(|loc| used_by(loc, base));
    }
    for id in units.types.of(unit) {
        let id = TypeId::from_u32(id);
        let base = stack_of(module, Subject::Type(id)).base;
        module.types[id].locs().into_iter().for_each(|loc| used_by(loc, base));
    }
    // Expressions of procedures may be inlined in their callers, with the caller's stack.
    for procedure in units.procedures.of(unit) {
        let loc = module.procedures[ProcedureId::from_u32(procedure)].loc;
        let functions = units.functions.of(unit).map(FunctionId::from_u32);
        let bases = functions.map(|function| module.functions[function].stack.base);
        bases.chain([None]).for_each(|base| used_by(loc, base));
    }
    frame_and_call_locs(module, unit).for_each(|(loc, base)| used_by(loc, base));
    for id in units.functions.of(unit) {
        let function = &module.functions[FunctionId::from_u32(id)];
        let mut locs = Vec::new();
        function.templates.iter().for_each(|parameter| parameter.locs(&mut locs));
        locs.into_iter().for_each(|loc| used_by(loc, function.stack.base));
    }
    sizes.retain(|&bits| bits < address_bits);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Locations of a unit's functions and calls, each with the base register of its function's stack frame.
fn frame_and_call_locs(module: &Module, unit: UnitId) -> impl Iterator<Item = (LocId, Option<Reg>)> + '_ {
    let functions =
        module.functions.values().filter(move |function| module.scopes[function.scope].unit == unit);
    let frames = functions.flat_map(|function| {
        let base = function.stack.base;
        function.frame_base.into_iter().chain(function.static_link).map(move |loc| (loc, base))
    });
    let calls = module.calls.iter().filter(move |(_, call)| module.scopes[call.scope].unit == unit);
    frames.chain(calls.flat_map(move |(id, call)| {
        let base = module.function_of(call.scope).and_then(|function| module.functions[function].stack.base);
        let targets = [call.target, call.clobbered_target].into_iter().flatten();
        let arguments = module.arguments(id).iter().flat_map(|argument| {
            let Argument { location, value, data_location, data_value, .. } = *argument;
            [Some(location), value, data_location, data_value].into_iter().flatten()
        });
        targets.chain(arguments).map(move |loc| (loc, base))
    }))
}
