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

use core::ops::Range;

use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use super::dies::Dies;
use super::lists::Base;
use super::loc::{Lowering, Sink};
use super::scopes::{Code, Instance};
use super::{LeftOut, Policy, Whose, cannot_be_told};
use crate::emit::addr::AddressKey;
use crate::emit::info::{Pending, Wanted};
use crate::error::{At, Error, Result};
use crate::model::{Function, FunctionId, Mask, Module, RegionId, ScopeId, Stack};
use crate::op::{Encoder, Encoding, Reg};

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

/// Code in which the innermost region and the mask of active lanes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    start: u32,
    end: u32,
    region: Option<RegionId>,
    /// Of the whole-wave code that it is in.
    whole_wave: Option<u32>,
}

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
    /// Writes the procedures of all functions that say where their lanes stand.
    pub(super) fn lane_procedures(&mut self, is_one: bool) -> Result<()> {
        let module = self.module;
        let functions = self.units.functions.of(self.entries.unit).map(FunctionId::from_u32);
        for id in functions.filter(|&id| module.functions[id].lanes.is_described) {
            let function = &module.functions[id];
            self.lanes.pieces.insert(id, pieces(module, id));
            if self.consumer.lane_pc.is_none() {
                let what = "where the lanes of a wave stand";
                self.leave_out_of_lanes(function.scope, None, self.consumer.cannot_say(what))?;
                continue;
            }
            if self.lanes.nobody.is_none() {
                self.common_procedures(function.stack)?;
            }
            for &region in module.regions_of(id) {
                let told = self.region_procedure(function, region, is_one)?;
                let Some(parent) = module.region(region).parent else {
                    self.lanes.regions[region] = Some(told);
                    continue;
                };
                let is_same = module.region(parent).scope == module.region(region).scope;
                self.lanes.outer[region] = if is_same { self.lanes.outer[parent] } else { Some(parent) };
                self.lanes.regions[region] = Some(told);
            }
            for (index, one) in function.lanes.whole_waves.clone().zip(module.whole_waves(id)) {
                let told = self.running(function.stack, |lowering, lanes, sink| {
                    lowering.read(one.mask.loc, lanes, sink)
                })?;
                self.lanes.whole_waves.insert(index, told);
            }
        }
        Ok(())
    }

    /// Writes the procedures of the unit.
    fn common_procedures(&mut self, stack: Stack) -> Result<()> {
        let (bits, lanes) = (self.element_bits(), self.module.target.lanes());
        let nobody = self.lane_procedure(stack, |_, encoding, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            encoder.undefined().extend(bits, lanes.into());
            encoder.finish()
        })?;
        self.lanes.nobody = Some(nobody);
        let encoding = self.encoding();
        let active = match self.module.target.exec() {
            Some(exec) => self.running(stack, |_, lanes, sink| {
                let mut encoder = Encoder::new(sink.out, encoding);
                encoder.regx(exec);
                read(&mut encoder, lanes);
                encoder.finish()
            })?,
            None => Err(self.consumer.cannot_say("which lanes are active")),
        };
        self.lanes.active = Some(active);
        Ok(())
    }

    /// Writes a procedure for lanes that run: those of the mask stand at the pc.
    fn running(
        &mut self,
        stack: Stack,
        mask: impl FnOnce(&mut Lowering<'_>, u32, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Told> {
        let (bits, lanes) = (self.element_bits(), self.module.target.lanes());
        let Some(pc) = self.module.target.pc() else {
            return Ok(Err(self.consumer.cannot_say("where the pc is")));
        };
        self.lane_procedure(stack, |lowering, encoding, sink| {
            Encoder::new(sink.out, encoding).regx(pc).extend(bits, lanes.into());
            mask(lowering, lanes, sink)?;
            choose(sink, encoding, bits, lanes)
        })
    }

    /// Writes the procedure of a region.
    fn region_procedure(&mut self, function: &Function, id: RegionId, is_one: bool) -> Result<Told> {
        let module = self.module;
        let region = module.region(id);
        let around = region.parent.filter(|&parent| module.region(parent).scope == region.scope);
        let around = match around.and_then(|around| self.lanes.regions[around].clone()) {
            // Who is not told of that is not told of this.
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(around)) => Some(around),
            None => None,
        };
        let code = self.code(function);
        let masks = module.masks(id);
        let named = |error: Error| error.or_at(At { region: Some(module.region_text(id)), ..At::default() });
        let moving = match masks.iter().all(|mask| mask.loc == masks[0].loc) {
            true => None,
            false => match self.moving_mask(function, code, masks, is_one)? {
                Ok(procedure) => Some(procedure),
                Err(error) => return Ok(Err(named(error))),
            },
        };
        let (bits, lanes) = (self.element_bits(), module.target.lanes());
        let told = self.lane_procedure(function.stack, |lowering, encoding, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            around.into_iter().for_each(|around| call(&mut encoder, around));
            if encoding.version >= 5 {
                encoder.addrx(code.index);
                if region.waits_at > 0 {
                    encoder.plus_uconst(region.waits_at.into());
                }
            } else {
                let addend = code.key.addend.wrapping_add(region.waits_at.into());
                let at = encoder.position() + 1;
                lowering
                    .pending
                    .push(Pending { at, wanted: Wanted::Address(AddressKey { addend, ..code.key }) });
                encoder.addr(0);
            }
            encoder.stack_value().extend(bits, lanes.into());
            match moving {
                Some(moving) => {
                    call(&mut encoder, moving);
                    read(&mut encoder, lanes);
                }
                None => lowering.read(masks[0].loc, lanes, sink)?,
            }
            choose(sink, encoding, bits, lanes)
        })?;
        Ok(told.map_err(named))
    }

    /// Writes the procedure of a mask that moves.
    fn moving_mask(&mut self, function: &Function, code: Code, masks: &[Mask], is_one: bool) -> Result<Told> {
        let base = if is_one { Base::Unit } else { Base::Address(code) };
        let bits = u64::from(self.module.target.lanes());
        let mut why = None;
        let list = self.list_of(
            masks,
            |mask| mask.start..mask.end,
            function.stack,
            base,
            |lowering, mask, sink| lowering.lower(mask.loc, Some(bits), false, sink),
            |_, _, error| match cannot_be_told(&error) {
                true => {
                    why.get_or_insert(error);
                    Ok(())
                }
                false => Err(error),
            },
        )?;
        // Part of it is not enough: lanes would be nowhere.
        match (why, list) {
            (Some(error), _) => Ok(Err(error)),
            (None, None) => Ok(Err(self.consumer.cannot_say("a mask"))),
            (None, Some(list)) => {
                self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
                self.list(gimli::DW_AT_location, list);
                self.info.end_entry();
                Ok(Ok(self.info.entry_offset()))
            }
        }
    }

    /// Writes a procedure, if the consumer can be told.
    fn lane_procedure(
        &mut self,
        stack: Stack,
        say: impl FnOnce(&mut Lowering<'_>, Encoding, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Told> {
        let encoding = self.encoding();
        let out = &mut self.expression;
        out.clear();
        let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.entries, stack };
        match say(&mut self.lowering, encoding, &mut sink) {
            Ok(()) => {}
            Err(error) if cannot_be_told(&error) => {
                self.lowering.pending.clear();
                return Ok(Err(self.named(error)));
            }
            Err(error) => return Err(error),
        }
        self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
        self.expression_attribute(gimli::DW_AT_location);
        self.info.end_entry();
        Ok(Ok(self.info.entry_offset()))
    }

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
        let exec: Option<Reg> = module.target.exec();
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

    /// The pieces of a function that are in a scope, of which `cut` takes away what is not to be told.
    fn pieces_of(&self, function: FunctionId, scope: ScopeId, cut: impl Fn(Piece) -> Piece) -> Vec<Piece> {
        let module = self.module;
        let all = self.lanes.pieces.get(&function).map_or(&[][..], Vec::as_slice);
        let whole = 0..module.functions[function].bytes;
        let ranges = match module.ranges(scope) {
            [] => core::slice::from_ref(&whole),
            ranges => ranges,
        };
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(|range| range.start);
        let mut out: Vec<Piece> = Vec::new();
        for Range { start, end } in ranges {
            let first = all.partition_point(|piece| u64::from(piece.end) <= start);
            for piece in all[first..].iter().take_while(|piece| u64::from(piece.start) < end) {
                let (start, end) = (piece.start.max(start as u32), piece.end.min(end as u32));
                let piece = cut(Piece { start, end, ..*piece });
                match out.last_mut() {
                    Some(last) if last.end == start && Piece { start, end, ..*last } == piece => {
                        last.end = end
                    }
                    _ => out.push(piece),
                }
            }
        }
        out
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
        self.left_out.push(LeftOut { whose: Whose::Lanes(scope), pcs, why });
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
            crate::error::ErrorKind::CannotSay { what, .. } => {
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

/// Reads as many bits as there are lanes from the location on top.
fn read(encoder: &mut Encoder<'_>, lanes: u32) {
    match (lanes / 8) as u8 {
        bytes if bytes == encoder.encoding().address_bytes => encoder.deref(),
        bytes => encoder.deref_size(bytes),
    };
}

/// Ends an expression: of each element, which of two vectors it is from says the mask on top.
fn choose(sink: &mut Sink<'_>, encoding: Encoding, bits: u64, lanes: u32) -> Result<()> {
    let mut encoder = Encoder::new(sink.out, encoding);
    encoder.select_bit_piece(bits, lanes.into());
    encoder.finish()
}

/// The pieces of a function's code, sorted.
fn pieces(module: &Module, function: FunctionId) -> Vec<Piece> {
    let bytes = module.functions[function].bytes.min(u32::MAX.into()) as u32;
    let mut by_region: Vec<Piece> = Vec::new();
    let mut at = 0;
    let mut up_to = |end: u32, region: Option<RegionId>| {
        if at < end {
            by_region.push(Piece { start: at, end, region, whole_wave: None });
            at = end;
        }
    };
    let mut open: Vec<RegionId> = Vec::new();
    for &id in module.regions_of(function) {
        while let Some(&last) =
            open.last().filter(|&&last| module.region(last).end <= module.region(id).start)
        {
            up_to(module.region(last).end, Some(last));
            open.pop();
        }
        up_to(module.region(id).start, open.last().copied());
        open.push(id);
    }
    while let Some(last) = open.pop() {
        up_to(module.region(last).end, Some(last));
    }
    up_to(bytes, None);

    // Both are sorted.
    let whole_waves = &module.functions[function].lanes.whole_waves;
    let mut masks = whole_waves.clone().zip(module.whole_waves(function)).peekable();
    let mut out = Vec::with_capacity(by_region.len());
    for piece in by_region {
        let mut at = piece.start;
        while at < piece.end {
            while masks.next_if(|(_, one)| one.mask.end <= at).is_some() {}
            let (end, whole_wave) = match masks.peek() {
                Some(&(index, one)) if one.mask.start <= at => (one.mask.end, Some(index)),
                Some((_, one)) => (one.mask.start, None),
                None => (piece.end, None),
            };
            let end = end.min(piece.end);
            out.push(Piece { start: at, end, whole_wave, ..piece });
            at = end;
        }
    }
    out
}
