//! Arrays: section 4.3.

use super::entities::{Globals, Operands};
use super::order::{Item, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::{BaseEncoding, Count, Dimension, TypeId, TypeKind, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::{Dimensions, Feature};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

impl Globals<'_, '_, '_> {
    pub(super) fn array(
        &mut self,
        id: TypeId,
        of: TypeId,
        dimensions: &[Dimension],
        stride_bits: Option<u64>,
    ) -> Result<()> {
        let strides = self.has_subranges().then(|| row_strides(dimensions, stride_bits)).flatten();
        if stride_bits.is_some() && strides.is_none() {
            self.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
        }
        for (index, dimension) in (0..).zip(dimensions) {
            let subject = Subject::Dimension(id, index);
            if dimension.lower.is_some() && !self.has_subranges() {
                self.omit(subject, Property::FirstIndex, Reason::NoOperand);
            }
            if dimension.index.is_some() {
                self.omit(subject, Property::IndexType, Reason::NoOperand);
            }
        }
        let mut base = self.type_word(Some(of), Subject::Type(id))?;
        let mut counts = Vec::with_capacity(dimensions.len());
        for (index, dimension) in (0..).zip(dimensions) {
            let subject = Subject::Dimension(id, index);
            let count = self.count(subject, dimension.count)?;
            let stride = strides.as_ref().and_then(|strides| strides.get(index as usize).copied());
            counts.push(self.elements(subject, count, dimension.lower, stride)?);
        }
        if counts.is_empty() {
            self.omit(Subject::Type(id), Property::Dimensions, Reason::NoDimension);
            let count = self.unknown_count()?;
            counts.push(self.elements(Subject::Dimension(id, 0), count, None, None)?);
        }
        if self.writer.mode.dimensions == Dimensions::Nested {
            // The innermost array is the element type of the others.
            for &count in counts[1..].iter().rev() {
                let operands = [(Field::BaseType, base), count];
                base = self.writer.instruction(Name::TypeArray, &operands)?.into();
            }
            counts.truncate(1);
        }
        let counts = self.room(&counts, 6, 1, Subject::Type(id), Property::Dimensions);
        let mut operands = vec![(Field::BaseType, base)];
        operands.extend(counts);
        self.define(id, Name::TypeArray, &operands)
    }

    /// Whether dimensions are subranges rather than numbers of elements.
    pub(super) fn has_subranges(&self) -> bool {
        self.writer.mode.set.has_operand(Name::TypeArray, Field::Subrange)
    }

    /// The operand for a dimension: the number of elements, or a subrange with that number, the lower bound, and the stride
    /// in bytes.
    pub(super) fn elements(
        &mut self,
        dimension: Subject,
        count: Word,
        lower: Option<i64>,
        stride: Option<u64>,
    ) -> Result<(Field, Word)> {
        if !self.has_subranges() {
            return Ok((Field::ComponentCount, count));
        }
        let none = self.none()?;
        let lower = match lower {
            // A negative number as 64 bits, in two's complement.
            Some(lower) if self.writer.has_room(lower as u64) => {
                Word::Id(self.writer.constant(lower as u64)?)
            }
            Some(_) => {
                self.omit(dimension, Property::FirstIndex, Reason::NoOperand);
                none
            }
            None => none,
        };
        let mut operands = Operands::new();
        operands.extend([(Field::LowerBound, lower), (Field::UpperBound, none), (Field::Count, count)]);
        if let Some(stride) = stride {
            operands.push((Field::Stride, self.number(stride, dimension, Property::Stride)?));
        }
        let subrange = self.shared(Name::TypeSubrange, operands)?;
        Ok((Field::Subrange, subrange.into()))
    }

    /// The operand for the number of elements of a dimension.
    fn count(&mut self, dimension: Subject, count: Count) -> Result<Word> {
        match count {
            Count::Unknown => self.unknown_count(),
            Count::Fixed(count) => self.fixed_count(dimension, count),
            Count::Value(_) => {
                self.omit(dimension, Property::Count, Reason::Computed);
                self.unknown_count()
            }
            Count::Variable(variable) => {
                let mode = self.writer.mode;
                let reason = if !mode.has(Feature::VariableCounts) {
                    Reason::VariableCountMode(variable, mode.name)
                } else if !self.counts(variable) {
                    Reason::VariableCount(variable)
                } else {
                    let item = Item::Variable(self.origin(variable));
                    if self.slots.state(item) == State::Done {
                        return self.id(item).map(Word::Id);
                    } else if self.has_later() {
                        return self.id(item).map(Word::Later);
                    }
                    Reason::VariableCountCycle(variable)
                };
                self.omit(dimension, Property::Count, reason);
                self.unknown_count()
            }
        }
    }

    /// Whether a variable can be the number of elements of an array: its type is an unsigned basic type of 32 or 64
    /// bits.
    pub(super) fn counts(&self, variable: VariableId) -> bool {
        let variable = self.origin(variable);
        let ty = self
            .described
            .replacements
            .get(self.module.variables[variable].ty)
            .map(|ty| &self.module.types[ty]);
        let is_unsigned = ty.is_some_and(|ty| {
            matches!(ty.kind, TypeKind::Base { encoding: BaseEncoding::Unsigned, .. })
                && matches!(ty.bits, Some(32 | 64))
        });
        let is_encoded = self.is_encoded(variable) && !self.is_static_member(variable);
        self.writer.mode.has(Feature::VariableCounts) && is_unsigned && is_encoded
    }

    /// Whether the function of a variable is already written, rather than being written because of this array.
    pub(super) fn can_count(&self, variable: VariableId) -> bool {
        let scope = self.module.variables[self.origin(variable)].scope;
        let function = self.described.relations.function_of(scope);
        function.is_none_or(|function| self.slots.functions[function].state == State::Done)
    }

    pub(super) fn fixed_count(&mut self, dimension: Subject, count: u64) -> Result<Word> {
        if count == 0 && (!self.writer.mode.has(Feature::EmptyArrays) || self.writer.is_shader()) {
            self.omit(dimension, Property::Count, Reason::Empty);
            return self.unknown_count();
        }
        self.number(count, dimension, Property::Count)
    }

    /// The operand for an unknown number of elements, which the sets cannot encode. LLVM's translator writes 64 one
    /// bits; writers of `NonSemantic.Shader.DebugInfo.100` write 0.
    fn unknown_count(&mut self) -> Result<Word> {
        let number = match self.writer.is_shader() {
            true => 0,
            false if self.writer.has_room(u64::MAX) => u64::MAX,
            false => u32::MAX.into(),
        };
        self.writer.constant(number).map(Word::Id)
    }
}

/// Strides of all dimensions in bytes, from that of the elements: `None` without one, for a stride that is not whole bytes,
/// and for rows of unknown size.
fn row_strides(dimensions: &[Dimension], stride_bits: Option<u64>) -> Option<Vec<u64>> {
    let mut strides = vec![stride_bits.filter(|bits| bits.is_multiple_of(8))? / 8];
    for dimension in dimensions.iter().skip(1).rev() {
        let Count::Fixed(count @ 1..) = dimension.count else { return None };
        strides.push(strides.last()?.checked_mul(count)?);
    }
    strides.reverse();
    Some(strides)
}
