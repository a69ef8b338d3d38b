//! Vectors and matrices, and their replacement by arrays: section 4.3.

use super::entities::Globals;
use crate::error::Result;
use crate::model::{TypeId, TypeKind};
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

    pub(super) fn vector(&mut self, id: TypeId, of: TypeId, count: u64) -> Result<()> {
        match self.as_vector(of, count) {
            Some((base, literal)) => {
                if base != of {
                    self.omit(Subject::Type(id), Property::ElementType, Reason::AsBasic(of, base));
                }
                let base = self.type_word(Some(base), Subject::Type(id))?;
                let operands = [(Field::BaseType, base), (Field::ComponentCount, literal.into())];
                self.define(id, Name::TypeVector, &operands)
            }
            None => self.as_array(id, of, count, Reason::AsArray(count)),
        }
    }

    /// Writes a matrix; in a set without matrices, or for columns that are not vectors, an array with the same bits.
    pub(super) fn matrix(
        &mut self,
        id: TypeId,
        vector: TypeId,
        count: u64,
        is_column_major: bool,
    ) -> Result<()> {
        let is_vector = match self.module.types[vector].kind {
            TypeKind::Vector { of, count } => self.as_vector(of, count).is_some(),
            _ => false,
        };
        match u32::try_from(count) {
            Ok(literal) if is_vector && self.writer.is_shader() => {
                let operands = [
                    (Field::VectorType, self.type_word(Some(vector), Subject::Type(id))?),
                    (Field::VectorCount, literal.into()),
                    (Field::ColumnMajor, self.writer.boolean(is_column_major)?.into()),
                ];
                self.define(id, Name::TypeMatrix, &operands)
            }
            _ => self.as_array(id, vector, count, Reason::MatrixAsArray(count, is_column_major)),
        }
    }

    /// Writes a type of `count` elements as an array.
    fn as_array(&mut self, id: TypeId, of: TypeId, count: u64, reason: Reason) -> Result<()> {
        self.omit(Subject::Type(id), Property::Kind, reason);
        let base = self.type_word(Some(of), Subject::Type(id))?;
        let count = self.fixed_count(Subject::Dimension(id, 0), count)?;
        let operands =
            [(Field::BaseType, base), self.elements(Subject::Dimension(id, 0), count, None, None)?];
        self.define(id, Name::TypeArray, &operands)
    }
}
