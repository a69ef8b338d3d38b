//! The importer's state: imported entities, work in progress, and lookups for the entities that an operand references.

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::flags::{self, Flags};
use super::omissions::{Made, Omissions, refused};
use super::references::References;
use super::set_facts::SetFacts;
use super::units::Units;
use crate::build::Builder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{FileId, FunctionId, ScopeId, SourceLine, TypeId, UnitId, VariableId};
use crate::omission::Unimported;
use crate::spirv::binding::Binding;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::{InstructionName, Set};
use crate::spirv::words::Id;
use crate::target::Target;

/// Average number of copies of each instruction, for further units or calls, that an import may create. Without this
/// limit, a small file could take unlimited memory.
const MOST_COPIES: usize = 64;

/// A source in the module.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub path: String,
    /// The text, if it is known.
    pub text: Option<String>,
    pub md5: Option<[u8; 16]>,
}

/// Imported entities, by the ids of their instructions.
#[derive(Default)]
pub(super) struct Entities {
    pub files: HashMap<(Id, UnitId), FileId>,
    pub types: HashMap<(Id, UnitId), TypeId>,
    /// Composite types with members that could not be imported.
    pub partial: HashSet<TypeId>,
    pub scopes: HashMap<Id, ScopeId>,
    pub functions: IndexMap<Id, FunctionId>,
    pub variables: HashMap<Id, VariableId>,
    /// Functions by the `OpFunction` with their code.
    pub code: IndexMap<Id, FunctionId>,
    /// Inlined scopes, by the function's scope and `DebugInlinedAt`.
    pub instances: HashMap<(ScopeId, Id), Option<ScopeId>>,
    /// Inlined variables, by variable and `DebugInlinedAt`.
    pub inlined_variables: HashMap<(Id, Id), VariableId>,
}

/// An entity to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A type, for a unit.
    Type(Id, UnitId),
    /// A function or its declaration, a block, a namespace.
    Scope(Id),
    /// A variable, or a static member.
    Variable(Id),
    /// A function's parameter, by index from 0.
    Parameter(Id, u32),
}

/// The import's progress: nodes that were visited, and work that has to wait for other entities.
#[derive(Default)]
pub(super) struct Pending {
    /// Nodes that are imported, refused or in progress.
    pub seen: HashSet<Node>,
    /// Composite types whose members are not described yet.
    pub composites: Vec<(Id, UnitId, TypeId)>,
    /// Computed bit offsets for members that have no offset in the module.
    pub offsets: HashMap<(Id, UnitId), u64>,
    /// Types that are declared in a scope other than a unit.
    pub within: Vec<(Id, TypeId)>,
}

/// Imports the instructions from one set.
pub(super) struct Importer<'f, 'a> {
    pub facts: SetFacts<'f, 'a>,
    pub references: References,
    pub m: Builder,
    pub binding: Binding,
    pub units: Units,
    /// The sources, with their texts.
    pub sources: IndexMap<Id, Source>,
    pub entities: Entities,
    pub pending: Pending,
    pub omissions: Omissions,
    /// Number of entities that may still be added.
    pub room: usize,
}

impl<'f, 'a> Importer<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>, target: &Target, set: Set) -> Self {
        Self {
            facts: SetFacts { all: facts, set },
            references: References::default(),
            m: Builder::new(target.clone()),
            binding: Binding::new(),
            units: Units::default(),
            sources: IndexMap::new(),
            entities: Entities::default(),
            pending: Pending::default(),
            omissions: Omissions::default(),
            room: facts.iter().count().saturating_mul(MOST_COPIES),
        }
    }

    /// The unit in which an entity is declared.
    pub(super) fn unit_of(&mut self, id: Id) -> Option<UnitId> {
        self.units.unit_of(self.facts, &self.references, id)
    }

    /// The unit in which an entity is declared, or the first unit if that is unknown.
    pub(super) fn own_unit(&mut self, id: Id) -> UnitId {
        self.unit_of(id).unwrap_or_else(|| self.units.first())
    }

    /// Counts another entity against the limit that the number of words sets.
    pub(super) fn take_room(&mut self) -> Result<()> {
        self.room = self.room.checked_sub(1).ok_or_else(|| {
            let what = format!(
                "too many copies of entities, one for each unit or inlined call: more than {MOST_COPIES} for each instruction"
            );
            Error::new(ErrorKind::TooLarge(what))
        })?;
        Ok(())
    }

    /// The scope that contains an entity.
    pub(super) fn parent(&self, fact: &Fact<'_>) -> Made<ScopeId> {
        let id = fact.id(Field::Scope).ok_or(Unimported::Missing(Field::Scope))?;
        let scope = self.entities.scopes.get(&self.facts.not_template(id)).copied();
        scope.ok_or(Unimported::NotImported(Field::Scope, id.0))
    }

    /// The scope that an instruction references.
    pub(super) fn scope_of(&self, fact: &Fact<'_>) -> Option<ScopeId> {
        let id = fact.id(Field::Scope)?;
        self.entities.scopes.get(&self.facts.not_template(id)).copied()
    }

    /// The type that an operand references; an unspecified type instead of a `DebugInfoNone`.
    pub(super) fn ty(&mut self, fact: &Fact<'_>, field: Field, unit: UnitId) -> Made<TypeId> {
        let id = fact.id(field).ok_or(Unimported::Missing(field))?;
        match self.entities.types.get(&(self.facts.not_template(id), unit)).copied() {
            Some(ty) => Ok(ty),
            None if self.is_none(fact, field) => self.m.unspecified_type(unit, "").map_err(refused),
            None => Err(Unimported::NotImported(field, id.0)),
        }
    }

    /// The type that an operand references; `None` for `void`.
    pub(super) fn pointee(&mut self, fact: &Fact<'_>, field: Field, unit: UnitId) -> Made<Option<TypeId>> {
        match fact.id(field) {
            Some(id) if self.facts.is_nothing(id) => Ok(None),
            _ => self.ty(fact, field, unit).map(Some),
        }
    }

    /// Whether an operand is a `DebugInfoNone` instead of a type; if so, lists that.
    pub(super) fn is_none(&mut self, fact: &Fact<'_>, field: Field) -> bool {
        let is_none = self.facts.named(fact, field, InstructionName::InfoNone).is_some();
        if is_none {
            self.omissions.omit(fact, Unimported::Untyped(field));
        }
        is_none
    }

    /// A source's file in a unit.
    pub(super) fn file(&mut self, source: Id, unit: UnitId) -> Option<FileId> {
        if let Some(&file) = self.entities.files.get(&(source, unit)) {
            return Some(file);
        }
        // Files are created on first use, because a unit lists only files that it refers to.
        let Source { path, text, .. } = self.sources.get(&source)?.clone();
        let file = self.m.file(unit, &path, None).ok()?;
        self.entities.files.insert((source, unit), file);
        if let Some(text) = text {
            let had = self.m.described().file(file).source;
            // Two sources can have the same path; the first text is kept.
            match had.map(|had| self.m.described().string(had).to_owned()) {
                Some(had) if had != text => {
                    if let Some(fact) = self.facts.get(source) {
                        self.omissions.omit(&fact, Unimported::OtherText);
                    }
                }
                _ => drop(self.m.file_source(file, &text)),
            }
        }
        Some(file)
    }

    /// An instruction's source line, in one of the unit's files. Line 0 is not a line.
    pub(super) fn line(&mut self, fact: &Fact<'_>, unit: UnitId) -> Option<SourceLine> {
        let line = self.facts.word(fact, Field::Line);
        let column = self.facts.word(fact, Field::Column);
        // Line 0 means no line; a column alone cannot be kept.
        if line == 0 {
            if column != 0 {
                self.omissions.omit(fact, Unimported::ColumnWithoutLine(column));
            }
            return None;
        }
        let file = fact.id(Field::Source).and_then(|source| self.file(source, unit));
        if file.is_none() {
            self.omissions.omit(fact, Unimported::LineWithoutSource(line));
        }
        Some(SourceLine::new(file?, line).column(column))
    }

    /// The bytes of a constant with the given type, in the target's byte order.
    pub(super) fn constant(&self, id: Id, ty: TypeId) -> Made<Vec<u8>> {
        // Limit the size, because a type can claim any.
        let bits = self.m.described().ty(ty).bits();
        let Some(bytes) = bits.and_then(|bits| usize::try_from(bits.div_ceil(8)).ok()).filter(|&it| it <= 64)
        else {
            return Err(Unimported::UnsizedConstant(id.0));
        };
        let layout = self.facts.layout();
        let constant = layout.definition(id).filter(|_| layout.constant(id).is_some());
        let mut value: Vec<u8> = match constant.map(|it| (it.opcode(), it.operands())) {
            Some((op::CONSTANT, words)) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Some((op::CONSTANT_TRUE, _)) => vec![1],
            Some((op::CONSTANT_FALSE | op::CONSTANT_NULL, _)) => Vec::new(),
            _ => return Err(Unimported::UnknownConstant(id.0)),
        };
        let is_negative = layout.constant(id).and_then(|it| it.value).is_some_and(|it| it >> 63 != 0);
        // The type can be wider than the constant, so that the value is extended by its sign.
        value.resize(bytes, if is_negative { 0xff } else { 0 });
        if self.m.target().is_big_endian() {
            value.reverse();
        }
        Ok(value)
    }

    /// Marks an optimized function's unit as optimized.
    pub(super) fn mark_optimized(&mut self, flags: &mut Flags, unit: UnitId) {
        if flags.take(flags::OPTIMIZED)
            && let Ok(mut unit) = self.m.describe_unit(unit)
        {
            unit.optimized();
        }
    }

    /// Lists flags that were not imported, if there are any.
    pub(super) fn omit_flags(&mut self, fact: &Fact<'_>, flags: Flags) {
        if let Some(what) = flags.left() {
            self.omissions.omit(fact, what);
        }
    }
}
