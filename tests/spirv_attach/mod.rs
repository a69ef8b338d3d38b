//! Attaching debug instructions to modules: positions, refused bindings, and unchanged contents.

use crate::common::assemble;
mod built;
mod detached;
mod json;
mod kernels;
mod metadata;
mod placed;
mod refused;
mod rspirv;
mod spirv_val;
mod support;
use crate::common::tools;
