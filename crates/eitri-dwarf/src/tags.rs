//! Kinds of entry tags.

use gimli::{DwTag, constants as dw};

/// Whether a tag belongs to a type entry: DWARF 5 section 7.5.3, table 7.3.
pub fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_array_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_string_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_union_type
            | dw::DW_TAG_ptr_to_member_type
            | dw::DW_TAG_set_type
            | dw::DW_TAG_subrange_type
            | dw::DW_TAG_base_type
            | dw::DW_TAG_const_type
            | dw::DW_TAG_file_type
            | dw::DW_TAG_packed_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_interface_type
            | dw::DW_TAG_unspecified_type
            | dw::DW_TAG_shared_type
            | dw::DW_TAG_rvalue_reference_type
            | dw::DW_TAG_coarray_type
            | dw::DW_TAG_dynamic_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_immutable_type
            | dw::DW_TAG_template_alias
    )
}
