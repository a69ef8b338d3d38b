//! Writes pointers' storage classes: section 4.3.

use super::entities::Globals;
use crate::model::{MemorySpace, TypeId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::BaseTypes;
use crate::spirv::table::Set;
use crate::target::SpaceId;

const GENERIC: u32 = 8;

/// Storage classes, each with the memory space that it encodes and the equivalent address space's name; a target
/// without that name has the default space. The first class stands for unknown spaces.
const CLASSES: [(u32, Option<MemorySpace>, &str); 5] = [
    (5, Some(MemorySpace::Global), "global"),
    (0, Some(MemorySpace::Constant), "constant"),
    (4, Some(MemorySpace::Group), "local"),
    (7, Some(MemorySpace::Private), "private_lane"),
    (GENERIC, None, "generic"),
];

/// A pointer's target type, if the mode can encode it.
pub(super) fn pointee(out: &Globals<'_, '_, '_>, id: TypeId, to: TypeId) -> Option<TypeId> {
    match out.writer.mode.pointee {
        BaseTypes::Any => Some(to),
        BaseTypes::Basic if out.described.replacements.basic(id) == Some(id) => None,
        BaseTypes::Basic => out.described.replacements.basic(to),
    }
}

/// Whether the module lacks the capability for a literal storage class. A literal enumerant requires the capability;
/// `NonSemantic.Shader.DebugInfo` uses a constant instead.
fn is_forbidden(out: &Globals<'_, '_, '_>, class: u32) -> bool {
    out.writer.mode.set == Set::OpenCl && out.writer.layout.lacking_capabilities(class).is_some()
}

/// The storage class, or `CrossWorkgroup` if the module lacks its capability.
fn permitted(out: &mut Globals<'_, '_, '_>, id: TypeId, class: u32) -> u32 {
    if !is_forbidden(out, class) {
        return class;
    }
    out.omit(Subject::Type(id), Property::StorageClass, Reason::AsGlobalMemory);
    CLASSES[0].0
}

/// A pointer's storage class: from the memory space in the source, or otherwise from the address space.
pub(super) fn storage_class(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    space: SpaceId,
    memory: Option<MemorySpace>,
) -> u32 {
    let module = out.module;
    let target = &module.target;
    if let Some(class) = target.storage_class(space) {
        // In a kernel, the default space is CrossWorkgroup anyway, so that nothing is lost.
        if space == SpaceId::DEFAULT && is_forbidden(out, class) {
            return CLASSES[0].0;
        }
        return permitted(out, id, class);
    }
    let name = target.space(space).map_or("", |space| &*space.name);
    let class = CLASSES.iter().find(|&&(_, of, space_name)| match memory {
        Some(_) => of == memory,
        None if name == "private_wave" => space_name == "private_lane",
        None => space_name == name,
    });
    let &(class, _, space_name) = class.unwrap_or(&CLASSES[0]);
    if permitted(out, id, class) != class {
        return CLASSES[0].0;
    }
    // A reader maps the class back to a space; if that is another space, the difference is an omission.
    let space_name = target.spaces().iter().find(|space| space.name == space_name);
    if space_name.map_or(SpaceId::DEFAULT, |space_name| space_name.id) != space {
        out.omit(Subject::Type(id), Property::AddressSpace, Reason::AsStorageClass(space, class));
    }
    class
}
