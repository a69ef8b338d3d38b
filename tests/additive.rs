//! The promise: adding debug information to an object changes nothing else in the object.
//!
//! Objects are read back with the low-level reader of `object`, and with other linkers and dumpers where they are
//! installed.

mod big_endian;
mod compressed;
mod files;
mod groups;
mod hostile;
mod linked;
mod new;
mod refused;
mod relocatable;
mod replaced;
pub mod support;
use crate::common::tools;
