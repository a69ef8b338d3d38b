//! Places: storage that belongs to the wave, or to each lane.

use smallvec::SmallVec;

use crate::model::{Half, Loc, Node, Val};
use crate::op::Reg;
use crate::target::{Per, SpaceId, Target};

/// Bits in machine storage that belong to the wave or to each lane.
///
/// ```
/// # use eitri::{target::{Gfx, Target, Wave}, track::Place};
/// # let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
/// let [n, x] = [Place::register(gpu.sgpr(4)?), Place::per_lane(gpu.vgpr(3)?)];
/// let [spilled, slot] = [Place::lane(gpu.vgpr(40)?, 7), Place::stack_slot(16)];
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub(super) storage: Storage,
    /// First bit in the storage.
    pub(super) from: i64,
    /// Number of bits; `None` for a whole register, and for 32 bits in other storage.
    pub(super) bits: Option<u32>,
}

/// Storage that contains places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Storage {
    /// A register of the wave.
    Register(Reg),
    /// One lane in a vector register, as storage of the wave.
    Lane(Reg, u32),
    /// A vector register, as one value for each lane.
    Row(Reg),
    /// Each lane's stack.
    Stack,
    /// One bit for each lane, in a scalar register.
    Bits(Reg),
    /// Storage that the compiler declared, by number, and whether each lane has a copy.
    Compiler(u32, bool),
}

impl Storage {
    /// Whether each lane has a separate value.
    pub(super) fn is_row(self) -> bool {
        matches!(self, Self::Row(_) | Self::Stack | Self::Bits(_) | Self::Compiler(_, true))
    }
}

impl Place {
    fn whole(storage: Storage) -> Self {
        Self { storage, from: 0, bits: None }
    }

    /// Returns a register of the wave.
    pub fn register(reg: Reg) -> Self {
        Self::whole(Storage::Register(reg))
    }

    /// Returns a vector register's lanes: one value for each lane.
    pub fn per_lane(reg: Reg) -> Self {
        Self::whole(Storage::Row(reg))
    }

    /// Returns one lane in a vector register, counted from 0: one value for the wave.
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::whole(Storage::Lane(reg, lane))
    }

    /// Returns a stack slot: 32 bits for each lane, at an offset in bytes from the base of the lane's stack frame.
    pub fn stack_slot(offset: i64) -> Self {
        // A stack is far smaller than the saturated offset; larger offsets are refused where the place is used.
        Self { storage: Storage::Stack, from: offset.saturating_mul(8), bits: Some(32) }
    }

    /// Returns a Boolean for each lane: the lane's bit in a scalar register, which an instruction writes for all lanes.
    pub fn lane_bit(reg: Reg) -> Self {
        Self::whole(Storage::Bits(reg))
    }

    /// Returns one half of the place's first 32 bits.
    #[must_use]
    pub fn half(self, half: Half) -> Self {
        let from = match half {
            Half::Low => self.from,
            Half::High => self.from.saturating_add(16),
        };
        Self { from, bits: Some(16), ..self }
    }

    /// Returns the place's bits from bit `from` on; without a number, all of a register's remaining bits.
    #[cfg(feature = "json")]
    pub(crate) fn bits_from(self, from: u32, bits: Option<u32>) -> Self {
        Self { from: self.from.saturating_add(from.into()), bits: bits.or(self.bits), ..self }
    }

    /// Returns the place's first `bits` bits.
    #[must_use]
    pub fn bits(self, bits: u32) -> Self {
        Self { bits: Some(bits), ..self }
    }
}

/// Places that form one place, lowest bits first, such as the registers in a tuple.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(SmallVec<[Place; 2]>);

impl Places {
    /// Returns an empty list: storage that is not tracked.
    pub fn none() -> Self {
        Self::default()
    }
}

impl core::ops::Deref for Places {
    type Target = [Place];

    fn deref(&self) -> &[Place] {
        &self.0
    }
}

impl<const N: usize> From<[Place; N]> for Places {
    fn from(places: [Place; N]) -> Self {
        places.into_iter().collect()
    }
}

impl From<Place> for Places {
    fn from(place: Place) -> Self {
        [place].into()
    }
}

impl FromIterator<Place> for Places {
    fn from_iter<I: IntoIterator<Item = Place>>(places: I) -> Self {
        Self(places.into_iter().collect())
    }
}

/// Whether a location differs between lanes. `None` if another location decides.
pub(super) fn depends_on_lane(target: &Target, loc: &Loc) -> Option<bool> {
    let is_lanes = |space: SpaceId| target.space(space).is_some_and(|space| space.per == Per::Lane);
    let mut depends = false;
    for node in loc.nodes() {
        match node {
            Node::PerLane(_) | Node::LaneIndex => depends = true,
            Node::Memory(space) => depends |= is_lanes(space),
            Node::Call(_) | Node::Expr(_) => return None,
            _ => {}
        }
    }
    Some(depends)
}

/// Returns a storage's location from a bit on.
pub(super) fn loc(storage: Storage, from: i64, own: &[Loc]) -> Loc {
    let loc = match storage {
        Storage::Stack => return stack(from),
        Storage::Register(reg) => Loc::register(reg),
        Storage::Lane(reg, lane) => Loc::lane(reg, lane),
        Storage::Row(reg) => Loc::per_lane(reg),
        Storage::Bits(reg) => Loc::register(reg).bit_offset_by(Val::lane_index()),
        Storage::Compiler(index, _) => own.get(index as usize).cloned().unwrap_or_else(Loc::undefined),
    };
    moved(loc, from)
}

fn stack(from: i64) -> Loc {
    moved(Loc::stack_slot(from.div_euclid(8)), from.rem_euclid(8))
}

fn moved(loc: Loc, bits: i64) -> Loc {
    if bits % 8 == 0 { loc.offset(bits / 8) } else { loc.bit_offset(bits) }
}
