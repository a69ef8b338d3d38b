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
use crate::op::{Encoding, Name, OPERANDS, OPERATIONS, Operand, Reg, read_sleb, read_uleb, sign_extended};
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
#[derive(Debug, Clone, Default)]
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

/// An expression, as far as it was carried out. All that uses it is inlined, so that it is in registers.
struct Lane<'l> {
    expr: &'l [u8],
    /// Bytes from its start to the operation.
    at: usize,
    /// Bytes from its start to what is read next.
    next: usize,
    /// The stack from the expression's own part on.
    slots: &'l mut [Slot],
    len: usize,
    /// The bits of 64 that the generic type has.
    mask: u64,
    /// How many steps are left.
    steps: u64,
    /// Where the last operation ends, if it was `DW_OP_reg*`.
    register_end: usize,
    flat: Flat,
}

/// Whether an address of the default space is as large as a value of the generic type, and all lanes share the
/// memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flat {
    Unknown,
    No,
    /// It is; and whether numbers have their most significant byte first.
    Yes {
        big_endian: bool,
    },
}

impl Quick<'_> {
    /// Carries out operations as long as it can, from where the progress is, on a stack that is empty. Says
    /// whether the expression is done.
    pub fn run(&self, expr: &[u8], slots: &mut Slots, progress: &mut Progress) -> bool {
        let room = self.room.min(SLOTS);
        let (is_done, len) = self.operations(expr, &mut slots.all[..room], progress);
        slots.len = len;
        is_done
    }

    /// As [`run`](Self::run). Comes with how many elements are then on the stack.
    fn operations(&self, expr: &[u8], slots: &mut [Slot], progress: &mut Progress) -> (bool, usize) {
        let bits = self.address_bits();
        if !(1..=64).contains(&bits) {
            return (false, 0);
        }
        let steps = self.max_steps.saturating_sub(progress.steps);
        let mut lane = Lane {
            expr,
            at: progress.at,
            next: progress.at,
            slots,
            len: 0,
            mask: u64::MAX >> (64 - bits),
            steps,
            register_end: usize::MAX,
            flat: Flat::Unknown,
        };
        let is_done = loop {
            let Some(&code) = expr.get(lane.at) else { break true };
            lane.next = lane.at + 1;
            if lane.steps == 0 || self.operation(code, &mut lane, &mut progress.branches).is_none() {
                break false;
            }
            lane.at = lane.next;
            lane.steps -= 1;
        };
        if lane.steps != steps {
            progress.register = match lane.slots[..lane.len].last() {
                Some(&Slot::Register(_, reg)) if lane.register_end == lane.at => Some(reg),
                _ => None,
            };
        }
        progress.at = lane.at;
        progress.steps += steps - lane.steps;
        (is_done, lane.len)
    }

    /// Carries out one operation. If it cannot, that is `None`, and the stack and the steps are as before.
    #[inline(always)]
    fn operation(&self, code: u8, lane: &mut Lane<'_>, branches: &mut Branches) -> Option<()> {
        let operand = || OPERANDS[usize::from(code)];
        let unused = lane.mask.leading_zeros();
        let signed = |number: u64| ((number << unused) as i64) >> unused;
        match OPERATIONS[usize::from(code)] {
            Some(Name::ConstU) => {
                let number = match operand() {
                    Operand::Is(number) => number.into(),
                    Operand::Unsigned(bytes) => self.fixed(lane, bytes)?,
                    _ => lane.uleb()?,
                };
                lane.push_value(number)
            }
            Some(Name::ConstS) => {
                let number = match operand() {
                    Operand::Signed(bytes) => sign_extended(self.fixed(lane, bytes)?, bytes),
                    _ => lane.sleb()? as u64,
                };
                lane.push_value(number)
            }

            Some(Name::Drop) => {
                lane.len = lane.len.checked_sub(1)?;
                Some(())
            }
            Some(Name::Pick) => {
                let index = match operand() {
                    Operand::Is(index) => index,
                    _ => lane.byte()?,
                };
                let at = lane.len.checked_sub(usize::from(index) + 1)?;
                lane.push(*lane.slots.get(at)?)
            }
            Some(Name::Swap) => lane.topmost::<2>().map(|top| top.rotate_right(1)),
            Some(Name::Rot) => lane.topmost::<3>().map(|top| top.rotate_right(1)),

            Some(Name::And) => lane.binary(|a, b| Some(a & b)),
            Some(Name::Div) => lane.binary(|a, b| match signed(b) {
                0 => None,
                b => Some(signed(a).wrapping_div(b) as u64),
            }),
            Some(Name::Minus) => lane.binary(|a, b| Some(a.wrapping_sub(b))),
            Some(Name::Mod) => lane.binary(u64::checked_rem),
            Some(Name::Mul) => lane.binary(|a, b| Some(a.wrapping_mul(b))),
            Some(Name::Or) => lane.binary(|a, b| Some(a | b)),
            Some(Name::Plus) => lane.binary(|a, b| Some(a.wrapping_add(b))),
            Some(Name::Shl) => lane.binary(|a, b| Some(if b < 64 { a << b } else { 0 })),
            Some(Name::Shr) => lane.binary(|a, b| Some(if b < 64 { a >> b } else { 0 })),
            Some(Name::Shra) => lane.binary(|a, b| Some((signed(a) >> b.min(63)) as u64)),
            Some(Name::Xor) => lane.binary(|a, b| Some(a ^ b)),
            Some(Name::Abs) => lane.unary(|a| signed(a).unsigned_abs()),
            Some(Name::Neg) => lane.unary(u64::wrapping_neg),
            Some(Name::Not) => lane.unary(|a| !a),
            Some(Name::PlusUconst) => {
                let number = lane.uleb()?;
                lane.unary(|a| a.wrapping_add(number))
            }
            Some(Name::Eq) => lane.binary(|a, b| Some((a == b).into())),
            Some(Name::Ge) => lane.binary(|a, b| Some((signed(a) >= signed(b)).into())),
            Some(Name::Gt) => lane.binary(|a, b| Some((signed(a) > signed(b)).into())),
            Some(Name::Le) => lane.binary(|a, b| Some((signed(a) <= signed(b)).into())),
            Some(Name::Lt) => lane.binary(|a, b| Some((signed(a) < signed(b)).into())),
            Some(Name::Ne) => lane.binary(|a, b| Some((a != b).into())),

            Some(Name::Nop) => Some(()),
            Some(Name::Skip) => {
                let by = self.fixed(lane, 2)? as i16;
                self.branch(lane, branches, by)
            }
            Some(Name::Bra) => {
                let by = self.fixed(lane, 2)? as i16;
                let [top] = *lane.topmost()?;
                if top.number()? != 0 {
                    self.branch(lane, branches, by)?;
                }
                lane.len -= 1;
                Some(())
            }

            Some(Name::Addr) => {
                let address = self.fixed(lane, self.encoding.address_bytes)?;
                self.push_memory(lane, address)
            }
            Some(Name::BregX) => {
                let reg = self.reg(lane, operand())?;
                let by = lane.sleb()?;
                let big_endian = self.flat(lane)?;
                let address = self.contents(reg, big_endian)?;
                self.push_memory(lane, address.wrapping_add(by as u64))
            }
            Some(Name::FbReg) => {
                let by = lane.sleb()?;
                let (big_endian, mut steps) = (self.flat(lane)?, lane.steps);
                let base = self.frame_base(lane.slots.get_mut(lane.len..)?, big_endian, &mut steps)?;
                // A location that leaves its storage is a fault, not an address at the other end.
                let address = base.checked_add_signed(by).filter(|&address| address <= lane.mask)?;
                lane.push(Slot::Memory(address))?;
                lane.steps = steps;
                Some(())
            }
            Some(Name::CallFrameCfa) => {
                self.flat(lane)?;
                let address = self.cfa()?;
                lane.push(Slot::Memory(address))
            }
            Some(Name::Deref) => self.deref(lane, self.encoding.address_bytes),
            Some(Name::DerefSize) => {
                let bytes = lane.byte()?;
                self.deref(lane, bytes)
            }

            Some(Name::RegX) => {
                let reg = self.reg(lane, operand())?;
                let bits = self.register_bits(reg)?;
                lane.push(Slot::Register(bits, reg))?;
                lane.register_end = lane.next;
                Some(())
            }
            Some(Name::StackValue) => {
                let [top] = lane.topmost()?;
                *top = Slot::Implicit(top.number()?);
                Some(())
            }
            _ => None,
        }
    }

    // Operands.

    #[inline(always)]
    fn fixed(&self, lane: &mut Lane<'_>, len: u8) -> Option<u64> {
        let len = usize::from(len);
        let bytes = lane.expr.get(lane.next..)?.get(..len)?;
        lane.next += len;
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
        let (to, steps) = branches.target(lane.expr, self.encoding, lane.next, by).ok()?;
        if steps > 0 {
            // One is for the operation itself.
            lane.steps = lane.steps.checked_sub(steps).filter(|&left| left > 0)?;
        }
        (lane.next, lane.register_end) = (to, usize::MAX);
        Some(())
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

    /// Makes sure that the default space is [flat](Flat). Says whether numbers have their most significant byte
    /// first.
    #[inline(always)]
    fn flat(&self, lane: &mut Lane<'_>) -> Option<bool> {
        if lane.flat == Flat::Unknown {
            lane.flat = self.find_flat();
        }
        match lane.flat {
            Flat::Yes { big_endian } => Some(big_endian),
            _ => None,
        }
    }

    #[inline(never)]
    fn find_flat(&self) -> Flat {
        match self.target.space(SpaceId::DEFAULT) {
            Some(space) if space.address_bits == self.address_bits() && space.per != Per::Lane => {
                Flat::Yes { big_endian: self.machine.is_big_endian() }
            }
            _ => Flat::No,
        }
    }

    fn address_bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }

    #[inline(always)]
    fn push_memory(&self, lane: &mut Lane<'_>, address: u64) -> Option<()> {
        self.flat(lane)?;
        lane.push(Slot::Memory(address & lane.mask))
    }

    /// The address in a register.
    #[inline(never)]
    fn contents(&self, reg: Reg, big_endian: bool) -> Option<u64> {
        if self.register_bits(reg)? < self.address_bits() {
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
        let [top] = *lane.topmost()?;
        let address = top.number()?;
        if address > lane.mask - u64::from(bytes - 1) {
            return None;
        }
        let number = self.memory(address, bytes, big_endian)?;
        let [top] = lane.topmost()?;
        *top = Slot::Value(number);
        Some(())
    }

    #[inline(never)]
    fn memory(&self, address: u64, bytes: u8, big_endian: bool) -> Option<u64> {
        let read = |into: &mut [u8]| self.machine.memory(SpaceId::DEFAULT, None, address, into).ok();
        number(bytes, big_endian, read)
    }

    /// The canonical frame address, if it is a byte of the default space and nothing else.
    #[inline(never)]
    fn cfa(&self) -> Option<u64> {
        self.is_allowed(Name::CallFrameCfa)?;
        let location = self.machine.cfa(self.frame)?;
        match location.single()?.storage {
            Storage::Memory { address_bits, .. } if address_bits == self.address_bits() => {
                location.default_address()
            }
            _ => None,
        }
    }

    /// The address of the frame base. The stack is for its expression.
    #[inline(never)]
    fn frame_base(&self, slots: &mut [Slot], big_endian: bool, steps: &mut u64) -> Option<u64> {
        self.is_allowed(Name::FbReg)?;
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let Body::Expression(expr) = self.machine.frame_base(self.frame) else { return None };
        // One is for the operation itself.
        let max_steps = *steps - 1;
        let within = Self { is_frame_base: true, depth: self.depth - 1, max_steps, ..*self };
        let mut progress = Progress::default();
        let (true, len) = within.operations(expr, slots, &mut progress) else { return None };
        *steps -= progress.steps;
        match (progress.register, slots[..len].last()?) {
            (Some(reg), _) => self.contents(reg, big_endian),
            (None, &(Slot::Value(address) | Slot::Memory(address))) => Some(address),
            _ => None,
        }
    }

    // Results.

    /// The location that an element is, as the result of an expression.
    #[inline(always)]
    pub fn location(&self, slot: Slot) -> Option<Location> {
        Some(match slot {
            Slot::Value(address) => {
                if self.find_flat() == Flat::No {
                    return None;
                }
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
    /// A value, or an address that converts to one.
    #[inline(always)]
    fn number(self) -> Option<u64> {
        match self {
            Self::Value(number) | Self::Memory(number) => Some(number),
            _ => None,
        }
    }

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
    // Operands. Numbers that are padded beyond all need are not for the quick way.

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    #[inline(always)]
    fn uleb(&mut self) -> Option<u64> {
        let (value, end) = read_uleb(self.expr, self.next)?;
        let len = end - core::mem::replace(&mut self.next, end);
        (len <= 10).then_some(value)
    }

    #[inline(always)]
    fn sleb(&mut self) -> Option<i64> {
        let (value, end) = read_sleb(self.expr, self.next)?;
        let len = end - core::mem::replace(&mut self.next, end);
        (len <= 10).then_some(value)
    }

    // The stack.

    #[inline(always)]
    fn push(&mut self, slot: Slot) -> Option<()> {
        *self.slots.get_mut(self.len)? = slot;
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    fn push_value(&mut self, number: u64) -> Option<()> {
        self.push(Slot::Value(number & self.mask))
    }

    /// The topmost elements, the last the top.
    #[inline(always)]
    fn topmost<const N: usize>(&mut self) -> Option<&mut [Slot; N]> {
        self.slots.get_mut(..self.len)?.last_chunk_mut()
    }

    #[inline(always)]
    fn unary(&mut self, calculate: impl FnOnce(u64) -> u64) -> Option<()> {
        let mask = self.mask;
        let [top] = self.topmost()?;
        *top = Slot::Value(calculate(top.number()?) & mask);
        Some(())
    }

    #[inline(always)]
    fn binary(&mut self, calculate: impl FnOnce(u64, u64) -> Option<u64>) -> Option<()> {
        let mask = self.mask;
        let [left, right] = self.topmost()?;
        *left = Slot::Value(calculate(left.number()?, right.number()?)? & mask);
        self.len -= 1;
        Some(())
    }
}
