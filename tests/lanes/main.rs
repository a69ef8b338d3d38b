//! Positions of a wave's lanes: descriptions, output, and simulated waves.

mod compile;
mod describe;
mod everywhere;
mod graph;
mod output;
mod program;
#[path = "../common/random.rs"]
mod random;
mod refused;
mod simulate;
mod wave;
