//! Global and local variables: sections 4.5 and 4.8.

use cranelift_entity::SecondaryMap;

use super::body::most_words;
use super::composites::access;
use super::entities::{Globals, Operands, Scoped, origin};
use super::order::{Item, State};
use super::types::is_type;
use super::writer::Word;
use crate::error::Result;
use crate::model::{Module, ScopeId, ScopeKind, TypeId, TypeKind, Variable, VariableId, VariableKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Globals<'_, '_, '_> {
    /// The abstract origin of an inlined instance, or the variable itself.
    pub(super) fn origin(&self, id: VariableId) -> VariableId {
        origin(self.module, id)
    }

    pub(super) fn is_static_member(&self, id: VariableId) -> bool {
        self.module.is_static_member(id)
    }

    /// Whether an instruction describes the variable. Exceptions: inlined instances (their origin is described),
    /// parameters of declarations, static members of types without members, and those that do not fit the instruction
    /// of their type.
    pub(super) fn is_encoded(&self, id: VariableId) -> bool {
        let variable = &self.module.variables[id];
        if variable.origin.is_some() {
            return false;
        }
        match self.module.scopes[variable.scope].kind {
            ScopeKind::Type(_) => !self.described.relations.is_unlisted(id),
            ScopeKind::Function(function) => self.described.relations.has_body(function),
            _ => true,
        }
    }

    /// Whether a `DebugGlobalVariable` describes the variable: it is outside of functions, or an `OpVariable` of the
    /// module.
    pub(super) fn is_global(&self, id: VariableId) -> bool {
        let scope = self.module.variables[id].scope;
        self.described.relations.function_of(scope).is_none()
            || self.described.binding.global_id(id).is_some()
    }

    /// Writes all variables.
    pub(super) fn variables(&mut self) -> Result<()> {
        let module = self.module;
        // A local variable has twelve words, a parameter 13; the words after them go into the same buffer.
        let behind = self.writer.layout.words().all().len() + most_words(self.writer, self.described.binding);
        let before = self.writer.out.strings.len() + self.writer.out.constants.len();
        self.writer.out.debug.reserve_exact(13 * module.variables.len() + before + behind);
        for (id, variable) in &module.variables {
            self.locals.places[id] = Some((variable.scope, variable.ty));
            if !self.is_common(id, variable) {
                self.locals.multiple.push(id);
                if self.is_encoded(id) {
                    self.root(Item::Variable(id))?;
                }
            } else if self.slots.variables[id].state == State::New && self.has_named(variable) {
                self.local(id).map_err(|error| error.or_at(module.at_variable(id, None)))?;
                self.slots.variables[id].state = State::Done;
            } else {
                self.root(Item::Variable(id))?;
            }
        }
        Ok(())
    }

    /// Whether scope and type of a common variable are certainly written.
    fn has_named(&self, variable: &Variable) -> bool {
        self.reused.scope.is_some_and(|(scope, _)| scope == variable.scope)
            && self
                .described
                .replacements
                .get(variable.ty)
                .is_some_and(|ty| self.slots.types[ty].state == State::Done)
    }

    /// Writes a variable or static member.
    pub(super) fn variable(&mut self, id: VariableId) -> Result<()> {
        let module = self.module;
        let variable = &module.variables[id];
        if let ScopeKind::Type(ty) = module.scopes[variable.scope].kind {
            return self.static_member(id, ty);
        }
        if !self.is_global(id) {
            return self.local(id);
        }
        let declared = variable.specification.map(|declared| &module.variables[declared]);
        let mut operands = Operands::from_iter(self.place_of_variable(id)?);
        let mut flags = if variable.is_artificial { flags::ARTIFICIAL } else { 0 };
        let result = self.id(Item::Variable(id))?;
        let is_external = variable.is_external || declared.is_some_and(|declared| declared.is_external);
        flags |= if is_external { 0 } else { flags::LOCAL };
        let is_declaration = variable.is_declaration && !self.has_bound_value(id);
        flags |= if is_declaration { 0 } else { flags::DEFINITION };
        flags |= access(variable.accessibility);
        let linkage_name = variable.linkage_name.or_else(|| declared?.linkage_name);
        operands.push((Field::LinkageName, self.name(linkage_name)?));
        let place = match self.described.binding.global_id(id) {
            Some(place) => Some(place),
            None => self.constant_of(id)?,
        };
        operands.push((Field::Variable, place.map_or_else(|| self.none(), |place| Ok(Word::Id(place)))?));
        operands.push((Field::Flags, flags.into()));
        if let Some(member) = variable.specification {
            if self.is_static_member(member) && self.slots.variables[member].state == State::Done {
                operands.push((Field::StaticMember, self.id(Item::Variable(member))?.into()));
            } else {
                self.omit(Subject::Variable(id), Property::Definition, Reason::NoOperand);
            }
        }
        self.writer.define(result, Name::GlobalVariable, &operands)
    }

    /// Name, type, source, line, column and scope of a variable.
    #[inline(always)]
    fn place_of_variable(&mut self, id: VariableId) -> Result<[(Field, Word); 6]> {
        let module = self.module;
        let variable = &module.variables[id];
        let subject = Subject::Variable(id);
        let declared = variable.specification.map(|declared| &module.variables[declared]);
        let name = self.name(module.variables[module.first_origin(id)].name)?;
        let ty = self.type_word(Some(variable.ty), subject)?;
        let line = variable.line.or_else(|| declared?.line);
        let [source, line, column] =
            self.place(line, module.scopes[variable.scope].unit, subject, Property::Line);
        let scope = self.scope(variable.scope, subject)?;
        Ok([(Field::Name, name), (Field::Type, ty), source, line, column, (Field::Scope, scope)])
    }

    /// Writes a variable of a function that is not an `OpVariable` of the module.
    fn local(&mut self, id: VariableId) -> Result<()> {
        let variable = &self.module.variables[id];
        let place = self.place_of_variable(id)?;
        let result = self.id(Item::Variable(id))?;
        let function = self.described.relations.function_of(variable.scope);
        let is_object =
            function.is_some_and(|function| self.module.functions[function].object_pointer == Some(id));
        let flags = if variable.is_artificial { flags::ARTIFICIAL } else { 0 }
            | if is_object { flags::OBJECT_POINTER } else { 0 };
        let [name, ty, source, line, column, scope] = place.map(|(_, word)| word);
        if variable.kind != VariableKind::Parameter {
            let operands = [name, ty, source, line, column, scope, flags.into()];
            return self.writer.define_all(result, Name::LocalVariable, operands);
        }
        let number = self.described.relations.numbers[id];
        let operands = [name, ty, source, line, column, scope, flags.into(), number.into()];
        self.writer.define_all(result, Name::LocalVariable, operands)
    }

    /// The constant value of a variable, if the set can encode it.
    pub(super) fn constant_of(&mut self, id: VariableId) -> Result<Option<Id>> {
        let module = self.module;
        let Some(bytes) = module.always(id).and_then(|loc| module.constant(loc)) else { return Ok(None) };
        let value = self.integer(module.variables[id].ty, bytes)?;
        if value.is_none() {
            self.omit(Subject::Variable(id), Property::Value, Reason::NotInteger);
        }
        Ok(value)
    }

    /// The id of an integer constant: 32 bits if the type is not larger or its low 32 bits are sufficient, otherwise
    /// 64. A negative 64-bit number is thus not mistaken for an unsigned 32-bit one.
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

    /// Writes instances of variables in inlined bodies.
    pub(super) fn inlined_variables(&mut self, scopes: &SecondaryMap<ScopeId, Option<Scoped>>) -> Result<()> {
        if !self.writer.mode.has(Feature::InlinedVariables) {
            return Ok(());
        }
        for &id in &self.locals.multiple {
            let variable = &self.module.variables[id];
            let of = self.origin(id);
            let inlined = scopes[variable.scope].and_then(|scoped| scoped.inlined);
            let is_local = of != id && !self.is_global(of) && self.slots.variables[of].state == State::Done;
            if let (Some(inlined), Some(of), true) = (inlined, self.slots.variables[of].id, is_local) {
                let operands = [(Field::Variable, of.into()), (Field::Inlined, inlined.into())];
                self.writer.instruction(Name::InlinedVariable, &operands)?;
            }
        }
        Ok(())
    }

    /// Whether the variable is a local variable or parameter of a function that is not inlined, with a name, a type, a
    /// line and nothing else: the common case.
    fn is_common(&mut self, id: VariableId, variable: &Variable) -> bool {
        // Every field is listed, so that the compiler reports new ones.
        let &Variable {
            name: _,
            scope,
            ty: _,
            line: _,
            always: _,
            live: _,
            kind: VariableKind::Variable | VariableKind::Parameter,
            linkage_name: None,
            origin: None,
            specification: None,
            accessibility: None,
            memory_space: None,
            is_declaration: false,
            is_artificial: false,
            is_external: false,
            is_constant: false,
        } = variable
        else {
            return false;
        };
        if self.locals.scope != Some(scope) {
            let function = self.described.relations.function_of(scope);
            let is_local = function.is_some_and(|function| self.described.relations.has_body(function))
                && self.described.relations.inlined[scope].is_none()
                && !is_type(&self.module.scopes[scope].kind);
            if !is_local {
                return false;
            }
            self.locals.scope = Some(scope);
        }
        self.described.binding.global_id(id).is_none()
    }

    /// Whether the variable is bound to a constant, and has its value.
    fn has_bound_value(&self, id: VariableId) -> bool {
        let bound = self.described.binding.global_id(id);
        bound.is_some_and(|bound| self.writer.layout.constant(bound).is_some())
    }

    /// Lists the properties of a variable that neither set has an operand for.
    pub(super) fn omit_of_variable(&mut self, id: VariableId) {
        let module = self.module;
        let variable = &module.variables[id];
        let is_member = is_type(&module.scopes[variable.scope].kind);
        let subject = Subject::Variable(id);
        let is_encoded = variable.origin.is_some() || self.is_encoded(id);
        // The type of a declaration has the types of its parameters.
        let has_type_only = variable.name.is_none() && variable.line.is_none() && !variable.is_artificial;
        if !is_encoded && !is_member && has_type_only {
            return;
        }
        if !is_encoded {
            let reason = if is_member { Reason::NoMemberRoom } else { Reason::DeclarationParameter };
            return self.omit(subject, Property::Entity, reason);
        }
        // Properties of both are listed for the origin.
        let origin = &module.variables[self.origin(id)];
        let is_instance = variable.origin.is_some();
        if !is_instance {
            self.omit_inlined(variable.scope, subject);
        }
        let is_local = !is_member && !self.is_global(id);
        let is_bound = self.described.binding.global_id(id).is_some();
        let has_line = variable.line.is_some() && variable.line != origin.line;
        let is_parameter = variable.kind == VariableKind::Parameter && !is_local && !is_member;
        let is_constant = variable.kind == VariableKind::Constant;
        use Property as P;
        use Reason::{AsGlobal, BoundValue, NoOperand, NotSeenOutside, OfDefinition, OfInstance};
        let all = [
            (has_line, P::Line, &OfInstance),
            (variable.is_artificial && !origin.is_artificial, P::Artificial, &OfInstance),
            (is_instance && is_bound, P::Storage, &OfInstance),
            (is_member && !variable.is_external, P::External, &NotSeenOutside),
            (is_parameter, P::Parameter, &AsGlobal),
            (variable.memory_space.is_some(), P::MemorySpace, &NoOperand),
            (is_local && variable.is_constant, P::Value, &NoOperand),
            (is_local && variable.linkage_name.is_some(), P::LinkageName, &NoOperand),
            (is_local && variable.is_external, P::External, &NoOperand),
            (is_local && variable.is_declaration, P::Declaration, &NoOperand),
            (variable.is_declaration && self.has_bound_value(id), P::Declaration, &BoundValue),
            (is_local && variable.accessibility.is_some(), P::Accessibility, &NoOperand),
            (is_constant, P::NamedConstant, &NoOperand),
            (!is_local && variable.is_constant && is_bound, P::Value, &BoundValue),
            (is_member && variable.linkage_name.is_some(), P::LinkageName, &NoOperand),
            (is_member && is_bound, P::Storage, &OfDefinition),
        ];
        self.omit_all(subject, &all);
    }
}

/// Whether a type is an integer type.
fn is_integer(module: &Module, mut ty: TypeId) -> bool {
    loop {
        match &module.types[ty].kind {
            TypeKind::Base { encoding, .. } => {
                return !encoding.is_float();
            }
            TypeKind::Pointer { .. } => return true,
            TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } => ty = *of,
            TypeKind::Enum { of, .. } => ty = *of,
            _ => return false,
        }
    }
}
