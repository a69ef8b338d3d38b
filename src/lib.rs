#![doc = include_str!("../docs/crate.md")]
//! # Pictures
//!
//! `eitri explain` shows an expression step by step: the stack on the left, the storage on the right.
//!
#![doc = include_str!("../docs/parts.svg")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod build;
pub mod cfi;
pub mod check;
#[cfg(feature = "json")]
pub mod conform;
pub mod consumer;
pub mod dump;
pub mod emit;
pub mod error;
pub mod eval;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "json")]
pub mod json;
pub mod lint;
pub mod lower;
pub mod model;
mod near;
pub mod omission;
pub mod op;
mod ptx;
pub mod read;
pub mod report;
#[cfg(feature = "json")]
pub mod schema;
#[cfg(feature = "spirv")]
pub mod spirv;
pub mod stats;
mod tags;
pub mod target;
pub mod track;
mod work;

#[doc(no_inline)]
pub use check::check;
#[doc(no_inline)]
pub use consumer::{Consumer, Policy};
pub use error::{Error, Result};

// Crates whose types appear in signatures, in the matching versions.
pub use gimli;
#[cfg(feature = "rspirv")]
pub use rspirv;
