//! How the rules in call frame information are evaluated (A.6.4.1, A.6.4.2.2).

use super::super::context::Context;
use super::super::fault::{Fault, error, ill_formed, undefined_bit};
use super::super::location::{ImplicitBits, Location, Storage};
use super::super::read::read_bits;
use super::super::value::{BaseType, TypeEncoding, Value};
use super::call_stack::{CallStack, Chain, Found, Kept, Level, Row};
use super::fault::{Cause, FrameColumn, UnwindFault, UnwindResult};
use super::files::for_rules;
use crate::error::Count;
use crate::op::Reg;
use crate::read::{CfaRule, RegisterRule};
use crate::target::SpaceId;

/// How many frames must leave a register unchanged before the result is cached.
const FRAMES_PASSED: u32 = 16;

/// Preserved bits for a register that is preserved as a whole.
const ALL: u32 = u32::MAX;

impl<'a, 'o> CallStack<'a, 'o> {
    /// Returns a frame's canonical frame address.
    pub(super) fn cfa_of(&self, level: &Level<'a, 'o>) -> UnwindResult<Location> {
        if let Some(known) = level.cfa.get() {
            return known.clone();
        }
        let cfa = self.ask(level, FrameColumn::Cfa, || self.find_cfa(level));
        // A fault within a cycle of rules need not occur for other requests.
        if cfa.is_ok() || self.asking.borrow().is_empty() {
            let _ = level.cfa.set(cfa.clone());
        }
        cfa
    }

    fn find_cfa(&self, level: &Level<'a, 'o>) -> UnwindResult<Location> {
        let column = FrameColumn::Cfa;
        let Some(row) = level.row()? else {
            let known = self.machine.cfa(level.number);
            let missing = || level.fault(None, self.no_entry());
            return known.ok_or_else(missing);
        };
        let context = self.context(level, row);
        match row.row.cfa {
            CfaRule::Unset => {
                Err(level.fault(Some(column), ill_formed("the canonical frame address has no rule")))
            }
            CfaRule::Register { register, offset, space } => {
                let space = u128::from(space.unwrap_or(SpaceId::DEFAULT.0.into()));
                self.evaluate(level, column, &context, |evaluator, context| {
                    evaluator.run(self, context, None, |run| run.register_address(space, register, offset))
                })
            }
            CfaRule::Expression(expr) => self.evaluate(level, column, &context, |evaluator, context| {
                for_rules(self, level, |machine| evaluator.cfa_expression(expr, machine, context))
            }),
        }
    }

    fn context(&self, level: &Level<'a, 'o>, row: &Row<'a, 'o>) -> Context<'a> {
        Context { frame: level.number, ..Context::new(row.cie().encoding, self.target) }
    }

    /// Returns the rule that locates a frame's register, after all frames that leave it unchanged, and all
    /// `register(R)` rules. `None` if the frame does not exist.
    ///
    /// A result beyond many frames is cached in the first frame, so that requests for each frame in turn do not visit
    /// all of them, which would take quadratic time.
    fn kept(&self, reg: Reg, frame: u32) -> UnwindResult<Option<Kept<'a, 'o>>> {
        let reg = self.target.first_number(reg);
        let Some(callee) = frame.checked_sub(1) else { return Ok(Some((Found::InPlace(reg), ALL))) };
        let Some(first) = self.level(callee)? else { return Ok(None) };
        let (kept, last) = self.kept_inward(reg, frame)?;
        // Short distances are cheaper to walk than to store.
        if frame - last > FRAMES_PASSED {
            first.kept.borrow_mut().entry(reg).or_insert_with(|| kept.clone());
        }
        Ok(Some(kept))
    }

    /// Returns the rule that locates a register, and the last visited frame.
    fn kept_inward(&self, mut reg: Reg, mut frame: u32) -> UnwindResult<(Kept<'a, 'o>, u32)> {
        let mut low = ALL;
        while let Some(callee) = frame.checked_sub(1) {
            crate::work::step();
            let level = self.level(callee)?.ok_or_else(|| self.unknown(callee))?;
            if let Some((found, preserved)) = level.kept.borrow().get(&reg) {
                return Ok(((found.clone(), low.min(*preserved)), callee));
            }
            match level.rule(reg)? {
                // Here the caller's stack pointer is the canonical frame address by definition.
                None if self.target.cfa_register() == Some(reg) && level.row()?.is_some() => {
                    return Ok(((Found::ByRule(level, reg, RegisterRule::ValOffset(0)), low), callee));
                }
                None => match self.preserved(reg) {
                    0 => return Ok(((Found::ByRule(level, reg, RegisterRule::Undefined), low), callee)),
                    // Each frame can lose bits: the fewest that any frame preserves remain.
                    preserved => low = low.min(preserved),
                },
                Some(RegisterRule::SameValue) => {}
                Some(RegisterRule::Register(from)) => {
                    self.check_register_rule(&level, reg)?;
                    // From here outward, the search follows the register that holds the value.
                    reg = from;
                }
                Some(rule) => return Ok(((Found::ByRule(level, reg, rule), low), callee)),
            }
            frame = callee;
        }
        Ok(((Found::InPlace(reg), low), 0))
    }

    /// Returns how many low bits of a register a function without a rule for it preserves; [`ALL`] for all bits, and
    /// for the column of a return address that is not a register.
    fn preserved(&self, reg: Reg) -> u32 {
        match self.target.preserved_bits(reg) {
            Some(bits) if self.target.register_bits(reg) != Some(bits) => bits,
            _ => ALL,
        }
    }

    /// Returns the location of a frame's register. `None` if the frame does not exist.
    pub(super) fn register_in(&self, reg: Reg, frame: u32) -> UnwindResult<Option<Location>> {
        self.kept(reg, frame)?.map(|kept| self.location_of(&kept)).transpose()
    }

    fn location_of(&self, (found, low): &Kept<'a, 'o>) -> UnwindResult<Location> {
        let location = self.location_by(found)?;
        let (Found::InPlace(reg) | Found::ByRule(_, reg, _)) = found;
        match self.target.register_bits(*reg).and_then(|bits| bits.checked_sub(*low)) {
            None | Some(0) => Ok(location),
            Some(lost) => {
                let parts = [(location, u128::from(*low)), (Location::undefined(), lost.into())];
                Location::composite(parts).map_err(|fault| match found {
                    Found::ByRule(level, ..) => level.fault(Some(FrameColumn::Register(*reg)), fault),
                    Found::InPlace(_) => {
                        Box::new(UnwindFault { why: Cause::Fault(fault), ..*self.unknown(0) })
                    }
                })
            }
        }
    }

    fn location_by(&self, found: &Found<'a, 'o>) -> UnwindResult<Location> {
        let (level, reg, rule) = match found {
            Found::InPlace(reg) => return self.in_place(*reg),
            Found::ByRule(level, reg, rule) => (level, *reg, *rule),
        };
        match rule {
            RegisterRule::Offset(by) => {
                let moved = self.cfa_of(level)?.moved(i128::from(by) * 8);
                moved.map_err(|fault| level.fault(Some(FrameColumn::Register(reg)), fault))
            }
            RegisterRule::ValOffset(by) => self.val_offset(level, reg, by),
            RegisterRule::Expression(expr) | RegisterRule::ValExpression(expr) => {
                self.by_expression(level, reg, expr)
            }
            // The other rules were followed before.
            RegisterRule::Undefined | RegisterRule::SameValue | RegisterRule::Register(_) => {
                Ok(Location::undefined())
            }
        }
    }

    /// Returns a register in the innermost frame.
    fn in_place(&self, reg: Reg) -> UnwindResult<Location> {
        let bits = self.target.register_bits(reg);
        let bits = bits.ok_or_else(|| self.no_register(reg))?;
        Ok(Location::register(self.target.first_number(reg), bits))
    }

    fn no_register(&self, reg: Reg) -> Box<UnwindFault> {
        let fault = ill_formed(self.target.unknown_register(reg)).about(reg);
        match self.level(0) {
            Ok(Some(level)) => level.fault(Some(FrameColumn::Register(reg)), fault),
            _ => Box::new(UnwindFault { why: Cause::Fault(fault), ..*self.unknown(0) }),
        }
    }

    /// Reads bytes from a register's value in a frame, from byte `at`; byte 0 is the least significant.
    pub(super) fn read_in(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> UnwindResult<()> {
        let reg = self.target.first_number(reg);
        let bits = self.target.register_bits(reg).ok_or_else(|| self.no_register(reg))?;
        let end = (u64::from(at) + into.len() as u64) * 8;
        let is_some = !into.is_empty() && end <= u64::from(bits);
        if is_some && self.read_plain(reg, frame, at, into).is_some() {
            return Ok(());
        }
        let kept = self.kept(reg, frame)?.ok_or_else(|| self.unknown(frame))?;
        self.read_at(&self.location_of(&kept)?, bits, at, into).map_err(|fault| match kept.0 {
            Found::ByRule(level, reg, _) => level.fault(Some(FrameColumn::Register(reg)), fault),
            Found::InPlace(reg) => Box::new(UnwindFault {
                column: Some(FrameColumn::Register(reg)),
                why: Cause::Fault(fault),
                ..*self.unknown(frame)
            }),
        })
    }

    /// Reads a register that is saved at an offset from the canonical frame address, as most registers are, or not
    /// saved by any frame, without constructing a location. `None` for other rules, or if it cannot be read.
    fn read_plain(&self, reg: Reg, mut frame: u32, at: u32, into: &mut [u8]) -> Option<()> {
        let levels = self.levels.borrow();
        let last = frame.saturating_sub(FRAMES_PASSED);
        while let Some(callee) = frame.checked_sub(1) {
            // Beyond this distance the cached path is faster.
            if callee < last {
                return None;
            }
            let level = levels.get(callee as usize)?;
            let row = level.row.as_ref().ok()?.as_ref()?;
            match row.row.rule(reg) {
                Some(RegisterRule::Offset(by)) => {
                    let place = level.cfa.get()?.as_ref().ok()?.single()?;
                    let Storage::Memory { space, address_bits, lane } = place.storage else { return None };
                    let address = u64::try_from(place.offset / 8)
                        .ok()?
                        .checked_add_signed(by)?
                        .checked_add(at.into())?;
                    let last = address.checked_add(into.len() as u64)?;
                    let is_inside = u128::from(last) <= 1 << address_bits.min(64);
                    let is_plain = is_inside && !self.machine.is_big_endian();
                    return is_plain.then(|| self.machine.memory(space, lane, address, into).ok())?;
                }
                None if self.target.cfa_register() != Some(reg) && self.preserved(reg) == ALL => {}
                Some(RegisterRule::SameValue) => {}
                _ => return None,
            }
            frame = callee;
        }
        self.machine.register(reg, 0, at, into).ok()
    }

    fn read_at(&self, location: &Location, bits: u32, at: u32, into: &mut [u8]) -> UnwindResult<(), Fault> {
        let mut read = read_bits(location, bits.into(), self.machine)?;
        if self.machine.is_big_endian() {
            // Memory order to least significant first.
            read.bytes.reverse();
            read.defined.reverse();
        }
        let wanted = (at as usize)..(at as usize).saturating_add(into.len());
        let Some(defined) = read.defined.get(wanted.clone()) else {
            return Err(error(format!(
                "read of bytes {wanted:?} ends after the {bits} of the register",
                bits = Count(bits, "bit")
            )));
        };
        if defined.iter().any(|&defined| defined != 0xff) {
            return Err(undefined_bit());
        }
        into.copy_from_slice(&read.bytes[wanted]);
        Ok(())
    }

    /// Returns the value that `val_offset(N)` gives: the canonical frame address plus an offset.
    fn val_offset(&self, level: &Level<'a, 'o>, reg: Reg, by: i64) -> UnwindResult<Location> {
        let column = Some(FrameColumn::Register(reg));
        let moved =
            self.cfa_of(level)?.moved(i128::from(by) * 8).map_err(|fault| level.fault(column, fault))?;
        let place = moved.single().map(|place| (&place.storage, place.offset));
        let Some((&Storage::Memory { address_bits, .. }, offset)) = place else {
            let rule = format!("canonical frame address is not a memory byte (A.6.4.1): {moved}");
            return Err(level.fault(column, ill_formed(rule)));
        };
        if self.target.register_bits(reg) != Some(address_bits) {
            let address_bits = Count(address_bits, "bit");
            let rule = format!("a register that contains an address has {address_bits} (A.6.4.1)");
            return Err(level.fault(column, ill_formed(rule)));
        }
        let address = Value::new(BaseType::new(TypeEncoding::Unsigned, address_bits), (offset / 8) as u64);
        Ok(Storage::Implicit(ImplicitBits::value(&address, self.machine.is_big_endian())).into())
    }

    /// Checks `register(R)`: both registers have the same size, and are not part of a cycle.
    fn check_register_rule(&self, level: &Level<'a, 'o>, reg: Reg) -> UnwindResult<()> {
        match self.chain(level, reg)? {
            Chain::Ends => Ok(()),
            Chain::Circle => {
                let rule = "registers are saved in each other (A.6.4.1): the rules are cyclic";
                Err(level.fault(Some(FrameColumn::Register(reg)), ill_formed(rule)))
            }
            Chain::Differs(one, other) => {
                let rule = format!(
                    "register {} is saved in register {}, which has another size (A.6.4.1)",
                    one.0, other.0
                );
                Err(level.fault(Some(FrameColumn::Register(one)), ill_formed(rule)))
            }
        }
    }

    /// Returns how the chain of `register(R)` rules that begins at a register ends, and caches it for all registers
    /// in the chain.
    fn chain(&self, level: &Level<'a, 'o>, reg: Reg) -> UnwindResult<Chain> {
        let mut known = level.chains.borrow_mut();
        let mut last = reg;
        let mut between = Vec::new();
        let chain = loop {
            crate::work::step();
            if let Some(&chain) = known.get(&last) {
                break chain;
            }
            let Some(RegisterRule::Register(from)) = level.rule(last)? else { break Chain::Ends };
            // Returning to this register before the end is known is a cycle.
            known.insert(last, Chain::Circle);
            between.push(last);
            let bits = |reg| self.target.register_bits(reg);
            // The return address column need not be a register.
            if bits(last).is_some() && bits(last) != bits(from) {
                break Chain::Differs(last, from);
            }
            last = from;
        };
        known.extend(between.into_iter().map(|reg| (reg, chain)));
        Ok(chain)
    }

    /// Returns the location by `expression(E)` or `val_expression(E)`.
    fn by_expression(&self, level: &Level<'a, 'o>, reg: Reg, expr: &[u8]) -> UnwindResult<Location> {
        let known = |level: &Level<'a, 'o>| level.found.borrow().get(&reg).cloned();
        if let Some(known) = known(level) {
            return Ok(known);
        }
        // In adjacent frames such rules usually depend on the same register. Evaluating inner frames first keeps the
        // recursion from becoming as deep as the call stack.
        if self.asking.borrow().is_empty() {
            let last = self.followed.borrow().get(&reg).copied().unwrap_or(0);
            self.followed.borrow_mut().insert(reg, last.max(level.number));
            for callee in last..level.number {
                crate::work::step();
                let inward = self.level(callee)?;
                if let Some(inward) = inward
                    && let Some(RegisterRule::Expression(expr) | RegisterRule::ValExpression(expr)) =
                        inward.rule(reg)?
                    && known(&inward).is_none()
                {
                    let _ = self.by_one_expression(&inward, reg, expr);
                }
            }
        }
        self.by_one_expression(level, reg, expr)
    }

    fn by_one_expression(&self, level: &Level<'a, 'o>, reg: Reg, expr: &[u8]) -> UnwindResult<Location> {
        let Some(row) = level.row()? else { return Ok(Location::undefined()) };
        let column = FrameColumn::Register(reg);
        let is_value = matches!(row.row.rule(reg), Some(RegisterRule::ValExpression(_)));
        let context = self.context(level, row);
        let location = self.ask(level, column, || {
            let cfa = self.cfa_of(level)?;
            self.evaluate(level, column, &context, |evaluator, context| {
                for_rules(self, level, |machine| {
                    if is_value {
                        evaluator.val_expression_rule(expr, reg, &cfa, machine, context)
                    } else {
                        evaluator.expression_rule(expr, &cfa, machine, context)
                    }
                })
            })
        })?;
        level.found.borrow_mut().insert(reg, location.clone());
        Ok(location)
    }
}
