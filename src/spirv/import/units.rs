//! Units, and the unit in which each entity is declared. A SPIR-V type has no unit, while a model's type belongs to
//! one.

use std::collections::VecDeque;

use hashbrown::HashMap;
use indexmap::IndexMap;

use super::references::References;
use super::set_facts::SetFacts;
use crate::model::UnitId;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Limit for a type's parts that are searched for its unit.
const MOST_PARTS: usize = 64;

/// Units, and the unit in which each entity is declared.
#[derive(Default)]
pub(super) struct Units {
    pub by_id: IndexMap<Id, UnitId>,
    /// The unit that declares an entity.
    declared_in: HashMap<Id, Option<UnitId>>,
    /// The unit that declares a type's parts.
    by_parts: HashMap<Id, Option<UnitId>>,
}

impl Units {
    pub fn first(&self) -> UnitId {
        self.by_id[0]
    }

    /// The unit in which an entity is declared.
    pub fn unit_of(&mut self, facts: SetFacts<'_, '_>, references: &References, id: Id) -> Option<UnitId> {
        let mut current = id;
        let mut visited = Vec::new();
        let unit = loop {
            if let Some(&unit) = self.declared_in.get(&current) {
                break unit;
            }
            if let Some(&unit) = self.by_id.get(&current) {
                break Some(unit);
            }
            // A scope that contains itself is in no unit. Recording that first ends the loop.
            self.declared_in.insert(current, None);
            visited.push(current);
            let Some(fact) = facts.get(current) else { break None };
            let next = match fact.name() {
                Some(InstructionName::TypeMember) => references.owners.get(&current).copied(),
                Some(InstructionName::TypeTemplate) => fact.id(Field::Target),
                _ => fact.id(Field::Scope),
            };
            match next {
                Some(next) => current = next,
                None => break None,
            }
        };
        for visited in visited {
            self.declared_in.insert(visited, unit);
        }
        unit
    }

    /// The unit that declares one of a type's parts; searches at most [`MOST_PARTS`] parts.
    pub fn of_parts(&mut self, facts: SetFacts<'_, '_>, references: &References, id: Id) -> Option<UnitId> {
        const FIELDS: [Field; 9] = [
            Field::BaseType,
            Field::ComponentCount,
            Field::VectorType,
            Field::ComponentType,
            Field::Parent,
            Field::MemberType,
            Field::UnderlyingType,
            Field::ReturnType,
            Field::ParameterType,
        ];
        // Breadth first, so that the nearest part decides.
        let mut parts = VecDeque::from([id]);
        let mut unit = None;
        for _ in 0..MOST_PARTS {
            let Some(part) = parts.pop_front() else { break };
            let declared = self.unit_of(facts, references, part);
            unit = declared.or_else(|| self.by_parts.get(&part).copied().flatten());
            if unit.is_some() {
                break;
            }
            if let (Some(fact), false) = (facts.get(part), self.by_parts.contains_key(&part)) {
                parts.extend(FIELDS.iter().flat_map(|&field| fact.ids(field)).take(MOST_PARTS));
            }
        }
        self.by_parts.insert(id, unit);
        unit
    }
}
