//! An object's debug information, written again.

use eitri::json::write_rewritten;
use eitri::lower::Consumer;
use eitri::read::Companions;
use eitri::rewrite::RewriteOptions;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::error::Failure;
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

impl Rewriting {
    /// Returns how an object is rewritten.
    fn options<'a>(&self, reading: &'a Reading) -> eitri::Result<RewriteOptions<'a>> {
        let mut options = RewriteOptions::default();
        options.target = target(self.target.as_ref())?;
        options.consumer = self.consumer.as_deref().map(Consumer::named).transpose()?;
        options.fix = self.fix;
        options.names = self.names;
        options.gc = self.gc;
        options.dedupe = self.dedupe;
        options.supplementary = reading.supplementary.as_deref();
        options.threads = reading.threads();
        Ok(options)
    }
}

/// Rewrites an object. Returns the object, and what changed as JSON.
#[pyfunction]
pub fn rewrite<'py>(
    py: Python<'py>,
    object: PyBackedBytes,
    name: &str,
    rewriting: Rewriting,
    reading: Reading,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let (bytes, facts) = detached(py, || -> Result<_, Failure> {
        let rewritten = eitri::rewrite::rewrite(&object, &rewriting.options(&reading)?)?;
        let facts = write_rewritten(&rewritten, name);
        Ok((rewritten.object, facts))
    })?;
    Ok((PyBytes::new(py, &bytes), facts))
}

/// Names of objects, each with its contents and what changed as JSON.
type Objects<'py> = Vec<(String, Bound<'py, PyBytes>, String)>;

/// Rewrites the objects in a container. Objects without debug information stay. Returns the container, and each object that
/// was rewritten.
#[pyfunction]
pub fn rewrite_members<'py>(
    py: Python<'py>,
    container: PyBackedBytes,
    name: &str,
    rewriting: Rewriting,
    reading: Reading,
) -> PyResult<(Bound<'py, PyBytes>, Objects<'py>)> {
    let (new, objects) = detached(py, || -> Result<_, Failure> {
        let options = rewriting.options(&reading)?;
        let mut objects = Vec::new();
        let new = eitri::rewrite::rewrite_members(name, &container, &mut |name, bytes| {
            // The error of an object that cannot be read is an error of the rewrite.
            let is_object = bytes.starts_with(b"\x7fELF");
            if !Companions::read(bytes).map_or(is_object, |read| read.has_debug_information) {
                return Ok(None);
            }
            let rewritten =
                eitri::rewrite::rewrite(bytes, &options).map_err(|error| error.in_section(name))?;
            let facts = write_rewritten(&rewritten, name);
            objects.push((name.to_owned(), rewritten.object.clone(), facts));
            Ok(Some(rewritten.object))
        })?;
        Ok((new.unwrap_or_else(|| container.to_vec()), objects))
    })?;
    let objects = objects.into_iter().map(|(name, bytes, facts)| (name, PyBytes::new(py, &bytes), facts));
    Ok((PyBytes::new(py, &new), objects.collect()))
}
