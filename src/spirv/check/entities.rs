//! Functions and variables.

use super::described::{Duplicates, Projection, Properties};
use super::shapes::{Quoted, Shape, Typed, shape};
use super::{composites, lines, omitted_types, scopes};
use crate::model::{Function, FunctionId, ScopeKind, SourceLine, VariableId, VariableKind};
use crate::omission::{Property, Subject, TemplateOwner};
use crate::spirv::languages;
use crate::spirv::mode::Feature;
use crate::spirv::words::Id;

pub(super) fn function_record(projection: &mut Projection<'_>, id: FunctionId) {
    let module = projection.module;
    let function = module.function(id);
    let declared = function.specification.map(|declaration| module.function(declaration));
    let mut properties = Properties::new();
    let subject = Subject::Function(id);
    let result = omitted_types::pointee(projection, Subject::Signature(id), function.returns);
    properties.push((Property::Type, "result".into(), result));
    // A definition may leave its parameters to the declaration.
    let mut parameters = projection.parameters[id].clone();
    if let (true, Some(of)) = (parameters.is_empty(), function.specification) {
        parameters = projection.parameters[of].clone();
    }
    for (index, parameter) in parameters.into_iter().enumerate() {
        let ty = projection.ty(module.variable(parameter).ty);
        properties.push((Property::Parameters, format!("type of parameter {index}").into(), ty));
    }
    let line = function.line.or_else(|| declared?.line);
    properties.push((Property::Line, "line".into(), lines::line(projection, line, subject, Property::Line)));
    let is_external = function.is_external || declared.is_some_and(|declaration| declaration.is_external);
    projection.yes(&mut properties, is_external, (Property::External, "external"));
    let access = function.member.accessibility.or_else(|| declared?.member.accessibility);
    properties.push((Property::Accessibility, "access".into(), composites::access(projection, access)));
    if declared.is_none() {
        for (name, _, has) in Function::SPIRV_FLAGS {
            projection.yes(&mut properties, has(function), (Property::Flag, name));
        }
        let unit = module.unit(module.scope(function.scope).unit);
        let has_prototypes = languages::has_prototypes(unit, projection.mode.set);
        let is_unprototyped = has_prototypes && function.is_unprototyped;
        projection.yes(&mut properties, is_unprototyped, (Property::Unprototyped, "unprototyped"));
    }
    // A function declaration has no further properties.
    let is_function = !function.is_declaration || projection.is_method(id);
    // The body line's file is not encoded: it is the line's file.
    let body = line.map(|line| SourceLine { line: function.body_line, column: 0, ..line });
    if let Some(body) = projection.omissions.line(subject, Property::BodyLine, body.filter(|_| is_function)) {
        properties.push((
            Property::BodyLine,
            "line of the body".into(),
            shape!(projection.shapes; u64::from(body.line)),
        ));
    }
    let has_code = !projection.omissions.has(subject, Property::Code);
    if let Some(code) = projection.binding.function_id(id).filter(|_| has_code) {
        properties.push((Property::Code, "code".into(), shape!(projection.shapes; u64::from(code.0))));
    }
    if let Some(of) = function.specification {
        let scope = scopes::scope(projection, module.function(of).scope);
        properties.push((Property::Definition, "declaration".into(), scope));
    }
    composites::templates(projection, TemplateOwner::Function(id), &function.templates, &mut properties);
    let key = scopes::scope(projection, function.scope);
    projection.record(key, subject, &properties, Duplicates::Kept);
}

pub(super) fn variable_record(projection: &mut Projection<'_>, id: VariableId) {
    let module = projection.module;
    let variable = module.variable(id);
    let is_member = matches!(module.scope(variable.scope).kind, ScopeKind::Type(_));
    let mut properties = Properties::new();
    let subject = Subject::Variable(id);
    if projection.omissions.has(subject, Property::Entity) {
        return;
    }
    if variable.origin.is_some() && !projection.mode.has(Feature::InlinedVariables) {
        return;
    }
    // A declaration's record already contains its parameter types, so that a parameter with only a type adds nothing.
    let is_of_declaration =
        module.function_of(variable.scope).is_some_and(|function| projection.is_only_declared(function));
    let has_type_only = module.name_of(id).is_none() && variable.line.is_none() && !variable.is_artificial;
    if is_of_declaration && has_type_only {
        return;
    }
    // An instance has only its origin's properties.
    if variable.origin.is_none() {
        let declared = variable.specification.map(|declaration| module.variable(declaration));
        let (ty, _) = omitted_types::element(projection, subject, variable.ty);
        if let Some(bits) = projection.omissions.number(subject, Property::Size) {
            composites::unimported_layout(projection, module.name_of(id).unwrap_or_default(), 0, bits);
        }
        properties.push((Property::Type, "type".into(), ty));
        let line = variable.line.or_else(|| declared?.line);
        properties.push((
            Property::Line,
            "line".into(),
            lines::line(projection, line, subject, Property::Line),
        ));
        projection.yes(&mut properties, variable.is_artificial, (Property::Artificial, "artificial"));
        let provider = projection
            .binding
            .global_id(id)
            .filter(|_| !projection.omissions.has(subject, Property::Storage));
        let is_global = module.function_of(variable.scope).is_none() || provider.is_some();
        if is_member || is_global {
            properties.push((
                Property::Accessibility,
                "access".into(),
                composites::access(projection, variable.accessibility),
            ));
            let value = providers(projection, id, provider);
            if let Some(value) = value {
                properties.push((Property::Value, "value".into(), value));
            }
        }
        if is_global && !is_member {
            let is_external =
                variable.is_external || declared.is_some_and(|declaration| declaration.is_external);
            projection.yes(&mut properties, is_external, (Property::External, "external"));
            let is_declaration =
                variable.is_declaration && !projection.omissions.has(subject, Property::Declaration);
            projection.yes(&mut properties, is_declaration, (Property::Declaration, "declaration"));
            let linkage = variable.linkage_name.or_else(|| declared?.linkage_name);
            // A linkage name that equals the name is not encoded.
            let linkage = linkage.map(|linkage| module.string(linkage));
            if let Some(linkage) = linkage.filter(|&linkage| Some(linkage) != module.name_of(id)) {
                properties.push((
                    Property::LinkageName,
                    "linkage name".into(),
                    shape!(projection.shapes; Quoted(linkage)),
                ));
            }
            if let Some(of) = variable.specification.filter(|&of| module.is_static_member(of))
                && !projection.omissions.has(subject, Property::Definition)
            {
                properties.push((
                    Property::Definition,
                    "definition of".into(),
                    scopes::variable_key(projection, of),
                ));
            }
        }
        if variable.kind == VariableKind::Parameter
            && !is_global
            && let ScopeKind::Function(function) = module.scope(variable.scope).kind
        {
            let place = projection.parameters[function].iter().position(|&parameter| parameter == id);
            properties.push((
                Property::Parameter,
                "parameter".into(),
                shape!(projection.shapes; place.unwrap_or_default() as u64),
            ));
            let is_object = module.function(function).object_pointer == Some(id);
            projection.yes(&mut properties, is_object, (Property::ObjectPointer, "object"));
        }
    }
    let key = scopes::variable_key(projection, id);
    if let Some(instance) = scopes::instance_key(projection, id)
        && projection.mode.has(Feature::InlinedVariables)
        && projection.in_code.contains(id)
    {
        projection.record(instance, Subject::Variable(id), &Properties::new(), Duplicates::Kept);
    }
    projection.record(key, Subject::Variable(id), &properties, Duplicates::Kept);
}

/// The variable's `OpVariable`, or its constant value.
pub(super) fn providers(
    projection: &mut Projection<'_>,
    id: VariableId,
    provider: Option<Id>,
) -> Option<Shape> {
    let variable = projection.module.variable(id);
    let bits = projection.module.ty(variable.ty).bits().unwrap_or(64).clamp(1, 64) as u32;
    let constant = provider
        .and_then(|provider| projection.layout.constant(provider))
        .and_then(|constant| constant.value);
    // The constant's type may be wider than the variable's, so that only the variable's bits count.
    match (provider, constant) {
        (Some(_), Some(number)) => {
            Some(shape!(projection.shapes; "number", number & u64::MAX >> (64 - bits)))
        }
        (Some(provider), None) => Some(shape!(projection.shapes; "id", u64::from(provider.0))),
        (None, _) if projection.omissions.has(Subject::Variable(id), Property::Value) => None,
        (None, _) => {
            let bytes = projection.module.always(id).and_then(|loc| projection.module.constant(loc))?;
            Some(match projection.integer(variable.ty, bytes) {
                Some(number) => shape!(projection.shapes; "number", number & u64::MAX >> (64 - bits)),
                None => shape!(projection.shapes; "bytes", Typed::Bytes(bytes.to_vec())),
            })
        }
    }
}
