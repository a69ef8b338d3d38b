//! Instructions before the functions, for both sets and every mode. Expectations are typed from the text of the
//! specification and the description rather than copied from the output.
#![cfg(feature = "spirv")]

#[path = "../spirv/assemble.rs"]
mod assemble;
mod case;
#[path = "../common/mod.rs"]
mod common;
mod composites;
mod functions;
#[path = "../common/idle.rs"]
mod idle;
mod later;
mod limits;
mod lines;
mod modes;
mod names;
mod omitted;
mod order;
mod scopes;
mod silence;
mod templates;
#[path = "../common/tools.rs"]
mod tools;
mod types;
mod units;
mod validators;
