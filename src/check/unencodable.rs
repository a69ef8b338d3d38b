//! Described properties that none of the consumer's attributes encodes: each is an omission, or a finding.

use super::comparison::Compare;
use super::report::FindingKind;
use super::tree::Described;
use crate::model::{FunctionId, TypeKind};
use crate::omission::{Property, Subject};
use crate::target::SpaceId;

/// Reports each described property without an encoding that is not omitted.
pub(super) fn report_unencodable(compare: &mut Compare<'_, '_>) {
    let module = compare.described.module;
    let consumer = compare.described.consumer;
    for (id, unit) in module.units() {
        let has_name = unit.language.is_some_and(|language| language.name().is_some());
        let is_encoded = has_name && consumer.entries.language_names;
        let is_lost = unit.language_version.is_some() && !is_encoded;
        require_omissions(compare, Subject::Unit(id), &[(is_lost, Property::LanguageVersion)]);
    }
    if consumer.version < 5 || consumer.has_line_directives {
        for (id, file) in module.files() {
            let properties =
                [(file.md5.is_some(), Property::Checksum), (file.source.is_some(), Property::SourceText)];
            require_omissions(compare, Subject::File(id), &properties);
        }
    }
    let has_memory = consumer.attributes.memory_space.is_some();
    let has_address = consumer.attributes.address_space.is_some();
    for (id, ty) in module.types() {
        let is_lost = ty.is_unprototyped && !compare.described.has_prototypes(ty.unit());
        require_omissions(compare, Subject::Type(id), &[(is_lost, Property::Unprototyped)]);
        let properties = match ty.kind() {
            TypeKind::Base { encoding, .. } => &[(encoding.is_other_float(), Property::Encoding)][..],
            TypeKind::CooperativeMatrix { .. } => &[(true, Property::Kind)],
            TypeKind::String { .. } => {
                &[(ty.bits().is_some() && !compare.described.has_string_size(id), Property::Size)]
            }
            TypeKind::Pointer { space, memory, .. } => &[
                (memory.is_some() && !has_memory, Property::MemorySpace),
                (*space != SpaceId::DEFAULT && !has_address, Property::AddressSpace),
            ],
            TypeKind::Array { .. } => &[(!compare.described.has_dimensions(id), Property::Dimensions)],
            _ => continue,
        };
        require_omissions(compare, Subject::Type(id), properties);
    }
    for (id, function) in module.functions() {
        let has_code = function.address.is_some();
        let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
        let has_frame = has_code && module.has_frame(id, consumer.has_locations_on_the_stack());
        let has_prototypes = compare.described.has_prototypes(module.scope(function.scope).unit);
        let is_declared = function.specification.is_none_or(|id| module.function(id).is_unprototyped);
        let properties = [
            (function.is_unprototyped && !(has_prototypes && is_declared), Property::Unprototyped),
            (has_frame && !has_frames, Property::CallFrames),
            (function.body_line != 0, Property::BodyLine),
            (function.frame_base.is_some() && !has_code, Property::Frame),
            (function.static_link.is_some() && !has_code, Property::StaticLink),
            (function.calls.is_some() && !has_code, Property::DescribedCalls),
        ];
        require_omissions(compare, Subject::Function(id), &properties);
        report_lanes(compare, id);
    }
    report_taken(compare);
    if !has_memory {
        for (id, variable) in module.variables() {
            let properties = [(variable.memory_space.is_some(), Property::MemorySpace)];
            require_omissions(compare, Subject::Variable(id), &properties);
        }
    }
}

/// Requires the omission of lanes for which the consumer has no attribute. An inlined call has the lanes of its function.
fn report_lanes(compare: &mut Compare<'_, '_>, id: FunctionId) {
    let Described { module, consumer, omitted, .. } = compare.described;
    let function = module.function(id);
    if !function.lanes.is_described {
        return;
    }
    let scope = Subject::Scope(function.scope);
    if consumer.attributes.lane_pc.is_none() {
        require_omissions(compare, scope, &[(true, Property::Lanes)]);
    } else if consumer.attributes.active_lane.is_none() {
        let ranges = omitted.of_active_lanes.get(&function.scope);
        for whole_wave in module.whole_waves(id) {
            let pcs = whole_wave.mask.pcs();
            if !ranges.is_some_and(|ranges| ranges.meet(&pcs)) {
                let site = scope.at(module).with(|context| context.pcs = Some(pcs));
                let expected = format!("an omission of the {}", Property::Lanes);
                compare.report.find(FindingKind::Attribute, site, expected, "none");
            }
        }
    }
}

/// Attributes without a field whose numbers the consumer has for other attributes.
fn report_taken(compare: &mut Compare<'_, '_>) {
    let module = compare.described.module;
    for attribute in &module.lists.attributes {
        let is_taken = compare.described.consumer.attributes.has(attribute.name);
        let property = Property::of_attribute(attribute.name);
        require_omissions(compare, attribute.owner.into(), &[(is_taken, property)]);
    }
}

fn require_omissions(compare: &mut Compare<'_, '_>, subject: Subject, properties: &[(bool, Property)]) {
    for &(is_lost, property) in properties {
        // The writer must say what it drops.
        if is_lost && compare.described.omitted.count(subject, property) == 0 {
            let site = subject.at(compare.described.module);
            compare.report.find(
                FindingKind::Attribute,
                site,
                format!("an omission of the {property}"),
                "none",
            );
        }
    }
}
