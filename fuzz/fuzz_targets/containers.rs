//! See `tests/fuzz/harness.rs`.

#![no_main]

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../tests/fuzz/harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::containers(data));
