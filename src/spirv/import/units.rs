//! Units, and the unit in which each entity is declared.

use std::collections::VecDeque;

use hashbrown::HashMap;
use indexmap::IndexMap;

use super::references::References;
use super::set_facts::SetFacts;
use crate::model::UnitId;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// Most parts of a type that are searched for its unit.
const MOST_PARTS: usize = 64;

/// Units, and the unit in which each entity is declared.
#[derive(Default)]
pub(super) struct Units {
    pub by_id: IndexMap<Id, UnitId>,
    /// The unit of declaration, by entity.
    declared_in: HashMap<Id, Option<UnitId>>,
    /// The unit of the parts of a type, by type.
    by_parts: HashMap<Id, Option<UnitId>>,
}

impl Units {
    pub fn first(&self) -> UnitId {
        self.by_id[0]
    }

    /// The unit in which an entity is declared.
    pub fn of(&mut self, facts: SetFacts<'_, '_>, references: &References, id: Id) -> Option<UnitId> {
        let mut at = id;
        let mut way = Vec::new();
        let unit = loop {
            if let Some(&unit) = self.declared_in.get(&at) {
                break unit;
            }
            if let Some(&unit) = self.by_id.get(&at) {
                break Some(unit);
            }
            // A scope that contains itself is not in a unit.
            self.declared_in.insert(at, None);
            way.push(at);
            let Some(fact) = facts.get(at) else { break None };
            let next = match fact.name() {
                Some(Name::TypeMember) => references.owners.get(&at).copied(),
                Some(Name::TypeTemplate) => fact.id(Field::Target),
                _ => fact.id(Field::Scope),
            };
            match next {
                Some(next) => at = next,
                None => break None,
            }
        };
        for one in way {
            self.declared_in.insert(one, unit);
        }
        unit
    }

    /// The unit in which one of the parts of a type is declared; searches at most [`MOST_PARTS`] parts.
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
        let mut parts = VecDeque::from([id]);
        let mut found = None;
        for _ in 0..MOST_PARTS {
            let Some(part) = parts.pop_front() else { break };
            let of = self.of(facts, references, part);
            found = of.or_else(|| self.by_parts.get(&part).copied().flatten());
            if found.is_some() {
                break;
            }
            if let (Some(fact), false) = (facts.get(part), self.by_parts.contains_key(&part)) {
                parts.extend(FIELDS.iter().flat_map(|&field| fact.ids(field)).take(MOST_PARTS));
            }
        }
        self.by_parts.insert(id, found);
        found
    }
}
