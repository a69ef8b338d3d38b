//! `.debug_line`, versions 2 to 5: DWARF 5 section 6.2, DWARF 4 section 6.2.
//!
//! The header defines what the opcodes mean, so a survey of all steps comes first:
//!
//! ```text
//! Survey: begin_sequence, row… ─► Shape ─► LineProgram: begin_sequence, row…, end_sequence ─► finish
//! ```
//!
//! Rows that a version cannot encode use later versions' opcodes, because readers skip unknown opcodes by the lengths
//! that the format provides: a discriminator (DWARF 4) is an extended opcode, and prologue ends and epilogue begins
//! (DWARF 3) are standard opcodes, whose operand counts are in the header. MD5 sums and embedded source cannot be
//! encoded in the tables before DWARF 5.

mod header;
mod program;
mod rows;
mod shape;
#[cfg(test)]
pub(super) mod tests;

pub(crate) use header::Names;
pub(crate) use program::LineProgram;
pub(crate) use rows::{InlinedRow, LineFile, LineState, file_number};
pub(crate) use shape::Survey;
