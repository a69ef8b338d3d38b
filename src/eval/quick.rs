//! The quick way: operations on numbers of the generic type, bytes of the default address space and whole
//! registers, which most expressions consist of, on a stack of their own.
//!
//! It never fails. Where it meets anything else, or what may be a fault, it stops before the operation, and
//! [`Run`](super::run::Run), which knows all operations and all rules, goes on from there. Both give the same
//! answers: a traced evaluation does not take the quick way, and a property test compares the two.

use super::branch::Branches;
use super::location::{Location, Storage};
use super::machine::{Architecture, Body, Machine};
use super::ops::is_not_for_cfi;
use super::value::Value;
use super::{Element, Where};
use crate::op::{Encoding, Name, OPCODES, Operand, Reg, read_sleb, read_uleb, sign_extended};
use crate::target::{Per, SpaceId};

/// An element of the quick way's stack.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    /// A value of the generic type.
    Value(u64),
    /// A byte of the default address space.
    Memory(u64),
    /// Known bits: a value of the generic type.
    Implicit(u64),
    /// The start of a register of the innermost frame, and its size in bits.
    Register(u32, Reg),
}

/// How many elements the stack has at most: a power of two, so that an index is easily kept in range.
const SLOTS: usize = 64;

/// The quick way's stack. Its room is kept from one evaluation to the next.
#[derive(Debug)]
pub(super) struct Slots {
    all: Box<[Slot; SLOTS]>,
    /// How many are in use.
    len: usize,
}

impl Slots {
    pub fn new() -> Self {
        Self { all: Box::new([Slot::Value(0); SLOTS]), len: 0 }
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    pub fn top(&self) -> Option<Slot> {
        self.all[..self.len].last().copied()
    }

    /// Takes all elements, the bottom first.
    pub fn take(&mut self) -> &[Slot] {
        &self.all[..core::mem::take(&mut self.len)]
    }
}

/// How far an expression was carried out.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Bytes from its start to the next operation.
    pub at: usize,
    /// Steps of the whole evaluation.
    pub steps: u64,
    /// The register of the last operation, if that was `DW_OP_reg*`.
    pub register: Option<Reg>,
    pub branches: Branches,
}

/// What does not change on the quick way.
#[derive(Clone, Copy)]
pub(super) struct Quick<'q> {
    pub machine: &'q dyn Machine,
    pub target: &'q dyn Architecture,
    pub encoding: &'q Encoding,
    pub frame: u32,
    pub place: Where,
    pub is_frame_base: bool,
    /// How many more calls deep it may go.
    pub depth: u32,
    /// How many steps the whole evaluation may take.
    pub max_steps: u64,
    /// How many elements may be on the stack.
    pub room: usize,
}

/// An expression, as far as it was carried out.
struct Lane<'l> {
    expr: &'l [u8],
    /// Bytes from its start to what is read next.
    at: usize,
    slots: &'l mut [Slot; SLOTS],
    len: usize,
    /// Where this expression's part of the stack starts.
    base: usize,
    room: usize,
    /// Bits of 64 that the generic type does not have.
    unused: u32,
    steps: u64,
    /// Where the last operation ends, if it was `DW_OP_reg*`.
    register_end: usize,
    /// Whether numbers in memory have their most significant byte first, if the default space is known to be
    /// [flat](Quick::flat).
    flat: Option<bool>,
}

impl Quick<'_> {
    /// Carries out operations as long as it can, from where the progress is, on a stack that is empty. Says
    /// whether the expression is done.
    pub fn run(&self, expr: &[u8], slots: &mut Slots, progress: &mut Progress) -> bool {
        let bits = self.address_bits();
        if !(1..=64).contains(&bits) {
            return false;
        }
        let mut lane = Lane {
            expr,
            at: progress.at,
            slots: &mut slots.all,
            len: 0,
            base: 0,
            room: self.room.min(SLOTS),
            unused: 64 - bits,
            steps: progress.steps,
            register_end: usize::MAX,
            flat: None,
        };
        let is_done = self.operations(&mut lane, &mut progress.branches);
        if lane.steps != progress.steps {
            progress.register = lane.last_register();
        }
        (progress.at, progress.steps, slots.len) = (lane.at, lane.steps, lane.len);
        is_done
    }

    #[inline(always)]
    fn operations(&self, lane: &mut Lane<'_>, branches: &mut Branches) -> bool {
        loop {
            let (at, len, steps) = (lane.at, lane.len, lane.steps);
            let Some(&code) = lane.expr.get(at) else { return true };
            if steps >= self.max_steps {
                return false;
            }
            (lane.at, lane.steps) = (at + 1, steps + 1);
            if self.operation(code, lane, branches).is_none() {
                (lane.at, lane.len, lane.steps) = (at, len, steps);
                return false;
            }
        }
    }

    /// Carries out one operation. If it cannot, that is `None`, and no element of the stack was changed.
    #[inline(always)]
    fn operation(&self, code: u8, lane: &mut Lane<'_>, branches: &mut Branches) -> Option<()> {
        let opcode = OPCODES[usize::from(code)]?;
        let unused = lane.unused;
        let signed = |number: u64| ((number << unused) as i64) >> unused;
        match opcode.name {
            Name::ConstU | Name::ConstS => {
                let number = match opcode.operand {
                    Operand::Is(number) => number.into(),
                    Operand::Unsigned(bytes) => self.fixed(lane, bytes)?,
                    Operand::Signed(bytes) => sign_extended(self.fixed(lane, bytes)?, bytes),
                    Operand::Follows if opcode.name == Name::ConstU => lane.uleb()?,
                    Operand::Follows => lane.sleb()? as u64,
                };
                lane.push_value(number)
            }

            Name::Drop => lane.pop().map(drop),
            Name::Pick => {
                let index = match opcode.operand {
                    Operand::Is(index) => index,
                    _ => lane.byte()?,
                };
                let at = lane.len.checked_sub(usize::from(index) + 1).filter(|&at| at >= lane.base)?;
                lane.push(lane.slots[at % SLOTS])
            }
            Name::Swap => lane.rotate::<2>(),
            Name::Rot => lane.rotate::<3>(),

            Name::And => lane.binary(|a, b| Some(a & b)),
            Name::Div => lane.binary(|a, b| match signed(b) {
                0 => None,
                b => Some(signed(a).wrapping_div(b) as u64),
            }),
            Name::Minus => lane.binary(|a, b| Some(a.wrapping_sub(b))),
            Name::Mod => lane.binary(u64::checked_rem),
            Name::Mul => lane.binary(|a, b| Some(a.wrapping_mul(b))),
            Name::Or => lane.binary(|a, b| Some(a | b)),
            Name::Plus => lane.binary(|a, b| Some(a.wrapping_add(b))),
            Name::Shl => lane.binary(|a, b| Some(if b < 64 { a << b } else { 0 })),
            Name::Shr => lane.binary(|a, b| Some(if b < 64 { a >> b } else { 0 })),
            Name::Shra => lane.binary(|a, b| Some((signed(a) >> b.min(63)) as u64)),
            Name::Xor => lane.binary(|a, b| Some(a ^ b)),
            Name::Abs => lane.unary(|a| signed(a).unsigned_abs()),
            Name::Neg => lane.unary(u64::wrapping_neg),
            Name::Not => lane.unary(|a| !a),
            Name::PlusUconst => {
                let number = lane.uleb()?;
                lane.unary(|a| a.wrapping_add(number))
            }
            Name::Eq => lane.binary(|a, b| Some((a == b).into())),
            Name::Ge => lane.binary(|a, b| Some((signed(a) >= signed(b)).into())),
            Name::Gt => lane.binary(|a, b| Some((signed(a) > signed(b)).into())),
            Name::Le => lane.binary(|a, b| Some((signed(a) <= signed(b)).into())),
            Name::Lt => lane.binary(|a, b| Some((signed(a) < signed(b)).into())),
            Name::Ne => lane.binary(|a, b| Some((a != b).into())),

            Name::Nop => Some(()),
            Name::Skip => {
                let by = self.fixed(lane, 2)? as i16;
                self.branch(lane, branches, by)
            }
            Name::Bra => {
                let by = self.fixed(lane, 2)? as i16;
                match lane.pop_number()? {
                    0 => Some(()),
                    _ => self.branch(lane, branches, by),
                }
            }

            Name::Addr => {
                let address = self.fixed(lane, self.encoding.address_bytes)?;
                self.push_memory(lane, address)
            }
            Name::BregX => {
                let reg = self.reg(lane, opcode.operand)?;
                let by = lane.sleb()?;
                let address = self.contents(lane, reg)?;
                self.push_memory(lane, address.wrapping_add(by as u64))
            }
            Name::FbReg => {
                let by = lane.sleb()?;
                let base = self.frame_base(lane)?;
                // A location that leaves its storage is a fault, not an address at the other end.
                let address = base.checked_add_signed(by).filter(|&address| address <= u64::MAX >> unused)?;
                lane.push(Slot::Memory(address))
            }
            Name::CallFrameCfa => {
                self.is_allowed(opcode.name)?;
                self.flat(lane)?;
                let address = self.address(&self.machine.cfa(self.frame)?)?;
                lane.push(Slot::Memory(address))
            }
            Name::Deref => self.deref(lane, self.encoding.address_bytes),
            Name::DerefSize => {
                let bytes = lane.byte()?;
                self.deref(lane, bytes)
            }

            Name::RegX => {
                let reg = self.reg(lane, opcode.operand)?;
                let bits = self.register_bits(reg)?;
                lane.push(Slot::Register(bits, reg))?;
                lane.register_end = lane.at;
                Some(())
            }
            Name::StackValue => {
                let number = lane.pop_number()?;
                lane.push(Slot::Implicit(number))
            }
            _ => None,
        }
    }

    // Operands.

    #[inline(always)]
    fn fixed(&self, lane: &mut Lane<'_>, len: u8) -> Option<u64> {
        let len = usize::from(len);
        let bytes = lane.expr.get(lane.at..)?.get(..len)?;
        lane.at += len;
        let mut all = [0; 8];
        Some(match self.encoding.big_endian {
            false => {
                all[..len].copy_from_slice(bytes);
                u64::from_le_bytes(all)
            }
            true => {
                all[8 - len..].copy_from_slice(bytes);
                u64::from_be_bytes(all)
            }
        })
    }

    #[inline(always)]
    fn reg(&self, lane: &mut Lane<'_>, operand: Operand) -> Option<Reg> {
        match operand {
            Operand::Is(number) => Some(Reg(number.into())),
            _ => lane.uleb().map(Reg),
        }
    }

    // Branches.

    #[inline(always)]
    fn branch(&self, lane: &mut Lane<'_>, branches: &mut Branches, by: i16) -> Option<()> {
        let (to, steps) = branches.target(lane.expr, self.encoding, lane.at, by).ok()?;
        lane.steps = lane.steps.saturating_add(steps);
        (lane.at, lane.register_end) = (to, usize::MAX);
        (lane.steps <= self.max_steps).then_some(())
    }

    // The machine.

    /// Of the operations that only some expressions may have.
    fn is_allowed(&self, name: Name) -> Option<()> {
        (self.place == Where::Location || !is_not_for_cfi(name)).then_some(())
    }

    /// The size of a register of the innermost frame. Those of other frames are anywhere.
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        if self.frame != 0 {
            return None;
        }
        self.target.register_bits(reg)
    }

    /// Makes sure that an address of the default space is as large as a value of the generic type, and that all
    /// lanes share the memory. Says whether numbers have their most significant byte first.
    #[inline(always)]
    fn flat(&self, lane: &mut Lane<'_>) -> Option<bool> {
        if lane.flat.is_none() {
            lane.flat = self.find_flat();
        }
        lane.flat
    }

    fn find_flat(&self) -> Option<bool> {
        let layout = self.target.space(SpaceId::DEFAULT)?;
        let is_flat = layout.address_bits == self.address_bits() && layout.per != Per::Lane;
        is_flat.then(|| self.machine.is_big_endian())
    }

    fn address_bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }

    #[inline(always)]
    fn push_memory(&self, lane: &mut Lane<'_>, address: u64) -> Option<()> {
        self.flat(lane)?;
        lane.push(Slot::Memory(address & lane.mask()))
    }

    /// The address in a register.
    #[inline(always)]
    fn contents(&self, lane: &mut Lane<'_>, reg: Reg) -> Option<u64> {
        let big_endian = self.flat(lane)?;
        let bits = self.register_bits(reg)?;
        if bits < self.address_bits() {
            return None;
        }
        let read = |bytes: &mut [u8]| self.machine.register(reg, 0, 0, bytes).ok();
        number(self.encoding.address_bytes, big_endian, read)
    }

    #[inline(always)]
    fn deref(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<()> {
        if bytes == 0 || bytes > self.encoding.address_bytes {
            return None;
        }
        let big_endian = self.flat(lane)?;
        let address = lane.pop_number()?;
        if address > lane.mask() - u64::from(bytes - 1) {
            return None;
        }
        let read = |into: &mut [u8]| self.machine.memory(SpaceId::DEFAULT, None, address, into).ok();
        let number = number(bytes, big_endian, read)?;
        lane.push_value(number)
    }

    /// The address that the location is, if it is a byte of the default space and nothing else.
    fn address(&self, location: &Location) -> Option<u64> {
        match location.single()?.storage {
            Storage::Memory { address_bits, .. } if address_bits == self.address_bits() => {
                location.default_address()
            }
            _ => None,
        }
    }

    /// The address of the frame base.
    fn frame_base(&self, lane: &mut Lane<'_>) -> Option<u64> {
        self.is_allowed(Name::FbReg)?;
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let Body::Expression(expr) = self.machine.frame_base(self.frame) else { return None };
        self.flat(lane)?;
        let mut inner = Lane {
            expr,
            at: 0,
            base: lane.len,
            slots: &mut *lane.slots,
            register_end: usize::MAX,
            ..*lane
        };
        let within = Self { is_frame_base: true, depth: self.depth - 1, ..*self };
        if !within.nested(&mut inner) {
            return None;
        }
        let top = inner.top()?;
        let (steps, register) = (inner.steps, inner.last_register());
        lane.steps = steps;
        match (top, register) {
            (_, Some(reg)) => self.contents(lane, reg),
            (Slot::Value(address) | Slot::Memory(address), None) => Some(address),
            _ => None,
        }
    }

    #[inline(never)]
    fn nested(&self, lane: &mut Lane<'_>) -> bool {
        self.operations(lane, &mut Branches::default())
    }

    // Results.

    /// The location that an element is, as the result of an expression.
    #[inline(always)]
    pub fn location(&self, slot: Slot) -> Option<Location> {
        Some(match slot {
            Slot::Value(address) => {
                self.find_flat()?;
                Location::memory(SpaceId::DEFAULT, self.address_bits(), address)
            }
            Slot::Memory(address) => Location::memory(SpaceId::DEFAULT, self.address_bits(), address),
            Slot::Register(bits, reg) => Location::register(reg, bits),
            Slot::Implicit(number) => implicit(number, self.encoding, self.machine.is_big_endian()),
        })
    }

    /// The value that an element is, as the result of an expression.
    #[inline(always)]
    pub fn value(&self, slot: Slot) -> Option<Value> {
        match slot {
            Slot::Value(number) | Slot::Memory(number) => {
                Some(Value::generic(number, self.encoding.address_bytes))
            }
            _ => None,
        }
    }
}

impl Slot {
    /// The element as the rest of the evaluator has it.
    pub fn element(self, encoding: &Encoding, big_endian: bool) -> Element {
        let address_bytes = encoding.address_bytes;
        match self {
            Self::Value(number) => Element::Value(Value::generic(number, address_bytes)),
            Self::Memory(address) => {
                let bits = u32::from(address_bytes) * 8;
                Element::Location(Location::memory(SpaceId::DEFAULT, bits, address))
            }
            Self::Register(bits, reg) => Element::Location(Location::register(reg, bits)),
            Self::Implicit(number) => Element::Location(implicit(number, encoding, big_endian)),
        }
    }
}

/// Where a value of the generic type is, if it stands nowhere.
fn implicit(number: u64, encoding: &Encoding, big_endian: bool) -> Location {
    let len = usize::from(encoding.address_bytes);
    let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
    let bytes = if big_endian { &big[8 - len..] } else { &little[..len] };
    Location::implicit(bytes)
}

/// The number in so many bytes, at most 8, that `read` reads.
#[inline(always)]
fn number(len: u8, big_endian: bool, read: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<u64> {
    let len = usize::from(len.min(8));
    let mut bytes = [0; 8];
    Some(match big_endian {
        false => {
            read(&mut bytes[..len])?;
            u64::from_le_bytes(bytes)
        }
        true => {
            read(&mut bytes[8 - len..])?;
            u64::from_be_bytes(bytes)
        }
    })
}

impl Lane<'_> {
    fn mask(&self) -> u64 {
        u64::MAX >> self.unused
    }

    fn last_register(&self) -> Option<Reg> {
        match self.top() {
            Some(Slot::Register(_, reg)) if self.register_end == self.at => Some(reg),
            _ => None,
        }
    }

    // Operands. Numbers that are padded beyond all need are not for the quick way.

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline(always)]
    fn uleb(&mut self) -> Option<u64> {
        let (value, end) = read_uleb(self.expr, self.at)?;
        let len = end - core::mem::replace(&mut self.at, end);
        (len <= 10).then_some(value)
    }

    #[inline(always)]
    fn sleb(&mut self) -> Option<i64> {
        let (value, end) = read_sleb(self.expr, self.at)?;
        let len = end - core::mem::replace(&mut self.at, end);
        (len <= 10).then_some(value)
    }

    // The stack.

    #[inline(always)]
    fn push(&mut self, slot: Slot) -> Option<()> {
        if self.len >= self.room {
            return None;
        }
        self.slots[self.len % SLOTS] = slot;
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    fn push_value(&mut self, number: u64) -> Option<()> {
        self.push(Slot::Value(number & self.mask()))
    }

    #[inline(always)]
    fn top(&self) -> Option<Slot> {
        (self.len > self.base).then(|| self.slots[(self.len - 1) % SLOTS])
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Slot> {
        let top = self.top()?;
        self.len -= 1;
        Some(top)
    }

    /// A value, or an address that converts to one.
    #[inline(always)]
    fn pop_number(&mut self) -> Option<u64> {
        match self.pop()? {
            Slot::Value(number) | Slot::Memory(number) => Some(number),
            _ => None,
        }
    }

    /// Makes the top element the last of the `N` topmost.
    #[inline(always)]
    fn rotate<const N: usize>(&mut self) -> Option<()> {
        if self.len < self.base + N {
            return None;
        }
        let at = |index: usize| (self.len - 1 - index) % SLOTS;
        let top = self.slots[at(0)];
        for index in 1..N {
            self.slots[at(index - 1)] = self.slots[at(index)];
        }
        self.slots[at(N - 1)] = top;
        Some(())
    }

    #[inline(always)]
    fn unary(&mut self, calculate: impl FnOnce(u64) -> u64) -> Option<()> {
        let number = self.pop_number()?;
        self.push_value(calculate(number))
    }

    #[inline(always)]
    fn binary(&mut self, calculate: impl FnOnce(u64, u64) -> Option<u64>) -> Option<()> {
        let right = self.pop_number()?;
        let left = self.pop_number()?;
        self.push_value(calculate(left, right)?)
    }
}
