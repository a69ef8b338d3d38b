//! Nested expressions, and the part of the context that each of them sees (A.2.5.1).

use super::context::{Context, CurrentObject};
use super::machine::Entry;
use crate::op::Encoding;
use crate::read::SUPPLEMENTARY;

/// Part of the context that can differ in a nested expression.
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
    /// Returns the scope of an outermost expression.
    pub fn of(context: &Context<'_>) -> Self {
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

    /// Returns the scope of a frame base: the unit of its subprogram, and the entry of the expression that needs it.
    pub fn of_frame_base(self, subprogram: &Entry<'_>) -> Self {
        Self { is_frame_base: true, ..self.in_unit_of(subprogram) }
    }

    /// Returns the offset of an entry that the expression refers to by its offset in the file. The file is the one with the
    /// expression's unit, which can be supplementary.
    pub fn entry_in_file(&self, offset: u64) -> u64 {
        self.unit & SUPPLEMENTARY | offset.min(SUPPLEMENTARY - 1)
    }

    /// Returns the scope in another frame.
    pub fn in_frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    /// Returns the scope of an entry in its unit.
    pub fn of_entry(self, offset: u64, entry: &Entry<'_>) -> Self {
        Self { entry: Some(offset), ..self.in_unit_of(entry) }
    }

    /// Returns the scope in the unit of an entry.
    pub fn in_unit_of(self, entry: &Entry<'_>) -> Self {
        let encoding = entry.encoding.unwrap_or(self.encoding);
        Self { encoding, unit: entry.unit, ..self }
    }
}
