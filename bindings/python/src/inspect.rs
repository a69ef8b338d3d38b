//! Any producer's objects: findings, pages, text, and the members of containers.

use eitri::dump::{DumpOptions, print_object_to};
use eitri::json::write_finding;
use eitri::lint::{LintFinding, LintOptions, LintReport};
use eitri::op::Dialect;
use eitri::read::containers::{ContainerMember, readable_members};
use eitri::read::{Object, SplitFiles};
use eitri::report::{ReportOptions, readable_report};
use eitri::spirv;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::error::{Failure, exception};
use crate::options::{Reading, Split, target};
use crate::stack::detached;

/// Findings as a list in JSON; the errors of parts that cannot be read; the numbers of functions and location entries.
type Findings<'py> = (String, Vec<Bound<'py, PyAny>>, usize, usize);

/// Diagnoses an object or a SPIR-V module. `fold` leaves out all findings but the first about a topic.
#[pyfunction]
pub fn lint<'py>(
    py: Python<'py>,
    object: PyBackedBytes,
    name: &str,
    only: Vec<String>,
    fold: bool,
    reading: Reading,
) -> PyResult<Findings<'py>> {
    let (json, mut report) = detached(py, || -> Result<(String, LintReport), Failure> {
        let find = Split(&reading.split);
        let mut options = LintOptions::default();
        options.only = only;
        options.split = SplitFiles::new(&find);
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        options.fold = fold;
        let mut json = String::from("[");
        let mut put = |finding: &LintFinding| {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(&write_finding(finding, name));
        };
        let mut report = if spirv::is_module(&object) {
            let report = spirv::lint(&spirv::from_bytes(&object)?, &options)?;
            report.findings.iter().for_each(&mut put);
            report
        } else if fold {
            let report = eitri::lint::lint(&object, &options)?;
            report.findings.iter().for_each(&mut put);
            report
        } else {
            eitri::lint::lint_each(&object, &options, &mut |finding| put(&finding))?
        };
        json.push(']');
        // A function that the object lacks is a wrong argument.
        let unknown = report.unknown.pop();
        unknown.map_or(Ok((json, report)), |error| Err(error.into()))
    })?;
    let unreadable = report.unreadable.drain(..).map(|error| exception(py, &error));
    Ok((json, unreadable.collect::<PyResult<_>>()?, report.functions, report.entries))
}

/// Returns the page about an object, and the errors of parts that cannot be read.
#[pyfunction]
pub fn report<'py>(
    py: Python<'py>,
    object: PyBackedBytes,
    name: &str,
    disassembly: Option<&str>,
    sources: Vec<(String, String)>,
    reading: Reading,
) -> PyResult<(String, Vec<Bound<'py, PyAny>>)> {
    let (page, unreadable) = detached(py, || -> Result<_, Failure> {
        let find = Split(&reading.split);
        // A source is given by its path's end.
        let source = |path: &str| {
            let is_end =
                |end: &str| path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            sources.iter().find(|(end, _)| is_end(end)).map(|(_, text)| text.clone())
        };
        let mut options = ReportOptions::default();
        options.name = name;
        options.disassembly = disassembly;
        options.source = Some(&source);
        options.split = SplitFiles::new(&find);
        options.supplementary = reading.supplementary.as_deref();
        Ok(readable_report(&object, &options)?)
    })?;
    let unreadable = unreadable.iter().map(|error| exception(py, error));
    Ok((page, unreadable.collect::<PyResult<_>>()?))
}

/// Prints an object's debug sections, or a SPIR-V module's debug instructions.
#[pyfunction]
pub fn dump(
    py: Python<'_>,
    contents: PyBackedBytes,
    target_json: Option<PyBackedStr>,
    dialect_name: &str,
    is_verbose: bool,
    split: Option<PyBackedBytes>,
    supplementary: Option<PyBackedBytes>,
) -> PyResult<String> {
    let text = detached(py, || -> Result<String, Failure> {
        let target = target(target_json.as_ref())?;
        let dialect = Dialect::named(dialect_name)?;
        if spirv::is_module(&contents) {
            let words = spirv::from_bytes(&contents)?;
            let mut options = spirv::TextOptions::default();
            options.verbose = is_verbose;
            return Ok(spirv::print(&spirv::read(&words)?, options));
        }
        let mut options = DumpOptions::default();
        options.verbose = is_verbose;
        let object = Object::read_with(&contents, supplementary.as_deref(), target.as_ref())?;
        let mut text = Vec::new();
        print_object_to(&mut text, &object, split.as_deref(), target.as_ref(), dialect, options)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    });
    Ok(text?)
}

/// Members of a container, each with its name and, unless they are elsewhere, its contents.
type Members<'py> = Vec<(String, Option<Bound<'py, PyBytes>>)>;

/// Returns the members of an archive, an offload bundle or a host object; `None` for other contents.
#[pyfunction]
pub fn members<'py>(py: Python<'py>, contents: PyBackedBytes) -> PyResult<Option<Members<'py>>> {
    let Some((members, errors)) = detached(py, || readable_members(&contents)) else { return Ok(None) };
    if let Some(error) = errors.into_iter().next() {
        return Err(Failure::Eitri(error).into());
    }
    let member = |member: ContainerMember<'_>| {
        (member.name.clone(), member.bytes.map(|bytes| PyBytes::new(py, &bytes)))
    };
    Ok(Some(members.into_iter().map(member).collect()))
}
