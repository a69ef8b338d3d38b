//! The promise: call frame information has the described rules, in every version and format, in the fewest bytes.

use crate::common;

use crate::common::random;

mod bytes;
mod checked;
mod rows;
mod scratch;
