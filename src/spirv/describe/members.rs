//! Describes structure members, with their matrices' layout.

use super::context::Describer;
use crate::build::{DataMember, Extent, Major};
use crate::error::Result;
use crate::model::{Count, SourceLine, TypeId, TypeKind};
use crate::spirv::words::Id;

/// Limit for nested arrays around a matrix that has a layout.
const MOST_ARRAYS: usize = 64;

/// Describes a structure. A structure with an opaque or unsized member has only the other members.
pub(super) fn structure(out: &mut Describer<'_, '_>, id: Id, members: &[u32]) -> Result<TypeId> {
    let mut placed = Vec::new();
    let mut end = 0u64;
    for (index, &member) in (0..).zip(members) {
        // Without an offset, members follow each other.
        let offset = out.names.offsets.get(&(id, index)).map_or(end, |&offset| offset.into());
        // An opaque member has no type in the description.
        let Some(ty) = out.ty(Id(member))? else { continue };
        let ty = matrices_of(out, ty, (id, index))?;
        let bytes = out.m.described().ty(ty).bits().unwrap_or_default().div_ceil(8);
        end = end.max(offset.saturating_add(bytes));
        placed.push((out.names.member(id, index), ty, offset));
    }
    let name = out.names.structure(id).map(str::to_owned);
    let structure = out.m.structure(out.unit, name.as_deref(), end)?;
    let file = out.m.primary_file(out.unit)?;
    for (member_name, ty, offset) in placed {
        let line = name.as_deref().and_then(|name| out.declarations.member(name, &member_name));
        let member = DataMember::new(&member_name, ty, offset);
        let member = match line {
            Some(line) => member.declared(SourceLine::new(file, line)),
            None => member,
        };
        out.m.data_member(structure, member)?;
    }
    Ok(structure)
}

/// A member's type, with the layout that the member's decorations give to the matrix in it: `MatrixStride`, and
/// `RowMajor`, which makes its vectors rows. Other types are returned unchanged. The layout belongs to the member in
/// SPIR-V, but to the type in the model.
fn matrices_of(out: &mut Describer<'_, '_>, ty: TypeId, member: (Id, u32)) -> Result<TypeId> {
    let stride = out.names.matrix_strides.get(&member).map(|&bytes| u64::from(bytes) * 8);
    let is_row_major = out.names.row_major.contains(&member);
    if stride.is_none() && !is_row_major {
        return Ok(ty);
    }
    let module = out.m.described();
    let mut element_type = ty;
    let mut arrays = Vec::new();
    while let TypeKind::Array { of: element, dimensions, stride_bits } = module.ty(element_type).kind() {
        if arrays.len() == MOST_ARRAYS {
            return Ok(ty);
        }
        let counts = dimensions.iter().map(|dimension| match dimension.count {
            Count::Fixed(count) => Extent::fixed(count),
            _ => Extent::unknown(),
        });
        arrays.push((counts.collect::<Vec<_>>(), *stride_bits));
        element_type = *element;
    }
    let TypeKind::Matrix { of: column, count: columns, .. } = *module.ty(element_type).kind() else {
        return Ok(ty);
    };
    let TypeKind::Vector { of: number, count: rows, .. } = *module.ty(column).kind() else {
        return Ok(ty);
    };
    let (vector, count) =
        if is_row_major { (out.m.vector(out.unit, number, columns)?, rows) } else { (column, columns) };
    let stride = stride.filter(|&stride| out.is_wider(stride, vector));
    let major = if is_row_major { Major::Row } else { Major::Column };
    let mut laid_out = out.m.matrix_of(out.unit, vector, count, major, stride)?;
    // Rebuild the arrays around the matrix, from the innermost outward.
    while let Some((counts, stride)) = arrays.pop() {
        let stride = stride.filter(|&stride| out.is_wider(stride, laid_out));
        laid_out = out.m.array_of(out.unit, laid_out, &counts, stride)?;
    }
    Ok(laid_out)
}
