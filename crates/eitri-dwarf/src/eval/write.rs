//! Writes bits at a location.

use super::fault::{Class, Fault, brief, error};
use super::location::{Location, SingleLocation, Storage};
use super::machine::{Machine, Unavailable, byte_order};
use super::order::{copy_bits, copy_high_bits, from_stream};
use super::spans::spans;
use crate::error::Count;
use crate::op::Reg;
use crate::target::SpaceId;

/// A stopped program with changeable registers and memory.
pub trait MachineMut: Machine {
    /// Writes bytes to a register in a frame, from byte `at`; byte 0 is the least significant.
    ///
    /// # Errors
    /// [`Unavailable`] if the register cannot be written.
    fn set_register(&mut self, reg: Reg, frame: u32, at: u32, bytes: &[u8]) -> Result<(), Unavailable>;

    /// Writes memory. `lane` is given in a space where each lane has its own memory.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte is not mapped.
    fn set_memory(
        &mut self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Unavailable>;
}

/// Writes the first `bits` bits of `bytes`, in memory order as in [`Bits`](super::Bits), to all of an object's single
/// locations (A.2.5.3).
///
/// All single locations are checked first, and writes before a write that the machine still refuses are undone, so
/// that an error leaves the machine unchanged.
///
/// # Errors
/// * [`Class::Evaluation`] if the storage has fewer bits, or some bits are undefined, implicit, or missing in `bytes`;
/// * [`Class::Unmapped`] if memory is not mapped, or a register is not available.
///
/// # Example
///
/// ```
/// # use eitri_dwarf::eval::{Location, Snapshot, write_bits};
/// # use eitri_dwarf::target::{SpaceId, Target};
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// let v3 = gpu.vgpr(3)?;
/// let mut machine = Snapshot::default();
/// machine.registers.insert(v3, vec![0; 128]);
/// // `set var x = 7` in lane 5: bit 160 of the register is in byte 20.
/// let x = Location::register(v3, 1024).moved(160)?;
/// write_bits(&x, 32, &7_u32.to_le_bytes(), &mut machine)?;
/// assert_eq!(machine.registers[&v3][20..24], [7, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_bits(
    location: &Location,
    bits: u64,
    bytes: &[u8],
    machine: &mut dyn MachineMut,
) -> Result<(), Fault> {
    if (bytes.len() as u64) < bits.div_ceil(8) {
        return Err(error(format!(
            "{bits} to be written, but only {} given",
            Count(bytes.len(), "byte"),
            bits = Count(bits, "bit").are()
        )));
    }
    let spans = spans(location, bits.into(), byte_order(machine))?;
    let mut changes = Vec::new();
    let mut done = 0;
    for span in &spans {
        // A span has at most the bits that are given.
        let bits = span.bits as usize;
        for place in &span.places {
            let mut old = vec![0; ((place.offset % 8) as usize + bits).div_ceil(8)];
            read_bytes(place, &mut old, machine)?.map_err(|Unavailable| unwritable(place, bits))?;
            changes.push(Change { place, at: done, bits, old });
        }
        done += bits;
    }
    for (index, change) in changes.iter().enumerate() {
        if change.write(bytes, machine).is_err() {
            // In reverse, because changes can share bytes.
            for change in changes[..index].iter().rev() {
                // A location that was just written can be written again.
                let _ = set_bytes(change.place, &change.old, machine);
            }
            return Err(unwritable(change.place, change.bits));
        }
    }
    Ok(())
}

/// Write to a single location: bits from `at`, with the bytes before the write.
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
            // Another change may just have written other bits in these bytes.
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

fn unwritable(place: &SingleLocation, bits: usize) -> Fault {
    Fault::new(
        Class::Unmapped,
        format!("{bits} at {} cannot be written", brief(place), bits = Count(bits, "bit")),
    )
}

/// Reads the bytes that contain a single location.
///
/// # Errors
/// An evaluation error if the storage cannot be written.
fn read_bytes(
    place: &SingleLocation,
    into: &mut [u8],
    machine: &dyn MachineMut,
) -> Result<Result<(), Unavailable>, Fault> {
    let byte = place.offset / 8;
    match place.storage {
        Storage::Memory { space, lane, .. } => Ok(machine.memory(space, lane, byte as u64, into)),
        Storage::Register { reg, frame, .. } => Ok(machine.register(reg, frame, byte as u32, into)),
        _ => Err(error(format!("the storage at {} cannot be written", brief(place)))),
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
