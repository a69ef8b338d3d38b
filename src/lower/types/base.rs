//! Tags and constants of types: DWARF 5 section 7.8 and following.

use crate::model::{
    Accessibility, BaseEncoding, CompositeKind, MemorySpace, Passed, PointerKind, Qualifier, TypeKind,
};

/// Constant of a base type encoding.
pub(in crate::lower) fn encoding(encoding: BaseEncoding) -> gimli::DwAte {
    match encoding {
        BaseEncoding::Address => gimli::DW_ATE_address,
        BaseEncoding::Boolean => gimli::DW_ATE_boolean,
        BaseEncoding::ComplexFloat => gimli::DW_ATE_complex_float,
        BaseEncoding::Float => gimli::DW_ATE_float,
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
    }
}

/// Tag of a type.
pub(in crate::lower) fn tag(kind: &TypeKind) -> gimli::DwTag {
    match kind {
        TypeKind::Base { .. } => gimli::DW_TAG_base_type,
        TypeKind::Unspecified { .. } => gimli::DW_TAG_unspecified_type,
        TypeKind::Pointer { kind, .. } => pointer(*kind),
        TypeKind::MemberPointer { .. } => gimli::DW_TAG_ptr_to_member_type,
        TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => {
            gimli::DW_TAG_array_type
        }
        TypeKind::Composite(one) => composite(one.kind),
        TypeKind::Enum { .. } => gimli::DW_TAG_enumeration_type,
        TypeKind::Typedef { .. } => gimli::DW_TAG_typedef,
        TypeKind::Qualified { qualifier: one, .. } => qualifier(*one),
        TypeKind::Subroutine { .. } => gimli::DW_TAG_subroutine_type,
    }
}

/// Tag of a qualified type.
pub(in crate::lower) fn qualifier(qualifier: Qualifier) -> gimli::DwTag {
    match qualifier {
        Qualifier::Const => gimli::DW_TAG_const_type,
        Qualifier::Volatile => gimli::DW_TAG_volatile_type,
        Qualifier::Restrict => gimli::DW_TAG_restrict_type,
        Qualifier::Atomic => gimli::DW_TAG_atomic_type,
    }
}

/// Tag of a pointer or reference.
pub(in crate::lower) fn pointer(kind: PointerKind) -> gimli::DwTag {
    match kind {
        PointerKind::Pointer => gimli::DW_TAG_pointer_type,
        PointerKind::Reference => gimli::DW_TAG_reference_type,
        PointerKind::RvalueReference => gimli::DW_TAG_rvalue_reference_type,
    }
}

/// Tag of a structure, class or union.
pub(in crate::lower) fn composite(kind: CompositeKind) -> gimli::DwTag {
    match kind {
        CompositeKind::Struct => gimli::DW_TAG_structure_type,
        CompositeKind::Class => gimli::DW_TAG_class_type,
        CompositeKind::Union => gimli::DW_TAG_union_type,
    }
}

/// Calling convention of a structure, class or union; `None` before DWARF 5. Section 7.15.
pub(in crate::lower) fn calling_convention(passed: Option<Passed>, version: u16) -> Option<gimli::DwCc> {
    passed.filter(|_| version >= 5).map(|passed| match passed {
        Passed::ByValue => gimli::DW_CC_pass_by_value,
        Passed::ByReference => gimli::DW_CC_pass_by_reference,
    })
}

/// Constant of a memory space.
pub(in crate::lower) fn memory_space(memory: MemorySpace) -> u64 {
    match memory {
        MemorySpace::Global => 1,
        MemorySpace::Constant => 2,
        MemorySpace::Group => 3,
        MemorySpace::Private => 4,
    }
}

/// Constant of an accessibility.
pub(in crate::lower) fn accessibility(accessibility: Accessibility) -> gimli::DwAccess {
    match accessibility {
        Accessibility::Public => gimli::DW_ACCESS_public,
        Accessibility::Protected => gimli::DW_ACCESS_protected,
        Accessibility::Private => gimli::DW_ACCESS_private,
    }
}
