//! The part of the code in which variables have a location.

use eitri::json::write_statistics;
use eitri::read::SplitFiles;
use eitri::stats::StatsOptions;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::{Failure, exception};
use crate::options::{Reading, Split};
use crate::stack::detached;

/// Measures an object. Returns the numbers as JSON, and the errors of parts that cannot be read.
#[pyfunction]
pub fn stats<'py>(
    py: Python<'py>,
    object: PyBackedBytes,
    sound: bool,
    variables: bool,
    reading: Reading,
) -> PyResult<(String, Vec<Bound<'py, PyAny>>)> {
    let (numbers, unreadable) = detached(py, || -> Result<_, Failure> {
        let find = Split(&reading.split);
        let mut options = StatsOptions::default();
        options.sound = sound;
        options.variables = variables;
        options.split = SplitFiles::new(&find);
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        let mut found = eitri::stats::stats(&object, &options)?;
        let unreadable = std::mem::take(&mut found.unreadable);
        let mut line = Vec::new();
        write_statistics(&mut line, &found, "", false).map_err(eitri::Error::from)?;
        Ok((String::from_utf8_lossy(&line).into_owned(), unreadable))
    })?;
    let unreadable = unreadable.iter().map(|error| exception(py, error));
    Ok((numbers, unreadable.collect::<PyResult<_>>()?))
}
