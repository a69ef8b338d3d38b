//! Bytes and relocations of debug sections.

use std::collections::BTreeMap;

use eitri::emit::Section;
use object::{Object as _, ObjectSection as _};

/// The compared sections, in the order of the table.
pub const SECTIONS: [&str; 9] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_loclists",
    ".debug_rnglists",
    ".debug_line",
    ".debug_line_str",
];

/// Size in bytes of a relocation in a 64-bit object: ELF's `Elf64_Rela`.
const RELOCATION_BYTES: u64 = 24;

/// Size of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    pub relocations: u64,
}

impl Size {
    /// Size in the object, in bytes.
    pub fn in_object(self) -> u64 {
        self.bytes + RELOCATION_BYTES * self.relocations
    }

    pub fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.relocations += other.relocations;
    }
}

/// Size of each section, by name.
#[derive(Debug, Clone, Default)]
pub struct Sizes(BTreeMap<&'static str, Size>);

impl Sizes {
    /// Sizes of an object written by a compiler.
    pub fn of_object(bytes: &[u8]) -> Self {
        let file = object::File::parse(bytes).expect("an object");
        Self::new(|name| {
            let Some(section) = file.section_by_name(name) else { return Size::default() };
            Size { bytes: section.size(), relocations: section.relocations().count() as u64 }
        })
    }

    /// Sizes of sections written by eitri.
    pub fn of_sections(sections: &[Section]) -> Self {
        for section in sections {
            assert!(SECTIONS.contains(&section.name), "{} is not counted", section.name);
        }
        Self::new(|name| {
            let Some(section) = sections.iter().find(|section| section.name == name) else {
                return Size::default();
            };
            Size { bytes: section.bytes.len() as u64, relocations: section.relocations.len() as u64 }
        })
    }

    fn new(size: impl Fn(&'static str) -> Size) -> Self {
        Self(SECTIONS.iter().map(|&name| (name, size(name))).collect())
    }

    /// Size of one section.
    pub fn of(&self, name: &str) -> Size {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Total size of all sections.
    pub fn total(&self) -> Size {
        let mut total = Size::default();
        self.0.values().for_each(|&size| total.add(size));
        total
    }

    pub fn add(&mut self, other: &Self) {
        for (name, &size) in &other.0 {
            self.0.entry(name).or_default().add(size);
        }
    }
}
