//! Attaching debug instructions to modules: positions, refused bindings, and unchanged contents.
#![cfg(feature = "spirv")]

#[path = "../spirv/assemble.rs"]
mod assemble;
mod built;
#[path = "../common/mod.rs"]
mod common;
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
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
