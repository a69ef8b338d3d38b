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

/// Reads, writes, compares and draws a description. Returns the first result other than success.
fn every_step(json: &str) -> eitri_result {
    let mut module = null_mut();
    let (mut object, mut page) = (null_mut(), null_mut());
    let mut counts = std::mem::MaybeUninit::uninit();
    // SAFETY: the text lives, and the places are there.
    unsafe {
        let steps: [&mut dyn FnMut() -> eitri_result; 4] = [
            &mut || eitri_module_from_json(json.as_ptr().cast(), json.len(), &raw mut module, null_mut()),
            &mut || eitri_emit(module, null(), &raw mut object, null_mut()),
            &mut || {
                let (data, size) = (eitri_buffer_data(object).cast(), eitri_buffer_size(object));
                eitri_check(module, data, size, null(), None, null_mut(), counts.as_mut_ptr(), null_mut())
            },
            &mut || {
                let (data, size) = (eitri_buffer_data(object).cast(), eitri_buffer_size(object));
                eitri_report(data, size, null(), &raw mut page, null_mut())
            },
        ];
        let failed = steps.into_iter().map(|step| step()).find(|result| *result != eitri_result::EITRI_OK);
        eitri_module_free(module);
        eitri_buffer_free(object);
        eitri_buffer_free(page);
        failed.unwrap_or(eitri_result::EITRI_OK)
    }
}

#[test]
fn deep_input_is_read_on_a_small_stack() {
    // At 128 levels, the limit of JSON ends the reading; the step before it is the deepest.
    for (depth, expected) in
        [(1, eitri_result::EITRI_OK), (100, eitri_result::EITRI_OK), (4000, eitri_result::EITRI_ERROR)]
    {
        let json = nested(depth);
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || every_step(&json));
        assert_eq!(thread.expect("a thread").join().expect("no panic"), expected, "{depth} levels");
    }
}
