//! The promise: adding debug information to an object changes nothing else in the object.
//!
//! Objects are read back with the low-level reader of `object`, and with other linkers and dumpers where they are
//! installed.

#[path = "additive/big_endian.rs"]
mod big_endian;
#[cfg(feature = "compress")]
#[path = "additive/compressed.rs"]
mod compressed;
#[path = "additive/files.rs"]
mod files;
#[path = "additive/groups.rs"]
mod groups;
#[path = "additive/hostile.rs"]
mod hostile;
#[path = "additive/linked.rs"]
mod linked;
#[path = "additive/new.rs"]
mod new;
#[path = "additive/refused.rs"]
mod refused;
#[path = "additive/relocatable.rs"]
mod relocatable;
#[path = "additive/replaced.rs"]
mod replaced;
#[path = "additive/support.rs"]
mod support;
#[path = "common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
