//! A vector file.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::layers::{Layer, Layers};
use super::machine::{MachineText, VectorMachine};
use super::report::ConformReport;
use super::target::{TargetText, TargetsText, VectorTarget};
use super::values::{Given, Step, Wrong, choice, objects};
use super::vector::{Vector, VectorText};
use crate::error::{At, Error, Result};
use crate::eval::Evaluator;
use crate::json::position;
use crate::json::schema::{HasSchema, Schemas};

/// A vector file.
#[derive(Debug, Clone)]
pub struct VectorFile {
    text: FileText,
    /// Targets defined in the file.
    targets: BTreeMap<String, VectorTarget>,
}

objects! {
    "file"
    struct FileText {
        _format as "format": Format,
        #[serde(default)]
        targets: Given<TargetsText>,
        #[serde(default)]
        target: Given<TargetText>,
        #[serde(default)]
        machine: Given<MachineText>,
        vectors: Vec<VectorText>,
        #[serde(default)]
        _schema as "$schema": IgnoredAny,
    }
}

choice! {
    /// Format version.
    enum Format { One "eitri-vectors-1" }
}

/// Returns a file's schema.
pub(crate) fn vectors_schema(to: &mut Schemas) -> Value {
    FileText::schema(to)
}

impl VectorFile {
    /// Reads a vector file.
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) and [`Truncated`](crate::error::ErrorKind::Truncated), with
    /// the [position](crate::error::At::json) in the text and the [vector](crate::error::At::vector), if the text
    /// violates the format, or refers to a name that the target does not have.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        parse(text.as_ref(), "the file of vectors", |file: FileText| {
            let file = Self { targets: VectorTarget::definitions(&file.targets)?, text: file };
            let mut names = BTreeSet::new();
            for (index, vector) in file.text.vectors.iter().enumerate() {
                if !names.insert(&vector.name) {
                    return Err(in_vector(
                        index,
                        Wrong::new("name is already the name of another vector").under("name"),
                    ));
                }
                file.resolve(index)?;
            }
            Ok(file)
        })
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.text.vectors.len()
    }

    /// Whether the file contains no vectors.
    pub fn is_empty(&self) -> bool {
        self.text.vectors.is_empty()
    }

    /// The vectors in order. Each is resolved on demand, with everything that it depends on.
    ///
    /// # Panics
    /// Never: reading the file has resolved each vector once.
    pub fn vectors(&self) -> impl Iterator<Item = Vector> {
        (0..self.len()).map(|index| self.resolve(index).expect("reading the file resolved the vector"))
    }

    /// Runs the vectors whose name contains `only` with the built-in evaluator, and adds the outcomes to a report,
    /// under the file name `name`.
    pub fn run(&self, only: &str, name: Option<&str>, report: &mut ConformReport) {
        let mut evaluator = Evaluator::new();
        let vectors = self.vectors().filter(|vector| vector.name.contains(only));
        let outcomes = vectors.map(|vector| (name.map(str::to_owned), vector.run_with(&mut evaluator)));
        report.outcomes.extend(outcomes);
    }

    /// Resolves the vector with this index.
    fn resolve(&self, index: usize) -> Result<Vector, Wrong> {
        let vector = &self.text.vectors[index];
        let targets = layers("target", index, &self.text.target, &vector.target, TargetText::has_name);
        let machines = layers("machine", index, &self.text.machine, &vector.machine, |_| false);
        if targets.0.is_empty() {
            return Err(in_vector(index, Wrong::new("missing field `target`")));
        }
        let target = VectorTarget::of(&targets, &self.targets)?;
        let machine = VectorMachine::of(&machines, &target)?;
        vector.resolve(target, machine).map_err(|wrong| in_vector(index, wrong))
    }
}

fn in_vector(index: usize, wrong: Wrong) -> Wrong {
    wrong.at(index).under("vectors")
}

/// Returns the file's object and the vector's. A vector's object that `replaces` the file's stands alone; a vector's
/// `null` removes the file's.
fn layers<'a, L>(
    key: &str,
    index: usize,
    file: &'a Given<L>,
    own: &'a Given<L>,
    replaces: impl Fn(&L) -> bool,
) -> Layers<'a, L> {
    let mut layers = Vec::new();
    let key = Step::Key(key.to_owned());
    if let Given::Is(object) = file {
        layers.push(Layer { object, path: vec![key.clone()] });
    }
    match own {
        Given::Absent => {}
        Given::Taken => layers.clear(),
        Given::Is(object) => {
            if replaces(object) {
                layers.clear();
            }
            layers.push(Layer { object, path: vec![Step::Key("vectors".into()), Step::Index(index), key] });
        }
    }
    Layers(layers)
}

/// Reads `what` from a text and passes it to a function. Adds the position in the text to errors.
pub(super) fn parse<T: DeserializeOwned, R>(
    text: &[u8],
    what: &str,
    then: impl FnOnce(T) -> Result<R, Wrong>,
) -> Result<R> {
    let text = position::utf8(what, text)?;
    let (error, vector) = match serde_json::from_str(text) {
        Ok(object) => match then(object) {
            Ok(made) => return Ok(made),
            Err(Wrong { path, what }) => {
                let vector = match &path[..] {
                    [Step::Key(key), Step::Index(index), ..] if key == VECTORS => Some(*index),
                    _ => None,
                };
                (position::with_position(Error::malformed(what), position::path(text, &path)), vector)
            }
        },
        Err(error) => {
            let vector = position::failed_element(text, &error, VECTORS);
            (position::syntax_error(what, text, 0, text, &error), vector)
        }
    };
    let vector = vector.and_then(|index| vector_name(text, index));
    Err(error.or_at(At::new(|context| context.vector = vector)))
}

/// Key for a file's vectors.
const VECTORS: &str = "vectors";

/// Returns a vector's name.
fn vector_name(text: &str, index: usize) -> Option<String> {
    let steps = [Step::Key(VECTORS.into()), Step::Index(index), Step::Key("name".into())];
    // The name is read from the text, because a vector with an error was never built.
    let rest = &text[position::offset(text, &steps)?..];
    serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()
}
