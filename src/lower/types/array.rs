//! Array entries: DWARF 5 sections 5.5 and 5.13.

use gimli::DwTag;

use crate::error::Result;
use crate::lower::constants::dimension_tag;
use crate::lower::entry::EntryWriter;
use crate::model::{AttributeOwner, Count, Dimension, TypeId};
use crate::omission::{Property, Subject};

pub(super) fn write(
    out: &mut EntryWriter<'_>,
    id: TypeId,
    of: TypeId,
    dimensions: &[Dimension],
    stride_bits: Option<u64>,
) -> Result<()> {
    out.info.begin_entry(
        gimli::DW_TAG_array_type,
        gimli::DW_CHILDREN_yes,
        Some(out.expressions.numbers.ty(id)),
    );
    out.type_of(Some(of));
    stride(out, stride_bits);
    out.type_attributes(id)?;
    out.info.end_entry();
    let tag = dimension_tag(out.module, id);
    // A dimension that stands for all cannot be written as one of them.
    let known = if out.consumer.entries.knows_tag(tag) { dimensions } else { &[] };
    for (index, dimension) in (0..).zip(known) {
        write_dimension(out, tag, id, index, dimension)?;
    }
    out.info.end_children();
    Ok(())
}

/// Writes the distance between elements, if it is not an element's size.
pub(super) fn stride(out: &mut EntryWriter<'_>, bits: Option<u64>) {
    match bits {
        None => {}
        Some(bits) if bits.is_multiple_of(8) => {
            out.info.unsigned(gimli::DW_AT_byte_stride, bits / 8);
        }
        Some(bits) => out.info.unsigned(gimli::DW_AT_bit_stride, bits),
    }
}

/// Writes the only dimension of a type, with a constant element count.
pub(super) fn fixed_dimension(out: &mut EntryWriter<'_>, ty: TypeId, count: u64) -> Result<()> {
    out.info.begin_entry(gimli::DW_TAG_subrange_type, gimli::DW_CHILDREN_no, None);
    out.info.unsigned(gimli::DW_AT_count, count);
    out.attributes(AttributeOwner::Dimension(ty, 0))?;
    out.info.end_entry();
    Ok(())
}

fn write_dimension(
    out: &mut EntryWriter<'_>,
    tag: DwTag,
    array: TypeId,
    index: u32,
    dimension: &Dimension,
) -> Result<()> {
    out.info.begin_entry(tag, gimli::DW_CHILDREN_no, None);
    out.type_of(dimension.index);
    if let Some(lower) = dimension.lower {
        out.info.signed(gimli::DW_AT_lower_bound, lower);
    }
    match dimension.count {
        Count::Unknown => {}
        Count::Fixed(count) => out.info.unsigned(gimli::DW_AT_count, count),
        Count::Variable(variable) => {
            out.refer_to_variable(gimli::DW_AT_count, variable);
        }
        Count::Value(number) => {
            if out.expressions.number_of(Subject::Type(array), Property::Count, number)? {
                out.expression_attribute(gimli::DW_AT_count);
            }
        }
    }
    out.attributes(AttributeOwner::Dimension(array, index))?;
    out.info.end_entry();
    Ok(())
}
