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
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "json")]
pub mod conform;
#[cfg(feature = "write")]
pub mod consumer;
#[cfg(feature = "lint")]
pub mod contents;
#[cfg(feature = "describe")]
mod dominators;
#[cfg(feature = "write")]
pub mod emit;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "import")]
pub mod import;
#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "write")]
pub mod lower;
#[cfg(feature = "describe")]
pub mod model;
#[cfg(feature = "describe")]
pub mod omission;
#[cfg(feature = "check")]
pub mod output;
#[cfg(feature = "rewrite")]
pub mod rewrite;
#[cfg(feature = "json")]
pub mod schema;
#[cfg(feature = "spirv")]
pub mod spirv;
#[cfg(feature = "track")]
pub mod track;

#[cfg(feature = "check")]
#[doc(no_inline)]
pub use check::check;
#[cfg(feature = "write")]
#[doc(no_inline)]
pub use consumer::{Consumer, Policy};
#[doc(inline)]
pub use eitri_dwarf::{Error, Result, cfi, error, op, target};
#[cfg(feature = "read")]
#[doc(inline)]
pub use eitri_dwarf::{dump, eval, read};
#[cfg(feature = "lint")]
#[doc(inline)]
pub use eitri_inspect::lint;
#[cfg(feature = "report")]
#[doc(inline)]
pub use eitri_inspect::report;
#[cfg(feature = "stats")]
#[doc(inline)]
pub use eitri_inspect::stats;

use eitri_dwarf::{attributes, near, ptx, tags, work};

// Crates whose types appear in public signatures, so that users get the matching versions.
pub use gimli;
#[cfg(feature = "object")]
pub use object;
#[cfg(feature = "regalloc2")]
pub use regalloc2;
#[cfg(feature = "rspirv")]
pub use rspirv;
