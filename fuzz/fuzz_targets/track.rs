//! See `tests/fuzz/track.rs`.

#![no_main]

#[path = "../../tests/fuzz/track.rs"]
mod track;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    track::track(data);
});
