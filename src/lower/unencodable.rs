//! Described properties that no attribute of the consumer encodes: each is an omission.

use super::constants::{dimension_tag, template_tag};
use super::units::Units;
use crate::consumer::Policy;
use crate::error::{Construct, Result};
use crate::model::{FileId, FunctionId, TemplateParameter, TypeId, TypeKind, UnitId, VariableId};
use crate::omission::{Omission, Property, Subject, TemplateOwner};
use crate::target::SpaceId;

/// Adds the omissions for a unit's entities. The entry writers leave these properties out.
///
/// # Errors
/// The first omission, with [`Policy::Strict`].
pub(super) fn omit(units: &Units<'_>, unit: UnitId, omissions: &mut Vec<Omission>) -> Result<()> {
    let mut out = Unencodable { units, omissions };
    let module = units.module;
    let attributes = &units.consumer.attributes;
    let data = &module.units[unit];
    if data.language_version.is_some() && !units.has_language_version(data) {
        out.omit(Subject::Unit(unit), Property::LanguageVersion, Construct::LanguageVersion)?;
    }
    // Line tables before DWARF 5, and line directives, have neither checksums nor source texts.
    if !units.has_file_contents() {
        for id in units.files.ids(unit).map(FileId::from_u32) {
            let file = &module.files[id];
            let name = || module.string(file.name).into();
            if file.md5.is_some() {
                out.omit(Subject::File(id), Property::Checksum, Construct::Checksum(name()))?;
            }
            if file.source.is_some() {
                out.omit(Subject::File(id), Property::SourceText, Construct::SourceText(name()))?;
            }
        }
    }
    for id in units.types.ids(unit).map(TypeId::from_u32) {
        out.ty(id)?;
    }
    for id in units.functions.ids(unit).map(FunctionId::from_u32) {
        out.function(id)?;
    }
    if attributes.memory_space.is_none() {
        for id in units.variables.ids(unit).map(VariableId::from_u32) {
            if module.variables[id].memory_space.is_some() {
                out.omit(Subject::Variable(id), Property::MemorySpace, Construct::MemorySpace)?;
            }
        }
    }
    Ok(())
}

struct Unencodable<'u, 'm> {
    units: &'u Units<'m>,
    omissions: &'u mut Vec<Omission>,
}

impl Unencodable<'_, '_> {
    fn ty(&mut self, id: TypeId) -> Result<()> {
        let ty = &self.units.module.types[id];
        if ty.is_unprototyped && !self.units.module.units[ty.unit].has_prototypes() {
            self.omit(Subject::Type(id), Property::Unprototyped, Construct::Unprototyped)?;
        }
        match &ty.kind {
            TypeKind::Base { encoding, .. } if encoding.is_other_float() => {
                self.omit(Subject::Type(id), Property::Encoding, Construct::FloatFormat)?;
            }
            TypeKind::String { .. } if ty.bits.is_some() && !self.units.has_string_size(id) => {
                self.omit(Subject::Type(id), Property::Size, Construct::StringSize)?;
            }
            TypeKind::CooperativeMatrix { .. } => {
                self.omit(Subject::Type(id), Property::Kind, Construct::CooperativeMatrix)?;
            }
            TypeKind::Pointer { space, memory, .. } => {
                let attributes = &self.units.consumer.attributes;
                if memory.is_some() && attributes.memory_space.is_none() {
                    self.omit(Subject::Type(id), Property::MemorySpace, Construct::MemorySpace)?;
                }
                if *space != SpaceId::DEFAULT && attributes.address_space.is_none() {
                    self.omit(Subject::Type(id), Property::AddressSpace, Construct::AddressSpace)?;
                }
            }
            TypeKind::Array { .. } => {
                let tag = dimension_tag(self.units.module, id);
                if !self.units.consumer.entries.knows_tag(tag) {
                    self.omit(Subject::Type(id), Property::Dimensions, Construct::Tag(tag))?;
                }
            }
            TypeKind::Qualified { .. } if !self.units.consumer.entries.knows_tag(ty.kind.tag()) => {
                self.omit(Subject::Type(id), Property::Entity, Construct::Tag(ty.kind.tag()))?;
            }
            TypeKind::Composite(composite) => {
                self.templates(TemplateOwner::Type(id), &composite.templates)?
            }
            _ => {}
        }
        Ok(())
    }

    fn function(&mut self, id: FunctionId) -> Result<()> {
        let function = &self.units.module.functions[id];
        // The frame base, the static link and the described calls belong to the entry with the code.
        let has_code = function.address.is_some();
        let consumer = self.units.consumer;
        let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
        let has_frame = has_code && self.units.module.has_frame(id, consumer.has_locations_on_the_stack());
        let module = self.units.module;
        let has_prototypes = module.units[module.scopes[function.scope].unit].has_prototypes();
        // A definition has the prototype of its declaration.
        let declared = function.specification.map_or(function, |id| &module.functions[id]);
        let is_lost = function.is_unprototyped && !(has_prototypes && declared.is_unprototyped);
        let properties = [
            (is_lost, Property::Unprototyped, Construct::Unprototyped),
            (has_frame && !has_frames, Property::CallFrames, Construct::CallFrames),
            (function.body_line != 0, Property::BodyLine, Construct::BodyLine),
            (!has_code && function.frame_base.is_some(), Property::Frame, Construct::FrameOfNoCode),
            (
                !has_code && function.static_link.is_some(),
                Property::StaticLink,
                Construct::StaticLinkOfNoCode,
            ),
            (!has_code && function.calls.is_some(), Property::DescribedCalls, Construct::CallsOfNoCode),
        ];
        for (_, property, what) in properties.into_iter().filter(|&(is_described, ..)| is_described) {
            self.omit(Subject::Function(id), property, what)?;
        }
        self.templates(TemplateOwner::Function(id), &function.templates)
    }

    /// Template parameters whose tags the consumer does not know. A pack is omitted with the parameters in it.
    fn templates(&mut self, owner: TemplateOwner, parameters: &[TemplateParameter]) -> Result<()> {
        for (index, parameter) in (0..).zip(parameters) {
            let tag = template_tag(&parameter.argument);
            if !self.units.consumer.entries.knows_tag(tag) {
                let subject = Subject::TemplateParameter(owner, index, None);
                self.omit(subject, Property::Entity, Construct::Tag(tag))?;
            }
        }
        Ok(())
    }

    fn omit(&mut self, subject: Subject, property: Property, what: Construct) -> Result<()> {
        let error = self.units.consumer.inexpressible(what).or_at(subject.at(self.units.module));
        if self.units.policy == Policy::Strict {
            return Err(error);
        }
        self.omissions.push(Omission::inexpressible(subject, property, None, error)?);
        Ok(())
    }
}
