//! What an evaluation asks: the [`Machine`] (a stopped program and its debug information) and the
//! [`Architecture`] (what registers and address spaces there are).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::location::Location;
use super::value::BaseType;
use crate::op::{Encoding, Reg};
use crate::target::{Per, SpaceId, Target};

/// What an address space is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceLayout {
    /// Bits of an address, at most 64.
    pub address_bits: u32,
    /// Whether each thread or lane has its own.
    pub per: Per,
}

/// Which registers and address spaces there are. A number without an answer is ill-formed in an expression.
pub trait Architecture {
    /// The size of a register in bits.
    fn register_bits(&self, reg: Reg) -> Option<u32>;

    /// An address space.
    fn space(&self, space: SpaceId) -> Option<SpaceLayout>;

    /// Bits of an address in the space that has the largest: no composite is larger than that memory.
    fn largest_address_bits(&self) -> u32;
}

impl Architecture for Target {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        Some(self.register(reg)?.bits)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        let space = Target::space(self, space)?;
        Some(SpaceLayout { address_bits: space.address_bits, per: space.per })
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces().iter().map(|space| space.address_bits).max().unwrap_or(64)
    }
}

/// An [`Architecture`] as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The size of each register in bits.
    pub registers: BTreeMap<Reg, u32>,
    /// The address spaces; number 0 is the default one.
    pub spaces: BTreeMap<SpaceId, SpaceLayout>,
}

impl Architecture for Layout {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        self.registers.get(&reg).copied()
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        self.spaces.get(&space).copied()
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces.values().map(|space| space.address_bits).max().unwrap_or(64)
    }
}

/// The answer of a machine that does not have the bytes asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// An entry of a location list, already read: base addresses applied, lengths made ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry<'a> {
    /// The pcs for which it holds, half-open: from the first to before the second. `None` is the default
    /// entry, which holds where no bounded one does.
    pub bounds: Option<(u64, u64)>,
    /// The expression.
    pub expr: Cow<'a, [u8]>,
}

/// What an entry says about where, or what, it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// `DW_AT_location` (or `DW_AT_frame_base`) with an expression.
    Expression(&'a [u8]),
    /// The same with a location list.
    List(&'a [ListEntry<'a>]),
    /// `DW_AT_const_value` as bytes in memory order.
    Constant(&'a [u8]),
    /// Neither.
    Nothing,
}

/// An entry that an expression refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it says.
    pub body: Body<'a>,
    /// Its unit: the offset of the unit's header in `.debug_info`.
    pub unit: u64,
    /// The encoding of its unit, where that is not the same as of the expression that refers to it.
    pub encoding: Option<Encoding>,
}

/// A stopped program, and its debug information as far as expressions refer to it.
///
/// Only what has no default must be written. The default of everything else is "not in the context", which
/// makes an operation that needs it an evaluation error.
///
/// Frames count from 0, the innermost. Offsets of entries count in bytes from the start of `.debug_info`.
pub trait Machine {
    /// Reads from a register of a frame, from byte `at` on, the least significant byte being 0.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte of it is not known.
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable>;

    /// Reads memory. `lane` is given in a space where each lane has its own.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte of it is not mapped.
    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable>;

    /// Whether numbers have their most significant byte first.
    fn is_big_endian(&self) -> bool {
        false
    }

    /// The lane in focus.
    fn lane(&self) -> Option<u64> {
        None
    }

    /// How many lanes there are (`DW_AT_LLVM_lanes`).
    fn lanes(&self) -> u64 {
        1
    }

    /// The iteration in focus.
    fn iteration(&self) -> Option<u64> {
        None
    }

    /// How many iterations there are at once (`DW_AT_LLVM_iterations`).
    fn iterations(&self) -> u64 {
        1
    }

    /// The program location of a frame.
    fn pc(&self, frame: u32) -> Option<u64> {
        let _ = frame;
        None
    }

    /// The canonical frame address of a frame.
    fn cfa(&self, frame: u32) -> Option<Location> {
        let _ = frame;
        None
    }

    /// `DW_AT_frame_base` of a frame's subprogram.
    fn frame_base(&self, frame: u32) -> Body<'_> {
        let _ = frame;
        Body::Nothing
    }

    /// Where a register of an outer frame now is, by call frame information: `frame` is 1 or more. `None` if
    /// that frame is not known.
    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let _ = (reg, frame);
        None
    }

    /// The current object.
    fn object(&self) -> Option<Location> {
        None
    }

    /// Where the thread-local storage of this thread starts, in the default space.
    fn tls(&self) -> Option<u64> {
        None
    }

    /// An address in `.debug_addr`, by its index in the part that belongs to the unit.
    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        let _ = (unit, index);
        None
    }

    /// The base type that an entry of a unit describes; `offset` counts from the unit's header. `None` if
    /// there is no base type there.
    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let _ = (unit, offset);
        None
    }

    /// The entry at an offset. `None` if there is none.
    fn entry(&self, offset: u64) -> Option<Entry<'_>> {
        let _ = offset;
        None
    }
}
