//! Numbers in a type, in order: what is left of a type without the vectors, arrays and structures around its numbers, which
//! producers change.

use super::sizes::{ADDRESS, BOOLEAN, FLOAT, LAST, Members, bits, is_structure, plain};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Limit on the types that are visited for a type's numbers, and on the runs of equal numbers.
const MOST: usize = 64;

/// A number, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Integer(u64),
    Float(u64),
    /// A boolean, which is an integer of any size in memory.
    Boolean,
    /// An address, which is an integer in some values.
    Address,
}

/// Numbers, as runs of equal numbers with their counts.
type Runs = Vec<(Leaf, u64)>;

/// Whether a vector with 3 elements has the size of 4, as in OpenCL C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    Packed,
    Padded,
}

/// The numbers in a type. Nothing is known about a type that is not numbers alone.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    runs: Runs,
    /// Numbers in an element of an array without a size, which is the last part of the type.
    last: Option<Runs>,
    visited: usize,
    /// Whether a vector of a debug type has 3 elements, or one of a value's type has 4: the former fits in the latter.
    has_padding: bool,
    /// Whether the type is or contains a structure, in which integers can be padding.
    has_structure: bool,
}

/// How the numbers of a value's type differ from those of a debug type.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Contrast {
    /// The debug type has exactly these numbers, or padding is all that it leaves out.
    None,
    /// Sizes in bits: of the value's numbers, and of the debug type's.
    Size(u64, u64),
    Kind,
}

impl Leaves {
    /// The numbers of a value's type; `None` if they are unknown, or too many.
    pub(super) fn of_value(facts: &Facts<'_>, ty: Id) -> Option<Self> {
        let mut leaves = Self::default();
        leaves.value(facts, ty, 1)?;
        Some(leaves)
    }

    /// The numbers of a debug type; `None` if they are unknown, or too many.
    pub(super) fn of_debug<'a>(
        facts: &Facts<'a>,
        parts: &mut Members<'a>,
        ty: Fact<'a>,
        vectors: Vectors,
    ) -> Option<Self> {
        let mut leaves = Self::default();
        leaves.debug(facts, parts, ty, (vectors, 1))?;
        Some(leaves)
    }

    /// Whether vectors of the value can be vectors of the debug type with padding.
    pub(super) fn can_be_padded(&self, debug: &Self) -> bool {
        self.has_padding && debug.has_padding
    }

    fn enter(&mut self) -> Option<()> {
        self.visited += 1;
        // Nothing can be after an array without a size.
        (self.visited <= MOST && self.last.is_none()).then_some(())
    }

    fn push(&mut self, leaf: Leaf, count: u64) -> Option<()> {
        let room = self.runs.len() < MOST;
        match self.runs.last_mut() {
            Some((last, total)) if *last == leaf => *total = total.checked_add(count)?,
            _ if room => self.runs.push((leaf, count)),
            _ => return None,
        }
        Some(())
    }

    /// Repeats the runs from an index on until they are there several times.
    fn repeat(&mut self, start: usize, count: u64) -> Option<()> {
        let element = self.runs.split_off(start);
        if let [(leaf, number)] = element[..] {
            return self.push(leaf, number.checked_mul(count)?);
        }
        if count > MOST as u64 {
            return None;
        }
        for _ in 0..count {
            for (leaf, number) in &element {
                self.push(*leaf, *number)?;
            }
        }
        Some(())
    }

    /// Collects the numbers of an element apart, so that they can be repeated.
    fn element(&mut self, collect: impl FnOnce(&mut Self) -> Option<()>) -> Option<Runs> {
        let before = std::mem::take(&mut self.runs);
        collect(self)?;
        self.last.is_none().then_some(())?;
        Some(std::mem::replace(&mut self.runs, before))
    }

    /// Adds an array's elements; `None` is the count of an array without a size.
    fn array(&mut self, element: Runs, count: Option<u64>) -> Option<()> {
        match count {
            Some(count) => {
                let mut repeated = Self { runs: element, ..Self::default() };
                repeated.repeat(0, count)?;
                for (leaf, number) in repeated.runs {
                    self.push(leaf, number)?;
                }
            }
            None => self.last = Some(element),
        }
        Some(())
    }

    fn value(&mut self, facts: &Facts<'_>, ty: Id, depth: usize) -> Option<()> {
        self.enter()?;
        let layout = facts.layout();
        let ty = layout.definition(ty).filter(|_| depth <= MOST)?;
        match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT, &[bits, ..]) => self.push(Leaf::Integer(bits.into()), 1),
            (op::TYPE_FLOAT, &[bits, ..]) => self.push(Leaf::Float(bits.into()), 1),
            (op::TYPE_BOOL, _) => self.push(Leaf::Boolean, 1),
            (op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER, _) => self.push(Leaf::Address, 1),
            (opcode @ (op::TYPE_VECTOR | op::TYPE_MATRIX), &[element, count, ..]) => {
                self.has_padding |= opcode == op::TYPE_VECTOR && count == 4;
                let element = self.element(|it| it.value(facts, Id(element), depth + 1))?;
                self.array(element, Some(count.into()))
            }
            (op::TYPE_ARRAY, &[element, count, ..]) => {
                let count = layout.constant(Id(count)).filter(|count| count.is_plain)?.value?;
                let element = self.element(|it| it.value(facts, Id(element), depth + 1))?;
                self.array(element, Some(count))
            }
            (op::TYPE_RUNTIME_ARRAY, &[element, ..]) => {
                let element = self.element(|it| it.value(facts, Id(element), depth + 1))?;
                self.array(element, None)
            }
            (op::TYPE_STRUCT, members) if !members.is_empty() => {
                self.has_structure = true;
                members.iter().try_for_each(|&member| self.value(facts, Id(member), depth + 1))
            }
            _ => None,
        }
    }

    fn debug<'a>(
        &mut self,
        facts: &Facts<'a>,
        parts: &mut Members<'a>,
        ty: Fact<'a>,
        (vectors, depth): (Vectors, usize),
    ) -> Option<()> {
        self.enter()?;
        let ty = plain(facts, ty).filter(|_| depth <= MOST)?;
        let name = ty.name()?;
        let mut element = |this: &mut Self, field| {
            let element = facts.named(&ty, field)?;
            this.element(|it| it.debug(facts, parts, element, (vectors, depth + 1)))
        };
        match name {
            InstructionName::TypeBasic => {
                let bits = bits(facts, ty)?;
                let leaf = match facts.number(&ty, Field::Encoding)? {
                    ADDRESS => Leaf::Address,
                    BOOLEAN => Leaf::Boolean,
                    FLOAT => Leaf::Float(bits),
                    number if (FLOAT..=LAST).contains(&number) => Leaf::Integer(bits),
                    _ => return None,
                };
                self.push(leaf, 1)
            }
            InstructionName::TypeEnum => self.push(Leaf::Integer(bits(facts, ty)?), 1),
            InstructionName::TypePointer => self.push(Leaf::Address, 1),
            InstructionName::TypeVector => {
                let element = element(self, Field::BaseType)?;
                let mut count = facts.number(&ty, Field::ComponentCount)?;
                if count == 3 {
                    self.has_padding = true;
                    count += u64::from(vectors == Vectors::Padded);
                }
                self.array(element, Some(count))
            }
            InstructionName::TypeMatrix => {
                let element = element(self, Field::VectorType)?;
                self.array(element, Some(facts.number(&ty, Field::VectorCount)?))
            }
            InstructionName::TypeArray => {
                let mut element = element(self, Field::BaseType)?;
                let counts: Option<Vec<u64>> = array_counts(facts, &ty).take(MOST).collect();
                let counts = counts.filter(|counts| !counts.is_empty())?;
                for (index, &count) in counts.iter().enumerate().rev() {
                    if count == 0 {
                        // Only the first dimension can have no size.
                        return if index == 0 { self.array(element, None) } else { None };
                    }
                    let mut repeated = Self { runs: element, ..Self::default() };
                    repeated.repeat(0, count)?;
                    element = repeated.runs;
                }
                self.array(element, Some(1))
            }
            InstructionName::TypeComposite if is_structure(facts, &ty) => {
                let members = parts.of_composite(facts, &ty);
                // Nothing is known about a type with base classes, and no member is no number.
                if members.is_empty() || members.len() > MOST {
                    return None;
                }
                self.has_structure = true;
                let members: Vec<Fact<'a>> = members.to_vec();
                members.iter().try_for_each(|member| {
                    let ty = facts.named(member, Field::Type)?;
                    let size = facts.number(member, Field::Size).filter(|&size| size != 0);
                    // A bit field has a part of a number.
                    if size.zip(bits(facts, ty)).is_some_and(|(size, bits)| size < bits) {
                        return None;
                    }
                    self.debug(facts, parts, ty, (vectors, depth + 1))
                })
            }
            _ => None,
        }
    }

    /// Size of all numbers in bits; `None` with booleans and addresses, whose size is not known.
    fn bits(&self) -> Option<u64> {
        let mut total = 0u64;
        for (leaf, count) in &self.runs {
            let (Leaf::Integer(bits) | Leaf::Float(bits)) = leaf else { return None };
            total = total.checked_add(bits.checked_mul(*count)?)?;
        }
        self.last.is_none().then_some(total)
    }

    /// Compares the numbers of a value's type with those of a debug type.
    pub(super) fn contrast(&self, debug: &Self) -> Contrast {
        let sizes = self.bits().zip(debug.bits());
        // Bytes, and an integer for several numbers, are storage.
        let is_storage = match self.runs[..] {
            [(Leaf::Integer(_), 1)] => !matches!(debug.runs[..], [(_, 1)]),
            [(Leaf::Integer(8), _)] => true,
            _ => false,
        };
        if is_storage && self.last.is_none() && debug.last.is_none() {
            return match sizes {
                Some((value, debug)) if value < debug => Contrast::Size(value, debug),
                _ => Contrast::None,
            };
        }
        // Compilers add padding to structures only.
        let can_be_padded = self.has_structure || debug.has_structure;
        let contains = |value: &Runs, debug: &Runs| {
            added_integers(value, debug).is_some_and(|count| count == 0 || can_be_padded)
        };
        let is_last_equal = match (&self.last, &debug.last) {
            (None, None) => true,
            (Some(value), Some(debug)) => contains(value, debug),
            _ => false,
        };
        if is_last_equal && contains(&self.runs, &debug.runs) {
            return Contrast::None;
        }
        match sizes {
            Some((value, debug)) if value != debug => Contrast::Size(value, debug),
            _ => Contrast::Kind,
        }
    }
}

/// Numbers of elements in each dimension of an array: 0 for no size, and `None` for an unknown number.
fn array_counts<'f>(facts: &'f Facts<'_>, array: &'f Fact<'_>) -> impl Iterator<Item = Option<u64>> + 'f {
    let count = |id| facts.layout().constant(id).filter(|count| count.is_plain)?.value;
    let of_subrange = |id| facts.number(&facts.get(id)?, Field::Count);
    let counts = array.ids(Field::ComponentCount).map(count);
    counts.chain(array.ids(Field::Subrange).map(of_subrange))
}

/// The number of integers that a value has beside the numbers of a debug type; `None` if other numbers differ.
fn added_integers(value: &[(Leaf, u64)], debug: &[(Leaf, u64)]) -> Option<u64> {
    let is_same = |value: Leaf, debug: Leaf| match (value, debug) {
        (Leaf::Integer(_) | Leaf::Boolean, Leaf::Boolean) => true,
        (Leaf::Integer(64) | Leaf::Address, Leaf::Address) => true,
        (value, debug) => value == debug,
    };
    let mut debug = debug.iter().copied();
    let mut wanted = debug.next();
    let mut added = 0u64;
    for &(leaf, count) in value {
        let mut count = count;
        while let Some((next, number)) = wanted.filter(|(next, _)| count > 0 && is_same(leaf, *next)) {
            let taken = count.min(number);
            count -= taken;
            wanted = if number > taken { Some((next, number - taken)) } else { debug.next() };
        }
        if count > 0 && !matches!(leaf, Leaf::Integer(_)) {
            return None;
        }
        added = added.saturating_add(count);
    }
    wanted.is_none().then_some(added)
}
