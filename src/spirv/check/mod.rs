//! Compares a description with a module's debug instructions: the words are read back, and both are compared record by
//! record.
//!
//! ```text
//!  Module, Binding ──► records without the omissions ──┐
//!                                                      ├──► differences
//!  words ──► import ──► records ───────────────────────┘
//! ```
//!
//! A *record* is an entity with its properties, as interned text and numbers (`shapes`). Its key identifies the entity by
//! meaning, such as scope and name, not by id, because two modules can number equal entities differently. Records with
//! equal keys must have equal properties.
//!
//! The check shares only [`Mode`] and the tables with the writing half, because a mistake that both halves share would
//! cancel out.

mod body;
mod compare;
mod composites;
mod described;
mod entities;
mod lines;
mod locations;
mod omissions;
mod omitted_types;
mod records;
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
use super::table::InstructionName;
use super::validate::{ValidationFinding, ValidationReport, ValidationRule, validate};
use crate::error::{Count, Result};
use crate::model::{Module, with_whole_instances};
use crate::omission::Omission;
pub use compare::Difference;

use body::{Bodies, body, own_files};
use compare::Compare;
use described::Projection;
use omissions::Omissions;
use shapes::Shapes;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The words' validation against the specification.
    pub valid: ValidationReport,
    /// Differences between the words and the description that are not [omissions](Attached::omissions).
    pub differences: Vec<Difference>,
    /// Number of compared records, instructions and values.
    pub compared: usize,
}

impl Checked {
    /// Whether the words are valid and no difference was found.
    pub fn is_clean(&self) -> bool {
        self.valid.is_clean() && self.differences.is_empty()
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

/// Reads words from any producer back, and compares them with the description under a mode.
///
/// The binding's positions count in a module without debug instructions, `OpLine` and `OpNoLine`. For a module that
/// already had some, use [`Attached::check`]. Differences listed in `omissions` are not reported.
///
/// # Errors
/// The errors that [`read`] and [`import`](super::import()) return, if the words are not a module, or cannot be
/// imported; [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId) where the binding has an id that the module lacks.
///
/// # Example
///
/// ```
/// # use eitri::build::Builder;
/// # use eitri::model::BaseEncoding;
/// # use eitri::spirv::{self, Binding, Id, Mode, Position, Provider, Set};
/// # use eitri::target::Target;
/// # let words = spirv::from_bytes(include_bytes!("../../../examples/data/saxpy.spv"))?;
/// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
/// # let unit = m.unit("k01_saxpy.cl");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// # let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x88).kernel().id();
/// # let n = m.parameter(saxpy, "n", int)?.id();
/// # let module = m.finish()?;
/// # let mut binding = Binding::new();
/// # binding.function(saxpy, Id(11));
/// # binding.value(Position::start(Id(11), Id(16)), n, &[Provider::value(Id(15))]);
/// # let mode = Mode::exact(Set::OpenCl);
/// # let attached = spirv::attach(&words, &module, &binding, &mode)?;
/// let checked = spirv::check(&module, &binding, &mode, &attached.omissions, &attached.words)?;
/// assert!(checked.is_clean());
/// // The module says that `n` is %15. A description that says %14 differs.
/// let mut other = Binding::new();
/// other.function(saxpy, Id(11));
/// other.value(Position::start(Id(11), Id(16)), n, &[Provider::value(Id(14))]);
/// let checked = spirv::check(&module, &other, &mode, &attached.omissions, &attached.words)?;
/// checked.differences.iter().for_each(|difference| println!("{difference}"));
/// assert!(!checked.is_clean());
/// # Ok::<(), eitri::Error>(())
/// ```
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
    /// The errors that [`check`](check()) returns.
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
    binding.check_ids(module)?;
    let module = &*with_whole_instances(module);
    let facts = read(words)?;
    let read_module = import_set(&facts, module.target(), mode.set)?;
    let ImportedModule { module: read_back, binding: read_binding, omissions: unimported, types } =
        read_module;
    let shapes = Shapes::default();
    // The import is described in an exact mode with the same choices of form, because it has no omissions that a lesser
    // mode would need.
    let exact =
        Mode { dimensions: mode.dimensions, discriminators: mode.discriminators, ..Mode::exact(mode.set) }
            .with(Feature::InlinedVariables, mode.has(Feature::InlinedVariables));
    let by_subject = Omissions::new(omissions);
    let nothing = Omissions::default();
    let mut described = Projection::new(module, binding, mode, facts.layout(), &shapes, &by_subject);
    records::describe(&mut described);
    unencodable::unencodable(&mut described);
    let mut imported = Projection::new(&read_back, &read_binding, &exact, facts.layout(), &shapes, &nothing);
    records::describe(&mut imported);
    let modules = [module, &read_back];
    let mut compare = Compare { shapes: &shapes, modules, found: Vec::new(), compared: 0 };
    let bodies = [Bodies::new(&described), Bodies::new(&imported)];
    for function in facts.layout().functions() {
        own_files(&mut described, function, added);
        let ours = body(&mut described, &bodies[0], function, added);
        let theirs = body(&mut imported, &bodies[1], function, &[]);
        if let Some((ours, theirs)) = ours.zip(theirs) {
            compare.body(&ours, &theirs);
        }
    }
    drop(bodies);
    // Messages list entities before code.
    let of_bodies = core::mem::take(&mut compare.found);
    compare.records(&described.described, &imported.described);
    compare.found.extend(of_bodies);
    let expected = described.described.unimported;
    compare.found.extend(unimported::unimported(&mut imported, &facts, &types, &unimported, expected));
    let Compare { found, compared, .. } = compare;
    let mut valid = validate(&facts);
    let discriminated = match mode.discriminators {
        Discriminators::AsScopes => discriminated(&facts),
        Discriminators::Beside => HashSet::new(),
    };
    let is_meant = |finding: &ValidationFinding| match finding.rule {
        // Instructions from another set do not belong to the description.
        ValidationRule::UnknownSet => true,
        ValidationRule::OperandKind if finding.operand == Some(Field::Scope) => {
            finding.at.word.is_some_and(|word| discriminated.contains(&word))
        }
        _ => false,
    };
    let (meant, mut findings): (Vec<_>, Vec<_>) =
        core::mem::take(&mut valid.findings).into_iter().partition(is_meant);
    // Other producers' habits that this crate does not have: here they are faults.
    let is_fault = |note: &ValidationFinding| {
        // Modes with `DebugInfoNone` use it instead of types.
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
            ValidationRule::AfterBlock | ValidationRule::DeclaredParameter => true,
            ValidationRule::Removed => !note.operand.is_some_and(is_type),
            _ => false,
        }
    };
    let (faults, notes): (Vec<_>, Vec<_>) = core::mem::take(&mut valid.notes).into_iter().partition(is_fault);
    findings.extend(faults);
    (valid.findings, valid.notes) = (findings, notes);
    valid.notes.extend(meant);
    Ok(Checked { valid, differences: found, compared })
}

/// Word offsets for instructions whose scope is a discriminator, which the specification does not allow as a scope.
fn discriminated(facts: &Facts<'_>) -> HashSet<usize> {
    let is_discriminator = |fact: &Fact<'_>| {
        let scope = facts.named(fact, Field::Scope).and_then(|scope| scope.name());
        scope == Some(InstructionName::LexicalBlockDiscriminator)
    };
    facts.iter().filter(is_discriminator).map(|fact| fact.at).collect()
}
