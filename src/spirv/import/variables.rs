//! Variables and static members.

use super::Importer;
use super::flags::{self, Flags};
use super::omissions::{Made, refused};
use crate::model::{ScopeKind, UnitId, VariableId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'a> Importer<'_, 'a> {
    pub(super) fn make_variable(&mut self, id: Id) {
        let Some(fact) = self.facts.get(id) else { return };
        let made = match fact.name() {
            Some(Name::LocalVariable) => self.local(&fact),
            Some(Name::GlobalVariable) => self.global(&fact),
            Some(Name::TypeMember) => self.static_member(&fact),
            _ => return,
        };
        if let Some(variable) = self.omissions.made(&fact, made) {
            self.entities.variables.insert(id, variable);
        }
    }

    fn local(&mut self, fact: &Fact<'a>) -> Made<VariableId> {
        let scope = self.parent(fact)?;
        let unit = self.m.described().scope(scope).unit;
        let ty = self.ty(fact, Field::Type, unit)?;
        let name = self.facts.text(fact, Field::Name);
        let variable = self.m.variable(scope, &name, ty).map_err(refused)?.id();
        self.describe_local(fact, variable, unit);
        Ok(variable)
    }

    /// Imports the properties of a local variable besides its type.
    pub(super) fn describe_local(&mut self, fact: &Fact<'a>, variable: VariableId, unit: UnitId) {
        let line = self.line(fact, unit);
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        // Every variable of a function is local and defined.
        flags.take(flags::LOCAL | flags::DEFINITION);
        let is_artificial = flags.take(flags::ARTIFICIAL);
        let is_object = flags.take(flags::OBJECT_POINTER);
        self.rest(fact, flags);
        if let Ok(mut variable) = self.m.describe_variable(variable) {
            if let Some(line) = line {
                variable.declared_at(line);
            }
            if is_artificial {
                variable.artificial();
            }
        }
        if is_object {
            let function = self.m.described().function_of(self.m.described().variable(variable).scope);
            let function = function.and_then(|function| self.m.describe_function(function).ok());
            let made = function.map(|mut function| function.object_pointer(variable).map(drop));
            if let Some(Err(error)) = made {
                self.omissions.omit(fact, refused(error));
            }
        }
    }

    fn global(&mut self, fact: &Fact<'a>) -> Made<VariableId> {
        let scope = self.parent(fact)?;
        let unit = self.m.described().scope(scope).unit;
        let ty = self.ty(fact, Field::Type, unit)?;
        let (name, linkage) = (self.facts.text(fact, Field::Name), self.facts.text(fact, Field::LinkageName));
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let provider = fact.id(Field::Variable).filter(|&id| !self.facts.is_nothing(id));
        let member = fact.id(Field::StaticMember).filter(|&id| !self.facts.is_nothing(id));
        let (is_definition, is_local) = (flags.take(flags::DEFINITION), flags.take(flags::LOCAL));
        let line = self.line(fact, unit);
        let of_unit = self.m.described().unit(unit).scope;
        let is_outside =
            matches!(self.m.described().scope(scope).kind, ScopeKind::Unit | ScopeKind::Namespace { .. });
        let mut variable = match member.map(|id| self.entities.variables.get(&id).copied().ok_or(id)) {
            Some(Ok(member)) => {
                if !is_outside {
                    self.omissions.omit(fact, Unimported::OutsideUnit);
                }
                let scope = if is_outside { scope } else { of_unit };
                let module = self.m.described();
                if module.variable(member).ty != ty || module.name_of(member).unwrap_or_default() != name {
                    self.omissions.omit(fact, Unimported::AsVariableDeclared);
                }
                self.m.definition(scope, member)
            }
            missing => {
                if let Some(Err(id)) = missing {
                    self.omissions.omit(fact, Unimported::NoStaticMember(id.0));
                }
                // A declaration has no value.
                match is_definition || is_local || provider.is_some_and(|id| self.is_value(id)) {
                    true => self.m.variable(scope, &name, ty),
                    false => self.m.extern_variable(scope, &name, ty),
                }
            }
        }
        .map_err(refused)?;
        if !is_local {
            variable.external();
        }
        if !linkage.is_empty() && linkage != name {
            variable.linkage_name(&linkage);
        }
        if let Some(line) = line {
            variable.declared_at(line);
        }
        if flags.take(flags::ARTIFICIAL) {
            variable.artificial();
        }
        flags.access().map(|access| variable.accessibility(access).id());
        let id = variable.id();
        self.optimized(&mut flags, unit);
        self.rest(fact, flags);
        if let Some(provider) = provider {
            self.provide_global(fact, id, provider);
        }
        Ok(id)
    }

    /// Whether an id is a constant, or an expression of one.
    fn is_value(&self, id: Id) -> bool {
        self.facts.get(id).is_some() || self.facts.layout().constant(id).is_some()
    }

    /// Binds a global variable to its `OpVariable`, or gives it its constant value.
    fn provide_global(&mut self, fact: &Fact<'a>, variable: VariableId, provider: Id) {
        let layout = self.facts.layout();
        let ty = self.m.described().variable(variable).ty;
        if let Some(expression) = self.facts.get(provider) {
            return match self.constant_of(&expression) {
                Some(value) => {
                    let bytes = self.m.described().ty(ty).bits().unwrap_or_default().div_ceil(8);
                    let mut value = value.to_le_bytes().to_vec();
                    value.resize(usize::try_from(bytes.min(64)).unwrap_or_default(), 0);
                    if self.m.target().is_big_endian() {
                        value.reverse();
                    }
                    self.give(fact, variable, &value);
                }
                None => self.omissions.omit(fact, Unimported::UnknownPlace(provider.0)),
            };
        }
        if layout.definition(provider).is_none() {
            return self.omissions.omit(fact, Unimported::Undefined(provider.0));
        }
        // A constant gives the whole value, and may exist for the debug information only.
        let is_number = layout.constant(provider).is_some_and(|constant| constant.value.is_some());
        let module = self.m.described();
        if !is_number || module.function_of(module.variable(variable).scope).is_some() {
            self.binding.global(variable, provider);
        }
        if layout.constant(provider).is_some() {
            match self.constant(provider, ty) {
                Ok(value) => self.give(fact, variable, &value),
                Err(what) => self.omissions.omit(fact, what),
            }
        }
    }

    /// Number pushed by an expression of one operation.
    fn constant_of(&self, expression: &Fact<'_>) -> Option<u32> {
        use crate::spirv::DebugOperation::{Constu, StackValue};
        match self.facts.all.operations(expression.result).ok()?[..] {
            [Constu(value)] | [Constu(value), StackValue] => Some(value),
            _ => None,
        }
    }

    fn give(&mut self, fact: &Fact<'_>, variable: VariableId, value: &[u8]) {
        let variable = self.m.describe_variable(variable);
        let made = variable.and_then(|mut variable| variable.const_value(value).map(drop));
        if let Err(error) = made {
            self.omissions.omit(fact, refused(error));
        }
    }

    fn static_member(&mut self, fact: &Fact<'a>) -> Made<VariableId> {
        let owner = self.references.owners.get(&fact.result).copied().ok_or(Unimported::OfNoType)?;
        let unit = self.own_unit(owner);
        let of =
            self.entities.types.get(&(owner, unit)).copied().ok_or(Unimported::TypeNotImported(owner.0))?;
        let ty = self.ty(fact, Field::Type, unit)?;
        let name = self.facts.text(fact, Field::Name);
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        flags.take(flags::STATIC_MEMBER);
        let line = self.line(fact, unit);
        let bits = self.m.described().ty(ty).bits();
        let is_sized = bits.is_none() || self.facts.number(fact, Field::Size) == bits;
        if self.facts.number(fact, Field::Offset) != Some(0) || !is_sized {
            self.omissions.omit(fact, Unimported::StaticLayout);
        }
        let mut member = self.m.static_member(of, &name, ty).map_err(refused)?;
        flags.access().map(|access| member.accessibility(access).id());
        if flags.take(flags::ARTIFICIAL) {
            member.artificial();
        }
        if let Some(line) = line {
            member.declared_at(line);
        }
        let id = member.id();
        self.rest(fact, flags);
        if let Some(value) = fact.id(Field::Value) {
            match self.constant(value, ty) {
                Ok(value) => self.give(fact, id, &value),
                Err(what) => self.omissions.omit(fact, what),
            }
        }
        Ok(id)
    }
}
