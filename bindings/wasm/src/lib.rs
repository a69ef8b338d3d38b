//! The module behind the playground: functions that a page's script calls, on bytes in and JSON or HTML out.
//!
//! A call has four steps. `reserve` returns the address of an input, into which the script writes; a function evaluates,
//! diagnoses or draws; its number says whether that succeeded; `result` and `result_size` are where its output is. After a
//! trap the script reads the panic's message in the same way, and makes a new instance.

mod buffers;
mod evaluate;
mod inspect;
mod names;

use buffers::{Input, answer};

/// Names for the page's lists.
#[unsafe(no_mangle)]
pub extern "C" fn names() -> u32 {
    answer(|_| Ok(names::names().to_string()))
}

/// Lanes and registers of the target whose name is the question.
#[unsafe(no_mangle)]
pub extern "C" fn target() -> u32 {
    answer(|input| names::target(input.question()?))
}

/// Evaluates an expression: the question is an [`evaluate::Question`] in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn evaluate() -> u32 {
    answer(|input| evaluate::evaluate(input.question()?))
}

/// Names of the objects in the contents: the members of a container, or none.
#[unsafe(no_mangle)]
pub extern "C" fn members() -> u32 {
    answer(|input| inspect::members(&input.contents))
}

/// Findings about an object: the question is an [`inspect::Question`] in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn lint() -> u32 {
    answer(|input| inspect::lint(input.question()?, &input.contents))
}

/// The page about an object, as HTML. The question is that of [`lint`].
#[unsafe(no_mangle)]
pub extern "C" fn report() -> u32 {
    answer(|input| inspect::report(input.question()?, &input.contents))
}

/// Makes room for an input: number 0 is the question, number 1 the contents of a file. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(number: u32, bytes: usize) -> *mut u8 {
    buffers::reserve(if number == 0 { Input::QUESTION } else { Input::CONTENTS }, bytes)
}

/// Returns the address of the last function's output.
#[unsafe(no_mangle)]
pub extern "C" fn result() -> *const u8 {
    buffers::result().0
}

/// Returns the size of the last function's output in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn result_size() -> usize {
    buffers::result().1
}
