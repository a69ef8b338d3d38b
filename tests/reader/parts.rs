//! One part that cannot be read, between others that are read.

use eitri::dump;
use eitri::error::ErrorKind;
use eitri::lint::{Code, Options, lint};
use eitri::op::{Dialect, Encoding};
use eitri::read::{Dwarf, FrameSection, Frames, Object, Sections};

use crate::bytes::Bytes;

/// `.debug_frame` with a CIE before each FDE, as ptxas writes it: FDEs of 56 and 64 bytes, whose pointers are too large by 8
/// bytes for each earlier FDE of 56.
fn pairs(style: &Bytes, pointers: [u64; 3]) -> Bytes {
    let mut all = style.empty();
    for (index, pointer) in pointers.into_iter().enumerate() {
        let mut cie = style.empty();
        cie.offset(u64::MAX).u8s([4]).string("").u8s([8, 0]).uleb(1).sleb(-8).uleb(16).u8s([0x0c, 7, 8]);
        let offset = all.len();
        let mut fde = style.empty();
        fde.offset(offset + pointer).u64(0x4000 + 0x100 * index as u64).u64(0x100).u8s([0; 16]);
        all.unit(&cie).unit(&fde);
    }
    all
}

fn frames_of(all: &Bytes) -> (Vec<u64>, usize, usize, bool) {
    let sections = Sections { big_endian: all.big_endian, debug_frame: &all.bytes, ..Sections::default() };
    let encoding = Encoding { big_endian: all.big_endian, ..Encoding::new(8, Dialect::Llvm) };
    let frames = Frames::read_readable(&sections, FrameSection::Debug, encoding);
    assert!(frames.errors.iter().all(|error| error.at().section.is_some() && error.at().offset.is_some()));
    let starts = frames.fdes.iter().map(|fde| fde.start).collect();
    let is_strict = Frames::read(&sections, FrameSection::Debug, encoding).is_err();
    (starts, frames.errors.len(), frames.recovered.len(), is_strict)
}

#[test]
fn an_entry_with_a_wrong_pointer_hides_no_other() {
    for style in Bytes::all() {
        let all = vec![0x4000, 0x4100, 0x4200];
        assert_eq!(frames_of(&pairs(&style, [0, 0, 0])), (all.clone(), 0, 0, false));
        // 8 bytes for each earlier FDE at most: the CIE before the FDE is meant.
        assert_eq!(frames_of(&pairs(&style, [0, 8, 16])), (all.clone(), 0, 2, true));
        assert_eq!(frames_of(&pairs(&style, [0, 8, 8])), (all, 0, 2, true));
        // No multiple of 8, and too large by more than that.
        assert_eq!(frames_of(&pairs(&style, [0, 4, 0])), (vec![0x4000, 0x4200], 1, 0, true));
        assert_eq!(frames_of(&pairs(&style, [0, 0, 24])), (vec![0x4000, 0x4100], 1, 0, true));
    }
}

/// Units by hand, DWARF 4: the second of three has version 9 or an unknown abbreviation. Bytes of zeros end the section.
#[test]
fn a_unit_that_cannot_be_read_hides_no_other() {
    for style in Bytes::all() {
        for (version, code, is_broken) in [(4, 1, false), (9, 1, true), (4, 77, true)] {
            let mut abbreviations = style.empty();
            abbreviations.uleb(1).uleb(0x11).u8s([0]).uleb(3).uleb(8).u8s([0, 0, 0]);
            let mut info = style.empty();
            for (version, code, name) in [(4, 1, "a"), (version, code, "b"), (4, 1, "c")] {
                let mut unit = style.empty();
                unit.u16(version).offset(0).u8s([8]).uleb(code).string(name);
                info.unit(&unit);
            }
            info.u8s([0; 4]);
            let sections = Sections {
                big_endian: style.big_endian,
                debug_info: &info.bytes,
                debug_abbrev: &abbreviations.bytes,
                ..Sections::default()
            };
            let strict = Dwarf::from_sections(sections, Dialect::Llvm, eitri::op::DraftCodes::NONE);
            assert_eq!(strict.is_err(), is_broken, "version {version}, code {code}");
        }
    }
}

/// An object of clang with two kernels, whose unit gets another version: what is not in the unit is printed and judged.
#[test]
fn the_rest_of_an_object_is_printed_and_judged() {
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/llvm19/k02_reduce.gfx1030.O2.o");
    let good = std::fs::read(file).expect("an object");
    let info =
        Object::read(&good).expect("it is read").section(".debug_info").expect("units").data[..4].to_vec();
    let header = [&info[..], &[5, 0, 1, 8]].concat();
    let at = good.windows(8).position(|one| one == header).expect("the header of the unit");
    let mut bad = good.clone();
    bad[at + 4] = 9;
    let mut out = Vec::new();
    let error = dump::print_to(&mut out, &bad, None, None, Dialect::Llvm, dump::DumpOptions::default());
    assert!(matches!(error.expect_err("a unit").kind(), ErrorKind::Unsupported(_)));
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains("unit: <section .debug_info, offset 0x0: "), "{text}");
    assert!(text.contains("frames: .debug_frame"), "{text}");
    let report = lint(&bad, &Options::default()).expect("it is judged");
    assert_eq!((report.unreadable.len(), report.count(Code::Unreadable)), (1, 1));
}
