//! Arguments that several functions have.

use std::borrow::Cow;

use eitri::consumer::Additions;
use eitri::error::ErrorKind;
use eitri::lower::Consumer;
use eitri::model::Module;
use eitri::read::{FindSplit, Skeleton};
use eitri::target::Target;
use eitri::{Error, Result};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::threads::threads;

/// Consumer that reads an object: the fields of `eitri.Consumer`.
#[derive(Debug, FromPyObject)]
pub struct Reader {
    name: Option<String>,
    dwarf64: bool,
    names: bool,
    pubnames: bool,
    aranges: bool,
    type_units: bool,
    split: bool,
}

impl Reader {
    /// Returns the consumer for a target.
    pub fn consumer(&self, target: &Target) -> Result<Consumer> {
        let Self { ref name, dwarf64, names, pubnames, aranges, type_units, split } = *self;
        let additions = Additions { dwarf64, names, pubnames, aranges, type_units, split };
        Ok(Consumer::chosen(name.as_deref(), target)?.with(additions))
    }
}

/// A description's JSON text, and whether the package wrote it, so that nobody has seen its lines.
#[derive(FromPyObject)]
pub struct Described(PyBackedBytes, bool);

impl Described {
    /// Reads the text.
    pub fn read<T>(&self, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let Self(text, is_written) = self;
        read(text).map_err(|error| if *is_written { eitri::json::without_lines(error, text) } else { error })
    }

    /// Returns the module.
    pub fn module(&self) -> Result<Module> {
        self.read(|text| Module::from_json(text))
    }
}

/// Reads a target: JSON, or nothing.
pub fn target(json: Option<&PyBackedStr>) -> Result<Option<Target>> {
    json.map(|json| eitri::json::read_target(json.as_bytes())).transpose()
}

/// Options for reading an object: the files that belong to it, and the number of threads. `None` stands for as many threads as
/// the system runs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Reading {
    pub split: Vec<(String, PyBackedBytes)>,
    pub supplementary: Option<PyBackedBytes>,
    threads: Option<usize>,
}

impl Reading {
    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        threads(self.threads)
    }
}

/// Files of split units, by name.
pub struct Split<'a>(pub &'a [(String, PyBackedBytes)]);

impl FindSplit for Split<'_> {
    fn find(&self, _: &[Skeleton<'_>]) -> Result<Vec<(String, Cow<'_, [u8]>)>> {
        Ok(self.0.iter().map(|(name, bytes)| (name.clone(), Cow::Borrowed(&bytes[..]))).collect())
    }
}

/// Returns an error about an argument.
pub fn bad_argument(problem: impl Into<String>) -> Error {
    ErrorKind::BadArgument(problem.into()).into()
}
