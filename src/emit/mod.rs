//! DWARF facts to bytes: sections with relocations, and the ELF objects that hold them.

pub mod elf;
mod section;

pub use section::{Relocation, RelocationTarget, Section};
