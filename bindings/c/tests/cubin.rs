//! A cubin that ptxas generated from the PTX with a module's debug information.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use eitri_c::*;

const DESCRIPTION: &str = r#"{"eitri": 1, "target": "nvptx-sm_80", "describe": [
    {"unit": {"name": "a.cu"}},
    {"base_type": {"unit": "a.cu", "name": "int", "encoding": "signed", "bits": 32}},
    {"function": {"in": "a.cu", "name": "scale", "code": {"symbol": "scale", "bytes": 22}, "kernel": true}},
    {"variable": {"in": "scale", "name": "i", "type": "int", "live": [[4, 15, {"per_lane": "%r2"}]]}}
]}"#;

/// A cubin without the text of its PTX says nothing about the PTX's module, as the command says too.
#[test]
fn cubin_without_its_ptx_is_refused() {
    let cubin = include_bytes!("../../../examples/data/sass_kernel.cubin");
    let (mut module, mut error) = (null_mut(), null_mut());
    let mut counts = std::mem::MaybeUninit::uninit();
    // SAFETY: the texts live, and the places are there.
    let (read, checked) = unsafe {
        let json = DESCRIPTION;
        let read = eitri_module_from_json(json.as_ptr().cast(), json.len(), &raw mut module, null_mut());
        let (data, size) = (cubin.as_ptr().cast(), cubin.len());
        let to = (counts.as_mut_ptr(), &raw mut error);
        (read, eitri_check(module, data, size, null(), None, null_mut(), to.0, to.1))
    };
    assert_eq!((read, checked), (eitri_result::EITRI_OK, eitri_result::EITRI_ERROR));
    // SAFETY: the error lives.
    let message = unsafe { CStr::from_ptr(eitri_error_message(error)) }.to_string_lossy().into_owned();
    assert!(message.contains("the text of its PTX"), "{message}");
    eitri_error_free(error);
    eitri_module_free(module);
}
