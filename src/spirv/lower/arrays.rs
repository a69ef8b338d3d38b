//! Writes arrays: section 4.3.

use super::entities::{Globals, Operands};
use super::slots::{Item, State};
use super::writer::Word;
use super::{references, scopes};
use crate::error::Result;
use crate::model::{BaseEncoding, Count, Dimension, TypeId, TypeKind, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::{Dimensions, Feature};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

pub(super) fn array(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    of: TypeId,
    dimensions: &[Dimension],
    stride_bits: Option<u64>,
) -> Result<()> {
    let strides = has_subranges(out).then(|| row_strides(dimensions, stride_bits)).flatten();
    if stride_bits.is_some() && strides.is_none() {
        out.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
    }
    for (index, dimension) in (0..).zip(dimensions) {
        let subject = Subject::Dimension(id, index);
        if dimension.lower.is_some() && !has_subranges(out) {
            out.omit(subject, Property::FirstIndex, Reason::NoOperand);
        }
        if dimension.index.is_some() {
            out.omit(subject, Property::IndexType, Reason::NoOperand);
        }
    }
    let mut base = references::type_word(out, Some(of), Subject::Type(id))?;
    let mut counts = Vec::with_capacity(dimensions.len());
    for (index, dimension) in (0..).zip(dimensions) {
        let subject = Subject::Dimension(id, index);
        let count = count(out, subject, dimension.count)?;
        let stride = strides.as_ref().and_then(|strides| strides.get(index as usize).copied());
        counts.push(elements(out, subject, count, dimension.lower, stride)?);
    }
    // An array instruction requires a count.
    if counts.is_empty() {
        out.omit(Subject::Type(id), Property::Dimensions, Reason::NoDimension);
        let count = unknown_count(out)?;
        counts.push(elements(out, Subject::Dimension(id, 0), count, None, None)?);
    }
    if out.writer.mode.dimensions == Dimensions::Nested {
        // Each inner array is the element type of the array around it.
        for &count in counts[1..].iter().rev() {
            let operands = [(Field::BaseType, base), count];
            base = out.writer.instruction(InstructionName::TypeArray, &operands)?.into();
        }
        counts.truncate(1);
    }
    let counts = out.room(&counts, 6, 1, Subject::Type(id), Property::Dimensions);
    let mut operands = vec![(Field::BaseType, base)];
    operands.extend(counts);
    references::define(out, id, InstructionName::TypeArray, &operands)
}

/// Whether dimensions are subranges rather than element counts.
pub(super) fn has_subranges(out: &Globals<'_, '_, '_>) -> bool {
    out.writer.mode.set.has_operand(InstructionName::TypeArray, Field::Subrange)
}

/// A dimension's operand: the element count, or a subrange with the count, the lower bound, and the stride in bytes.
pub(super) fn elements(
    out: &mut Globals<'_, '_, '_>,
    dimension: Subject,
    count: Word,
    lower: Option<i64>,
    stride: Option<u64>,
) -> Result<(Field, Word)> {
    if !has_subranges(out) {
        return Ok((Field::ComponentCount, count));
    }
    let none = out.none()?;
    let lower = match lower {
        // A negative number is written with 64 bits, in two's complement.
        Some(lower) if out.writer.has_room(lower as u64) => Word::Id(out.writer.constant(lower as u64)?),
        Some(_) => {
            out.omit(dimension, Property::FirstIndex, Reason::NoOperand);
            none
        }
        None => none,
    };
    let mut operands = Operands::new();
    operands.extend([(Field::LowerBound, lower), (Field::UpperBound, none), (Field::Count, count)]);
    if let Some(stride) = stride {
        operands.push((Field::Stride, out.number(stride, dimension, Property::Stride)?));
    }
    let subrange = references::shared(out, InstructionName::TypeSubrange, operands)?;
    Ok((Field::Subrange, subrange.into()))
}

/// The operand for a dimension's element count.
fn count(out: &mut Globals<'_, '_, '_>, dimension: Subject, count: Count) -> Result<Word> {
    match count {
        Count::Unknown => unknown_count(out),
        Count::Fixed(count) => fixed_count(out, dimension, count),
        Count::Value(_) => {
            out.omit(dimension, Property::Count, Reason::Computed);
            unknown_count(out)
        }
        Count::Variable(variable) => {
            let mode = out.writer.mode;
            let reason = if !mode.has(Feature::VariableCounts) {
                Reason::VariableCountMode(variable, mode.name)
            } else if !counts(out, variable) {
                Reason::VariableCount(variable)
            } else {
                // The variable is written before the array, or referenced forward; otherwise the array and the
                // variable's function need each other.
                let item = Item::Variable(out.origin(variable));
                if out.slots.state(item) == State::Done {
                    return out.id(item).map(Word::Id);
                } else if scopes::has_later(out) {
                    return out.id(item).map(Word::Later);
                }
                Reason::VariableCountCycle(variable)
            };
            out.omit(dimension, Property::Count, reason);
            unknown_count(out)
        }
    }
}

/// Whether a variable can be an array's element count: its type is an unsigned basic type with 32 or 64 bits.
pub(super) fn counts(out: &Globals<'_, '_, '_>, variable: VariableId) -> bool {
    let variable = out.origin(variable);
    let ty =
        out.described.replacements.get(out.module.variables[variable].ty).map(|ty| &out.module.types[ty]);
    let is_unsigned = ty.is_some_and(|ty| {
        matches!(ty.kind, TypeKind::Base { encoding: BaseEncoding::Unsigned, .. })
            && matches!(ty.bits, Some(32 | 64))
    });
    let is_encoded = out.is_encoded(variable) && !out.is_static_member(variable);
    out.writer.mode.has(Feature::VariableCounts) && is_unsigned && is_encoded
}

/// Whether a variable's function is already written, rather than being written because of this array.
pub(super) fn can_count(out: &Globals<'_, '_, '_>, variable: VariableId) -> bool {
    let scope = out.module.variables[out.origin(variable)].scope;
    let function = out.described.relations.function_of(scope);
    function.is_none_or(|function| out.slots.functions[function].state == State::Done)
}

pub(super) fn fixed_count(out: &mut Globals<'_, '_, '_>, dimension: Subject, count: u64) -> Result<Word> {
    if count == 0 && (!out.writer.mode.has(Feature::EmptyArrays) || out.writer.is_shader()) {
        out.omit(dimension, Property::Count, Reason::Empty);
        return unknown_count(out);
    }
    out.number(count, dimension, Property::Count)
}

/// The operand for an unknown element count, which the sets cannot encode. LLVM's translator writes all ones in 64
/// bits; writers for `NonSemantic.Shader.DebugInfo.100` write 0.
fn unknown_count(out: &mut Globals<'_, '_, '_>) -> Result<Word> {
    let number = if out.writer.is_shader() {
        0
    } else if out.writer.has_room(u64::MAX) {
        u64::MAX
    } else {
        u32::MAX.into()
    };
    out.writer.constant(number).map(Word::Id)
}

/// All dimensions' strides in bytes, derived from the element stride: `None` if there is no stride, if it is not in
/// whole bytes, or if a row has unknown size.
fn row_strides(dimensions: &[Dimension], stride_bits: Option<u64>) -> Option<Vec<u64>> {
    let mut strides = vec![stride_bits.filter(|bits| bits.is_multiple_of(8))? / 8];
    for dimension in dimensions.iter().skip(1).rev() {
        let Count::Fixed(count @ 1..) = dimension.count else { return None };
        strides.push(strides.last()?.checked_mul(count)?);
    }
    strides.reverse();
    Some(strides)
}
