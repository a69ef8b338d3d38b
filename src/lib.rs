#![doc = include_str!("../docs/crate.md")]
//! # Pictures
//!
//! `eitri explain` shows an expression step by step: the stack on the left, the storage on the right.
//!
#![doc = include_str!("../docs/parts.svg")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]
// All stages share the tables, so that parts of the tables have no caller if some stages are left out.
#![cfg_attr(
    not(all(feature = "check", feature = "json", feature = "spirv")),
    allow(dead_code, unused_imports)
)]

#[cfg(feature = "describe")]
pub mod build;
pub mod cfi;
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "json")]
pub mod conform;
#[cfg(feature = "write")]
pub mod consumer;
#[cfg(feature = "read")]
pub mod dump;
#[cfg(feature = "write")]
pub mod emit;
pub mod error;
#[cfg(feature = "read")]
pub mod eval;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "read")]
pub mod lint;
#[cfg(feature = "write")]
pub mod lower;
#[cfg(feature = "describe")]
pub mod model;
mod near;
#[cfg(feature = "describe")]
pub mod omission;
pub mod op;
mod ptx;
#[cfg(feature = "read")]
pub mod read;
#[cfg(feature = "read")]
pub mod report;
#[cfg(feature = "json")]
pub mod schema;
#[cfg(feature = "spirv")]
pub mod spirv;
#[cfg(feature = "read")]
pub mod stats;
mod tags;
pub mod target;
#[cfg(feature = "describe")]
pub mod track;
mod work;

#[cfg(feature = "check")]
#[doc(no_inline)]
pub use check::check;
#[cfg(feature = "write")]
#[doc(no_inline)]
pub use consumer::{Consumer, Policy};
pub use error::{Error, Result};

// Crates whose types appear in public signatures, so that users get the matching versions.
pub use gimli;
#[cfg(feature = "rspirv")]
pub use rspirv;
