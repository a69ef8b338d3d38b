//! Writes functions and function declarations: section 4.6.

use smallvec::SmallVec;

use super::composites::access;
use super::entities::{Globals, Operands};
use super::inverse::line_of;
use super::slots::Item;
use super::writer::Word;
use super::{references, scopes};
use crate::error::Result;
use crate::model::{Function, FunctionId, SourceLine, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::languages;
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Writes a function's type.
pub(super) fn function_type(out: &mut Globals<'_, '_, '_>, id: FunctionId) -> Result<()> {
    let module = out.module;
    let parameters = parameters(out, id).iter().map(|&id| Some(module.variables[id].ty));
    let parameters: SmallVec<[_; 8]> = parameters.collect();
    let result =
        references::signature(out, None, module.functions[id].returns, &parameters, Subject::Signature(id))?;
    out.slots.function_types[id].id = Some(result);
    Ok(())
}

/// A function's parameters; a definition without parameters has its declaration's parameters.
pub(super) fn parameters<'o>(out: &'o Globals<'_, '_, '_>, id: FunctionId) -> &'o [VariableId] {
    let parameters = out.described.relations.parameters(id);
    match out.module.functions[id].specification {
        Some(declaration) if parameters.is_empty() => out.described.relations.parameters(declaration),
        _ => parameters,
    }
}

/// Writes a function or a function declaration.
pub(super) fn function(out: &mut Globals<'_, '_, '_>, id: FunctionId) -> Result<()> {
    let module = out.module;
    let function = &module.functions[id];
    let unit_id = module.scopes[function.scope].unit;
    let unit = &module.units[unit_id];
    let subject = Subject::Function(id);
    let has_body = out.described.relations.has_body(id);
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(Some(function.name))?));
    let ty = out.id(Item::FunctionType(id))?;
    operands.push((Field::Type, ty.into()));
    operands.extend(out.place(line_of(module, id), unit_id, subject, Property::Line));
    let parent = scopes::parent(out, function.scope);
    operands.push((Field::Scope, scopes::scope(out, parent, subject)?));
    scopes::omit_inlined(out, parent, subject);
    let declared = function.specification.map(|declared| &module.functions[declared]);
    let linkage_name = function.linkage_name.or_else(|| declared?.linkage_name);
    operands.push((Field::LinkageName, out.name(linkage_name)?));
    let is = |is: bool, flag: u32| if is { flag } else { 0 };
    // A definition inherits what it does not repeat.
    let accessibility = function.member.accessibility.or_else(|| declared?.member.accessibility);
    let is_external = function.is_external || declared.is_some_and(|declared| declared.is_external);
    let flags = access(accessibility)
        | is(!is_external, flags::LOCAL)
        | is(!function.is_declaration, flags::DEFINITION)
        | Function::SPIRV_FLAGS.iter().fold(0, |all, (_, flag, has)| all | is(has(function), *flag))
        | is(unit.has_prototypes() && !declared.unwrap_or(function).is_unprototyped, flags::PROTOTYPED)
        | is(unit.is_optimized && !function.is_declaration, flags::OPTIMIZED);
    operands.push((Field::Flags, flags.into()));
    let result = out.id(Item::Function(id))?;
    if !has_body {
        return out.writer.define(result, InstructionName::FunctionDeclaration, &operands);
    }
    // The body is in the declaration's file. It has no line if the declaration's line is beyond the text, because its
    // own line would be as well.
    let body = line_of(module, id).map(|line| {
        let is_beyond = line.line != 0 && out.described.texts.fit(line).0.line == 0;
        let number = if is_beyond && function.body_line != 0 { line.line } else { function.body_line };
        SourceLine { line: number, column: 0, ..line }
    });
    let [_, (_, line), _] = out.place(body, unit_id, subject, Property::BodyLine);
    operands.push((Field::ScopeLine, line));
    let code = match out.described.binding.function_id(id) {
        Some(code) => code.into(),
        // `NonSemantic.Shader.DebugInfo` lacks this operand: there, an instruction in the function refers to both.
        None if out.writer.is_shader() => Word::Number(0),
        None => out.none()?,
    };
    operands.push((Field::Function, code));
    if let Some(declaration) = function.specification
        && !out.described.relations.has_body(declaration)
    {
        operands.push((Field::Declaration, out.id(Item::Function(declaration))?.into()));
    }
    out.writer.define(result, InstructionName::Function, &operands)
}

/// Lists function properties that neither set has an operand for.
pub(super) fn omit_of_function(out: &mut Globals<'_, '_, '_>, id: FunctionId) {
    let module = out.module;
    let function = &module.functions[id];
    let member = &function.member;
    let has_body = out.described.relations.has_body(id);
    let is_bound = out.described.binding.function_id(id).is_some();
    // A declaration's property applies to its definition, and the code belongs to both.
    let is_kernel =
        [Some(id), function.specification].iter().flatten().any(|&id| module.functions[id].is_kernel);
    let is_entered = out.described.entry_points.contains(&id);
    let has_frame =
        function.frame_base.is_some() || function.has_frame_facts() || module.has_frame(id, false);
    let is_object = |object| !has_body || out.is_global(object);
    let has_object = function.object_pointer.is_some_and(is_object);
    let has_lanes = function.lanes.is_described || !function.lanes.regions.is_empty();
    let unit = &module.units[module.scopes[function.scope].unit];
    let has_prototypes = languages::has_prototypes(unit, out.writer.mode.set);
    // A definition has the prototype of its declaration.
    let declared = function.specification.map_or(function, |id| &module.functions[id]);
    let is_unprototyped = function.is_unprototyped && !(has_prototypes && declared.is_unprototyped);
    use Property as P;
    use Reason::{EntryPoint, NoOperand, NotEntryPoint, OfDefinition};
    let properties = [
        (is_kernel && !is_entered, P::Kernel, &NotEntryPoint),
        (is_entered && is_bound && !is_kernel, P::NotKernel, &EntryPoint),
        (!has_body && is_bound, P::Code, &OfDefinition),
        (!has_body && function.body_line != 0, P::BodyLine, &NoOperand),
        (has_object, P::ObjectPointer, &NoOperand),
        (function.is_undescribed, P::WithoutEntry, &NoOperand),
        (function.origin.is_some(), P::Instance, &NoOperand),
        (function.is_variadic, P::Variadic, &NoOperand),
        (is_unprototyped, P::Unprototyped, &NoOperand),
        (function.is_noreturn, P::NoReturn, &NoOperand),
        (function.is_main, P::Main, &NoOperand),
        (function.is_declared_inline, P::DeclaredInline, &NoOperand),
        (function.convention.is_some(), P::Convention, &NoOperand),
        (member.virtuality.is_some(), P::Virtuality, &NoOperand),
        (member.is_deleted, P::Deleted, &NoOperand),
        (member.defaulted.is_some(), P::Defaulted, &NoOperand),
        (has_frame, P::Frame, &NoOperand),
        (function.static_link.is_some(), P::StaticLink, &NoOperand),
        (function.calls.is_some(), P::DescribedCalls, &NoOperand),
        (has_lanes, P::Lanes, &NoOperand),
    ];
    out.omit_all(Subject::Function(id), &properties);
}
