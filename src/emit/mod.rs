//! Encodes DWARF facts: sections with relocations, and the ELF objects or PTX texts that contain them.
//!
//! The room knows the formats, and nothing of the model: callers pass numbers, names and addresses. A section is appended
//! to while the facts arrive, so that memory holds each fact once. Lengths are patched at the end of what they measure,
//! abbreviations are collected on the way, and forward references to entries are filled in at the end of the unit. A
//! field that only the linker knows becomes a [`Relocation`].
//!
//! `info` has the entries, `lists`, `line`, `frame`, `macros` and the lookup tables are a file or folder each. [`elf`]
//! makes new objects and adds sections to existing objects, in which it keeps every byte that does not have to change;
//! [`ptx`] does the same in an assembly text. With the feature `object`, `object` adds sections to objects that the crate
//! of this name writes.
//!
//! ```
//! use eitri::emit::elf::{ObjectCode, new_object};
//! use eitri::emit::Section;
//! use eitri::target::Target;
//!
//! // Sections normally come from `lower`; here, a comment is the only section of an object
//! // with a function.
//! let target = Target::named("amdgpu-gfx1030-wave32")?;
//! let code = ObjectCode::text(vec![0; 8]).with_function("f", 0, 8);
//! let comment = Section {
//!     name: ".comment",
//!     bytes: b"a compiler\0".to_vec(),
//!     relocations: Vec::new(),
//!     is_strings: false,
//!     group: None,
//! };
//! let object = new_object(&target, &code, &[comment])?;
//! assert!(object.starts_with(b"\x7fELF"));
//! # Ok::<(), eitri::Error>(())
//! ```

pub(crate) mod abbrev;
mod added;
pub(crate) mod addr;
pub(crate) mod aranges;
mod attribute_limit;
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
#[cfg(feature = "object")]
pub mod object;
pub mod ptx;
pub(crate) mod pubs;
pub(crate) mod register_map;
#[cfg(test)]
mod sample;
mod section;
pub(crate) mod strings;

pub use gimli::{GimliBuffer, from_gimli};
pub use section::{Relocation, RelocationTarget, Section};
