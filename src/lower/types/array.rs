//! Array entries: DWARF 5 sections 5.5 and 5.13.

use crate::error::Result;
use crate::lower::entry::EntryWriter;
use crate::model::{Count, Dimension, TypeId};
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
    out.type_attributes(&out.module.types[id]);
    out.info.end_entry();
    for dimension in dimensions {
        write_dimension(out, id, dimension)?;
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

/// Writes a dimension with a constant element count.
pub(super) fn fixed_dimension(out: &mut EntryWriter<'_>, count: u64) {
    out.info.begin_entry(gimli::DW_TAG_subrange_type, gimli::DW_CHILDREN_no, None);
    out.info.unsigned(gimli::DW_AT_count, count);
    out.info.end_entry();
}

fn write_dimension(out: &mut EntryWriter<'_>, array: TypeId, dimension: &Dimension) -> Result<()> {
    out.info.begin_entry(gimli::DW_TAG_subrange_type, gimli::DW_CHILDREN_no, None);
    out.type_of(dimension.index);
    if let Some(lower) = dimension.lower {
        out.info.signed(gimli::DW_AT_lower_bound, lower);
    }
    match dimension.count {
        Count::Unknown => {}
        Count::Fixed(count) => out.info.unsigned(gimli::DW_AT_count, count),
        Count::Variable(variable) => {
            // Without code, a function has its variables' entries in its abstract instance.
            let module = out.module;
            let function = module.function_of(module.variables[variable].scope);
            let has_code = function.is_none_or(|function| module.functions[function].address.is_some());
            let entry = if has_code {
                out.expressions.numbers.variable(variable)
            } else {
                out.expressions.numbers.origin(variable)
            };
            out.info.reference(gimli::DW_AT_count, entry);
        }
        Count::Value(number) => {
            if out.expressions.number_of(Subject::Type(array), Property::Count, number)? {
                out.expression_attribute(gimli::DW_AT_count);
            }
        }
    }
    out.info.end_entry();
    Ok(())
}
