//! Whole sections, and the unit parts that are appended to them.

use std::borrow::Cow;

use crate::emit::info::{Elsewhere, UnitEntry};
use crate::emit::{Relocation, Section};
use crate::error::{Count, Error, ErrorKind};
use crate::model::{Module, StringId};

/// A unit's part in a section.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
    pub(super) elsewhere: Vec<Elsewhere>,
}

/// Contents of a section so far.
#[derive(Default)]
pub(super) struct SectionContents {
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
    /// References to entries in other units: offset, size in bytes, entry.
    pub(super) elsewhere: Vec<(u64, u8, UnitEntry)>,
}

impl SectionContents {
    /// Appends a part. Returns its offset, and the index of its first relocation.
    pub(super) fn append(&mut self, part: Part, progress: Progress) -> (u64, usize) {
        let start = self.bytes.len() as u64;
        let first = self.relocations.len();
        if start == 0 {
            // The first part is moved, not copied.
            self.bytes = part.bytes;
        } else {
            reserve(&mut self.bytes, part.bytes.len(), progress);
            self.bytes.extend_from_slice(&part.bytes);
        }
        if first == 0 {
            self.relocations = part.relocations;
        } else {
            reserve(&mut self.relocations, part.relocations.len(), progress);
            self.relocations.extend(part.relocations);
        }
        for relocation in &mut self.relocations[first..] {
            relocation.offset += start;
        }
        self.elsewhere.extend(
            part.elsewhere
                .iter()
                .map(|reference| (start + reference.at as u64, reference.bytes, reference.entry)),
        );
        (start, first)
    }
}

/// A value for each section to which units contribute.
#[derive(Default, Clone, Copy)]
pub(super) struct PerSection<T> {
    pub(super) info: T,
    pub(super) loclists: T,
    pub(super) rnglists: T,
    pub(super) addr: T,
    pub(super) line: T,
    pub(super) macros: T,
    pub(super) str_offsets: T,
    /// Names of inlined functions in line tables.
    pub(super) inlined: T,
}

/// Returns a section that does not consist of strings, and is always kept.
pub(super) fn section(name: &'static str, bytes: Vec<u8>, relocations: Vec<Relocation>) -> Section {
    Section { name, bytes, relocations, is_strings: false, group: None }
}

/// How many units are appended to the sections, and how many are known to follow.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) done: usize,
    pub(super) left: usize,
}

/// Reserves room for more elements, and by estimate for the remaining units' elements: at most [`AHEAD`] times as many.
/// Sections take most of the memory, so a wrong estimate must stay small.
pub(super) fn reserve<T>(all: &mut Vec<T>, more: usize, Progress { done, left }: Progress) {
    if all.capacity() - all.len() < more {
        // A sixteenth more, so that the last units do not move a section once again.
        let others = (all.len() + more).saturating_mul(17 * left) / (16 * (done + 1));
        all.reserve_exact((more + others.min(AHEAD * all.len())).max(all.len() / 8));
    }
}

const AHEAD: usize = 7;

/// Size limit in bytes for a section in the 32-bit format: unit lengths from here on are reserved. DWARF 5 section
/// 7.2.2.
pub(super) const LIMIT: u64 = 0xffff_fff0;

/// Error for a section with more bytes than the 32-bit format allows.
pub(super) fn too_large(bytes: usize, limit: u64) -> Error {
    let bytes = Count(bytes as u64, "byte");
    let what =
        format!("section has {bytes}; expected at most {limit} in the 32-bit DWARF format: use DWARF64");
    ErrorKind::TooLarge(what).into()
}

/// Symbol name, by its number.
pub(super) fn symbol_name(module: &Module, symbol: u32) -> Cow<'static, str> {
    module.string(StringId::from_u32(symbol)).to_owned().into()
}
