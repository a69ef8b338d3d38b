//! Relocations and lookup tables of linked cubins.

use eitri::read::Object;
use object::{Object as _, ObjectSection};
use pretty_assertions::assert_eq;

use super::nvlink::{X, Y, linked};
use super::{loaded, rewritten};
use crate::sass::copied_lists::assembled;

/// From sm_90 on, ptxas leaves other numbers in fields than addends, and nvlink keeps both.
#[test]
fn fields_contain_the_addends_of_their_relocations() {
    for processor in ["sm_90", "sm_120"] {
        let Some(before) = linked(processor, &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
        assert!(Object::read(&before).expect("a cubin").stale_fields().is_some(), "{processor}");
        let after = rewritten(&before, |_| {}).expect("a cubin").object;
        loaded::are_equal(processor, &before, &after);
        let object = Object::read(&after).expect("a cubin");
        assert_eq!(object.stale_fields().map(|it| it.count), None, "{processor}");
        // By another reader of ELF: each 64-bit field of a relocation has the addend.
        let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*after).expect("an ELF file");
        let mut count = 0;
        for section in file.sections() {
            let name = section.name().expect("a name");
            if !name.starts_with(".debug_") {
                continue;
            }
            let data = section.data().expect("contents");
            for (offset, relocation) in section.relocations() {
                let field = &data[offset as usize..][..8];
                let number = i64::from_le_bytes(field.try_into().expect("8 bytes"));
                assert_eq!(number, relocation.addend(), "{processor} {name} {offset:#x}");
                count += 1;
            }
        }
        assert!(count > 20, "{processor}: {count}");
    }
}

/// Offset of a section's header in the file.
fn header(bytes: &[u8], name: &str) -> usize {
    let table = u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes")) as usize;
    let file = object::File::parse(bytes).expect("an ELF file");
    table + 64 * file.section_by_name(name).expect(name).index().0
}

/// Where a section's contents are in the file.
fn contents(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let file = object::File::parse(bytes).expect("an ELF file");
    let (start, size) = file.section_by_name(name).expect(name).file_range().expect("contents");
    start as usize..(start + size) as usize
}

/// Only one table could be written again.
#[test]
fn second_tables_of_relocations_are_refused_with_both() {
    let Some(mut bytes) = linked("sm_90", &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
    let index = object::File::parse(&*bytes).expect("an ELF file");
    let index = index.section_by_name(".debug_info").expect("a section").index().0 as u32;
    // The second table repeats relocations, so that the entries can be read. `sh_info` is its section.
    let [first, second] = [".rela.debug_info", ".rela.debug_line"].map(|name| contents(&bytes, name));
    bytes.copy_within(first.start..first.start + second.len(), second.start);
    let at = header(&bytes, ".rela.debug_line") + 44;
    bytes[at..at + 4].copy_from_slice(&index.to_le_bytes());
    let error = rewritten(&bytes, |_| {}).expect_err("two tables").to_string();
    assert!(error.contains("both have relocations of `.debug_info`"), "{error}");
}

/// What overlapping fields contain depends on the order of their relocations.
#[test]
fn overlapping_fields_are_refused_with_both() {
    let Some(mut bytes) = linked("sm_90", &[(X, "-G"), (Y, "-G")], &["-g"]) else { return };
    let table = contents(&bytes, ".rela.debug_loc");
    let offset = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    // The relocation of a bound's start, and that of its end.
    let start = offset(&bytes, table.start);
    let end = table.start + 24;
    assert_eq!(offset(&bytes, end), start + 8);
    bytes[end..end + 8].copy_from_slice(&(start + 4).to_le_bytes());
    let error = rewritten(&bytes, |_| {}).expect_err("overlapping fields");
    assert!(error.to_string().contains(&format!("{start:#x} and {:#x} overlap", start + 4)), "{error}");
    assert_eq!((error.at().section.as_deref(), error.at().offset), (Some(".debug_loc"), Some(start + 4)));
}

/// The table's header is aligned to its ranges, whose size depends on the sizes that it states.
#[test]
fn tables_of_address_ranges_have_the_sizes_of_cubins() {
    let Some(bytes) = assembled("", &["-g"]) else { return };
    let after = rewritten(&bytes, |_| {}).expect("a cubin").object;
    let ranges = |bytes: &[u8]| {
        Object::read(bytes).expect("a cubin").section(".debug_aranges").map(|it| it.data.to_vec())
    };
    assert_eq!(ranges(&bytes), ranges(&after));
    let start = object::File::parse(&*bytes).expect("an ELF file");
    let start = start.section_by_name(".debug_aranges").expect("a section").file_range().expect("contents").0;
    for (offset, number) in [(10, 4), (11, 8)] {
        let mut changed = bytes.clone();
        changed[start as usize + offset] = number;
        let error = rewritten(&changed, |_| {}).expect_err("other sizes");
        assert_eq!(error.at().section.as_deref(), Some(".debug_aranges"), "{error}");
        assert!(error.to_string().contains("expected 8 bytes, and no segments"), "{error}");
    }
}
