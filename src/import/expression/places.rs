//! Locations on the symbolic stack: conversions to and from numbers, memory, registers and composites.

use super::context::Result;
use super::numbers::{Number, Signs, integer, small};
use super::operations::same_size;
use super::run::{Element, Run, complete};
use super::terms::{TermId, fault};
use super::untyped::{Unresolved, Untyped, UntypedReason};
use crate::eval::BaseType;
use crate::model::Node;
use crate::op::{Dialect, Reg};
use crate::target::{Register, SpaceId};

/// Conversions, A.2.5.4.4.3.
impl<'a> Run<'a, '_> {
    pub(super) fn pop_number(&mut self) -> Result<Number> {
        let top = self.pop()?;
        self.number_of(top)
    }

    /// Returns an element as a number: a location in the default space is its address.
    pub(super) fn number_of(&mut self, element: Element) -> Result<Number> {
        complete(&element)?;
        match element {
            Element::Number(number) => Ok(number),
            Element::Place(place) => {
                let term = self.address_of(place)?;
                Ok(Number { term, ty: self.generic() })
            }
            _ => Err(fault("only a byte of the default address space converts to a number")),
        }
    }

    fn address_of(&mut self, place: TermId) -> Result<TermId> {
        match self.terms.node_of(place) {
            Some(Node::Memory(SpaceId::DEFAULT)) => {
                let bits = self.context.target.space(SpaceId::DEFAULT).map_or(64, |space| space.address_bits);
                let address = self.terms.operand(place, 0);
                self.terms.reduced(address, bits)
            }
            Some(Node::Call(_)) if let Some(&called) = self.called.get(&place) => self.address_of(called),
            _ if self.is_default_memory(place) => self.terms.node(Node::AddressOf, &[place]),
            Some(Node::PointerTo(..)) => Err(UntypedReason::Pointer.into()),
            // Whether bits at such an offset are whole bytes in the default space is known at run time.
            Some(Node::BitOffset(_) | Node::BitOffsetBy | Node::Overlay) => {
                Err(UntypedReason::Operation.into())
            }
            Some(Node::Offset(_) | Node::OffsetBy) => {
                let base = self.terms.operand(place, 0);
                self.address_of(base)
            }
            _ => Err(fault("only a byte of the default address space converts to a number")),
        }
    }

    /// Whether a location is a byte in the default space, wherever it is there.
    fn is_default_memory(&self, mut place: TermId) -> bool {
        loop {
            match self.terms.node_of(place) {
                Some(Node::Memory(SpaceId::DEFAULT) | Node::ThreadLocal) => return true,
                // The frames of a wave are in another space.
                Some(Node::Cfa) => return self.context.target.lanes() == 1,
                Some(Node::Offset(_) | Node::OffsetBy) => place = self.terms.operand(place, 0),
                Some(Node::Call(_)) if let Some(&called) = self.called.get(&place) => place = called,
                _ => return false,
            }
        }
    }

    pub(super) fn pop_place(&mut self) -> Result<TermId> {
        let top = self.pop()?;
        self.place_of(top)
    }

    /// Returns an element as a location: a number is an address in the default space.
    pub(super) fn place_of(&mut self, element: Element) -> Result<TermId> {
        complete(&element)?;
        match element {
            Element::Place(place) => Ok(place),
            Element::Number(Number { term, ty }) if ty.is_generic() => {
                self.terms.node(Node::Memory(SpaceId::DEFAULT), &[term])
            }
            Element::Number(_) => Err(fault("only a number of the generic type converts to a location")),
            _ => Err(UntypedReason::Operation.into()),
        }
    }

    /// Returns the result as a location. The end of the expression completes a composite.
    pub(super) fn finished_place(&mut self, element: Element) -> Result<TermId> {
        match element {
            Element::Composite(parts) => self.parts(&parts),
            element => self.place_of(element),
        }
    }

    /// Pops an integral number without the bits that its type lacks.
    pub(super) fn pop_unsigned(&mut self) -> Result<TermId> {
        let number = self.pop_integral()?;
        self.terms.reduced(number.term, number.ty.bits)
    }

    fn pop_integral(&mut self) -> Result<Number> {
        let number = self.pop_number()?;
        if !number.ty.is_integral() {
            return Err(fault("an operand does not have an integral type"));
        }
        integer(number.ty)?;
        Ok(number)
    }

    /// Pops an integral number that may be negative.
    fn pop_signed(&mut self) -> Result<TermId> {
        let number = self.pop_integral()?;
        match integer(number.ty)? {
            (Signs::Unsigned, bits) if bits < 64 => self.terms.reduced(number.term, bits),
            // A number of 64 bits that is not signed would need another bit.
            (Signs::Unsigned, _) => Err(UntypedReason::Operation.into()),
            (_, bits) => self.terms.extended(number.term, bits),
        }
    }

    /// Pops the number of an address space.
    pub(super) fn pop_space(&mut self) -> Result<SpaceId> {
        let number = self.pop_unsigned()?;
        let unknown = UntypedReason::Unresolved(Unresolved::Space);
        let Some(number) = self.terms.constant(number) else { return Err(unknown.into()) };
        let space = u32::try_from(number).ok().map(SpaceId);
        let space = space.filter(|&space| self.context.target.space(space).is_some());
        space.ok_or_else(|| fault("the target has no such address space"))
    }
}

/// Memory and registers, A.2.5.4.4.3 and A.2.5.4.4.4.
impl<'a> Run<'a, '_> {
    /// Pushes the location at an address in a space.
    pub(super) fn form_address(&mut self, space: SpaceId, address: Element) -> Result<()> {
        let Number { term, ty } = self.number_of(address)?;
        if !ty.is_integral() {
            return Err(fault("an operand does not have an integral type"));
        }
        integer(ty)?;
        let bits = self.context.target.space(space).map_or(64, |space| space.address_bits);
        // Only low bits of an address count, so that bits above the type matter only in a larger space.
        let address = if ty.bits >= bits { term } else { self.terms.reduced(term, ty.bits)? };
        self.push_place(Node::Memory(space), &[address])
    }

    /// Pushes the location at an address above its space on the stack.
    pub(super) fn form_xderef_address(&mut self) -> Result<()> {
        let address = self.pop()?;
        let space = self.pop_space()?;
        self.form_address(space, address)
    }

    pub(super) fn known_register(&self, reg: Reg) -> Result<Register<'a>> {
        let register = self.context.target.register(reg);
        register.ok_or_else(|| UntypedReason::Unresolved(Unresolved::Register(reg.0)).into())
    }

    /// Returns a register's location: that of the current lane, where expressions are those of a lane.
    pub(super) fn register(&mut self, reg: Reg) -> Result<TermId> {
        let register = self.known_register(reg)?;
        if self.context.target.has_lane_expressions() && register.is_vector() {
            self.terms.node(Node::PerLane(register.reg), &[])
        } else {
            self.terms.node(Node::Register(register.reg), &[])
        }
    }

    /// Pushes memory in a space, at a register's contents plus bytes.
    pub(super) fn breg(&mut self, space: SpaceId, reg: Reg, by: i64) -> Result<()> {
        let address = self.register_address(space, reg, by)?;
        self.push_place(Node::Memory(space), &[address])
    }

    fn register_address(&mut self, space: SpaceId, reg: Reg, by: i64) -> Result<TermId> {
        let register = self.known_register(reg)?;
        let bits = self.context.target.space(space).map_or(64, |space| space.address_bits.min(64));
        let is_per_lane = self.context.target.has_lane_expressions() && register.is_vector();
        let bits = if is_per_lane { bits.min(register.lane_bits()) } else { bits };
        let place = self.register(reg)?;
        let number = self.terms.node(Node::Read(bits), &[place])?;
        self.terms.plus(number, by)
    }

    pub(super) fn fbreg(&mut self, by: i64) -> Result<()> {
        let base = self.frame_base()?;
        let base = match base {
            Element::Composite(_) | Element::Entry(_) => return Err(no_frame_base()),
            Element::Number(_) => self.place_of(base)?,
            Element::Place(base) => base,
        };
        let base = match self.terms.node_of(base) {
            // A register contains the address.
            Some(Node::Register(reg) | Node::PerLane(reg)) => {
                let address = self.register_address(SpaceId::DEFAULT, reg, 0)?;
                self.terms.node(Node::Memory(SpaceId::DEFAULT), &[address])?
            }
            _ => base,
        };
        let moved = match self.terms.node_of(base) {
            // The standard adds to an address, modulo the address size.
            Some(Node::Memory(SpaceId::DEFAULT)) if self.is_standard() => {
                let address = self.terms.operand(base, 0);
                let address = self.terms.plus(address, by)?;
                self.terms.node(Node::Memory(SpaceId::DEFAULT), &[address])?
            }
            Some(Node::Memory(_) | Node::Cfa | Node::Offset(_) | Node::OffsetBy | Node::ThreadLocal) => {
                self.moved(base, i128::from(by) * 8)?
            }
            _ => return Err(no_frame_base()),
        };
        self.push(Element::Place(moved));
        Ok(())
    }

    /// Whether expressions are those of the standard, in which an offset from the frame base is added to an address. The
    /// extensions are for expressions that name lanes; a file does not name its dialect.
    fn is_standard(&self) -> bool {
        let target = self.context.target;
        self.context.encoding.dialect == Dialect::Dwarf5
            || target.lanes() == 1
            || target.has_lane_expressions()
    }

    /// Pushes the canonical frame address.
    pub(super) fn push_cfa(&mut self) -> Result<()> {
        if self.context.target.has_lane_expressions() {
            // An address in the memory of the lane, whose space the entry states.
            let address = self.terms.node(Node::StackAddress(0), &[])?;
            return self.push_place(Node::Memory(SpaceId::DEFAULT), &[address]);
        }
        self.push_place(Node::Cfa, &[])
    }

    /// Replaces a location by the number in its first bytes, extended with 0.
    pub(super) fn deref(&mut self, bytes: Option<u8>) -> Result<()> {
        let generic = self.generic();
        let bits = bytes.map_or(generic.bits, |bytes| generic.bits.min(u32::from(bytes) * 8));
        if bits == 0 {
            return Err(UntypedReason::Operation.into());
        }
        if let Some(&Element::Entry(reg)) = self.peek(0) {
            self.pop()?;
            return self.entry_contents(reg, bits);
        }
        let place = self.pop_place()?;
        let term = self.contents(place, bits)?;
        self.push_number(term, generic);
        Ok(())
    }

    /// Pushes the contents of a register on entry.
    fn entry_contents(&mut self, reg: Reg, bits: u32) -> Result<()> {
        let register = self.known_register(reg)?;
        if register.is_vector() || register.bits > 64 {
            return Err(UntypedReason::EntryValue.into());
        }
        if bits > register.bits {
            return Err(fault("a register has fewer bits than are read"));
        }
        let term = self.terms.node(Node::EntryRegister(register.reg), &[])?;
        let term = self.terms.reduced(term, bits)?;
        self.push_number(term, self.generic());
        Ok(())
    }

    pub(super) fn deref_type(&mut self, bytes: u8, entry: u64) -> Result<()> {
        let ty = self.base_type(entry)?;
        same_size(ty, bytes.into())?;
        let place = self.pop_place()?;
        self.read(place, ty)
    }

    /// Pushes the value of a type at a location.
    pub(super) fn read(&mut self, place: TermId, ty: BaseType) -> Result<()> {
        small(ty)?;
        let term = self.contents(place, ty.bits)?;
        self.push_number(term, ty);
        Ok(())
    }

    fn contents(&mut self, place: TermId, bits: u32) -> Result<TermId> {
        let inner = self.called.get(&place).copied().unwrap_or(place);
        match self.terms.node_of(inner) {
            Some(Node::PointerTo(..)) => Err(UntypedReason::Pointer.into()),
            Some(Node::Undefined) => Err(fault("undefined bits are read")),
            _ => self.terms.node(Node::Read(bits), &[place]),
        }
    }

    pub(super) fn stack_value(&mut self) -> Result<()> {
        let Number { term, ty } = self.pop_number()?;
        small(ty)?;
        let generic = self.generic();
        if ty.bits == generic.bits {
            return self.push_place(Node::Value, &[term]);
        }
        if self.context.encoding.big_endian {
            return Err(UntypedReason::BitOrder.into());
        }
        if ty.bits > generic.bits {
            return Err(UntypedReason::Type("a value larger than an address").into());
        }
        // The storage has as many bits as the type, and fewer than the value: one element with these bits.
        let value = self.terms.node(Node::Value, &[term])?;
        self.push_place(Node::Extend { bits: ty.bits.into(), count: 1 }, &[value])
    }
}

fn no_frame_base() -> Untyped {
    fault("the frame base is not a location in memory")
}

/// Offsets and composites, A.2.5.4.4.1 and A.2.5.4.4.6.
impl Run<'_, '_> {
    /// Returns the location a constant number of bits further on.
    pub(super) fn moved(&mut self, place: TermId, bits: i128) -> Result<TermId> {
        match self.terms.node_of(place) {
            Some(Node::Undefined) => Ok(place),
            _ if bits == 0 => Ok(place),
            _ => {
                let bits = i64::try_from(bits).map_err(|_| UntypedReason::TooLarge)?;
                let node = if bits % 8 == 0 { Node::Offset(bits / 8) } else { Node::BitOffset(bits) };
                self.terms.node(node, &[place])
            }
        }
    }

    /// Moves a location by a number that counts units of `unit` bits.
    pub(super) fn offset(&mut self, unit: i128) -> Result<()> {
        let by = self.pop_signed()?;
        let place = self.pop_place()?;
        let moved = match (self.terms.constant(by), unit) {
            (Some(_), _) if self.terms.node_of(place) == Some(Node::Undefined) => place,
            (Some(by), _) => self.moved(place, i128::from(by as i64) * unit)?,
            (None, 8) => self.terms.node(Node::OffsetBy, &[place, by])?,
            (None, _) => self.terms.node(Node::BitOffsetBy, &[place, by])?,
        };
        self.push(Element::Place(moved));
        Ok(())
    }

    /// Adds a part with `bits` bits to the composite below, or starts a composite.
    pub(super) fn piece(&mut self, bits: Option<u64>, offset: Option<u64>) -> Result<()> {
        let bits = bits.ok_or(UntypedReason::TooLarge)?;
        let part = match self.peek(0) {
            None | Some(Element::Composite(_)) => self.terms.node(Node::Undefined, &[])?,
            Some(_) => self.pop_place()?,
        };
        let distance = self.piece_distance(part, bits, offset)?;
        let part = self.moved(part, distance)?;
        if !matches!(self.peek(0), Some(Element::Composite(_))) {
            self.push(Element::Composite(Vec::new()));
        }
        match self.pop()? {
            Element::Composite(mut parts) => {
                // A part without bits has no effect, unless its location is outside its storage.
                if bits > 0 {
                    parts.push((part, bits));
                } else if self.terms.can_fail(part) {
                    return Err(UntypedReason::Unused.into());
                }
                self.push(Element::Composite(parts));
                Ok(())
            }
            _ => Err(UntypedReason::Underflow.into()),
        }
    }

    /// Returns how many bits a piece moves its location. On a big-endian machine the standard counts them from the least
    /// significant bit of constant bytes (DWARF 5, 2.6.1.2).
    fn piece_distance(&self, part: TermId, bits: u64, offset: Option<u64>) -> Result<i128> {
        let distance = i128::from(offset.unwrap_or(0));
        let encoding = self.context.encoding;
        let is_standard = matches!(encoding.dialect, Dialect::Dwarf5 | Dialect::Dwarf6);
        if offset.is_none() || !encoding.big_endian || !is_standard {
            return Ok(distance);
        }
        let mut storage = part;
        while let Some(Node::Offset(_) | Node::BitOffset(_)) = self.terms.node_of(storage) {
            storage = self.terms.operand(storage, 0);
        }
        match self.terms.node_of(storage) {
            Some(Node::Implicit(bytes)) if storage == part => {
                let distance = 8 * bytes.len() as i128 - i128::from(bits) - distance;
                if distance < 0 { Err(fault("a piece ends after its value")) } else { Ok(distance) }
            }
            Some(Node::Implicit(_)) => Err(UntypedReason::BitOrder.into()),
            _ => Ok(distance),
        }
    }

    pub(super) fn piece_end(&mut self) -> Result<()> {
        match self.pop()? {
            Element::Composite(parts) => {
                let place = self.parts(&parts)?;
                self.push(Element::Place(place));
                Ok(())
            }
            _ => Err(fault("the end of a composite without a composite")),
        }
    }

    fn parts(&mut self, parts: &[(TermId, u64)]) -> Result<TermId> {
        if parts.is_empty() {
            return Err(UntypedReason::Operation.into());
        }
        let mut all = Vec::with_capacity(parts.len());
        let mut total = 0u64;
        for &(part, bits) in parts {
            total = total.checked_add(bits).ok_or(UntypedReason::TooLarge)?;
            all.push(self.terms.node(Node::Part(bits), &[part])?);
        }
        self.terms.node(Node::Parts(all.len() as u64), &all)
    }

    pub(super) fn extend(&mut self, bits: u64, count: u64) -> Result<()> {
        let place = self.pop_place()?;
        if bits == 0 || count == 0 {
            return Err(fault("a location is extended to no parts, or to parts without bits"));
        }
        elements(bits, count)?;
        self.push_place(Node::Extend { bits, count }, &[place])
    }

    pub(super) fn select(&mut self, bits: u64, count: u64) -> Result<()> {
        let mask = self.pop_integral()?;
        let term = self.terms.reduced(mask.term, mask.ty.bits)?;
        let one = self.pop_place()?;
        let zero = self.pop_place()?;
        if bits == 0 || count == 0 || u64::from(mask.ty.bits) < count {
            return Err(fault("a selection without parts, without bits, or with fewer mask bits than parts"));
        }
        elements(bits, count)?;
        self.push_place(Node::Select { bits, count }, &[zero, one, term])
    }

    /// Lays a location over part of another location. Offset and size count units of `unit` bits.
    pub(super) fn overlay(&mut self, unit: u64) -> Result<()> {
        let size = self.pop_signed()?;
        let offset = self.pop_signed()?;
        let above = self.pop_place()?;
        let below = self.pop_place()?;
        let [offset, size] = [self.units(offset, unit)?, self.units(size, unit)?];
        if self.terms.constant(size) == Some(0) {
            // The location above and the offset have no effect, so that they must not be able to fail.
            self.push(Element::Place(below));
            return Ok(());
        }
        self.push_place(Node::Overlay, &[below, above, offset, size])
    }

    fn units(&mut self, number: TermId, unit: u64) -> Result<TermId> {
        match self.terms.constant(number) {
            Some(value) if (value as i64) < 0 => Err(fault("an overlay has a negative size or offset")),
            Some(value) => {
                let bits = value.checked_mul(unit).ok_or(UntypedReason::TooLarge)?;
                self.terms.number(bits)
            }
            None if unit == 1 => Ok(number),
            None => {
                let unit = self.terms.number(unit)?;
                self.terms.binary(Node::Mul, number, unit)
            }
        }
    }
}

/// Maximum number of elements, as for the builder.
const MAX_ELEMENTS: u64 = 1 << 16;

fn elements(bits: u64, count: u64) -> Result<()> {
    match bits.checked_mul(count) {
        Some(_) if count <= MAX_ELEMENTS => Ok(()),
        _ => Err(UntypedReason::TooLarge.into()),
    }
}
