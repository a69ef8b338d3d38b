//! Compares variable locations by evaluating them. On the machine used, each address and id has a different value, so
//! that a wrong operation changes the result, while two different expressions for the same location are equal.

use core::ops::Range;

use super::described::Projection;
use super::shapes::{Part, Shape, Typed};
use crate::eval::{Architecture, Element, Machine, SpaceLayout, Unavailable, Value};
use crate::model::TypeId;
use crate::op::Reg;
use crate::spirv::evaluate::{Initial, evaluate};
use crate::spirv::layout::Constant;
use crate::spirv::mode::Feature;
use crate::spirv::opcodes as op;
use crate::spirv::provider::{DebugOperation, Index, Provider};
use crate::spirv::words::Id;
use crate::target::{Per, SpaceId};

/// A machine with memory at every address, filled with mixed bytes.
struct Everywhere;

/// A bijection that mixes a number's bits, so that different ids and addresses get unrelated values.
fn mixed(number: u64) -> u64 {
    // One step of SplitMix64.
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Machine for Everywhere {
    fn register(&self, _: Reg, _: u32, _: u32, _: &mut [u8]) -> Result<(), Unavailable> {
        Err(Unavailable)
    }

    fn memory(
        &self,
        space: SpaceId,
        _: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        // Different spaces have different contents, so that a wrong space is a difference.
        for (offset, byte) in (0..).zip(into) {
            *byte = mixed(address.wrapping_add(offset) ^ mixed(space.0.into())) as u8;
        }
        Ok(())
    }
}

impl Architecture for Everywhere {
    fn register_bits(&self, _: Reg) -> Option<u32> {
        None
    }

    fn space(&self, _: SpaceId) -> Option<SpaceLayout> {
        Some(SpaceLayout { address_bits: 64, per: Per::Process })
    }

    fn largest_address_bits(&self) -> u32 {
        64
    }
}

/// The shape of a variable's location, or the location of a part. The variable has the type `ty`.
pub(super) fn holding(
    projection: &mut Projection<'_>,
    provider: &Provider,
    ty: TypeId,
    is_declaration: bool,
) -> Shape {
    let id = provider.id();
    let defined = projection.layout.definition(id);
    // A declaration can only reference an OpVariable. Another pointer's target is described by a value with a
    // dereference.
    let is_variable = defined.is_some_and(|it| it.opcode() == op::VARIABLE);
    let is_variable = is_variable && is_declaration;
    let mut operations = provider.few_operations(is_declaration);
    let is_whole = matches!(operations[..], [] | [DebugOperation::Fragment { .. }]);
    if is_whole && defined.is_some_and(|it| it.opcode() == op::UNDEF) {
        return nothing_holds(projection, provider, ty);
    }
    if is_declaration && !is_variable {
        // The dereference comes after the address computation, but before what selects parts.
        let is_part = |operation: &DebugOperation| {
            matches!(operation, DebugOperation::BitPiece { .. } | DebugOperation::Fragment { .. })
        };
        let end = operations.iter().position(is_part).unwrap_or(operations.len());
        operations.insert(end, DebugOperation::Deref);
    }
    let number = Element::Value(Value::generic(mixed(id.0.into()), 8));
    let initial = if is_variable { Initial::Address(number) } else { Initial::Value(number) };
    let mut parts = vec![if is_variable { "declare".into() } else { "value".into() }];
    parts.push(u64::from(id.0).into());
    if !operations.is_empty() {
        let location =
            |operations: &[DebugOperation]| evaluate(operations, &initial, &Everywhere, &Everywhere);
        match location(&operations) {
            // The operations change nothing, so that their number does not matter.
            Ok(found) if location(&[]).is_ok_and(|it| it.location == found.location) => {}
            Ok(found) => parts.push(Typed::Location(found.location).into()),
            // Operations that cannot be evaluated are compared literally.
            Err(_) => parts.push(Typed::Operations(operations.to_vec()).into()),
        }
    }
    parts.extend(part(projection, provider, ty, is_variable));
    projection.shapes.shape(&parts)
}

/// The shape of a variable without a location, or of a part without a location.
pub(super) fn nothing_holds(projection: &mut Projection<'_>, provider: &Provider, ty: TypeId) -> Shape {
    let parts = [Part::from("nothing")].into_iter().chain(part(projection, provider, ty, false));
    let parts: Vec<_> = parts.collect();
    projection.shapes.shape(&parts)
}

/// The shape of a part without a location: the smallest enclosing part that the mode can encode.
pub(super) fn nothing_around(projection: &mut Projection<'_>, provider: &Provider, ty: TypeId) -> Shape {
    let known = provider.indexes().iter().take_while(|index| is_known(projection, index)).count();
    let mut around = provider.around(known);
    if !projection.mode.has(Feature::Indexes) && part_bits(projection, &around, ty).is_none() {
        around = around.around(0);
    }
    nothing_holds(projection, &around, ty)
}

/// The variable's part: its indexes, or its bits in a mode without indexes.
fn part(
    projection: &Projection<'_>,
    provider: &Provider,
    ty: TypeId,
    is_declaration: bool,
) -> Vec<Part<'static>> {
    let bits = provider.selected_bits().map(|bits| bits.start.into()..bits.end.into());
    let (indexes, bits) = if has_indexes(projection, is_declaration) || provider.indexes().is_empty() {
        (provider.indexes(), bits)
    } else {
        (&[][..], part_bits(projection, provider, ty))
    };
    let mut parts = Vec::new();
    for index in indexes {
        // An unknown index becomes a number that no constant has, so that equal ids stay equal.
        let index = index.number(|id| number_of(projection, id).or(Some(1 << 32 | u64::from(id.0))));
        parts.extend(["part".into(), index.unwrap_or_default().into()]);
    }
    if let Some(Range { start, end }) = bits {
        parts.extend(["for bits".into(), start.into(), end.into()]);
    }
    parts
}

/// Whether a part is encoded with indexes. Declarations have indexes only in the shader set.
fn has_indexes(projection: &Projection<'_>, is_declaration: bool) -> bool {
    projection.mode.has(Feature::Indexes) && (!is_declaration || projection.mode.set.is_shader())
}

fn part_bits(projection: &Projection<'_>, provider: &Provider, ty: TypeId) -> Option<Range<u64>> {
    let part = provider.part_of(projection.module, ty, |id| number_of(projection, id)).ok()??;
    let bits = provider.absolute(projection.module, &part)?;
    // `DebugOperation`'s operands have 32 bits.
    (bits.start.max(bits.end) < 1 << 32).then_some(bits)
}

fn number_of(projection: &Projection<'_>, id: Id) -> Option<u64> {
    projection.layout.constant(id)?.value.filter(|&number| number < 1 << 32)
}

/// Whether the mode can encode an index.
fn is_known(projection: &Projection<'_>, index: &Index) -> bool {
    match *index {
        Index::Number(_) => true,
        Index::Id(id) => {
            let is_constant = |it: Constant| it.value.is_some();
            projection.mode.has(Feature::RunTimeIndexes)
                || projection.layout.constant(id).is_some_and(is_constant)
        }
    }
}
