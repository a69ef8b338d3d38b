//! The part of the code in which variables have a location.

use eitri::read::SplitFiles;
use eitri::stats::{
    Coverage, FunctionCoverage, Group, Statistics, StatsOptions, UnitCoverage, VariableCoverage,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde_json::{Map, Value, json};

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
        Ok((numbers(&found).to_string(), unreadable))
    })?;
    let unreadable = unreadable.iter().map(|error| exception(py, error));
    Ok((numbers, unreadable.collect::<PyResult<_>>()?))
}

fn numbers(found: &Statistics) -> Value {
    let numbers = found.numbers().into_iter().map(|(name, number)| (name, Value::from(number)));
    let group = |group: &Group| coverage(group.coverage);
    let unit = |unit: &UnitCoverage| json!({"name": unit.name, "coverage": coverage(unit.coverage)});
    let sections = found.sections.iter().map(|(name, bytes)| (name.clone(), Value::from(*bytes)));
    json!({
        "coverage": group(&found.variables),
        "parameters": group(&found.params),
        "locals": group(&found.locals),
        "functions": found.functions.iter().map(function).collect::<Vec<_>>(),
        "units": found.units.iter().map(unit).collect::<Vec<_>>(),
        "code": found.code,
        "sections": sections.collect::<Map<_, _>>(),
        "numbers": numbers.collect::<Map<_, _>>(),
    })
}

fn function(function: &FunctionCoverage) -> Value {
    let variable = |variable: &VariableCoverage| {
        json!({
            "name": variable.name,
            "is_parameter": variable.is_parameter,
            "coverage": coverage(variable.coverage),
        })
    };
    json!({
        "name": function.name,
        "linkage_name": function.symbol_name(),
        "unit": function.unit,
        "coverage": coverage(function.coverage),
        "variables": function.variables.iter().map(variable).collect::<Vec<_>>(),
    })
}

fn coverage(coverage: Coverage) -> Value {
    let Coverage { scope, located, entry_values, sound, .. } = coverage;
    json!([scope, located, entry_values, sound])
}
