//! Locations whose operations are in node order, as in almost all locations: one pass over the nodes, without a tree,
//! because most time would go into the tree. The bytes are those that the tree's writer appends.

use crate::model::{Module, Node, Nodes, Stack};
use crate::op::{Encoder, Encoding, Reg};
use crate::target::{Scaling, SpaceId};

/// Numbers directly before a node that are added to its address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// No offset beyond the address's own.
    Other,
    /// A constant.
    Const,
    /// A constant that is added to another number.
    Plus,
    /// Constants that the tree's writer adds up.
    Sum,
}

/// Composite parts that are still to be written.
struct Parts {
    /// Composite size in bits, if it is known, less the parts so far.
    rest: Option<u64>,
    count: u64,
}

impl Parts {
    /// Returns how many bits of the next part belong to the composite, unless they are the whole composite or none.
    #[inline]
    fn next(&mut self, bits: u64) -> Option<u64> {
        let here = bits.min(self.rest.unwrap_or(bits));
        if here == 0 || self.count == 0 && self.rest == Some(here) {
            return None;
        }
        self.rest = self.rest.map(|rest| rest - here);
        self.count += 1;
        Some(here)
    }

    /// Whether the parts are several, and are the whole composite.
    fn are_all(&self, count: u64) -> bool {
        count == self.count && count > 1 && self.rest.unwrap_or(0) == 0
    }
}

/// Writer for locations whose operations are in node order.
pub(super) struct Linear<'m> {
    pub(super) module: &'m Module,
    pub(super) encoding: Encoding,
    pub(super) address_bits: u32,
    /// Whether locations are stack elements.
    pub(super) has_places: bool,
}

impl Linear<'_> {
    /// Returns whether a register is as large as an address.
    #[inline]
    pub(super) fn holds_address(&self, reg: Reg) -> bool {
        self.module.target.register(reg).is_some_and(|register| register.bits == self.address_bits)
    }

    /// Appends a location's expression if its operations are in node order. Returns false, and appends nothing, if an
    /// operation depends on more than its node and its neighbours, and if there is an error, which the tree's writer
    /// reports.
    #[inline(always)]
    pub(super) fn write(&self, nodes: Nodes<'_>, bits: Option<u64>, stack: Stack, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_written = self.in_order(nodes, bits, stack, out).is_some();
        if !is_written {
            out.truncate(start);
        }
        is_written
    }

    #[inline(always)]
    fn in_order(
        &self,
        mut nodes: Nodes<'_>,
        bits: Option<u64>,
        stack: Stack,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let has_places = self.has_places;
        let is_big_endian = self.module.target.is_big_endian();
        let mut encoder = Encoder::new(out, self.encoding);
        let mut parts = Parts { rest: bits, count: 0 };
        // First bit of the part that is written next.
        let mut from = 0;
        let mut before = Before::Other;
        while let Some(node) = nodes.next() {
            // Only the number directly before an access to memory can change how the access is written.
            let was = core::mem::replace(&mut before, Before::Other);
            match node {
                Node::Register(reg) => {
                    encoder.regx(reg);
                    from = self.after_place(&mut encoder, &mut nodes, 0)?;
                }
                Node::Lane(reg, lane) if has_places => {
                    let bits = self.module.target.register(reg)?.lane_bits();
                    encoder.regx(reg);
                    from = self.after_place(&mut encoder, &mut nodes, i64::from(lane) * i64::from(bits))?;
                }
                Node::PerLane(reg) if has_places => {
                    let bytes = self.module.target.register(reg)?.lane_bits() / 8;
                    encoder.regx(reg).push_lane().constu(bytes.into()).mul();
                    let mut moved = nodes.next_moved()?;
                    if moved % 8 == 0 && !nodes.is_part() {
                        plus(&mut encoder, core::mem::take(&mut moved) / 8);
                    }
                    encoder.offset();
                    from = self.after_place(&mut encoder, &mut nodes, moved)?;
                }
                // The tree's writer cuts constants into pieces on a big-endian machine.
                Node::Implicit(_) if is_big_endian && !nodes.is_empty() => return None,
                Node::Implicit(bytes) => {
                    encoder.implicit_value(bytes);
                    from = self.after_place(&mut encoder, &mut nodes, 0)?;
                }
                Node::Value => {
                    encoder.stack_value();
                    from = self.after_place(&mut encoder, &mut nodes, 0)?;
                }
                // An undefined part has no operation; nor has an undefined location.
                Node::Undefined if nodes.is_part() || nodes.is_empty() => {}
                Node::Memory(SpaceId::DEFAULT) => {
                    // A number becomes a location in the default space without an operation.
                    // An offset could still be added to the address, which the tree's writer does.
                    if was == Before::Sum || nodes.is_moved() {
                        return None;
                    }
                    if nodes.next_read(self.address_bits).is_some() {
                        encoder.deref();
                    } else if !has_places && !nodes.is_part() && !nodes.is_empty() {
                        return None;
                    }
                }
                Node::Memory(space) if has_places && was != Before::Sum && !nodes.is_moved() => {
                    encoder.constu(space.0.into()).form_aspace_address();
                }
                Node::Read(bits) if has_places && bits.is_multiple_of(8) => {
                    deref(&mut encoder, bits, self.address_bits);
                }
                Node::Part(bits) => {
                    let here = parts.next(bits)?;
                    // A part of a register is at the register's other end.
                    if is_big_endian && here != bits {
                        return None;
                    }
                    piece(&mut encoder, core::mem::take(&mut from), here);
                }
                Node::Parts(count) if nodes.is_empty() && parts.are_all(count) => {}
                Node::ReadRegister(reg) => {
                    let (distance, count) = nodes.next_sum()?;
                    let bits = self.module.target.register(reg)?.bits;
                    if has_places && self.in_space(&mut encoder, &mut nodes, reg, bits, distance)? {
                    } else if bits == self.address_bits {
                        encoder.bregx(reg, distance);
                    } else if count <= 1 {
                        self.narrow(&mut encoder, reg, bits)?;
                        plus(&mut encoder, distance);
                    } else {
                        return None;
                    }
                }
                Node::StackAddress(by) if has_places && !nodes.is_plus() => {
                    self.slot(&mut encoder, &mut nodes, stack, by)?;
                }
                Node::LaneIndex if has_places => {
                    encoder.push_lane();
                }
                Node::Const(value) => {
                    encoder.constu(value);
                    before = Before::Const;
                }
                Node::Plus(by) => {
                    plus(&mut encoder, by);
                    before = if was == Before::Other { Before::Plus } else { Before::Sum };
                }
                node if arithmetic(&mut encoder, node) => {}
                _ => return None,
            }
        }
        (!encoder.has_failed()).then_some(())
    }

    /// Offsets the storage on top by `by` bits and the next nodes' offsets. Returns the offset instead if a part ends
    /// here, because the piece can contain it.
    #[inline(always)]
    fn after_place(&self, encoder: &mut Encoder<'_>, nodes: &mut Nodes<'_>, by: i64) -> Option<i64> {
        // Most locations end here.
        if by == 0 && nodes.is_empty() {
            return Some(0);
        }
        self.offset_place(encoder, nodes, by)
    }

    fn offset_place(&self, encoder: &mut Encoder<'_>, nodes: &mut Nodes<'_>, by: i64) -> Option<i64> {
        let by = by.checked_add(nodes.next_moved()?)?;
        if nodes.is_part() && (by == 0 || self.has_places) {
            return Some(by);
        }
        if !self.has_places && (by != 0 || !nodes.is_empty()) {
            return None;
        }
        go_on(encoder, by);
        Some(0)
    }

    /// Writes memory at a register plus a constant, if the next node is memory outside the default space, and the
    /// register, which has `bits` bits, holds the space's addresses. Returns whether the memory was written.
    #[inline]
    fn in_space(
        &self,
        encoder: &mut Encoder<'_>,
        nodes: &mut Nodes<'_>,
        reg: Reg,
        bits: u32,
        by: i64,
    ) -> Option<bool> {
        let Some(space) = nodes.space().filter(|&space| space != SpaceId::DEFAULT) else {
            return Some(false);
        };
        if bits < self.module.target.space(space)?.address_bits {
            return Some(false);
        }
        nodes.next();
        encoder.constu(space.0.into()).aspace_bregx(reg, by);
        (!nodes.is_moved()).then_some(true)
    }

    /// Writes a stack slot's address.
    fn slot(&self, encoder: &mut Encoder<'_>, nodes: &mut Nodes<'_>, stack: Stack, by: i64) -> Option<()> {
        let Some(reg) = stack.base else {
            match by {
                0.. => encoder.constu(by as u64),
                _ => encoder.consts(by),
            };
            return Some(());
        };
        let bits = self.module.target.register(reg)?.bits;
        if stack.scaling == Scaling::Lane && self.in_space(encoder, nodes, reg, bits, by)? {
            return Some(());
        }
        if bits == self.address_bits {
            encoder.bregx(reg, 0);
        } else {
            self.narrow(encoder, reg, bits)?;
        }
        if stack.scaling == Scaling::Wave {
            encoder.constu(self.module.target.lanes().trailing_zeros().into()).shr();
        }
        plus(encoder, by);
        Some(())
    }

    /// Writes the number in a register that is not as large as an address.
    #[inline]
    fn narrow(&self, encoder: &mut Encoder<'_>, reg: Reg, bits: u32) -> Option<()> {
        self.has_places.then(|| {
            encoder.regx(reg).deref_size((bits / 8) as u8);
        })
    }
}

/// Offsets the location on top by bits.
#[inline]
pub(super) fn go_on(encoder: &mut Encoder<'_>, bits: i64) {
    match bits {
        0 => {}
        1.. if bits % 8 == 0 => {
            encoder.offset_uconst(bits as u64 / 8);
        }
        _ if bits % 8 == 0 => {
            encoder.consts(bits / 8).offset();
        }
        _ => bit_offset(encoder, bits),
    }
}

pub(super) fn bit_offset(encoder: &mut Encoder<'_>, bits: i64) {
    match bits {
        0.. => encoder.constu(bits as u64),
        _ => encoder.consts(bits),
    };
    encoder.bit_offset();
}

/// Adds the location on top to a composite, as a piece.
#[inline]
pub(super) fn piece(encoder: &mut Encoder<'_>, from: i64, bits: u64) {
    if from == 0 && bits.is_multiple_of(8) {
        encoder.piece(bits / 8);
    } else {
        if from < 0 {
            bit_offset(encoder, from);
        }
        encoder.bit_piece(bits, from.max(0) as u64);
    }
}

/// Reads the number in the location on top. Its `bits` bits are whole bytes.
#[inline]
pub(super) fn deref(encoder: &mut Encoder<'_>, bits: u32, address_bits: u32) {
    if bits == address_bits {
        encoder.deref();
    } else {
        encoder.deref_size((bits / 8) as u8);
    }
}

/// Adds a constant to the number on top.
#[inline(always)]
pub(super) fn plus(encoder: &mut Encoder<'_>, by: i64) {
    match by {
        0 => {}
        1.. => {
            encoder.plus_uconst(by as u64);
        }
        _ => {
            encoder.constu(by.unsigned_abs()).minus();
        }
    }
}

/// Writes an arithmetic node's operation, which all dialects have. Returns false if the node is not arithmetic.
#[inline(always)]
pub(super) fn arithmetic(encoder: &mut Encoder<'_>, node: Node<'_>) -> bool {
    match node {
        Node::Add => encoder.plus(),
        Node::Sub => encoder.minus(),
        Node::Mul => encoder.mul(),
        Node::And => encoder.and(),
        Node::Or => encoder.or(),
        Node::Xor => encoder.xor(),
        Node::Shl => encoder.shl(),
        Node::Shr => encoder.shr(),
        Node::Shra => encoder.shra(),
        Node::Div => encoder.div(),
        Node::Mod => encoder.modulo(),
        Node::Eq => encoder.eq(),
        Node::Ne => encoder.ne(),
        Node::Lt => encoder.lt(),
        Node::Le => encoder.le(),
        Node::Neg => encoder.neg(),
        Node::Not => encoder.not(),
        _ => return false,
    };
    true
}
