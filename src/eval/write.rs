//! Writing at a location.

use super::fault::{Class, Fault, brief, error};
use super::location::{Location, SingleLocation, Storage};
use super::machine::{Machine, Unavailable};
use super::order::{copy_bits, copy_high_bits, from_stream};
use super::spans::spans;
use crate::error::Count;
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

/// Writes the first `bits` bits of `bytes`, which are in memory order as those of [`Bits`](super::Bits), at a
/// location: to all of its places (A.2.5.3).
///
/// Everything is checked first, and what a machine refuses nevertheless is taken back: nothing is changed
/// when an error is returned.
///
/// # Errors
/// * [`Class::Evaluation`] if the storage has fewer bits, or some of them cannot be written: those that are
///   undefined or implicit, or missing in `bytes`;
/// * [`Class::Unmapped`] if memory is not mapped, or a register not available.
pub fn write_bits(
    location: &Location,
    bits: u64,
    bytes: &[u8],
    machine: &mut dyn MachineMut,
) -> Result<(), Fault> {
    if (bytes.len() as u64) < bits.div_ceil(8) {
        return Err(error(format!(
            "{bits} to be written, and {} given",
            Count(bytes.len(), "byte"),
            bits = Count(bits, "bit").are()
        )));
    }
    let spans = spans(location, bits.into())?;
    let mut changes = Vec::new();
    let mut at = 0;
    for span in &spans {
        // No more than the bytes that are given.
        let bits = span.bits as usize;
        for place in &span.places {
            let mut old = vec![0; ((place.offset % 8) as usize + bits).div_ceil(8)];
            read_bytes(place, &mut old, machine)?.map_err(|Unavailable| unwritable(place, bits))?;
            changes.push(Change { place, at, bits, old });
        }
        at += bits;
    }
    for (index, change) in changes.iter().enumerate() {
        if change.write(bytes, machine).is_err() {
            for change in changes[..index].iter().rev() {
                // What could be written before can be written again.
                let _ = set_bytes(change.place, &change.old, machine);
            }
            return Err(unwritable(change.place, change.bits));
        }
    }
    Ok(())
}

/// What is to be written at a place: bits from `at` on, and the bytes that are there now.
struct Change<'l> {
    place: &'l SingleLocation,
    at: usize,
    bits: usize,
    old: Vec<u8>,
}

impl Change<'_> {
    fn write(&self, bytes: &[u8], machine: &mut dyn MachineMut) -> Result<(), Unavailable> {
        let Self { place, at, bits, .. } = *self;
        let skip = (place.offset % 8) as usize;
        let mut now = self.old.clone();
        if skip != 0 || !bits.is_multiple_of(8) {
            // Another part of these bytes may just have been written.
            read_bytes(place, &mut now, machine).unwrap_or(Err(Unavailable))?;
        }
        match (&place.storage, machine.is_big_endian()) {
            (_, false) => copy_bits(&mut now, skip, bytes, at, bits),
            (Storage::Register { .. }, true) => {
                let mut number = vec![0; bits.div_ceil(8)];
                copy_high_bits(&mut number, 0, bytes, at, bits);
                from_stream(&mut number, bits as u64);
                copy_bits(&mut now, skip, &number, 0, bits);
            }
            _ => copy_high_bits(&mut now, skip, bytes, at, bits),
        }
        set_bytes(place, &now, machine)
    }
}

#[cold]
fn unwritable(place: &SingleLocation, bits: usize) -> Fault {
    Fault::new(
        Class::Unmapped,
        format!("{bits} at {} cannot be written", brief(place), bits = Count(bits, "bit")),
    )
}

/// Reads the bytes that a place is in.
///
/// # Errors
/// An evaluation error if they are of a storage that cannot be written.
fn read_bytes(
    place: &SingleLocation,
    into: &mut [u8],
    machine: &dyn MachineMut,
) -> Result<Result<(), Unavailable>, Fault> {
    let byte = place.offset / 8;
    match place.storage {
        Storage::Memory { space, lane, .. } => Ok(machine.memory(space, lane, byte as u64, into)),
        Storage::Register { reg, frame, .. } => Ok(machine.register(reg, frame, byte as u32, into)),
        _ => Err(error(format!("what is at {} cannot be written", brief(place)))),
    }
}

fn set_bytes(place: &SingleLocation, bytes: &[u8], machine: &mut dyn MachineMut) -> Result<(), Unavailable> {
    let byte = place.offset / 8;
    match place.storage {
        Storage::Memory { space, lane, .. } => machine.set_memory(space, lane, byte as u64, bytes),
        Storage::Register { reg, frame, .. } => machine.set_register(reg, frame, byte as u32, bytes),
        _ => Err(Unavailable),
    }
}
