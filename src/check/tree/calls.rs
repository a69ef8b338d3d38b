//! Call tags and attributes: DWARF 5 section 3.4, and GNU's before DWARF 5, where GNU has them.

use gimli::{DwAt, DwTag, constants as dw};

/// Call tags and attributes.
pub(in crate::check) struct Names {
    pub(in crate::check) call: DwTag,
    pub(in crate::check) argument: DwTag,
    /// Pc after the call; in GNU's entry, the call's own pc if the pc after it is not known.
    pub(in crate::check) return_pc: DwAt,
    pub(in crate::check) callee: DwAt,
    pub(in crate::check) target: DwAt,
    pub(in crate::check) clobbered: DwAt,
    pub(in crate::check) tail: DwAt,
    pub(in crate::check) parameter: DwAt,
    pub(in crate::check) value: DwAt,
    pub(in crate::check) data_value: DwAt,
}

pub(super) const DWARF5: Names = Names {
    call: dw::DW_TAG_call_site,
    argument: dw::DW_TAG_call_site_parameter,
    return_pc: dw::DW_AT_call_return_pc,
    callee: dw::DW_AT_call_origin,
    target: dw::DW_AT_call_target,
    clobbered: dw::DW_AT_call_target_clobbered,
    tail: dw::DW_AT_call_tail_call,
    parameter: dw::DW_AT_call_parameter,
    value: dw::DW_AT_call_value,
    data_value: dw::DW_AT_call_data_value,
};

pub(super) const GNU: Names = Names {
    call: DwTag(0x4109),
    argument: DwTag(0x410a),
    return_pc: dw::DW_AT_low_pc,
    callee: dw::DW_AT_abstract_origin,
    target: DwAt(0x2113),
    clobbered: DwAt(0x2114),
    tail: DwAt(0x2115),
    parameter: dw::DW_AT_abstract_origin,
    value: DwAt(0x2111),
    data_value: DwAt(0x2112),
};
