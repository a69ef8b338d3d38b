//! Entries for a function's variables, found by their scopes.
//!
//! An assembler keeps the entry tree and changes the entries' addresses. A variable's entry is therefore in the same
//! scopes, by kind and by the inlined function's name, as in the description. Scopes with the same kind and name are
//! in description order.

use std::borrow::Cow;

use gimli::constants as dw;
use hashbrown::HashMap;

use crate::check::groups::Groups;
use crate::model::{FunctionId, Module, ScopeId, ScopeKind, VariableId};
use crate::read::{Dwarf, Entry};

/// The inlined function's name; `None` for a block.
type Scope<'a> = Option<Cow<'a, str>>;

/// Scope paths from a function inwards by kind and name, each with a number. 0 is the function itself.
#[derive(Default)]
struct Paths<'a>(HashMap<(u32, Scope<'a>), u32>);

impl<'a> Paths<'a> {
    fn inner(&mut self, around: u32, scope: Scope<'a>) -> u32 {
        let next = self.0.len() as u32 + 1;
        *self.0.entry((around, scope)).or_insert(next)
    }
}

/// A description's variables and scopes by scope, and an object's functions by address.
pub(super) struct Entries<'a, 'o> {
    module: &'a Module,
    variables: Groups<ScopeId, VariableId>,
    scopes: Groups<ScopeId, ScopeId>,
    functions: HashMap<u64, Entry<'a, 'o>>,
}

impl<'a, 'o> Entries<'a, 'o> {
    pub(super) fn new(module: &'a Module, dwarf: &'a Dwarf<'o>) -> Self {
        let mut functions = HashMap::new();
        for entry in dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram) {
            if let Some(address) = entry.low_pc() {
                // Folded functions share an address: the first entry describes it.
                functions.entry(address).or_insert(entry);
            }
        }
        Self {
            module,
            variables: Groups::new(module.variables().map(|(id, variable)| (variable.scope, id))),
            scopes: Groups::new(module.scopes().filter_map(|(id, scope)| Some((scope.parent?, id)))),
            functions,
        }
    }

    /// Returns the variables in the function at an address, in the module's order, each with its entry. A variable
    /// has no entry if the object has more or fewer entries with that name in these scopes, because nothing tells
    /// them apart.
    pub(super) fn in_function(
        &self,
        function: FunctionId,
        address: u64,
    ) -> Vec<(VariableId, Option<Entry<'a, 'o>>)> {
        let mut paths = Paths::default();
        let mut encoded: HashMap<(u32, Cow<'a, str>), Vec<Entry<'a, 'o>>> = HashMap::new();
        let mut waiting: Vec<_> = self.functions.get(&address).map(|&entry| (entry, 0)).into_iter().collect();
        while let Some((entry, path)) = waiting.pop() {
            let first = waiting.len();
            for child in entry.children() {
                let name = || child.name().unwrap_or_default();
                match child.tag() {
                    dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant => {
                        encoded.entry((path, name())).or_default().push(child);
                    }
                    dw::DW_TAG_lexical_block => waiting.push((child, paths.inner(path, None))),
                    dw::DW_TAG_inlined_subroutine => {
                        waiting.push((child, paths.inner(path, Some(name()))));
                    }
                    _ => {}
                }
            }
            // The stack visits the first scope first, as the description does below.
            waiting[first..].reverse();
        }
        let mut described: HashMap<(u32, Cow<'a, str>), Vec<VariableId>> = HashMap::new();
        let mut waiting = vec![(self.module.function(function).scope, 0)];
        while let Some((scope, path)) = waiting.pop() {
            for id in self.variables.items(scope) {
                let name = self.module.name_of(id).unwrap_or_default();
                described.entry((path, name.into())).or_default().push(id);
            }
            let first = waiting.len();
            for inner in self.scopes.items(scope) {
                match self.module.scope(inner).kind {
                    ScopeKind::Block => waiting.push((inner, paths.inner(path, None))),
                    ScopeKind::Inlined { function, .. } => {
                        let name = self.module.string(self.module.function(function).name);
                        waiting.push((inner, paths.inner(path, Some(name.into()))));
                    }
                    _ => {}
                }
            }
            waiting[first..].reverse();
        }
        let mut variables: Vec<_> = described
            .into_iter()
            .flat_map(|(key, ids)| {
                let entries = encoded.remove(&key).filter(|entries| entries.len() == ids.len());
                let entries = entries.unwrap_or_default();
                ids.into_iter().enumerate().map(move |(index, id)| (id, entries.get(index).copied()))
            })
            .collect();
        variables.sort_unstable_by_key(|&(id, _)| id);
        variables
    }
}
