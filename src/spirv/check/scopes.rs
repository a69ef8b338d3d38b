//! Scopes: the key of each, and the scope that entities are encoded in.

use super::described::{Projection, Properties};
use super::shapes::{Quoted, Shape, shape};
use crate::model::{FunctionId, ScopeId, ScopeKind, SourceLine};
use crate::omission::{Property, Subject};
use crate::spirv::mode::Discriminators;
use crate::spirv::operand::Field;
use crate::spirv::table::{Name, Set};

impl Projection<'_> {
    /// The key of a scope.
    pub(super) fn scope(&mut self, id: ScopeId) -> Shape {
        if let Some(shape) = self.scopes[id] {
            return shape;
        }
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
                let around = self.enclosing_lexical(self.module.ty(ty).scope());
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

    /// The key of a scope, from the keys of the enclosing scopes, which exist already.
    pub(super) fn scope_here(&mut self, id: ScopeId) -> Shape {
        let data = self.module.scope(id);
        let known = |this: &Self, id: Option<ScopeId>| id.and_then(|id| this.scopes[id]);
        let nothing = shape!(self.shapes; "nothing");
        let parent = known(self, data.parent).unwrap_or(nothing);
        let text = |id: crate::model::StringId| self.module.string(id);
        match data.kind {
            ScopeKind::Unit => shape!(self.shapes; "unit", self.path_text(self.module.unit(data.unit).file)),
            ScopeKind::Namespace { name, .. } => {
                shape!(self.shapes; parent, "namespace", Quoted(name.map(text).unwrap_or_default()))
            }
            ScopeKind::Function(function) => self.function_key(function, parent),
            ScopeKind::Type(ty) => self.type_key(ty),
            ScopeKind::Block => match (data.origin, self.call(id)) {
                (Some(origin), Some(call)) => {
                    let (call, origin) = (known(self, Some(call)), known(self, Some(origin)));
                    shape!(self.shapes; call.unwrap_or(nothing), "of", origin.unwrap_or(nothing))
                }
                // An instance without an origin is encoded as the enclosing scope.
                (None, Some(_)) => parent,
                _ => {
                    let line = self.line(data.line, Subject::Scope(id), Property::Line);
                    shape!(self.shapes; parent, "block", line)
                }
            },
            ScopeKind::Inlined { function, call } => {
                let subject = Subject::Scope(id);
                let callee = known(self, Some(self.module.function(function).scope)).unwrap_or(nothing);
                let file = data.parent.map_or(call.file, |around| self.file_of(around));
                let has_column = self.mode.set.has_operand(Name::InlinedAt, Field::Column);
                let column = if has_column { call.column } else { 0 };
                let line = Some(SourceLine { file, column, ..call });
                let line = self.line(line, subject, Property::CallLine);
                let number = self.discriminator(id).unwrap_or_default();
                shape!(self.shapes; parent, "call in line", line, number, "of", callee)
            }
        }
    }

    pub(super) fn function_key(&mut self, id: FunctionId, parent: Shape) -> Shape {
        let function = self.module.function(id);
        let declared = function.specification.map(|of| self.module.function(of));
        let linkage = function.linkage_name.or_else(|| declared?.linkage_name);
        let name = self.module.string(function.name);
        let linkage = linkage.map_or("", |linkage| self.module.string(linkage));
        let linkage = if linkage == name { "" } else { linkage };
        let kind = if self.is_only_declared(id) { "declaration" } else { "function" };
        shape!(self.shapes; parent, kind, Quoted(name), Quoted(linkage))
    }

    /// The innermost inlined call that a scope is in.
    pub(super) fn call(&self, id: ScopeId) -> Option<ScopeId> {
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

    /// The discriminator of a block's instructions or of an inlined call, in modes that encode discriminators as
    /// scopes. A call without a discriminator has that of the enclosing block.
    pub(super) fn discriminator(&self, id: ScopeId) -> Option<u64> {
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
            // An instance without an origin is encoded as the scope around it.
            (ScopeKind::Block, _) if data.origin.is_none() && self.call(id).is_some() => 0,
            (ScopeKind::Block, _) => data.discriminator.into(),
            _ => 0,
        };
        (number != 0).then_some(number)
    }

    /// The lexical scope in which an entity is encoded. For an inlined call it is the function; for a block in one, the
    /// block's origin, or else the lexical scope of the enclosing scope.
    pub(super) fn lexical(&self, mut scope: ScopeId) -> ScopeId {
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

    /// The innermost unit or namespace around a scope, or the scope itself.
    pub(super) fn enclosing_lexical(&self, id: ScopeId) -> ScopeId {
        let mut at = id;
        loop {
            let data = self.module.scope(at);
            match (&data.kind, data.parent) {
                (ScopeKind::Unit | ScopeKind::Namespace { .. }, _) | (_, None) => return at,
                (_, Some(parent)) => at = parent,
            }
        }
    }

    pub(super) fn namespace(&mut self, id: ScopeId) -> Shape {
        let enclosing_lexical = self.enclosing_lexical(id);
        self.scope(enclosing_lexical)
    }

    pub(super) fn scope_record(&mut self, id: ScopeId, kind: &ScopeKind) {
        let data = self.module.scope(id);
        let mut all = Properties::new();
        match kind {
            &ScopeKind::Namespace { name, is_inline } => {
                all.push((
                    Property::Line,
                    "line".into(),
                    self.line(data.line, Subject::Scope(id), Property::Line),
                ));
                let has_flag = self.mode.set.has_operand(Name::LexicalBlock, Field::InlineNamespace);
                self.yes(
                    &mut all,
                    has_flag && is_inline && name.is_some(),
                    (Property::InlineNamespace, "inline"),
                );
            }
            ScopeKind::Block if self.call(id).is_none() => {
                if data.discriminator != 0 && self.mode.discriminators == Discriminators::Beside {
                    let number = shape!(self.shapes; u64::from(data.discriminator));
                    all.push((Property::Discriminator, "discriminator".into(), number));
                }
            }
            _ => return,
        }
        let key = self.scope(id);
        self.record(key, Subject::Scope(id), &all, false);
    }

    /// Whether a function is read back as a declaration. A `DebugFunction` with code or blocks is read back as a
    /// definition, because not all producers mark definitions.
    pub(super) fn is_only_declared(&self, id: FunctionId) -> bool {
        let is_function = self.is_method(id) && self.with_body.contains(&id);
        self.module.function(id).is_declaration && !is_function
    }

    /// Whether a function is a member function that is declared only. `OpenCL.DebugInfo.100` encodes it as a
    /// `DebugFunction` with parameters, because members of a type are functions there, not declarations.
    pub(super) fn is_method(&self, id: FunctionId) -> bool {
        let parent = self.module.scope(self.module.function(id).scope).parent;
        let is_in_type = parent.is_some_and(|parent| match self.module.scope(parent).kind {
            ScopeKind::Type(ty) => !self.module.ty(ty).is_declaration(),
            _ => false,
        });
        self.mode.set == Set::OpenCl && is_in_type && !self.defined.contains(&id)
    }
}
