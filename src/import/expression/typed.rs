//! The result of a run as typed nodes: which bits of a register, which lane, which stack slot.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::context::{Context, References, Result};
use super::terms::{TermId, Terms, fault};
use super::untyped::UntypedReason;
use crate::model::Node;
use crate::op::Reg;
use crate::target::{Register, SpaceId};

/// Rewrites terms as typed nodes.
pub(super) struct Typing<'a, 'r> {
    pub(super) context: Context<'a>,
    pub(super) references: &'r mut dyn References<'a>,
    pub(super) terms: Terms<'a>,
    /// Locations that called procedures computed, by the terms of the calls.
    called: BTreeMap<TermId, TermId>,
    /// Locations by term, number of bits, and whether memory is in the object's space.
    places: BTreeMap<(TermId, Option<u64>, bool), TermId>,
    /// Numbers by term and the space that they are addresses in.
    pub(super) numbers: BTreeMap<(TermId, u32), TermId>,
    /// Space of the memory that the object itself is in, where the entry states it.
    pub(super) space: Option<SpaceId>,
}

impl<'a, 'r> Typing<'a, 'r> {
    pub(super) fn new(
        context: Context<'a>,
        references: &'r mut dyn References<'a>,
        terms: Terms<'a>,
        called: BTreeMap<TermId, TermId>,
    ) -> Self {
        let space = context.space;
        Self { context, references, terms, called, places: BTreeMap::new(), numbers: BTreeMap::new(), space }
    }

    pub(super) fn terms(&self) -> &Terms<'a> {
        &self.terms
    }

    /// Returns the location of the described object.
    pub(super) fn object(&mut self, place: TermId) -> Result<TermId> {
        let bits = self.context.bits.filter(|&bits| bits > 0);
        if bits.is_none() {
            let (base, moves) = self.moves(place);
            // An object of unknown size at a lane's distance is in the lane.
            if let Some(lane) = self.current(base, &moves, 8)? {
                return Ok(lane);
            }
            if let (Some(Node::Register(_)), [_, ..]) = (self.terms.node_of(base), &moves[..]) {
                return self.stored(base, &moves, Some(8));
            }
        }
        let has = match self.terms.node_of(place) {
            Some(Node::Parts(_)) => self.size(place),
            _ => None,
        };
        let (Some(bits), Some(has)) = (bits, has.filter(|&has| bits.is_some_and(|bits| has < bits))) else {
            return self.place(place, bits);
        };
        // The rest of an object that is larger than its composite is unavailable, as in DWARF 6.
        let place = self.place(place, Some(has))?;
        let mut parts: Vec<TermId> = match self.terms.node_of(place) {
            Some(Node::Parts(_)) if self.size(place) == Some(has) => self.terms.operands(place).to_vec(),
            _ => vec![self.terms.node(Node::Part(has), &[place])?],
        };
        let undefined = self.terms.node(Node::Undefined, &[])?;
        parts.push(self.terms.node(Node::Part(bits - has), &[undefined])?);
        self.terms.node(Node::Parts(parts.len() as u64), &parts)
    }

    /// Returns a location, of which `bits` bits are used.
    pub(super) fn place(&mut self, id: TermId, bits: Option<u64>) -> Result<TermId> {
        let key = (id, bits, self.space.is_some());
        if let Some(&known) = self.places.get(&key) {
            return Ok(known);
        }
        let place = self.new_place(id, bits)?;
        self.places.insert(key, place);
        Ok(place)
    }

    fn new_place(&mut self, id: TermId, bits: Option<u64>) -> Result<TermId> {
        let operand = |index| self.terms.operand(id, index);
        let Some(node) = self.terms.node_of(id) else { return Err(UntypedReason::Operation.into()) };
        match node {
            Node::Register(_) | Node::PerLane(_) | Node::OffsetBy | Node::BitOffsetBy => {
                self.stored(id, &[], bits)
            }
            Node::Offset(_) | Node::BitOffset(_) => {
                let (base, moves) = self.moves(id);
                self.stored(base, &moves, bits)
            }
            Node::Memory(SpaceId::DEFAULT) => {
                let space = self.space.unwrap_or(SpaceId::DEFAULT);
                self.memory(space, operand(0), bits)
            }
            Node::Memory(space) => self.memory(space, operand(0), bits),
            Node::ThreadLocal => {
                // An address there is an offset, which the loader does not relocate.
                let bytes = self.number(operand(0), SpaceId::LOCAL)?;
                self.terms.node(node, &[bytes])
            }
            Node::Parts(_) => self.parts(id, bits),
            Node::Overlay => {
                let [below, above, offset, size] = [0, 1, 2, 3].map(operand);
                let offset = self.number(offset, SpaceId::DEFAULT)?;
                let size = self.number(size, SpaceId::DEFAULT)?;
                let end = self.terms.constant(offset).zip(self.terms.constant(size));
                let end = end.and_then(|(offset, size)| offset.checked_add(size));
                let below = self.place(below, bits.zip(end).map(|(bits, end)| bits.max(end)))?;
                let above = self.place(above, self.terms.constant(size))?;
                self.terms.node(node, &[below, above, offset, size])
            }
            Node::Extend { bits: element, count } => {
                has_bits(element.saturating_mul(count), bits)?;
                let below = operand(0);
                let place = self.place(below, Some(element))?;
                let has = self.size(place);
                match bits.filter(|&bits| bits <= element && has.is_some_and(|has| has >= element)) {
                    // The first repetition has all bits that are used.
                    Some(bits) => self.place(below, Some(bits)),
                    None => self.terms.node(node, &[place]),
                }
            }
            Node::Select { bits: element, count } => {
                has_bits(element.saturating_mul(count), bits)?;
                let [zero, one, mask] = [0, 1, 2].map(operand);
                let total = element.checked_mul(count);
                let places = self.place(zero, total).and_then(|zero| Ok((zero, self.place(one, total)?)));
                let (zero, one) = match (places, self.terms.constant(mask)) {
                    (Ok(places), _) => places,
                    // Only the chosen elements must be in their storage.
                    (Err(untyped), Some(mask)) if untyped.reason.is_meaningless() && count <= 64 => {
                        return self.chosen(mask, zero, one, (element, count), bits);
                    }
                    (Err(untyped), None) if untyped.reason.is_meaningless() => {
                        return Err(UntypedReason::Operation.into());
                    }
                    (Err(untyped), _) => return Err(untyped),
                };
                let mask = self.number(mask, SpaceId::DEFAULT)?;
                self.terms.node(node, &[zero, one, mask])
            }
            Node::Implicit(bytes) => {
                has_bits(8 * bytes.len() as u64, bits)?;
                // An object is the first of the bytes; the builder refuses more bytes than the object has.
                let needs = bits.map_or(bytes.len(), |bits| bits.div_ceil(8) as usize);
                self.terms.node(Node::Implicit(bytes.get(..needs).unwrap_or(bytes)), &[])
            }
            Node::Value => {
                has_bits(self.address_bits(), bits)?;
                let number = operand(0);
                let space = self.space.take();
                let number = self.number(number, SpaceId::DEFAULT);
                self.space = space;
                self.terms.node(node, &[number?])
            }
            Node::PointerTo(..) => {
                has_bits(self.address_bits(), bits)?;
                Ok(id)
            }
            Node::Call(_) => self.procedure(id, bits),
            _ => Ok(id),
        }
    }

    /// Returns the elements that a constant mask chooses, as parts.
    fn chosen(
        &mut self,
        mask: u64,
        zero: TermId,
        one: TermId,
        (element, count): (u64, u64),
        bits: Option<u64>,
    ) -> Result<TermId> {
        let mut parts = Vec::new();
        for index in 0..count {
            let place = if mask >> index & 1 == 1 { one } else { zero };
            let from = element.checked_mul(index).and_then(|from| i64::try_from(from).ok());
            let place = match self.terms.node_of(place) {
                Some(Node::Undefined) => place,
                _ => self.offset(place, from.ok_or(UntypedReason::TooLarge)?)?,
            };
            parts.push(self.terms.node(Node::Part(element), &[place])?);
        }
        let parts = self.terms.node(Node::Parts(count), &parts)?;
        self.place(parts, bits)
    }

    /// Returns a call, or the location that a procedure computed, if that depends on the number of bits.
    fn procedure(&mut self, id: TermId, bits: Option<u64>) -> Result<TermId> {
        let Some(&called) = self.called.get(&id) else { return Ok(id) };
        let place = self.place(called, bits)?;
        Ok(if self.has_lanes(called) { place } else { id })
    }

    /// Whether a location depends on a register with lanes.
    fn has_lanes(&self, place: TermId) -> bool {
        let mut known = std::collections::BTreeSet::new();
        let mut next = vec![place];
        while let Some(id) = next.pop() {
            if !known.insert(id) {
                continue;
            }
            if let Some(Node::Register(reg)) = self.terms.node_of(id)
                && self.context.target.register(reg).is_some_and(|register| register.is_vector())
            {
                return true;
            }
            next.extend_from_slice(self.terms.operands(id));
            next.extend(self.called.get(&id));
        }
        false
    }

    pub(super) fn address_bits(&self) -> u64 {
        u64::from(self.context.target.address_bytes()) * 8
    }

    /// Returns a location's size in bits, if it is known.
    fn size(&self, id: TermId) -> Option<u64> {
        match self.terms.node_of(id)? {
            Node::Register(reg) => Some(self.context.target.register(reg)?.bits.into()),
            Node::PerLane(reg) | Node::Lane(reg, _) => {
                Some(self.context.target.register(reg)?.lane_bits().into())
            }
            Node::Implicit(bytes) => Some(8 * bytes.len() as u64),
            Node::Value | Node::PointerTo(..) => Some(self.address_bits()),
            Node::Extend { bits, count } | Node::Select { bits, count } => bits.checked_mul(count),
            Node::Part(bits) => Some(bits),
            Node::Parts(_) => {
                let parts = self.terms.operands(id).iter();
                parts.map(|&part| self.size(part)).try_fold(0u64, |sum, part| sum.checked_add(part?))
            }
            Node::Call(_) => self.size(*self.called.get(&id)?),
            _ => None,
        }
    }

    /// Splits constant offsets from the location below them, the innermost first.
    fn moves(&self, mut id: TermId) -> (TermId, SmallVec<[i64; 4]>) {
        let mut moves = SmallVec::new();
        loop {
            match self.terms.node_of(id) {
                Some(Node::Offset(bytes)) if let Some(bits) = bytes.checked_mul(8) => moves.push(bits),
                Some(Node::BitOffset(bits)) => moves.push(bits),
                _ => break,
            }
            id = self.terms.operand(id, 0);
        }
        moves.reverse();
        (id, moves)
    }

    /// Returns a location at constant offsets from a location without any.
    fn stored(&mut self, base: TermId, moves: &[i64], bits: Option<u64>) -> Result<TermId> {
        let node = self.terms.node_of(base);
        if let Some(bits) = bits
            && let Some(lane) = self.current(base, moves, bits)?
        {
            return Ok(lane);
        }
        let size = self.size(base);
        if let Some(size) = size {
            let inside = in_storage(size, moves, bits);
            match node {
                // Bits after the current lane are those of the next lanes, which no node expresses.
                Some(Node::PerLane(_)) => inside.map_err(|_| UntypedReason::Operation)?,
                _ => inside?,
            }
        }
        let from = sum(0, moves).filter(|_| size.is_some());
        match (node, from) {
            (Some(Node::Register(reg)), Some(from)) => self.register(reg, from as u64, bits),
            (Some(Node::Register(_) | Node::Undefined), None) => Err(UntypedReason::Operation.into()),
            (Some(Node::OffsetBy | Node::BitOffsetBy), _) => {
                let [place, by] = [0, 1].map(|index| self.terms.operand(base, index));
                let place = self.place(place, None)?;
                let by = self.number(by, SpaceId::DEFAULT)?;
                let mut moved = self.terms.node(node.unwrap_or(Node::OffsetBy), &[place, by])?;
                for &by in &merged(moves) {
                    moved = self.offset(moved, by)?;
                }
                Ok(moved)
            }
            (Some(Node::PerLane(_)), Some(from)) => self.offset(base, from),
            (_, Some(from)) => {
                let whole = self.place(base, size)?;
                self.offset(whole, from)
            }
            _ => {
                let mut place = self.place(base, None)?;
                for &by in &merged(moves) {
                    place = self.offset(place, by)?;
                }
                Ok(place)
            }
        }
    }

    /// Returns bits of a register's current lane, if a location is in it with all of its `bits` bits.
    fn current(&mut self, base: TermId, moves: &[i64], bits: u64) -> Result<Option<TermId>> {
        let Some((register, by)) = self.current_lane(base) else { return Ok(None) };
        let lane_bits = i64::from(register.lane_bits());
        // Each offset must stay in the lane, because an offset before the first lane would be outside the register.
        let mut from = Some(by);
        for &by in moves {
            from = from.filter(|from| (0..lane_bits).contains(from)).and_then(|from| from.checked_add(by));
        }
        let from = from.filter(|from| (0..lane_bits).contains(from));
        let Some(from) = from.filter(|&from| bits <= (lane_bits - from) as u64) else { return Ok(None) };
        let lane = self.terms.node(Node::PerLane(register.reg), &[])?;
        self.offset(lane, from).map(Some)
    }

    pub(super) fn offset(&mut self, place: TermId, bits: i64) -> Result<TermId> {
        match bits {
            0 => Ok(place),
            _ if bits % 8 == 0 => self.terms.node(Node::Offset(bits / 8), &[place]),
            _ => self.terms.node(Node::BitOffset(bits), &[place]),
        }
    }

    /// Returns bits of a register: of one lane, where the register has lanes and the bits are in one.
    fn register(&mut self, reg: Reg, from: u64, bits: Option<u64>) -> Result<TermId> {
        let whole = self.terms.node(Node::Register(reg), &[])?;
        let register = self.context.target.register(reg).filter(|register| register.is_vector());
        let Some(register) = register else { return self.offset(whole, from as i64) };
        let lane_bits = u64::from(register.lane_bits());
        match bits {
            None => self.offset(whole, from as i64),
            Some(bits) if from == 0 && bits == u64::from(register.bits) => Ok(whole),
            Some(bits) if from % lane_bits + bits <= lane_bits => self.lane(register, from),
            Some(bits) => {
                let mut parts = Vec::new();
                let mut next = from;
                let end = from + bits;
                while next < end {
                    let here = (lane_bits - next % lane_bits).min(end - next);
                    let lane = self.lane(register, next)?;
                    parts.push(self.terms.node(Node::Part(here), &[lane])?);
                    next += here;
                }
                self.terms.node(Node::Parts(parts.len() as u64), &parts)
            }
        }
    }

    fn lane(&mut self, register: Register<'_>, from: u64) -> Result<TermId> {
        let lane_bits = u64::from(register.lane_bits());
        let lane = self.terms.node(Node::Lane(register.reg, (from / lane_bits) as u32), &[])?;
        self.offset(lane, (from % lane_bits) as i64)
    }

    /// Returns the vector register, and the distance in bits from the lane's first bit, if a location is an offset by
    /// the current lane's distance in a register.
    fn current_lane(&self, place: TermId) -> Option<(Register<'a>, i64)> {
        let unit = match self.terms.node_of(place)? {
            Node::OffsetBy => 8,
            Node::BitOffsetBy => 1,
            _ => return None,
        };
        let Node::Register(reg) = self.terms.node_of(self.terms.operand(place, 0))? else { return None };
        let register = self.context.target.register(reg).filter(|register| register.is_vector())?;
        let mut distance = self.terms.operand(place, 1);
        let mut by = 0;
        if let Some(Node::Plus(bytes)) = self.terms.node_of(distance) {
            by = bytes.checked_mul(unit)?;
            distance = self.terms.operand(distance, 0);
        }
        let [first, second] = [0, 1].map(|index| self.terms.operand(distance, index));
        let is_lane = |id: TermId| self.terms.node_of(id) == Some(Node::LaneIndex);
        let units = match self.terms.node_of(distance)? {
            Node::Mul if is_lane(first) => self.terms.constant(second)?,
            Node::Mul if is_lane(second) => self.terms.constant(first)?,
            Node::Shl if is_lane(first) => {
                1u64.checked_shl(u32::try_from(self.terms.constant(second)?).ok()?)?
            }
            Node::LaneIndex => 1,
            _ => return None,
        };
        (units.checked_mul(unit as u64)? == u64::from(register.lane_bits())).then_some((register, by))
    }

    fn parts(&mut self, id: TermId, bits: Option<u64>) -> Result<TermId> {
        let parts: Vec<TermId> = self.terms.operands(id).to_vec();
        if let Some(has) = self.size(id) {
            has_bits(has, bits)?;
        }
        let mut all = Vec::with_capacity(parts.len());
        for &part in &parts {
            let Some(Node::Part(size)) = self.terms.node_of(part) else { continue };
            let below = self.terms.operand(part, 0);
            let place = self.place(below, Some(size))?;
            if let (&[_], Some(bits)) = (&parts[..], bits.filter(|&bits| bits <= size)) {
                // One part that has all bits is the location itself, unless bits that are not used could be outside their
                // storage. A part of a register has other first bits on a big-endian machine.
                let has_first_bits = !self.context.encoding.big_endian;
                if bits == size || has_first_bits && self.size(place).is_some_and(|has| has >= size) {
                    return self.place(below, Some(bits));
                }
            }
            match self.terms.node_of(place) {
                // A composite in a composite would be larger.
                Some(Node::Parts(_)) if self.size(place) == Some(size) => {
                    all.extend_from_slice(self.terms.operands(place));
                }
                _ => all.push(self.terms.node(Node::Part(size), &[place])?),
            }
        }
        self.terms.node(Node::Parts(all.len() as u64), &all)
    }

    fn memory(&mut self, space: SpaceId, address: TermId, bits: Option<u64>) -> Result<TermId> {
        let around = self.space.take();
        let address = self.address(address, space);
        self.space = around;
        let address = address?;
        let memory = self.context.target.space(space).and_then(|space| space.bytes);
        let end =
            self.terms.constant(address).map(|address| address.saturating_add(bits.unwrap_or(1).div_ceil(8)));
        if memory.zip(end).is_some_and(|(bytes, end)| end > bytes) {
            return Err(UntypedReason::OutsideMemory.into());
        }
        self.terms.node(Node::Memory(space), &[address])
    }
}

/// Returns the sum of offsets in bits.
fn sum(first: i64, moves: &[i64]) -> Option<i64> {
    moves.iter().try_fold(first, |sum, &by| sum.checked_add(by))
}

/// Merges neighbouring offsets in one direction: if the last is inside the storage, so are the offsets before it.
fn merged(moves: &[i64]) -> SmallVec<[i64; 4]> {
    let mut merged: SmallVec<[i64; 4]> = SmallVec::new();
    for &by in moves {
        match merged.last_mut() {
            Some(last)
                if (*last < 0) == (by < 0)
                    && let Some(sum) = last.checked_add(by) =>
            {
                *last = sum
            }
            _ => merged.push(by),
        }
    }
    merged
}

/// Refuses bits outside a storage of `size` bits, and offsets that leave it on the way.
fn in_storage(size: u64, moves: &[i64], bits: Option<u64>) -> Result<()> {
    let mut at = 0i128;
    for &by in moves {
        at += i128::from(by);
        if at < 0 || at >= size.into() {
            return Err(fault("an offset is outside its storage"));
        }
    }
    has_bits((i128::from(size) - at) as u64, bits)
}

/// Refuses more bits than a storage has.
fn has_bits(has: u64, bits: Option<u64>) -> Result<()> {
    match bits {
        Some(bits) if bits > has => Err(fault("the storage has fewer bits than are used")),
        _ => Ok(()),
    }
}
