//! Order of instructions: each item is written once, after the items that it refers to. Section 2.2 "Forward
//! references".
//!
//! An item is open while the items that it refers to are written. A reference to an open item closes a cycle, which
//! the set cannot encode: there the reference is cut, or in a mode with forward references it precedes the item.
//!
//! Expendable references are visited before an item is opened: its scope, and those that it can best do without.
//! Cycles are therefore cut there: a local class that its function returns is reached from the function, and loses its
//! scope.

use std::collections::VecDeque;

use cranelift_entity::SecondaryMap;

use super::entities::{Globals, for_all};
use crate::error::{At, Result};
use crate::model::{FunctionId, Module, ScopeId, TypeId, VariableId};
use crate::spirv::words::Id;

/// An item to be written in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A type.
    Type(TypeId),
    /// The type of a function.
    FunctionType(FunctionId),
    /// A function, or the declaration of one.
    Function(FunctionId),
    /// A block or a namespace.
    Scope(ScopeId),
    /// A variable or static member.
    Variable(VariableId),
}

/// Progress of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Entity that is not started.
    #[default]
    New,
    /// The items that it refers to are being written.
    Open,
    /// Entity with a written instruction.
    Done,
}

/// Id and progress of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Id of the item, which can be allocated before the item is written.
    pub id: Option<Id>,
    pub state: State,
}

/// A step for an item.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Visit the references that precede opening.
    Into(Item),
    /// Visit the other references.
    Open(Item),
    /// Write the item.
    Write(Item),
}

/// Ids and progress of all items.
#[derive(Debug)]
pub(super) struct Slots {
    pub types: SecondaryMap<TypeId, Slot>,
    pub function_types: SecondaryMap<FunctionId, Slot>,
    pub functions: SecondaryMap<FunctionId, Slot>,
    /// Blocks and namespaces.
    pub scopes: SecondaryMap<ScopeId, Slot>,
    pub variables: SecondaryMap<VariableId, Slot>,
}

impl Slots {
    pub fn new(module: &Module) -> Self {
        Self {
            types: for_all(&module.types),
            function_types: for_all(&module.functions),
            functions: for_all(&module.functions),
            scopes: for_all(&module.scopes),
            variables: for_all(&module.variables),
        }
    }

    pub fn state(&self, item: Item) -> State {
        match item {
            Item::Type(id) => self.types[id].state,
            Item::FunctionType(id) => self.function_types[id].state,
            Item::Function(id) => self.functions[id].state,
            Item::Scope(id) => self.scopes[id].state,
            Item::Variable(id) => self.variables[id].state,
        }
    }

    pub fn of(&mut self, item: Item) -> &mut Slot {
        match item {
            Item::Type(id) => &mut self.types[id],
            Item::FunctionType(id) => &mut self.function_types[id],
            Item::Function(id) => &mut self.functions[id],
            Item::Scope(id) => &mut self.scopes[id],
            Item::Variable(id) => &mut self.variables[id],
        }
    }
}

/// Items to be written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Composite types whose members follow later, with the ids allocated for the members.
    pub composites: VecDeque<(TypeId, Vec<Id>)>,
    steps: Vec<Step>,
    /// Number of open items.
    pub open: usize,
}

impl Globals<'_, '_, '_> {
    /// Writes an item and everything it refers to, then the members of the types among them.
    pub(super) fn root(&mut self, item: Item) -> Result<()> {
        self.visit(item)?;
        while let Some(composite) = self.pending.composites.pop_front() {
            let id = composite.0;
            self.members(composite).map_err(|error| error.or_at(self.module.at_type(id)))?;
        }
        Ok(())
    }

    /// Writes an item and everything it refers to, with an explicit stack, as types may be nested deeply.
    pub(super) fn visit(&mut self, item: Item) -> Result<()> {
        if self.slots.state(item) != State::New {
            return Ok(());
        }
        if self.is_ready(item) {
            return self.write(item);
        }
        let mut steps = core::mem::take(&mut self.pending.steps);
        steps.push(Step::Into(item));
        while let Some(step) = steps.pop() {
            match step {
                Step::Into(item) | Step::Open(item) if self.slots.state(item) != State::New => {}
                Step::Into(item) => {
                    steps.push(Step::Open(item));
                    let start = steps.len();
                    self.before(item, |first| steps.push(Step::Into(first)));
                    steps[start..].reverse();
                }
                Step::Open(item) => {
                    self.slots.of(item).state = State::Open;
                    self.pending.open += 1;
                    steps.push(Step::Write(item));
                    let start = steps.len();
                    self.named(item, |named| steps.push(Step::Into(named)));
                    steps[start..].reverse();
                }
                Step::Write(item) => {
                    self.write(item)?;
                    self.pending.open -= 1;
                }
            }
        }
        self.pending.steps = steps;
        Ok(())
    }

    /// Whether all references are written or open, so that no stack is needed: the usual case. An item that refers to
    /// itself is not ready.
    fn is_ready(&self, item: Item) -> bool {
        let mut is_ready = true;
        self.before(item, |first| is_ready &= self.slots.state(first) != State::New);
        if is_ready {
            self.named(item, |named| is_ready &= self.slots.state(named) != State::New);
        }
        is_ready
    }

    /// Writes an item whose references are all written or open.
    fn write(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Type(id) => self.ty(id),
            Item::FunctionType(id) => self.function_type(id),
            Item::Function(id) => self.function(id),
            Item::Scope(id) => self.block(id),
            Item::Variable(id) => self.variable(id),
        }
        .map_err(|error| error.or_at(self.at_item(item)))?;
        self.slots.of(item).state = State::Done;
        Ok(())
    }

    /// Location of an item, for an error.
    fn at_item(&self, item: Item) -> At {
        match item {
            Item::Type(id) => self.module.at_type(id),
            Item::FunctionType(id) | Item::Function(id) => {
                self.module.at_scope(self.module.functions[id].scope)
            }
            Item::Scope(id) => self.module.at_scope(id),
            Item::Variable(id) => self.module.at_variable(id, None),
        }
    }

    /// Id of an item, allocated if necessary.
    pub(super) fn id(&mut self, item: Item) -> Result<Id> {
        if let Some(id) = self.slots.of(item).id {
            return Ok(id);
        }
        let id = self.writer.fresh()?;
        self.slots.of(item).id = Some(id);
        Ok(id)
    }

    /// References to visit before an item is opened.
    fn before(&self, item: Item, mut each: impl FnMut(Item)) {
        let module = self.module;
        let mut scope = |scope| self.scope_before(scope).into_iter().for_each(&mut each);
        match item {
            Item::Type(id) => self.before_type(id, each),
            Item::FunctionType(_) => {}
            Item::Function(id) => {
                scope(self.parent(module.functions[id].scope));
                module.functions[id].specification.map(Item::Function).into_iter().for_each(each);
            }
            Item::Scope(id) => scope(self.parent(id)),
            Item::Variable(id) => scope(module.variables[id].scope),
        }
    }

    /// The other references of an item.
    fn named(&self, item: Item, mut each: impl FnMut(Item)) {
        let module = self.module;
        match item {
            Item::Type(id) => self.named_by_type(id, each),
            Item::FunctionType(id) => {
                let parameters = self.parameters(id).iter().map(|&id| module.variables[id].ty);
                let types = module.functions[id].returns.into_iter().chain(parameters);
                types.filter_map(|ty| self.type_item(ty)).for_each(each);
            }
            Item::Function(id) => each(Item::FunctionType(id)),
            Item::Scope(_) => {}
            Item::Variable(id) => {
                let variable = &module.variables[id];
                self.type_item(variable.ty).into_iter().for_each(&mut each);
                let member =
                    variable.specification.filter(|&of| self.is_static_member(of) && self.is_encoded(of));
                member.map(Item::Variable).into_iter().for_each(each);
            }
        }
    }
}
