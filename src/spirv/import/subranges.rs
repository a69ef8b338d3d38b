//! Arrays with subranges, in version 200 of `NonSemantic.Shader.DebugInfo`: the proposal's "Type instructions".

use super::importer::Importer;
use super::omissions::{Made, refused};
use crate::build::Extent;
use crate::model::{TypeId, UnitId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;

/// A dimension: its elements, their count if it is constant, and the distance between them in bytes.
struct Dimension {
    extent: Extent,
    count: Option<u64>,
    stride: Option<u64>,
}

pub(super) fn subranges(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let element = importer.ty(fact, Field::BaseType, unit)?;
    let mut dimensions = Vec::new();
    for id in fact.ids(Field::Subrange) {
        let subrange = importer.facts.get(id).filter(|it| it.name() == Some(InstructionName::TypeSubrange));
        let subrange = subrange.ok_or(Unimported::NoSubrange(id.0))?;
        dimensions.push(dimension(importer, &subrange));
    }
    let stride = stride(importer, fact, &dimensions);
    let extents: Vec<Extent> = dimensions.into_iter().map(|dimension| dimension.extent).collect();
    importer.m.array_of(unit, element, &extents, stride).map_err(refused)
}

fn dimension(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Dimension {
    let lower = bound(importer, fact, Field::LowerBound).map(|lower| lower as i64);
    let upper = bound(importer, fact, Field::UpperBound).map(|upper| upper as i64);
    let count = fact.id(Field::Count).filter(|&id| !importer.facts.is_nothing(id));
    let variable = count.and_then(|id| importer.entities.variables.get(&id).copied());
    let number = count.filter(|_| variable.is_none()).and_then(|_| bound(importer, fact, Field::Count));
    // A missing count follows from the bounds. A count of 0 is unknown.
    let of_bounds = upper.filter(|_| count.is_none()).and_then(|upper| {
        let first = i128::from(lower.unwrap_or_default());
        u64::try_from(i128::from(upper) - first + 1).ok()
    });
    // LLVM writes -1 for an unknown count.
    let number = number.or(of_bounds).filter(|&number| number != 0 && number != u64::MAX);
    let extent = match (variable, number) {
        (Some(variable), _) => Extent::variable(variable),
        (None, Some(number)) => Extent::fixed(number),
        (None, None) => Extent::unknown(),
    };
    let extent = match lower {
        Some(lower) => extent.from(lower),
        None => extent,
    };
    Dimension { extent, count: number, stride: bound(importer, fact, Field::Stride) }
}

/// An operand's constant, unless it is a `DebugInfoNone`; an operand that is no constant is listed.
fn bound(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, field: Field) -> Option<u64> {
    let id = fact.id(field).filter(|&id| !importer.facts.is_nothing(id))?;
    let number = importer.facts.layout().constant(id).and_then(|constant| constant.value);
    if number.is_none() {
        importer.omissions.omit(fact, Unimported::Bound(field, id.0));
    }
    number
}

/// An array's stride in bits: the last dimension's stride, if the other dimensions' strides are the sizes of their
/// rows.
fn stride(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, dimensions: &[Dimension]) -> Option<u64> {
    let mut expected = dimensions.last()?.stride?;
    let bits = expected.checked_mul(8);
    for pair in dimensions.windows(2).rev() {
        let [outer, inner] = pair else { continue };
        let row = inner.count.and_then(|count| expected.checked_mul(count));
        match (outer.stride, row) {
            (Some(stride), Some(row)) if stride == row => expected = row,
            _ => {
                importer.omissions.omit(fact, Unimported::OtherStride);
                return None;
            }
        }
    }
    bits
}
