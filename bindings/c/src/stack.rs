//! The stack of a call: enough for every input, on every thread.
//!
//! Limits of the library bound the nesting of all inputs, so that a stack of a known size is enough. A thread with less left
//! gets a stack for the duration of the call.

use std::cell::Cell;

use crate::error::Failure;

/// Bytes of stack that are enough for the deepest input, without optimisation too.
const NEEDED: usize = 1 << 20;

/// Bytes of a stack for a call on a thread with less.
const GROWN: usize = 4 << 20;

/// Number of calls that may be nested on a thread, by callbacks that call the library again. Each needs stack.
const MOST_NESTED: u32 = 32;

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// A started call on this thread.
struct Nested;

impl Nested {
    fn begin() -> Result<Self, Failure> {
        let depth = NESTED.get();
        if depth >= MOST_NESTED {
            return Err(Failure::argument(format!(
                "callbacks start more than {MOST_NESTED} nested calls of the library"
            )));
        }
        NESTED.set(depth + 1);
        Ok(Self)
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Runs a call's body with enough stack.
pub fn with_stack(body: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let _nested = Nested::begin()?;
    stacker::maybe_grow(NEEDED, GROWN, body)
}
