//! Sections linked by a linker, and sections attached to linked objects.

use eitri::emit::elf::{attach, contents, symbol_named};
use pretty_assertions::assert_eq;

use super::support::*;

const LOAD: u32 = 1;

/// End of the loaded contents in the file.
fn loaded_end(object: &ReadObject) -> usize {
    let ends = object.segments.iter().filter(|segment| segment.0 == LOAD).map(|s| s.1 + s.3);
    ends.max().expect("a loaded segment") as usize
}

/// Checks every relocated field against the address of its symbol plus the addend.
fn check_fields(object: &ReadObject, function: &str, other: &str) {
    let function_at = object.symbol(function).4;
    let other_at = object.symbol(other).4;
    assert!(function_at != 0 && other_at != 0 && function_at != other_at);
    assert_eq!(object.number(".debug_info", 8, 4), 0);
    assert_eq!(object.string(".debug_info", 13), "test.cl");
    assert_eq!(object.number(".debug_info", 19, 4), 8);
    assert_eq!(object.string(".debug_info", 29), function);
    assert_eq!(object.number(".debug_info", 33, 8), function_at);
    assert_eq!(object.number(".debug_addr", 8, 8), function_at);
    assert_eq!(object.number(".debug_marks", 0, 8), function_at + 0x24);
    assert_eq!(object.number(".debug_marks", 9, 8), other_at - 4);
    assert_eq!(object.number(".debug_marks", 17, 4), other_at + 0x10);
}

#[test]
fn a_linker_fills_in_the_addresses_and_loads_the_same() {
    let attached = attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap();
    let (Some(plain), Some(debug)) = (link(&uspill(), &[]), link(&attached, &[])) else { return };
    check_fields(&read(&debug), "uspill", "vspillk.kd");

    let old = read(&plain);
    let new = read(&debug);
    assert_eq!(old.segments, new.segments);
    let plain = without_section_fields(&plain);
    let debug = without_section_fields(&debug);
    for &(kind, offset, _, size) in old.segments.iter().filter(|segment| segment.0 == LOAD) {
        let range = offset as usize..(offset + size) as usize;
        assert!(plain[range.clone()] == debug[range], "segment {kind} at {offset:#x}");
    }
}

#[test]
fn a_linked_object_keeps_every_byte_that_is_loaded() {
    let Some(before) = link(&uspill(), &[]) else { return };
    let after = attach(&before, &gfx1030(), &uspill_sections()).unwrap();
    let old = read(&before);
    let new = read(&after);
    let end = loaded_end(&old);
    assert!(end > 0x1000);
    assert_eq!(without_section_fields(&before)[..end], without_section_fields(&after)[..end]);
    assert_eq!(old.segments, new.segments);
    assert_eq!(old.symbols, new.symbols);
    for (old, new) in old.sections.iter().zip(&new.sections) {
        if old.name == ".shstrtab" {
            assert!(new.bytes.starts_with(&old.bytes));
        } else {
            assert_eq!(old, new);
        }
    }
    assert_eq!(new.sections.len(), old.sections.len() + 5);
    check_fields(&new, "uspill", "vspillk.kd");

    // The function has the same bytes before and after linking, as it has no relocations.
    let code = |object: &[u8]| contents(object, &symbol_named(object, "uspill").unwrap()).unwrap().to_vec();
    assert_eq!(code(&uspill()), code(&before));
    assert_eq!(code(&before), code(&after));

    let folder = Folder::new();
    let path = folder.file("uspill.hsaco", &after);
    clean(READELF, &["-SlsW"], &[&path]);
    clean(LLVM_READELF, &["-hSlsdnW"], &[&path]);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
}

/// Relocations are resolved as a linker does. Without optimisation the linker does not merge strings.
#[test]
fn a_linker_agrees_about_every_section() {
    let sections = uspill_sections();
    let attached = attach(&uspill(), &gfx1030(), &sections).unwrap();
    let (Some(plain), Some(linked)) = (link(&uspill(), &["-O0"]), link(&attached, &["-O0"])) else { return };
    let ours = read(&attach(&plain, &gfx1030(), &sections).unwrap());
    let theirs = read(&linked);
    for section in &sections {
        assert_eq!(ours.section(section.name).bytes, theirs.section(section.name).bytes, "{}", section.name);
    }
}

#[test]
fn dynamic_symbols_are_used_without_a_symbol_table() {
    let Some(linked) = link(&uspill(), &["-s"]) else { return };
    let sections = uspill_sections();
    let after = attach(&linked, &gfx1030(), &sections).unwrap();
    // Kernels and their descriptors are dynamic symbols, hidden functions are not.
    let kernel = symbol_named(&after, "uspill").unwrap();
    let eitri::emit::elf::SymbolLocation::Address(address) = kernel.place else { panic!("{kernel:?}") };
    let marks = after.windows(8).filter(|bytes| **bytes == (address + 0x24).to_le_bytes());
    assert!(marks.count() >= 1);
    let error = symbol_named(&after, "vspillf").unwrap_err();
    assert!(error.to_string().contains("`vspillf`"), "{error}");
}

#[test]
fn an_object_without_section_headers_gets_some() {
    let Some(mut linked) = link(&uspill(), &[]) else { return };
    let end = loaded_end(&read(&linked));
    linked.truncate(end);
    linked[40..48].fill(0);
    linked[58..64].fill(0);
    // Without symbols, relocations against symbols fail; those against sections succeed.
    let error = attach(&linked, &gfx1030(), &uspill_sections()).unwrap_err();
    assert!(error.to_string().contains("symbol table"), "{error}");
    let mut sections = uspill_sections();
    sections[1].relocations.truncate(4);
    let after = attach(&linked, &gfx1030(), &sections[..3]).unwrap_err();
    assert!(after.to_string().contains(".debug_addr"), "{after}");
    sections[3].relocations.clear();
    let after = attach(&linked, &gfx1030(), &sections[..4]).unwrap();
    assert_eq!(linked[64..], after[64..end]);
    let folder = Folder::new();
    let path = folder.file("bare.hsaco", &after);
    if let Some(text) = clean(LLVM_READELF, &["-SlW"], &[&path]) {
        assert!(text.contains(".debug_addr") && text.contains(".shstrtab"), "{text}");
    }
}

#[test]
fn bytes_after_the_object_are_kept() {
    let Some(mut linked) = link(&uspill(), &[]) else { return };
    for appended in [&b"signature"[..], &[0; 64]] {
        linked.extend_from_slice(appended);
        let after = attach(&linked, &gfx1030(), &uspill_sections()).unwrap();
        assert_eq!(without_section_fields(&linked), without_section_fields(&after[..linked.len()]));
        check_fields(&read(&after), "uspill", "vspillk.kd");
        linked.truncate(linked.len() - appended.len());
    }
}

#[test]
fn sections_can_be_added_in_turns() {
    let Some(linked) = link(&uspill(), &[]) else { return };
    let sections = uspill_sections();
    let once = attach(&linked, &gfx1030(), &sections[..4]).unwrap();
    let twice = attach(&once, &gfx1030(), &sections[4..]).unwrap();
    check_fields(&read(&twice), "uspill", "vspillk.kd");
    // The second call drops the names and section headers that the first one wrote.
    let together = attach(&linked, &gfx1030(), &sections).unwrap();
    assert_eq!(twice.len(), together.len());
}
