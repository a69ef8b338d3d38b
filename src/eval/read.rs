//! Reading at a location, bit by bit where it must be.

use super::fault::{Class, Fault, error, unsupported};
use super::location::{ImplicitPointer, Location, SingleLocation, Storage};
use super::machine::Machine;

/// What was read at a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    /// The bytes in memory order. On a little-endian machine bit *n* of the object is bit *n mod 8* of byte
    /// *n div 8*.
    pub bytes: Vec<u8>,
    /// Which bits are defined, in the same order: 1 where they are. Undefined bits, and those that fill up
    /// the last byte, are 0 in both.
    pub defined: Vec<u8>,
}

/// Reads `bits` bits at a location.
///
/// Of an object in several places the first that can be read is, part by part; one that is undefined only
/// if all are.
///
/// # Errors
/// * [`Class::Unmapped`] if memory is not mapped, or a register not available;
/// * [`Class::Evaluation`] if the storage has fewer bits, or they are those of an implicit pointer:
///   see [`read_pointer`].
pub fn read_bits(location: &Location, bits: u64, machine: &dyn Machine) -> Result<Bits, Fault> {
    let len = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    if len > MAX_BYTES {
        return Err(unsupported(format!("reading {bits} bits at once")));
    }
    let mut read = Bits { bytes: vec![0; len], defined: vec![0; len] };
    let mut sink = Sink { bytes: &mut read.bytes, defined: Some(&mut read.defined) };
    read_location(location, 0, bits as usize, 0, &mut sink, machine)?;
    for (byte, defined) in read.bytes.iter_mut().zip(&read.defined) {
        *byte &= defined;
    }
    Ok(read)
}

/// The most that is read at once: more is asked for only by mistake.
const MAX_BYTES: usize = 1 << 26;

/// The pointer whose bits are read, if `bits` bits at the location are those of an implicit pointer: all of
/// it, in order.
///
/// # Errors
/// An evaluation error if only some of the bits are of an implicit pointer, or they are not in order
/// (A.2.5.4.4.5).
pub fn read_pointer(location: &Location, bits: u64) -> Result<Option<ImplicitPointer>, Fault> {
    let mut found = Pointer { all: None, bits: 0, others: false };
    found.visit(location, 0, bits.into())?;
    match found.all {
        None => Ok(None),
        Some(pointer)
            if !found.others && found.bits == u128::from(pointer.bits) && bits == u64::from(pointer.bits) =>
        {
            Ok(Some(pointer))
        }
        Some(_) => Err(partial_pointer()),
    }
}

#[cold]
fn partial_pointer() -> Fault {
    error("an implicit pointer can only be read as a whole")
}

struct Pointer {
    all: Option<ImplicitPointer>,
    /// How many bits of it were found so far.
    bits: u128,
    others: bool,
}

impl Pointer {
    fn visit(&mut self, location: &Location, skip: u128, bits: u128) -> Result<(), Fault> {
        // Any place will do, for they all hold the same.
        let place = location.places().find(|place| place.storage != Storage::Undefined);
        match place.map(|place| (&place.storage, place.offset + skip)) {
            Some((Storage::Composite(composite), offset)) => {
                for (part, skip, bits) in composite.slice(offset, bits) {
                    self.visit(part, skip, bits)?;
                }
            }
            Some((Storage::ImplicitPointer(pointer), offset)) => {
                let follows = self.all.is_none_or(|all| all == *pointer) && offset == self.bits;
                if !follows {
                    return Err(partial_pointer());
                }
                self.all = Some(*pointer);
                self.bits += bits;
            }
            _ => self.others = true,
        }
        Ok(())
    }
}

/// Reads bits into bytes in memory order, within an expression: every bit must be defined and readable.
pub(super) fn read_exact(
    location: &Location,
    bits: usize,
    into: &mut [u8],
    machine: &dyn Machine,
) -> Result<(), Fault> {
    read_location(location, 0, bits, 0, &mut Sink { bytes: into, defined: None }, machine)
        .map_err(Fault::inside)
}

struct Sink<'a> {
    bytes: &'a mut [u8],
    /// Where undefined bits are allowed.
    defined: Option<&'a mut [u8]>,
}

fn read_location(
    location: &Location,
    skip: u128,
    bits: usize,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    if let Some(place) = location.single() {
        return read_place(place, skip, bits, at, sink, machine);
    }
    let is_defined = |place: &&SingleLocation| place.storage != Storage::Undefined;
    let mut first_fault = None;
    for place in location.places().filter(is_defined) {
        match read_place(place, skip, bits, at, sink, machine) {
            Ok(()) => return Ok(()),
            Err(fault) => first_fault = first_fault.or(Some(fault)),
        }
    }
    match first_fault {
        Some(fault) => Err(fault),
        None => read_undefined(bits, at, sink),
    }
}

fn read_undefined(bits: usize, at: usize, sink: &mut Sink<'_>) -> Result<(), Fault> {
    match &mut sink.defined {
        Some(defined) => fill(defined, at, bits, false),
        None => return Err(error("a bit of undefined storage is read")),
    }
    Ok(())
}

fn read_place(
    place: &SingleLocation,
    skip: u128,
    bits: usize,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    let Some(size) = place.storage.size() else { return read_undefined(bits, at, sink) };
    let from = place.offset + skip;
    if size.saturating_sub(from) < bits as u128 {
        return Err(error(format!(
            "{bits} bits from bit {from} on are read in a storage of {size} bits: {place}"
        )));
    }
    if machine.is_big_endian()
        && (!from.is_multiple_of(8) || !at.is_multiple_of(8) || !bits.is_multiple_of(8))
    {
        return Err(unsupported("bits that are no whole bytes, on a big-endian machine"));
    }
    match &place.storage {
        Storage::Undefined => return read_undefined(bits, at, sink),
        Storage::Composite(composite) => {
            let mut at = at;
            for (part, skip, bits) in composite.slice(from, bits as u128) {
                let bits = bits as usize;
                read_location(part, skip, bits, at, sink, machine)?;
                at += bits;
            }
            return Ok(());
        }
        Storage::ImplicitPointer(_) => return Err(partial_pointer()),
        Storage::Implicit(implicit) => copy_bits(sink.bytes, at, implicit.bytes(), from as usize, bits),
        Storage::Memory { space, lane, .. } => in_chunks(sink.bytes, at, from, bits, false, |byte, into| {
            // `from` is inside of the storage: its byte is an address.
            machine.memory(*space, *lane, byte as u64, into).map_err(|_| {
                let lane = lane.map_or(String::new(), |lane| format!(" of lane {lane}"));
                let len = into.len();
                unreadable(format!("{len} bytes at {byte:#x} of space {}{lane} are not mapped", space.0))
            })
        })?,
        Storage::Register { reg, frame, .. } => {
            let reversed = machine.is_big_endian();
            in_chunks(sink.bytes, at, from, bits, reversed, |byte, into| {
                machine
                    .register(*reg, *frame, byte as u32, into)
                    .map_err(|_| unreadable(format!("register {} is not available", reg.0)))
            })?;
        }
    }
    if let Some(defined) = &mut sink.defined {
        fill(defined, at, bits, true);
    }
    Ok(())
}

#[cold]
fn unreadable(rule: String) -> Fault {
    Fault::new(Class::Unmapped, rule)
}

/// Copies bits that come in bytes, some at a time. `reversed` puts the last byte first: then all are whole.
fn in_chunks(
    into: &mut [u8],
    at: usize,
    from: u128,
    bits: usize,
    reversed: bool,
    mut read: impl FnMut(u128, &mut [u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if reversed {
        let bytes = &mut into[at / 8..(at + bits) / 8];
        read(from / 8, bytes)?;
        bytes.reverse();
        return Ok(());
    }
    let skip = (from % 8) as usize;
    if skip == 0 && at.is_multiple_of(8) && bits.is_multiple_of(8) {
        return read(from / 8, &mut into[at / 8..(at + bits) / 8]);
    }
    let mut chunk = [0u8; 65];
    let mut done = 0;
    while done < bits {
        let now = (bits - done).min(512);
        let bytes = &mut chunk[..(skip + now).div_ceil(8)];
        read((from + done as u128) / 8, bytes)?;
        copy_bits(into, at + done, bytes, skip, now);
        done += now;
    }
    Ok(())
}

/// Copies `bits` bits, counted from the least significant of the first byte.
pub(super) fn copy_bits(into: &mut [u8], at: usize, from: &[u8], skip: usize, bits: usize) {
    if at.is_multiple_of(8) && skip.is_multiple_of(8) && bits.is_multiple_of(8) {
        let (at, skip, bytes) = (at / 8, skip / 8, bits / 8);
        into[at..at + bytes].copy_from_slice(&from[skip..skip + bytes]);
        return;
    }
    for bit in 0..bits {
        let (to, source) = (at + bit, skip + bit);
        let set = from[source / 8] >> (source % 8) & 1;
        into[to / 8] = into[to / 8] & !(1 << (to % 8)) | set << (to % 8);
    }
}

fn fill(mask: &mut [u8], at: usize, bits: usize, set: bool) {
    let mut bit = at;
    let end = at + bits;
    while bit < end {
        if bit.is_multiple_of(8) && end - bit >= 8 {
            mask[bit / 8] = if set { 0xff } else { 0 };
            bit += 8;
        } else {
            let one = 1 << (bit % 8);
            mask[bit / 8] = mask[bit / 8] & !one | if set { one } else { 0 };
            bit += 1;
        }
    }
}
