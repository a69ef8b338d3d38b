//! Reads bits at each lane's location.

use core::ops::Range;

use super::super::fault::{Fault, error};
use super::super::lane_numbers::lanes_of;
use super::super::location::{LanePlaces, Location, Storage};
use super::super::machine::Machine;
use super::super::order::{copy_bits, fill};
use super::super::read::{read_bytes, read_into};
use super::super::stack::Element;
use super::outcome::WaveOutcome;

/// Bits read at each lane's location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveBits {
    lanes: u64,
    /// How many bytes a lane has.
    len: usize,
    /// The bytes for each lane up to and including the last requested lane.
    bytes: Vec<u8>,
    defined: Vec<u8>,
    /// Faults, by lane.
    faults: Vec<(u32, Fault)>,
}

/// Bits read at one lane's location: what [`Bits`](super::super::Bits) contains.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneBits<'w> {
    /// The bytes in memory order.
    pub bytes: &'w [u8],
    /// Mask with the defined bits, in the same order: 1 where defined. Undefined bits are 0 in both.
    pub defined: &'w [u8],
}

impl WaveBits {
    /// Returns a lane's bits, or the fault of its evaluation or of the read. `None` if the lane was not requested.
    pub fn lane(&self, lane: u32) -> Option<Result<LaneBits<'_>, &Fault>> {
        if self.lanes & 1u64.checked_shl(lane)? == 0 {
            return None;
        }
        if let Some((_, fault)) = self.faults.iter().find(|(faulty, _)| *faulty == lane) {
            return Some(Err(fault));
        }
        let range = range(self.len, lane);
        Some(Ok(LaneBits { bytes: &self.bytes[range.clone()], defined: &self.defined[range] }))
    }
}

impl WaveOutcome {
    /// Reads `bits` bits at each requested lane's location, as [`read_bits`](super::super::read_bits) does. The bits
    /// that lanes have in one register, or in one memory, are read at once.
    ///
    /// # Errors
    /// An evaluation error if the bits are too many for one read. Single lanes' faults are in the result: those that
    /// [`read_bits`](super::super::read_bits) returns, and an evaluation error if a lane's result is a value.
    pub fn read_bits(&self, bits: u64, machine: &dyn Machine) -> Result<WaveBits, Fault> {
        let lanes = self.lanes.checked_ilog2().map_or(0, |last| last as usize + 1);
        let len = read_bytes(bits, lanes)?;
        let mut read = WaveBits {
            lanes: self.lanes,
            len,
            bytes: vec![0; lanes * len],
            defined: vec![0; lanes * len],
            faults: Vec::new(),
        };
        for (lanes, answer) in &self.answers {
            if let Ok(Element::Location(location)) = answer
                && read.at_once(location, *lanes, bits, machine).is_some()
            {
                continue;
            }
            for lane in lanes_of(*lanes) {
                if let Err(fault) = read.in_lane(answer.as_ref(), lane, bits, machine) {
                    read.faults.push((lane, fault));
                }
            }
        }
        Ok(read)
    }
}

impl WaveBits {
    fn in_lane(
        &mut self,
        answer: Result<&Element, &Fault>,
        lane: u32,
        bits: u64,
        machine: &dyn Machine,
    ) -> Result<(), Fault> {
        let Element::Location(location) = answer.map_err(Clone::clone)?.in_lane(lane) else {
            return Err(error("result is a value; expected a location to read bits at"));
        };
        let range = range(self.len, lane);
        let bytes = &mut self.bytes[range.clone()];
        let defined = &mut self.defined[range];
        // An attempt at once may have stored bits.
        bytes.fill(0);
        defined.fill(0);
        read_into(&location, bits, bytes, defined, machine)
    }

    /// Reads some lanes' bits at once. `None` if that is not supported, or fails.
    fn at_once(&mut self, location: &Location, lanes: u64, bits: u64, machine: &dyn Machine) -> Option<()> {
        let place = location.single()?;
        let Storage::Composite(composite) = &place.storage else { return None };
        // Big-endian bits need the slow path's conversions; missing bits need its faults.
        if machine.is_big_endian() || place.remaining()? < bits.into() {
            return None;
        }
        let mut done = 0;
        if let Some(places) = composite.places() {
            self.part(places, place.offset, 0..bits as usize, lanes, machine)?;
            done = bits.into();
        } else {
            for (part, skip, bits) in composite.slice(place.offset, bits.into()) {
                let part = part.single()?;
                let Storage::Composite(places) = &part.storage else { return None };
                let range = done as usize..(done + bits) as usize;
                self.part(places.places()?, part.offset + skip, range, lanes, machine)?;
                done += bits;
            }
        }
        if done < bits.into() {
            return None;
        }
        for lane in lanes_of(lanes) {
            fill(&mut self.defined[range(self.len, lane)], 0, bits as usize, true, false);
        }
        Some(())
    }

    /// Reads a part's bits: those at `from` bits after each lane's location. `into` are the part's bits within the
    /// object.
    fn part(
        &mut self,
        places: &LanePlaces,
        from: u128,
        into: Range<usize>,
        lanes: u64,
        machine: &dyn Machine,
    ) -> Option<()> {
        let LanePlaces::Along { storage, is_of_lane, offsets } = places else { return None };
        let from = usize::try_from(from).ok()?;
        let bits = into.len();
        let start = |offset: u64| usize::try_from(offset).ok()?.checked_add(from);
        let mut room = Room::default();
        if *is_of_lane {
            for lane in lanes_of(lanes) {
                let bit = start(offsets.get(lane))?;
                let bytes = room.bytes((bit % 8).checked_add(bits)?.div_ceil(8));
                read_storage(storage, Some(lane), bit / 8, bytes, machine)?;
                copy_bits(&mut self.bytes[range(self.len, lane)], into.start, bytes, bit % 8, bits);
            }
            return Some(());
        }
        let (least, greatest) = offsets.bounds(lanes)?;
        let first = start(least)? / 8;
        let count = start(greatest)?.checked_add(bits)?.div_ceil(8) - first;
        // Lanes far apart would read much in between.
        if count > SPARSE.saturating_mul(lanes.count_ones() as usize * bits.div_ceil(8)) {
            return None;
        }
        let bytes = room.bytes(count);
        read_storage(storage, None, first, bytes, machine)?;
        for lane in lanes_of(lanes) {
            let skip = start(offsets.get(lane))? - 8 * first;
            copy_bits(&mut self.bytes[range(self.len, lane)], into.start, bytes, skip, bits);
        }
        Some(())
    }
}

/// Limit for the bytes between lanes that are read in vain, as a multiple of the lanes' own bytes.
const SPARSE: usize = 4;

/// Reads bytes from a register or from memory. `lane` is given for memory that is each lane's own.
fn read_storage(
    storage: &Storage,
    lane: Option<u32>,
    first: usize,
    into: &mut [u8],
    machine: &dyn Machine,
) -> Option<()> {
    match *storage {
        Storage::Register { reg, frame, .. } => machine.register(reg, frame, first.try_into().ok()?, into),
        Storage::Memory { space, lane: common, .. } => {
            machine.memory(space, lane.or(common), first as u64, into)
        }
        _ => return None,
    }
    .ok()
}

/// Memory for a part's bytes, without an allocation for a register.
struct Room {
    inline: [u8; 256],
    large: Vec<u8>,
}

impl Default for Room {
    fn default() -> Self {
        Self { inline: [0; 256], large: Vec::new() }
    }
}

impl Room {
    fn bytes(&mut self, count: usize) -> &mut [u8] {
        if count <= self.inline.len() {
            return &mut self.inline[..count];
        }
        self.large.resize(count, 0);
        &mut self.large[..count]
    }
}

/// Returns the range that a lane's bytes have.
fn range(len: usize, lane: u32) -> Range<usize> {
    let start = lane as usize * len;
    start..start + len
}
