//! Witnesses: the pcs, lanes and machine contents at which a mistake shows.
//!
//! * Pcs: the first and the last byte in each range, the module's and the object's, and the byte on either side. The
//!   object's ranges include the ranges for entries that an expression calls or points to, directly or not. Between
//!   two bounds nothing depends on the pc.
//! * Lanes: 0, 1, 15, 16, 31, 32 and the last: a wrong stride, an offset in a signed byte, half a wave.
//! * Contents: every register and memory byte depends on its own address, so that a wrong location does not match by
//!   accident; every dword is a number from 1 to 7, so that locations at run-time offsets are within their storages;
//!   and all bits 0 and all bits 1, for carries and signs. Where arithmetic hides most numbers, there are more:
//!   contents that are chosen for the numbers that are read.
//!
//! * Load addresses: one, different from the link address.
//!
//! A register's value on entry differs from its current value, in all contents.
//!
//! A location that does not read the lane is compared in one lane, and a location that does not read contents with
//! one fill, because its result is the same in all others.
//!
//! ```
//! use eitri::check::witness;
//! use eitri::target::Target;
//!
//! let gpu = Target::named("amdgpu-gfx1030-wave32")?;
//! assert_eq!(witness::lanes(&gpu), [0, 1, 15, 16, 31]);
//! // A range from 4 up to 8 in a function with 16 bytes.
//! println!("{:?}", witness::pcs([4, 8], 16));
//! # Ok::<(), eitri::Error>(())
//! ```

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use super::asked::Asked;
use super::numbers::{ByteStorage, scatter};
use crate::model::{DescribedStorage, MachineContents, StorageSpan};
use crate::op::Reg;
use crate::read::Object;
use crate::target::{ByteOrder, SpaceId, Target};

/// Returns the lanes to try on a target; only 0 on a target without waves.
pub fn lanes(target: &Target) -> Vec<u32> {
    let count = target.lanes();
    let mut lanes = vec![0, 1, 15, 16, 31, 32, count - 1];
    lanes.retain(|&lane| lane < count);
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Returns the pcs to try in a function with `size` bytes, given range bounds.
pub fn pcs(bounds: impl IntoIterator<Item = u64>, size: u64) -> Vec<u64> {
    pcs_within(bounds, &(0..size))
}

/// Returns the pcs to try in a part of a function's code, given range bounds.
pub(super) fn pcs_within(bounds: impl IntoIterator<Item = u64>, code: &Range<u64>) -> Vec<u64> {
    tried(bounds, code).into_iter().map(|tried| tried.pc).collect()
}

/// Pc to try.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    pub(super) pc: u64,
    /// Whether ranges begin or end here. Otherwise, the same ranges contain this pc and the previous pc.
    pub(super) is_bound: bool,
}

fn tried(bounds: impl IntoIterator<Item = u64>, code: &Range<u64>) -> Vec<Tried> {
    let is_here = |bound: &u64| (code.start..=code.end).contains(bound);
    let mut bounds: Vec<u64> = bounds.into_iter().filter(is_here).collect();
    if !bounds.is_sorted() {
        bounds.sort_unstable();
    }
    let mut points: Vec<Tried> = Vec::with_capacity(bounds.len() + 2);
    let mut add = |pc: Option<u64>, is_bound| {
        let new = pc.filter(|&pc| code.contains(&pc) && points.last().is_none_or(|last| last.pc < pc));
        points.extend(new.map(|pc| Tried { pc, is_bound }));
    };
    add(Some(code.start), true);
    for bound in bounds {
        // The last pc of one range, and the first of the next.
        add(bound.checked_sub(1), false);
        add(Some(bound), true);
    }
    add(code.end.checked_sub(1), false);
    points
}

/// Pcs to try in a function: from the bounds known at the start, and from the location lists that belong to entries
/// which an evaluation reads.
pub(super) struct Pcs {
    code: Range<u64>,
    all: Vec<Tried>,
    /// How many pcs were returned.
    next: usize,
    /// All pcs, once an entry was read.
    known: BTreeSet<u64>,
    /// Entries whose bounds were added, by offset.
    entries: BTreeSet<u64>,
}

impl Pcs {
    /// Pcs in a part of a function's code, given range bounds.
    pub(super) fn new(bounds: impl IntoIterator<Item = u64>, code: Range<u64>) -> Self {
        Self::from_tried(tried(bounds, &code), code)
    }

    /// A single pc in a part of a function's code, for an attribute that is the same at all pcs.
    pub(super) fn only(pc: u64, code: Range<u64>) -> Self {
        Self::from_tried([Tried { pc, is_bound: true }].into(), code)
    }

    fn from_tried(all: Vec<Tried>, code: Range<u64>) -> Self {
        Self { code, all, next: 0, known: BTreeSet::new(), entries: BTreeSet::new() }
    }

    /// Returns the next pc to try.
    pub(super) fn next(&mut self) -> Option<Tried> {
        let next = self.all.get(self.next).copied();
        self.next += 1;
        next
    }

    /// Returns the entries whose bounds were added, by offset.
    pub(super) fn into_entries(self) -> BTreeSet<u64> {
        self.entries
    }

    /// Adds bounds from entries that an evaluation read, because its result changes where they do.
    pub(super) fn follow(&mut self, asked: &Asked, bounds: impl Fn(u64) -> Vec<u64>) {
        if asked.entries.borrow().is_empty() {
            return;
        }
        for entry in asked.entries.take() {
            if !self.entries.insert(entry) {
                continue;
            }
            if self.known.is_empty() {
                self.known.extend(self.all.iter().map(|tried| tried.pc));
            }
            let new = pcs_within(bounds(entry), &self.code).into_iter().filter(|&pc| self.known.insert(pc));
            self.all.extend(new.map(|pc| Tried { pc, is_bound: true }));
        }
    }
}

/// Bytes by which an object is loaded above its addresses. Code objects and most programs can be loaded anywhere:
/// with a bias of 0, an address would equal a constant. Only `ET_EXEC` is loaded at its link address, where the two
/// are equal. A cubin's expressions do not tell addresses in memory that the loader relocates from other addresses,
/// because the entry states the space.
pub(super) fn load_bias(object: &Object<'_>, target: &Target) -> u64 {
    match (object.is_fixed() || target.has_lane_expressions(), target.address_bytes()) {
        (true, _) => 0,
        (false, 8) => 0x2a57_4000_0000,
        (false, _) => 0x0574_0000,
    }
}

/// Machine contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// Every byte depends on its address.
    Spelled,
    /// Every dword in a register is a number from 1 to 7.
    Small,
    /// All bits are 0.
    Zeros,
    /// All bits are 1.
    Ones,
}

impl Fill {
    /// All contents to try.
    pub const ALL: [Self; 4] = [Self::Spelled, Self::Small, Self::Zeros, Self::Ones];

    /// Returns a register's byte `at`, counted from the least significant byte, 0.
    pub fn register_byte(self, reg: Reg, at: u32) -> u8 {
        match self {
            Self::Spelled => spell(ByteStorage::Register(reg).key(), at.into()),
            Self::Small if at.is_multiple_of(4) => 1 + spell(reg.0, u64::from(at) / 4) % 7,
            Self::Small | Self::Zeros => 0,
            Self::Ones => 0xff,
        }
    }

    /// Returns the byte `at` that a register has on entry, which differs from the current value in all contents, so
    /// that the two cannot be confused.
    pub fn entry_byte(self, reg: Reg, at: u32) -> u8 {
        match self {
            Self::Spelled => !self.register_byte(reg, at),
            Self::Small if at.is_multiple_of(4) => 1 + self.register_byte(reg, at) % 7,
            Self::Small => 0,
            Self::Zeros => 0xff,
            Self::Ones => 0,
        }
    }

    /// Returns a byte, such that words of memory are the same numbers in both byte orders where they are small.
    fn ordered_byte(self, storage: ByteStorage, order: ByteOrder, at: u64) -> u8 {
        match (self, order) {
            (Self::Small, ByteOrder::Big) => self.byte(storage, at ^ 7),
            _ => self.byte(storage, at),
        }
    }

    fn byte(self, storage: ByteStorage, at: u64) -> u8 {
        match storage {
            ByteStorage::Register(reg) => self.register_byte(reg, at as u32),
            ByteStorage::Entry(reg) => self.entry_byte(reg, at as u32),
            ByteStorage::Memory(space, lane) => self.memory_byte(space, lane, at),
        }
    }

    /// Returns a memory byte.
    pub fn memory_byte(self, space: SpaceId, lane: Option<u32>, address: u64) -> u8 {
        let storage = ByteStorage::Memory(space, lane).key();
        match self {
            Self::Spelled => spell(storage, address),
            // Each word of eight bytes is a small number.
            Self::Small if address.is_multiple_of(8) => 1 + spell(storage, address) % 7,
            Self::Small | Self::Zeros => 0,
            Self::Ones => 0xff,
        }
    }
}

/// Returns a byte that depends on its storage and address: it differs for neighbours, lanes and storages, and uses
/// all bits.
fn spell(storage: u64, at: u64) -> u8 {
    scatter(storage, at) as u8
}

/// The canonical frame address, as a space and an address: an arbitrary choice that the model and the bytes share.
pub(super) fn cfa(target: &Target) -> (SpaceId, u64) {
    let space = if target.has_lane_expressions() { SpaceId::PRIVATE_LANE } else { SpaceId::PRIVATE_WAVE };
    match target.space(space) {
        Some(space) => (space.id, 0x4_5670),
        None => (SpaceId::DEFAULT, 0x7fff_1234_5670),
    }
}

/// Address of the thread-local storage: an arbitrary choice that the model and the bytes share.
pub(super) const THREAD_LOCAL: u64 = 0x0012_3400;

/// Stopped program for the model's own meaning.
pub(super) struct Stopped<'a> {
    pub(super) target: &'a Target,
    pub(super) fill: Fill,
    pub(super) lane: Option<u32>,
    pub(super) symbol: &'a dyn Fn(&str) -> Option<u64>,
    pub(super) load_bias: u64,
    pub(super) asked: &'a Asked,
    pub(super) patch: Option<&'a Patch>,
}

/// Bytes that replace machine contents.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch(BTreeMap<(ByteStorage, u64), u8>);

impl Patch {
    fn byte(&self, fill: Fill, storage: ByteStorage, order: ByteOrder, at: u64) -> u8 {
        self.0.get(&(storage, at)).copied().unwrap_or_else(|| fill.ordered_byte(storage, order, at))
    }

    /// Writes a number's low bits to a described location. Bits without a storage are not written.
    pub(super) fn store(&mut self, fill: Fill, order: ByteOrder, spans: &[StorageSpan], mut value: u64) {
        // From the least significant bit on.
        let from_least: Vec<&StorageSpan> = match order {
            ByteOrder::Little => spans.iter().collect(),
            ByteOrder::Big => spans.iter().rev().collect(),
        };
        for span in from_least {
            for index in 0..u128::from(span.bits) {
                let (storage, bit, mask) = match (&span.storage, order) {
                    (DescribedStorage::Register(reg), _) => {
                        let bit = span.from + index;
                        (ByteStorage::Register(*reg), bit, 1 << (bit % 8))
                    }
                    (DescribedStorage::Memory(space, lane), ByteOrder::Little) => {
                        let bit = span.from + index;
                        (ByteStorage::Memory(*space, *lane), bit, 1 << (bit % 8))
                    }
                    (DescribedStorage::Memory(space, lane), ByteOrder::Big) => {
                        let bit = span.from + u128::from(span.bits) - 1 - index;
                        (ByteStorage::Memory(*space, *lane), bit, 0x80 >> (bit % 8))
                    }
                    _ => {
                        value >>= 1;
                        continue;
                    }
                };
                let address = (bit / 8) as u64;
                let byte = self.byte(fill, storage, order, address);
                let byte = if value & 1 == 1 { byte | mask } else { byte & !mask };
                self.0.insert((storage, address), byte);
                value >>= 1;
            }
        }
    }
}

/// Reads a stopped program's bytes.
pub(super) fn read(
    (fill, patch): (Fill, Option<&Patch>),
    asked: &Asked,
    (storage, order): (ByteStorage, ByteOrder),
    at: u64,
    into: &mut [u8],
) {
    asked.contents.set(true);
    // The bytes of a register count from the least significant on every machine.
    let order = if let ByteStorage::Memory(..) = storage { order } else { ByteOrder::Little };
    // Chosen contents replace all others while they are set.
    if let Some(numbers) = &mut *asked.numbers.borrow_mut() {
        return numbers.read(storage, order, at, into);
    }
    for (index, byte) in into.iter_mut().enumerate() {
        let address = at.wrapping_add(index as u64);
        *byte = match patch {
            None => fill.ordered_byte(storage, order, address),
            Some(patch) => patch.byte(fill, storage, order, address),
        };
    }
}

impl Stopped<'_> {
    /// Returns the number in a storage's bits from `from` on, `bits` of them, at most 64.
    fn number(&self, storage: ByteStorage, from: u128, bits: u32) -> u64 {
        let first = (from / 8) as u64;
        let skip = (from % 8) as u32;
        let mut bytes = [0; 16];
        let needed = (skip + bits).div_ceil(8) as usize;
        let order = self.target.byte_order();
        read((self.fill, self.patch), self.asked, (storage, order), first, &mut bytes[..needed]);
        let number = match (storage, order) {
            (ByteStorage::Memory(..), ByteOrder::Big) => u128::from_be_bytes(bytes) >> (128 - skip - bits),
            _ => u128::from_le_bytes(bytes) >> skip,
        };
        number as u64 & (u64::MAX >> (64 - bits))
    }
}

impl MachineContents for Stopped<'_> {
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
        u32::try_from(from + u64::from(bits)).ok()?;
        Some(self.number(ByteStorage::Register(reg), from.into(), bits))
    }

    fn entry_register(&self, reg: Reg) -> Option<u64> {
        let bits = self.target.register(reg)?.bits.min(64);
        Some(self.number(ByteStorage::Entry(reg), 0, bits))
    }

    fn cfa(&self) -> Option<StorageSpan> {
        let (space, address) = cfa(self.target);
        let lane = if self.target.has_lane_expressions() { self.lane() } else { None };
        Some(StorageSpan {
            storage: DescribedStorage::Memory(space, lane),
            from: 8 * u128::from(address),
            bits: 1,
        })
    }

    fn thread_local(&self) -> Option<u64> {
        Some(THREAD_LOCAL)
    }

    fn memory(&self, space: SpaceId, lane: Option<u32>, from: u128, bits: u32) -> Option<u64> {
        Some(self.number(ByteStorage::Memory(space, lane), from, bits))
    }

    fn lane(&self) -> Option<u32> {
        self.asked.lane.set(true);
        self.lane
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        (self.symbol)(name)
    }

    fn load_bias(&self) -> u64 {
        self.load_bias
    }
}
