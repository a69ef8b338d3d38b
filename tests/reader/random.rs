//! Random lists and line programs.

use eitri::read::{LineProgram, Sections};
use gimli::write::{Address, Location, Range};
use gimli::{DebugLine, DebugLineOffset, LineEncoding, LittleEndian};
use proptest::prelude::*;

use crate::common::with;
use crate::reader::attributes::{Contents, Form, Step, expression, sections_of, write};
use crate::reader::compare::compare;

fn step() -> impl Strategy<Value = Step> {
    let by = prop_oneof![0..20u64, 0..1000u64, 0..0x2_0000u64];
    let line = prop_oneof![0..40u64, 0..100_000u64, Just(u64::from(u32::MAX))];
    (by, line, 0..300u64, any::<bool>(), 0..16u8, 0..3u64, 0..200u64).prop_map(
        |(by, line, column, second_file, flags, isa, discriminator)| Step {
            by,
            line,
            column,
            second_file,
            flags,
            isa,
            discriminator,
        },
    )
}

fn line_encoding() -> impl Strategy<Value = LineEncoding> {
    let unit = prop_oneof![Just(1u8), Just(4)];
    (unit, any::<bool>(), -10..=0i8, 11..40u8).prop_map(|(unit, default_is_stmt, line_base, line_range)| {
        LineEncoding {
            minimum_instruction_length: unit,
            maximum_operations_per_instruction: 1,
            default_is_stmt,
            line_base,
            line_range,
        }
    })
}

fn address() -> impl Strategy<Value = Address> {
    (1..0x10_0000i64).prop_map(|addend| Address::Symbol { symbol: 0, addend })
}

fn location(version: u16) -> BoxedStrategy<Location> {
    let data = || (0..128u8).prop_map(expression);
    let base = address().prop_map(|address| Location::BaseAddress { address });
    let pair = (1..0x1_0000u64, 1..0x1_0000u64, data()).prop_map(|(begin, end, data)| Location::OffsetPair {
        begin,
        end,
        data,
    });
    if version < 5 {
        // `gimli` does not write empty ranges there.
        let pair = pair.prop_filter(
            "empty",
            |pair| !matches!(pair, Location::OffsetPair { begin, end, .. } if begin == end),
        );
        return prop_oneof![base, pair].boxed();
    }
    let ends =
        (address(), address(), data()).prop_map(|(begin, end, data)| Location::StartEnd { begin, end, data });
    let length = (address(), 0..0x1_0000u64, data())
        .prop_map(|(begin, length, data)| Location::StartLength { begin, length, data });
    let default = data().prop_map(|data| Location::DefaultLocation { data });
    prop_oneof![base, pair, ends, length, default].boxed()
}

fn range(version: u16) -> BoxedStrategy<Range> {
    let base = address().prop_map(|address| Range::BaseAddress { address });
    let pair = (1..0x1_0000u64, 1..0x1_0000u64).prop_map(|(begin, end)| Range::OffsetPair { begin, end });
    if version < 5 {
        // `gimli` does not write empty ranges there.
        let pair = pair
            .prop_filter("empty", |pair| !matches!(pair, Range::OffsetPair { begin, end } if begin == end));
        return prop_oneof![base, pair].boxed();
    }
    let ends = (address(), address()).prop_map(|(begin, end)| Range::StartEnd { begin, end });
    let length = (address(), 0..0x1_0000u64).prop_map(|(begin, length)| Range::StartLength { begin, length });
    prop_oneof![base, pair, ends, length].boxed()
}

fn any_module() -> impl Strategy<Value = (Form, Contents)> {
    prop::sample::select(Form::all()).prop_flat_map(|form| {
        let version = form.encoding.version;
        let sequence = (0..0x1000u64, prop::collection::vec(step(), 0..12));
        let sequences = prop::collection::vec(sequence, 0..3);
        let locations = prop::collection::vec(location(version), 0..10);
        let ranges = prop::collection::vec(range(version), 0..10);
        (line_encoding(), sequences, locations, ranges).prop_map(
            move |(line_encoding, sequences, locations, ranges)| {
                (form, Contents { line_encoding, sequences, locations, ranges })
            },
        )
    })
}

proptest! {
    #![proptest_config(crate::common::cases::config(256))]

    #[test]
    fn any_lists_and_lines_are_those_that_gimli_reads((form, contents) in any_module()) {
        let written = write(form, &contents, 0x40_0000, false);
        let count = compare(sections_of(form, &written));
        let rows: usize = contents.sequences.iter().map(|(_, steps)| steps.len() + 1).sum();
        prop_assert_eq!(count.rows, rows);
        prop_assert_eq!(count.list_entries, contents.locations.len() + contents.ranges.len());
    }
}

/// An opcode of a line program. Addresses only grow: `gimli` treats smaller ones as code removed by a linker.
fn opcode(opcode_base: u8) -> BoxedStrategy<Vec<u8>> {
    let uleb = |value: u32| {
        let mut bytes = Vec::new();
        gimli::leb128::write::unsigned(&mut bytes, value.into()).unwrap();
        bytes
    };
    let with = move |opcode: u8, value: u32| [vec![opcode], uleb(value)].concat();
    let special = (opcode_base..=255).prop_map(|opcode| vec![opcode]);
    let bare = prop::sample::select(vec![1u8, 6, 7, 8, 10, 11]).prop_map(|opcode| vec![opcode]);
    let number = (prop::sample::select(vec![2u8, 4, 5, 12]), 0..0x4000u32).prop_map(move |(o, n)| with(o, n));
    let line = any::<i16>().prop_map(|by| {
        let mut bytes = vec![3];
        gimli::leb128::write::signed(&mut bytes, by.into()).unwrap();
        bytes
    });
    let fixed = any::<u16>().prop_map(|by| [vec![9], by.to_le_bytes().into()].concat());
    // Unknown standard opcodes, with two operands.
    let unknown = (13..15u8, any::<u16>()).prop_map(move |(o, n)| [with(o, n.into()), uleb(3)].concat());
    let discriminator = any::<u16>().prop_map(move |n| {
        let operand = uleb(n.into());
        [vec![0, operand.len() as u8 + 1, 4], operand].concat()
    });
    let vendor = prop::collection::vec(any::<u8>(), 0..9)
        .prop_map(|operand| [vec![0, operand.len() as u8 + 1, 0x80], operand].concat());
    let end = Just(vec![0, 1, 1, 3, 0x80, 0x80, 0x80, 0x20]);
    let mut all = vec![special.clone().boxed(), special.boxed(), discriminator.boxed(), vendor.boxed()];
    all.push(end.boxed());
    all.push(bare.prop_filter("special", move |bytes| bytes[0] < opcode_base).boxed());
    all.push(number.prop_filter("special", move |bytes| bytes[0] < opcode_base).boxed());
    all.extend([line.boxed(), fixed.boxed()]);
    if opcode_base == 15 {
        all.push(unknown.boxed());
    }
    prop::strategy::Union::new(all).boxed()
}

/// A program with a header of version 4, and the opcodes.
fn program() -> impl Strategy<Value = Vec<u8>> {
    let base = prop::sample::select(vec![10u8, 13, 15]);
    let header = (prop_oneof![Just(1u8), Just(4)], 1..4u8, any::<bool>(), -20..5i8, 1..30u8);
    (base, header).prop_flat_map(|(base, (unit, operations, is_stmt, line_base, line_range))| {
        prop::collection::vec(opcode(base), 0..60).prop_map(move |opcodes| {
            let mut header = vec![unit, operations, is_stmt.into(), line_base as u8, line_range, base];
            let lengths = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 2];
            header.extend(&lengths[..usize::from(base) - 1]);
            header.extend(b"include\0\0a.cl\0\x01\x02\x03\0");
            let mut bytes = vec![4, 0];
            bytes.extend((header.len() as u32).to_le_bytes());
            bytes.extend(header);
            bytes.extend([0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0]);
            // Start at a large line, so that no line becomes negative.
            bytes.extend([3, 0x80, 0x80, 0x80, 0x20]);
            bytes.extend(opcodes.concat());
            [(bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat()
        })
    })
}

proptest! {
    #![proptest_config(crate::common::cases::config(512))]

    #[test]
    fn any_opcodes_run_as_in_gimli(bytes in program()) {
        let sections = with::<Sections>(|sections| sections.debug_line = &bytes);
        let program = LineProgram::read(&sections, 0, 8).unwrap();
        let ours: Vec<_> = program.rows().map(Result::unwrap).collect();
        let line = DebugLine::new(&bytes, LittleEndian);
        let mut rows = line.program(DebugLineOffset(0), 8, None, None).unwrap().rows();
        let mut theirs = Vec::new();
        while let Some((_, row)) = rows.next_row().unwrap() {
            theirs.push(*row);
        }
        prop_assert_eq!(ours.len(), theirs.len());
        for (ours, row) in ours.iter().zip(&theirs) {
            prop_assert_eq!((ours.address, ours.op_index), (row.address(), row.op_index()));
            prop_assert_eq!(ours.line, row.line().map_or(0, |line| line.get()));
            prop_assert_eq!((ours.file, ours.isa), (row.file_index(), row.isa()));
            prop_assert_eq!((ours.discriminator, ours.is_stmt), (row.discriminator(), row.is_stmt()));
            prop_assert_eq!((ours.end_sequence, ours.basic_block), (row.end_sequence(), row.basic_block()));
            prop_assert_eq!((ours.prologue_end, ours.epilogue_begin), (row.prologue_end(), row.epilogue_begin()));
        }
    }
}
