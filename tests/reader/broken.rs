//! Damaged input: an error or facts, never a panic, and in reasonable time.

use eitri::dump::{DumpOptions, dump};
use eitri::op::{Dialect, DraftCodes, Encoding};
use eitri::read::{Dwarf, LineProgram, ListFormat, ListKind, Object, RawList, Sections};
use gimli::Format;
use proptest::prelude::*;

use crate::objects::{FORM, for_amdgpu, object};
use crate::written::{Contents, Form, sections_of, write};

/// Reads and prints all that there is.
fn use_up(bytes: &[u8]) {
    let Ok(object) = Object::read(bytes) else { return };
    let _ = (object.wave(), object.target(None), object.symbol("kernel"));
    if let Ok(dwarf) = Dwarf::read(&object) {
        dump(&object, &dwarf, None, DumpOptions { verbose: true });
        ask(&dwarf);
    }
}

fn ask(dwarf: &Dwarf<'_>) {
    for entry in dwarf.entries() {
        let _ = (entry.ranges(), entry.place(), entry.ty(), entry.children().count());
        for attribute in entry.attributes() {
            let _ = entry.locations(attribute.name);
        }
    }
    for unit in dwarf.units() {
        if let Ok(Some(program)) = dwarf.lines(unit) {
            let _ = program.rows().count();
        }
    }
}

#[test]
fn every_prefix_is_read_or_refused() {
    let bytes = object(FORM());
    for end in 0..bytes.len() {
        use_up(&bytes[..end]);
    }
}

#[test]
fn every_prefix_of_a_section_is_read_or_refused() {
    for version in [2, 4, 5] {
        let form = Form::new(version, Format::Dwarf32, 8, false);
        let written = write(form, &Contents::of(version), 0x4000, false);
        let whole = sections_of(form, &written);
        let shorten: [fn(&mut Sections<'_>, usize) -> bool; 7] = [
            |s, end| s.debug_abbrev.get(..end).map(|bytes| s.debug_abbrev = bytes).is_some(),
            |s, end| s.debug_info.get(..end).map(|bytes| s.debug_info = bytes).is_some(),
            |s, end| s.debug_line.get(..end).map(|bytes| s.debug_line = bytes).is_some(),
            |s, end| s.debug_loclists.get(..end).map(|bytes| s.debug_loclists = bytes).is_some(),
            |s, end| s.debug_rnglists.get(..end).map(|bytes| s.debug_rnglists = bytes).is_some(),
            |s, end| s.debug_loc.get(..end).map(|bytes| s.debug_loc = bytes).is_some(),
            |s, end| s.debug_str.get(..end).map(|bytes| s.debug_str = bytes).is_some(),
        ];
        for shorten in shorten {
            for end in 0.. {
                let mut sections = whole;
                if !shorten(&mut sections, end) {
                    break;
                }
                if let Ok(dwarf) = Dwarf::from_sections(sections, Dialect::Llvm, DraftCodes::NONE) {
                    ask(&dwarf);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_are_read_or_refused(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        is_amdgpu in any::<bool>(),
        version in 2..=5u16,
    ) {
        let mut bytes = object(Form::new(version, Format::Dwarf32, 8, false));
        if is_amdgpu {
            bytes = for_amdgpu(bytes, 0x36);
        }
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        use_up(&bytes);
    }
}

#[test]
fn a_list_without_end_gives_what_it_has() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    // offset_pair 1, 2 with an empty expression; then a kind that there is not.
    let bytes = [4, 1, 2, 0, 0x33];
    let sections = Sections { debug_loclists: &bytes, ..Sections::default() };
    let mut list = RawList::new(&sections, ListFormat::Loclists, encoding, 0).unwrap();
    assert_eq!(list.next().unwrap().unwrap().kind, ListKind::Pair { start: 1, end: 2 });
    let error = list.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "section .debug_loclists, offset 0x4: unknown kind of list entry 0x33");
    assert!(list.next().is_none());

    let sections = Sections { debug_loclists: &bytes[..4], ..Sections::default() };
    let list = RawList::new(&sections, ListFormat::Loclists, encoding, 0).unwrap();
    let entries: Vec<_> = list.collect();
    assert_eq!(entries.len(), 2);
    let error = entries[1].as_ref().unwrap_err();
    assert_eq!(
        error.to_string(),
        "section .debug_loclists, offset 0x4: the bytes end inside of a list entry"
    );
    assert!(RawList::new(&sections, ListFormat::Loclists, encoding, 9).is_err());
}

#[test]
fn kinds_by_index_find_their_addresses() {
    // An abbreviation without children, with addr_base and location (sec_offset).
    let abbrev = [1, 0x11, 0, 0x73, 0x17, 0x02, 0x17, 0, 0, 0];
    let info = [17, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0];
    let mut addr = vec![28, 0, 0, 0, 5, 0, 8, 0];
    for address in [0x1000u64, 0x2000, 0x3000] {
        addr.extend(address.to_le_bytes());
    }
    let expr = [1, 0x30];
    let lists = [
        &[2, 0, 1][..],
        &expr,
        &[3, 2, 0x10],
        &expr,
        &[1, 1],
        &[4, 4, 8],
        &expr,
        &[5],
        &expr,
        &[3, 7, 1],
        &expr,
        &[0],
    ]
    .concat();
    let sections = Sections {
        debug_abbrev: &abbrev,
        debug_info: &info,
        debug_addr: &addr,
        debug_loclists: &lists,
        ..Sections::default()
    };
    let dwarf = Dwarf::from_sections(sections, Dialect::Llvm, DraftCodes::NONE).unwrap();
    let unit = &dwarf.units()[0];
    assert_eq!((unit.addr_base, dwarf.address(unit, 2).unwrap()), (Some(8), 0x3000));
    let mut list = dwarf.locations(unit, 0).unwrap();
    let mut next = || list.next().unwrap();
    let bounds: Vec<_> = (0..4).map(|_| next().map(|one| (one.start, one.end, one.is_default()))).collect();
    let expected = [(0x1000, 0x2000, false), (0x3000, 0x3010, false), (0x2004, 0x2008, false), (0, 0, true)];
    assert_eq!(bounds.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), expected);
    // There is no address 7.
    let error = next().unwrap_err();
    assert_eq!(error.at().section.as_deref(), Some(".debug_addr"), "{error}");
    assert!(list.next().is_none());
}

#[test]
fn counts_without_contents_take_no_time() {
    // A version 5 header whose directories have no format and are many.
    let mut header = vec![1, 1, 1, 0, 1, 1, 0];
    header.extend([0xff; 9]);
    header.push(1);
    let mut bytes = vec![5, 0, 8, 0];
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    let bytes = [(bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat();
    let sections = Sections { debug_line: &bytes, ..Sections::default() };
    let error = LineProgram::read(&sections, 0, 8).unwrap_err();
    assert!(error.to_string().contains("entries without a format"), "{error}");

    // Entries of one byte that have a thousand attributes of none.
    let flags: Vec<u8> = std::iter::repeat_n([0x3f, 0x19], 1000).flatten().collect();
    let abbrev = [&[1, 0x11, 0][..], &flags, &[0, 0, 0]].concat();
    let mut info = vec![5, 0, 1, 8, 0, 0, 0, 0];
    info.extend([1; 100_000]);
    let info = [(info.len() as u32).to_le_bytes().to_vec(), info].concat();
    let sections = Sections { debug_abbrev: &abbrev, debug_info: &info, ..Sections::default() };
    let error = Dwarf::from_sections(sections, Dialect::Llvm, DraftCodes::NONE).unwrap_err();
    assert!(error.to_string().contains("attributes in a section of this size"), "{error}");
}

#[test]
fn depth_is_no_danger() {
    let mut expr = Vec::new();
    for _ in 0..20_000 {
        let mut outer = vec![0xa3];
        gimli::leb128::write::unsigned(&mut outer, expr.len() as u64).unwrap();
        outer.extend(&expr);
        expr = outer;
    }
    let text = eitri::op::text::print(&expr, Encoding::new(8, Dialect::Llvm), None);
    assert!(text.starts_with("entry_value (entry_value (") && text.ends_with(&")".repeat(16)));

    // A thousand entries, each below the other.
    let abbrev = [1, 0x11, 1, 0, 0, 0];
    let mut info = vec![5, 0, 1, 8, 0, 0, 0, 0];
    info.extend([1; 1000]);
    let info = [(info.len() as u32).to_le_bytes().to_vec(), info].concat();
    let sections = Sections { debug_abbrev: &abbrev, debug_info: &info, ..Sections::default() };
    let dwarf = Dwarf::from_sections(sections, Dialect::Llvm, DraftCodes::NONE).unwrap();
    assert_eq!(dwarf.entries().map(|entry| entry.depth()).max(), Some(999));
    let bytes = object(FORM());
    let text = dump(&Object::read(&bytes).unwrap(), &dwarf, None, DumpOptions::default());
    assert!(text.lines().all(|line| line.len() < 100));
}
