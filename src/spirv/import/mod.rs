//! Imports debug instructions, of either set and of any producer: from words to a model and a binding.
//!
//! The import shares the table with the writing half, and nothing else: the meaning of each instruction is taken from
//! the specification.
//!
//! ```text
//!  Facts ──► order (what an instruction needs comes before it) ──► Builder ──► Module
//!    └─────► body (scope, line, declares and values of each instruction) ────► Binding
//! ```
//!
//! Instructions and operands that the model cannot represent are listed as omissions. Missing facts are not guessed.

mod body;
mod composite;
mod flags;
mod functions;
mod inlined;
mod metadata;
mod names;
mod order;
mod providers;
mod scopes;
mod sources;
mod subranges;
mod types;
mod variables;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::binding::Binding;
use super::operand::Field;
use super::read::{Fact, Facts};
use super::table::{Name, Set};
use super::words::Id;
use crate::build::Builder;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FileId, FunctionId, Module, ScopeId, TypeId, UnitId, VariableId};
use crate::omission::{Names, Omission, Property, Reason, Subject, Unimported};
use crate::target::Target;
use order::Node;

/// A model made of debug instructions.
#[derive(Debug)]
pub struct ImportedModule {
    /// The description.
    pub module: Module,
    /// The ids and positions of the description in the module. Positions count as in the same module without debug
    /// instructions, `OpLine` and `OpNoLine`.
    pub binding: Binding,
    /// Instructions and operands that the model does not have, or has otherwise.
    pub omissions: Vec<Omission>,
    /// Types, by instruction. A type of several units is that of any unit.
    pub(super) types: HashMap<Id, TypeId>,
}

/// Makes the model that debug instructions describe, for a target, which supplies the address spaces of pointers.
///
/// | instructions | model |
/// |---|---|
/// | a type used in several units | one type per unit |
/// | a basic type that is `Unspecified` or without a size | an unspecified type |
/// | a floating-point number that is not IEEE 754's, a cooperative matrix | an unspecified type |
/// | a dynamic array, a string of version 200 | an array without a descriptor; an unspecified type |
/// | a module of version 200 | a namespace |
/// | a vector whose length is an id | a vector, if the number is known |
/// | a structure with members and the size 0, as all of glslang's | a structure with its members one after the other |
/// | an enumeration without an underlying type | an enumeration of unsigned numbers of its size |
/// | a parameter of a function's type without a variable | an unnamed parameter |
/// | a function that is not marked as a definition, with code or blocks | a defined function |
/// | several discriminators of a block | a nested block for each |
/// | a discriminator that only inlined calls are in | the discriminator of the calls |
/// | a `DebugInfoNone` in place of a type | an unspecified type; of a class, a structure without name and members |
/// | `DebugInlinedAt` | an inlined call per function with instructions or variables there |
///
/// # Errors
/// The errors of [`Builder::finish`]: [`ErrorKind::CyclicType`] if a type contains itself. [`ErrorKind::TooLarge`] if
/// the copies of entities, one per unit or inlined call, would take far more room than the words.
pub fn import(facts: &Facts<'_>, target: &Target) -> Result<ImportedModule> {
    // A module can have both sets; nearly all have one.
    let set = facts.iter().next().map_or(Set::OpenCl, |fact| fact.set);
    let mut imported = import_set(facts, target, set)?;
    if let Some(other) = facts.iter().find(|fact| fact.set != set) {
        let why = Unimported::OtherSet(other.set.name());
        imported.omissions.push(omission(other.result, other.place(), Property::Operand, why));
    }
    for (import, name, count) in facts.layout().unknown_sets() {
        let word = facts.layout().definition(import).map(|it| it.at);
        let (why, at) = (Unimported::UnknownSet(name.into(), count), At { word, ..At::default() });
        imported.omissions.push(omission(Id(0), at, Property::Operand, why));
    }
    Ok(imported)
}

/// Imports the instructions of one set.
pub(super) fn import_set(facts: &Facts<'_>, target: &Target, set: Set) -> Result<ImportedModule> {
    let mut importer = Importer::new(facts, target, set);
    importer.metadata();
    importer.units();
    if importer.units.is_empty() {
        let is_of_source =
            |fact: &Fact<'_>| !matches!(fact.name(), Some(Name::BuildIdentifier | Name::StoragePath));
        let first = importer.iter().find(is_of_source);
        if let Some(fact) = first {
            importer.omit(&fact, Unimported::NoUnits);
        }
    } else {
        importer.entities()?;
    }
    let Importer { m, mut binding, mut omissions, types, .. } = importer;
    binding.shrink();
    omissions.sort_by_key(|omission| omission.names.at.word);
    let types = types.into_iter().map(|((id, _), ty)| (id, ty)).collect();
    Ok(ImportedModule { module: m.finish()?, binding, omissions, types })
}

/// An entity, or the reason why it is not imported.
type Made<T> = core::result::Result<T, Unimported>;

/// Most copies of one instruction, on average, for further units or calls.
const MOST_COPIES: usize = 64;

/// Most parts of a type that are searched for its unit.
const MOST_PARTS: usize = 64;

struct Importer<'f, 'a> {
    facts: &'f Facts<'a>,
    set: Set,
    m: Builder,
    binding: Binding,
    omissions: Vec<Omission>,
    /// Indices of the omissions of an instruction.
    omissions_of: HashMap<Id, Vec<usize>>,
    /// Number of further entities that may be made.
    room: usize,
    units: IndexMap<Id, UnitId>,
    /// The unit of declaration, by entity.
    declared_in: HashMap<Id, Option<UnitId>>,
    /// The composite type, by member.
    owners: HashMap<Id, Id>,
    /// The sources, with their texts.
    sources: IndexMap<Id, sources::Source>,
    files: HashMap<(Id, UnitId), FileId>,
    /// Nodes that were made, could not be made, or are being made.
    seen: HashSet<Node>,
    types: HashMap<(Id, UnitId), TypeId>,
    scopes: HashMap<Id, ScopeId>,
    functions: IndexMap<Id, FunctionId>,
    variables: HashMap<Id, VariableId>,
    /// Composite types whose members are not described yet.
    composites: Vec<(Id, UnitId, TypeId)>,
    /// Computed offsets in bits, for members without an offset in the module.
    offsets: HashMap<(Id, UnitId), u64>,
    /// Composite types with members that could not be imported.
    partial: HashSet<TypeId>,
    /// Types that are declared in another scope than a unit.
    within: Vec<(Id, TypeId)>,
    /// The parameters of each function, in order.
    parameters: HashMap<Id, Vec<functions::Slot>>,
    /// The function and the index of the parameter, by variable.
    slots: HashMap<Id, (Id, u32)>,
    /// Functions by the `OpFunction` of their code.
    code: IndexMap<Id, FunctionId>,
    /// Scopes of inlined calls, by scope of the function and `DebugInlinedAt`.
    instances: HashMap<(ScopeId, Id), Option<ScopeId>>,
    inlined_variables: HashMap<(Id, Id), VariableId>,
    /// Functions that have blocks, variables or instructions.
    with_body: HashSet<Id>,
    /// The unit of the parts of a type, by type.
    by_parts: HashMap<Id, Option<UnitId>>,
    /// The template, by type or function.
    templates: HashMap<Id, Id>,
    /// The discriminators, by block.
    discriminators: HashMap<Id, Vec<Id>>,
    /// Discriminators that only inlined calls are in. They become discriminators of the calls.
    of_calls: HashSet<Id>,
    /// Discriminators that only inlined instructions are in. Where a block has several, these belong to its instances.
    of_instances: HashSet<Id>,
}

impl<'f, 'a> Importer<'f, 'a> {
    fn new(facts: &'f Facts<'a>, target: &Target, set: Set) -> Self {
        Self {
            facts,
            set,
            m: Builder::new(target.clone()),
            binding: Binding::new(),
            omissions: Vec::new(),
            omissions_of: HashMap::new(),
            room: facts.iter().count().saturating_mul(MOST_COPIES),
            units: IndexMap::new(),
            declared_in: HashMap::new(),
            owners: HashMap::new(),
            sources: IndexMap::new(),
            files: HashMap::new(),
            seen: HashSet::new(),
            types: HashMap::new(),
            scopes: HashMap::new(),
            functions: IndexMap::new(),
            variables: HashMap::new(),
            composites: Vec::new(),
            offsets: HashMap::new(),
            partial: HashSet::new(),
            within: Vec::new(),
            parameters: HashMap::new(),
            slots: HashMap::new(),
            code: IndexMap::new(),
            instances: HashMap::new(),
            inlined_variables: HashMap::new(),
            with_body: HashSet::new(),
            by_parts: HashMap::new(),
            templates: HashMap::new(),
            discriminators: HashMap::new(),
            of_calls: HashSet::new(),
            of_instances: HashSet::new(),
        }
    }

    fn entities(&mut self) -> Result<()> {
        self.index_owners();
        for fact in self.iter() {
            let id = fact.result;
            match fact.name() {
                Some(
                    Name::Function
                    | Name::FunctionDeclaration
                    | Name::LexicalBlock
                    | Name::LexicalBlockDiscriminator
                    | Name::Module,
                ) => self.want(Node::Scope(id))?,
                Some(Name::GlobalVariable) => self.want(Node::Variable(id))?,
                Some(Name::LocalVariable) if !self.slots.contains_key(&id) => {
                    self.want(Node::Variable(id))?
                }
                Some(Name::TypeComposite | Name::TypeEnum | Name::Typedef) => {
                    let unit = self.own_unit(id);
                    self.want(Node::Type(id, unit))?;
                }
                Some(Name::TypeMember) if self.is_static_member(&fact) => self.want(Node::Variable(id))?,
                _ => {}
            }
        }
        self.signatures()?;
        self.members()?;
        self.unused()?;
        self.definitions();
        self.names()?;
        self.members()?;
        self.place_types();
        self.files();
        self.inlined_variables()?;
        self.bodies()?;
        self.lost_calls();
        Ok(())
    }

    /// Imports types that were not referenced so far, into the unit in which their parts are declared.
    fn unused(&mut self) -> Result<()> {
        let used: HashSet<Id> = self.types.keys().map(|&(id, _)| id).collect();
        for fact in self.iter() {
            let is_type = matches!(
                fact.name(),
                Some(
                    Name::TypeBasic
                        | Name::TypePointer
                        | Name::TypeQualifier
                        | Name::TypeArray
                        | Name::TypeArrayDynamic
                        | Name::TypeString
                        | Name::TypeVector
                        | Name::TypeMatrix
                        | Name::TypeVectorId
                        | Name::TypeCooperativeMatrix
                        | Name::TypePtrToMember
                )
            );
            if !is_type || used.contains(&fact.result) {
                continue;
            }
            let unit = self.unit_by_parts(fact.result).unwrap_or_else(|| self.first_unit());
            self.want(Node::Type(fact.result, unit))?;
        }
        Ok(())
    }

    /// The unit in which one of the parts of a type is declared; searches at most [`MOST_PARTS`] parts.
    fn unit_by_parts(&mut self, id: Id) -> Option<UnitId> {
        const FIELDS: [Field; 9] = [
            Field::BaseType,
            Field::ComponentCount,
            Field::VectorType,
            Field::ComponentType,
            Field::Parent,
            Field::MemberType,
            Field::UnderlyingType,
            Field::ReturnType,
            Field::ParameterType,
        ];
        let mut parts = std::collections::VecDeque::from([id]);
        let mut found = None;
        for _ in 0..MOST_PARTS {
            let Some(part) = parts.pop_front() else { break };
            found = self.unit_of(part).or_else(|| self.by_parts.get(&part).copied().flatten());
            if found.is_some() {
                break;
            }
            if let (Some(fact), false) = (self.get(part), self.by_parts.contains_key(&part)) {
                parts.extend(FIELDS.iter().flat_map(|&field| fact.ids(field)).take(MOST_PARTS));
            }
        }
        self.by_parts.insert(id, found);
        found
    }

    /// The instructions of the set, in order.
    fn iter(&self) -> impl Iterator<Item = Fact<'a>> + use<'f, 'a> {
        let (facts, set) = (self.facts, self.set);
        facts.iter().filter(move |fact| fact.set == set)
    }

    /// The instruction of the set that defines the id.
    fn get(&self, id: Id) -> Option<Fact<'a>> {
        self.facts.get(id).filter(|fact| fact.set == self.set)
    }

    fn first_unit(&self) -> UnitId {
        self.units[0]
    }

    /// Counts one more entity, against the limit that the number of words sets.
    fn take_room(&mut self) -> Result<()> {
        self.room = self.room.checked_sub(1).ok_or_else(|| {
            let what = format!(
                "an import copies entities, one for each unit or inlined call, within the limit of {MOST_COPIES} for \
                 an instruction: this one exceeds it"
            );
            Error::new(ErrorKind::TooLarge(what))
        })?;
        Ok(())
    }

    /// Lists an operand that is not imported, or imported otherwise; once per instruction and reason.
    fn omit(&mut self, fact: &Fact<'_>, why: Unimported) {
        self.list(fact, Property::Operand, why);
    }

    /// Lists that an instruction is not imported.
    fn omit_whole(&mut self, fact: &Fact<'_>, why: Unimported) {
        self.list(fact, Property::Instruction, why);
    }

    fn list(&mut self, fact: &Fact<'_>, property: Property, why: Unimported) {
        let new = omission(fact.result, fact.place(), property, why);
        let of_fact = self.omissions_of.entry(fact.result).or_default();
        if !of_fact.iter().any(|&index| self.omissions[index] == new) {
            of_fact.push(self.omissions.len());
            self.omissions.push(new);
        }
    }

    /// The entity made of an instruction; if it could not be made, lists the reason.
    fn made<T>(&mut self, fact: &Fact<'_>, made: Made<T>) -> Option<T> {
        made.map_err(|why| self.omit_whole(fact, why)).ok()
    }

    fn number(&self, fact: &Fact<'_>, field: Field) -> Option<u64> {
        self.facts.number(fact, field)
    }

    /// The number in an operand; 0 if it is unknown or does not fit 32 bits.
    fn word(&self, fact: &Fact<'_>, field: Field) -> u32 {
        self.number(fact, field).and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
    }

    /// The text of an operand; empty without one.
    fn text(&self, fact: &Fact<'_>, field: Field) -> String {
        self.facts.text(fact, field).unwrap_or_default()
    }

    /// Whether the id is a `DebugInfoNone`, `OpTypeVoid`, or the basic type that stands for `void`.
    fn is_nothing(&self, id: Id) -> bool {
        let layout = self.facts.layout();
        let number = |fact: &Fact<'_>, field| self.facts.number(fact, field);
        let is_none = self.get(id).is_some_and(|fact| match fact.name() {
            Some(Name::InfoNone) => true,
            // Some producers write a basic type without a size, because validators require a type.
            Some(Name::TypeBasic) => {
                number(&fact, Field::Size) == Some(0)
                    && number(&fact, Field::Encoding) == Some(0)
                    && self.facts.text(&fact, Field::Name).as_deref() == Some("void")
            }
            _ => false,
        });
        is_none || layout.definition(id).is_some_and(|it| it.opcode() == super::opcodes::TYPE_VOID)
    }

    /// The instruction that an operand references, if it has this name.
    fn named(&self, fact: &Fact<'_>, field: Field, name: Name) -> Option<Fact<'a>> {
        self.facts.named(fact, field).filter(|named| named.name() == Some(name))
    }
}

fn omission(id: Id, at: At, property: Property, why: Unimported) -> Omission {
    let names = Names { at, ..Names::default() };
    Omission {
        subject: Subject::Instruction(id.0),
        property,
        reason: Reason::Unimported(why),
        pcs: None,
        names,
    }
}

/// The reason for an omission, from an error of the builder.
fn refused(error: Error) -> Unimported {
    Unimported::Refused(error.kind().clone())
}
