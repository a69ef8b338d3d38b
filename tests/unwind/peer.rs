//! Rows compared with `gimli::UnwindTable`: for random instructions, and for libraries of this system.

use std::collections::BTreeMap;

use eitri::op::{Dialect, Encoding};
use eitri::read::{CfaRule, FrameRow, FrameSection, Frames, Object, RegisterRule, Sections};
use gimli::{BaseAddresses, EndianSlice, LittleEndian, UnwindContext, UnwindExpression, UnwindSection};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use crate::unwind::cfi::{Program, Section};
use crate::unwind::tools::skip;

/// A row: pcs, CFA rule, and register rules.
type Row = (u64, u64, String, BTreeMap<u64, String>);
type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Text of an expression, for readable differences.
fn expression(bytes: &[u8]) -> String {
    format!("expression {bytes:02x?}")
}

fn ours(row: &FrameRow<'_>) -> Row {
    let cfa = match row.cfa {
        CfaRule::Register { register, offset, space: None } => format!("{}{offset:+}", register.0),
        CfaRule::Expression(expr) => expression(expr),
        other => panic!("{other:?}"),
    };
    let rules = row.rules.iter().map(|&(reg, rule)| {
        let rule = match rule {
            RegisterRule::Undefined => "undefined".into(),
            RegisterRule::SameValue => "same".into(),
            RegisterRule::Offset(by) => format!("at {by:+}"),
            RegisterRule::ValOffset(by) => format!("is {by:+}"),
            RegisterRule::Register(from) => format!("in {}", from.0),
            RegisterRule::Expression(expr) => format!("at {}", expression(expr)),
            RegisterRule::ValExpression(expr) => format!("is {}", expression(expr)),
        };
        (reg.0, rule)
    });
    (row.start, row.end, cfa, rules.collect())
}

fn theirs<'a>(section: &impl UnwindSection<Slice<'a>>, row: &gimli::UnwindTableRow<usize>) -> Row {
    let bytes =
        |expr: &UnwindExpression<usize>| expression(expr.get(section).expect("an expression").0.slice());
    let cfa = match row.cfa() {
        gimli::CfaRule::RegisterAndOffset { register, offset } => format!("{}{offset:+}", register.0),
        gimli::CfaRule::Expression(expr) => bytes(expr),
    };
    let rules = row.registers().map(|(reg, rule)| {
        let rule = match rule {
            gimli::RegisterRule::Undefined => "undefined".into(),
            gimli::RegisterRule::SameValue => "same".into(),
            gimli::RegisterRule::Offset(by) => format!("at {by:+}"),
            gimli::RegisterRule::ValOffset(by) => format!("is {by:+}"),
            gimli::RegisterRule::Register(from) => format!("in {}", from.0),
            gimli::RegisterRule::Expression(expr) => format!("at {}", bytes(expr)),
            gimli::RegisterRule::ValExpression(expr) => format!("is {}", bytes(expr)),
            other => panic!("{other:?}"),
        };
        (u64::from(reg.0), rule)
    });
    (row.start_address(), row.end_address(), cfa, rules.collect())
}

/// Rows of an FDE up to an error.
fn rows_of_ours(frames: &Frames<'_>, fde: &eitri::read::Fde<'_>) -> (Vec<Row>, bool) {
    let mut rows = frames.rows(fde);
    let mut all = Vec::new();
    loop {
        match rows.next_row() {
            Ok(Some(row)) => all.push(ours(row)),
            Ok(None) => return (all, true),
            Err(_) => return (all, false),
        }
    }
}

fn rows_of_theirs<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    fde: &gimli::FrameDescriptionEntry<Slice<'a>>,
    context: &mut UnwindContext<usize>,
) -> (Vec<Row>, bool) {
    let mut all = Vec::new();
    // An error in the CIE's instructions comes first.
    let Ok(mut table) = fde.rows(section, bases, context) else { return (all, false) };
    loop {
        match table.next_row() {
            Ok(Some(row)) => all.push(theirs(section, row)),
            Ok(None) => return (all, true),
            Err(_) => return (all, false),
        }
    }
}

#[test]
fn rows_of_libraries_are_those_of_gimli() {
    let mut found = 0;
    for path in
        ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/gdb"]
    {
        let Ok(bytes) = std::fs::read(path) else {
            skip(&format!("{path} is not there"));
            continue;
        };
        let object = Object::read(&bytes).expect("an object");
        let sections = Sections::of(&object);
        let encoding = Encoding::new(8, Dialect::Dwarf5);
        let frames = Frames::read(&sections, FrameSection::Eh, encoding).expect("call frame information");
        let section = gimli::EhFrame::new(sections.eh_frame, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(sections.eh_frame_address);
        let mut context = UnwindContext::new();
        let mut entries = section.entries(&bases);
        let mut fdes = frames.fdes.iter();
        while let Some(entry) = entries.next().expect("an entry") {
            let gimli::CieOrFde::Fde(fde) = entry else { continue };
            let fde = fde.parse(gimli::EhFrame::cie_from_offset).expect("an FDE");
            let our = fdes.next().expect("as many");
            assert_eq!(
                (our.offset, our.start, our.length),
                (fde.offset() as u64, fde.initial_address(), fde.len())
            );
            assert_eq!(frames.cie(our).is_signal, fde.is_signal_trampoline());
            let our_rows = rows_of_ours(&frames, our);
            assert_eq!(
                our_rows,
                rows_of_theirs(&section, &bases, &fde, &mut context),
                "{path}: {:#x}",
                our.offset
            );
            // Look up a pc in the middle of each row.
            for row in our_rows.0.iter().filter(|row| row.0 < row.1) {
                let pc = row.0 + (row.1 - row.0) / 2;
                let at = frames.row_at(pc).expect("it is read").expect("a row");
                assert_eq!(&ours(&at), row, "{path}: pc {pc:#x}");
            }
            found += our_rows.0.len();
        }
        assert!(fdes.next().is_none(), "{path}");
    }
    assert!(found == 0 || found > 10_000, "{found}");
}

/// Instructions known to both, from choices: opcode, register, number.
fn program(choices: &[(u8, u8, u8)]) -> Program {
    let mut program = Program::new();
    let mut depth = 0;
    for &(what, reg, number) in choices {
        let reg = u64::from(reg % 40);
        let number = u64::from(number);
        let by = number as i64 - 100;
        let expr = [0x77, (number % 0x40) as u8];
        program = match what % 22 {
            0 => program.op(0x40 | (number % 0x40) as u8, []),
            1 => program.advance(number as u8),
            2 => program.def_cfa(reg, number),
            3 => program.signed(0x12, [reg], by),
            4 => program.op(0x0d, [reg]),
            5 => program.op(0x0e, [number]),
            6 => program.signed(0x13, [], by),
            7 => program.expression(0x0f, None, &expr),
            8 => program.undefined(reg),
            9 => program.same_value(reg),
            10 => program.op(0x80 | reg as u8, [number]),
            11 => program.op(0x05, [reg, number]),
            12 => program.offset(reg, by),
            13 => program.op(0x14, [reg, number]),
            14 => program.val_offset(reg, by),
            15 => program.register(reg, number),
            16 => program.at(reg, &expr),
            17 => program.value(reg, &expr),
            18 => program.op(0xc0 | reg as u8, []),
            19 => program.op(0x06, [reg]),
            // gimli remembers at most two states besides the initial rules.
            20 if depth < 2 => {
                depth += 1;
                program.op(0x0a, [])
            }
            // Rarely without a remembered state.
            _ if depth == 0 && number > 8 => program,
            _ => {
                depth = (depth - 1).max(0);
                program.op(0x0b, [])
            }
        };
    }
    program
}

proptest! {
    #![proptest_config(crate::common::cases::config(3000))]

    #[test]
    fn rows_of_random_instructions_are_those_of_gimli(
        first: Vec<(u8, u8, u8)>,
        choices in prop::collection::vec(any::<(u8, u8, u8)>(), 0..60),
        data_alignment in -9i64..9,
    ) {
        // A CIE has neither advances nor restores.
        let first: Vec<_> = first.into_iter().filter(|(what, ..)| (2..18).contains(&(what % 22))).collect();
        let mut section = Section::default();
        // gimli's initial CFA is register 0, ours is unset.
        let cie = section.cie("", data_alignment, 16, &Program::new().def_cfa(0, 0).then(program(&first)));
        section.fde(cie, 0x1000, 0x2000, &program(&choices));
        let frames = section.read();
        let section = gimli::DebugFrame::new(section.bytes(), LittleEndian);
        let bases = BaseAddresses::default();
        let mut entries = section.entries(&bases);
        let mut fde = None;
        while let Some(entry) = entries.next().expect("an entry") {
            if let gimli::CieOrFde::Fde(found) = entry {
                fde = Some(found.parse(gimli::DebugFrame::cie_from_offset).expect("an FDE"));
            }
        }
        let theirs = rows_of_theirs(&section, &bases, &fde.expect("one"), &mut UnwindContext::new());
        prop_assert_eq!(rows_of_ours(&frames, &frames.fdes[0]), theirs);
    }
}
