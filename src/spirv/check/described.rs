//! A module's records, as the mode encodes it: all entities except types. This is the check's own idea of the encoding;
//! it shares nothing with `lower`.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::omissions::Omissions;
use super::shapes::{Part, Shape, Shapes, Text, shape};
use crate::model::{
    EntitySet, FileId, FunctionId, Module, ScopeId, ScopeKind, SecondaryMap, TypeId, TypeKind, VariableId,
    VariableKind,
};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::binding::Binding;
use crate::spirv::layout::ModuleLayout;
use crate::spirv::mode::{Dimensions, Discriminators, Mode};
use crate::spirv::names::{Enumeration, flags};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::table::{InstructionName, Set};
use crate::spirv::words::{HEADER, Id};

/// An entity and its properties, as the mode encodes them.
#[derive(Debug)]
pub(super) struct Record {
    pub key: Shape,
    subject: RecordSubject,
    /// Property names and values.
    pub properties: Shape,
    /// Whether equal records are the same record.
    pub is_once: bool,
}

/// What happens to records that are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// They are one record, because entities that are encoded equally share an instruction.
    Merged,
    /// Each is a record, because each entity has an instruction.
    Kept,
}

/// A subject in few bytes, because nearly all subjects are variables.
#[derive(Debug, Clone, Copy)]
enum RecordSubject {
    Variable(VariableId),
    /// Index in [`Description::subjects`].
    Other(u32),
}

/// An entity's properties: the kind, the name in messages, the value.
pub(super) type Properties = SmallVec<[(Property, Cow<'static, str>, Shape); 6]>;

/// All of a module's records.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub records: Vec<Record>,
    /// Subjects of records other than variables.
    subjects: Vec<Subject>,
    /// Files in the module's own `OpLine`s, which no described entity needs to reference.
    pub own_files: HashSet<Shape>,
    /// Number of instructions that an import lists as changed because of an omission, by type or layout.
    pub unimported: HashMap<Shape, usize>,
}

impl Description {
    /// A record's subject.
    pub fn subject(&self, record: &Record) -> Subject {
        match record.subject {
            RecordSubject::Variable(id) => Subject::Variable(id),
            RecordSubject::Other(index) => self.subjects[index as usize],
        }
    }
}

/// A type's encoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedType {
    pub shape: Shape,
    /// Whether its size, if it has one, is encoded. Types built on an unspecified type have no encoded size.
    pub is_sized: bool,
}

/// Builds a module's records.
pub(super) struct Projection<'m> {
    pub module: &'m Module,
    pub binding: &'m Binding,
    pub mode: &'m Mode,
    pub layout: &'m ModuleLayout<'m>,
    pub shapes: &'m Shapes,
    pub omissions: &'m Omissions<'m>,
    pub types: Vec<EncodedType>,
    /// The parts that each array was built from: element type and counts.
    pub arrays: HashMap<Shape, Vec<Part<'static>>>,
    /// Whether each array dimension is a separate array type.
    pub is_nested: bool,
    pub scopes: SecondaryMap<ScopeId, Option<Shape>>,
    /// Full file paths.
    pub paths: SecondaryMap<FileId, Option<Text>>,
    /// Each function's parameters, in order.
    pub parameters: SecondaryMap<FunctionId, Vec<VariableId>>,
    /// Variables with a `DebugDeclare` or `DebugValue`.
    pub in_code: EntitySet<VariableId>,
    pub entry_points: HashSet<Id>,
    /// Function declarations that are defined elsewhere.
    pub defined: HashSet<FunctionId>,
    /// Functions that have code, blocks or inlined calls.
    pub with_body: HashSet<FunctionId>,
    pub described: Description,
    /// Keys and properties of the records that are added only once.
    once: HashSet<(Shape, Shape)>,
}

impl<'m> Projection<'m> {
    pub fn new(
        module: &'m Module,
        binding: &'m Binding,
        mode: &'m Mode,
        layout: &'m ModuleLayout<'m>,
        shapes: &'m Shapes,
        omissions: &'m Omissions<'m>,
    ) -> Self {
        let mut parameters = SecondaryMap::<FunctionId, Vec<VariableId>>::new();
        // Parameters are collected once, because records ask for them by function.
        for (id, variable) in module.variables() {
            if let ScopeKind::Function(function) = module.scope(variable.scope).kind
                && variable.kind == VariableKind::Parameter
            {
                parameters[function].push(id);
            }
        }
        let globals = layout.words().between(HEADER..layout.globals_end());
        let points = globals.filter(|it| it.opcode() == op::ENTRY_POINT);
        let entry_points = points.filter_map(|point| point.operands().get(1).map(|&id| Id(id))).collect();
        let has_code = |id: &FunctionId| binding.function_id(*id).is_some();
        // A function with such a scope inside has a body, even if no code is bound to it.
        let is_block = |kind: &ScopeKind| {
            matches!(kind, ScopeKind::Block | ScopeKind::Inlined { .. } | ScopeKind::Namespace { .. })
        };
        let blocks = module.scopes().filter(|(_, scope)| is_block(&scope.kind));
        let with_blocks = blocks.filter_map(|(_, scope)| match module.scope(scope.parent?).kind {
            ScopeKind::Function(function) => Some(function),
            _ => None,
        });
        let mut in_code = EntitySet::new();
        for variable in binding.statements().iter().filter_map(|(_, statement)| statement.variable()) {
            in_code.insert(variable);
        }
        let with_body = module.functions.keys().filter(has_code).chain(with_blocks).collect();
        Self {
            module,
            binding,
            mode,
            layout,
            shapes,
            omissions,
            types: Vec::new(),
            arrays: HashMap::new(),
            is_nested: mode.dimensions == Dimensions::Nested,
            scopes: SecondaryMap::new(),
            paths: SecondaryMap::new(),
            parameters,
            in_code,
            entry_points,
            defined: module.functions().filter_map(|(_, function)| function.specification).collect(),
            with_body,
            described: Description::default(),
            once: HashSet::new(),
        }
    }

    /// Adds a record.
    pub fn record(&mut self, key: Shape, subject: Subject, properties: &Properties, duplicates: Duplicates) {
        let is_once = duplicates == Duplicates::Merged;
        // The property's number and name are part of the shape, so that a record compares as one number.
        let pairs = properties.iter().flat_map(|(property, name, value)| {
            [Part::Number(property.number().into()), Part::Word(name), Part::Shape(*value)]
        });
        let properties = self.shapes.shape(&pairs.collect::<SmallVec<[_; 18]>>());
        if !is_once || self.once.insert((key, properties)) {
            let subject = match subject {
                Subject::Variable(id) => RecordSubject::Variable(id),
                _ => {
                    self.described.subjects.push(subject);
                    RecordSubject::Other(self.described.subjects.len() as u32 - 1)
                }
            };
            self.described.records.push(Record { key, subject, properties, is_once });
        }
    }

    /// Whether an instruction belongs to a debug instruction set.
    pub fn is_debug(&self, instruction: crate::spirv::Instruction<'_>) -> bool {
        let is_set = instruction.operands().first().is_some_and(|&set| self.layout.set(Id(set)).is_some());
        is_set && matches!(instruction.opcode(), op::EXT_INST | op::EXT_INST_FORWARD)
    }

    pub fn yes(&mut self, all: &mut Properties, is: bool, (property, name): (Property, &'static str)) {
        if is {
            all.push((property, name.into(), shape!(self.shapes; "yes")));
        }
    }

    /// Whether a flag marks bit fields, so that a bit field as large as its type differs from another member.
    pub fn has_bit_fields(&self) -> bool {
        Enumeration::Flags.has(flags::BIT_FIELD, self.mode.set)
    }

    pub fn path(&self, file: FileId) -> String {
        let file = self.module.file(file);
        let directory = self.module.unit(file.unit).directory;
        let parts = [directory, file.directory, Some(file.name)];
        let mut path = String::new();
        // A later absolute part replaces everything before it.
        for part in parts.into_iter().flatten().map(|part| self.module.string(part)) {
            if is_absolute(part) {
                path.clear();
            } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
                path.push('/');
            }
            path.push_str(part);
        }
        path
    }

    /// A scope's file: its line's file, or, for a block without a line, the enclosing scope's.
    pub fn file_of(&self, mut scope: ScopeId) -> FileId {
        loop {
            let data = self.module.scope(scope);
            let (line, next) = match data.kind {
                ScopeKind::Function(id) => {
                    let function = self.module.function(id);
                    let declared = || self.module.function(function.specification?).line;
                    (function.line.or_else(declared), None)
                }
                // An inlined call's file is the callee's, because its lines are the callee's lines.
                ScopeKind::Inlined { function, .. } => (None, Some(self.module.function(function).scope)),
                ScopeKind::Block if self.call(scope).is_some() => (None, data.origin.or(data.parent)),
                ScopeKind::Block => (data.line, data.parent),
                _ => (data.line, None),
            };
            match (line, next) {
                (Some(line), _) => return line.file,
                (None, Some(next)) => scope = next,
                (None, None) => return self.module.unit(data.unit).file,
            }
        }
    }

    /// Whether an entity's reference to a type is omitted; if so, whether it is encoded as `DebugInfoNone`.
    pub fn cut_cycle(&self, subject: Subject, of: TypeId) -> Option<bool> {
        self.omissions.cut_cycle(subject, self.stand_in(of))
    }

    /// The type that is encoded instead of a typedef or qualified type based on it.
    pub fn stand_in(&self, mut of: TypeId) -> TypeId {
        // Only these reasons replace the type as a whole.
        while self
            .omissions
            .list(Subject::Type(of))
            .any(|it| matches!(it.reason, Reason::AsUnqualified(_) | Reason::AsUnnamed(_)))
        {
            match *self.module.ty(of).kind() {
                TypeKind::Qualified { of: Some(next), .. } | TypeKind::Typedef { of: Some(next), .. } => {
                    of = next
                }
                _ => break,
            }
        }
        of
    }

    /// The innermost inlined call that contains a scope.
    pub fn call(&self, id: ScopeId) -> Option<ScopeId> {
        let mut current = Some(id);
        while let Some(scope) = current {
            let data = self.module.scope(scope);
            match data.kind {
                ScopeKind::Inlined { .. } => return Some(scope),
                ScopeKind::Block => current = data.parent,
                _ => return None,
            }
        }
        None
    }

    /// The discriminator for a block's instructions or an inlined call, in modes that encode discriminators as scopes.
    /// A call without a discriminator has the enclosing block's discriminator.
    pub fn discriminator(&self, id: ScopeId) -> Option<u64> {
        let data = self.module.scope(id);
        let number = match (&data.kind, data.parent) {
            _ if self.mode.discriminators == Discriminators::Beside => 0,
            (ScopeKind::Inlined { .. }, Some(around_id)) if data.discriminator == 0 => {
                let around = self.module.scope(around_id);
                if around.kind == ScopeKind::Block {
                    self.discriminator(around_id).unwrap_or_default()
                } else {
                    0
                }
            }
            (ScopeKind::Inlined { .. }, _) => data.discriminator.into(),
            // An instance without an origin is encoded as the enclosing scope.
            (ScopeKind::Block, _) if data.origin.is_none() && self.call(id).is_some() => 0,
            (ScopeKind::Block, _) => data.discriminator.into(),
            _ => 0,
        };
        (number != 0).then_some(number)
    }

    /// The lexical scope in which an entity is encoded. For an inlined call it is the function; for a block inside a
    /// call, the block's origin, or otherwise the enclosing scope's lexical scope.
    pub fn lexical(&self, mut scope: ScopeId) -> ScopeId {
        // Each step leaves one call, so that the loop ends.
        while let Some(call) = self.call(scope) {
            let data = self.module.scope(scope);
            scope = match (&data.kind, data.origin.or(data.parent)) {
                (ScopeKind::Block, Some(around)) => around,
                (ScopeKind::Inlined { function, .. }, _) => self.module.function(*function).scope,
                _ => call,
            };
        }
        scope
    }

    /// The innermost unit or namespace that contains a scope, or the scope itself.
    pub fn enclosing_lexical(&self, id: ScopeId) -> ScopeId {
        let mut current = id;
        loop {
            let data = self.module.scope(current);
            match (&data.kind, data.parent) {
                (ScopeKind::Unit | ScopeKind::Namespace { .. }, _) | (_, None) => return current,
                (_, Some(parent)) => current = parent,
            }
        }
    }

    /// Whether a function is read back as a declaration. A `DebugFunction` with code or blocks is read back as a
    /// definition, because not all producers mark definitions.
    pub fn is_only_declared(&self, id: FunctionId) -> bool {
        let is_function = self.is_method(id) && self.with_body.contains(&id);
        self.module.function(id).is_declaration && !is_function
    }

    /// Whether a function is a member function that is only declared. `OpenCL.DebugInfo.100` encodes it as a
    /// `DebugFunction` with parameters, because a type's members are functions there, not declarations.
    pub fn is_method(&self, id: FunctionId) -> bool {
        let parent = self.module.scope(self.module.function(id).scope).parent;
        let is_in_type = parent.is_some_and(|parent| match self.module.scope(parent).kind {
            ScopeKind::Type(ty) => !self.module.ty(ty).is_declaration(),
            _ => false,
        });
        self.mode.set == Set::OpenCl && is_in_type && !self.defined.contains(&id)
    }

    pub fn ty(&self, id: TypeId) -> Shape {
        self.types[id.as_u32() as usize].shape
    }

    /// A type's shape; `None` is `void`.
    pub fn maybe(&mut self, id: Option<TypeId>) -> Shape {
        match id {
            Some(id) => self.ty(id),
            None => shape!(self.shapes; "void"),
        }
    }

    /// Whether dimensions are encoded as subranges.
    pub fn has_subranges(&self) -> bool {
        self.mode.set.has_operand(InstructionName::TypeArray, Field::Subrange)
    }

    /// The type that typedefs and qualifiers name in the end.
    pub fn class(&self, mut id: TypeId) -> TypeId {
        // The loop ends, because a typedef or qualified type is newer than its target.
        while let TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } =
            self.module.ty(id).kind()
        {
            id = *of;
        }
        id
    }

    /// The integer in a constant's bytes, zero-extended; `None` for other types and for more than 8 bytes.
    pub fn integer(&self, ty: TypeId, bytes: &[u8]) -> Option<u64> {
        if bytes.is_empty() || bytes.len() > 8 || !self.is_integer(ty) {
            return None;
        }
        let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        Some(if self.module.target.is_big_endian() {
            bytes.iter().fold(0, fold)
        } else {
            bytes.iter().rev().fold(0, fold)
        })
    }

    fn is_integer(&self, id: TypeId) -> bool {
        match self.module.ty(self.class(id)).kind() {
            TypeKind::Base { encoding, .. } => !encoding.is_float(),
            TypeKind::Pointer { .. } => true,
            &TypeKind::Enum { of: Some(of), .. } => {
                matches!(self.module.ty(self.class(of)).kind(), TypeKind::Base { .. })
            }
            _ => false,
        }
    }

    /// Whether a variable is outside functions, or is one of the module's `OpVariable`s.
    pub fn is_global(&self, id: VariableId) -> bool {
        let scope = self.module.variable(id).scope;
        self.module.function_of(scope).is_none() || self.binding.global_id(id).is_some()
    }
}

/// Whether a path is absolute, on POSIX or Windows.
pub(super) fn is_absolute(path: &str) -> bool {
    let letter = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    let rest = path.get(1..).unwrap_or_default();
    path.starts_with(['/', '\\']) || letter && (rest.starts_with(":/") || rest.starts_with(":\\"))
}
