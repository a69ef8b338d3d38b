//! Tags and constants: DWARF 5 chapters 5 and 7.

use gimli::{DwTag, constants as dw};

use crate::model::is_type_tag;
use crate::model::{Accessibility, BaseEncoding, Defaulted, MemorySpace, Passed, VariableKind, Virtuality};
use crate::read::Entry;

/// Constants for base type encodings: table 7.11.
pub(super) fn encoding(encoding: BaseEncoding) -> u64 {
    match encoding {
        BaseEncoding::Address => 0x01,
        BaseEncoding::Boolean => 0x02,
        BaseEncoding::ComplexFloat => 0x03,
        BaseEncoding::Float
        | BaseEncoding::BFloat16
        | BaseEncoding::Float8E4M3
        | BaseEncoding::Float8E5M2 => 0x04,
        BaseEncoding::Signed => 0x05,
        BaseEncoding::SignedChar => 0x06,
        BaseEncoding::Unsigned => 0x07,
        BaseEncoding::UnsignedChar => 0x08,
        BaseEncoding::ImaginaryFloat => 0x09,
        BaseEncoding::PackedDecimal => 0x0a,
        BaseEncoding::NumericString => 0x0b,
        BaseEncoding::Edited => 0x0c,
        BaseEncoding::SignedFixed => 0x0d,
        BaseEncoding::UnsignedFixed => 0x0e,
        BaseEncoding::DecimalFloat => 0x0f,
        BaseEncoding::Utf => 0x10,
        BaseEncoding::Ucs => 0x11,
        BaseEncoding::Ascii => 0x12,
        BaseEncoding::Numbered(number) => number.into(),
    }
}

/// Constants for accessibilities: section 7.9.
pub(super) fn accessibility(accessibility: Accessibility) -> u64 {
    match accessibility {
        Accessibility::Public => 1,
        Accessibility::Protected => 2,
        Accessibility::Private => 3,
    }
}

/// Constants for virtualities: section 7.11.
pub(super) fn virtuality(virtuality: Virtuality) -> u64 {
    match virtuality {
        Virtuality::Virtual => 1,
        Virtuality::Pure => 2,
    }
}

/// Constants for defaulted member functions: table 7.24.
pub(super) fn defaulted(defaulted: Defaulted) -> u64 {
    match defaulted {
        Defaulted::InClass => 1,
        Defaulted::OutOfClass => 2,
    }
}

/// Constants for `DW_AT_inline`: table 7.20.
pub(super) fn inline(is_inlined: bool, is_declared: bool) -> u64 {
    u64::from(is_inlined) + 2 * u64::from(is_declared)
}

/// Calling conventions for composite types: section 7.15.
pub(super) fn passed(passed: Passed) -> u64 {
    match passed {
        Passed::ByReference => 4,
        Passed::ByValue => 5,
    }
}

/// Constants for memory spaces in the AMD extension.
pub(super) fn memory_space(memory: MemorySpace) -> u64 {
    match memory {
        MemorySpace::Global => 1,
        MemorySpace::Constant => 2,
        MemorySpace::Group => 3,
        MemorySpace::Private => 4,
    }
}

pub(super) fn variable_tag(kind: VariableKind) -> DwTag {
    match kind {
        VariableKind::Variable => dw::DW_TAG_variable,
        VariableKind::Parameter => dw::DW_TAG_formal_parameter,
        VariableKind::Constant => dw::DW_TAG_constant,
    }
}

/// Returns whether the tag belongs to a template parameter.
pub(in crate::check) fn is_template(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_template_type_parameter
            | dw::DW_TAG_template_value_parameter
            | dw::DW_TAG_GNU_template_template_param
            | dw::DW_TAG_GNU_template_parameter_pack
    )
}

/// Returns whether the tag belongs to a composite type.
pub(in crate::check) fn is_composite(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type)
}

/// Returns whether an entry is a type. A subrange in an array is a dimension.
pub(in crate::check) fn is_type(entry: Entry<'_, '_>) -> bool {
    let is_dimension = |entry: Entry<'_, '_>| {
        entry.tag() == dw::DW_TAG_subrange_type
            && entry.parent().is_some_and(|parent| parent.tag() == dw::DW_TAG_array_type)
    };
    is_type_tag(entry.tag()) && !is_dimension(entry)
}

/// Returns whether an entry is part of its parent, not a declaration in the parent's scope.
pub(in crate::check) fn is_part(entry: Entry<'_, '_>, parent: DwTag) -> bool {
    match parent {
        parent if is_composite(parent) => match entry.tag() {
            // Before DWARF 5, a static data member is a member that is only declared.
            dw::DW_TAG_member => !entry.has(dw::DW_AT_declaration),
            dw::DW_TAG_inheritance | dw::DW_TAG_variant_part => true,
            tag => is_template(tag),
        },
        dw::DW_TAG_subprogram => is_template(entry.tag()),
        dw::DW_TAG_compile_unit
        | dw::DW_TAG_skeleton_unit
        | dw::DW_TAG_type_unit
        | dw::DW_TAG_namespace
        | dw::DW_TAG_module
        | dw::DW_TAG_common_block
        | dw::DW_TAG_namelist
        | dw::DW_TAG_lexical_block
        | dw::DW_TAG_inlined_subroutine
        // Witnesses compare arguments.
        | dw::DW_TAG_call_site
        | dw::DW_TAG_GNU_call_site => false,
        _ => true,
    }
}
