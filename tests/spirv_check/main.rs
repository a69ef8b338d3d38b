//! Debug instructions against their description: read back, imported and compared, with and without seeded faults.
#![cfg(feature = "spirv")]

mod bad;
mod corners;
#[path = "../common/spirv.rs"]
mod described;
mod equal;
#[path = "../common/idle.rs"]
mod idle;
mod meaning;
mod moves;
mod omissions;
mod output;
#[path = "../common/random.rs"]
mod random;
mod round;
mod sabotage;
mod verdicts;
