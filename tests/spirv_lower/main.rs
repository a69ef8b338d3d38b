//! What a model says before the functions, in both sets and every mode. What is expected is typed from the text of the
//! specification and from what is described, not from what came out.
#![cfg(feature = "spirv")]

#[path = "../spirv/assemble.rs"]
mod assemble;
#[path = "../common/mod.rs"]
mod common;
mod composites;
mod functions;
mod limits;
mod lines;
mod modes;
mod names;
mod order;
mod outside;
mod said;
mod scopes;
mod silence;
mod templates;
#[path = "../common/tools.rs"]
mod tools;
mod types;
mod units;
mod unsaid;
