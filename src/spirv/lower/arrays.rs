//! Arrays: section 4.3.

use super::entities::Globals;
use super::order::{Item, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::{BaseEncoding, Count, Dimension, Module, TypeId, TypeKind, VariableId};
use crate::spirv::mode::Dimensions;
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
        if stride_bits.is_some() {
            self.leave_of_type(id, "its stride");
        }
        if dimensions.iter().any(|dimension| dimension.lower.is_some()) {
            self.leave_of_type(id, "the index of its first element");
        }
        if dimensions.iter().any(|dimension| dimension.index.is_some()) {
            self.leave_of_type(id, "the type of its indices");
        }
        let who = |module: &Module| (module.at_type(id), module.called(id));
        let mut base = self.type_word(Some(of), who)?;
        let mut counts = Vec::with_capacity(dimensions.len());
        for dimension in dimensions {
            counts.push(self.count(id, dimension.count)?);
        }
        if counts.is_empty() {
            self.leave_of_type(
                id,
                "that it has no dimension; it is said to have one of which the number is not known",
            );
            counts.push(self.unknown_count()?);
        }
        if self.writer.mode.dimensions == Dimensions::Nested {
            // The innermost array is the element type of the others.
            for &count in counts[1..].iter().rev() {
                let operands = [(Field::BaseType, base), (Field::ComponentCount, count)];
                base = self.writer.instruction(Name::TypeArray, &operands)?.into();
            }
            counts.truncate(1);
        }
        let counts = self.room(&counts, 6, 1, |module| {
            (module.at_type(id), format!("{}: its dimensions", module.called(id)))
        });
        let mut operands = vec![(Field::BaseType, base)];
        operands.extend(counts.iter().map(|&count| (Field::ComponentCount, count)));
        self.define(id, Name::TypeArray, &operands)
    }

    /// The operand for the number of elements of a dimension.
    fn count(&mut self, id: TypeId, count: Count) -> Result<Word> {
        let module = self.module;
        match count {
            Count::Unknown => self.unknown_count(),
            Count::Fixed(count) => self.fixed_count(id, count),
            Count::Value(_) => {
                self.leave_of_type(id, "how many elements it has, which is computed");
                self.unknown_count()
            }
            Count::Variable(variable) => {
                let name = module.name_of(variable).unwrap_or_default();
                let mode = self.writer.mode;
                let why = if !mode.has_variable_counts {
                    &format!("the {} mode has no such number", mode.name)
                } else if !self.counts(variable) {
                    "it is no variable of an unsigned type of 32 or 64 bits"
                } else {
                    let variable = Item::Variable(self.origin(variable));
                    if self.state(variable) == State::Done {
                        return self.id(variable).map(Word::Id);
                    } else if self.has_later() {
                        return self.id(variable).map(Word::Later);
                    }
                    "the type of its function is made of the array"
                };
                self.leave_of_type(id, &format!("that it has as many elements as `{name}` says: {why}"));
                self.unknown_count()
            }
        }
    }

    /// Whether a variable can be the number of elements of an array: its type is an unsigned basic type of 32 or 64
    /// bits.
    pub(super) fn counts(&self, variable: VariableId) -> bool {
        let variable = self.origin(variable);
        let ty = self.stand_ins.get(self.module.variables[variable].ty).map(|ty| &self.module.types[ty]);
        let is_unsigned = ty.is_some_and(|ty| {
            matches!(ty.kind, TypeKind::Base { encoding: BaseEncoding::Unsigned, .. })
                && matches!(ty.bits, Some(32 | 64))
        });
        let is_said = self.is_said(variable) && !self.is_static_member(variable);
        self.writer.mode.has_variable_counts && is_unsigned && is_said
    }

    /// Whether the function of a variable is already written, rather than being written because of this array.
    pub(super) fn can_count(&self, variable: VariableId) -> bool {
        let scope = self.module.variables[self.origin(variable)].scope;
        let function = self.related.function_of(scope);
        function.is_none_or(|function| self.functions[function].state == State::Done)
    }

    pub(super) fn fixed_count(&mut self, id: TypeId, count: u64) -> Result<Word> {
        if count == 0 && (!self.writer.mode.has_empty_arrays || self.writer.is_shader()) {
            self.leave_of_type(id, "that it has no elements; how many is said not to be known");
            return self.unknown_count();
        }
        self.number(count, |module| (module.at_type(id), format!("{}: its elements", module.called(id))))
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

    /// Records an omission of a property of a type.
    pub(super) fn leave_of_type(&mut self, id: TypeId, what: &str) {
        let what = format!("{}: {what}", self.module.called(id));
        self.writer.leave_out(self.module.at_type(id), what);
    }
}
