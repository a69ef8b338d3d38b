//! What is said of everything but types, as the mode has it.

use core::ops::Range;

use cranelift_entity::SecondaryMap;
use hashbrown::{HashMap, HashSet};

use super::body::Body;
use super::listed::Listed;
use super::shapes::{Part, Shape, Shapes, shape};
use super::types::Said;
use crate::error::At;
use crate::model::{
    FileId, FunctionId, Imported, Language, Macro, Module, ScopeId, ScopeKind, SourceLine, TypeKind,
    VariableId, VariableKind,
};
use crate::spirv::binding::Binding;
use crate::spirv::layout::Layout;
use crate::spirv::mode::{Dimensions, Discriminators, Mode};
use crate::spirv::opcodes as op;
use crate::spirv::table::Set;
use crate::spirv::validate::lines::bytes_of_lines;
use crate::spirv::words::{HEADER, Id};

/// One thing that is said.
#[derive(Debug)]
pub(super) struct Record {
    pub key: Shape,
    pub at: At,
    /// What to call it, as lists of what is left out do.
    pub called: String,
    pub properties: Vec<(String, Shape)>,
}

/// All that is said.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub records: Vec<Record>,
    pub bodies: Vec<Body>,
    /// Files of lines that the module had, which nothing else has to name.
    pub own_files: HashSet<Shape>,
}

/// Tells.
pub(super) struct Teller<'m, 's> {
    pub module: &'m Module,
    pub binding: &'m Binding,
    pub mode: &'m Mode,
    pub layout: &'m Layout<'m>,
    pub shapes: &'s mut Shapes,
    pub listed: &'m Listed<'m>,
    pub types: Vec<Said>,
    /// The parts of arrays.
    pub arrays: HashMap<Shape, Vec<Part>>,
    /// Whether an array of each dimension is said by itself.
    pub is_nested: bool,
    scopes: SecondaryMap<ScopeId, Option<Shape>>,
    /// Parameters of functions, in order.
    parameters: SecondaryMap<FunctionId, Vec<VariableId>>,
    /// Of files whose text is said, how many bytes each line has.
    texts: HashMap<FileId, Vec<usize>>,
    /// Variables that something is said to hold.
    in_code: HashSet<VariableId>,
    entry_points: HashSet<Id>,
    /// Declarations of functions that are defined elsewhere.
    defined: HashSet<FunctionId>,
    pub told: Told,
    /// What was said that is said once.
    once: HashSet<(Shape, Vec<(String, Shape)>)>,
}

/// Languages with a number of the core specification.
const LANGUAGES: [(u64, Language); 9] = [
    (1, Language::GLSL_ES),
    (2, Language::GLSL),
    (3, Language::OPENCL_C),
    (4, Language::OPENCL_CPP),
    (5, Language::HLSL),
    (6, Language::CPP_FOR_OPENCL),
    (7, Language::SYCL),
    (12, Language::ZIG),
    (13, Language::RUST),
];

/// Bytes of text that one string can have: an instruction has less than 2^16 words, of which two come before the text,
/// and the text ends with a byte of 0.
const MOST_TEXT: usize = (0xffff - 2) * 4 - 1;

/// The capability without which there are no generic pointers.
const GENERIC_POINTER: u32 = 38;

impl<'m, 's> Teller<'m, 's> {
    pub fn new(
        module: &'m Module,
        binding: &'m Binding,
        mode: &'m Mode,
        layout: &'m Layout<'m>,
        shapes: &'s mut Shapes,
        listed: &'m Listed<'m>,
    ) -> Self {
        let mut parameters = SecondaryMap::<FunctionId, Vec<VariableId>>::new();
        for (id, variable) in module.variables() {
            if let ScopeKind::Function(function) = module.scope(variable.scope).kind
                && variable.kind == VariableKind::Parameter
            {
                parameters[function].push(id);
            }
        }
        let texts = module.files().filter_map(|(id, file)| {
            let text = module.string(file.source?);
            let has_room = mode.set.is_shader() || text.len() <= MOST_TEXT;
            Some((id, bytes_of_lines(text).filter(|_| has_room)?))
        });
        let texts = texts.collect();
        let globals = layout.words().between(HEADER..layout.globals_end());
        let points = globals.filter(|it| it.opcode() == op::ENTRY_POINT);
        let entry_points = points.filter_map(|point| point.operands().get(1).map(|&id| Id(id))).collect();
        Self {
            module,
            binding,
            mode,
            layout,
            shapes,
            listed,
            types: Vec::new(),
            arrays: HashMap::new(),
            is_nested: mode.dimensions == Dimensions::Nested,
            scopes: SecondaryMap::new(),
            parameters,
            texts,
            in_code: binding.statements().iter().filter_map(|(_, statement)| statement.variable()).collect(),
            entry_points,
            defined: module.functions().filter_map(|(_, function)| function.specification).collect(),
            told: Told::default(),
            once: HashSet::new(),
        }
    }

    /// Tells. `added` says which words positions do not count; if there are none, all that can be debug information.
    pub fn tell(mut self, added: &[Range<usize>]) -> Told {
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
        self.told.bodies = super::body::bodies(&mut self, added);
        self.told
    }

    pub fn record(
        &mut self,
        key: Shape,
        at: At,
        called: String,
        properties: Vec<(String, Shape)>,
        is_once: bool,
    ) {
        if !is_once || self.once.insert((key, properties.clone())) {
            self.told.records.push(Record { key, at, called, properties });
        }
    }

    /// Whether it is an instruction of a set of debug instructions.
    pub fn is_debug(&self, instruction: crate::spirv::Instruction<'_>) -> bool {
        let is_set = instruction.operands().first().is_some_and(|&set| self.layout.set(Id(set)).is_some());
        is_set && matches!(instruction.opcode(), op::EXT_INST | op::EXT_INST_FORWARD)
    }

    pub fn has_generic(&self) -> bool {
        let is_asked = self.mode.has_capabilities && self.mode.set == Set::OpenCl;
        !is_asked || self.layout.has_capability(GENERIC_POINTER)
    }

    fn path(&self, file: FileId) -> String {
        let file = self.module.file(file);
        let directory = self.module.unit(file.unit).directory;
        let parts = [directory, file.directory, Some(file.name)];
        let mut path = String::new();
        for part in parts.into_iter().flatten().map(|part| self.module.string(part)) {
            let letter = part.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
            let rest = part.get(1..).unwrap_or_default();
            let has_drive = letter && (rest.starts_with(":/") || rest.starts_with(":\\"));
            if part.starts_with(['/', '\\']) || has_drive {
                path.clear();
            } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
                path.push('/');
            }
            path.push_str(part);
        }
        path
    }

    /// What can be said of a line: not that it is in a text in which it is not, nor its column.
    fn in_text(&self, line: SourceLine) -> SourceLine {
        let Some(text) = self.texts.get(&line.file) else { return line };
        let bytes = (line.line as usize).checked_sub(1).and_then(|index| text.get(index));
        match bytes {
            Some(&bytes) if line.column as usize <= bytes + 1 => line,
            Some(_) => SourceLine { column: 0, ..line },
            None => SourceLine { line: 0, column: 0, ..line },
        }
    }

    /// The discriminator that instructions of a block are of, or an inlined call, where it is a scope that they are in. A
    /// call without one is in that of the block that it is in.
    pub fn discriminator(&self, id: ScopeId) -> Option<u64> {
        let data = self.module.scope(id);
        let number = match (&data.kind, data.parent) {
            _ if self.mode.discriminators == Discriminators::Beside => 0,
            (ScopeKind::Inlined { .. }, Some(around)) if data.discriminator == 0 => {
                let around = self.module.scope(around);
                if around.kind == ScopeKind::Block { around.discriminator } else { 0 }
            }
            (ScopeKind::Inlined { .. }, _) => data.discriminator,
            (ScopeKind::Block, _) => data.discriminator,
            _ => 0,
        };
        (number != 0).then_some(number.into())
    }

    /// The file that a scope is said to be of: that of its line, or of the scope around a block without one.
    fn file_of(&self, mut scope: ScopeId) -> FileId {
        loop {
            let data = self.module.scope(scope);
            let (line, next) = match data.kind {
                ScopeKind::Function(id) => {
                    let function = self.module.function(id);
                    let declared = || self.module.function(function.specification?).line;
                    (function.line.or_else(declared), None)
                }
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

    /// A line, which 0 is none.
    pub fn line(&mut self, line: Option<SourceLine>) -> Shape {
        match line.map(|line| self.in_text(line)).filter(|line| line.line != 0) {
            Some(SourceLine { file, line, column }) => {
                let path = self.path(file);
                shape!(self.shapes; path, u64::from(line), u64::from(column))
            }
            None => shape!(self.shapes; "no line"),
        }
    }

    /// A line of the module's own, by the path of its file.
    pub fn line_at(&mut self, file: Id, line: u32, column: u32) -> Shape {
        let path = self.layout.string(file).unwrap_or_default();
        let known = self.texts.keys().copied().find(|&file| self.path(file) == path);
        match known {
            Some(file) => self.line(Some(SourceLine { file, line, column })),
            None if line == 0 || path.is_empty() => self.line(None),
            None => shape!(self.shapes; path, u64::from(line), u64::from(column)),
        }
    }

    fn yes(&mut self, all: &mut Vec<(String, Shape)>, is: bool, name: &str) {
        if is {
            all.push((name.into(), shape!(self.shapes; "yes")));
        }
    }

    /// What is about the module and not about its source.
    fn metadata(&mut self) {
        if !self.mode.set.is_shader() {
            return;
        }
        let mut all = Vec::new();
        if let Some((digits, may_be_shared)) = self.binding.build_id() {
            all.push(("build identifier".into(), shape!(self.shapes; digits.to_owned())));
            self.yes(&mut all, may_be_shared, "shared");
        }
        if let Some(path) = self.binding.stored_at() {
            all.push(("storage path".into(), shape!(self.shapes; path.to_owned())));
        }
        let key = shape!(self.shapes; "the module");
        self.record(key, At::default(), "the module".into(), all, false);
    }

    fn units(&mut self) {
        for (id, unit) in self.module.units() {
            let mut all = Vec::new();
            let number = LANGUAGES.iter().find(|(_, language)| Some(*language) == unit.language);
            let number = number.map(|&(number, _)| number);
            let number = number.filter(|&number| number <= self.mode.last_language.into()).unwrap_or(0);
            all.push(("language".into(), shape!(self.shapes; number)));
            let of_unit = |function: &FunctionId| {
                let scope = self.module.function(*function).scope;
                self.module.scope(scope).unit == id
            };
            let functions = || self.module.functions.keys().filter(of_unit);
            let has_code = functions().any(|function| !self.module.function(function).is_declaration);
            self.yes(&mut all, unit.is_optimized && has_code, "optimized");
            let is_point = |function: FunctionId| {
                self.binding.function_id(function).is_some_and(|code| self.entry_points.contains(&code))
            };
            if self.mode.set.is_shader() && functions().any(is_point) {
                for (name, text) in [("producer", unit.producer), ("command line", unit.command_line)] {
                    let text = text.map_or("", |text| self.module.string(text)).to_owned();
                    all.push((name.into(), shape!(self.shapes; text)));
                }
            }
            if self.mode.has_macros {
                all.extend(self.macros(id));
            }
            let key = self.scope(unit.scope);
            self.record(key, self.module.at_unit(id), "the unit".into(), all, false);
        }
    }

    /// Definitions in order, those of the command line first: which file includes which is not said.
    fn macros(&mut self, id: crate::model::UnitId) -> Vec<(String, Shape)> {
        let (mut files, mut said, mut defined) = (Vec::new(), Vec::new(), HashSet::new());
        for what in self.module.macros(id) {
            let file = files.last().copied().unwrap_or(self.module.unit(id).file);
            match *what {
                Macro::File { file, .. } => files.push(file),
                Macro::EndFile => drop(files.pop()),
                Macro::Define { line, text } => {
                    let text = self.module.string(text).trim_end_matches(' ').to_owned();
                    let head = text.find(['(', ' ']).unwrap_or(text.len());
                    defined.insert(text[..head].to_owned());
                    let path = if line == 0 { String::new() } else { self.path(file) };
                    said.push((line, shape!(self.shapes; "define", text, path, u64::from(line))));
                }
                Macro::Undefine { line, name } => {
                    let name = self.module.string(name).to_owned();
                    if defined.remove(&name) {
                        let path = if line == 0 { String::new() } else { self.path(file) };
                        said.push((line, shape!(self.shapes; "undefine", name, path, u64::from(line))));
                    }
                }
            }
        }
        said.sort_by_key(|(line, _)| *line != 0);
        said.into_iter().enumerate().map(|(index, (_, shape))| (format!("macro {index}"), shape)).collect()
    }

    fn files(&mut self) {
        for (id, file) in self.module.files() {
            let path = self.path(id);
            let mut all = Vec::new();
            let text = file.source.map(|text| self.module.string(text)).filter(|text| !text.is_empty());
            if let Some(text) = text {
                all.push(("text".into(), shape!(self.shapes; text.to_owned())));
            }
            let key = shape!(self.shapes; "file", path);
            let called = format!("`{}`", self.module.string(file.name));
            self.record(key, self.module.at_unit(file.unit), called, all, true);
        }
    }

    /// What a scope is known by.
    pub fn scope(&mut self, id: ScopeId) -> Shape {
        let mut open = vec![id];
        while let Some(&at) = open.last() {
            if self.scopes[at].is_some() {
                open.pop();
                continue;
            }
            let data = self.module.scope(at);
            let needs = [data.parent.filter(|_| !matches!(data.kind, ScopeKind::Type(_))), data.origin];
            let before = open.len();
            open.extend(needs.into_iter().flatten().filter(|&need| self.scopes[need].is_none()));
            if let ScopeKind::Inlined { function, .. } = data.kind {
                let callee = self.module.function(function).scope;
                open.extend(Some(callee).filter(|&callee| self.scopes[callee].is_none()));
            }
            if let ScopeKind::Type(ty) = data.kind {
                let around = self.outside(self.module.ty(ty).scope());
                open.extend(Some(around).filter(|&around| self.scopes[around].is_none()));
            }
            if open.len() == before {
                self.scopes[at] = Some(self.scope_here(at));
                open.pop();
            }
        }
        match self.scopes[id] {
            Some(shape) => shape,
            None => shape!(self.shapes; "nothing"),
        }
    }

    /// The same, where that of what is around it is known.
    fn scope_here(&mut self, id: ScopeId) -> Shape {
        let data = self.module.scope(id);
        let known = |this: &Self, id: Option<ScopeId>| id.and_then(|id| this.scopes[id]);
        let nothing = shape!(self.shapes; "nothing");
        let parent = known(self, data.parent).unwrap_or(nothing);
        let text = |id: crate::model::StringId| self.module.string(id).to_owned();
        match data.kind {
            ScopeKind::Unit => shape!(self.shapes; "unit", self.path(self.module.unit(data.unit).file)),
            ScopeKind::Namespace { name, .. } => {
                shape!(self.shapes; parent, "namespace", name.map(text).unwrap_or_default())
            }
            ScopeKind::Function(function) => self.function_key(function, parent),
            ScopeKind::Type(ty) => self.type_key(ty),
            ScopeKind::Block => match (data.origin, self.call(id)) {
                (Some(origin), Some(call)) => {
                    let (call, origin) = (known(self, Some(call)), known(self, Some(origin)));
                    shape!(self.shapes; call.unwrap_or(nothing), "of", origin.unwrap_or(nothing))
                }
                // An instance of no block is said to be the scope around it.
                (None, Some(_)) => parent,
                _ => {
                    let line = self.line(data.line);
                    shape!(self.shapes; parent, "block", line)
                }
            },
            ScopeKind::Inlined { function, call } => {
                let callee = known(self, Some(self.module.function(function).scope)).unwrap_or(nothing);
                let file = data.parent.map_or(call.file, |around| self.file_of(around));
                let line = self.in_text(SourceLine { file, column: 0, ..call }).line;
                let number = self.discriminator(id).unwrap_or_default();
                shape!(self.shapes; parent, "call in line", u64::from(line), number, "of", callee)
            }
        }
    }

    fn function_key(&mut self, id: FunctionId, parent: Shape) -> Shape {
        let function = self.module.function(id);
        let declared = function.specification.map(|of| self.module.function(of));
        let linkage = function.linkage_name.or_else(|| declared?.linkage_name);
        let name = self.module.string(function.name).to_owned();
        let linkage = linkage.map_or("", |linkage| self.module.string(linkage)).to_owned();
        let linkage = if linkage == name { String::new() } else { linkage };
        let kind = if function.is_declaration { "declaration" } else { "function" };
        shape!(self.shapes; parent, kind, name, linkage)
    }

    /// The innermost inlined call that a scope is in.
    fn call(&self, id: ScopeId) -> Option<ScopeId> {
        let mut at = Some(id);
        while let Some(scope) = at {
            let data = self.module.scope(scope);
            match data.kind {
                ScopeKind::Inlined { .. } => return Some(scope),
                ScopeKind::Block => at = data.parent,
                _ => return None,
            }
        }
        None
    }

    /// The unit or namespace that a scope is, or is in.
    fn outside(&self, id: ScopeId) -> ScopeId {
        let mut at = id;
        loop {
            let data = self.module.scope(at);
            match (&data.kind, data.parent) {
                (ScopeKind::Unit | ScopeKind::Namespace { .. }, _) | (_, None) => return at,
                (_, Some(parent)) => at = parent,
            }
        }
    }

    pub fn namespace(&mut self, id: ScopeId) -> Shape {
        let outside = self.outside(id);
        self.scope(outside)
    }

    fn scope_record(&mut self, id: ScopeId, kind: &ScopeKind) {
        let data = self.module.scope(id);
        let mut all = Vec::new();
        match kind {
            ScopeKind::Namespace { .. } => all.push(("line".into(), self.line(data.line))),
            ScopeKind::Block if self.call(id).is_none() => {
                if data.discriminator != 0 && self.mode.discriminators == Discriminators::Beside {
                    let number = shape!(self.shapes; u64::from(data.discriminator));
                    all.push(("discriminator".into(), number));
                }
            }
            _ => return,
        }
        let key = self.scope(id);
        self.record(key, self.module.at_scope(id), String::new(), all, false);
    }

    /// A function that a scope is the body of, but is only declared, so that what is in it is not said.
    fn is_declared(&self, id: ScopeId) -> bool {
        let Some(function) = self.module.function_of(id) else { return false };
        let data = self.module.function(function);
        let parent = self.module.scope(data.scope).parent;
        let is_method =
            parent.is_some_and(|parent| matches!(self.module.scope(parent).kind, ScopeKind::Type(_)));
        // Of `OpenCL.DebugInfo.100`, one that only its type has is said as a function, with its parameters.
        let is_said = self.mode.set == Set::OpenCl && is_method && !self.defined.contains(&function);
        data.is_declaration && !is_said
    }

    fn function_record(&mut self, id: FunctionId) {
        let module = self.module;
        let function = module.function(id);
        let declared = function.specification.map(|of| module.function(of));
        let mut all = Vec::new();
        all.push(("result".into(), self.maybe(function.returns)));
        let mut parameters = self.parameters[id].clone();
        if let (true, Some(of)) = (parameters.is_empty(), function.specification) {
            parameters = self.parameters[of].clone();
        }
        for (index, parameter) in parameters.into_iter().enumerate() {
            let ty = self.ty(module.variable(parameter).ty);
            all.push((format!("type of parameter {index}"), ty));
        }
        let line = function.line.or_else(|| declared?.line);
        all.push(("line".into(), self.line(line)));
        let is_external = function.is_external || declared.is_some_and(|of| of.is_external);
        self.yes(&mut all, is_external, "external");
        let access = function.member.accessibility.or_else(|| declared?.member.accessibility);
        all.push(("access".into(), self.access(access)));
        if declared.is_none() {
            self.yes(&mut all, function.member.is_explicit, "explicit");
        }
        // Of nothing that has a line it can be said.
        let body = line.filter(|_| !function.is_declaration);
        let body = body.map(|line| SourceLine { line: function.body_line, column: 0, ..line });
        let body_line = body.map_or(0, |body| self.in_text(body).line);
        if body_line != 0 {
            all.push(("line of the body".into(), shape!(self.shapes; u64::from(body_line))));
        }
        if let Some(code) = self.binding.function_id(id) {
            all.push(("code".into(), shape!(self.shapes; u64::from(code.0))));
        }
        if let Some(of) = function.specification {
            let scope = self.scope(module.function(of).scope);
            all.push(("declaration".into(), scope));
        }
        if !function.is_declaration {
            let templates = function.templates.clone();
            self.templates(&templates, &mut all);
        }
        let key = self.scope(function.scope);
        self.record(key, module.at_scope(function.scope), "the function".into(), all, false);
    }

    /// What a variable is known by: an instance by the call, and what it is one of.
    pub fn variable_key(&mut self, id: VariableId) -> Shape {
        let module = self.module;
        let variable = module.variable(id);
        let name = module.name_of(id).unwrap_or_default().to_owned();
        let of = module.variable(module.first_origin(id)).scope;
        match self.call(variable.scope).filter(|_| variable.origin.is_some()) {
            Some(call) => {
                let (call, of) = (self.scope(call), self.scope(of));
                shape!(self.shapes; call, "instance of", of, "variable", name)
            }
            None => {
                let scope = self.scope(self.lexical(variable.scope));
                shape!(self.shapes; scope, "variable", name)
            }
        }
    }

    /// The scope that something is said to be in: of an inlined call the function, and of a block in it the one that it
    /// is an instance of, or else that of the scope around it.
    fn lexical(&self, mut scope: ScopeId) -> ScopeId {
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

    /// What a variable is known by in code: one that is in an inlined call only is said to be the function's, and is an
    /// instance where something holds it.
    pub fn held_key(&mut self, id: VariableId) -> Shape {
        let variable = self.module.variable(id);
        match self.call(variable.scope).filter(|_| variable.origin.is_none()) {
            Some(call) => {
                let name = self.module.name_of(id).unwrap_or_default().to_owned();
                let (call, of) = (self.scope(call), self.scope(self.lexical(variable.scope)));
                shape!(self.shapes; call, "instance of", of, "variable", name)
            }
            None => self.variable_key(id),
        }
    }

    /// Whether a variable can be a number of elements.
    pub fn counts(&self, id: VariableId) -> bool {
        let variable = self.module.variable(self.module.first_origin(id));
        let ty = self.module.ty(variable.ty);
        let is_unsigned = match ty.kind() {
            TypeKind::Base { encoding, .. } => *encoding == crate::model::BaseEncoding::Unsigned,
            _ => false,
        };
        is_unsigned && matches!(ty.bits(), Some(32 | 64))
    }

    fn variable_record(&mut self, id: VariableId) {
        let module = self.module;
        let variable = module.variable(id);
        let is_member = matches!(module.scope(variable.scope).kind, ScopeKind::Type(_));
        let mut all = Vec::new();
        if self.is_declared(variable.scope) || variable.origin.is_some() && !self.mode.has_inlined_variables {
            return;
        }
        let at = module.at_variable(id, None);
        let is_cut = |what: &str| what.ends_with("is made of it, and is not said here");
        let called = if is_member { "a static member" } else { "the variable" };
        let is_cut = self.listed.of(&at, called).any(is_cut);
        if self.types[variable.ty.as_u32() as usize].is_lost {
            return;
        }
        if variable.origin.is_none() {
            let declared = variable.specification.map(|of| module.variable(of));
            let ty = if is_cut { self.unspecified(variable.ty) } else { self.ty(variable.ty) };
            all.push(("type".into(), ty));
            let line = variable.line.or_else(|| declared?.line);
            all.push(("line".into(), self.line(line)));
            self.yes(&mut all, variable.is_artificial, "artificial");
            let held = self.binding.global_id(id);
            let is_global = module.function_of(variable.scope).is_none() || held.is_some();
            if is_member || is_global {
                all.push(("access".into(), self.access(variable.accessibility)));
                let value = self.held(id, held);
                if let Some(value) = value {
                    all.push(("value".into(), value));
                }
            }
            if is_global && !is_member {
                let is_external = variable.is_external || declared.is_some_and(|of| of.is_external);
                self.yes(&mut all, is_external, "external");
                self.yes(&mut all, variable.is_declaration, "declaration");
                let linkage = variable.linkage_name.or_else(|| declared?.linkage_name);
                let linkage = linkage.map(|linkage| module.string(linkage).to_owned());
                if let Some(linkage) = linkage.filter(|linkage| Some(&**linkage) != module.name_of(id)) {
                    all.push(("linkage name".into(), shape!(self.shapes; linkage)));
                }
                if let Some(of) = variable.specification.filter(|&of| module.is_static_member(of)) {
                    all.push(("definition of".into(), self.variable_key(of)));
                }
            }
            if variable.kind == VariableKind::Parameter
                && let ScopeKind::Function(function) = module.scope(variable.scope).kind
            {
                let place = self.parameters[function].iter().position(|&one| one == id);
                all.push(("parameter".into(), shape!(self.shapes; place.unwrap_or_default() as u64)));
                let is_object = module.function(function).object_pointer == Some(id);
                self.yes(&mut all, is_object, "object");
            }
        }
        let key = self.variable_key(id);
        let called = module.name_of(id).unwrap_or_default().to_owned();
        let instance = self.held_key(id);
        if instance != key && self.mode.has_inlined_variables && self.in_code.contains(&id) {
            self.record(instance, at.clone(), called.clone(), Vec::new(), false);
        }
        self.record(key, at, called, all, false);
    }

    /// The `OpVariable` of a variable, or the number that it always is.
    fn held(&mut self, id: VariableId, held: Option<Id>) -> Option<Shape> {
        let variable = self.module.variable(id);
        let bits = self.module.ty(variable.ty).bits().unwrap_or(64).clamp(1, 64) as u32;
        let constant = held.and_then(|held| self.layout.constant(held)).and_then(|constant| constant.value);
        match (held, constant) {
            (Some(_), Some(number)) => Some(shape!(self.shapes; "number", number & u64::MAX >> (64 - bits))),
            (Some(held), None) => Some(shape!(self.shapes; "id", u64::from(held.0))),
            (None, _) => {
                let bytes = self.module.always(id).and_then(|loc| self.module.constant(loc))?;
                let number = self.integer(variable.ty, bytes)?;
                Some(shape!(self.shapes; "number", number & u64::MAX >> (64 - bits)))
            }
        }
    }

    fn imports(&mut self) {
        if !self.mode.has_imports {
            return;
        }
        let module = self.module;
        for (_, import) in module.imports() {
            let (kind, what, called) = match import.what {
                Imported::Function(id) => {
                    let function = module.function(id);
                    ("of", self.scope(function.scope), format!("`{}`", module.string(function.name)))
                }
                Imported::Variable(id) => {
                    ("of", self.variable_key(id), format!("`{}`", module.name_of(id).unwrap_or_default()))
                }
                Imported::Type(id) => ("of", self.ty(id), module.called(id)),
                Imported::Namespace(id) => ("of", self.scope(id), "a namespace".into()),
                Imported::AllOf(id) => ("of all of", self.scope(id), "a namespace".into()),
            };
            let name = import.name.map_or("", |name| module.string(name)).to_owned();
            let scope = self.scope(import.scope);
            let key = shape!(self.shapes; scope, "import", kind, what, name);
            let all = vec![("line".into(), self.line(import.line))];
            self.record(key, module.at_scope(import.scope), called, all, false);
        }
    }
}
