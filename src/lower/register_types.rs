//! Base types for registers that expressions read: DWARF 5 section 2.5.1.4, `DW_OP_regval_type`.

use std::collections::BTreeSet;

use super::children::ScopeItem;
use super::expressions::stack_of;
use super::units::Units;
use crate::model::{
    Argument, CallId, FunctionId, LocId, Module, Node, ProcedureId, TypeId, UnitId, VariableId,
};
use crate::omission::Subject;
use crate::op::Reg;

/// Register sizes, in bits, for which a unit's expressions need an unsigned base type (`DW_OP_regval_type`).
pub(super) fn unsigned_sizes(units: &Units<'_>, unit: UnitId) -> Vec<u32> {
    let module = units.module;
    let address_bits = u32::from(module.target.address_bytes()) * 8;
    // Only registers narrower than an address need a type, because `breg` reads an address.
    if module.target.registers().all(|register| register.bits >= address_bits) {
        return Vec::new();
    }
    let mut sizes: Vec<u32> = Vec::new();
    let mut used_by = |loc, base: Option<Reg>| {
        // A register that is a location needs no type, unless a number is read from it.
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
    for id in units.variables.ids(unit) {
        let id = VariableId::from_u32(id);
        let variable = &module.variables[id];
        let function = module.function_of(variable.scope);
        let base = function.and_then(|function| module.functions[function].stack.base);
        let locs = module.live(id).iter().map(|live| live.loc).chain(variable.always);
        locs.for_each(|loc| used_by(loc, base));
    }
    for id in units.types.ids(unit) {
        let id = TypeId::from_u32(id);
        let base = stack_of(module, Subject::Type(id)).base;
        module.types[id].locs().into_iter().for_each(|loc| used_by(loc, base));
    }
    // A caller may inline a procedure's expression, and evaluates it with its own stack frame.
    let functions = units.functions.ids(unit).map(FunctionId::from_u32);
    let bases = functions.map(|function| module.functions[function].stack.base).chain([None]);
    let bases: BTreeSet<Option<Reg>> =
        if units.procedures.count(unit) == 0 { BTreeSet::new() } else { bases.collect() };
    for procedure in units.procedures.ids(unit) {
        let loc = module.procedures[ProcedureId::from_u32(procedure)].loc;
        bases.iter().for_each(|&base| used_by(loc, base));
    }
    for item in units.items(unit) {
        let ScopeItem::Call(id) = item else { continue };
        let function = module.function_of(module.calls[id].scope);
        let base = function.and_then(|function| module.functions[function].stack.base);
        call_locs(module, id).for_each(|loc| used_by(loc, base));
    }
    for id in units.functions.ids(unit) {
        let function = &module.functions[FunctionId::from_u32(id)];
        let mut locs = Vec::from_iter(function.frame_base.into_iter().chain(function.static_link));
        locs.extend(function.frame_bases().iter().map(|base| base.loc));
        function.templates.iter().for_each(|parameter| parameter.locs(&mut locs));
        locs.into_iter().for_each(|loc| used_by(loc, function.stack.base));
    }
    for attribute in module.attributes_of_unit(unit) {
        let base = stack_of(module, attribute.owner.into()).base;
        attribute.value.loc().into_iter().for_each(|loc| used_by(loc, base));
    }
    sizes.retain(|&bits| bits < address_bits);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Locations in a call and in its arguments.
fn call_locs(module: &Module, id: CallId) -> impl Iterator<Item = LocId> + '_ {
    let call = &module.calls[id];
    let arguments = module.arguments(id).iter().flat_map(|argument| {
        let Argument { location, value, data_location, data_value, .. } = *argument;
        [location, value, data_location, data_value].into_iter().flatten()
    });
    [call.target, call.clobbered_target].into_iter().flatten().chain(arguments)
}
