//! The command: arguments and exit codes only.

#![forbid(unsafe_code)]

fn main() {}
