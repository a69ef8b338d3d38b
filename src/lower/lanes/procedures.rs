//! Procedures that compute lane pcs.

use core::cell::OnceCell;
use core::ops::Range;

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
use crate::model::{
    Function, FunctionId, Mask, Module, Node, RegionId, ScopeId, ScopeKind, SecondaryMap, Stack,
};
use crate::omission::{Property, Subject};
use crate::op::{Encoder, Encoding};

/// Procedures for a unit's lanes.
#[derive(Default)]
pub(in crate::lower) struct LaneProcedures {
    pub(super) empty_mask: Option<Procedure>,
    pub(super) active: Option<Procedure>,
    pub(super) regions: SecondaryMap<RegionId, Option<Procedure>>,
    /// Whole-wave procedures, by index in the module's list.
    pub(super) whole_waves: HashMap<u32, Procedure>,
    /// Innermost region around a region's inlined call.
    pub(super) outer: SecondaryMap<RegionId, Option<RegionId>>,
    /// Each function's pieces.
    pub(super) pieces: HashMap<FunctionId, Vec<Piece>>,
}

/// Procedure offset in the unit, or the reason for its omission.
pub(super) type Procedure = Result<u64, Error>;

impl LaneProcedures {
    /// Writes procedures for all functions that describe lanes.
    pub(in crate::lower) fn write(out: &mut EntryWriter<'_>) -> Result<Self> {
        let mut procedures = Self::default();
        let module = out.module;
        let inlined = OnceCell::new();
        let functions = out.units.functions.ids(out.unit()).map(FunctionId::from_u32);
        for id in functions.filter(|&id| module.functions[id].lanes.is_described) {
            let function = &module.functions[id];
            let pieces = pieces(module, id);
            procedures.pieces.insert(id, pieces);
            if out.consumer.attributes.lane_pc.is_none() {
                let error = out.consumer.inexpressible(Construct::LanePc);
                omit(out, function.scope, None, error)?;
                continue;
            }
            let inlined =
                || inlined.get_or_init(|| inlined_calls(module)).get(&id).map_or(&[][..], Vec::as_slice);
            let called = Called::new(out, id, &procedures.pieces[&id], inlined)?;
            if called.is_some && procedures.empty_mask.is_none() {
                procedures.empty_mask = Some(empty_mask(out, function.stack)?);
            }
            if called.is_active && procedures.active.is_none() {
                procedures.active = Some(active(out, function.stack)?);
            }
            for &region in module.regions_of(id) {
                let procedure = match &called.regions[region] {
                    Expressible::Unused => None,
                    Expressible::No(why) => Some(Err(why.clone())),
                    Expressible::Called => Some(procedures.region(out, function, region)?),
                };
                if let Some(parent) = module.region(region).parent {
                    // Within one inlined call, a region's procedure calls the outer region's procedure itself.
                    let is_same = module.region(parent).scope == module.region(region).scope;
                    procedures.outer[region] = if is_same { procedures.outer[parent] } else { Some(parent) };
                }
                procedures.regions[region] = procedure;
            }
            for (index, one) in function.lanes.whole_waves.clone().zip(module.whole_waves(id)) {
                let procedure = match called.whole_waves.get(&index) {
                    None => continue,
                    Some(Err(why)) => Err(why.clone()),
                    Some(Ok(())) => running(out, function.stack, |lowering, lanes, sink| {
                        lowering.read(one.mask.loc, lanes, sink)
                    })?,
                };
                procedures.whole_waves.insert(index, procedure);
            }
        }
        Ok(procedures)
    }

    /// Writes a region's procedure.
    fn region(&self, out: &mut EntryWriter<'_>, function: &Function, id: RegionId) -> Result<Procedure> {
        let module = out.module;
        let region = module.region(id);
        let around = region.parent.filter(|&parent| module.region(parent).scope == region.scope);
        let around = match around.and_then(|around| self.regions[around].clone()) {
            // If the outer region's procedure is omitted, so is this one, because it would call the outer one.
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(around)) => Some(around),
            None => None,
        };
        let code = out.expressions.code(function.address);
        let masks = module.masks(id);
        let named =
            |error: Error| error.or_at(At::new(|context| context.region = Some(module.region_text(id))));
        let moving = if masks.iter().all(|mask| mask.loc == masks[0].loc) {
            None
        } else {
            match moving_mask(out, function, code, masks)? {
                Ok(procedure) => Some(procedure),
                Err(error) => return Ok(Err(named(error))),
            }
        };
        let bits = element_bits(out);
        let lanes = module.target.lanes();
        let procedure = procedure(out, function.stack, |lowering, encoding, sink| {
            let mut encoder = Encoder::new(sink.out, encoding);
            around.into_iter().for_each(|around| call(&mut encoder, around));
            // From DWARF 5 on, the address table has the address. Before, a linker relocates the operand.
            if encoding.version >= 5 {
                encoder.addrx(code.index);
                if region.waits_at > 0 {
                    encoder.plus_uconst(region.waits_at.into());
                }
            } else {
                let addend = code.key.addend.wrapping_add(region.waits_at.into());
                if code.key.symbol.is_some() {
                    let operand = encoder.position() + 1;
                    let wanted = Wanted::Address(AddressKey { addend, ..code.key });
                    encoder.addr(0);
                    sink.references.pending.push(Pending { at: operand, wanted });
                } else {
                    encoder.addr(addend);
                }
            }
            let mut encoder = Encoder::new(sink.out, encoding);
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

/// Which lane procedures an attribute calls in a function. A list entry calls several procedures: if one cannot be
/// expressed, the entry is omitted, and nothing may call the rest.
struct Called {
    /// Whether there is an entry.
    is_some: bool,
    /// Whether an entry takes its running lanes from EXEC.
    is_active: bool,
    regions: SecondaryMap<RegionId, Expressible>,
    /// Whole-wave code, by index in the module's list.
    whole_waves: HashMap<u32, Result<()>>,
}

/// Whether a region's procedure is written.
#[derive(Clone, Default)]
enum Expressible {
    /// No entry calls the procedure.
    #[default]
    Unused,
    Called,
    No(Error),
}

impl Called {
    fn new<'a>(
        out: &mut EntryWriter<'_>,
        id: FunctionId,
        pieces: &[Piece],
        inlined: impl Fn() -> &'a [ScopeId],
    ) -> Result<Self> {
        let module = out.module;
        let function = &module.functions[id];
        let is_some = false;
        let is_active = false;
        let mut called =
            Self { is_some, is_active, regions: SecondaryMap::default(), whole_waves: HashMap::default() };
        // DWARF 2 has no calls.
        if out.consumer.version < 3 {
            return Ok(called);
        }
        for &region in module.regions_of(id) {
            if let Err(error) = expressible(out, function.stack, module.masks(region), MaskOf::Region) {
                let at = At::new(|context| context.region = Some(module.region_text(region)));
                called.regions[region] = Expressible::No(inexpressible(out.consumer, error)?.or_at(at));
            }
        }
        for (index, one) in function.lanes.whole_waves.clone().zip(module.whole_waves(id)) {
            let mask = core::slice::from_ref(&one.mask);
            let result = match expressible(out, function.stack, mask, MaskOf::WholeWave) {
                Ok(()) => Ok(()),
                Err(error) => Err(inexpressible(out.consumer, error)?),
            };
            called.whole_waves.insert(index, result);
        }
        for piece in pieces {
            // A mask that cannot be expressed omits the piece's entry, so the entry calls nothing.
            if piece.whole_wave.is_some_and(|index| called.whole_waves[&index].is_err()) {
                continue;
            }
            let mut next = piece.region;
            let mut is_called = true;
            while let Some(region) = next {
                if let Expressible::No(_) = called.regions[region] {
                    is_called = false;
                    break;
                }
                called.regions[region] = Expressible::Called;
                next = module.region(region).parent;
                // An inlined call's attribute does not call the regions around the call.
                let is_in_call =
                    next.is_some_and(|next| module.region(next).scope != module.region(region).scope);
                if is_in_call {
                    called.add_entry(piece);
                }
            }
            // An inlined call's attribute calls only the regions in the call, which may be expressible.
            let has_entry = |&scope: &ScopeId| {
                let ranges = module.ranges(scope);
                let is_here =
                    |range: &Range<u64>| range.start < piece.pcs().end && piece.pcs().start < range.end;
                let is_expressible = |region| !matches!(called.regions[region], Expressible::No(_));
                let mut regions =
                    core::iter::successors(piece.region, |&region| module.region(region).parent);
                (ranges.is_empty() || ranges.iter().any(is_here))
                    && regions.all(|region| {
                        !module.is_in(module.region(region).scope, scope) || is_expressible(region)
                    })
            };
            if is_called || inlined().iter().any(has_entry) {
                called.add_entry(piece);
            }
        }
        Ok(called)
    }

    fn add_entry(&mut self, piece: &Piece) {
        self.is_some = true;
        self.is_active |= piece.whole_wave.is_none();
    }
}

/// Returns the inlined calls by function.
fn inlined_calls(module: &Module) -> HashMap<FunctionId, Vec<ScopeId>> {
    let mut calls: HashMap<FunctionId, Vec<ScopeId>> = HashMap::new();
    for (id, scope) in module.scopes() {
        if matches!(scope.kind, ScopeKind::Inlined { .. })
            && let Some(function) = module.function_of(id)
        {
            calls.entry(function).or_default().push(id);
        }
    }
    calls
}

/// Code to which a mask belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MaskOf {
    Region,
    WholeWave,
}

/// Returns an error for a mask that the consumer cannot express.
fn expressible(out: &mut EntryWriter<'_>, stack: Stack, masks: &[Mask], owner: MaskOf) -> Result<()> {
    let module = out.module;
    let encoding = encoding(out);
    let bits = element_bits(out);
    let lanes = module.target.lanes();
    let is_register = |mask: &Mask| matches!(module.nodes(mask.loc).next(), Some(Node::Register(_)));
    // Most masks are in registers, which all consumers can express.
    if encoding.version >= 4
        && masks.iter().all(|mask| is_register(mask) && module.nodes(mask.loc).count() == 1)
    {
        return Ok(());
    }
    let is_moving = masks.iter().any(|mask| mask.loc != masks[0].loc);
    out.expressions.encode(stack, |lowering, sink| {
        if owner == MaskOf::Region {
            let mut encoder = Encoder::new(sink.out, encoding);
            encoder.stack_value().extend(bits, lanes.into());
            encoder.finish()?;
        }
        if is_moving {
            masks.iter().try_for_each(|mask| lowering.lower(mask.loc, Some(lanes.into()), sink))
        } else {
            lowering.read(masks[0].loc, lanes, sink)
        }
    })
}

/// Returns an omission's reason, or another error.
fn inexpressible(consumer: &Consumer, error: Error) -> Result<Error> {
    if is_inexpressible(&error) { Ok(named(consumer, error)) } else { Err(error) }
}

/// Writes the unit's procedure for lanes that have not entered.
fn empty_mask(out: &mut EntryWriter<'_>, stack: Stack) -> Result<Procedure> {
    let bits = element_bits(out);
    let lanes = out.module.target.lanes();
    procedure(out, stack, |_, encoding, sink| {
        let mut encoder = Encoder::new(sink.out, encoding);
        encoder.undefined().extend(bits, lanes.into());
        encoder.finish()
    })
}

/// Writes the unit's procedure for the running lanes, which EXEC holds.
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

/// Writes a procedure for running lanes: the pc for each lane in the mask.
fn running(
    out: &mut EntryWriter<'_>,
    stack: Stack,
    mask: impl FnOnce(&mut Lowering<'_>, u32, &mut Sink<'_>) -> Result<()>,
) -> Result<Procedure> {
    let bits = element_bits(out);
    let lanes = out.module.target.lanes();
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

/// Writes the location list for a mask that moves, as a procedure.
fn moving_mask(
    out: &mut EntryWriter<'_>,
    function: &Function,
    code: Code,
    masks: &[Mask],
) -> Result<Procedure> {
    let base = out.base(function, code);
    let bits = u64::from(out.module.target.lanes());
    let mut why = None;
    let list = out.expressions.list_of(
        masks,
        |mask| (mask.start..mask.end, None),
        (None, function.stack, base),
        |lowering, mask, sink| lowering.lower(mask.loc, Some(bits), sink),
        |_, _, error| {
            if is_inexpressible(&error) {
                why.get_or_insert(error);
                Ok(())
            } else {
                Err(error)
            }
        },
    )?;
    // A mask with gaps would leave lanes without a pc.
    match (why, list) {
        (Some(error), _) => Ok(Err(error)),
        (None, None) => Ok(Err(out.consumer.inexpressible(Construct::Mask))),
        (None, Some((list, _))) => {
            out.info.begin_entry(gimli::DW_TAG_dwarf_procedure, gimli::DW_CHILDREN_no, None);
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

/// Records that a scope's lanes are omitted, at some pcs or in all code.
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

/// Element size in bits: the vector's elements have the generic type.
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

/// Ends an expression: the mask on top selects each element's vector.
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

/// Calls the procedure at an offset in the unit.
pub(super) fn call(encoder: &mut Encoder<'_>, procedure: u64) {
    match procedure {
        0..0x1_0000 => encoder.call2(procedure),
        _ => encoder.call4(procedure),
    };
}
