//! Handles are used by all threads at once.

use std::ptr::{null, null_mut};

use eitri_c::*;

const DESCRIPTION: &str = r#"{"eitri": 1, "target": "x86_64", "describe": [
    {"unit": {"name": "a"}},
    {"base_type": {"unit": "a", "name": "int", "encoding": "signed", "bits": 32}},
    {"function": {"in": "a", "name": "f", "code": {"symbol": "f", "bytes": 64}}},
    {"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"register": "rax"}]]}}
]}"#;

#[test]
fn a_module_is_written_by_threads() {
    let mut module = null_mut();
    // SAFETY: the text lives, and the place is there.
    let result = unsafe {
        eitri_module_from_json(DESCRIPTION.as_ptr().cast(), DESCRIPTION.len(), &raw mut module, null_mut())
    };
    assert_eq!(result, eitri_result::EITRI_OK);
    let address = module.expose_provenance();
    let written: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(move || {
                    let module = std::ptr::with_exposed_provenance::<eitri_module>(address);
                    let mut object = null_mut();
                    // SAFETY: the module lives, and the place is there.
                    let result = unsafe { eitri_emit(module, null(), &raw mut object, null_mut()) };
                    assert_eq!(result, eitri_result::EITRI_OK);
                    let (data, size) = (eitri_buffer_data(object), eitri_buffer_size(object));
                    // SAFETY: the buffer's bytes.
                    let bytes = unsafe { std::slice::from_raw_parts(data, size) }.to_vec();
                    eitri_buffer_free(object);
                    bytes
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    eitri_module_free(module);
    assert!(written.iter().all(|bytes| bytes == &written[0] && !bytes.is_empty()));
}
