//! Locations in plain DWARF 5, where only an expression's end is a location. The tree is [split](super::fragments) into
//! parts, each a register, an address, a constant or a value.

use super::constants::{known_pieces, number};
use super::expression::{ExpressionWriter, malformed};
use super::fragments::{Fragment, MAX_FRAGMENTS};
use super::mapped;
use super::numbers::{self, Read, deref, read_register, thread_local};
use super::shared::At;
use crate::error::{Construct, Result};
use crate::model::Node;
use crate::op::Reg;
use crate::target::{ByteOrder, Per, SpaceId};

/// Dialect in which only an expression's end is a location.
pub(super) struct Dwarf5;

impl Read for Dwarf5 {
    /// Writes the number: each part is read and shifted to its position.
    fn read(out: &mut ExpressionWriter<'_, '_>, at: At, bits: u32, space: SpaceId) -> Result<()> {
        let mut fragments = Vec::new();
        fragments_of(out, Fragment { at, from: 0, bits: bits.into(), flip: 0 }, &mut fragments)?;
        if out.context.module.target.is_big_endian() {
            fragments.reverse();
        }
        // The parts come from the least significant on, so each is shifted past those before it.
        let mut done = 0;
        for fragment in fragments {
            let (first, has) = out.above((done > 0).into(), |out| read_fragment(out, fragment, space))?;
            if first > 0 {
                out.encoder.constu(first).shr();
            }
            // A mask removes the bits above the part, unless the number has none there.
            if first + fragment.bits < has {
                out.encoder.constu(u64::MAX >> (64 - fragment.bits)).and();
            }
            if done > 0 {
                out.encoder.constu(done).shl().or();
            }
            done += fragment.bits;
        }
        Ok(())
    }

    fn address_of(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
        match out.tree.node(at) {
            Node::Call(procedure) => {
                // A call leaves a value, which is the address of a location in the default space.
                let (tree, root) = out.procedure(procedure)?;
                let mut inner = out.inside(&tree)?;
                Self::address_of(&mut inner, root)?;
                inner.encoder.finish()
            }
            _ => address(out, at),
        }
    }
}

fn val(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    numbers::val::<Dwarf5>(out, at, SpaceId::DEFAULT)
}

fn val_plus(out: &mut ExpressionWriter<'_, '_>, at: At, by: i64, space: SpaceId) -> Result<()> {
    numbers::val_plus::<Dwarf5>(out, at, by, space)
}

/// Writes a whole expression.
pub(super) fn write(out: &mut ExpressionWriter<'_, '_>, root: At, bits: Option<u64>) -> Result<()> {
    // An object without bits has no part, but a raw expression is written as it is.
    if let Node::Expr(id) = out.tree.node(root)
        && bits == Some(0)
    {
        return out.expr(id);
    }
    if let Some(bits) = bits
        && let Some(reg) = mapped::register(out, root, bits)?
    {
        out.encoder.regx(reg);
        return Ok(());
    }
    write_from(out, Fragment { at: root, from: 0, bits: 0, flip: 0 }, bits)
}

/// Writes the whole expression for a saved register, which computes an address.
pub(super) fn write_saved(out: &mut ExpressionWriter<'_, '_>, root: At) -> Result<()> {
    if let Node::Expr(id) = out.tree.node(root) {
        return out.expr(id);
    }
    // The result is always taken as an address, so a location outside memory has no expression.
    let (inner, bits) = out.moved_by(root);
    let is_address = matches!(out.tree.node(inner), Node::Cfa | Node::Memory(_) | Node::OffsetBy);
    if !is_address || bits % 8 != 0 {
        return Err(out.context.consumer.inexpressible(Construct::UnsavedRegister));
    }
    write(out, root, Some(8))
}

/// Writes a whole expression for a location's bits from the fragment's first bit on: `bits` of them, or all if `None`.
fn write_from(out: &mut ExpressionWriter<'_, '_>, root: Fragment, bits: Option<u64>) -> Result<()> {
    let rest = || out.bits(root.at)?.checked_sub(u64::try_from(root.from).ok()?);
    let size = bits.or_else(rest);
    let mut fragments = Vec::new();
    if let Some(bits) = size {
        fragments_of(out, Fragment { bits, ..root }, &mut fragments)?;
    } else {
        let (inner, by) = out.moved_by(root.at);
        let from = by.checked_add(root.from).ok_or_else(malformed)?;
        fragments.push(Fragment { at: inner, from, bits: 0, flip: 0 });
    }
    // A big-endian machine has the last bits of a register for a smaller object, and the first bits of a piece of it.
    let is_open = bits.is_none() && out.context.module.target.is_big_endian();
    let is_part = !out.split().is_number(root.at);
    // A location in one part needs no piece, unless a piece has to give the part's first bit.
    match fragments[..] {
        [fragment] if is_open && out.split().is_number(fragment.at) && (is_part || fragment.from != 0) => {
            if !is_part {
                return Err(out.context.consumer.inexpressible(Construct::UnsizedPart));
            }
            pieces(out, &fragments)
        }
        [fragment] if let Node::Call(procedure) = out.tree.node(fragment.at) => {
            // A call leaves values, not locations, so the procedure's expression is inlined.
            let (tree, at) = out.procedure(procedure)?;
            let mut inner = out.inside(&tree)?;
            write_from(&mut inner, Fragment { at, ..fragment }, size)?;
            inner.encoder.finish()
        }
        [fragment] if is_simple(out, fragment.at, fragment.from) => {
            if !matches!(out.tree.node(fragment.at), Node::Undefined) {
                simple_part(out, fragment)?;
            }
            Ok(())
        }
        _ if size.is_none() => Err(out.context.consumer.inexpressible(Construct::UnsizedPart)),
        _ => pieces(out, &fragments),
    }
}

/// Writes parts one by one.
fn pieces(out: &mut ExpressionWriter<'_, '_>, fragments: &[Fragment]) -> Result<()> {
    for &fragment in fragments {
        match out.tree.node(fragment.at) {
            Node::Call(procedure) => {
                let (tree, at) = out.procedure(procedure)?;
                let mut inner = out.inside(&tree)?;
                let mut parts = Vec::new();
                fragments_of(&inner, Fragment { at, ..fragment }, &mut parts)?;
                pieces(&mut inner, &parts)?;
                inner.encoder.finish()?;
                continue;
            }
            Node::Implicit(bytes) if out.context.module.target.is_big_endian() => {
                known_pieces(out, bytes, fragment)?;
                continue;
            }
            _ => {}
        }
        let from = simple_part(out, fragment)?;
        if from == 0 && fragment.bits.is_multiple_of(8) {
            out.encoder.piece(fragment.bits / 8);
        } else {
            out.encoder.bit_piece(fragment.bits, from);
        }
    }
    Ok(())
}

fn fragments_of(out: &ExpressionWriter<'_, '_>, fragment: Fragment, found: &mut Vec<Fragment>) -> Result<()> {
    let mut fragments = Vec::new();
    let outside = || out.context.consumer.inexpressible(Construct::OutsideParts);
    out.split().split(fragment, &mut fragments).ok_or_else(outside)?;
    for fragment in fragments {
        // Repetitions within repetitions multiply, so the limit is checked for each fragment.
        if found.len() >= MAX_FRAGMENTS {
            return Err(out.context.consumer.inexpressible(Construct::ManyParts));
        }
        match out.tree.node(fragment.at) {
            Node::Extend { bits, count } => {
                for _ in 0..count {
                    let at = out.tree.last(fragment.at);
                    fragments_of(out, Fragment { at, from: 0, bits, flip: 0 }, found)?;
                }
            }
            Node::Select { bits, .. } => {
                let operands = out.tree.operands(fragment.at);
                let mask = out.tree.constant(operands[2]);
                let mask = mask.ok_or_else(|| out.context.consumer.inexpressible(Construct::SelectByMask))?;
                let mut from = fragment.from as u64;
                // The mask is constant, so each element comes from one operand.
                let end = fragment.from as u64 + fragment.bits;
                while from < end {
                    let element = from / bits;
                    let within = from % bits;
                    let here = (bits - within).min(end - from);
                    let chosen =
                        if element < 64 && mask >> element & 1 == 1 { operands[1] } else { operands[0] };
                    let first = i64::try_from(from - within).map_err(|_| malformed())?;
                    let part = out.split().part(chosen, (first, within), here, bits).ok_or_else(malformed)?;
                    fragments_of(out, part, found)?;
                    from += here;
                }
            }
            _ => found.push(fragment),
        }
    }
    Ok(())
}

/// Returns whether the location needs no piece that gives its first bit.
fn is_simple(out: &ExpressionWriter<'_, '_>, at: At, from: i64) -> bool {
    match out.tree.node(at) {
        Node::Lane(_, lane) => lane == 0 && from == 0,
        Node::Memory(_) | Node::OffsetBy | Node::Cfa | Node::ThreadLocal => from % 8 == 0,
        _ => from == 0,
    }
}

/// Writes a part's location. Returns the part's first bit within it.
fn simple_part(out: &mut ExpressionWriter<'_, '_>, fragment: Fragment) -> Result<u64> {
    let Fragment { at, from, .. } = fragment;
    let consumer = out.context.consumer;
    if let Some(reg) = mapped::register_from(out, fragment)? {
        out.encoder.regx(reg);
        return Ok(0);
    }
    let not_before =
        |from: i64| u64::try_from(from).map_err(|_| consumer.inexpressible(Construct::NegativeOffset));
    match out.tree.node(at) {
        Node::PerLane(reg) if is_of_lane(out) => {
            named_register(out, reg)?;
            out.encoder.regx(reg);
            not_before(from)
        }
        Node::Register(reg) if is_of_lane(out) => {
            let name = out.register(reg)?.name().to_string();
            Err(consumer.inexpressible(if out.register(reg)?.is_vector() {
                Construct::WholeRegister(name)
            } else {
                Construct::RegisterNumber(name)
            }))
        }
        Node::Lane(..) if is_of_lane(out) => Err(consumer.inexpressible(Construct::LaneOfWave)),
        Node::Memory(space) if consumer.attributes.variable_space.is_some() => {
            let address = out.tree.last(at);
            variable_in(out, space)?;
            let bytes = from.div_euclid(8);
            match stack_slot(out, address) {
                Some(slot) => {
                    out.encoder.fbreg(slot.checked_add(bytes).ok_or_else(malformed)?);
                }
                None => val_plus(out, address, bytes, space)?,
            }
            Ok(from.rem_euclid(8) as u64)
        }
        Node::Implicit(bytes) if consumer.attributes.variable_space.is_some() => {
            if bytes.len() > 8 {
                return Err(consumer.inexpressible(Construct::LongConstant(bytes.len())));
            }
            let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            out.encoder.constu(value).stack_value();
            not_before(from)
        }
        Node::Register(reg) => {
            out.encoder.regx(reg);
            not_before(from)
        }
        Node::Lane(reg, lane) => {
            out.encoder.regx(reg);
            // Plain DWARF 5 does not know lanes, so a lane is a bit range in the whole register.
            let first = i64::from(lane) * i64::from(out.register(reg)?.lane_bits());
            not_before(first + from)
        }
        Node::Memory(SpaceId::DEFAULT) => {
            let address = out.tree.last(at);
            val_plus(out, address, from.div_euclid(8), SpaceId::DEFAULT)?;
            Ok(from.rem_euclid(8) as u64)
        }
        // In plain DWARF 5, frames are in the default space.
        Node::Cfa | Node::ThreadLocal => {
            address(out, at)?;
            out.plus(from.div_euclid(8));
            Ok(from.rem_euclid(8) as u64)
        }
        Node::OffsetBy => {
            let (loc, by) = out.tree.two(at);
            address(out, loc)?;
            out.above(1, |out| val(out, by))?;
            out.encoder.plus();
            out.plus(from.div_euclid(8));
            Ok(from.rem_euclid(8) as u64)
        }
        Node::Implicit(bytes) => {
            out.encoder.implicit_value(bytes);
            not_before(from)
        }
        Node::Value => {
            val(out, out.tree.last(at))?;
            out.encoder.stack_value();
            not_before(from)
        }
        Node::PointerTo(variable, by) if from == 0 => {
            out.pointer_to(variable, by)?;
            Ok(0)
        }
        // An empty location is an unavailable part.
        Node::Undefined => Ok(0),
        Node::Expr(id) if from == 0 => out.expr(id).map(|()| 0),
        _ => Err(out.not_in_dwarf5(at)),
    }
}

/// Writes a location's address in the default space.
fn address(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    match out.tree.node(at) {
        Node::Memory(SpaceId::DEFAULT) => val(out, out.tree.last(at)),
        Node::Cfa => cfa(out),
        Node::ThreadLocal => thread_local::<Dwarf5>(out, at),
        Node::Offset(_) | Node::BitOffset(_) => {
            let (place, bits) = out.moved_by(at);
            if bits % 8 != 0 || place == at {
                return Err(out.context.consumer.inexpressible(Construct::BitOffsetBy));
            }
            address(out, place)?;
            out.plus(bits / 8);
            Ok(())
        }
        Node::OffsetBy => {
            let (loc, by) = out.tree.two(at);
            address(out, loc)?;
            out.above(1, |out| val(out, by))?;
            out.encoder.plus();
            Ok(())
        }
        Node::Memory(_) | Node::PerLane(_) => Err(out.not_in_dwarf5(at)),
        _ => Err(out.context.consumer.inexpressible(Construct::OffsetByOutsideMemory)),
    }
}

/// Writes the canonical frame address, if it is in the default space: wave frames are not.
fn cfa(out: &mut ExpressionWriter<'_, '_>) -> Result<()> {
    if out.context.module.target.lanes() > 1 {
        return Err(out.context.consumer.inexpressible(Construct::WaveFrame));
    }
    out.cfa();
    Ok(())
}

/// Returns whether expressions describe the current lane.
fn is_of_lane(out: &ExpressionWriter<'_, '_>) -> bool {
    out.context.module.target.has_lane_expressions()
}

/// Refuses a register that the consumer cannot name: it reads packed names and plain numbers.
fn named_register(out: &ExpressionWriter<'_, '_>, reg: Reg) -> Result<()> {
    const PLAIN: u64 = 0xff;
    let register = out.register(reg)?;
    if reg.0 <= PLAIN || register.is_packed() {
        return Ok(());
    }
    Err(out.context.consumer.inexpressible(Construct::RegisterNumber(register.name().to_string())))
}

/// Refuses memory outside the space that the variable's other locations use, because the entry states one space.
fn variable_in(out: &mut ExpressionWriter<'_, '_>, space: SpaceId) -> Result<()> {
    let first = *out.references.facts.space.get_or_insert(space);
    if first == space {
        return Ok(());
    }
    let name =
        |space| out.context.module.target.space(space).map_or_else(String::new, |out| out.name.to_string());
    Err(out.context.consumer.inexpressible(Construct::SecondSpace(name(first), name(space))))
}

/// Returns a stack slot's offset from the canonical frame address.
fn stack_slot(out: &ExpressionWriter<'_, '_>, address: At) -> Option<i64> {
    match out.tree.node(address) {
        Node::StackAddress(by) if out.context.stack.base.is_none() => Some(by),
        Node::Plus(by) => stack_slot(out, out.tree.last(address))?.checked_add(by),
        _ => None,
    }
}

/// Returns which bit of a number in memory is a part's least significant, and how many bytes have the part.
fn in_bytes(out: &ExpressionWriter<'_, '_>, from: i64, bits: u64) -> (u64, u64) {
    let first = from.rem_euclid(8) as u64;
    let bytes = (first + bits).div_ceil(8);
    match out.context.module.target.byte_order() {
        ByteOrder::Little => (first, bytes),
        ByteOrder::Big => (8 * bytes - first - bits, bytes),
    }
}

fn deref_address(out: &mut ExpressionWriter<'_, '_>, bytes: u64) -> Result<()> {
    no_more_than_an_address(out, bytes)?;
    deref(out, bytes as u32);
    Ok(())
}

fn no_more_than_an_address(out: &ExpressionWriter<'_, '_>, bytes: u64) -> Result<()> {
    if bytes > out.address_bits() as u64 / 8 {
        return Err(out.context.consumer.inexpressible(Construct::LargeRead));
    }
    Ok(())
}

/// Returns whether each lane has its own memory in the space; plain DWARF 5 cannot select the lane.
fn is_of_lanes(out: &ExpressionWriter<'_, '_>, space: SpaceId) -> bool {
    out.context.module.target.space(space).is_some_and(|space| space.per == Per::Lane)
}

/// Writes a number that contains the part. Returns the part's first bit, and how many bits may be set.
fn read_fragment(
    out: &mut ExpressionWriter<'_, '_>,
    fragment: Fragment,
    space: SpaceId,
) -> Result<(u64, u64)> {
    let Fragment { at, from, bits, .. } = fragment;
    if let Some(reg) = mapped::register_from(out, fragment)? {
        out.encoder.bregx(reg, 0);
        return Ok((0, bits));
    }
    match out.tree.node(at) {
        Node::Register(reg) if out.register(reg)?.bits <= 64 => {
            read_register(out, reg)?;
            Ok((from as u64, out.register(reg)?.bits.into()))
        }
        Node::PerLane(reg) if is_of_lane(out) => {
            named_register(out, reg)?;
            out.encoder.bregx(reg, 0);
            Ok((from as u64, out.register(reg)?.lane_bits().into()))
        }
        // An expression cannot state the space that it reads.
        Node::Memory(_) if out.context.consumer.attributes.variable_space.is_some() => {
            Err(out.not_in_dwarf5(at))
        }
        Node::Memory(space) if is_of_lanes(out, space) => Err(out.not_in_dwarf5(at)),
        Node::Cfa | Node::ThreadLocal => {
            let (first, bytes) = in_bytes(out, from, bits);
            address(out, at)?;
            out.plus(from.div_euclid(8));
            deref_address(out, bytes)?;
            Ok((first, 8 * bytes))
        }
        Node::Memory(space) => {
            let (first, bytes) = in_bytes(out, from, bits);
            no_more_than_an_address(out, bytes)?;
            // `DW_OP_xderef_size` takes the space from below the address.
            if space != SpaceId::DEFAULT {
                out.encoder.constu(space.0.into());
            }
            let address = out.tree.last(at);
            val_plus(out, address, from.div_euclid(8), space)?;
            if space == SpaceId::DEFAULT {
                deref(out, bytes as u32);
            } else {
                out.encoder.xderef_size(bytes as u8);
            }
            Ok((first, 8 * bytes))
        }
        Node::Implicit(bytes) => {
            let from = from as usize;
            let bit = |index: usize| u64::from(bytes[index / 8] >> (index % 8) & 1);
            let inside = from + bits as usize <= 8 * bytes.len();
            let value = inside.then(|| match out.context.module.target.byte_order() {
                ByteOrder::Little => {
                    (0..bits as usize).fold(0, |value, index| value | bit(from + index) << index)
                }
                ByteOrder::Big => number(bytes, from, bits as usize),
            });
            let outside = || out.context.consumer.inexpressible(Construct::ConstantEnd);
            out.encoder.constu(value.ok_or_else(outside)?);
            Ok((0, bits))
        }
        Node::Value => {
            numbers::val::<Dwarf5>(out, out.tree.last(at), space)?;
            Ok((from as u64, 64))
        }
        Node::Lane(reg, _) | Node::Register(reg) => {
            let name = out.register(reg)?.name();
            Err(out.context.consumer.inexpressible(Construct::RegisterPart(name.to_string())))
        }
        _ => Err(out.not_in_dwarf5(at)),
    }
}
