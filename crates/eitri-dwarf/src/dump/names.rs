//! Tag, attribute and number names, with the specification's prefixes.

use std::borrow::Cow;

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use crate::attributes;
use crate::read::ResolvedValue;

/// The name, or the prefix and number if there is no name.
fn or_number(name: Option<&'static str>, prefix: &str, number: u64) -> Cow<'static, str> {
    name.map_or_else(|| format!("{prefix}_{number:#x}").into(), Cow::Borrowed)
}
pub fn tag(tag: DwTag) -> Cow<'static, str> {
    or_number(tag.static_string(), "DW_TAG", tag.0.into())
}

pub(super) fn form(form: DwForm) -> Cow<'static, str> {
    or_number(form.static_string(), "DW_FORM", form.0.into())
}

/// Returns an attribute's name. If a vendor number has two meanings, the value decides: an attribute with a location
/// describes lanes.
pub fn attribute(name: DwAt, value: &ResolvedValue<'_>) -> Cow<'static, str> {
    let has_location = matches!(value, ResolvedValue::Expr(_) | ResolvedValue::LocList(_));
    let name_by_value = match (name, has_location) {
        (attributes::DW_AT_LLVM_ACTIVE_LANE_AMD, true) => Some("DW_AT_LLVM_active_lane"),
        (attributes::DW_AT_LLVM_LANE_PC_AMD, true) => Some("DW_AT_LLVM_lane_pc"),
        _ => attributes::name(name),
    };
    or_number(name_by_value, "DW_AT", name.0.into())
}

/// Returns the name of a number in an enumerated attribute.
pub(super) fn constant(attribute: DwAt, number: u64) -> Option<Cow<'static, str>> {
    let byte = u8::try_from(number).ok();
    let wide = u16::try_from(number).ok();
    macro_rules! of {
        ($number:ident, $kind:ident, $prefix:literal) => {
            Some(or_number($number.and_then(|number| dw::$kind(number).static_string()), $prefix, number))
        };
    }
    match attribute {
        dw::DW_AT_encoding => of!(byte, DwAte, "DW_ATE"),
        dw::DW_AT_language => match vendor_language(number) {
            Some(name) => Some(name.into()),
            None => of!(wide, DwLang, "DW_LANG"),
        },
        dw::DW_AT_inline => of!(byte, DwInl, "DW_INL"),
        dw::DW_AT_calling_convention => match number {
            0xc6 => Some("DW_CC_LLVM_SpirFunction".into()),
            0xc7 => Some("DW_CC_LLVM_DeviceKernel".into()),
            _ => of!(byte, DwCc, "DW_CC"),
        },
        dw::DW_AT_accessibility => of!(byte, DwAccess, "DW_ACCESS"),
        dw::DW_AT_visibility => of!(byte, DwVis, "DW_VIS"),
        dw::DW_AT_virtuality => of!(byte, DwVirtuality, "DW_VIRTUALITY"),
        dw::DW_AT_endianity => of!(byte, DwEnd, "DW_END"),
        dw::DW_AT_ordering => of!(byte, DwOrd, "DW_ORD"),
        dw::DW_AT_identifier_case => of!(byte, DwId, "DW_ID"),
        dw::DW_AT_decimal_sign => of!(byte, DwDs, "DW_DS"),
        dw::DW_AT_defaulted => of!(byte, DwDefaulted, "DW_DEFAULTED"),
        attributes::DW_AT_LLVM_MEMORY_SPACE => match number {
            0 => Some("DW_MSPACE_LLVM_none".into()),
            1 => Some("DW_MSPACE_LLVM_global".into()),
            2 => Some("DW_MSPACE_LLVM_constant".into()),
            3 => Some("DW_MSPACE_LLVM_group".into()),
            4 => Some("DW_MSPACE_LLVM_private".into()),
            _ => Some(format!("DW_MSPACE_LLVM_{number:#x}").into()),
        },
        _ => None,
    }
}

/// GPU languages that are missing from gimli's table.
fn vendor_language(number: u64) -> Option<&'static str> {
    Some(match number {
        0x30 => "DW_LANG_HIP",
        0x33 => "DW_LANG_Mojo",
        0x34 => "DW_LANG_GLSL",
        0x35 => "DW_LANG_GLSL_ES",
        0x36 => "DW_LANG_HLSL",
        0x37 => "DW_LANG_OpenCL_CPP",
        0x38 => "DW_LANG_CPP_for_OpenCL",
        0x39 => "DW_LANG_SYCL",
        0x3d => "DW_LANG_Metal",
        _ => return None,
    })
}
