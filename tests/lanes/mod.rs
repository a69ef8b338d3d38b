//! Positions of a wave's lanes: descriptions, output, and simulated waves.

mod compile;
mod describe;
mod everywhere;
mod graph;
mod output;
mod program;
use crate::common::random;
mod refused;
mod simulate;
mod wave;
