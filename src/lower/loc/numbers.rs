//! Numbers, which all dialects encode alike except for reads.

use super::expression::{ExpressionWriter, malformed};
use super::linear::{self, arithmetic};
use super::mapped;
use super::shared::At;
use crate::error::{Construct, Result};
use crate::model::Node;
use crate::op::{Encoder, Reg};
use crate::target::{Scaling, SpaceId};

/// How a dialect reads numbers from locations.
pub(super) trait Read {
    /// Writes the number in a location's first `bits` bits. The number is an address in `space`.
    fn read(out: &mut ExpressionWriter<'_, '_>, at: At, bits: u32, space: SpaceId) -> Result<()>;

    /// Writes the address of a location in the default space.
    fn address_of(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()>;
}

/// Register as wide as an address, and the constant added to it.
pub(super) fn register_plus(out: &ExpressionWriter<'_, '_>, at: At) -> Option<(Reg, i64)> {
    match out.tree.node(at) {
        Node::ReadRegister(reg) => Some((reg, 0)),
        Node::Plus(by) => {
            let (reg, first) = register_plus(out, out.tree.last(at))?;
            Some((reg, first.checked_add(by)?))
        }
        _ => None,
    }
}

/// Writes a number, which is an address in `space`, with a constant added.
pub(super) fn val_plus<R: Read>(
    out: &mut ExpressionWriter<'_, '_>,
    at: At,
    by: i64,
    space: SpaceId,
) -> Result<()> {
    if out.call_shared(at) {
        out.plus(by);
        return Ok(());
    }
    match out.tree.node(at) {
        Node::Const(value) => {
            out.encoder.constu(value.wrapping_add_signed(by));
        }
        Node::Address(symbol, first) if let Some(by) = first.checked_add(by) => out.symbol(symbol, by, space),
        Node::LinkAddress(address) => out.link_address(address.wrapping_add_signed(by), space),
        Node::StackAddress(first)
            if out.context.consumer.attributes.variable_space.is_none()
                && let Some(by) = first.checked_add(by) =>
        {
            stack_address(out, by)?;
        }
        Node::Plus(first) if let Some(by) = first.checked_add(by) => {
            return val_plus::<R>(out, out.tree.last(at), by, space);
        }
        Node::ReadRegister(reg) if out.register(reg)?.bits == out.address_bits() => {
            out.encoder.bregx(reg, by);
        }
        Node::Read(bits) if let Some(reg) = whole_lane(out, out.tree.last(at), bits) => {
            out.encoder.bregx(reg, by);
        }
        Node::Read(bits)
            if bits == out.address_bits()
                && let Some(reg) = mapped::register(out, out.tree.last(at), bits.into())? =>
        {
            out.encoder.bregx(reg, by);
        }
        _ => {
            val::<R>(out, at, space)?;
            out.plus(by);
        }
    }
    Ok(())
}

/// Returns the register if a node reads all bits in the current lane, and a lane is as wide as an address.
fn whole_lane(out: &ExpressionWriter<'_, '_>, at: At, bits: u32) -> Option<Reg> {
    let module = out.context.module;
    let Node::PerLane(reg) = out.tree.node(at) else { return None };
    let register = module.target.register(reg).filter(|_| module.target.has_lane_expressions())?;
    let is_whole = register.lane_bits() == bits && bits == out.address_bits();
    (is_whole && register.is_packed()).then_some(reg)
}

/// Writes operations that leave the number on top of the stack. `space` is the address space for the symbols in it,
/// because the number may be a memory address.
pub(super) fn val<R: Read>(out: &mut ExpressionWriter<'_, '_>, at: At, space: SpaceId) -> Result<()> {
    if out.call_shared(at) {
        return Ok(());
    }
    if let Some((reg, by)) = register_plus(out, at)
        && out.register(reg)?.bits == out.address_bits()
    {
        out.encoder.bregx(reg, by);
        return Ok(());
    }
    match out.tree.node(at) {
        Node::Const(value) => {
            out.encoder.constu(value);
        }
        Node::Address(symbol, by) => out.symbol(symbol, by, space),
        Node::LinkAddress(address) => out.link_address(address, space),
        Node::StackAddress(_) if out.context.consumer.attributes.variable_space.is_some() => {
            return Err(out.not_in_dwarf5(at));
        }
        Node::StackAddress(by) => stack_address(out, by)?,
        Node::Read(bits) => R::read(out, out.tree.last(at), bits, space)?,
        Node::ReadRegister(reg) => read_register(out, reg)?,
        Node::EntryRegister(reg) => entry_register(out, reg)?,
        Node::PassedValue(parameter) => out.passed_value(parameter)?,
        Node::LaneIndex if !out.context.consumer.has_locations_on_the_stack() => {
            return Err(out.not_in_dwarf5(at));
        }
        Node::LaneIndex => {
            out.encoder.push_lane();
        }
        Node::Plus(by) => {
            val::<R>(out, out.tree.last(at), space)?;
            out.plus(by);
        }
        Node::AddressOf => R::address_of(out, out.tree.last(at))?,
        Node::If => {
            let operands = out.tree.operands(at);
            val::<R>(out, operands[0], space)?;
            out.above(1, |out| val::<R>(out, operands[1], space))?;
            out.above(2, |out| val::<R>(out, operands[2], SpaceId::DEFAULT))?;
            // The branch goes to `drop`, past the `swap` of one byte.
            out.encoder.bra(1).swap().drop_top();
        }
        node => {
            if let Node::Neg | Node::Not = node {
                val::<R>(out, out.tree.last(at), space)?;
            } else {
                let (first, second) = out.tree.two(at);
                val::<R>(out, first, space)?;
                // The first operand is on the stack while the second is written.
                out.above(1, |out| val::<R>(out, second, space))?;
            }
            if !arithmetic(&mut out.encoder, node) {
                return Err(malformed());
            }
        }
    }
    Ok(())
}

/// Writes a stack slot's address in a lane's private memory. A base register that counts for the wave is scaled to a
/// lane.
fn stack_address(out: &mut ExpressionWriter<'_, '_>, offset: i64) -> Result<()> {
    let Some(reg) = out.context.stack.base else {
        match offset {
            0.. => out.encoder.constu(offset as u64),
            _ => out.encoder.consts(offset),
        };
        return Ok(());
    };
    read_register(out, reg)?;
    if out.context.stack.scaling == Scaling::Wave {
        let lanes = out.context.module.target.lanes();
        out.encoder.constu(lanes.trailing_zeros().into()).shr();
    }
    out.plus(offset);
    Ok(())
}

/// Writes a location in thread-local storage.
pub(super) fn thread_local<R: Read>(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    let offset = out.tree.last(at);
    let has_symbol = out.tree.subtree(offset).any(|node| matches!(node, Node::Address(..)));
    if has_symbol && out.context.module.target.elf().thread_local_offset().is_none() {
        return Err(out.context.consumer.inexpressible(Construct::ThreadLocalSymbol));
    }
    // A symbol there is an offset in the storage, which the loader does not relocate.
    val::<R>(out, offset, SpaceId::LOCAL)?;
    out.encoder.form_tls_address();
    out.references.facts.has_address = true;
    Ok(())
}

pub(super) fn read_register(out: &mut ExpressionWriter<'_, '_>, reg: Reg) -> Result<()> {
    let bits = out.register(reg)?.bits;
    if bits == out.address_bits() {
        out.encoder.bregx(reg, 0);
    } else if out.context.consumer.has_locations_on_the_stack() {
        out.encoder.regx(reg).deref_size((bits / 8) as u8);
    } else {
        let Some(ty) = out.context.entries.unsigned(bits) else {
            let what = Construct::RegisterValue(out.register(reg)?.name().to_string());
            return Err(out.context.consumer.inexpressible(what));
        };
        out.encoder.regval_type(reg, ty).convert(0);
    }
    Ok(())
}

/// Writes a register's value on entry. Its type is as wide as the register, so smaller types are converted.
fn entry_register(out: &mut ExpressionWriter<'_, '_>, reg: Reg) -> Result<()> {
    if out.context.is_call_frame {
        return out.caller_register(reg);
    }
    let mut register = Vec::new();
    Encoder::new(&mut register, out.encoder.encoding()).regx(reg);
    out.encoder.entry_value(&register);
    if out.register(reg)?.bits != out.address_bits() {
        out.encoder.convert(0);
    }
    Ok(())
}

pub(super) fn deref(out: &mut ExpressionWriter<'_, '_>, bytes: u32) {
    let address_bits = out.address_bits();
    linear::deref(&mut out.encoder, 8 * bytes, address_bits);
}
