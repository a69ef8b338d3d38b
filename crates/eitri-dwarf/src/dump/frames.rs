//! Call frame information: rows, and in verbose dumps the instructions.

use std::fmt::{self, Write};

use super::text::Dump;
use crate::cfi;
use crate::op::{Encoding, Reg, text};
use crate::read::{
    CallFrameInstruction, CfaRule, Cie, Fde, FrameInstruction, FrameRow, FrameSection, Frames, RegisterRule,
};
use crate::target::{SpaceId, UnspecifiedRegisters};

/// Number of rules that a long row exceeds. CPU rows are shorter: AArch64 has 64 general and vector registers.
const LONG_ROW: usize = 96;
/// Number of rules that the long rows in a dump contain together. Later long rows contain the changes only, because the
/// text would otherwise grow with the square of the section.
pub(super) const MOST_RULES: usize = 1 << 14;

/// First row of a function: it has the rules of the common entry.
#[derive(Debug, Clone)]
pub(super) struct FirstRow<'d> {
    pc: u64,
    rules: Vec<(Reg, RegisterRule<'d>)>,
}

/// Returns the rules in a row that the row before it lacks, and the registers for which only the row before it has
/// rules. Both rows are sorted by register.
fn changes<'o>(
    before: &[(Reg, RegisterRule<'o>)],
    row: &[(Reg, RegisterRule<'o>)],
) -> (Vec<(Reg, RegisterRule<'o>)>, Vec<Reg>) {
    let mut changed = Vec::new();
    let mut removed = Vec::new();
    let mut before = before.iter().peekable();
    for &(register, rule) in row {
        while let Some((earlier, _)) = before.next_if(|(earlier, _)| *earlier < register) {
            removed.push(*earlier);
        }
        if before.next_if(|(earlier, _)| *earlier == register).is_none_or(|(_, earlier)| *earlier != rule) {
            changed.push((register, rule));
        }
    }
    removed.extend(before.map(|(earlier, _)| *earlier));
    (changed, removed)
}

/// Returns opcode, register and offset of an instruction that has a register as its only operand.
fn unvalued(instruction: &FrameInstruction<'_>) -> Option<(u8, Reg, u64)> {
    match instruction.instruction {
        CallFrameInstruction::Undefined { register } | CallFrameInstruction::SameValue { register } => {
            Some((instruction.opcode, register, instruction.offset))
        }
        _ => None,
    }
}

impl<'d> Dump<'_, 'd, '_> {
    pub(super) fn frames(&mut self) -> fmt::Result {
        let dwarf = self.dwarf;
        for section in [FrameSection::Debug, FrameSection::Eh] {
            let frames = dwarf.readable_frames(section);
            if frames.cies.is_empty() && frames.fdes.is_empty() && frames.errors.is_empty() {
                continue;
            }
            writeln!(self.out, "\nframes: {}", self.dwarf.sections().name(section.name()))?;
            if self.verbose {
                for cie in &frames.cies {
                    self.cie(&frames, cie)?;
                }
            }
            let mut errors = frames.errors.iter().peekable();
            for fde in &frames.fdes {
                while let Some(error) = errors.next_if(|error| error.at().offset <= Some(fde.offset)) {
                    writeln!(self.out, "<{error}>")?;
                }
                self.fde(&frames, fde)?;
            }
            for error in errors {
                writeln!(self.out, "<{error}>")?;
            }
        }
        Ok(())
    }

    fn cie(&mut self, frames: &Frames<'d>, cie: &Cie<'d>) -> fmt::Result {
        write!(self.out, "common: version {}, augmentation ", cie.version)?;
        self.quoted(cie.augmentation)?;
        if !cie.is_known {
            self.out.push_str(", which is unknown: the rest is not read");
            self.at(cie.offset)?;
            self.out.push('\n');
            return Ok(());
        }
        let code = cie.code_alignment;
        let data = cie.data_alignment;
        write!(self.out, ", code alignment {code}, data alignment {data}, return address ")?;
        self.register(cie.return_register)?;
        if let Some(personality) = cie.personality {
            let indirect = if personality.is_indirect { "*" } else { "" };
            write!(self.out, ", personality {indirect}{:#x}", personality.address)?;
        }
        if cie.is_signal {
            self.out.push_str(", signal frame");
        }
        self.at(cie.offset)?;
        self.out.push('\n');
        self.instructions(cie.encoding, frames.initial_instructions(cie))
    }

    fn fde(&mut self, frames: &Frames<'d>, fde: &Fde<'d>) -> fmt::Result {
        let cie = frames.cie(fde);
        let pcs = fde.start..fde.start.wrapping_add(fde.length);
        write!(self.out, "{}", self.object.pc_notation().pcs(&pcs))?;
        if cie.is_signal {
            self.out.push_str(" signal frame");
        }
        if let Some(lsda) = fde.lsda {
            write!(self.out, " lsda {:#x}", lsda.address)?;
        }
        if frames.recovered.binary_search(&fde.offset).is_ok() {
            self.out.push_str(", with the common entry before it");
        }
        self.at(fde.offset)?;
        if self.verbose {
            self.out.push_str(" common");
            self.at(cie.offset)?;
        }
        self.out.push('\n');
        if self.verbose {
            self.instructions(cie.encoding, frames.instructions(fde))?;
        }
        let mut rows = frames.rows(fde);
        // Nearly all registers in a cubin have rules, which rarely change.
        let is_short = self.object.is_cubin() && !self.verbose;
        let mut before: Vec<(Reg, RegisterRule<'d>)> = Vec::new();
        let mut is_first = true;
        loop {
            match rows.next_row() {
                Ok(Some(row)) => {
                    let is_long = row.rules.len().max(before.len()) > LONG_ROW;
                    // A list of overwritten registers is the same in all rows after the common entry.
                    let is_known = !is_first || self.commons.contains_key(&cie.offset);
                    let is_listed = is_long && is_known && !self.verbose && self.lists_registers();
                    let is_whole = !is_short && !is_listed && (!is_long || self.takes_rules(row.rules.len()));
                    if is_whole {
                        self.frame_row(cie.encoding, row, &[], None)?;
                    } else {
                        let first =
                            self.commons.get(&cie.offset).filter(|_| is_first && is_long && !is_short);
                        let known = first.map_or(&before[..], |first| &first.rules);
                        let (changed, removed) = changes(known, &row.rules);
                        let like = first.map(|first| first.pc);
                        self.frame_row(cie.encoding, &FrameRow { rules: changed, ..*row }, &removed, like)?;
                    }
                    if is_first && is_long {
                        let first = || FirstRow { pc: row.start, rules: row.rules.clone() };
                        self.commons.entry(cie.offset).or_insert_with(first);
                    }
                    is_first = false;
                    before.clone_from(&row.rules);
                }
                Ok(None) => return Ok(()),
                Err(error) => return writeln!(self.out, "  <{error}>"),
            }
        }
    }

    /// Returns whether a long row with this many rules is printed whole. The text says so when the first long row is
    /// not.
    fn takes_rules(&mut self, count: usize) -> bool {
        match self.rules_left.checked_sub(count) {
            Some(left) => self.rules_left = left,
            None if self.rules_left > 0 => {
                self.rules_left = 0;
                self.out.push_str("  changes only, in this and in each later row with many rules:\n");
                return false;
            }
            None => return false,
        }
        true
    }

    /// Returns whether common entries list the registers that a call overwrites, because debuggers take a register without
    /// a rule as unchanged.
    fn lists_registers(&self) -> bool {
        let frames = self.target.map(|target| target.call_frames());
        frames.is_some_and(|frames| frames.unspecified_registers == UnspecifiedRegisters::SameValue)
    }

    /// Returns whether a register is printed together with the register before it: where many registers have rules.
    fn joins(&self, register: Reg, next: Reg) -> bool {
        let is_known = |register| self.target.is_some_and(|target| target.register(register).is_some());
        (self.object.is_cubin() || self.lists_registers())
            && next.0 == register.0.wrapping_add(1)
            && is_known(register)
            && is_known(next)
    }

    /// Prints registers, separated by commas: runs of registers with consecutive numbers by their ends.
    fn registers(&mut self, registers: &[Reg]) -> fmt::Result {
        let mut rest = registers;
        while let Some(&first) = rest.first() {
            let more = rest.windows(2).take_while(|pair| self.joins(pair[0], pair[1])).count();
            if rest.len() < registers.len() {
                self.out.push(',');
            }
            self.register(first)?;
            if more > 0 {
                self.out.push('-');
                self.register(rest[more])?;
            }
            rest = &rest[more + 1..];
        }
        Ok(())
    }

    /// Prints a row, and the registers whose rules ended before it; with `like`, the rules that are not printed are those
    /// of the row at that pc.
    fn frame_row(
        &mut self,
        encoding: Encoding,
        row: &FrameRow<'_>,
        removed: &[Reg],
        like: Option<u64>,
    ) -> fmt::Result {
        let notation = self.object.pc_notation();
        self.out.push_str("  ");
        self.out.pc(&notation.pc(row.start), 12)?;
        self.out.push(' ');
        if let Some(pc) = like {
            write!(self.out, "as at {}, but ", notation.pc(pc))?;
        }
        self.out.push_str("cfa=");
        match row.cfa {
            CfaRule::Unset => self.out.push_str("unset"),
            CfaRule::Register { register, offset, space } => {
                self.register(register)?;
                write!(self.out, "{offset:+}")?;
                if let Some(space) = space {
                    self.space(space)?;
                }
            }
            CfaRule::Expression(expr) => self.frame_expression(encoding, expr)?,
        }
        let mut listed: [bool; 2] = Default::default();
        let mut next = 0;
        for (index, &(_, rule)) in row.rules.iter().enumerate() {
            if index < next {
                continue;
            }
            // All registers without a value in the caller are one item, and so are all registers that keep theirs.
            let kind = match rule {
                RegisterRule::Undefined => Some(0),
                RegisterRule::SameValue => Some(1),
                _ => None,
            };
            if kind.is_some_and(|kind| std::mem::replace(&mut listed[kind], true)) {
                continue;
            }
            self.out.push(' ');
            let rest = &row.rules[index..];
            let same = match kind {
                Some(_) => rest.iter().filter(|(_, other)| *other == rule).map(|rule| rule.0).collect(),
                None => {
                    let is_joined = |(this, that): &(Reg, RegisterRule<'_>),
                                     next: &(Reg, RegisterRule<'_>)| {
                        that == &next.1 && self.joins(*this, next.0)
                    };
                    let run = rest.chunk_by(is_joined).next().unwrap_or_default();
                    next = index + run.len();
                    run.iter().map(|rule| rule.0).collect::<Vec<_>>()
                }
            };
            self.registers(&same)?;
            self.out.push('=');
            match rule {
                RegisterRule::Undefined => self.out.push_str("undefined"),
                RegisterRule::SameValue => self.out.push_str("same"),
                RegisterRule::Offset(offset) => write!(self.out, "[cfa{offset:+}]")?,
                RegisterRule::ValOffset(offset) => write!(self.out, "cfa{offset:+}")?,
                RegisterRule::Register(from) => self.register(from)?,
                RegisterRule::Expression(expr) => {
                    self.out.push('[');
                    self.frame_expression(encoding, expr)?;
                    self.out.push(']');
                }
                RegisterRule::ValExpression(expr) => self.frame_expression(encoding, expr)?,
            }
        }
        if !removed.is_empty() {
            self.out.push(' ');
            self.registers(removed)?;
            self.out.push_str("=unset");
        }
        if row.args_size != 0 {
            write!(self.out, " args_size={}", row.args_size)?;
        }
        if row.is_return_signed {
            self.out.push_str(" return_address=signed");
        }
        self.out.push('\n');
        Ok(())
    }

    fn frame_expression(&mut self, encoding: Encoding, expr: &[u8]) -> fmt::Result {
        write!(self.out, "({})", text::print(expr, encoding, self.target))
    }

    /// Prints the address space, by name if it has a name.
    fn space(&mut self, space: u64) -> fmt::Result {
        let known = u32::try_from(space).ok().and_then(|space| self.target?.space(SpaceId(space)));
        match known {
            Some(known) => write!(self.out, " in {}", known.name),
            None => write!(self.out, " in space {space}"),
        }
    }

    /// Prints instructions. Neighbours that say the same about different registers, without other operands, are one item
    /// with the offset of the first instruction.
    fn instructions<'i>(
        &mut self,
        encoding: Encoding,
        instructions: impl Iterator<Item = crate::error::Result<FrameInstruction<'i>>>,
    ) -> fmt::Result {
        let mut instructions = instructions.peekable();
        while let Some(next) = instructions.next() {
            let Some((opcode, register, offset)) = next.as_ref().ok().and_then(unvalued) else {
                self.instruction(encoding, next)?;
                continue;
            };
            let mut registers = vec![register];
            let same = |next: &crate::error::Result<FrameInstruction<'i>>| {
                next.as_ref().ok().and_then(unvalued).filter(|next| next.0 == opcode)
            };
            while let Some((_, register, _)) = instructions.peek().and_then(same) {
                registers.push(register);
                instructions.next();
            }
            let name = cfi::row(opcode).map_or("DW_CFA", |row| row.name);
            write!(self.out, "  {name} ")?;
            self.registers(&registers)?;
            self.at(offset)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        encoding: Encoding,
        one: crate::error::Result<FrameInstruction<'_>>,
    ) -> fmt::Result {
        let FrameInstruction { offset, opcode, instruction } = match one {
            Ok(one) => one,
            Err(error) => return writeln!(self.out, "  <{error}>"),
        };
        self.out.push_str("  ");
        match cfi::row(opcode) {
            Some(row) => self.out.push_str(row.name),
            None => write!(self.out, "DW_CFA_{opcode:#04x}")?,
        }
        let (register, offset_by) = match instruction {
            CallFrameInstruction::DefCfa { register, offset }
            | CallFrameInstruction::DefAspaceCfa { register, offset, .. }
            | CallFrameInstruction::Offset { register, offset }
            | CallFrameInstruction::ValOffset { register, offset } => (Some(register), Some(offset)),
            CallFrameInstruction::DefCfaOffset { offset } => (None, Some(offset)),
            CallFrameInstruction::DefCfaRegister { register }
            | CallFrameInstruction::Undefined { register }
            | CallFrameInstruction::SameValue { register }
            | CallFrameInstruction::Register { register, .. }
            | CallFrameInstruction::Expression { register, .. }
            | CallFrameInstruction::ValExpression { register, .. }
            | CallFrameInstruction::Restore { register } => (Some(register), None),
            _ => (None, None),
        };
        if let Some(register) = register {
            self.out.push(' ');
            self.register(register)?;
        }
        if let Some(by) = offset_by {
            write!(self.out, " {by:+}")?;
        }
        match instruction {
            CallFrameInstruction::AdvanceLoc { bytes } | CallFrameInstruction::ArgsSize { bytes } => {
                write!(self.out, " {bytes}")?;
            }
            CallFrameInstruction::SetLoc { address } => {
                write!(self.out, " {}", self.object.pc_notation().pc(address))?;
            }
            CallFrameInstruction::DefAspaceCfa { space, .. } => self.space(space)?,
            CallFrameInstruction::Register { from, .. } => {
                self.out.push(' ');
                self.register(from)?;
            }
            CallFrameInstruction::DefCfaExpression { expr }
            | CallFrameInstruction::Expression { expr, .. }
            | CallFrameInstruction::ValExpression { expr, .. } => {
                self.out.push(' ');
                self.frame_expression(encoding, expr)?;
            }
            _ => {}
        }
        self.at(offset)?;
        self.out.push('\n');
        Ok(())
    }
}
