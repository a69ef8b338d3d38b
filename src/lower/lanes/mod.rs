//! Pcs of lanes: `DW_AT_LLVM_lane_pc` and `DW_AT_LLVM_active_lane` of the AMDGPU extension.
//!
//! Procedures pass a vector with an element for each lane on the stack. Each procedure replaces the elements of the
//! lanes that it describes, and keeps the others:
//!
//! | procedure | its expression |
//! |---|---|
//! | one of the unit: lanes that have not entered | `undefined; extend` |
//! | one of each region | call of the outer region; pc of its waiting lanes; `extend`; its mask; `select_bit_piece` |
//! | one of the unit: running lanes | the pc; `extend`; EXEC; `select_bit_piece` |
//! | one of each range of whole-wave code | as for running lanes, with the mask of the range instead of EXEC |
//! | one of each mask that moves | a location list |
//!
//! An entry of the list calls the first procedure, that of the innermost region, and one for running lanes. A region
//! of an inlined call does not call the regions around the call: the attribute of the inlined call describes only its
//! own regions, and that of the function calls both. So there is one procedure for each region at any depth.

mod pieces;
mod procedures;

use super::expressions::{Expression, Expressions};
use crate::consumer::Consumer;
use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use super::dies::Dies;
use super::loc::{Lowering, Sink};
use super::scopes::Instance;
use crate::error::{Construct, Error, ErrorKind, Result};
use crate::model::{FunctionId, RegionId, ScopeId};
use crate::omission::{Property, Subject};
use crate::op::{Encoder, Encoding};
use pieces::Piece;

/// Procedures for the lanes of a unit.
#[derive(Default)]
pub(super) struct LaneProcedures {
    empty_mask: Option<Procedure>,
    active: Option<Procedure>,
    regions: SecondaryMap<RegionId, Option<Procedure>>,
    /// Procedures of whole-wave code, by index in the module's list.
    whole_waves: HashMap<u32, Procedure>,
    /// Innermost region around the inlined call of a region.
    outer: SecondaryMap<RegionId, Option<RegionId>>,
    /// Pieces of each function's code.
    pieces: HashMap<FunctionId, Vec<Piece>>,
}

/// Offset of a procedure in the unit, or the reason for its omission.
type Procedure = Result<u64, Error>;

/// Attributes for the lanes of a function or inlined call.
#[derive(Default)]
pub(super) struct LaneAttributes {
    lane_pc: Option<Lanes>,
    active_lane: Option<Lanes>,
}

enum Lanes {
    Expression(Expression),
    List(u64),
}

impl Dies<'_> {
    /// Encodes the attributes for the lanes of a function or inlined call, if any function describes lanes.
    #[inline]
    pub(super) fn lane_attributes(
        &mut self,
        scope: ScopeId,
        instance: &Instance,
    ) -> Result<Option<LaneAttributes>> {
        if self.lanes.pieces.is_empty() {
            return Ok(None);
        }
        self.described_lanes(scope, instance).map(Some)
    }

    fn described_lanes(&mut self, scope: ScopeId, instance: &Instance) -> Result<LaneAttributes> {
        let module = self.module;
        let mut attributes = LaneAttributes::default();
        let Some(function) =
            module.function_of(scope).filter(|function| self.lanes.pieces.contains_key(function))
        else {
            return Ok(attributes);
        };
        if self.consumer.lane_pc.is_some() {
            let pieces = self.lanes.pieces_of(module, function, scope, |piece| {
                let is_here = |&region: &RegionId| module.is_in(module.region(region).scope, scope);
                Piece { region: piece.region.filter(is_here), ..piece }
            });
            attributes.lane_pc = self.lane_pc(scope, instance, &pieces)?;
        }
        let pieces = self.lanes.pieces_of(module, function, scope, |piece| Piece { region: None, ..piece });
        if pieces.iter().any(|piece| piece.whole_wave.is_some()) {
            attributes.active_lane = self.active_lane(scope, instance, &pieces)?;
        }
        Ok(attributes)
    }

    /// Writes the attributes for lanes.
    #[inline]
    pub(super) fn write_lane_attributes(&mut self, attributes: Option<LaneAttributes>) {
        let Some(attributes) = attributes else { return };
        let both = [
            (self.consumer.lane_pc, attributes.lane_pc),
            (self.consumer.active_lane, attributes.active_lane),
        ];
        for (attribute, expression) in both {
            match (attribute, expression) {
                (Some(at), Some(Lanes::Expression(expression))) => self.detached_expression(at, expression),
                (Some(at), Some(Lanes::List(list))) => self.list(at, list),
                _ => {}
            }
        }
    }

    fn lane_pc(&mut self, scope: ScopeId, instance: &Instance, pieces: &[Piece]) -> Result<Option<Lanes>> {
        let mut entries: Vec<(Piece, Vec<u64>)> = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            match self.calls(scope, piece) {
                Ok(calls) => entries.push((piece, calls)),
                Err(error) => self.omit_lanes(scope, Some(piece), error)?,
            }
        }
        let encoding = self.encoding();
        let encode = |_: &mut Lowering<'_>, (_, calls): &(Piece, Vec<u64>), sink: &mut Sink<'_>| {
            let mut encoder = Encoder::new(sink.out, encoding);
            calls.iter().for_each(|&procedure| call(&mut encoder, procedure));
            encoder.finish()
        };
        self.lane_expression(scope, instance, pieces, &entries, |(piece, _)| *piece, encode)
    }

    /// Returns the procedures that an entry of a list calls.
    fn calls(&self, scope: ScopeId, piece: Piece) -> Result<Vec<u64>> {
        let module = self.module;
        let lanes = &self.lanes;
        let procedure = |procedure: Option<&Procedure>| match procedure {
            Some(procedure) => procedure.clone(),
            None => Err(self.consumer.inexpressible(Construct::LaneProcedure)),
        };
        let mut regions = Vec::new();
        let mut next = piece.region;
        while let Some(region) = next.filter(|&region| module.is_in(module.region(region).scope, scope)) {
            regions.push(procedure(lanes.regions[region].as_ref())?);
            next = lanes.outer[region];
        }
        let active = match piece.whole_wave {
            Some(index) => lanes.whole_waves.get(&index),
            None => lanes.active.as_ref(),
        };
        let (empty_mask, active) = (procedure(lanes.empty_mask.as_ref())?, procedure(active)?);
        Ok([empty_mask].into_iter().chain(regions.into_iter().rev()).chain([active]).collect())
    }

    fn active_lane(
        &mut self,
        scope: ScopeId,
        instance: &Instance,
        pieces: &[Piece],
    ) -> Result<Option<Lanes>> {
        let module = self.module;
        let bits = u64::from(module.target.lanes());
        if self.consumer.active_lane.is_none() {
            // The active lanes of an inlined call are those of the function.
            let is_function = module.function_of(scope).map(|function| module.functions[function].scope);
            for &piece in
                pieces.iter().filter(|piece| piece.whole_wave.is_some() && is_function == Some(scope))
            {
                let error = self.consumer.inexpressible(Construct::WholeWaveLanes);
                self.omit_lanes(scope, Some(piece), error)?;
            }
            return Ok(None);
        }
        let encoding = self.encoding();
        let exec = module.target.exec();
        let encode = |lowering: &mut Lowering<'_>, piece: &Piece, sink: &mut Sink<'_>| match (
            piece.whole_wave,
            exec,
        ) {
            (Some(index), _) => {
                let mask = module.lanes.whole_waves[index as usize].mask;
                lowering.lower(mask.loc, Some(bits), false, sink)
            }
            (None, Some(exec)) => {
                let mut encoder = Encoder::new(sink.out, encoding);
                encoder.regx(exec);
                encoder.finish()
            }
            (None, None) => Ok(()),
        };
        self.lane_expression(scope, instance, pieces, pieces, |piece| *piece, encode)
    }

    /// Encodes an expression if all pieces have the same one, else a list.
    fn lane_expression<T>(
        &mut self,
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
            let result = self.expressions.encode_apart(stack, |lowering, sink| encode(lowering, one, sink));
            return match result {
                Ok(expression) => Ok(Some(Lanes::Expression(expression))),
                Err(error) => {
                    entries
                        .iter()
                        .try_for_each(|one| self.omit_lanes(scope, Some(piece_of(one)), error.clone()))?;
                    Ok(None)
                }
            };
        }
        let head = |one: &T| (piece_of(one).start..piece_of(one).end, None);
        let omit = |unit: &mut Expressions<'_>, one: &T, error| {
            let error = named(unit.consumer, error);
            unit.omit(Subject::Scope(scope), Property::Lanes, Some(piece_of(one).pcs()), error)
        };
        Ok(self.expressions.list_of(entries, head, stack, instance.base, encode, omit)?.map(Lanes::List))
    }

    /// Records that the lanes of a scope are omitted, for a piece or for all code.
    fn omit_lanes(&mut self, scope: ScopeId, piece: Option<Piece>, error: Error) -> Result<()> {
        self.expressions.omit(Subject::Scope(scope), Property::Lanes, piece.map(Piece::pcs), error)
    }

    fn encoding(&self) -> Encoding {
        self.consumer.encoding_on(&self.module.target)
    }

    /// Bits of an element of the vector, which is a value of the generic type.
    fn element_bits(&self) -> u64 {
        8 * u64::from(self.module.target.address_bytes())
    }
}

/// Attributes an encoder's error to the consumer.
fn named(consumer: &Consumer, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Inexpressible { what, .. } => {
            consumer.inexpressible(what.clone()).or_at(error.at().clone())
        }
        _ => error,
    }
}

/// Calls the procedure at an offset of the unit.
fn call(encoder: &mut Encoder<'_>, procedure: u64) {
    match procedure {
        0..0x1_0000 => encoder.call2(procedure),
        _ => encoder.call4(procedure),
    };
}
