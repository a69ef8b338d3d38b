//! How entries are known before they have offsets, and what is in which scope.

use std::collections::BTreeSet;

use super::loc::Entries;
use crate::emit::info::EntryRef;
use crate::model::{Entity, FunctionId, Module, ProcedureId, ScopeId, TypeId, VariableId};

/// The numbers by which entries are known before they have offsets.
pub(super) struct Numbers {
    pub(super) variables: u32,
    pub(super) types: u32,
    pub(super) functions: u32,
    pub(super) procedures: u32,
    pub(super) scopes: u32,
    /// Unsigned base types of the unit that expressions use: bits and offset in the unit.
    pub(super) unsigned: Vec<(u32, u64)>,
    /// Procedures whose entries say nothing.
    pub(super) untold: BTreeSet<ProcedureId>,
}

impl Numbers {
    pub(super) fn count(&self) -> usize {
        (2 * self.variables + self.types + self.functions + self.procedures + self.scopes) as usize
    }

    /// The entry that says where a variable is.
    pub(super) fn variable(&self, id: VariableId) -> EntryRef {
        EntryRef(id.as_u32())
    }

    /// The entry of a variable of an inlined function that its instances refer to.
    pub(super) fn origin(&self, id: VariableId) -> EntryRef {
        EntryRef(self.variables + id.as_u32())
    }

    pub(super) fn ty(&self, id: TypeId) -> EntryRef {
        EntryRef(2 * self.variables + id.as_u32())
    }

    pub(super) fn function(&self, id: FunctionId) -> EntryRef {
        EntryRef(2 * self.variables + self.types + id.as_u32())
    }

    pub(super) fn procedure(&self, id: ProcedureId) -> EntryRef {
        EntryRef(2 * self.variables + self.types + self.functions + id.as_u32())
    }

    pub(super) fn namespace(&self, id: ScopeId) -> EntryRef {
        EntryRef(2 * self.variables + self.types + self.functions + self.procedures + id.as_u32())
    }
}

impl Entries for Numbers {
    fn entity(&self, entity: Entity) -> Option<EntryRef> {
        match entity {
            Entity::Variable(id) => Some(self.variable(id)),
            Entity::Type(id) => Some(self.ty(id)),
            Entity::Procedure(id) => Some(self.procedure(id)),
            Entity::Symbol(..) => None,
        }
    }

    fn unsigned(&self, bits: u32) -> Option<u64> {
        self.unsigned.iter().find(|&&(has, _)| has == bits).map(|&(_, offset)| offset)
    }

    fn is_told(&self, procedure: ProcedureId) -> bool {
        !self.untold.contains(&procedure)
    }
}

/// What is in each scope, in the order of the model.
pub(super) struct Children {
    first_variable: Vec<u32>,
    next_variable: Vec<u32>,
    first_scope: Vec<u32>,
    next_scope: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Children {
    pub(super) fn new(module: &Module) -> Self {
        let mut children = Self {
            first_variable: vec![NONE; module.scopes.len()],
            next_variable: vec![NONE; module.variables.len()],
            first_scope: vec![NONE; module.scopes.len()],
            next_scope: vec![NONE; module.scopes.len()],
        };
        for (id, variable) in module.variables.iter().rev() {
            let first = &mut children.first_variable[variable.scope.as_u32() as usize];
            children.next_variable[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        for (id, scope) in module.scopes.iter().rev() {
            let Some(parent) = scope.parent else { continue };
            let first = &mut children.first_scope[parent.as_u32() as usize];
            children.next_scope[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        children
    }

    pub(super) fn first_variable(&self, scope: ScopeId) -> Option<VariableId> {
        some(self.first_variable[scope.as_u32() as usize]).map(VariableId::from_u32)
    }

    pub(super) fn next_variable(&self, variable: VariableId) -> Option<VariableId> {
        some(self.next_variable[variable.as_u32() as usize]).map(VariableId::from_u32)
    }

    pub(super) fn first_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        some(self.first_scope[scope.as_u32() as usize]).map(ScopeId::from_u32)
    }

    pub(super) fn next_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        some(self.next_scope[scope.as_u32() as usize]).map(ScopeId::from_u32)
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}
