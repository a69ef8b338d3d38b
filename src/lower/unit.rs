//! Unit: its entries, lists, line table and macros. DWARF 5 section 3.1.1.

use super::children::ListCount;
use super::entry::{EntryWriter, LIST_BYTES};
use super::lanes::LaneProcedures;
use super::lowered::{LoweredUnit, NvidiaParts};
use super::open::Open;
use super::register_types::unsigned_sizes;
use super::section::{Part, symbol_name};
use super::shared_macros::UnitMacros;
use super::unit_entry::Contents;
use super::units::{Scratch, Units};
use super::{lines, macros, procedures, scopes, split, types, unit_entry};
use crate::emit::abbrev::Abbreviations;
use crate::emit::lists::{FinishedLists, Lists};
use crate::error::Result;
use crate::model::{ProcedureId, TypeId, UnitId};

/// Approximate bytes that a list entry takes, until a unit with lists is measured.
const ENTRY_BYTES: usize = 10;

/// Encoding for recurring subexpressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recurring {
    /// Procedure calls, if the consumer has calls.
    Called,
    Inline,
}

/// Writes a unit, without its frames and its type units.
pub(super) fn write(
    units: &Units<'_>,
    id: UnitId,
    abbreviations: Abbreviations,
    recurring: Recurring,
    scratch: &mut Scratch,
) -> Result<LoweredUnit> {
    let module = units.module;
    let consumer = units.consumer;
    let format = units.format;
    let mut out = EntryWriter::new(units, id, abbreviations);
    out.expressions.lowering.memo = core::mem::take(&mut scratch.memo);
    out.info.strings = core::mem::take(&mut scratch.strings);
    let ListCount { lists, entries } = units.lists[id.as_u32() as usize];
    let entry_bytes = scratch.entry_bytes.unwrap_or(ENTRY_BYTES);
    let bytes = LIST_BYTES * lists + entry_bytes * entries;
    out.expressions.loclists = Lists::new(format, lists, bytes);
    let has = Contents::new(units, id);
    // Not all readers apply the skeleton's base address to the split unit.
    out.has_function_base =
        has.code.len() == 1 && !has.is_scattered && !consumer.is_split && !consumer.lists.has_absolute_bounds;

    if consumer.is_split {
        out.info.begin_unit(gimli::DW_UT_split_compile, Some(0));
    } else {
        out.info.begin_unit(gimli::DW_UT_compile, None);
    }
    unit_entry::write(&mut out, &has)?;
    let has_shared = children(&mut out, recurring)?;
    let (line, inlined_names) = if has.lines && !consumer.has_line_directives {
        lines::program(units, id, &has.functions)?
    } else {
        Default::default()
    };
    let macros =
        if has.macros { macros::program(units, id, has.lines.then_some(0)) } else { UnitMacros::default() };
    let loclists = if has.loclists { out.finish_loclists()? } else { FinishedLists::default() };
    let rnglists = if has.ranges { out.finish_rnglists()? } else { FinishedLists::default() };
    out.omit_unknown()?;
    out.info.end_unit()?;
    // The skeleton comes last, because it takes over the writer and refers to finished lists.
    let skeleton = consumer.is_split.then(|| split::write_skeleton(&mut out, &has)).transpose()?;
    let EntryWriter { mut info, expressions, .. } = out;
    let addresses = if has.addresses && format.version >= 5 {
        let (bytes, relocations) = expressions.addresses.finish(format, |symbol| symbol_name(module, symbol));
        Part { bytes, relocations, elsewhere: Vec::new() }
    } else {
        Part::default()
    };
    let strings = info.strings.finish();
    let [register_map, register_types] = expressions.homes.finish(module);
    let inlined_names = Part { bytes: inlined_names, ..Part::default() };
    let nvidia = NvidiaParts { inlined_names, register_map, register_types };
    // The measured entry size predicts the room that the next unit's lists need.
    let bytes = loclists.bytes.len().saturating_sub(LIST_BYTES * lists);
    *scratch = Scratch {
        memo: expressions.lowering.memo,
        strings: info.strings,
        entry_bytes: bytes.checked_div(entries).map_or(scratch.entry_bytes, |bytes| Some(bytes + 1)),
    };
    Ok(LoweredUnit {
        unit: id,
        info: Part { bytes: info.bytes, relocations: info.relocations, elsewhere: info.elsewhere },
        abbreviations: info.abbreviations,
        offsets: info.offsets,
        strings,
        addresses,
        loclists,
        rnglists,
        line,
        macros,
        nvidia,
        code: has.code,
        named: info.named.map(|named| named.finish()).unwrap_or_default(),
        type_units: Vec::new(),
        frames: Default::default(),
        omissions: expressions.omissions,
        has_shared,
        skeleton,
        split: None,
    })
}

/// Writes all entries below the unit's entry. Returns whether subexpressions became procedures.
fn children(out: &mut EntryWriter<'_>, recurring: Recurring) -> Result<bool> {
    let module = out.module;
    let units = out.units;
    let id = out.unit();
    // Without locations on the stack, `DW_OP_regval_type` reads a register narrower than an address, and needs a type.
    if !out.consumer.has_locations_on_the_stack() {
        for bits in unsigned_sizes(units, id) {
            types::write_unsigned(out, bits);
        }
    }
    // Expressions refer to base types by ULEB128 offsets in the unit, which are shorter near its start.
    for ty in units.types.ids(id).map(TypeId::from_u32) {
        if module.types[ty].kind.is_base() {
            types::write(out, ty)?;
        }
    }
    // Shared procedures precede the entries with expressions, because a call is encoded with its procedure's offset.
    let has_shared = recurring == Recurring::Called && procedures::write_shared(out)?;
    let scope = module.units[id].scope;
    scopes::write_types(out, scope)?;
    for procedure in units.procedures.ids(id) {
        procedures::write(out, ProcedureId::from_u32(procedure))?;
    }
    let lanes = LaneProcedures::write(out)?;
    scopes::write_children(out, &lanes, Open::new(units, scope, None))?;
    Ok(has_shared)
}
