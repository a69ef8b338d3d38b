//! Names that the library knows, schemas, and conformance vectors.

use eitri::conform::{ConformReport, VectorFile};
use eitri::error::ErrorKind;
use eitri::lint::LintCode;
use eitri::lower::Consumer;
use eitri::schema::Schema;
use eitri::target::Target;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::Failure;
use crate::stack::detached;

/// Returns the names of the built-in targets.
#[pyfunction]
pub fn targets() -> Vec<String> {
    Target::all().map(|target| target.name().to_string()).collect()
}

/// Returns the names of the consumers.
#[pyfunction]
pub fn consumers() -> Vec<&'static str> {
    Consumer::NAMES.to_vec()
}

/// Returns the name of a consumer's dialect.
#[pyfunction]
pub fn dialect(consumer: &str) -> PyResult<&'static str> {
    let consumer = Consumer::named(consumer).map_err(Failure::Eitri)?;
    Ok(consumer.expressions.dialect.name())
}

/// Returns the library's version.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the finding codes, each with its level and its page.
#[pyfunction]
pub fn lint_codes() -> Vec<(&'static str, &'static str, [&'static str; 5])> {
    let page = |code: &LintCode| {
        let page = code.page();
        [page.title, page.why, page.example, page.instead, page.text]
    };
    LintCode::ALL.iter().map(|code| (code.name(), code.level().name(), page(code))).collect()
}

/// Returns a format's JSON Schema.
#[pyfunction]
pub fn schema(name: &str) -> PyResult<String> {
    let unknown = || {
        let kind = ErrorKind::BadArgument(format!(
            "schema is `{name}`; expected one of {}",
            Schema::NAMES.join(", ")
        ));
        PyErr::from(Failure::Eitri(kind.into()))
    };
    Ok(Schema::named(name).ok_or_else(unknown)?.to_string())
}

/// Runs conformance vectors. Returns the outcomes as lines of JSON, the report as text, and whether all passed.
#[pyfunction]
pub fn conform(py: Python<'_>, vectors: PyBackedBytes, only: &str) -> PyResult<(String, String, bool)> {
    let report = detached(py, || -> Result<_, Failure> {
        let mut report = ConformReport::default();
        VectorFile::from_json(&vectors)?.run(only, None, &mut report);
        Ok((report.to_json(), report.to_string(), report.is_clean()))
    });
    Ok(report?)
}
