//! Evaluator results, and their comparison with a vector's expectation.

use core::fmt::{self, Display};
use std::collections::BTreeMap;

use super::bytes::Pattern;
use super::expect::{AfterStore, Answer, Expect, Pointer, Word};
use super::location::Stored;
use super::report::Verdict;
use super::values::Natural;
use crate::eval::fault::shortened;
use crate::eval::{
    Architecture, Bits, Class, Element, Fault, ImplicitPointer, Location, Machine, Snapshot, Span, Storage,
    Value, are_equal, read_bits, read_pointer, spans,
};
use crate::target::{ByteOrder, SpaceId};

/// An evaluator's results. [Printed](Self::to_text) in the format's notation: `location reg:0, bytes 04 05`.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What evaluation returned.
    pub result: Result<Element, Fault>,
    /// What reading at the location returned; `None` for a vector without a size to read, or without a location.
    pub read: Option<Result<Read, Fault>>,
    /// What storing at the location returned: the machine after the store. `None` for a vector without bytes to write,
    /// or without a location.
    pub written: Option<Result<Snapshot, Fault>>,
}

/// Data that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Read {
    /// Bits.
    Bits(Bits),
    /// A complete implicit pointer.
    Pointer(ImplicitPointer),
}

impl Read {
    /// Reads at a location: an implicit pointer if the location has one, otherwise bits.
    ///
    /// # Errors
    /// The errors that [`read_bits`] and [`read_pointer`] return.
    pub fn at(location: &Location, bits: u64, machine: &dyn Machine) -> Result<Self, Fault> {
        match read_pointer(location, bits)? {
            Some(pointer) => Ok(Self::Pointer(pointer)),
            None => read_bits(location, bits, machine).map(Self::Bits),
        }
    }
}

impl Found {
    /// Prints the results in the format's notation; `before` is the machine before the store. A text with more than
    /// `most` bytes is truncated, with an ellipsis.
    pub fn to_text(&self, before: &Snapshot, most: usize) -> String {
        shortened(&Printed { found: self, before, names: None }, most)
    }

    /// Prints the results as [`to_text`](Self::to_text) does, with register names instead of numbers.
    pub fn to_text_in_names(&self, before: &Snapshot, most: usize, names: &dyn Architecture) -> String {
        shortened(&Printed { found: self, before, names: Some(names) }, most)
    }

    /// Prints what was read as [`to_text_in_names`](Self::to_text_in_names) does, without the location. Empty if
    /// nothing was read.
    pub fn read_text_in_names(&self, most: usize, names: &dyn Architecture) -> String {
        self.read.as_ref().map_or_else(String::new, |read| shortened(&PrintedRead(read, Some(names)), most))
    }

    fn location(&self) -> Option<&Location> {
        match &self.result {
            Ok(Element::Location(location)) => Some(location),
            _ => None,
        }
    }

    fn pointer(&self) -> Option<Pointer> {
        let pointer = match (&self.result, &self.read) {
            (Ok(Element::Value(value)), _) => value.as_pointer()?,
            (Ok(_), Some(Ok(Read::Pointer(pointer)))) => *pointer,
            _ => return None,
        };
        Some(Pointer { entry: pointer.entry, by: pointer.by })
    }

    /// The fault that prevented the result or its reading.
    pub fn fault(&self) -> Option<&Fault> {
        match (&self.result, &self.read) {
            (Err(fault), _) | (_, Some(Err(fault))) => Some(fault),
            _ => None,
        }
    }

    /// Compares the results with an expectation, over `bits` bits; `before` is the machine before the store.
    pub(super) fn verdict(&self, expect: &Expect, before: &Snapshot, bits: u128) -> Verdict {
        let written = match (&expect.written, &self.written) {
            (None, _) => Verdict::Passed,
            (Some(_), None) => Verdict::Failed,
            (Some(expected), Some(found)) => stored(expected, found, before),
        };
        let order = if before.big_endian { ByteOrder::Big } else { ByteOrder::Little };
        let location = expect.location.as_ref().is_none_or(|expected| {
            self.location().is_some_and(|found| is_same(expected, found, bits, order))
        });
        let answer = expect.answer.as_ref().map_or(Verdict::Passed, |answer| self.answers(answer));
        let location = if location { Verdict::Passed } else { Verdict::Failed };
        answer.and(location).and(written)
    }

    fn answers(&self, expected: &Answer) -> Verdict {
        let is_it = match expected {
            Answer::Error(word) => return of_class(*word, self.fault().map(|fault| fault.class)),
            Answer::Bytes(Pattern(bits)) => {
                matches!(&self.read, Some(Ok(Read::Bits(found))) if found == bits)
            }
            Answer::Pointer(pointer) => self.pointer() == Some(*pointer),
            Answer::Value(bits, ty) => match &self.result {
                Ok(Element::Value(value)) => {
                    // A value without an expected type must have the generic type.
                    let is_type = ty.map_or(value.ty().is_generic(), |ty| ty == value.ty());
                    is_type && natural(value).as_ref() == Some(bits)
                }
                _ => false,
            },
        };
        match (is_it, self.fault()) {
            (true, _) => Verdict::Passed,
            // An unsupported operation is no wrong answer.
            (false, Some(fault)) if fault.class == Class::Unsupported => Verdict::Unsupported,
            (false, _) => Verdict::Failed,
        }
    }
}

/// Returns a value's bits as a number.
pub(super) fn natural(value: &Value) -> Option<Natural> {
    if value.as_pointer().is_some() {
        return None;
    }
    Some(value.with_bytes(|bytes| {
        let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Natural(bytes[..len].to_vec())
    }))
}

pub(super) fn of_class(Word(expected): Word, found: Option<Class>) -> Verdict {
    match found {
        None => Verdict::Failed,
        Some(Class::Unsupported) => Verdict::Unsupported,
        Some(found) if found == expected => Verdict::Passed,
        Some(_) => Verdict::WrongErrorClass,
    }
}

/// Checks that a store has exactly the expected effect.
fn stored(expected: &AfterStore, found: &Result<Snapshot, Fault>, before: &Snapshot) -> Verdict {
    match (expected, found) {
        (AfterStore::Error(word), Ok(_)) => of_class(*word, None),
        (AfterStore::Error(word), Err(fault)) => of_class(*word, Some(refusal(fault))),
        (_, Err(Fault { class: Class::Unsupported, .. })) => Verdict::Unsupported,
        (_, Err(_)) => Verdict::Failed,
        (AfterStore::Bytes(places), Ok(found)) => {
            // The whole machine is compared, so that a store that also changes other bytes fails.
            let mut expected = before.clone();
            for (place, bytes) in places {
                match *place {
                    Stored::Register(reg) => drop(expected.registers.insert(reg, bytes.clone())),
                    Stored::Memory { space, address, lane } => expected.store(space, lane, address, bytes),
                }
            }
            if expected.registers == found.registers && expected.memory == found.memory {
                Verdict::Passed
            } else {
                Verdict::Failed
            }
        }
    }
}

/// Returns the class of a refused store; `Unmapped` applies to reads only.
pub(super) fn refusal(fault: &Fault) -> Class {
    match fault.class {
        Class::Unmapped => Class::Evaluation,
        class => class,
    }
}

/// Returns whether two locations are equal in this many bits; for 0 bits, in all bits that both have.
pub(super) fn is_same(expected: &Location, found: &Location, bits: u128, order: ByteOrder) -> bool {
    let bits = match (bits, expected.remaining(), found.remaining()) {
        (0, Some(expected), Some(found)) => {
            // At the end of a storage no bits are left to compare, so that the locations themselves must be equal.
            if expected.min(found) == 0 {
                return expected == found;
            }
            expected.min(found)
        }
        (0, expected, found) => expected.or(found).unwrap_or(1).max(1),
        (bits, ..) => bits,
    };
    match (spans(expected, bits, order), spans(found, bits, order)) {
        (Ok(expected), Ok(found)) => are_equal(&comparable(expected), &comparable(found), order),
        _ => false,
    }
}

/// An implicit pointer's text does not include the space that it points into.
fn comparable(mut spans: Vec<Span>) -> Vec<Span> {
    for place in spans.iter_mut().flat_map(|span| &mut span.places) {
        if let Storage::ImplicitPointer(pointer) = &mut place.storage {
            (pointer.space, pointer.bits) = (SpaceId::DEFAULT, 0);
        }
    }
    spans
}

/// Returns what a store changed.
pub(super) fn changes(before: &Snapshot, after: &Snapshot) -> AfterStore {
    let registers = after.registers.iter().filter(|&(reg, bytes)| before.registers.get(reg) != Some(bytes));
    let mut places: Vec<_> = registers.map(|(&reg, bytes)| (Stored::Register(reg), bytes.clone())).collect();
    for (&(space, lane), memory) in &after.memory {
        let nothing = BTreeMap::new();
        let old = before.memory.get(&(space, lane)).unwrap_or(&nothing);
        let mut next = None;
        for (&address, &byte) in memory.iter().filter(|&(address, byte)| old.get(address) != Some(byte)) {
            match places.last_mut() {
                // Consecutive bytes are printed as one store.
                Some((_, bytes)) if next == Some(address) => bytes.push(byte),
                _ => places.push((Stored::Memory { space, address, lane }, vec![byte])),
            }
            next = address.checked_add(1);
        }
    }
    AfterStore::Bytes(places)
}

/// A [`Found`] with the machine before the store.
struct Printed<'a> {
    found: &'a Found,
    before: &'a Snapshot,
    names: Option<&'a dyn Architecture>,
}

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { result, read, written } = self.found;
        match result {
            Err(fault) => write!(f, "error {}", Reason(fault, self.names))?,
            Ok(Element::Location(location)) => match self.names {
                None => write!(f, "location {location}")?,
                Some(names) => write!(f, "location {}", location.in_names(names))?,
            },
            Ok(Element::Value(value)) => match (value.as_pointer(), natural(value)) {
                (Some(to), _) => Answer::Pointer(Pointer { entry: to.entry, by: to.by }).fmt(f)?,
                (None, bits) => {
                    let ty = Some(value.ty()).filter(|ty| !ty.is_generic());
                    Answer::Value(bits.unwrap_or(Natural(Vec::new())), ty).fmt(f)?;
                }
            },
        }
        match read {
            None => {}
            // Nothing was read.
            Some(Ok(Read::Bits(bits))) if bits.bytes.is_empty() => {}
            Some(read) => write!(f, ", {}", PrintedRead(read, self.names))?,
        }
        match written {
            None => Ok(()),
            Some(Err(fault)) => write!(f, ", written error {}", Reason(fault, self.names)),
            Some(Ok(after)) => write!(f, ", written {}", changes(self.before, after)),
        }
    }
}

/// What was read, with register names.
struct PrintedRead<'a>(&'a Result<Read, Fault>, Option<&'a dyn Architecture>);

impl Display for PrintedRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Err(fault) => write!(f, "error {}", Reason(fault, self.1)),
            Ok(Read::Bits(bits)) => write!(f, "bytes {}", Pattern(bits.clone())),
            Ok(Read::Pointer(to)) => write!(f, "pointer {}", Pointer { entry: to.entry, by: to.by }),
        }
    }
}

/// A fault, with its class name and register names.
pub(super) struct Reason<'a>(pub &'a Fault, pub Option<&'a dyn Architecture>);

impl Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { class, operation, offset, entry, rule, .. } = self.0;
        write!(f, "{} ({rule}", Word(*class))?;
        self.0.print_register(f, &|reg| self.1?.register_name(reg))?;
        if let (Some(operation), Some(offset)) = (operation, offset) {
            write!(f, "; operation {operation}, offset {offset:#x}")?;
        }
        entry.map_or(Ok(()), |entry| write!(f, " of entry {entry:#x}"))?;
        f.write_str(")")
    }
}
