//! Inputs and outputs of calls, which stay in the module's memory until the next call.

use std::cell::{Cell, RefCell};
use std::panic::{PanicHookInfo, set_hook};

use eitri::error::ErrorKind;
use eitri::{Error, Result};
use serde_json::json;

/// The inputs of a call.
#[derive(Debug, Default)]
pub struct Input {
    question: Vec<u8>,
    /// Contents of a file.
    pub contents: Vec<u8>,
}

/// An input, by the field that has it.
type Field = fn(&mut Input) -> &mut Vec<u8>;

impl Input {
    pub const QUESTION: Field = |input| &mut input.question;
    pub const CONTENTS: Field = |input| &mut input.contents;

    /// The question as text.
    pub fn question(&self) -> Result<&str> {
        str::from_utf8(&self.question).map_err(|_| {
            Error::from(ErrorKind::BadArgument("the question is not UTF-8; expected text".into()))
        })
    }
}

thread_local! {
    static INPUT: RefCell<Input> = RefCell::default();
    static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
    static HAS_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Replaces an input by zeros, and returns its address.
pub fn reserve(field: Field, bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        let buffer = field(input);
        // A file of the call before is not kept beside the new one.
        *buffer = Vec::new();
        buffer.resize(bytes, 0);
        buffer.as_mut_ptr()
    })
}

/// Returns address and size of the output.
pub fn result() -> (*const u8, usize) {
    OUTPUT.with_borrow(|output| (output.as_ptr(), output.len()))
}

/// Runs a function on the inputs. Returns 0 if the output is its result, and 1 if it is the error in JSON.
pub fn answer(function: impl FnOnce(&Input) -> Result<String>) -> u32 {
    if !HAS_HOOK.replace(true) {
        set_hook(Box::new(keep_message));
    }
    let (number, output) = match INPUT.with_borrow(function) {
        Ok(output) => (0, output),
        Err(error) => (1, failure(&error).to_string()),
    };
    OUTPUT.set(output);
    number
}

/// Returns an error's message, with its position in the question's machine.
fn failure(error: &Error) -> serde_json::Value {
    let at = error.at().json.as_ref();
    json!({"message": error.to_string(), "line": at.map(|at| at.line), "column": at.map(|at| at.column)})
}

/// Puts a panic's message where the script reads results.
fn keep_message(panic: &PanicHookInfo<'_>) {
    OUTPUT.set(panic.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output() -> String {
        OUTPUT.with_borrow(String::clone)
    }

    #[test]
    fn panic_leaves_its_message() {
        let ended = std::panic::catch_unwind(|| answer(|_| panic!("register {} is lost", 7)));
        assert!(ended.is_err());
        assert!(output().contains("register 7 is lost"), "{}", output());
        assert!(output().contains("buffers.rs"), "{}", output());
    }

    #[test]
    fn error_has_its_position_in_the_machine() {
        let text = br#"{"expression": "lit1", "dialect": "llvm", "target": "x86_64", "machine": "{\n\"lane\": \"x\"}",
            "read": 0, "kind": "value"}"#;
        let _ = reserve(Input::QUESTION, text.len());
        INPUT.with_borrow_mut(|input| input.question.copy_from_slice(text));
        assert_eq!(answer(|input| crate::evaluate::evaluate(input.question()?)), 1);
        let error: serde_json::Value = serde_json::from_str(&output()).expect("JSON");
        assert_eq!(error["line"], 2, "{error}");
    }

    #[test]
    fn question_that_is_not_text_is_refused() {
        let _ = reserve(Input::QUESTION, 1);
        INPUT.with_borrow_mut(|input| input.question[0] = 0xff);
        assert_eq!(answer(|input| input.question().map(String::from)), 1);
        assert!(output().contains("not UTF-8"));
    }
}
