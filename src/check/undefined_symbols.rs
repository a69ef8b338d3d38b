//! Sizes for symbols that the object does not define: how many bytes the module describes after them.

use crate::model::{Address, LocId, Module, Node, Symbol};
use crate::read::{Object, Sizes};

/// Returns how many bytes the module describes after each symbol; empty if the object defines all its symbols.
pub(super) fn sizes<'m>(module: &'m Module, object: &Object<'_>) -> Sizes<'m> {
    let mut sizes = Sizes::new();
    if object.symbols().iter().all(|symbol| symbol.is_defined || symbol.name.is_empty()) {
        return sizes;
    }
    let mut reach = |symbol: Symbol, bytes: u64| {
        let size = sizes.entry(module.symbol_name(symbol)).or_default();
        *size = bytes.max(*size);
    };
    for (_, function) in module.functions() {
        for part in function.code_parts() {
            if let Address::Symbol(symbol, by) = part.address {
                reach(symbol, by.saturating_add(part.pcs.end - part.pcs.start));
            }
        }
    }
    for (id, variable) in module.variables() {
        let bytes = module.ty(variable.ty).value_bits().unwrap_or(0).div_ceil(8);
        for loc in module.always(id).into_iter().chain(module.live(id).iter().map(|live| live.loc)) {
            reaches(module, loc, bytes, &mut reach);
        }
    }
    for (_, procedure) in module.procedures() {
        reaches(module, procedure.loc, 0, &mut reach);
    }
    sizes
}

/// Reports the distance from each symbol in a location to where an object with `bytes` bytes ends there.
fn reaches(module: &Module, loc: LocId, bytes: u64, reach: &mut impl FnMut(Symbol, u64)) {
    let forward = |offset: i64| u64::try_from(offset).unwrap_or(0);
    // All offsets together: an upper bound is enough to keep symbols apart.
    let bytes = module.nodes(loc).fold(bytes, |bytes, node| {
        bytes.saturating_add(match node {
            Node::Offset(by) | Node::Plus(by) | Node::Address(_, by) => forward(by),
            Node::BitOffset(by) => forward(by) / 8,
            _ => 0,
        })
    });
    for node in module.nodes(loc) {
        if let Node::Address(symbol, _) = node {
            reach(symbol, bytes);
        }
    }
}
