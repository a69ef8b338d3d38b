//! Writes vectors and matrices, or arrays that replace them: section 4.3.

use super::entities::{Globals, Operands};
use super::references::UNSPECIFIED;
use super::{arrays, references};
use crate::error::Result;
use crate::model::{Elements, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Vectors;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// The operands that follow the component type in a `DebugTypeCooperativeMatrixKHR`.
const MATRIX_NUMBERS: [Field; 4] = [Field::MatrixScope, Field::Rows, Field::Columns, Field::Use];

/// A vector's instruction, element type and element count; `None` if the mode cannot encode such a vector.
fn as_vector(out: &Globals<'_, '_, '_>, of: TypeId, count: u64) -> Option<(InstructionName, TypeId, u32)> {
    let literal = u32::try_from(count).ok()?;
    let mode = out.writer.mode;
    match mode.vector {
        Vectors::Any => Some((InstructionName::TypeVector, of, literal)),
        // `spirv-val` accepts only basic element types and short vectors.
        Vectors::Short => {
            let basic = out.described.replacements.basic(of)?;
            match literal {
                0 => None,
                1..=4 => Some((InstructionName::TypeVector, basic, literal)),
                _ => mode.set.has(InstructionName::TypeVectorId).then_some((
                    InstructionName::TypeVectorId,
                    basic,
                    literal,
                )),
            }
        }
    }
}

pub(super) fn vector(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    of: TypeId,
    count: u64,
    is_packed: bool,
) -> Result<()> {
    if is_packed {
        out.omit(Subject::Type(id), Property::Size, Reason::NoOperand);
    }
    match as_vector(out, of, count) {
        // Typedefs and qualifiers around the element type are skipped, which loses their names.
        Some((name, base, literal)) => {
            if base != of {
                out.omit(Subject::Type(id), Property::ElementType, Reason::AsBasic(of, base));
            }
            let base = references::type_word(out, Some(base), Subject::Type(id))?;
            let operands = match name {
                InstructionName::TypeVectorId => [
                    (Field::ComponentType, base),
                    (Field::ComponentCount, out.writer.constant(literal.into())?.into()),
                ],
                _ => [(Field::BaseType, base), (Field::ComponentCount, literal.into())],
            };
            references::define(out, id, name, &operands)
        }
        None => as_array(out, id, Elements { of, count, stride_bits: None }, Reason::AsArray(count)),
    }
}

/// Writes a matrix. In a set without matrices, or if the columns are not vectors, writes an array with the same bits.
pub(super) fn matrix(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    vector: TypeId,
    count: u64,
    is_column_major: bool,
    stride_bits: Option<u64>,
) -> Result<()> {
    // The set's matrix refers to a vector instruction, so that a vector encoded as an array does not do.
    let is_vector = match out.module.types[vector].kind {
        TypeKind::Vector { of, count, .. } => {
            matches!(as_vector(out, of, count), Some((InstructionName::TypeVector, ..)))
        }
        _ => false,
    };
    match u32::try_from(count) {
        Ok(literal) if is_vector && out.writer.is_shader() => {
            if stride_bits.is_some() {
                out.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
            }
            let operands = [
                (Field::VectorType, references::type_word(out, Some(vector), Subject::Type(id))?),
                (Field::VectorCount, literal.into()),
                (Field::ColumnMajor, out.writer.boolean(is_column_major)?.into()),
            ];
            references::define(out, id, InstructionName::TypeMatrix, &operands)
        }
        _ => {
            let reason = Reason::MatrixAsArray(count, is_column_major);
            as_array(out, id, Elements { of: vector, count, stride_bits }, reason)
        }
    }
}

/// Writes a cooperative matrix with its numbers for scope, rows, columns and use; in a set without such matrices, a
/// type that has only a name.
pub(super) fn cooperative_matrix(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    of: TypeId,
    numbers: [u32; 4],
) -> Result<()> {
    // Only version 101 has the instruction.
    if !out.writer.mode.set.has(InstructionName::TypeCooperativeMatrix) {
        out.omit(Subject::Type(id), Property::Kind, Reason::CooperativeMatrix);
        let name = out.text("cooperative matrix")?;
        let size = out.writer.constant(0)?.into();
        return references::basic(out, id, name, size, UNSPECIFIED);
    }
    let mut operands = Operands::new();
    operands.push((Field::ComponentType, references::type_word(out, Some(of), Subject::Type(id))?));
    for (field, number) in MATRIX_NUMBERS.into_iter().zip(numbers) {
        operands.push((field, out.writer.constant(number.into())?.into()));
    }
    references::define(out, id, InstructionName::TypeCooperativeMatrix, &operands)
}

/// Writes a vector or matrix as an array. The reason lists what the array cannot express.
pub(super) fn as_array(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    elements: Elements,
    reason: Reason,
) -> Result<()> {
    let Elements { of, count, stride_bits } = elements;
    out.omit(Subject::Type(id), Property::Kind, reason);
    // Only a subrange has a stride, and only in bytes.
    let stride = stride_bits.filter(|bits| arrays::has_subranges(out) && bits.is_multiple_of(8));
    if stride_bits.is_some() && stride.is_none() {
        out.omit(Subject::Type(id), Property::Stride, Reason::NoOperand);
    }
    let base = references::type_word(out, Some(of), Subject::Type(id))?;
    let dimension = Subject::Dimension(id, 0);
    let count = arrays::fixed_count(out, dimension, count)?;
    let elements = arrays::elements(out, dimension, count, None, stride.map(|bits| bits / 8))?;
    references::define(out, id, InstructionName::TypeArray, &[(Field::BaseType, base), elements])
}
