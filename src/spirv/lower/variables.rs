//! Global and local variables: sections 4.5 and 4.8.

use cranelift_entity::SecondaryMap;

use super::composites::access;
use super::entities::{Globals, Operands, Scoped};
use super::order::{Item, State};
use super::types::is_type;
use super::writer::Word;
use crate::error::Result;
use crate::model::{BaseEncoding, Module, ScopeId, ScopeKind, TypeId, TypeKind, VariableId, VariableKind};
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Globals<'_, '_, '_> {
    /// The variable itself, or what it is an inlined instance of.
    pub(super) fn origin(&self, mut id: VariableId) -> VariableId {
        while let Some(origin) = self.module.variables[id].origin {
            id = origin;
        }
        id
    }

    pub(super) fn is_static_member(&self, id: VariableId) -> bool {
        self.module.is_static_member(id)
    }

    /// Whether an instruction says it: not an inlined instance, which its origin's does; not a parameter of a mere
    /// declaration; not a static member of a type that has no members, or no room for it.
    pub(super) fn is_said(&self, id: VariableId) -> bool {
        let variable = &self.module.variables[id];
        if variable.origin.is_some() {
            return false;
        }
        match self.module.scopes[variable.scope].kind {
            ScopeKind::Type(_) => !self.related.is_lost(id),
            ScopeKind::Function(function) => self.related.has_body(function),
            _ => true,
        }
    }

    /// Whether it is said by a `DebugGlobalVariable`: it is in no function, or is an `OpVariable` of the module.
    fn is_global(&self, id: VariableId) -> bool {
        let scope = self.module.variables[id].scope;
        self.related.function_of(scope).is_none() || self.binding.global_id(id).is_some()
    }

    /// Writes a variable or static member.
    pub(super) fn variable(&mut self, id: VariableId) -> Result<()> {
        let module = self.module;
        let variable = &module.variables[id];
        if let ScopeKind::Type(ty) = module.scopes[variable.scope].kind {
            return self.static_member(id, ty);
        }
        let who = |module: &Module| (module.at_variable(id, None), "the variable".to_owned());
        let is_global = self.is_global(id);
        let declared = variable.specification.map(|declared| &module.variables[declared]);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(module.variables[module.first_origin(id)].name)?));
        operands.push((Field::Type, self.type_word(Some(variable.ty), who)?));
        let line = variable.line.or_else(|| declared?.line);
        operands.extend(self.place(line, module.scopes[variable.scope].unit, who));
        operands.push((Field::Scope, self.scope(variable.scope, who)?));
        let mut flags = if variable.is_artificial { flags::ARTIFICIAL } else { 0 };
        let result = self.id(Item::Variable(id))?;
        if !is_global {
            let function =
                self.related.function_of(variable.scope).map(|function| &module.functions[function]);
            if function.is_some_and(|function| function.object_pointer == Some(id)) {
                flags |= flags::OBJECT_POINTER;
            }
            operands.push((Field::Flags, flags.into()));
            if variable.kind == VariableKind::Parameter {
                operands.push((Field::ArgNumber, self.related.numbers[id].into()));
            }
            return self.writer.define(result, Name::LocalVariable, &operands);
        }
        let is_external = variable.is_external || declared.is_some_and(|declared| declared.is_external);
        flags |= if is_external { 0 } else { flags::LOCAL };
        flags |= if variable.is_declaration { 0 } else { flags::DEFINITION };
        flags |= access(variable.accessibility);
        let linkage_name = variable.linkage_name.or_else(|| declared?.linkage_name);
        operands.push((Field::LinkageName, self.name(linkage_name)?));
        let place = match self.binding.global_id(id) {
            Some(place) => Some(place),
            None => self.constant_of(id)?,
        };
        operands.push((Field::Variable, place.map_or_else(|| self.none(), |place| Ok(Word::Id(place)))?));
        operands.push((Field::Flags, flags.into()));
        if let Some(member) = variable.specification {
            if self.is_static_member(member) && self.variables[member].state == State::Done {
                operands.push((Field::StaticMember, self.id(Item::Variable(member))?.into()));
            } else {
                let what = "that it is the definition of what is declared before";
                self.writer.leave_out(module.at_variable(id, None), what);
            }
        }
        self.writer.define(result, Name::GlobalVariable, &operands)
    }

    /// The constant that a variable is, if it is one that can be said.
    pub(super) fn constant_of(&mut self, id: VariableId) -> Result<Option<Id>> {
        let module = self.module;
        let Some(bytes) = module.always(id).and_then(|loc| module.constant(loc)) else { return Ok(None) };
        let value = self.integer(module.variables[id].ty, bytes)?;
        if value.is_none() {
            self.writer.leave_out(
                module.at_variable(id, None),
                "its value, which is no integer that the module can have",
            );
        }
        Ok(value)
    }

    /// An integer of a type as a constant: of 32 bits where the type has no more or its first 32 bits say it, else of
    /// 64. So a negative number of 64 bits is not mistaken for one of 32 without sign.
    pub(super) fn integer(&mut self, ty: TypeId, bytes: &[u8]) -> Result<Option<Id>> {
        let module = self.module;
        if bytes.is_empty() || bytes.len() > 8 || !is_integer(module, ty) {
            return Ok(None);
        }
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        if module.target.is_big_endian() {
            all[..bytes.len()].reverse();
        }
        let unused = 64 - 8 * bytes.len() as u32;
        let mut value = u64::from_le_bytes(all);
        if module.is_signed(ty) == Some(true) {
            value = ((value << unused) as i64 >> unused) as u64;
            if bytes.len() <= 4 {
                value = u64::from(value as u32);
            }
        }
        if !self.writer.has_room(value) {
            return Ok(None);
        }
        self.writer.constant(value).map(Some)
    }

    /// Instances of variables in inlined bodies.
    pub(super) fn inlined_variables(&mut self, scopes: &SecondaryMap<ScopeId, Option<Scoped>>) -> Result<()> {
        if !self.writer.mode.has_inlined_variables {
            return Ok(());
        }
        for (id, variable) in &self.module.variables {
            let of = self.origin(id);
            let inlined = scopes[variable.scope].and_then(|scoped| scoped.inlined);
            let is_local = of != id && !self.is_global(of) && self.variables[of].state == State::Done;
            if let (Some(inlined), Some(of), true) = (inlined, self.variables[of].id, is_local) {
                let operands = [(Field::Variable, of.into()), (Field::Inlined, inlined.into())];
                self.writer.instruction(Name::InlinedVariable, &operands)?;
            }
        }
        Ok(())
    }

    /// What is not said of a variable.
    pub(super) fn unsaid_of_variable(&mut self, id: VariableId) {
        let module = self.module;
        let variable = &module.variables[id];
        let is_member = is_type(&module.scopes[variable.scope].kind);
        if variable.origin.is_none() && !self.is_said(id) {
            let what = match is_member {
                true => "the static member: its type has no members, or no room for it",
                false => "the parameter of a declaration; its type is said",
            };
            self.writer.leave_out(module.at_variable(id, None), what);
            return;
        }
        let is_local = !is_member && !self.is_global(id);
        let all = [
            (variable.memory_space.is_some(), "the memory that it is in"),
            (is_local && variable.is_constant, "its value"),
            (is_local && variable.linkage_name.is_some(), "its linkage name"),
            (is_local && variable.is_external, "that it is external"),
            (is_local && variable.is_declaration, "that it is defined elsewhere"),
            (is_local && variable.accessibility.is_some(), "who may name it"),
            (is_local && variable.kind == VariableKind::Constant, "that it is a named constant"),
            (
                !is_local && variable.is_constant && self.binding.global_id(id).is_some(),
                "its value: what is bound to it is said",
            ),
            (is_member && variable.linkage_name.is_some(), "its linkage name"),
            (
                is_member && self.binding.global_id(id).is_some(),
                "its OpVariable, which is that of a definition",
            ),
        ];
        let left: Vec<_> = all.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
        if !left.is_empty() {
            self.writer.leave_out(module.at_variable(id, None), left.join(", "));
        }
    }
}

/// Whether values of a type are integers.
fn is_integer(module: &Module, mut ty: TypeId) -> bool {
    loop {
        match &module.types[ty].kind {
            TypeKind::Base { encoding, .. } => {
                return !matches!(
                    encoding,
                    BaseEncoding::Float
                        | BaseEncoding::ComplexFloat
                        | BaseEncoding::ImaginaryFloat
                        | BaseEncoding::DecimalFloat
                );
            }
            TypeKind::Pointer { .. } => return true,
            TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } => ty = *of,
            TypeKind::Enum { of, .. } => ty = *of,
            _ => return false,
        }
    }
}
