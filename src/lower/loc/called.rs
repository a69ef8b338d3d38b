//! What a procedure contains, by itself or through the procedures that it calls.

use core::cell::RefCell;

use hashbrown::HashMap;

use super::fragments::{Split, has_bytes};
use super::shared::At;
use crate::model::{Module, Node, ProcedureId, Tree};

/// Contents of a procedure that decide how its caller is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contents {
    /// Whether the location depends on the caller's stack frame.
    pub(super) has_stack_slot: bool,
    /// Whether the expression builds a composite from pieces.
    pub(super) has_composite: bool,
}

impl Contents {
    /// Contents of a procedure whose nodes are malformed.
    const MALFORMED: Self = Self { has_stack_slot: false, has_composite: true };

    /// Returns the contents of a subtree, without the procedures that it calls.
    pub(super) fn of_subtree(module: &Module, tree: &Tree<'_>, root: At) -> Self {
        let nodes = root + 1 - tree.subtree(root).count()..=root;
        let split = Split { tree, target: &module.target };
        let is_composite = |at| match tree.node(at) {
            Node::Parts(_) | Node::Overlay | Node::Expr(_) => true,
            Node::Read(bits) => !has_bytes(split.bits(tree.last(at)), bits),
            _ => false,
        };
        Self {
            has_stack_slot: nodes.clone().any(|at| matches!(tree.node(at), Node::StackAddress(_))),
            has_composite: nodes.clone().any(is_composite),
        }
    }

    fn add(&mut self, other: Self) {
        self.has_stack_slot |= other.has_stack_slot;
        self.has_composite |= other.has_composite;
    }
}

/// Contents of the procedures that were asked for, each found once: a procedure can call a long chain of procedures.
#[derive(Debug, Default)]
pub(super) struct Called(RefCell<HashMap<ProcedureId, Contents>>);

impl Called {
    /// Returns the contents of a subtree with the procedures that it calls.
    pub(super) fn with_calls(&self, module: &Module, tree: &Tree<'_>, root: At) -> Contents {
        let mut contents = Contents::of_subtree(module, tree, root);
        for procedure in calls(tree, root) {
            contents.add(self.contents(module, procedure));
        }
        contents
    }

    /// Returns the contents of a procedure with the procedures that it calls.
    pub(super) fn contents(&self, module: &Module, procedure: ProcedureId) -> Contents {
        let mut known = self.0.borrow_mut();
        // A procedure stays on the stack until the procedures that it calls are known.
        let mut stack = vec![(procedure, false)];
        while let Some((procedure, are_callees_known)) = stack.pop() {
            if known.contains_key(&procedure) && !are_callees_known {
                continue;
            }
            crate::work::step();
            let mut tree = Tree::default();
            let nodes = module.procedures.get(procedure).map(|procedure| module.nodes(procedure.loc));
            let Some(root) = nodes.and_then(|nodes| tree.read(nodes)) else {
                known.insert(procedure, Contents::MALFORMED);
                continue;
            };
            if are_callees_known {
                let mut contents = Contents::of_subtree(module, &tree, root);
                for callee in calls(&tree, root) {
                    contents.add(known[&callee]);
                }
                known.insert(procedure, contents);
            } else {
                // Procedures that call each other are malformed.
                known.insert(procedure, Contents::MALFORMED);
                stack.push((procedure, true));
                stack.extend(calls(&tree, root).map(|callee| (callee, false)));
            }
        }
        known[&procedure]
    }
}

/// Returns the procedures that a subtree calls directly.
fn calls<'t>(tree: &'t Tree<'_>, root: At) -> impl Iterator<Item = ProcedureId> + 't {
    let nodes = root + 1 - tree.subtree(root).count()..=root;
    nodes.filter_map(|at| match tree.node(at) {
        Node::Call(procedure) => Some(procedure),
        _ => None,
    })
}
