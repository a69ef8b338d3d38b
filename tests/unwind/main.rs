//! The promise: unwinding follows the text of each rule, and works for running waves, stopped processes and random
//! input; other unwinders agree.

#[path = "../reader/bytes.rs"]
#[allow(dead_code, reason = "the parts are those of another test")]
mod bytes;
mod cfi;
mod lanes;
mod outward;
mod peer;
mod process;
mod read;
mod rules;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
mod variables;
mod wave;
