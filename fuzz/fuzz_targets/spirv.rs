//! See `tests/fuzz/spirv.rs`.

#![no_main]

#[path = "../../tests/fuzz/spirv.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::spirv(data));
