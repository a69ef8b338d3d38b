//! Locations in plain DWARF 5, where only the end of an expression is a location. The tree is
//! [split](super::fragments) into parts, each a register, an address, a constant or a value.

use super::expression::{At, ExpressionWriter};
use super::fragments::{Fragment, MAX_FRAGMENTS, split};
use super::malformed;
use crate::error::{Construct, Result};
use crate::model::Node;
use crate::op::Reg;
use crate::target::{Per, SpaceId};

impl ExpressionWriter<'_, '_> {
    /// Writes a whole expression.
    pub(super) fn dwarf5(&mut self, root: At, bits: Option<u64>) -> Result<()> {
        self.dwarf5_from(root, 0, bits)
    }

    /// Writes a whole expression for the bits of a location from bit `from` on.
    fn dwarf5_from(&mut self, root: At, from: i64, bits: Option<u64>) -> Result<()> {
        let rest = || self.bits(root)?.checked_sub(u64::try_from(from).ok()?);
        let size = bits.or_else(rest);
        let mut fragments = Vec::new();
        if let Some(size) = size {
            self.dwarf5_fragments(root, from, size, &mut fragments)?;
        } else {
            let (at, by) = self.moved_by(root);
            fragments.push(Fragment { at, from: by.checked_add(from).ok_or_else(malformed)?, bits: 0 });
        }
        match fragments[..] {
            [Fragment { at, from, .. }] if let Node::Call(procedure) = self.tree.node(at) => {
                // A call leaves values, not locations, so the procedure's expression is inlined.
                let (tree, root) = self.procedure(procedure)?;
                let mut inner = self.inside(&tree)?;
                inner.dwarf5_from(root, from, size)?;
                inner.encoder.finish()
            }
            [Fragment { at, from, bits }] if self.is_simple(at, from) => {
                if !matches!(self.tree.node(at), Node::Undefined) {
                    self.simple_part(Fragment { at, from, bits })?;
                }
                Ok(())
            }
            _ if size.is_none() => Err(self.context.consumer.inexpressible(Construct::UnsizedPart)),
            _ => self.dwarf5_pieces(&fragments),
        }
    }

    /// Writes parts one by one.
    fn dwarf5_pieces(&mut self, fragments: &[Fragment]) -> Result<()> {
        for &fragment in fragments {
            if let Node::Call(procedure) = self.tree.node(fragment.at) {
                let (tree, root) = self.procedure(procedure)?;
                let mut inner = self.inside(&tree)?;
                let mut parts = Vec::new();
                inner.dwarf5_fragments(root, fragment.from, fragment.bits, &mut parts)?;
                inner.dwarf5_pieces(&parts)?;
                inner.encoder.finish()?;
                continue;
            }
            let from = self.simple_part(fragment)?;
            if from == 0 && fragment.bits.is_multiple_of(8) {
                self.encoder.piece(fragment.bits / 8);
            } else {
                self.encoder.bit_piece(fragment.bits, from);
            }
        }
        Ok(())
    }

    fn dwarf5_fragments(&self, at: At, from: i64, bits: u64, out: &mut Vec<Fragment>) -> Result<()> {
        let mut fragments = Vec::new();
        let outside = || self.context.consumer.inexpressible(Construct::OutsideParts);
        split(self.tree, at, from, bits, &mut fragments).ok_or_else(outside)?;
        for fragment in fragments {
            if out.len() >= MAX_FRAGMENTS {
                return Err(self.context.consumer.inexpressible(Construct::ManyParts));
            }
            match self.tree.node(fragment.at) {
                Node::Extend { bits, count } => {
                    for _ in 0..count {
                        self.dwarf5_fragments(self.tree.last(fragment.at), 0, bits, out)?;
                    }
                }
                Node::Select { bits, .. } => {
                    let operands = self.tree.operands(fragment.at);
                    let mask = self.tree.constant(operands[2]);
                    let mask =
                        mask.ok_or_else(|| self.context.consumer.inexpressible(Construct::SelectByMask))?;
                    let (mut from, end) = (fragment.from as u64, fragment.from as u64 + fragment.bits);
                    while from < end {
                        let element = from / bits;
                        let here = (bits - from % bits).min(end - from);
                        let chosen =
                            if element < 64 && mask >> element & 1 == 1 { operands[1] } else { operands[0] };
                        self.dwarf5_fragments(chosen, from as i64, here, out)?;
                        from += here;
                    }
                }
                _ => out.push(fragment),
            }
        }
        Ok(())
    }

    /// Returns whether the location needs no piece that gives its first bit.
    fn is_simple(&self, at: At, from: i64) -> bool {
        match self.tree.node(at) {
            Node::Lane(_, lane) => lane == 0 && from == 0,
            Node::Memory(_) | Node::OffsetBy | Node::Cfa => from % 8 == 0,
            _ => from == 0,
        }
    }

    /// Writes the location of a part. Returns the first bit of the part within it.
    fn simple_part(&mut self, Fragment { at, from, .. }: Fragment) -> Result<u64> {
        let consumer = self.context.consumer;
        let not_before =
            |from: i64| u64::try_from(from).map_err(|_| consumer.inexpressible(Construct::NegativeOffset));
        match self.tree.node(at) {
            Node::PerLane(reg) if self.is_of_lane() => {
                self.named_register(reg)?;
                self.encoder.regx(reg);
                not_before(from)
            }
            Node::Register(reg) if self.is_of_lane() => {
                let name = self.register(reg)?.name().to_string();
                Err(consumer.inexpressible(match self.register(reg)?.is_vector() {
                    true => Construct::WholeRegister(name),
                    false => Construct::RegisterNumber(name),
                }))
            }
            Node::Lane(..) if self.is_of_lane() => Err(consumer.inexpressible(Construct::LaneOfWave)),
            Node::Memory(space) if consumer.variable_space.is_some() => {
                let address = self.tree.last(at);
                self.variable_in(space)?;
                let by = from.div_euclid(8);
                match self.stack_slot(address) {
                    Some(slot) => {
                        self.encoder.fbreg(slot.checked_add(by).ok_or_else(malformed)?);
                    }
                    None => self.of_space(space, |one| one.val_plus(address, by))?,
                }
                Ok(from.rem_euclid(8) as u64)
            }
            Node::Implicit(bytes) if consumer.variable_space.is_some() => {
                if bytes.len() > 8 {
                    return Err(consumer.inexpressible(Construct::LongConstant(bytes.len())));
                }
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                self.encoder.constu(value).stack_value();
                not_before(from)
            }
            Node::Register(reg) => {
                self.encoder.regx(reg);
                not_before(from)
            }
            Node::Lane(reg, lane) => {
                self.encoder.regx(reg);
                let first = i64::from(lane) * i64::from(self.register(reg)?.lane_bits());
                not_before(first + from)
            }
            Node::Memory(SpaceId::DEFAULT) => {
                let address = self.tree.last(at);
                self.of_space(SpaceId::DEFAULT, |one| one.val_plus(address, from.div_euclid(8)))?;
                Ok(from.rem_euclid(8) as u64)
            }
            // In plain DWARF 5, frames are in the default space.
            Node::Cfa => {
                self.dwarf5_cfa()?;
                self.plus(from.div_euclid(8));
                Ok(from.rem_euclid(8) as u64)
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.dwarf5_address(loc)?;
                self.above(1, |one| one.val(by))?;
                self.encoder.plus();
                self.plus(from.div_euclid(8));
                Ok(from.rem_euclid(8) as u64)
            }
            Node::Implicit(bytes) => {
                self.encoder.implicit_value(bytes);
                not_before(from)
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                self.encoder.stack_value();
                not_before(from)
            }
            Node::PointerTo(variable, by) if from == 0 => {
                self.pointer_to(variable, by)?;
                Ok(0)
            }
            // An empty location is an unavailable part.
            Node::Undefined => Ok(0),
            Node::Expr(id) if from == 0 => self.expr(id).map(|()| 0),
            _ => Err(self.not_in_dwarf5(at)),
        }
    }

    /// Writes the address of a location in the default space.
    fn dwarf5_address(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Memory(SpaceId::DEFAULT) => self.val(self.tree.last(at)),
            Node::Cfa => self.dwarf5_cfa(),
            Node::Offset(_) | Node::BitOffset(_) => {
                let (place, bits) = self.moved_by(at);
                if bits % 8 != 0 || place == at {
                    return Err(self.context.consumer.inexpressible(Construct::BitOffsetBy));
                }
                self.dwarf5_address(place)?;
                self.plus(bits / 8);
                Ok(())
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.dwarf5_address(loc)?;
                self.above(1, |one| one.val(by))?;
                self.encoder.plus();
                Ok(())
            }
            Node::Memory(_) | Node::PerLane(_) => Err(self.not_in_dwarf5(at)),
            _ => Err(self.context.consumer.inexpressible(Construct::OffsetByOutsideMemory)),
        }
    }

    /// Writes the number in the first `bits` bits of a location: each part is read and shifted to its position.
    pub(super) fn dwarf5_read(&mut self, at: At, bits: u32) -> Result<()> {
        let mut fragments = Vec::new();
        self.dwarf5_fragments(at, 0, bits.into(), &mut fragments)?;
        let mut done = 0;
        for fragment in fragments {
            let (first, has) = self.above((done > 0).into(), |one| one.dwarf5_read_fragment(fragment))?;
            if first > 0 {
                self.encoder.constu(first).shr();
            }
            if first + fragment.bits < has {
                self.encoder.constu(u64::MAX >> (64 - fragment.bits)).and();
            }
            if done > 0 {
                self.encoder.constu(done).shl().or();
            }
            done += fragment.bits;
        }
        Ok(())
    }

    /// Returns whether expressions describe the current lane.
    fn is_of_lane(&self) -> bool {
        self.context.module.target.has_lane_expressions()
    }

    /// Refuses a register without a name that the consumer reads: a name that is packed, or a plain number.
    fn named_register(&self, reg: Reg) -> Result<()> {
        const PLAIN: u64 = 0xff;
        let register = self.register(reg)?;
        if reg.0 <= PLAIN || register.is_packed() {
            return Ok(());
        }
        Err(self.context.consumer.inexpressible(Construct::RegisterNumber(register.name().to_string())))
    }

    /// Refuses memory in another space than that of the variable's other places.
    fn variable_in(&mut self, space: SpaceId) -> Result<()> {
        let first = *self.references.space.get_or_insert(space);
        if first == space {
            return Ok(());
        }
        let name = |space| {
            self.context.module.target.space(space).map_or_else(String::new, |one| one.name.to_string())
        };
        Err(self.context.consumer.inexpressible(Construct::SecondSpace(name(first), name(space))))
    }

    /// Returns the offset of a stack slot, which counts from the canonical frame address.
    fn stack_slot(&self, address: At) -> Option<i64> {
        match self.tree.node(address) {
            Node::StackAddress(by) if self.context.stack.base.is_none() => Some(by),
            Node::Plus(by) => self.stack_slot(self.tree.last(address))?.checked_add(by),
            _ => None,
        }
    }

    fn dwarf5_deref(&mut self, bytes: u64) -> Result<()> {
        self.no_more_than_an_address(bytes)?;
        self.deref(bytes as u32);
        Ok(())
    }

    fn no_more_than_an_address(&self, bytes: u64) -> Result<()> {
        if bytes > self.address_bits() as u64 / 8 {
            return Err(self.context.consumer.inexpressible(Construct::LargeRead));
        }
        Ok(())
    }

    /// Returns whether each lane has its own memory in the space; plain DWARF 5 cannot select the lane.
    fn is_of_lanes(&self, space: SpaceId) -> bool {
        self.context.module.target.space(space).is_some_and(|space| space.per == Per::Lane)
    }

    /// Writes a number that contains the part. Returns the part's first bit, and the number of bits that may be set.
    fn dwarf5_read_fragment(&mut self, Fragment { at, from, bits }: Fragment) -> Result<(u64, u64)> {
        match self.tree.node(at) {
            Node::Register(reg) if self.register(reg)?.bits <= 64 => {
                self.read_register(reg)?;
                Ok((from as u64, self.register(reg)?.bits.into()))
            }
            Node::PerLane(reg) if self.is_of_lane() => {
                self.named_register(reg)?;
                self.encoder.bregx(reg, 0);
                Ok((from as u64, self.register(reg)?.lane_bits().into()))
            }
            // An expression has no space for what it reads.
            Node::Memory(_) if self.context.consumer.variable_space.is_some() => Err(self.not_in_dwarf5(at)),
            Node::Memory(space) if self.is_of_lanes(space) => Err(self.not_in_dwarf5(at)),
            Node::Cfa => {
                let first = from.rem_euclid(8) as u64;
                let bytes = (first + bits).div_ceil(8);
                self.dwarf5_cfa()?;
                self.plus(from.div_euclid(8));
                self.dwarf5_deref(bytes)?;
                Ok((first, 8 * bytes))
            }
            Node::Memory(space) => {
                let (first, bytes) =
                    (from.rem_euclid(8) as u64, (from.rem_euclid(8) as u64 + bits).div_ceil(8));
                self.no_more_than_an_address(bytes)?;
                if space != SpaceId::DEFAULT {
                    self.encoder.constu(space.0.into());
                }
                let address = self.tree.last(at);
                self.of_space(space, |one| one.val_plus(address, from.div_euclid(8)))?;
                if space == SpaceId::DEFAULT {
                    self.deref(bytes as u32);
                } else {
                    self.encoder.xderef_size(bytes as u8);
                }
                Ok((first, 8 * bytes))
            }
            Node::Implicit(bytes) => {
                let from = from as usize;
                let bit = |index: usize| u64::from(bytes[index / 8] >> (index % 8) & 1);
                let inside = from + bits as usize <= 8 * bytes.len();
                let value = inside
                    .then(|| (0..bits as usize).fold(0, |value, index| value | bit(from + index) << index));
                let outside = || self.context.consumer.inexpressible(Construct::ConstantEnd);
                self.encoder.constu(value.ok_or_else(outside)?);
                Ok((0, bits))
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                Ok((from as u64, 64))
            }
            Node::Lane(reg, _) | Node::Register(reg) => {
                let name = self.register(reg)?.name();
                Err(self.context.consumer.inexpressible(Construct::RegisterPart(name.to_string())))
            }
            _ => Err(self.not_in_dwarf5(at)),
        }
    }
}
