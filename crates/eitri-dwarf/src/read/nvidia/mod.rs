//! Cubin debug sections that only NVIDIA's tools write: where PTX registers are kept, their types, the PTX text, and
//! its lines.

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
