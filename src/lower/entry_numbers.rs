//! Entry numbers within a unit, by which entries refer to each other before they have offsets.

use std::collections::BTreeSet;

use super::by_unit::ByUnit;
use super::loc::Entries;
use super::units::Units;
use crate::emit::info::UnitEntry;
use crate::emit::named::EntryRef;
use crate::model::{
    Entity, FunctionId, LabelId, ProcedureId, ScopeId, TypeId, UnitId, VariableId, VariantPartId,
};

/// References to a unit's entries, numbered before they have offsets.
pub(super) struct EntryNumbers<'u> {
    units: &'u Units<'u>,
    pub(super) unit: UnitId,
    of_unit: UnitEntities<'u>,
    /// The unit's unsigned base types that expressions use: size in bits, and offset in the unit.
    pub(super) unsigned: Vec<(u32, u64)>,
    /// Procedures whose entries have no expression.
    pub(super) without_expression: BTreeSet<ProcedureId>,
}

/// A unit's entry numbers, kind by kind.
struct UnitEntities<'u> {
    variables: KindEntities<'u>,
    /// Variables in abstract instances.
    origins: KindEntities<'u>,
    types: KindEntities<'u>,
    functions: KindEntities<'u>,
    /// Entries with the code of functions that have an abstract instance, too.
    instances: KindEntities<'u>,
    procedures: KindEntities<'u>,
    /// Discriminants.
    variant_parts: KindEntities<'u>,
    /// Data members and enumerators to which an entry refers.
    members: KindEntities<'u>,
    scopes: KindEntities<'u>,
    labels: KindEntities<'u>,
    count: u32,
}

/// Entry numbers for one kind.
struct KindEntities<'u> {
    /// First entry number, minus the unit's first entity id where the unit's entities are consecutive, modulo 2³². One
    /// addition then turns an id into an entry number.
    from: u32,
    /// Each entity's index within its unit; `None` if entities are consecutive, so the id is used directly.
    places: Option<&'u [u32]>,
}

impl<'u> UnitEntities<'u> {
    fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let mut count = 0;
        let mut next = |kind: &'u ByUnit| {
            let start = if kind.mixed.is_some() { 0 } else { kind.starts[unit.as_u32() as usize] };
            let from = u32::wrapping_sub(count, start);
            count += kind.count(unit);
            KindEntities { from, places: kind.mixed.as_ref().map(|(_, places)| places.as_slice()) }
        };
        Self {
            // A variable has two numbers, because an inlined function's variable has an entry in the abstract instance
            // and an entry with its location.
            variables: next(&units.variables),
            origins: next(&units.variables),
            types: next(&units.types),
            functions: next(&units.functions),
            instances: next(&units.functions),
            procedures: next(&units.procedures),
            variant_parts: next(&units.parts.variant_parts),
            members: next(&units.parts.members_by_unit),
            scopes: next(&units.scopes),
            labels: next(&units.scope_items.labels),
            count,
        }
    }
}

impl KindEntities<'_> {
    #[inline]
    fn entry(&self, id: u32) -> EntryRef {
        let place = self.places.map_or(id, |places| places[id as usize]);
        EntryRef(self.from.wrapping_add(place))
    }
}

impl<'u> EntryNumbers<'u> {
    pub(super) fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let of_unit = UnitEntities::new(units, unit);
        Self { units, unit, of_unit, unsigned: Vec::new(), without_expression: BTreeSet::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.of_unit.count as usize
    }

    /// Entry with a variable's location.
    #[inline]
    pub(super) fn variable(&self, id: VariableId) -> EntryRef {
        self.of_unit.variables.entry(id.as_u32())
    }

    /// Variable entry in the abstract instance, to which the other instances refer.
    #[inline]
    pub(super) fn origin(&self, id: VariableId) -> EntryRef {
        self.of_unit.origins.entry(id.as_u32())
    }

    #[inline]
    pub(super) fn ty(&self, id: TypeId) -> EntryRef {
        self.of_unit.types.entry(id.as_u32())
    }

    pub(super) fn function(&self, id: FunctionId) -> EntryRef {
        self.of_unit.functions.entry(id.as_u32())
    }

    /// Entry with a function's code.
    pub(super) fn code(&self, id: FunctionId) -> EntryRef {
        let function = &self.units.module.functions[id];
        let is_apart = function.is_inlined && function.address.is_some();
        if is_apart { self.of_unit.instances.entry(id.as_u32()) } else { self.function(id) }
    }

    pub(super) fn procedure(&self, id: ProcedureId) -> EntryRef {
        self.of_unit.procedures.entry(id.as_u32())
    }

    /// A variant part's discriminant entry.
    pub(super) fn discriminant(&self, id: VariantPartId) -> EntryRef {
        self.of_unit.variant_parts.entry(id.as_u32())
    }

    /// Entry for a data member or enumerator, by its number in the [members](super::units::TypeParts::member).
    pub(super) fn member(&self, number: u32) -> EntryRef {
        self.of_unit.members.entry(number)
    }

    /// Entry for a label in a function without code.
    pub(super) fn label(&self, id: LabelId) -> EntryRef {
        self.of_unit.labels.entry(id.as_u32())
    }

    /// Entry for a namespace, or for a block in an abstract instance.
    pub(super) fn scope(&self, id: ScopeId) -> EntryRef {
        self.of_unit.scopes.entry(id.as_u32())
    }
}

impl Entries for EntryNumbers<'_> {
    fn entity(&self, entity: Entity) -> Option<UnitEntry> {
        let module = self.units.module;
        let numbers = |unit| UnitEntities::new(self.units, unit);
        let (unit, entry) = match entity {
            Entity::Variable(id) => {
                let unit = module.scopes[module.variables[id].scope].unit;
                let UnitEntities { variables, origins, .. } = numbers(unit);
                let is_abstract = module.is_in_abstract_instance(id);
                (unit, if is_abstract { origins } else { variables }.entry(id.as_u32()))
            }
            Entity::Type(id) => {
                let unit = module.types[id].unit;
                (unit, numbers(unit).types.entry(id.as_u32()))
            }
            Entity::Procedure(id) => {
                let unit = module.procedures[id].unit;
                (unit, numbers(unit).procedures.entry(id.as_u32()))
            }
            Entity::Symbol(..) => return None,
        };
        Some(UnitEntry { unit: unit.as_u32(), entry })
    }

    fn is_in_reach(&self, entry: UnitEntry) -> bool {
        !self.units.consumer.is_split || entry.unit == self.unit.as_u32()
    }

    fn unsigned(&self, bits: u32) -> Option<u64> {
        self.unsigned.iter().find(|&&(has, _)| has == bits).map(|&(_, offset)| offset)
    }

    fn has_expression(&self, procedure: ProcedureId) -> bool {
        !self.without_expression.contains(&procedure)
    }
}
