//! The promise: `lint` finds in the objects of other compilers what an independent classifier finds, from the
//! instructions; and nothing in objects that are right.

#[path = "../common/clean.rs"]
mod above;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/consumers.rs"]
mod consumers;
#[path = "../common/fields.rs"]
mod fields;
#[path = "../common/source.rs"]
mod source;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "a part is used")]
mod tools;

mod bases;
mod certain;
mod clean;
mod compiled;
mod contexts;
mod counts;
mod kinds;
mod made;
mod mutations;
mod pages;
mod relocated;
mod results;
mod threads;
mod unknown;
