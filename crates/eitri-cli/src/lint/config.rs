//! The configuration file `eitri.toml`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use eitri::lint::Level;
use eitri::lint::path::{is_absolute, plain};
use serde::Deserialize;
use toml::Spanned;

use super::choice::{Action, Actions, Chosen};
use super::fail::FailOn;
use crate::containers::file_name;
use crate::{Failure, input, inputs};

/// Name of a configuration file.
const NAME: &str = "eitri.toml";

/// Contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    lint: Table,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Table {
    paths: Vec<Spanned<String>>,
    baseline: Option<PathBuf>,
    fail_on: Option<Spanned<String>>,
    require: bool,
    prefix_map: BTreeMap<String, String>,
    levels: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Source of the names of the files to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    OnCommandLine,
    InConfig,
}

/// Settings from a file.
#[derive(Debug, Default)]
pub struct Config {
    /// Files that are read if the command line names none.
    pub files: Vec<PathBuf>,
    /// Baseline.
    pub baseline: Option<PathBuf>,
    /// Least level for which the exit code is 1.
    pub fail_on: Option<FailOn>,
    /// Actions by code and level.
    pub actions: Actions,
    /// Starts of paths, and what replaces them.
    pub prefix_map: Vec<(String, String)>,
}

impl Config {
    /// Reads a file, or else the file in the current folder, or in the nearest folder above. The files that its patterns
    /// match are looked for if the command line names none.
    pub fn read(file: Option<&Path>, names: Names) -> Result<Self, Failure> {
        let file = match file {
            Some(file) => Some(file.to_owned()),
            None => nearest(),
        };
        let Some(file) = file else { return Ok(Self::default()) };
        let bytes = input(&file)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::line(format_args!("{}: not UTF-8", file_name(&file))))?;
        Self::parse(&file, &text, names)
    }

    fn parse(file: &Path, text: &str, names: Names) -> Result<Self, Failure> {
        let fail = |span: Option<Range<usize>>, problem: &str| {
            let line = span.map_or_else(String::new, |span| {
                let before = text.get(..span.start).unwrap_or(text);
                format!(", line {}", before.matches('\n').count() + 1)
            });
            Failure::line(format_args!("{}{line}: {problem}", file_name(file)))
        };
        let Document { lint } = toml::from_str(text).map_err(|error| fail(error.span(), error.message()))?;
        let mut actions = Actions::default();
        for (word, action) in &lint.levels {
            let chosen =
                Chosen::parse(word.get_ref()).map_err(|problem| fail(Some(word.span()), &problem))?;
            let action =
                Action::parse(action.get_ref()).map_err(|problem| fail(Some(action.span()), &problem))?;
            if let Some(code) = actions.add(&chosen, action) {
                let problem =
                    format!("`{}` and another pattern give `{}` two levels", word.get_ref(), code.name());
                return Err(fail(Some(word.span()), &problem));
            }
        }
        if lint.require {
            actions.add(&super::REQUIRED, Action::Report(Level::Error));
        }
        let fail_on = match &lint.fail_on {
            Some(word) => {
                Some(FailOn::parse(word.get_ref()).map_err(|problem| fail(Some(word.span()), &problem))?)
            }
            None => None,
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut files = Vec::new();
        for path in &lint.paths {
            let name = path.get_ref();
            if names == Names::OnCommandLine || !name.contains(['*', '?', '[', '{']) {
                files.push(folder.join(name));
                continue;
            }
            let matching =
                inputs::matching(folder, name).map_err(|problem| fail(Some(path.span()), &problem))?;
            if matching.is_empty() {
                return Err(fail(Some(path.span()), &format!("no file matches `{name}`")));
            }
            files.extend(matching);
        }
        Ok(Self {
            files,
            baseline: lint.baseline.map(|baseline| folder.join(baseline)),
            fail_on,
            actions,
            prefix_map: lint.prefix_map.into_iter().map(|(from, to)| (from, below(folder, to))).collect(),
        })
    }
}

/// Joins a folder with a replacement of paths, unless that is absolute.
fn below(folder: &Path, to: String) -> String {
    match folder.to_str() {
        Some(folder) if !folder.is_empty() && !is_absolute(&to) => {
            plain(&format!("{folder}/{to}")).into_owned()
        }
        _ => to,
    }
}

/// Returns the file in the current folder, or in the nearest folder above. A file in the current folder has a relative
/// path, so that messages and findings have short names.
fn nearest() -> Option<PathBuf> {
    let own = PathBuf::from(NAME);
    if own.is_file() {
        return Some(own);
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().skip(1).map(|folder| folder.join(NAME)).find(|file| file.is_file())
}
