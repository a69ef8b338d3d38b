//! For tests that run other people's programs on sections.

#[path = "../../tests/common/tools.rs"]
mod tools;

pub(crate) use tools::{Folder, Tool};
