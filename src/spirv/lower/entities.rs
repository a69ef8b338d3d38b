//! The state while entities outside functions are written, and what entities of all kinds have in common.

use crate::error::At;
use crate::model::{ScopeKind, SecondaryMap};
use crate::spirv::layout::ModuleLayout;
use crate::spirv::opcodes as op;
use crate::spirv::words::HEADER;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::inverse::Inverse;
use super::replacements::Replacements;
use super::slots::{Item, Pending, Slot, Slots, State, for_all};
use super::writer::{Word, Writer};
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, ScopeId, SourceLine, StringId, TypeId, UnitId, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::binding::Binding;
use crate::spirv::lines::Texts;
use crate::spirv::operand::Field;
use crate::spirv::words::Id;

/// Ids that instructions inside functions refer to.
#[derive(Debug, Default)]
pub(super) struct Entities {
    /// The `DebugFunction`; `None` for a declaration.
    functions: SecondaryMap<FunctionId, Slot>,
    /// Scopes: functions, blocks and inlined calls.
    pub scopes: SecondaryMap<ScopeId, Option<Scoped>>,
    variables: SecondaryMap<VariableId, Slot>,
    /// Each variable's scope and type: a compact copy, because the pass over functions would otherwise read the large
    /// variables again.
    of_variables: SecondaryMap<VariableId, Option<(ScopeId, TypeId)>>,
    /// Each file's `DebugSource`.
    pub sources: SecondaryMap<FileId, Option<Id>>,
    /// The `OpString` with each file's path, for `OpLine`.
    pub paths: SecondaryMap<FileId, Option<Id>>,
}

impl Entities {
    /// The `DebugFunction`; `None` for a declaration.
    pub fn function(&self, id: FunctionId) -> Option<Id> {
        self.functions[id].id
    }

    /// The variable whose instruction describes this one: an inlined instance's origin.
    pub fn instance_of(&self, module: &Module, id: VariableId) -> VariableId {
        if self.variables[id].state == State::Done { id } else { origin(module, id) }
    }

    /// The variable's `DebugLocalVariable`, unless it is an instance; its `DebugGlobalVariable` if it is outside
    /// functions; its `DebugTypeMember` if it is a static member.
    pub fn variable(&self, id: VariableId) -> Option<Id> {
        let slot = &self.variables[id];
        slot.id.filter(|_| slot.state == State::Done)
    }

    /// A variable's scope and type.
    #[inline]
    pub fn of_variable(&self, module: &Module, id: VariableId) -> (ScopeId, TypeId) {
        self.of_variables[id].unwrap_or_else(|| {
            let variable = module.variable(id);
            (variable.scope, variable.ty)
        })
    }
}

/// An inlined instance's abstract origin, or the variable itself.
pub(super) fn origin(module: &Module, mut id: VariableId) -> VariableId {
    while let Some(origin) = module.variables[id].origin {
        id = origin;
    }
    id
}

/// A `DebugScope`'s operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scoped {
    /// The function or block, or its discriminator, in a [mode](super::super::Mode) that encodes discriminators as
    /// scopes.
    pub scope: Id,
    /// The `DebugInlinedAt`.
    pub inlined: Option<Id>,
}

/// Operands, in table order.
pub(super) type Operands = SmallVec<[(Field, Word); 16]>;

/// The writer's input, with its indexes.
#[derive(Debug)]
pub(super) struct Described<'g> {
    pub binding: &'g Binding,
    pub texts: &'g Texts,
    pub relations: Inverse,
    pub replacements: Replacements,
    /// Functions that are entry points, and their declarations.
    pub entry_points: HashSet<FunctionId>,
}

/// Ids of compilation units and files.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub units: SecondaryMap<UnitId, Option<Id>>,
    /// Each file's `DebugSource`.
    pub sources: SecondaryMap<FileId, Option<Id>>,
    /// The `OpString` with each file's path, for `OpLine`.
    pub paths: SecondaryMap<FileId, Option<Id>>,
}

impl Files {
    pub fn source(&self, file: FileId) -> (Field, Word) {
        // Every file in the module has a source.
        (Field::Source, self.sources[file].unwrap_or(Id(0)).into())
    }
}

/// Instructions that are written once and then shared.
#[derive(Debug, Default)]
pub(super) struct Reused {
    /// Types, by their operands.
    pub types: HashMap<Operands, Id>,
    /// The model's strings.
    names: SecondaryMap<StringId, Option<Id>>,
    /// The last scope and its operand, because consecutive entities often share a scope.
    pub scope: Option<(ScopeId, Word)>,
}

/// What the pass over the variables collects.
#[derive(Debug)]
pub(super) struct Locals {
    /// Each variable's scope and type.
    pub places: SecondaryMap<VariableId, Option<(ScopeId, TypeId)>>,
    /// Variables that may need more than one instruction.
    pub multiple: Vec<VariableId>,
    /// The last local variable's scope in a function that is not inlined.
    pub scope: Option<ScopeId>,
}

/// The state while a model is written.
#[derive(Debug)]
pub(super) struct Globals<'g, 'w, 'm> {
    pub writer: &'g mut Writer<'w>,
    pub module: &'m Module,
    pub described: Described<'g>,
    pub slots: Slots,
    pub files: Files,
    pub pending: Pending,
    pub reused: Reused,
    pub locals: Locals,
}

impl<'g, 'w, 'm> Globals<'g, 'w, 'm> {
    pub fn new(
        writer: &'g mut Writer<'w>,
        module: &'m Module,
        binding: &'g Binding,
        texts: &'g Texts,
    ) -> Self {
        let described = Described {
            binding,
            texts,
            relations: Inverse::new(writer, module),
            replacements: Replacements::new(writer, module),
            entry_points: entered(writer.layout, module, binding),
        };
        Self {
            writer,
            module,
            described,
            slots: Slots::new(module),
            files: Files::default(),
            pending: Pending::default(),
            reused: Reused::default(),
            locals: Locals { places: for_all(&module.variables), multiple: Vec::new(), scope: None },
        }
    }

    pub fn finish(mut self, scopes: SecondaryMap<ScopeId, Option<Scoped>>) -> Entities {
        // A declaration's id must not be used as a scope.
        for (function, slot) in self.slots.functions.iter_mut() {
            slot.id = slot.id.filter(|_| self.described.relations.has_body(function));
        }
        let (Slots { functions, variables, .. }, Files { sources, paths, .. }) = (self.slots, self.files);
        Entities { functions, scopes, variables, of_variables: self.locals.places, sources, paths }
    }

    /// A name's `OpString`; an empty string if there is no name.
    pub fn name(&mut self, name: Option<StringId>) -> Result<Word> {
        let Some(name) = name else { return self.text("") };
        // A model interns its strings, so that most names need no hash.
        if let Some(id) = self.reused.names[name] {
            return Ok(id.into());
        }
        let id = self.writer.string(self.module.string(name))?;
        self.reused.names[name] = Some(id);
        Ok(id.into())
    }

    pub fn text(&mut self, text: &str) -> Result<Word> {
        self.writer.string(text).map(Word::Id)
    }

    pub fn none(&mut self) -> Result<Word> {
        self.writer.none().map(Word::Id)
    }

    /// Lists an omission.
    pub fn omit(&mut self, subject: Subject, property: Property, reason: Reason) {
        self.writer.omit(self.module, subject, property, reason);
    }

    /// Lists the omissions whose condition is true.
    pub fn omit_all(&mut self, subject: Subject, all: &[(bool, Property, &Reason)]) {
        for &(is_omitted, property, reason) in all {
            if is_omitted {
                self.omit(subject, property, reason.clone());
            }
        }
    }

    /// Source, line and column; without a line, the unit's primary file, and 0. A line or column outside the file's
    /// text is omitted.
    #[inline]
    pub fn place(
        &mut self,
        line: Option<SourceLine>,
        unit: UnitId,
        subject: Subject,
        property: Property,
    ) -> [(Field, Word); 3] {
        let module = self.module;
        let (file, mut number, mut column) = match line {
            Some(SourceLine { file, line, column }) => (file, line, column),
            None => (module.units[unit].file, 0, 0),
        };
        // Only emitted texts restrict lines; without a text, any line is possible.
        if self.described.texts.has(file) {
            let (line, fault) = self.described.texts.fit(SourceLine::new(file, number).column(column));
            (number, column) = (line.line, line.column);
            if let Some(fault) = fault {
                self.omit(subject, property, fault);
            }
        }
        [self.files.source(file), (Field::Line, number.into()), (Field::Column, column.into())]
    }

    /// A number as a constant id. In a module without 64-bit integers, larger numbers become 2³² - 1, which is listed
    /// as an omission.
    pub fn number(&mut self, number: u64, subject: Subject, property: Property) -> Result<Word> {
        let encoded = if self.writer.has_room(number) { number } else { u32::MAX.into() };
        if encoded != number {
            self.omit(subject, property, Reason::NoInt64(number, encoded));
        }
        self.writer.constant(encoded).map(Word::Id)
    }

    /// The list's elements that fit an instruction with `words` other words, `each` words per element.
    pub fn room<'t, T>(
        &mut self,
        all: &'t [T],
        words: usize,
        each: usize,
        subject: Subject,
        property: Property,
    ) -> &'t [T] {
        // The limit comes from the instruction's length, which has 16 bits.
        let most = (super::writer::MOST_WORDS - words) / each;
        if all.len() <= most {
            return all;
        }
        self.omit(subject, property, Reason::NoRoom(most, all.len()));
        &all[..most]
    }

    /// An item's location, for an error.
    pub fn at_item(&self, item: Item) -> At {
        match item {
            Item::Type(id) => self.module.at_type(id),
            Item::FunctionType(id) | Item::Function(id) => {
                self.module.at_scope(self.module.functions[id].scope)
            }
            Item::Scope(id) => self.module.at_scope(id),
            Item::Variable(id) => self.module.at_variable(id, None),
        }
    }

    /// An item's id, allocated if necessary.
    pub fn id(&mut self, item: Item) -> Result<Id> {
        if let Some(id) = self.slots.slot(item).id {
            return Ok(id);
        }
        let id = self.writer.fresh()?;
        self.slots.slot(item).id = Some(id);
        Ok(id)
    }

    /// An inlined instance's abstract origin, or the variable itself.
    pub fn origin(&self, id: VariableId) -> VariableId {
        origin(self.module, id)
    }

    pub fn is_static_member(&self, id: VariableId) -> bool {
        self.module.is_static_member(id)
    }

    /// Whether an instruction describes the variable. Exceptions: inlined instances (their origin is described),
    /// declarations' parameters, static members in types without members, and static members that do not fit their
    /// type's instruction.
    pub fn is_encoded(&self, id: VariableId) -> bool {
        let variable = &self.module.variables[id];
        if variable.origin.is_some() {
            return false;
        }
        match self.module.scopes[variable.scope].kind {
            ScopeKind::Type(_) => !self.described.relations.is_unlisted(id),
            ScopeKind::Function(function) => self.described.relations.has_body(function),
            _ => true,
        }
    }

    /// Whether a `DebugGlobalVariable` describes the variable: it is outside functions, or one of the module's
    /// `OpVariable`s.
    pub fn is_global(&self, id: VariableId) -> bool {
        let scope = self.module.variables[id].scope;
        self.described.relations.function_of(scope).is_none()
            || self.described.binding.global_id(id).is_some()
    }
}

/// Functions whose code is an entry point, and their declarations.
fn entered(layout: &ModuleLayout<'_>, module: &Module, binding: &Binding) -> HashSet<FunctionId> {
    let points = layout.words().between(HEADER..layout.globals_end());
    let points = points.filter(|it| it.opcode() == op::ENTRY_POINT);
    let points: HashSet<u32> = points.filter_map(|it| it.operands().get(1).copied()).collect();
    let is_entered = |id: &FunctionId| binding.function_id(*id).is_some_and(|code| points.contains(&code.0));
    let entered = module.functions.keys().filter(is_entered);
    entered.flat_map(|id| [Some(id), module.functions[id].specification]).flatten().collect()
}
