//! Values that a form alone does not determine, encoded by hand.

use eitri::op::{Dialect, Encoding, Reg};
use eitri::read::{CfaRule, Dwarf, FrameSection, Frames, ReadOptions, ResolvedValue, Sections};
use gimli::constants as dw;

use crate::common::with;
use crate::reader::bytes::Bytes;

/// Attributes whose classes are or include `exprloc`, and not `block`: DWARF 5 table 7.5.
const EXPRESSIONS: [u64; 24] = [
    0x02, 0x0b, 0x0d, 0x19, 0x22, 0x2a, 0x2e, 0x2f, 0x37, 0x38, 0x40, 0x46, 0x48, 0x4a, 0x4d, 0x4e, 0x4f,
    0x50, 0x51, 0x7e, 0x83, 0x84, 0x85, 0x86,
];

/// A unit with one entry, whose attributes have these names and forms.
fn unit(style: &Bytes, version: u16, attributes: &[(u64, u64)], values: &Bytes) -> [Bytes; 2] {
    let mut abbreviations = style.empty();
    abbreviations.uleb(1).uleb(0x11).u8s([0]);
    for (name, form) in attributes {
        abbreviations.uleb(*name).uleb(*form);
    }
    abbreviations.u8s([0, 0, 0]);
    let mut contents = style.empty();
    contents.u16(version);
    match version {
        5 => contents.u8s([1, 8]).offset(0),
        _ => contents.offset(0).u8s([8]),
    };
    contents.uleb(1).u8s(&values.bytes);
    let mut all = style.empty();
    all.unit(&contents);
    [all, abbreviations]
}

fn read<'o>([info, abbreviations]: &'o [Bytes; 2], addresses: &'o Bytes) -> Dwarf<'o> {
    let sections = with::<Sections>(|sections| {
        sections.big_endian = info.big_endian;
        sections.address_bytes = 8;
        sections.debug_info = &info.bytes;
        sections.debug_abbrev = &abbreviations.bytes;
        sections.debug_addr = &addresses.bytes;
    });
    Dwarf::from_sections(sections, &ReadOptions::new()).expect("it is read")
}

/// A block is an expression where the attribute has no class of blocks, in every version: Go and Free Pascal write blocks
/// in DWARF 4 and 5, and gdb, lldb, LLVM and binutils evaluate them.
#[test]
fn a_block_is_an_expression_by_its_attribute() {
    for style in Bytes::all() {
        for version in 2..=5 {
            for name in EXPRESSIONS {
                // DW_FORM_block1, _block2, _block4, _block; then DW_AT_const_value as a block.
                let attributes = [(name, 0x0a), (name, 0x03), (name, 0x04), (name, 0x09), (0x1c, 0x0a)];
                let mut values = style.empty();
                values.u8s([1, 0x50]).u16(1).u8s([0x51]).u32(1).u8s([0x52]).uleb(1).u8s([0x53]);
                values.u8s([1, 0x54]);
                let parts = unit(&style, version, &attributes, &values);
                let addresses = style.empty();
                let dwarf = read(&parts, &addresses);
                let found: Vec<_> =
                    dwarf.entries().flat_map(|entry| entry.attributes()).map(|one| one.value).collect();
                let expected = [
                    ResolvedValue::Expr(&[0x50]),
                    ResolvedValue::Expr(&[0x51]),
                    ResolvedValue::Expr(&[0x52]),
                    ResolvedValue::Expr(&[0x53]),
                    ResolvedValue::Block(&[0x54]),
                ];
                assert_eq!(found, expected, "version {version}, attribute {name:#x}");
            }
        }
    }
}

/// `DW_FORM_LLVM_addrx_offset` is an index as ULEB128 and an offset of four bytes. The attributes after it are read, one by
/// one and by name.
#[test]
fn an_address_is_an_index_and_an_offset() {
    for style in Bytes::all() {
        // low_pc, high_pc, language, addr_base.
        let attributes = [(0x11, 0x2001), (0x12, 0x2001), (0x13, 0x0b), (0x73, 0x17)];
        let mut addresses = style.empty();
        let mut table = style.empty();
        table.u16(5).u8s([8, 0]).u64(0x1_2345_0000);
        for _ in 0..200 {
            table.u64(0x4000);
        }
        addresses.unit(&table);
        let base = addresses.len() - table.len() + 4;
        let mut values = style.empty();
        values.uleb(0).u32(0x1234).uleb(200).u32(0xffff_ffff).u8s([0x1d]).offset(base);
        let parts = unit(&style, 5, &attributes, &values);
        let dwarf = read(&parts, &addresses);
        let root = dwarf.entries().next().expect("the unit");
        assert_eq!(dwarf.units()[0].low_pc, Some(0x1_2345_1234));
        assert_eq!(root.low_pc(), Some(0x1_2345_1234));
        assert_eq!(root.attr(dw::DW_AT_high_pc), Some(ResolvedValue::Address(0x1_0000_3fff)));
        assert_eq!(root.number(dw::DW_AT_language), Some(0x1d));
        let forms: Vec<u16> = root.attributes().map(|one| one.form.0).collect();
        assert_eq!(forms, [0x2001, 0x2001, 0x0b, 0x17]);
    }
}

/// GNU as begins the entries of RISC-V and MIPS with `DW_CFA_def_cfa_register`: readelf, gdb, LLVM and libgcc take the offset
/// as 0. In an FDE the instruction needs a rule with an offset. An augmentation `S` alone has no data.
#[test]
fn a_register_alone_is_the_first_rule_of_a_common_entry() {
    for style in Bytes::all() {
        for (augmentation, initial, instructions, expected) in [
            ("", vec![0x0d, 2], vec![], Some((2, 0))),
            ("S", vec![0x0c, 2, 16], vec![], Some((2, 16))),
            ("", vec![0x0d, 2], vec![0x0e, 32], Some((2, 32))),
            ("", vec![], vec![0x0d, 2], None),
            ("", vec![0x0f, 1, 0x30], vec![0x0d, 2], None),
            ("", vec![0x0e, 8], vec![], None),
        ] {
            let mut cie = style.empty();
            cie.offset(u64::MAX)
                .u8s([4])
                .string(augmentation)
                .u8s([8, 0])
                .uleb(1)
                .sleb(-8)
                .uleb(1)
                .u8s(initial);
            let mut fde = style.empty();
            fde.offset(0).u64(0x4000).u64(0x100).u8s(instructions);
            let mut all = style.empty();
            all.unit(&cie).unit(&fde);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_frame = &all.bytes;
            });
            let encoding = Encoding::new(8, Dialect::Llvm).with_big_endian(style.big_endian);
            let frames = Frames::read(&sections, FrameSection::Debug, encoding).expect("they are read");
            assert_eq!(frames.cies[0].is_signal, augmentation == "S");
            let found = frames.row_at(0x4000).ok().flatten().map(|row| row.cfa);
            let rule =
                |(register, offset)| CfaRule::Register { register: Reg(register), offset, space: None };
            assert_eq!(found, expected.map(rule));
        }
    }
}
