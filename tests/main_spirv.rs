//! Tests of SPIR-V debug instructions.

#![cfg(feature = "spirv")]

mod common;
mod spirv;
mod spirv_attach;
mod spirv_check;
mod spirv_lower;
