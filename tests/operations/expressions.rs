//! Complete expressions: labels, fixups, and the conversion to `gimli::write`.

use eitri::error::ErrorKind;
use eitri::op::{
    Decoder, Dialect, Encoding, Expr, ExprBuilder, Fixup, FixupKind, GimliTarget, Op, Reg, Slot,
};
use gimli::write::{Address, AttributeValue, DebugInfoRef, Dwarf, EndianVec, LineProgram, Sections, Unit};
use gimli::{DwTag, LittleEndian};
use pretty_assertions::assert_eq;

const LLVM: Encoding = Encoding::new(8, Dialect::Llvm);

#[test]
fn labels_are_reached_forward_and_backward() {
    for big_endian in [false, true] {
        let encoding = LLVM.with_big_endian(big_endian);
        let mut e = Expr::build(encoding);
        let top = e.label();
        let end = e.label();
        let here = e.label();
        e.bind(top);
        e.ops().push_lane();
        e.bra(end);
        e.skip(top);
        e.bind(here).skip(here);
        e.bind(end);
        let expr = e.finish().unwrap();
        let by = |by: i16| if big_endian { by.to_be_bytes() } else { by.to_le_bytes() };
        let branches = [(0x28, 6), (0x2f, -8), (0x2f, -3)].map(|(code, to)| [code, by(to)[0], by(to)[1]]);
        assert_eq!(expr.bytes(), [&[0xe9, 0x03], branches.as_flattened()].concat());
    }
}

#[test]
fn labels_that_cannot_be_reached_are_errors() {
    let fails = |build: &dyn Fn(&mut ExprBuilder)| {
        let mut e = Expr::build(LLVM);
        build(&mut e);
        let error = e.finish().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadArgument(_)));
        error.to_string()
    };
    let unbound = fails(&|e| {
        let label = e.label();
        e.bra(label);
    });
    assert_eq!(unbound, "label of a branch is not bound");
    let twice = fails(&|e| {
        let label = e.label();
        e.bind(label).bind(label).skip(label);
    });
    assert_eq!(twice, "label is bound twice");
    let stranger = Expr::build(LLVM).label();
    let other = fails(&|e| {
        e.bind(stranger);
    });
    assert_eq!(other, "label belongs to another expression");
    let block = |len: usize| vec![0; len];
    for (len, reaches) in [(0x7fff - 4, true), (0x7fff - 3, false)] {
        let mut e = Expr::build(LLVM);
        let end = e.label();
        e.skip(end);
        e.ops().implicit_value(&block(len));
        e.bind(end);
        let expr = e.finish();
        assert_eq!(expr.is_ok(), reaches, "{len}");
        if let Err(error) = expr {
            assert_eq!(error.to_string(), "branch distance +32768 exceeds 32 KiB");
        }
    }
    for (len, reaches) in [(0x8000 - 3 - 4, true), (0x8000 - 3 - 3, false)] {
        let mut e = Expr::build(LLVM);
        let top = e.label();
        e.bind(top);
        e.ops().implicit_value(&block(len));
        e.bra(top);
        assert_eq!(e.finish().is_ok(), reaches, "{len}");
    }
}

#[test]
fn an_operation_that_is_missing_or_does_not_fit_is_remembered() {
    let mut e = Expr::build(Encoding::new(4, Dialect::Dwarf5));
    e.ops().push_lane().addr(1 << 32);
    e.ops().deref();
    assert!(matches!(e.finish().unwrap_err().kind(), ErrorKind::Inexpressible { .. }));
    let mut e = Expr::build(Encoding::new(4, Dialect::Dwarf5));
    e.ops().addr(1 << 32).push_lane();
    assert!(matches!(e.finish().unwrap_err().kind(), ErrorKind::DoesNotFit { .. }));
    let mut e = Expr::build(LLVM);
    e.refer(Op::Deref {}, Slot(0));
    let error = e.finish().unwrap_err();
    assert_eq!(error.to_string(), "operation `deref` has no operand that a fix-up can fill in");
}

/// Every operation with a reference, with its fixup, the offset of the field and the size.
const REFERRING: [(Op<'static>, FixupKind, u32, u32); 13] = [
    (Op::Addr { address: 7 }, FixupKind::Address, 1, 9),
    (Op::Call2 { entry: 7 }, FixupKind::Entry { bytes: 2 }, 1, 3),
    (Op::Call4 { entry: 7 }, FixupKind::Entry { bytes: 4 }, 1, 5),
    (Op::CallRef { entry: 7 }, FixupKind::EntrySection, 1, 5),
    (Op::ImplicitPointer { entry: 7, offset: -200 }, FixupKind::EntrySection, 1, 7),
    (Op::GnuParameterRef { entry: 7 }, FixupKind::Entry { bytes: 4 }, 1, 5),
    (Op::GnuVariableValue { entry: 7 }, FixupKind::EntrySection, 1, 5),
    (Op::ConstType { ty: 7, bytes: &[1, 2] }, FixupKind::Type { bytes: 3 }, 1, 7),
    (Op::Convert { ty: 7 }, FixupKind::Type { bytes: 3 }, 1, 4),
    (Op::Reinterpret { ty: 7 }, FixupKind::Type { bytes: 3 }, 1, 4),
    (Op::DerefType { bytes: 4, ty: 7 }, FixupKind::Type { bytes: 3 }, 2, 5),
    (Op::XderefType { bytes: 4, ty: 7 }, FixupKind::Type { bytes: 3 }, 2, 5),
    (Op::RegvalType { reg: Reg(2560), ty: 7 }, FixupKind::Type { bytes: 3 }, 3, 6),
];

/// Fills in a fixup, as the owner of an expression would.
fn fill(bytes: &mut [u8], fixup: &Fixup, encoding: Encoding, value: u64) {
    let bytes = &mut bytes[fixup.offset as usize..];
    let size = match fixup.kind {
        FixupKind::Entry { bytes } => bytes,
        FixupKind::EntrySection => encoding.offset_bytes,
        FixupKind::Address => encoding.address_bytes,
        FixupKind::Type { bytes: size } => {
            for index in 0..size {
                let more = if index + 1 < size { 0x80 } else { 0 };
                bytes[usize::from(index)] = (value >> (7 * index)) as u8 & 0x7f | more;
            }
            return;
        }
    };
    assert!(bytes[..size.into()].iter().all(|&byte| byte == 0));
    bytes[..size.into()].copy_from_slice(&value.to_le_bytes()[..size.into()]);
}

/// The operation with another number in the field of the fixup.
fn with(op: Op<'_>, value: u64) -> Op<'_> {
    match op {
        Op::Addr { .. } => Op::Addr { address: value },
        Op::Call2 { .. } => Op::Call2 { entry: value },
        Op::Call4 { .. } => Op::Call4 { entry: value },
        Op::CallRef { .. } => Op::CallRef { entry: value },
        Op::ImplicitPointer { offset, .. } => Op::ImplicitPointer { entry: value, offset },
        Op::GnuParameterRef { .. } => Op::GnuParameterRef { entry: value },
        Op::GnuVariableValue { .. } => Op::GnuVariableValue { entry: value },
        Op::ConstType { bytes, .. } => Op::ConstType { ty: value, bytes },
        Op::Convert { .. } => Op::Convert { ty: value },
        Op::Reinterpret { .. } => Op::Reinterpret { ty: value },
        Op::DerefType { bytes, .. } => Op::DerefType { bytes, ty: value },
        Op::XderefType { bytes, .. } => Op::XderefType { bytes, ty: value },
        Op::RegvalType { reg, .. } => Op::RegvalType { reg, ty: value },
        other => panic!("{other:?}"),
    }
}

#[test]
fn places_to_fill_in_are_where_the_numbers_belong() {
    let mut e = Expr::build(LLVM);
    let mut offset = 0;
    let mut places = Vec::new();
    for (index, &(op, kind, before, size)) in REFERRING.iter().enumerate() {
        let slot = Slot(index as u32);
        e.ops().push_lane();
        e.refer(op, slot);
        places.push(Fixup { offset: offset + 2 + before, kind, slot });
        offset += 2 + size;
    }
    let expr = e.finish().unwrap();
    assert_eq!(expr.fixups(), places);
    assert_eq!(expr.bytes().len() as u32, offset);
    // All numbers are 0 before they are filled in.
    let ops = expr.decode(LLVM).map(|one| one.unwrap().op);
    let zeros: Vec<_> = REFERRING.iter().flat_map(|&(op, ..)| [Op::PushLane {}, with(op, 0)]).collect();
    assert_eq!(ops.collect::<Vec<_>>(), zeros);

    let mut bytes = expr.bytes().to_vec();
    let number = |slot: u32| 0x1234 + u64::from(slot);
    expr.fixups().iter().for_each(|fixup| fill(&mut bytes, fixup, LLVM, number(fixup.slot.0)));
    let ops = Decoder::new(&bytes, LLVM).map(|one| one.unwrap().op);
    let filled = REFERRING.iter().enumerate();
    let filled = filled.flat_map(|(index, &(op, ..))| [Op::PushLane {}, with(op, number(index as u32))]);
    assert_eq!(ops.collect::<Vec<_>>(), filled.collect::<Vec<_>>());
}

/// A gimli unit with a base type, a variable and an expression, as written by gimli.
struct Written {
    base: u64,
    variable: u64,
    /// Bytes of the expression, and the numbers in its slots: 0 the base type, 1 the variable, 2 an address.
    bytes: Vec<u8>,
}

const ADDRESS: u64 = 0x1122_3344_5566_7788;

/// Writes the unit. `far`: number of bytes before the base type.
fn written_by_gimli(expr: &Expr, far: usize) -> eitri::Result<Written> {
    let encoding = gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
    let mut dwarf = Dwarf::new();
    let id = dwarf.units.add(Unit::new(encoding, LineProgram::none()));
    let unit = dwarf.units.get_mut(id);
    let root = unit.root();
    unit.get_mut(root).set(gimli::DW_AT_producer, AttributeValue::Block(vec![0; far]));
    let base = unit.add(root, gimli::DW_TAG_base_type);
    unit.get_mut(base).set(gimli::DW_AT_byte_size, AttributeValue::Data1(4));
    let variable = unit.add(root, gimli::DW_TAG_variable);
    let holder = unit.add(root, DwTag(0x4080));
    let found = expr.to_gimli(LLVM, |slot| match slot.0 {
        0 => GimliTarget::Entry(base),
        1 => GimliTarget::Entry(variable),
        2 => GimliTarget::Address(Address::Constant(ADDRESS)),
        _ => GimliTarget::Reference(DebugInfoRef::Entry(id, variable)),
    })?;
    unit.get_mut(holder).set(gimli::DW_AT_location, AttributeValue::Exprloc(found));
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    dwarf.write(&mut sections).unwrap();
    let section = sections.debug_info.slice();

    let read = gimli::Dwarf::load(|section| {
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(
            sections.get(section).map_or(&[][..], |section| section.slice()),
            LittleEndian,
        ))
    })
    .unwrap();
    let header = read.units().next().unwrap().unwrap();
    let unit = read.unit(header).unwrap();
    let mut written = Written { base: 0, variable: 0, bytes: Vec::new() };
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs().unwrap() {
        let offset = entry.offset().0 as u64;
        match entry.tag() {
            gimli::DW_TAG_base_type => written.base = offset,
            gimli::DW_TAG_variable => written.variable = offset,
            _ => {}
        }
        if let Some(gimli::AttributeValue::Exprloc(found)) = entry.attr_value(gimli::DW_AT_location) {
            written.bytes = found.0.slice().to_vec();
        }
    }
    assert!(written.variable != 0 && section.len() > far);
    Ok(written)
}

/// Every operation with a reference that gimli supports, between vendor operations, with branches around.
fn for_gimli() -> Expr {
    let mut e = Expr::build(LLVM);
    let top = e.label();
    let end = e.label();
    e.bind(top);
    e.ops().regx(Reg(2560)).push_lane().constu(4).mul().offset();
    e.bra(end);
    for (index, (op, kind, ..)) in REFERRING.into_iter().enumerate() {
        let slot = match (op, kind) {
            (Op::Call2 { .. } | Op::GnuParameterRef { .. }, _) => continue,
            (_, FixupKind::Type { .. }) => 0,
            (_, FixupKind::Entry { .. }) => 1,
            (_, FixupKind::Address) => 2,
            (_, FixupKind::EntrySection) => 3,
        };
        e.refer(op, Slot(slot));
        if index % 4 == 0 {
            e.skip(top);
        }
        e.ops().aspace_bregx(Reg(64), -(index as i64)).form_aspace_address();
    }
    e.bra(end);
    e.ops().entry_value(&[0xe9, 0x07, 0x10]).implicit_value(&[1, 2, 3]).piece_end();
    e.bind(end);
    e.finish().unwrap()
}

fn filled(expr: &Expr, written: &Written) -> Vec<u8> {
    let mut bytes = expr.bytes().to_vec();
    for fixup in expr.fixups() {
        let number = match fixup.slot.0 {
            0 => written.base,
            2 => ADDRESS,
            _ => written.variable,
        };
        fill(&mut bytes, fixup, LLVM, number);
    }
    bytes
}

#[test]
fn gimli_writes_the_same_bytes_where_a_type_needs_three() {
    let expr = for_gimli();
    let written = written_by_gimli(&expr, 0x8000).unwrap();
    assert!(written.base >= 0x4000);
    assert_eq!(filled(&expr, &written), written.bytes);
}

/// The operations, with each branch target as the index of an operation.
fn resolved(bytes: &[u8]) -> Vec<(Op<'_>, Option<usize>)> {
    let all: Vec<_> = Decoder::new(bytes, LLVM).map(|one| one.unwrap()).collect();
    let offsets: Vec<_> = all.iter().map(|one| one.offset).chain([bytes.len()]).collect();
    let to =
        |offset: usize, by: i16| offsets.binary_search(&(offset + 3).strict_add_signed(by.into())).unwrap();
    all.iter()
        .map(|one| match one.op {
            Op::Bra { distance } => (Op::Bra { distance: 0 }, Some(to(one.offset, distance))),
            Op::Skip { distance } => (Op::Skip { distance: 0 }, Some(to(one.offset, distance))),
            op => (op, None),
        })
        .collect()
}

#[test]
fn gimli_writes_the_same_operations_and_branches_where_a_type_needs_less() {
    let expr = for_gimli();
    let written = written_by_gimli(&expr, 0).unwrap();
    assert!(written.base < 0x80);
    let ours = filled(&expr, &written);
    assert!(written.bytes.len() < ours.len());
    assert_eq!(resolved(&ours), resolved(&written.bytes));
}

#[test]
fn expressions_that_refer_to_nothing_go_to_gimli_as_they_are() {
    let mut e = Expr::build(LLVM);
    e.ops().push_lane().constu(300).call_frame_entry_reg(Reg(16));
    let expr = e.finish().unwrap();
    assert_eq!(written_by_gimli(&expr, 0).unwrap().bytes, expr.bytes());
    // Bytes that are not operations.
    let raw = Expr::raw([0xff, 0x00, 0xfe]);
    assert_eq!(written_by_gimli(&raw, 0).unwrap().bytes, raw.bytes());
}

#[test]
fn operations_unknown_to_gimli_are_refused() {
    let cannot = |op, slot| {
        let mut e = Expr::build(LLVM);
        e.ops().push_lane();
        e.refer(op, Slot(slot));
        let error = written_by_gimli(&e.finish().unwrap(), 0).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::BadArgument(_)));
        assert_eq!(error.at().offset, Some(2));
    };
    cannot(Op::Call2 { entry: 0 }, 1);
    cannot(Op::GnuParameterRef { entry: 0 }, 1);
    cannot(Op::Call4 { entry: 0 }, 2);
    cannot(Op::Addr { address: 0 }, 1);
    cannot(Op::RegvalType { reg: Reg(0x10000), ty: 0 }, 0);

    let mut e = Expr::build(LLVM);
    e.refer(Op::Convert { ty: 0 }, Slot(0));
    e.ops().skip(-5);
    let error = written_by_gimli(&e.finish().unwrap(), 0).err().unwrap();
    assert_eq!(
        error.to_string(),
        "offset 0x4: branch distance -5 does not lead to the start of an operation or to the end"
    );
}
