//! The rows that call frame instructions make: for each pc, where the CFA and the registers of the caller
//! are. DWARF 5 section 6.4.1.

use super::cfi::{FrameInstruction, Instruction, Instructions};
use super::cursor::max_address;
use super::frame::Fde;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Encoding, Reg};

/// How the canonical frame address is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CfaRule<'o> {
    /// Not stated.
    Unset,
    /// The contents of a register and an offset in bytes.
    Register {
        /// The register.
        register: Reg,
        /// What is added to it.
        offset: i64,
        /// The address space; `None` for the default one.
        space: Option<u64>,
    },
    /// What an expression computes.
    Expression(&'o [u8]),
}

/// How a register of the caller is restored. A register without a rule is as the ABI has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule<'o> {
    /// It cannot be.
    Undefined,
    /// It has not changed.
    SameValue,
    /// It is saved at the CFA and so many bytes.
    Offset(i64),
    /// Its value is the CFA and so many bytes.
    ValOffset(i64),
    /// It is saved in another register.
    Register(Reg),
    /// It is saved where the expression says. The CFA is on its stack at first.
    Expression(&'o [u8]),
    /// Its value is what the expression computes. The CFA is on its stack at first.
    ValExpression(&'o [u8]),
}

/// What is so from one pc to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRow<'o> {
    /// The first pc.
    pub start: u64,
    /// The pc after the last. Not above `start` where the instructions have it so.
    pub end: u64,
    /// How the CFA is found.
    pub cfa: CfaRule<'o>,
    /// Rules of registers, by register.
    pub rules: Vec<(Reg, Rule<'o>)>,
    /// Bytes of arguments that are on the stack.
    pub args_size: u64,
    /// Whether the return address is signed: AArch64.
    pub is_return_signed: bool,
}

impl<'o> FrameRow<'o> {
    /// The rule of a register, if it has one.
    pub fn rule(&self, register: Reg) -> Option<Rule<'o>> {
        let index = self.rules.binary_search_by_key(&register, |&(known, _)| known).ok()?;
        Some(self.rules[index].1)
    }

    fn set(&mut self, register: Reg, rule: Rule<'o>) -> Result<(), &'static str> {
        // Most registers come in order.
        let is_last = self.rules.last().is_none_or(|&(last, _)| last < register);
        let place = match is_last {
            true => Err(self.rules.len()),
            false => self.rules.binary_search_by_key(&register, |&(known, _)| known),
        };
        match place {
            Ok(index) => self.rules[index].1 = rule,
            Err(_) if self.rules.len() == MOST_RULES => return Err("more registers than any machine has"),
            Err(index) => self.rules.insert(index, (register, rule)),
        }
        Ok(())
    }
}

/// A row has no more rules than this, so that no file can use up time or memory.
const MOST_RULES: usize = 0x4000;
/// So many rules, and rows, can be remembered at once.
const MOST_REMEMBERED: usize = 0x4_0000;

/// The rows of an FDE, one after the other.
#[derive(Debug, Clone)]
pub struct FrameRows<'o> {
    initial: Instructions<'o>,
    instructions: Instructions<'o>,
    /// The instruction that was read last.
    one: FrameInstruction<'o>,
    /// The rules after the CIE's instructions; `None` until they have been run.
    first: Option<Vec<(Reg, Rule<'o>)>>,
    row: FrameRow<'o>,
    remembered: Vec<Remembered<'o>>,
    /// The rules of all that are remembered, one after the other.
    remembered_rules: Vec<(Reg, Rule<'o>)>,
    /// The location of the row that comes next; `None` after the last.
    next: Option<u64>,
    end: u64,
    mask: u64,
}

/// What `DW_CFA_remember_state` puts on its stack, apart from the rules.
#[derive(Debug, Clone, Copy)]
struct Remembered<'o> {
    cfa: CfaRule<'o>,
    is_return_signed: bool,
    /// Where its rules start.
    rules: usize,
}

impl<'o> FrameRows<'o> {
    pub(super) fn new(initial: Instructions<'o>, instructions: Instructions<'o>, fde: &Fde<'o>) -> Self {
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
            one: FrameInstruction { offset: 0, opcode: 0, instruction: Instruction::Nop },
            first: None,
            row,
            remembered: Vec::new(),
            remembered_rules: Vec::new(),
            next: Some(fde.start),
            end: fde.start.wrapping_add(fde.length) & mask,
            mask,
        }
    }

    /// How the expressions of the rows are encoded.
    pub fn encoding(&self) -> Encoding {
        self.initial.encoding()
    }

    /// The next row. `None` after the last, and after an error.
    ///
    /// # Errors
    /// Those of [`Instructions`]; [`Malformed`](ErrorKind::Malformed) for an instruction that makes no sense
    /// where it is, or would use up memory.
    pub fn next_row(&mut self) -> Result<Option<&FrameRow<'o>>> {
        let Some(start) = self.next.take() else { return Ok(None) };
        if self.first.is_none() {
            while self.initial.read(&mut self.one)? {
                if self.run()?.is_some() {
                    return Err(self.fail("the location changes in a common information entry"));
                }
            }
            self.first = Some(self.row.rules.clone());
            self.remembered.clear();
            self.remembered_rules.clear();
        }
        self.row.start = start;
        self.row.end = self.end;
        while self.instructions.read(&mut self.one)? {
            if let Some(location) = self.run()? {
                self.row.end = location;
                self.next = Some(location);
                break;
            }
        }
        Ok(Some(&self.row))
    }

    /// The row for a pc, if there is one. Rows after it are not computed.
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row).
    pub fn find(mut self, pc: u64) -> Result<Option<FrameRow<'o>>> {
        while let Some(row) = self.next_row()? {
            if (row.start..row.end).contains(&pc) {
                return Ok(Some(self.row));
            }
        }
        Ok(None)
    }

    /// The row that was computed last.
    pub(super) fn into_row(self) -> FrameRow<'o> {
        self.row
    }

    /// Number of remembered rules.
    pub(super) fn remembered_rules(&self) -> usize {
        self.remembered_rules.len() + self.remembered.len()
    }

    /// Runs the instruction that was read; gives the new location if it makes one.
    #[inline(always)]
    fn run(&mut self) -> Result<Option<u64>> {
        crate::work::step();
        let row = &mut self.row;
        let mut set = |register, rule| row.set(register, rule);
        let done = match self.one.instruction {
            Instruction::Nop => Ok(()),
            Instruction::AdvanceLoc { bytes } => {
                return Ok(Some(self.row.start.wrapping_add(bytes) & self.mask));
            }
            Instruction::SetLoc { address } => return Ok(Some(address)),
            Instruction::DefCfa { register, offset } => {
                row.cfa = CfaRule::Register { register, offset, space: None };
                Ok(())
            }
            Instruction::DefAspaceCfa { register, offset, space } => {
                row.cfa = CfaRule::Register { register, offset, space: Some(space) };
                Ok(())
            }
            Instruction::DefCfaRegister { register: new } => match &mut row.cfa {
                CfaRule::Register { register, .. } => {
                    *register = new;
                    Ok(())
                }
                _ => Err(NO_REGISTER),
            },
            Instruction::DefCfaOffset { offset: new } => match &mut row.cfa {
                CfaRule::Register { offset, .. } => {
                    *offset = new;
                    Ok(())
                }
                _ => Err(NO_REGISTER),
            },
            Instruction::DefCfaExpression { expr } => {
                row.cfa = CfaRule::Expression(expr);
                Ok(())
            }
            Instruction::Undefined { register } => set(register, Rule::Undefined),
            Instruction::SameValue { register } => set(register, Rule::SameValue),
            Instruction::Offset { register, offset } => set(register, Rule::Offset(offset)),
            Instruction::ValOffset { register, offset } => set(register, Rule::ValOffset(offset)),
            Instruction::Register { register, from } => set(register, Rule::Register(from)),
            Instruction::Expression { register, expr } => set(register, Rule::Expression(expr)),
            Instruction::ValExpression { register, expr } => set(register, Rule::ValExpression(expr)),
            Instruction::Restore { register } => self.restore(register),
            Instruction::RememberState => self.remember(),
            Instruction::RestoreState => match self.remembered.pop() {
                Some(remembered) => {
                    row.cfa = remembered.cfa;
                    row.is_return_signed = remembered.is_return_signed;
                    row.rules.clear();
                    row.rules.extend_from_slice(&self.remembered_rules[remembered.rules..]);
                    self.remembered_rules.truncate(remembered.rules);
                    Ok(())
                }
                None => Err("no rules are remembered"),
            },
            Instruction::ArgsSize { bytes } => {
                row.args_size = bytes;
                Ok(())
            }
            Instruction::NegateRaState => {
                row.is_return_signed = !row.is_return_signed;
                Ok(())
            }
        };
        done.map(|()| None).map_err(|problem| self.fail(problem))
    }

    fn restore(&mut self, register: Reg) -> Result<(), &'static str> {
        let Some(first) = &self.first else { return Err("a rule is restored before there are any") };
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
            return Err("too many rules are remembered");
        }
        self.remembered_rules.extend_from_slice(&self.row.rules);
        let FrameRow { cfa, is_return_signed, .. } = self.row;
        self.remembered.push(Remembered { cfa, is_return_signed, rules });
        Ok(())
    }

    #[cold]
    fn fail(&self, problem: &str) -> Error {
        let one = &self.one;
        let error = Error::new(ErrorKind::Malformed(format!(
            "call frame instruction {:#04x}: {problem}",
            one.opcode
        )));
        error.in_section(self.initial.section().name()).at_offset(one.offset)
    }
}

const NO_REGISTER: &str = "the CFA is no register and offset";
