//! Records of a described module, as the mode encodes it: all entities but types.

use std::borrow::Cow;

use cranelift_entity::{EntitySet, SecondaryMap};
use hashbrown::{HashMap, HashSet};
use smallvec::{SmallVec, smallvec};

use super::omissions::Omissions;
use super::shapes::{Part, Quoted, Shape, Shapes, Text, shape};
use super::types::EncodedType;
use crate::model::{
    FileId, FunctionId, Imported, Macro, Module, ScopeId, ScopeKind, VariableId, VariableKind,
};
use crate::omission::{Property, Subject};
use crate::spirv::binding::Binding;
use crate::spirv::languages;
use crate::spirv::layout::Layout;
use crate::spirv::mode::{Dimensions, Mode};
use crate::spirv::opcodes as op;
use crate::spirv::words::{HEADER, Id};

/// A record: an entity and its properties, as the mode encodes them.
#[derive(Debug)]
pub(super) struct Record {
    pub key: Shape,
    subject: RecordSubject,
    /// Names and values.
    pub properties: Shape,
    /// Whether equal records are one record.
    pub is_once: bool,
}

/// A subject in a few bytes, as nearly all are variables.
#[derive(Debug, Clone, Copy)]
enum RecordSubject {
    Variable(VariableId),
    /// Index in [`Description::subjects`].
    Other(u32),
}

/// Properties of an entity: the kind, the name in messages, the value.
pub(super) type Properties = SmallVec<[(Property, Cow<'static, str>, Shape); 6]>;

/// All records of a module.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub records: Vec<Record>,
    /// Subjects of the records that are not variables.
    subjects: Vec<Subject>,
    /// Files of the module's own `OpLine`s, which no described entity needs to reference.
    pub own_files: HashSet<Shape>,
    /// Number of instructions that an import lists as changed because of an omission, by type or layout.
    pub unimported: HashMap<Shape, usize>,
}

impl Description {
    /// The subject of a record.
    pub fn subject(&self, record: &Record) -> Subject {
        match record.subject {
            RecordSubject::Variable(id) => Subject::Variable(id),
            RecordSubject::Other(index) => self.subjects[index as usize],
        }
    }
}

/// Makes the records of a module.
pub(super) struct Projection<'m> {
    pub module: &'m Module,
    pub binding: &'m Binding,
    pub mode: &'m Mode,
    pub layout: &'m Layout<'m>,
    pub shapes: &'m Shapes,
    pub omissions: &'m Omissions<'m>,
    pub types: Vec<EncodedType>,
    /// The parts that each array was made of: element type and counts.
    pub arrays: HashMap<Shape, Vec<Part<'static>>>,
    /// Whether each dimension of an array is an array type of its own.
    pub is_nested: bool,
    pub scopes: SecondaryMap<ScopeId, Option<Shape>>,
    /// Full paths of files.
    pub paths: SecondaryMap<FileId, Option<Text>>,
    /// Parameters of functions, in order.
    pub parameters: SecondaryMap<FunctionId, Vec<VariableId>>,
    /// Variables with a `DebugDeclare` or `DebugValue`.
    pub in_code: EntitySet<VariableId>,
    pub entry_points: HashSet<Id>,
    /// Declarations of functions that are defined elsewhere.
    pub defined: HashSet<FunctionId>,
    /// Functions that have code, blocks or inlined calls.
    pub with_body: HashSet<FunctionId>,
    pub described: Description,
    /// Keys and properties of the records that are made once.
    once: HashSet<(Shape, Shape)>,
}

impl<'m> Projection<'m> {
    pub fn new(
        module: &'m Module,
        binding: &'m Binding,
        mode: &'m Mode,
        layout: &'m Layout<'m>,
        shapes: &'m Shapes,
        omissions: &'m Omissions<'m>,
    ) -> Self {
        let mut parameters = SecondaryMap::<FunctionId, Vec<VariableId>>::new();
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

    /// Makes the records.
    pub fn describe(mut self) -> Self {
        let Module { types, files, scopes, functions, variables, .. } = self.module;
        let most = [types.len(), files.len(), scopes.len(), functions.len(), variables.len()];
        // One more is the module's.
        self.described.records.reserve_exact(most.into_iter().sum::<usize>() + 1);
        self.metadata();
        self.types();
        self.units();
        self.files();
        for (id, scope) in self.module.scopes() {
            self.scope_record(id, &scope.kind);
        }
        for id in self.module.functions.keys() {
            self.function_record(id);
        }
        for id in self.module.variables.keys() {
            self.variable_record(id);
        }
        self.imports();
        self
    }

    pub fn record(&mut self, key: Shape, subject: Subject, properties: &Properties, is_once: bool) {
        let pairs = properties.iter().flat_map(|(property, name, value)| {
            [Part::Number(property.number().into()), Part::Word(name), Part::Shape(*value)]
        });
        let properties = self.shapes.of(&pairs.collect::<SmallVec<[_; 18]>>());
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

    /// Whether an instruction belongs to a set of debug instructions.
    pub fn is_debug(&self, instruction: crate::spirv::Instruction<'_>) -> bool {
        let is_set = instruction.operands().first().is_some_and(|&set| self.layout.set(Id(set)).is_some());
        is_set && matches!(instruction.opcode(), op::EXT_INST | op::EXT_INST_FORWARD)
    }

    pub fn yes(&mut self, all: &mut Properties, is: bool, (property, name): (Property, &'static str)) {
        if is {
            all.push((property, name.into(), shape!(self.shapes; "yes")));
        }
    }

    /// Properties of the module rather than of its source: build identifier and storage path.
    fn metadata(&mut self) {
        let mut all = Properties::new();
        let is_omitted = |property| self.omissions.has(Subject::Module, property);
        let build_id = self.binding.build_id().filter(|_| !is_omitted(Property::BuildIdentifier));
        let path = self.binding.stored_at().filter(|_| !is_omitted(Property::StoragePath));
        if let Some((digits, may_be_shared)) = build_id {
            all.push((
                Property::BuildIdentifier,
                "build identifier".into(),
                shape!(self.shapes; Quoted(digits)),
            ));
            self.yes(&mut all, may_be_shared, (Property::BuildIdentifier, "shared"));
        }
        if let Some(path) = path {
            all.push((Property::StoragePath, "storage path".into(), shape!(self.shapes; Quoted(path))));
        }
        let key = shape!(self.shapes; "the module");
        self.record(key, Subject::Module, &all, false);
    }

    fn units(&mut self) {
        for (id, unit) in self.module.units() {
            let mut all = Properties::new();
            let subject = Subject::Unit(id);
            let is_omitted = |property| self.omissions.has(subject, property);
            let language = unit.language.filter(|_| !is_omitted(Property::Language));
            let number = language.and_then(|language| languages::number(language, self.mode.set));
            let bound = self.binding.language_number(id).filter(|_| !is_omitted(Property::Language));
            let language = match (language, number) {
                _ if bound.is_some() => shape!(self.shapes; u64::from(bound.unwrap_or_default())),
                (None, _) => shape!(self.shapes; 0u64),
                (_, Some(number)) => shape!(self.shapes; u64::from(number)),
                (Some(language), None) => shape!(self.shapes; "DWARF language", u64::from(language.0)),
            };
            all.push((Property::Language, "language".into(), language));
            self.yes(
                &mut all,
                unit.is_optimized && !is_omitted(Property::Optimized),
                (Property::Optimized, "optimized"),
            );
            for (property, name, text) in [
                (Property::Producer, "producer", unit.producer),
                (Property::CommandLine, "command line", unit.command_line),
            ] {
                let text = text.map_or("", |text| self.module.string(text));
                if !text.is_empty() && !is_omitted(property) {
                    all.push((property, name.into(), shape!(self.shapes; Quoted(text))));
                }
            }
            if !is_omitted(Property::Macros) {
                all.extend(self.macros(id));
            }
            let key = self.scope(unit.scope);
            self.record(key, subject, &all, false);
        }
    }

    /// Macro definitions in order, those of the command line first.
    fn macros(&mut self, id: crate::model::UnitId) -> Properties {
        let (mut files, mut macros, mut defined) = (Vec::new(), Vec::new(), HashSet::new());
        for (index, what) in (0..).zip(self.module.macros(id)) {
            let is_omitted = |property| self.omissions.has(Subject::Macro(id, index), property);
            let file = files.last().copied().unwrap_or(self.module.unit(id).file);
            match *what {
                Macro::File { file, line } => {
                    files.push(file);
                    if line != 0 && !is_omitted(Property::MacroInclusion) {
                        macros.push((
                            line,
                            shape!(self.shapes; "include", self.path_text(file), u64::from(line)),
                        ));
                    }
                }
                Macro::EndFile => drop(files.pop()),
                Macro::Define { line, text } => {
                    let text = self.module.string(text).trim_end_matches(' ').to_owned();
                    let head = text.find(['(', ' ']).unwrap_or(text.len());
                    defined.insert(text[..head].to_owned());
                    let path = if line == 0 { self.shapes.text_of("") } else { self.path_text(file) };
                    macros.push((line, shape!(self.shapes; "define", text, path, u64::from(line))));
                }
                Macro::Undefine { line, name } => {
                    let name = self.module.string(name).to_owned();
                    if defined.remove(&name) || !is_omitted(Property::MacroUndefinition) {
                        let path = if line == 0 { self.shapes.text_of("") } else { self.path_text(file) };
                        macros.push((line, shape!(self.shapes; "undefine", name, path, u64::from(line))));
                    }
                }
            }
        }
        macros.sort_by_key(|(line, _)| *line != 0);
        macros
            .into_iter()
            .enumerate()
            .map(|(index, (_, shape))| (Property::Macros, format!("macro {index}").into(), shape))
            .collect()
    }

    fn imports(&mut self) {
        let module = self.module;
        for (id, import) in module.imports() {
            if self.omissions.has(Subject::Import(id), Property::Entity) {
                continue;
            }
            let (kind, what) = match import.what {
                Imported::Function(id) => ("of", self.scope(module.function(id).scope)),
                Imported::Variable(id) => ("of", self.variable_key(id)),
                Imported::Type(id) => ("of", self.ty(id)),
                Imported::Namespace(id) => ("of", self.scope(id)),
                Imported::AllOf(id) => ("of all of", self.scope(id)),
            };
            let name = Quoted(import.name.map_or("", |name| module.string(name)));
            let scope = self.scope(self.lexical(import.scope));
            let key = shape!(self.shapes; scope, "import", kind, what, name);
            let line = self.line(import.line, Subject::Import(id), Property::Line);
            let all = smallvec![(Property::Line, "line".into(), line)];
            self.record(key, Subject::Import(id), &all, false);
        }
    }
}
