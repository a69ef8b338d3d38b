//! Detects descriptions that are valid, but that a compiler rarely means: each kind has a name, by which it is allowed.

use core::ops::Range;

use hashbrown::HashMap;

use super::ids::{EntityId, FunctionId, LocId, RegionId, ScopeId, TypeId};
use super::nodes::Node;
use super::scopes::{Address, ScopeKind};
use super::types::{BaseEncoding, CompositeKind, Member, TypeKind};
use super::warnings::{Warned, Warning};
use super::{Column, Function, Module, RegionKind};
use crate::error::{Count, Enclosed, ErrorKind};
use crate::op::Reg;

/// Floating-point sizes in bits that processors and ABIs have: IEEE 754's, x87's, and x87's with padding.
const FLOATS: [u64; 6] = [16, 32, 64, 80, 96, 128];

/// Returns all warnings of this file, sorted by kind, function and pc.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let kinds: [fn(&Module) -> Vec<Warning>; 7] =
        [outside_scope, side_order, shared_code, no_code, type_sizes, overlapping_members, swapped_words];
    kinds.into_iter().flat_map(|find| find(module)).collect()
}

/// Returns a warning for each variable with a live range outside its block or inlined call, where no debugger looks
/// the variable up.
fn outside_scope(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // A scope without ranges has those of the scope around it. Enclosing scopes have lower ids.
    let mut with_ranges: Vec<ScopeId> = Vec::with_capacity(module.scopes.len());
    for (id, scope) in &module.scopes {
        let is_code = matches!(scope.kind, ScopeKind::Block | ScopeKind::Inlined { .. });
        let around = scope.parent.filter(|_| is_code && scope.ranges.is_empty());
        with_ranges.push(around.map_or(id, |around| with_ranges[around.index()]));
    }
    let mut joined: HashMap<ScopeId, Vec<Range<u64>>> = HashMap::new();
    for (id, variable) in module.variables.iter().filter(|(_, variable)| !variable.live.is_empty()) {
        let scope = with_ranges[variable.scope.index()];
        let code = joined.entry(scope).or_insert_with(|| joined_ranges(module, scope));
        let is_outside = |pcs: &Range<u64>| {
            let before = code.partition_point(|code| code.start <= pcs.start);
            before.checked_sub(1).is_none_or(|index| code[index].end < pcs.end)
        };
        let mut pcs = module.live(id).iter().map(|live| live.pcs());
        if !code.is_empty()
            && let Some(pcs) = pcs.find(is_outside)
        {
            // The message shows fewer ranges.
            let code = code.iter().take(8).cloned().collect();
            let what = ErrorKind::OutsideScope { kind: Enclosed::Live, code }.to_string();
            let start = pcs.start;
            let at = module.at_variable(id, Some(pcs));
            let function = module.function_of(variable.scope);
            warnings.push((function, start, Warning { warned: Warned::Outside(id), at, what }));
        }
    }
    warnings.sort_by_key(|&(function, start, _)| (function, start));
    warnings.into_iter().map(|(_, _, warning)| warning).collect()
}

/// Returns a scope's pc ranges, sorted, and with adjacent ranges joined. Empty for a whole function.
fn joined_ranges(module: &Module, scope: ScopeId) -> Vec<Range<u64>> {
    let mut ranges = module.ranges(scope).to_vec();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let is_adjacent = next.start <= before.end;
        if is_adjacent {
            before.end = before.end.max(next.end);
        }
        is_adjacent
    });
    ranges
}

/// Returns a warning for each `if` whose second side is before its first side in the code.
fn side_order(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut before: Option<RegionId> = None;
    for (id, second) in &module.lanes.regions {
        let first = before.replace(id).map(|before| &module.lanes.regions[before]);
        // `if_else` adds its sides one after the other.
        if let Some(first) = first
            && (first.kind, second.kind) == (RegionKind::Then, RegionKind::Else)
            && (first.scope, first.parent) == (second.scope, second.parent)
        {
            let what = if second.start < first.start {
                format!(
                    "second side of an `if` begins before the first side, which begins at {:#x}; expected the sides in the \
                     order in which they run",
                    first.start
                )
            } else if first.waits_at > first.start {
                format!(
                    "lanes wait at {:#x} while the first side runs, which begins at {:#x}; expected the pc at which the `if` \
                     begins",
                    first.waits_at, first.start
                )
            } else if second.waits_at < second.end {
                format!(
                    "lanes wait at {:#x} while the second side runs, which ends at {:#x}; expected the pc after the `if`",
                    second.waits_at, second.end
                )
            } else {
                continue;
            };
            let at =
                module.at_scope(second.scope).with(|context| context.region = Some(module.region_text(id)));
            warnings.push(Warning { warned: Warned::Sides(id), at, what });
        }
    }
    warnings
}

/// Returns a warning for each function whose code overlaps an earlier function's code.
fn shared_code(module: &Module) -> Vec<Warning> {
    let code = module.functions.iter().filter(|(_, function)| function.bytes > 0);
    let mut code: Vec<(Option<_>, u64, FunctionId)> = code
        .filter_map(|(id, function)| match function.address? {
            Address::Symbol(symbol, offset) => Some((Some(symbol.0), offset, id)),
            Address::Constant(address) => Some((None, address, id)),
        })
        .collect();
    code.sort_unstable();
    let mut warnings = Vec::new();
    // The function whose code ends last among those at the same symbol so far.
    let mut last: Option<(Option<_>, u64, FunctionId)> = None;
    for &(symbol, start, id) in &code {
        let end = start.saturating_add(module.functions[id].bytes);
        match last {
            Some((of, last_end, other)) if of == symbol && start < last_end => {
                let name = module.string(module.functions[other].name);
                let what = format!("code overlaps the code of function `{name}`");
                let at = module.at_scope(module.functions[id].scope);
                warnings.push((id, Warning { warned: Warned::SharedCode(id, other), at, what }));
                if end > last_end {
                    last = Some((symbol, end, id));
                }
            }
            _ => last = Some((symbol, end, id)),
        }
    }
    warnings.sort_by_key(|&(id, _)| id);
    warnings.into_iter().map(|(_, warning)| warning).collect()
}

/// Returns a warning for each function whose code has no bytes, and for each kernel without code.
fn no_code(module: &Module) -> Vec<Warning> {
    // A target without registers has no code, such as SPIR-V's targets.
    let has_code = !module.target.register_ranges().is_empty();
    let what = |function: &Function| match function.address {
        Some(_) if function.bytes == 0 => Some("function has code of 0 bytes"),
        None if function.is_kernel && !function.is_declaration => {
            Some("kernel has no code; expected code, or a declaration")
        }
        _ => None,
    };
    let functions = module.functions.iter().filter(|_| has_code);
    let warning = |(id, function): (_, &Function)| {
        let at = module.at_scope(function.scope);
        Some(Warning { warned: Warned::NoCode(id), at, what: what(function)?.into() })
    };
    functions.filter_map(warning).collect()
}

/// Returns a warning for each number type with a size that no processor has, unless its name contains the size:
/// often bytes where bits were meant.
fn type_sizes(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, ty) in &module.types {
        let (TypeKind::Base { name, encoding }, Some(bits)) = (&ty.kind, ty.bits) else { continue };
        let (is_usual, expected) = match encoding {
            BaseEncoding::Float | BaseEncoding::ImaginaryFloat => {
                (FLOATS.contains(&bits), "16, 32, 64, 80, 96 or 128 bits")
            }
            BaseEncoding::ComplexFloat => (
                bits.is_multiple_of(2) && FLOATS.contains(&(bits / 2)),
                "twice a floating-point number's bits",
            ),
            // A truth value can have one bit.
            BaseEncoding::Boolean => (true, ""),
            _ => (bits.is_multiple_of(8), "whole bytes"),
        };
        if !is_usual && !module.string(*name).contains(&bits.to_string()) {
            let bits = Count(bits, "bit");
            let what = format!(
                "{} has {bits}; expected {expected}, or a name with the number of bits",
                module.called(id)
            );
            warnings.push(Warning { warned: Warned::Type(id), at: module.at_type(id), what });
        }
    }
    warnings
}

/// Returns a warning for each structure, class or variant in which two members share bits.
fn overlapping_members(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut sizes = HashMap::new();
    for (id, ty) in &module.types {
        let TypeKind::Composite(composite) = &ty.kind else { continue };
        // The members of an object without a constant size move.
        if composite.kind == CompositeKind::Union || ty.bits.is_none() {
            continue;
        }
        // Members of different variants share bits, and so does a discriminant in unused values of a member.
        let parts = composite.variant_parts.iter().map(|&part| &module.variant_parts[part]);
        let variants = parts.flat_map(|part| &part.variants).map(|variant| &variant.members);
        for members in core::iter::once(&composite.members).chain(variants) {
            warnings.extend(overlap_among(module, &mut sizes, id, members));
        }
    }
    warnings
}

/// Returns a warning for the first member that shares bits with the members before it.
fn overlap_among(
    module: &Module,
    sizes: &mut HashMap<TypeId, u64>,
    id: TypeId,
    members: &[Member],
) -> Option<Warning> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    // Members are usually in order.
    sorted.sort_by_key(|member| member.offset_bits);
    let mut last: Option<(&Member, u64)> = None;
    for member in sorted {
        // A type is measured once, however many members have it.
        let own_bits = || *sizes.entry(member.ty).or_insert_with(|| data_bits(module, member.ty));
        let end = member.offset_bits.saturating_add(member.bits.unwrap_or_else(own_bits));
        if end == member.offset_bits {
            continue;
        }
        if let Some((other, last_end)) = last
            && member.offset_bits < last_end
        {
            let name = |member: &Member| match member.name {
                Some(name) => format!("member `{}`", module.string(name)),
                None => "unnamed member".into(),
            };
            let what = format!("{} of {} overlaps {}", name(member), module.called(id), name(other));
            return Some(Warning { warned: Warned::Members(id), at: module.at_type(id), what });
        }
        last = Some((member, end));
    }
    None
}

/// Returns the bits of a type without what another member may use: an empty class has no bits, and the padding at the
/// end of a class can contain the next member (`[[no_unique_address]]`).
fn data_bits(module: &Module, ty: TypeId) -> u64 {
    let ty = module.unqualified_type(ty).unwrap_or(ty);
    let bits_of_value = module.types[ty].value_bits.unwrap_or(0);
    let TypeKind::Composite(composite) = &module.types[ty].kind else { return bits_of_value };
    let end = |member: &Member| {
        let bits = member.bits.or(module.types[member.ty].bits).unwrap_or(0);
        member.offset_bits.saturating_add(bits)
    };
    let has_others = !composite.bases.is_empty() || !composite.variant_parts.is_empty();
    if has_others { bits_of_value } else { composite.members.iter().map(end).max().unwrap_or(0) }
}

/// Returns a warning for each function whose return address has its low word in the second of two registers or lanes.
fn swapped_words(module: &Module) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, function) in &module.functions {
        let column = Column::Register(module.return_register(id));
        let mut rules = module.frame_by_column(id).filter(|rule| rule.column == column);
        let swapped = rules.find_map(|rule| Some((rule, swapped_parts(module, rule.loc)?)));
        let Some((rule, [low, high])) = swapped else { continue };
        let what = format!(
            "return address has its low word in {low} and its high word in {high}; expected the low word in {high}"
        );
        let at = module.at_scope(function.scope).with(|context| context.pcs = Some(rule.pcs()));
        warnings.push(Warning { warned: Warned::SwappedWords(id), at, what });
    }
    warnings
}

/// Returns the names of two parts, if the first is directly after the second: in the next register, or the next lane.
fn swapped_parts(module: &Module, loc: LocId) -> Option<[String; 2]> {
    let nodes: Vec<Node<'_>> = module.nodes(loc).take(6).collect();
    let &[first, Node::Part(_), second, Node::Part(_), Node::Parts(2)] = &nodes[..] else { return None };
    let name = |reg: Reg| Column::Register(reg).name(&module.target);
    match (first, second) {
        (Node::Register(first), Node::Register(second)) if first.0.checked_sub(1) == Some(second.0) => {
            Some([name(first), name(second)])
        }
        (Node::Lane(reg, first), Node::Lane(of, second))
            if reg == of && first.checked_sub(1) == Some(second) =>
        {
            Some([first, second].map(|lane| format!("lane {lane} of {}", name(reg))))
        }
        _ => None,
    }
}
