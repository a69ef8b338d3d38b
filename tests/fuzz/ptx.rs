//! Texts of PTX from random bytes. The fuzz target `ptx` and the bounded run in `tests/fuzz` share this code.

use eitri::check::check_ptx;
use eitri::emit::ptx;
use eitri::model::Module;

/// A description with registers of blocks, of parameters and of the module, before and after jumps.
const DESCRIPTION: &str = r#"{"eitri": 1, "target": "nvptx-sm_80", "describe": [
{"unit": {"name": "k.cu"}},
{"base_type": {"unit": "k.cu", "name": "long", "encoding": "signed", "bits": 64}},
{"function": {"in": "k.cu", "name": "k", "code": {"symbol": "k", "bytes": 6}}},
{"variable": {"in": "k", "name": "a", "type": "long", "live": [[0, 2, {"per_lane": "%rd1"}],
    [2, 3, {"per_lane_over": ["%r1", "%p1"]}], [3, 5, {"value": {"read": [{"per_lane": "%f10"}, 32]}}]]}},
{"variable": {"in": "k.cu", "name": "b", "type": "long", "always": {"local_symbol": "tile"}}}]}"#;

/// Takes a text apart, compares it with a description, removes its debug information, and prints it. Returns whether it is PTX.
pub fn ptx_any(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(functions) = ptx::functions(&text) else {
        assert!(ptx::detach(&text).is_err(), "what is no PTX has nothing to remove");
        return false;
    };
    let module = Module::from_json(DESCRIPTION.as_bytes()).expect("a module");
    let report = check_ptx(&module, &text).expect("it is PTX");
    // A location has one finding at most, and each function a size.
    assert!(report.findings.len() <= 5 && report.warnings.len() <= 5, "{report:?}");
    let plain = ptx::detach(&text).expect("it is PTX");
    // Instructions are neither debug information nor removed.
    assert_eq!(ptx::functions(&plain).expect("still PTX"), functions);
    let _ = eitri::dump::print(text.as_bytes(), None);
    true
}
