//! Tests of SPIR-V debug instructions.

mod common;
mod spirv;
mod spirv_attach;
mod spirv_check;
mod spirv_lower;
