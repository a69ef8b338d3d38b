//! Sections that only NVIDIA's tools write, typed by hand.

use eitri::emit::elf::{CodeContents, CodeSection, ObjectCode};
use eitri::read::Object;
use eitri::read::nvidia::{Home, PtxText, RegisterMap, RegisterTypes};
use pretty_assertions::{assert_eq, assert_ne};

use crate::common::cubin::typed;

const MAP: &str = ".nv_debug_info_reg_sass";
const TYPES: &str = ".nv_debug_info_reg_type";
const TEXT: &str = ".nv_debug_ptx_txt";

/// A cubin with a function `k` and one more section.
fn cubin(name: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut code = ObjectCode::text(vec![0; 64]).with_function("k", 16, 48);
    code.sections[0].name = ".text.k".into();
    code.sections.push(CodeSection::new(name, CodeContents::Note, bytes, 1));
    typed("nvptx-sm_90", &code, &[])
}

fn entry(word: u32, register: &str, home: u32, start: u32, end: u32) -> Vec<u8> {
    let numbers = [home, start, end].map(u32::to_le_bytes).concat();
    [&word.to_le_bytes()[..], register.as_bytes(), &[0], &numbers].concat()
}

fn map(function: &str, count: u32, entries: &[Vec<u8>]) -> Vec<u8> {
    [function.as_bytes(), &[0], &count.to_le_bytes(), &entries.concat()].concat()
}

#[test]
fn homes_of_registers_have_class_and_number() {
    let entries = [
        entry(0, "%rd1", 0x0500_0004, 0x10, 0x30),
        entry(1, "%rd1", 0x0500_0005, 0x10, 0x20),
        entry(1, "%rd1", 0x0701_00a8, 0x20, 0x30),
        entry(0, "%rs2", 0x0400_0009, 0, 0x30),
    ];
    let homes = [
        (0x0100_0000, "CC0"),
        (0x0200_0003, "P3"),
        (0x0200_0007, "PT"),
        (0x0400_0008, "R4.l"),
        (0x0400_0009, "R4.h"),
        (0x0500_00fe, "R254"),
        (0x0500_00ff, "RZ"),
        (0x0600_0010, "local[0x10]"),
        (0x0701_00a8, "local[R1+0xa8]"),
        (0x0900_0002, "UP2"),
        (0x0b00_0024, "UR36"),
        // sm_100 and later have UR63; NVIDIA's debuggers take 255 for the register that reads as 0 on all processors.
        (0x0b00_003f, "UR63"),
        (0x0b00_00ff, "URZ"),
        (0x0c00_0001, "0xc000001"),
    ];
    for (number, text) in homes {
        assert_eq!(Home(number).to_string(), text);
    }
    let bytes = cubin(MAP, [map("k", 4, &entries), map("gone", 0, &[])].concat());
    let object = Object::read(&bytes).unwrap();
    let map = RegisterMap::read(&object).unwrap();
    let names: Vec<_> = map.functions.iter().map(|function| (function.name(), function.address)).collect();
    assert_eq!(names, [("k".into(), Some(0x10010)), ("gone".into(), None)]);
    let k = map.function_at(0x10010).unwrap();
    for (register, word, pc, home) in [
        // Range that includes both ends.
        ("%rd1", 0, 0x0f, None),
        ("%rd1", 0, 0x10, Some(0x0500_0004)),
        ("%rd1", 0, 0x30, Some(0x0500_0004)),
        ("%rd1", 0, 0x31, None),
        ("%rd1", 1, 0x1f, Some(0x0500_0005)),
        // Two entries of one word.
        ("%rd1", 1, 0x20, None),
        ("%rd1", 1, 0x21, Some(0x0701_00a8)),
        ("%rd1", 2, 0x10, None),
        ("%rd", 0, 0x10, None),
        ("%rs2", 0, 0, Some(0x0400_0009)),
    ] {
        assert_eq!(k.home(register.as_bytes(), word, pc), home.map(Home), "{register} {word} {pc:#x}");
    }
}

#[test]
fn counts_are_bounded_by_the_section() {
    for (count, error) in [
        (
            2,
            "section .nv_debug_info_reg_sass, offset 0x2: the map of registers: the section has no room for 2 entries",
        ),
        (u32::MAX, "the section has no room for 4294967295 entries"),
    ] {
        let bytes = cubin(MAP, map("k", count, &[entry(0, "%r1", 0x0500_0000, 0, 16)]));
        let found = RegisterMap::read(&Object::read(&bytes).unwrap()).unwrap_err().to_string();
        assert!(found.ends_with(error), "{found}");
        let text = eitri::dump::print(&bytes, None).unwrap();
        assert!(text.contains("registers: <section .nv_debug_info_reg_sass, offset 0x2: "), "{text}");
    }
    // Every beginning of the section is an answer or an error.
    let whole = map("k", 2, &[entry(0, "%r1", 0x0500_0000, 0, 16), entry(0, "%r2", 0x0500_0000, 0, 16)]);
    for end in 0..whole.len() {
        let bytes = cubin(MAP, whole[..end].to_vec());
        let object = Object::read(&bytes).unwrap();
        assert_eq!(RegisterMap::read(&object).is_ok(), end == 0, "{end}");
    }
}

#[test]
fn types_and_text_are_read() {
    // One type for each entry of the map, by the order of the section.
    let types = [b"k\0".as_slice(), &3_u32.to_le_bytes(), &[3, 0x0f, 0x10]].concat();
    let bytes = cubin(TYPES, types);
    let object = Object::read(&bytes).unwrap();
    let types = RegisterTypes::read(&object).unwrap();
    let names: Vec<_> = types.of(b"k").iter().map(|ty| RegisterTypes::name(*ty)).collect();
    assert_eq!(names, [Some("b64"), Some("f64"), Some("pred")]);
    assert!(types.of(b"j").is_empty() && RegisterTypes::name(99).is_none());
    let bytes = cubin(TYPES, b"k\0\x04\0\0\0\x03".to_vec());
    assert!(RegisterTypes::read(&Object::read(&bytes).unwrap()).is_err());
    for name in [TEXT.into(), format!("{TEXT}.1270142632")] {
        let bytes = cubin(&name, b".version 9.0\0\0ret;\0".to_vec());
        let object = Object::read(&bytes).unwrap();
        let text = PtxText::read(&object);
        assert_eq!(text.count(), 3);
        let lines: Vec<_> = (0..5).map(|number| text.line(number)).collect();
        assert_eq!(lines, [None, Some(".version 9.0".into()), Some("".into()), Some("ret;".into()), None]);
    }
}

/// Older cubins have OSABI 0x33, ABI version 7, and the processor in the low byte of the flags.
#[test]
fn the_processor_is_in_the_flags_of_either_abi() {
    let mut bytes = cubin(TEXT, b"ret;\0".to_vec());
    assert_eq!((bytes[7], bytes[8], bytes[49]), (0x41, 8, 90));
    let name =
        |bytes: &[u8]| Object::read(bytes).unwrap().target(None).map(|target| target.name().to_owned());
    assert_eq!(name(&bytes).as_deref(), Some("nvptx-sm_90"));
    (bytes[7], bytes[8]) = (0x33, 7);
    bytes[48..52].copy_from_slice(&0x0050_0550_u32.to_le_bytes());
    assert_eq!(name(&bytes).as_deref(), Some("nvptx-sm_80"));
    assert_eq!(PtxText::read(&Object::read(&bytes).unwrap()).count(), 1);
}

/// ptxas does not initialize the names of some local symbols, which are no UTF-8 then.
#[test]
fn names_of_symbols_are_any_bytes() {
    let mut code = ObjectCode::text(vec![0; 64]).with_function("k", 16, 48).with_function("junk", 0, 16);
    code.sections.push(CodeSection::new(MAP, CodeContents::Note, map("k", 0, &[]), 1));
    let mut bytes = typed("nvptx-sm_90", &code, &[]);
    let at = bytes.windows(5).position(|name| name == b"junk\0").unwrap();
    bytes[at..at + 4].copy_from_slice(&[0xff, 0xfe, 0x80, 0x01]);
    let object = Object::read(&bytes).unwrap();
    let junk = object.symbol("\u{fffd}\u{fffd}\u{fffd}\u{1}").unwrap();
    assert_eq!((junk.address, junk.size), (0x10000, 16));
    assert_eq!(RegisterMap::read(&object).unwrap().functions[0].address, Some(0x10010));
    assert!(eitri::dump::print(&bytes, None).unwrap().contains("registers of k\n"));
}

/// A line table of version 3, with the extended header and the extended opcodes of cubins.
#[test]
fn lines_name_functions_and_prologues() {
    let header = [
        &[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0][..],
        b"a.cu\0\0\0\0\0",
        // Offset of the names in `.debug_str`.
        &1_u32.to_le_bytes(),
    ]
    .concat();
    let program = [
        // Function `outer`, in its prologue; a row of line 1.
        &[0, 2, 0x91, 0, 0, 2, 0x92, 1, 1][..],
        // Outside of the prologue: line 2, one byte on.
        &[0, 2, 0x92, 0, 0x1e],
        // Code of `in`, inlined at row 2.
        &[0, 3, 0x90, 2, 6, 1],
        // Neither inlined, nor with an end of the name.
        &[0, 3, 0x90, 0, 0, 0, 2, 0x91, 99, 1],
        &[0, 1, 1],
    ]
    .concat();
    let rest = [&3_u16.to_le_bytes()[..], &(header.len() as u32).to_le_bytes(), &header, &program].concat();
    let lines = [&(rest.len() as u32).to_le_bytes()[..], &rest].concat();
    let mut code = ObjectCode::text(vec![0; 64]).with_function("k", 16, 48);
    code.sections.push(CodeSection::new(".debug_line", CodeContents::Note, lines, 1));
    code.sections.push(CodeSection::new(".debug_str", CodeContents::Note, b"\0outer\0in\0".to_vec(), 1));
    let bytes = typed("nvptx-sm_90", &code, &[]);
    let text = eitri::dump::print(&bytes, None).unwrap();
    let rows: Vec<_> = text.lines().filter_map(|line| line.trim().strip_prefix("0x")).collect();
    let expected = [
        "0          1:1:0 stmt prologue function outer",
        "1          1:2:0 stmt function outer",
        "1          1:2:0 stmt inlined in at row 2 function outer",
        "1          1:2:0 stmt function ?",
        "1          end",
    ];
    assert_eq!(rows, expected, "{text}");
}

/// An inactive section header has no contents, whatever its other fields say: gABI, "Sections".
#[test]
fn inactive_sections_have_no_contents() {
    let mut bytes = include_bytes!("../objects/typed.cubin").to_vec();
    let index = |bytes: &[u8]| {
        let object = Object::read(bytes).unwrap();
        object.sections().iter().position(|section| section.is_code() && !section.data.is_empty())
    };
    let code = index(&bytes).expect("code");
    let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[table + 64 * code + 4..][..4].fill(0);
    assert_ne!(index(&bytes), Some(code));
}
