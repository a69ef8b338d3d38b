//! DWARF operations for an intended meaning.

use super::meant::{Meaning, MeantLocation};
use super::places::{Findings, Located};
use super::shape::{LocationShape, Number, PartShape};
use eitri_dwarf::op::{Decoder, Dialect, Encoder, Encoding, Op, Reg};
use eitri_dwarf::target::SpaceId;

/// Bits of a generic number on the stack: an address.
const GENERIC_BITS: u64 = 64;

/// Adds the location that the whole entry was meant to be to the findings that have a meaning.
pub(super) fn locate(located: &Located<'_, '_, '_>, findings: &mut Findings) {
    let meanings = located.meanings.borrow();
    let mut location = None;
    for meant in findings.iter_mut().filter_map(|diagnosed| diagnosed.details.as_mut()?.meant.as_mut()) {
        let location: &Option<_> = location.get_or_insert_with(|| meant_location(located, &meanings));
        meant.locations = location.iter().cloned().collect();
    }
}

/// Returns the location that the whole entry was meant to be, by the meaning of each part with a finding. A part
/// without a known meaning is empty if the entry has several parts; otherwise there is no location.
fn meant_location(located: &Located<'_, '_, '_>, meanings: &[Option<Meaning>]) -> Option<MeantLocation> {
    let mut expression = Vec::new();
    let mut encoding = located.encoding;
    encoding.dialect = Dialect::Llvm;
    let is_composite = located.shape.parts.iter().any(|part| part.bits.is_some());
    for (part, meaning) in located.shape.parts.iter().zip(meanings) {
        let original = located.expr.get(part.operations.clone())?;
        let bits = part.bits.or_else(|| located.ty.and_then(|ty| ty.bits));
        match meaning {
            None => expression.extend_from_slice(original),
            Some(meaning) => match operations(located, meaning, part, original, bits, encoding) {
                Some(operations) => expression.extend(operations),
                None if is_composite => {}
                None => return None,
            },
        }
        if let Some(bits) = part.bits {
            let mut to = Encoder::new(&mut expression, encoding);
            if bits.is_multiple_of(8) {
                to.piece(bits / 8)
            } else {
                to.bit_piece(bits, 0)
            };
        }
    }
    Some(MeantLocation::new(expression, located.pcs.clone()))
}

/// Returns the operations for what a part means; `bits` is the part's size.
fn operations(
    located: &Located<'_, '_, '_>,
    meaning: &Meaning,
    part: &PartShape,
    original: &[u8],
    bits: Option<u64>,
    encoding: Encoding,
) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut to = Encoder::new(&mut bytes, encoding);
    match meaning {
        Meaning::Register { reg, plus: 0, .. } | Meaning::Element { reg, .. }
            if !matches!(part.place, LocationShape::Value(Number::Computed(_))) =>
        {
            element(located, &mut to, *reg, bits)?;
        }
        Meaning::Register { reg, plus, .. } => {
            contents(located, &mut to, *reg, Extension::Zero)?;
            to.consts(*plus).plus().stack_value();
        }
        Meaning::Computed { .. } | Meaning::Element { .. } => computed(located, &mut to, original)?,
        Meaning::Constant(value) => {
            if bits.is_none_or(|bits| bits > GENERIC_BITS) {
                return None;
            }
            to.constu(*value).stack_value();
        }
        Meaning::Slot { slot, lanes, .. } | Meaning::ScaledSlot { slot, lanes, .. } => {
            contents(located, &mut to, slot.register, Extension::Zero)?;
            if *lanes > 1 {
                to.constu(u64::from(lanes.trailing_zeros())).shr();
            }
            to.consts(slot.offset).plus().constu(SpaceId::PRIVATE_LANE.0.into()).form_aspace_address();
        }
        Meaning::Symbol { address, space, .. } => {
            to.addr(*address).constu(*space).form_aspace_address();
        }
        Meaning::Words(_) => return None,
    }
    to.finish().ok()?;
    Some(bytes)
}

/// Appends the location of a register, or of the current lane's element of a vector register.
fn element(located: &Located<'_, '_, '_>, to: &mut Encoder<'_>, reg: Reg, bits: Option<u64>) -> Option<()> {
    let register = located.file.target.as_ref()?.register(reg)?;
    if bits.is_none_or(|bits| bits > u64::from(register.lane_bits())) {
        return None;
    }
    to.regx(reg);
    if register.is_vector() {
        to.push_lane().constu(u64::from(register.lane_bits()) / 8).mul().offset();
    }
    Some(())
}

/// Appends the number in a register, or in the current lane's element of a vector register.
fn contents(
    located: &Located<'_, '_, '_>,
    to: &mut Encoder<'_>,
    reg: Reg,
    extension: Extension,
) -> Option<()> {
    let register = located.file.target.as_ref()?.register(reg)?;
    let bits = u64::from(register.lane_bits());
    element(located, to, reg, Some(bits))?;
    to.deref_size(u8::try_from(bits / 8).ok()?);
    if extension == Extension::Sign && bits < GENERIC_BITS {
        to.constu(GENERIC_BITS - bits).shl().constu(GENERIC_BITS - bits).shra();
    }
    Some(())
}

/// Appends a computation without the load at its end, with the lane's elements for vector registers.
fn computed(located: &Located<'_, '_, '_>, to: &mut Encoder<'_>, original: &[u8]) -> Option<()> {
    let operations: Vec<_> = Decoder::new(original, located.encoding).collect::<Result<_, _>>().ok()?;
    let operations: Vec<Op<'_>> = operations.into_iter().map(|decoded| decoded.op).collect();
    // LLVM appends the load to the number, and `stack_value` after the load or not at all.
    let end = match &operations[..] {
        [rest @ .., Op::ConstU { .. }, Op::Swap { .. }, Op::Xderef { .. }, Op::StackValue { .. }]
        | [rest @ .., Op::ConstU { .. }, Op::Swap { .. }, Op::Xderef { .. }]
        | [rest @ .., Op::StackValue { .. }] => rest.len(),
        _ => return None,
    };
    let operations = &operations[..end];
    let extension = extension(operations)?;
    for op in operations {
        match *op {
            Op::BregX { reg, offset } => {
                contents(located, to, reg, extension)?;
                if offset != 0 {
                    to.consts(offset).plus();
                }
            }
            op => {
                to.op(op);
            }
        }
    }
    to.stack_value();
    Some(())
}

/// Extension of a register's bits to a number with more bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extension {
    Zero,
    Sign,
}

/// Returns the extension by which a computation on a larger number has the low bits of the computation on the register's
/// bits. LLVM computes on the variable's type, and the operations have none. `None` if no extension fits all operations.
fn extension(operations: &[Op<'_>]) -> Option<Extension> {
    let mut needed = None;
    for op in operations {
        let needs = match op {
            Op::BregX { .. }
            | Op::ConstU { .. }
            | Op::ConstS { .. }
            | Op::Plus { .. }
            | Op::PlusUconst { .. }
            | Op::Minus { .. }
            | Op::Mul { .. }
            | Op::And { .. }
            | Op::Or { .. }
            | Op::Xor { .. }
            | Op::Not { .. }
            | Op::Neg { .. }
            | Op::Shl { .. }
            | Op::Swap { .. }
            | Op::Pick { .. } => continue,
            Op::Shr { .. } | Op::Mod { .. } => Extension::Zero,
            Op::Shra { .. } | Op::Div { .. } => Extension::Sign,
            _ => return None,
        };
        if needed.is_some_and(|known| known != needs) {
            return None;
        }
        needed = Some(needs);
    }
    Some(needed.unwrap_or(Extension::Zero))
}
