//! Numbers of the result: registers instead of reads, symbols instead of addresses, stack slots instead of registers.

use super::context::Result;
use super::terms::{Kind, TermId, fault};
use super::typed::Typing;
use super::untyped::{Unresolved, UntypedReason};
use crate::model::{Address, Node, Stack};
use crate::target::{Scaling, SpaceId};

impl<'a> Typing<'a, '_> {
    /// Returns a number that is an address in a space.
    pub(super) fn address(&mut self, id: TermId, space: SpaceId) -> Result<TermId> {
        let (below, by) = self.split(id);
        let bits = self.context.target.space(space).map_or(64, |space| space.address_bits);
        // Bits of the register above the space's addresses do not matter.
        let number = match self.terms.node_of(below) {
            Some(Node::Read(read))
                if read == bits
                    && let Some(Node::Register(reg)) = self.terms.node_of(self.terms.operand(below, 0))
                    && let Some(register) = self.context.target.register(reg)
                    && !register.is_vector()
                    && (bits..=64).contains(&register.bits) =>
            {
                let register = self.terms.node(Node::ReadRegister(reg), &[])?;
                self.terms.plus(register, by)?
            }
            _ => self.number(id, space)?,
        };
        if let Some(address) = self.terms.constant(number) {
            // Bits above the space's addresses do not matter.
            let address = address & u64::MAX >> (64 - bits.clamp(1, 64));
            if space != SpaceId::PRIVATE_LANE {
                return self.terms.number(address);
            }
        }
        if space != SpaceId::PRIVATE_LANE || self.context.target.has_lane_expressions() {
            return Ok(number);
        }
        let (below, by) = self.split(number);
        match (self.terms.node_of(below), self.context.stack) {
            (Some(Node::Const(value)), Stack { base: None, .. }) => {
                self.terms.node(Node::StackAddress((value as i64).wrapping_add(by)), &[])
            }
            (Some(Node::ReadRegister(reg)), Stack { base: Some(base), scaling: Scaling::Lane })
                if reg == base =>
            {
                self.terms.node(Node::StackAddress(by), &[])
            }
            _ => Ok(number),
        }
    }

    /// Splits a constant from the number to which it is added.
    fn split(&self, id: TermId) -> (TermId, i64) {
        match self.terms.node_of(id) {
            Some(Node::Plus(by)) => (self.terms.operand(id, 0), by),
            _ => (id, 0),
        }
    }

    /// Returns a number, which may be an address in a space.
    pub(super) fn number(&mut self, id: TermId, space: SpaceId) -> Result<TermId> {
        let key = (id, space.0);
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let around = self.space.take();
        let number = self.new_number(id, space);
        self.space = around;
        let number = number?;
        self.numbers.insert(key, number);
        Ok(number)
    }

    fn new_number(&mut self, id: TermId, space: SpaceId) -> Result<TermId> {
        let node = match self.terms.kind(id) {
            Kind::FileAddress { address, operand } => return self.symbol(address, operand, space),
            Kind::Node(node) => node,
        };
        match node {
            Node::Read(bits) => self.read(self.terms.operand(id, 0), bits),
            Node::AddressOf => {
                let place = self.place(self.terms.operand(id, 0), None)?;
                match self.terms.node_of(place) {
                    Some(Node::Memory(SpaceId::DEFAULT)) => Ok(self.terms.operand(place, 0)),
                    _ => self.terms.node(node, &[place]),
                }
            }
            Node::Plus(by) => {
                let number = self.number(self.terms.operand(id, 0), space)?;
                self.terms.plus(number, by)
            }
            Node::Neg | Node::Not => {
                let number = self.number(self.terms.operand(id, 0), space)?;
                self.terms.unary(node, number)
            }
            Node::If => {
                let [nonzero, zero, condition] = [0, 1, 2].map(|index| self.terms.operand(id, index));
                let nonzero = self.number(nonzero, space)?;
                let zero = self.number(zero, space)?;
                let condition = self.number(condition, SpaceId::DEFAULT)?;
                self.terms.choice(condition, nonzero, zero)
            }
            _ if let [first, second] = *self.terms.operands(id) => {
                let first = self.number(first, space)?;
                let second = self.number(second, space)?;
                if node == Node::Shr && self.is_stack_base(first, second) {
                    return self.terms.node(Node::StackAddress(0), &[]);
                }
                self.terms.binary(node, first, second)
            }
            _ => Ok(id),
        }
    }

    /// Whether a shift scales the base of the stack frame from the wave's bytes to those of a lane.
    fn is_stack_base(&self, number: TermId, by: TermId) -> bool {
        let Stack { base: Some(base), scaling: Scaling::Wave } = self.context.stack else { return false };
        self.terms.node_of(number) == Some(Node::ReadRegister(base))
            && self.terms.constant(by) == Some(self.context.target.lanes().trailing_zeros().into())
    }

    /// Returns the address in the file as a symbol's, or as a constant in a space that the loader does not relocate.
    fn symbol(&mut self, address: u64, operand: usize, space: SpaceId) -> Result<TermId> {
        if !space.is_loaded() {
            return match self.references.constant(operand, address) {
                Some((symbol, by)) => self.terms.node(Node::Address(symbol, by), &[]),
                None => self.terms.number(address),
            };
        }
        match self.references.address(operand, address) {
            Some(Address::Symbol(symbol, by)) => {
                let by = i64::try_from(by).map_err(|_| UntypedReason::TooLarge)?;
                self.terms.node(Node::Address(symbol, by), &[])
            }
            Some(Address::Constant(address)) => self.terms.node(Node::LinkAddress(address), &[]),
            None => Err(UntypedReason::Unresolved(Unresolved::Address(address)).into()),
        }
    }

    /// Returns the number in a location's first bits.
    fn read(&mut self, place: TermId, bits: u32) -> Result<TermId> {
        if let Some(Node::Register(reg)) = self.terms.node_of(place)
            && let Some(register) = self.context.target.register(reg)
            && !register.is_vector()
        {
            if register.bits < bits {
                return Err(fault("a register has fewer bits than are read"));
            }
            if register.bits == bits {
                return self.terms.node(Node::ReadRegister(reg), &[]);
            }
        }
        let place = self.place(place, Some(bits.into()))?;
        let is_little = !self.context.encoding.big_endian;
        match self.terms.node_of(place) {
            Some(Node::Undefined) => Err(fault("undefined bits are read")),
            Some(Node::Value) => {
                let number = self.terms.operand(place, 0);
                self.terms.reduced(number, bits)
            }
            Some(Node::Implicit(bytes)) if is_little => {
                let value = bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let number = self.terms.number(value)?;
                self.terms.reduced(number, bits)
            }
            Some(Node::Implicit(bytes)) if bytes.len() >= bits.div_ceil(8) as usize => {
                let bytes = &bytes[..bits.div_ceil(8) as usize];
                let value = bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
                // The unused bits of the last byte are its least significant.
                let number = self.terms.number(value >> (8 * bytes.len() as u32 - bits))?;
                self.terms.reduced(number, bits)
            }
            _ => self.terms.node(Node::Read(bits), &[place]),
        }
    }
}
