//! DWARF of CPUs and GPUs for a debugger's author: objects of any producer are read, their expressions evaluated, their
//! frames unwound, and everything printed.
//!
//! * [`read`] turns an object into facts with byte offsets: units, entries, lists, lines, frames.
//! * [`eval`] evaluates an expression on a machine, step by step, as the specification says.
//! * [`op`] and [`cfi`] are the tables of operations and call frame instructions, with encoder, decoder and text.
//! * [`target`] has registers, address spaces and instructions of AMD's and NVIDIA's GPUs, and of CPUs.
//! * [`dump`] prints all of it.
//!
//! The crate `eitri`, the debug-info back end for GPU compilers, re-exports these modules.
//!
//! ```
//! use eitri_dwarf::read::{Dwarf, Object};
//!
//! # let bytes = include_bytes!("../data/squares.o");
//! let object = Object::read(bytes)?;
//! let dwarf = Dwarf::read(&object)?;
//! let pc = dwarf.address_in("squares", 0x13)?;
//! if let Some(line) = dwarf.line_at(pc)? {
//!     println!("stopped at {line}");
//! }
//! for variable in &dwarf.variables_at(pc).variables {
//!     println!("{:?}: {:?}", variable.name(), variable.location);
//! }
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]
// The tables serve readers and writers: without the reader, parts of the tables have no caller.
#![cfg_attr(not(feature = "read"), allow(dead_code, unused_imports))]

#[doc(hidden)]
pub mod attributes;
pub mod cfi;
#[cfg(feature = "read")]
pub mod dump;
pub mod error;
#[cfg(feature = "read")]
pub mod eval;
#[doc(hidden)]
pub mod near;
pub mod op;
#[doc(hidden)]
pub mod ptx;
#[cfg(feature = "read")]
pub mod read;
#[doc(hidden)]
pub mod tags;
pub mod target;
#[doc(hidden)]
pub mod work;

pub use error::{Error, Result};
pub use gimli;
