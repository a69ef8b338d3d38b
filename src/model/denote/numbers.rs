//! Numbers in locations: 64-bit arithmetic, and reads from registers, memory and locations.

use super::{Denote, DescribedStorage, MachineContents, NoMeaning, Slice, Spans, StorageSpan};
use crate::model::tree::At;
use crate::model::{Node, Symbol};
use crate::op::Reg;
use crate::target::{ByteOrder, Scaling, SpaceId};

impl Denote<'_> {
    pub(super) fn number(&self, at: At) -> Result<u64, NoMeaning> {
        self.address(SpaceId::DEFAULT, at)
    }

    /// A number used as an address in a space.
    pub(super) fn address(&self, space: SpaceId, at: At) -> Result<u64, NoMeaning> {
        let tree = &self.of.tree;
        let operand = || self.address(space, tree.last(at));
        let two = || {
            let (first, second) = tree.two(at);
            Ok::<_, NoMeaning>((self.address(space, first)?, self.address(space, second)?))
        };
        let value = match tree.node(at) {
            Node::Const(value) => value,
            Node::Address(symbol, by) => self.symbol(space, symbol)?.wrapping_add_signed(by),
            Node::LinkAddress(address) => address.wrapping_add(self.load_bias(space)),
            Node::StackAddress(by) => self.stack_base()?.wrapping_add_signed(by),
            Node::Read(bits) => self.read(tree.last(at), bits)?,
            Node::ReadRegister(reg) => self.read_register(reg)?,
            Node::EntryRegister(reg) => self.entry_register(reg)?,
            Node::PassedValue(parameter) => {
                let value = self.contents.passed_value(parameter);
                value.ok_or_else(|| NoMeaning::Unreadable("the value that the caller passed".into()))?
            }
            Node::LaneIndex => self.asking_lane()?.into(),
            Node::Plus(by) => operand()?.wrapping_add_signed(by),
            Node::Neg => operand()?.wrapping_neg(),
            Node::Not => !operand()?,
            Node::Add => two().map(|(a, b)| a.wrapping_add(b))?,
            Node::Sub => two().map(|(a, b)| a.wrapping_sub(b))?,
            Node::Mul => two().map(|(a, b)| a.wrapping_mul(b))?,
            Node::And => two().map(|(a, b)| a & b)?,
            Node::Or => two().map(|(a, b)| a | b)?,
            Node::Xor => two().map(|(a, b)| a ^ b)?,
            Node::Shl => two().map(|(a, b)| if b < 64 { a << b } else { 0 })?,
            Node::Shr => two().map(|(a, b)| if b < 64 { a >> b } else { 0 })?,
            Node::Shra => two().map(|(a, b)| (a as i64 >> b.min(63)) as u64)?,
            Node::AddressOf => self.address_of(tree.last(at))?,
            Node::Div => two().and_then(|(a, b)| divided(b, || (a as i64).wrapping_div(b as i64) as u64))?,
            Node::Mod => two().and_then(|(a, b)| divided(b, || a % b))?,
            Node::Eq => two().map(|(a, b)| (a == b).into())?,
            Node::Ne => two().map(|(a, b)| (a != b).into())?,
            Node::Lt => two().map(|(a, b)| ((a as i64) < b as i64).into())?,
            Node::Le => two().map(|(a, b)| (a as i64 <= b as i64).into())?,
            Node::If => {
                let operands = tree.operands(at);
                let [nonzero, zero, condition] = operands[..] else { return Err(NoMeaning::Malformed) };
                // Both numbers count, even if one is not taken: each must have a value.
                let nonzero = self.address(space, nonzero)?;
                let zero = self.address(space, zero)?;
                if self.number(condition)? == 0 { zero } else { nonzero }
            }
            _ => return Err(NoMeaning::Malformed),
        };
        Ok(value)
    }

    /// Returns a symbol's address in the running program.
    fn symbol(&self, space: SpaceId, symbol: Symbol) -> Result<u64, NoMeaning> {
        let name = self.of.module.symbol_name(symbol);
        let address = self.contents.symbol(name);
        let address = address.ok_or_else(|| NoMeaning::Unreadable(format!("symbol `{name}`")))?;
        Ok(address.wrapping_add(self.load_bias(space)))
    }

    /// Returns by how many bytes the loader moves addresses in a space.
    fn load_bias(&self, space: SpaceId) -> u64 {
        // A symbol in local memory is an offset in the work-group's allocation, which the load bias does not move.
        if space.is_loaded() { self.contents.load_bias() } else { 0 }
    }

    /// Returns the stack frame's base, in bytes of one lane.
    fn stack_base(&self) -> Result<u64, NoMeaning> {
        let Some(reg) = self.of.stack.base else {
            if !self.of.module.target.has_lane_expressions() {
                return Ok(0);
            }
            // Slots count from the thread's canonical frame address.
            let cfa = self.contents.cfa().map(|cfa| (cfa.from / 8) as u64);
            return cfa.ok_or_else(|| NoMeaning::Unreadable("the frame's address".into()));
        };
        let base = self.read_register(reg)?;
        Ok(match self.of.stack.scaling {
            Scaling::Lane => base,
            Scaling::Wave => base / u64::from(self.of.module.target.lanes()),
        })
    }

    fn read_register(&self, reg: Reg) -> Result<u64, NoMeaning> {
        let register = self.of.module.target.register(reg).ok_or(NoMeaning::Malformed)?;
        let value = self.contents.register(reg, 0, register.bits.min(64));
        value.ok_or_else(|| NoMeaning::Unreadable(format!("register {}", register.name())))
    }

    fn entry_register(&self, reg: Reg) -> Result<u64, NoMeaning> {
        let register = self.of.module.target.register(reg).ok_or(NoMeaning::Malformed)?;
        let value = self.contents.entry_register(reg);
        value.ok_or_else(|| NoMeaning::Unreadable(format!("register {} on entry", register.name())))
    }

    /// Returns the address of a location in the default space.
    fn address_of(&self, at: At) -> Result<u64, NoMeaning> {
        let mut spans = Spans::new();
        self.slice(at, Slice::first(1), &mut spans)?;
        match spans.first() {
            Some(StorageSpan { storage: DescribedStorage::Memory(SpaceId::DEFAULT, None), from, .. })
                if from % 8 == 0 =>
            {
                Ok((from / 8) as u64)
            }
            _ => Err(NoMeaning::Part("its location is not in the default space".into())),
        }
    }

    /// Returns the number in a location's first bits.
    pub(super) fn read(&self, at: At, bits: u32) -> Result<u64, NoMeaning> {
        let mut spans = Spans::new();
        self.slice(at, Slice::first(bits.into()), &mut spans)?;
        number_in(&spans, self.contents, self.order())
    }
}

/// Returns the result of a division, which no number has if the divisor is 0.
fn divided(by: u64, result: impl Fn() -> u64) -> Result<u64, NoMeaning> {
    if by == 0 { Err(NoMeaning::Part("division by zero".into())) } else { Ok(result()) }
}

/// Returns the number in the bits of spans. The first span is the least significant on a little-endian target, and the
/// most significant on a big-endian target.
pub(super) fn number_in(
    spans: &[StorageSpan],
    contents: &dyn MachineContents,
    order: ByteOrder,
) -> Result<u64, NoMeaning> {
    let mut value: u64 = 0;
    let mut done = 0;
    for span in spans {
        let bits = span.bits as u32;
        let part = match &span.storage {
            DescribedStorage::Register(reg) => contents.register(*reg, span.from as u64, bits),
            DescribedStorage::Memory(space, lane) => contents.memory(*space, *lane, span.from, bits),
            DescribedStorage::Implicit(bytes) => Some(constant(bytes, bits, order)),
            // One undefined bit makes the whole number undefined.
            DescribedStorage::Undefined => None,
            // A consumer may follow the pointer without a numeric value.
            DescribedStorage::Pointer(..) => {
                return Err(NoMeaning::Part("a pointer to a variable has no number".into()));
            }
        };
        let part = part.ok_or_else(|| NoMeaning::Unreadable("what it depends on".into()))?;
        value = match order {
            ByteOrder::Little => value | part << done,
            // A span of 64 bits is the only one.
            ByteOrder::Big => value.checked_shl(bits).unwrap_or(0) | part,
        };
        done += bits;
    }
    Ok(value)
}

/// Returns the number in a span's constant bytes, at most 8.
fn constant(bytes: &[u8], bits: u32, order: ByteOrder) -> u64 {
    let push = |value, &byte: &u8| value << 8 | u64::from(byte);
    match order {
        ByteOrder::Little => bytes.iter().rev().fold(0, push),
        // The last byte's unused bits are its least significant.
        ByteOrder::Big => bytes.iter().fold(0, push) >> (8 * bytes.len() as u32 - bits),
    }
}
