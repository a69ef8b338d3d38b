//! Imports variables and static members.

use super::flags::{self, Flags};
use super::importer::Importer;
use super::omissions::{Made, refused};
use crate::model::{ScopeKind, UnitId, VariableId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

pub(super) fn make_variable(importer: &mut Importer<'_, '_>, id: Id) {
    let Some(fact) = importer.facts.get(id) else { return };
    let made = match fact.name() {
        Some(InstructionName::LocalVariable) => local(importer, &fact),
        Some(InstructionName::GlobalVariable) => global(importer, &fact),
        Some(InstructionName::TypeMember) => static_member(importer, &fact),
        _ => return,
    };
    if let Some(variable) = importer.omissions.made(&fact, made) {
        importer.entities.variables.insert(id, variable);
    }
}

fn local(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<VariableId> {
    let scope = importer.parent(fact)?;
    let unit = importer.m.described().scope(scope).unit;
    let ty = importer.ty(fact, Field::Type, unit)?;
    let name = importer.facts.text(fact, Field::Name);
    let variable = importer.m.variable(scope, &name, ty).map_err(refused)?.id();
    describe_local(importer, fact, variable, unit);
    Ok(variable)
}

/// Imports a local variable's properties, except its type.
pub(super) fn describe_local(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    variable: VariableId,
    unit: UnitId,
) {
    let line = importer.line(fact, unit);
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    // Every variable in a function is local and defined.
    flags.take(flags::LOCAL | flags::DEFINITION);
    let is_artificial = flags.take(flags::ARTIFICIAL);
    let is_object = flags.take(flags::OBJECT_POINTER);
    importer.omit_flags(fact, flags);
    if let Ok(mut variable) = importer.m.describe_variable(variable) {
        if let Some(line) = line {
            variable.declared(line);
        }
        if is_artificial {
            variable.artificial();
        }
    }
    if is_object {
        let function = importer.m.described().function_of(importer.m.described().variable(variable).scope);
        let function = function.and_then(|function| importer.m.describe_function(function).ok());
        let made = function.map(|mut function| function.object_pointer(variable).map(drop));
        if let Some(Err(error)) = made {
            importer.omissions.omit(fact, refused(error));
        }
    }
}

fn global(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<VariableId> {
    let scope = importer.parent(fact)?;
    let unit = importer.m.described().scope(scope).unit;
    let ty = importer.ty(fact, Field::Type, unit)?;
    let name = importer.facts.text(fact, Field::Name);
    let linkage = importer.facts.text(fact, Field::LinkageName);
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let provider = fact.id(Field::Variable).filter(|&id| !importer.facts.is_nothing(id));
    let member = fact.id(Field::StaticMember).filter(|&id| !importer.facts.is_nothing(id));
    let is_definition = flags.take(flags::DEFINITION);
    let is_local = flags.take(flags::LOCAL);
    let line = importer.line(fact, unit);
    let of_unit = importer.m.described().unit(unit).scope;
    let is_outside =
        matches!(importer.m.described().scope(scope).kind, ScopeKind::Unit | ScopeKind::Namespace { .. });
    let mut variable = match member.map(|id| importer.entities.variables.get(&id).copied().ok_or(id)) {
        Some(Ok(member)) => {
            if !is_outside {
                importer.omissions.omit(fact, Unimported::OutsideUnit);
            }
            // A static member's definition is outside functions in the model.
            let scope = if is_outside { scope } else { of_unit };
            let module = importer.m.described();
            // The definition takes both from the declaration.
            if module.variable(member).ty != ty || module.name_of(member).unwrap_or_default() != name {
                importer.omissions.omit(fact, Unimported::AsVariableDeclared);
            }
            importer.m.definition(scope, member)
        }
        missing => {
            if let Some(Err(id)) = missing {
                importer.omissions.omit(fact, Unimported::NoStaticMember(id.0));
            }
            // A declaration has no value, so that a variable with a value is a definition.
            if is_definition || is_local || provider.is_some_and(|id| is_value(importer, id)) {
                importer.m.variable(scope, &name, ty)
            } else {
                importer.m.extern_variable(scope, &name, ty)
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
        variable.declared(line);
    }
    if flags.take(flags::ARTIFICIAL) {
        variable.artificial();
    }
    flags.access().map(|access| variable.accessibility(access).id());
    let id = variable.id();
    importer.mark_optimized(&mut flags, unit);
    importer.omit_flags(fact, flags);
    if let Some(provider) = provider {
        provide_global(importer, fact, id, provider);
    }
    Ok(id)
}

/// Whether an id is a constant, or an expression that yields one.
fn is_value(importer: &Importer<'_, '_>, id: Id) -> bool {
    importer.facts.get(id).is_some() || importer.facts.layout().constant(id).is_some()
}

/// Binds a global variable to its `OpVariable`, or gives it its constant value.
fn provide_global(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, variable: VariableId, provider: Id) {
    let layout = importer.facts.layout();
    let ty = importer.m.described().variable(variable).ty;
    if let Some(expression) = importer.facts.get(provider) {
        return match constant_of(importer, &expression) {
            Some(value) => {
                let bytes = importer.m.described().ty(ty).bits().unwrap_or_default().div_ceil(8);
                // The operand has 32 bits; larger types are zero-extended.
                let mut value = value.to_le_bytes().to_vec();
                value.resize(usize::try_from(bytes.min(64)).unwrap_or_default(), 0);
                if importer.m.target().is_big_endian() {
                    value.reverse();
                }
                give(importer, fact, variable, &value);
            }
            None => importer.omissions.omit(fact, Unimported::UnknownPlace(provider.0)),
        };
    }
    if layout.definition(provider).is_none() {
        return importer.omissions.omit(fact, Unimported::Undefined(provider.0));
    }
    // A constant specifies the whole value, and may exist only for the debug information.
    let is_number = layout.constant(provider).is_some_and(|constant| constant.value.is_some());
    let module = importer.m.described();
    if !is_number || module.function_of(module.variable(variable).scope).is_some() {
        importer.binding.global(variable, provider);
    }
    if layout.constant(provider).is_some() {
        match importer.constant(provider, ty) {
            Ok(value) => give(importer, fact, variable, &value),
            Err(what) => importer.omissions.omit(fact, what),
        }
    }
}

/// The number that a single-operation expression pushes.
fn constant_of(importer: &Importer<'_, '_>, expression: &Fact<'_>) -> Option<u32> {
    use crate::spirv::DebugOperation::{Constu, StackValue};
    match importer.facts.all.few_operations(expression.result).ok()?[..] {
        [Constu(value)] | [Constu(value), StackValue] => Some(value),
        _ => None,
    }
}

fn give(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, variable: VariableId, value: &[u8]) {
    let variable = importer.m.describe_variable(variable);
    let made = variable.and_then(|mut variable| variable.const_value(value).map(drop));
    if let Err(error) = made {
        importer.omissions.omit(fact, refused(error));
    }
}

fn static_member(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<VariableId> {
    let owner = importer.references.owners.get(&fact.result).copied().ok_or(Unimported::OfNoType)?;
    let unit = importer.own_unit(owner);
    let owner =
        importer.entities.types.get(&(owner, unit)).copied().ok_or(Unimported::TypeNotImported(owner.0))?;
    let ty = importer.ty(fact, Field::Type, unit)?;
    let name = importer.facts.text(fact, Field::Name);
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    flags.take(flags::STATIC_MEMBER);
    let line = importer.line(fact, unit);
    let bits = importer.m.described().ty(ty).bits();
    // The model's static members have no layout, so that a size and offset are lost unless they follow from the type.
    let is_sized = bits.is_none() || importer.facts.number(fact, Field::Size) == bits;
    if importer.facts.number(fact, Field::Offset) != Some(0) || !is_sized {
        importer.omissions.omit(fact, Unimported::StaticLayout);
    }
    let mut member = importer.m.static_member(owner, &name, ty).map_err(refused)?;
    flags.access().map(|access| member.accessibility(access).id());
    if flags.take(flags::ARTIFICIAL) {
        member.artificial();
    }
    if let Some(line) = line {
        member.declared(line);
    }
    let id = member.id();
    importer.omit_flags(fact, flags);
    if let Some(value) = fact.id(Field::Value) {
        match importer.constant(value, ty) {
            Ok(value) => give(importer, fact, id, &value),
            Err(what) => importer.omissions.omit(fact, what),
        }
    }
    Ok(id)
}
