//! Rules of a function's frame, and what each reads.

use std::ops::Range;

use super::file::File;
use super::shape::{self, LocationShape, Selected};
use super::witness::Site;
use eitri_dwarf::op::{Decoder, Encoding, Op, Reg};
use eitri_dwarf::read::{CfaRule, Fde, FrameColumns, Frames, RegisterRule};
use eitri_dwarf::target::code::{EXEC, RegisterKind, VCC};

/// A register of an instruction.
pub(super) type Register = (RegisterKind, u16);

/// Rule of a register, or of the canonical frame address.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule<'r> {
    Cfa(CfaRule<'r>),
    Register(RegisterRule<'r>),
}

/// A register that a rule reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) register: Register,
    /// The elements of a vector register that are read; `None` for all.
    pub(super) lanes: Option<Range<u64>>,
}

/// Meaning of a rule.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) reads: Vec<Read>,
    /// Whether all bits of the register are in memory.
    pub(super) is_whole_memory: bool,
    /// Whether the value of `exec` at the function's entry is read.
    pub(super) reads_entry_exec: bool,
}

/// Rules of a frame description entry.
#[derive(Debug)]
pub(super) struct FrameRules<'r> {
    pub(super) columns: FrameColumns<'r>,
    pub(super) encoding: Encoding,
    pub(super) return_register: Reg,
}

/// Names of the registers without a number.
const NAMES: [(&str, u16); 6] =
    [("vcc", VCC), ("vcc_32", VCC), ("vcc_64", VCC), ("exec", EXEC), ("exec_32", EXEC), ("exec_64", EXEC)];

/// Returns the register that instructions name for a register of DWARF.
pub(super) fn register(file: &File<'_, '_>, reg: Reg) -> Option<Register> {
    file.operand(reg).or_else(|| {
        let name = file.name(reg);
        let known = NAMES.iter().find(|known| known.0 == name)?;
        Some((RegisterKind::Scalar, known.1))
    })
}

/// Returns a register's name in instructions.
pub(super) fn name((kind, number): Register) -> String {
    let prefix = match kind {
        RegisterKind::Scalar if number == VCC => return "vcc".into(),
        RegisterKind::Scalar => 's',
        RegisterKind::Vector => 'v',
        RegisterKind::Accumulator => 'a',
    };
    format!("{prefix}{number}")
}

impl<'r> FrameRules<'r> {
    /// Reads the rules. `None` if an instruction cannot be read, or rows are not in the order of pcs.
    pub(super) fn new(frames: &Frames<'r>, fde: &Fde<'r>) -> Option<Self> {
        let cie = frames.cie(fde);
        let columns = frames.columns(fde).ok()?;
        Some(Self { columns, encoding: cie.encoding, return_register: cie.return_register })
    }

    /// Returns the rule of a column at a pc.
    pub(super) fn column(&self, number: usize, pc: u64) -> Option<RegisterRule<'r>> {
        let runs = &self.columns.registers[number].1;
        let run = runs[..runs.partition_point(|run| run.pcs.start <= pc)].last()?;
        run.pcs.contains(&pc).then_some(run.rule)
    }

    /// Returns what a rule of a column says.
    pub(super) fn meaning(&self, file: &File<'_, '_>, column: Option<Reg>, rule: Rule<'r>) -> Meaning {
        let mut meaning = Meaning::default();
        let whole = |reg: Reg| Some(Read { register: register(file, reg)?, lanes: None });
        match rule {
            Rule::Cfa(CfaRule::Register { register: reg, .. }) => meaning.reads.extend(whole(reg)),
            Rule::Cfa(CfaRule::Expression(expr)) => {
                self.expression(file, column, (expr, Site::FrameAddress), &mut meaning)
            }
            Rule::Register(RegisterRule::Register(reg)) => {
                let lanes = column.and_then(|column| elements(file, 0, register_bits(file, column)?));
                meaning.reads.extend(whole(reg).map(|read| in_elements(read, lanes)));
            }
            Rule::Register(RegisterRule::Offset(_)) => meaning.is_whole_memory = true,
            Rule::Register(RegisterRule::Expression(expr)) => {
                self.expression(file, column, (expr, Site::Rule), &mut meaning)
            }
            Rule::Register(RegisterRule::ValExpression(expr)) => {
                self.expression(file, column, (expr, Site::ValueRule), &mut meaning)
            }
            _ => {}
        }
        meaning
    }

    fn expression(
        &self,
        file: &File<'_, '_>,
        column: Option<Reg>,
        (expr, site): (&[u8], Site),
        meaning: &mut Meaning,
    ) {
        let shape = shape::analyze(&[site.operations(), expr].concat(), self.encoding, &|_| None);
        let bits = column.and_then(|column| register_bits(file, column));
        let selected = |part: &shape::PartShape| match part.place {
            LocationShape::Register(reg, selected) => {
                let (offset, bits) = match selected {
                    Selected::Nothing => (0, part.bits.or(bits)?),
                    Selected::Bits(offset) => (offset, part.bits.or(bits)?),
                    Selected::Piece(offset, bits) => (offset, bits),
                    _ => return None,
                };
                let read = Read { register: register(file, reg)?, lanes: None };
                Some(in_elements(read, elements(file, offset, bits)))
            }
            _ => None,
        };
        let parts: Option<Vec<_>> = shape.parts.iter().map(selected).collect();
        if let Some(parts) = parts.filter(|parts| !parts.is_empty()) {
            meaning.reads.extend(parts);
            return;
        }
        meaning.is_whole_memory = matches!(&shape.parts[..], [part] if matches!(part.place, LocationShape::Memory { .. }))
            && matches!(site, Site::Rule);
        let mut registers: Vec<Reg> = Vec::new();
        for decoded in Decoder::new(expr, self.encoding).map_while(Result::ok) {
            match decoded.op {
                Op::CallFrameEntryReg { reg } => {
                    meaning.reads_entry_exec |= register(file, reg) == Some((RegisterKind::Scalar, EXEC));
                }
                Op::RegX { reg } | Op::BregX { reg, .. } => registers.push(reg),
                _ => {}
            }
        }
        registers.dedup();
        // Numbers computed from several registers can change together, and elements that the function has not saved are
        // still in the register itself.
        if let [reg] = registers[..]
            && Some(reg) != column
        {
            meaning.reads.extend(register(file, reg).map(|register| Read { register, lanes: None }));
        }
    }
}

fn register_bits(file: &File<'_, '_>, reg: Reg) -> Option<u64> {
    Some(file.target.as_ref()?.register(reg)?.bits.into())
}

/// Returns the elements of a vector register that some bits are in; `None` for all elements.
fn elements(file: &File<'_, '_>, offset: u64, bits: u64) -> Option<Range<u64>> {
    let lanes = u64::from(file.target.as_ref()?.lanes());
    let elements = offset / 32..offset.saturating_add(bits).div_ceil(32);
    (elements != (0..lanes)).then_some(elements)
}

/// Returns what is read in some elements. A scalar register has a single one.
fn in_elements(read: Read, lanes: Option<Range<u64>>) -> Read {
    let is_scalar = read.register.0 == RegisterKind::Scalar;
    Read { lanes: lanes.filter(|_| !is_scalar), ..read }
}
