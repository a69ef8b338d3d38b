//! Inverted relations: the model stores each relation in one direction only, while the instruction set often needs the
//! other one.

use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::writer::{MOST_WORDS, Writer};
use crate::model::{
    Base, BaseOffset, CompositeKind, CompositeType, FileId, FunctionId, Module, PrimaryMap, ScopeId,
    ScopeKind, SecondaryMap, SourceLine, TypeId, TypeKind, VariableId, VariableKind,
};
use crate::spirv::mode::{Feature, Mode};

/// Entities by owner.
#[derive(Debug, Default)]
pub(super) struct Inverse {
    /// All functions' parameters, grouped by function.
    parameters: Vec<VariableId>,
    of_function: SecondaryMap<FunctionId, Range<u32>>,
    /// A parameter's number in its scope, counted from 1.
    pub numbers: SecondaryMap<VariableId, u32>,
    /// Static members by type.
    statics: HashMap<TypeId, Vec<VariableId>>,
    /// Member functions that their types list, by type.
    methods: HashMap<TypeId, Vec<FunctionId>>,
    /// Static members that no type lists, because their type has no members, or they do not fit its instruction.
    unlisted: HashSet<VariableId>,
    /// Types without room for all their members: number of encoded members, and number of all members.
    pub crowded: HashMap<TypeId, (usize, usize)>,
    /// Functions described by a `DebugFunctionDeclaration`.
    declared: HashSet<FunctionId>,
    /// The inlined call that contains a scope, or is the scope.
    pub inlined: SecondaryMap<ScopeId, Option<ScopeId>>,
    /// The set's innermost enclosing lexical scope, for each scope.
    lexical: PrimaryMap<ScopeId, ScopeId>,
    /// Each lexical scope's function, type or unit: the scope itself, or the scope around a block or namespace.
    whole: PrimaryMap<ScopeId, ScopeId>,
    /// The function that contains a scope, or is the scope.
    functions: PrimaryMap<ScopeId, Option<FunctionId>>,
    /// Each lexical scope's file.
    files: PrimaryMap<ScopeId, FileId>,
}

impl Inverse {
    pub fn new(writer: &Writer<'_>, module: &Module) -> Self {
        let mut relations = Self::default();
        relations.find_variables(module);
        relations.find_functions(module, writer.is_shader());
        relations.fit(writer.mode, module);
        // Scopes follow their parents, so that one pass is enough.
        for (id, scope) in &module.scopes {
            relations.inlined[id] = match scope.kind {
                ScopeKind::Inlined { .. } => Some(id),
                // A block follows its parent, so that the parent is known.
                ScopeKind::Block => scope.parent.and_then(|parent| relations.inlined[parent]),
                _ => None,
            };
        }
        relations.find_scopes(module);
        relations
    }

    /// Computes all scopes' properties in one pass, because scopes can be nested deeply. Every scope depends only on
    /// earlier scopes; types, which move later, are lexical scopes themselves.
    fn find_scopes(&mut self, module: &Module) {
        for (id, scope) in &module.scopes {
            // A unit's scope has no parent and counts as its own.
            let parent = scope.parent.unwrap_or(id);
            let lexical = match scope.kind {
                ScopeKind::Function(function) if !self.has_body(function) => self.lexical[parent],
                ScopeKind::Inlined { function, .. } => self.lexical[module.functions[function].scope],
                ScopeKind::Block if self.inlined[id].is_some() => {
                    self.lexical[scope.origin.unwrap_or(parent)]
                }
                _ => id,
            };
            let whole = match module.scopes[lexical].kind {
                ScopeKind::Block | ScopeKind::Namespace { .. } if lexical == id => {
                    self.whole[self.lexical[parent]]
                }
                _ if lexical == id => id,
                _ => self.whole[lexical],
            };
            let line = match scope.kind {
                ScopeKind::Function(function) => line_of(module, function),
                _ => scope.line,
            };
            let file = match line {
                _ if lexical != id => self.files[lexical],
                Some(line) => line.file,
                None if scope.kind == ScopeKind::Block => self.files[parent],
                None => module.units[scope.unit].file,
            };
            self.files.push(file);
            self.lexical.push(lexical);
            self.whole.push(whole);
            self.functions.push(match scope.kind {
                ScopeKind::Function(function) => Some(function),
                ScopeKind::Type(_) => module.function_of(id),
                _ if parent == id => None,
                _ => self.functions[parent],
            });
        }
    }

    /// The set's innermost enclosing lexical scope: for an inlined body its function, for a block in an inlined body
    /// the original block.
    pub fn lexical(&self, scope: ScopeId) -> ScopeId {
        self.lexical[scope]
    }

    /// The lexical scope's file: its line's file, or for a block without a line, the enclosing scope's file.
    pub fn file(&self, scope: ScopeId) -> FileId {
        self.files[scope]
    }

    /// The function, type or unit that the lexical scope is, or that contains it as a block or namespace.
    pub fn whole(&self, scope: ScopeId) -> ScopeId {
        self.whole[scope]
    }

    fn find_variables(&mut self, module: &Module) {
        let mut counts: SecondaryMap<ScopeId, u32> = SecondaryMap::new();
        let mut parameters = Vec::new();
        for &id in &module.lists.parameters_and_statics {
            let variable = &module.variables[id];
            if variable.kind == VariableKind::Parameter {
                counts[variable.scope] += 1;
                self.numbers[id] = counts[variable.scope];
            }
            match module.scopes[variable.scope].kind {
                ScopeKind::Function(function) if variable.kind == VariableKind::Parameter => {
                    parameters.push((function, id));
                }
                ScopeKind::Type(ty) => self.statics.entry(ty).or_default().push(id),
                _ => {}
            }
        }
        // The sort is stable, so that parameters keep their order.
        parameters.sort_by_key(|&(function, _)| function);
        for group in parameters.chunk_by(|first, second| first.0 == second.0) {
            let start = self.parameters.len() as u32;
            self.parameters.extend(group.iter().map(|&(_, id)| id));
            self.of_function[group[0].0] = start..self.parameters.len() as u32;
        }
    }

    fn find_functions(&mut self, module: &Module, is_shader: bool) {
        let defined: HashSet<_> =
            module.functions.values().filter_map(|function| function.specification).collect();
        for (id, function) in &module.functions {
            let parent = module.scopes[function.scope].parent;
            let class = match parent.map(|parent| &module.scopes[parent].kind) {
                Some(&ScopeKind::Type(ty)) if !module.types[ty].is_declaration => Some(ty),
                _ => None,
            };
            // A composite type can have functions as members, but no declarations; the shader sets have no such members
            // at all.
            let is_member = class.is_some() && !is_shader && !defined.contains(&id);
            if function.is_declaration && !is_member {
                self.declared.insert(id);
            } else if let Some(class) = class.filter(|_| is_member) {
                self.methods.entry(class).or_default().push(id);
            }
        }
    }

    /// Drops the members that do not fit their type's instruction: data members come first, then static members, then
    /// functions.
    fn fit(&mut self, mode: &Mode, module: &Module) {
        for (id, ty) in &module.types {
            let TypeKind::Composite(composite) = &ty.kind else { continue };
            let most = MOST_MEMBERS - encoded_bases(mode, module, composite).count();
            let mut room = most;
            let mut dropped = composite.members.len().saturating_sub(room);
            room = room.saturating_sub(composite.members.len());
            // An incomplete type has no member operands at all.
            if let Some(statics) = self.statics.get_mut(&id) {
                let keep = if ty.is_declaration { 0 } else { room.min(statics.len()) };
                dropped += if ty.is_declaration { 0 } else { statics.len() - keep };
                self.unlisted.extend(statics.drain(keep..));
                room -= keep;
            }
            if let Some(methods) = self.methods.get_mut(&id) {
                dropped += methods.len().saturating_sub(room);
                methods.truncate(room);
            }
            if dropped > 0 {
                self.crowded.insert(id, (most, most + dropped));
            }
        }
    }

    /// The innermost enclosing function that is not inlined.
    pub fn function_of(&self, scope: ScopeId) -> Option<FunctionId> {
        self.functions[scope]
    }

    /// A type's static members that its instruction lists.
    pub fn statics(&self, ty: TypeId) -> &[VariableId] {
        self.statics.get(&ty).map_or(&[], |variables| variables)
    }

    /// A type's member functions that its instruction lists.
    pub fn methods(&self, ty: TypeId) -> &[FunctionId] {
        self.methods.get(&ty).map_or(&[], |functions| functions)
    }

    /// Whether no type lists a static member.
    pub fn is_unlisted(&self, id: VariableId) -> bool {
        self.unlisted.contains(&id)
    }

    /// A function's parameters, in order.
    pub fn parameters(&self, function: FunctionId) -> &[VariableId] {
        let range = &self.of_function[function];
        self.parameters.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// Whether a function is a `DebugFunction`, which is a lexical scope, rather than a `DebugFunctionDeclaration`.
    pub fn has_body(&self, function: FunctionId) -> bool {
        !self.declared.contains(&function)
    }
}

/// Number of members that fit an instruction, which has 14 other words.
const MOST_MEMBERS: usize = MOST_WORDS - 14;

/// Number of a type's data members that fit its instruction.
pub(super) fn member_count(mode: &Mode, module: &Module, composite: &CompositeType) -> usize {
    composite.members.len().min(MOST_MEMBERS - encoded_bases(mode, module, composite).count())
}

/// Base classes with a known offset that are classes; none in a mode without base classes.
pub(super) fn encoded_bases<'m>(
    mode: &Mode,
    module: &'m Module,
    composite: &'m CompositeType,
) -> impl Iterator<Item = (u32, &'m Base)> + use<'m> {
    let can_have = mode.has(Feature::Inheritance) && composite.kind != CompositeKind::Union;
    let is_encoded = move |(_, base): &(u32, &Base)| {
        let is_fixed = matches!(base.offset, BaseOffset::Bytes(_)) && !base.is_virtual;
        can_have && is_fixed && class_of(module, base.ty).is_some()
    };
    (0..).zip(&composite.bases).filter(is_encoded).take(MOST_MEMBERS)
}

/// A function's line; a definition without a line has its declaration's line.
pub(super) fn line_of(module: &Module, id: FunctionId) -> Option<SourceLine> {
    let function = &module.functions[id];
    function.line.or_else(|| module.functions[function.specification?].line)
}

/// The class or structure that a type's qualifiers and typedefs name in the end.
pub(super) fn class_of(module: &Module, mut ty: TypeId) -> Option<TypeId> {
    use crate::model::CompositeKind;
    loop {
        match &module.types[ty].kind {
            // Types follow their components, so that the loop ends.
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => ty = (*of)?,
            TypeKind::Composite(composite) => return (composite.kind != CompositeKind::Union).then_some(ty),
            _ => return None,
        }
    }
}

/// Whether a scope belongs to a type.
pub(super) fn is_type(kind: &ScopeKind) -> bool {
    matches!(kind, ScopeKind::Type(_))
}
