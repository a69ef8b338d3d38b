//! Inlined calls: section 4.7. A `DebugInlinedAt` is the call site; the scope beside it belongs to the called function.
//! The model has a scope for each pair of both.

use hashbrown::HashSet;

use super::importer::Importer;
use super::omissions::refused;
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, SourceLine, VariableId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// A scope's instance (the scope is a function or a block in it) in an inlined call.
pub(super) fn instance(
    importer: &mut Importer<'_, '_>,
    scope: ScopeId,
    inlined: Id,
) -> Result<Option<ScopeId>> {
    // Enclosing calls come first. They are collected on a stack, because calls can be nested deeply.
    let mut calls = vec![(scope, inlined)];
    let mut seen = HashSet::new();
    while let Some(&call) = calls.last()
        && !importer.entities.instances.contains_key(&call)
    {
        let Some(at) = inlined_at(importer, call.1) else {
            importer.entities.instances.insert(call, None);
            break;
        };
        // A call that is inlined into itself would never end.
        if !seen.insert(call.1) {
            importer.omissions.omit(&at, Unimported::InlinedIntoItself);
            importer.entities.instances.insert(call, None);
            break;
        }
        let Some(outer) = importer.scope_of(&at) else { break };
        match at.id(Field::Inlined) {
            Some(next) => calls.push((outer, next)),
            None => break,
        }
    }
    while let Some(call) = calls.pop() {
        if !importer.entities.instances.contains_key(&call) {
            let made = make_instance(importer, call.0, call.1)?;
            importer.entities.instances.insert(call, made);
        }
    }
    Ok(importer.entities.instances.get(&(scope, inlined)).copied().flatten())
}

fn inlined_at<'a>(importer: &Importer<'_, 'a>, id: Id) -> Option<Fact<'a>> {
    importer.facts.get(id).filter(|fact| fact.name() == Some(InstructionName::InlinedAt))
}

/// Adds a scope's instance in an inlined call. Instances for the enclosing calls exist already.
fn make_instance(importer: &mut Importer<'_, '_>, scope: ScopeId, inlined: Id) -> Result<Option<ScopeId>> {
    let Some(at) = inlined_at(importer, inlined) else { return Ok(None) };
    let outer = importer.scope_of(&at);
    let parent = match at.id(Field::Inlined) {
        Some(next) => {
            outer.and_then(|outer| importer.entities.instances.get(&(outer, next)).copied().flatten())
        }
        None => outer,
    };
    let Some(parent) = parent else {
        importer.omissions.omit(&at, Unimported::InlinedIntoUnknown);
        return Ok(None);
    };
    let mut blocks = Vec::new();
    let mut current = scope;
    // The call site's discriminator belongs to the instance around it.
    if at.operand(Field::Inlined).is_some()
        && let Some(scope) = at.id(Field::Scope)
    {
        instance_discriminator(importer, scope, parent);
    }
    // From the scope outward to its function, or to a block that already has an instance.
    let mut instance = loop {
        if let Some(known) = importer.entities.instances.get(&(current, inlined)) {
            match *known {
                Some(known) => break known,
                None => return Ok(None),
            }
        }
        let module = importer.m.described();
        let data = module.scope(current);
        match (&data.kind, data.parent) {
            (ScopeKind::Block, Some(parent)) => {
                blocks.push(current);
                current = parent;
            }
            (&ScopeKind::Function(function), _) => {
                let call = call_line(importer, &at, parent);
                importer.take_room()?;
                let number = of_call(importer, &at).unwrap_or_default();
                let made = importer.m.inlined(parent, function, &[], call);
                let made = made.and_then(|made| importer.m.discriminator(made, number).map(|()| made));
                match made.map_err(refused) {
                    Ok(instance) => break kept(importer, current, inlined, instance),
                    Err(what) => {
                        importer.omissions.omit(&at, what);
                        return Ok(None);
                    }
                }
            }
            _ => {
                importer.omissions.omit(&at, Unimported::NotInlinable);
                return Ok(None);
            }
        }
    };
    // Then inward again, adding an instance for each block.
    for block in blocks.into_iter().rev() {
        importer.take_room()?;
        instance = match importer.m.inlined_block(instance, block, &[]).map_err(refused) {
            Ok(instance) => kept(importer, block, inlined, instance),
            Err(what) => {
                importer.omissions.omit(&at, what);
                return Ok(None);
            }
        };
    }
    Ok(Some(instance))
}

fn kept(importer: &mut Importer<'_, '_>, of: ScopeId, inlined: Id, instance: ScopeId) -> ScopeId {
    importer.entities.instances.insert((of, inlined), Some(instance));
    instance
}

/// A call's line, in the enclosing scope's file, because `DebugInlinedAt` does not reference a file.
fn call_line(importer: &mut Importer<'_, '_>, at: &Fact<'_>, parent: ScopeId) -> SourceLine {
    let unit = importer.m.described().scope(parent).unit;
    let scope = at.id(Field::Scope).and_then(|scope| importer.facts.get(importer.facts.not_template(scope)));
    let source = scope.and_then(|scope| scope.id(Field::Source));
    let file = source.and_then(|source| importer.file(source, unit));
    let file = file.unwrap_or_else(|| importer.m.described().unit(unit).file);
    SourceLine::new(file, importer.facts.word(at, Field::Line)).column(importer.facts.word(at, Field::Column))
}

/// A variable's instance in an inlined call.
pub(super) fn inlined_variable(
    importer: &mut Importer<'_, '_>,
    variable: Id,
    inlined: Id,
) -> Result<Option<VariableId>> {
    if let Some(&known) = importer.entities.inlined_variables.get(&(variable, inlined)) {
        return Ok(Some(known));
    }
    let Some(&origin) = importer.entities.variables.get(&variable) else { return Ok(None) };
    let scope = importer.m.described().variable(origin).scope;
    // The instance of the variable's scope may be a block inside the call.
    let Some(scope) = instance(importer, scope, inlined)? else { return Ok(None) };
    importer.take_room()?;
    let instance = importer.m.inlined_variable(scope, origin).map(|variable| variable.id());
    match instance {
        Ok(instance) => {
            importer.entities.inlined_variables.insert((variable, inlined), instance);
            Ok(Some(instance))
        }
        Err(error) => {
            if let Some(fact) = importer.facts.get(variable) {
                importer.omissions.omit(&fact, refused(error));
            }
            Ok(None)
        }
    }
}

/// Imports each `DebugInlinedVariable`.
pub(super) fn inlined_variables(importer: &mut Importer<'_, '_>) -> Result<()> {
    for fact in importer.facts.iter().filter(|fact| fact.name() == Some(InstructionName::InlinedVariable)) {
        let made = match (fact.id(Field::Variable), fact.id(Field::Inlined)) {
            (Some(variable), Some(inlined)) => {
                if importer.entities.inlined_variables.contains_key(&(variable, inlined)) {
                    importer.omissions.omit(&fact, Unimported::Duplicate);
                }
                inlined_variable(importer, variable, inlined)?
            }
            _ => None,
        };
        if made.is_none() {
            importer.omissions.omit_whole(&fact, Unimported::NoInlinedVariable);
        }
    }
    Ok(())
}

/// Lists inlined calls that no instruction or variable belongs to, because their function is unknown.
pub(super) fn lost_calls(importer: &mut Importer<'_, '_>) {
    let known: HashSet<Id> = importer.entities.instances.keys().map(|&(_, inlined)| inlined).collect();
    for fact in importer.facts.iter().filter(|fact| fact.name() == Some(InstructionName::InlinedAt)) {
        if !known.contains(&fact.result) {
            importer.omissions.omit(&fact, Unimported::NothingInlined);
        }
    }
}

/// Gives a block's instance the discriminator that its instructions have as their scope.
pub(super) fn instance_discriminator(importer: &mut Importer<'_, '_>, scope: Id, instance: ScopeId) {
    let discriminator =
        importer.facts.get(scope).filter(|it| it.name() == Some(InstructionName::LexicalBlockDiscriminator));
    let is_block = importer.m.described().scope(instance).kind == ScopeKind::Block;
    if let Some(fact) =
        discriminator.filter(|it| is_block && !importer.references.of_calls.contains(&it.result))
    {
        let number = importer.facts.word(&fact, Field::Discriminator);
        // A block can have a discriminator, so that this cannot fail.
        let _ = importer.m.discriminator(instance, number);
    }
}

/// A call's discriminator number, if only calls belong to the discriminator.
pub(super) fn of_call(importer: &Importer<'_, '_>, at: &Fact<'_>) -> Option<u32> {
    let scope = importer.facts.named(at, Field::Scope, InstructionName::LexicalBlockDiscriminator);
    let scope = scope.filter(|scope| importer.references.of_calls.contains(&scope.result))?;
    Some(importer.facts.word(&scope, Field::Discriminator))
}
