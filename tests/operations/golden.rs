//! Comparison with the tables typed from the specifications.

use std::collections::HashMap;

use eitri::error::ErrorKind;
use eitri::op::{
    COMPACT, Decoder, Dialect, DraftCodes, EncodedAddress, Encoder, Encoding, Form, Op, Opcode, OperandKind,
    OperationName, Spelling, text,
};
use pretty_assertions::assert_eq;

const OPERATIONS: &str = include_str!("../../goldens/op/operations.txt");
const ENCODINGS: &str = include_str!("../../goldens/op/encodings.txt");

fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// OperationName of an operand in the golden table.
fn operand(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::U8 => "u8",
        OperandKind::Uleb | OperandKind::Register => "uleb",
        OperandKind::Sleb => "sleb",
        OperandKind::Address => "addr",
        OperandKind::Branch => "branch",
        OperandKind::Entry2 => "die2",
        OperandKind::Entry4 => "die4",
        OperandKind::EntrySection => "die_sec",
        OperandKind::TypeEntry => "die_uleb",
        OperandKind::Block => "block_uleb",
        OperandKind::Block1 => "block_u8",
        OperandKind::Expression => "expr_uleb",
        OperandKind::Encoded => "encoded_addr",
        other => panic!("{other:?}"),
    }
}

fn code(text: &str) -> Opcode {
    match text {
        "-" => Opcode::None,
        "TBA" => Opcode::Unassigned,
        _ => Opcode::Is(u8::from_str_radix(text, 16).unwrap()),
    }
}

/// Operations proposed for DWARF 6 but not accepted.
const PROPOSED: [OperationName; 4] =
    [OperationName::AspaceBregX, OperationName::BitOverlay, OperationName::Mem, OperationName::Overlay];

/// Operations with a text in progress for DWARF 6, which are missing in the golden table.
const IN_PROGRESS: [OperationName; 3] =
    [OperationName::CallFrameEntryReg, OperationName::Extend, OperationName::SelectBitPiece];

#[test]
fn the_table_is_the_specifications() {
    // Codes found in golden lines.
    let mut found: HashMap<(OperationName, &str), Opcode> = HashMap::new();
    let mut families = Vec::new();
    for row in rows(OPERATIONS) {
        let [text, opcode, sub, legacy, operands, stack, since] = row[..] else { panic!("{row:?}") };
        let family = COMPACT.iter().find(|family| match family.count {
            1 => family.text == text,
            count => format!("{0}0..{0}{1}", family.text, count - 1) == text,
        });
        if let Some(family) = family {
            let codes = match family.count {
                1 => format!("{:02x}", family.first),
                _ => format!("{:02x}..{:02x}", family.first, family.last()),
            };
            let by = if family.name == OperationName::BregX { "sleb" } else { "-" };
            let operand = match family.form {
                Form::InOpcode | Form::Fixed(_) => by.to_owned(),
                Form::Unsigned(bytes) => format!("u{}", 8 * bytes),
                Form::Signed(bytes) => format!("i{}", 8 * bytes),
            };
            assert_eq!((&*codes, &*operand, "-", "-", "2"), (opcode, operands, sub, legacy, since), "{text}");
            assert_eq!(family.name.row().since, 2);
            families.push(family.text);
            continue;
        }
        let name = OperationName::parse(text).unwrap_or_else(|| panic!("no row for {text}"));
        let row = name.row();
        let kinds: Vec<_> = row.operands.iter().map(|&(_, kind)| operand(kind)).collect();
        assert_eq!(if kinds.is_empty() { "-".into() } else { kinds.join(",") }, operands, "{text}");
        match (stack.split_once('>').unwrap(), row.stack) {
            (("any", _), effect) => assert_eq!(effect, (None, None), "{text}"),
            ((takes, leaves), effect) => {
                assert_eq!(effect, (Some(takes.parse().unwrap()), Some(leaves.parse().unwrap())), "{text}");
            }
        }
        let columns = if text.starts_with("GNU_") {
            assert_eq!((sub, legacy, since), ("-", "-", "GNU"), "{text}");
            assert!(row.std != Opcode::None || row.since == 0, "{text}");
            vec![("gnu", row.gnu, code(opcode))]
        } else if text.starts_with("LLVM_") {
            assert_eq!(since, "LLVM", "{text}");
            assert!(opcode == "e9" || (opcode, sub) == ("TBA", "-"), "{text}");
            let user = if opcode == "TBA" { Opcode::Unassigned } else { code(sub) };
            vec![("user", row.user, user), ("legacy", row.legacy, code(legacy))]
        } else {
            let part_since = if PROPOSED.contains(&name) { 0 } else { since.parse().unwrap() };
            assert_eq!((sub, legacy, row.since), ("-", "-", part_since), "{text}");
            let column = if since == "6" { ("six", row.six) } else { ("std", row.std) };
            vec![(column.0, column.1, code(opcode))]
        };
        for (column, is, should) in columns {
            assert_eq!(is, should, "{text}: {column}");
            assert_eq!(found.insert((name, column), is), None, "{text} has two lines");
        }
    }
    for family in COMPACT {
        assert!(families.contains(&family.text), "no line for {}", family.text);
    }
    for &name in OperationName::ALL {
        let row = name.row();
        let codes = [
            ("std", row.std),
            ("gnu", row.gnu),
            ("user", row.user),
            ("legacy", row.legacy),
            ("six", row.six),
        ];
        for (column, code) in codes {
            let in_progress = column == "six" && code == Opcode::Unassigned && IN_PROGRESS.contains(&name);
            if code != Opcode::None && !in_progress {
                assert!(found.contains_key(&(name, column)), "no line for {}: {column} {code:?}", row.text);
            }
        }
    }
}

#[test]
fn names_are_known_by_vendor_and_by_edition() {
    for (text, name) in [
        ("DW_OP_LLVM_offset", Some(OperationName::Offset)),
        ("offset", Some(OperationName::Offset)),
        ("GNU_offset", None),
        ("LLVM_deref", None),
        ("LLVM_nop", Some(OperationName::Nop)),
        ("GNU_push_tls_address", Some(OperationName::FormTlsAddress)),
        ("GNU_addr_index", Some(OperationName::Addrx)),
        ("mod_trunc", Some(OperationName::Mod)),
        ("aspace_deref_type", Some(OperationName::XderefType)),
        ("push_object_location", Some(OperationName::PushObjectAddress)),
        ("lit5", None),
        ("", None),
        ("DW_OP_", None),
    ] {
        assert_eq!(OperationName::parse(text), name, "{text}");
    }
    for &name in OperationName::ALL {
        assert_eq!(OperationName::parse(name.row().text), Some(name));
        assert_eq!(OperationName::parse(&format!("DW_OP_{}", name.row().text)), Some(name));
    }
}

/// The text without vendor prefixes, with all numbers in hexadecimal.
fn normal(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| "(){};@".contains(c));
        let (sign, digits) = bare.strip_prefix('-').map_or(("", bare), |digits| ("-", digits));
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => digits.parse::<u64>().ok(),
        };
        match value {
            Some(value) => word.replace(bare, &format!("{sign}{value:#x}")),
            None => word.replace("LLVM_", "").replace("GNU_", ""),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn text_and_bytes_are_the_specifications() {
    let mut lines = 0;
    for row in rows(ENCODINGS) {
        let (dialect, text) = row[0].split_once(": ").unwrap();
        let dialect = match (dialect, text) {
            ("std", "push_lane") => Dialect::Dwarf6,
            ("std", _) => Dialect::Dwarf5,
            ("llvm", _) => Dialect::Llvm,
            ("legacy", _) => Dialect::Legacy,
            _ => panic!("{dialect}"),
        };
        let encoding = Encoding::new(8, dialect);
        let bytes: Vec<u8> = row[1].split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let parsed = text::parse(text, encoding, None).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.bytes(), bytes, "{text}");
        let printed = text::print(&bytes, encoding, None);
        assert_eq!(text::parse(&printed, encoding, None).unwrap().bytes(), bytes, "{text} as {printed}");
        let label = match text {
            "skip 0" => Some("skip L0; L0:"),
            "skip -3" => Some("L0: skip L0"),
            "bra -3" => Some("L0: bra L0"),
            _ => None,
        };
        if let Some(label) = label {
            assert_eq!(printed, label);
        } else if text.contains('{') || text.contains("nop; nop") {
            assert_eq!(printed, text);
        } else {
            assert_eq!(normal(&printed), normal(text));
        }
        lines += 1;
    }
    assert!(lines > 200, "{lines} lines");
}

#[test]
fn operations_outside_the_dialect_are_refused() {
    let refused = |text: &str, dialect| {
        let error = text::parse(text, Encoding::new(8, dialect), None).expect_err(text);
        assert!(matches!(error.kind(), ErrorKind::Inexpressible { .. }), "{text}: {error}");
        assert_eq!(error.at().operation, Some(0));
    };
    for text in ["offset", "LLVM_offset", "LLVM_nop", "push_lane", "mod_floor", "overlay"] {
        refused(text, Dialect::Dwarf5);
    }
    refused("LLVM_nop", Dialect::Legacy);
    refused("overlay", Dialect::Llvm);
    refused("mod_floor", Dialect::Llvm);
    refused("offset", Dialect::Dwarf6);
    // 0xb0 is in a note of 2026 only, not in a public table.
    refused("mod_floor", Dialect::Dwarf6);
    refused("piece_end", Dialect::Dwarf6);

    let draft = Encoding::new(8, Dialect::Dwarf6)
        .with_draft(DraftCodes::NONE.with(OperationName::Offset, 0xac).with(OperationName::PushLane, 0xad));
    // A number of the draft takes precedence over the caller's.
    let expr = text::parse("offset; push_lane", draft, None).unwrap();
    assert_eq!(expr.bytes(), [0xac, 0xab]);
    assert_eq!(text::print(&[0xac, 0xab], draft, None), "offset; push_lane");
    assert_eq!(text::print(&[0xad], draft, None), "<offset 0x0: unknown operation 0xad; ad>");
}

#[test]
fn malformed_texts_are_refused() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    for text in [
        "nonsense",
        "reg32",
        "reg",
        "lit32",
        "lit 5",
        "lit",
        "lit+5",
        "deref 4",
        "regx",
        "regx v0",
        "regx -1",
        "regx 18446744073709551616",
        "constu 0x",
        "constu --5",
        "constu 0x-5",
        "constu 1_0",
        "const1u 256",
        "const1s 128",
        "const1s -129",
        "const4u -1",
        "pick 256",
        "bra",
        "bra 40000",
        "bra L0",
        "L0: L0: nop",
        "call4 42",
        "call2 @0x10000",
        "call4 @0x100000000",
        "implicit_value",
        "implicit_value {",
        "implicit_value {1ff}",
        "implicit_value {+1}",
        "implicit_value {01} 5",
        "entry_value (",
        "entry_value ()) nop",
        "entry_value (nonsense)",
        "GNU_offset",
        "LLVM_deref",
        "GNU_encoded_addr 0xff 0",
        "GNU_encoded_addr 0x0b 0x80000000",
        "GNU_encoded_addr 0x00 -170141183460469231731687303715884105728",
        "GNU_encoded_addr 0x04 18446744073709551616",
    ] {
        let error = text::parse(text, encoding, None).expect_err(text);
        let is_argument = matches!(
            error.kind(),
            ErrorKind::BadArgument(_)
                | ErrorKind::DoesNotFit { .. }
                | ErrorKind::Syntax(_)
                | ErrorKind::UnknownName { .. }
        );
        assert!(is_argument && !error.to_string().is_empty(), "{text}: {error}");
    }
    let error = text::parse("nop; L1: ; nop; lit99", encoding, None).unwrap_err();
    assert_eq!(error.at().operation, Some(2));
    let deep = format!("{}{}", "entry_value (".repeat(100_000), ")".repeat(100_000));
    assert!(text::parse(&deep, encoding, None).is_err());
}

#[test]
fn registers_are_printed_and_read_by_name() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    for (target, bytes, text) in [
        (
            "x86_64",
            &[0x56, 0x76, 0x70, 0x92, 0x07, 0x08, 0x90, 0x11][..],
            "reg rbp; breg rbp -16; bregx rsp 8; regx xmm0",
        ),
        ("x86_64", &[0x6f, 0x90, 0x53, 0x8f, 0x7f], "reg xmm14; regx 83; breg xmm14 -1"),
        (
            "amdgpu-gfx1030-wave64",
            &[0x51, 0x61, 0x52, 0x90, 0x80, 0x14],
            "reg exec_32; reg exec; reg2; regx v0",
        ),
        ("amdgpu-gfx1030-wave64", &[0xe9, 0x09, 0x40, 0x04, 0x8f, 0x00], "aspace_bregx s32 4; breg31 0"),
    ] {
        let target = eitri::target::Target::named(target).unwrap();
        assert_eq!(text::print(bytes, encoding, Some(&target)), text);
        assert_eq!(text::parse(text, encoding, Some(&target)).unwrap().bytes(), bytes);
    }
    let target = eitri::target::Target::x86_64();
    assert!(text::parse("reg rflags", encoding, Some(&target)).is_err());
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let narrow = Encoding::new(4, Dialect::Llvm);
    let block = [0x5a; 256];
    let fails = |encoding, ops: &[Op<'_>]| {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, encoding);
        ops.iter().for_each(|&op| {
            encoder.op(op);
        });
        encoder.finish().unwrap_err()
    };
    let size = |what: &str, needs, has| ErrorKind::DoesNotFit { what: what.into(), needs, has };
    let wide = Encoding::new(8, Dialect::Llvm);
    let dwarf2 = narrow.with_version(2);
    for (encoding, op, text, needs, has) in [
        (wide, Op::ConstType { ty: 1, bytes: &block }, "const_type", 9, 8),
        (narrow, Op::Addr { address: 1 << 32 }, "addr", 33, 32),
        (wide, Op::Call2 { entry: 0x10000 }, "call2", 17, 16),
        (wide, Op::Call4 { entry: 1 << 32 }, "call4", 33, 32),
        (wide, Op::CallRef { entry: u64::MAX }, "call_ref", 64, 32),
        (dwarf2, Op::GnuVariableValue { entry: 1 << 40 }, "variable_value", 41, 32),
        (wide, Op::ImplicitPointer { entry: 1 << 32, offset: 0 }, "implicit_pointer", 33, 32),
        (wide, Op::GnuParameterRef { entry: 1 << 32 }, "parameter_ref", 33, 32),
        (wide, Op::GnuVariableValue { entry: 1 << 32 }, "variable_value", 33, 32),
    ] {
        let error = fails(encoding, &[op]);
        assert_eq!(error.kind(), &size(&format!("operand of `{text}`"), needs, has));
    }
    // The first of several errors is reported.
    let error = fails(narrow, &[Op::Addr { address: 1 << 32 }, Op::Call2 { entry: 0x10000 }, Op::Overlay {}]);
    assert_eq!(error.kind(), &size("operand of `addr`", 33, 32));
    let error = fails(narrow, &[Op::Overlay {}, Op::Call2 { entry: 0x10000 }]);
    assert!(matches!(error.kind(), ErrorKind::Inexpressible { .. }));
    let address = EncodedAddress { encoding: 0x50, value: 0 };
    let error = fails(narrow, &[Op::GnuEncodedAddr { address }]);
    assert_eq!(error.to_string(), "operation `encoded_addr` has pointer encoding 0x50, which has no value");

    // The largest operands that fit are encoded completely.
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, narrow);
    encoder.addr(0xffff_ffff).call2(0xffff).call4(0xffff_ffff).const_type(1, &block[..255]);
    encoder.finish().unwrap();
    assert_eq!(bytes.len(), 5 + 3 + 5 + 3 + 255);
}

#[test]
fn spellings_of_another_operation_are_errors() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    for (text, code) in [
        ("lit5", 0x36),
        ("lit5", 0x11),
        ("lit5", 0x14),
        ("deref", 0x03),
        ("offset", 0xe3),
        ("constu 256", 0x08),
        ("consts -129", 0x09),
        ("pick 2", 0x12),
        ("regx 3", 0x54),
        ("bregx 3 4", 0x53),
        ("convert @0x2a", 0xf9),
    ] {
        let expr = text::parse(text, encoding, None).unwrap();
        let op = expr.decode(encoding).next().unwrap().unwrap().op;
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, encoding);
        encoder.spelled(op, Spelling::opcode(code));
        let error = encoder.finish().expect_err(text);
        assert!(matches!(error.kind(), ErrorKind::BadArgument(_)), "{text}: {error}");
    }
}

#[test]
fn bytes_that_cannot_be_decoded_say_why() {
    for (bytes, dialect, at, message) in [
        (&[0x96, 0x03, 0x01][..], Dialect::Dwarf5, 1, "the bytes end inside operation `addr`"),
        (&[0x08], Dialect::Dwarf5, 0, "the bytes end inside operation `const1u`"),
        (&[0x10, 0x80], Dialect::Dwarf5, 0, "the bytes end inside operation `constu`"),
        (&[0x9e, 0x05, 0x00], Dialect::Dwarf5, 0, "the bytes end inside operation `implicit_value`"),
        (&[0xe9], Dialect::Llvm, 0, "the bytes end inside operation `LLVM_user`"),
        (&[0xe9, 0x80], Dialect::Llvm, 0, "the bytes end inside operation `LLVM_user`"),
        (&[0xe9, 0x05], Dialect::Llvm, 0, "the bytes end inside operation `offset_uconst`"),
        (&[0xe9, 0x00], Dialect::Llvm, 0, "unknown operation 0xe9, sub-operation 0x0"),
        (&[0xe9, 0x83, 0x02], Dialect::Llvm, 0, "unknown operation 0xe9, sub-operation 0x103"),
        (&[0xe9, 0x0d, 0x01], Dialect::Llvm, 0, "unknown operation 0xe9, sub-operation 0xd"),
        (&[0xe9, 0x03], Dialect::Dwarf5, 0, "unknown operation 0xe9"),
        (&[0xe9, 0x03], Dialect::Legacy, 0, "unknown operation 0xe9"),
        (&[0xde, 0x01], Dialect::Dwarf6, 0, "unknown operation 0xde"),
        (&[0x00], Dialect::Dwarf5, 0, "unknown operation 0x00"),
        (&[0xf1, 0x05, 0x00], Dialect::Dwarf5, 0, "operation `encoded_addr`: unknown pointer encoding"),
        (
            &[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            Dialect::Dwarf5,
            0,
            "operation `constu`: LEB128 number exceeds 64 bits",
        ),
    ] {
        let mut decoder = Decoder::new(bytes, Encoding::new(8, dialect));
        let error = decoder.by_ref().find_map(Result::err).unwrap();
        assert_eq!(error.to_string(), format!("offset {at:#x}: {message}"));
        assert!(decoder.is_at_end() && decoder.next().is_none());
    }
}
