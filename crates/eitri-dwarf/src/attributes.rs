//! Attribute names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use gimli::{DwAt, constants as dw};

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

/// Vendor attributes by name.
static VENDORS: LazyLock<HashMap<&str, DwAt>> = LazyLock::new(|| {
    let attributes = (dw::DW_AT_lo_user.0..=dw::DW_AT_hi_user.0).map(DwAt);
    attributes.filter_map(|attribute| Some((name(attribute)?, attribute))).collect()
});

/// Returns a vendor attribute by its name.
pub fn vendor(name: &str) -> Option<DwAt> {
    VENDORS.get(name).copied()
}

/// Names of vendor attributes, in any order.
pub fn vendors() -> impl Iterator<Item = &'static str> {
    VENDORS.keys().copied()
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
