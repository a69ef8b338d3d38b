//! Describes types.

use super::context::Describer;
use super::members;
use crate::build::{Extent, Major};
use crate::error::Result;
use crate::model::{BaseEncoding, PointerKind, TypeId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::floats::{self, FloatFormat};
use crate::spirv::opcodes as op;
use crate::spirv::words::{HEADER, Id, Instruction, string_bytes};

/// `OpTypeVectorIdEXT`, also `OpTypeCooperativeVectorNV`.
const TYPE_VECTOR_ID: u16 = 5288;
/// `OpTypeCooperativeMatrixKHR`.
const TYPE_COOPERATIVE_MATRIX: u16 = 4456;

/// Largest base type, in bits.
const MOST_BITS: u32 = 1 << 16;

/// Describes all types. Types follow their parts, except forward pointers' targets.
pub(super) fn types(out: &mut Describer<'_, '_>, is_kernel: bool) -> Result<()> {
    let globals = out.layout.words().between(HEADER..out.layout.globals_end());
    for instruction in globals {
        let Some(id) = instruction.result() else { continue };
        // Pointers are only recorded here; they are described when they are used.
        if let Some(ty) = new_type(out, id, instruction, is_kernel)? {
            out.types.by_id.insert(id, ty);
        }
    }
    Ok(())
}

fn new_type<'a>(
    out: &mut Describer<'_, 'a>,
    id: Id,
    it: Instruction<'a>,
    is_kernel: bool,
) -> Result<Option<TypeId>> {
    let unit = out.unit;
    let style = out.types.style;
    let ty = match (it.opcode(), it.operands()) {
        (op::TYPE_BOOL, _) => {
            // A boolean has no size in shaders; shading languages give it the size of an integer.
            let bits = if is_kernel { 8 } else { 32 };
            out.m.base_type(unit, "bool", BaseEncoding::Boolean, bits)?
        }
        (op::TYPE_INT, &[bits @ 1..=MOST_BITS, sign]) => {
            let encoding = if sign == 0 { BaseEncoding::Unsigned } else { BaseEncoding::Signed };
            out.m.base_type(unit, &style.integer(bits, sign != 0), encoding, bits.into())?
        }
        (op::TYPE_FLOAT, &[bits @ 1..=MOST_BITS]) => {
            out.m.base_type(unit, &style.float(bits), BaseEncoding::Float, bits.into())?
        }
        // With any other second operand, the type becomes an unspecified type.
        (op::TYPE_FLOAT, &[bits, number]) if float(bits, number).is_some() => {
            let Some(format) = float(bits, number) else { return Ok(None) };
            let name = out.names.get(id).unwrap_or(format.name).to_owned();
            out.m.base_type(unit, &name, format.encoding, bits.into())?
        }
        (op::TYPE_VECTOR, &[element, count]) => {
            let Some(element) = out.ty(Id(element))? else { return Ok(None) };
            out.m.vector(unit, element, count.into())?
        }
        (TYPE_VECTOR_ID, &[element, count]) if element_count(out, Id(count)).is_some() => {
            let Some(element) = out.ty(Id(element))? else { return Ok(None) };
            out.m.vector(unit, element, element_count(out, Id(count)).unwrap_or_default())?
        }
        (TYPE_COOPERATIVE_MATRIX, &[element, ..]) if matrix_numbers(out, it).is_some() => {
            let Some(element) = out.ty(Id(element))? else { return Ok(None) };
            let [scope, rows, columns, usage] = matrix_numbers(out, it).unwrap_or_default();
            out.m.cooperative_matrix(unit, element, scope, rows, columns, usage)?
        }
        (op::TYPE_MATRIX, &[column, count]) => {
            let Some(column) = out.ty(Id(column))? else { return Ok(None) };
            out.m.matrix(unit, column, count.into(), Major::Column)?
        }
        (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, &[element, ref count @ ..]) => {
            let Some(element) = out.ty(Id(element))? else { return Ok(None) };
            array(out, id, element, count.first().map(|&count| Id(count)))?
        }
        (op::TYPE_STRUCT, members) => return members::structure(out, id, members).map(Some),
        (op::TYPE_POINTER, &[class, to]) => {
            out.types.pointers.insert(id, (class, Id(to)));
            return Ok(None);
        }
        (op::TYPE_OPAQUE, name) => {
            let name = string_bytes(name, usize::MAX).unwrap_or_default();
            out.m.unspecified_type(unit, &String::from_utf8_lossy(&name))?
        }
        // A pointer without a particular target type.
        (op::TYPE_UNTYPED_POINTER, &[class]) => {
            let space = out.space(class);
            out.m.pointer_of(unit, PointerKind::Pointer, None, space, None)?
        }
        (opcode, _) if is_opaque(opcode) => {
            let name = match (out.names.get(id), opcode) {
                (Some(name), _) => name.to_owned(),
                (None, op::TYPE_FLOAT) => "float".into(),
                (None, TYPE_COOPERATIVE_MATRIX) => "cooperative matrix".into(),
                (None, op::TYPE_IMAGE) => "image".into(),
                (None, op::TYPE_SAMPLER) => "sampler".into(),
                (None, op::TYPE_SAMPLED_IMAGE) => "sampled image".into(),
                (None, _) => format!("type {id}"),
            };
            let ty = out.m.unspecified_type(unit, &name)?;
            // Only specialization can be the reason here.
            if matches!(opcode, TYPE_VECTOR_ID | TYPE_COOPERATIVE_MATRIX) {
                out.omit(Subject::Type(ty), Property::Kind, Reason::Specialized(id.0));
            }
            ty
        }
        _ => return Ok(None),
    };
    Ok(Some(ty))
}

/// Returns the floating-point format with a number, if its values have `bits` bits.
fn float(bits: u32, number: u32) -> Option<&'static FloatFormat> {
    floats::numbered(number).filter(|format| format.bits() == Some(bits.into()))
}

/// Returns an element count, unless specialization can change it.
fn element_count(out: &Describer<'_, '_>, constant: Id) -> Option<u64> {
    out.layout.constant(constant)?.value
}

/// Returns a cooperative matrix's scope, rows, columns and use, unless specialization can change one of the numbers.
fn matrix_numbers(out: &Describer<'_, '_>, it: Instruction<'_>) -> Option<[u32; 4]> {
    let constants: &[u32; 4] = it.operands().get(1..)?.as_array()?;
    let mut numbers = [0; 4];
    for (number, &constant) in numbers.iter_mut().zip(constants) {
        *number = u32::try_from(element_count(out, Id(constant))?).ok()?;
    }
    Some(numbers)
}

fn array(out: &mut Describer<'_, '_>, id: Id, element: TypeId, count: Option<Id>) -> Result<TypeId> {
    let count = count.and_then(|count| element_count(out, count));
    let extent = count.map_or_else(Extent::unknown, Extent::fixed);
    let stride = out.names.strides.get(&id).map(|&bytes| u64::from(bytes) * 8);
    let stride = stride.filter(|&stride| out.is_wider(stride, element));
    out.m.array_of(out.unit, element, &[extent], stride)
}

/// Whether the instruction defines a type without a size, or without elements that the description has: images,
/// samplers, events, queries, acceleration structures, tensors, graphs, cooperative matrices and vectors, and
/// floating-point types whose encoding is not IEEE 754's.
fn is_opaque(opcode: u16) -> bool {
    matches!(
        opcode,
        op::TYPE_FLOAT
            | 25..=27
            | 34..=38
            | 322
            | 327
            | 4163
            | 4190
            | TYPE_COOPERATIVE_MATRIX
            | 4472
            | 5076
            | 5281
            | TYPE_VECTOR_ID
            | 5341
            | 5358
            | 5370..=5371
            | 5700..=5712
            | 6086
            | 6199
    )
}
