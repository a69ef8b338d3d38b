//! The consumer that reads what the producer of an object wrote.

use gimli::{Format, constants as dw};

use super::vendor;
use crate::consumer::Consumer;
use crate::op::Dialect;
use crate::read::{Dwarf, Object};
use crate::target::Target;

/// Returns a consumer that reads what an object has, so that a rewrite for it keeps all facts.
///
/// | the object has | consumer |
/// |---|---|
/// | code for a CPU | [`Consumer::dwarf5`] |
/// | operations of AMD's older dialect, with which `dwarf` was read | [`Consumer::rocgdb_legacy`] |
/// | lane pcs or active lanes by AMD's numbers | [`Consumer::rocgdb`] |
/// | code for another GPU | [`Consumer::llvm`] |
/// | several versions | the latest of them, because an older version lacks forms of facts |
/// | operations of a later version, as gcc's `DW_OP_stack_value` in DWARF 2 and 3 | that version |
/// | a unit in the 64-bit format | the 64-bit format |
/// | type units | type units, except beside `.debug_names` |
/// | `.debug_names`, `.debug_pubnames`, `.debug_aranges` | the same tables |
///
/// Expressions are not shared as procedures, because the object's expressions are not.
pub fn fitting(object: &Object<'_>, dwarf: &Dwarf<'_>, target: &Target) -> Consumer {
    let units = dwarf.units();
    let mut consumer = if target.lanes() == 1 {
        Consumer::dwarf5()
    } else if dwarf.dialect() == Dialect::Legacy {
        Consumer::rocgdb_legacy()
    } else if vendor::has_attributes_of_amd(dwarf) {
        Consumer::rocgdb()
    } else {
        Consumer::llvm()
    };
    consumer.expressions.shared_from_bytes = None;
    let latest = units.iter().map(|unit| unit.encoding.version).max();
    let latest = latest.map(|version| version.max(vendor::latest_operation(dwarf, version)));
    consumer.version = latest.map_or(consumer.version, |version| version.clamp(2, 5));
    if units.iter().any(|unit| unit.encoding.offset_bytes == 8) {
        consumer.format = Format::Dwarf64;
    }
    consumer = with_tables(consumer, object);
    let has_type_units = units.iter().any(|unit| unit.kind == dw::DW_UT_type);
    consumer.has_type_units = has_type_units && consumer.version >= 4 && !consumer.tables.names;
    consumer
}

/// Adds the lookup tables that an object has to those of a consumer, where its version of DWARF has them.
pub(super) fn with_tables(mut consumer: Consumer, object: &Object<'_>) -> Consumer {
    let has = |name| object.section(name).is_some_and(|section| section.stored > 0);
    consumer.tables.names |= consumer.version == 5 && !consumer.has_type_units && has(".debug_names");
    consumer.tables.pubs |= has(".debug_pubnames") || has(".debug_pubtypes");
    consumer.tables.aranges |= has(".debug_aranges");
    consumer
}
