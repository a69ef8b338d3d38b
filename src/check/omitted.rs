//! Omissions by the entities that they concern: what the comparison does not expect in an object.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use gimli::DwAt;

use super::ranges::Ranges;
use crate::error::Construct;
use crate::model::{FunctionId, Module, ScopeId, UnitId, VariableId};
use crate::omission::{Omission, Property, Reason, Subject};

/// Omissions, by entity.
#[derive(Default)]
pub(super) struct Omitted {
    /// How many omissions there are.
    pub(super) all: usize,
    /// Pcs at which variable locations are omitted.
    pub(super) of_variables: BTreeMap<VariableId, Ranges>,
    /// Pcs at which the pcs of a scope's lanes are omitted.
    pub(super) of_lane_pcs: BTreeMap<ScopeId, Ranges>,
    /// Pcs at which a scope's active lanes are omitted.
    pub(super) of_active_lanes: BTreeMap<ScopeId, Ranges>,
    /// Omitted frame rules, each with its start pc.
    pub(super) of_frames: BTreeSet<(Subject, u64)>,
    /// Functions with the start pcs of omitted frame bases.
    pub(super) of_frame_bases: BTreeSet<(FunctionId, u64)>,
    /// Functions whose rows have no flags, because these are omitted.
    pub(super) of_rows: BTreeSet<FunctionId>,
    /// Whether entries for types are omitted.
    pub(super) has_types: bool,
    /// Attributes that no entry in a unit has.
    attributes: BTreeMap<UnitId, Vec<DwAt>>,
    /// How many expressions are omitted in a unit's entries.
    expressions: BTreeMap<UnitId, usize>,
    /// Omission counts by entity and property.
    counts: BTreeMap<(Subject, Property), usize>,
}

impl Omitted {
    pub(super) fn new(module: &Module, omissions: &[Omission]) -> Self {
        let mut omitted = Self { all: omissions.len(), ..Self::default() };
        let mut of_variables = BTreeMap::<_, Vec<Range<u64>>>::new();
        let mut of_lane_pcs = BTreeMap::<_, Vec<Range<u64>>>::new();
        let mut of_active_lanes = BTreeMap::<_, Vec<Range<u64>>>::new();
        for omission in omissions {
            *omitted.counts.entry((omission.subject, omission.property)).or_default() += 1;
            match (omission.property, omission.subject, &omission.reason) {
                (Property::Rule, subject, _) => {
                    omitted.of_frames.extend(omission.pcs.as_ref().map(|pcs| (subject, pcs.start)));
                    continue;
                }
                (Property::Frame, Subject::Function(function), _) if omission.pcs.is_some() => {
                    omitted.of_frame_bases.extend(omission.pcs.as_ref().map(|pcs| (function, pcs.start)));
                    continue;
                }
                (Property::RowFlags, Subject::Function(function), _) => {
                    omitted.of_rows.insert(function);
                    continue;
                }
                (
                    Property::Attributes,
                    Subject::Unit(unit),
                    &Reason::Inexpressible(Construct::Attribute(attribute)),
                ) => {
                    omitted.attributes.entry(unit).or_default().push(attribute);
                    continue;
                }
                (Property::Location, Subject::Variable(variable), _) => {
                    of_variables
                        .entry(variable)
                        .or_default()
                        .push(omission.pcs.clone().unwrap_or(0..u64::MAX));
                }
                (Property::Lanes, Subject::Scope(scope), reason) => {
                    let pcs = omission.pcs.clone().unwrap_or(0..u64::MAX);
                    of_active_lanes.entry(scope).or_default().push(pcs.clone());
                    // Without active lanes of whole-wave code, the pcs of its lanes are still known.
                    if *reason != Reason::Inexpressible(Construct::WholeWaveLanes) {
                        of_lane_pcs.entry(scope).or_default().push(pcs);
                    }
                }
                // What is omitted has no expression.
                (Property::Entity, Subject::Type(_) | Subject::TemplateParameter(..), _) => {
                    omitted.has_types |= matches!(omission.subject, Subject::Type(_));
                    continue;
                }
                (_, _, Reason::Inexpressible(Construct::TakenAttribute(_))) => continue,
                (property, subject, _) if is_unencodable(module, subject, property) => continue,
                _ => {}
            }
            if let Some(scope) = omission.subject.scope(module) {
                *omitted.expressions.entry(module.scope(scope).unit).or_default() += 1;
            }
        }
        omitted.of_variables = indexed(of_variables);
        omitted.of_lane_pcs = indexed(of_lane_pcs);
        omitted.of_active_lanes = indexed(of_active_lanes);
        omitted
    }

    /// Returns how often an entity's property is omitted.
    pub(super) fn count(&self, subject: Subject, property: Property) -> usize {
        self.counts.get(&(subject, property)).copied().unwrap_or(0)
    }

    /// Returns how many expressions are omitted in a unit's entries.
    pub(super) fn expressions_of(&self, unit: UnitId) -> usize {
        self.expressions.get(&unit).copied().unwrap_or(0)
    }

    /// Returns the attributes that are omitted in all of a unit's entries.
    pub(super) fn attributes_of(&self, unit: UnitId) -> &[DwAt] {
        self.attributes.get(&unit).map_or(&[], Vec::as_slice)
    }
}

/// Returns an index of each entity's pc ranges.
fn indexed<K: Ord>(ranges: BTreeMap<K, Vec<Range<u64>>>) -> BTreeMap<K, Ranges> {
    ranges.into_iter().map(|(of, pcs)| (of, Ranges::new(pcs.into_iter().zip(0..)))).collect()
}

/// Returns whether an entity's property has neither an expression nor a pc range.
fn is_unencodable(module: &Module, subject: Subject, property: Property) -> bool {
    match property {
        Property::LanguageVersion
        | Property::Checksum
        | Property::SourceText
        | Property::MemorySpace
        | Property::AddressSpace
        | Property::Encoding
        | Property::Kind
        | Property::Size
        | Property::Unprototyped
        | Property::Dimensions
        | Property::BodyLine
        | Property::CallFrames
        | Property::DescribedCalls => true,
        Property::Frame | Property::StaticLink => match subject {
            Subject::Function(id) => module.function(id).address.is_none(),
            _ => false,
        },
        _ => false,
    }
}
