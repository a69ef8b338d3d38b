//! Compares the type of a value with the debug type of the variable that has the value.

use super::leaves::{Contrast, Leaves, Vectors};
use super::sizes::{
    ADDRESS, BOOLEAN, FLOAT, LAST, Members, bits, counts, is_structure, members, plain, value_bits,
};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// A difference between a value's type and a debug type.
pub(super) enum Difference<'a> {
    /// Kinds of types: the type of the value, and the debug type.
    Kind(Instruction<'a>, Fact<'a>),
    /// Sizes in bits: of the value, and of the debug type.
    Size(u64, u64),
    /// A vector whose debug type is a structure.
    Vector(Instruction<'a>, Fact<'a>),
}

/// Limit for the pairs of types that one comparison visits. A structure with more members is compared in part, so that a
/// module with many values is compared in linear time.
const MOST_PAIRS: usize = 64;

/// The first difference between a value's type and a debug type; `None` if a debugger reads the value as it is, or if
/// that is unknown.
pub(super) fn difference<'a>(
    facts: &Facts<'a>,
    parts: &mut Members<'a>,
    value: Id,
    debug: Fact<'a>,
) -> Option<Difference<'a>> {
    let mut pending = vec![(value, debug)];
    let mut visited = 0;
    while let Some((value, debug)) = pending.pop() {
        visited += 1;
        if visited > MOST_PAIRS {
            return None;
        }
        let (Some(value), Some(debug)) = (facts.layout().definition(value), plain(facts, debug)) else {
            continue;
        };
        let is_scalar = is_scalar(value);
        let different = || Some(Difference::Kind(value, debug));
        let element = |field| facts.named(&debug, field);
        match debug.name()? {
            InstructionName::TypeBasic => match facts.number(&debug, Field::Encoding) {
                Some(encoding @ BOOLEAN..=LAST) => {
                    let difference = match value.opcode() {
                        // A structure with a single member is that member.
                        op::TYPE_STRUCT if members(value).len() == 1 => numbers(facts, parts, value, debug),
                        _ => basic(facts, value, debug, encoding),
                    };
                    if difference.is_some() {
                        return difference;
                    }
                }
                Some(ADDRESS) if value.opcode() == op::TYPE_FLOAT => return different(),
                _ => {}
            },
            InstructionName::TypeEnum => match value.opcode() {
                op::TYPE_FLOAT | op::TYPE_VECTOR | op::TYPE_MATRIX => return different(),
                op::TYPE_INT => {
                    if let Some(difference) = size(facts, value, debug) {
                        return Some(difference);
                    }
                }
                _ => {}
            },
            InstructionName::TypePointer => {
                let opcode = value.opcode();
                // An address can be two words.
                let is_address = value.result().and_then(|ty| value_bits(facts, ty)) == Some(64);
                if !is_address
                    && matches!(opcode, op::TYPE_FLOAT | op::TYPE_BOOL | op::TYPE_VECTOR | op::TYPE_MATRIX)
                {
                    return different();
                }
            }
            InstructionName::TypeVector => match (value.opcode(), value.operands()) {
                (op::TYPE_VECTOR, &[value_element, count, ..]) => {
                    let described = facts.number(&debug, Field::ComponentCount);
                    // A vector with 3 elements has the size of 4 elements in OpenCL C.
                    let is_padded = described == Some(3) && count == 4;
                    if described.is_some_and(|described| described != u64::from(count)) && !is_padded {
                        let difference = bits(facts, debug).zip(value_bits(facts, value.result()?));
                        return difference.map(|(debug, value)| Difference::Size(value, debug));
                    }
                    pending.extend(element(Field::BaseType).map(|element| (Id(value_element), element)));
                }
                (op::TYPE_BOOL, _) => return different(),
                _ => {
                    if let Some(difference) = numbers(facts, parts, value, debug) {
                        return Some(difference);
                    }
                }
            },
            InstructionName::TypeMatrix if is_scalar => return different(),
            InstructionName::TypeMatrix => {
                if let Some(difference) = numbers(facts, parts, value, debug) {
                    return Some(difference);
                }
            }
            InstructionName::TypeArray => match (value.opcode(), value.operands()) {
                (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, &[value_element, ..]) => {
                    let [described] = counts(facts, &debug)[..] else {
                        // Several dimensions.
                        if let Some(difference) = numbers(facts, parts, value, debug) {
                            return Some(difference);
                        }
                        continue;
                    };
                    let count = value.operands().get(1).and_then(|&id| facts.layout().constant(Id(id)));
                    let count = count.filter(|count| count.is_plain).and_then(|count| count.value);
                    if count.zip(described).is_some_and(|(count, described)| count != described) {
                        let sizes = value_bits(facts, value.result()?).zip(bits(facts, debug));
                        let difference = match sizes {
                            Some((value, debug)) if value != debug => Some(Difference::Size(value, debug)),
                            // An array of vectors can have the numbers of an array of numbers.
                            Some(_) => numbers(facts, parts, value, debug),
                            None => different(),
                        };
                        if difference.is_some() {
                            return difference;
                        }
                        continue;
                    }
                    pending.extend(element(Field::BaseType).map(|element| (Id(value_element), element)));
                }
                _ => {
                    if let Some(difference) = numbers(facts, parts, value, debug) {
                        return Some(difference);
                    }
                }
            },
            InstructionName::TypeComposite => match (value.opcode(), value.operands()) {
                (op::TYPE_VECTOR, &[_, count, ..]) if is_expanded(facts, parts, debug, count) => {
                    return Some(Difference::Vector(value, debug));
                }
                (op::TYPE_STRUCT, operands)
                    if is_structure(facts, &debug)
                        && parts.of_composite(facts, &debug).len() == operands.len() =>
                {
                    let pairs = operands.iter().zip(parts.of_composite(facts, &debug)).rev();
                    let pairs = pairs
                        .filter_map(|(&value, member)| Some((Id(value), facts.named(member, Field::Type)?)));
                    let room = MOST_PAIRS.saturating_sub(pending.len());
                    pending.extend(pairs.take(room));
                }
                // Compilers add padding, and leave out members without bits.
                _ => {
                    if let Some(difference) = numbers(facts, parts, value, debug) {
                        return Some(difference);
                    }
                }
            },
            _ => {}
        }
    }
    None
}

/// Whether a type is a number or a boolean.
fn is_scalar(ty: Instruction<'_>) -> bool {
    matches!(ty.opcode(), op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_BOOL)
}

/// Compares a value's type with a basic type that is a number.
fn basic<'a>(
    facts: &Facts<'a>,
    value: Instruction<'a>,
    debug: Fact<'a>,
    encoding: u64,
) -> Option<Difference<'a>> {
    let different = Some(Difference::Kind(value, debug));
    match (value.opcode(), encoding) {
        // Booleans in memory are integers with a size that the compiler chooses.
        (op::TYPE_BOOL | op::TYPE_INT, BOOLEAN) => None,
        (op::TYPE_FLOAT, FLOAT) => size(facts, value, debug),
        (op::TYPE_INT, encoding) if encoding != FLOAT => size(facts, value, debug),
        (
            op::TYPE_INT
            | op::TYPE_FLOAT
            | op::TYPE_BOOL
            | op::TYPE_VECTOR
            | op::TYPE_MATRIX
            | op::TYPE_ARRAY
            | op::TYPE_RUNTIME_ARRAY,
            _,
        ) => different,
        // The number of an address has the size of a pointer; a smaller number is what the pointer points to.
        (op::TYPE_POINTER, _) if bits(facts, debug).is_some_and(|bits| bits < 64) => different,
        (op::TYPE_STRUCT, _) if members(value).len() > 1 => different,
        _ => None,
    }
}

/// Compares the sizes of two scalars.
fn size<'a>(facts: &Facts<'a>, value: Instruction<'a>, debug: Fact<'a>) -> Option<Difference<'a>> {
    let value = value_bits(facts, value.result()?)?;
    let debug = bits(facts, debug)?;
    (value != debug).then_some(Difference::Size(value, debug))
}

/// Compares the numbers in a value with those in a debug type with other parts; if they are unknown, the size of a scalar or
/// vector.
fn numbers<'a>(
    facts: &Facts<'a>,
    parts: &mut Members<'a>,
    value: Instruction<'a>,
    debug: Fact<'a>,
) -> Option<Difference<'a>> {
    let mut contrast = |vectors| {
        let described = Leaves::of_debug(facts, parts, debug, vectors)?;
        let actual = Leaves::of_value(facts, value.result()?)?;
        Some((actual.contrast(&described), actual.can_be_padded(&described)))
    };
    match contrast(Vectors::Packed) {
        Some((Contrast::None, _)) => None,
        Some((_, true)) if matches!(contrast(Vectors::Padded), Some((Contrast::None, _))) => None,
        Some((Contrast::Size(value, debug), _)) => Some(Difference::Size(value, debug)),
        Some((Contrast::Kind, _)) => Some(Difference::Kind(value, debug)),
        None if is_scalar(value) || value.opcode() == op::TYPE_VECTOR => too_short(facts, value, debug),
        None => None,
    }
}

/// Compares the size of a scalar with a type that has parts, whose padding is unknown.
fn too_short<'a>(facts: &Facts<'a>, value: Instruction<'a>, debug: Fact<'a>) -> Option<Difference<'a>> {
    size(facts, value, debug).filter(|it| matches!(it, Difference::Size(value, debug) if value < debug))
}

/// Whether the type is a structure with a number for each of a vector's elements.
fn is_expanded<'a>(facts: &Facts<'a>, parts: &mut Members<'a>, ty: Fact<'a>, count: u32) -> bool {
    let is_number = |member: &Fact<'a>| {
        let ty = facts.named(member, Field::Type).and_then(|ty| plain(facts, ty));
        ty.is_some_and(|ty| ty.name() == Some(InstructionName::TypeBasic))
    };
    let members = parts.of_composite(facts, &ty);
    members.len() == count as usize && members.iter().all(is_number) && is_structure(facts, &ty)
}
