//! Imports blocks and namespaces.

use super::functions;
use super::importer::Importer;
use super::omissions::{Made, refused};
use crate::model::ScopeKind;
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

pub(super) fn make_scope(importer: &mut Importer<'_, '_>, id: Id) {
    let Some(fact) = importer.facts.get(id) else { return };
    let made = match fact.name() {
        Some(InstructionName::Function | InstructionName::FunctionDeclaration) => {
            functions::function(importer, &fact)
        }
        Some(InstructionName::LexicalBlock) => block(importer, &fact),
        Some(InstructionName::Module) => namespace(importer, &fact),
        Some(InstructionName::LexicalBlockDiscriminator) => discriminator(importer, &fact),
        // Units and types are imported, or listed as omissions, elsewhere.
        _ => return,
    };
    importer.omissions.made(&fact, made);
}

fn block(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    let parent = importer.parent(fact)?;
    let unit = importer.m.described().scope(parent).unit;
    let line = importer.line(fact, unit);
    let name = fact.operand(Field::Name).map(|_| importer.facts.text(fact, Field::Name));
    let is_inline = importer.facts.number(fact, Field::InlineNamespace) == Some(1);
    let kind = &importer.m.described().scope(parent).kind;
    // A block with a name is a namespace in these sets.
    let scope = match name.as_deref() {
        Some("") => importer.m.anonymous_namespace(parent),
        Some(name) if is_inline => importer.m.inline_namespace(parent, name),
        Some(name) => importer.m.namespace(parent, name),
        // The model has blocks only in functions; what the block contains belongs to its parent.
        None if matches!(kind, ScopeKind::Unit | ScopeKind::Namespace { .. }) => {
            importer.omissions.omit(fact, Unimported::BlockOfNoFunction);
            importer.entities.scopes.insert(fact.result, parent);
            return Ok(());
        }
        None => importer.m.block(parent, &[]),
    };
    let scope = scope.map_err(refused)?;
    importer.entities.scopes.insert(fact.result, scope);
    line.map_or(Ok(()), |line| importer.m.begins(scope, line)).map_err(refused)
}

/// Imports a language's module as a namespace.
fn namespace(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    let parent = importer.parent(fact)?;
    let name = importer.facts.text(fact, Field::Name);
    let scope = importer.m.namespace(parent, &name).map_err(refused)?;
    importer.omissions.omit(fact, Unimported::ModuleNamespace);
    importer.entities.scopes.insert(fact.result, scope);
    let unit = importer.m.described().scope(parent).unit;
    let line = importer.line(fact, unit);
    line.map_or(Ok(()), |line| importer.m.begins(scope, line)).map_err(refused)
}

/// Imports a discriminator: a block's only discriminator becomes the block's, and if there are several, each becomes a
/// nested block.
fn discriminator(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    let parent = importer.parent(fact)?;
    if importer.references.of_calls.contains(&fact.result) {
        importer.entities.scopes.insert(fact.result, parent);
        return Ok(());
    }
    let number = importer.facts.word(fact, Field::Discriminator);
    let siblings = fact.id(Field::Scope).and_then(|id| importer.references.discriminators.get(&id));
    let is_of_instance = |id: &&Id| importer.references.of_instances.contains(*id);
    let is_only = match siblings.map(|calls| (calls.len(), calls.iter().filter(is_of_instance).count())) {
        // An instance's discriminator becomes the instance's own when the instance is imported.
        Some((1, _)) => true,
        Some(_) if importer.references.of_instances.contains(&fact.result) => {
            importer.entities.scopes.insert(fact.result, parent);
            return Ok(());
        }
        Some((count, of_instances)) => count - of_instances == 1,
        None => false,
    };
    let scope = match importer.m.described().scope(parent).kind {
        ScopeKind::Block if is_only => parent,
        // A function has no discriminator, so that it gets a block.
        _ => {
            let block = importer.m.block(parent, &[]).map_err(refused)?;
            importer.omissions.omit(fact, Unimported::OwnBlock);
            block
        }
    };
    importer.entities.scopes.insert(fact.result, scope);
    importer.m.discriminator(scope, number).map_err(refused)
}
