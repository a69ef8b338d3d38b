//! Vectors and matrices, and their replacement by arrays: section 4.3.

use super::entities::Globals;
use crate::error::Result;
use crate::model::{Elements, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Vectors;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

impl Globals<'_, '_, '_> {
    /// Element type and number of elements for a `DebugTypeVector`; `None` if the mode cannot encode such a vector.
    fn as_vector(&self, of: TypeId, count: u64) -> Option<(TypeId, u32)> {
        let literal = u32::try_from(count).ok()?;
        match self.writer.mode.vector {
            Vectors::Any => Some((of, literal)),
            Vectors::Short if (1..=4).contains(&count) => {
                Some((self.described.replacements.basic(of)?, literal))
            }
            Vectors::Short => None,
        }
    }

    pub(super) fn vector(&mut self, id: TypeId, of: TypeId, count: u64, is_packed: bool) -> Result<()> {
        if is_packed {
            self.omit(Subject::Type(id), Property::Size, Reason::NoOperand);
        }
        match self.as_vector(of, count) {
            Some((base, literal)) => {
                if base != of {
                    self.omit(Subject::Type(id), Property::ElementType, Reason::AsBasic(of, base));
                }
                let base = self.type_word(Some(base), Subject::Type(id))?;
                let operands = [(Field::BaseType, base), (Field::ComponentCount, literal.into())];
                self.define(id, Name::TypeVector, &operands)
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
            TypeKind::Vector { of, count, .. } => self.as_vector(of, count).is_some(),
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
