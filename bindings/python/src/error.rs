//! Errors as Python's exceptions, and their locations as JSON.

use std::ops::Range;

use eitri::Error;
use eitri::error::At;
use eitri::eval::Fault;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Reason why a call fails.
#[derive(Debug)]
pub enum Failure {
    /// The library's error.
    Eitri(Error),
    /// An evaluation's error.
    Fault(Fault),
    /// An exception of the caller's functions, or about the caller's arguments.
    Raised(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Eitri(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Raised(error) => error,
            Failure::Eitri(error) => Python::attach(|py| raised(exception(py, &error))),
            Failure::Fault(fault) => Python::attach(|py| raised(fault_exception(py, &fault))),
        }
    }
}

/// Returns what is raised for an exception object, or for the failure to make it.
fn raised(exception: PyResult<Bound<'_, PyAny>>) -> PyErr {
    exception.map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception for an error.
pub fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    make(py, "error", (error.to_string(), error.kind().name(), fields(error.at()).to_string()))
}

/// Returns the exception for an evaluation's error.
pub fn fault_exception<'py>(py: Python<'py>, fault: &Fault) -> PyResult<Bound<'py, PyAny>> {
    make(py, "fault", (fault.to_string(), fault_fields(fault).to_string()))
}

/// Calls a function of the file that has the exceptions.
fn make<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = py.import("eitri._errors")?.getattr(function)?.call1(arguments)?;
    if made.is_instance_of::<pyo3::exceptions::PyBaseException>() {
        return Ok(made);
    }
    Err(PyRuntimeError::new_err(format!("eitri._errors.{function} does not return an exception")))
}

/// Returns the fields of an evaluation's error.
pub fn fault_fields(fault: &Fault) -> Value {
    let inner = fault.inner.as_deref();
    json!({
        "kind": fault.class.to_string(),
        "operation": inner.map(|inner| inner.operation).or(fault.operation),
        "offset": inner.map(|inner| inner.offset).or(fault.offset),
        "entry": fault.entry,
        "register": fault.register.map(|register| register.0),
        "rule": fault.rule,
        "is_limit": fault.is_limit,
        "is_undefined": fault.is_undefined,
    })
}

/// Returns the known parts of a location, by name.
pub fn fields(at: &At) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.into(), value);
        }
    };
    let text = |text: &Option<String>| text.clone().map(Value::from);
    put("split_file", text(&at.split_file));
    put("supplementary_file", text(&at.supplementary_file));
    put("unit", text(&at.unit));
    put("function", text(&at.function));
    put("variable", text(&at.variable));
    put("procedure", text(&at.procedure));
    put("region", text(&at.region));
    put("column", text(&at.column));
    put("pcs", at.pcs.as_ref().map(range));
    put("block", at.block.as_ref().map(range));
    put("place", text(&at.place));
    put("operation", at.operation.map(Value::from));
    put("section", text(&at.section));
    put("offset", at.offset.map(Value::from));
    put("word", at.word.map(Value::from));
    put("instruction", text(&at.instruction));
    put("operand", text(&at.operand));
    put("vector", text(&at.vector));
    if let Some(json) = &at.json {
        put("json_path", Some(json.path.clone().into()));
        // A text that the package wrote has no lines.
        put("json_line", Some(json.line).filter(|&line| line > 0).map(Value::from));
        put("json_column", Some(json.column).filter(|&column| column > 0).map(Value::from));
    }
    fields.into()
}

/// Returns the start and the end of a range.
pub fn range(range: &Range<u64>) -> Value {
    json!([range.start, range.end])
}
