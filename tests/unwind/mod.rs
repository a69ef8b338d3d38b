//! The promise: unwinding follows the text of each rule, and works for running waves, stopped processes and random
//! input; other unwinders agree.

use crate::common::bytes;
mod amd;
mod cfi;
mod lanes;
mod outward;
mod peer;
mod process;
mod read;
mod rules;
use crate::common::tools;
mod variables;
mod wave;
