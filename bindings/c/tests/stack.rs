//! Calls on threads with little stack: the header promises 64 KiB, without optimisation too.

use std::ptr::{null, null_mut};

use eitri_c::*;

/// A description with a location of a depth.
fn nested(depth: usize) -> String {
    let location =
        format!("{}{{\"register\": \"s4\"}}{}", "{\"offset\": [".repeat(depth), ", 0]}".repeat(depth));
    format!(
        r#"{{"eitri": 1, "target": "amdgpu-gfx1100-wave32", "describe": [
            {{"unit": {{"name": "a"}}}},
            {{"base_type": {{"unit": "a", "name": "int", "encoding": "signed", "bits": 32}}}},
            {{"function": {{"in": "a", "name": "f", "code": {{"symbol": "f", "bytes": 40}}}}}},
            {{"variable": {{"in": "f", "name": "x", "type": "int", "live": [[0, 4, {location}]]}}}}]}}"#
    )
}

/// Reads, writes, compares and draws a description. Returns each step's result; with NULL handles after a failure, the steps
/// fail too.
fn every_step(json: &str) -> [eitri_result; 4] {
    let mut module = null_mut();
    let (mut object, mut page) = (null_mut(), null_mut());
    let mut counts = std::mem::MaybeUninit::uninit();
    // SAFETY: the text lives, and the places are there.
    unsafe {
        let read = eitri_module_from_json(json.as_ptr().cast(), json.len(), &raw mut module, null_mut());
        let written = eitri_emit(module, null(), &raw mut object, null_mut());
        let (data, size) = (eitri_buffer_data(object).cast(), eitri_buffer_size(object));
        let places = (counts.as_mut_ptr(), null_mut());
        let checked = eitri_check(module, data, size, null(), None, null_mut(), places.0, places.1);
        let drawn = eitri_report(data, size, null(), &raw mut page, null_mut());
        eitri_module_free(module);
        eitri_buffer_free(object);
        eitri_buffer_free(page);
        [read, written, checked, drawn]
    }
}

#[test]
fn deep_input_is_read_on_a_small_stack() {
    for depth in [1, 100, 4000] {
        let json = nested(depth);
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || every_step(&json));
        let results = thread.expect("a thread").join().expect("no panic");
        if depth < 128 {
            assert_eq!(results, [eitri_result::EITRI_OK; 4], "{depth} levels");
        } else {
            // The limit of JSON.
            assert_eq!(results[0], eitri_result::EITRI_ERROR, "{depth} levels");
        }
    }
}
