//! Places: storage of the wave, and of each lane.

use smallvec::SmallVec;

use crate::model::{Half, Loc, Node, Val};
use crate::op::Reg;
use crate::target::{Per, SpaceId, Target};

/// Storage with a number of bits: of the wave, or of each lane.
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
    pub(super) of: Storage,
    /// The first bit in the storage.
    pub(super) from: i64,
    /// The number of bits; `None` for all of a register, and 32 of others.
    pub(super) bits: Option<u32>,
}

/// Storage that contains places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Storage {
    /// A register of the wave.
    Register(Reg),
    /// One lane of a vector register: of the wave.
    Lane(Reg, u32),
    /// A vector register, one value for each lane.
    Row(Reg),
    /// The stack of each lane.
    Stack,
    /// One bit for each lane, in a scalar register.
    Bits(Reg),
    /// Storage of the compiler's own, by number, and whether each lane has one.
    Compiler(u32, bool),
}

impl Storage {
    /// Whether each lane has its own value.
    pub(super) fn is_row(self) -> bool {
        matches!(self, Self::Row(_) | Self::Stack | Self::Bits(_) | Self::Compiler(_, true))
    }
}

impl Place {
    fn all(of: Storage) -> Self {
        Self { of, from: 0, bits: None }
    }

    /// A register of the wave.
    pub fn register(reg: Reg) -> Self {
        Self::all(Storage::Register(reg))
    }

    /// One value for each lane: the lanes of a vector register.
    pub fn per_lane(reg: Reg) -> Self {
        Self::all(Storage::Row(reg))
    }

    /// One value for the wave: one lane, counted from 0, of a vector register.
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::all(Storage::Lane(reg, lane))
    }

    /// One value for each lane: 32 bits at an offset in bytes from the base of the lane's stack frame.
    pub fn stack_slot(offset: i64) -> Self {
        // A stack is far smaller; larger offsets are refused where the place is used.
        Self { of: Storage::Stack, from: offset.saturating_mul(8), bits: Some(32) }
    }

    /// One boolean for each lane: the lane's bit of a scalar register, which an instruction writes for all lanes.
    pub fn lane_bit(reg: Reg) -> Self {
        Self::all(Storage::Bits(reg))
    }

    /// One half of the place's first 32 bits.
    #[must_use]
    pub fn half(self, half: Half) -> Self {
        let from = match half {
            Half::Low => self.from,
            Half::High => self.from.saturating_add(16),
        };
        Self { from, bits: Some(16), ..self }
    }

    /// Bits of the place from one on; all of a register that are left without a number.
    #[cfg(feature = "json")]
    pub(crate) fn bits_from(self, from: u32, bits: Option<u32>) -> Self {
        Self { from: self.from.saturating_add(from.into()), bits: bits.or(self.bits), ..self }
    }

    /// The first `bits` bits of the place.
    #[must_use]
    pub fn bits(self, bits: u32) -> Self {
        Self { bits: Some(bits), ..self }
    }
}

/// Places that form one, from the lowest bits on: the registers of a tuple.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(SmallVec<[Place; 2]>);

impl Places {
    /// Returns a list without places: storage that nobody describes.
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

/// Whether a location differs between lanes. `None` where another location decides.
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

/// Returns the location of bits of a storage.
pub(super) fn loc(of: Storage, from: i64, own: &[Loc]) -> Loc {
    let place = match of {
        Storage::Stack => return stack(from),
        Storage::Register(reg) => Loc::register(reg),
        Storage::Lane(reg, lane) => Loc::lane(reg, lane),
        Storage::Row(reg) => Loc::per_lane(reg),
        Storage::Bits(reg) => Loc::register(reg).bit_offset_by(Val::lane_index()),
        Storage::Compiler(index, _) => own.get(index as usize).cloned().unwrap_or_else(Loc::undefined),
    };
    moved(place, from)
}

fn stack(from: i64) -> Loc {
    moved(Loc::stack_slot(from.div_euclid(8)), from.rem_euclid(8))
}

fn moved(place: Loc, bits: i64) -> Loc {
    if bits % 8 == 0 { place.offset(bits / 8) } else { place.bit_offset(bits) }
}
