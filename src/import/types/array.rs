//! Arrays, vectors and matrices: DWARF 5 sections 5.5 and 5.13.

use gimli::constants as dw;

use super::simple::{DYNAMIC, same_size};
use crate::build::{Extent, Major};
use crate::import::importer::{Importer, Made, refused};
use crate::import::unimported::UnimportedReason;
use crate::model::{AttributeOwner, Language, TypeId, TypeKind};
use crate::read::{Entry, ResolvedValue};

pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let Some(owner) = importer.refer_to_type(entry, dw::DW_AT_type) else {
        return Err(UnimportedReason::AsUnspecified);
    };
    let mut extents = Vec::new();
    let mut counts = Vec::new();
    let mut stride = stride(importer, entry);
    let mut parts = Vec::new();
    // An array with a rank has one entry for all dimensions.
    let tag = if entry.has(dw::DW_AT_rank) { dw::DW_TAG_generic_subrange } else { dw::DW_TAG_subrange_type };
    for part in entry.children().filter(|part| part.tag() == tag) {
        importer.import(part);
        let (extent, count) = dimension(importer, part);
        // Only the innermost dimension's elements are the array's.
        stride = self::stride(importer, part).or(stride);
        extents.push(extent);
        counts.push(count);
        parts.push(part);
    }
    let is_vector = importer.flag(entry, dw::DW_AT_GNU_vector);
    let ty = match (is_vector, &counts[..]) {
        (true, &[Some(count)]) => {
            // A vector has no index type.
            for &part in parts.iter().filter(|part| part.has(dw::DW_AT_type)) {
                importer.leave(part, dw::DW_AT_type, UnimportedReason::NoProperty);
            }
            vector(importer, entry, owner, count)
        }
        _ => array(importer, entry, owner, &extents, &counts, stride),
    }?;
    same_size(importer, entry, ty);
    for (index, part) in (0..).zip(parts) {
        // A type that is made again, because an equal type is another entry's, takes the attributes.
        importer.extras.owners.remove(&part.offset());
        importer.own(part, AttributeOwner::Dimension(ty, index));
    }
    if DYNAMIC.iter().any(|&name| entry.has(name)) {
        importer.made.described.push(entry);
    }
    Ok(ty)
}

/// Makes a vector. Its size tells whether three elements are padded to four.
fn vector<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    owner: TypeId,
    count: u64,
) -> Made<TypeId> {
    let bits = importer.m.described().ty(owner).bits();
    let bytes = entry.number(dw::DW_AT_byte_size);
    let is_packed = match (bits, bytes) {
        (Some(bits), Some(bytes)) => bits.checked_mul(count) == bytes.checked_mul(8),
        _ => false,
    };
    importer.m.vector_of(importer.unit, owner, count, is_packed).map_err(refused)
}

fn array<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    owner: TypeId,
    extents: &[Extent],
    counts: &[Option<u64>],
    stride: Option<u64>,
) -> Made<TypeId> {
    let is_of_vectors = matches!(importer.m.described().ty(owner).kind(), TypeKind::Vector { .. });
    // An array of vectors in the order of columns is a matrix; in the language's order, it can be either.
    if let (true, &[Some(count)], Some(ResolvedValue::Unsigned(1))) =
        (is_of_vectors, counts, entry.attr(dw::DW_AT_ordering))
    {
        importer.mark(entry, dw::DW_AT_ordering);
        return importer.m.matrix_of(importer.unit, owner, count, Major::Column, stride).map_err(refused);
    }
    importer.m.array_of(importer.unit, owner, extents, stride).map_err(refused)
}

/// Takes a stride, in bits. An expression remains an attribute of the part.
fn stride<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<u64> {
    let mut number = |name| {
        let number = entry.number(name)?;
        importer.mark(entry, name);
        Some(number)
    };
    let bytes = number(dw::DW_AT_byte_stride).and_then(|bytes| bytes.checked_mul(8));
    number(dw::DW_AT_bit_stride).or(bytes)
}

/// Takes a dimension, with its number of elements if it is constant. An expression for the first index remains an
/// attribute of the part.
fn dimension<'d, 'o>(importer: &mut Importer<'d, 'o>, part: Entry<'d, 'o>) -> (Extent, Option<u64>) {
    let index = importer.refer_to_type(part, dw::DW_AT_type);
    let lower = match part.attr(dw::DW_AT_lower_bound) {
        Some(ResolvedValue::Unsigned(bound)) => i64::try_from(bound).ok(),
        Some(ResolvedValue::Signed(bound)) => Some(bound),
        _ => None,
    };
    if lower.is_some() {
        importer.mark(part, dw::DW_AT_lower_bound);
    }
    let has_first = lower.is_some() || !part.has(dw::DW_AT_lower_bound);
    let first = has_first.then(|| lower.unwrap_or_else(|| default_lower(importer)));
    let (extent, count) = count(importer, part, first);
    let extent = if let Some(lower) = lower { extent.from(lower) } else { extent };
    (if let Some(index) = index { extent.index(index) } else { extent }, count)
}

/// Takes the number of elements. What has no equivalent remains an attribute of the part.
fn count<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    first: Option<i64>,
) -> (Extent, Option<u64>) {
    let unknown = (Extent::unknown(), None);
    let name = if part.has(dw::DW_AT_count) { dw::DW_AT_count } else { dw::DW_AT_upper_bound };
    let is_count = name == dw::DW_AT_count;
    let Some(value) = part.attr(name) else { return unknown };
    // The number of elements before the bound.
    let more = match (is_count, first) {
        (true, _) => 0,
        (false, Some(first)) => 1i64.saturating_sub(first),
        (false, None) => return unknown,
    };
    let bound = match value {
        ResolvedValue::Unsigned(number) => Some(i128::from(number)),
        ResolvedValue::Signed(number) => Some(i128::from(number)),
        _ => None,
    };
    let extent = match (bound, value) {
        (Some(bound), _) => match u64::try_from(bound + i128::from(more)) {
            Ok(count) => Ok((Extent::fixed(count), Some(count))),
            Err(_) => Err(UnimportedReason::ValueRange(bound)),
        },
        (None, ResolvedValue::Expr(bytes)) => {
            importer.sum(part, bytes, more).map(|count| (Extent::value(count), None))
        }
        (None, value) if is_count => {
            importer.variable_at(part, value).map(|variable| (Extent::variable(variable), None))
        }
        (None, value) => Err(UnimportedReason::class(value, "a number or an expression")),
    };
    match extent {
        Ok(extent) => {
            importer.mark(part, name);
            extent
        }
        Err(_) => unknown,
    }
}

/// Returns the language's default for the first index: DWARF 5 table 7.17.
fn default_lower(importer: &Importer<'_, '_>) -> i64 {
    let language = importer.info.language.and_then(|number| u16::try_from(number).ok()).map(Language);
    let from_one = [
        Language::ADA83,
        Language::ADA95,
        Language::ADA2005,
        Language::ADA2012,
        Language::FORTRAN77,
        Language::FORTRAN90,
        Language::FORTRAN95,
        Language::FORTRAN03,
        Language::FORTRAN08,
        Language::FORTRAN18,
        Language::JULIA,
        // COBOL, Modula-2, Pascal, PL/I.
        Language(0x05),
        Language(0x06),
        Language(0x09),
        Language(0x0a),
        Language(0x0f),
    ];
    i64::from(language.is_some_and(|language| from_one.contains(&language)))
}
