//! The realistic mix: its facts, and the sides that write them.

mod content;
mod eitri;
mod faults;
mod generate;
mod gimli;
mod hand;

pub use self::content::{GPU, Mix, ONE, SMALL, STD};
pub use self::eitri::{eitri, eitri_stream, eitri_stream_threads};
pub use self::faults::assert_refused;
pub use self::gimli::gimli;
pub use self::hand::{hand, hand_checked};
