//! Debug instructions against their description: read back, imported and compared, with and without seeded faults.

mod bad;
mod corners;
use crate::common::spirv as described;
mod equal;
use crate::common::idle;
mod meaning;
mod moves;
mod omissions;
mod output;
use crate::common::random;
mod round;
mod sabotage;
mod verdicts;
