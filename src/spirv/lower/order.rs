//! In which order: each item once, behind what it names. Section 2.2 "Forward references".
//!
//! An item is open while what it names is written. What names an open item is in a cycle, which the set cannot say:
//! there it is cut, or the item is named before it is written, where the mode has a way to.
//!
//! Some things are wanted before the item is open: the scope that it is in, and what it can do without best. So it is
//! there that a cycle is met: a local class that its function returns is met from the function, and loses its scope.

use super::entities::Globals;
use crate::error::{At, Result};
use crate::model::{FunctionId, ScopeId, TypeId, VariableId};
use crate::spirv::words::Id;

/// What is written at its turn.
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

/// How far an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Not begun.
    #[default]
    New,
    /// What it names is being written.
    Open,
    /// Written.
    Done,
}

/// What is known of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its id, which it can have before it is written.
    pub id: Option<Id>,
    pub state: State,
}

/// What is to be done for an item.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Write what comes before it is open.
    Into(Item),
    /// Write what it names.
    Open(Item),
    /// Write it.
    Write(Item),
}

impl Globals<'_, '_, '_> {
    /// Writes an item and all that it names, and then the members of the types among them.
    pub(super) fn root(&mut self, item: Item) -> Result<()> {
        self.visit(item)?;
        while let Some(composite) = self.composites.pop_front() {
            let id = composite.0;
            self.members(composite).map_err(|error| error.or_at(self.module.at_type(id)))?;
        }
        Ok(())
    }

    /// Writes an item and all that it names. It has its own stack, for types may be nested deeply.
    pub(super) fn visit(&mut self, item: Item) -> Result<()> {
        if self.state(item) != State::New {
            return Ok(());
        }
        if self.is_ready(item) {
            return self.write(item);
        }
        let mut steps = core::mem::take(&mut self.steps);
        steps.push(Step::Into(item));
        while let Some(step) = steps.pop() {
            match step {
                Step::Into(item) | Step::Open(item) if self.state(item) != State::New => {}
                Step::Into(item) => {
                    steps.push(Step::Open(item));
                    let start = steps.len();
                    self.before(item, |first| steps.push(Step::Into(first)));
                    steps[start..].reverse();
                }
                Step::Open(item) => {
                    self.slot(item).state = State::Open;
                    self.open += 1;
                    steps.push(Step::Write(item));
                    let start = steps.len();
                    self.named(item, |named| steps.push(Step::Into(named)));
                    steps[start..].reverse();
                }
                Step::Write(item) => {
                    self.write(item)?;
                    self.open -= 1;
                }
            }
        }
        self.steps = steps;
        Ok(())
    }

    /// Whether all that it names is written, or open: so it is of most things, and they need no stack. What names itself
    /// is not.
    fn is_ready(&self, item: Item) -> bool {
        let mut is_ready = true;
        self.before(item, |first| is_ready &= self.state(first) != State::New);
        if is_ready {
            self.named(item, |named| is_ready &= self.state(named) != State::New);
        }
        is_ready
    }

    /// Writes an item of which all that it names is written, or open.
    fn write(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Type(id) => self.ty(id),
            Item::FunctionType(id) => self.function_type(id),
            Item::Function(id) => self.function(id),
            Item::Scope(id) => self.block(id),
            Item::Variable(id) => self.variable(id),
        }
        .map_err(|error| error.or_at(self.at_item(item)))?;
        self.slot(item).state = State::Done;
        Ok(())
    }

    pub(super) fn state(&self, item: Item) -> State {
        match item {
            Item::Type(id) => self.types[id].state,
            Item::FunctionType(id) => self.function_types[id].state,
            Item::Function(id) => self.functions[id].state,
            Item::Scope(id) => self.scopes[id].state,
            Item::Variable(id) => self.variables[id].state,
        }
    }

    /// The place of an item, for an error.
    fn at_item(&self, item: Item) -> At {
        match item {
            Item::Type(id) => self.module.at_type(id),
            Item::FunctionType(id) | Item::Function(id) => self.at_function(id),
            Item::Scope(id) => self.module.at_scope(id),
            Item::Variable(id) => self.module.at_variable(id, None),
        }
    }

    fn slot(&mut self, item: Item) -> &mut Slot {
        match item {
            Item::Type(id) => &mut self.types[id],
            Item::FunctionType(id) => &mut self.function_types[id],
            Item::Function(id) => &mut self.functions[id],
            Item::Scope(id) => &mut self.scopes[id],
            Item::Variable(id) => &mut self.variables[id],
        }
    }

    /// The id that an item has, or will have.
    pub(super) fn id(&mut self, item: Item) -> Result<Id> {
        if let Some(id) = self.slot(item).id {
            return Ok(id);
        }
        let id = self.writer.fresh()?;
        self.slot(item).id = Some(id);
        Ok(id)
    }

    /// What comes before an item is open.
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

    /// What an item names besides.
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
                    variable.specification.filter(|&of| self.is_static_member(of) && self.is_said(of));
                member.map(Item::Variable).into_iter().for_each(each);
            }
        }
    }
}
