//! Operations on numbers that differ between lanes, for all lanes at once.
//!
//! None of these operations fails. A possible fault in any lane, or any operand other than a generic-type number, is
//! left to the evaluation lane by lane.

use core::ops::Deref;
use std::sync::Arc;

use super::super::context::ExpressionSite;
use super::super::lane_numbers::{LaneNumbers, Line, Table, lanes_of};
use super::super::location::{LanePlaces, Location, Storage};
use super::super::machine::Machine;
use super::super::stack::Element;
use super::super::value::Value;
use super::super::word::{self, Binary, Compare, Signs, Unary};
use super::run::WaveRun;
use crate::op::Op;
use crate::target::{Per, SpaceId};

/// A generic-type number.
enum Number<'n> {
    /// Equal in all lanes.
    Uniform(u64),
    Lanes(&'n LaneNumbers),
}

impl Number<'_> {
    fn varies(&self) -> bool {
        matches!(self, Self::Lanes(_))
    }

    /// Returns the number as an unsigned number, if it is linear.
    fn line(&self) -> Option<Line> {
        match self {
            Self::Uniform(number) => Line::constant(i64::try_from(*number).ok()?),
            Self::Lanes(LaneNumbers::Linear(line)) => Some(*line),
            Self::Lanes(LaneNumbers::Each(_)) => None,
        }
    }

    /// Returns the number in two's complement, if it is linear in some lanes. `unused` is how many of 64 bits are
    /// above the generic type.
    fn signed_line(&self, lanes: u64, unused: u32) -> Option<Line> {
        match self {
            Self::Uniform(number) => Line::constant(word::signed(unused, *number)),
            Self::Lanes(_) => self.line().filter(|line| line.is_within(lanes, i64::MAX as u64 >> unused)),
        }
    }

    fn table(&self) -> Operand {
        match self {
            Self::Uniform(number) => Operand::Table([*number; 64]),
            Self::Lanes(LaneNumbers::Each(numbers)) => Operand::Shared(numbers.clone()),
            Self::Lanes(numbers) => Operand::Table(numbers.table()),
        }
    }
}

/// A number for each lane.
#[allow(clippy::large_enum_variant, reason = "it is not stored")]
enum Operand {
    Table(Table),
    Shared(Arc<Table>),
}

impl Deref for Operand {
    type Target = Table;

    #[inline]
    fn deref(&self) -> &Table {
        match self {
            Self::Table(numbers) => numbers,
            Self::Shared(numbers) => numbers,
        }
    }
}

/// Distance in bits by which a location is moved in each lane.
#[allow(clippy::large_enum_variant, reason = "it is not stored")]
enum Distance {
    Linear(Line),
    Each([i64; 64]),
}

/// Limit for bit offsets that can be added without overflow.
const SMALL: u64 = 1 << 60;

impl WaveRun<'_, '_> {
    /// Executes an operation for all lanes at once. Returns false, without effect, if that is not supported.
    pub(super) fn at_once(&mut self, lanes: u64, op: &Op<'_>, varies: bool) -> bool {
        let has_room =
            self.run.steps < self.run.limits.steps && self.run.stack.len() < self.run.limits.stack as usize;
        // Call frame information does not allow all operations.
        let is_known = has_room && self.run.place == ExpressionSite::Location;
        let is_done = is_known && self.all_lanes(lanes, op, varies).is_some();
        if is_done {
            self.run.steps += 1;
            self.run.last_register = None;
        }
        is_done
    }

    fn all_lanes(&mut self, lanes: u64, op: &Op<'_>, varies: bool) -> Option<()> {
        match *op {
            Op::PushLane {} if self.is_wave(lanes) => {
                match self.push_line(lanes, 0, Some(Line::LANE)) {
                    Some(()) => {}
                    None => {
                        let mask = u64::MAX >> self.unused()?;
                        self.push_numbers(core::array::from_fn(|lane| lane as u64 & mask));
                    }
                }
                Some(())
            }
            Op::FormAspaceAddress {} => self.form_address(lanes),
            _ if !varies => None,

            Op::And {} => self.binary(lanes, Binary::And),
            Op::Div {} => self.binary(lanes, Binary::Div),
            Op::Minus {} => self.binary(lanes, Binary::Minus),
            Op::Mod {} => self.binary(lanes, Binary::Mod),
            Op::ModFloor {} => self.binary(lanes, Binary::ModFloor),
            Op::Mul {} => self.binary(lanes, Binary::Mul),
            Op::Or {} => self.binary(lanes, Binary::Or),
            Op::Plus {} => self.binary(lanes, Binary::Plus),
            Op::Shl {} => self.binary(lanes, Binary::Shl),
            Op::Shr {} => self.binary(lanes, Binary::Shr),
            Op::Shra {} => self.binary(lanes, Binary::Shra),
            Op::Xor {} => self.binary(lanes, Binary::Xor),
            Op::Abs {} => self.unary(Unary::Abs),
            Op::Neg {} => self.unary(Unary::Neg),
            Op::Not {} => self.unary(Unary::Not),
            Op::PlusUconst { value } => {
                let addend = Number::Uniform(value & u64::MAX >> self.unused()?);
                let line =
                    self.number(0)?.line().zip(addend.line()).and_then(|(line, addend)| line.plus(addend));
                self.push_line(lanes, 1, line)
                    .or_else(|| self.replace(1, &addend.table(), |_, a, addend| a.wrapping_add(addend)))
            }
            Op::Eq {} => self.compare(Compare::Eq),
            Op::Ge {} => self.compare(Compare::Ge),
            Op::Gt {} => self.compare(Compare::Gt),
            Op::Le {} => self.compare(Compare::Le),
            Op::Lt {} => self.compare(Compare::Lt),
            Op::Ne {} => self.compare(Compare::Ne),

            Op::Deref {} => self.deref(lanes, self.run.scope.encoding.address_bytes),
            Op::DerefSize { bytes } => self.deref(lanes, bytes),
            Op::Offset {} => self.offset(lanes, 8),
            Op::BitOffset {} => self.offset(lanes, 1),
            Op::OffsetUconst { bytes } => {
                let distance = i64::try_from(bytes).ok()?.checked_mul(8)?;
                self.move_places(lanes, 0, Distance::Linear(Line::constant(distance)?))
            }
            _ => None,
        }
    }

    /// Returns how many of 64 bits are above the generic type.
    fn unused(&self) -> Option<u32> {
        64u32.checked_sub(self.run.generic_type().bits).filter(|&unused| unused < 64)
    }

    /// Whether all these lanes belong to the wave.
    fn is_wave(&self, lanes: u64) -> bool {
        u64::from(u64::BITS - lanes.leading_zeros()) <= self.machine.lanes()
    }

    fn push_numbers(&mut self, numbers: Table) {
        let value = Value::of_lanes(self.run.generic_type(), LaneNumbers::of_table(numbers));
        self.run.push(value);
    }

    /// Replaces the `takes` topmost elements by numbers, if they are generic-type numbers in these lanes.
    fn push_line(&mut self, lanes: u64, takes: usize, line: Option<Line>) -> Option<()> {
        let mask = u64::MAX >> self.unused()?;
        let line = line.filter(|line| line.is_within(lanes, mask))?;
        self.run.stack.truncate(self.run.stack.len() - takes);
        let value = match line.as_constant() {
            Some(number) => self.run.generic(number as u64),
            None => Value::of_lanes(self.run.generic_type(), LaneNumbers::Linear(line)),
        };
        self.run.push(value);
        Some(())
    }

    /// Returns the number `index` below the top, if it has the generic type or converts to it.
    fn number(&self, index: usize) -> Option<Number<'_>> {
        match self.run.peek(index)? {
            Element::Value(value) if value.ty() == self.run.generic_type() => match value.lanes() {
                Some(numbers) => Some(Number::Lanes(numbers)),
                None => value.as_u64().map(Number::Uniform),
            },
            Element::Value(_) => None,
            Element::Location(location) => {
                let address = location.default_address()?;
                Some(Number::Uniform(address & u64::MAX >> self.unused()?))
            }
        }
    }

    fn binary(&mut self, lanes: u64, op: Binary) -> Option<()> {
        let left = self.number(1)?;
        let right = self.number(0)?;
        let line = left.line().zip(right.line()).and_then(|(left, right)| Line::binary(op, left, right));
        if self.push_line(lanes, 2, line).is_some() {
            return Some(());
        }
        let right = self.number(0)?.table();
        if let Binary::Div | Binary::Mod | Binary::ModFloor = op
            && lanes_of(lanes).any(|lane| right[lane as usize] == 0)
        {
            return None;
        }
        // A loop for each operation, so that the loops do not branch on the operation.
        macro_rules! each_of {
            ($($op:ident)*) => {
                match op {
                    $(Binary::$op => self.replace(2, &right, |unused, a, b| {
                        word::binary(Binary::$op, Signs::Generic, unused, a, b).unwrap_or(0)
                    }),)*
                }
            };
        }
        each_of!(And Div Minus Mod ModFloor Mul Or Plus Shl Shr Shra Xor)
    }

    fn compare(&mut self, op: Compare) -> Option<()> {
        let right = self.number(0)?.table();
        macro_rules! each_of {
            ($($op:ident)*) => {
                match op {
                    $(Compare::$op => self.replace(2, &right, |unused, a, b| {
                        word::compare(Compare::$op, unused, a, b)
                    }),)*
                }
            };
        }
        each_of!(Eq Ge Gt Le Lt Ne)
    }

    fn unary(&mut self, op: Unary) -> Option<()> {
        macro_rules! each_of {
            ($($op:ident)*) => {
                match op {
                    $(Unary::$op => self.replace(1, &[0; 64], |unused, a, _| {
                        word::unary(Unary::$op, unused, a)
                    }),)*
                }
            };
        }
        each_of!(Abs Neg Not)
    }

    /// Replaces the `takes` topmost elements; the lowest of them is the left operand.
    #[inline]
    fn replace(
        &mut self,
        takes: usize,
        right: &Table,
        calculate: impl Fn(u32, u64, u64) -> u64,
    ) -> Option<()> {
        let unused = self.unused()?;
        let left = self.number(takes - 1)?.table();
        let mask = u64::MAX >> unused;
        let mut numbers = [0; 64];
        for ((number, left), right) in numbers.iter_mut().zip(&*left).zip(right) {
            *number = calculate(unused, *left, *right) & mask;
        }
        self.run.stack.truncate(self.run.stack.len() - takes);
        self.push_numbers(numbers);
        Some(())
    }

    /// Moves the location below the top by the top number, which counts units of `unit` bits.
    fn offset(&mut self, lanes: u64, unit: i64) -> Option<()> {
        let number = self.number(0)?;
        let unused = self.unused()?;
        if let Some(by) = number.signed_line(lanes, unused).and_then(|line| line.times(unit)) {
            return self.move_places(lanes, 1, Distance::Linear(by));
        }
        let numbers = number.table();
        let is_small = |lane| word::signed(unused, numbers[lane as usize]).unsigned_abs() < SMALL / 8;
        if !lanes_of(lanes).all(is_small) {
            return None;
        }
        let distances = numbers.map(|number| word::signed(unused, number).wrapping_mul(unit));
        self.move_places(lanes, 1, Distance::Each(distances))
    }

    /// Moves the location below the `below` topmost elements, and pops these elements.
    fn move_places(&mut self, lanes: u64, below: usize, by: Distance) -> Option<()> {
        let Element::Location(location) = self.run.peek(below)? else { return None };
        let place = location.single().filter(|_| !location.is_incomplete())?;
        let from = i64::try_from(place.offset).ok().filter(|&from| (from as u64) < SMALL)?;
        let places = match &place.storage {
            Storage::Composite(composite) => composite.places(),
            _ => None,
        };
        let start = LaneNumbers::Linear(Line::constant(0)?);
        let (storage, is_of_lane, offsets) = match places {
            Some(LanePlaces::Along { storage, is_of_lane, offsets }) => (storage, *is_of_lane, offsets),
            Some(LanePlaces::Anywhere(_)) => return None,
            None => (&place.storage, false, &start),
        };
        let last = u64::try_from(storage.size()?).unwrap_or(u64::MAX).min(SMALL).checked_sub(1)?;
        let offsets = match (offsets, by) {
            (LaneNumbers::Linear(start), Distance::Linear(by)) => {
                let moved = Line::constant(from)?.plus(*start)?.plus(by)?;
                LaneNumbers::Linear(moved.is_within(lanes, last).then_some(moved)?)
            }
            (offsets, by) => {
                let mut offsets = offsets.table();
                let mut outside = 0;
                for (lane, offset) in offsets.iter_mut().enumerate() {
                    let distance = match &by {
                        Distance::Linear(by) => by.get(lane as u32),
                        Distance::Each(by) => by[lane],
                    };
                    let moved = (*offset as i64).wrapping_add(from).wrapping_add(distance);
                    let is_inside = *offset < SMALL && u64::try_from(moved).is_ok_and(|moved| moved <= last);
                    // Collected without a branch; lanes that are not evaluated do not matter.
                    outside |= u64::from(!is_inside) << lane;
                    *offset = moved as u64;
                }
                if outside & lanes != 0 {
                    return None;
                }
                LaneNumbers::of_table(offsets)
            }
        };
        let moved =
            LanePlaces::Along { storage: storage.clone(), is_of_lane, offsets }.into_location(lanes)?;
        self.run.stack.truncate(self.run.stack.len() - below - 1);
        self.run.push(moved);
        Some(())
    }

    /// Pops a space and a number below it, and pushes the location in memory.
    fn form_address(&mut self, lanes: u64) -> Option<()> {
        let (Number::Uniform(space), number) = (self.number(0)?, self.number(1)?) else { return None };
        let per = self.run.target.space(SpaceId(space.try_into().ok()?))?.per;
        if !number.varies() && per != Per::Lane {
            return None;
        }
        let location = self.places(lanes, space, &number)?;
        self.run.stack.truncate(self.run.stack.len() - 2);
        self.run.push(location);
        Some(())
    }

    /// Returns a space's memory.
    fn memory(&self, space: u64) -> Option<Storage> {
        Some(self.run.memory(space.into(), 0).ok()?.single()?.storage.clone())
    }

    /// Returns the locations at addresses in a space.
    fn places(&self, lanes: u64, space: u64, addresses: &Number<'_>) -> Option<Location> {
        let storage = self.memory(space)?;
        let Storage::Memory { address_bits, lane, .. } = storage else { return None };
        let is_of_lane = lane.is_some();
        // A lane outside the wave is a fault in that lane.
        if is_of_lane && !self.is_wave(lanes) {
            return None;
        }
        let mask = address_mask(address_bits);
        let linear = addresses.line().filter(|line| line.is_within(lanes, mask.min(SMALL / 8 - 1)));
        let offsets = match linear.and_then(|line| line.times(8)) {
            Some(offsets) => LaneNumbers::Linear(offsets),
            None => {
                let addresses = addresses.table();
                if lanes_of(lanes).any(|lane| addresses[lane as usize] & mask >= SMALL / 8) {
                    return None;
                }
                LaneNumbers::of_table(addresses.map(|address| (address & mask).wrapping_mul(8)))
            }
        };
        LanePlaces::Along { storage, is_of_lane, offsets }.into_location(lanes)
    }

    /// Replaces an address that differs between lanes by the number in `bytes` bytes at it.
    fn deref(&mut self, lanes: u64, bytes: u8) -> Option<()> {
        let mask = u64::MAX >> self.unused()?;
        if bytes == 0 || u32::from(bytes) * 8 > self.run.generic_type().bits {
            return None;
        }
        let (storage, addresses, is_of_lane) = match self.number(0) {
            Some(Number::Lanes(numbers)) => {
                let storage = self.memory(0)?;
                let Storage::Memory { address_bits, lane: None, .. } = storage else { return None };
                let mask = address_mask(address_bits);
                (storage, numbers.table().map(|number| number & mask), false)
            }
            _ => {
                let Element::Location(location) = self.run.peek(0)? else { return None };
                let place = location.single().filter(|_| !location.is_incomplete())?;
                let Storage::Composite(composite) = &place.storage else { return None };
                let LanePlaces::Along { storage, is_of_lane, offsets } = composite.places()? else {
                    return None;
                };
                let from = u64::try_from(place.offset).ok().filter(|&from| from < SMALL)?;
                let bits = offsets.table().map(|offset| offset.saturating_add(from));
                let is_aligned = |lane: u32| bits[lane as usize].is_multiple_of(8);
                if !lanes_of(lanes).all(is_aligned) {
                    return None;
                }
                (storage.clone(), bits.map(|bit| bit / 8), *is_of_lane)
            }
        };
        let Storage::Memory { space, address_bits, lane: common } = storage else { return None };
        let last = address_mask(address_bits).checked_sub(u64::from(bytes) - 1)?;
        let mut numbers = [0; 64];
        for lane in lanes_of(lanes) {
            let address = Some(addresses[lane as usize]).filter(|&address| address <= last)?;
            let lane_of_memory = if is_of_lane { Some(lane) } else { common };
            let number = self.machine.memory_word(space, lane_of_memory, address, bytes).ok()?;
            numbers[lane as usize] = number & mask;
        }
        self.run.stack.pop();
        self.push_numbers(numbers);
        Some(())
    }

    /// Converts a number on top of the stack to a location, if that succeeds in all lanes.
    pub(super) fn locate(&mut self, lanes: u64) {
        if let Some(number @ Number::Lanes(_)) = self.number(0)
            && let Some(location) = self.places(lanes, 0, &number)
        {
            self.run.stack.pop();
            self.run.push(location);
        }
    }
}

/// Returns an address's mask.
fn address_mask(address_bits: u32) -> u64 {
    u64::MAX >> (64 - address_bits.clamp(1, 64))
}
