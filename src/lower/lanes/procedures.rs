//! Procedures that compute the pcs of lanes.

use super::super::dies::Dies;
use super::super::lists::Base;
use super::super::loc::{Lowering, Sink};
use super::super::scopes::Code;
use super::{Procedure, call, named};
use crate::emit::addr::AddressKey;
use crate::emit::info::{Pending, Wanted};
use crate::error::{At, Construct, Error, ErrorKind, Result};
use crate::model::{Function, FunctionId, Mask, RegionId, Stack};
use crate::op::{Encoder, Encoding};

impl Dies<'_> {
    /// Writes the procedures of all functions whose lanes are described.
    pub(in crate::lower) fn lane_procedures(&mut self, is_one: bool) -> Result<()> {
        let module = self.module;
        let functions = self.units.functions.of(self.expressions.entries.unit).map(FunctionId::from_u32);
        for id in functions.filter(|&id| module.functions[id].lanes.is_described) {
            let function = &module.functions[id];
            let pieces = super::pieces::pieces(module, id);
            let has_exec = pieces.iter().any(|piece| piece.whole_wave.is_none());
            self.lanes.pieces.insert(id, pieces);
            if self.consumer.lane_pc.is_none() {
                self.omit_lanes(function.scope, None, self.consumer.inexpressible(Construct::LanePc))?;
                continue;
            }
            if self.lanes.empty_mask.is_none() {
                self.lanes.empty_mask = Some(self.empty_mask(function.stack)?);
            }
            if has_exec && self.lanes.active.is_none() {
                self.lanes.active = Some(self.active(function.stack)?);
            }
            for &region in module.regions_of(id) {
                let procedure = self.region_procedure(function, region, is_one)?;
                let Some(parent) = module.region(region).parent else {
                    self.lanes.regions[region] = Some(procedure);
                    continue;
                };
                let is_same = module.region(parent).scope == module.region(region).scope;
                self.lanes.outer[region] = if is_same { self.lanes.outer[parent] } else { Some(parent) };
                self.lanes.regions[region] = Some(procedure);
            }
            for (index, one) in function.lanes.whole_waves.clone().zip(module.whole_waves(id)) {
                let procedure = self.running(function.stack, |lowering, lanes, sink| {
                    lowering.read(one.mask.loc, lanes, sink)
                })?;
                self.lanes.whole_waves.insert(index, procedure);
            }
        }
        Ok(())
    }

    /// Writes the procedure of the unit for lanes that have not entered.
    fn empty_mask(&mut self, stack: Stack) -> Result<Procedure> {
        let (bits, lanes) = (self.element_bits(), self.module.target.lanes());
        self.lane_procedure(stack, |_, encoding, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            encoder.undefined().extend(bits, lanes.into());
            encoder.finish()
        })
    }

    /// Writes the procedure of the unit for the running lanes, which are those of EXEC.
    fn active(&mut self, stack: Stack) -> Result<Procedure> {
        let encoding = self.encoding();
        let Some(exec) = self.module.target.exec() else {
            return Ok(Err(self.consumer.inexpressible(Construct::ActiveLanes)));
        };
        self.running(stack, |_, lanes, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            encoder.regx(exec);
            read(&mut encoder, lanes);
            encoder.finish()
        })
    }

    /// Writes a procedure for running lanes: the pc for each lane of the mask.
    fn running(
        &mut self,
        stack: Stack,
        mask: impl FnOnce(&mut Lowering<'_>, u32, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Procedure> {
        let (bits, lanes) = (self.element_bits(), self.module.target.lanes());
        let Some(pc) = self.module.target.pc() else {
            return Ok(Err(self.consumer.inexpressible(Construct::WavePc)));
        };
        self.lane_procedure(stack, |lowering, encoding, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            encoder.regx(pc).extend(bits, lanes.into());
            encoder.finish()?;
            mask(lowering, lanes, sink)?;
            choose(sink, encoding, bits, lanes)
        })
    }

    /// Writes the procedure of a region.
    fn region_procedure(&mut self, function: &Function, id: RegionId, is_one: bool) -> Result<Procedure> {
        let module = self.module;
        let region = module.region(id);
        let around = region.parent.filter(|&parent| module.region(parent).scope == region.scope);
        let around = match around.and_then(|around| self.lanes.regions[around].clone()) {
            // The omission of the outer region's procedure omits this one, too.
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(around)) => Some(around),
            None => None,
        };
        let code = self.code(function.address);
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
        let procedure = self.lane_procedure(function.stack, |lowering, encoding, sink| {
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
            if let Some(moving) = moving {
                call(&mut encoder, moving);
                read(&mut encoder, lanes);
            }
            encoder.finish()?;
            if moving.is_none() {
                lowering.read(masks[0].loc, lanes, sink)?;
            }
            choose(sink, encoding, bits, lanes)
        })?;
        Ok(procedure.map_err(named))
    }

    /// Writes the location list of a mask that moves, as a procedure.
    fn moving_mask(
        &mut self,
        function: &Function,
        code: Code,
        masks: &[Mask],
        is_one: bool,
    ) -> Result<Procedure> {
        let base = if is_one { Base::Unit } else { Base::Address(code) };
        let bits = u64::from(self.module.target.lanes());
        let mut why = None;
        let list = self.expressions.list_of(
            masks,
            |mask| (mask.start..mask.end, None),
            function.stack,
            base,
            |lowering, mask, sink| lowering.lower(mask.loc, Some(bits), false, sink),
            |_, _, error| match is_inexpressible(&error) {
                true => {
                    why.get_or_insert(error);
                    Ok(())
                }
                false => Err(error),
            },
        )?;
        // A mask with gaps would leave lanes without a pc.
        match (why, list) {
            (Some(error), _) => Ok(Err(error)),
            (None, None) => Ok(Err(self.consumer.inexpressible(Construct::Mask))),
            (None, Some(list)) => {
                self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
                self.list(gimli::DW_AT_location, list);
                self.info.end_entry();
                Ok(Ok(self.info.entry_offset()))
            }
        }
    }

    /// Writes a procedure, if the consumer can express it.
    fn lane_procedure(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'_>, Encoding, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Procedure> {
        let encoding = self.encoding();
        match self.expressions.encode(stack, |lowering, sink| write(lowering, encoding, sink)) {
            Ok(()) => {}
            Err(error) if is_inexpressible(&error) => return Ok(Err(named(self.consumer, error))),
            Err(error) => return Err(error),
        }
        self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
        self.expression_attribute(gimli::DW_AT_location);
        self.info.end_entry();
        Ok(Ok(self.info.entry_offset()))
    }
}

/// Reads one bit for each lane from the location on top.
fn read(encoder: &mut Encoder<'_>, lanes: u32) {
    match (lanes / 8) as u8 {
        bytes if bytes == encoder.encoding().address_bytes => encoder.deref(),
        bytes => encoder.deref_size(bytes),
    };
}

/// Ends an expression: the mask on top selects the vector of each element.
fn choose(sink: &mut Sink<'_>, encoding: Encoding, bits: u64, lanes: u32) -> Result<()> {
    let mut encoder = Encoder::new(sink.out, encoding);
    encoder.select_bit_piece(bits, lanes.into());
    encoder.finish()
}

/// Returns whether the error is an inexpressible property.
fn is_inexpressible(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Inexpressible { .. })
}
