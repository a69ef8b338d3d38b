//! Detects calls that are valid, but that a compiler rarely means.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::ids::{CallId, EntityId, FunctionId, LocId};
use super::nodes::Node;
use super::warnings::{Warned, Warning};
use super::{Column, Module};
use crate::op::Reg;

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 5] =
        [called_kernels, undescribed_calls, duplicate_calls, duplicate_arguments, callees_without_code];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

/// Returns a warning for each kernel that a described call calls, or that has a return address.
fn called_kernels(module: &Module) -> Vec<Warning> {
    let mut callers: Vec<Option<FunctionId>> = vec![None; module.functions.len()];
    for call in module.calls.values() {
        if let Some(callee) = call.callee {
            callers[callee.index()] = callers[callee.index()].or(module.function_of(call.scope));
        }
    }
    let mut warnings = Vec::new();
    for (id, function) in module.functions.iter().filter(|(_, function)| function.is_kernel) {
        let returns = Column::Register(module.return_register(id));
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
            warnings.push(Warning::of_function(module, Warned::CalledKernel(id), id, pcs, what));
        }
    }
    warnings
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
    let undescribed = callers.into_iter().filter(silent);
    undescribed
        .map(|id| Warning::of_function(module, Warned::UndescribedCalls(id), id, None, what.into()))
        .collect()
}

/// Returns a warning for each call that has the return pc, or the pc, of an earlier call in the function: a debugger looks for
/// the call by this pc.
fn duplicate_calls(module: &Module) -> Vec<Warning> {
    let mut returns = HashMap::new();
    let mut pcs = HashMap::new();
    let mut warnings = Vec::new();
    for (id, call) in &module.calls {
        let Some(function) = module.function_of(call.scope) else { continue };
        let first = |by_pc: &mut HashMap<_, CallId>, pc: Option<u64>| {
            let first = *by_pc.entry((function, pc?)).or_insert(id);
            (first != id).then_some((first, pc?))
        };
        let same_return = first(&mut returns, call.return_pc);
        let same_pc = first(&mut pcs, call.pc);
        let (what, first) = match (same_return, same_pc) {
            (Some((first, pc)), _) => {
                (format!("two calls return to {pc:#x}; expected a call for each return pc"), first)
            }
            (None, Some((first, pc))) => {
                (format!("two calls are at {pc:#x}; expected a call for each instruction"), first)
            }
            (None, None) => continue,
        };
        let pc = call.return_pc.or(call.pc);
        let warned = Warned::DuplicateCall(first, id);
        warnings.push((function, pc, Warning { warned, at: module.at_scope(call.scope), what }));
    }
    warnings.sort_by_key(|&(function, pc, _)| (function, pc));
    warnings.into_iter().map(|(.., warning)| warning).collect()
}

/// Registers of a location, or lanes of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Passed {
    Register(Reg),
    Lane(Reg, u32),
    PerLane(Reg),
}

/// Returns a warning for each call of which two arguments begin with the same bits of a register or lane.
fn duplicate_arguments(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut passed = HashMap::new();
    for (id, call) in &module.calls {
        passed.clear();
        let mut arguments = module.arguments(id).iter().enumerate();
        let shared = arguments.find_map(|(index, argument)| {
            let mut shared = None;
            let location = argument.location.map(|location| registers(module, location));
            for register in location.into_iter().flatten() {
                let first = *passed.entry(register).or_insert(index);
                if first != index {
                    shared = shared.or(Some((first, index, register)));
                }
            }
            shared
        });
        let Some((first, second, register)) = shared else { continue };
        let name = |reg: Reg| Column::Register(reg).name(&module.target);
        let location = match register {
            Passed::Register(reg) | Passed::PerLane(reg) => name(reg),
            Passed::Lane(reg, lane) => format!("lane {lane} of {}", name(reg)),
        };
        let what = format!(
            "arguments {first} and {second} of a call, counted from 0, are both in {location}; expected a register for each"
        );
        let warned = Warned::DuplicateArgument(id);
        warnings.push((
            module.function_of(call.scope),
            Warning { warned, at: module.at_scope(call.scope), what },
        ));
    }
    warnings.sort_by_key(|&(function, _)| function);
    warnings.into_iter().map(|(_, warning)| warning).collect()
}

/// Returns the registers and lanes of which a location has the first bits. Empty if it also has other storage, or other bits.
fn registers(module: &Module, loc: LocId) -> Vec<Passed> {
    let mut registers = Vec::new();
    for node in module.nodes(loc) {
        match node {
            Node::Register(reg) => registers.push(Passed::Register(reg)),
            Node::Lane(reg, lane) => registers.push(Passed::Lane(reg, lane)),
            Node::PerLane(reg) => registers.push(Passed::PerLane(reg)),
            Node::Part(_) | Node::Parts(_) | Node::Undefined => {}
            _ => return Vec::new(),
        }
    }
    registers
}

/// Returns a warning for each function without code that a call calls, unless the function is declared.
fn callees_without_code(module: &Module) -> Vec<Warning> {
    // A target without registers has no code, such as SPIR-V's targets.
    let has_code = !module.target.register_ranges().is_empty();
    let mut warned = BTreeSet::new();
    let mut warnings = Vec::new();
    for call in module.calls.values().filter(|_| has_code) {
        let Some(callee) = call.callee else { continue };
        let function = &module.functions[callee];
        if function.address.is_some() || function.is_declaration || !warned.insert(callee) {
            continue;
        }
        let what = format!(
            "function `{}` is called, but has no code; expected code, or a declaration",
            module.string(function.name)
        );
        let warning =
            Warning { warned: Warned::CalleeWithoutCode(callee), at: module.at_scope(call.scope), what };
        warnings.push((module.function_of(call.scope), warning));
    }
    warnings.sort_by_key(|&(function, _)| function);
    warnings.into_iter().map(|(_, warning)| warning).collect()
}
