//! Locations, as defined by the text (A.2.5.3).
//!
//! # The model
//!
//! * A **storage** is a stream of bits, numbered from 0. A storage is one of
//! - `Memory(space, lane)`: the `8·2^n` bits of an address space of n-bit addresses; of one lane, where each
//!   lane has its own memory;
//!   - `Register(reg, frame)`: the bits of a register, the least significant first;
//! - `Implicit(bits)`: known bits without a place in the program;
//! - `ImplicitPointer(entry, by, space)`: the bits of an address that is unknown, though its pointee is
//!   known;
//! - `Undefined`: no bits, no size, no offset;
//!   - `Composite(p₀ … pₙ)`: the concatenation of parts, each a location and a number of bits.
//! * A **single location** is a storage and a bit offset *o*: bit *i* at the location is bit *o + i* of the
//!   storage.
//! * A **location** is one or more single locations, its *places*. An object at the location is in all of them at once:
//!   it can be read at any place, and must be written at each.
//!
//! ```text
//! bit of the object  0              32             48
//!                    ├── v3 + 96 ────┼── s10 ───────┤     one composite of two parts
//! ```
//!
//! The rule to remember: a location is bound when it is made. The location contains the lane of a lane's memory and the
//! frame of a register, so a later change of the context does not move it.
//!
//! Two locations are equal over a number of bits if their [`spans`](super::spans::spans) are: bit for bit the same
//! places.

use triomphe::Arc;

use super::composite::Composite;
use super::fault::{Fault, error};
use super::machine::{Architecture, SpaceLayout};
use crate::error::Count;
use crate::op::Reg;
use crate::target::{Per, SpaceId};

/// A pointer with an unknown value and a known pointee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImplicitPointer {
    /// Offset in `.debug_info` of the entry that describes the pointee.
    pub entry: u64,
    /// Distance in bytes from the start of the pointee to the address.
    pub by: i64,
    /// Address space of the pointee.
    pub space: SpaceId,
    /// Size of an address of the space in bits, which is the size of the pointer.
    pub bits: u32,
}

/// Known bits. Up to 16 bytes are stored in place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImplicitBits {
    bits: u64,
    bytes: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bytes {
    Inline([u8; 16]),
    Shared(std::sync::Arc<[u8]>),
}

impl ImplicitBits {
    /// Returns the first `bits` bits of bytes in memory order. Missing bits are 0.
    pub fn new(bytes: &[u8], bits: u64) -> Self {
        let len = bits.div_ceil(8) as usize;
        let given = &bytes[..len.min(bytes.len())];
        let bytes = if len <= 16 {
            let mut inline = [0; 16];
            inline[..given.len()].copy_from_slice(given);
            Bytes::Inline(inline)
        } else {
            Bytes::Shared(given.iter().copied().chain(core::iter::repeat(0)).take(len).collect())
        };
        Self { bits, bytes }
    }

    /// Returns a number of `bytes` bytes, at most 8. The number fits them.
    #[inline]
    pub(super) fn number(number: u64, bytes: u8, big_endian: bool) -> Self {
        let bits = u64::from(bytes) * 8;
        debug_assert!(bits == 64 || number >> bits == 0);
        let inline = match big_endian {
            false => u128::from(number).to_le_bytes(),
            true => (u128::from(number) << ((128 - bits) & 127)).to_be_bytes(),
        };
        Self { bits, bytes: Bytes::Inline(inline) }
    }

    /// Returns the size in bits.
    pub fn size(&self) -> u64 {
        self.bits
    }

    /// Returns the bytes in memory order.
    pub fn bytes(&self) -> &[u8] {
        let bytes = match &self.bytes {
            Bytes::Inline(bytes) => &bytes[..],
            Bytes::Shared(bytes) => bytes,
        };
        &bytes[..self.bits.div_ceil(8) as usize]
    }
}

/// Storage of the bits of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Storage {
    /// No storage: the object is not available. This storage has no size, and locations in it have no offset.
    Undefined,
    /// An address space.
    Memory {
        /// The space.
        space: SpaceId,
        /// Size of an address of the space in bits.
        address_bits: u32,
        /// Lane of the memory, in a space where each lane has its own.
        lane: Option<u32>,
    },
    /// A register.
    Register {
        /// The register.
        reg: Reg,
        /// Frame of the register, 0 the innermost. A register of an outer frame that was saved is the place where it
        /// was saved instead.
        frame: u32,
        /// Size in bits.
        bits: u32,
    },
    /// Known bits without a place in the program. Such bits cannot be written.
    Implicit(ImplicitBits),
    /// Unknown bits of a pointer with a known pointee.
    ImplicitPointer(ImplicitPointer),
    /// Parts of other storages, one after the other. Shared, as parts can be numerous.
    Composite(Arc<Composite>),
}

impl Storage {
    /// Returns the size in bits; `None` for undefined storage.
    pub fn size(&self) -> Option<u128> {
        Some(match self {
            Self::Undefined => return None,
            Self::Memory { address_bits, .. } => memory_bits(*address_bits),
            Self::Register { bits, .. } => (*bits).into(),
            Self::Implicit(implicit) => implicit.size().into(),
            Self::ImplicitPointer(pointer) => pointer.bits.into(),
            Self::Composite(composite) => composite.size(),
        })
    }

    /// Returns the bit after the last one that an object can contain. `None` where bits beyond the size are undefined.
    pub(super) fn end(&self) -> Option<u128> {
        match self {
            Self::Composite(composite) if composite.is_open() => None,
            _ => self.size(),
        }
    }
}

/// Returns the size in bits of the memory that `address_bits` bits can address.
pub(super) fn memory_bits(address_bits: u32) -> u128 {
    8 << address_bits.min(64)
}

/// A storage and a bit offset into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SingleLocation {
    /// The storage.
    pub storage: Storage,
    /// Offset in bits from the start of the storage; 0 in undefined storage.
    pub offset: u128,
}

impl SingleLocation {
    /// Returns the number of bits from here to the end of the storage; `None` in undefined storage.
    pub fn remaining(&self) -> Option<u128> {
        Some(self.storage.size()?.saturating_sub(self.offset))
    }

    /// Returns the place with memory of the default space replaced by that of another space, in which only the low bits
    /// of an address count.
    pub(crate) fn in_space(&self, space: SpaceId, layout: SpaceLayout, lane: Option<u32>) -> Self {
        match &self.storage {
            Storage::Memory { space: SpaceId::DEFAULT, .. } => {
                let SpaceLayout { address_bits, per } = layout;
                let lane = lane.filter(|_| per == Per::Lane);
                let offset = self.offset % memory_bits(address_bits);
                Self { storage: Storage::Memory { space, address_bits, lane }, offset }
            }
            Storage::Composite(composite) => {
                let composite = composite.with_parts(|_, part| part.location.in_space(space, layout, lane));
                let storage = Storage::Composite(Arc::new(composite));
                Self { storage, offset: self.offset }
            }
            _ => self.clone(),
        }
    }

    /// Returns the location `by` bits further.
    ///
    /// # Errors
    /// An evaluation error if the result is outside the storage (A.2.5.3). Undefined storage has no offset to move.
    pub fn moved(mut self, by: i128) -> Result<Self, Fault> {
        if let Some(size) = self.storage.size() {
            let offset = self.offset.checked_add_signed(by).filter(|&offset| offset < size);
            self.offset = offset.ok_or_else(|| {
                error(format!(
                    "an offset stays in its storage of {size} (A.2.5.3): bit {} moved by {by}",
                    self.offset,
                    size = Count(size, "bit")
                ))
            })?;
        }
        Ok(self)
    }
}

/// Location of an object: one or more places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location(Places);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Places {
    Single(SingleLocation),
    /// Two or more.
    Several(Box<[SingleLocation]>),
}

impl From<SingleLocation> for Location {
    #[inline]
    fn from(place: SingleLocation) -> Self {
        Self(Places::Single(place))
    }
}

impl From<Storage> for Location {
    /// The start of the storage.
    fn from(storage: Storage) -> Self {
        SingleLocation { storage, offset: 0 }.into()
    }
}

impl Location {
    /// Returns the undefined location.
    pub fn undefined() -> Self {
        Storage::Undefined.into()
    }

    /// Returns the location of a byte of memory that all lanes share.
    #[inline]
    pub fn memory(space: SpaceId, address_bits: u32, address: u64) -> Self {
        let storage = Storage::Memory { space, address_bits, lane: None };
        SingleLocation { storage, offset: u128::from(address) * 8 }.into()
    }

    /// Returns the start of a register of the innermost frame.
    #[inline]
    pub fn register(reg: Reg, bits: u32) -> Self {
        Storage::Register { reg, frame: 0, bits }.into()
    }

    /// Returns the location of known bytes, in memory order.
    pub fn implicit(bytes: &[u8]) -> Self {
        Storage::Implicit(ImplicitBits::new(bytes, bytes.len() as u64 * 8)).into()
    }

    /// Returns a complete composite of parts, each a location with its size in bits.
    ///
    /// # Errors
    /// Ill-formed if a part is larger than the rest of its storage; an evaluation error if there are more than 65 536
    /// parts on all levels.
    pub fn composite(parts: impl IntoIterator<Item = (Self, u128)>) -> Result<Self, Fault> {
        let mut composite = Composite::empty();
        for (location, bits) in parts {
            composite.push(location, bits, memory_bits(64), 1 << 16)?;
        }
        composite.complete();
        Ok(composite.into())
    }

    /// Returns the places, one or more.
    pub fn places(&self) -> impl Iterator<Item = &SingleLocation> + Clone {
        self.all().iter()
    }

    fn all(&self) -> &[SingleLocation] {
        match &self.0 {
            Places::Single(place) => core::slice::from_ref(place),
            Places::Several(places) => places,
        }
    }

    /// Returns the location with memory of the default space replaced by that of another space: the space of the
    /// object, where expressions have addresses alone, as on NVIDIA's processors (`DW_AT_address_class` of a variable).
    /// `lane` is that of a space with memory of each lane.
    #[must_use]
    pub fn in_space(&self, space: SpaceId, layout: SpaceLayout, lane: Option<u32>) -> Self {
        self.map_places(|place| place.in_space(space, layout, lane))
    }

    /// Returns a location with each place replaced.
    pub(super) fn map_places(&self, mut place: impl FnMut(&SingleLocation) -> SingleLocation) -> Self {
        Self(match &self.0 {
            Places::Single(one) => Places::Single(place(one)),
            Places::Several(places) => Places::Several(places.iter().map(place).collect()),
        })
    }

    /// Returns the place, if there is exactly one.
    pub fn single(&self) -> Option<&SingleLocation> {
        match &self.0 {
            Places::Single(place) => Some(place),
            Places::Several(_) => None,
        }
    }

    /// Returns the place, if there is exactly one.
    pub(super) fn single_mut(&mut self) -> Option<&mut SingleLocation> {
        match &mut self.0 {
            Places::Single(place) => Some(place),
            Places::Several(_) => None,
        }
    }

    /// Replaces the location by a new one, which is constructed in its place. Most locations own no memory, so that
    /// nothing needs to be dropped.
    #[inline(always)]
    pub(super) fn replace(&mut self, new: impl FnOnce() -> Self) {
        let owns_memory = match &self.0 {
            Places::Single(place) => matches!(place.storage, Storage::Implicit(_) | Storage::Composite(_)),
            Places::Several(_) => true,
        };
        if owns_memory {
            self.release();
        }
        core::mem::forget(core::mem::replace(self, new()));
    }

    #[inline(never)]
    fn release(&mut self) {
        *self = Self::undefined();
    }

    /// Returns the composite that starts at this location, if it is the only place and not shared.
    #[inline]
    pub(super) fn own_composite(&mut self) -> Option<&mut Composite> {
        match &mut self.0 {
            Places::Single(SingleLocation { storage: Storage::Composite(composite), offset: 0 }) => {
                Arc::get_mut(composite)
            }
            _ => None,
        }
    }

    fn into_places(self) -> Vec<SingleLocation> {
        match self.0 {
            Places::Single(place) => vec![place],
            Places::Several(places) => places.into(),
        }
    }

    /// Returns the union of the places of both locations (A.2.5.5), without duplicates.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut places = self.into_places();
        for place in other.into_places() {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        match places.len() {
            1 => Self(Places::Single(places.remove(0))),
            _ => Self(Places::Several(places.into())),
        }
    }

    /// Returns the location with each place `by` bits further.
    ///
    /// # Errors
    /// An evaluation error if a place leaves its storage.
    pub fn moved(self, by: i128) -> Result<Self, Fault> {
        Ok(Self(match self.0 {
            Places::Single(place) => Places::Single(place.moved(by)?),
            Places::Several(places) => {
                Places::Several(places.into_iter().map(|place| place.moved(by)).collect::<Result<_, _>>()?)
            }
        }))
    }

    /// Returns the number of bits to the end of the smallest remaining storage. `None` if all places are undefined.
    pub fn remaining(&self) -> Option<u128> {
        self.places().filter_map(SingleLocation::remaining).min()
    }

    /// Returns the byte address in the default space, if the location is a single place there at the start of a byte.
    pub fn default_address(&self) -> Option<u64> {
        match self.single()? {
            SingleLocation {
                storage: Storage::Memory { space: SpaceId::DEFAULT, lane: None, .. },
                offset,
            } if offset.is_multiple_of(8) => u64::try_from(offset / 8).ok(),
            _ => None,
        }
    }

    /// Returns the composite, if the location is one that is being built.
    pub(super) fn incomplete(&mut self) -> Option<&mut Composite> {
        // An incomplete composite is never copied, so it is not shared and this does not clone.
        if self.is_incomplete() { self.composite_mut() } else { None }
    }

    /// Returns the composite for adding parts, if it is the only place.
    pub(super) fn composite_mut(&mut self) -> Option<&mut Composite> {
        match &mut self.0 {
            Places::Single(SingleLocation { storage: Storage::Composite(composite), .. }) => {
                Some(Arc::make_mut(composite))
            }
            _ => None,
        }
    }

    /// Returns the number of parts of the composite at this location, 0 without a composite.
    pub(super) fn parts(&self) -> usize {
        match self.single().map(|place| &place.storage) {
            Some(Storage::Composite(composite)) => composite.parts().len(),
            _ => 0,
        }
    }

    /// Whether the location is a composite that is being built.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.single(), Some(SingleLocation { storage: Storage::Composite(it), .. }) if !it.is_complete())
    }
}

/// Finds the name of a register to print, if any.
pub(super) type NameOf<'a> = &'a dyn Fn(Reg) -> Option<String>;

impl core::fmt::Display for SingleLocation {
    /// Formats as `mem:SPACE:ADDRESS`, `reg:N`, `implicit:BYTES`, `implptr:ENTRY:BY`, `undefined` or `[LOCATION/BITS,
    /// …]`, with `@LANE` and `+BITS` where they apply.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.print(f, &|_| None)
    }
}

impl SingleLocation {
    fn print(&self, f: &mut core::fmt::Formatter<'_>, name: NameOf<'_>) -> core::fmt::Result {
        let mut offset = self.offset;
        match &self.storage {
            Storage::Undefined => return f.write_str("undefined"),
            Storage::Memory { space, lane, .. } => {
                write!(f, "mem:{}:{:#x}", space.0, offset / 8)?;
                if let Some(lane) = lane {
                    write!(f, "@{lane}")?;
                }
                offset %= 8;
            }
            Storage::Register { reg, frame, .. } => {
                match name(*reg) {
                    Some(name) => write!(f, "reg:{name}")?,
                    None => write!(f, "reg:{}", reg.0)?,
                }
                if *frame != 0 {
                    write!(f, " of frame {frame}")?;
                }
            }
            Storage::Implicit(implicit) => {
                f.write_str("implicit:")?;
                implicit.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
            Storage::ImplicitPointer(to) => write!(f, "implptr:{:#x}:{}", to.entry, to.by)?,
            Storage::Composite(composite) => {
                f.write_str("[")?;
                for (index, part) in composite.parts().iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    match part.location.single() {
                        Some(place) => place.print(f, name)?,
                        None => {
                            f.write_str("(")?;
                            part.location.print(f, name)?;
                            f.write_str(")")?;
                        }
                    }
                    write!(f, "/{}", part.bits)?;
                }
                f.write_str("]")?;
            }
        }
        if offset != 0 {
            write!(f, "+{offset}")?;
        }
        Ok(())
    }
}

impl core::fmt::Display for Location {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.print(f, &|_| None)
    }
}

impl Location {
    /// Formats the location with an architecture's register names in place of DWARF numbers: `reg:v3+160`.
    pub fn in_names<'a>(&'a self, architecture: &'a dyn Architecture) -> impl core::fmt::Display + 'a {
        struct InNames<'a>(&'a Location, &'a dyn Architecture);
        impl core::fmt::Display for InNames<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.print(f, &|reg| self.1.register_name(reg))
            }
        }
        InNames(self, architecture)
    }

    fn print(&self, f: &mut core::fmt::Formatter<'_>, name: NameOf<'_>) -> core::fmt::Result {
        self.places().enumerate().try_for_each(|(index, place)| {
            f.write_str(if index == 0 { "" } else { " | " })?;
            place.print(f, name)
        })
    }
}
