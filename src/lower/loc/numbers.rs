//! Numbers, which all dialects encode alike except for reads.

use super::expression::{At, ExpressionWriter, has_bytes};
use super::linear::{arithmetic, deref};
use super::malformed;
use crate::error::{Construct, Result};
use crate::model::Node;
use crate::op::{Encoder, Reg};
use crate::target::{Scaling, SpaceId};

impl ExpressionWriter<'_, '_> {
    /// Register as wide as an address, and the constant added to it.
    pub(super) fn register_plus(&self, at: At) -> Option<(Reg, i64)> {
        match self.tree.node(at) {
            Node::ReadRegister(reg) => Some((reg, 0)),
            Node::Plus(by) => {
                let (reg, first) = self.register_plus(self.tree.last(at))?;
                Some((reg, first.checked_add(by)?))
            }
            _ => None,
        }
    }

    /// Writes a number with a constant added.
    pub(super) fn val_plus(&mut self, at: At, by: i64) -> Result<()> {
        if self.call_shared(at) {
            self.plus(by);
            return Ok(());
        }
        match self.tree.node(at) {
            Node::Const(value) => {
                self.encoder.constu(value.wrapping_add_signed(by));
            }
            Node::Address(symbol, first) if let Some(by) = first.checked_add(by) => self.symbol(symbol, by),
            Node::StackAddress(first)
                if self.context.consumer.variable_space.is_none()
                    && let Some(by) = first.checked_add(by) =>
            {
                self.stack_address(by)?;
            }
            Node::Plus(first) if let Some(by) = first.checked_add(by) => {
                return self.val_plus(self.tree.last(at), by);
            }
            Node::ReadRegister(reg) if self.register(reg)?.bits == self.address_bits() => {
                self.encoder.bregx(reg, by);
            }
            Node::Read(bits) if let Some(reg) = self.whole_lane(self.tree.last(at), bits) => {
                self.encoder.bregx(reg, by);
            }
            _ => {
                self.val(at)?;
                self.plus(by);
            }
        }
        Ok(())
    }

    /// Returns the register of a node that reads all bits of the current lane, if a lane has the size of an address.
    fn whole_lane(&self, at: At, bits: u32) -> Option<Reg> {
        let module = self.context.module;
        let Node::PerLane(reg) = self.tree.node(at) else { return None };
        let register = module.target.register(reg).filter(|_| module.target.has_lane_expressions())?;
        let is_whole = register.lane_bits() == bits && bits == self.address_bits();
        (is_whole && register.is_packed()).then_some(reg)
    }

    /// Writes operations that leave the number on top of the stack.
    pub(super) fn val(&mut self, at: At) -> Result<()> {
        if self.call_shared(at) {
            return Ok(());
        }
        if let Some((reg, by)) = self.register_plus(at)
            && self.register(reg)?.bits == self.address_bits()
        {
            self.encoder.bregx(reg, by);
            return Ok(());
        }
        match self.tree.node(at) {
            Node::Const(value) => {
                self.encoder.constu(value);
            }
            Node::Address(symbol, by) => self.symbol(symbol, by),
            Node::StackAddress(_) if self.context.consumer.variable_space.is_some() => {
                return Err(self.not_in_dwarf5(at));
            }
            Node::StackAddress(by) => self.stack_address(by)?,
            Node::Read(bits) => self.read(self.tree.last(at), bits)?,
            Node::ReadRegister(reg) => self.read_register(reg)?,
            Node::EntryRegister(reg) => self.entry_register(reg)?,
            Node::LaneIndex if !self.context.consumer.has_locations_on_the_stack() => {
                return Err(self.not_in_dwarf5(at));
            }
            Node::LaneIndex => {
                self.encoder.push_lane();
            }
            Node::Plus(by) => {
                self.val(self.tree.last(at))?;
                self.plus(by);
            }
            node => {
                if let Node::Neg | Node::Not = node {
                    self.val(self.tree.last(at))?;
                } else {
                    let (first, second) = self.tree.two(at);
                    self.val(first)?;
                    self.above(1, |one| one.val(second))?;
                }
                if !arithmetic(&mut self.encoder, node) {
                    return Err(malformed());
                }
            }
        }
        Ok(())
    }

    /// Writes the address of a stack slot in a lane's private memory. A base register that counts for the wave is
    /// scaled to a lane.
    fn stack_address(&mut self, offset: i64) -> Result<()> {
        let Some(reg) = self.context.stack.base else {
            match offset {
                0.. => self.encoder.constu(offset as u64),
                _ => self.encoder.consts(offset),
            };
            return Ok(());
        };
        self.read_register(reg)?;
        if self.context.stack.scaling == Scaling::Wave {
            let lanes = self.context.module.target.lanes();
            self.encoder.constu(lanes.trailing_zeros().into()).shr();
        }
        self.plus(offset);
        Ok(())
    }

    pub(super) fn read_register(&mut self, reg: Reg) -> Result<()> {
        let bits = self.register(reg)?.bits;
        if bits == self.address_bits() {
            self.encoder.bregx(reg, 0);
        } else if self.context.consumer.has_locations_on_the_stack() {
            self.encoder.regx(reg).deref_size((bits / 8) as u8);
        } else {
            let Some(ty) = self.context.entries.unsigned(bits) else {
                let what = Construct::RegisterValue(self.register(reg)?.name().to_string());
                return Err(self.context.consumer.inexpressible(what));
            };
            self.encoder.regval_type(reg, ty).convert(0);
        }
        Ok(())
    }

    /// Writes the value of a register on entry. Its type is as large as the register, so that smaller ones are
    /// converted.
    fn entry_register(&mut self, reg: Reg) -> Result<()> {
        if self.context.is_call_frame {
            return self.caller_register(reg);
        }
        let mut register = Vec::new();
        Encoder::new(&mut register, self.encoder.encoding()).regx(reg);
        self.encoder.entry_value(&register);
        if self.register(reg)?.bits != self.address_bits() {
            self.encoder.convert(0);
        }
        Ok(())
    }

    pub(super) fn read(&mut self, at: At, bits: u32) -> Result<()> {
        if !self.context.consumer.has_locations_on_the_stack() {
            return self.dwarf5_read(at, bits);
        }
        self.of_space(SpaceId::DEFAULT, |one| one.loc(at))?;
        let bytes = bits.div_ceil(8);
        let is_whole = bits.is_multiple_of(8);
        let has_more = has_bytes(self.bits(at), bits);
        if !has_more {
            // Reads exactly these bits: the storage may end behind them.
            self.encoder.bit_piece(bits.into(), 0).constu(0).stack_value();
            self.encoder.bit_piece((8 * bytes - bits).into(), 0).piece_end();
        }
        self.deref(bytes);
        if has_more && !is_whole {
            self.encoder.constu(u64::MAX >> (64 - bits)).and();
        }
        Ok(())
    }

    pub(super) fn deref(&mut self, bytes: u32) {
        let address_bits = self.address_bits();
        deref(&mut self.encoder, 8 * bytes, address_bits);
    }
}
