//! What of the model belongs together, where the model says it only one way.

use core::ops::Range;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::{HashMap, HashSet};

use super::types::class_of;
use super::writer::{MOST_WORDS, Writer};
use crate::model::{
    Base, BaseOffset, Composite, CompositeKind, FileId, FunctionId, Module, ScopeId, ScopeKind, SourceLine,
    TypeId, TypeKind, VariableId, VariableKind,
};
use crate::spirv::mode::Mode;

/// Lists by whom they belong to.
#[derive(Debug, Default)]
pub(super) struct Related {
    /// Parameters of all functions, one function after the other.
    parameters: Vec<VariableId>,
    of_function: SecondaryMap<FunctionId, Range<u32>>,
    /// The place of a parameter among those of its scope, the first being 1.
    pub numbers: SecondaryMap<VariableId, u32>,
    /// Static members by their type.
    statics: HashMap<TypeId, Vec<VariableId>>,
    /// Member functions by their type, of those that it has as members.
    methods: HashMap<TypeId, Vec<FunctionId>>,
    /// Static members that no type has as members: it has none, or no room.
    lost: HashSet<VariableId>,
    /// Types that have no room for so many of their members.
    pub crowded: HashMap<TypeId, usize>,
    /// Functions that are said by a `DebugFunctionDeclaration`.
    declared: HashSet<FunctionId>,
    /// The inlined call that a scope is in, or is.
    pub inlined: SecondaryMap<ScopeId, Option<ScopeId>>,
    /// The scope, or the one around it that is a lexical scope of the set.
    lexical: PrimaryMap<ScopeId, ScopeId>,
    /// The function, type or unit that a lexical scope is, or whose block or namespace it is.
    whole: PrimaryMap<ScopeId, ScopeId>,
    /// The function that a scope is in, or is.
    functions: PrimaryMap<ScopeId, Option<FunctionId>>,
    /// The file that the lexical scope is said to be of.
    files: PrimaryMap<ScopeId, FileId>,
}

impl Related {
    pub fn new(writer: &Writer<'_>, module: &Module) -> Self {
        let mut related = Self::default();
        related.find_variables(module);
        related.find_functions(module, writer.is_shader());
        related.fit(writer.mode, module);
        for (id, scope) in &module.scopes {
            related.inlined[id] = match scope.kind {
                ScopeKind::Inlined { .. } => Some(id),
                // A block is newer than what it is in.
                ScopeKind::Block => scope.parent.and_then(|parent| related.inlined[parent]),
                _ => None,
            };
        }
        related.find_scopes(module);
        related
    }

    /// In one walk, for scopes can be nested deeply. What one of them is found from is older: only a type is put
    /// elsewhere later, and that is a lexical scope itself.
    fn find_scopes(&mut self, module: &Module) {
        for (id, scope) in &module.scopes {
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

    /// The scope, or the one around it that is a lexical scope of the set: an inlined body is the function, and a block
    /// of one is the block of the function that it is an instance of.
    pub fn lexical(&self, scope: ScopeId) -> ScopeId {
        self.lexical[scope]
    }

    /// The file that the lexical scope is said to be of: that of its line; a block without one is of that of the scope
    /// around it.
    pub fn file(&self, scope: ScopeId) -> FileId {
        self.files[scope]
    }

    /// The function, type or unit that the lexical scope is, or whose block or namespace it is.
    pub fn whole(&self, scope: ScopeId) -> ScopeId {
        self.whole[scope]
    }

    fn find_variables(&mut self, module: &Module) {
        let mut counts: SecondaryMap<ScopeId, u32> = SecondaryMap::new();
        let mut parameters = Vec::new();
        for &id in &module.listed {
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
        parameters.sort_by_key(|&(function, _)| function);
        for of_one in parameters.chunk_by(|one, other| one.0 == other.0) {
            let start = self.parameters.len() as u32;
            self.parameters.extend(of_one.iter().map(|&(_, id)| id));
            self.of_function[of_one[0].0] = start..self.parameters.len() as u32;
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
            // A composite type has functions as members, but no declarations.
            let is_member = class.is_some() && !is_shader && !defined.contains(&id);
            if function.is_declaration && !is_member {
                self.declared.insert(id);
            } else if let Some(class) = class.filter(|_| is_member) {
                self.methods.entry(class).or_default().push(id);
            }
        }
    }

    /// Leaves out what a type has no room for.
    fn fit(&mut self, mode: &Mode, module: &Module) {
        for (id, ty) in &module.types {
            let TypeKind::Composite(composite) = &ty.kind else { continue };
            let mut room = MOST_MEMBERS - said_bases(mode, module, composite).count();
            let mut lost = composite.members.len().saturating_sub(room);
            room = room.saturating_sub(composite.members.len());
            if let Some(statics) = self.statics.get_mut(&id) {
                let keep = if ty.is_declaration { 0 } else { room.min(statics.len()) };
                lost += if ty.is_declaration { 0 } else { statics.len() - keep };
                self.lost.extend(statics.drain(keep..));
                room -= keep;
            }
            if let Some(methods) = self.methods.get_mut(&id) {
                lost += methods.len().saturating_sub(room);
                methods.truncate(room);
            }
            if lost > 0 {
                self.crowded.insert(id, lost);
            }
        }
    }

    /// The function that the scope is in, or is: the innermost that is not inlined.
    pub fn function_of(&self, scope: ScopeId) -> Option<FunctionId> {
        self.functions[scope]
    }

    /// The static members that a type has as members.
    pub fn statics(&self, ty: TypeId) -> &[VariableId] {
        self.statics.get(&ty).map_or(&[], |all| all)
    }

    /// The member functions that a type has as members.
    pub fn methods(&self, ty: TypeId) -> &[FunctionId] {
        self.methods.get(&ty).map_or(&[], |all| all)
    }

    /// Whether no type has the static member as a member.
    pub fn is_lost(&self, id: VariableId) -> bool {
        self.lost.contains(&id)
    }

    /// The parameters of a function, in order.
    pub fn parameters(&self, function: FunctionId) -> &[VariableId] {
        let range = &self.of_function[function];
        self.parameters.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// Whether a function is a `DebugFunction`, which is a lexical scope, and no `DebugFunctionDeclaration`.
    pub fn has_body(&self, function: FunctionId) -> bool {
        !self.declared.contains(&function)
    }
}

/// Members that an instruction has room for: it has 14 words of its own.
const MOST_MEMBERS: usize = MOST_WORDS - 14;

/// How many of its own members a type has room for.
pub(super) fn member_count(mode: &Mode, module: &Module, composite: &Composite) -> usize {
    composite.members.len().min(MOST_MEMBERS - said_bases(mode, module, composite).count())
}

/// Base classes that are at a place which is known, and are classes; none where the mode has them not.
pub(super) fn said_bases<'m>(
    mode: &Mode,
    module: &'m Module,
    composite: &'m Composite,
) -> impl Iterator<Item = &'m Base> + use<'m> {
    let can_have = mode.has_inheritance && composite.kind != CompositeKind::Union;
    let is_said = move |base: &&Base| {
        let is_fixed = matches!(base.offset, BaseOffset::Bytes(_)) && !base.is_virtual;
        can_have && is_fixed && class_of(module, base.ty).is_some()
    };
    composite.bases.iter().filter(is_said).take(MOST_MEMBERS)
}

/// Where a function is declared; a definition that does not say it is where its declaration is.
pub(super) fn line_of(module: &Module, id: FunctionId) -> Option<SourceLine> {
    let function = &module.functions[id];
    function.line.or_else(|| module.functions[function.specification?].line)
}
