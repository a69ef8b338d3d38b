//! Constants of types: DWARF 5 section 7.8 and following.

use crate::model::{Accessibility, BaseEncoding, MemorySpace, Passed};

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
