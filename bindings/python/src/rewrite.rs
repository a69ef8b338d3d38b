//! An object's debug information, written again.

use std::ops::Range;

use eitri::lower::Consumer;
use eitri::rewrite::{FixChange, RewriteChange, RewriteOptions, Rewritten};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::describe::unimported;
use crate::error::{self, Failure};
use crate::options::{Reading, target};
use crate::stack::detached;

/// Options for rewriting an object.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rewriting {
    consumer: Option<String>,
    target: Option<PyBackedStr>,
    fix: bool,
    names: bool,
    gc: bool,
    dedupe: bool,
}

/// Rewrites an object. Returns the object, and what changed as JSON.
#[pyfunction]
pub fn rewrite<'py>(
    py: Python<'py>,
    object: PyBackedBytes,
    rewriting: Rewriting,
    reading: Reading,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let (bytes, facts) = detached(py, || -> Result<_, Failure> {
        let mut options = RewriteOptions::default();
        options.target = target(rewriting.target.as_ref())?;
        options.consumer = rewriting.consumer.as_deref().map(Consumer::named).transpose()?;
        options.fix = rewriting.fix;
        options.names = rewriting.names;
        options.gc = rewriting.gc;
        options.dedupe = rewriting.dedupe;
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        let rewritten = eitri::rewrite::rewrite(&object, &options)?;
        let facts = facts(&rewritten).to_string();
        Ok((rewritten.object, facts))
    })?;
    Ok((PyBytes::new(py, &bytes), facts))
}

fn facts(rewritten: &Rewritten) -> Value {
    let sizes = rewritten.sizes.iter();
    let sizes = sizes.map(|size| json!({"name": size.name, "before": size.before, "after": size.after}));
    let fixed = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Fixed(change) => Some(fix(change)),
        _ => None,
    });
    let removed = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Removed(fact) => Some(unimported(fact)),
        _ => None,
    });
    let is_this =
        |name: &&&str| Consumer::named(name).is_ok_and(|consumer| consumer.name == rewritten.consumer.name);
    // A fitted consumer is a preset with another version or with other tables.
    let preset = Consumer::NAMES.iter().find(is_this);
    json!({
        "consumer": preset,
        "dwarf": rewritten.consumer.version,
        "is_complete": rewritten.is_complete(),
        "sections": sizes.collect::<Vec<_>>(),
        "fixes": fixed.collect::<Vec<_>>(),
        "unfixed": rewritten.unfixed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "removed": removed.collect::<Vec<_>>(),
        "unimported": rewritten.unimported.iter().map(unimported).collect::<Vec<_>>(),
        "omissions": rewritten.omissions.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "merged_types": rewritten.merged_types,
        "different_types": rewritten.different_types.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn fix(change: &FixChange) -> Value {
    let range = |pcs: &Option<Range<u64>>| pcs.as_ref().map(error::range);
    let after = change.after.iter().map(|(pcs, location)| json!({"pcs": range(pcs), "location": location}));
    json!({
        "code": change.code.name(),
        "message": change.to_string(),
        "unit": change.unit,
        "function": change.function,
        "variable": change.variable,
        "pcs": range(&change.pcs),
        "before": change.before,
        "after": after.collect::<Vec<_>>(),
        "evidence": change.evidence,
    })
}
