//! Call frame rules by column: the pcs at which each rule of the CFA and of a register is in force. DWARF 5 section 6.4.1.

use core::ops::Range;

use hashbrown::HashMap;

use super::frame_rows::{CfaRule, FrameRows, RegisterRule};
use super::pc_notation::PcNotation;
use crate::error::Result;
use crate::op::Reg;

/// A rule of the CFA or of a register, with the pcs at which it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameRun<R> {
    /// Half-open pcs; not empty.
    pub pcs: Range<u64>,
    /// The rule.
    pub rule: R,
}

/// The rules of an FDE by column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameColumns<'o> {
    /// Rules of the CFA, in the order of pcs. At pcs without a rule, the rule is [`Unset`](CfaRule::Unset).
    pub cfa: Vec<FrameRun<CfaRule<'o>>>,
    /// Rules of each register that has a rule at some pc, in the order of pcs; sorted by register.
    pub registers: Vec<(Reg, Vec<FrameRun<RegisterRule<'o>>>)>,
    /// Whether a row has a size of arguments, or a signed return address.
    pub has_state: bool,
}

impl<'o> FrameColumns<'o> {
    /// Reads all rows. Each rule is looked at where it changes only, so that the work does not depend on the number of
    /// rules in a row.
    pub(super) fn new(mut rows: FrameRows<'o>, pcs: Range<u64>, notation: PcNotation<'_>) -> Result<Self> {
        let mut cfa = Vec::new();
        let mut registers: HashMap<Reg, Vec<FrameRun<RegisterRule<'o>>>> = HashMap::new();
        let mut has_state = false;
        while rows.advance()? {
            let (row, changed) = rows.changes();
            // Readers use no rows after the end of the function.
            if row.start >= pcs.end {
                break;
            }
            if row.end < row.start {
                let [from, to] = [row.start, row.end].map(|pc| notation.pc(pc));
                return Err(rows.fail(&format!("the location goes back from {from} to {to}")));
            }
            let from = row.start..pcs.end;
            has_state |= row.args_size != 0 || row.is_return_signed;
            change(&mut cfa, &from, Some(row.cfa));
            for &register in changed {
                change(registers.entry(register).or_default(), &from, row.rule(register));
            }
        }
        let mut registers: Vec<_> = registers.into_iter().filter(|(_, runs)| !runs.is_empty()).collect();
        registers.sort_unstable_by_key(|&(register, _)| register);
        Ok(Self { cfa, registers, has_state })
    }
}

/// Changes a column's rule from a pc on. The run that is in force there reaches to the end of the function.
fn change<R: PartialEq>(runs: &mut Vec<FrameRun<R>>, from: &Range<u64>, rule: Option<R>) {
    crate::work::step();
    if let Some(last) = runs.last_mut().filter(|last| last.pcs.end > from.start) {
        if rule.as_ref() == Some(&last.rule) {
            return;
        }
        last.pcs.end = from.start;
        if last.pcs.is_empty() {
            runs.pop();
        }
    }
    let Some(rule) = rule else { return };
    match runs.last_mut() {
        Some(last) if last.rule == rule && last.pcs.end == from.start => last.pcs.end = from.end,
        _ => runs.push(FrameRun { pcs: from.clone(), rule }),
    }
}

#[cfg(test)]
mod tests {
    use crate::op::{Dialect, Encoding, Reg};
    use crate::read::{FrameColumns, FrameSection, Frames, RegisterRule, Sections};
    use crate::work::steps;

    /// Runs `read` on a function at 0x1000 with call frame instructions.
    fn read<R>(bytes: u64, instructions: &[u8], read: impl FnOnce(&Frames<'_>) -> R) -> R {
        let entry = |id: u32, rest: &[u8]| {
            let bytes = [&id.to_le_bytes()[..], rest].concat();
            [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
        };
        // The CFA is r7+8, and r16 is saved at CFA-8.
        let cie = entry(u32::MAX, &[4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1]);
        let code = [0x1000u64.to_le_bytes(), bytes.to_le_bytes()].concat();
        let section = [cie, entry(0, &[&code, instructions].concat())].concat();
        let sections = Sections { debug_frame: &section, ..Sections::default() };
        let encoding = Encoding::new(8, Dialect::Dwarf5);
        read(&Frames::read(&sections, FrameSection::Debug, encoding).expect("it is read"))
    }

    fn columns(frames: &Frames<'_>) -> String {
        let FrameColumns { cfa, registers, .. } = frames.columns(&frames.fdes[0]).expect("it is read");
        let cfa = cfa.iter().map(|run| format!("{:#x?} {:?}", run.pcs, run.rule));
        let registers = registers.iter().flat_map(|(register, runs)| {
            runs.iter().map(move |run| format!("{:#x?} r{} {:?}", run.pcs, register.0, run.rule))
        });
        cfa.chain(registers).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn rules_are_in_force_from_where_they_change() {
        // After 4 bytes: r3 is saved at CFA-16. After 8: the CFA is r7+24, and the rules are remembered. After 12: r3 is
        // unchanged and r16 undefined. After 16: as remembered. After 20, twice: r3 undefined, then saved as before.
        let instructions = [
            0x44, 0x83, 2, 0x44, 0x0e, 24, 0x0a, 0x44, 0x08, 3, 0x07, 16, 0x44, 0x0b, 0x44, 0x07, 3, 0x83, 2,
        ];
        let expected = "\
0x1000..0x1008 Register { register: Reg(7), offset: 8, space: None }
0x1008..0x1020 Register { register: Reg(7), offset: 24, space: None }
0x1004..0x100c r3 Offset(-16)
0x100c..0x1010 r3 SameValue
0x1010..0x1020 r3 Offset(-16)
0x1000..0x100c r16 Offset(-8)
0x100c..0x1010 r16 Undefined
0x1010..0x1020 r16 Offset(-8)";
        assert_eq!(read(0x20, &instructions, columns), expected);
    }

    /// Each instruction by a number, over all kinds that change rules.
    fn instruction(number: u64) -> Vec<u8> {
        let register = (number / 11 % 5) as u8;
        let offset = (number / 59 % 3) as u8;
        match number % 11 {
            0..=2 => vec![0x40 | (number / 7 % 4) as u8],
            3 => vec![0x80 | register, offset],
            4 => vec![0xc0 | register],
            5 => vec![0x08, register],
            6 => vec![0x07, register],
            7 => vec![0x0e, 8 * offset],
            8 => vec![0x0a, 0x80 | register, offset, 0x41, 0x0b],
            9 => vec![0x14, register, offset],
            _ => vec![0x09, register, offset],
        }
    }

    #[test]
    fn columns_agree_with_rows_at_each_pc() {
        let mut state = 1u64;
        for _ in 0..200 {
            let instructions: Vec<u8> = (0..60)
                .flat_map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    instruction(state >> 33)
                })
                .collect();
            read(50, &instructions, |frames| {
                let columns = frames.columns(&frames.fdes[0]).expect("it is read");
                for pc in 0x1000..0x1032 {
                    // Rows of one pc follow each other; the last is in force.
                    let row = frames.rows(&frames.fdes[0]).find(pc).expect("it is read").expect("a row");
                    let cfa = columns.cfa.iter().find(|run| run.pcs.contains(&pc)).map(|run| run.rule);
                    assert_eq!(cfa, Some(row.cfa), "{pc:#x}: {instructions:x?}");
                    let rules: Vec<(Reg, RegisterRule<'_>)> = columns
                        .registers
                        .iter()
                        .filter_map(|(register, runs)| {
                            let run = runs.iter().find(|run| run.pcs.contains(&pc))?;
                            Some((*register, run.rule))
                        })
                        .collect();
                    assert_eq!(rules, row.rules, "{pc:#x}: {instructions:x?}");
                }
            });
        }
    }

    #[test]
    fn location_that_goes_back_is_an_error() {
        let back = [0x48, 0x01, 0x04, 0x10, 0, 0, 0, 0, 0, 0];
        let error = read(0x20, &back, |frames| frames.columns(&frames.fdes[0]).unwrap_err().to_string());
        assert!(error.contains("the location goes back from 0x1008 to 0x1004"), "{error}");
    }

    #[test]
    fn rows_after_the_end_are_not_used() {
        let after = [0x48, 0x0e, 16, 0x60, 0x0e, 24];
        let text = read(0x20, &after, columns);
        assert!(text.contains("0x1008..0x1020") && !text.contains("24"), "{text}");
    }

    /// A row changes one rule of many.
    #[test]
    fn work_does_not_depend_on_the_rules_of_a_row() {
        let steps = |count: u64| {
            let listed = (0..count).flat_map(|register| [0x07, 0x80 | register as u8, (register >> 7) as u8]);
            let rows = (0..count).flat_map(|row| [0x41, 0x08, 0x80 | row as u8, (row >> 7) as u8]);
            let instructions: Vec<u8> = listed.chain(rows).collect();
            read(2 * count, &instructions, |frames| steps(|| drop(frames.columns(&frames.fdes[0]))))
        };
        let few = steps(200);
        let many = steps(1600);
        assert!(few > 0 && many < 9 * few, "{few} steps, and {many} for eight times as many");
    }
}
