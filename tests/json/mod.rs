//! Descriptions are read as intended, or refused with a position; a written module is read as an equal module.

use crate::common;
use crate::common::random;

use crate::common::tools;
use crate::common::validate;

mod builder;
mod cases;
mod page;
mod round;
mod schema;
mod text;
