//! Comparison with `llvm-dwarfdump`, operation by operation.

use eitri::error::ErrorKind;
use eitri::op::{Compact, Decoded, Decoder, Dialect, Encoding, Form, Op, Spelling};
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::random::{Choice, bytes_of, choices};
use super::tools::{Folder, Tool};

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Opcodes of DWARF 5 and GNU that LLVM 19 does not decode.
const UNKNOWN: &[(&[u8], &str)] = &[
    (
        &[0xa0, 0xa4, 0xa6, 0xa7, 0xa9],
        "it has names for these of DWARF 5, and no descriptions of their operands",
    ),
    (
        &[0xf2, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9],
        "nor of GNU's forerunners, though it has of regval_type and convert",
    ),
    (&[0xf0, 0xf1, 0xfa, 0xfd], "no such operations of GNU"),
];

/// Whether LLVM 19 knows the operation: of the vendor operations it knows `nop` only.
fn is_known(op: &Op<'_>, spelling: Spelling) -> bool {
    match spelling.code() {
        eitri::op::LLVM_USER => matches!(op, Op::Nop {}),
        code => !UNKNOWN.iter().any(|(codes, _)| codes.contains(&code)),
    }
}

/// A unit whose variables have these expressions.
struct Unit {
    encoding: Encoding,
    expressions: Vec<Vec<u8>>,
}

/// Offset of the base type in each unit.
fn base_type(encoding: Encoding) -> u64 {
    let Encoding { offset_bytes, version, .. } = encoding;
    let length = if offset_bytes == 8 { 12 } else { 4 };
    let unit_type = u64::from(version >= 5);
    // Version, offset of abbreviations, size of addresses, and the unit entry.
    length + 2 + unit_type + u64::from(offset_bytes) + 1 + 1
}

/// An object with the units.
fn object(units: &[Unit], big_endian: bool) -> Vec<u8> {
    let fixed = |value: u64, bytes: u8| {
        if big_endian {
            value.to_be_bytes()[8 - usize::from(bytes)..].to_vec()
        } else {
            value.to_le_bytes()[..bytes.into()].to_vec()
        }
    };
    let mut info = Vec::new();
    for Unit { encoding, expressions } in units {
        let Encoding { address_bytes, offset_bytes, version, .. } = *encoding;
        let mut unit = fixed(version.into(), 2);
        // DW_UT_compile.
        unit.extend((version >= 5).then_some([1, address_bytes]).iter().flatten());
        unit.extend(fixed(0, offset_bytes));
        unit.extend((version < 5).then_some(address_bytes));
        unit.extend([1]);
        unit.extend(*b"\x02int\0\x05\x04");
        for expression in expressions {
            // Expressions have no form of their own before version 4.
            unit.push(if version >= 4 { 3 } else { 4 });
            let mut len = expression.len();
            while len >= 0x80 {
                unit.push(len as u8 | 0x80);
                len >>= 7;
            }
            unit.push(len as u8);
            unit.extend(expression);
        }
        unit.push(0);
        if offset_bytes == 8 {
            info.extend([0xff; 4]);
        }
        info.extend(fixed(unit.len() as u64, offset_bytes));
        info.extend(unit);
    }
    // DW_TAG_compile_unit; DW_TAG_base_type with a name, DW_ATE_signed and a size; DW_TAG_variable with
    // DW_AT_location as DW_FORM_exprloc or DW_FORM_block.
    let abbreviations = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0],
        &[3, 0x34, 0, 0x02, 0x18, 0, 0],
        &[4, 0x34, 0, 0x02, 0x09, 0, 0],
        &[0],
    ];
    let (architecture, endian) = if big_endian {
        (Architecture::S390x, Endianness::Big)
    } else {
        (Architecture::X86_64, Endianness::Little)
    };
    let mut file = Object::new(BinaryFormat::Elf, architecture, endian);
    for (name, bytes) in [(".debug_info", info), (".debug_abbrev", abbreviations.concat())] {
        let section = file.add_section(Vec::new(), name.into(), SectionKind::Debug);
        file.append_section_data(section, &bytes, 1);
    }
    let mut bytes = file.write().expect("an object");
    // EM_NONE: without a machine, register numbers are printed instead of names.
    bytes[18..20].fill(0);
    bytes
}

/// LLVM's text of each expression; `None` without LLVM.
fn printed(units: &[Unit], big_endian: bool) -> Option<Vec<String>> {
    let folder = Folder::new();
    let path = folder.file("expressions.o", object(units, big_endian));
    let ran = DWARFDUMP.run(&["--debug-info".as_ref(), path.as_os_str()])?;
    let complaint = ran.errors.trim_end().ends_with("Error in creating MCRegInfo");
    assert!(ran.succeeded && (complaint || ran.errors.is_empty()), "{ran}");
    let lines = ran.out.lines().filter_map(|line| line.trim_start().strip_prefix("DW_AT_location\t("));
    Some(lines.map(|line| normalised(line.strip_suffix(')').expect("its end"))).collect())
}

/// The text without brackets: after an entry value of several operations, LLVM 19 misplaces or omits the closing one.
/// An undecodable operation ends the text.
fn normalised(line: &str) -> String {
    let line = line.replace("entry_value(", "entry_value, ").replace(['(', ')'], "");
    let (line, end) = match line.split_once("<decoding error>") {
        Some((line, _)) => (line, "<decoding error>"),
        None => (&*line, ""),
    };
    format!("{}{end}", if end.is_empty() { line.trim_end_matches(", ") } else { line })
}

/// The expected text.
fn expected(expression: &[u8], encoding: Encoding, unit_offset: u64) -> String {
    let mut all = Vec::new();
    operations(expression, encoding, unit_offset, &mut all);
    if all.is_empty() { "<empty>".into() } else { all.join(", ") }
}

/// Appends the expected text of operations. Returns whether all are decodable.
fn operations(expression: &[u8], encoding: Encoding, unit_offset: u64, all: &mut Vec<String>) -> bool {
    for one in Decoder::new(expression, encoding) {
        match one {
            Ok(one) if is_known(&one.op, one.spelling) => {
                all.push(operation(&one, encoding, unit_offset));
                if let Op::EntryValue { expr } = one.op
                    && !operations(expr, encoding, unit_offset, all)
                {
                    return false;
                }
            }
            _ => {
                all.push("<decoding error>".into());
                return false;
            }
        }
    }
    true
}

/// An operation in LLVM's notation: unsigned numbers in hexadecimal, signed ones with their sign, a block as its
/// length and bytes, a type with its target.
fn operation(one: &Decoded<'_>, encoding: Encoding, unit_offset: u64) -> String {
    let code = one.spelling.code();
    let family = Compact::from_opcode(code);
    let name = match (family, code) {
        (Some(family), _) if family.form == Form::InOpcode => {
            format!("{}{}", family.text, code - family.first)
        }
        (Some(family), _) => family.text.into(),
        (_, eitri::op::LLVM_USER) => "LLVM_user DW_OP_LLVM_nop".into(),
        (_, 0xe0) => "GNU_push_tls_address".into(),
        (_, 0xf3) => "GNU_entry_value".into(),
        (_, 0xfb) => "GNU_addr_index".into(),
        (_, 0xfc) => "GNU_const_index".into(),
        _ => one.op.row().text.into(),
    };
    let base_type = base_type(encoding);
    let ty = |ty: u64| {
        if ty == base_type {
            format!(" 0x{:08x} \"int\"", unit_offset + base_type)
        } else {
            format!(" <invalid base_type ref: {ty:#x}>")
        }
    };
    let is_fixed = family.is_some_and(|family| matches!(family.form, Form::InOpcode | Form::Fixed(_)));
    let operands = match one.op {
        Op::ConstU { .. } | Op::Pick { .. } | Op::RegX { .. } if is_fixed => String::new(),
        Op::BregX { offset, .. } if is_fixed => format!(" {offset:+}"),
        Op::ConstU { value } | Op::PlusUconst { value } => format!(" {value:#x}"),
        Op::ConstS { value } => format!(" {value:+}"),
        Op::Addr { address } => format!(" {address:#x}"),
        Op::Pick { index } => format!(" {index:#x}"),
        Op::Bra { distance } | Op::Skip { distance } => format!(" {distance:+}"),
        Op::RegX { reg } => format!(" {:#x}", reg.0),
        Op::BregX { reg, offset } => format!(" {:#x} {offset:+}", reg.0),
        Op::FbReg { offset } => format!(" {offset:+}"),
        Op::Piece { bytes } => format!(" {bytes:#x}"),
        Op::BitPiece { bits, offset } => format!(" {bits:#x} {offset:#x}"),
        Op::DerefSize { bytes } | Op::XderefSize { bytes } => format!(" {bytes:#x}"),
        Op::Call2 { entry } | Op::Call4 { entry } | Op::CallRef { entry } => format!(" {entry:#x}"),
        Op::ImplicitValue { bytes } => {
            let len = format!(" {:#x}", bytes.len());
            bytes.iter().fold(len, |text, byte| format!("{text} 0x{byte:02x}"))
        }
        Op::Addrx { index } | Op::Constx { index } => format!(" {index:#x}"),
        // The nested operations follow.
        Op::EntryValue { .. } => String::new(),
        Op::Convert { ty: 0 } => " 0x0".into(),
        Op::Convert { ty: offset } => ty(offset),
        Op::RegvalType { reg, ty: offset } => format!(" {:#x}{}", reg.0, ty(offset)),
        op => {
            assert!(op.row().operands.is_empty(), "{op:?}");
            String::new()
        }
    };
    format!("DW_OP_{name}{operands}")
}

/// Compares all expressions of units. Returns their number; `None` without LLVM.
fn compare(units: &[Unit], big_endian: bool) -> Option<usize> {
    let mut printed = printed(units, big_endian)?.into_iter();
    let mut offset = 0;
    let mut count = 0;
    for unit in units {
        for expression in &unit.expressions {
            let found = printed.next().expect("all are printed");
            let expected = expected(expression, unit.encoding, offset);
            assert_eq!(found, expected, "{expression:02x?}, {:?}", unit.encoding);
            count += 1;
        }
        let one = Unit { encoding: unit.encoding, expressions: unit.expressions.clone() };
        offset += info_bytes(&one);
    }
    assert_eq!(printed.next(), None);
    Some(count)
}

/// Size of a unit in bytes.
fn info_bytes(unit: &Unit) -> u64 {
    let leb = |len: usize| (1 + len.max(1).ilog2() / 7) as usize;
    let variables = unit.expressions.iter().map(|it| 1 + leb(it.len()) + it.len());
    base_type(unit.encoding) + 7 + variables.sum::<usize>() as u64 + 1
}

/// Known operations that LLVM decodes incorrectly.
fn is_misread(one: &Decoded<'_>, encoding: Encoding) -> bool {
    match one.op {
        // In DWARF 2 a reference has the size of an address (DWARF 3, 7.5.4); LLVM uses that of an offset.
        Op::CallRef { .. } => encoding.version == 2 && encoding.address_bytes != encoding.offset_bytes,
        // LLVM restarts at the first bit after 64 bits of an overlong signed LEB128.
        Op::ConstS { .. } | Op::FbReg { .. } | Op::BregX { .. } => {
            [0, 1].into_iter().any(|index| one.spelling.leb_bytes(index) > 10)
        }
        _ => false,
    }
}

/// Whether no operand is truncated or too large, which LLVM ignores, or decoded incorrectly.
fn is_whole(expression: &[u8], encoding: Encoding) -> bool {
    Decoder::new(expression, encoding).all(|one| match one {
        Ok(Decoded { op: Op::EntryValue { expr }, .. }) => is_whole(expr, encoding),
        Ok(one) => !is_misread(&one, encoding),
        Err(error) => matches!(error.kind(), ErrorKind::UnknownOperation { .. }),
    })
}

/// A random expression of operations that LLVM knows, possibly followed by an unknown one.
fn expression(choices: &[Choice], encoding: Encoding) -> Vec<u8> {
    let mut all = Vec::new();
    for choice in choices {
        let Some((_, bytes)) = bytes_of(choice, encoding) else { continue };
        let one = Decoder::new(&bytes, encoding).next().expect("an operation").expect("is decoded");
        if is_misread(&one, encoding) {
            continue;
        }
        all.extend(&bytes);
        if !is_known(&one.op, one.spelling) {
            break;
        }
    }
    all
}

#[test]
fn llvm_decodes_random_operations_the_same() {
    let mut runner = TestRunner::default();
    let expressions = vec(vec(choices(true), 1..8), 200);
    let mut count = 0;
    for big_endian in [false, true] {
        let mut units = Vec::new();
        for version in 2..=5 {
            for (address_bytes, offset_bytes) in [(4, 4), (8, 4), (4, 8), (8, 8)] {
                for dialect in [Dialect::Dwarf5, Dialect::Llvm] {
                    if version < 3 && offset_bytes == 8 {
                        continue;
                    }
                    let new = Encoding::new(address_bytes, dialect);
                    let encoding =
                        new.with_version(version).with_offset_bytes(offset_bytes).with_big_endian(big_endian);
                    let chosen = expressions.new_tree(&mut runner).expect("expressions").current();
                    let mut expressions: Vec<_> =
                        chosen.iter().map(|choices| expression(choices, encoding)).collect();
                    // Also operations with types.
                    let base = base_type(encoding) as u8;
                    expressions.push(vec![0xa8, base, 0xa5, 0x07, base, 0xa8, 0x00]);
                    units.push(Unit { encoding, expressions });
                }
            }
        }
        match compare(&units, big_endian) {
            Some(some) => count += some,
            None => return,
        }
    }
    println!("{count} expressions");
}

/// Each opcode alone, known or unknown.
#[test]
fn llvm_knows_what_is_listed() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    let mut expressions = Vec::new();
    let mut unknown = 0;
    for code in 0..=255u8 {
        // An operation with all its operands; the decoder determines its end.
        let subs: &[u8] =
            if code == eitri::op::LLVM_USER { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] } else { &[0] };
        for &sub in subs {
            let bytes = [&[code, sub][..], &[0; 40]].concat();
            let bytes = if sub == 0 { [&[code][..], &[0; 40]].concat() } else { bytes };
            let mut decoder = Decoder::new(&bytes, encoding);
            let Some(Ok(one)) = decoder.next() else { continue };
            unknown += usize::from(!is_known(&one.op, one.spelling));
            expressions.push(bytes[..decoder.offset()].to_vec());
        }
    }
    let listed: usize = UNKNOWN.iter().map(|(codes, _)| codes.len()).sum();
    // Plus all sub-operations except the first.
    assert_eq!(unknown, listed + 11);
    compare(&[Unit { encoding, expressions }], false);
}

/// All expressions of the conformance vectors.
#[test]
fn llvm_decodes_the_vectors_the_same() {
    use std::collections::BTreeMap;

    use eitri::conform::{VectorBody, VectorFile};
    use eitri::eval::OwnedBody;

    let folder = std::path::Path::new(crate::common::ROOT).join("goldens/conformance");
    let mut all: BTreeMap<(bool, u8, u8, u16), Vec<Vec<u8>>> = BTreeMap::new();
    for path in std::fs::read_dir(folder).expect("the folder").map(|file| file.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file =
            VectorFile::from_json(std::fs::read(&path).expect("is read")).expect("is a file of vectors");
        for vector in file.vectors() {
            let Encoding { address_bytes, offset_bytes, version, big_endian, dialect, .. } = vector.encoding;
            if !matches!(dialect, Dialect::Dwarf5 | Dialect::Llvm) {
                continue;
            }
            let machine = &vector.machine.snapshot;
            let mut expressions = Vec::new();
            match &vector.body {
                VectorBody::Expression(expr) => expressions.push(expr.clone()),
                VectorBody::List(entries) => {
                    expressions.extend(entries.iter().map(|entry| entry.expr.to_vec()))
                }
                VectorBody::Section(_) | VectorBody::Frames(_) => {}
            }
            let bodies = machine.entries.values().chain(&machine.frame_base).map(|(body, _)| body);
            for body in bodies {
                match body {
                    OwnedBody::Expression(expr) => expressions.push(expr.clone()),
                    OwnedBody::List(entries) => {
                        expressions.extend(entries.iter().map(|entry| entry.expr.to_vec()));
                    }
                    _ => {}
                }
            }
            let key = (big_endian, address_bytes, offset_bytes, version);
            all.entry(key).or_default().extend(expressions);
        }
    }
    let mut count = 0;
    for big in [false, true] {
        let units = all.iter().filter(|(key, _)| key.0 == big).map(|(key, expressions)| {
            let &(big_endian, address_bytes, offset_bytes, version) = key;
            // LLVM has all dialects at once.
            let new = Encoding::new(address_bytes, Dialect::Llvm);
            let encoding =
                new.with_offset_bytes(offset_bytes).with_version(version).with_big_endian(big_endian);
            let mut expressions = expressions.clone();
            expressions.sort();
            expressions.dedup();
            expressions.retain(|expression| is_whole(expression, encoding));
            Unit { encoding, expressions }
        });
        match compare(&units.collect::<Vec<_>>(), big) {
            Some(some) => count += some,
            None => return,
        }
    }
    println!("{count} expressions");
}
