//! Imports debug instructions from any set and producer: from words to a model and a binding.
//!
//! The import shares only the table with the writing half: each instruction's meaning is taken from the specification.
//! Otherwise, comparing an import with the written description would prove nothing.
//!
//! ```text
//!  Facts ──► order (what an instruction needs comes before it) ──► Builder ──► Module
//!    └─────► body (scope, line, declares and values of each instruction) ────► Binding
//! ```
//!
//! Instructions and operands that the model cannot represent are listed as omissions. Missing facts are not guessed.

mod body;
mod flags;
mod functions;
mod importer;
mod inlined;
mod macros;
mod members;
mod metadata;
mod names;
mod omissions;
mod order;
mod providers;
mod references;
mod scopes;
mod set_facts;
mod signatures;
mod sources;
mod subranges;
mod templates;
mod types;
mod units;
mod variables;

use hashbrown::{HashMap, HashSet};

use super::binding::Binding;
use super::read::{Fact, Facts};
use super::table::{InstructionName, Set};
use super::words::Id;
#[cfg(doc)]
use crate::build::Builder;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{At, Result};
use crate::model::{Module, TypeId};
use crate::omission::{Omission, Property, Unimported};
use crate::target::Target;
use importer::Importer;
use importer::Node;
use omissions::omission;
use references::References;

/// A model built from debug instructions.
#[derive(Debug)]
pub struct ImportedModule {
    /// The description.
    pub module: Module,
    /// The description's ids and positions in the module. Positions count in the same module without debug
    /// instructions, `OpLine` and `OpNoLine`.
    pub binding: Binding,
    /// Instructions and operands that the model lacks, or represents differently.
    pub omissions: Vec<Omission>,
    /// Types, by instruction. A type that several units use belongs to any of them.
    pub(super) types: HashMap<Id, TypeId>,
}

/// Builds the model that debug instructions describe, for a target, which supplies the pointers' address spaces.
///
/// | instructions | model |
/// |---|---|
/// | a type used in several units | one type per unit |
/// | a basic type that is `Unspecified` or without a size | an unspecified type |
/// | a floating-point number that is neither IEEE 754's nor bfloat16, E4M3 or E5M2; a cooperative matrix with unknown numbers | an unspecified type |
/// | a dynamic array, a version 200 string | an array without a descriptor; an unspecified type |
/// | a version 200 module | a namespace |
/// | a vector whose length is an id | a vector, if the number is known |
/// | a structure with members and the size 0, as in glslang's modules | a structure with its members one after the other |
/// | an enumeration without an underlying type, whose size is not whole bytes | an enumeration with unsigned numbers in its size |
/// | a parameter in a function's type that has no variable | an unnamed parameter |
/// | a function that is not marked as a definition, with code or blocks | a defined function |
/// | several discriminators in a block | a nested block for each |
/// | a discriminator that only inlined calls belong to | the calls' discriminator |
/// | a `DebugInfoNone` instead of a type | an unspecified type; for a class, a structure without name and members |
/// | `DebugInlinedAt` | an inlined call per function with instructions or variables there |
///
/// # Errors
/// The errors of [`Builder::finish`]: [`ErrorKind::CyclicType`] if a type contains itself. [`ErrorKind::TooLarge`] if
/// copies of entities, one per unit or inlined call, would take far more room than the words.
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
/// # let attached = spirv::attach(&words, &module, &binding, &Mode::exact(Set::OpenCl))?;
/// # let words = attached.words;
/// // `words` describe one function with one parameter.
/// let imported = spirv::import(&spirv::read(&words)?, module.target())?;
/// for (id, variable) in imported.module.variables() {
///     println!("{id:?}: {:?}", variable.name.map(|name| imported.module.string(name)));
/// }
/// assert_eq!(imported.module.variables().count(), 1);
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn import(facts: &Facts<'_>, target: &Target) -> Result<ImportedModule> {
    // A module can have several sets, but nearly all modules have one.
    let set = facts.iter().next().map_or(Set::OpenCl, |fact| fact.set);
    let mut imported = import_set(facts, target, set)?;
    if let Some(other) = facts.iter().find(|fact| fact.set != set) {
        let why = Unimported::OtherSet(other.set);
        imported.omissions.push(omission(other.result, other.place(), Property::Operand, why));
    }
    for (import, name, count) in facts.layout().unknown_sets() {
        let word = facts.layout().definition(import).map(|it| it.at);
        let why = Unimported::UnknownSet(name.into(), count);
        let context = At::new(|context| context.word = word);
        imported.omissions.push(omission(Id(0), context, Property::Operand, why));
    }
    Ok(imported)
}

/// Imports the instructions from one set.
pub(super) fn import_set(facts: &Facts<'_>, target: &Target, set: Set) -> Result<ImportedModule> {
    let mut importer = Importer::new(facts, target, set);
    metadata::metadata(&mut importer);
    sources::units(&mut importer);
    if importer.units.by_id.is_empty() {
        let is_of_source = |fact: &Fact<'_>| {
            !matches!(fact.name(), Some(InstructionName::BuildIdentifier | InstructionName::StoragePath))
        };
        let first = importer.facts.iter().find(is_of_source);
        if let Some(fact) = first {
            importer.omissions.omit(&fact, Unimported::NoUnits);
        }
    } else {
        entities(&mut importer)?;
    }
    let Importer { m, mut binding, entities, omissions, .. } = importer;
    // The binding is complete; its spare capacity would only cost memory.
    binding.shrink();
    let types = entities.types.into_iter().map(|((id, _), ty)| (id, ty)).collect();
    Ok(ImportedModule { module: m.finish()?, binding, omissions: omissions.finish(), types })
}

/// Imports all entities from a module that has units.
fn entities(importer: &mut Importer<'_, '_>) -> Result<()> {
    // The order below matters: members and signatures can have any type, names refer to all entities, and bodies to all
    // scopes and variables.
    importer.references = References::new(importer.facts, &mut importer.omissions);
    for fact in importer.facts.iter() {
        let id = fact.result;
        match fact.name() {
            Some(
                InstructionName::Function
                | InstructionName::FunctionDeclaration
                | InstructionName::LexicalBlock
                | InstructionName::LexicalBlockDiscriminator
                | InstructionName::Module,
            ) => order::want(importer, Node::Scope(id))?,
            Some(InstructionName::GlobalVariable) => order::want(importer, Node::Variable(id))?,
            Some(InstructionName::LocalVariable) if !importer.references.slots.contains_key(&id) => {
                order::want(importer, Node::Variable(id))?
            }
            Some(InstructionName::TypeComposite | InstructionName::TypeEnum | InstructionName::Typedef) => {
                let unit = importer.own_unit(id);
                order::want(importer, Node::Type(id, unit))?;
            }
            Some(InstructionName::TypeMember) if importer.facts.is_static_member(&fact) => {
                order::want(importer, Node::Variable(id))?
            }
            _ => {}
        }
    }
    signatures::signatures(importer)?;
    // Signatures and members can add composite types, whose members are imported now.
    members::members(importer)?;
    unused(importer)?;
    functions::definitions(importer);
    names::names(importer)?;
    macros::macros(importer);
    // Names and macros may have added further types.
    members::members(importer)?;
    types::place_types(importer);
    sources::files(importer);
    inlined::inlined_variables(importer)?;
    body::bodies(importer)?;
    sources::checksums(importer);
    inlined::lost_calls(importer);
    Ok(())
}

/// Imports types that were not referenced so far, into the unit in which their parts are declared.
fn unused(importer: &mut Importer<'_, '_>) -> Result<()> {
    let used: HashSet<Id> = importer.entities.types.keys().map(|&(id, _)| id).collect();
    for fact in importer.facts.iter() {
        let is_type = matches!(
            fact.name(),
            Some(
                InstructionName::TypeBasic
                    | InstructionName::TypePointer
                    | InstructionName::TypeQualifier
                    | InstructionName::TypeArray
                    | InstructionName::TypeArrayDynamic
                    | InstructionName::TypeString
                    | InstructionName::TypeVector
                    | InstructionName::TypeMatrix
                    | InstructionName::TypeVectorId
                    | InstructionName::TypeCooperativeMatrix
                    | InstructionName::TypePtrToMember
            )
        );
        if !is_type || used.contains(&fact.result) {
            continue;
        }
        let unit = importer.units.of_parts(importer.facts, &importer.references, fact.result);
        let unit = unit.unwrap_or_else(|| importer.units.first());
        order::want(importer, Node::Type(fact.result, unit))?;
    }
    Ok(())
}
