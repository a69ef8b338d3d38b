//! Attaching debug instructions to modules: positions, refused bindings, and unchanged contents.
#![cfg(feature = "spirv")]

use crate::common::assemble;
mod built;
mod detached;
#[cfg(feature = "json")]
mod json;
mod kernels;
mod metadata;
mod placed;
mod refused;
#[cfg(feature = "rspirv")]
mod rspirv;
mod spirv_val;
mod support;
use crate::common::tools;
