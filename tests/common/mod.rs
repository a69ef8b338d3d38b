//! Shared helpers: golden files, and reading sections back as a linker and a debugger would.

#![allow(dead_code, unused_imports, reason = "each test uses a part")]
pub mod assemble;
pub mod built;
pub mod bytes;
pub mod cases;
pub mod clean;
pub mod consumers;
pub mod cubin;
pub mod fields;
pub mod idle;
pub mod page;
pub mod random;
pub mod shared_parts;
pub mod source;
pub mod spirv;
pub mod tools;
pub mod validate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eitri::emit::{RelocationTarget, Section};
use eitri::target::Target;
use gimli::{EndianSlice, RunTimeEndian};

pub use built::example;

/// Folder of the project.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Reader of written sections.
pub type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Returns a default value that `set` changes, for structs that grow, which have no literals here.
pub fn with<T: Default>(set: impl FnOnce(&mut T)) -> T {
    let mut value = T::default();
    set(&mut value);
    value
}

/// Whether golden files are rewritten instead of compared.
pub fn bless() -> bool {
    std::env::var_os("EITRI_BLESS").is_some_and(|value| value == "1")
}

/// Path of `goldens/{path}`.
pub fn golden(path: &str) -> PathBuf {
    Path::new(crate::common::ROOT).join("goldens").join(path)
}

/// Compares a text with the golden file `goldens/{path}`, or writes it there if `EITRI_BLESS=1`.
pub fn check_golden(path: &str, text: &str) {
    let file = golden(path);
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    if expected == text {
        return;
    }
    if bless() {
        std::fs::create_dir_all(file.parent().expect("is in a folder")).expect("the folder is made");
        return std::fs::write(&file, text).expect("the golden file is written");
    }
    let same = expected.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(end of file)").to_owned();
    panic!(
        "goldens/{path}, line {}:\n  golden: {}\n  now:    {}\n\
         If what is there now is right, EITRI_BLESS=1 rewrites the file.",
        same + 1,
        line(&expected),
        line(text)
    );
}

/// Compares the fences after these comments of a page with texts, or replaces the fences if `EITRI_BLESS=1`.
pub fn check_page(page: &str, shown: &[(&str, String)]) {
    let path = Path::new(crate::common::ROOT).join(page);
    let mut text = std::fs::read_to_string(&path).expect("the page");
    for (comment, expected) in shown {
        let comment = text.find(comment).unwrap_or_else(|| panic!("{page} lacks {comment}"));
        let fence = comment + text[comment..].find("```").expect("a fence");
        let start = fence + text[fence..].find('\n').expect("its first line") + 1;
        let end = start + text[start..].find("```").expect("the end of the fence");
        if bless() {
            text.replace_range(start..end, expected);
        } else {
            pretty_assertions::assert_eq!(&text[start..end], expected, "EITRI_BLESS=1 rewrites {page}");
        }
    }
    if bless() {
        std::fs::write(path, text).expect("the page is written");
    }
}

/// Sections after linking.
#[derive(Debug)]
pub struct Linked {
    pub sections: BTreeMap<&'static str, Vec<u8>>,
    endian: RunTimeEndian,
}

/// Applies relocations as a linker would: symbols are at the addresses that `address` returns, debug sections at 0.
pub fn link(sections: &[Section], target: &Target, address: impl Fn(&str) -> u64) -> Linked {
    let mut linked = BTreeMap::new();
    for section in sections {
        let mut bytes = section.bytes.clone();
        let mut end = 0;
        for relocation in &section.relocations {
            assert!(relocation.offset >= end, "{}: relocations ascend and do not overlap", section.name);
            end = relocation.offset + u64::from(relocation.bytes);
            let value = match &relocation.target {
                RelocationTarget::Section(name) => {
                    assert!(sections.iter().any(|section| section.name == *name), "{name} is there");
                    relocation.addend
                }
                RelocationTarget::Symbol(name) => address(name).wrapping_add(relocation.addend),
                // The section is taken to be at address 0.
                RelocationTarget::Distance(name) => {
                    address(name).wrapping_add(relocation.addend).wrapping_sub(relocation.offset)
                }
            };
            let field = &mut bytes[relocation.offset as usize..end as usize];
            assert!(field.iter().all(|&byte| byte == 0), "{}: bytes to relocate are 0", section.name);
            if target.is_big_endian() {
                field.copy_from_slice(&value.to_be_bytes()[8 - field.len()..]);
            } else {
                field.copy_from_slice(&value.to_le_bytes()[..field.len()]);
            }
        }
        assert!(linked.insert(section.name, bytes).is_none(), "one {}", section.name);
    }
    let endian = if target.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
    Linked { sections: linked, endian }
}

/// A reader of linked sections.
pub fn reader(linked: &Linked) -> gimli::Dwarf<Slice<'_>> {
    let section = |id: gimli::SectionId| {
        let bytes = linked.sections.get(id.name()).map_or(&[][..], Vec::as_slice);
        Ok::<_, gimli::Error>(Slice::new(bytes, linked.endian))
    };
    gimli::Dwarf::load(section).expect("nothing fails")
}
