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
mod ptx_text;
mod register_map;
mod register_types;

pub use lines::{lines, ptx_lines};
pub use ptx_text::PtxText;
pub use register_map::{Home, MappedFunction, RegisterHome, RegisterMap};
pub use register_types::RegisterTypes;

/// Instruction size in bytes on NVIDIA's processors from sm_70.
pub const INSTRUCTION_BYTES: u32 = 16;
