//! Locations as stack elements: each node has an operation, and the tree is written in its own order.

use super::expression::{At, ExpressionWriter, MAX_DEPTH, has_bytes};
use super::fragments::{Fragment, split};
use super::linear::{go_on, piece};
use super::{malformed, nameless};
use crate::emit::info::{Pending, RefForm, Wanted};
use crate::error::{Construct, Result};
use crate::model::{Entity, Node, ProcedureId, Stack, Tree};
use crate::op::Reg;
use crate::target::{Scaling, SpaceId};

impl<'m> ExpressionWriter<'_, 'm> {
    /// Writes operations that leave the location on top of the stack.
    pub(super) fn loc(&mut self, at: At) -> Result<()> {
        self.loc_from(at, 0)
    }

    /// Writes the location `from` bits further on. Where the location has an offset or an address, the bits are added
    /// to that.
    pub(super) fn loc_from(&mut self, at: At, from: i64) -> Result<()> {
        if from == 0 && self.call_shared(at) {
            return Ok(());
        }
        let bytes = (from % 8 == 0).then_some(from / 8);
        match (self.tree.node(at), bytes) {
            (Node::Offset(_) | Node::BitOffset(_), _) => {
                let (place, by) = self.moved_by(at);
                return match by.checked_add(from) {
                    Some(from) => self.loc_from(place, from),
                    None => Err(malformed()),
                };
            }
            (Node::Lane(reg, lane), _) => {
                let first = self.lane_bit(reg, lane)?;
                self.encoder.regx(reg);
                go_on(&mut self.encoder, first + from);
            }
            (Node::PerLane(reg), Some(by)) => {
                let bytes = self.register(reg)?.lane_bits() / 8;
                self.encoder.regx(reg).push_lane().constu(bytes.into()).mul();
                self.plus(by);
                self.encoder.offset();
            }
            (Node::Memory(space), Some(by)) => self.memory(space, self.tree.last(at), by)?,
            _ => {
                self.place(at)?;
                go_on(&mut self.encoder, from);
            }
        }
        Ok(())
    }

    pub(super) fn place(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Register(reg) => {
                self.encoder.regx(reg);
            }
            Node::Lane(..) | Node::PerLane(_) | Node::Memory(_) => {
                return self.loc_from(at, 0);
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.loc(loc)?;
                match self.tree.constant(by) {
                    Some(bytes) if bytes <= i64::MAX as u64 / 8 => go_on(&mut self.encoder, bytes as i64 * 8),
                    _ => {
                        self.above(1, |one| one.val(by))?;
                        self.encoder.offset();
                    }
                }
            }
            Node::BitOffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.loc(loc)?;
                self.above(1, |one| one.val(by))?;
                self.encoder.bit_offset();
            }
            Node::Parts(_) => self.parts(at, None, false)?,
            Node::Overlay => {
                let operands = self.tree.operands(at);
                self.loc(operands[0])?;
                self.above(1, |one| one.loc(operands[1]))?;
                self.above(2, |one| one.val(operands[2]))?;
                self.above(3, |one| one.val(operands[3]))?;
                self.encoder.bit_overlay();
            }
            Node::Select { bits, count } => {
                let operands = self.tree.operands(at);
                self.loc(operands[0])?;
                self.above(1, |one| one.loc(operands[1]))?;
                self.above(2, |one| one.val(operands[2]))?;
                self.encoder.select_bit_piece(bits, count);
            }
            Node::Extend { bits, count } => {
                self.loc(self.tree.last(at))?;
                self.encoder.extend(bits, count);
            }
            Node::Implicit(bytes) => {
                self.encoder.implicit_value(bytes);
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                self.encoder.stack_value();
            }
            Node::PointerTo(variable, by) => self.pointer_to(variable, by)?,
            Node::Call(procedure) => {
                if !self.context.entries.has_expression(procedure) {
                    return Err(self.context.consumer.inexpressible(Construct::Procedure));
                }
                if self.context.stack.base.is_some() && self.has_stack_slot(procedure, 0) {
                    // The base register is the caller's, which the procedure's entry does not know.
                    let (tree, root) = self.procedure(procedure)?;
                    let mut inner = self.inside(&tree)?;
                    inner.loc(root)?;
                    return inner.encoder.finish();
                }
                let entry = self.context.entries.entity(Entity::Procedure(procedure)).ok_or_else(nameless)?;
                let at = self.encoder.position() + 1;
                self.encoder.call4(0);
                self.references
                    .pending
                    .push(Pending { at, wanted: Wanted::Entry { entry, form: RefForm::Unit(4) } });
            }
            Node::Cfa => self.cfa(),
            Node::Undefined => {
                self.encoder.undefined();
            }
            Node::Expr(id) => self.expr(id)?,
            _ => return Err(malformed()),
        }
        Ok(())
    }

    /// Writes memory at an address, `more` bytes further on.
    pub(super) fn memory(&mut self, space: SpaceId, address: At, more: i64) -> Result<()> {
        if space == SpaceId::DEFAULT {
            // A number converts to a location in the default space implicitly.
            return self.of_space(space, |one| one.val_plus(address, more));
        }
        if let Some((reg, by)) = self.base_plus(address)
            && let Some(by) = by.checked_add(more)
            && self.register(reg)?.bits >= self.space_bits(space)?
        {
            self.encoder.constu(space.0.into()).aspace_bregx(reg, by);
            return Ok(());
        }
        self.of_space(space, |one| one.val_plus(address, more))?;
        self.encoder.constu(space.0.into()).form_aspace_address();
        Ok(())
    }

    /// Register and constant of an address: also the stack base, where it counts for a lane.
    fn base_plus(&self, at: At) -> Option<(Reg, i64)> {
        match (self.tree.node(at), self.context.stack) {
            (Node::StackAddress(by), Stack { base: Some(reg), scaling: Scaling::Lane }) => Some((reg, by)),
            (Node::Plus(by), _) => {
                let (reg, first) = self.base_plus(self.tree.last(at))?;
                Some((reg, first.checked_add(by)?))
            }
            _ => self.register_plus(at),
        }
    }

    /// Returns whether a location is a composite, or an offset into one.
    pub(super) fn is_composite(&self, at: At) -> bool {
        matches!(self.tree.node(self.moved_by(at).0), Node::Parts(_) | Node::Overlay)
    }

    /// Writes a composite. The end of an expression completes it; elsewhere an operation does.
    pub(super) fn parts(&mut self, at: At, bits: Option<u64>, is_end: bool) -> Result<()> {
        let bits = bits.or_else(|| self.bits(at));
        let mut fragments = Vec::new();
        let flat = bits.and_then(|bits| split(self.tree, at, 0, bits, &mut fragments));
        match fragments[..] {
            _ if flat.is_none() => return self.composite_operation(at),
            [Fragment { at: same, .. }] if same == at => return self.composite_operation(at),
            [Fragment { at, from, .. }] => return self.loc_from(at, from),
            _ => {}
        }
        // A separate expression begins with an empty stack.
        self.pieces(&fragments, !is_end || self.operands.cfa_uses.is_some(), false)?;
        if !is_end {
            self.encoder.piece_end();
        }
        Ok(())
    }

    /// Writes parts one by one. With `is_below`, the stack may have other elements; with `is_open`, the element on
    /// top is the composite to which these parts are added.
    pub(super) fn pieces(&mut self, fragments: &[Fragment], is_below: bool, is_open: bool) -> Result<()> {
        let around = self.operands.is_open;
        let written = self.each_piece(fragments, is_below, is_open);
        self.operands.is_open = around;
        written
    }

    fn each_piece(&mut self, fragments: &[Fragment], is_below: bool, mut is_open: bool) -> Result<()> {
        for &fragment in fragments {
            self.operands.is_open |= is_open;
            let Fragment { at, from, bits } = fragment;
            let first = match self.tree.node(at) {
                // An undefined part has no operation.
                Node::Undefined if is_open || !is_below => 0,
                Node::Lane(reg, lane) => {
                    self.encoder.regx(reg);
                    self.lane_bit(reg, lane)? + from
                }
                Node::Call(procedure) if is_open && self.has_open_composite(at) => {
                    self.parts_in_place(procedure, fragment)?;
                    continue;
                }
                // Pieces of its own would be added to this composite.
                _ if is_open && self.has_open_composite(at) => {
                    return Err(self.context.consumer.inexpressible(Construct::SelectedPartsOfPart));
                }
                Node::Memory(_) | Node::Cfa if from % 8 == 0 => {
                    self.above(is_open.into(), |one| one.loc_from(at, from))?;
                    0
                }
                _ => {
                    self.above(is_open.into(), |one| one.loc(at))?;
                    from
                }
            };
            piece(&mut self.encoder, first, bits);
            is_open = true;
        }
        Ok(())
    }

    /// Writes a procedure's parts as parts of the current composite.
    pub(super) fn parts_in_place(
        &mut self,
        procedure: ProcedureId,
        Fragment { from, bits, .. }: Fragment,
    ) -> Result<()> {
        let (tree, root) = self.procedure(procedure)?;
        let mut inner = self.inside(&tree)?;
        let mut fragments = Vec::new();
        let flat = split(&tree, root, from, bits, &mut fragments);
        flat.ok_or_else(|| inner.context.consumer.inexpressible(Construct::OutsideParts))?;
        inner.pieces(&fragments, true, true)?;
        inner.encoder.finish()
    }

    /// Writes an overlay whose offset or size is known only at run time.
    pub(super) fn composite_operation(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Overlay | Node::Offset(_) | Node::BitOffset(_) => self.loc(at),
            _ => Err(self.context.consumer.inexpressible(Construct::OutsideParts)),
        }
    }

    /// Returns whether the expression of a location builds a composite from pieces.
    pub(super) fn has_open_composite(&self, at: At) -> bool {
        self.opens_composite(self.tree, at, self.depth)
    }

    pub(super) fn opens_composite(&self, tree: &Tree<'m>, at: At, depth: u32) -> bool {
        match tree.node(at) {
            Node::Parts(_) | Node::Overlay | Node::Expr(_) => true,
            Node::Read(bits) if !has_bytes(self.bits_of(tree, tree.last(at)), bits) => true,
            Node::Call(procedure) => match self.procedure(procedure) {
                Ok((tree, root)) => depth == MAX_DEPTH || self.opens_composite(&tree, root, depth + 1),
                Err(_) => true,
            },
            _ => tree.operands(at).iter().any(|&operand| self.opens_composite(tree, operand, depth)),
        }
    }
}
