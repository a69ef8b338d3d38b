//! Order of import: an entity is made after those that it needs.

use hashbrown::{HashMap, HashSet};

use super::Importer;
use crate::error::Result;
use crate::model::{TypeId, UnitId};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// An entity to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A type, for a unit.
    Type(Id, UnitId),
    /// A function or its declaration, a block, a namespace.
    Scope(Id),
    /// A variable, or a static member.
    Variable(Id),
    /// A parameter of a function, by index from 0.
    Parameter(Id, u32),
}

/// Entities that are being made, and what they await.
#[derive(Default)]
pub(super) struct Pending {
    /// Nodes that were made, could not be made, or are being made.
    pub seen: HashSet<Node>,
    /// Composite types whose members are not described yet.
    pub composites: Vec<(Id, UnitId, TypeId)>,
    /// Computed offsets in bits, for members without an offset in the module.
    pub offsets: HashMap<(Id, UnitId), u64>,
    /// Types that are declared in another scope than a unit.
    pub within: Vec<(Id, TypeId)>,
}

enum Step {
    Into(Node),
    Out(Node),
}

impl Importer<'_, '_> {
    /// Makes a node, and the nodes that it needs before it. In a cycle, the needed node is missing.
    pub(super) fn want(&mut self, node: Node) -> Result<()> {
        let mut steps = vec![Step::Into(node)];
        let mut needs = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Into(node) => {
                    if self.pending.seen.insert(node) {
                        self.take_room()?;
                        steps.push(Step::Out(node));
                        self.needs(node, &mut needs);
                        steps.extend(needs.drain(..).rev().map(Step::Into));
                    }
                }
                Step::Out(Node::Type(id, unit)) => self.make_type(id, unit),
                Step::Out(Node::Scope(id)) => self.make_scope(id),
                Step::Out(Node::Variable(id)) => self.make_variable(id),
                Step::Out(Node::Parameter(function, index)) => self.make_parameter(function, index),
            }
        }
        Ok(())
    }

    fn needs(&mut self, node: Node, needs: &mut Vec<Node>) {
        let id = match node {
            Node::Type(id, _) | Node::Scope(id) | Node::Variable(id) => id,
            Node::Parameter(function, index) => {
                let Some(slot) =
                    self.references.parameters.get(&function).and_then(|all| all.get(index as usize))
                else {
                    return;
                };
                let ty = slot.ty;
                needs.push(Node::Scope(function));
                needs.extend(index.checked_sub(1).map(|before| Node::Parameter(function, before)));
                needs.extend(self.unit_of(function).zip(ty).map(|(unit, ty)| Node::Type(ty, unit)));
                return;
            }
        };
        let Some(fact) = self.facts.get(id) else { return };
        match (node, fact.name()) {
            (Node::Type(_, unit), name) => {
                let fields: &[Field] = match name {
                    Some(Name::TypePointer | Name::TypeQualifier | Name::Typedef) => &[Field::BaseType],
                    Some(Name::TypeArray | Name::TypeArrayDynamic | Name::TypeVector) => &[Field::BaseType],
                    Some(Name::TypeMatrix) => &[Field::VectorType],
                    Some(Name::TypeVectorId) => &[Field::ComponentType],
                    Some(Name::TypeFunction) => &[Field::ReturnType, Field::ParameterType],
                    Some(Name::TypeEnum) => &[Field::UnderlyingType],
                    Some(Name::TypePtrToMember) => &[Field::MemberType, Field::Parent],
                    Some(Name::TypeTemplate) => &[Field::Target],
                    _ => &[],
                };
                if name == Some(Name::TypeComposite) && self.facts.has_no_layout(&fact) {
                    let members = self.facts.data_members(&fact).filter_map(|member| member.id(Field::Type));
                    needs.extend(members.map(|ty| Node::Type(ty, unit)));
                }
                for &field in fields {
                    needs.extend(fact.ids(field).map(|ty| Node::Type(ty, unit)));
                }
                if matches!(name, Some(Name::TypeArray | Name::TypeArrayDynamic)) {
                    let counts = self.facts.counted_by(&fact);
                    needs.extend(counts.into_iter().filter_map(|count| self.variable_node(count)));
                }
            }
            (Node::Scope(_), Some(Name::Function | Name::FunctionDeclaration)) => {
                needs.extend(fact.id(Field::Scope).map(|scope| self.scope_node(scope)));
                needs.extend(fact.id(Field::Declaration).map(Node::Scope));
            }
            (Node::Scope(_), Some(Name::LexicalBlock | Name::LexicalBlockDiscriminator | Name::Module)) => {
                needs.extend(fact.id(Field::Scope).map(|scope| self.scope_node(scope)));
            }
            (Node::Scope(_), Some(Name::TypeComposite)) => {
                needs.push(Node::Type(id, self.own_unit(id)));
            }
            (Node::Variable(_), Some(Name::TypeMember)) => {
                let owner = self.references.owners.get(&id).copied();
                needs.extend(owner.map(Node::Scope));
                let unit = owner.and_then(|owner| self.unit_of(owner));
                needs.extend(unit.zip(fact.id(Field::Type)).map(|(unit, ty)| Node::Type(ty, unit)));
            }
            (Node::Variable(_), Some(Name::GlobalVariable | Name::LocalVariable)) => {
                needs.extend(fact.id(Field::Scope).map(|scope| self.scope_node(scope)));
                let unit = self.unit_of(id);
                needs.extend(unit.zip(fact.id(Field::Type)).map(|(unit, ty)| Node::Type(ty, unit)));
                needs.extend(fact.id(Field::StaticMember).map(Node::Variable));
            }
            _ => {}
        }
    }

    /// The scope with this id; for a template, its target.
    fn scope_node(&self, id: Id) -> Node {
        Node::Scope(self.facts.not_template(id))
    }

    /// The variable with this id, if it is one.
    fn variable_node(&self, id: Id) -> Option<Node> {
        match self.facts.get(id)?.name()? {
            Name::LocalVariable => Some(match self.references.slots.get(&id) {
                Some(&(function, index)) => Node::Parameter(function, index),
                None => Node::Variable(id),
            }),
            Name::GlobalVariable => Some(Node::Variable(id)),
            _ => None,
        }
    }
}
