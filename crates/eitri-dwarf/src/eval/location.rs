//! Locations, and the composites and storages that they contain (A.2.5.3). The three types contain each other, so that
//! they stand in one file; [`Location`] has the model.

use std::sync::Arc;

use super::architecture::{Architecture, NameOf, SpaceLayout};
use super::fault::{Fault, error, ill_formed, limit};
use super::lane_numbers::LaneNumbers;
use super::value::{ImplicitPointer, Value};
use super::value_bits::stream_of_value;
use crate::error::Count;
use crate::op::Reg;
use crate::target::{ByteOrder, Per, SpaceId};

/// Known bits. Up to 16 bytes are stored in place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImplicitBits {
    bits: u64,
    bytes: Bytes,
    numbering: Numbering,
}

/// Order in which a machine numbers known bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Numbering {
    /// In the order of the bytes, as bits in memory. All known bits of a little-endian machine.
    Bytes,
    /// From the least significant bit, as bits in a register.
    Number,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bytes {
    Inline([u8; 16]),
    Shared(Arc<[u8]>),
}

impl ImplicitBits {
    /// Returns the first `bits` bits from bytes in memory order. Missing bits are 0.
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
        Self { bits, bytes, numbering: Numbering::Bytes }
    }

    /// Returns a number with `bytes` bytes, at most 8. The number fits.
    #[inline]
    pub(super) fn number(number: u64, bytes: u8, big_endian: bool) -> Self {
        let bits = u64::from(bytes) * 8;
        debug_assert!(bits == 64 || number >> bits == 0);
        let (inline, numbering) = if big_endian {
            ((u128::from(number) << ((128 - bits) & 127)).to_be_bytes(), Numbering::Number)
        } else {
            (u128::from(number).to_le_bytes(), Numbering::Bytes)
        };
        Self { bits, bytes: Bytes::Inline(inline), numbering }
    }

    /// Returns a value's bits. A number's count from the least significant on every machine; a vector's elements are in
    /// the order of their addresses.
    pub(super) fn value(value: &Value, big_endian: bool) -> Self {
        let is_big_number = big_endian && value.ty().elements == 1;
        let numbering = if is_big_number { Numbering::Number } else { Numbering::Bytes };
        stream_of_value(value, big_endian, |bytes| Self { numbering, ..Self::new(bytes, value.ty().size()) })
    }

    /// Whether bit 0 is the least significant bit although it comes last: a big-endian machine's number.
    pub(super) fn is_big_number(&self) -> bool {
        self.numbering == Numbering::Number
    }

    /// Returns where the stream of `bits` bits from bit `from` on begins in the bytes.
    pub(crate) fn first_in_bytes(&self, from: u128, bits: u128) -> u128 {
        match self.numbering {
            Numbering::Bytes => from,
            Numbering::Number => u128::from(self.bits).saturating_sub(from).saturating_sub(bits),
        }
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

/// Where an object's bits are stored.
///
/// Exhaustive: a match names all variants, so that a debugger sees where a new kind of storage needs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Storage {
    /// No storage: the object is not available. This storage has no size, and locations in it have no offset.
    Undefined,
    /// An address space.
    Memory {
        /// The space.
        space: SpaceId,
        /// The space's address size in bits.
        address_bits: u32,
        /// The memory's lane, in a space where each lane has its own memory.
        lane: Option<u32>,
    },
    /// A register.
    Register {
        /// The register.
        reg: Reg,
        /// The register's frame, 0 the innermost. A register that an inner frame saved is where it was saved instead.
        frame: u32,
        /// Size in bits.
        bits: u32,
    },
    /// Known bits that the program stores nowhere. Such bits cannot be written.
    Implicit(ImplicitBits),
    /// A pointer's unknown bits, with a known pointee.
    ImplicitPointer(ImplicitPointer),
    /// Parts from other storages, one after the other. Shared, because parts can be numerous.
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

    /// Whether a big-endian machine numbers the bits from the least significant, which comes last in an object.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Register { .. } => true,
            Self::Implicit(bits) => bits.is_big_number(),
            _ => false,
        }
    }

    /// Returns the bit after the last bit that an object can contain. `None` where bits beyond the size are
    /// undefined.
    pub(super) fn end(&self) -> Option<u128> {
        match self {
            Self::Composite(composite) if composite.is_open() => None,
            _ => self.size(),
        }
    }
}

/// Returns how many bits of memory `address_bits` bits can address.
pub(super) fn memory_bits(address_bits: u32) -> u128 {
    8 << address_bits.min(64)
}

/// A storage and a bit offset into it.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SingleLocation {
    /// The storage.
    pub storage: Storage,
    /// Offset in bits from the storage's start; 0 in undefined storage.
    pub offset: u128,
}

impl SingleLocation {
    /// Returns how many bits remain from here to the storage's end; `None` in undefined storage.
    pub fn remaining(&self) -> Option<u128> {
        Some(self.storage.size()?.saturating_sub(self.offset))
    }

    /// Returns the location with default-space memory replaced by another space's memory, in which only the low bits
    /// of an address count.
    pub(crate) fn in_space(&self, space: SpaceId, layout: SpaceLayout, lane: Option<u32>) -> Self {
        match &self.storage {
            Storage::Memory { space: SpaceId::DEFAULT, .. } => {
                let SpaceLayout { address_bits, per } = layout;
                let lane = lane.filter(|_| per == Per::Lane);
                // An expression computes with the generic type, which can be wider than the space's addresses.
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
            self.offset = offset.ok_or_else(|| self.outside(by, size))?;
        }
        Ok(self)
    }

    /// Returns the fault for a location `by` bits further, which is outside the storage of `size` bits.
    fn outside(&self, by: i128, size: u128) -> Fault {
        if let Storage::Memory { space, address_bits, .. } = self.storage
            && self.offset.is_multiple_of(8)
            && by % 8 == 0
        {
            let sign = if by < 0 { '-' } else { '+' };
            let bytes = Count(by.unsigned_abs() / 8, "byte");
            let address_bits = Count(address_bits, "bit");
            return error(format!(
                "address {:#x} {sign} {bytes} is outside space {}, whose addresses have {address_bits} (A.2.5.3)",
                self.offset / 8,
                space.0
            ));
        }
        let size = Count(size, "bit");
        error(format!("bit {} moved by {by} is outside its storage of {size} (A.2.5.3)", self.offset))
    }
}

/// An object's location (A.2.5.3): one or more single locations.
///
/// # The model
///
/// * A **storage** is a stream of bits, numbered from 0. A storage is one of
///   - `Memory(space, lane)`: the `8·2^n` bits in an address space with n-bit addresses; one lane's, where each lane
///     has its own memory;
///   - `Register(reg, frame)`: a register's bits, the least significant first;
///   - `Implicit(bits)`: known bits that the program stores nowhere; a number's from the least significant on, as in a
///     register, other bits as in memory;
///   - `ImplicitPointer(entry, by, space)`: the bits of an unknown address whose pointee is known;
///   - `Undefined`: no bits, no size, no offset;
///   - `Composite(p₀ … pₙ)`: parts one after the other, each a location and a bit count.
/// * As text, the offset after `+` is in bits, and an address is in bytes: `reg:0+96` is byte 12 of register 0, and
///   `mem:0:0x40` is byte 0x40 of space 0. [`dump::location`](crate::dump::location) prints `v3 + 12 bytes`.
/// * A **single location** is a storage and a bit offset *o*: bit *i* at the location is the storage's bit *o + i*.
/// * A **location** is one or more single locations. An object at the location is at all of them at once: it can be
///   read at any single location, and must be written at each.
///
/// ```text
/// bit of the object  0              32             48
///                    ├── v3 + 96 ────┼── s10 ───────┤     one composite of two parts
/// ```
///
/// The rule to remember: a location is bound when it is constructed. It contains the lane whose memory it is in, and
/// the frame whose register it is, so that a later context does not move it.
///
/// Two locations are equal over a number of bits if their [`spans`](super::spans()) are: bit for bit the same single
/// locations.
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

    /// Returns the location of a memory byte that all lanes share.
    #[inline]
    pub fn memory(space: SpaceId, address_bits: u32, address: u64) -> Self {
        let storage = Storage::Memory { space, address_bits, lane: None };
        SingleLocation { storage, offset: u128::from(address) * 8 }.into()
    }

    /// Returns the start of a register in the innermost frame.
    #[inline]
    pub fn register(reg: Reg, bits: u32) -> Self {
        Storage::Register { reg, frame: 0, bits }.into()
    }

    /// Returns the location of known bytes, in memory order.
    pub fn implicit(bytes: &[u8]) -> Self {
        Storage::Implicit(ImplicitBits::new(bytes, bytes.len() as u64 * 8)).into()
    }

    /// Returns a complete composite with these parts, each a location with its size in bits.
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

    /// Returns the single locations, one or more.
    pub fn places(&self) -> impl Iterator<Item = &SingleLocation> + Clone {
        self.as_slice().iter()
    }

    fn as_slice(&self) -> &[SingleLocation] {
        match &self.0 {
            Places::Single(place) => core::slice::from_ref(place),
            Places::Several(places) => places,
        }
    }

    /// Returns the location with default-space memory replaced by another space's: the object's space, where
    /// expressions have addresses alone, as on NVIDIA's processors (a variable's `DW_AT_address_class`). `lane`
    /// counts in a space where each lane has its own memory.
    #[must_use]
    pub fn in_space(&self, space: SpaceId, layout: SpaceLayout, lane: Option<u32>) -> Self {
        self.map_places(|place| place.in_space(space, layout, lane))
    }

    /// Returns a location with each single location replaced.
    pub(super) fn map_places(&self, mut place: impl FnMut(&SingleLocation) -> SingleLocation) -> Self {
        Self(match &self.0 {
            Places::Single(one) => Places::Single(place(one)),
            Places::Several(places) => Places::Several(places.iter().map(place).collect()),
        })
    }

    /// Returns the single location, if there is exactly one.
    pub fn single(&self) -> Option<&SingleLocation> {
        match &self.0 {
            Places::Single(place) => Some(place),
            Places::Several(_) => None,
        }
    }

    /// Returns the single location, if there is exactly one.
    pub(super) fn single_mut(&mut self) -> Option<&mut SingleLocation> {
        match &mut self.0 {
            Places::Single(place) => Some(place),
            Places::Several(_) => None,
        }
    }

    /// Replaces the location by a new location, which is constructed where it stays. Most locations own no memory, so
    /// that nothing needs to be dropped.
    #[inline]
    pub(super) fn replace(&mut self, new: impl FnOnce() -> Self) {
        let owns_memory = match &self.0 {
            Places::Single(place) => matches!(place.storage, Storage::Implicit(_) | Storage::Composite(_)),
            Places::Several(_) => true,
        };
        // Dropping is a branch over all variants, which the common case avoids.
        if owns_memory {
            self.release();
        }
        core::mem::forget(core::mem::replace(self, new()));
    }

    fn release(&mut self) {
        *self = Self::undefined();
    }

    /// Returns the composite that starts at this location, if it is the only single location and not shared.
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

    /// Returns the union of both locations (A.2.5.5), without duplicates.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut places = self.into_places();
        for place in other.into_places() {
            // Equal single locations count once, as in a set.
            if !places.contains(&place) {
                places.push(place);
            }
        }
        match places.len() {
            1 => Self(Places::Single(places.remove(0))),
            _ => Self(Places::Several(places.into())),
        }
    }

    /// Returns the location with each single location `by` bits further.
    ///
    /// # Errors
    /// An evaluation error if a single location leaves its storage.
    pub fn moved(self, by: i128) -> Result<Self, Fault> {
        Ok(Self(match self.0 {
            Places::Single(place) => Places::Single(place.moved(by)?),
            Places::Several(places) => {
                Places::Several(places.into_iter().map(|place| place.moved(by)).collect::<Result<_, _>>()?)
            }
        }))
    }

    /// Returns how many bits the smallest remaining storage has. `None` if all single locations are undefined.
    pub fn remaining(&self) -> Option<u128> {
        self.places().filter_map(SingleLocation::remaining).min()
    }

    /// Returns the byte address in the default space, if the location is a single location there, at a byte's start.
    pub fn default_address(&self) -> Option<u64> {
        match self.single()? {
            SingleLocation {
                storage: Storage::Memory { space: SpaceId::DEFAULT, lane: None, .. },
                offset,
            } if offset.is_multiple_of(8) => u64::try_from(offset / 8).ok(),
            _ => None,
        }
    }

    /// Returns the composite, if the location is a composite under construction.
    pub(super) fn incomplete(&mut self) -> Option<&mut Composite> {
        // An incomplete composite is never copied, so that it is not shared and this does not clone.
        if self.is_incomplete() { self.composite_mut() } else { None }
    }

    /// Returns the composite for adding parts, if it is the only single location.
    pub(super) fn composite_mut(&mut self) -> Option<&mut Composite> {
        match &mut self.0 {
            Places::Single(SingleLocation { storage: Storage::Composite(composite), .. }) => {
                Some(Arc::make_mut(composite))
            }
            _ => None,
        }
    }

    /// Returns how many parts the composite at this location has, 0 without a composite.
    pub(super) fn parts(&self) -> usize {
        match self.single().map(|place| &place.storage) {
            Some(Storage::Composite(composite)) => composite.parts().len(),
            _ => 0,
        }
    }

    /// Whether the location is a composite under construction.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.single(), Some(SingleLocation { storage: Storage::Composite(it), .. }) if !it.is_complete())
    }
}

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
    /// Formats the location with an architecture's register names instead of DWARF numbers: `reg:v3+160`.
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

/// A composite's part.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Offset in bits from the composite's start.
    pub start: u128,
    /// Size in bits.
    pub bits: u128,
    /// Location of its first bit.
    pub location: Location,
}

/// Parts from other storages, one after the other without gaps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Composite {
    parts: Vec<Part>,
    bits: u128,
    complete: bool,
    /// Whether bits beyond the parts are undefined (DWARF 6, 3.12, 251120.1) instead of outside the storage.
    is_open: bool,
    /// How many parts there are on all levels: what visiting them costs.
    weight: u32,
    /// How many composite levels there are, 1 without composites among the parts.
    depth: u32,
    /// Role when a whole wave is evaluated.
    wave: Wave,
}

/// Whether a composite differs between lanes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Wave {
    /// Equal in all lanes. The other variants occur only when a whole wave is evaluated.
    Unchanged,
    /// The composite's parts differ between lanes.
    Parts,
    /// Composite without parts, representing a location that differs between lanes. The size is the smallest among
    /// the lanes.
    LanePlaces(Arc<LanePlaces>),
}

/// Maximum number of nested composites, so that no input can exhaust the machine stack.
const MAX_DEPTH: u32 = 100;

impl Composite {
    /// Returns a composite without parts.
    pub(super) fn empty() -> Self {
        Self {
            parts: Vec::new(),
            bits: 0,
            complete: false,
            is_open: false,
            weight: 0,
            depth: 1,
            wave: Wave::Unchanged,
        }
    }

    /// Makes it a DWARF 6 composite, which is always complete, and may be smaller than an object in it.
    pub(super) fn open(self) -> Self {
        Self { complete: true, is_open: true, ..self }
    }

    /// Returns a storage that represents a location that differs between lanes. `bits` bits remain in each lane.
    pub(super) fn of_places(places: Arc<LanePlaces>, bits: u128, weight: u32, depth: u32) -> Self {
        Self { bits, complete: true, weight, depth, wave: Wave::LanePlaces(places), ..Self::empty() }
    }

    /// Whether it differs between lanes.
    pub(super) fn varies(&self) -> bool {
        self.wave != Wave::Unchanged
    }

    /// Whether it contains no composite, in any lane.
    pub(super) fn is_flat(&self) -> bool {
        self.depth == u32::from(self.places().is_none())
    }

    /// Returns the location that differs between lanes, if the composite represents such a location.
    pub(super) fn places(&self) -> Option<&LanePlaces> {
        match &self.wave {
            Wave::LanePlaces(places) => Some(places),
            _ => None,
        }
    }

    /// Returns how many parts on all levels, and how many levels, a storage has.
    pub(super) fn weigh(storage: &Storage) -> (u32, u32) {
        match storage {
            Storage::Composite(inner) => (inner.weight, inner.depth),
            _ => (1, 0),
        }
    }

    /// Returns the composite with other locations in its parts. The composite varies if a part does.
    pub(super) fn with_parts(&self, mut location: impl FnMut(usize, &Part) -> Location) -> Self {
        let parts = self.parts.iter().enumerate();
        let parts: Vec<_> =
            parts.map(|(index, part)| Part { location: location(index, part), ..*part }).collect();
        let mut composite = Self { parts: Vec::new(), weight: 0, depth: 1, wave: Wave::Unchanged, ..*self };
        parts.iter().flat_map(|part| part.location.places()).for_each(|place| composite.count(place));
        Self { parts, ..composite }
    }

    /// Turns one lane's parts, derived from `all`, into another lane's. Returns false where that is not possible.
    pub(super) fn move_parts(&mut self, all: &Self, lane: u32) -> bool {
        let mut parts = self.parts.iter_mut().zip(&all.parts);
        parts.all(|(part, all)| part.location.move_to(&all.location, lane))
    }

    /// Adds a single location to the weight, depth and variation.
    fn count(&mut self, place: &SingleLocation) {
        let (weight, depth) = Self::weigh(&place.storage);
        // Shared composites count each time, because each visit walks them again.
        self.weight = self.weight.saturating_add(weight.max(1));
        self.depth = self.depth.max(depth + 1);
        if matches!(&place.storage, Storage::Composite(inner) if inner.varies()) {
            self.wave = Wave::Parts;
        }
    }

    /// Returns a composite whose parts have `bits` bits in all. The parts' storages are not composites and are large
    /// enough.
    pub(super) fn of_plain_parts(parts: Vec<Part>, bits: u128) -> Self {
        Self { bits, weight: parts.len() as u32, parts, ..Self::empty() }
    }

    /// Replaces a complete composite's parts by such parts, and returns the old parts in `parts`.
    pub(super) fn exchange_plain_parts(&mut self, parts: &mut Vec<Part>, bits: u128) {
        core::mem::swap(&mut self.parts, parts);
        (self.bits, self.weight) = (bits, self.parts.len() as u32);
    }

    /// Returns a complete composite with these parts, each with its size in bits.
    ///
    /// # Errors
    /// Ill-formed if a part is larger than the rest of its storage; an evaluation error if there are more than 65536
    /// parts on all levels.
    pub fn of(parts: impl IntoIterator<Item = (Location, u128)>) -> Result<Self, Fault> {
        let mut composite = Self::empty();
        for (location, bits) in parts {
            composite.push(location, bits, u128::MAX, super::limits::Limits::default().parts)?;
        }
        composite.complete();
        Ok(composite)
    }

    /// Returns the parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the size in bits: the sum of the parts.
    pub fn size(&self) -> u128 {
        self.bits
    }

    /// Whether parts can no longer be added.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether bits beyond the parts are undefined.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn complete(&mut self) {
        self.complete = true;
    }

    /// Adds a part.
    ///
    /// # Errors
    /// Ill-formed if the part is larger than the rest of its storage, or the composite becomes larger than `max_bits`;
    /// an evaluation error if it has more than `max_parts` parts on all levels, or too many levels.
    pub(super) fn push(
        &mut self,
        location: Location,
        bits: u128,
        max_bits: u128,
        max_parts: u32,
    ) -> Result<(), Fault> {
        for place in location.places() {
            if place.remaining().is_some_and(|remaining| remaining < bits) {
                return Err(ill_formed(format!(
                    "part of {bits} at bit {} ends after its storage (A.2.5.4.4.6)",
                    place.offset,
                    bits = Count(bits, "bit")
                )));
            }
            self.count(place);
        }
        let start = self.bits;
        self.bits = start.checked_add(bits).filter(|&total| total <= max_bits).ok_or_else(|| {
            ill_formed(format!(
                "composite exceeds the {max_bits} of the largest address space",
                max_bits = Count(max_bits, "bit")
            ))
        })?;
        // Checked after counting: the part is dropped with the composite.
        if self.weight > max_parts || self.depth > MAX_DEPTH {
            return Err(limit(format!(
                "composite exceeds {max_parts} or {MAX_DEPTH} levels",
                max_parts = Count(max_parts, "part")
            )));
        }
        self.parts.push(Part { start, bits, location });
        Ok(())
    }

    /// Returns the parts that contain `bits` bits from `offset` on: for each the location, how many bits to skip in
    /// it, and how many it contributes.
    pub fn slice(&self, offset: u128, bits: u128) -> impl Iterator<Item = (&Location, u128, u128)> {
        self.slices(offset, bits).map(|(location, slice)| (location, slice.skip, slice.bits))
    }

    /// Returns the parts that contain `bits` bits from `offset` on, each with the bits that it contributes.
    pub(super) fn slices(&self, offset: u128, bits: u128) -> impl Iterator<Item = (&Location, Slice)> {
        let end = offset.saturating_add(bits);
        // Parts are sorted by their start, and empty parts contribute nothing.
        let first = self.parts.partition_point(|part| part.start + part.bits <= offset);
        self.parts[first..].iter().take_while(move |part| part.start < end).filter_map(move |part| {
            let from = part.start.max(offset);
            let to = (part.start + part.bits).min(end);
            let slice =
                Slice { skip: from - part.start, bits: to - from, after: part.start + part.bits - to };
            (from < to).then_some((&part.location, slice))
        })
    }
}

/// Consecutive bits of an object at a location, such as a composite's part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    /// Number of the object's bits before the slice.
    pub(super) skip: u128,
    /// Number of bits in the slice.
    pub(super) bits: u128,
    /// Number of the object's bits after the slice.
    pub(super) after: u128,
}

impl Slice {
    /// Returns a whole object's bits.
    pub(super) fn whole(bits: u128) -> Self {
        Self { skip: 0, bits, after: 0 }
    }

    /// Returns the number of the first bit in the storage of one of the object's single locations: the lowest number of
    /// the bits. An object in a register begins with its most significant bit on a big-endian machine, so that the
    /// object's later bits come first in the register.
    pub(super) fn first_bit(&self, place: &SingleLocation, order: ByteOrder) -> u128 {
        match order {
            ByteOrder::Big if place.storage.is_number() => place.offset.saturating_add(self.after),
            _ => place.offset.saturating_add(self.skip),
        }
    }
}

/// Returns the location without enclosing composites in which one part contains the next `bits` bits. The bits are
/// the same, and a composite with many such parts does not refer to the whole composite many times.
pub(super) fn narrowed(location: Location, bits: u128, order: ByteOrder) -> Location {
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        return location;
    };
    let mut parts = composite.slices(*offset, bits);
    let inside = parts.next().filter(|(_, slice)| slice.bits == bits);
    let part = inside.and_then(|(part, slice)| {
        let distance = match order {
            ByteOrder::Little => slice.skip,
            // Single locations of several storages can move by different distances.
            ByteOrder::Big => part.single().map(|place| slice.first_bit(place, order) - place.offset)?,
        };
        part.clone().moved(i128::try_from(distance).ok()?).ok()
    });
    drop(parts);
    // The recursion is at most as deep as composites nest.
    part.map_or(location, |part| narrowed(part, bits, order))
}

impl From<Composite> for Location {
    fn from(composite: Composite) -> Self {
        Storage::Composite(Arc::new(composite)).into()
    }
}

/// A single location that differs between lanes. It is arbitrary in lanes that are not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LanePlaces {
    /// In one storage, or in one space in which each lane has its own memory.
    Along {
        storage: Storage,
        /// Whether the storage is the lane's own memory.
        is_of_lane: bool,
        /// Offsets in bits from the storage's start.
        offsets: LaneNumbers,
    },
    /// In any storage, with one single location for each of 64 lanes.
    Anywhere(Vec<SingleLocation>),
}
