//! Writes global and local variables: sections 4.5 and 4.8.

use super::composites::access;
use super::entities::{Globals, Operands, Scoped};
use super::inverse::is_type;
use super::slots::{Item, State};
use super::writer::Word;
use super::{composites, constants, references, scopes};
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, SecondaryMap, Variable, VariableId, VariableKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Whether a common variable's scope and type are certainly written.
pub(super) fn has_named(out: &Globals<'_, '_, '_>, variable: &Variable) -> bool {
    out.reused.scope.is_some_and(|(scope, _)| scope == variable.scope)
        && out
            .described
            .replacements
            .get(variable.ty)
            .is_some_and(|ty| out.slots.types[ty].state == State::Done)
}

/// Writes a variable or static member.
pub(super) fn variable(out: &mut Globals<'_, '_, '_>, id: VariableId) -> Result<()> {
    let module = out.module;
    let variable = &module.variables[id];
    if let ScopeKind::Type(ty) = module.scopes[variable.scope].kind {
        return composites::static_member(out, id, ty);
    }
    if !out.is_global(id) {
        return local(out, id);
    }
    let declared = variable.specification.map(|declared| &module.variables[declared]);
    let mut operands = Operands::from_iter(place_of_variable(out, id)?);
    let mut flags = if variable.is_artificial { flags::ARTIFICIAL } else { 0 };
    let result = out.id(Item::Variable(id))?;
    let is_external = variable.is_external || declared.is_some_and(|declared| declared.is_external);
    flags |= if is_external { 0 } else { flags::LOCAL };
    let is_declaration = variable.is_declaration && !has_bound_value(out, id);
    flags |= if is_declaration { 0 } else { flags::DEFINITION };
    flags |= access(variable.accessibility);
    let linkage_name = variable.linkage_name.or_else(|| declared?.linkage_name);
    operands.push((Field::LinkageName, out.name(linkage_name)?));
    // The operand is the memory, or the value if there is no memory.
    let place = match out.described.binding.global_id(id) {
        Some(place) => Some(place),
        None => constants::constant_of(out, id)?,
    };
    operands.push((Field::Variable, place.map_or_else(|| out.none(), |place| Ok(Word::Id(place)))?));
    operands.push((Field::Flags, flags.into()));
    if let Some(member) = variable.specification {
        if out.is_static_member(member) && out.slots.variables[member].state == State::Done {
            operands.push((Field::StaticMember, out.id(Item::Variable(member))?.into()));
        } else {
            out.omit(Subject::Variable(id), Property::Definition, Reason::NoOperand);
        }
    }
    out.writer.define(result, InstructionName::GlobalVariable, &operands)
}

/// A variable's name, type, source, line, column and scope.
#[inline]
fn place_of_variable(out: &mut Globals<'_, '_, '_>, id: VariableId) -> Result<[(Field, Word); 6]> {
    let module = out.module;
    let variable = &module.variables[id];
    let subject = Subject::Variable(id);
    let declared = variable.specification.map(|declared| &module.variables[declared]);
    let name = out.name(module.variables[module.first_origin(id)].name)?;
    let ty = references::type_word(out, Some(variable.ty), subject)?;
    let line = variable.line.or_else(|| declared?.line);
    let [source, line, column] = out.place(line, module.scopes[variable.scope].unit, subject, Property::Line);
    let scope = scopes::scope(out, variable.scope, subject)?;
    Ok([(Field::Name, name), (Field::Type, ty), source, line, column, (Field::Scope, scope)])
}

/// Writes a function's variable that is not one of the module's `OpVariable`s.
pub(super) fn local(out: &mut Globals<'_, '_, '_>, id: VariableId) -> Result<()> {
    let variable = &out.module.variables[id];
    let place = place_of_variable(out, id)?;
    let result = out.id(Item::Variable(id))?;
    let function = out.described.relations.function_of(variable.scope);
    let is_object =
        function.is_some_and(|function| out.module.functions[function].object_pointer == Some(id));
    let flags = if variable.is_artificial { flags::ARTIFICIAL } else { 0 }
        | if is_object { flags::OBJECT_POINTER } else { 0 };
    let [name, ty, source, line, column, scope] = place.map(|(_, word)| word);
    if variable.kind != VariableKind::Parameter {
        let operands = [name, ty, source, line, column, scope, flags.into()];
        return out.writer.define_all(result, InstructionName::LocalVariable, operands);
    }
    let number = out.described.relations.numbers[id];
    let operands = [name, ty, source, line, column, scope, flags.into(), number.into()];
    out.writer.define_all(result, InstructionName::LocalVariable, operands)
}

/// Writes instances of variables in inlined bodies.
pub(super) fn inlined_variables(
    out: &mut Globals<'_, '_, '_>,
    scopes: &SecondaryMap<ScopeId, Option<Scoped>>,
) -> Result<()> {
    if !out.writer.mode.has(Feature::InlinedVariables) {
        return Ok(());
    }
    for &id in &out.locals.multiple {
        let variable = &out.module.variables[id];
        let origin = out.origin(id);
        let inlined = scopes[variable.scope].and_then(|scoped| scoped.inlined);
        // An inlined variable refers to a local variable, which therefore has to be written.
        let is_local =
            origin != id && !out.is_global(origin) && out.slots.variables[origin].state == State::Done;
        if let (Some(inlined), Some(origin), true) = (inlined, out.slots.variables[origin].id, is_local) {
            let operands = [(Field::Variable, origin.into()), (Field::Inlined, inlined.into())];
            out.writer.instruction(InstructionName::InlinedVariable, &operands)?;
        }
    }
    Ok(())
}

/// Whether the variable is a local variable or parameter in a function that is not inlined, and has only a name, a type
/// and a line. This is the common case.
pub(super) fn is_common(out: &mut Globals<'_, '_, '_>, id: VariableId, variable: &Variable) -> bool {
    // Every field is listed, so that the compiler reports new fields.
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
    // Variables in the same scope follow each other, so that a scope is tested once.
    if out.locals.scope != Some(scope) {
        let function = out.described.relations.function_of(scope);
        let is_local = function.is_some_and(|function| out.described.relations.has_body(function))
            && out.described.relations.inlined[scope].is_none()
            && !is_type(&out.module.scopes[scope].kind);
        if !is_local {
            return false;
        }
        out.locals.scope = Some(scope);
    }
    out.described.binding.global_id(id).is_none()
}

/// Whether the variable is bound to a constant, whose value it has.
fn has_bound_value(out: &Globals<'_, '_, '_>, id: VariableId) -> bool {
    let bound = out.described.binding.global_id(id);
    bound.is_some_and(|bound| out.writer.layout.constant(bound).is_some())
}

/// Lists a variable's properties that neither set has an operand for.
pub(super) fn omit_of_variable(out: &mut Globals<'_, '_, '_>, id: VariableId) {
    let module = out.module;
    let variable = &module.variables[id];
    let is_member = is_type(&module.scopes[variable.scope].kind);
    let subject = Subject::Variable(id);
    let is_encoded = variable.origin.is_some() || out.is_encoded(id);
    // A declaration's type already contains its parameters' types.
    let has_type_only = variable.name.is_none() && variable.line.is_none() && !variable.is_artificial;
    if !is_encoded && !is_member && has_type_only {
        return;
    }
    if !is_encoded {
        let reason = if is_member { Reason::NoMemberRoom } else { Reason::DeclarationParameter };
        return out.omit(subject, Property::Entity, reason);
    }
    // Properties that both have are listed for the origin.
    let origin = &module.variables[out.origin(id)];
    let is_instance = variable.origin.is_some();
    if !is_instance {
        scopes::omit_inlined(out, variable.scope, subject);
    }
    let is_local = !is_member && !out.is_global(id);
    let is_bound = out.described.binding.global_id(id).is_some();
    let has_line = variable.line.is_some() && variable.line != origin.line;
    let is_parameter = variable.kind == VariableKind::Parameter && !is_local && !is_member;
    let is_constant = variable.kind == VariableKind::Constant;
    use Property as P;
    use Reason::{AsGlobal, BoundValue, NoOperand, NotSeenOutside, OfDefinition, OfInstance};
    let properties = [
        (has_line, P::Line, &OfInstance),
        (variable.is_artificial && !origin.is_artificial, P::Artificial, &OfInstance),
        (variable.ty != origin.ty, P::Type, &OfInstance),
        (is_instance && is_bound, P::Storage, &OfInstance),
        (is_member && !variable.is_external, P::External, &NotSeenOutside),
        (is_parameter, P::Parameter, &AsGlobal),
        (variable.memory_space.is_some(), P::MemorySpace, &NoOperand),
        (is_local && variable.is_constant, P::Value, &NoOperand),
        (is_local && variable.linkage_name.is_some(), P::LinkageName, &NoOperand),
        (is_local && variable.is_external, P::External, &NoOperand),
        (is_local && variable.is_declaration, P::Declaration, &NoOperand),
        (variable.is_declaration && has_bound_value(out, id), P::Declaration, &BoundValue),
        (is_local && variable.accessibility.is_some(), P::Accessibility, &NoOperand),
        (is_constant, P::NamedConstant, &NoOperand),
        (!is_local && variable.is_constant && is_bound, P::Value, &BoundValue),
        (is_member && variable.linkage_name.is_some(), P::LinkageName, &NoOperand),
        (is_member && is_bound, P::Storage, &OfDefinition),
    ];
    out.omit_all(subject, &properties);
}
