//! One expression imported, described again, and compared with the evaluator on several machines.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::eval::{self, Context, DebugInfo, Evaluator, ResultKind, Storage};
use eitri::import::{self, InitialStack, Untyped};
use eitri::model::{
    BaseEncoding, DescribedStorage, FunctionId, Loc, LocId, Module, NoMeaning, Node, Stack, StorageSpan,
    VariableId,
};
use eitri::op::Encoding;
use eitri::target::{ByteOrder, SpaceId, Target};

use super::machine::Stopped;
use super::references::Added;

/// An expression with its context.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub expr: &'a [u8],
    pub encoding: Encoding,
    pub target: &'a Target,
    pub info: Option<&'a DebugInfo<'a, 'a>>,
    pub unit: u64,
    /// Size of the object in bits.
    pub bits: Option<u64>,
    pub frame_base: Option<&'a [u8]>,
    pub stack: Stack,
    pub space: Option<SpaceId>,
    pub kind: ResultKind,
    /// Whether constants of fixed size, and constants by index, are addresses of symbols.
    pub has_constant_symbols: bool,
}

impl<'a> Case<'a> {
    pub fn new(expr: &'a [u8], encoding: Encoding, target: &'a Target) -> Self {
        Self {
            expr,
            encoding,
            target,
            info: None,
            unit: 0,
            bits: None,
            frame_base: None,
            stack: Stack::kernel(target),
            space: None,
            kind: ResultKind::Location,
            has_constant_symbols: false,
        }
    }
}

/// An imported location in a description.
pub struct Imported {
    pub module: Module,
    pub function: FunctionId,
    pub loc: LocId,
    pub variables: BTreeMap<VariableId, u64>,
}

impl Imported {
    pub fn nodes(&self) -> Vec<Node<'_>> {
        self.module.nodes(self.loc).collect()
    }
}

/// Why there is no description.
#[derive(Debug)]
pub enum Failure {
    Untyped(Untyped),
    /// The builder refuses the location.
    Refused(String),
}

/// Imports an expression as the location of a variable.
pub fn imported(case: &Case<'_>) -> Result<Imported, Failure> {
    let mut references = Added::new(Builder::new(case.target.clone()), case.info, case.unit);
    references.has_constant_symbols = case.has_constant_symbols;
    let context = import::Context {
        target: case.target,
        encoding: case.encoding,
        bits: case.bits.filter(|_| case.kind == ResultKind::Location),
        stack: case.stack,
        frame_base: case.frame_base,
        space: case.space,
        initial: InitialStack::Empty,
    };
    let loc = match case.kind {
        ResultKind::Location => import::location(&context, &mut references, case.expr),
        _ => import::value(&context, &mut references, case.expr).map(Loc::value),
    };
    let loc = loc.map_err(Failure::Untyped)?;
    described(references, case, loc).map_err(|error| Failure::Refused(error.to_string()))
}

fn described(references: Added<'_>, case: &Case<'_>, loc: Loc) -> eitri::Result<Imported> {
    let Added { builder, unit_id: unit, variables, .. } = references;
    let mut m = builder;
    let bits = case.bits.filter(|&bits| case.kind == ResultKind::Location && bits > 0);
    let ty = match bits {
        None => m.unspecified_type(unit, "t")?,
        Some(bits) if bits % 8 == 0 => m.structure(unit, None, bits / 8)?,
        Some(bits) => m.base_type(unit, "t", BaseEncoding::Unsigned, bits)?,
    };
    let mut f = m.function(unit, "f")?;
    f.code("f", 64).scaling(case.stack.scaling);
    match case.stack.base {
        Some(base) => f.stack_base(base)?,
        None => f.stack_at_zero(),
    };
    let function = f.id();
    let variable = m.variable(function, "x", ty)?.live(0..64, loc)?.id();
    let module = m.finish()?;
    let loc = module.live(variable)[0].loc;
    Ok(Imported { module, function, loc, variables })
}

/// A bit of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bit {
    Register(u64, u128),
    Memory(u32, Option<u32>, u128),
    Known(bool),
    /// A pointer's entry and distance, and the number of the bit.
    Pointer(u64, i64, u128),
    Undefined,
    Other,
}

/// Number of bits that are compared, at most.
const MAX_BITS: u64 = 4096;

/// Returns a described location's bits, in memory order: on a big-endian machine, those of a register from the most
/// significant on. `variables` has the entries of the variables to which pointers point.
pub fn described_bits(
    spans: &[StorageSpan],
    variables: &BTreeMap<VariableId, u64>,
    order: ByteOrder,
) -> Vec<Bit> {
    let bit = |span: &StorageSpan, index: u128| {
        let at = span.from + index;
        match &span.storage {
            DescribedStorage::Register(reg) => {
                Bit::Register(reg.0, register_bit(span.from, span.bits.into(), index, order))
            }
            DescribedStorage::Memory(space, lane) => Bit::Memory(space.0, *lane, at),
            DescribedStorage::Implicit(bytes) => Bit::Known(known_bit(bytes, at as usize, order)),
            DescribedStorage::Pointer(variable, by) => {
                Bit::Pointer(variables.get(variable).copied().unwrap_or(u64::MAX), *by, at)
            }
            DescribedStorage::Undefined => Bit::Undefined,
        }
    };
    spans.iter().flat_map(|span| (0..u128::from(span.bits)).map(move |index| bit(span, index))).collect()
}

fn encoded_bits(spans: &[eval::Span], machine: &Stopped<'_>) -> Vec<Bit> {
    let order = machine.target.byte_order();
    let bit = |span: &eval::Span, index: u128| {
        let [place] = &span.places[..] else { return Bit::Other };
        let at = place.offset + index;
        match &place.storage {
            Storage::Register { reg, frame: 0, .. } => {
                Bit::Register(reg.0, register_bit(place.offset, span.bits, index, order))
            }
            Storage::Memory { space, lane, .. } => Bit::Memory(space.0, *lane, at),
            Storage::Implicit(_) => {
                let read = eval::read_bits(&place.clone().into(), span.bits as u64, machine);
                Bit::Known(known_bit(&read.expect("known bits").bytes, index as usize, order))
            }
            Storage::ImplicitPointer(pointer) => Bit::Pointer(pointer.entry, pointer.by, at),
            Storage::Undefined => Bit::Undefined,
            _ => Bit::Other,
        }
    };
    spans.iter().flat_map(|span| (0..span.bits).map(move |index| bit(span, index))).collect()
}

/// The number of a bit in a register, of which a span has `bits` bits from bit `from` on.
fn register_bit(from: u128, bits: u128, index: u128, order: ByteOrder) -> u128 {
    match order {
        ByteOrder::Little => from + index,
        ByteOrder::Big => from + bits - 1 - index,
    }
}

fn known_bit(bytes: &[u8], at: usize, order: ByteOrder) -> bool {
    let shift = match order {
        ByteOrder::Little => at % 8,
        ByteOrder::Big => 7 - at % 8,
    };
    bytes[at / 8] >> shift & 1 == 1
}

/// What the imported location denotes, and what the expression evaluates to, on a machine. `Err` for no meaning.
type Both = (Result<Vec<Bit>, String>, Result<Vec<Bit>, String>);

/// Sizes in bits that are compared where the object's size is unknown: a lane and an address have as many.
const SIZES: [u64; 2] = [8, 1];

fn on_machine(case: &Case<'_>, imported: &Imported, machine: &Stopped<'_>, bits: u64) -> Both {
    let meaning = imported.module.denote(Some(imported.function), imported.loc, bits, machine);
    let described = match meaning {
        Ok(spans) => Ok(described_bits(&spans, &imported.variables, case.target.byte_order())),
        Err(why @ NoMeaning::Malformed) => Err(format!("malformed {why}")),
        Err(why) => Err(why.to_string()),
    };
    let is_composite = case.bits.is_some() && matches!(imported.nodes().last(), Some(Node::Parts(_)));
    let context = Context::new(case.encoding, case.target).with_unit(case.unit);
    let mut evaluator = Evaluator::new();
    let encoded = match case.kind {
        ResultKind::Location => evaluator.location(case.expr, machine, &context).and_then(|location| {
            let location = match case.space.and_then(|space| case.target.space(space)) {
                Some(space) => {
                    let layout = eval::SpaceLayout { address_bits: space.address_bits, per: space.per };
                    location.in_space(space.id, layout, Some(machine.lane))
                }
                None => location,
            };
            // An object larger than its composite has undefined bits at the end.
            let composite = match location.single().map(|place| (&place.storage, place.offset)) {
                Some((Storage::Composite(composite), 0)) if is_composite => composite.size().min(bits.into()),
                _ => bits.into(),
            };
            let mut found =
                encoded_bits(&eval::spans(&location, composite, case.target.byte_order())?, machine);
            found.resize(bits as usize, Bit::Undefined);
            Ok(found)
        }),
        _ => evaluator.value(case.expr, machine, &context).map(|value| {
            let number = value.as_u64().unwrap_or(0);
            let bit = |index| match case.target.byte_order() {
                ByteOrder::Little => index,
                ByteOrder::Big => bits - 1 - index,
            };
            (0..bits).map(|index| Bit::Known(number >> bit(index) & 1 == 1)).collect()
        }),
    };
    (described, encoded.map_err(|fault| fault.to_string()))
}

/// Compares an imported location with its expression on several machines. Returns the number of machines on which both
/// have a meaning.
pub fn compare(case: &Case<'_>, imported: &Imported) -> Result<u32, String> {
    let size = match case.kind {
        ResultKind::Location => case.bits.filter(|&bits| bits > 0),
        _ => Some(u64::from(case.target.address_bytes()) * 8),
    };
    let sizes: Vec<u64> = size.map_or(SIZES.to_vec(), |bits| vec![bits.min(MAX_BITS)]);
    let mut meanings = 0;
    for seed in [0, 1, 2, 3, 77, 0x1234_5678_9abc_def0] {
        for lane in [0, 5, case.target.lanes() - 1] {
            let lane = lane.min(case.target.lanes() - 1);
            let machine = Stopped { seed, lane, ..Stopped::new(case) };
            for &bits in &sizes {
                match on_machine(case, imported, &machine, bits) {
                    (Ok(described), Ok(encoded)) if described == encoded => meanings += 1,
                    (Err(_), Err(_)) => {}
                    (described, encoded) => {
                        let show = |bits: Result<Vec<Bit>, String>| match bits {
                            Ok(bits) => format!("{:?}", &bits[..bits.len().min(3)]),
                            Err(why) => why,
                        };
                        let (described, encoded) = (show(described), show(encoded));
                        return Err(format!(
                            "seed {seed:#x}, lane {lane}, {bits} bits: described {described}, encoded {encoded}"
                        ));
                    }
                }
            }
        }
    }
    Ok(meanings)
}
