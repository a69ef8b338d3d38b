//! The quick way: operations on numbers of the generic type, bytes of the default address space and whole
//! registers, which most expressions consist of, on a stack of their own.
//!
//! It never fails. Where it meets anything else, or what may be a fault, it stops before the operation, and
//! [`Run`](super::run::Run), which knows all operations and all rules, goes on from there. Both give the same
//! answers: a traced evaluation does not take the quick way, and a property test compares the two.

use super::branch::Branches;
use super::composite::Composite;
use super::location::{Location, Storage, memory_bits};
use super::machine::{Architecture, Body, Machine};
use super::ops::is_not_for_cfi;
use super::value::Value;
use super::{Element, Where};
use crate::op::{Dialect, Encoding, Name, OPERANDS, OPERATIONS, Operand, Reg, read_sleb, read_uleb, sign_extended};
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
    /// No element: what is below the lowest.
    Bottom,
}

/// How many elements the stack has at most.
const SLOTS: usize = 64;

/// The quick way's stack. Its room is kept from one evaluation to the next.
#[derive(Debug)]
pub(super) struct Slots {
    /// The first is no element.
    all: Box<[Slot; SLOTS + 1]>,
    /// How many are in use.
    len: usize,
    /// The parts of the composite that is being built below them, and their sizes in bits. Without an element a
    /// part is undefined.
    pieces: Vec<(Option<Slot>, u64)>,
}

impl Slots {
    pub fn new() -> Self {
        Self { all: Box::new([Slot::Bottom; SLOTS + 1]), len: 0, pieces: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.pieces.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.pieces.is_empty()
    }

    /// The composite below the elements, as far as it is built.
    pub fn composite(&self, encoding: &Encoding, big_endian: bool) -> Option<Composite> {
        let part = |&(slot, bits): &(Option<Slot>, u64)| match slot {
            Some(slot) => (slot.location(encoding, big_endian), bits),
            None => (Location::undefined(), bits),
        };
        (!self.pieces.is_empty()).then(|| Composite::of_simple(self.pieces.iter().map(part)))
    }

    /// The elements, the bottom first.
    pub fn elements(&self) -> &[Slot] {
        self.all.get(1..=self.len).unwrap_or_default()
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
    /// How many pieces a composite may have; 0 where none can be begun.
    pub pieces: usize,
}

/// An expression, as far as it was carried out. All that uses it is inlined, so that it is in registers.
struct Lane<'l> {
    expr: &'l [u8],
    /// Bytes from its start to the operation.
    at: usize,
    /// Bytes from its start to what is read next.
    next: usize,
    /// The stack from the expression's own part on: the first is none of its elements, and the last `top`.
    slots: &'l mut [Slot],
    top: Slot,
    /// How many elements there are.
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
    Yes { big_endian: bool },
}

impl Quick<'_> {
    /// Carries out operations as long as it can, from where the progress is, on a stack that is empty. Says
    /// whether the expression is done.
    pub fn run(&self, expr: &[u8], slots: &mut Slots, progress: &mut Progress) -> bool {
        let room = self.room.min(SLOTS);
        let (is_done, len) = self.operations(expr, &mut slots.all[..=room], &mut slots.pieces, progress);
        slots.len = len;
        is_done
    }

    /// As [`run`](Self::run). Comes with how many elements are then on the stack.
    fn operations(
        &self,
        expr: &[u8],
        slots: &mut [Slot],
        pieces: &mut Vec<(Option<Slot>, u64)>,
        progress: &mut Progress,
    ) -> (bool, usize) {
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
            top: Slot::Bottom,
            len: 0,
            mask: u64::MAX >> (64 - bits),
            steps,
            register_end: usize::MAX,
            flat: Flat::Unknown,
        };
        let is_done = loop {
            let Some(&code) = expr.get(lane.at) else { break true };
            lane.next = lane.at + 1;
            if lane.steps == 0 || self.operation(code, &mut lane, pieces, &mut progress.branches).is_none() {
                break false;
            }
            lane.at = lane.next;
            lane.steps -= 1;
        };
        if lane.steps != steps {
            progress.register = match lane.top {
                Slot::Register(_, reg) if lane.register_end == lane.at => Some(reg),
                _ => None,
            };
        }
        if let Some(place) = lane.slots.get_mut(lane.len) {
            *place = lane.top;
        }
        progress.at = lane.at;
        progress.steps += steps - lane.steps;
        (is_done, lane.len)
    }

    /// Carries out one operation. If it cannot, that is `None`, and the stack and the steps are as before.
    #[inline(always)]
    fn operation(
        &self,
        code: u8,
        lane: &mut Lane<'_>,
        pieces: &mut Vec<(Option<Slot>, u64)>,
        branches: &mut Branches,
    ) -> Option<()> {
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

            Some(Name::Drop) => lane.drop_top(),
            Some(Name::Pick) => {
                let index = match operand() {
                    Operand::Is(index) => index,
                    _ => lane.byte()?,
                };
                let picked = if index == 0 { lane.top } else { *lane.below(index.into())? };
                if let Slot::Bottom = picked {
                    return None;
                }
                lane.push(picked)
            }
            Some(Name::Swap) => {
                if lane.len < 2 {
                    return None;
                }
                let top = lane.top;
                lane.top = core::mem::replace(lane.below(1)?, top);
                Some(())
            }
            Some(Name::Rot) => {
                if lane.len < 3 {
                    return None;
                }
                let (third, top) = (*lane.below(2)?, lane.top);
                lane.top = core::mem::replace(lane.below(1)?, third);
                *lane.below(2)? = top;
                Some(())
            }

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
                let by = self.distance(lane)?;
                self.branch(lane, branches, by)
            }
            Some(Name::Bra) => {
                let by = self.distance(lane)?;
                if lane.number()? != 0 {
                    self.branch(lane, branches, by)?;
                }
                lane.drop_top()
            }

            Some(Name::Addr) => {
                let address = self.fixed(lane, self.encoding.address_bytes)?;
                self.push_memory(lane, address)
            }
            Some(Name::BregX) => {
                let reg = self.reg(lane, operand())?;
                let by = lane.sleb()?;
                self.flat(lane)?;
                let address = self.contents(reg)?;
                self.push_memory(lane, address.wrapping_add(by as u64))
            }
            Some(Name::FbReg) => {
                let by = lane.sleb()?;
                self.flat(lane)?;
                let mut steps = lane.steps;
                // The top is not in its place yet: the inner expression's stack starts there, and leaves it.
                let base = self.frame_base(lane.slots.get_mut(lane.len..)?, &mut steps)?;
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
                lane.top = Slot::Implicit(lane.number()?);
                Some(())
            }
            Some(Name::Piece) => {
                let bits = lane.uleb()?.checked_mul(8)?;
                self.flat(lane)?;
                let part = match lane.len {
                    0 => None,
                    1 => Some(lane.top),
                    _ => return None,
                };
                self.piece(part, bits, pieces)?;
                lane.len = 0;
                Some(())
            }
            _ => None,
        }
    }

    // Operands.

    #[inline(always)]
    fn fixed(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<u64> {
        let at = lane.next;
        lane.next += usize::from(bytes);
        match bytes {
            1 => Some((*lane.expr.get(at)?).into()),
            _ => fixed(lane.expr.get(at..)?, bytes, self.encoding.big_endian),
        }
    }

    #[inline(always)]
    fn distance(&self, lane: &mut Lane<'_>) -> Option<i16> {
        let bytes = *lane.expr.get(lane.next..)?.first_chunk()?;
        lane.next += bytes.len();
        Some(if self.encoding.big_endian { i16::from_be_bytes(bytes) } else { i16::from_le_bytes(bytes) })
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
    #[inline(never)]
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
    fn contents(&self, reg: Reg) -> Option<u64> {
        if self.register_bits(reg)? < self.address_bits() {
            return None;
        }
        let read = |bytes: &mut [u8]| self.machine.register(reg, 0, 0, bytes).ok();
        // A register's bytes come with the least significant first, on every machine.
        number(self.encoding.address_bytes, false, read)
    }

    #[inline(always)]
    fn deref(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<()> {
        if bytes == 0 || bytes > self.encoding.address_bytes {
            return None;
        }
        let big_endian = self.flat(lane)?;
        let address = lane.number()?;
        if address > lane.mask - u64::from(bytes - 1) {
            return None;
        }
        lane.top = Slot::Value(self.memory(address, bytes, big_endian)?);
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
        if self.encoding.dialect == Dialect::Dwarf6 {
            return None;
        }
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
    fn frame_base(&self, slots: &mut [Slot], steps: &mut u64) -> Option<u64> {
        self.is_allowed(Name::FbReg)?;
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let Body::Expression(expr) = self.machine.frame_base(self.frame) else { return None };
        // One is for the operation itself.
        let max_steps = *steps - 1;
        if let Some(reg) = alone(expr).filter(|_| max_steps > 0 && slots.len() > 1) {
            *steps -= 1;
            return self.contents(reg);
        }
        // Whether that is `DW_OP_fbreg`, which must not be there, the long way finds out.
        if expr.iter().any(|&code| OPERATIONS[usize::from(code)] == Some(Name::FbReg)) {
            return None;
        }
        let within = Self { is_frame_base: true, depth: self.depth - 1, max_steps, pieces: 0, ..*self };
        let mut progress = Progress::default();
        let (true, len) = within.operations(expr, slots, &mut Vec::new(), &mut progress) else { return None };
        *steps -= progress.steps;
        match progress.register {
            Some(reg) => self.contents(reg),
            None if len > 0 => slots.get(len)?.number(),
            None => None,
        }
    }

    /// Makes an element, or nothing, a part of the composite.
    #[inline(never)]
    fn piece(&self, slot: Option<Slot>, bits: u64, pieces: &mut Vec<(Option<Slot>, u64)>) -> Option<()> {
        let size = match slot {
            None => u64::MAX,
            Some(Slot::Register(bits, _)) => bits.into(),
            Some(Slot::Implicit(_)) => self.address_bits().into(),
            Some(Slot::Bottom) => return None,
            Some(Slot::Value(address) | Slot::Memory(address)) => {
                let all = memory_bits(self.address_bits());
                u64::try_from(all - u128::from(address) * 8).unwrap_or(u64::MAX)
            }
        };
        // Few and small pieces do not come near the size of the largest storage.
        let is_small = pieces.len() < self.pieces.min(SLOTS) && bits < 1 << 16 && self.address_bits() >= 32;
        if !is_small || bits > size || self.encoding.dialect == Dialect::Dwarf6 {
            return None;
        }
        pieces.push((slot, bits));
        Some(())
    }

    // Results.

    /// The location that an expression which is done results in.
    #[inline(always)]
    pub fn location(&self, slots: &Slots) -> Option<Location> {
        match *slots.elements() {
            [.., Slot::Value(_)] if self.find_flat() == Flat::No => None,
            [.., top @ (Slot::Value(_) | Slot::Memory(_) | Slot::Register(..))] => {
                Some(top.location(self.encoding, false))
            }
            _ => self.other_location(slots),
        }
    }

    #[inline(never)]
    fn other_location(&self, slots: &Slots) -> Option<Location> {
        let big_endian = self.machine.is_big_endian();
        if let Some(top) = slots.elements().last() {
            return Some(top.location(self.encoding, big_endian));
        }
        let mut composite = slots.composite(self.encoding, big_endian)?;
        composite.complete();
        Some(composite.into())
    }

    /// The value that an expression which is done results in.
    #[inline(always)]
    pub fn value(&self, slots: &Slots) -> Option<Value> {
        let number = slots.elements().last()?.number()?;
        Some(Value::generic(number, self.encoding.address_bytes))
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
        match self {
            Self::Value(number) => Element::Value(Value::generic(number, encoding.address_bytes)),
            slot => Element::Location(slot.location(encoding, big_endian)),
        }
    }

    /// The same as a location: a value is an address.
    #[inline(always)]
    fn location(self, encoding: &Encoding, big_endian: bool) -> Location {
        match self {
            Self::Value(address) | Self::Memory(address) => {
                Location::memory(SpaceId::DEFAULT, u32::from(encoding.address_bytes) * 8, address)
            }
            Self::Register(bits, reg) => Location::register(reg, bits),
            Self::Implicit(number) => implicit(number, encoding, big_endian),
            Self::Bottom => Location::undefined(),
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

/// The register, if that is all that the expression says.
#[inline(always)]
pub(super) fn alone(expr: &[u8]) -> Option<Reg> {
    let (&code, rest) = expr.split_first()?;
    if OPERATIONS[usize::from(code)] != Some(Name::RegX) {
        return None;
    }
    match OPERANDS[usize::from(code)] {
        Operand::Is(number) => rest.is_empty().then_some(Reg(number.into())),
        _ => long_uleb(rest).filter(|&(_, len)| len == rest.len()).map(|(number, _)| Reg(number)),
    }
}

/// The number in the first bytes, so many of them.
#[inline(never)]
fn fixed(from: &[u8], len: u8, big_endian: bool) -> Option<u64> {
    let bytes = from.get(..len.into())?;
    number(len, big_endian, |into| {
        into.copy_from_slice(bytes);
        Some(())
    })
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

#[inline(never)]
fn long_uleb(from: &[u8]) -> Option<(u64, usize)> {
    read_uleb(from, 0).filter(|&(_, len)| len <= 10)
}

#[inline(never)]
fn long_sleb(from: &[u8]) -> Option<(i64, usize)> {
    read_sleb(from, 0).filter(|&(_, len)| len <= 10)
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
        let byte = *self.expr.get(self.next)?;
        let (value, len) = if byte < 0x80 { (byte.into(), 1) } else { long_uleb(self.expr.get(self.next..)?)? };
        self.next += len;
        Some(value)
    }

    #[inline(always)]
    fn sleb(&mut self) -> Option<i64> {
        let byte = *self.expr.get(self.next)?;
        let (value, len) = match byte {
            ..0x80 => (((byte << 1) as i8 >> 1).into(), 1),
            _ => long_sleb(self.expr.get(self.next..)?)?,
        };
        self.next += len;
        Some(value)
    }

    // The stack.

    #[inline(always)]
    fn push(&mut self, slot: Slot) -> Option<()> {
        // The place for the new one has to be there too.
        let [place, _] = self.slots.get_mut(self.len..)?.first_chunk_mut()?;
        *place = core::mem::replace(&mut self.top, slot);
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    fn push_value(&mut self, number: u64) -> Option<()> {
        self.push(Slot::Value(number & self.mask))
    }

    #[inline(always)]
    fn drop_top(&mut self) -> Option<()> {
        self.len = self.len.checked_sub(1)?;
        self.top = *self.slots.get(self.len)?;
        Some(())
    }

    /// The element `index` below the top, which itself is not in its place; or the bottom.
    #[inline(always)]
    fn below(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(self.len.wrapping_sub(index))
    }

    /// The value on top, or the address that converts to one.
    #[inline(always)]
    fn number(&self) -> Option<u64> {
        self.top.number()
    }

    #[inline(always)]
    fn unary(&mut self, calculate: impl FnOnce(u64) -> u64) -> Option<()> {
        self.top = Slot::Value(calculate(self.number()?) & self.mask);
        Some(())
    }

    #[inline(always)]
    fn binary(&mut self, calculate: impl FnOnce(u64, u64) -> Option<u64>) -> Option<()> {
        let (left, right) = (self.below(1)?.number()?, self.top.number()?);
        self.top = Slot::Value(calculate(left, right)? & self.mask);
        self.len -= 1;
        Some(())
    }
}
