//! Descriptions: written, compared with objects, derived from code, and imported.

use eitri::check::{CheckFinding, CheckReport, FindingKind, Unproven};
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{Compression, Existing, ObjectCode};
use eitri::import::ImportOptions;
use eitri::json::{locate as locate_code, write_unimported};
use eitri::model::{Module, Warning};
use eitri::output::{
    Comparison, Output, OutputOptions, attached_output, compare, described_warnings, new_output,
};
use eitri::read::SplitFiles;
use eitri::track::{CodeEffects, Keep};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::error::{Failure, fields};
use crate::options::{Described, Reader, Reading, Split, target};
use crate::stack::detached;

/// An output with its lists, each as JSON; the files of its split units; and its module, whose warnings are found on demand.
type Written<'py> = (Bound<'py, PyBytes>, String, Vec<(String, Bound<'py, PyBytes>)>, WrittenModule);

/// Functions of a new object: symbol, and offset and size in bytes.
type Functions = Vec<(String, u64, u64)>;

/// Options for writing a description.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Writing {
    /// The output's file name, after which files of split units are named.
    name: String,
    /// Whether what the consumer's format cannot express is omitted.
    partial: bool,
    /// Whether the object's debug sections are removed first.
    replace: bool,
    /// Method by which debug sections are compressed.
    compress: Option<String>,
}

/// Options for comparing a description.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Comparing {
    split: Vec<(String, PyBackedBytes)>,
    /// Whether parts that the consumer cannot express may be missing.
    partial: bool,
    /// Whether the statements about code are compared too.
    code: bool,
    /// Whether the object may have more than the description.
    allow_extra: bool,
}

/// A module that was written for a consumer.
#[derive(Debug)]
#[pyclass(frozen)]
pub struct WrittenModule {
    module: Module,
    consumer: Consumer,
}

#[pymethods]
impl WrittenModule {
    /// Returns the module's warnings as JSON.
    fn warnings(&self, py: Python<'_>) -> PyResult<String> {
        let found =
            detached(py, || -> Result<_, Failure> { Ok(described_warnings(&self.module, &self.consumer)) });
        Ok(as_json(&found?).to_string())
    }
}

/// Returns warnings as JSON.
fn as_json(warnings: &[Warning]) -> Value {
    let warning = |warning: &Warning| json!({"kind": warning.kind().name(), "message": warning.to_string()});
    warnings.iter().map(warning).collect()
}

impl Writing {
    /// Returns how a module is written.
    fn options(&self) -> eitri::Result<OutputOptions<'_>> {
        let mut options = OutputOptions::default();
        options.policy = Policy::partial(self.partial);
        options.existing = if self.replace { Existing::Replace } else { Existing::Refuse };
        options.compression = self.compress.as_deref().map_or(Ok(Compression::None), Compression::named)?;
        options.name = &self.name;
        options.has_warnings = false;
        Ok(options)
    }
}

/// Returns an output for Python.
fn into_python(py: Python<'_>, (output, module): (Output, WrittenModule)) -> Written<'_> {
    let omissions = output.omissions.iter().map(ToString::to_string);
    let facts = json!({"warnings": as_json(&output.warnings), "omissions": omissions.collect::<Vec<_>>()});
    let split = output.split.into_iter().map(|(name, bytes)| (name, PyBytes::new(py, &bytes)));
    (PyBytes::new(py, &output.bytes), facts.to_string(), split.collect(), module)
}

/// Writes a description's debug sections in a new object, with code, or with undefined symbols.
#[pyfunction]
pub fn emit<'py>(
    py: Python<'py>,
    description: Described,
    reader: Reader,
    code: Option<(PyBackedBytes, Functions)>,
    writing: Writing,
) -> PyResult<Written<'py>> {
    let emitted = detached(py, || -> Result<_, Failure> {
        let module = description.module()?;
        let consumer = reader.consumer(module.target())?;
        let code = code.map(|(bytes, functions)| {
            let text = ObjectCode::text(bytes.to_vec());
            functions
                .iter()
                .fold(text, |text, (symbol, offset, size)| text.with_function(symbol, *offset, *size))
        });
        let output = new_output(&module, &consumer, code.as_ref(), &writing.options()?)?;
        Ok((output, WrittenModule { module, consumer }))
    });
    Ok(into_python(py, emitted?))
}

/// Adds a description's debug sections to an object, or its debug information to PTX.
#[pyfunction]
pub fn attach<'py>(
    py: Python<'py>,
    description: Described,
    object: PyBackedBytes,
    reader: Reader,
    writing: Writing,
) -> PyResult<Written<'py>> {
    let attached = detached(py, || -> Result<_, Failure> {
        let module = description.module()?;
        let consumer = reader.consumer(module.target())?;
        let output = attached_output(&module, &consumer, &object, &writing.options()?)?;
        Ok((output, WrittenModule { module, consumer }))
    });
    Ok(into_python(py, attached?))
}

/// Compares an object with a description. Returns the report as JSON, and as text.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    description: Described,
    object: PyBackedBytes,
    reader: Reader,
    comparing: Comparing,
) -> PyResult<(String, String)> {
    let compared = detached(py, || -> Result<_, Failure> {
        let (module, effects) = if comparing.code {
            description.read(|text| CodeEffects::from_json(text))?
        } else {
            (description.module()?, Vec::new())
        };
        let consumer = reader.consumer(module.target())?;
        let files: Vec<&[u8]> = comparing.split.iter().map(|(_, bytes)| &bytes[..]).collect();
        let policy = Policy::partial(comparing.partial);
        let mut report = match compare(&module, &consumer, policy, &object, &files)? {
            Comparison::Coverage(coverage) => {
                let mut report = CheckReport::default();
                report.findings.clone_from(&coverage.findings);
                report.locations = coverage.totals().1;
                return Ok((facts(&report).to_string(), coverage.to_string()));
            }
            Comparison::Report(report) => report,
        };
        if comparing.allow_extra {
            report = report.without(FindingKind::Extra);
        }
        for effects in &effects {
            let tracked = effects.track()?.check(&module);
            report.findings.extend(tracked.stale.iter().map(CheckFinding::from));
            report.findings.extend(tracked.regions.iter().map(CheckFinding::from));
        }
        Ok((facts(&report).to_string(), report.to_string()))
    });
    Ok(compared?)
}

fn facts(report: &CheckReport) -> Value {
    let finding = |finding: &CheckFinding| {
        json!({
            "kind": finding.kind.name(),
            "message": finding.to_string(),
            "expected": finding.expected,
            "found": finding.found,
            "lane": finding.lane,
            "trace": finding.trace,
            "at": fields(&finding.at),
        })
    };
    let unproven = |location: &Unproven| json!({"what": location.what, "reason": location.why.name(), "at": fields(&location.at)});
    json!({
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "unproven": report.unproven.iter().map(unproven).collect::<Vec<_>>(),
        "is_clean": report.is_clean(),
        "omitted": report.omitted,
        "locations": report.locations,
        "entries": report.entries,
        "rows": report.rows,
        "names": report.names,
        "macros": report.macros,
    })
}

/// Derives locations from a description's statements about code. Returns the description, and the values that are
/// assigned without a definition, as text.
#[pyfunction]
pub fn locate(py: Python<'_>, description: Described, is_single: bool) -> PyResult<(String, Vec<String>)> {
    let keep = if is_single { Keep::Single } else { Keep::All };
    let located = detached(py, || -> Result<_, Failure> {
        let located = description.read(|text| locate_code(text, keep))?;
        Ok((located.text, located.unproven))
    });
    Ok(located?)
}

/// Imports an object's debug information as a description. Returns it with the facts that it lacks, as JSON.
#[pyfunction]
pub fn import_(
    py: Python<'_>,
    object: PyBackedBytes,
    only: Vec<String>,
    target_json: Option<PyBackedStr>,
    reading: Reading,
) -> PyResult<(String, String)> {
    let imported = detached(py, || -> Result<_, Failure> {
        let find = Split(&reading.split);
        let mut options = ImportOptions::default();
        options.target = target(target_json.as_ref())?;
        options.only = only;
        options.split = SplitFiles::new(&find);
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        let imported = eitri::import::import(&object, &options)?;
        Ok((imported.module.to_json(), write_unimported(&imported.unimported)))
    });
    Ok(imported?)
}
