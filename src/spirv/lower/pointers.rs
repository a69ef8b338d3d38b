//! Pointers: section 4.3.

use super::entities::Globals;
use crate::model::{MemorySpace, TypeId};
use crate::spirv::mode::Of;
use crate::spirv::names::{Enumeration, GENERIC_POINTER};
use crate::spirv::table::Set;
use crate::target::SpaceId;

const GENERIC: u32 = 8;

/// Storage classes with the memory of each, and the address space that a target which has one of this name has for it;
/// others have the default one. The first is said where none is known.
const CLASSES: [(u32, Option<MemorySpace>, &str); 5] = [
    (5, Some(MemorySpace::Global), "global"),
    (0, Some(MemorySpace::Constant), "constant"),
    (4, Some(MemorySpace::Group), "local"),
    (7, Some(MemorySpace::Private), "private_lane"),
    (GENERIC, None, "generic"),
];

impl Globals<'_, '_, '_> {
    /// What a pointer points to, where it can be said.
    pub(super) fn pointee(&self, id: TypeId, to: TypeId) -> Option<TypeId> {
        match self.writer.mode.pointee {
            Of::Any => Some(to),
            Of::Basic if self.stand_ins.basic(id) == Some(id) => None,
            Of::Basic => self.stand_ins.basic(to),
        }
    }

    /// The storage class of what is pointed to: that of the memory that the source says, else that of the address space.
    pub(super) fn storage_class(&mut self, id: TypeId, space: SpaceId, memory: Option<MemorySpace>) -> u32 {
        let module = self.module;
        let target = &module.target;
        let name = target.space(space).map_or("", |space| space.name);
        let found = CLASSES.iter().find(|&&(_, of, own)| match memory {
            Some(_) => of == memory,
            None if name == "private_wave" => own == "private_lane",
            None => own == name,
        });
        let &(class, _, own) = found.unwrap_or(&CLASSES[0]);
        // The enumerant needs the capability, also where it is only said; the other set has a constant.
        if class == GENERIC
            && self.writer.mode.set == Set::OpenCl
            && !self.writer.layout.has_capability(GENERIC_POINTER)
        {
            let what =
                "that its storage class is Generic: the module has no GenericPointer; CrossWorkgroup is said";
            self.leave_of_type(id, what);
            return CLASSES[0].0;
        }
        let own = target.spaces().iter().find(|space| space.name == own);
        if own.map_or(SpaceId::DEFAULT, |own| own.id) != space {
            let said = Enumeration::StorageClass.text(class);
            self.leave_of_type(
                id,
                &format!("that it points into the address space `{name}`; {said} is said"),
            );
        }
        class
    }
}
