//! Compares a description with the debug instructions of a module: the words are read back, and the two are compared
//! record by record.
//!
//! ```text
//!  Module, Binding ──► records without the omissions ──┐
//!                                                      ├──► differences
//!  words ──► import ──► records ───────────────────────┘
//! ```
//!
//! It stands on [`Mode`] and the specification, and shares nothing else with the writing half.

mod body;
mod composites;
mod described;
mod entities;
mod lines;
mod locations;
mod omissions;
mod omitted_types;
mod scopes;
mod shapes;
mod types;
mod unencodable;
mod unimported;

use core::fmt;
use core::ops::Range;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::Attached;
use super::binding::Binding;
use super::import::{ImportedModule, import_set};
use super::mode::{Discriminators, Feature, Mode};
use super::operand::Field;
use super::read::{Fact, Facts, read};
use super::table::Name;
use super::validate::{Finding, Report, Rule, validate};
use crate::error::{At, Count, Result};
use crate::model::Module;
use crate::omission::Omission;
use described::{Description, Projection, Properties};
use omissions::Omissions;
use shapes::{Shape, Shapes};

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The validation of the words against the specification.
    pub valid: Report,
    /// Differences between the words and the description that are not [omissions](Attached::omissions).
    pub differences: Vec<Difference>,
    /// Number of compared records, instructions and values.
    pub compared: usize,
}

/// An entity or a property that is not encoded, is encoded otherwise, or was not described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its place: unit, function, variable; in code, the id of the instruction or block.
    pub at: At,
    /// The difference as text.
    pub what: String,
}

impl Checked {
    /// Whether the words are valid and no difference was found.
    pub fn is_clean(&self) -> bool {
        self.valid.is_clean() && self.differences.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, what } = self;
        write!(f, "{at}: {what}")
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        let Self { valid, differences, compared } = self;
        let compared = Count(*compared, "thing");
        writeln!(f, "{}; {compared} compared", Count(differences.len(), "difference"))?;
        valid.fmt(f)
    }
}

/// Reads words of any producer back, and compares them with the description under a mode.
///
/// Positions of the binding count in a module without debug instructions, `OpLine` and `OpNoLine`. For a module that
/// had some of its own, use [`Attached::check`]. Differences listed in `omissions` are not reported.
///
/// # Errors
/// The errors of [`read`] and [`import`](super::import()): if the words are not a module, or cannot be imported.
pub fn check(
    module: &Module,
    binding: &Binding,
    mode: &Mode,
    omissions: &[Omission],
    words: &[u32],
) -> Result<Checked> {
    checked(module, binding, mode, omissions, words, &[])
}

impl Attached {
    /// [Checks](check()) the words against the description. The added words are known here.
    ///
    /// # Errors
    /// The errors of [`check`](check()).
    pub fn check(&self, module: &Module, binding: &Binding, mode: &Mode) -> Result<Checked> {
        checked(module, binding, mode, &self.omissions, &self.words, &self.added)
    }
}

fn checked(
    module: &Module,
    binding: &Binding,
    mode: &Mode,
    omissions: &[Omission],
    words: &[u32],
    added: &[Range<usize>],
) -> Result<Checked> {
    let facts = read(words)?;
    let imported = import_set(&facts, module.target(), mode.set)?;
    let ImportedModule { module: read_back, binding: read_binding, omissions: unimported, types } = imported;
    let mut shapes = Shapes::default();
    let exact =
        Mode { dimensions: mode.dimensions, discriminators: mode.discriminators, ..Mode::exact(mode.set) }
            .with(Feature::InlinedVariables, mode.has(Feature::InlinedVariables));
    let (by_subject, nothing) = (Omissions::new(omissions), Omissions::default());
    let described = Projection::new(module, binding, mode, facts.layout(), &mut shapes, &by_subject)
        .describe(added)
        .unencodable();
    let mut found_there =
        Projection::new(&read_back, &read_binding, &exact, facts.layout(), &mut shapes, &nothing)
            .describe(&[]);
    let found = found_there.unimported(&facts, &types, &unimported, described.unimported.clone());
    let found_there = found_there.described;
    let modules = [module, &read_back];
    let mut compare = Compare { shapes: &shapes, modules, found: Vec::new(), compared: 0 };
    compare.records(&described, &found_there);
    compare.bodies(&described, &found_there);
    compare.found.extend(found);
    let Compare { found, compared, .. } = compare;
    let mut valid = validate(&facts);
    let discriminated = match mode.discriminators {
        Discriminators::AsScopes => discriminated(&facts),
        Discriminators::Beside => HashSet::new(),
    };
    let is_meant = |finding: &Finding| match finding.rule {
        // Instructions of another set do not belong to the description.
        Rule::UnknownSet => true,
        Rule::OperandKind if finding.operand == Some(Field::Scope) => {
            finding.at.word.is_some_and(|word| discriminated.contains(&word))
        }
        _ => false,
    };
    let (meant, mut findings): (Vec<_>, Vec<_>) =
        core::mem::take(&mut valid.findings).into_iter().partition(is_meant);
    // Habits of other producers that this crate does not have: here they are faults.
    let is_fault = |note: &Finding| {
        // Modes with `DebugInfoNone` have it in place of types.
        let is_type = |field| {
            matches!(
                field,
                Field::ActualType
                    | Field::BaseType
                    | Field::MemberType
                    | Field::Parent
                    | Field::ParameterType
                    | Field::ReturnType
                    | Field::Type
                    | Field::UnderlyingType
                    | Field::VectorType
            )
        };
        match note.rule {
            Rule::AfterBlock | Rule::DeclaredParameter => true,
            Rule::Removed => !note.operand.is_some_and(is_type),
            _ => false,
        }
    };
    let (faults, notes): (Vec<_>, Vec<_>) = core::mem::take(&mut valid.notes).into_iter().partition(is_fault);
    findings.extend(faults);
    (valid.findings, valid.notes) = (findings, notes);
    valid.notes.extend(meant);
    Ok(Checked { valid, differences: found, compared })
}

/// Word offsets of instructions whose scope is a discriminator, which the specification does not allow as a scope.
fn discriminated(facts: &Facts<'_>) -> HashSet<usize> {
    let is_discriminator = |fact: &Fact<'_>| {
        let scope = facts.named(fact, Field::Scope).and_then(|scope| scope.name());
        scope == Some(Name::LexicalBlockDiscriminator)
    };
    facts.iter().filter(is_discriminator).map(|fact| fact.at).collect()
}

/// A comparison: the differences so far, and the number of compared records.
struct Compare<'c> {
    shapes: &'c Shapes,
    /// The description, and the imported module.
    modules: [&'c Module; 2],
    found: Vec<Difference>,
    compared: usize,
}

impl Compare<'_> {
    fn records(&mut self, described: &Description, read_back: &Description) {
        let mut by_key: IndexMap<Shape, [Vec<usize>; 2]> = IndexMap::new();
        for (index, record) in described.records.iter().enumerate() {
            by_key.entry(record.key).or_default()[0].push(index);
        }
        for (index, record) in read_back.records.iter().enumerate() {
            by_key.entry(record.key).or_default()[1].push(index);
        }
        for (key, [mut ours, mut theirs]) in by_key {
            let all_theirs = theirs.clone();
            self.compared += ours.len();
            // Equal records are paired first, the others in order.
            let mut equal: HashMap<&Properties, Vec<usize>> = HashMap::new();
            for &index in &theirs {
                equal.entry(&read_back.records[index].properties).or_default().push(index);
            }
            let mut taken = HashSet::new();
            ours.retain(|&index| {
                let other = equal.get_mut(&described.records[index].properties).and_then(Vec::pop);
                taken.extend(other);
                other.is_none()
            });
            theirs.retain(|index| !taken.contains(index));
            let text = |key| self.shapes.text(key);
            let mut new = Vec::new();
            for pair in 0..ours.len().max(theirs.len()) {
                let our = ours.get(pair);
                // Two types that differ only in omitted properties can have one instruction.
                let is_once = our.is_some_and(|&at| described.records[at].is_once);
                let their = theirs.get(pair).or_else(|| all_theirs.first().filter(|_| is_once));
                match (our.map(|&at| &described.records[at]), their.map(|&at| &read_back.records[at])) {
                    (Some(our), Some(their)) => {
                        for (name, value) in &our.properties {
                            let other = their.properties.iter().find(|(other, _)| other == name);
                            match other {
                                Some((_, other)) if other == value => {}
                                Some((_, other)) => {
                                    let (value, other) = (text(*value), text(*other));
                                    let what =
                                        format!("{}: {name}: expected {value}, found {other}", text(key));
                                    new.push((0, our, what));
                                }
                                None => {
                                    let what = format!(
                                        "{}: {name}: expected {}, found none",
                                        text(key),
                                        text(*value)
                                    );
                                    new.push((0, our, what));
                                }
                            }
                        }
                        for (name, value) in &their.properties {
                            if !our.properties.iter().any(|(other, _)| other == name) {
                                let what =
                                    format!("{}: {name}: expected none, found {}", text(key), text(*value));
                                new.push((0, our, what));
                            }
                        }
                    }
                    (Some(our), None) => {
                        new.push((0, our, format!("expected {}, found none", text(key))));
                    }
                    (None, Some(their))
                        if described.own_files.contains(&key) && their.properties.is_empty() => {}
                    (None, Some(their)) => {
                        let what = format!("expected none, found {}", text(key));
                        new.push((1, their, what));
                    }
                    (None, None) => {}
                }
            }
            for (side, record, what) in new {
                self.found.push(Difference { at: record.subject.at(self.modules[side]), what });
            }
        }
    }
}
