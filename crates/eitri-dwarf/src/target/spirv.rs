//! SPIR-V targets: logical and physical addressing.

use super::{Per, Space, SpaceId, Target};

/// Shader storage classes as address spaces: number, name, space, owner of each copy.
static CLASSES: [(u32, &str, SpaceId, Per); 11] = [
    (5349, "physical_storage_buffer", SpaceId::DEFAULT, Per::Process),
    (0, "uniform_constant", SpaceId(0x100), Per::Process),
    (1, "input", SpaceId(0x101), Per::Lane),
    (2, "uniform", SpaceId(0x102), Per::Process),
    (3, "output", SpaceId(0x103), Per::Lane),
    (4, "local", SpaceId::LOCAL, Per::Process),
    (6, "private", SpaceId(0x106), Per::Lane),
    (7, "private_lane", SpaceId::PRIVATE_LANE, Per::Lane),
    (9, "push_constant", SpaceId(0x109), Per::Process),
    (11, "image", SpaceId(0x10b), Per::Process),
    (12, "storage_buffer", SpaceId(0x10c), Per::Process),
];

pub(super) fn shader() -> Target {
    let mut target = Target::builder("spirv-shader", 1);
    for (_, name, id, per) in CLASSES {
        target.space(Space { per, ..Space::new(id, name, 64) });
    }
    let mut target = target.resolve().expect("no register has a name");
    std::sync::Arc::make_mut(&mut target.0).is_shader = true;
    target
}

pub(super) fn kernel() -> Target {
    let mut target = Target::builder("spirv-kernel", 1);
    target.space(Space::new(SpaceId::DEFAULT, "global", 64));
    target.space(Space::new(SpaceId::GENERIC, "generic", 64));
    target.space(Space::new(SpaceId(4), "constant", 64));
    target.space(Space::new(SpaceId::LOCAL, "local", 64));
    target.space(Space { per: Per::Lane, ..Space::new(SpaceId::PRIVATE_LANE, "private_lane", 64) });
    target.resolve().expect("no register has a name")
}

impl Target {
    /// Returns the shader target: logical addressing, no registers and no ELF machine. Each address space is a Vulkan
    /// storage class. A vector with three elements takes the size of three.
    pub fn shader() -> Self {
        shader()
    }

    /// Returns the target for OpenCL kernels in SPIR-V: no registers and no ELF machine.
    pub fn kernel() -> Self {
        kernel()
    }

    /// Whether this is the [shader](Self::shader) target.
    pub fn is_shader(&self) -> bool {
        self.0.is_shader
    }

    /// Returns the storage class for an address space of the [shader](Self::shader) target.
    pub fn storage_class(&self, space: SpaceId) -> Option<u32> {
        let class = CLASSES.iter().find(|class| self.is_shader() && class.2 == space);
        class.map(|&(class, ..)| class)
    }

    /// Returns the [shader](Self::shader) target's address space for a storage class.
    pub fn space_of_storage_class(&self, class: u32) -> Option<SpaceId> {
        CLASSES.iter().find(|it| self.is_shader() && it.0 == class).map(|&(_, _, space, _)| space)
    }
}
