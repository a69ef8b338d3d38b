//! Objects typed by hand in which many entries refer to one list or one line program.

use eitri::emit::elf::{ObjectCode, new_object};
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::target::Target;

/// An object for x86-64 with sections typed by hand, of DWARF 4 in the 32-bit format.
pub fn object(
    code_bytes: u64,
    sections: &[(&'static str, Vec<u8>)],
    relocations: Vec<Relocation>,
) -> Vec<u8> {
    let section = |(name, bytes): &(&'static str, Vec<u8>)| Section {
        name,
        bytes: bytes.clone(),
        relocations: if *name == ".debug_info" { relocations.clone() } else { Vec::new() },
        is_strings: false,
        group: None,
    };
    let sections: Vec<_> = sections.iter().map(section).collect();
    let code = ObjectCode::text(vec![0; code_bytes as usize]).with_function("f", 0, code_bytes);
    new_object(&Target::x86_64(), &code, &sections).unwrap()
}

/// Returns bytes after their length, in 4 bytes.
pub fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

/// A function with a number of variables, each with the same list of as many entries.
pub fn shared_list(count: u64) -> Vec<u8> {
    // DW_TAG_compile_unit and DW_TAG_subprogram with DW_AT_low_pc and, as DW_FORM_data8, DW_AT_high_pc; DW_TAG_variable
    // with a DW_FORM_string and a DW_FORM_sec_offset.
    let abbreviations = [
        &[1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0, 2, 0x2e, 1, 0x11, 1, 0x12, 7, 0, 0][..],
        &[3, 0x34, 0, 3, 8, 2, 0x17, 0, 0, 0],
    ];
    let code = [0x10000u64.to_le_bytes(), count.to_le_bytes()].concat();
    let mut unit = [&[4, 0, 0, 0, 0, 0, 8, 1][..], &code, &[2], &code].concat();
    for number in 0..count {
        unit.push(3);
        unit.extend(format!("x{number}\0").bytes());
        unit.extend([0; 4]);
    }
    unit.extend([0, 0]);
    // Offsets from the start of the unit, and DW_OP_reg0.
    let mut list: Vec<u8> = (0..count)
        .flat_map(|pc| [&pc.to_le_bytes()[..], &(pc + 1).to_le_bytes(), &[1, 0, 0x50]].concat())
        .collect();
    list.extend([0; 16]);
    let info = with_length(&unit);
    object(
        count,
        &[(".debug_abbrev", abbreviations.concat()), (".debug_info", info), (".debug_loc", list)],
        Vec::new(),
    )
}

/// Returns a line program of DWARF 4: `instructions` from 0x10000 on, and the end of the sequence.
pub fn line_program(instructions: Vec<u8>) -> Vec<u8> {
    // Instructions of 1 byte, rows that are statements, special opcodes from 13 on; no folders, the file `a.c`.
    let header = [&[1, 1, 1, 0xfb, 14, 13][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], b"\0a.c\0\0\0\0\0"];
    // DW_LNE_set_address; DW_LNE_end_sequence.
    let start = [&[0, 9, 2][..], &0x10000u64.to_le_bytes()].concat();
    let program = [&[4, 0][..], &with_length(&header.concat()), &start, &instructions, &[0, 1, 1]].concat();
    with_length(&program)
}

/// Units with one line program of as many rows.
pub fn shared_lines(count: u64) -> Vec<u8> {
    // DW_TAG_compile_unit with a DW_FORM_string and, as DW_FORM_sec_offset, DW_AT_stmt_list.
    let abbreviations = vec![1, 0x11, 0, 3, 8, 0x10, 0x17, 0, 0, 0];
    let mut info = Vec::new();
    let mut relocations = Vec::new();
    for number in 0..count {
        let name = format!("{number}.c\0");
        let unit = with_length(&[&[4, 0, 0, 0, 0, 0, 8, 1][..], name.as_bytes(), &[0; 4]].concat());
        let fields = [(6, ".debug_abbrev"), (unit.len() - 4, ".debug_line")];
        relocations.extend(fields.map(|(offset, section)| Relocation {
            offset: (info.len() + offset) as u64,
            bytes: 4,
            target: RelocationTarget::Section(section),
            addend: 0,
        }));
        info.extend(unit);
    }
    // DW_LNS_copy and DW_LNS_advance_pc by 1 for each row.
    let lines = line_program((0..count).flat_map(|_| [1, 2, 1]).collect());
    let sections = [(".debug_abbrev", abbreviations), (".debug_info", info), (".debug_line", lines)];
    object(count, &sections, relocations)
}

/// Entries that reference the same range list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sharing {
    Functions,
    Calls,
    Blocks,
    /// Functions, each in a unit.
    Units,
}

impl Sharing {
    pub const ALL: [Self; 4] = [Self::Functions, Self::Calls, Self::Blocks, Self::Units];
}

/// Entries that reference the same range list, of as many ranges as entries, each with a variable that has a location
/// there; the line program has a row for each range.
pub fn shared_ranges(count: u64, sharing: Sharing) -> Vec<u8> {
    // DW_TAG_compile_unit with DW_AT_low_pc, DW_AT_high_pc as DW_FORM_data8, and DW_AT_stmt_list; DW_TAG_subprogram,
    // DW_TAG_inlined_subroutine and DW_TAG_lexical_block with DW_AT_name as DW_FORM_string and DW_AT_ranges as
    // DW_FORM_sec_offset; DW_TAG_variable with DW_AT_name and DW_AT_location as DW_FORM_exprloc.
    let ranged = |code: u8, tag: u8| [code, tag, 1, 3, 8, 0x55, 0x17, 0, 0];
    let abbreviations = [
        &[1, 0x11, 1, 0x11, 1, 0x12, 7, 0x10, 0x17, 0, 0][..],
        &ranged(2, 0x2e),
        &ranged(3, 0x1d),
        &ranged(4, 0x0b),
        &[5, 0x34, 0, 3, 8, 2, 0x18, 0, 0, 0],
    ];
    let unit = |entries: &[u8]| {
        let root =
            [&[4, 0, 0, 0, 0, 0, 8, 1][..], &0x10000u64.to_le_bytes(), &(2 * count).to_le_bytes(), &[0; 4]];
        with_length(&[&root.concat(), entries, &[0]].concat())
    };
    let variable = |number: u64| [&[5][..], format!("x{number}\0").as_bytes(), &[1, 0x50]].concat();
    let entry = |code: u8, number: u64| {
        let name = format!("f{number}\0");
        [&[code][..], name.as_bytes(), &[0; 4], &variable(number), &[0]].concat()
    };
    let all = |code: u8| (0..count).flat_map(|number| entry(code, number)).collect::<Vec<_>>();
    let within = |entries: &[u8]| unit(&[&[2, b'f', 0][..], &[0; 4], entries, &[0]].concat());
    let units: Vec<Vec<u8>> = match sharing {
        Sharing::Functions => vec![unit(&all(2))],
        Sharing::Calls => vec![within(&all(3))],
        Sharing::Blocks => vec![within(&all(4))],
        Sharing::Units => (0..count).map(|number| unit(&entry(2, number))).collect(),
    };
    // Offsets from the unit's start.
    let ranges =
        (0..count).flat_map(|number| [(2 * number).to_le_bytes(), (2 * number + 1).to_le_bytes()].concat());
    let ranges: Vec<u8> = ranges.chain([0; 16]).collect();
    let mut relocations = Vec::new();
    let mut info = Vec::new();
    for unit in units {
        relocations.extend([(6, ".debug_abbrev"), (28, ".debug_line")].map(|(offset, section)| Relocation {
            offset: (info.len() + offset) as u64,
            bytes: 4,
            target: RelocationTarget::Section(section),
            addend: 0,
        }));
        info.extend(unit);
    }
    let lines = line_program((0..count).flat_map(|_| [1, 2, 2, 3, 1]).collect());
    let sections = [
        (".debug_abbrev", abbreviations.concat()),
        (".debug_info", info),
        (".debug_ranges", ranges),
        (".debug_line", lines),
    ];
    object(2 * count, &sections, relocations)
}

/// A function whose code is as many ranges as its variable has location entries.
pub fn many_ranges(count: u64) -> Vec<u8> {
    let abbreviations = [
        &[1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0][..],
        &[2, 0x2e, 1, 3, 8, 0x55, 0x17, 0, 0],
        &[3, 0x34, 0, 3, 8, 2, 0x17, 0, 0, 0],
    ];
    let root = [0x10000u64.to_le_bytes(), (2 * count).to_le_bytes()].concat();
    let entries = [&[2, b'f', 0, 0, 0, 0, 0][..], &[3, b'x', 0, 0, 0, 0, 0], &[0, 0]].concat();
    let info = with_length(&[&[4, 0, 0, 0, 0, 0, 8, 1][..], &root, &entries].concat());
    let pcs = |number: u64| [(2 * number).to_le_bytes(), (2 * number + 1).to_le_bytes()].concat();
    let ranges: Vec<u8> = (0..count).flat_map(pcs).chain([0; 16]).collect();
    // DW_OP_reg0 to DW_OP_reg15.
    let entry = |number: u64| [&pcs(number)[..], &[1, 0, 0x50 + (number % 16) as u8]].concat();
    let list: Vec<u8> = (0..count).flat_map(entry).chain([0; 16]).collect();
    let sections = [
        (".debug_abbrev", abbreviations.concat()),
        (".debug_info", info),
        (".debug_ranges", ranges),
        (".debug_loc", list),
    ];
    object(2 * count, &sections, Vec::new())
}
