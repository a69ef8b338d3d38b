//! Blocks, namespaces, discriminators and inlined calls: section 4.7.

use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use super::entities::{Globals, Operands, Scoped};
use super::order::{Item, State};
use super::writer::Word;
use crate::error::{Error, Result};
use crate::model::{ScopeId, ScopeKind, SourceLine};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::{Discriminators, Feature};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Globals<'_, '_, '_> {
    /// The parent scope; the scope of a unit is its own parent.
    pub(super) fn parent(&self, scope: ScopeId) -> ScopeId {
        self.module.scopes[scope].parent.unwrap_or(scope)
    }

    /// The item for the lexical scope, unless that is a unit.
    pub(super) fn scope_item(&self, scope: ScopeId) -> Option<Item> {
        let scope = self.described.relations.lexical(scope);
        match self.module.scopes[scope].kind {
            ScopeKind::Unit => None,
            ScopeKind::Function(function) => Some(Item::Function(function)),
            ScopeKind::Type(ty) => Some(Item::Type(ty)),
            _ => Some(Item::Scope(scope)),
        }
    }

    /// The innermost enclosing lexical scope that can be referred to now: not a function or type that is being written
    /// because of this one, nor a block of such a function.
    fn reachable(&self, scope: ScopeId) -> ScopeId {
        let mut wider = self.described.relations.lexical(scope);
        if self.pending.open == 0 {
            return wider;
        }
        loop {
            // Blocks stay in their function, and namespaces in their unit, wherever a cycle is cut.
            let whole = self.described.relations.whole(wider);
            match self.scope_item(whole) {
                Some(item) if self.slots.state(item) == State::Open => {
                    wider = self.described.relations.lexical(self.parent(whole))
                }
                _ => return wider,
            }
        }
    }

    /// Item for the scope of an entity, visited before the entity is opened.
    pub(super) fn scope_before(&self, scope: ScopeId) -> Option<Item> {
        if self.reused.scope.is_some_and(|(last, _)| last == scope) {
            return None;
        }
        self.scope_item(self.reachable(scope))
    }

    /// Operand for the scope of an entity. If that scope is not written yet, a wider one, and an omission.
    #[inline]
    pub(super) fn scope(&mut self, scope: ScopeId, subject: Subject) -> Result<Word> {
        match self.reused.scope {
            Some((last, word)) if last == scope => Ok(word),
            _ => self.find_scope(scope, subject),
        }
    }

    fn find_scope(&mut self, scope: ScopeId, subject: Subject) -> Result<Word> {
        let (own, wider) = (self.described.relations.lexical(scope), self.reachable(scope));
        if own != wider
            && self.has_later()
            && let Some(item) = self.scope_item(own)
        {
            return self.id(item).map(Word::Later);
        }
        if own != wider {
            self.omit(subject, Property::Scope, Reason::WiderScope(wider));
        }
        let word = match self.scope_item(wider) {
            Some(item) => self.id(item).map(Word::Id)?,
            // Every unit has an id.
            None => self.files.units[self.module.scopes[wider].unit].unwrap_or(Id(0)).into(),
        };
        if own == wider {
            debug_assert!(self.scope_item(own).is_none_or(|item| self.slots.state(item) == State::Done));
            self.reused.scope = Some((scope, word));
        }
        Ok(word)
    }

    /// Adds an omission: the function has the entity of an inlined call.
    pub(super) fn omit_inlined(&mut self, scope: ScopeId, subject: Subject) {
        let Some(call) = self.described.relations.inlined[scope] else { return };
        let ScopeKind::Inlined { function, .. } = self.module.scopes[call].kind else { return };
        self.omit(subject, Property::InlinedScope, Reason::FunctionScope(function));
    }

    /// Whether a cycle can be encoded with a forward reference.
    pub(super) fn has_later(&self) -> bool {
        self.writer.is_shader() && self.writer.mode.has(Feature::ForwardReferences)
    }

    /// Writes a block or namespace.
    pub(super) fn block(&mut self, id: ScopeId) -> Result<()> {
        let module = self.module;
        let data = &module.scopes[id];
        let name = match data.kind {
            ScopeKind::Namespace { name, is_inline } => {
                let is_encoded = self.writer.mode.set.has_operand(Name::LexicalBlock, Field::InlineNamespace);
                if is_inline && name.is_some() && !is_encoded {
                    self.omit(Subject::Scope(id), Property::InlineNamespace, Reason::NoOperand);
                }
                Some((name, is_inline && name.is_some() && is_encoded))
            }
            _ => None,
        };
        let subject = Subject::Scope(id);
        // Without a line of its own, the file of the enclosing scope.
        let line = match data.kind {
            ScopeKind::Block => SourceLine { file: self.described.relations.file(id), line: 0, column: 0 },
            _ => SourceLine { file: self.module.units[data.unit].file, line: 0, column: 0 },
        };
        let mut operands =
            Operands::from_iter(self.place(data.line.or(Some(line)), data.unit, subject, Property::Line));
        operands.push((Field::Scope, self.scope(self.parent(id), subject)?));
        if let Some((name, is_inline)) = name {
            operands.push((Field::Name, self.name(name)?));
            if is_inline {
                operands.push((Field::InlineNamespace, self.writer.boolean(true)?.into()));
            }
        }
        let result = self.id(Item::Scope(id))?;
        self.writer.define(result, Name::LexicalBlock, &operands)
    }

    /// Operands of `DebugScope` for functions, blocks and inlined calls.
    pub(super) fn scoped(&mut self) -> Result<SecondaryMap<ScopeId, Option<Scoped>>> {
        let module = self.module;
        let mut scoped: SecondaryMap<ScopeId, Option<Scoped>> = SecondaryMap::new();
        let mut calls: SecondaryMap<ScopeId, Option<Id>> = SecondaryMap::new();
        // By block and number: instances of a block share its discriminators.
        let mut discriminators = HashMap::new();
        for (id, data) in &module.scopes {
            let is_code = match data.kind {
                ScopeKind::Function(function) => self.described.relations.has_body(function),
                ScopeKind::Block | ScopeKind::Inlined { .. } => true,
                _ => false,
            };
            if !is_code {
                continue;
            }
            if matches!(data.kind, ScopeKind::Inlined { .. }) {
                calls[id] = Some(self.inlined_at(id, &calls, &scoped)?);
            }
            let Word::Id(mut scope) = self.scope(id, Subject::Scope(id))? else {
                continue;
            };
            let is_block = data.kind == ScopeKind::Block;
            if is_block && data.discriminator != 0 {
                let is_scope = self.writer.mode.discriminators == Discriminators::AsScopes;
                let of_origin = data.origin.map(|origin| module.scopes[origin].discriminator);
                // An instance without an origin is encoded as the scope around it.
                let is_encoded = data.origin.is_some() || self.described.relations.inlined[id].is_none();
                if is_encoded && (is_scope || of_origin.is_none()) {
                    let key = (scope, data.discriminator);
                    let discriminator = match discriminators.get(&key) {
                        Some(&discriminator) => discriminator,
                        None => self.discriminator(data.origin.unwrap_or(id), key)?,
                    };
                    discriminators.insert(key, discriminator);
                    if is_scope {
                        scope = discriminator;
                    }
                } else if is_encoded && of_origin != Some(data.discriminator) {
                    self.omit(Subject::Scope(id), Property::Discriminator, Reason::NoOperand);
                }
            }
            if is_block && self.described.relations.inlined[id].is_some() && data.origin.is_none() {
                self.omit(Subject::Scope(id), Property::Entity, Reason::InstanceOfNone);
            }
            if let Some(origin) = data.origin
                && data.line.is_some_and(|line| module.scopes[origin].line != Some(line))
            {
                self.omit(Subject::Scope(id), Property::Line, Reason::OfOrigin);
            }
            let inlined = self.described.relations.inlined[id].and_then(|call| calls[call]);
            scoped[id] = Some(Scoped { scope, inlined });
        }
        Ok(scoped)
    }

    fn discriminator(&mut self, id: ScopeId, (scope, number): (Id, u32)) -> Result<Id> {
        let source = self.files.source(self.described.relations.file(id));
        let number = (Field::Discriminator, number.into());
        self.writer
            .instruction(Name::LexicalBlockDiscriminator, &[source, number, (Field::Scope, scope.into())])
    }

    /// Writes a `DebugInlinedAt`. The enclosing scopes precede it.
    fn inlined_at(
        &mut self,
        id: ScopeId,
        calls: &SecondaryMap<ScopeId, Option<Id>>,
        scoped: &SecondaryMap<ScopeId, Option<Scoped>>,
    ) -> Result<Id> {
        let module = self.module;
        let data = &module.scopes[id];
        let ScopeKind::Inlined { call, .. } = data.kind else { return Ok(Id(0)) };
        let around = self.parent(id);
        let subject = Subject::Scope(id);
        // The call site is in code, or outside of all functions.
        let scope = match scoped[around] {
            Some(scoped) => Word::Id(scoped.scope),
            None => self.scope(around, subject)?,
        };
        let Word::Id(mut scope) = scope else { return Err(Error::bad_argument("a call has a scope")) };
        if data.discriminator != 0 {
            match self.writer.mode.discriminators {
                Discriminators::AsScopes => {
                    let source = self.files.source(call.file);
                    let number = (Field::Discriminator, data.discriminator.into());
                    let operands = [source, number, (Field::Scope, scope.into())];
                    scope = self.writer.instruction(Name::LexicalBlockDiscriminator, &operands)?;
                }
                Discriminators::Beside => {
                    self.omit(subject, Property::Discriminator, Reason::NoOperand);
                }
            }
        }
        let has_column = self.writer.mode.set.has_operand(Name::InlinedAt, Field::Column);
        if call.column != 0 && !has_column {
            self.omit(subject, Property::Column, Reason::NoOperand);
        }
        // The line of the call counts in the file of the enclosing scope.
        let file = self.described.relations.file(around);
        if file != call.file {
            self.omit(subject, Property::CallFile, Reason::OtherFile);
        }
        let at = if has_column { call.column } else { 0 };
        let (SourceLine { line, column, .. }, fault) =
            self.described.texts.fit(SourceLine { file, column: at, ..call });
        if let Some(fault) = fault {
            self.omit(subject, Property::CallLine, fault);
        }
        let mut operands = Operands::new();
        operands.push((Field::Line, line.into()));
        operands.push((Field::Column, column.into()));
        operands.push((Field::Scope, scope.into()));
        let next = self.described.relations.inlined[around].and_then(|call| calls[call]);
        operands.extend(next.map(|next| (Field::Inlined, next.into())));
        self.writer.instruction(Name::InlinedAt, &operands)
    }
}
