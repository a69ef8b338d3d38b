//! Inlined calls: section 4.7. `DebugInlinedAt` is the call site; the scope beside it is in the called function.

use hashbrown::HashSet;

use super::Importer;
use super::omissions::refused;
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, SourceLine, VariableId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'a> Importer<'_, 'a> {
    /// The instance of a scope (a function or a block in it) in an inlined call.
    pub(super) fn instance(&mut self, scope: ScopeId, inlined: Id) -> Result<Option<ScopeId>> {
        // Enclosing calls come first.
        let (mut calls, mut seen) = (vec![(scope, inlined)], HashSet::new());
        while let Some(&call) = calls.last()
            && !self.entities.instances.contains_key(&call)
        {
            let Some(at) = self.inlined_at(call.1) else {
                self.entities.instances.insert(call, None);
                break;
            };
            if !seen.insert(call.1) {
                self.omissions.omit(&at, Unimported::InlinedIntoItself);
                self.entities.instances.insert(call, None);
                break;
            }
            let Some(outer) = self.scope_of(&at) else { break };
            match at.id(Field::Inlined) {
                Some(next) => calls.push((outer, next)),
                None => break,
            }
        }
        while let Some(call) = calls.pop() {
            if !self.entities.instances.contains_key(&call) {
                let made = self.call(call.0, call.1)?;
                self.entities.instances.insert(call, made);
            }
        }
        Ok(self.entities.instances.get(&(scope, inlined)).copied().flatten())
    }

    fn inlined_at(&self, id: Id) -> Option<Fact<'a>> {
        self.facts.get(id).filter(|fact| fact.name() == Some(Name::InlinedAt))
    }

    /// The scope that an instruction references.
    pub(super) fn scope_of(&self, fact: &Fact<'_>) -> Option<ScopeId> {
        let id = fact.id(Field::Scope)?;
        self.entities.scopes.get(&self.facts.not_template(id)).copied()
    }

    /// Makes the instance of a scope in an inlined call. Instances of the enclosing calls exist already.
    fn call(&mut self, scope: ScopeId, inlined: Id) -> Result<Option<ScopeId>> {
        let Some(at) = self.inlined_at(inlined) else { return Ok(None) };
        let outer = self.scope_of(&at);
        let parent = match at.id(Field::Inlined) {
            Some(next) => {
                outer.and_then(|outer| self.entities.instances.get(&(outer, next)).copied().flatten())
            }
            None => outer,
        };
        let Some(parent) = parent else {
            self.omissions.omit(&at, Unimported::InlinedIntoUnknown);
            return Ok(None);
        };
        let (mut blocks, mut of) = (Vec::new(), scope);
        if at.operand(Field::Inlined).is_some()
            && let Some(scope) = at.id(Field::Scope)
        {
            self.instance_discriminator(scope, parent);
        }
        let mut instance = loop {
            if let Some(known) = self.entities.instances.get(&(of, inlined)) {
                match *known {
                    Some(known) => break known,
                    None => return Ok(None),
                }
            }
            let module = self.m.described();
            let data = module.scope(of);
            match (&data.kind, data.parent) {
                (ScopeKind::Block, Some(parent)) => {
                    blocks.push(of);
                    of = parent;
                }
                (&ScopeKind::Function(function), _) => {
                    let call = self.call_line(&at, parent);
                    self.take_room()?;
                    let number = self.of_call(&at).unwrap_or_default();
                    let made = self.m.inlined(parent, function, &[], call);
                    let made = made.and_then(|made| self.m.discriminator(made, number).map(|()| made));
                    match made.map_err(refused) {
                        Ok(instance) => break self.kept(of, inlined, instance),
                        Err(what) => {
                            self.omissions.omit(&at, what);
                            return Ok(None);
                        }
                    }
                }
                _ => {
                    self.omissions.omit(&at, Unimported::NotInlinable);
                    return Ok(None);
                }
            }
        };
        for block in blocks.into_iter().rev() {
            self.take_room()?;
            instance = match self.m.inlined_block(instance, block, &[]).map_err(refused) {
                Ok(instance) => self.kept(block, inlined, instance),
                Err(what) => {
                    self.omissions.omit(&at, what);
                    return Ok(None);
                }
            };
        }
        Ok(Some(instance))
    }

    fn kept(&mut self, of: ScopeId, inlined: Id, instance: ScopeId) -> ScopeId {
        self.entities.instances.insert((of, inlined), Some(instance));
        instance
    }

    /// The line of a call, in the file of the enclosing scope: `DebugInlinedAt` does not reference a file.
    fn call_line(&mut self, at: &Fact<'a>, parent: ScopeId) -> SourceLine {
        let unit = self.m.described().scope(parent).unit;
        let scope = at.id(Field::Scope).and_then(|scope| self.facts.get(self.facts.not_template(scope)));
        let source = scope.and_then(|scope| scope.id(Field::Source));
        let file = source.and_then(|source| self.file(source, unit));
        let file = file.unwrap_or_else(|| self.m.described().unit(unit).file);
        SourceLine {
            file,
            line: self.facts.word(at, Field::Line),
            column: self.facts.word(at, Field::Column),
        }
    }

    /// The instance of a variable in an inlined call.
    pub(super) fn inlined_variable(&mut self, variable: Id, inlined: Id) -> Result<Option<VariableId>> {
        if let Some(&known) = self.entities.inlined_variables.get(&(variable, inlined)) {
            return Ok(Some(known));
        }
        let Some(&origin) = self.entities.variables.get(&variable) else { return Ok(None) };
        let scope = self.m.described().variable(origin).scope;
        let Some(scope) = self.instance(scope, inlined)? else { return Ok(None) };
        self.take_room()?;
        let instance = self.m.inlined_variable(scope, origin).map(|variable| variable.id());
        match instance {
            Ok(instance) => {
                self.entities.inlined_variables.insert((variable, inlined), instance);
                Ok(Some(instance))
            }
            Err(error) => {
                if let Some(fact) = self.facts.get(variable) {
                    self.omissions.omit(&fact, refused(error));
                }
                Ok(None)
            }
        }
    }

    /// Imports each `DebugInlinedVariable`.
    pub(super) fn inlined_variables(&mut self) -> Result<()> {
        for fact in self.facts.iter().filter(|fact| fact.name() == Some(Name::InlinedVariable)) {
            let made = match (fact.id(Field::Variable), fact.id(Field::Inlined)) {
                (Some(variable), Some(inlined)) => {
                    if self.entities.inlined_variables.contains_key(&(variable, inlined)) {
                        self.omissions.omit(&fact, Unimported::Duplicate);
                    }
                    self.inlined_variable(variable, inlined)?
                }
                _ => None,
            };
            if made.is_none() {
                self.omissions.omit_whole(&fact, Unimported::NoInlinedVariable);
            }
        }
        Ok(())
    }

    /// Lists inlined calls without any instruction or variable: the called function is unknown.
    pub(super) fn lost_calls(&mut self) {
        let known: HashSet<Id> = self.entities.instances.keys().map(|&(_, inlined)| inlined).collect();
        for fact in self.facts.iter().filter(|fact| fact.name() == Some(Name::InlinedAt)) {
            if !known.contains(&fact.result) {
                self.omissions.omit(&fact, Unimported::NothingInlined);
            }
        }
    }
}
