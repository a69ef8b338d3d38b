//! Texts of PTX from random bytes. The fuzz target `ptx` and the bounded run in `tests/fuzz` share this code.

use eitri::emit::ptx;

/// Takes a text apart, removes its debug information, and prints it. Returns whether it is PTX.
pub fn ptx_any(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let Ok(functions) = ptx::functions(&text) else {
        assert!(ptx::detach(&text).is_err(), "what is no PTX has nothing to remove");
        return false;
    };
    let plain = ptx::detach(&text).expect("it is PTX");
    // Instructions are neither debug information nor removed.
    assert_eq!(ptx::functions(&plain).expect("still PTX"), functions);
    let _ = eitri::dump::print(text.as_bytes(), None);
    true
}
