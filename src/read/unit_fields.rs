//! Fields of a unit: those of its header, and those of its first entry.

use gimli::{DwUt, constants as dw};

use super::dwarf::Unit;
use super::sections::{lists_header, str_offsets_header};
use super::units::Raw;
use super::value::{Slice, Value};
use crate::op::Encoding;

/// Returns a unit with the fields of its header.
pub(super) fn new_unit<'o>(
    header: &gimli::UnitHeader<Slice<'o>>,
    bytes: Slice<'o>,
    offset: u64,
    encoding: Encoding,
    is_split: bool,
) -> Unit<'o> {
    let (mut signature, mut type_offset, mut dwo_id) = (None, None, None);
    let mut take = |kind, of: gimli::DebugTypeSignature, at: gimli::UnitOffset| {
        signature = Some(of.0);
        type_offset = Some(offset.saturating_add(at.0 as u64));
        kind
    };
    let kind: DwUt = match header.type_() {
        gimli::UnitType::Compilation if is_split => dw::DW_UT_split_compile,
        gimli::UnitType::Compilation => dw::DW_UT_compile,
        gimli::UnitType::Type { type_signature, type_offset } => {
            take(if is_split { dw::DW_UT_split_type } else { dw::DW_UT_type }, type_signature, type_offset)
        }
        gimli::UnitType::Partial => dw::DW_UT_partial,
        gimli::UnitType::Skeleton(id) => {
            dwo_id = Some(id.0);
            dw::DW_UT_skeleton
        }
        gimli::UnitType::SplitCompilation(id) => {
            dwo_id = Some(id.0);
            dw::DW_UT_split_compile
        }
        gimli::UnitType::SplitType { type_signature, type_offset } => {
            take(dw::DW_UT_split_type, type_signature, type_offset)
        }
    };
    let mut unit = Unit {
        offset,
        end: offset + bytes.len() as u64,
        kind,
        signature,
        type_offset,
        dwo_id,
        dwo_name: None,
        encoding,
        name: None,
        comp_dir: None,
        producer: None,
        language: None,
        low_pc: None,
        addr_base: None,
        str_offsets_base: None,
        loclists_base: None,
        rnglists_base: None,
        ranges_base: None,
        stmt_list: None,
        has_skeleton: false,
        unclosed: 0,
        entries: 0..0,
        table: 0,
        bytes,
        forms: header.encoding(),
    };
    if unit.is_split() && encoding.version >= 5 {
        // The section has only the tables of this unit, so they need no base attribute.
        unit.str_offsets_base = Some(str_offsets_header(encoding));
        unit.loclists_base = Some(lists_header(encoding));
        unit.rnglists_base = Some(lists_header(encoding));
    }
    unit
}

impl<'o> Unit<'o> {
    /// Sets the fields that the other attributes of the first entry depend on.
    pub(super) fn set_bases(&mut self, tag: gimli::DwTag, raw: &[Raw<'o>]) {
        if self.encoding.version < 5 && tag == dw::DW_TAG_partial_unit && self.kind == dw::DW_UT_compile {
            self.kind = dw::DW_UT_partial;
        }
        for one in raw {
            if one.name() == dw::DW_AT_GNU_dwo_id {
                self.dwo_id = self.dwo_id.or(one.udata_value());
            }
            if one.name() == dw::DW_AT_GNU_dwo_name && self.kind == dw::DW_UT_compile {
                self.kind = dw::DW_UT_skeleton;
            }
            // Before DWARF 4 the form does not distinguish an offset from a number.
            let Some(offset) = one.offset_value() else { continue };
            let base = match one.name() {
                dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => &mut self.addr_base,
                dw::DW_AT_str_offsets_base => &mut self.str_offsets_base,
                dw::DW_AT_loclists_base => &mut self.loclists_base,
                dw::DW_AT_rnglists_base => &mut self.rnglists_base,
                dw::DW_AT_GNU_ranges_base => &mut self.ranges_base,
                _ => continue,
            };
            *base = Some(offset as u64);
        }
    }

    /// Sets the field of an attribute of the first entry that applies to the whole unit.
    pub(super) fn set_rest(&mut self, name: gimli::DwAt, value: Value<'o>) {
        match (name, value) {
            (dw::DW_AT_name, _) => self.name = value.text(),
            (dw::DW_AT_comp_dir, _) => self.comp_dir = value.text(),
            (dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name, _) => self.dwo_name = value.text(),
            (dw::DW_AT_producer, _) => self.producer = value.text(),
            (dw::DW_AT_language, _) => self.language = value.unsigned(),
            (dw::DW_AT_low_pc, Value::Address(address)) => self.low_pc = Some(address),
            (dw::DW_AT_stmt_list, Value::LineProgram(offset)) => self.stmt_list = Some(offset),
            _ => {}
        }
    }
}
