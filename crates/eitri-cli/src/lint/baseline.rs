//! Findings that are known: what is new, what stayed, and what is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use eitri::emit::elf::write_file;
use eitri::error::Count;
use eitri::lint::{LintFinding, LintReport};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::units::{Known, Unit, Units};
use crate::color::escaped;
use crate::{Failure, in_file, input};

/// Version of findings and of baselines: [`eitri::json::write_finding`].
const VERSION: u64 = 3;
/// First version whose findings have the keys of [`Key`].
const FIRST_VERSION: u64 = 2;

/// Identity of a finding across builds: no address, offset, line, register, or constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    code: String,
    /// File name of the unit, or of the object for a finding about no unit; with folders if several units have the file name.
    unit: String,
    /// Object that contains the unit, if several objects contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    function: Option<String>,
    /// Functions inlined around the variable.
    inlined: Vec<String>,
    variable: Option<String>,
    /// Operations without operands.
    shape: Option<String>,
}

impl Key {
    /// Returns the key with the path of the unit and the object's name.
    fn new(object: &str, finding: &LintFinding) -> Self {
        let unit = unit(object, finding.unit_path().as_deref());
        Self {
            code: finding.code.name().into(),
            unit: unit.path,
            object: unit.object,
            function: finding.function.as_deref().map(String::from),
            inlined: finding.inlined.names().into_iter().map(String::from).collect(),
            variable: finding.variable.clone(),
            shape: finding.shape(),
        }
    }

    /// Returns the unit of the finding.
    fn unit(&self) -> Unit {
        Unit { path: self.unit.clone(), object: self.object.clone() }
    }

    /// Returns the key with another name for the unit.
    fn with(&self, unit: Unit) -> Self {
        Self { unit: unit.path, object: unit.object, ..self.clone() }
    }

    fn text(&self) -> String {
        let mut text = format!("{}:", self.code);
        if let Some(variable) = &self.variable {
            let _ = write!(text, " `{variable}`");
        }
        if let Some(function) = &self.function {
            let _ = write!(text, " in `{function}`");
        }
        match &self.object {
            _ if self.unit.is_empty() => {}
            Some(object) => {
                let _ = write!(text, " ({} in {object})", self.unit);
            }
            None => {
                let _ = write!(text, " ({})", self.unit);
            }
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

/// A line in a baseline: a unit whose file name other units have, or that several objects contain.
#[derive(Debug, Serialize, Deserialize)]
struct UnitLine {
    unit: String,
    /// Objects that contain the unit, if they are several.
    objects: BTreeSet<String>,
    version: u64,
}

/// Contents of a line in a baseline.
enum Entry {
    /// Findings of `--update-baseline`.
    Known(Key, usize),
    /// A finding of `--format json`.
    Finding(Key),
    Unit(UnitLine),
}

/// A baseline that is compared with findings.
#[derive(Debug)]
pub struct Baseline {
    file: PathBuf,
    /// Known findings that were not found so far.
    known: BTreeMap<Key, usize>,
    known_units: Known,
    /// Findings that were found, with the paths of their units.
    now: BTreeMap<Key, usize>,
    /// Units of all objects, whether they have findings or not.
    units: Units,
    /// Units that the baseline knows, by their names in it.
    met: HashMap<Unit, Unit>,
    new: usize,
    stayed: usize,
}

/// Maximum number of findings that are gone and printed as text.
const MOST: usize = 20;

impl Baseline {
    /// Reads a baseline; `is_new` allows that the file does not exist.
    pub fn read(file: &Path, is_new: bool) -> Result<Self, Failure> {
        let mut baseline = Self {
            file: file.to_owned(),
            known: BTreeMap::new(),
            known_units: Known::default(),
            now: BTreeMap::new(),
            units: Units::default(),
            met: HashMap::new(),
            new: 0,
            stayed: 0,
        };
        if file.as_os_str() != "-" && !file.exists() {
            let problem = format!("{}: the baseline does not exist", file.display());
            let missing = Failure::line(problem).and("--update-baseline writes it");
            return if is_new { Ok(baseline) } else { Err(missing) };
        }
        let mut findings = Vec::new();
        for (index, line) in String::from_utf8_lossy(&input(file)?).lines().enumerate() {
            let fail = |problem: &str| {
                Failure::line(format_args!("{}, line {}: {problem}", file.display(), index + 1))
            };
            match read_line(line).map_err(|problem| fail(&problem))? {
                Some(Entry::Known(key, count)) => {
                    let known = baseline.known.entry(key).or_default();
                    *known = known.saturating_add(count);
                }
                Some(Entry::Finding(key)) => findings.push(key),
                Some(Entry::Unit(line)) => baseline.known_units.add(line.unit, line.objects),
                None => {}
            }
        }
        // The units in findings have paths.
        let mut units = Units::default();
        findings.iter().for_each(|key| units.add(&key.unit()));
        let names = units.names();
        for key in findings {
            *baseline.known.entry(key.with(names.name(&key.unit()))).or_default() += 1;
        }
        for (unit, objects) in names.ambiguous() {
            baseline.known_units.add(unit.into(), objects.into_iter().map(String::from).collect());
        }
        Ok(baseline)
    }

    /// Adds the units of an object.
    pub fn add_units(&mut self, object: &str, report: &LintReport) {
        for path in report.units.iter().map(Some).chain([None]) {
            self.meet(&unit(object, path.map(|path| &**path)));
        }
    }

    /// Adds a unit, and returns its name in the baseline.
    fn meet(&mut self, unit: &Unit) -> Unit {
        self.units.add(unit);
        let name = self.known_units.name(unit);
        self.met.insert(name.clone(), unit.clone());
        name
    }

    /// Counts a finding in an object. Returns whether it is new.
    pub fn add(&mut self, object: &str, finding: &LintFinding) -> bool {
        let key = Key::new(object, finding);
        let known = key.with(self.meet(&key.unit()));
        let is_known = match self.known.get_mut(&known) {
            Some(1) => {
                self.known.remove(&known);
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

    /// Takes no finding as gone, because not all findings were looked for: an update keeps those that were not found, and
    /// the units.
    pub fn keep_all(&mut self) {
        let path = |unit: Unit| self.met.get(&unit).cloned().unwrap_or(unit);
        for (key, count) in std::mem::take(&mut self.known) {
            let unit = path(key.unit());
            *self.now.entry(key.with(unit)).or_default() += count;
        }
        self.known_units.units().for_each(|unit| self.units.add(&path(unit)));
        self.now.keys().for_each(|key| self.units.add(&key.unit()));
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
        let names = self.units.names();
        let mut now: BTreeMap<Key, usize> = BTreeMap::new();
        for (key, count) in &self.now {
            *now.entry(key.with(names.name(&key.unit()))).or_default() += count;
        }
        let units = names.ambiguous().map(|(unit, objects)| {
            let objects = objects.into_iter().map(String::from).collect();
            json!(UnitLine { unit: unit.into(), objects, version: VERSION })
        });
        let lines = lines(&now).map(|line| serde_json::to_string(&line).expect("the keys are text"));
        let lines = lines.chain(units.map(|unit| unit.to_string()));
        let text: String = lines.map(|line| line + "\n").collect();
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
fn read_line(line: &str) -> Result<Option<Entry>, String> {
    // Windows' editors put a byte order mark before the text.
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() {
        return Ok(None);
    }
    let wrong = || "not a finding from `--update-baseline` or `--format json`".to_owned();
    let value: Value = serde_json::from_str(line).map_err(|_| wrong())?;
    let version = value.get("version").and_then(Value::as_u64).ok_or_else(wrong)?;
    if !(FIRST_VERSION..=VERSION).contains(&version) {
        let expected = format!("expected {FIRST_VERSION} or {VERSION}");
        return Err(format!("a finding from another version ({version}; {expected})"));
    }
    let has = |key: &str| value.get(key).is_some();
    if has("gone") {
        return Ok(None);
    }
    if has("count") {
        let line: Line = serde_json::from_value(value).map_err(|_| wrong())?;
        return Ok(Some(Entry::Known(line.key, line.count.get())));
    }
    if has("objects") && !has("code") {
        return serde_json::from_value(value).map(|line| Some(Entry::Unit(line))).map_err(|_| wrong());
    }
    if !has("fingerprint") {
        return Err(wrong());
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let unit = unit(text("file").ok_or_else(wrong)?, text("unit"));
    let mut value = value;
    if let Some(object) = value.as_object_mut() {
        object.insert("unit".into(), unit.path.into());
        object.insert("object".into(), unit.object.into());
    }
    serde_json::from_value(value).map(|key| Some(Entry::Finding(key))).map_err(|_| wrong())
}

/// Returns a unit in an object, or the object if a finding is about no unit.
fn unit(object: &str, path: Option<&str>) -> Unit {
    match path {
        Some(path) => Unit { path: path.into(), object: Some(object.into()) },
        None => Unit { path: object.into(), object: None },
    }
}
