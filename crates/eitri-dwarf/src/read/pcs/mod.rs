//! Scopes, variables and lines at a pc.
//!
//! ```text
//!          ┌► Functions ─► CodeScopes ─► ScopeVariables
//!  Dwarf ──┤
//!          └► Sequences ─► CodeLine
//! ```
//!
//! `Functions` and `Sequences` are indices, made at the first request: one pass over the entries, and one over the
//! line programs. A request then reads the entries of a single function, or the rows of a single sequence.

pub(super) mod functions;
mod index;
mod lines;
mod members;
mod scopes;
pub(super) mod sequences;
mod variables;

pub(super) use index::PcIndex;
pub use lines::CodeLine;
pub use scopes::{CodeScope, CodeScopes, EntryPosition};
pub use variables::{CurrentLocation, ScopeVariable, ScopeVariables};

pub(crate) use functions::{function_at, functions_with_code};
pub(super) use lines::line_at;
pub(super) use members::is_variable;
pub(super) use scopes::{errors_without_function, has_function, scopes_at, scopes_in};
pub(super) use variables::{scopes_around, variables_of};
