//! Cubin debug sections that only NVIDIA's tools write: where PTX registers are kept, their types, the PTX text, and
//! its lines.
//!
//! ```
//! use eitri_dwarf::read::Object;
//! use eitri_dwarf::read::nvidia::{Home, RegisterMap};
//! use eitri_dwarf::target::nvptx::class;
//!
//! // Class 5 is R: a general register.
//! assert_eq!((Home(0x0500_0003).class(), Home(0x0500_0003).number()), (class::R, 3));
//!
//! # fn print(bytes: &[u8]) -> eitri_dwarf::Result<()> {
//! let cubin = Object::read(bytes)?;
//! for function in &RegisterMap::read(&cubin)?.functions {
//!     println!("{function:?}");
//! }
//! # Ok(())
//! # }
//! ```

mod lines;
mod mercury;
mod ptx_text;
mod register_map;
mod register_types;

pub use lines::{lines, ptx_lines};
pub use mercury::MercuryCode;
pub use ptx_text::PtxText;
pub use register_map::{Home, MappedFunction, RegisterHome, RegisterMap};
pub use register_types::RegisterTypes;

use super::Object;
use super::cursor::Cursor;
use super::unreadable::of_section;

/// Name of a section and of its Mercury copy.
type Names = [&'static str; 2];

/// Returns a section's contents; `None` if the file lacks it.
fn section<'o>(object: &'o Object<'_>, names: Names) -> Option<Cursor<'o>> {
    let section = object.section(names[0])?;
    let name = names[usize::from(object.is_mercury())];
    let cursor = Cursor::new(name, &section.data, object.is_big_endian());
    Some(cursor.around(of_section(object.unreadable_fields(), name)))
}

/// Instruction size in bytes on NVIDIA's processors from sm_70.
pub const INSTRUCTION_BYTES: u32 = 16;
