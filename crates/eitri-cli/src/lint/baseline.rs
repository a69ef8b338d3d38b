//! Findings that are known: what is new, what stayed, and what is gone.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use eitri::emit::elf::write_file;
use eitri::error::Count;
use eitri::lint::LintFinding;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::color::escaped;
use crate::{Failure, in_file, input};

/// Version of findings and of baselines: [`eitri::json::write_finding`].
const VERSION: u64 = 3;
/// First version whose findings have the keys of [`Key`].
const FIRST_VERSION: u64 = 2;

/// Identity of a finding across builds: no address, offset, line, folder or register.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    code: String,
    /// File name of the unit, or of the object for a finding about no unit.
    unit: String,
    function: Option<String>,
    /// Functions inlined around the variable.
    inlined: Vec<String>,
    variable: Option<String>,
    /// Operations without operands.
    shape: Option<String>,
}

impl Key {
    fn new(object: &str, finding: &LintFinding) -> Self {
        let unit = match &finding.unit {
            Some(_) => finding.unit_file(),
            None => object.rsplit(['/', '\\']).next().unwrap_or_default(),
        };
        Self {
            code: finding.code.name().into(),
            unit: unit.into(),
            function: finding.function.as_deref().map(String::from),
            inlined: finding.inlined.names().into_iter().map(String::from).collect(),
            variable: finding.variable.clone(),
            shape: finding.shape(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}:", self.code);
        if let Some(variable) = &self.variable {
            let _ = write!(text, " `{variable}`");
        }
        if let Some(function) = &self.function {
            let _ = write!(text, " in `{function}`");
        }
        if !self.unit.is_empty() {
            let _ = write!(text, " ({})", self.unit);
        }
        if let Some(shape) = &self.shape {
            let _ = write!(text, ": {shape}");
        }
        escaped(&text).into_owned()
    }
}

/// A line in a baseline: findings with one key.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    /// Number of findings.
    count: NonZeroUsize,
    version: u64,
}

/// A baseline that is compared with findings.
#[derive(Debug)]
pub struct Baseline {
    file: PathBuf,
    /// Known findings that were not found so far.
    known: BTreeMap<Key, usize>,
    /// Findings that were found.
    now: BTreeMap<Key, usize>,
    new: usize,
    stayed: usize,
}

/// Maximum number of findings that are gone and printed as text.
const MOST: usize = 20;

impl Baseline {
    /// Reads a baseline; `is_new` allows that the file does not exist.
    pub fn read(file: &Path, is_new: bool) -> Result<Self, Failure> {
        let mut baseline =
            Self { file: file.to_owned(), known: BTreeMap::new(), now: BTreeMap::new(), new: 0, stayed: 0 };
        if file.as_os_str() != "-" && !file.exists() {
            let problem = format!("{}: the baseline does not exist", file.display());
            let missing = Failure::line(problem).and("--update-baseline writes it");
            return if is_new { Ok(baseline) } else { Err(missing) };
        }
        for (index, line) in String::from_utf8_lossy(&input(file)?).lines().enumerate() {
            let fail = |problem: &str| {
                Failure::line(format_args!("{}, line {}: {problem}", file.display(), index + 1))
            };
            let Some(Line { key, count, .. }) = read_line(line).map_err(|problem| fail(&problem))? else {
                continue;
            };
            let known = baseline.known.entry(key).or_default();
            *known = known.saturating_add(count.get());
        }
        Ok(baseline)
    }

    /// Counts a finding in an object. Returns whether it is new.
    pub fn add(&mut self, object: &str, finding: &LintFinding) -> bool {
        let key = Key::new(object, finding);
        let is_known = match self.known.get_mut(&key) {
            Some(1) => {
                self.known.remove(&key);
                true
            }
            Some(count) => {
                *count -= 1;
                true
            }
            None => false,
        };
        *self.now.entry(key).or_default() += 1;
        if is_known {
            self.stayed += 1;
        } else {
            self.new += 1;
        }
        !is_known
    }

    /// Takes no finding as gone, because not all findings were looked for: an update keeps those that were not found.
    pub fn keep_all(&mut self) {
        for (key, count) in std::mem::take(&mut self.known) {
            *self.now.entry(key).or_default() += count;
        }
    }

    /// Returns what is new, stayed, and is gone, as text.
    pub fn text(&self) -> String {
        let gone: usize = self.known.values().sum();
        let name = escaped(&self.file.display().to_string()).into_owned();
        let mut text = format!("baseline {name}: {} new, {} stayed, {gone} gone\n", self.new, self.stayed);
        for (key, count) in self.known.iter().take(MOST) {
            let count = if *count > 1 { format!(", {}", Count(*count, "finding")) } else { String::new() };
            let _ = writeln!(text, "  gone: {}{count}", key.text());
        }
        if let Some(more) = self.known.len().checked_sub(MOST).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more");
        }
        text
    }

    /// Returns the same as a JSON object on a line.
    pub fn line(&self) -> String {
        let gone: Vec<Value> = lines(&self.known).map(|line| json!(line)).collect();
        let file = self.file.display().to_string();
        let object = json!({
            "version": VERSION, "baseline": file, "new": self.new, "stayed": self.stayed, "gone": gone,
        });
        format!("{object}\n")
    }

    /// Replaces the file by the findings that were found, sorted, one line for each key.
    pub fn update(&self) -> Result<(), Failure> {
        let text: String = lines(&self.now)
            .map(|line| serde_json::to_string(&line).expect("the keys are text") + "\n")
            .collect();
        // The file is replaced as a whole.
        write_file(&self.file, text.as_bytes()).map_err(in_file(&self.file))
    }
}

/// Returns the lines of a baseline with these counts.
fn lines(counts: &BTreeMap<Key, usize>) -> impl Iterator<Item = Line> {
    counts.iter().filter_map(|(key, count)| {
        Some(Line { key: key.clone(), count: NonZeroUsize::new(*count)?, version: VERSION })
    })
}

/// Reads a line of a baseline, or of `--format json`. `None` for a line about a baseline, and for an empty line.
fn read_line(line: &str) -> Result<Option<Line>, String> {
    // Windows' editors put a byte order mark before the text.
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() {
        return Ok(None);
    }
    let wrong = || "not a finding from `--update-baseline` or `--format json`".to_owned();
    let mut value: Value = serde_json::from_str(line).map_err(|_| wrong())?;
    let version = value.get("version").and_then(Value::as_u64).ok_or_else(wrong)?;
    if !(FIRST_VERSION..=VERSION).contains(&version) {
        let expected = format!("expected {FIRST_VERSION} or {VERSION}");
        return Err(format!("a finding from another version ({version}; {expected})"));
    }
    if value.get("gone").is_some() {
        return Ok(None);
    }
    let object = value.as_object_mut().ok_or_else(wrong)?;
    if !object.contains_key("count") {
        if !object.contains_key("fingerprint") {
            return Err(wrong());
        }
        object.insert("count".into(), 1.into());
        let unit = object.get("unit").and_then(Value::as_str).unwrap_or_default();
        let name = unit.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        object.insert("unit".into(), name.into());
    }
    serde_json::from_value(value).map(Some).map_err(|_| wrong())
}
