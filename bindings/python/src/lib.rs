//! The extension module `eitri._eitri`: the library's functions on bytes and JSON text.
//!
//! The Python files of the package `eitri` call these functions, and turn what they return into objects. Neither half
//! knows anything about debug information: descriptions, machines and findings are the library's JSON, and everything
//! else is bytes.
//!
//! Python's global lock is released while the library works. Contents are `bytes`, which nobody can change meanwhile.

mod describe;
mod error;
mod evaluate;
mod inspect;
mod machine;
mod modules;
mod options;
mod rewrite;
mod stack;
mod stats;
mod tables;
mod threads;
mod values;

use pyo3::prelude::*;

#[pymodule]
mod _eitri {
    #[pymodule_export]
    use super::describe::{WrittenModule, attach, check, emit, import_, locate};
    #[pymodule_export]
    use super::evaluate::{answers, steps};
    #[pymodule_export]
    use super::inspect::{dump, lint, members, report};
    #[pymodule_export]
    use super::modules::{spirv_attach, spirv_check, spirv_generate, spirv_strip};
    #[pymodule_export]
    use super::rewrite::{rewrite, rewrite_members};
    #[pymodule_export]
    use super::stats::stats;
    #[pymodule_export]
    use super::tables::{conform, consumers, dialect, lint_codes, schema, targets, version};
    #[pymodule_export]
    use super::values::to_json;
}
