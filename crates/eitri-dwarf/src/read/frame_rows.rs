//! Call frame rows: the CFA and the locations of the caller's registers, for each pc. DWARF 5 section 6.4.1.

use super::cfi::{CallFrameInstruction, CallFrameInstructions, FrameInstruction};
use super::cursor::max_address;
use super::frame::Fde;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Encoding, Reg};

/// Rule of the canonical frame address.
///
/// Exhaustive: DWARF has no other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CfaRule<'o> {
    /// No rule.
    Unset,
    /// The contents of a register plus an offset in bytes.
    Register {
        /// Base register.
        register: Reg,
        /// Offset in bytes.
        offset: i64,
        /// Address space; `None` for the default space.
        space: Option<u64>,
    },
    /// The result of an expression.
    Expression(&'o [u8]),
}

/// Rule of a caller's register. A register without a rule follows the ABI.
///
/// Exhaustive: DWARF has no other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterRule<'o> {
    /// The register cannot be restored.
    Undefined,
    /// The register has not changed.
    SameValue,
    /// The register is saved at the CFA plus a number of bytes.
    Offset(i64),
    /// The register's value is the CFA plus a number of bytes.
    ValOffset(i64),
    /// The register is saved in a second register.
    Register(Reg),
    /// The register is saved at the result of an expression, whose initial stack contains the CFA.
    Expression(&'o [u8]),
    /// The register's value is the result of an expression, whose initial stack contains the CFA.
    ValExpression(&'o [u8]),
}

/// Rules for a range of pcs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameRow<'o> {
    /// First pc.
    pub start: u64,
    /// End pc, exclusive. Not above `start` if the instructions have it so.
    pub end: u64,
    /// Rule of the CFA.
    pub cfa: CfaRule<'o>,
    /// Rules of registers, sorted by register.
    pub rules: Vec<(Reg, RegisterRule<'o>)>,
    /// Size in bytes of the arguments on the stack.
    pub args_size: u64,
    /// Whether the return address is signed (AArch64).
    pub is_return_signed: bool,
}

/// Gives registers with rules, and those that the rules name, their first numbers. If a register has rules by several
/// numbers, the rule of the first number remains.
pub fn renumber<'o>(rules: &mut Vec<(Reg, RegisterRule<'o>)>, first: impl Fn(Reg) -> Reg) {
    let mut is_sorted = true;
    for (reg, rule) in rules.iter_mut() {
        if let RegisterRule::Register(from) = rule {
            *from = first(*from);
        }
        is_sorted &= first(*reg) == *reg;
        *reg = first(*reg);
    }
    if !is_sorted {
        rules.sort_by_key(|&(reg, _)| reg);
        rules.dedup_by_key(|&mut (reg, _)| reg);
    }
}

impl<'o> FrameRow<'o> {
    /// Returns a register's rule, if any.
    pub fn rule(&self, register: Reg) -> Option<RegisterRule<'o>> {
        let index = self.rules.binary_search_by_key(&register, |&(known, _)| known).ok()?;
        Some(self.rules[index].1)
    }

    fn set(&mut self, register: Reg, rule: RegisterRule<'o>) -> Result<(), &'static str> {
        // Registers are usually set in order.
        let is_last = self.rules.last().is_none_or(|&(last, _)| last < register);
        let search = if is_last {
            Err(self.rules.len())
        } else {
            self.rules.binary_search_by_key(&register, |&(known, _)| known)
        };
        match search {
            Ok(index) => self.rules[index].1 = rule,
            Err(_) if self.rules.len() == MOST_RULES => return Err("a row has too many registers"),
            Err(index) => self.rules.insert(index, (register, rule)),
        }
        Ok(())
    }
}

/// Maximum number of rules in a row, so that no file can exhaust time or memory: more than any target has registers.
const MOST_RULES: usize = 0x1000;
/// Maximum number of remembered rules and rows.
const MOST_REMEMBERED: usize = 0x4_0000;

/// The rows of an FDE, in order.
#[derive(Debug, Clone)]
pub struct FrameRows<'o> {
    initial: CallFrameInstructions<'o>,
    instructions: CallFrameInstructions<'o>,
    /// Last instruction read.
    last: FrameInstruction<'o>,
    /// Rules after the CIE's instructions; `None` before they were run.
    first: Option<Vec<(Reg, RegisterRule<'o>)>>,
    row: FrameRow<'o>,
    /// Registers whose rules the row's instructions set or removed, in their order.
    changed: Vec<Reg>,
    remembered: Vec<Remembered<'o>>,
    /// Rules of all remembered states, concatenated.
    remembered_rules: Vec<(Reg, RegisterRule<'o>)>,
    /// Location of the next row; `None` after the last.
    next: Option<u64>,
    end: u64,
    mask: u64,
}

/// State pushed by `DW_CFA_remember_state`, apart from the rules.
#[derive(Debug, Clone, Copy)]
struct Remembered<'o> {
    cfa: CfaRule<'o>,
    is_return_signed: bool,
    /// Start of the state's rules.
    rules: usize,
}

impl<'o> FrameRows<'o> {
    pub(super) fn new(
        initial: CallFrameInstructions<'o>,
        instructions: CallFrameInstructions<'o>,
        fde: &Fde<'o>,
    ) -> Self {
        let mask = max_address(initial.encoding().address_bytes);
        let row = FrameRow {
            start: fde.start,
            end: fde.start,
            cfa: CfaRule::Unset,
            rules: Vec::new(),
            args_size: 0,
            is_return_signed: false,
        };
        Self {
            initial,
            instructions,
            last: FrameInstruction { offset: 0, opcode: 0, instruction: CallFrameInstruction::Nop },
            first: None,
            row,
            changed: Vec::new(),
            remembered: Vec::new(),
            remembered_rules: Vec::new(),
            next: Some(fde.start),
            end: fde.start.wrapping_add(fde.length) & mask,
            mask,
        }
    }

    /// Returns the encoding of expressions in the rows.
    pub fn encoding(&self) -> Encoding {
        self.initial.encoding()
    }

    /// Runs the initial instructions, unless they have been run.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.first.is_some() {
            return Ok(());
        }
        while self.initial.read(&mut self.last)? {
            if self.run()?.is_some() {
                return Err(self.fail("the initial instructions cannot advance the location"));
            }
        }
        self.first = Some(self.row.rules.clone());
        self.remembered.clear();
        self.remembered_rules.clear();
        Ok(())
    }

    /// Takes the state after the initial instructions from another entry with the same common entry.
    pub(super) fn begin_as(&mut self, other: &Self) {
        self.first.clone_from(&other.first);
        self.row = FrameRow { start: self.row.start, end: self.row.end, ..other.row.clone() };
    }

    /// Returns the number of rules after the initial instructions.
    pub(super) fn initial_rules(&self) -> usize {
        self.first.as_ref().map_or(0, Vec::len)
    }

    /// Computes the next row. Returns `None` after the last row, and after an error.
    ///
    /// # Errors
    /// The errors that [`CallFrameInstructions`] returns; [`Malformed`](ErrorKind::Malformed) for an instruction that is invalid
    /// at its position, or would exhaust memory.
    pub fn next_row(&mut self) -> Result<Option<&FrameRow<'o>>> {
        Ok(if self.advance()? { Some(&self.row) } else { None })
    }

    /// Computes the next row, and the registers whose rules changed. Returns `false` after the last row, and after an
    /// error.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let Some(start) = self.next.take() else { return Ok(false) };
        if self.first.is_some() {
            self.changed.clear();
        }
        self.begin()?;
        self.row.start = start;
        self.row.end = self.end;
        while self.instructions.read(&mut self.last)? {
            if let Some(location) = self.run()? {
                self.row.end = location;
                self.next = Some(location);
                break;
            }
        }
        Ok(true)
    }

    /// Returns the last computed row, and the registers whose rules its instructions set or removed.
    pub(super) fn changes(&self) -> (&FrameRow<'o>, &[Reg]) {
        (&self.row, &self.changed)
    }

    /// Returns the row for a pc, if any. Later rows are not computed.
    ///
    /// # Errors
    /// The errors that [`next_row`](Self::next_row) returns.
    pub fn find(mut self, pc: u64) -> Result<Option<FrameRow<'o>>> {
        while let Some(row) = self.next_row()? {
            if (row.start..row.end).contains(&pc) {
                return Ok(Some(self.row));
            }
        }
        Ok(None)
    }

    /// Returns the last computed row.
    pub(super) fn into_row(self) -> FrameRow<'o> {
        self.row
    }

    /// Returns the number of remembered rules and rows.
    pub(super) fn remembered_rules(&self) -> usize {
        self.remembered_rules.len() + self.remembered.len()
    }

    /// Runs the last instruction. Returns the new location, if the instruction sets it.
    #[inline]
    fn run(&mut self) -> Result<Option<u64>> {
        crate::work::step();
        let row = &mut self.row;
        let mut set = |register, rule| {
            self.changed.push(register);
            row.set(register, rule)
        };
        let done = match self.last.instruction {
            CallFrameInstruction::Nop => Ok(()),
            CallFrameInstruction::AdvanceLoc { bytes } => {
                return Ok(Some(self.row.start.wrapping_add(bytes) & self.mask));
            }
            CallFrameInstruction::SetLoc { address } => return Ok(Some(address)),
            CallFrameInstruction::DefCfa { register, offset } => {
                row.cfa = CfaRule::Register { register, offset, space: None };
                Ok(())
            }
            CallFrameInstruction::DefAspaceCfa { register, offset, space } => {
                row.cfa = CfaRule::Register { register, offset, space: Some(space) };
                Ok(())
            }
            CallFrameInstruction::DefCfaRegister { register: new } => match &mut row.cfa {
                CfaRule::Register { register, .. } => {
                    *register = new;
                    Ok(())
                }
                // GNU as begins the entries of RISC-V and MIPS with this instruction. Readers take the offset as 0.
                rule @ CfaRule::Unset if self.first.is_none() => {
                    *rule = CfaRule::Register { register: new, offset: 0, space: None };
                    Ok(())
                }
                _ => Err(NO_REGISTER),
            },
            CallFrameInstruction::DefCfaOffset { offset: new } => match &mut row.cfa {
                CfaRule::Register { offset, .. } => {
                    *offset = new;
                    Ok(())
                }
                _ => Err(NO_REGISTER),
            },
            CallFrameInstruction::DefCfaExpression { expr } => {
                row.cfa = CfaRule::Expression(expr);
                Ok(())
            }
            CallFrameInstruction::Undefined { register } => set(register, RegisterRule::Undefined),
            CallFrameInstruction::SameValue { register } => set(register, RegisterRule::SameValue),
            CallFrameInstruction::Offset { register, offset } => set(register, RegisterRule::Offset(offset)),
            CallFrameInstruction::ValOffset { register, offset } => {
                set(register, RegisterRule::ValOffset(offset))
            }
            CallFrameInstruction::Register { register, from } => set(register, RegisterRule::Register(from)),
            CallFrameInstruction::Expression { register, expr } => {
                set(register, RegisterRule::Expression(expr))
            }
            CallFrameInstruction::ValExpression { register, expr } => {
                set(register, RegisterRule::ValExpression(expr))
            }
            CallFrameInstruction::Restore { register } => self.restore(register),
            CallFrameInstruction::RememberState => self.remember(),
            CallFrameInstruction::RestoreState => match self.remembered.pop() {
                Some(remembered) => {
                    row.cfa = remembered.cfa;
                    row.is_return_signed = remembered.is_return_signed;
                    let rules = &self.remembered_rules[remembered.rules..];
                    differing(&row.rules, rules, &mut self.changed);
                    row.rules.clear();
                    row.rules.extend_from_slice(rules);
                    self.remembered_rules.truncate(remembered.rules);
                    Ok(())
                }
                None => Err("the stack of remembered rows is empty"),
            },
            CallFrameInstruction::ArgsSize { bytes } => {
                row.args_size = bytes;
                Ok(())
            }
            CallFrameInstruction::NegateRaState => {
                row.is_return_signed = !row.is_return_signed;
                Ok(())
            }
        };
        done.map(|()| None).map_err(|problem| self.fail(problem))
    }

    fn restore(&mut self, register: Reg) -> Result<(), &'static str> {
        let Some(first) = &self.first else { return Err("the initial instructions cannot restore a rule") };
        self.changed.push(register);
        match first.binary_search_by_key(&register, |&(known, _)| known) {
            Ok(index) => self.row.set(register, first[index].1),
            Err(_) => {
                if let Ok(index) = self.row.rules.binary_search_by_key(&register, |&(known, _)| known) {
                    self.row.rules.remove(index);
                }
                Ok(())
            }
        }
    }

    fn remember(&mut self) -> Result<(), &'static str> {
        let rules = self.remembered_rules.len();
        if rules + self.row.rules.len() + self.remembered.len() >= MOST_REMEMBERED {
            return Err("the stack of remembered rows is too large");
        }
        self.remembered_rules.extend_from_slice(&self.row.rules);
        let FrameRow { cfa, is_return_signed, .. } = self.row;
        self.remembered.push(Remembered { cfa, is_return_signed, rules });
        Ok(())
    }

    /// Returns an error about the last instruction.
    pub(super) fn fail(&self, problem: &str) -> Error {
        let read = &self.last;
        let error = Error::new(ErrorKind::Malformed(format!(
            "call frame instruction {:#04x}: {problem}",
            read.opcode
        )));
        error.in_section(self.initial.section().name()).at_offset(read.offset)
    }
}

/// Adds the registers whose rules differ between two lists.
fn differing<'o>(
    before: &[(Reg, RegisterRule<'o>)],
    after: &[(Reg, RegisterRule<'o>)],
    changed: &mut Vec<Reg>,
) {
    let mut before = before.iter().peekable();
    let mut after = after.iter().peekable();
    loop {
        let (removed, added) = match (before.peek(), after.peek()) {
            (None, None) => return,
            (Some(_), None) => (before.next(), None),
            (None, Some(_)) => (None, after.next()),
            (Some(old), Some(new)) if old.0 < new.0 => (before.next(), None),
            (Some(old), Some(new)) if old.0 > new.0 => (None, after.next()),
            (Some(_), Some(_)) => (before.next(), after.next()),
        };
        if removed != added {
            changed.extend(removed.or(added).map(|rule| rule.0));
        }
    }
}

const NO_REGISTER: &str = "the CFA rule is not a register and an offset";
