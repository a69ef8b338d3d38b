//! The command: arguments and exit codes only.
fn main() {}
