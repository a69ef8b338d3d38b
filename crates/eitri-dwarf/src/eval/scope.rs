//! Nested expressions, and the context that each of them sees (A.2.5.1).

use super::context::{Context, CurrentObject};
use super::machine::ReferencedEntry;
use crate::op::Encoding;
use crate::read::SUPPLEMENTARY;

/// What can differ in a nested expression's context.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub encoding: Encoding,
    pub unit: u64,
    pub frame: u32,
    /// Whether the expression has a current object.
    pub has_object: bool,
    /// Whether the expression is a frame base, which cannot refer to itself.
    pub is_frame_base: bool,
    /// Index of the first stack element that the expression can access.
    pub(super) floor: usize,
    pub(super) depth: u32,
    /// The entry that contains the expression, if it was reached by a call or an implicit pointer.
    pub entry: Option<u64>,
}

impl Scope {
    /// Returns an outermost expression's scope.
    pub fn outermost(context: &Context<'_>) -> Self {
        Self {
            encoding: context.encoding,
            unit: context.unit,
            frame: context.frame,
            has_object: context.object != CurrentObject::Unspecified,
            is_frame_base: false,
            floor: 0,
            depth: 0,
            entry: None,
        }
    }

    /// Returns a frame base's scope: its subprogram's unit, and the entry whose expression needs it.
    pub fn of_frame_base(self, subprogram: &ReferencedEntry<'_>) -> Self {
        Self { is_frame_base: true, ..self.in_unit_of(subprogram) }
    }

    /// Returns an entry's offset, where the expression refers to it by its offset in the file. The file is the file
    /// that contains the expression's unit, and can be supplementary.
    pub fn entry_in_file(&self, offset: u64) -> u64 {
        self.unit & SUPPLEMENTARY | offset.min(SUPPLEMENTARY - 1)
    }

    /// Returns the scope in another frame.
    pub fn in_frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    /// Returns an entry's scope in its unit.
    pub fn of_entry(self, offset: u64, entry: &ReferencedEntry<'_>) -> Self {
        Self { entry: Some(offset), ..self.in_unit_of(entry) }
    }

    /// Returns the scope in an entry's unit.
    pub fn in_unit_of(self, entry: &ReferencedEntry<'_>) -> Self {
        let encoding = entry.encoding.unwrap_or(self.encoding);
        Self { encoding, unit: entry.unit, ..self }
    }
}
