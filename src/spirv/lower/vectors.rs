//! Vectors and matrices, and their replacement by arrays: section 4.3.

use super::entities::{Globals, Operands};
use super::types::UNSPECIFIED;
use crate::error::Result;
use crate::model::{Elements, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Vectors;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

/// Operands of a `DebugTypeCooperativeMatrixKHR` after the component type.
const MATRIX_NUMBERS: [Field; 4] = [Field::MatrixScope, Field::Rows, Field::Columns, Field::Use];

impl Globals<'_, '_, '_> {
    /// Instruction, element type and number of elements of a vector; `None` if the mode cannot encode such a vector.
    fn as_vector(&self, of: TypeId, count: u64) -> Option<(Name, TypeId, u32)> {
        let literal = u32::try_from(count).ok()?;
        let mode = self.writer.mode;
        match mode.vector {
            Vectors::Any => Some((Name::TypeVector, of, literal)),
            Vectors::Short => {
                let basic = self.described.replacements.basic(of)?;
                match literal {
                    0 => None,
                    1..=4 => Some((Name::TypeVector, basic, literal)),
                    _ => mode.set.has(Name::TypeVectorId).then_some((Name::TypeVectorId, basic, literal)),
                }
            }
        }
    }

    pub(super) fn vector(&mut self, id: TypeId, of: TypeId, count: u64, is_packed: bool) -> Result<()> {
        if is_packed {
            self.omit(Subject::Type(id), Property::Size, Reason::NoOperand);
        }
        match self.as_vector(of, count) {
            Some((name, base, literal)) => {
                if base != of {
                    self.omit(Subject::Type(id), Property::ElementType, Reason::AsBasic(of, base));
                }
                let base = self.type_word(Some(base), Subject::Type(id))?;
                let operands = match name {
                    Name::TypeVectorId => [
                        (Field::ComponentType, base),
                        (Field::ComponentCount, self.writer.constant(literal.into())?.into()),
                    ],
                    _ => [(Field::BaseType, base), (Field::ComponentCount, literal.into())],
                };
                self.define(id, name, &operands)
            }
            None => self.as_array(id, Elements { of, count, stride_bits: None }, Reason::AsArray(count)),
        }
    }

    /// Writes a matrix; in a set without matrices, or for columns that are not vectors, an array with the same bits.
    pub(super) fn matrix(
        &mut self,
        id: TypeId,
        vector: TypeId,
        count: u64,
        is_column_major: bool,
        stride_bits: Option<u64>,
    ) -> Result<()> {
        let is_vector = match self.module.types[vector].kind {
            TypeKind::Vector { of, count, .. } => {
                matches!(self.as_vector(of, count), Some((Name::TypeVector, ..)))
            }
            _ => false,
        };
        match u32::try_from(count) {
            Ok(literal) if is_vector && self.writer.is_shader() => {
                if stride_bits.is_some() {
                    self.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
                }
                let operands = [
                    (Field::VectorType, self.type_word(Some(vector), Subject::Type(id))?),
                    (Field::VectorCount, literal.into()),
                    (Field::ColumnMajor, self.writer.boolean(is_column_major)?.into()),
                ];
                self.define(id, Name::TypeMatrix, &operands)
            }
            _ => {
                let reason = Reason::MatrixAsArray(count, is_column_major);
                self.as_array(id, Elements { of: vector, count, stride_bits }, reason)
            }
        }
    }

    /// Writes a cooperative matrix with the numbers of its scope, rows, columns and use; in a set without such matrices, a
    /// type that has only a name.
    pub(super) fn cooperative_matrix(&mut self, id: TypeId, of: TypeId, numbers: [u32; 4]) -> Result<()> {
        if !self.writer.mode.set.has(Name::TypeCooperativeMatrix) {
            self.omit(Subject::Type(id), Property::Kind, Reason::CooperativeMatrix);
            let (name, size) = (self.text("cooperative matrix")?, self.writer.constant(0)?.into());
            return self.basic(id, name, size, UNSPECIFIED);
        }
        let mut operands = Operands::new();
        operands.push((Field::ComponentType, self.type_word(Some(of), Subject::Type(id))?));
        for (field, number) in MATRIX_NUMBERS.into_iter().zip(numbers) {
            operands.push((field, self.writer.constant(number.into())?.into()));
        }
        self.define(id, Name::TypeCooperativeMatrix, &operands)
    }

    /// Writes a type of elements as an array. The reason has the facts of the kind that the array lacks.
    pub(super) fn as_array(&mut self, id: TypeId, elements: Elements, reason: Reason) -> Result<()> {
        let Elements { of, count, stride_bits } = elements;
        self.omit(Subject::Type(id), Property::Kind, reason);
        let stride = stride_bits.filter(|bits| self.has_subranges() && bits.is_multiple_of(8));
        if stride_bits.is_some() && stride.is_none() {
            self.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
        }
        let base = self.type_word(Some(of), Subject::Type(id))?;
        let dimension = Subject::Dimension(id, 0);
        let count = self.fixed_count(dimension, count)?;
        let elements = self.elements(dimension, count, None, stride.map(|bits| bits / 8))?;
        self.define(id, Name::TypeArray, &[(Field::BaseType, base), elements])
    }
}
