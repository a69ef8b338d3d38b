//! Locations, and the composites and storages that they contain (A.2.5.3). The three types contain each other, so that
//! they stand in one file; [`Location`] has the model.

use triomphe::Arc;

use super::architecture::{Architecture, NameOf, SpaceLayout};
use super::fault::{Fault, error, ill_formed, limit};
use super::lane_numbers::LaneNumbers;
use super::value::ImplicitPointer;
use crate::error::Count;
use crate::op::Reg;
use crate::target::{Per, SpaceId};

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
        let inline = if big_endian {
            (u128::from(number) << ((128 - bits) & 127)).to_be_bytes()
        } else {
            u128::from(number).to_le_bytes()
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

/// Location of an object (A.2.5.3): one or more places.
///
/// # The model
///
/// * A **storage** is a stream of bits, numbered from 0. A storage is one of
///   - `Memory(space, lane)`: the `8·2^n` bits of an address space of n-bit addresses; of one lane, where each
///     lane has its own memory;
///   - `Register(reg, frame)`: the bits of a register, the least significant first;
///   - `Implicit(bits)`: known bits without a place in the program;
///   - `ImplicitPointer(entry, by, space)`: the bits of an address that is unknown, though its pointee is
///     known;
///   - `Undefined`: no bits, no size, no offset;
///   - `Composite(p₀ … pₙ)`: the concatenation of parts, each a location and a number of bits.
/// * A **single location** is a storage and a bit offset *o*: bit *i* at the location is bit *o + i* of the
///   storage.
/// * A **location** is one or more single locations, its *places*. An object at the location is in all of them at once:
///   it can be read at any place, and must be written at each.
///
/// ```text
/// bit of the object  0              32             48
///                    ├── v3 + 96 ────┼── s10 ───────┤     one composite of two parts
/// ```
///
/// The rule to remember: a location is bound when it is made. The location contains the lane of a lane's memory and the
/// frame of a register, so a later change of the context does not move it.
///
/// Two locations are equal over a number of bits if their [`spans`](super::spans()) are: bit for bit the same
/// places.
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

/// A part of a composite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Offset in bits from the start of the composite.
    pub start: u128,
    /// Size in bits.
    pub bits: u128,
    /// Location of the first of its bits.
    pub location: Location,
}

/// Parts of other storages, one after the other without gaps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Composite {
    parts: Vec<Part>,
    bits: u128,
    complete: bool,
    /// Whether bits beyond the parts are undefined (DWARF 6, 3.12, 251120.1) instead of outside the storage.
    is_open: bool,
    /// Number of parts on all levels: the cost of visiting them.
    weight: u32,
    /// Number of levels of composites, 1 without composites among the parts.
    depth: u32,
    /// Role in the evaluation of a whole wave.
    wave: Wave,
}

/// Whether a composite differs between lanes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Wave {
    /// Equal in all lanes. The other variants occur only in the evaluation of a whole wave.
    Unchanged,
    /// Parts of the composite differ between lanes.
    Parts,
    /// Composite without parts, representing a place that differs between lanes. The size is the smallest of all lanes.
    LanePlaces(std::sync::Arc<LanePlaces>),
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

    /// Makes a composite of DWARF 6, which is always complete, and smaller than objects may be.
    pub(super) fn open(self) -> Self {
        Self { complete: true, is_open: true, ..self }
    }

    /// Returns a storage that represents a place that differs between lanes. `bits` bits remain in each lane.
    pub(super) fn of_places(places: std::sync::Arc<LanePlaces>, bits: u128, weight: u32, depth: u32) -> Self {
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

    /// Returns the place that differs between lanes, if the composite represents one.
    pub(super) fn places(&self) -> Option<&LanePlaces> {
        match &self.wave {
            Wave::LanePlaces(places) => Some(places),
            _ => None,
        }
    }

    /// Returns the number of parts on all levels, and of levels, of a storage.
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
        let mut all = Self { parts: Vec::new(), weight: 0, depth: 1, wave: Wave::Unchanged, ..*self };
        parts.iter().flat_map(|part| part.location.places()).for_each(|place| all.count(place));
        Self { parts, ..all }
    }

    /// Makes the parts of one lane, made from `all`, those of another lane. Returns false where that is not possible.
    pub(super) fn move_parts(&mut self, all: &Self, lane: u32) -> bool {
        let mut parts = self.parts.iter_mut().zip(&all.parts);
        parts.all(|(part, all)| part.location.move_to(&all.location, lane))
    }

    /// Adds a place to the weight, depth and variation.
    fn count(&mut self, place: &SingleLocation) {
        let (weight, depth) = Self::weigh(&place.storage);
        self.weight = self.weight.saturating_add(weight.max(1));
        self.depth = self.depth.max(depth + 1);
        if matches!(&place.storage, Storage::Composite(inner) if inner.varies()) {
            self.wave = Wave::Parts;
        }
    }

    /// Returns a composite of parts with `bits` bits in all. The parts' storages are not composites and are large
    /// enough.
    pub(super) fn of_plain_parts(parts: Vec<Part>, bits: u128) -> Self {
        Self { bits, weight: parts.len() as u32, parts, ..Self::empty() }
    }

    /// Replaces the parts of a complete composite by such parts, and returns the old ones in `parts`.
    pub(super) fn exchange_plain_parts(&mut self, parts: &mut Vec<Part>, bits: u128) {
        core::mem::swap(&mut self.parts, parts);
        (self.bits, self.weight) = (bits, self.parts.len() as u32);
    }

    /// Returns a complete composite of parts, each with its size in bits.
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
                    "a part ends within its storage (A.2.5.4.4.6): {bits} at bit {}",
                    place.offset,
                    bits = Count(bits, "bit")
                )));
            }
            self.count(place);
        }
        let start = self.bits;
        self.bits = start.checked_add(bits).filter(|&all| all <= max_bits).ok_or_else(|| {
            ill_formed(format!(
                "a composite has at most the {max_bits} of the largest address space",
                max_bits = Count(max_bits, "bit")
            ))
        })?;
        if self.weight > max_parts || self.depth > MAX_DEPTH {
            return Err(limit(format!(
                "a composite has at most {max_parts} and {MAX_DEPTH} levels",
                max_parts = Count(max_parts, "part")
            )));
        }
        self.parts.push(Part { start, bits, location });
        Ok(())
    }

    /// Returns the parts of `bits` bits from `offset`: for each the location, the bits to skip in it, and the number of
    /// bits.
    pub fn slice(&self, offset: u128, bits: u128) -> impl Iterator<Item = (&Location, u128, u128)> {
        let end = offset.saturating_add(bits);
        let first = self.parts.partition_point(|part| part.start + part.bits <= offset);
        self.parts[first..].iter().take_while(move |part| part.start < end).filter_map(move |part| {
            let from = part.start.max(offset);
            let to = (part.start + part.bits).min(end);
            (from < to).then(|| (&part.location, from - part.start, to - from))
        })
    }
}

/// Returns the location without enclosing composites whose one part contains the next `bits` bits. The bits are the
/// same, and a composite of many such parts does not refer to the whole composite many times.
pub(super) fn narrowed(location: Location, bits: u128) -> Location {
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        return location;
    };
    let mut parts = composite.slice(*offset, bits);
    let inside = parts.next().filter(|&(_, _, found)| found == bits);
    let part = inside.and_then(|(part, skip, _)| part.clone().moved(i128::try_from(skip).ok()?).ok());
    drop(parts);
    // The recursion is at most as deep as composites nest.
    part.map_or(location, |part| narrowed(part, bits))
}

impl From<Composite> for Location {
    fn from(composite: Composite) -> Self {
        Storage::Composite(triomphe::Arc::new(composite)).into()
    }
}

/// A place that differs between lanes. Places of lanes that are not evaluated are arbitrary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LanePlaces {
    /// Places in one storage, or in one space in which each lane has its own memory.
    Along {
        storage: Storage,
        /// Whether the storage is the lane's own memory.
        is_of_lane: bool,
        /// Offsets in bits from the start of the storage.
        offsets: LaneNumbers,
    },
    /// Places in any storage, one for each of 64 lanes.
    Anywhere(Vec<SingleLocation>),
}
