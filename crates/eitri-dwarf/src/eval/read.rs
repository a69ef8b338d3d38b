//! Reads bits at a location.

use super::fault::{Class, Fault, brief, error, undefined_bit};
use super::location::{Location, SingleLocation, Slice, Storage};
use super::machine::{Machine, byte_order};
use super::order::{copy_bits, copy_high_bits, fill, to_stream};
use super::value::ImplicitPointer;
use crate::error::Count;

/// Bits read at a location.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    /// The bytes in memory order. The object's bit *n* is bit *n mod 8* in byte *n div 8*, counted from the least
    /// significant on a little-endian machine, from the most significant on a big-endian machine.
    pub bytes: Vec<u8>,
    /// Mask with the defined bits, in the same order: 1 where defined. Undefined bits, and bits after the last bit,
    /// are 0 in both.
    pub defined: Vec<u8>,
}

impl Bits {
    /// Whether all bits are undefined, as are those of a variable that is optimized out.
    pub fn is_undefined(&self) -> bool {
        self.defined.iter().all(|&byte| byte == 0)
    }
}

/// Reads `bits` bits at a location.
///
/// An object with several single locations is read at the first that is readable, part by part. The object is
/// undefined only if all single locations are. The bits after a composite's last part are undefined, because a
/// producer may leave out the parts at the end that have no storage.
///
/// # Errors
/// * [`Class::Unmapped`] if memory is not mapped, or a register is not available;
/// * [`Class::Evaluation`] if other storage has fewer bits, or the bits are an implicit pointer's: see
///   [`read_pointer`].
///
/// # Example
///
/// ```
/// # use eitri_dwarf::eval::{Context, Evaluator, Snapshot, read_bits};
/// # use eitri_dwarf::op::{Dialect, Encoding, Reg, text};
/// # use eitri_dwarf::target::Target;
/// # let target = Target::x86_64();
/// # let encoding = Encoding::new(8, Dialect::Dwarf5);
/// // The upper half of a 64-bit variable was optimized out: a piece without a location.
/// let expr = text::parse("reg rax; piece 4; piece 4", encoding, Some(&target))?;
/// let mut machine = Snapshot::default();
/// machine.registers.insert(Reg(0), 0x0807_0605_0403_0201_u64.to_le_bytes().into());
/// let context = Context::new(encoding, &target);
/// let location = Evaluator::new().location(expr.bytes(), &machine, &context)?;
/// let bits = read_bits(&location, 64, &machine)?;
/// assert_eq!(bits.bytes, [1, 2, 3, 4, 0, 0, 0, 0]);
/// // A debugger shows the bits that are set here, and `<optimized out>` for the rest.
/// assert_eq!(bits.defined, [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_bits(location: &Location, bits: u64, machine: &dyn Machine) -> Result<Bits, Fault> {
    let len = read_bytes(bits, 1)?;
    let mut read = Bits { bytes: vec![0; len], defined: vec![0; len] };
    read_into(location, bits, &mut read.bytes, &mut read.defined, machine)?;
    Ok(read)
}

/// Maximum number of bytes read at once: larger requests are mistakes.
const MAX_BYTES: usize = 1 << 26;

/// Returns how many bytes `bits` bits take, which are read at `count` locations.
pub(super) fn read_bytes(bits: u64, count: usize) -> Result<usize, Fault> {
    let len = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    match len.checked_mul(count) {
        Some(0..=MAX_BYTES) => Ok(len),
        _ => Err(error(format!(
            "one read has at most {MAX_BYTES} bytes: {bits} read",
            bits = Count(bits, "bit").are()
        ))),
    }
}

/// Reads bits at a location into zeros.
pub(super) fn read_into(
    location: &Location,
    bits: u64,
    bytes: &mut [u8],
    defined: &mut [u8],
    machine: &dyn Machine,
) -> Result<(), Fault> {
    let mut sink = Sink { bytes, defined: Some(defined), all_places: false, places: 0 };
    read_whole(location, bits as usize, &mut sink, machine)?;
    for (byte, defined) in bytes.iter_mut().zip(defined) {
        // A location that failed half-way may have left bits.
        *byte &= *defined;
    }
    Ok(())
}

/// Returns the pointer, if the `bits` bits at the location are all of an implicit pointer's bits, in order.
///
/// # Errors
/// An evaluation error if only some bits belong to an implicit pointer, or they are out of order (A.2.5.4.4.5).
pub fn read_pointer(location: &Location, bits: u64) -> Result<Option<ImplicitPointer>, Fault> {
    if bits == 0 {
        return Ok(None);
    }
    let mut pointer_bits = Pointer { all: None, bits: 0, others: false };
    pointer_bits.visit(location, 0, bits.into())?;
    match pointer_bits.all {
        None => Ok(None),
        Some(pointer)
            if !pointer_bits.others
                && pointer_bits.bits == u128::from(pointer.bits)
                && bits == u64::from(pointer.bits) =>
        {
            Ok(Some(pointer))
        }
        Some(_) => Err(partial_pointer()),
    }
}

fn partial_pointer() -> Fault {
    error("an implicit pointer can only be read as a whole (A.2.5.4.4.5)")
}

struct Pointer {
    all: Option<ImplicitPointer>,
    /// How many of its bits were found so far.
    bits: u128,
    others: bool,
}

impl Pointer {
    fn visit(&mut self, location: &Location, skip: u128, bits: u128) -> Result<(), Fault> {
        // Any defined single location will do, because all contain the same bits.
        let place = location.places().find(|place| place.storage != Storage::Undefined);
        match place.map(|place| (&place.storage, place.offset + skip)) {
            Some((Storage::Composite(composite), offset)) => {
                for (part, skip, bits) in composite.slice(offset, bits) {
                    self.visit(part, skip, bits)?;
                }
            }
            Some((Storage::ImplicitPointer(pointer), offset)) => {
                let follows = self.all.is_none_or(|known| known == *pointer) && offset == self.bits;
                // Mixed or reordered pointer bits are no pointer.
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

/// Reads bits into bytes in memory order, within an expression: every bit must be defined and readable. Returns how
/// many single locations were read, including composites and their parts.
pub(super) fn read_exact(
    location: &Location,
    bits: usize,
    into: &mut [u8],
    all_places: bool,
    machine: &dyn Machine,
) -> Result<u64, Fault> {
    let mut sink = Sink { bytes: into, defined: None, all_places, places: 0 };
    read_whole(location, bits, &mut sink, machine).map_err(Fault::inside)?;
    Ok(sink.places)
}

struct Sink<'a> {
    bytes: &'a mut [u8],
    /// Mask for defined bits, where undefined bits are allowed.
    defined: Option<&'a mut [u8]>,
    /// Requires all single locations to contain the same bits, all defined.
    all_places: bool,
    /// How many single locations were read.
    places: u64,
}

fn read_whole(
    location: &Location,
    bits: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    // Zero bits retrieve nothing, from any storage.
    if bits == 0 {
        return Ok(());
    }
    read_location(location, Slice::whole(bits as u128), 0, sink, machine)
}

fn read_location(
    location: &Location,
    slice: Slice,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    if let Some(place) = location.single() {
        return read_place(place, slice, at, sink, machine);
    }
    // Every single location must have the bits, including those that are not read (A.2.5.4.3.4, `DW_OP_deref_type`).
    for place in location.places() {
        check_size(place, slice, sink, machine)?;
    }
    read_any(location.places(), slice, at, sink, machine)
}

/// Reads at the first readable single location, or at all of them, which must then contain the same bits.
fn read_any<'l>(
    places: impl Iterator<Item = &'l SingleLocation> + Clone,
    slice: Slice,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    if sink.all_places {
        return read_all(places, slice, at, sink, machine);
    }
    let mut first_fault = None;
    for place in places.filter(|place| place.storage != Storage::Undefined) {
        match read_place(place, slice, at, sink, machine) {
            Ok(()) => return Ok(()),
            // The first fault explains more: later locations are alternatives.
            Err(fault) => first_fault = first_fault.or(Some(fault)),
        }
    }
    match first_fault {
        Some(fault) => Err(fault),
        None => read_undefined(slice.bits as usize, at, sink, machine),
    }
}

/// Reads at each single location once, and refuses different bits.
fn read_all<'l>(
    places: impl Iterator<Item = &'l SingleLocation>,
    slice: Slice,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    let bits = slice.bits as usize;
    // The copy omits the whole bytes before these bits.
    let before = at % 8;
    let mut first: Option<(&SingleLocation, Vec<u8>)> = None;
    for place in places {
        let mut bytes = vec![0; (before + bits).div_ceil(8)];
        let mut copy_sink = Sink { bytes: &mut bytes, defined: None, all_places: true, places: 0 };
        read_place(place, slice, before, &mut copy_sink, machine)?;
        sink.places += copy_sink.places;
        match &first {
            None => first = Some((place, bytes)),
            Some((_, held)) if *held == bytes => {}
            Some((other, _)) => {
                let first_text = brief(*other);
                let second_text = brief(place);
                return Err(error(format!(
                    "object has different bits at its locations {first_text} and {second_text}"
                )));
            }
        }
    }
    let Some((_, bytes)) = first else { return read_undefined(bits, at, sink, machine) };
    let copy = if machine.is_big_endian() { copy_high_bits } else { copy_bits };
    copy(sink.bytes, at, &bytes, before, bits);
    Ok(())
}

fn check_size(
    place: &SingleLocation,
    slice: Slice,
    sink: &Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    let Some(size) = place.storage.end() else { return Ok(()) };
    // An expression reads within the parts; an object may have bits that no part describes.
    if matches!(place.storage, Storage::Composite(_)) && sink.defined.is_some() {
        return Ok(());
    }
    let from = slice.first_bit(place, byte_order(machine));
    let bits = slice.bits;
    if size.saturating_sub(from) < bits {
        Err(error(format!(
            "read of {bits} from bit {from} of {} ends after its storage of {size}",
            brief(place),
            bits = Count(bits, "bit"),
            size = Count(size, "bit")
        )))
    } else {
        Ok(())
    }
}

fn read_undefined(bits: usize, at: usize, sink: &mut Sink<'_>, machine: &dyn Machine) -> Result<(), Fault> {
    match &mut sink.defined {
        Some(defined) => fill(defined, at, bits, false, machine.is_big_endian()),
        None => return Err(undefined_bit()),
    }
    Ok(())
}

fn read_place(
    place: &SingleLocation,
    slice: Slice,
    at: usize,
    sink: &mut Sink<'_>,
    machine: &dyn Machine,
) -> Result<(), Fault> {
    crate::work::step();
    sink.places += 1;
    check_size(place, slice, sink, machine)?;
    let from = slice.first_bit(place, byte_order(machine));
    let bits = slice.bits as usize;
    let high = machine.is_big_endian();
    match &place.storage {
        Storage::Undefined => return read_undefined(bits, at, sink, machine),
        Storage::Composite(composite) => {
            let (mut at, end) = (at, at + bits);
            for (part, slice) in composite.slices(from, bits as u128) {
                read_location(part, slice, at, sink, machine)?;
                at += slice.bits as usize;
            }
            return if at < end { read_undefined(end - at, at, sink, machine) } else { Ok(()) };
        }
        Storage::ImplicitPointer(_) => return Err(partial_pointer()),
        Storage::Implicit(implicit) if high => {
            let first = implicit.first_in_bytes(from, bits as u128) as usize;
            copy_high_bits(sink.bytes, at, implicit.bytes(), first, bits);
        }
        Storage::Implicit(implicit) => copy_bits(sink.bytes, at, implicit.bytes(), from as usize, bits),
        Storage::Memory { space, lane, .. } => {
            let copy = if high { copy_high_bits } else { copy_bits };
            in_chunks(sink.bytes, at, from, bits, copy, |byte, into| {
                // `from` is inside the storage, so that its byte is an address.
                machine.memory(*space, *lane, byte as u64, into).map_err(|_| {
                    let lane = lane.map_or(String::new(), |lane| format!(" of lane {lane}"));
                    let len = into.len();
                    unreadable(format!(
                        "{len} not mapped at {byte:#x} of space {}{lane}",
                        space.0,
                        len = Count(len, "byte").are()
                    ))
                })
            })?;
        }
        Storage::Register { reg, frame, .. } => {
            let read = |byte, into: &mut [u8]| {
                let read = machine.register(*reg, *frame, byte as u32, into);
                read.map_err(|_| {
                    let mut bytes = (byte as u32..).take(into.len());
                    let why = bytes.find_map(|byte| machine.register_problem(*reg, *frame, byte));
                    match why {
                        Some(why) => unreadable(why),
                        None => unreadable("the register is not available".into()).about(*reg),
                    }
                })
            };
            if high {
                let mut number = vec![0; bits.div_ceil(8)];
                in_chunks(&mut number, 0, from, bits, copy_bits, read)?;
                to_stream(&mut number, bits as u64);
                copy_high_bits(sink.bytes, at, &number, 0, bits);
            } else {
                in_chunks(sink.bytes, at, from, bits, copy_bits, read)?;
            }
        }
    }
    if let Some(defined) = &mut sink.defined {
        fill(defined, at, bits, true, high);
    }
    Ok(())
}

fn unreadable(rule: String) -> Fault {
    Fault::new(Class::Unmapped, rule)
}

/// Copies bits that are read in byte chunks, in the bit order that `copy` has.
fn in_chunks(
    into: &mut [u8],
    at: usize,
    from: u128,
    bits: usize,
    copy: fn(&mut [u8], usize, &[u8], usize, usize),
    mut read: impl FnMut(u128, &mut [u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let skip = (from % 8) as usize;
    if skip == 0 && at.is_multiple_of(8) && bits.is_multiple_of(8) {
        return read(from / 8, &mut into[at / 8..(at + bits) / 8]);
    }
    // 512 bits, and one byte more for bits that start within a byte.
    let mut chunk = [0u8; 65];
    let mut done = 0;
    while done < bits {
        let now = (bits - done).min(512);
        let bytes = &mut chunk[..(skip + now).div_ceil(8)];
        read((from + done as u128) / 8, bytes)?;
        copy(into, at + done, bytes, skip, now);
        done += now;
    }
    Ok(())
}
