//! Symbols of thread-local variables, which are offsets and no addresses.

use crate::model::{Entity, ExprId, Module, Node};
use crate::op::{Decoder, Dialect, Encoding, Op};

/// Returns the symbols that are offsets in thread-local storage in the locations of variables.
pub(crate) fn thread_locals(module: &Module) -> Vec<&str> {
    let mut names = Vec::new();
    for (id, variable) in module.variables() {
        let live = module.live(id).iter().map(|live| live.loc);
        for location in variable.always.into_iter().chain(live) {
            let is_thread_local = module.nodes(location).any(|node| matches!(node, Node::ThreadLocal));
            for node in module.nodes(location) {
                match node {
                    Node::Address(symbol, _) if is_thread_local => names.push(module.symbol_name(symbol)),
                    Node::Expr(id) => names.extend(thread_locals_of(module, id)),
                    _ => {}
                }
            }
        }
    }
    names
}

/// Returns the symbols of an expression that has an address in thread-local storage.
fn thread_locals_of(module: &Module, id: ExprId) -> impl Iterator<Item = &str> {
    let (expr, entities) = module.expr(id);
    let encoding = Encoding::new(module.target.address_bytes(), Dialect::Llvm);
    let is_thread_local = Decoder::new(expr.bytes(), encoding)
        .map_while(Result::ok)
        .any(|decoded| matches!(decoded.op, Op::FormTlsAddress {}));
    entities.iter().filter(move |_| is_thread_local).filter_map(|entity| match entity {
        Entity::Symbol(symbol, _) => Some(module.symbol_name(*symbol)),
        _ => None,
    })
}
