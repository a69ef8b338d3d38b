//! Where the lanes of a wave stand: what a compiler describes, what is written, and what a wave does.

mod compile;
mod describe;
mod everywhere;
mod graph;
mod program;
#[path = "../common/random.rs"]
mod random;
mod refused;
mod simulate;
mod wave;
mod written;
