//! Tags, attributes and numbers of types: DWARF 5 chapters 5 and 7.

use gimli::{DwAt, DwTag, constants as dw};

use crate::consumer::Consumer;
use crate::model::{
    Accessibility, BaseEncoding, CompositeKind, MemorySpace, Passed, PointerKind, Qualifier, TypeKind,
};

/// The attributes that every type may have.
const ANY: &[DwAt] = &[dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column, dw::DW_AT_alignment];

/// The attributes that a type's entry may have.
pub(super) fn allowed(tag: DwTag, consumer: &Consumer, name: DwAt) -> bool {
    let own: &[DwAt] = match tag {
        dw::DW_TAG_base_type => {
            &[dw::DW_AT_name, dw::DW_AT_byte_size, dw::DW_AT_encoding, dw::DW_AT_bit_size]
        }
        dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
            let is_space = [consumer.address_space, consumer.memory_space].contains(&Some(name));
            return is_space || [dw::DW_AT_type, dw::DW_AT_byte_size].contains(&name) || ANY.contains(&name);
        }
        dw::DW_TAG_ptr_to_member_type => &[dw::DW_AT_type, dw::DW_AT_containing_type],
        dw::DW_TAG_unspecified_type => &[dw::DW_AT_name],
        dw::DW_TAG_array_type => &[
            dw::DW_AT_type,
            dw::DW_AT_byte_size,
            dw::DW_AT_GNU_vector,
            dw::DW_AT_byte_stride,
            dw::DW_AT_bit_stride,
        ],
        dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => {
            &[dw::DW_AT_name, dw::DW_AT_byte_size, dw::DW_AT_declaration, dw::DW_AT_calling_convention]
        }
        dw::DW_TAG_enumeration_type => {
            &[dw::DW_AT_name, dw::DW_AT_type, dw::DW_AT_byte_size, dw::DW_AT_enum_class]
        }
        dw::DW_TAG_typedef => &[dw::DW_AT_name, dw::DW_AT_type],
        dw::DW_TAG_subroutine_type => &[dw::DW_AT_type, dw::DW_AT_prototyped],
        _ => &[dw::DW_AT_type],
    };
    own.contains(&name) || ANY.contains(&name)
}

/// Whether it is the tag of a type that a module can have.
pub(in crate::check) fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_base_type
            | dw::DW_TAG_unspecified_type
            | dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_rvalue_reference_type
            | dw::DW_TAG_ptr_to_member_type
            | dw::DW_TAG_array_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_subroutine_type
    )
}

pub(super) fn tag_of(kind: &TypeKind) -> DwTag {
    match kind {
        TypeKind::Base { .. } => dw::DW_TAG_base_type,
        TypeKind::Unspecified { .. } => dw::DW_TAG_unspecified_type,
        TypeKind::Pointer { kind: PointerKind::Pointer, .. } => dw::DW_TAG_pointer_type,
        TypeKind::Pointer { kind: PointerKind::Reference, .. } => dw::DW_TAG_reference_type,
        TypeKind::Pointer { kind: PointerKind::RvalueReference, .. } => dw::DW_TAG_rvalue_reference_type,
        TypeKind::MemberPointer { .. } => dw::DW_TAG_ptr_to_member_type,
        TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => dw::DW_TAG_array_type,
        TypeKind::Composite(composite) => match composite.kind {
            CompositeKind::Struct => dw::DW_TAG_structure_type,
            CompositeKind::Class => dw::DW_TAG_class_type,
            CompositeKind::Union => dw::DW_TAG_union_type,
        },
        TypeKind::Enum { .. } => dw::DW_TAG_enumeration_type,
        TypeKind::Typedef { .. } => dw::DW_TAG_typedef,
        TypeKind::Qualified { qualifier: Qualifier::Const, .. } => dw::DW_TAG_const_type,
        TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => dw::DW_TAG_volatile_type,
        TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => dw::DW_TAG_restrict_type,
        TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => dw::DW_TAG_atomic_type,
        TypeKind::Subroutine { .. } => dw::DW_TAG_subroutine_type,
    }
}

/// Table 7.11.
pub(super) fn encoding(encoding: BaseEncoding) -> u64 {
    match encoding {
        BaseEncoding::Address => 0x01,
        BaseEncoding::Boolean => 0x02,
        BaseEncoding::ComplexFloat => 0x03,
        BaseEncoding::Float => 0x04,
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
    }
}

/// Table 7.16.
pub(in crate::check) fn accessibility(accessibility: Accessibility) -> u64 {
    match accessibility {
        Accessibility::Public => 1,
        Accessibility::Protected => 2,
        Accessibility::Private => 3,
    }
}

/// DWARF 5 section 7.15.
pub(super) fn passed(passed: Passed) -> u64 {
    match passed {
        Passed::ByReference => 4,
        Passed::ByValue => 5,
    }
}

/// The AMD extension's table of memory spaces.
pub(in crate::check) fn memory_space(memory: MemorySpace) -> u64 {
    match memory {
        MemorySpace::Global => 1,
        MemorySpace::Constant => 2,
        MemorySpace::Group => 3,
        MemorySpace::Private => 4,
    }
}
