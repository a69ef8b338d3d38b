//! Unwinding by call frame information: what the text says of each rule, waves that run, processes that are
//! stopped, other people's unwinders, and anything at all.

#[path = "../reader/bytes.rs"]
#[allow(dead_code, reason = "the parts are those of another test")]
mod bytes;
mod cfi;
mod lanes;
mod outward;
mod peer;
mod process;
mod rules;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
mod wave;
