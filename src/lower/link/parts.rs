//! Sections that have a part of each unit.

use crate::emit::{Relocation, Section};

/// A value for each section that has a part of each unit.
#[derive(Default, Clone, Copy)]
pub(super) struct PerSection<T> {
    pub(super) info: T,
    pub(super) loclists: T,
    pub(super) rnglists: T,
    pub(super) addr: T,
    pub(super) line: T,
    pub(super) macros: T,
    pub(super) str_offsets: T,
}

/// Returns a section that does not consist of strings, and is always kept.
pub(super) fn section(name: &'static str, bytes: Vec<u8>, relocations: Vec<Relocation>) -> Section {
    Section { name, bytes, relocations, is_strings: false, group: None }
}
