//! The table of call frame instructions, compared with DWARF 5 and gimli.

use eitri::cfi::{self, CfiOperand};
use eitri::gimli::DwCfa;
use eitri::op::Dialect;

/// DWARF 5 table 7.29, typed from the text: high two bits and low six bits of the code, name, operands. `delta` of
/// `advance_loc` and the registers of `offset` and `restore` are the low six bits.
const STANDARD: &str = "
40 advance_loc delta
80 offset register uleb
c0 restore register
00 nop
01 set_loc address
02 advance_loc1 1-byte
03 advance_loc2 2-byte
04 advance_loc4 4-byte
05 offset_extended uleb uleb
06 restore_extended uleb
07 undefined uleb
08 same_value uleb
09 register uleb uleb
0a remember_state
0b restore_state
0c def_cfa uleb uleb
0d def_cfa_register uleb
0e def_cfa_offset uleb
0f def_cfa_expression block
10 expression uleb block
11 offset_extended_sf uleb sleb
12 def_cfa_sf uleb sleb
13 def_cfa_offset_sf sleb
14 val_offset uleb uleb
15 val_offset_sf uleb sleb
16 val_expression uleb block
";

fn kind(operand: CfiOperand) -> &'static str {
    match operand {
        CfiOperand::LowSteps => "delta",
        CfiOperand::LowRegister => "register",
        CfiOperand::Steps1 => "1-byte",
        CfiOperand::Steps2 => "2-byte",
        CfiOperand::Steps4 => "4-byte",
        CfiOperand::Steps8 => "8-byte",
        CfiOperand::Address => "address",
        CfiOperand::SignedFactored => "sleb",
        CfiOperand::Expression => "block",
        _ => "uleb",
    }
}

#[test]
fn the_standard_rows_are_those_of_the_text() {
    let mut rows: Vec<String> = Vec::new();
    for row in cfi::ROWS.iter().filter(|row| row.since > 0) {
        let name = row.name.strip_prefix("DW_CFA_").expect("the prefix");
        let operands = row.operands.iter().map(|&(_, operand)| kind(operand));
        let words: Vec<&str> = [name].into_iter().chain(operands).collect();
        rows.push(format!("{:02x} {}", row.code, words.join(" ")));
    }
    assert_eq!(rows.join("\n"), STANDARD.trim());
}

/// gimli does not have the instructions of AMD's extension.
#[test]
fn codes_and_names_are_those_of_gimli() {
    let codes = (0..0x40).chain([0x40, 0x80, 0xc0]);
    for code in codes {
        let bounds = ["DW_CFA_lo_user", "DW_CFA_hi_user"];
        let theirs = DwCfa(code).static_string().filter(|name| !bounds.contains(name));
        let ours = cfi::row(code).filter(|row| !row.is_amd).map(|row| row.name);
        assert_eq!(ours, theirs, "{code:#04x}");
    }
}

/// The versions of the standard: DWARF 2 section 7.23 ends at 0x0e, DWARF 3 section 7.23 at 0x16.
#[test]
fn versions_are_those_of_the_texts() {
    for row in cfi::ROWS {
        let since = match row.code {
            ..=0x0e | 0x40 | 0x80 | 0xc0 => 2,
            0x0f..=0x16 => 3,
            _ => 0,
        };
        assert_eq!(row.since, since, "{}", row.name);
    }
}

#[test]
fn amd_numbers_two_instructions() {
    let amd: Vec<u8> = cfi::ROWS.iter().filter(|row| row.is_amd).map(|row| row.code).collect();
    assert_eq!(amd, [0x30, 0x31]);
    for row in cfi::ROWS {
        assert!(row.is_in(Dialect::Llvm) && row.is_in(Dialect::Legacy), "{}", row.name);
        assert_eq!(row.is_in(Dialect::Dwarf5), !row.is_amd, "{}", row.name);
    }
}
