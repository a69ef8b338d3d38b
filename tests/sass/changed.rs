//! Differences between the description and the cubin, each of which `check` finds.

use eitri::check::FindingKind;
use eitri::read::Object;
use object::{Object as _, ObjectSection};

use super::attached::attached_example;

/// A section's position in the file.
fn position(bytes: &[u8], name: &str) -> usize {
    let file = object::File::parse(bytes).expect("an ELF file");
    let section = file.section_by_name(name).expect("a section");
    section.file_range().expect("contents").0 as usize
}

/// Each field of each home in the map, changed to another number.
#[test]
fn changed_homes_are_found() {
    let attached = attached_example();
    let start = position(&attached.bytes, ".nv_debug_info_reg_sass");
    // The function's name, and the number of homes.
    let mut entry = start + "norms\0".len() + 4;
    for index in 0..6 {
        let name = entry + 4;
        let home = name + "%e0\0".len();
        for (field, change) in
            [("home", home), ("first pc", home + 4), ("last pc", home + 8), ("name", name + 2)]
        {
            let mut bytes = attached.bytes.clone();
            // Another register, half or slot; another instruction; another name.
            bytes[change] = match field {
                "first pc" => bytes[change].wrapping_add(0x10),
                "last pc" => bytes[change].wrapping_sub(0x10),
                "name" => b'7',
                _ => bytes[change] ^ 2,
            };
            let report = attached.check(&bytes);
            let is_found = report
                .findings
                .iter()
                .any(|finding| matches!(finding.kind, FindingKind::Location | FindingKind::Evaluation));
            assert!(is_found, "{field} of home {index}: {report}");
        }
        entry = home + 12;
    }
}

/// The map reaches further than an instruction's last byte nowhere.
#[test]
fn a_map_without_entries_leaves_no_locations() {
    let attached = attached_example();
    let start = position(&attached.bytes, ".nv_debug_info_reg_sass");
    let mut bytes = attached.bytes.clone();
    bytes[start] = b'm';
    assert!(!attached.check(&bytes).is_clean());
}

/// Rows state the call, and frames the stack pointer.
#[test]
fn changed_rows_and_frames_are_found() {
    let attached = attached_example();
    let names = position(&attached.bytes, ".debug_str");
    let mut bytes = attached.bytes.clone();
    bytes[names] = b'x';
    let report = attached.check(&bytes);
    assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Line), "{report}");

    let frames = position(&attached.bytes, ".debug_frame");
    let object = Object::read(&attached.bytes).expect("a cubin");
    let frame = object.section(".debug_frame").expect("a section").data.to_vec();
    // DW_CFA_def_cfa of R1, whose number in frames is 0x05000001.
    let rule = [0x0c, 0x81, 0x80, 0x80, 0x28];
    let at = frames + frame.windows(5).position(|window| window == rule).expect("the rule");
    let mut bytes = attached.bytes.clone();
    bytes[at + 1] = 0x82;
    let report = attached.check(&bytes);
    assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Frame), "{report}");
}

/// Frames are in the 64-bit format, of version 3, with a common entry for each function.
#[test]
fn frames_have_the_form_of_ptxas() {
    let attached = attached_example();
    let object = Object::read(&attached.bytes).expect("a cubin");
    let frame = &object.section(".debug_frame").expect("a section").data;
    assert_eq!(frame[..4], [0xff; 4]);
    assert_eq!(frame[12..20], [0xff; 8]);
    // Version, no augmentation, code and data alignment, and R20.
    assert_eq!(frame[20..28], [3, 0, 1, 0x7c, 0x94, 0x80, 0x80, 0x28]);
}
