//! Lane pcs: `DW_AT_LLVM_lane_pc` and `DW_AT_LLVM_active_lane` in the AMDGPU extension.
//!
//! Procedures pass a vector with an element for each lane on the stack. Each procedure replaces the elements for the
//! lanes that it describes, and keeps the other elements:
//!
//! | procedure | its expression |
//! |---|---|
//! | one for the unit: lanes that have not entered | `undefined; extend` |
//! | one for each region | call to the outer region; its waiting lanes' pc; `extend`; its mask; `select_bit_piece` |
//! | one for the unit: running lanes | the pc; `extend`; EXEC; `select_bit_piece` |
//! | one for each range with whole-wave code | as for running lanes, with the range's mask instead of EXEC |
//! | one for each mask that moves | a location list |
//!
//! A list entry calls the first procedure, the innermost region's procedure, and one for running lanes. A region in an
//! inlined call does not call the regions around the call, because the inlined call's attribute describes only its own
//! regions, and the function's attribute calls both. Each region therefore has one procedure, at any depth.

mod pieces;
mod procedures;

pub(super) use procedures::LaneProcedures;

use super::entry::EntryWriter;
use super::expressions::{Expression, Expressions};
use super::loc::{Lowering, Sink};
use super::open::Instance;
use crate::error::{Construct, Result};
use crate::model::{RegionId, ScopeId};
use crate::omission::{Property, Subject};
use crate::op::Encoder;
use pieces::Piece;
use procedures::{Procedure, call, encoding, named, omit};

/// Lane attributes for a function or inlined call.
#[derive(Default)]
pub(super) struct LaneAttributes {
    lane_pc: Option<Lanes>,
    active_lane: Option<Lanes>,
}

enum Lanes {
    Expression(Expression),
    List(u64),
}

/// Encodes the lane attributes for a function or inlined call, if any function describes lanes.
#[inline]
pub(super) fn attributes(
    out: &mut EntryWriter<'_>,
    procedures: &LaneProcedures,
    scope: ScopeId,
    instance: &Instance,
) -> Result<Option<LaneAttributes>> {
    if procedures.pieces.is_empty() {
        return Ok(None);
    }
    described_lanes(out, procedures, scope, instance).map(Some)
}

fn described_lanes(
    out: &mut EntryWriter<'_>,
    procedures: &LaneProcedures,
    scope: ScopeId,
    instance: &Instance,
) -> Result<LaneAttributes> {
    let module = out.module;
    let mut attributes = LaneAttributes::default();
    let Some(function) = module.function_of(scope) else { return Ok(attributes) };
    let Some(pieces) = procedures.pieces.get(&function) else { return Ok(attributes) };
    let whole = 0..module.functions[function].bytes;
    let ranges = match module.ranges(scope) {
        [] => core::slice::from_ref(&whole),
        ranges => ranges,
    };
    if out.consumer.attributes.lane_pc.is_some() {
        // An attribute describes only the regions within its own scope.
        let is_here = |&region: &RegionId| module.is_in(module.region(region).scope, scope);
        let cut = |piece: Piece| Piece { region: piece.region.filter(is_here), ..piece };
        let pieces = pieces::within(pieces, ranges, cut);
        attributes.lane_pc = lane_pc(out, procedures, scope, instance, &pieces)?;
    }
    // Active lanes do not depend on regions, so pieces that differ only in their regions are merged.
    let pieces = pieces::within(pieces, ranges, |piece| Piece { region: None, ..piece });
    if pieces.iter().any(|piece| piece.whole_wave.is_some()) {
        attributes.active_lane = active_lane(out, scope, instance, &pieces)?;
    }
    Ok(attributes)
}

/// Writes the lane attributes.
#[inline]
pub(super) fn write(out: &mut EntryWriter<'_>, attributes: Option<LaneAttributes>) {
    let Some(attributes) = attributes else { return };
    let both = [
        (out.consumer.attributes.lane_pc, attributes.lane_pc),
        (out.consumer.attributes.active_lane, attributes.active_lane),
    ];
    for (attribute, expression) in both {
        match (attribute, expression) {
            (Some(at), Some(Lanes::Expression(expression))) => out.detached_expression(at, expression),
            (Some(at), Some(Lanes::List(list))) => out.list(at, list),
            _ => {}
        }
    }
}

fn lane_pc(
    out: &mut EntryWriter<'_>,
    procedures: &LaneProcedures,
    scope: ScopeId,
    instance: &Instance,
    pieces: &[Piece],
) -> Result<Option<Lanes>> {
    let mut entries: Vec<(Piece, Vec<u64>)> = Vec::with_capacity(pieces.len());
    for &piece in pieces {
        match calls(out, procedures, scope, piece) {
            Ok(calls) => entries.push((piece, calls)),
            Err(error) => omit(out, scope, Some(piece.pcs()), error)?,
        }
    }
    let encoding = encoding(out);
    let encode = |_: &mut Lowering<'_>, (_, calls): &(Piece, Vec<u64>), sink: &mut Sink<'_>| {
        let mut encoder = Encoder::new(sink.out, encoding);
        calls.iter().for_each(|&procedure| call(&mut encoder, procedure));
        encoder.finish()
    };
    lane_expression(out, scope, instance, pieces, &entries, |(piece, _)| *piece, encode)
}

/// Returns the procedures that a list entry calls.
fn calls(out: &EntryWriter<'_>, lanes: &LaneProcedures, scope: ScopeId, piece: Piece) -> Result<Vec<u64>> {
    let module = out.module;
    let procedure = |procedure: Option<&Procedure>| match procedure {
        Some(procedure) => procedure.clone(),
        None => Err(out.consumer.inexpressible(Construct::LaneProcedure)),
    };
    // DWARF 2 has no calls.
    if out.consumer.version < 3 {
        return Err(out.consumer.inexpressible(Construct::Operation("call2")));
    }
    // An omission's reason comes from the first procedure that cannot be expressed.
    let active = procedure(match piece.whole_wave {
        Some(index) => lanes.whole_waves.get(&index),
        None => lanes.active.as_ref(),
    });
    let mut regions = Vec::new();
    let mut next = piece.region;
    while let Some(region) = next.filter(|&region| module.is_in(module.region(region).scope, scope)) {
        regions.push(procedure(lanes.regions[region].as_ref())?);
        next = lanes.outer[region];
    }
    let empty_mask = procedure(lanes.empty_mask.as_ref())?;
    let active = active?;
    Ok([empty_mask].into_iter().chain(regions.into_iter().rev()).chain([active]).collect())
}

fn active_lane(
    out: &mut EntryWriter<'_>,
    scope: ScopeId,
    instance: &Instance,
    pieces: &[Piece],
) -> Result<Option<Lanes>> {
    let module = out.module;
    let bits = u64::from(module.target.lanes());
    if out.consumer.attributes.active_lane.is_none() {
        // An inlined call has its function's active lanes, so one omission is enough.
        let is_function = module.function_of(scope).map(|function| module.functions[function].scope);
        for &piece in pieces.iter().filter(|piece| piece.whole_wave.is_some() && is_function == Some(scope)) {
            let error = out.consumer.inexpressible(Construct::WholeWaveLanes);
            omit(out, scope, Some(piece.pcs()), error)?;
        }
        return Ok(None);
    }
    let encoding = encoding(out);
    let exec = module.target.exec();
    let encode =
        |lowering: &mut Lowering<'_>, piece: &Piece, sink: &mut Sink<'_>| match (piece.whole_wave, exec) {
            (Some(index), _) => {
                let mask = module.lanes.whole_waves[index as usize].mask;
                lowering.lower(mask.loc, Some(bits), sink)
            }
            (None, Some(exec)) => {
                let mut encoder = Encoder::new(sink.out, encoding);
                encoder.regx(exec);
                encoder.finish()
            }
            (None, None) => Ok(()),
        };
    lane_expression(out, scope, instance, pieces, pieces, |piece| *piece, encode)
}

/// Encodes an expression if all pieces have the same one, otherwise a list.
fn lane_expression<T>(
    out: &mut EntryWriter<'_>,
    scope: ScopeId,
    instance: &Instance,
    pieces: &[Piece],
    entries: &[T],
    piece_of: impl Fn(&T) -> Piece,
    encode: impl Fn(&mut Lowering<'_>, &T, &mut Sink<'_>) -> Result<()>,
) -> Result<Option<Lanes>> {
    let what = |piece: &Piece| (piece.region, piece.whole_wave);
    let is_same = pieces.iter().all(|piece| what(piece) == what(&pieces[0]));
    let stack = instance.stack;
    if let (true, Some(one), true) = (is_same, entries.first(), entries.len() == pieces.len()) {
        let result = out.expressions.encode_apart(stack, |lowering, sink| encode(lowering, one, sink));
        return match result {
            Ok(expression) => Ok(Some(Lanes::Expression(expression))),
            Err(error) => {
                entries
                    .iter()
                    .try_for_each(|item| omit(out, scope, Some(piece_of(item).pcs()), error.clone()))?;
                Ok(None)
            }
        };
    }
    let head = |item: &T| (piece_of(item).start..piece_of(item).end, None);
    let omit = |unit: &mut Expressions<'_>, one: &T, error| {
        let error = named(unit.consumer, error);
        unit.omit(Subject::Scope(scope), Property::Lanes, Some(piece_of(one).pcs()), error)
    };
    let list = out.expressions.list_of(entries, head, (None, stack, instance.base), encode, omit)?;
    Ok(list.map(|(list, _)| Lanes::List(list)))
}
