//! Locations as stack elements: each node has an operation, and the tree is written in its own order.

use super::constants::{known_number, known_pieces};
use super::expression::{ExpressionWriter, malformed, nameless};
use super::fragments::{Fragment, Split, has_bytes};
use super::linear::{go_on, piece};
use super::numbers::{self, Read, deref, register_plus, thread_local};
use super::shared::At;
use crate::emit::info::{Pending, RefForm, Wanted};
use crate::error::{Construct, Result};
use crate::model::{Entity, Node, ProcedureId, Stack};
use crate::op::Reg;
use crate::target::{ByteOrder, Scaling, SpaceId};

/// Dialect in which locations are stack elements.
pub(super) struct OnStack;

impl Read for OnStack {
    fn read(out: &mut ExpressionWriter<'_, '_>, at: At, bits: u32, _: SpaceId) -> Result<()> {
        let bytes = bits.div_ceil(8);
        let is_whole = bits.is_multiple_of(8);
        let order = out.context.module.target.byte_order();
        let mut fragments = Vec::new();
        if order == ByteOrder::Big
            && out.split().first(at, bits.into(), &mut fragments).is_some()
            && let [Fragment { at, from, bits, .. }] = fragments[..]
            && let Node::Implicit(bytes) = out.tree.node(at)
        {
            let number = known_number(bytes, from, bits);
            let outside = || out.context.consumer.inexpressible(Construct::ConstantEnd);
            let number = number.ok_or_else(outside)?;
            out.encoder.constu(number);
            return Ok(());
        }
        loc(out, at)?;
        // On a big-endian machine it depends on the storage at which end of the bytes the bits would be.
        let has_more = is_whole || order == ByteOrder::Little && has_bytes(out.bits(at), bits);
        if !has_more && order == ByteOrder::Big && is_known(out, at) {
            // Dialects differ in which bits of known bytes a piece has.
            return Err(out.context.consumer.inexpressible(Construct::BitOrder));
        }
        if !has_more {
            // Reads exactly these bits, because the storage may end after them.
            out.encoder.bit_piece(bits.into(), 0).constu(0).stack_value();
            out.encoder.bit_piece((8 * bytes - bits).into(), 0).piece_end();
        }
        deref(out, bytes);
        match order {
            ByteOrder::Little if has_more && !is_whole => {
                out.encoder.constu(u64::MAX >> (64 - bits)).and();
            }
            // The zeros after the bits are the least significant.
            ByteOrder::Big if !is_whole => {
                out.encoder.constu((8 * bytes - bits).into()).shr();
            }
            _ => {}
        }
        Ok(())
    }

    fn address_of(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
        // A location in the default space converts to a number implicitly.
        loc(out, at)
    }
}

/// What comes after a location's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// The expression's end, which completes a composite.
    End,
    /// Further operations, before which an operation completes a composite: they belong to a procedure's caller, or to
    /// the enclosing location.
    Operations,
}

/// Writes a location's whole expression.
pub(super) fn write(
    out: &mut ExpressionWriter<'_, '_>,
    root: At,
    bits: Option<u64>,
    follows: Follows,
) -> Result<()> {
    if is_composite(out, root) { parts(out, root, bits, follows) } else { loc(out, root) }
}

fn val(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    numbers::val::<OnStack>(out, at, SpaceId::DEFAULT)
}

fn val_plus(out: &mut ExpressionWriter<'_, '_>, at: At, by: i64, space: SpaceId) -> Result<()> {
    numbers::val_plus::<OnStack>(out, at, by, space)
}

/// Writes operations that leave the location on top of the stack.
fn loc(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    loc_from(out, at, 0)
}

/// Writes the location `from` bits further on. Where the location has an offset or an address, that absorbs the bits.
fn loc_from(out: &mut ExpressionWriter<'_, '_>, at: At, from: i64) -> Result<()> {
    if from == 0 && out.call_shared(at) {
        return Ok(());
    }
    // An address can absorb whole bytes, but not single bits.
    let bytes = (from % 8 == 0).then_some(from / 8);
    match (out.tree.node(at), bytes) {
        (Node::Offset(_) | Node::BitOffset(_), _) => {
            let (place, by) = out.moved_by(at);
            return match by.checked_add(from) {
                Some(from) => loc_from(out, place, from),
                None => Err(malformed()),
            };
        }
        (Node::Lane(reg, lane), _) => {
            let first = out.lane_bit(reg, lane)?;
            out.encoder.regx(reg);
            go_on(&mut out.encoder, first + from);
        }
        (Node::PerLane(reg), Some(by)) => {
            let bytes = out.register(reg)?.lane_bits() / 8;
            out.encoder.regx(reg).push_lane().constu(bytes.into()).mul();
            out.plus(by);
            out.encoder.offset();
        }
        (Node::Memory(space), Some(by)) => memory(out, space, out.tree.last(at), by)?,
        _ => {
            place(out, at)?;
            go_on(&mut out.encoder, from);
        }
    }
    Ok(())
}

fn place(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    match out.tree.node(at) {
        Node::Register(reg) => {
            out.encoder.regx(reg);
        }
        Node::Lane(..) | Node::PerLane(_) | Node::Memory(_) => {
            return loc_from(out, at, 0);
        }
        Node::OffsetBy => {
            let (place, by) = out.tree.two(at);
            loc(out, place)?;
            match out.tree.constant(by) {
                Some(bytes) if bytes <= i64::MAX as u64 / 8 => go_on(&mut out.encoder, bytes as i64 * 8),
                _ => {
                    out.above(1, |out| val(out, by))?;
                    out.encoder.offset();
                }
            }
        }
        Node::BitOffsetBy => {
            let (place, by) = out.tree.two(at);
            loc(out, place)?;
            out.above(1, |out| val(out, by))?;
            out.encoder.bit_offset();
        }
        Node::Parts(_) => parts(out, at, None, Follows::Operations)?,
        Node::Overlay => {
            let operands = out.tree.operands(at);
            loc(out, operands[0])?;
            out.above(1, |out| loc(out, operands[1]))?;
            out.above(2, |out| val(out, operands[2]))?;
            out.above(3, |out| val(out, operands[3]))?;
            out.encoder.bit_overlay();
        }
        Node::Select { bits, count } => {
            let operands = out.tree.operands(at);
            loc(out, operands[0])?;
            out.above(1, |out| loc(out, operands[1]))?;
            out.above(2, |out| val(out, operands[2]))?;
            out.encoder.select_bit_piece(bits, count);
        }
        Node::Extend { bits, count } => {
            loc(out, out.tree.last(at))?;
            out.encoder.extend(bits, count);
        }
        Node::Implicit(bytes) => {
            out.encoder.implicit_value(bytes);
        }
        Node::Value => {
            val(out, out.tree.last(at))?;
            out.encoder.stack_value();
        }
        Node::PointerTo(variable, by) => out.pointer_to(variable, by)?,
        Node::Call(procedure) => {
            // A call to an entry without an expression would leave no location on the stack.
            if !out.context.entries.has_expression(procedure) {
                return Err(out.context.consumer.inexpressible(Construct::Procedure));
            }
            if out.context.stack.base.is_some() && out.has_stack_slot(procedure) {
                // The base register is the caller's, which the procedure's entry does not know.
                let (tree, root) = out.procedure(procedure)?;
                let mut inner = out.inside(&tree)?;
                loc(&mut inner, root)?;
                return inner.encoder.finish();
            }
            let entry = out.context.entries.entity(Entity::Procedure(procedure)).ok_or_else(nameless)?;
            let operand = out.encoder.position() + 1;
            out.encoder.call4(0);
            out.references
                .pending
                .push(Pending { at: operand, wanted: Wanted::Entry { entry, form: RefForm::Unit(4) } });
        }
        Node::Cfa => out.cfa(),
        Node::ThreadLocal => thread_local::<OnStack>(out, at)?,
        Node::Undefined => {
            out.encoder.undefined();
        }
        Node::Expr(id) => out.expr(id)?,
        _ => return Err(malformed()),
    }
    Ok(())
}

/// Writes memory at an address, `more` bytes further on.
fn memory(out: &mut ExpressionWriter<'_, '_>, space: SpaceId, address: At, more: i64) -> Result<()> {
    if space == SpaceId::DEFAULT {
        // A number converts to a location in the default space implicitly.
        return val_plus(out, address, more, space);
    }
    if let Some((reg, by)) = base_plus(out, address)
        && let Some(by) = by.checked_add(more)
        && out.register(reg)?.bits >= out.space_bits(space)?
    {
        out.encoder.constu(space.0.into()).aspace_bregx(reg, by);
        return Ok(());
    }
    val_plus(out, address, more, space)?;
    out.encoder.constu(space.0.into()).form_aspace_address();
    Ok(())
}

/// Splits an address into a register and a constant. The stack base counts as well, if it is scaled to a lane.
fn base_plus(out: &ExpressionWriter<'_, '_>, at: At) -> Option<(Reg, i64)> {
    match (out.tree.node(at), out.context.stack) {
        (Node::StackAddress(by), Stack { base: Some(reg), scaling: Scaling::Lane }) => Some((reg, by)),
        (Node::Plus(by), _) => {
            let (reg, first) = base_plus(out, out.tree.last(at))?;
            Some((reg, first.checked_add(by)?))
        }
        _ => register_plus(out, at),
    }
}

/// Returns whether a location is in constant bytes.
fn is_known(out: &ExpressionWriter<'_, '_>, at: At) -> bool {
    matches!(out.tree.node(out.split().storage(at)), Node::Implicit(_))
}

/// Returns whether a location is a composite, or an offset into one.
fn is_composite(out: &ExpressionWriter<'_, '_>, at: At) -> bool {
    matches!(out.tree.node(out.moved_by(at).0), Node::Parts(_) | Node::Overlay)
}

/// Writes a composite. An expression's end completes it; elsewhere an operation does.
fn parts(out: &mut ExpressionWriter<'_, '_>, at: At, bits: Option<u64>, follows: Follows) -> Result<()> {
    let is_unsized = bits.is_none();
    let bits = bits.or_else(|| out.bits(at));
    let mut fragments = Vec::new();
    // A composite is written piece by piece if its parts are known. Otherwise operations compute it at run time.
    let flat = bits.and_then(|bits| out.split().first(at, bits, &mut fragments));
    match fragments[..] {
        _ if flat.is_none() => return composite_operation(out, at),
        [Fragment { at: same, .. }] if same == at => return composite_operation(out, at),
        [Fragment { flip: 1.. | ..=-1, .. }] => {
            return Err(out.context.consumer.inexpressible(Construct::BitOrder));
        }
        // Without a size, a smaller object has the first bits of the part.
        [Fragment { at, .. }]
            if out.context.module.target.is_big_endian() && is_unsized && out.split().is_number(at) => {}
        [Fragment { at, from, .. }] => return loc_from(out, at, from),
        _ => {}
    }
    match follows {
        // A separate expression begins with an empty stack, except for the canonical frame address.
        Follows::End if out.operands.cfa_uses.is_none() => pieces(out, &fragments, Top::Nothing),
        Follows::End => pieces(out, &fragments, Top::Element),
        Follows::Operations => {
            pieces(out, &fragments, Top::Element)?;
            out.encoder.piece_end();
            Ok(())
        }
    }
}

/// What is on top of the stack before parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Top {
    /// The stack is empty.
    Nothing,
    /// The stack may have an element, to which the parts do not belong.
    Element,
    /// The composite to which the parts are added.
    Composite,
}

/// Writes parts in their order.
fn pieces(out: &mut ExpressionWriter<'_, '_>, fragments: &[Fragment], top: Top) -> Result<()> {
    // Once the parts are written, the composite is complete, and operands before it can be moved again.
    let around = out.operands.is_open;
    let written = each_piece(out, fragments, top);
    out.operands.is_open = around;
    written
}

fn each_piece(out: &mut ExpressionWriter<'_, '_>, fragments: &[Fragment], mut top: Top) -> Result<()> {
    for &fragment in fragments {
        let is_open = top == Top::Composite;
        out.operands.is_open |= is_open;
        let Fragment { at, from, bits, flip } = fragment;
        if flip != 0 && !(is_open && has_open_composite(out, at)) {
            // The called procedure's storage decides which of its bits these are.
            return Err(out.context.consumer.inexpressible(Construct::BitOrder));
        }
        let first = match out.tree.node(at) {
            // An undefined part has no operation.
            Node::Undefined if top != Top::Element => 0,
            Node::Lane(reg, lane) => {
                out.encoder.regx(reg);
                out.lane_bit(reg, lane)? + from
            }
            Node::Call(procedure) if is_open && has_open_composite(out, at) => {
                parts_in_place(out, procedure, fragment)?;
                continue;
            }
            // This location's pieces would be added to the open composite.
            _ if is_open && has_open_composite(out, at) => {
                return Err(out.context.consumer.inexpressible(Construct::SelectedPartsOfPart));
            }
            Node::Implicit(bytes) if out.context.module.target.is_big_endian() => {
                out.above(is_open.into(), |out| known_pieces(out, bytes, fragment))?;
                top = Top::Composite;
                continue;
            }
            _ if out.context.module.target.is_big_endian() && is_known(out, at) => {
                return Err(out.context.consumer.inexpressible(Construct::BitOrder));
            }
            Node::Memory(_) | Node::Cfa if from % 8 == 0 => {
                out.above(is_open.into(), |out| loc_from(out, at, from))?;
                0
            }
            _ => {
                out.above(is_open.into(), |out| loc(out, at))?;
                from
            }
        };
        piece(&mut out.encoder, first, bits);
        top = Top::Composite;
    }
    Ok(())
}

/// Writes a procedure's parts into the current composite.
fn parts_in_place(
    out: &mut ExpressionWriter<'_, '_>,
    procedure: ProcedureId,
    fragment: Fragment,
) -> Result<()> {
    let (tree, root) = out.procedure(procedure)?;
    let mut inner = out.inside(&tree)?;
    let mut fragments = Vec::new();
    let split = Split { tree: &tree, target: &inner.context.module.target };
    let flat = split.split(Fragment { at: root, ..fragment }, &mut fragments);
    flat.ok_or_else(|| inner.context.consumer.inexpressible(Construct::OutsideParts))?;
    pieces(&mut inner, &fragments, Top::Composite)?;
    inner.encoder.finish()
}

/// Writes an overlay whose offset or size is known only at run time.
fn composite_operation(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    match out.tree.node(at) {
        // A register's bits after the overlaid bits would be other bits than those that are described.
        Node::Overlay if out.context.module.target.is_big_endian() => {
            Err(out.context.consumer.inexpressible(Construct::BitOrder))
        }
        Node::Overlay | Node::Offset(_) | Node::BitOffset(_) => loc(out, at),
        _ => Err(out.context.consumer.inexpressible(Construct::OutsideParts)),
    }
}

/// Returns whether a location's expression builds a composite from pieces.
fn has_open_composite(out: &ExpressionWriter<'_, '_>, at: At) -> bool {
    out.context.called.with_calls(out.context.module, out.tree, at).has_composite
}
