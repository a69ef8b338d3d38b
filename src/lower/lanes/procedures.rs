//! Procedures that compute the pcs of lanes.

use core::ops::Range;

use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use super::pieces::{Piece, pieces};
use crate::consumer::Consumer;
use crate::emit::addr::AddressKey;
use crate::emit::info::{Pending, Wanted};
use crate::error::{At, Construct, Error, ErrorKind, Result};
use crate::lower::entry::EntryWriter;
use crate::lower::lists::Code;
use crate::lower::loc::{Lowering, Sink};
use crate::lower::procedures::write_expression;
use crate::model::{Function, FunctionId, Mask, RegionId, ScopeId, Stack};
use crate::omission::{Property, Subject};
use crate::op::{Encoder, Encoding};

/// Procedures for the lanes of a unit.
#[derive(Default)]
pub(in crate::lower) struct LaneProcedures {
    pub(super) empty_mask: Option<Procedure>,
    pub(super) active: Option<Procedure>,
    pub(super) regions: SecondaryMap<RegionId, Option<Procedure>>,
    /// Procedures of whole-wave code, by index in the module's list.
    pub(super) whole_waves: HashMap<u32, Procedure>,
    /// Innermost region around the inlined call of a region.
    pub(super) outer: SecondaryMap<RegionId, Option<RegionId>>,
    /// Pieces of each function's code.
    pub(super) pieces: HashMap<FunctionId, Vec<Piece>>,
}

/// Offset of a procedure in the unit, or the reason for its omission.
pub(super) type Procedure = Result<u64, Error>;

impl LaneProcedures {
    /// Writes the procedures of all functions whose lanes are described.
    pub(in crate::lower) fn write(out: &mut EntryWriter<'_>) -> Result<Self> {
        let mut procedures = Self::default();
        let module = out.module;
        let functions = out.units.functions.of(out.unit()).map(FunctionId::from_u32);
        for id in functions.filter(|&id| module.functions[id].lanes.is_described) {
            let function = &module.functions[id];
            let pieces = pieces(module, id);
            let has_exec = pieces.iter().any(|piece| piece.whole_wave.is_none());
            procedures.pieces.insert(id, pieces);
            if out.consumer.attributes.lane_pc.is_none() {
                let error = out.consumer.inexpressible(Construct::LanePc);
                omit(out, function.scope, None, error)?;
                continue;
            }
            if procedures.empty_mask.is_none() {
                procedures.empty_mask = Some(empty_mask(out, function.stack)?);
            }
            if has_exec && procedures.active.is_none() {
                procedures.active = Some(active(out, function.stack)?);
            }
            for &region in module.regions_of(id) {
                let procedure = procedures.region(out, function, region)?;
                let Some(parent) = module.region(region).parent else {
                    procedures.regions[region] = Some(procedure);
                    continue;
                };
                let is_same = module.region(parent).scope == module.region(region).scope;
                procedures.outer[region] = if is_same { procedures.outer[parent] } else { Some(parent) };
                procedures.regions[region] = Some(procedure);
            }
            for (index, one) in function.lanes.whole_waves.clone().zip(module.whole_waves(id)) {
                let procedure = running(out, function.stack, |lowering, lanes, sink| {
                    lowering.read(one.mask.loc, lanes, sink)
                })?;
                procedures.whole_waves.insert(index, procedure);
            }
        }
        Ok(procedures)
    }

    /// Writes the procedure of a region.
    fn region(&self, out: &mut EntryWriter<'_>, function: &Function, id: RegionId) -> Result<Procedure> {
        let module = out.module;
        let region = module.region(id);
        let around = region.parent.filter(|&parent| module.region(parent).scope == region.scope);
        let around = match around.and_then(|around| self.regions[around].clone()) {
            // The omission of the outer region's procedure omits this one, too.
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(around)) => Some(around),
            None => None,
        };
        let code = out.expressions.code(function.address);
        let masks = module.masks(id);
        let named = |error: Error| error.or_at(At { region: Some(module.region_text(id)), ..At::default() });
        let moving = match masks.iter().all(|mask| mask.loc == masks[0].loc) {
            true => None,
            false => match moving_mask(out, function, code, masks)? {
                Ok(procedure) => Some(procedure),
                Err(error) => return Ok(Err(named(error))),
            },
        };
        let (bits, lanes) = (element_bits(out), module.target.lanes());
        let procedure = procedure(out, function.stack, |lowering, encoding, sink| {
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
}

/// Writes the procedure of the unit for lanes that have not entered.
fn empty_mask(out: &mut EntryWriter<'_>, stack: Stack) -> Result<Procedure> {
    let (bits, lanes) = (element_bits(out), out.module.target.lanes());
    procedure(out, stack, |_, encoding, sink| {
        let mut encoder = Encoder::new(sink.out, encoding);
        encoder.undefined().extend(bits, lanes.into());
        encoder.finish()
    })
}

/// Writes the procedure of the unit for the running lanes, which are those of EXEC.
fn active(out: &mut EntryWriter<'_>, stack: Stack) -> Result<Procedure> {
    let encoding = encoding(out);
    let Some(exec) = out.module.target.exec() else {
        return Ok(Err(out.consumer.inexpressible(Construct::ActiveLanes)));
    };
    running(out, stack, |_, lanes, sink| {
        let mut encoder = Encoder::new(sink.out, encoding);
        encoder.regx(exec);
        read(&mut encoder, lanes);
        encoder.finish()
    })
}

/// Writes a procedure for running lanes: the pc for each lane of the mask.
fn running(
    out: &mut EntryWriter<'_>,
    stack: Stack,
    mask: impl FnOnce(&mut Lowering<'_>, u32, &mut Sink<'_>) -> Result<()>,
) -> Result<Procedure> {
    let (bits, lanes) = (element_bits(out), out.module.target.lanes());
    let Some(pc) = out.module.target.pc() else {
        return Ok(Err(out.consumer.inexpressible(Construct::WavePc)));
    };
    procedure(out, stack, |lowering, encoding, sink| {
        let mut encoder = Encoder::new(sink.out, encoding);
        encoder.regx(pc).extend(bits, lanes.into());
        encoder.finish()?;
        mask(lowering, lanes, sink)?;
        choose(sink, encoding, bits, lanes)
    })
}

/// Writes the location list of a mask that moves, as a procedure.
fn moving_mask(
    out: &mut EntryWriter<'_>,
    function: &Function,
    code: Code,
    masks: &[Mask],
) -> Result<Procedure> {
    let base = out.base(code);
    let bits = u64::from(out.module.target.lanes());
    let mut why = None;
    let list = out.expressions.list_of(
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
        (None, None) => Ok(Err(out.consumer.inexpressible(Construct::Mask))),
        (None, Some(list)) => {
            out.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
            out.list(gimli::DW_AT_location, list);
            out.info.end_entry();
            Ok(Ok(out.info.entry_offset()))
        }
    }
}

/// Writes a procedure, if the consumer can express it.
fn procedure(
    out: &mut EntryWriter<'_>,
    stack: Stack,
    write: impl FnOnce(&mut Lowering<'_>, Encoding, &mut Sink<'_>) -> Result<()>,
) -> Result<Procedure> {
    let encoding = encoding(out);
    match out.expressions.encode(stack, |lowering, sink| write(lowering, encoding, sink)) {
        Ok(()) => Ok(Ok(write_expression(out))),
        Err(error) if is_inexpressible(&error) => Ok(Err(named(out.consumer, error))),
        Err(error) => Err(error),
    }
}

/// Records that the lanes of a scope are omitted, at some pcs or in all code.
pub(super) fn omit(
    out: &mut EntryWriter<'_>,
    scope: ScopeId,
    pcs: Option<Range<u64>>,
    error: Error,
) -> Result<()> {
    out.expressions.omit(Subject::Scope(scope), Property::Lanes, pcs, error)
}

pub(super) fn encoding(out: &EntryWriter<'_>) -> Encoding {
    out.consumer.encoding_on(&out.module.target)
}

/// Bits of an element of the vector, which is a value of the generic type.
fn element_bits(out: &EntryWriter<'_>) -> u64 {
    8 * u64::from(out.module.target.address_bytes())
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

/// Attributes an encoder's error to the consumer.
pub(super) fn named(consumer: &Consumer, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Inexpressible { what, .. } => {
            consumer.inexpressible(what.clone()).or_at(error.at().clone())
        }
        _ => error,
    }
}

/// Calls the procedure at an offset of the unit.
pub(super) fn call(encoder: &mut Encoder<'_>, procedure: u64) {
    match procedure {
        0..0x1_0000 => encoder.call2(procedure),
        _ => encoder.call4(procedure),
    };
}
