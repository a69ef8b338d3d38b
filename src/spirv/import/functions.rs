//! Functions, their declarations and parameters.

use super::Importer;
use super::flags::{self, Flags};
use super::omissions::{Made, refused};
use super::order::Node;
use super::references::Slot;
use crate::error::Result;
use crate::model::{FunctionId, UnitId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'a> Importer<'_, 'a> {
    /// Imports return types, parameters and template parameters. It comes after all types, because they can have any
    /// type.
    pub(super) fn signatures(&mut self) -> Result<()> {
        for (id, function) in self.entities.functions.clone() {
            let (Some(fact), Some(unit)) = (self.facts.get(id), self.unit_of(id)) else { continue };
            self.returns(&fact, function, unit)?;
            let count = self.references.parameters.get(&id).map_or(0, Vec::len) as u32;
            if let Some(last) = count.checked_sub(1) {
                self.want(Node::Parameter(id, last))?;
            }
            self.function_template(id)?;
        }
        Ok(())
    }

    fn returns(&mut self, fact: &Fact<'a>, function: FunctionId, unit: UnitId) -> Result<()> {
        let Some(ty) = self.facts.named(fact, Field::Type, Name::TypeFunction) else {
            self.omissions.omit(fact, Unimported::NotFunctionType);
            return Ok(());
        };
        let mut flags = Flags(self.facts.word(&ty, Field::Flags));
        flags.take(flags::PROTOTYPED);
        self.rest(&ty, flags);
        if let Some(returns) = ty.id(Field::ReturnType) {
            self.want(Node::Type(returns, unit))?;
        }
        let is_variadic = ty.ids(Field::ParameterType).last().is_some_and(|last| self.facts.is_nothing(last));
        let made = self.pointee(&ty, Field::ReturnType, unit);
        let Some(returns) = self.omissions.made(&ty, made) else { return Ok(()) };
        let is_declared = self.m.described().function(function).specification.is_some();
        let Ok(mut of) = self.m.describe_function(function) else { return Ok(()) };
        if is_variadic && !is_declared {
            of.variadic();
        }
        if let Some(Err(error)) = returns.map(|returns| of.returns(returns).map(drop)) {
            self.omissions.omit(fact, refused(error));
        }
        Ok(())
    }

    pub(super) fn make_parameter(&mut self, id: Id, index: u32) {
        let Some(&Slot { variable, ty }) =
            self.references.parameters.get(&id).and_then(|all| all.get(index as usize))
        else {
            return;
        };
        let Some(&function) = self.entities.functions.get(&id) else { return };
        let Some(fact) = self.facts.get(variable.unwrap_or(id)) else { return };
        let unit = self.own_unit(id);
        let ty = ty.and_then(|ty| self.entities.types.get(&(self.facts.not_template(ty), unit)).copied());
        let Some(ty) = ty else {
            self.omissions.omit(&fact, Unimported::UntypedParameter(index + 1));
            return;
        };
        let name = variable.map(|_| self.facts.text(&fact, Field::Name)).unwrap_or_default();
        match self.m.parameter(function, &name, ty).map(|parameter| parameter.id()) {
            Ok(parameter) => {
                if let Some(variable) = variable {
                    self.entities.variables.insert(variable, parameter);
                    self.describe_local(&fact, parameter, unit);
                }
            }
            Err(error) => self.omissions.omit(&fact, refused(error)),
        }
    }

    /// Imports a function or a function declaration.
    pub(super) fn function(&mut self, fact: &Fact<'a>) -> Made<()> {
        let id = fact.result;
        let parent = self.parent(fact)?;
        let unit = self.unit_of(id).ok_or(Unimported::NoUnit)?;
        let (name, linkage) = (self.facts.text(fact, Field::Name), self.facts.text(fact, Field::LinkageName));
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let is_definition = flags.take(flags::DEFINITION);
        let code = fact.id(Field::Function).filter(|&code| !self.facts.is_nothing(code));
        let is_declaration = fact.name() == Some(Name::FunctionDeclaration)
            || !is_definition && code.is_none() && !self.references.with_body.contains(&id);
        if fact.id(Field::TargetFunction).is_some_and(|id| !self.facts.is_nothing(id)) {
            self.omissions.omit(fact, Unimported::TargetFunction);
        }
        let declaration = fact.id(Field::Declaration).filter(|&id| !self.facts.is_nothing(id));
        let declaration = declaration.and_then(|id| match self.entities.functions.get(&id) {
            Some(&declaration) => Some(declaration),
            None => {
                self.omissions.omit(fact, Unimported::NoDeclaration(id.0));
                None
            }
        });
        let line = self.line(fact, unit);
        let access = flags.access();
        let made = match declaration {
            Some(declaration) => self.m.function_definition(parent, declaration),
            None if is_declaration => self.m.function_declaration(parent, &name),
            None => self.m.function(parent, &name),
        };
        let mut function = made.map_err(refused)?;
        let (function_id, mut otherwise) = (function.id(), None);
        if !flags.take(flags::LOCAL) {
            function.external();
        }
        match declaration {
            None => {
                if !linkage.is_empty() && linkage != name {
                    function.linkage_name(&linkage);
                }
                access.map(|access| function.accessibility(access).id());
                if flags.take(flags::EXPLICIT) {
                    function.explicit();
                }
            }
            Some(declaration) => {
                let _ = flags.take(flags::EXPLICIT);
                otherwise = Some(declaration);
            }
        }
        let body_line = self.facts.all.number(fact, Field::ScopeLine).unwrap_or_default() as u32;
        if let Some(line) = line {
            function.declared_at(line).body_line(body_line);
        }
        self.entities.functions.insert(id, function_id);
        let module = self.m.described();
        let scope = module.function(function_id).scope;
        self.entities.scopes.insert(id, scope);
        if let Some(of) = otherwise.map(|of| module.function(of)) {
            let declared_linkage = of.linkage_name.map_or(module.string(of.name), |name| module.string(name));
            let is_renamed = !linkage.is_empty() && linkage != declared_linkage;
            let is_same = module.string(of.name) == name;
            let access = access.filter(|_| access != of.member.accessibility);
            if is_renamed && let Ok(mut function) = self.m.describe_function(function_id) {
                function.linkage_name(&linkage);
            }
            if let (Some(access), Ok(mut function)) = (access, self.m.describe_function(function_id)) {
                function.accessibility(access);
            }
            if !is_same {
                self.omissions.omit(fact, Unimported::AsFunctionDeclared);
            }
        }
        if line.is_none() && body_line != 0 {
            self.omissions.omit(fact, Unimported::BodyWithoutLine);
        }
        flags.take(flags::PROTOTYPED);
        self.optimized(&mut flags, unit);
        self.rest(fact, flags);
        if let Some(code) = code {
            self.bind(fact, code, function_id);
        }
        Ok(())
    }

    /// Marks the unit of an optimized function as optimized.
    pub(super) fn optimized(&mut self, flags: &mut Flags, unit: UnitId) {
        if flags.take(flags::OPTIMIZED)
            && let Ok(mut unit) = self.m.describe_unit(unit)
        {
            unit.optimized();
        }
    }

    /// Binds a function to the `OpFunction` of its code.
    fn bind(&mut self, fact: &Fact<'_>, code: Id, function: FunctionId) {
        let defined = self.facts.layout().definition(code);
        let is_there = defined.is_some_and(|it| it.opcode() == crate::spirv::opcodes::FUNCTION);
        if !is_there {
            self.omissions.omit(fact, Unimported::NotFunction(code.0));
        } else if self.entities.code.contains_key(&code) {
            self.omissions.omit(fact, Unimported::OtherFunction(code.0));
        } else if self.binding.function_id(function).is_some() {
            self.omissions.omit(fact, Unimported::SecondCode);
        } else {
            self.entities.code.insert(code, function);
            self.binding.function(function, code);
        }
    }

    /// Binds functions to their code by `DebugFunctionDefinition`, which one of the sets has, and marks entry points as
    /// kernels.
    pub(super) fn definitions(&mut self) {
        for fact in self.facts.iter() {
            if fact.name() == Some(Name::FunctionDefinition) {
                let function =
                    fact.id(Field::Function).and_then(|id| self.entities.functions.get(&id).copied());
                match (function, fact.id(Field::Definition)) {
                    (Some(function), Some(code)) => self.bind(&fact, code, function),
                    _ => self.omissions.omit(&fact, Unimported::FunctionNotImported),
                }
            }
        }
        for instruction in self.facts.layout().words().instructions() {
            if instruction.opcode() != crate::spirv::opcodes::ENTRY_POINT {
                continue;
            }
            let function = instruction.operands().get(1).and_then(|&code| self.entities.code.get(&Id(code)));
            // A function that is local to its unit cannot be a kernel.
            let Some(&function) = function else { continue };
            if self.m.described().function(function).is_external
                && let Ok(mut function) = self.m.describe_function(function)
            {
                function.kernel();
            }
        }
    }
}
