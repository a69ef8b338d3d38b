//! Compares a description with the debug instructions of a module: the words are read back, and the two are compared
//! record by record.
//!
//! ```text
//!  Module, Binding ──► records without the omissions ──┐
//!                                                      ├──► differences
//!  words ──► import ──► records ───────────────────────┘
//! ```
//!
//! The check stands on [`Mode`] and the specification, and shares nothing else with the writing half.

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

use hashbrown::HashSet;

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
use crate::omission::{Omission, Property, Subject};
use body::{Bodies, body, own_files};
use described::{Description, Projection, Record};
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
    /// Place of the difference: unit, function, variable; in code, the id of the instruction or block.
    pub at: At,
    /// Entity of the description; `None` for an entity that only the words have.
    pub subject: Option<Subject>,
    /// The property; [`Property::Entity`] where the entity as a whole is not encoded or was not described.
    pub property: Property,
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
        let Self { at, what, .. } = self;
        write!(f, "{at}: {what}")
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        let Self { valid, differences, compared } = self;
        let compared = Count(*compared, "record");
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
    let shapes = Shapes::default();
    let exact =
        Mode { dimensions: mode.dimensions, discriminators: mode.discriminators, ..Mode::exact(mode.set) }
            .with(Feature::InlinedVariables, mode.has(Feature::InlinedVariables));
    let (by_subject, nothing) = (Omissions::new(omissions), Omissions::default());
    let mut described =
        Projection::new(module, binding, mode, facts.layout(), &shapes, &by_subject).describe().unencodable();
    let mut found_there =
        Projection::new(&read_back, &read_binding, &exact, facts.layout(), &shapes, &nothing).describe();
    let modules = [module, &read_back];
    let mut compare = Compare { shapes: &shapes, modules, found: Vec::new(), compared: 0 };
    let bodies = [Bodies::new(&described), Bodies::new(&found_there)];
    for function in facts.layout().functions() {
        own_files(&mut described, function, added);
        let ours = body(&mut described, &bodies[0], function, added);
        let theirs = body(&mut found_there, &bodies[1], function, &[]);
        if let Some((ours, theirs)) = ours.zip(theirs) {
            compare.body(&ours, &theirs);
        }
    }
    drop(bodies);
    let of_bodies = core::mem::take(&mut compare.found);
    compare.records(&described.described, &found_there.described);
    compare.found.extend(of_bodies);
    let expected = described.described.unimported;
    compare.found.extend(found_there.unimported(&facts, &types, &unimported, expected));
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
    /// Compares the records with equal keys.
    fn records(&mut self, described: &Description, read_back: &Description) {
        let [ours, theirs] = [described, read_back].map(|all| by_key(&all.records));
        let (mut ours, mut theirs) = (&ours[..], &theirs[..]);
        let mut different = Vec::new();
        while let Some(key) = [ours.first(), theirs.first()].into_iter().flatten().map(|it| it.0).min() {
            let [our, their] = [&mut ours, &mut theirs].map(|all| {
                let (equal, rest) = all.split_at(all.partition_point(|it| it.0 == key));
                *all = rest;
                equal
            });
            self.compared += our.len();
            if !our.iter().map(|it| it.1).eq(their.iter().map(|it| it.1)) {
                // The described records come first, in their order.
                let first = our.iter().map(|it| (0, it.2)).chain(their.iter().map(|it| (1, it.2))).min();
                different.push((first, our, their));
            }
        }
        different.sort_unstable_by_key(|&(first, ..)| first);
        for (_, our, their) in different {
            let (ours, theirs) = unequal(our, their);
            let first = their.iter().map(|it| it.2).min();
            for pair in 0..ours.len().max(theirs.len()) {
                let our = ours.get(pair).map(|&index| &described.records[index as usize]);
                // Two types that differ only in omitted properties can have one instruction.
                let is_once = our.is_some_and(|our| our.is_once);
                let their = theirs.get(pair).or(first.as_ref().filter(|_| is_once));
                match (our, their.map(|&index| &read_back.records[index as usize])) {
                    (Some(our), Some(their)) => self.properties(described, our, their),
                    (Some(our), None) => {
                        let what = format!("expected {}, found none", self.shapes.text(our.key));
                        self.different(0, described, our, Property::Entity, what);
                    }
                    (None, Some(their))
                        if described.own_files.contains(&their.key)
                            && self.shapes.properties(their.properties).is_empty() => {}
                    (None, Some(their)) => {
                        let what = format!("expected none, found {}", self.shapes.text(their.key));
                        self.different(1, read_back, their, Property::Entity, what);
                    }
                    (None, None) => {}
                }
            }
        }
    }

    /// Lists the differences of two records with one key and different properties: at least one.
    fn properties(&mut self, described: &Description, our: &Record, their: &Record) {
        let before = self.found.len();
        let [ours, theirs] = [our, their].map(|record| self.shapes.properties(record.properties));
        let value = |all: &[(Property, String, Shape)], of: &(Property, String, Shape)| {
            all.iter().find(|it| (it.0, &it.1) == (of.0, &of.1)).map(|it| it.2)
        };
        let new = theirs.iter().filter(|it| value(&ours, it).is_none());
        for one @ (property, name, _) in ours.iter().chain(new) {
            let both = [value(&ours, one), value(&theirs, one)];
            if both[0] != both[1] {
                let [ours, theirs] = both.map(|it| it.map_or("none".into(), |shape| self.shapes.text(shape)));
                let key = self.shapes.text(our.key);
                let what = format!("{key}: {name}: expected {ours}, found {theirs}");
                self.different(0, described, our, *property, what);
            }
        }
        // Properties of one name in messages.
        if self.found.len() == before {
            let [ours, theirs] = [our, their].map(|record| self.shapes.text(record.properties));
            let what = format!("{}: expected {ours}, found {theirs}", self.shapes.text(our.key));
            self.different(0, described, our, Property::Entity, what);
        }
    }

    fn different(
        &mut self,
        side: usize,
        of: &Description,
        record: &Record,
        property: Property,
        what: String,
    ) {
        let subject = of.subject(record);
        let at = subject.at(self.modules[side]);
        self.found.push(Difference { at, subject: (side == 0).then_some(subject), property, what });
    }
}

/// Key, properties and index of a record.
type Keyed = (Shape, Shape, u32);

/// The records by key and properties.
fn by_key(records: &[Record]) -> Vec<Keyed> {
    let mut all: Vec<Keyed> =
        (0..).zip(records).map(|(index, record)| (record.key, record.properties, index)).collect();
    all.sort_unstable();
    all
}

/// Indices of the records of either side without an equal one of the other, in order.
fn unequal<'k>(mut ours: &'k [Keyed], mut theirs: &'k [Keyed]) -> (Vec<u32>, Vec<u32>) {
    let (mut our, mut their) = (Vec::new(), Vec::new());
    while let Some(next) = [ours.first(), theirs.first()].into_iter().flatten().map(|it| it.1).min() {
        let [these, those] = [&mut ours, &mut theirs].map(|all| {
            let (equal, rest) = all.split_at(all.partition_point(|it| it.1 == next));
            *all = rest;
            equal
        });
        let pairs = these.len().min(those.len());
        our.extend(these[pairs..].iter().map(|it| it.2));
        their.extend(those[..those.len() - pairs].iter().map(|it| it.2));
    }
    our.sort_unstable();
    their.sort_unstable();
    (our, their)
}
