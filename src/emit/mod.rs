//! Encodes DWARF facts: sections with relocations, and the ELF objects that contain them.
//!
//! Each section is appended to while the facts arrive. Lengths are patched, abbreviations are collected on the way,
//! and forward references to entries are filled in at the end of the unit.

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
pub mod ptx;
pub(crate) mod pubs;
#[cfg(test)]
mod sample;
mod section;
pub(crate) mod strings;

pub use gimli::{GimliBuffer, from_gimli};
pub use section::{Relocation, RelocationTarget, Section};
