//! Descriptions are read as intended, or refused with a position; a written module is read as an equal module.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/random.rs"]
mod random;

#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;
#[path = "../common/validate.rs"]
mod validate;

mod builder;
mod cases;
mod page;
mod round;
mod schema;
mod text;
