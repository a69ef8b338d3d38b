//! Debug sections of cubins that only NVIDIA's tools write: homes of PTX registers, their types, the text of the PTX, and
//! the lines of that text.

mod lines;
mod ptx_text;
mod register_map;
mod register_types;

pub use lines::{lines, ptx_lines};
pub use ptx_text::PtxText;
pub use register_map::{Home, MappedFunction, RegisterHome, RegisterMap};
pub use register_types::RegisterTypes;

/// Size in bytes of an instruction of NVIDIA's processors from sm_70 on.
pub const INSTRUCTION_BYTES: u32 = 16;
