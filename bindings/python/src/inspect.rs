//! Any producer's objects: findings, pages, text, and the members of containers.

use std::borrow::Cow;

use eitri::contents::{self, PrintOptions, lint_each, print_to};
use eitri::error::ErrorKind;
use eitri::json::write_finding;
use eitri::lint::{LintFinding, LintOptions, LintReport};
use eitri::op::Dialect;
use eitri::read::containers::{ContainerMember, readable_members};
use eitri::read::{InnerContents, InnerFile, SplitFiles, inner_files};
use eitri::report::{ReportOptions, readable_report};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::error::{Failure, exception};
use crate::options::{Reading, Split, bad_argument, target};
use crate::stack::detached;

/// Findings as a list in JSON; the errors of parts that cannot be read; the numbers of functions and location entries.
type Findings<'py> = (String, Vec<Bound<'py, PyAny>>, usize, usize);

/// Diagnoses an object or a SPIR-V module, or those in a container. `fold` leaves out all findings but the first about a
/// topic.
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
        let mut total = LintReport::default();
        let parts = inner_files(name, &object, &mut elsewhere);
        let is_alone = parts.len() == 1;
        for InnerFile { name, contents } in parts {
            let mut put = |finding: &LintFinding| {
                if json.len() > 1 {
                    json.push(',');
                }
                json.push_str(&write_finding(finding, &name));
            };
            let read = bytes_of(&name, contents).and_then(|bytes| {
                if !fold {
                    return lint_each(&bytes, &options, &mut |finding| put(&finding));
                }
                let report = contents::lint(&bytes, &options)?;
                report.findings.iter().for_each(&mut put);
                Ok(report)
            });
            match read {
                Ok(report) => {
                    total.functions += report.functions;
                    total.entries += report.entries;
                    total.unreadable.extend(report.unreadable);
                    total.unknown.extend(report.unknown);
                    total.named.extend(report.named);
                }
                Err(error) if is_alone => return Err(error.into()),
                Err(error) => total.unreadable.push(error.in_section(&name)),
            }
        }
        json.push(']');
        // A function that no object has is a wrong argument.
        let is_known = |error: &eitri::Error| match error.kind() {
            ErrorKind::UnknownName { name, .. } => total.named.contains(name),
            _ => false,
        };
        let unknown = total.unknown.iter().position(|error| !is_known(error));
        let unknown = unknown.map(|index| total.unknown.swap_remove(index));
        unknown.map_or(Ok((json, total)), |error| Err(error.into()))
    })?;
    let unreadable = report.unreadable.drain(..).map(|error| exception(py, &error));
    Ok((json, unreadable.collect::<PyResult<_>>()?, report.functions, report.entries))
}

/// A member of a thin archive is in a file that is not given.
fn elsewhere(_: &str) -> eitri::Result<Vec<u8>> {
    Err(bad_argument("the member is in another file; expected an archive with its members in it"))
}

/// Returns the bytes of a part of a file.
fn bytes_of<'d>(name: &str, contents: InnerContents<'d>) -> eitri::Result<Cow<'d, [u8]>> {
    match contents {
        InnerContents::Bytes(bytes) => Ok(bytes),
        InnerContents::Compressed => {
            Err(bad_argument(format!("{name}: the member is compressed; expected it without compression")))
        }
        InnerContents::Unreadable(_, error) => Err(error),
    }
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

/// Prints an object's debug sections, or a SPIR-V module's debug instructions, or those of each in a container.
#[pyfunction]
pub fn dump(
    py: Python<'_>,
    contents: PyBackedBytes,
    target_json: Option<PyBackedStr>,
    dialect_name: Option<PyBackedStr>,
    is_verbose: bool,
    split: Option<PyBackedBytes>,
    supplementary: Option<PyBackedBytes>,
) -> PyResult<String> {
    let text = detached(py, || -> Result<String, Failure> {
        let target = target(target_json.as_ref())?;
        let mut options = PrintOptions::default();
        options.verbose = is_verbose;
        options.dialect = dialect_name.as_deref().map(Dialect::named).transpose()?;
        options.target = target.as_ref();
        options.split = split.as_deref();
        options.supplementary = supplementary.as_deref();
        let parts = inner_files("", &contents, &mut elsewhere);
        let is_alone = parts.len() == 1;
        let mut text = Vec::new();
        for InnerFile { name, contents } in parts {
            if !is_alone {
                text.extend(format!("{name}:\n").bytes());
            }
            print_to(&mut text, &bytes_of(&name, contents)?, &options)?;
        }
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
