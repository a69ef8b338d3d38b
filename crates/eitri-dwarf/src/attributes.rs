//! Attribute names, and the vendors' numbers that readers and writers share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use gimli::{DwAt, constants as dw};

/// `DW_AT_LLVM_memory_space`.
pub const DW_AT_LLVM_MEMORY_SPACE: DwAt = DwAt(0x3e0f);
/// `DW_AT_LLVM_address_space`.
pub const DW_AT_LLVM_ADDRESS_SPACE: DwAt = DwAt(0x3e10);
/// `DW_AT_LLVM_lanes`, LLVM's number.
pub const DW_AT_LLVM_LANES: DwAt = DwAt(0x3e11);
/// `DW_AT_LLVM_lanes`, with the number in the AMDGPU extension.
pub const DW_AT_LLVM_LANES_AMD: DwAt = DwAt(0x3e0a);
/// `DW_AT_LLVM_lane_pc`, LLVM's number.
pub const DW_AT_LLVM_LANE_PC: DwAt = DwAt(0x3e12);
/// `DW_AT_LLVM_lane_pc`, with the number in the AMDGPU extension and in AMD's debugger.
pub const DW_AT_LLVM_LANE_PC_AMD: DwAt = DwAt(0x3e0b);
/// `DW_AT_LLVM_active_lane`, with the number in the AMDGPU extension. LLVM does not assign a number.
pub const DW_AT_LLVM_ACTIVE_LANE_AMD: DwAt = DwAt(0x3e08);
/// `DW_CC_LLVM_DeviceKernel`.
pub const DW_CC_LLVM_DEVICE_KERNEL: u8 = 0xc7;
/// `DW_AT_LLVM_vector_size`.
pub const DW_AT_LLVM_VECTOR_SIZE: DwAt = DwAt(0x3e13);

/// Returns an attribute's name: the standard's, or a vendor's.
pub fn name(attribute: DwAt) -> Option<&'static str> {
    let index = usize::from(attribute.0.wrapping_sub(0x3e00));
    match attribute.0 {
        0x2703 => Some("DW_AT_NV_general_flags"),
        _ => LLVM.get(index).copied().or_else(|| attribute.static_string()),
    }
}

/// Returns an attribute's name, or its number if the attribute is nameless.
pub fn text(attribute: DwAt) -> Cow<'static, str> {
    name(attribute).map_or_else(|| format!("{:#x}", attribute.0).into(), Cow::Borrowed)
}

/// Attributes of the standard that few producers write and no property of a description encodes. Nothing else in an entry
/// depends on them.
#[rustfmt::skip]
const RARE: [DwAt; 45] = [
    dw::DW_AT_accessibility, dw::DW_AT_alignment, dw::DW_AT_artificial, dw::DW_AT_binary_scale, dw::DW_AT_bit_stride,
    dw::DW_AT_byte_stride, dw::DW_AT_const_expr, dw::DW_AT_const_value, dw::DW_AT_containing_type, dw::DW_AT_count,
    dw::DW_AT_data_member_location, dw::DW_AT_decimal_scale, dw::DW_AT_decimal_sign, dw::DW_AT_decl_column,
    dw::DW_AT_decl_line, dw::DW_AT_declaration, dw::DW_AT_default_value, dw::DW_AT_description, dw::DW_AT_digit_count,
    dw::DW_AT_elemental, dw::DW_AT_encoding, dw::DW_AT_endianity, dw::DW_AT_entry_pc, dw::DW_AT_export_symbols,
    dw::DW_AT_identifier_case, dw::DW_AT_inline, dw::DW_AT_is_optional, dw::DW_AT_linkage_name, dw::DW_AT_lower_bound,
    dw::DW_AT_name, dw::DW_AT_noreturn, dw::DW_AT_ordering, dw::DW_AT_picture_string, dw::DW_AT_prototyped, dw::DW_AT_pure,
    dw::DW_AT_recursive, dw::DW_AT_reference, dw::DW_AT_rvalue_reference, dw::DW_AT_small, dw::DW_AT_start_scope,
    dw::DW_AT_trampoline, dw::DW_AT_upper_bound, dw::DW_AT_use_UTF8, dw::DW_AT_variable_parameter, dw::DW_AT_visibility,
];

/// Whether an attribute is [rare](RARE), by its number.
static IS_RARE: [bool; 0x100] = {
    let mut is_rare = [false; 0x100];
    let mut index = 0;
    while index < RARE.len() {
        is_rare[RARE[index].0 as usize] = true;
        index += 1;
    }
    is_rare
};

/// Attributes that an entity can have without a property, by name: vendors', and rare ones of the standard.
static EXTRA: LazyLock<HashMap<&str, DwAt>> = LazyLock::new(|| {
    let attributes = (dw::DW_AT_lo_user.0..=dw::DW_AT_hi_user.0).map(DwAt).chain(RARE);
    attributes.filter_map(|attribute| Some((name(attribute)?, attribute))).collect()
});

/// Returns a vendor's attribute, or a rare attribute of the standard, by its name.
pub fn extra(name: &str) -> Option<DwAt> {
    EXTRA.get(name).copied()
}

/// Names of these attributes, in any order.
pub fn extras() -> impl Iterator<Item = &'static str> {
    EXTRA.keys().copied()
}

/// Whether an attribute is a vendor's, or a rare attribute of the standard.
pub fn is_extra(attribute: DwAt) -> bool {
    is_vendor(attribute) || IS_RARE.get(usize::from(attribute.0)).is_some_and(|&is_rare| is_rare)
}

/// Whether an attribute's number is in the vendors' range: DWARF 5 section 7.1.
pub fn is_vendor(attribute: DwAt) -> bool {
    (dw::DW_AT_lo_user.0..=dw::DW_AT_hi_user.0).contains(&attribute.0)
}

/// LLVM's attributes from 0x3e00 on, from its registry.
#[rustfmt::skip]
static LLVM: [&str; 0x16] = [
    "DW_AT_LLVM_include_path",
    "DW_AT_LLVM_config_macros",
    "DW_AT_LLVM_sysroot",
    "DW_AT_LLVM_tag_offset",
    "DW_AT_LLVM_ptrauth_key",
    "DW_AT_LLVM_ptrauth_address_discriminated",
    "DW_AT_LLVM_ptrauth_extra_discriminator",
    "DW_AT_LLVM_apinotes",
    "DW_AT_LLVM_ptrauth_isa_pointer",
    "DW_AT_LLVM_ptrauth_authenticates_null_values",
    "DW_AT_LLVM_ptrauth_authentication_mode",
    "DW_AT_LLVM_num_extra_inhabitants",
    "DW_AT_LLVM_stmt_sequence",
    "DW_AT_LLVM_coro_suspend_idx",
    "DW_AT_LLVM_alloc_type",
    "DW_AT_LLVM_memory_space",
    "DW_AT_LLVM_address_space",
    "DW_AT_LLVM_lanes",
    "DW_AT_LLVM_lane_pc",
    "DW_AT_LLVM_vector_size",
    "DW_AT_LLVM_virtual_call_origin",
    "DW_AT_LLVM_language_dialect",
];
