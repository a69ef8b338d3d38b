//! Debug instructions are put into modules: where, what is refused, and that all else stays as it was.
#![cfg(feature = "spirv")]

#[path = "../spirv/assemble.rs"]
mod assemble;
mod built;
#[path = "../common/mod.rs"]
mod common;
mod detached;
mod kernels;
mod metadata;
mod outside;
mod placed;
mod refused;
#[cfg(feature = "rspirv")]
mod rspirv;
mod support;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
