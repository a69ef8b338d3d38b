//! Attribute constants, and the attributes and tags that depend on the version: DWARF 5 section 7.8 and the sections
//! after it.

use crate::model::{
    Accessibility, BaseEncoding, Function, MemorySpace, Module, Passed, TemplateArgument, TypeId,
    VariantValues,
};
use crate::op::{write_sleb, write_uleb};

/// Base type encoding constant.
pub(super) fn encoding(encoding: BaseEncoding) -> gimli::DwAte {
    match encoding {
        BaseEncoding::Address => gimli::DW_ATE_address,
        BaseEncoding::Boolean => gimli::DW_ATE_boolean,
        BaseEncoding::ComplexFloat => gimli::DW_ATE_complex_float,
        // clang writes `__bf16` so; gdb knows the format by the name.
        BaseEncoding::Float
        | BaseEncoding::BFloat16
        | BaseEncoding::Float8E4M3
        | BaseEncoding::Float8E5M2 => gimli::DW_ATE_float,
        BaseEncoding::ImaginaryFloat => gimli::DW_ATE_imaginary_float,
        BaseEncoding::DecimalFloat => gimli::DW_ATE_decimal_float,
        BaseEncoding::Signed => gimli::DW_ATE_signed,
        BaseEncoding::SignedChar => gimli::DW_ATE_signed_char,
        BaseEncoding::Unsigned => gimli::DW_ATE_unsigned,
        BaseEncoding::UnsignedChar => gimli::DW_ATE_unsigned_char,
        BaseEncoding::SignedFixed => gimli::DW_ATE_signed_fixed,
        BaseEncoding::UnsignedFixed => gimli::DW_ATE_unsigned_fixed,
        BaseEncoding::PackedDecimal => gimli::DW_ATE_packed_decimal,
        BaseEncoding::NumericString => gimli::DW_ATE_numeric_string,
        BaseEncoding::Edited => gimli::DW_ATE_edited,
        BaseEncoding::Utf => gimli::DW_ATE_UTF,
        BaseEncoding::Ucs => gimli::DW_ATE_UCS,
        BaseEncoding::Ascii => gimli::DW_ATE_ASCII,
        BaseEncoding::Numbered(number) => gimli::DwAte(number),
    }
}

/// Constant for how a structure, class or union is passed: section 7.15. Readers that know only older versions skip it.
pub(super) fn calling_convention(passed: Passed) -> gimli::DwCc {
    match passed {
        Passed::ByValue => gimli::DW_CC_pass_by_value,
        Passed::ByReference => gimli::DW_CC_pass_by_reference,
    }
}

/// Memory space constant.
pub(super) fn memory_space(memory: MemorySpace) -> u64 {
    match memory {
        MemorySpace::Global => 1,
        MemorySpace::Constant => 2,
        MemorySpace::Group => 3,
        MemorySpace::Private => 4,
    }
}

/// Accessibility constant.
pub(super) fn accessibility(accessibility: Accessibility) -> gimli::DwAccess {
    match accessibility {
        Accessibility::Public => gimli::DW_ACCESS_public,
        Accessibility::Protected => gimli::DW_ACCESS_protected,
        Accessibility::Private => gimli::DW_ACCESS_private,
    }
}

/// `DW_AT_inline` value: whether a function is inlined, and whether it is declared inline.
pub(super) fn inline(function: &Function) -> gimli::DwInl {
    match (function.is_inlined, function.is_declared_inline) {
        (false, false) => gimli::DW_INL_not_inlined,
        (true, false) => gimli::DW_INL_inlined,
        (false, true) => gimli::DW_INL_declared_not_inlined,
        (true, true) => gimli::DW_INL_declared_inlined,
    }
}

/// Linkage name attribute. Before DWARF 4 it is the MIPS compilers' attribute, which other producers adopted.
pub(super) fn linkage_name(version: u16) -> gimli::DwAt {
    if version < 4 { gimli::DW_AT_MIPS_linkage_name } else { gimli::DW_AT_linkage_name }
}

/// Call entry tag; GNU's before DWARF 5.
pub(super) fn call_tag(version: u16) -> gimli::DwTag {
    if version < 5 { gimli::DW_TAG_GNU_call_site } else { gimli::DW_TAG_call_site }
}

/// Argument entry tag; GNU's before DWARF 5.
pub(super) fn argument_tag(version: u16) -> gimli::DwTag {
    if version < 5 { gimli::DW_TAG_GNU_call_site_parameter } else { gimli::DW_TAG_call_site_parameter }
}

/// Function, call or argument attribute. Before DWARF 5, GNU's equivalent replaces an attribute that DWARF 5
/// introduced, if GNU has one.
pub(super) fn call_attribute(attribute: gimli::DwAt, version: u16) -> gimli::DwAt {
    if version >= 5 {
        return attribute;
    }
    match attribute {
        gimli::DW_AT_call_all_tail_calls => gimli::DW_AT_GNU_all_tail_call_sites,
        gimli::DW_AT_call_all_calls => gimli::DW_AT_GNU_all_call_sites,
        gimli::DW_AT_call_all_source_calls => gimli::DW_AT_GNU_all_source_call_sites,
        gimli::DW_AT_call_origin | gimli::DW_AT_call_parameter => gimli::DW_AT_abstract_origin,
        gimli::DW_AT_call_target => gimli::DW_AT_GNU_call_site_target,
        gimli::DW_AT_call_target_clobbered => gimli::DW_AT_GNU_call_site_target_clobbered,
        gimli::DW_AT_call_tail_call => gimli::DW_AT_GNU_tail_call,
        gimli::DW_AT_call_value => gimli::DW_AT_GNU_call_site_value,
        gimli::DW_AT_call_data_value => gimli::DW_AT_GNU_call_site_data_value,
        attribute => attribute,
    }
}

/// Discriminant values as LEB128 numbers, signed if the discriminant's type is: DWARF 5 section 7.5.5.
pub(super) fn discriminant_list(values: &[VariantValues], is_signed: bool) -> Vec<u8> {
    let mut block = Vec::new();
    // The builder refuses values wider than 64 bits, so the casts lose nothing.
    let number = |block: &mut Vec<u8>, value: i128| {
        if is_signed { write_sleb(block, value as i64) } else { write_uleb(block, value as u64) }
    };
    for &values in values {
        match values {
            VariantValues::Single(value) => {
                block.push(gimli::DW_DSC_label.0);
                number(&mut block, value);
            }
            VariantValues::Range(first, last) => {
                block.push(gimli::DW_DSC_range.0);
                number(&mut block, first);
                number(&mut block, last);
            }
        }
    }
    block
}

/// Template parameter tag.
pub(super) fn template_tag(argument: &TemplateArgument) -> gimli::DwTag {
    match argument {
        TemplateArgument::Type(_) => gimli::DW_TAG_template_type_parameter,
        TemplateArgument::Value { .. } => gimli::DW_TAG_template_value_parameter,
        TemplateArgument::Template(_) => gimli::DW_TAG_GNU_template_template_param,
        TemplateArgument::Pack(_) => gimli::DW_TAG_GNU_template_parameter_pack,
    }
}

/// Tag of an array's dimensions. If their number is known at run time only, one entry stands for all.
pub(super) fn dimension_tag(module: &Module, array: TypeId) -> gimli::DwTag {
    let mut attributes = module.attributes(array).iter();
    if attributes.any(|attribute| attribute.name == gimli::DW_AT_rank) {
        gimli::DW_TAG_generic_subrange
    } else {
        gimli::DW_TAG_subrange_type
    }
}
