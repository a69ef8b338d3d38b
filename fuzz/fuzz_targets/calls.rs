//! See `bindings/c/tests/fuzz/mod.rs`.

#![no_main]

#[path = "../../bindings/c/tests/fuzz/mod.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = harness::call_any(data);
});
