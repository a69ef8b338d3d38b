//! Instructions that query the machine or the target. `None` marks a possible fault; nothing is changed then.

use super::super::context::ExpressionSite;
use super::super::location::{ImplicitBits, Location, SingleLocation, Storage};
use super::super::machine::Body;
use super::super::word;
use super::inputs::{Fast, Single, Whole};
use super::instruction::{Code, Instruction};
use super::opcode::FBREG;
use super::parts::Parts;
use super::stack::{Level, Numbers, Slots, Top, slot};
use crate::op::{OperationName, Reg};
use crate::target::{Per, SpaceId};

/// An address space other than the default space.
pub(super) struct Space {
    id: SpaceId,
    address_bits: u32,
    /// The current lane, where each lane has its own memory.
    lane: Option<u32>,
}

impl Space {
    /// Returns the largest address.
    pub fn last(&self) -> u64 {
        u64::MAX >> (64 - self.address_bits)
    }

    pub fn location(&self, address: u64) -> Location {
        let Self { id: space, address_bits, lane } = *self;
        let storage = Storage::Memory { space, address_bits, lane };
        SingleLocation { storage, offset: u128::from(address) * 8 }.into()
    }
}

impl Fast<'_> {
    /// Executes an instruction that queries the machine or the target. `inner` is the stack for a frame base. The top
    /// is passed by value, here and in functions below, so that it stays in the caller's registers.
    #[inline(always)]
    pub(super) fn query(
        &self,
        one: &Instruction,
        mut top: Top,
        numbers: &mut Numbers,
        inner: Option<&mut Level>,
        parts: &mut Parts,
    ) -> Option<Top> {
        let pushed = match one.code {
            Code::Based => self.based(one, one.operand)?,
            Code::Register => {
                self.register_bits(Reg(one.small.into()))?;
                0
            }
            Code::Address => one.operand.wrapping_add(self.machine.load_bias()) & self.mask,
            Code::FrameBase => {
                let (address, left) = self.frame_base_plus(one, top, inner, !parts.is_empty())?;
                top.left = left;
                address
            }
            Code::Cfa => self.cfa()?,
            Code::Deref => {
                top.number = self.word(top.number, one.bytes)?;
                return Some(top);
            }
            Code::PieceMemory | Code::PieceSpace | Code::PieceRegister | Code::PieceKnown => {
                self.piece(one, top.number, parts)?;
                top.pop(numbers);
                return Some(top);
            }
            _ => return self.other(one, top, numbers, parts),
        };
        top.push(numbers, pushed);
        Some(top)
    }

    /// Executes a less frequent instruction.
    #[inline(never)]
    fn other(
        &self,
        one: &Instruction,
        mut top: Top,
        numbers: &mut Numbers,
        parts: &mut Parts,
    ) -> Option<Top> {
        let number = top.number;
        match one.code {
            Code::Lane => {
                let lane = self.lane()? & self.mask;
                top.push(numbers, lane);
            }
            Code::ReadAt => top.number = self.read(one, number)?,
            Code::DerefSpace => top.number = self.word_in(one, number)?,
            Code::OffsetConst => top.number = self.moved(one, number, one.operand)?,
            Code::RegisterOffsetConst => top.number = self.moved_in_register(one, number, one.operand)?,
            Code::Offset | Code::RegisterOffset => {
                let from = *slot(numbers, top.height, 1);
                top.number = match one.code {
                    Code::Offset => self.moved(one, from, number)?,
                    _ => self.moved_in_register(one, from, number)?,
                };
                top.height -= 1;
            }
            Code::PieceNothing => parts.add(one.operand, Location::undefined),
            _ => return None,
        }
        Some(top)
    }

    /// Makes the top element a piece.
    #[inline(never)]
    fn piece(&self, one: &Instruction, number: u64, parts: &mut Parts) -> Option<()> {
        match one.code {
            Code::PieceMemory => self.memory_piece(one.operand, number, parts),
            Code::PieceSpace => self.space_piece(one, number, parts),
            Code::PieceRegister => self.register_piece(one, number, parts),
            Code::PieceKnown => {
                self.known_piece(one.operand, number, parts);
                Some(())
            }
            _ => None,
        }
    }

    /// Checks that an operation is allowed at the expression's position.
    #[inline(always)]
    pub(super) fn is_allowed(&self, name: OperationName) -> Option<()> {
        (self.place == ExpressionSite::Location || name.row().is_for_cfi).then_some(())
    }

    /// Returns a register's size, in the innermost frame. Registers in other frames can be at any location.
    #[inline(always)]
    pub(super) fn register_bits(&self, reg: Reg) -> Option<u32> {
        if self.frame != 0 {
            return None;
        }
        self.target.whole_register_bits(reg)
    }

    /// Whether default-space addresses have the generic type's size, and all lanes share that memory.
    #[inline(never)]
    pub(super) fn is_flat(&self) -> bool {
        self.target
            .space(SpaceId::DEFAULT)
            .is_some_and(|space| space.address_bits == self.address_bits() && space.per != Per::Lane)
    }

    /// Returns the address in a register.
    #[inline(always)]
    pub(super) fn contents(&self, reg: Reg) -> Option<u64> {
        if self.register_bits(reg)? < self.address_bits() {
            return None;
        }
        self.machine.register_word(reg, 0, self.encoding.address_bytes).ok()
    }

    /// Returns the address in a register plus an offset.
    #[inline(always)]
    pub(super) fn based(&self, one: &Instruction, by: u64) -> Option<u64> {
        Some(self.contents(Reg(one.small.into()))?.wrapping_add(by) & self.mask)
    }

    /// Returns the number in `bytes` bytes in the flat default space, from 1 up to the address size.
    #[inline(always)]
    pub(super) fn word(&self, address: u64, bytes: u8) -> Option<u64> {
        let mask = self.mask;
        // A read past the last address does not wrap around.
        if address > mask - u64::from(bytes - 1) {
            return None;
        }
        let word = self.machine.memory_word(SpaceId::DEFAULT, None, address, bytes).ok()?;
        Some(word & mask)
    }

    /// Returns the number in bytes in another space.
    fn word_in(&self, one: &Instruction, address: u64) -> Option<u64> {
        let space = self.space(SpaceId(one.small))?;
        if address > space.last().checked_sub(u64::from(one.bytes - 1))? {
            return None;
        }
        self.machine.memory_word(space.id, space.lane, address, one.bytes).ok()
    }

    /// Returns the number in a register's bytes, from a bit on.
    #[inline(always)]
    pub(super) fn read(&self, one: &Instruction, from: u64) -> Option<u64> {
        let reg = Reg(one.small.into());
        let bits = u64::from(one.bytes) * 8;
        // A read past the register's end is a fault.
        if u64::from(self.register_bits(reg)?) < from.checked_add(bits)? {
            return None;
        }
        match from {
            0 => self.machine.register_word(reg, 0, one.bytes).ok(),
            _ => self.read_inside(reg, from, one.bytes),
        }
    }

    #[inline(never)]
    fn read_inside(&self, reg: Reg, from: u64, bytes: u8) -> Option<u64> {
        let byte = u32::try_from(from / 8).ok().filter(|_| from.is_multiple_of(8))?;
        let mut word = [0; 8];
        self.machine.register(reg, 0, byte, word.get_mut(..bytes.into())?).ok()?;
        Some(u64::from_le_bytes(word))
    }

    /// Returns the canonical frame address, if it is a single byte in the default space.
    #[inline(never)]
    fn cfa(&self) -> Option<u64> {
        let location = self.machine.cfa(self.frame)?;
        match location.single()?.storage {
            Storage::Memory { address_bits, .. } if address_bits == self.address_bits() => {
                location.default_address()
            }
            _ => None,
        }
    }

    /// Returns the location at an offset from the frame base, for an expression with that operation alone.
    #[inline(always)]
    pub fn based_on_frame(&self, slots: &mut Slots, by: i64) -> Option<Whole> {
        let mask = self.mask;
        if mask == 0 || self.max_steps == 0 || !self.is_flat() {
            return None;
        }
        let mut steps = self.max_steps;
        let base = self.frame_base(&mut slots.levels[1], self.room, &mut steps)?;
        let address = base.checked_add_signed(by).filter(|&address| address <= mask)?;
        Some(Whole::Memory { address_bits: self.address_bits(), address })
    }

    /// Returns the address at an offset from the frame base, and how many steps are left.
    #[inline(never)]
    fn frame_base_plus(
        &self,
        one: &Instruction,
        top: Top,
        inner: Option<&mut Level>,
        is_above_composite: bool,
    ) -> Option<(u64, u64)> {
        // The composite and the elements share the stack limit with the frame base.
        let room = self.room.checked_sub(top.height + usize::from(is_above_composite))?;
        // One step is for the operation itself, which is counted.
        let mut steps = top.left.checked_add(1)?;
        let base = self.frame_base(inner?, room, &mut steps)?;
        let left = steps.checked_sub(1)?;
        // The full evaluator knows whether the address wraps in this dialect, or leaves its storage.
        let mask = self.mask;
        let address = base.checked_add_signed(one.operand as i64).filter(|&address| address <= mask)?;
        Some((address, left))
    }

    /// Returns the frame base's address. `level` is the stack for its expression.
    #[inline(never)]
    fn frame_base(&self, level: &mut Level, room: usize, steps: &mut u64) -> Option<u64> {
        self.is_allowed(OperationName::FbReg)?;
        // Both are faults, which `Run` reports.
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let base = self.machine.frame_base(self.frame)?;
        // A list depends on the pc, which `Run` looks up.
        let Body::Expression(expr) = base.body else { return None };
        // Operations that depend on the unit are not supported here, so the unit does not matter.
        if base.encoding.is_some_and(|encoding| encoding != *self.encoding) {
            return None;
        }
        // One step is for the operation itself.
        let max_steps = *steps - 1;
        if let Some(Single::Register(reg)) = Single::parse(expr, self.encoding)
            && max_steps > 0
            && room > 0
        {
            *steps -= 1;
            return self.contents(reg);
        }
        // Only the full evaluator distinguishes `DW_OP_fbreg`, which is not allowed here, from operand bytes.
        if expr.contains(&FBREG) {
            return None;
        }
        let within = Self { is_frame_base: true, depth: self.depth - 1, max_steps, room, pieces: 0, ..*self };
        within.number(expr, level, steps)
    }

    #[inline(never)]
    fn lane(&self) -> Option<u64> {
        let machine = self.machine;
        if !self.asks_lane {
            return None;
        }
        // A lane outside the wave is a fault.
        machine.lane().filter(|&lane| lane < machine.lanes())
    }

    /// Returns a space other than the default space.
    pub(super) fn space(&self, id: SpaceId) -> Option<Space> {
        let layout = self.target.space(id).filter(|layout| (1..=64).contains(&layout.address_bits))?;
        let lane = match layout.per {
            Per::Process | Per::Thread => None,
            Per::Lane => Some(self.lane()?.try_into().ok()?),
        };
        Some(Space { id, address_bits: layout.address_bits, lane })
    }

    /// Returns an address moved by a number of bytes.
    fn moved(&self, one: &Instruction, address: u64, by: u64) -> Option<u64> {
        let mask = self.mask;
        let last = match SpaceId(one.small) {
            SpaceId::DEFAULT => mask,
            space => self.space(space)?.last(),
        };
        let distance = word::signed(mask.leading_zeros(), by);
        address.checked_add_signed(distance).filter(|&address| address <= last)
    }

    /// Returns a register bit moved by a number of units.
    fn moved_in_register(&self, one: &Instruction, from: u64, by: u64) -> Option<u64> {
        let size = self.register_bits(Reg(one.small.into()))?;
        let distance = word::signed(self.mask.leading_zeros(), by).checked_mul(one.bytes.into())?;
        from.checked_add_signed(distance).filter(|&bit| bit < size.into())
    }

    #[inline(always)]
    pub(super) fn register_piece(&self, one: &Instruction, from: u64, parts: &mut Parts) -> Option<()> {
        add_register(one, self.register_bits(Reg(one.small.into()))?, from, parts)
    }

    /// Adds default-space memory as a piece with `bits` bits.
    #[inline(always)]
    pub(super) fn memory_piece(&self, bits: u64, address: u64, parts: &mut Parts) -> Option<()> {
        if !fits(bits, address, self.mask) {
            return None;
        }
        let address_bits = self.address_bits();
        parts.add(bits, || Location::memory(SpaceId::DEFAULT, address_bits, address));
        Some(())
    }

    /// Adds memory in another space as a piece.
    fn space_piece(&self, one: &Instruction, address: u64, parts: &mut Parts) -> Option<()> {
        let space = self.space(SpaceId(one.small))?;
        if !fits(one.operand, address, space.last()) {
            return None;
        }
        parts.add(one.operand, || space.location(address));
        Some(())
    }

    #[inline(always)]
    pub(super) fn known_piece(&self, bits: u64, number: u64, parts: &mut Parts) {
        let bytes = self.encoding.address_bytes;
        let big_endian = self.machine.is_big_endian();
        parts.add(bits, || implicit(number, bytes, big_endian));
    }

    /// Returns the implicit location for a generic-type value.
    pub(super) fn implicit(&self, number: u64) -> Location {
        implicit(number, self.encoding.address_bytes, self.machine.is_big_endian())
    }
}

/// Returns the implicit location for a number with `bytes` bytes, at most 8.
#[inline(always)]
fn implicit(number: u64, bytes: u8, big_endian: bool) -> Location {
    Storage::Implicit(ImplicitBits::number(number, bytes, big_endian)).into()
}

/// Adds a piece from a register with `size` bits, from a bit on.
#[inline(always)]
pub(super) fn add_register(one: &Instruction, size: u32, from: u64, parts: &mut Parts) -> Option<()> {
    if one.operand > u64::from(size).checked_sub(from)? {
        return None;
    }
    parts.add(one.operand, || register(one.small, size, from));
    Some(())
}

/// Returns the location at a register bit.
#[inline(always)]
pub(super) fn register(reg: u32, bits: u32, from: u64) -> Location {
    let storage = Storage::Register { reg: Reg(reg.into()), frame: 0, bits };
    SingleLocation { storage, offset: from.into() }.into()
}

/// Whether a piece with `bits` bits, which are whole bytes, ends at or before the last address.
#[inline(always)]
fn fits(bits: u64, address: u64, last: u64) -> bool {
    bits / 8 <= (last - address).saturating_add(1)
}
