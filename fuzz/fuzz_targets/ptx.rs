//! See `tests/fuzz/ptx.rs`.

#![no_main]

#[path = "../../tests/fuzz/ptx.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    harness::ptx_any(data);
});
