//! Import order: an entity is imported after the entities that it needs. The order is found with an explicit stack
//! instead of a recursion, because types and scopes can be nested deeply.

use super::importer::{Importer, Node};
use super::{functions, scopes, types, variables};
use crate::error::Result;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

enum Step {
    Into(Node),
    Out(Node),
}

/// Imports a node, and before it the nodes that it needs. In a cycle, the needed node is missing.
pub(super) fn want(importer: &mut Importer<'_, '_>, node: Node) -> Result<()> {
    let mut steps = vec![Step::Into(node)];
    let mut needs = Vec::new();
    while let Some(step) = steps.pop() {
        match step {
            Step::Into(node) => {
                // A node that was seen is finished, refused, or open in a cycle.
                if importer.pending.seen.insert(node) {
                    importer.take_room()?;
                    steps.push(Step::Out(node));
                    add_needs(importer, node, &mut needs);
                    steps.extend(needs.drain(..).rev().map(Step::Into));
                }
            }
            Step::Out(Node::Type(id, unit)) => types::make_type(importer, id, unit),
            Step::Out(Node::Scope(id)) => scopes::make_scope(importer, id),
            Step::Out(Node::Variable(id)) => variables::make_variable(importer, id),
            Step::Out(Node::Parameter(function, index)) => {
                functions::make_parameter(importer, function, index)
            }
        }
    }
    Ok(())
}

fn add_needs(importer: &mut Importer<'_, '_>, node: Node, needs: &mut Vec<Node>) {
    let id = match node {
        Node::Type(id, _) | Node::Scope(id) | Node::Variable(id) => id,
        Node::Parameter(function, index) => {
            let Some(slot) = importer
                .references
                .parameters
                .get(&function)
                .and_then(|parameters| parameters.get(index as usize))
            else {
                return;
            };
            let ty = slot.ty;
            needs.push(Node::Scope(function));
            // A parameter needs the parameter before it, because the builder adds them in order.
            needs.extend(index.checked_sub(1).map(|before| Node::Parameter(function, before)));
            needs.extend(importer.unit_of(function).zip(ty).map(|(unit, ty)| Node::Type(ty, unit)));
            return;
        }
    };
    let Some(fact) = importer.facts.get(id) else { return };
    match (node, fact.name()) {
        (Node::Type(_, unit), name) => {
            let fields: &[Field] = match name {
                Some(
                    InstructionName::TypePointer | InstructionName::TypeQualifier | InstructionName::Typedef,
                ) => &[Field::BaseType],
                Some(
                    InstructionName::TypeArray
                    | InstructionName::TypeArrayDynamic
                    | InstructionName::TypeVector,
                ) => &[Field::BaseType],
                Some(InstructionName::TypeMatrix) => &[Field::VectorType],
                Some(InstructionName::TypeVectorId | InstructionName::TypeCooperativeMatrix) => {
                    &[Field::ComponentType]
                }
                Some(InstructionName::TypeFunction) => &[Field::ReturnType, Field::ParameterType],
                Some(InstructionName::TypeEnum) => &[Field::UnderlyingType],
                Some(InstructionName::TypePtrToMember) => &[Field::MemberType, Field::Parent],
                Some(InstructionName::TypeTemplate) => &[Field::Target],
                _ => &[],
            };
            // Without a layout, member offsets are computed, which requires the members' sizes.
            if name == Some(InstructionName::TypeComposite) && importer.facts.has_no_layout(&fact) {
                let members = importer.facts.data_members(&fact).filter_map(|member| member.id(Field::Type));
                needs.extend(members.map(|ty| Node::Type(ty, unit)));
            }
            for &field in fields {
                needs.extend(fact.ids(field).map(|ty| Node::Type(ty, unit)));
            }
            if matches!(name, Some(InstructionName::TypeArray | InstructionName::TypeArrayDynamic)) {
                let counts = importer.facts.counted_by(&fact);
                needs.extend(counts.into_iter().filter_map(|count| variable_node(importer, count)));
            }
        }
        (Node::Scope(_), Some(InstructionName::Function | InstructionName::FunctionDeclaration)) => {
            needs.extend(fact.id(Field::Scope).map(|scope| scope_node(importer, scope)));
            needs.extend(fact.id(Field::Declaration).map(Node::Scope));
        }
        (
            Node::Scope(_),
            Some(
                InstructionName::LexicalBlock
                | InstructionName::LexicalBlockDiscriminator
                | InstructionName::Module,
            ),
        ) => {
            needs.extend(fact.id(Field::Scope).map(|scope| scope_node(importer, scope)));
        }
        (Node::Scope(_), Some(InstructionName::TypeComposite)) => {
            needs.push(Node::Type(id, importer.own_unit(id)));
        }
        (Node::Variable(_), Some(InstructionName::TypeMember)) => {
            let owner = importer.references.owners.get(&id).copied();
            needs.extend(owner.map(Node::Scope));
            let unit = owner.and_then(|owner| importer.unit_of(owner));
            needs.extend(unit.zip(fact.id(Field::Type)).map(|(unit, ty)| Node::Type(ty, unit)));
        }
        (Node::Variable(_), Some(InstructionName::GlobalVariable | InstructionName::LocalVariable)) => {
            needs.extend(fact.id(Field::Scope).map(|scope| scope_node(importer, scope)));
            let unit = importer.unit_of(id);
            needs.extend(unit.zip(fact.id(Field::Type)).map(|(unit, ty)| Node::Type(ty, unit)));
            needs.extend(fact.id(Field::StaticMember).map(Node::Variable));
        }
        _ => {}
    }
}

/// The scope with this id, or a template's target.
fn scope_node(importer: &Importer<'_, '_>, id: Id) -> Node {
    Node::Scope(importer.facts.not_template(id))
}

/// The variable with this id, if it is a variable.
fn variable_node(importer: &Importer<'_, '_>, id: Id) -> Option<Node> {
    match importer.facts.get(id)?.name()? {
        InstructionName::LocalVariable => Some(match importer.references.slots.get(&id) {
            Some(&(function, index)) => Node::Parameter(function, index),
            None => Node::Variable(id),
        }),
        InstructionName::GlobalVariable => Some(Node::Variable(id)),
        _ => None,
    }
}
