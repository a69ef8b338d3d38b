//! DWARF facts to bytes: sections with relocations, and the ELF objects that hold them.
//!
//! Each section is appended to as the facts come; lengths are patched, abbreviations are found as they
//! come, and references to entries that are not there yet are filled in at the end of the unit.

pub(crate) mod abbrev;
pub(crate) mod addr;
pub(crate) mod aranges;
pub mod elf;
pub(crate) mod format;
pub(crate) mod frame;
mod gimli;
pub(crate) mod info;
pub(crate) mod line;
pub(crate) mod lists;
pub(crate) mod macros;
pub(crate) mod named;
pub(crate) mod names;
#[cfg(test)]
mod outside;
pub(crate) mod pubs;
mod section;
pub(crate) mod strings;

pub use gimli::{GimliBuffer, from_gimli};
pub use section::{Relocation, RelocationTarget, Section};
