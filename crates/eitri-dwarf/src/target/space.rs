//! Address spaces.

use std::borrow::Cow;

/// DWARF number of an address space.
///
/// The constants are AMD's numbers. `Loc` uses them for stack slots and local memory on every target
/// that has such spaces.
///
/// Exhaustive: a number is all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The default space of every target: global memory.
    pub const DEFAULT: Self = Self(0);
    /// Global memory, local memory and a lane's private memory in one space (flat).
    pub const GENERIC: Self = Self(1);
    /// Local memory (LDS, shared, group).
    pub const LOCAL: Self = Self(3);
    /// Scratch memory, addressed by one lane.
    pub const PRIVATE_LANE: Self = Self(5);
    /// Scratch memory, addressed by the wave: lanes are interleaved by dwords.
    pub const PRIVATE_WAVE: Self = Self(6);

    /// Whether the loader relocates addresses in the space: in global memory, and in the generic space, which includes
    /// global memory on AMD targets. In other spaces, the linker determines a symbol's address.
    pub fn is_loaded(self) -> bool {
        matches!(self, Self::DEFAULT | Self::GENERIC)
    }
}

/// Displays the name of a constant, even if the target has another name for it, or the number.
impl core::fmt::Display for SpaceId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::DEFAULT => f.write_str("`global`"),
            Self::GENERIC => f.write_str("`generic`"),
            Self::LOCAL => f.write_str("`local`"),
            Self::PRIVATE_LANE => f.write_str("`private_lane`"),
            Self::PRIVATE_WAVE => f.write_str("`private_wave`"),
            Self(number) => number.fmt(f),
        }
    }
}

/// Owner of each copy of an address space's memory.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Per {
    /// One copy for all threads, or for all threads that can access it at once.
    #[default]
    Process,
    /// One copy for each thread of execution: on a GPU, for each wave.
    Thread,
    /// One copy for each lane.
    Lane,
}

/// An address space.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// DWARF number.
    pub id: SpaceId,
    /// Name, in lower case.
    pub name: Cow<'static, str>,
    /// Size of an address in bits.
    pub address_bits: u32,
    /// Null address, at which no object is.
    pub null: u64,
    /// Owner of each copy of the memory.
    pub per: Per,
    /// Number in `DW_AT_address_class`, if it differs from `id`. DWARF 5 section 2.12.
    pub address_class: Option<u32>,
    /// Size of each copy of the memory in bytes, from address 0 on, if the processor limits it: on AMD targets, the local
    /// memory that one workgroup can have.
    pub bytes: Option<u64>,
}

impl Space {
    /// Returns a space with one copy for all threads, null address 0, and unlimited memory.
    pub const fn new(id: SpaceId, name: &'static str, address_bits: u32) -> Self {
        let name = Cow::Borrowed(name);
        Self { id, name, address_bits, null: 0, per: Per::Process, address_class: None, bytes: None }
    }
}
