//! Described properties that no attribute of the consumer encodes: each is an omission, or a finding.

use super::compare::Compare;
use super::report::Kind;
use crate::model::{Module, TypeKind};
use crate::omission::{Property, Subject};
use crate::target::SpaceId;

/// Returns whether the property of an entity has neither an expression nor a pc range.
pub(super) fn is_unencodable(module: &Module, subject: Subject, property: Property) -> bool {
    match property {
        Property::LanguageVersion
        | Property::Checksum
        | Property::SourceText
        | Property::MemorySpace
        | Property::AddressSpace
        | Property::Encoding
        | Property::Kind
        | Property::BodyLine
        | Property::DescribedCalls => true,
        Property::Frame | Property::StaticLink => match subject {
            Subject::Function(id) => module.function(id).address.is_none(),
            _ => false,
        },
        _ => false,
    }
}

impl Compare<'_, '_> {
    /// Reports each described property without an encoding that is not omitted.
    pub(super) fn unencodable(&mut self) {
        let (module, consumer) = (self.described.module, self.described.consumer);
        for (id, unit) in module.units() {
            let has_name = unit.language.is_some_and(|language| language.name().is_some());
            let is_encoded = has_name && consumer.entries.language_names;
            let is_lost = unit.language_version.is_some() && !is_encoded;
            self.unless_omitted(Subject::Unit(id), &[(is_lost, Property::LanguageVersion)]);
        }
        if consumer.version < 5 || consumer.has_line_directives {
            for (id, file) in module.files() {
                let all =
                    [(file.md5.is_some(), Property::Checksum), (file.source.is_some(), Property::SourceText)];
                self.unless_omitted(Subject::File(id), &all);
            }
        }
        let has_memory = consumer.attributes.memory_space.is_some();
        let has_address = consumer.attributes.address_space.is_some();
        for (id, ty) in module.types() {
            let all = match ty.kind() {
                TypeKind::Base { encoding, .. } => &[(encoding.is_other_float(), Property::Encoding)][..],
                TypeKind::CooperativeMatrix { .. } => &[(true, Property::Kind)],
                TypeKind::Pointer { space, memory, .. } => &[
                    (memory.is_some() && !has_memory, Property::MemorySpace),
                    (*space != SpaceId::DEFAULT && !has_address, Property::AddressSpace),
                ],
                _ => continue,
            };
            self.unless_omitted(Subject::Type(id), all);
        }
        for (id, function) in module.functions() {
            let has_code = function.address.is_some();
            let all = [
                (function.body_line != 0, Property::BodyLine),
                (function.frame_base.is_some() && !has_code, Property::Frame),
                (function.static_link.is_some() && !has_code, Property::StaticLink),
                (function.calls.is_some() && !has_code, Property::DescribedCalls),
            ];
            self.unless_omitted(Subject::Function(id), &all);
        }
        if !has_memory {
            for (id, variable) in module.variables() {
                let all = [(variable.memory_space.is_some(), Property::MemorySpace)];
                self.unless_omitted(Subject::Variable(id), &all);
            }
        }
    }

    fn unless_omitted(&mut self, subject: Subject, all: &[(bool, Property)]) {
        for &(is_lost, property) in all {
            if is_lost && self.described.omitted.count(subject, property) == 0 {
                let at = subject.at(self.described.module);
                self.report.find(Kind::Attribute, at, format!("an omission of the {property}"), "none");
            }
        }
    }
}
