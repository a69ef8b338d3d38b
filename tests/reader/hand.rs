//! Sections encoded by hand from the specification, for forms that available tools do not write.

use eitri::error::ErrorKind;
use eitri::op::{Dialect, Encoding, Reg};
use eitri::read::{
    AddressRange, AddressRanges, CallFrameInstruction, CfaRule, Dwarf, FrameSection, Frames, ListFormat,
    ListKind, MacroAction, Macros, NameIndex, NameParent, NameUnit, PublicNames, PublicSection, RawList,
    ReadOptions, RegisterRule, Sections, name_hash,
};
use gimli::constants as dw;
use pretty_assertions::assert_eq;

use crate::common::with;
use crate::reader::bytes::Bytes;

const ENCODING: Encoding = Encoding::new(8, Dialect::Llvm);

/// `.debug_frame` of version 4: a CIE and an FDE with the given instructions.
fn frame(style: &Bytes, initial: &Bytes, instructions: &Bytes) -> Bytes {
    let mut cie = style.empty();
    cie.offset(u64::MAX).u8s([4]).string("").u8s([8, 0]).uleb(4).sleb(-8).uleb(16).u8s(&initial.bytes);
    let mut fde = style.empty();
    fde.offset(0).u64(0x4000).u64(0x1000).u8s(&instructions.bytes);
    let mut all = style.empty();
    all.unit(&cie).unit(&fde);
    all
}

fn encoding(style: &Bytes) -> Encoding {
    ENCODING.with_big_endian(style.big_endian)
}

/// Start, end, CFA, rules, size of arguments in bytes, whether the return address is signed.
type ExpectedRow<'a> = (u64, u64, CfaRule<'a>, &'a [(u64, RegisterRule<'a>)], u64, bool);

/// Every instruction of DWARF 5 section 6.4.2, of GNU and LLVM, with its effect. The code alignment factor is 4, the
/// data alignment factor is -8.
#[test]
fn instructions_mean_what_the_specification_says() {
    for style in Bytes::all() {
        let mut initial = style.empty();
        initial.u8s([0x0c]).uleb(7).uleb(8).u8s([0x80 | 16]).uleb(1); // def_cfa 7 8; offset 16 1.
        let mut program = style.empty();
        program
            .u8s([0x40 | 3]) // advance_loc 3: to 400c.
            .u8s([0x0e])
            .uleb(16) // def_cfa_offset.
            .u8s([0x05])
            .uleb(300)
            .uleb(2) // offset_extended.
            .u8s([0x11])
            .uleb(1)
            .sleb(-3) // offset_extended_sf.
            .u8s([0x02, 0x10]) // advance_loc1: to 404c.
            .u8s([0x0d])
            .uleb(6) // def_cfa_register.
            .u8s([0x14])
            .uleb(2)
            .uleb(1) // val_offset.
            .u8s([0x15])
            .uleb(3)
            .sleb(-1) // val_offset_sf.
            .u8s([0x0a, 0x03])
            .u16(0x100) // remember_state; advance_loc2: to 444c.
            .u8s([0x07])
            .uleb(16)
            .u8s([0x08])
            .uleb(1) // undefined 16; same_value 1.
            .u8s([0x09])
            .uleb(2)
            .uleb(40) // register 2 in 40.
            .u8s([0x10])
            .uleb(4)
            .uleb(2)
            .u8s([0x77, 0x08]) // expression.
            .u8s([0x16])
            .uleb(5)
            .uleb(1)
            .u8s([0x30]) // val_expression.
            .u8s([0x0f])
            .uleb(1)
            .u8s([0x31]) // def_cfa_expression.
            .u8s([0x04])
            .u32(1) // advance_loc4: to 4450.
            .u8s([0x0b, 0xc0 | 16, 0x06])
            .uleb(300) // restore_state; restore 16; restore_extended 300.
            .u8s([0x12])
            .uleb(7)
            .sleb(-2) // def_cfa_sf.
            .u8s([0x2e])
            .uleb(24) // GNU_args_size.
            .u8s([0x01])
            .u64(0x4800) // set_loc.
            .u8s([0x30])
            .uleb(64)
            .uleb(5)
            .uleb(6) // LLVM_def_aspace_cfa.
            .u8s([0x2f])
            .uleb(9)
            .uleb(2) // GNU_negative_offset_extended.
            .u8s([0x2d, 0x41]) // AARCH64_negate_ra_state; to 4804.
            .u8s([0x31])
            .uleb(64)
            .sleb(-1)
            .uleb(6) // LLVM_def_aspace_cfa_sf.
            .u8s([0x13])
            .sleb(-4) // def_cfa_offset_sf.
            .u8s([0x1d])
            .u64(2); // MIPS_advance_loc8: to 480c.
        let section = frame(&style, &initial, &program);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = style.big_endian;
            sections.debug_frame = &section.bytes;
        });
        let frames = Frames::read(&sections, FrameSection::Debug, encoding(&style)).unwrap();
        let cie = &frames.cies[0];
        let fde = &frames.fdes[0];
        assert_eq!((cie.version, cie.code_alignment, cie.data_alignment), (4, 4, -8));
        assert_eq!((cie.return_register, fde.start, fde.length), (Reg(16), 0x4000, 0x1000));
        let instructions: Vec<_> = frames.instructions(fde).map(|one| one.unwrap().instruction).collect();
        assert_eq!(instructions.len(), 30);
        assert_eq!(instructions[0], CallFrameInstruction::AdvanceLoc { bytes: 12 });
        assert_eq!(instructions[2], CallFrameInstruction::Offset { register: Reg(300), offset: -16 });

        let cfa = |register, offset| CfaRule::Register { register: Reg(register), offset, space: None };
        let in_6 = |offset| CfaRule::Register { register: Reg(64), offset, space: Some(6) };
        let saved =
            [(1, RegisterRule::Offset(24)), (16, RegisterRule::Offset(-8)), (300, RegisterRule::Offset(-16))];
        let moved =
            [saved[0], (2, RegisterRule::ValOffset(-8)), (3, RegisterRule::ValOffset(8)), saved[1], saved[2]];
        let after = [moved[0], moved[1], moved[2], moved[3]];
        let last = [after[0], after[1], after[2], (9, RegisterRule::Offset(16)), after[3]];
        let expected: [ExpectedRow<'_>; 8] = [
            (0x4000, 0x400c, cfa(7, 8), &saved[1..2], 0, false),
            (0x400c, 0x404c, cfa(7, 16), &saved, 0, false),
            (0x404c, 0x444c, cfa(6, 16), &moved, 0, false),
            (
                0x444c,
                0x4450,
                CfaRule::Expression(&[0x31]),
                &[
                    (1, RegisterRule::SameValue),
                    (2, RegisterRule::Register(Reg(40))),
                    (3, RegisterRule::ValOffset(8)),
                    (4, RegisterRule::Expression(&[0x77, 0x08])),
                    (5, RegisterRule::ValExpression(&[0x30])),
                    (16, RegisterRule::Undefined),
                    (300, RegisterRule::Offset(-16)),
                ],
                0,
                false,
            ),
            (0x4450, 0x4800, cfa(7, 16), &after, 24, false),
            (0x4800, 0x4804, in_6(5), &last, 24, true),
            (0x4804, 0x480c, in_6(32), &last, 24, true),
            (0x480c, 0x5000, in_6(32), &last, 24, true),
        ];
        let mut rows = frames.rows(fde);
        for (start, end, cfa, rules, args_size, is_return_signed) in expected {
            let row = rows.next_row().unwrap().unwrap();
            assert_eq!((row.start, row.end, row.cfa), (start, end, cfa));
            let rules: Vec<_> = rules.iter().map(|&(register, rule)| (Reg(register), rule)).collect();
            assert_eq!(row.rules, rules, "{start:#x}");
            assert_eq!((row.args_size, row.is_return_signed), (args_size, is_return_signed));
        }
        assert!(rows.next_row().unwrap().is_none());
        assert_eq!(frames.row_at(0x4801).unwrap().map(|row| row.start), Some(0x4800));
        assert!(frames.row_at(0x5000).unwrap().is_none());
    }
}

#[test]
fn instructions_that_make_no_sense_are_errors_with_their_offset() {
    let style = Bytes::new(false, false);
    let none = style.empty();
    // The CIE has 15 bytes before its instructions, the FDE 24.
    for (initial, program, offset, text) in [
        (&[][..], &[0x0b][..], 0x27, "the stack of remembered rows is empty"),
        (&[], &[0x00, 0x0e, 8], 0x28, "the CFA rule is not a register and an offset"),
        (&[], &[0x0d, 8], 0x27, "the CFA rule is not a register and an offset"),
        (&[], &[0x3f], 0x27, "call frame instruction 0x3f"),
        (&[], &[0x05, 1], 0x29, "the bytes end inside a call frame instruction"),
        (&[0x41], &[], 0x0f, "the initial instructions cannot advance the location"),
        (&[0xc1], &[], 0x0f, "the initial instructions cannot restore a rule"),
    ] {
        let mut instructions = none.clone();
        instructions.u8s(program);
        let mut first = none.clone();
        first.u8s(initial);
        let section = frame(&style, &first, &instructions);
        let sections = with::<Sections>(|sections| sections.debug_frame = &section.bytes);
        let frames = Frames::read(&sections, FrameSection::Debug, ENCODING).unwrap();
        let mut rows = frames.rows(&frames.fdes[0]);
        let error = loop {
            match rows.next_row() {
                Ok(row) => assert!(row.is_some(), "{text}"),
                Err(error) => break error,
            }
        };
        let offset = offset + first.len() * u64::from(offset > 0x20);
        assert_eq!((error.at().section.as_deref(), error.at().offset), (Some(".debug_frame"), Some(offset)));
        assert!(error.to_string().contains(text), "{error}");
        assert!(rows.next_row().unwrap().is_none());
    }
    // Endless rules.
    let mut program = none.clone();
    for register in 0..0x5000 {
        program.u8s([0x08]).uleb(register);
    }
    let section = frame(&style, &none, &program);
    let sections = with::<Sections>(|sections| sections.debug_frame = &section.bytes);
    let frames = Frames::read(&sections, FrameSection::Debug, ENCODING).unwrap();
    let error = frames.rows(&frames.fdes[0]).next_row().map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("too many registers"), "{error}");
    let mut program = none.clone();
    program.u8s([0x08, 1]).u8s([0x0a; 0x4_0000]);
    let section = frame(&style, &none, &program);
    let sections = with::<Sections>(|sections| sections.debug_frame = &section.bytes);
    let frames = Frames::read(&sections, FrameSection::Debug, ENCODING).unwrap();
    let error = frames.rows(&frames.fdes[0]).next_row().map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("remembered rows is too large"), "{error}");
}

/// Pointers of `.eh_frame`: Linux Standard Base, sections 10.5 and 10.6.
#[test]
fn pointers_count_from_where_their_encoding_says() {
    for style in [Bytes::new(false, false), Bytes::new(true, false), Bytes::new(false, true)] {
        let mut cie = style.empty();
        cie.u32(0).u8s([1]).string("zPLRS").uleb(1).sleb(-4).u8s([14]);
        let mut data = style.empty();
        // Personality: indirect, relative to the field, 4 bytes. LSDA: relative to the function, 2 bytes. Code:
        // relative to the field, 4 bytes.
        let header = if style.is_long { 12 } else { 4 };
        let personality = header + cie.len() + 2;
        data.u8s([0x9b]).u32(0x100).u8s([0x4a, 0x1b]);
        cie.uleb(data.len()).u8s(&data.bytes);
        let cie_bytes = header + cie.len();
        let mut fde = style.empty();
        let id = cie_bytes + header;
        fde.u32(id as u32).u32(-0x20i32 as u32).u32(0x40).uleb(2).u16(-2i16 as u16).u8s([0x41]);
        let mut section = style.empty();
        section.unit(&cie).unit(&fde).u32(0);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = style.big_endian;
            sections.eh_frame = &section.bytes;
            sections.eh_frame_address = 0x7000;
        });
        let frames = Frames::read(&sections, FrameSection::Eh, encoding(&style)).unwrap();
        let cie = &frames.cies[0];
        let fde = &frames.fdes[0];
        assert!(cie.is_signal && cie.return_register == Reg(14));
        let found = cie.personality.unwrap();
        assert_eq!((found.address, found.is_indirect), (0x7000 + personality + 1 + 0x100 - 1, true));
        let start = 0x7000 + id + 4 - 0x20;
        assert_eq!((fde.start, fde.length), (start, 0x40));
        let lsda = fde.lsda.unwrap();
        assert_eq!((lsda.address, lsda.is_indirect), (start - 2, false));
        assert_eq!(frames.instructions(fde).count(), 1);
        assert!(fde.covers(start) && !fde.covers(start - 1) && !fde.covers(start + 0x40));
    }
    // Relative to the start of data, which is unknown here.
    let mut cie = Bytes::default();
    cie.u32(0).u8s([1]).string("zR").uleb(1).sleb(-4).u8s([14]).uleb(1).u8s([0x3b]);
    let mut fde = Bytes::default();
    fde.u32(cie.len() as u32 + 8).u32(0).u32(1).uleb(0);
    let mut section = Bytes::default();
    section.unit(&cie).unit(&fde);
    let sections = with::<Sections>(|sections| sections.eh_frame = &section.bytes);
    let error = Frames::read(&sections, FrameSection::Eh, ENCODING).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.at().offset.is_some(), "{error}");
}

/// Two compilation units, a local type unit and a foreign one; without a hash table, or with two buckets. DWARF 5
/// section 6.1.1.
#[test]
fn an_index_of_names_is_read_as_the_specification_lays_it_out() {
    let strings = b"\0one\0two\0three\0";
    let names = [("one", 1), ("two", 5), ("three", 9)];
    for style in Bytes::all() {
        for bucket_count in [0u32, 2] {
            // Sorted by bucket.
            let mut order: Vec<_> =
                names.iter().map(|&(name, at)| (name_hash(name.as_bytes()), at, name)).collect();
            order.sort_by_key(|(hash, ..)| if bucket_count == 0 { 0 } else { hash % bucket_count });
            let mut abbreviations = style.empty();
            abbreviations
                .uleb(7)
                .uleb(0x2e)
                .uleb(1)
                .uleb(0x0b)
                .uleb(3)
                .uleb(0x13)
                .uleb(4)
                .uleb(0x19)
                .uleb(0)
                .uleb(0);
            abbreviations
                .uleb(3)
                .uleb(0x13)
                .uleb(2)
                .uleb(0x0f)
                .uleb(3)
                .uleb(0x11)
                .uleb(5)
                .uleb(7)
                .uleb(0)
                .uleb(0);
            abbreviations
                .uleb(5)
                .uleb(0x39)
                .uleb(1)
                .uleb(0x0b)
                .uleb(2)
                .uleb(0x0b)
                .uleb(4)
                .uleb(0x13)
                .uleb(0)
                .uleb(0);
            abbreviations.uleb(0);
            let mut index = style.empty();
            index.u16(5).u16(0);
            for count in [2, 1, 1, bucket_count, 3, abbreviations.len() as u32, 3] {
                index.u32(count);
            }
            index.u8s(b"[x]\0").offset(0x10).offset(0x200).offset(0x80).u64(0xfeed);
            for bucket in 0..bucket_count {
                let first = order.iter().position(|(hash, ..)| hash % bucket_count == bucket);
                index.u32(first.map_or(0, |first| first as u32 + 1));
            }
            if bucket_count != 0 {
                for &(hash, ..) in &order {
                    index.u32(hash);
                }
            }
            for &(_, at, _) in &order {
                index.offset(at);
            }
            // "one" has two entries, "two" has one in the type unit, "three" has one in the foreign unit.
            let mut pool = style.empty();
            let mut starts = Vec::new();
            starts.push(("one", pool.len()));
            pool.uleb(7).u8s([0]).u32(0x44).uleb(7).u8s([1]).u32(0x55).uleb(0);
            starts.push(("two", pool.len()));
            pool.uleb(3).uleb(0).u8s([0x1c]).u64(0xabcd).uleb(0);
            starts.push(("three", pool.len()));
            pool.uleb(5).u8s([1]).u8s([1]).u32(starts[1].1 as u32).uleb(0);
            for &(_, _, name) in &order {
                index.offset(starts.iter().find(|(known, _)| *known == name).unwrap().1);
            }
            index.u8s(&abbreviations.bytes);
            let pool_start = index.len() + if style.is_long { 12 } else { 4 };
            index.u8s(&pool.bytes);
            let mut section = style.empty();
            section.unit(&index);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_names = &section.bytes;
                sections.debug_str = strings;
            });
            let all = NameIndex::read_all(&sections).unwrap();
            let [index] = &all[..] else { panic!("{} indices", all.len()) };
            assert_eq!((&index.units[..], &index.type_units[..]), (&[0x10, 0x200][..], &[0x80][..]));
            assert_eq!((&index.foreign_type_units[..], index.augmentation), (&[0xfeed][..], &b"[x]"[..]));
            let found = |name: &str| {
                let names = index.find(name.as_bytes()).unwrap();
                assert_eq!(names.len(), 1, "{name}");
                assert_eq!(names[0].hash.is_some(), bucket_count != 0);
                let entries = index.entries(&names[0]).unwrap().map(Result::unwrap);
                entries
                    .map(|one| (one.tag, one.unit.unwrap(), one.entry, one.parent, one.type_hash))
                    .collect::<Vec<_>>()
            };
            let function = |unit, entry| {
                (dw::DW_TAG_subprogram, NameUnit::Compile(unit), Some(entry), NameParent::NotIndexed, None)
            };
            assert_eq!(found("one"), [function(0x10, 0x44), function(0x200, 0x55)]);
            let structure = (
                dw::DW_TAG_structure_type,
                NameUnit::Type(0x80),
                Some(0x1c),
                NameParent::Unknown,
                Some(0xabcd),
            );
            assert_eq!(found("two"), [structure]);
            let foreign = NameUnit::Foreign { signature: 0xfeed, skeleton: Some(0x200) };
            let parent = NameParent::Entry(pool_start + starts[1].1);
            assert_eq!(found("three"), [(dw::DW_TAG_namespace, foreign, None, parent, None)]);
            assert_eq!(index.find(b"four").unwrap(), []);
            assert_eq!(index.find(b"One").unwrap(), []);
            assert!(index.name(0).is_err() && index.name(4).is_err() && index.bucket(bucket_count).is_err());
        }
    }
}

#[test]
fn address_ranges_and_public_names_have_all_formats() {
    for style in Bytes::all() {
        for (address, segment) in [(8, 0), (4, 0), (4, 2)] {
            let mut set = style.empty();
            set.u16(2).offset(0x30).u8s([address as u8, segment as u8]);
            // Ranges are aligned to their size, relative to the start of the set.
            let header = set.len() + if style.is_long { 12 } else { 4 };
            let size = 2 * address + segment;
            while !(header + set.len() - (header - if style.is_long { 12 } else { 4 }))
                .is_multiple_of(size as u64)
            {
                set.u8s([0xaa]);
            }
            for (selector, start, length) in [(3, 0x1000, 0x20), (0, 0, 0x10), (0, 0, 0)] {
                if segment != 0 {
                    set.int(segment, selector);
                }
                set.int(address, start).int(address, length);
            }
            let mut section = style.empty();
            section.unit(&set).unit(&set);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_aranges = &section.bytes;
            });
            let sets = AddressRanges::read_all(&sections).unwrap();
            assert_eq!((sets.len(), sets[1].offset), (2, section.len() / 2));
            for set in &sets {
                assert_eq!(
                    (set.unit, set.address_bytes, set.segment_bytes),
                    (0x30, address as u8, segment as u8)
                );
                let ranges: Vec<_> = set.ranges().map(Result::unwrap).collect();
                let segment = if segment == 0 { 0 } else { 3 };
                let [first, second] = ranges[..] else { panic!("{ranges:?}") };
                assert_eq!(
                    first,
                    AddressRange { offset: first.offset, segment, start: 0x1000, length: 0x20 }
                );
                assert_eq!((second.start, second.length), (0, 0x10));
                assert_eq!(second.offset - first.offset, size as u64);
            }
        }
        let mut set = style.empty();
        set.u16(2).offset(0x30).offset(0x99).offset(0x1b).u8s([0xb0]).string("f").offset(0);
        let mut section = style.empty();
        section.unit(&set);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = style.big_endian;
            sections.debug_gnu_pubnames = &section.bytes;
        });
        let sets = PublicNames::read_all(&sections, PublicSection::GnuNames).unwrap();
        assert_eq!((sets[0].unit, sets[0].unit_bytes), (0x30, 0x99));
        let names: Vec<_> = sets[0].names().map(Result::unwrap).collect();
        assert_eq!(
            (names.len(), names[0].entry, names[0].flags, names[0].name),
            (1, 0x1b, Some(0xb0), &b"f"[..])
        );
    }
}

/// DWARF 5 sections 6.3 and 7.23, DWARF 4 section 7.22.
#[test]
fn macros_have_all_opcodes() {
    for style in Bytes::all() {
        for version in [4u16, 5] {
            let mut list = style.empty();
            // The flags, a line program, and operands of opcode 0xe5: a string and a block.
            list.u16(version).u8s([6 | u8::from(style.is_long)]).offset(0x77);
            list.u8s([1, 0xe5]).uleb(2).u8s([0x08, 0x09]);
            list.u8s([1]).uleb(3).string("A 1").u8s([2]).uleb(4).string("A");
            list.u8s([3]).uleb(0).uleb(2).u8s([5]).uleb(7).offset(1).u8s([6]).uleb(8).offset(5);
            list.u8s([7]).offset(0x20).u8s([8]).uleb(9).offset(0x21).u8s([9]).uleb(10).offset(0x22);
            list.u8s([10]).offset(0x23).u8s([0xe5]).string("vendor").uleb(2).u8s([0, 0]).u8s([4]);
            let sections_of = |bytes: &'static [u8]| bytes;
            if version == 5 {
                list.u8s([11]).uleb(11).uleb(0);
            }
            list.u8s([0]);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_macro = &list.bytes;
                sections.debug_str = sections_of(b"\0B 2\0B\0");
            });
            let macros = Macros::read(&sections, 0).unwrap();
            assert_eq!((macros.version, macros.line_program), (Some(version), Some(0x77)));
            assert_eq!(macros.vendor_opcodes, [(0xe5, &[0x08, 0x09][..])]);
            let entries: Vec<_> = macros.entries().map(|one| one.map(|one| one.entry)).collect();
            let (strings, expected) = entries.split_at(11);
            let strings: Vec<_> = strings.iter().map(|one| *one.as_ref().unwrap()).collect();
            assert_eq!(
                strings,
                [
                    MacroAction::Define { line: 3, text: b"A 1" },
                    MacroAction::Undef { line: 4, text: b"A" },
                    MacroAction::StartFile { line: 0, file: 2 },
                    MacroAction::Define { line: 7, text: b"B 2" },
                    MacroAction::Undef { line: 8, text: b"B" },
                    MacroAction::Import { offset: 0x20 },
                    MacroAction::DefineSup { line: 9, offset: 0x21 },
                    MacroAction::UndefSup { line: 10, offset: 0x22 },
                    MacroAction::ImportSup { offset: 0x23 },
                    MacroAction::Other,
                    MacroAction::EndFile,
                ]
            );
            // An indexed string requires the unit's base of the table.
            match version {
                5 => assert!(expected.len() == 1 && expected[0].is_err()),
                _ => assert!(expected.is_empty()),
            }
        }
        let mut list = style.empty();
        list.u8s([1]).uleb(3).string("A 1").u8s([0xff]).uleb(5).string("x").u8s([4, 0]);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = style.big_endian;
            sections.debug_macinfo = &list.bytes;
        });
        let macros = Macros::read_macinfo(&sections, 0).unwrap();
        let entries: Vec<_> = macros.entries().map(|one| one.unwrap().entry).collect();
        let vendor = MacroAction::Vendor { number: 5, text: b"x" };
        assert_eq!(entries, [MacroAction::Define { line: 3, text: b"A 1" }, vendor, MacroAction::EndFile]);
    }
}

/// GNU's `DW_LLE_GNU_*`, from GCC's "DWARF Extensions for Separate Debug Information Files".
#[test]
fn location_lists_of_split_units_of_version_4_are_read() {
    for big_endian in [false, true] {
        let style = Bytes::new(big_endian, false);
        let mut list = style.empty();
        list.u8s([1]).uleb(3).u8s([4]).u32(1).u32(9).u16(1).u8s([0x50]);
        list.u8s([2]).uleb(4).uleb(5).u16(0).u8s([3]).uleb(6).u32(7).u16(1).u8s([0x51, 0]);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = big_endian;
            sections.is_split = true;
            sections.debug_loc = &list.bytes;
        });
        let encoding = ENCODING.with_version(4).with_big_endian(big_endian);
        let list = RawList::new(&sections, ListFormat::SplitLoc, encoding, 0).unwrap();
        let entries: Vec<_> = list.map(|one| one.map(|one| (one.kind, one.expr)).unwrap()).collect();
        let expected: [(ListKind, &[u8]); 5] = [
            (ListKind::BaseIndex { index: 3 }, &[]),
            (ListKind::Pair { start: 1, end: 9 }, &[0x50]),
            (ListKind::IndexEnd { start: 4, end: 5 }, &[]),
            (ListKind::IndexLength { start: 6, length: 7 }, &[0x51]),
            (ListKind::End, &[]),
        ];
        assert_eq!(entries, expected);
        let error = RawList::new(&sections, ListFormat::SplitLoc, encoding, 99).unwrap_err();
        assert_eq!(error.at().section.as_deref(), Some(".debug_loc.dwo"));
    }
}

/// A type unit of each version and format, whose type another unit refers to by signature.
#[test]
fn types_are_found_by_signature() {
    for style in Bytes::all() {
        for version in [4u16, 5] {
            // 1: a unit with children; 2: a structure; 3: a variable with a type by signature; 4: a type unit with
            // children.
            let mut abbrev = style.empty();
            abbrev.u8s([1, 0x11, 1, 0, 0, 2, 0x13, 0, 0x03, 0x08, 0, 0]);
            abbrev.u8s([3, 0x34, 0, 0x49, 0x20, 0, 0, 4, 0x41, 1, 0, 0, 0]);
            let mut types = style.empty();
            let header = if style.is_long { 12 } else { 4 };
            types.u16(version);
            if version >= 5 {
                types.u8s([2, 8]).offset(0);
            } else {
                types.offset(0).u8s([8]);
            }
            types.u64(0x1234_5678_9abc_def0);
            let offset_bytes = if style.is_long { 8 } else { 4 };
            let entry = header + types.len() + offset_bytes + 1;
            types.offset(entry).u8s([4, 2]).string("S").u8s([0]);
            let mut unit = style.empty();
            unit.u16(version);
            if version >= 5 {
                unit.u8s([1, 8]).offset(0);
            } else {
                unit.offset(0).u8s([8]);
            }
            unit.u8s([1, 3]).u64(0x1234_5678_9abc_def0).u8s([3]).u64(1).u8s([0]);
            let mut info = style.empty();
            let mut debug_types = style.empty();
            info.unit(&unit);
            let section = if version >= 5 { &mut info } else { &mut debug_types };
            let start = if version >= 5 { section.len() } else { 0 };
            section.unit(&types);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_abbrev = &abbrev.bytes;
                sections.debug_info = &info.bytes;
                sections.debug_types = &debug_types.bytes;
            });
            let dwarf = Dwarf::from_sections(sections, &ReadOptions::new()).unwrap();
            let variables: Vec<_> =
                dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_variable).collect();
            let ty = variables[0].ty().unwrap();
            assert_eq!((ty.tag(), ty.name().as_deref()), (dw::DW_TAG_structure_type, Some("S")));
            let name = if version >= 5 { ".debug_info" } else { ".debug_types" };
            assert_eq!(dwarf.place(ty.offset()), (name, start + entry));
            assert_eq!((ty.unit().kind, ty.abbreviation()), (dw::DW_UT_type, 2));
            assert!(variables[1].ty().is_none());
        }
    }
}
