use std::ffi::OsStr;

use gimli::{DebugLine, DebugLineOffset, EndianSlice, Reader, RunTimeEndian};
use object::{Object, ObjectSection};
use proptest::prelude::*;

use super::shape::{Shape, Step};
use super::*;
use crate::emit::format::Format;
use crate::emit::sample::{EU_READELF, Folder, LLVM_DWARFDUMP, READELF, Tool, formats, sample, section};
use crate::emit::section::{Relocation, RelocationTarget};

const STATE: LineState = LineState { file: 0, line: 3, ..LineState::INITIAL };

/// Rows by pc, and the pc at the end of the sequence.
type Sequence = (Vec<(u64, LineState)>, u64);

fn survey(format: Format, step: u8, sequences: &[Sequence]) -> Shape {
    let mut survey = Survey::new(format, step);
    for (rows, _) in sequences {
        survey.begin_sequence();
        for (pc, row) in rows {
            survey.row(*pc, row.line, row.is_prologue_end || row.is_epilogue_begin);
        }
    }
    survey.shape()
}

struct Program {
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
    strings: Vec<u8>,
}

fn write(
    format: Format,
    (step, shape): (u8, Shape),
    are_shared: bool,
    directories: &[&str],
    files: &[LineFile<'_>],
    sequences: &[Sequence],
) -> Program {
    let mut bytes = Vec::new();
    let mut relocations = Vec::new();
    let mut strings = Vec::new();
    let mut offset = |text: &str| {
        let offset = strings.len() as u64;
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        offset
    };
    let names = Names { offset: &mut offset, are_shared, has_inlined: false };
    let mut program =
        LineProgram::begin(&mut bytes, &mut relocations, format, step, shape, names, directories, files)
            .expect("files have names");
    for (rows, end) in sequences {
        program.begin_sequence(None, 0x1000);
        for &(pc, row) in rows {
            program.row(pc, row);
        }
        program.end_sequence(*end);
    }
    program.finish();
    Program { bytes, relocations, strings }
}

fn file(name: &str) -> LineFile<'_> {
    LineFile { name, directory: 0, md5: None, source: None }
}

/// A fixed shape, so that the bytes can be computed by hand.
const LLVM: Shape = Shape::new((-5, 14), 13);

#[test]
fn version_5_by_hand() {
    let sequence = (vec![(0, STATE), (8, LineState { line: 4, ..STATE })], 0x10);
    let written = write(Format::SMALL, (4, LLVM), false, &["/d"], &[file("a.c")], &[sequence]);
    #[rustfmt::skip]
    let expected = [
        64, 0, 0, 0, 5, 0, 8, 0, 36, 0, 0, 0,
        // `min_inst_length`, `max_ops_per_inst`, `default_is_stmt`, `line_base`, `line_range`, `opcode_base`.
        4, 1, 1, 0xfb, 14, 13,
        0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
        // Directories: one path, as an inline string.
        1, 1, 0x08, 1, b'/', b'd', 0,
        // Files: path and directory.
        2, 1, 0x08, 2, 0x0f, 1, b'a', b'.', b'c', 0, 0,
        // `set_address` 0x1000, `set_file` 0.
        0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 4, 0,
        // Lines + 2: 13 + (2 + 5). Lines + 1, instructions + 2: 13 + (1 + 5) + 14 * 2.
        20, 47,
        // `advance_pc` by 2 instructions, `end_sequence`.
        2, 2, 0, 1, 1,
    ];
    assert_eq!(written.bytes, expected);
    assert!(written.relocations.is_empty() && written.strings.is_empty());
}

#[test]
fn version_2_by_hand() {
    let format = Format { version: 2, address_bytes: 4, big_endian: true, ..Format::SMALL };
    let other = LineFile { name: "b.h", directory: 1, md5: None, source: None };
    let row = LineState { file: 2, ..STATE };
    let shape = Shape::new((-5, 14), 10);
    let directories = ["/d", "inc"];
    let written =
        write(format, (1, shape), false, &directories, &[file("a.c"), other], &[(vec![(0, row)], 1)]);
    #[rustfmt::skip]
    let expected = [
        0, 0, 0, 55, 0, 2, 0, 0, 0, 34,
        1, 1, 0xfb, 14, 10,
        0, 1, 1, 1, 1, 0, 0, 0, 1,
        // The compilation directory is implied; files have a time and a size.
        b'i', b'n', b'c', 0, 0,
        b'a', b'.', b'c', 0, 0, 0, 0,
        b'b', b'.', b'h', 0, 1, 0, 0, 0,
        0, 5, 2, 0, 0, 0x10, 0, 4, 2,
        // Lines + 2: 10 + (2 + 5).
        17,
        2, 1, 0, 1, 1,
    ];
    assert_eq!(written.bytes.len(), expected.len());
    assert_eq!(written.bytes, expected);
}

#[test]
fn version_4_has_operations_and_64_bits() {
    let format = Format { version: 4, offset_bytes: 8, ..Format::SMALL };
    let written = write(format, (1, LLVM), true, &[""], &[file("a")], &[]);
    #[rustfmt::skip]
    let expected = [
        0xff, 0xff, 0xff, 0xff, 35, 0, 0, 0, 0, 0, 0, 0, 4, 0, 25, 0, 0, 0, 0, 0, 0, 0,
        1, 1, 1, 0xfb, 14, 13,
        0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
        0, b'a', 0, 0, 0, 0, 0,
    ];
    assert_eq!(written.bytes, expected);
    assert_eq!(file_number(format, 0), 1);
    assert_eq!(file_number(Format::SMALL, 0), 0);
}

#[test]
fn names_that_units_share_are_stored_once_if_they_are_long() {
    let long = "a name that is longer than an offset and its relocation";
    let text = LineFile { source: Some("int x;"), md5: Some([7; 16]), ..file(long) };
    let files = [text, LineFile { source: None, ..text }];
    let written = write(Format::SMALL, (1, LLVM), true, &["/d"], &files, &[]);
    // Directories are the same. Files: path, directory, MD5 sum, source.
    #[rustfmt::skip]
    let mut expected = vec![
        1, 1, 0x08, 1, b'/', b'd', 0,
        4, 1, 0x1f, 2, 0x0f, 5, 0x1e, 0x81, 0x40, 0x1f, 2,
    ];
    let one = [&[0; 5][..], &[7; 16], &[0; 4]].concat();
    expected.extend([&one[..], &one].concat());
    assert_eq!(written.bytes[30..], expected);
    let relocation = |offset, addend| Relocation {
        offset,
        bytes: 4,
        target: RelocationTarget::Section(".debug_line_str"),
        addend,
    };
    let len = long.len() as u64 + 1;
    assert_eq!(
        written.relocations,
        [relocation(48, 0), relocation(69, len), relocation(73, len + 7), relocation(94, 2 * len + 7)]
    );
    assert_eq!(written.strings, format!("{long}\0int x;\0{long}\0\0").as_bytes());
    let alone = write(Format::SMALL, (1, LLVM), false, &["/d"], &files, &[]);
    assert_eq!(alone.relocations.len(), 2, "of the sources only");
}

#[test]
fn a_file_without_a_name_ends_an_old_table() {
    let format = Format { version: 4, ..Format::SMALL };
    let mut out = Vec::new();
    let mut relocations = Vec::new();
    let names = Names { offset: &mut |_| 0, are_shared: false, has_inlined: false };
    let error = LineProgram::begin(&mut out, &mut relocations, format, 1, LLVM, names, &[""], &[file("")])
        .unwrap_err();
    assert_eq!(error.to_string(), "file has no name; expected a name in a line table before DWARF 5");
}

/// Formula of DWARF 5 section 6.2.5.1: `opcode = (lines - line_base) + line_range * instructions + opcode_base`.
#[test]
fn steps_by_hand() {
    let step = |lines, const_adds, instructions, special| Step { lines, const_adds, instructions, special };
    assert_eq!(LLVM.const_add, 17);
    assert_eq!(LLVM.step(0, 0), step(0, 0, 0, 18));
    assert_eq!(LLVM.step(16, 0), step(0, 0, 0, 242));
    // 17 by `const_add_pc`, 1 by the special opcode.
    assert_eq!(LLVM.step(18, 1), step(0, 1, 0, 13 + 6 + 14));
    assert_eq!(LLVM.step(34, -5), step(0, 1, 0, 13 + 14 * 17));
    assert_eq!(LLVM.step(35, -5), step(0, 2, 0, 13 + 14));
    assert_eq!(LLVM.step(100, 0), step(0, 0, 100, 18));
    // 130 takes two bytes as LEB128, 114 takes one.
    assert_eq!(LLVM.step(130, 0), step(0, 0, 114, 242));
    assert_eq!(LLVM.step(1000, 0), step(0, 0, 1000, 18));
    // 66 takes two bytes as signed LEB128, 58 takes one.
    assert_eq!(LLVM.step(0, 66), step(58, 0, 0, 13 + 13));
    assert_eq!(LLVM.step(0, 20), step(20, 0, 0, 18));
    assert_eq!(LLVM.step(0, -66), step(-61, 0, 0, 13));
    assert_eq!(LLVM.step(0, -100), step(-100, 0, 0, 18));
}

#[test]
fn the_shape_suits_the_steps() {
    let rows = |by_pc: u64, by_line: u32| {
        let row = |n: u32| (by_pc * u64::from(n), LineState { line: 1 + by_line * n, ..STATE });
        vec![((0..50).map(row).collect(), by_pc * 50)]
    };
    let shape = |by_pc, by_line| survey(Format::SMALL, 1, &rows(by_pc, by_line)).line_range;
    // Each step takes one byte with its own shape, and two or more with the others.
    assert_eq!((shape(16, 0), shape(35, 0), shape(2, 15)), (14, 6, 42));
}

#[test]
fn version_2_has_fewer_opcodes_unless_a_row_needs_them() {
    let format = Format { version: 2, ..Format::SMALL };
    let marked = LineState { is_prologue_end: true, ..STATE };
    assert_eq!(survey(format, 1, &[(vec![(0, STATE)], 1)]).opcode_base, 10);
    assert_eq!(survey(format, 1, &[(vec![(0, marked)], 1)]).opcode_base, 13);
    assert_eq!(survey(Format::SMALL, 1, &[(vec![(0, STATE)], 1)]).opcode_base, 13);
}

/// Rows as gimli decodes them, with their addresses.
fn read(section: &[u8], offset: usize, address_bytes: u8, endian: RunTimeEndian) -> Vec<Sequence> {
    let line = DebugLine::from(EndianSlice::new(section, endian));
    let program = line.program(DebugLineOffset(offset), address_bytes, None, None).expect("a header");
    let mut rows = program.rows();
    let mut sequences = Vec::new();
    let mut sequence = Vec::new();
    let mut start = None;
    while let Some((_, row)) = rows.next_row().expect("a row") {
        let start_pc = *start.get_or_insert(row.address());
        let pc = row.address() - start_pc;
        if row.end_sequence() {
            sequences.push((std::mem::take(&mut sequence), pc));
            start = None;
            continue;
        }
        let state = LineState {
            file: row.file_index(),
            line: row.line().map_or(0, |line| line.get() as u32),
            column: match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => column.get() as u32,
            },
            discriminator: row.discriminator() as u32,
            is_stmt: row.is_stmt(),
            is_prologue_end: row.prologue_end(),
            is_epilogue_begin: row.epilogue_begin(),
        };
        sequence.push((pc, state));
    }
    sequences
}

fn any_format() -> impl Strategy<Value = Format> {
    (2u16..=5, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(version, is_64, is_small, big_endian)| Format {
            version,
            // DWARF 3 introduced the 64-bit format.
            offset_bytes: if is_64 && version > 2 { 8 } else { 4 },
            address_bytes: if is_small { 4 } else { 8 },
            big_endian,
        },
    )
}

fn rows(step: u64) -> impl Strategy<Value = Sequence> {
    let line = prop_oneof![4 => 0u32..200, 1 => any::<u32>()];
    let by = prop_oneof![8 => 0u64..40, 2 => 0u64..400, 1 => 0u64..100_000];
    let number = prop_oneof![4 => 0u32..3, 1 => any::<u32>()];
    let row = (by, line, number.clone(), number, any::<[bool; 3]>(), 1u64..300);
    (proptest::collection::vec(row, 1..40), 0u64..500).prop_map(move |(rows, end)| {
        let mut pc = 0;
        let rows =
            rows.into_iter().enumerate().map(|(index, (by, line, column, discriminator, flags, file))| {
                // gimli takes the address of the first row as the start of the sequence.
                pc += if index == 0 { 0 } else { by * step };
                let [is_stmt, is_prologue_end, is_epilogue_begin] = flags;
                let row = LineState {
                    file,
                    line,
                    column,
                    discriminator,
                    is_stmt,
                    is_prologue_end,
                    is_epilogue_begin,
                };
                (pc, row)
            });
        let rows: Vec<_> = rows.collect();
        (rows, pc + end * step)
    })
}

proptest! {
    #[test]
    fn rows_are_read_as_written(
        format in any_format(),
        (step, sequences) in prop_oneof![Just(1u8), Just(2), Just(4), Just(8)]
            .prop_flat_map(|step| (Just(step), proptest::collection::vec(rows(step.into()), 0..4))),
    ) {
        let shape = survey(format, step, &sequences);
        let written = write(format, (step, shape), false, &["/d", "e"], &[file("a.c")], &sequences);
        let endian = if format.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        prop_assert_eq!(read(&written.bytes, 0, format.address_bytes, endian), sequences);
    }

    /// No step takes more bytes than `advance_pc` and `advance_line` alone, and each advances by the requested
    /// amounts.
    #[test]
    fn steps_add_up(instructions in 0u64..100_000, lines in -100_000i64..100_000, choice in 0usize..3) {
        let shape = [LLVM, Shape::new((-1, 6), 13), Shape::new((-20, 42), 13)][choice];
        let step = shape.step(instructions, lines);
        let by = u64::from(step.special) - u64::from(shape.opcode_base);
        let range = u64::from(shape.line_range);
        let adds = u64::from(step.const_adds) * u64::from((255 - shape.opcode_base) / shape.line_range);
        prop_assert_eq!(step.instructions + adds + by / range, instructions);
        prop_assert_eq!(step.lines + i64::from(shape.line_base) + (by % range) as i64, lines);
    }
}

/// Number of rows, size of the opcodes that another compiler wrote, and size of our opcodes for the same rows, over
/// all programs of an object.
fn sizes(object: &[u8]) -> [usize; 3] {
    let object = object::File::parse(object).expect("an object");
    let section = object.section_by_name(".debug_line").expect("has lines");
    let bytes = section.data().expect("bytes");
    let line = DebugLine::from(EndianSlice::new(bytes, RunTimeEndian::Little));
    let mut offset = 0;
    let mut sizes = [0; 3];
    while offset < bytes.len() {
        let program = line.program(DebugLineOffset(offset), 8, None, None).expect("a header");
        let header = program.header();
        let step = header.minimum_instruction_length();
        let sequences = read(bytes, offset, 8, RunTimeEndian::Little);
        let shape = survey(Format::SMALL, step, &sequences);
        let length =
            |sequences| write(Format::SMALL, (step, shape), false, &[""], &[], sequences).bytes.len();
        sizes[0] += sequences.iter().map(|(rows, _)| rows.len()).sum::<usize>();
        sizes[1] += header.raw_program_buf().len();
        sizes[2] += length(&sequences) - length(&[]);
        offset += 4 + header.unit_length();
    }
    sizes
}

/// The rows of kernels that clang compiled, encoded again.
#[test]
fn fewer_bytes_than_llvm_for_the_same_rows() {
    let folder = Folder::new();
    let source = folder.file("a.cl", include_bytes!("../../../examples/data/k14_spill.cl"));
    for target in ["--target=amdgcn-amd-amdhsa", "--target=x86_64-linux-gnu"] {
        for level in ["-O0", "-O2"] {
            let object = folder.path().join("a.o");
            let words = ["-x", "cl", "-cl-std=CL2.0", "-w", "-nogpulib", "-g", "-c", level, target];
            let mut words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
            if target.contains("amdgcn") {
                words.push("-mcpu=gfx1030".as_ref());
            }
            words.extend([source.as_os_str(), "-o".as_ref(), object.as_os_str()]);
            let Some(ran) = Tool::new("clang-19", "clang-19").run(&words) else { return };
            ran.clean();
            let [rows, theirs, ours] = sizes(&std::fs::read(object).expect("an object"));
            assert!(rows > 100, "{target} {level}: {rows} rows");
            assert!(ours < theirs, "{target} {level}: {ours} bytes, and LLVM has {theirs}");
        }
    }
}

/// Rows of a text table, as address, line, column, file.
fn rows_of(text: &str, mut columns: impl FnMut(&[&str]) -> Option<[u64; 4]>) -> Vec<[u64; 4]> {
    text.lines().filter_map(|line| columns(&line.split_whitespace().collect::<Vec<_>>())).collect()
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[test]
fn others_read_the_same_rows() {
    for format in formats(2..=5) {
        let files = [0, 1].map(|index| file_number(format, index));
        let row =
            |pc, file: usize, line, column| (pc, LineState { file: files[file], line, column, ..STATE });
        let rows = [row(0, 0, 10, 0), row(3, 1, 500, 7), row(5, 0, 11, 3), row(12, 0, 1, 1)];
        let sequences = ["kernel0", "kernel1"].map(|name| (name, rows));
        let shape = survey(format, 1, &sequences.map(|(_, rows)| (rows.to_vec(), 16)));
        let mut out = Vec::new();
        let mut relocations = Vec::new();
        let mut strings = Vec::new();
        let mut offset = |text: &str| {
            let offset = strings.len() as u64;
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            offset
        };
        let names = Names { offset: &mut offset, are_shared: false, has_inlined: false };
        let header = LineFile { directory: 1, source: Some("int here;"), ..file("b.h") };
        let mut program = LineProgram::begin(
            &mut out,
            &mut relocations,
            format,
            1,
            shape,
            names,
            &["/d", "inc"],
            &[file("a.c"), header],
        )
        .expect("files have names");
        for (name, rows) in sequences {
            program.begin_sequence(Some(RelocationTarget::Symbol(name.into())), 0);
            rows.into_iter().for_each(|(pc, row)| program.row(pc, row));
            program.end_sequence(16);
        }
        program.finish();
        let folder = Folder::new();
        let sample = sample(format, &[(gimli::DW_AT_stmt_list, ".debug_line", [0, 0])]);
        let mut more = vec![section(".debug_line", out, relocations)];
        if !strings.is_empty() {
            more.push(section(".debug_line_str", strings, Vec::new()));
        }
        let Some(program) = sample.program(more, &folder) else { return };

        let mut expected = Vec::new();
        for start in [0, 16] {
            expected.extend(rows.map(|(pc, row)| [start + pc, row.line.into(), row.column.into(), row.file]));
        }
        // The last row of each sequence has only a pc.
        let same = |rows: Vec<[u64; 4]>, text: &str| {
            let start = rows.first().map_or(0, |row| row[0]);
            let rows: Vec<_> =
                rows.iter().map(|&[pc, line, column, file]| [pc - start, line, column, file]).collect();
            assert_eq!(rows, expected, "{format:?}\n{text}");
        };
        if let Some(ran) = LLVM_DWARFDUMP.run(&["--debug-line".as_ref(), program.as_os_str()]) {
            let text = ran.clean();
            let number = |text: &str| text.parse().ok();
            same(
                rows_of(&text, |words| match *words {
                    [pc, line, column, file, .., last] if last != "end_sequence" => {
                        Some([hex(pc)?, number(line)?, number(column)?, number(file)?])
                    }
                    _ => None,
                }),
                &text,
            );
            assert!(text.contains("\"b.h\"") && text.contains("\"inc\""), "{text}");
            assert_eq!(text.contains("int here;"), format.version == 5, "{text}");
        }
        if let Some(ran) = READELF.run(&["--debug-dump=decodedline".as_ref(), program.as_os_str()]) {
            let text = ran.clean();
            let rows = rows_of(&text, |words| match *words {
                [file, line, pc, ..] => {
                    let file = files[usize::from(file == "b.h")];
                    Some([hex(pc).or_else(|| pc.parse().ok())?, line.parse().ok()?, 0, file])
                }
                _ => None,
            });
            let start = rows.first().map_or(0, |row| row[0]);
            let rows: Vec<_> = rows.iter().map(|&[pc, line, _, file]| (pc - start, line, file)).collect();
            let expected: Vec<_> = expected.iter().map(|&[pc, line, _, file]| (pc, line, file)).collect();
            assert_eq!(rows, expected, "{format:?}\n{text}");
        }
        if let Some(ran) = EU_READELF.run(&["--debug-dump=decodedline".as_ref(), program.as_os_str()]) {
            let text = ran.clean();
            let mut file = files[0];
            let rows = rows_of(&text, |words| match *words {
                [name, "(mtime:", ..] => {
                    file = files[usize::from(name.ends_with("inc/b.h"))];
                    None
                }
                [place, "S", "0", "0", "0", pc, ..] => {
                    let (line, column) = place.split_once(':')?;
                    Some([hex(pc)?, line.parse().ok()?, column.parse().ok()?, file])
                }
                _ => None,
            });
            same(rows, &text);
        }
    }
}

/// A line table without rows, with two files `a.c` and `b.h`.
pub(crate) fn two_files(format: Format) -> Vec<u8> {
    write(format, (1, LLVM), false, &["/d"], &[file("a.c"), file("b.h")], &[]).bytes
}
