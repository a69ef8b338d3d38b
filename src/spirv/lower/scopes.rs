//! Writes blocks, namespaces, discriminators and inlined calls: section 4.7.

use hashbrown::HashMap;

use super::entities::{Globals, Operands, Scoped};
use super::slots::{Item, State};
use super::writer::Word;
use crate::error::{Error, Result};
use crate::model::{ScopeId, ScopeKind, SecondaryMap, SourceLine};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::{Discriminators, Feature};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// The parent scope; a unit's scope is its own parent.
pub(super) fn parent(out: &Globals<'_, '_, '_>, scope: ScopeId) -> ScopeId {
    out.module.scopes[scope].parent.unwrap_or(scope)
}

/// The lexical scope's item, unless the scope is a unit.
pub(super) fn scope_item(out: &Globals<'_, '_, '_>, scope: ScopeId) -> Option<Item> {
    let scope = out.described.relations.lexical(scope);
    match out.module.scopes[scope].kind {
        ScopeKind::Unit => None,
        ScopeKind::Function(function) => Some(Item::Function(function)),
        ScopeKind::Type(ty) => Some(Item::Type(ty)),
        _ => Some(Item::Scope(scope)),
    }
}

/// The innermost enclosing lexical scope that can be referenced now: not a function or type that is being written
/// because of this scope, nor a block in such a function.
fn reachable(out: &Globals<'_, '_, '_>, scope: ScopeId) -> ScopeId {
    let mut wider = out.described.relations.lexical(scope);
    // Without open items, nothing is being written because of this scope.
    if out.pending.open == 0 {
        return wider;
    }
    loop {
        // Wherever a cycle is cut, blocks stay in their function, and namespaces in their unit.
        let whole = out.described.relations.whole(wider);
        match scope_item(out, whole) {
            Some(item) if out.slots.state(item) == State::Open => {
                wider = out.described.relations.lexical(parent(out, whole))
            }
            _ => return wider,
        }
    }
}

/// The item for an entity's scope, visited before the entity is opened.
pub(super) fn scope_before(out: &Globals<'_, '_, '_>, scope: ScopeId) -> Option<Item> {
    if out.reused.scope.is_some_and(|(last, _)| last == scope) {
        return None;
    }
    scope_item(out, reachable(out, scope))
}

/// The operand for an entity's scope. If that scope is not written yet, a wider scope, and an omission.
#[inline]
pub(super) fn scope(out: &mut Globals<'_, '_, '_>, scope: ScopeId, subject: Subject) -> Result<Word> {
    match out.reused.scope {
        Some((last, word)) if last == scope => Ok(word),
        _ => find_scope(out, scope, subject),
    }
}

fn find_scope(out: &mut Globals<'_, '_, '_>, scope: ScopeId, subject: Subject) -> Result<Word> {
    let own = out.described.relations.lexical(scope);
    let wider = reachable(out, scope);
    if own != wider
        && has_later(out)
        && let Some(item) = scope_item(out, own)
    {
        // A forward reference keeps the exact scope.
        return out.id(item).map(Word::Later);
    }
    if own != wider {
        out.omit(subject, Property::Scope, Reason::WiderScope(wider));
    }
    let word = match scope_item(out, wider) {
        Some(item) => out.id(item).map(Word::Id)?,
        // Every unit has an id.
        None => out.files.units[out.module.scopes[wider].unit].unwrap_or(Id(0)).into(),
    };
    // Only an exact scope is remembered: a wider one is right for this cycle alone.
    if own == wider {
        debug_assert!(scope_item(out, own).is_none_or(|item| out.slots.state(item) == State::Done));
        out.reused.scope = Some((scope, word));
    }
    Ok(word)
}

/// Adds an omission: the inlined call's entity belongs to the function instead.
pub(super) fn omit_inlined(out: &mut Globals<'_, '_, '_>, scope: ScopeId, subject: Subject) {
    let Some(call) = out.described.relations.inlined[scope] else { return };
    let ScopeKind::Inlined { function, .. } = out.module.scopes[call].kind else { return };
    out.omit(subject, Property::InlinedScope, Reason::FunctionScope(function));
}

/// Whether a cycle can be encoded with a forward reference.
pub(super) fn has_later(out: &Globals<'_, '_, '_>) -> bool {
    out.writer.is_shader() && out.writer.mode.has(Feature::ForwardReferences)
}

/// Writes a block or namespace.
pub(super) fn block(out: &mut Globals<'_, '_, '_>, id: ScopeId) -> Result<()> {
    let module = out.module;
    let data = &module.scopes[id];
    let name = match data.kind {
        ScopeKind::Namespace { name, kind } => {
            let is_inline = kind.is_inline();
            if !kind.is_namespace() {
                out.omit(Subject::Scope(id), Property::Kind, Reason::NoOperand);
            }
            let is_encoded =
                out.writer.mode.set.has_operand(InstructionName::LexicalBlock, Field::InlineNamespace);
            if is_inline && name.is_some() && !is_encoded {
                out.omit(Subject::Scope(id), Property::InlineNamespace, Reason::NoOperand);
            }
            Some((name, is_inline && name.is_some() && is_encoded))
        }
        _ => None,
    };
    let subject = Subject::Scope(id);
    // Without a line, the enclosing scope's file is used.
    let line = match data.kind {
        ScopeKind::Block => SourceLine::new(out.described.relations.file(id), 0),
        _ => SourceLine::new(out.module.units[data.unit].file, 0),
    };
    let mut operands =
        Operands::from_iter(out.place(data.line.or(Some(line)), data.unit, subject, Property::Line));
    let around = parent(out, id);
    operands.push((Field::Scope, scope(out, around, subject)?));
    if let Some((name, is_inline)) = name {
        operands.push((Field::Name, out.name(name)?));
        if is_inline {
            operands.push((Field::InlineNamespace, out.writer.boolean(true)?.into()));
        }
    }
    let result = out.id(Item::Scope(id))?;
    out.writer.define(result, InstructionName::LexicalBlock, &operands)
}

/// The `DebugScope` operands for functions, blocks and inlined calls.
pub(super) fn scoped(out: &mut Globals<'_, '_, '_>) -> Result<SecondaryMap<ScopeId, Option<Scoped>>> {
    let module = out.module;
    let mut scoped: SecondaryMap<ScopeId, Option<Scoped>> = SecondaryMap::new();
    let mut calls: SecondaryMap<ScopeId, Option<Id>> = SecondaryMap::new();
    // By block and number, because a block's instances share its discriminators.
    let mut discriminators = HashMap::new();
    for (id, data) in &module.scopes {
        let is_code = match data.kind {
            ScopeKind::Function(function) => out.described.relations.has_body(function),
            ScopeKind::Block | ScopeKind::Inlined { .. } => true,
            _ => false,
        };
        // Only scopes with instructions can be referenced by `DebugScope`.
        if !is_code {
            continue;
        }
        if matches!(data.kind, ScopeKind::Inlined { .. }) {
            calls[id] = Some(inlined_at(out, id, &calls, &scoped)?);
        }
        let Word::Id(mut scope) = scope(out, id, Subject::Scope(id))? else {
            continue;
        };
        let is_block = data.kind == ScopeKind::Block;
        if is_block && data.discriminator != 0 {
            let is_scope = out.writer.mode.discriminators == Discriminators::AsScopes;
            let of_origin = data.origin.map(|origin| module.scopes[origin].discriminator);
            // An instance without an origin is encoded as the enclosing scope.
            let is_encoded = data.origin.is_some() || out.described.relations.inlined[id].is_none();
            if is_encoded && (is_scope || of_origin.is_none()) {
                let key = (scope, data.discriminator);
                let discriminator = match discriminators.get(&key) {
                    Some(&discriminator) => discriminator,
                    None => discriminator(out, data.origin.unwrap_or(id), key)?,
                };
                discriminators.insert(key, discriminator);
                if is_scope {
                    scope = discriminator;
                }
            } else if is_encoded && of_origin != Some(data.discriminator) {
                out.omit(Subject::Scope(id), Property::Discriminator, Reason::NoOperand);
            }
        }
        if is_block && out.described.relations.inlined[id].is_some() && data.origin.is_none() {
            out.omit(Subject::Scope(id), Property::Entity, Reason::InstanceOfNone);
        }
        if let Some(origin) = data.origin
            && data.line.is_some_and(|line| module.scopes[origin].line != Some(line))
        {
            out.omit(Subject::Scope(id), Property::Line, Reason::OfOrigin);
        }
        let inlined = out.described.relations.inlined[id].and_then(|call| calls[call]);
        scoped[id] = Some(Scoped { scope, inlined });
    }
    Ok(scoped)
}

fn discriminator(out: &mut Globals<'_, '_, '_>, id: ScopeId, (scope, number): (Id, u32)) -> Result<Id> {
    let source = out.files.source(out.described.relations.file(id));
    let number = (Field::Discriminator, number.into());
    out.writer.instruction(
        InstructionName::LexicalBlockDiscriminator,
        &[source, number, (Field::Scope, scope.into())],
    )
}

/// Writes a `DebugInlinedAt`. The enclosing scopes precede it.
fn inlined_at(
    out: &mut Globals<'_, '_, '_>,
    id: ScopeId,
    calls: &SecondaryMap<ScopeId, Option<Id>>,
    scoped: &SecondaryMap<ScopeId, Option<Scoped>>,
) -> Result<Id> {
    let module = out.module;
    let data = &module.scopes[id];
    let ScopeKind::Inlined { call, .. } = data.kind else { return Ok(Id(0)) };
    let around = parent(out, id);
    let subject = Subject::Scope(id);
    // The call site is in code, or outside all functions.
    let scope = match scoped[around] {
        Some(scoped) => Word::Id(scoped.scope),
        None => scope(out, around, subject)?,
    };
    let Word::Id(mut scope) = scope else { return Err(Error::bad_argument("the call has no scope")) };
    if data.discriminator != 0 {
        match out.writer.mode.discriminators {
            Discriminators::AsScopes => {
                let source = out.files.source(call.file);
                let number = (Field::Discriminator, data.discriminator.into());
                let operands = [source, number, (Field::Scope, scope.into())];
                scope = out.writer.instruction(InstructionName::LexicalBlockDiscriminator, &operands)?;
            }
            Discriminators::Beside => {
                out.omit(subject, Property::Discriminator, Reason::NoOperand);
            }
        }
    }
    let has_column = out.writer.mode.set.has_operand(InstructionName::InlinedAt, Field::Column);
    if call.column != 0 && !has_column {
        out.omit(subject, Property::Column, Reason::NoOperand);
    }
    // Readers take the call's line from the enclosing scope's file, because the instruction names no file.
    let file = out.described.relations.file(around);
    if file != call.file {
        out.omit(subject, Property::CallFile, Reason::OtherFile);
    }
    let column = if has_column { call.column } else { 0 };
    let (SourceLine { line, column, .. }, fault) =
        out.described.texts.fit(SourceLine { file, column, ..call });
    if let Some(fault) = fault {
        out.omit(subject, Property::CallLine, fault);
    }
    let mut operands = Operands::new();
    operands.push((Field::Line, line.into()));
    operands.push((Field::Column, column.into()));
    operands.push((Field::Scope, scope.into()));
    let next = out.described.relations.inlined[around].and_then(|call| calls[call]);
    operands.extend(next.map(|next| (Field::Inlined, next.into())));
    out.writer.instruction(InstructionName::InlinedAt, &operands)
}
