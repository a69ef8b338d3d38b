//! Where lanes stand: `DW_AT_LLVM_lane_pc` and `DW_AT_LLVM_active_lane` of the AMDGPU extension.
//!
//! A vector with an element for each lane goes from procedure to procedure on the stack, each of which says what
//! it knows of some lanes and leaves the others:
//!
//! | procedure | its expression |
//! |---|---|
//! | one of the unit: no lane has entered | `undefined; extend` |
//! | one of each region | call that of the region around it; where its lanes wait; `extend`; its mask; `select_bit_piece` |
//! | one of the unit: lanes run | the pc; `extend`; EXEC; `select_bit_piece` |
//! | one of each piece of whole-wave code | the same with the mask that is there instead of EXEC |
//! | one of each mask that moves | a location list |
//!
//! An entry of the list calls the first, that of the innermost region, and one of the last. A region of an inlined
//! call does not call those around the call: who asks for the lanes of the call is told of no others, and who asks
//! for the function's calls both. So there is one procedure for each region, however deep.

mod pieces;
mod procedures;

use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use super::dies::Dies;
use super::loc::{Lowering, Sink};
use super::scopes::Instance;
use super::{Policy, cannot_be_told};
use crate::emit::info::Pending;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FunctionId, RegionId, ScopeId};
use crate::omission::{Omission, Property, Subject};
use crate::op::{Encoder, Encoding};
use pieces::Piece;

/// What was written of a unit's lanes.
#[derive(Default)]
pub(super) struct Written {
    /// The procedures: the offset of each in the unit, or why it could not be said.
    nobody: Option<Told>,
    active: Option<Told>,
    regions: SecondaryMap<RegionId, Option<Told>>,
    /// By their indices in the module's list.
    whole_waves: HashMap<u32, Told>,
    /// Of a region of an inlined call, the innermost around the call.
    outer: SecondaryMap<RegionId, Option<RegionId>>,
    /// The pieces of each function's code.
    pieces: HashMap<FunctionId, Vec<Piece>>,
}

type Told = Result<u64, Error>;

/// What is said of the lanes of a function or inlined call.
#[derive(Default)]
pub(super) struct Said {
    lane_pc: Option<Expression>,
    active_lane: Option<Expression>,
}

enum Expression {
    One(Vec<u8>, Vec<Pending>),
    List(u64),
}

impl Dies<'_> {
    /// What is to be said of the lanes of a function or inlined call.
    pub(super) fn lane_attributes(&mut self, scope: ScopeId, instance: Instance) -> Result<Said> {
        let module = self.module;
        let mut said = Said::default();
        let Some(function) =
            module.function_of(scope).filter(|function| self.lanes.pieces.contains_key(function))
        else {
            return Ok(said);
        };
        if self.consumer.lane_pc.is_some() {
            let pieces = self.pieces_of(function, scope, |piece| {
                let is_here = |&region: &RegionId| module.is_in(module.region(region).scope, scope);
                Piece { region: piece.region.filter(is_here), ..piece }
            });
            said.lane_pc = self.lane_pc(scope, instance, &pieces)?;
        }
        let pieces = self.pieces_of(function, scope, |piece| Piece { region: None, ..piece });
        if pieces.iter().any(|piece| piece.whole_wave.is_some()) {
            said.active_lane = self.active_lane(scope, instance, &pieces)?;
        }
        Ok(said)
    }

    /// Writes what is to be said of lanes into the entry.
    pub(super) fn said_of_lanes(&mut self, said: Said) {
        let both = [(self.consumer.lane_pc, said.lane_pc), (self.consumer.active_lane, said.active_lane)];
        for (attribute, said) in both {
            match (attribute, said) {
                (Some(at), Some(Expression::One(bytes, pending))) => {
                    self.said_expression(at, (bytes, pending))
                }
                (Some(at), Some(Expression::List(list))) => self.list(at, list),
                _ => {}
            }
        }
    }

    fn lane_pc(
        &mut self,
        scope: ScopeId,
        instance: Instance,
        pieces: &[Piece],
    ) -> Result<Option<Expression>> {
        let mut entries: Vec<(Piece, Vec<u64>)> = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            match self.calls(scope, piece) {
                Ok(calls) => entries.push((piece, calls)),
                Err(error) => self.leave_out_of_lanes(scope, Some(piece), error)?,
            }
        }
        let encoding = self.encoding();
        let say = |_: &mut Lowering<'_>, (_, calls): &(Piece, Vec<u64>), sink: &mut Sink<'_>| {
            let mut encoder = Encoder::new(sink.out, encoding);
            calls.iter().for_each(|&procedure| call(&mut encoder, procedure));
            encoder.finish()
        };
        self.lane_expression(scope, instance, pieces, &entries, |(piece, _)| *piece, say)
    }

    /// The procedures that an entry of a list calls.
    fn calls(&self, scope: ScopeId, piece: Piece) -> Result<Vec<u64>> {
        let module = self.module;
        let lanes = &self.lanes;
        let told = |told: Option<&Told>| match told {
            Some(told) => told.clone(),
            None => Err(self.consumer.cannot_say("what was not written")),
        };
        let mut regions = Vec::new();
        let mut next = piece.region;
        while let Some(region) = next.filter(|&region| module.is_in(module.region(region).scope, scope)) {
            regions.push(told(lanes.regions[region].as_ref())?);
            next = lanes.outer[region];
        }
        let active = match piece.whole_wave {
            Some(index) => lanes.whole_waves.get(&index),
            None => lanes.active.as_ref(),
        };
        let (nobody, active) = (told(lanes.nobody.as_ref())?, told(active)?);
        Ok([nobody].into_iter().chain(regions.into_iter().rev()).chain([active]).collect())
    }

    fn active_lane(
        &mut self,
        scope: ScopeId,
        instance: Instance,
        pieces: &[Piece],
    ) -> Result<Option<Expression>> {
        let module = self.module;
        let bits = u64::from(module.target.lanes());
        if self.consumer.active_lane.is_none() {
            // An inlined call's are those of the function.
            let is_function = module.function_of(scope).map(|function| module.functions[function].scope);
            for &piece in
                pieces.iter().filter(|piece| piece.whole_wave.is_some() && is_function == Some(scope))
            {
                let error = self.consumer.cannot_say("which lanes are active in whole-wave code");
                self.leave_out_of_lanes(scope, Some(piece), error)?;
            }
            return Ok(None);
        }
        let encoding = self.encoding();
        let exec = module.target.exec();
        let say = |lowering: &mut Lowering<'_>, piece: &Piece, sink: &mut Sink<'_>| match (
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
        self.lane_expression(scope, instance, pieces, pieces, |piece| *piece, say)
    }

    /// Writes the list of some entries: one expression, where one says it for all pieces.
    fn lane_expression<T>(
        &mut self,
        scope: ScopeId,
        instance: Instance,
        pieces: &[Piece],
        entries: &[T],
        piece_of: impl Fn(&T) -> Piece,
        say: impl Fn(&mut Lowering<'_>, &T, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Option<Expression>> {
        let what = |piece: &Piece| (piece.region, piece.whole_wave);
        let is_same = pieces.iter().all(|piece| what(piece) == what(&pieces[0]));
        let stack = instance.stack;
        if let (true, Some(one), true) = (is_same, entries.first(), entries.len() == pieces.len()) {
            let mut out = Vec::new();
            let mut sink =
                Sink { out: &mut out, addresses: &mut self.addresses, entries: &self.entries, stack };
            let result = say(&mut self.lowering, one, &mut sink);
            let pending = core::mem::take(&mut self.lowering.pending);
            return match result {
                Ok(()) => Ok(Some(Expression::One(out, pending))),
                Err(error) => {
                    entries.iter().try_for_each(|one| {
                        self.leave_out_of_lanes(scope, Some(piece_of(one)), error.clone())
                    })?;
                    Ok(None)
                }
            };
        }
        let pcs = |one: &T| piece_of(one).start..piece_of(one).end;
        let untold = |dies: &mut Self, one: &T, error| {
            let error = dies.named(error);
            dies.leave_out_of_lanes(scope, Some(piece_of(one)), error)
        };
        Ok(self.list_of(entries, pcs, stack, instance.base, say, untold)?.map(Expression::List))
    }

    /// Notes what the consumer cannot be told; with [`Policy::Strict`], or where it is something else that is wrong,
    /// gives the error.
    fn leave_out_of_lanes(&mut self, scope: ScopeId, piece: Option<Piece>, error: Error) -> Result<()> {
        let is_untold = cannot_be_told(&error);
        let pcs = piece.map(|piece| piece.start.into()..piece.end.into());
        let why = error.or_at(At { pcs: pcs.clone(), ..self.module.at_scope(scope) });
        if self.policy == Policy::Strict || !is_untold {
            return Err(why);
        }
        self.omissions.push(Omission::inexpressible(Subject::Scope(scope), Property::Lanes, pcs, &why));
        Ok(())
    }

    fn encoding(&self) -> Encoding {
        self.consumer.encoding_on(&self.module.target)
    }

    /// Bits of an element of the vector: a generic value's.
    fn element_bits(&self) -> u64 {
        8 * u64::from(self.module.target.address_bytes())
    }

    /// What an encoder cannot write, in the consumer's name.
    fn named(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::CannotSay { what, .. } => {
                self.consumer.cannot_say(what.clone()).or_at(error.at().clone())
            }
            _ => error,
        }
    }
}

/// Calls the procedure at an offset of the unit.
fn call(encoder: &mut Encoder<'_>, procedure: u64) {
    match procedure {
        0..0x1_0000 => encoder.call2(procedure),
        _ => encoder.call4(procedure),
    };
}
