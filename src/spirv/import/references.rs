//! References in the opposite direction: members, templates, discriminators, parameters and bodies point to their
//! owners.

use hashbrown::{HashMap, HashSet};

use super::omissions::Omissions;
use super::set_facts::SetFacts;
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// A function's parameter: its variable, if there is one, and its type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub variable: Option<Id>,
    pub ty: Option<Id>,
}

/// References in the opposite direction, collected once.
#[derive(Default)]
pub(super) struct References {
    /// The composite type, by member.
    pub owners: HashMap<Id, Id>,
    /// The template, by type or function.
    pub templates: HashMap<Id, Id>,
    /// Each function's parameters, in order.
    pub parameters: HashMap<Id, Vec<Slot>>,
    /// The function and the parameter's index, by variable.
    pub slots: HashMap<Id, (Id, u32)>,
    /// Functions that contain blocks, variables or instructions.
    pub with_body: HashSet<Id>,
    /// The discriminators, by block.
    pub discriminators: HashMap<Id, Vec<Id>>,
    /// Discriminators that only inlined calls belong to; they become the calls' discriminators.
    pub of_calls: HashSet<Id>,
    /// Discriminators that only inlined instructions belong to. If a block has several, these belong to its instances.
    pub of_instances: HashSet<Id>,
}

impl References {
    /// Collects the references that are needed in the opposite direction: members, templates, discriminators,
    /// parameters and bodies point to their owners.
    pub fn new(facts: SetFacts<'_, '_>, omissions: &mut Omissions) -> Self {
        let mut references = Self::default();
        references.find(facts, omissions);
        references
    }

    fn find(&mut self, facts: SetFacts<'_, '_>, omissions: &mut Omissions) {
        let mut variables: HashMap<Id, Vec<(u32, Id)>> = HashMap::new();
        // Discriminators come first, because the loop skips the ones that belong to calls.
        self.find_discriminators(facts);
        for fact in facts.iter() {
            let id = fact.result;
            match fact.name() {
                Some(InstructionName::TypeComposite) => {
                    for member in fact.ids(Field::Member) {
                        // The first owner counts if a member is listed twice.
                        self.owners.entry(member).or_insert(id);
                    }
                }
                Some(InstructionName::TypeTemplate) => {
                    let template =
                        fact.id(Field::Target).map(|target| *self.templates.entry(target).or_insert(id));
                    if template.is_some_and(|first| first != id) {
                        omissions.omit(&fact, Unimported::SecondTemplate);
                    }
                }
                Some(InstructionName::LexicalBlockDiscriminator) if !self.of_calls.contains(&id) => {
                    if let Some(scope) = fact.id(Field::Scope) {
                        self.discriminators.entry(scope).or_default().push(id);
                    }
                }
                Some(InstructionName::LocalVariable) => {
                    let scope = fact.id(Field::Scope).map(|scope| facts.not_template(scope));
                    let kind = scope.and_then(|scope| facts.get(scope)).and_then(|scope| scope.name());
                    let is_function = matches!(
                        kind,
                        Some(InstructionName::Function | InstructionName::FunctionDeclaration)
                    );
                    if let (Some(scope), Some(_)) = (scope, fact.operand(Field::ArgNumber)) {
                        if is_function {
                            let number = facts.word(&fact, Field::ArgNumber);
                            variables.entry(scope).or_default().push((number, id));
                        } else {
                            omissions.omit(&fact, Unimported::ParameterOfNoFunction)
                        }
                    }
                }
                _ => {}
            }
            // A block or variable inside shows that a function has a body, even if no flag says so.
            let is_scope = matches!(
                fact.name(),
                Some(
                    InstructionName::LexicalBlock
                        | InstructionName::LexicalBlockDiscriminator
                        | InstructionName::InlinedAt
                        | InstructionName::Scope
                )
            );
            let is_local = fact.name() == Some(InstructionName::LocalVariable)
                && fact.operand(Field::ArgNumber).is_none();
            if is_scope || is_local {
                self.with_body.extend(fact.id(Field::Scope));
            }
            if fact.name() == Some(InstructionName::FunctionDefinition) {
                self.with_body.extend(fact.id(Field::Function));
            }
        }
        for fact in facts.iter() {
            // A second pass, because owners can follow their members.
            match fact.name() {
                Some(InstructionName::TypeMember | InstructionName::TypeInheritance)
                    if !self.owners.contains_key(&fact.result) =>
                {
                    omissions.omit(&fact, Unimported::MemberOfNoType);
                }
                Some(InstructionName::Function | InstructionName::FunctionDeclaration) => {
                    let variables_of_function = variables.remove(&fact.result).unwrap_or_default();
                    self.find_parameters(facts, omissions, &fact, variables_of_function);
                }
                _ => {}
            }
        }
    }

    /// Finds a function's parameters: the parameters in its type, each with its variable, then any further variables.
    fn find_parameters(
        &mut self,
        facts: SetFacts<'_, '_>,
        omissions: &mut Omissions,
        fact: &Fact<'_>,
        mut variables: Vec<(u32, Id)>,
    ) {
        let ty = facts.named(fact, Field::Type, InstructionName::TypeFunction);
        let mut types: Vec<Id> = ty.iter().flat_map(|ty| ty.ids(Field::ParameterType)).collect();
        // For variable arguments, the LLVM translator ends the list with a parameter that has no type.
        if types.last().is_some_and(|&last| facts.is_nothing(last)) {
            types.pop();
        }
        variables.sort_by_key(|&(number, _)| number);
        let mut variables = variables.into_iter().peekable();
        let mut slots = Vec::new();
        let mut mismatched = Vec::new();
        let variable = |(_, id): (u32, Id)| Slot {
            variable: Some(id),
            ty: facts.get(id).and_then(|fact| fact.id(Field::Type)),
        };
        // Variables are numbered from 1; a number can be missing or repeated.
        for (index, ty) in (1..).zip(types) {
            if variables.peek().is_some_and(|&(number, _)| number <= index) {
                while let Some(of) = variables.next_if(|&(number, _)| number <= index) {
                    let slot = variable(of);
                    if slot.ty.map(|ty| facts.not_template(ty)) != Some(facts.not_template(ty)) {
                        mismatched.push(of.1);
                    }
                    slots.push(slot);
                }
            } else {
                slots.push(Slot { variable: None, ty: Some(ty) })
            }
        }
        slots.extend(variables.map(variable));
        for id in mismatched {
            omissions.omit(fact, Unimported::ParameterType(id.0));
        }
        for (index, slot) in (0..).zip(&slots) {
            self.slots.extend(slot.variable.map(|variable| (variable, (fact.result, index))));
        }
        self.parameters.insert(fact.result, slots);
    }

    /// Finds the discriminators that only inlined calls belong to, and the discriminators that only inlined
    /// instructions belong to.
    fn find_discriminators(&mut self, facts: SetFacts<'_, '_>) {
        let mut of_instructions = HashSet::new();
        let mut of_function = HashSet::new();
        for fact in facts.iter() {
            let is_call = fact.name() == Some(InstructionName::InlinedAt);
            let is_inside = fact.operand(Field::Inlined).is_some();
            for scope in fact.ids(Field::Scope) {
                if is_call { &mut self.of_calls } else { &mut of_instructions }.insert(scope);
                if is_inside { &mut self.of_instances } else { &mut of_function }.insert(scope);
            }
        }
        self.of_calls.retain(|id| !of_instructions.contains(id));
        self.of_instances.retain(|id| !of_function.contains(id));
    }
}
