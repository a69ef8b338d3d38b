//! Debug information from any compiler, diagnosed by the code in its own object.
//!
//! * [`lint`](mod@lint) finds locations, rules and rows that the code contradicts, each with its evidence.
//! * [`stats`](mod@stats) measures how much code has locations.
//! * [`report`](mod@report) draws an object as a page: timelines, expressions, findings.
//!
//! The crate `eitri`, the debug-info back end for GPU compilers, re-exports these modules.
//!
//! ```
//! use eitri_inspect::lint::{Level, LintOptions, lint};
//!
//! # let bytes = include_bytes!("../data/squares.o");
//! // A gate in CI: errors fail, warnings do not.
//! let report = lint(bytes, &LintOptions::default())?;
//! assert!(report.worst() < Some(Level::Error));
//! # Ok::<(), eitri_inspect::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]
// Without the page, parts of the findings have no caller.
#![cfg_attr(not(feature = "report"), allow(dead_code, unused_imports))]

pub mod lint;
mod ranges;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "stats")]
pub mod stats;
mod walk;

pub use eitri_dwarf::{Error, Result};
