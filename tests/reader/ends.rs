//! Tables that end with a zero byte are refused without it.

use eitri::read::{Dwarf, NameIndex, Object, ReadOptions, Sections};

use crate::common::with;
use crate::reader::bytes::Bytes;
use crate::reader::compiled::{CLANG, DWARFDUMP, compile, sources};
use crate::reader::tools::Tool;

const READELF: Tool = Tool::new("readelf", "binutils");

/// Units whose tables of abbreviations overlap, each one abbreviation shorter than the last: all tables together are
/// larger than the section by any factor.
#[test]
fn overlapping_abbreviations_are_refused() {
    let few = overlapping(20).expect("a small file is read");
    assert_eq!(few, 20);
    let error = overlapping(2000).expect_err("the abbreviations exhaust the reader").to_string();
    assert!(error.starts_with("section .debug_abbrev, offset "), "{error}");
    assert!(error.contains("the abbreviations of the units overlap"), "{error}");
}

fn overlapping(count: u32) -> eitri::Result<usize> {
    let mut debug_abbrev = Vec::new();
    let mut debug_info = Vec::new();
    for number in 0..count {
        // Abbreviations have six bytes: a code of two bytes, a tag without attributes or children.
        debug_abbrev.extend([0x80 | (1 + number) as u8, ((1 + number) >> 7) as u8, 0x11, 0, 0, 0]);
        // A unit of DWARF 5 with a null entry.
        debug_info.extend([9, 0, 0, 0, 5, 0, 1, 8]);
        debug_info.extend((6 * number).to_le_bytes());
        debug_info.push(0);
    }
    debug_abbrev.push(0);
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &debug_abbrev;
        sections.debug_info = &debug_info;
    });
    Ok(Dwarf::from_sections(sections, &ReadOptions::new())?.units().len())
}

/// A unit of DWARF 5 with one entry, which uses abbreviation 1.
const UNIT: [u8; 13] = [9, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1];

fn units(debug_abbrev: &[u8]) -> eitri::Result<usize> {
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = debug_abbrev;
        sections.debug_info = &UNIT;
    });
    Dwarf::from_sections(sections, &ReadOptions::new()).map(|dwarf| dwarf.units().len())
}

/// The abbreviations of a unit end with an entry whose code is 0: DWARF 5 section 7.5.3.
#[test]
fn abbreviations_end_within_their_section() {
    // A unit entry without attributes; a base type with the implicit constant 0x180.
    let whole = [1, 0x11, 0, 0, 0, 2, 0x24, 0, 0x3e, 0x21, 0x80, 0x03, 0, 0, 0];
    assert_eq!(units(&whole).expect("the table is whole"), 1);
    for end in (0..whole.len()).rev() {
        let error = units(&whole[..end]).expect_err("a unit was read without the end of its abbreviations");
        assert_eq!(error.at().section.as_deref(), Some(".debug_abbrev"), "{error}");
        assert!(error.at().offset.is_some_and(|offset| offset <= end as u64), "{error}");
    }
    // The form of the last pair uses up the zero at the end of the table.
    let taken = [&whole[..13], &[0x80, 0]].concat();
    units(&taken).expect_err("a unit was read without the end of its abbreviations");
}

/// Other readers refuse a compiled object with this fault as well.
#[test]
fn abbreviations_without_an_end_are_refused_by_other_tools() {
    let folder = sources();
    let flags = "-c -O1 -gdwarf-5";
    let Some(path) = compile(CLANG, folder.path(), "frames.c", flags, "a.o") else { return };
    let mut bytes = std::fs::read(path).expect("the object");
    let at = {
        let object = Object::read(&bytes).expect("the object");
        let table = object.section(".debug_abbrev").expect("abbreviations");
        assert!(table.data.ends_with(&[0, 0, 0]));
        table.data.as_ptr() as usize - bytes.as_ptr() as usize + table.data.len() - 2
    };
    bytes[at] = 0x80;
    let path = folder.file("b.o", &bytes);
    let Some(ran) = DWARFDUMP.run(&["--debug-info".as_ref(), path.as_os_str()]) else { return };
    assert!(ran.out.contains("<compile unit can't be parsed!>"), "{ran}");
    let Some(ran) = READELF.run(&["--debug-dump=abbrev".as_ref(), path.as_os_str()]) else {
        return;
    };
    assert!(ran.errors.contains(".debug_abbrev section not zero terminated"), "{ran}");
    let object = Object::read(&bytes).expect("the object");
    let error = Dwarf::read(&object).expect_err("an object was read without the end of its abbreviations");
    assert!(error.to_string().starts_with("section .debug_abbrev, offset "), "{error}");
}

/// DWARF 5 section 6.1.1.4.7: abbreviations of a name index also end with a zero byte, though the header has their
/// size.
#[test]
fn abbreviations_of_names_end_within_their_table() {
    for style in Bytes::all() {
        let read = |abbreviations: &[u8]| {
            let mut index = style.empty();
            index.u16(5).u16(0);
            for count in [1, 0, 0, 0, 0, abbreviations.len() as u32, 0] {
                index.u32(count);
            }
            index.offset(0).u8s(abbreviations);
            let mut section = style.empty();
            section.unit(&index);
            let sections = with::<Sections>(|sections| {
                sections.big_endian = style.big_endian;
                sections.debug_names = &section.bytes;
            });
            NameIndex::read_all(&sections).map(|all| all[0].abbreviations.len())
        };
        // A function by the offset of its entry, a type by the same.
        let whole = [1, 0x2e, 3, 0x13, 0, 0, 2, 0x24, 3, 0x13, 0, 0, 0];
        assert_eq!(read(&whole).expect("the table is whole"), 2);
        for end in 0..whole.len() {
            let error =
                read(&whole[..end]).expect_err("an index was read without the end of its abbreviations");
            assert_eq!(error.at().section.as_deref(), Some(".debug_names"), "{error}");
            assert!(error.at().offset.is_some(), "{error}");
        }
    }
}
