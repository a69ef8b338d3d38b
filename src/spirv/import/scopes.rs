//! Blocks and namespaces.

use super::Importer;
use super::omissions::{Made, refused};
use crate::model::{ScopeId, ScopeKind};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'a> Importer<'_, 'a> {
    pub(super) fn make_scope(&mut self, id: Id) {
        let Some(fact) = self.facts.get(id) else { return };
        let made = match fact.name() {
            Some(Name::Function | Name::FunctionDeclaration) => self.function(&fact),
            Some(Name::LexicalBlock) => self.block(&fact),
            Some(Name::Module) => self.module(&fact),
            Some(Name::LexicalBlockDiscriminator) => self.discriminator(&fact),
            // Units and types are made, or listed as omissions, elsewhere.
            _ => return,
        };
        self.omissions.made(&fact, made);
    }

    /// The scope that contains an entity.
    pub(super) fn parent(&self, fact: &Fact<'_>) -> Made<ScopeId> {
        let id = fact.id(Field::Scope).ok_or(Unimported::Missing("scope"))?;
        let scope = self.entities.scopes.get(&self.facts.not_template(id)).copied();
        scope.ok_or_else(|| Unimported::NotImported(Field::Scope.text(), id.0))
    }

    fn block(&mut self, fact: &Fact<'a>) -> Made<()> {
        let parent = self.parent(fact)?;
        let unit = self.m.described().scope(parent).unit;
        let line = self.line(fact, unit);
        let name = fact.operand(Field::Name).map(|_| self.facts.text(fact, Field::Name));
        let is_inline = self.facts.number(fact, Field::InlineNamespace) == Some(1);
        let kind = &self.m.described().scope(parent).kind;
        let scope = match name.as_deref() {
            Some("") => self.m.anonymous_namespace(parent),
            Some(name) if is_inline => self.m.inline_namespace(parent, name),
            Some(name) => self.m.namespace(parent, name),
            None if matches!(kind, ScopeKind::Unit | ScopeKind::Namespace { .. }) => {
                self.omissions.omit(fact, Unimported::BlockOfNoFunction);
                self.entities.scopes.insert(fact.result, parent);
                return Ok(());
            }
            None => self.m.block(parent, &[]),
        };
        let scope = scope.map_err(refused)?;
        self.entities.scopes.insert(fact.result, scope);
        line.map_or(Ok(()), |line| self.m.begins(scope, line)).map_err(refused)
    }

    /// Imports a module of a language as a namespace.
    fn module(&mut self, fact: &Fact<'a>) -> Made<()> {
        let parent = self.parent(fact)?;
        let name = self.facts.text(fact, Field::Name);
        let scope = self.m.namespace(parent, &name).map_err(refused)?;
        self.omissions.omit(fact, Unimported::ModuleNamespace);
        self.entities.scopes.insert(fact.result, scope);
        let unit = self.m.described().scope(parent).unit;
        let line = self.line(fact, unit);
        line.map_or(Ok(()), |line| self.m.begins(scope, line)).map_err(refused)
    }

    /// Gives an instance of a block the discriminator that its instructions have as their scope.
    pub(super) fn instance_discriminator(&mut self, scope: Id, instance: ScopeId) {
        let discriminator =
            self.facts.get(scope).filter(|it| it.name() == Some(Name::LexicalBlockDiscriminator));
        let is_block = self.m.described().scope(instance).kind == ScopeKind::Block;
        if let Some(fact) =
            discriminator.filter(|it| is_block && !self.references.of_calls.contains(&it.result))
        {
            let number = self.facts.word(&fact, Field::Discriminator);
            // A block can have a discriminator, so that this cannot fail.
            let _ = self.m.discriminator(instance, number);
        }
    }

    /// The number of a call's discriminator, if only calls are in it.
    pub(super) fn of_call(&self, at: &Fact<'_>) -> Option<u32> {
        let scope = self.facts.named(at, Field::Scope, Name::LexicalBlockDiscriminator);
        let scope = scope.filter(|scope| self.references.of_calls.contains(&scope.result))?;
        Some(self.facts.word(&scope, Field::Discriminator))
    }

    /// Imports a discriminator: the only one of a block becomes the block's, each of several a nested block.
    fn discriminator(&mut self, fact: &Fact<'a>) -> Made<()> {
        let parent = self.parent(fact)?;
        if self.references.of_calls.contains(&fact.result) {
            self.entities.scopes.insert(fact.result, parent);
            return Ok(());
        }
        let number = self.facts.word(fact, Field::Discriminator);
        let of = fact.id(Field::Scope).and_then(|id| self.references.discriminators.get(&id));
        let is_of_instance = |id: &&Id| self.references.of_instances.contains(*id);
        let is_only = match of.map(|all| (all.len(), all.iter().filter(is_of_instance).count())) {
            Some((1, _)) => true,
            Some(_) if self.references.of_instances.contains(&fact.result) => {
                self.entities.scopes.insert(fact.result, parent);
                return Ok(());
            }
            Some((count, of_instances)) => count - of_instances == 1,
            None => false,
        };
        let scope = match self.m.described().scope(parent).kind {
            ScopeKind::Block if is_only => parent,
            _ => {
                let block = self.m.block(parent, &[]).map_err(refused)?;
                self.omissions.omit(fact, Unimported::OwnBlock);
                block
            }
        };
        self.entities.scopes.insert(fact.result, scope);
        self.m.discriminator(scope, number).map_err(refused)
    }
}
