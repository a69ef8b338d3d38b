//! Descriptions: written, compared with objects, derived from code, and imported.

use eitri::check::{
    CheckFinding, CheckReport, FindingKind, Obstacle, Unproven, check_code, check_ptx, check_split, coverage,
};
use eitri::emit::elf::{AttachOptions, Compression, Existing, ObjectCode, attach_with, new_object_with};
use eitri::emit::ptx;
use eitri::import::{ImportOptions, UnimportedFact};
use eitri::json::locate as locate_code;
use eitri::lower::{Consumer, Lowered, lower};
use eitri::model::{Module, Warning, WarningKind};
use eitri::read::{Dwarf, Object, SplitFiles};
use eitri::track::{CodeEffects, Keep};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::error::{Failure, fields};
use crate::options::{Reader, Reading, Split, bad_argument, policy, target};

/// An output with its lists, each as JSON, and the files of its split units.
type Written<'py> = (Bound<'py, PyBytes>, String, Vec<(String, Bound<'py, PyBytes>)>);

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

/// A description, written for a consumer.
struct Output {
    bytes: Vec<u8>,
    facts: Value,
    split: Vec<(String, Vec<u8>)>,
}

impl Output {
    fn new(
        module: &Module,
        consumer: &Consumer,
        lowered: &Lowered,
        bytes: Vec<u8>,
        further: Vec<Warning>,
    ) -> eitri::Result<Self> {
        // Without a section for them, frames come from somewhere else: for PTX, from ptxas.
        let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
        let warnings = module.warnings().into_iter().chain(further);
        let warnings = warnings.filter(|warning| has_frames || warning.kind() != WarningKind::NoFrame);
        let warnings: Vec<_> = warnings
            .map(|warning| json!({"kind": warning.kind().name(), "message": warning.to_string()}))
            .collect();
        let omissions: Vec<_> = lowered.omissions.iter().map(ToString::to_string).collect();
        let facts = json!({"warnings": warnings, "omissions": omissions, "consumer": consumer.name});
        let split = lowered.split_files(module.target())?;
        let split = split.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        Ok(Self { bytes, facts, split })
    }

    fn into_python(self, py: Python<'_>) -> Written<'_> {
        let split = self.split.into_iter().map(|(name, bytes)| (name, PyBytes::new(py, &bytes)));
        (PyBytes::new(py, &self.bytes), self.facts.to_string(), split.collect())
    }
}

/// Reads a description, and writes it as a consumer's DWARF. A split unit's file is named after the output.
fn lowered(
    description: &[u8],
    reader: &Reader,
    writing: &Writing,
) -> eitri::Result<(Module, Consumer, Lowered)> {
    let mut module = Module::from_json(description)?;
    let consumer = reader.consumer(module.target())?;
    if consumer.is_split {
        module.name_split_units(&writing.name)?;
    }
    let lowered = lower(&module, &consumer, policy(writing.partial))?;
    Ok((module, consumer, lowered))
}

fn compression(method: Option<&str>) -> eitri::Result<Compression> {
    Ok(match method {
        None => Compression::None,
        Some("zlib") => Compression::Zlib,
        Some("zstd") => Compression::Zstd,
        Some(method) => {
            return Err(bad_argument(format!("compression is `{method}`; expected zlib or zstd")));
        }
    })
}

/// Writes a description's debug sections in a new object, with code, or with undefined symbols.
#[pyfunction]
pub fn emit<'py>(
    py: Python<'py>,
    description: PyBackedBytes,
    reader: Reader,
    code: Option<(PyBackedBytes, Functions)>,
    writing: Writing,
) -> PyResult<Written<'py>> {
    let emitted = py.detach(|| -> Result<Output, Failure> {
        let (module, consumer, lowered) = lowered(&description, &reader, &writing)?;
        if consumer.has_line_directives {
            let problem = "the consumer reads PTX, and there is no PTX text; expected `attach` with the text";
            return Err(bad_argument(problem).into());
        }
        let code = match code {
            Some((bytes, functions)) => {
                let text = ObjectCode::text(bytes.to_vec());
                functions
                    .iter()
                    .fold(text, |text, (symbol, offset, size)| text.with_function(symbol, *offset, *size))
            }
            None => ObjectCode::elsewhere(&lowered.sections),
        };
        let bytes = new_object_with(
            module.target(),
            &code,
            &lowered.sections,
            compression(writing.compress.as_deref())?,
        )?;
        Ok(Output::new(&module, &consumer, &lowered, bytes, Vec::new())?)
    });
    Ok(emitted?.into_python(py))
}

/// Adds a description's debug sections to an object, or its debug information to PTX.
#[pyfunction]
pub fn attach<'py>(
    py: Python<'py>,
    description: PyBackedBytes,
    object: PyBackedBytes,
    reader: Reader,
    writing: Writing,
) -> PyResult<Written<'py>> {
    let attached = py.detach(|| -> Result<Output, Failure> {
        let (module, consumer, lowered) = lowered(&description, &reader, &writing)?;
        let existing = if writing.replace { Existing::Replace } else { Existing::Refuse };
        if !consumer.has_line_directives {
            check_code(&module, &object)?;
            let mut options = AttachOptions::default();
            options.existing = existing;
            options.compression = compression(writing.compress.as_deref())?;
            let bytes = attach_with(&object, module.target(), &lowered.sections, &options)?;
            return Ok(Output::new(&module, &consumer, &lowered, bytes, Vec::new())?);
        }
        let text = str::from_utf8(&object).ok().filter(|_| ptx::is_ptx(&object));
        let text = text.ok_or_else(|| bad_argument("the consumer reads PTX; expected PTX text"))?;
        let mut options = ptx::PtxAttachOptions::default();
        options.existing = existing;
        options.lines = lowered.lines.as_ref();
        let report = check_ptx(&module, text)?;
        if !report.findings.is_empty() {
            let lines: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
            return Err(bad_argument(lines.join("\n")).into());
        }
        let bytes = ptx::attach(text, module.target(), &lowered.sections, &options)?.into_bytes();
        Ok(Output::new(&module, &consumer, &lowered, bytes, report.warnings)?)
    });
    Ok(attached?.into_python(py))
}

/// Compares an object with a description. Returns the report as JSON, and as text.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    description: PyBackedBytes,
    object: PyBackedBytes,
    reader: Reader,
    comparing: Comparing,
) -> PyResult<(String, String)> {
    let compared = py.detach(|| -> Result<_, Failure> {
        let (mut module, effects) = if comparing.code {
            CodeEffects::from_json(&description)?
        } else {
            (Module::from_json(&description)?, Vec::new())
        };
        let consumer = reader.consumer(module.target())?;
        if consumer.has_line_directives && !ptx::is_ptx(&object) {
            let coverage = coverage(&module, &consumer, &object)?;
            let mut report = facts(&CheckReport::default());
            report["is_clean"] = coverage.is_clean().into();
            return Ok((report.to_string(), coverage.to_string()));
        }
        if consumer.is_split {
            module.set_split_names(split_names(&object)?)?;
        }
        // Parts that the consumer cannot express may be missing.
        let omissions = lower(&module, &consumer, policy(comparing.partial))?.omissions;
        let mut report = if consumer.is_split {
            let files: Vec<&[u8]> = comparing.split.iter().map(|(_, bytes)| &bytes[..]).collect();
            check_split(&module, &consumer, &omissions, &object, &files)?
        } else {
            eitri::check(&module, &consumer, &omissions, &object)?
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
            "kind": format!("{:?}", finding.kind),
            "message": finding.to_string(),
            "expected": finding.expected,
            "found": finding.found,
            "lane": finding.lane,
            "trace": finding.trace,
            "at": fields(&finding.at),
        })
    };
    let unproven = |location: &Unproven| {
        let reason = match location.why {
            Obstacle::Raw => "raw",
            Obstacle::OutOfBounds => "out-of-bounds",
            Obstacle::Undescribed => "undescribed",
            Obstacle::Depth => "depth",
            _ => "other",
        };
        json!({"what": location.what, "reason": reason, "at": fields(&location.at)})
    };
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

/// Returns the names of the split-unit files that an object refers to.
fn split_names(object: &[u8]) -> eitri::Result<Vec<String>> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read(&object)?;
    Ok(dwarf.units().iter().filter_map(|unit| unit.dwo_name.as_deref()).map(String::from).collect())
}

/// Derives locations from a description's statements about code. Returns the description, and the values that are
/// assigned without a definition, as text.
#[pyfunction]
pub fn locate(
    py: Python<'_>,
    description: PyBackedBytes,
    is_single: bool,
) -> PyResult<(String, Vec<String>)> {
    let keep = if is_single { Keep::Single } else { Keep::All };
    let located = py.detach(|| -> Result<_, Failure> {
        let located = locate_code(&description, keep)?;
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
    let imported = py.detach(|| -> Result<_, Failure> {
        let find = Split(&reading.split);
        let mut options = ImportOptions::default();
        options.target = target(target_json.as_ref())?;
        options.only = only;
        options.split = SplitFiles::new(&find);
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        let imported = eitri::import::import(&object, &options)?;
        let facts: Vec<_> = imported.unimported.iter().map(unimported).collect();
        Ok((imported.module.to_json(), Value::from(facts).to_string()))
    });
    Ok(imported?)
}

/// Returns a fact that a description lacks.
pub fn unimported(fact: &UnimportedFact) -> Value {
    json!({
        "section": fact.section,
        "offset": fact.offset,
        "reason": fact.reason.name(),
        "unit": fact.unit,
        "message": fact.to_string(),
    })
}
