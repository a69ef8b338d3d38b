//! SPIR-V modules: debug instructions added, checked and removed.

use eitri::error::{ErrorKind, Present};
use eitri::omission::Omission;
use eitri::spirv::{self, Attached, Binding, Checked, DescribedModule, Mode, ModuleSource};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::options::{Described, bad_argument};
use crate::stack::detached;

/// A module with debug instructions, and what they lack.
type Written<'py> = (Bound<'py, PyBytes>, Vec<String>);

/// Adds a description's debug instructions to a module.
#[pyfunction]
pub fn spirv_attach<'py>(
    py: Python<'py>,
    module: PyBackedBytes,
    description: Described,
    reader: Option<&str>,
    partial: bool,
) -> PyResult<Written<'py>> {
    let (bytes, omissions) = detached(py, || -> Result<_, Failure> {
        let words = spirv::from_bytes(&module)?;
        let (described, binding) = description.read(|text| Binding::from_json(text, &words))?;
        let mode = Mode::chosen(reader, described.target())?;
        let attached = spirv::attach(&words, &described, &binding, &mode)?;
        if let Some(first) = attached.omissions.first().filter(|_| !partial) {
            return Err(bad_argument(format!("omitted: {first}")).into());
        }
        let checked = attached.check(&described, &binding, &mode)?;
        finish(attached, &checked, Vec::new())
    })?;
    Ok((PyBytes::new(py, &bytes), omissions))
}

/// Adds debug instructions that follow from a module's own names, types, lines and control flow.
#[pyfunction]
pub fn spirv_generate<'py>(
    py: Python<'py>,
    module: PyBackedBytes,
    reader: Option<&str>,
    source: (Option<String>, Option<String>, Option<u32>),
    replace: bool,
) -> PyResult<Written<'py>> {
    let (bytes, omissions) = detached(py, || -> Result<_, Failure> {
        let words = spirv::from_bytes(&module)?;
        if let Some(name) = spirv::read(&words)?.set_name().filter(|_| !replace) {
            return Err(
                eitri::Error::new(ErrorKind::AlreadyPresent(Present::Instructions(name.into()))).into()
            );
        }
        let mut from = ModuleSource::default();
        (from.path, from.text, from.language) = source;
        let DescribedModule { words, module, binding, omissions, .. } = spirv::describe(&words, &from)?;
        let mode = Mode::chosen(reader, module.target())?;
        let attached = spirv::attach(&words, &module, &binding, &mode)?;
        let checked = attached.check(&module, &binding, &mode)?;
        finish(attached, &checked, omissions)
    })?;
    Ok((PyBytes::new(py, &bytes), omissions))
}

/// Returns the module if it was read back as described, with all omissions as text.
fn finish(
    attached: Attached,
    checked: &Checked,
    mut omissions: Vec<Omission>,
) -> Result<(Vec<u8>, Vec<String>), Failure> {
    if !checked.is_clean() {
        let problem = format!("the module differs from its description: {checked}");
        return Err(eitri::Error::new(ErrorKind::Unsupported(problem)).into());
    }
    omissions.extend(attached.omissions);
    Ok((spirv::to_bytes(&attached.words), omissions.iter().map(ToString::to_string).collect()))
}

/// Validates a module's debug instructions. Returns the findings as JSON, and the report as text.
#[pyfunction]
pub fn spirv_check(py: Python<'_>, module: PyBackedBytes) -> PyResult<(String, String)> {
    let report = detached(py, || -> Result<_, Failure> {
        let words = spirv::from_bytes(&module)?;
        let report = spirv::validate(&spirv::read(&words)?);
        let finding = |finding: &spirv::ValidationFinding| json!({"rule": finding.rule.name(), "message": finding.to_string()});
        let findings: Vec<Value> = report.findings.iter().map(finding).collect();
        Ok((Value::from(findings).to_string(), report.to_string()))
    });
    Ok(report?)
}

/// Removes debug instructions and lines from a module; with `unused`, also what nothing uses then.
#[pyfunction]
pub fn spirv_strip<'py>(
    py: Python<'py>,
    module: PyBackedBytes,
    unused: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let stripped = detached(py, || -> Result<_, Failure> {
        let words = spirv::from_bytes(&module)?;
        Ok(spirv::to_bytes(&if unused { spirv::strip_unused(&words)? } else { spirv::strip(&words)? }))
    })?;
    Ok(PyBytes::new(py, &stripped))
}
