//! Writing at a location.

use super::fault::{Class, Fault, error, unsupported};
use super::location::{Location, SingleLocation, Storage};
use super::machine::{Machine, Unavailable};
use super::read::copy_bits;
use super::spans::spans;
use crate::op::Reg;
use crate::target::SpaceId;

/// A stopped program that can be changed.
pub trait MachineMut: Machine {
    /// Writes to a register of a frame, from byte `at` on, the least significant byte being 0.
    ///
    /// # Errors
    /// [`Unavailable`] if it cannot be written.
    fn set_register(&mut self, reg: Reg, frame: u32, at: u32, bytes: &[u8]) -> Result<(), Unavailable>;

    /// Writes memory. `lane` is given in a space where each lane has its own.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte of it is not mapped.
    fn set_memory(
        &mut self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Unavailable>;
}

/// Writes the first `bits` bits of `bytes`, which are in memory order, at a location: to all of its places
/// (A.2.5.3).
///
/// # Errors
/// * [`Class::Evaluation`] if the storage has fewer bits, or some of them cannot be written: those that are
///   undefined or implicit, or missing in `bytes`. Nothing is written then.
/// * [`Class::Unmapped`] if memory is not mapped, or a register not available. What comes before may be
///   written.
pub fn write_bits(
    location: &Location,
    bits: u64,
    bytes: &[u8],
    machine: &mut dyn MachineMut,
) -> Result<(), Fault> {
    if (bytes.len() as u64) < bits.div_ceil(8) {
        return Err(error(format!("{bits} bits are to be written, and {} bytes given", bytes.len())));
    }
    let spans = spans(location, bits.into())?;
    for place in spans.iter().flat_map(|span| &span.places) {
        if !matches!(place.storage, Storage::Memory { .. } | Storage::Register { .. }) {
            return Err(error(format!("what is at {place} cannot be written")));
        }
    }
    let mut at = 0;
    for span in &spans {
        // No more than the bytes that are given.
        let bits = span.bits as usize;
        for place in &span.places {
            write_place(place, at, bits, bytes, machine)?;
        }
        at += bits;
    }
    Ok(())
}

fn write_place(
    place: &SingleLocation,
    at: usize,
    bits: usize,
    bytes: &[u8],
    machine: &mut dyn MachineMut,
) -> Result<(), Fault> {
    let skip = (place.offset % 8) as usize;
    let first = place.offset / 8;
    let big_endian = machine.is_big_endian();
    if big_endian && (skip != 0 || !at.is_multiple_of(8) || !bits.is_multiple_of(8)) {
        return Err(unsupported("bits that are no whole bytes, on a big-endian machine"));
    }
    let mut now = vec![0; (skip + bits).div_ceil(8)];
    let is_whole = skip == 0 && bits.is_multiple_of(8);
    let done = match place.storage {
        Storage::Memory { space, lane, .. } => {
            let address = first as u64;
            let old = if is_whole { Ok(()) } else { machine.memory(space, lane, address, &mut now) };
            copy_bits(&mut now, skip, bytes, at, bits);
            old.and_then(|()| machine.set_memory(space, lane, address, &now))
        }
        Storage::Register { reg, frame, .. } => {
            let first = first as u32;
            let old = if is_whole { Ok(()) } else { machine.register(reg, frame, first, &mut now) };
            copy_bits(&mut now, skip, bytes, at, bits);
            if big_endian {
                now.reverse();
            }
            old.and_then(|()| machine.set_register(reg, frame, first, &now))
        }
        _ => Ok(()),
    };
    done.map_err(|Unavailable| {
        Fault::new(Class::Unmapped, format!("{bits} bits at {place} cannot be written"))
    })
}
