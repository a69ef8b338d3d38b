//! See `tests/fuzz/attach.rs`.

#![no_main]

#[path = "../../tests/fuzz/attach.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    harness::attach_any(data);
});
