//! A description is read as it was meant, or refused with its place; and a module is written such that it is
//! read as the same module.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/random.rs"]
mod random;

#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the parts are those of other tests")]
mod tools;

mod builder;
mod cases;
mod page;
mod round;
mod schema;
mod text;
