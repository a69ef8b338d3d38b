//! eitri for C and C++.
//!
//! The functions are those of `include/eitri.h`, which is made from this crate. They have no knowledge of their own: a
//! description is JSON, an object is bytes, and everything else is the library's.
#![allow(non_camel_case_types)]

mod buffer;
mod description;
mod diagnosis;
mod error;
mod evaluation;
mod finding;
mod handle;
mod input;
mod object;
mod options;
mod rewriting;
mod spirv;
mod stack;
mod variable;
mod version;

pub use buffer::*;
pub use description::*;
pub use diagnosis::*;
pub use error::*;
pub use evaluation::*;
pub use finding::*;
pub use object::*;
pub use options::*;
pub use rewriting::*;
pub use spirv::*;
pub use variable::*;
pub use version::*;
