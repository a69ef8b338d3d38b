//! Imports functions, their declarations and parameters.

use super::flags::{self, Flags};
use super::importer::Importer;
use super::omissions::{Made, refused};
use super::references::Slot;
use super::variables;
use crate::model::FunctionId;
use crate::omission::Unimported;
use crate::spirv::languages;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

pub(super) fn make_parameter(importer: &mut Importer<'_, '_>, id: Id, index: u32) {
    let Some(&Slot { variable, ty }) =
        importer.references.parameters.get(&id).and_then(|parameters| parameters.get(index as usize))
    else {
        return;
    };
    let Some(&function) = importer.entities.functions.get(&id) else { return };
    let Some(fact) = importer.facts.get(variable.unwrap_or(id)) else { return };
    let unit = importer.own_unit(id);
    let ty = ty.and_then(|ty| importer.entities.types.get(&(importer.facts.not_template(ty), unit)).copied());
    let Some(ty) = ty else {
        importer.omissions.omit(&fact, Unimported::UntypedParameter(index + 1));
        return;
    };
    let name = variable.map(|_| importer.facts.text(&fact, Field::Name)).unwrap_or_default();
    match importer.m.parameter(function, &name, ty).map(|parameter| parameter.id()) {
        Ok(parameter) => {
            if let Some(variable) = variable {
                importer.entities.variables.insert(variable, parameter);
                variables::describe_local(importer, &fact, parameter, unit);
            }
        }
        Err(error) => importer.omissions.omit(&fact, refused(error)),
    }
}

/// Imports a function or a function declaration.
pub(super) fn function(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    let id = fact.result;
    let parent = importer.parent(fact)?;
    let unit = importer.unit_of(id).ok_or(Unimported::NoUnit)?;
    let name = importer.facts.text(fact, Field::Name);
    let linkage = importer.facts.text(fact, Field::LinkageName);
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    // Producers mark definitions inconsistently, so that code and blocks count as well.
    let is_definition = flags.take(flags::DEFINITION);
    let code = fact.id(Field::Function).filter(|&code| !importer.facts.is_nothing(code));
    let is_declaration = fact.name() == Some(InstructionName::FunctionDeclaration)
        || !is_definition && code.is_none() && !importer.references.with_body.contains(&id);
    // The model has no target function.
    if fact.id(Field::TargetFunction).is_some_and(|id| !importer.facts.is_nothing(id)) {
        importer.omissions.omit(fact, Unimported::TargetFunction);
    }
    let declaration = fact.id(Field::Declaration).filter(|&id| !importer.facts.is_nothing(id));
    let declaration = declaration.and_then(|id| match importer.entities.functions.get(&id) {
        Some(&declaration) => Some(declaration),
        None => {
            importer.omissions.omit(fact, Unimported::NoDeclaration(id.0));
            None
        }
    });
    let line = importer.line(fact, unit);
    let access = flags.access();
    let made = match declaration {
        Some(declaration) => importer.m.function_definition(parent, declaration),
        None if is_declaration => importer.m.function_declaration(parent, &name),
        None => importer.m.function(parent, &name),
    };
    let mut function = made.map_err(refused)?;
    let function_id = function.id();
    // A definition's name and linkage name come from its declaration; they are compared once the function exists.
    let mut otherwise = None;
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
    let body_line = importer.facts.all.number(fact, Field::ScopeLine).unwrap_or_default() as u32;
    if let Some(line) = line {
        function.declared(line).body_line(body_line);
    }
    importer.entities.functions.insert(id, function_id);
    let module = importer.m.described();
    let scope = module.function(function_id).scope;
    importer.entities.scopes.insert(id, scope);
    if let Some(function) = otherwise.map(|function| module.function(function)) {
        let declared_linkage =
            function.linkage_name.map_or(module.string(function.name), |name| module.string(name));
        let is_renamed = !linkage.is_empty() && linkage != declared_linkage;
        let is_same = module.string(function.name) == name;
        let access = access.filter(|_| access != function.member.accessibility);
        if is_renamed && let Ok(mut function) = importer.m.describe_function(function_id) {
            function.linkage_name(&linkage);
        }
        if let (Some(access), Ok(mut function)) = (access, importer.m.describe_function(function_id)) {
            function.accessibility(access);
        }
        if !is_same {
            importer.omissions.omit(fact, Unimported::AsFunctionDeclared);
        }
    }
    // Without a line, there is no file for the body's line.
    if line.is_none() && body_line != 0 {
        importer.omissions.omit(fact, Unimported::BodyWithoutLine);
    }
    let is_prototyped = flags.take(flags::PROTOTYPED);
    let has_prototypes = languages::has_prototypes(importer.m.described().unit(unit), fact.set);
    if has_prototypes
        && !is_prototyped
        && declaration.is_none()
        && let Ok(mut function) = importer.m.describe_function(function_id)
    {
        function.unprototyped();
    }
    importer.mark_optimized(&mut flags, unit);
    importer.omit_flags(fact, flags);
    if let Some(code) = code {
        bind(importer, fact, code, function_id);
    }
    Ok(())
}

/// Binds a function to the `OpFunction` with its code.
fn bind(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, code: Id, function: FunctionId) {
    let defined = importer.facts.layout().definition(code);
    // Each code has one function, and each function one code.
    let is_there = defined.is_some_and(|it| it.opcode() == crate::spirv::opcodes::FUNCTION);
    if !is_there {
        importer.omissions.omit(fact, Unimported::NotFunction(code.0));
    } else if importer.entities.code.contains_key(&code) {
        importer.omissions.omit(fact, Unimported::OtherFunction(code.0));
    } else if importer.binding.function_id(function).is_some() {
        importer.omissions.omit(fact, Unimported::SecondCode);
    } else {
        importer.entities.code.insert(code, function);
        importer.binding.function(function, code);
    }
}

/// Binds functions to their code by `DebugFunctionDefinition`, which only the shader sets have, and marks entry points
/// as kernels.
pub(super) fn definitions(importer: &mut Importer<'_, '_>) {
    for fact in importer.facts.iter() {
        if fact.name() == Some(InstructionName::FunctionDefinition) {
            let function =
                fact.id(Field::Function).and_then(|id| importer.entities.functions.get(&id).copied());
            match (function, fact.id(Field::Definition)) {
                (Some(function), Some(code)) => bind(importer, &fact, code, function),
                _ => importer.omissions.omit(&fact, Unimported::FunctionNotImported),
            }
        }
    }
    for instruction in importer.facts.layout().words().instructions() {
        if instruction.opcode() != crate::spirv::opcodes::ENTRY_POINT {
            continue;
        }
        let function = instruction.operands().get(1).and_then(|&code| importer.entities.code.get(&Id(code)));
        // A function that is local to its unit cannot be a kernel, because nothing outside could call it.
        let Some(&function) = function else { continue };
        if importer.m.described().function(function).is_external
            && let Ok(mut function) = importer.m.describe_function(function)
        {
            function.kernel();
        }
    }
}
