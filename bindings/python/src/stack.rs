//! The library's work: without Python's lock, and with enough stack.
//!
//! Limits of the library bound the nesting of all inputs, so that a stack of a known size is enough. Threads of Python can
//! have less: macOS gives them 512 KiB.

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

/// Bytes of stack that are enough for the deepest input, without optimisation too.
const NEEDED: usize = 1 << 20;

/// Bytes of a stack for work on a thread with less.
const GROWN: usize = 4 << 20;

/// Bytes of stack that an evaluation needs whose machine is a Python object, apart from that object's methods.
const NEEDED_BY_MACHINE: usize = 192 << 10;

/// Works without Python's lock, on a stack that is large enough. Python must not be called: it knows the bounds of its
/// thread's stack.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| stacker::maybe_grow(NEEDED, GROWN, work))
}

/// Works without Python's lock on the thread's own stack, because Python is called. It is an exception if too little is left.
pub fn detached_on_stack<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    match stacker::remaining_stack() {
        Some(left) if left < NEEDED_BY_MACHINE => {
            let problem = format!(
                "{left} bytes of the thread's stack are left; expected {NEEDED_BY_MACHINE} for an evaluation on a \
                 machine that is an object"
            );
            Err(PyRecursionError::new_err(problem))
        }
        _ => Ok(py.detach(work)),
    }
}
