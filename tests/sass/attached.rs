//! Linked cubins of all processors.

use eitri::emit::elf::{attach, contents, symbol_named};
use eitri::error::ErrorKind;
use eitri::read::Object;
use eitri::read::nvidia::{Home, RegisterMap, RegisterTypes};
use pretty_assertions::assert_eq;

use super::*;

/// Lines of the description; the row of the call is repeated at the inlined code only if the sequence lacks it.
const LINES: [&str; 5] = [
    "\"made.cu\", line 4",
    "\"made.cu\", line 5",
    "\"made.cu\", line 21 inlined at \"made.cu\", line 5",
    "\"made.cu\", line 5",
    "\"made.cu\", line 7",
];

#[test]
fn linked_cubins_of_all_processors_are_printed_by_the_tools() {
    for processor in ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "sm_121"] {
        let Some(cubin) = compiled(processor, "k", Output::Linked) else { return };
        let attached = attached(&cubin, processor, "k");
        let report = attached.check(&attached.bytes);
        assert!(report.is_clean() && report.locations > 100, "{processor}: {report}");
        let Some([code, entries]) = printed(&attached.bytes) else { return };
        assert_eq!(source_lines(&code), LINES, "{processor}");
        for text in ["DW_OP_regx: %e0", "DW_OP_bregx: %e0 0xc", "DW_AT_address_class", "(DW_OP_constu: 352)"]
        {
            assert!(entries.contains(text), "{processor}: {text}: {entries}");
        }
    }
}

/// Everything but the section headers, the names, and what ELF's header says about them.
fn kept(before: &[u8], after: &[u8]) {
    let [old, new] = [before, after].map(|bytes| Object::read(bytes).expect("a cubin"));
    assert!(new.sections().len() > old.sections().len());
    for (old, new) in old.sections().iter().zip(new.sections()) {
        assert_eq!(
            (&old.name, old.size * u64::from(old.is_loaded())),
            (&new.name, new.size * u64::from(new.is_loaded()))
        );
        if old.is_loaded() {
            assert!(old.data == new.data, "{}", old.name);
        }
    }
    // `e_shoff`, `e_shnum`.
    let header = |bytes: &[u8]| {
        let mut header = bytes[..64].to_vec();
        header[40..48].fill(0);
        header[60..62].fill(0);
        header
    };
    assert_eq!(header(before), header(after));
}

#[test]
fn code_indices_and_flags_stay() {
    let attached = attached_example();
    kept(OPTIMIZED, &attached.bytes);
    let code = |bytes: &[u8]| {
        let symbol = symbol_named(bytes, "norms").expect("the kernel");
        contents(bytes, &symbol).expect("its code").to_vec()
    };
    assert_eq!(code(OPTIMIZED), code(&attached.bytes));
    for processor in ["sm_90", "sm_120"] {
        let Some(cubin) = compiled(processor, "k", Output::Linked) else { return };
        kept(&cubin, &super::attached(&cubin, processor, "k").bytes);
    }
}

pub fn attached_example() -> Attached {
    super::attached(OPTIMIZED, "sm_80", "norms")
}

/// Homes by the document of NVIDIA's classes: 5 is R, 11 UR, 4 halves of R, 2 predicates, 7 local memory at a register.
#[test]
fn each_kind_of_storage_has_its_home_in_the_map() {
    let attached = attached_example();
    let object = Object::read(&attached.bytes).expect("a cubin");
    let map = RegisterMap::read(&object).expect("a map");
    let [function] = &map.functions[..] else { panic!("{map:?}") };
    assert_eq!(function.name(), "norms");
    let homes: Vec<_> = function
        .homes()
        .iter()
        .map(|it| (it.word, it.home, u64::from(it.start), u64::from(it.end)))
        .collect();
    let size = symbol_named(OPTIMIZED, "norms").expect("the kernel").size;
    for home in [
        (0, Home(0x0500_0002), 0x10, 0x30),
        (1, Home(0x0500_0003), 0x10, 0x30),
        (0, Home(0x0b00_0004), 0, 0x40),
        (0, Home(0x0400_0009), 0x10, 0x40),
        (0, Home(0x0200_0001), 0x10, 0x40),
        (0, Home(0x0701_0010), 0x30, size - 16),
    ] {
        assert!(homes.contains(&home), "{home:x?}: {homes:x?}");
    }
    // A plain register, and a variable that is always in memory, have no home.
    assert_eq!(homes.len(), 6);
    let types = RegisterTypes::read(&object).expect("types");
    let mut names: Vec<_> = types.of(b"norms").iter().filter_map(|ty| RegisterTypes::name(*ty)).collect();
    names.sort_unstable();
    assert_eq!(names, ["b16", "b32", "b32", "b64", "b64", "pred"]);
}

#[test]
fn existing_sections_and_other_processors_are_refused() {
    let attached = attached_example();
    let target = target("sm_80");
    let error = attach(&attached.bytes, &target, &attached.written.sections).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::AlreadyPresent(_)), "{error}");
    let error = attach(OPTIMIZED, &super::target("sm_90"), &attached.written.sections).unwrap_err();
    assert!(error.to_string().contains("sm_80") && error.to_string().contains("sm_90"), "{error}");
    // A second attachment replaces the first, without growing the file.
    let again = super::attached(&attached.bytes, "sm_80", "norms");
    assert!(again.bytes.len() <= attached.bytes.len() + 64, "{} {}", again.bytes.len(), attached.bytes.len());
    assert!(again.check(&again.bytes).is_clean());
}
