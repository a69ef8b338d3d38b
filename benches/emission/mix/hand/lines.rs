//! `.debug_line`.

use super::super::content::{DIRECTORY, Function, Mix, Row, Unit};
use super::bytes::{begin_length, end_length, sleb, uleb};

const OPCODE_BASE: u8 = 13;
/// Number of operands of each standard opcode.
const OPERANDS: [u8; OPCODE_BASE as usize - 1] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// Parameters of special opcodes: DWARF 5 section 6.2.5.1.
#[derive(Clone, Copy)]
struct Special {
    base: i64,
    range: u64,
}

/// Candidates, as in eitri. The shortest one is chosen for each unit.
const SPECIAL: [Special; 3] =
    [Special { base: -5, range: 14 }, Special { base: -1, range: 6 }, Special { base: -20, range: 42 }];

/// Opcodes between two rows.
struct Step {
    lines: i64,
    const_adds: usize,
    instructions: u64,
    special: u8,
}

/// Appends the line program of a unit.
pub fn write(out: &mut Vec<u8>, mix: &Mix, unit: &Unit, functions: &[Function]) {
    let step = u64::from(mix.shape.machine.step());
    let special = survey(mix, functions, step);
    let length = begin_length(out);
    out.extend_from_slice(&[5, 0, 8, 0]);
    let header = begin_length(out);
    out.extend_from_slice(&[step as u8, 1, 1, special.base as u8, special.range as u8, OPCODE_BASE]);
    out.extend_from_slice(&OPERANDS);
    let string = gimli::DW_FORM_string.0 as u8;
    out.extend_from_slice(&[1, gimli::DW_LNCT_path.0 as u8, string, 1]);
    text(out, mix.text(DIRECTORY));
    out.extend_from_slice(&[2, gimli::DW_LNCT_path.0 as u8, string]);
    out.extend_from_slice(&[gimli::DW_LNCT_directory_index.0 as u8, gimli::DW_FORM_udata.0 as u8, 2]);
    for file in [unit.name, unit.header] {
        text(out, mix.text(file));
        out.push(0);
    }
    end_length(out, header);
    for function in functions {
        let (rows, Some(code)) = (&mix.rows[function.rows.clone()], function.code) else { continue };
        if !rows.is_empty() {
            out.extend_from_slice(&[0, 9, gimli::DW_LNE_set_address.0]);
            out.extend_from_slice(&code.address.to_le_bytes());
            sequence(out, rows, u64::from(code.bytes), special, step);
        }
    }
    end_length(out, length);
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn sequence(out: &mut Vec<u8>, rows: &[Row], end: u64, special: Special, step: u64) {
    let mut last = Row { pc: 0, line: 1, column: 0, is_in_header: true, is_stmt: true };
    for &row in rows {
        if row.is_in_header != last.is_in_header {
            out.extend_from_slice(&[gimli::DW_LNS_set_file.0, row.is_in_header.into()]);
        }
        if row.column != last.column {
            out.push(gimli::DW_LNS_set_column.0);
            uleb(out, row.column.into());
        }
        if row.is_stmt != last.is_stmt {
            out.push(gimli::DW_LNS_negate_stmt.0);
        }
        let (instructions, lines) = advance(&last, &row, step);
        let next = special.step(instructions, lines);
        if next.lines != 0 {
            out.push(gimli::DW_LNS_advance_line.0);
            sleb(out, next.lines);
        }
        for _ in 0..next.const_adds {
            out.push(gimli::DW_LNS_const_add_pc.0);
        }
        if next.instructions != 0 {
            out.push(gimli::DW_LNS_advance_pc.0);
            uleb(out, next.instructions);
        }
        out.push(next.special);
        last = row;
    }
    let instructions = (end - u64::from(last.pc)) / step;
    if instructions == special.const_add() {
        out.push(gimli::DW_LNS_const_add_pc.0);
    } else if instructions > 0 {
        out.push(gimli::DW_LNS_advance_pc.0);
        uleb(out, instructions);
    }
    out.extend_from_slice(&[0, 1, gimli::DW_LNE_end_sequence.0]);
}

fn advance(last: &Row, row: &Row, step: u64) -> (u64, i64) {
    (u64::from(row.pc - last.pc) / step, i64::from(row.line) - i64::from(last.line))
}

/// Parameters with the fewest bytes for the unit's rows.
fn survey(mix: &Mix, functions: &[Function], step: u64) -> Special {
    let mut bytes = [0; SPECIAL.len()];
    for function in functions {
        let mut last = Row { pc: 0, line: 1, column: 0, is_in_header: true, is_stmt: true };
        for row in &mix.rows[function.rows.clone()] {
            let (instructions, lines) = advance(&last, row, step);
            for (sum, special) in bytes.iter_mut().zip(SPECIAL) {
                *sum += special.step(instructions, lines).bytes();
            }
            last = *row;
        }
    }
    let least = bytes.iter().zip(SPECIAL).min_by_key(|(bytes, _)| **bytes);
    least.map_or(SPECIAL[0], |(_, special)| special)
}

impl Special {
    fn const_add(self) -> u64 {
        u64::from(255 - OPCODE_BASE) / self.range
    }

    #[inline]
    fn step(self, instructions: u64, lines: i64) -> Step {
        let Self { base, range } = self;
        let most = base + range as i64 - 1;
        let in_special = if (base..=most).contains(&lines) {
            lines
        } else {
            let closest = if lines < base { base } else { most };
            if sleb_len(lines - closest) < sleb_len(lines) { closest } else { 0 }
        };
        let first = u64::from(OPCODE_BASE) + (in_special - base) as u64;
        let (room, add) = ((255 - first) / range, self.const_add());
        let (const_adds, alone, too) = match instructions {
            _ if instructions <= room => (0, 0, instructions),
            _ if (add..=add + room).contains(&instructions) => (1, 0, instructions - add),
            _ if (2 * add..=2 * add + room).contains(&instructions) => (2, 0, instructions - 2 * add),
            _ if uleb_len(instructions - room) < uleb_len(instructions) => (0, instructions - room, room),
            _ => (0, instructions, 0),
        };
        let special = (first + range * too) as u8;
        Step { lines: lines - in_special, const_adds, instructions: alone, special }
    }
}

impl Step {
    fn bytes(&self) -> usize {
        let lines = if self.lines == 0 { 0 } else { 1 + sleb_len(self.lines) };
        let instructions = if self.instructions == 0 { 0 } else { 1 + uleb_len(self.instructions) };
        1 + self.const_adds + lines + instructions
    }
}

fn uleb_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

fn sleb_len(value: i64) -> usize {
    (65 - ((value ^ (value >> 63)) as u64).leading_zeros() as usize).div_ceil(7)
}
