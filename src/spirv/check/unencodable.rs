//! Properties that no instruction encodes: each must be listed as an omission, otherwise it is a difference. Reading
//! the words back cannot find them, because nothing is there to be read.

use hashbrown::HashSet;

use super::described::{Duplicates, Projection, Properties, is_absolute};
use super::shapes::{Typed, shape};
use super::types;
use crate::model::{
    FunctionId, Imported, Macro, NamespaceKind, ScopeId, ScopeKind, SecondaryMap, StringId, TemplateArgument,
    TemplateParameter, TypeId, TypeKind, UnitId, VariableId, VariableKind,
};
use crate::omission::{Property, Reason, Subject, TemplateOwner};
use crate::spirv::binding::Statement;
use crate::spirv::languages;
use crate::spirv::mode::{Discriminators, Feature};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Adds a record for each described property that no instruction encodes, unless the property is omitted.
pub(super) fn unencodable(projection: &mut Projection<'_>) {
    let module = projection.module;
    for (id, unit) in module.units() {
        let lost = [
            (unit.language_version.is_some(), Property::LanguageVersion),
            (unit.split_name.is_some(), Property::SplitName),
        ];
        unless_omitted(projection, Subject::Unit(id), &lost);
        files_of_macros(projection, id);
    }
    let has_checksums = projection.mode.set.has_operand(InstructionName::Source, Field::Checksum);
    for (id, file) in module.files() {
        unless_omitted(
            projection,
            Subject::File(id),
            &[(file.md5.is_some() && !has_checksums, Property::Checksum)],
        );
        let unit = module.unit(file.unit);
        let unit_directory = unit.directory;
        let is_primary = unit.file == id;
        let parts = [unit_directory, file.directory, Some(file.name)];
        let is_full = |part: &Option<StringId>| part.is_some_and(|part| is_absolute(module.string(part)));
        // An absolute part makes everything before it redundant, so that the dropped directories are lost.
        let first = parts.iter().rposition(is_full).unwrap_or(0);
        // Each file's path contains the unit's directory, but it counts only once.
        let cut = parts[..first].iter().flatten().copied();
        let cut: Vec<_> = cut.filter(|&part| is_primary || Some(part) != unit_directory).collect();
        for directory in cut {
            let mut omissions = projection.omissions.list(Subject::File(id));
            if !omissions.any(|omission| omission.reason == Reason::NoFullPath(directory)) {
                unencoded(projection, Subject::File(id), Property::Directory);
            }
        }
    }
    for id in module.types.keys() {
        unencodable_of_type(projection, id);
    }
    // Functions whose code is an entry point, and their declarations.
    let is_point = |id: &FunctionId| {
        projection.binding.function_id(*id).is_some_and(|code| projection.entry_points.contains(&code))
    };
    let points = module.functions.keys().filter(is_point);
    let points = points.flat_map(|id| [Some(id), module.function(id).specification]);
    let entered: HashSet<FunctionId> = points.flatten().collect();
    for id in module.functions.keys() {
        unencodable_of_function(projection, id, &entered);
    }
    for id in module.variables.keys() {
        unencodable_of_variable(projection, id);
    }
    unencodable_of_scopes(projection);
    for attribute in &module.lists.attributes {
        let lost = [(true, Property::of_attribute(attribute.name))];
        unless_omitted(projection, attribute.owner.into(), &lost);
    }
    for (id, import) in module.imports() {
        let is_omitted = projection.omissions.has(Subject::Import(id), Property::Entity);
        let is_inlined = !is_omitted && projection.call(import.scope).is_some();
        let is_member = matches!(import.what, Imported::Member(..) | Imported::Enumerator(..));
        let properties = [(is_inlined, Property::InlinedScope), (is_member, Property::Entity)];
        unless_omitted(projection, Subject::Import(id), &properties);
    }
    for id in module.labels.keys() {
        unless_omitted(projection, Subject::Label(id), &[(true, Property::Entity)]);
    }
    for call in module.calls.values() {
        let function = module.function_of(call.scope);
        let subject = function.map_or(Subject::Scope(call.scope), Subject::Function);
        unless_omitted(projection, subject, &[(true, Property::Calls)]);
    }
}

/// Adds a record for each described property that is not omitted.
fn unless_omitted(projection: &mut Projection<'_>, subject: Subject, all: &[(bool, Property)]) {
    for &(is_described, property) in all {
        if is_described && !projection.omissions.has(subject, property) {
            unencoded(projection, subject, property);
        }
    }
}

fn unencoded(projection: &mut Projection<'_>, subject: Subject, property: Property) {
    let key = shape!(projection.shapes; Typed::Unencoded(subject, property, subject.name(projection.module)));
    projection.record(key, subject, &Properties::new(), Duplicates::Kept);
}

/// File inclusions that contain no macro, at the start of the preprocessor's input.
fn files_of_macros(projection: &mut Projection<'_>, id: UnitId) {
    if projection.omissions.has(Subject::Unit(id), Property::Macros) {
        return;
    }
    // Whether each open file is included by another file, or has a macro.
    let mut is_known = Vec::new();
    for (index, what) in (0..).zip(projection.module.macros(id)) {
        let subject = Subject::Macro(id, index);
        match *what {
            Macro::File { line, .. } => is_known.push(line != 0),
            Macro::EndFile => {
                let is_unencodable = is_known.pop() == Some(false);
                unless_omitted(projection, subject, &[(is_unencodable, Property::MacroFile)]);
            }
            Macro::Undefine { .. } if projection.omissions.has(subject, Property::MacroUndefinition) => {}
            Macro::Define { .. } | Macro::Undefine { .. } => {
                is_known.last_mut().into_iter().for_each(|is_known| *is_known = true);
            }
        }
    }
}

fn unencodable_of_type(projection: &mut Projection<'_>, id: TypeId) {
    let module = projection.module;
    let ty = module.ty(id);
    let subject = Subject::Type(id);
    let has_place = matches!(
        ty.kind(),
        TypeKind::Composite(_)
            | TypeKind::Enum { .. }
            | TypeKind::Typedef { .. }
            | TypeKind::Unspecified { .. }
    );
    let is_outside = module.scope(ty.scope()).kind == ScopeKind::Unit;
    let lost = [
        (ty.alignment.is_some(), Property::Alignment),
        (!has_place && ty.line().is_some(), Property::Line),
        (!has_place && !is_outside, Property::EnclosingScope),
    ];
    unless_omitted(projection, subject, &lost);
    match ty.kind() {
        TypeKind::Array { dimensions, stride_bits, .. } => {
            let has_subranges = projection.has_subranges();
            let is_lost = stride_bits.is_some()
                && types::strides(projection, subject, dimensions, *stride_bits).is_none();
            unless_omitted(projection, subject, &[(is_lost, Property::Stride)]);
            for (index, dimension) in (0..).zip(dimensions) {
                let lost = [
                    (dimension.lower.is_some() && !has_subranges, Property::FirstIndex),
                    (dimension.index.is_some(), Property::IndexType),
                ];
                unless_omitted(projection, Subject::Dimension(id, index), &lost);
            }
        }
        TypeKind::Vector { is_packed, .. } => {
            unless_omitted(projection, subject, &[(*is_packed, Property::Size)]);
        }
        TypeKind::Subroutine { is_variadic, .. } => {
            let lost = [(*is_variadic, Property::Variadic), (ty.is_unprototyped, Property::Unprototyped)];
            unless_omitted(projection, subject, &lost);
        }
        TypeKind::String { .. } | TypeKind::Subrange { .. } | TypeKind::Set { .. } => {
            unless_omitted(projection, subject, &[(true, Property::Kind)])
        }
        TypeKind::Enum { .. } => {
            let is_unsized = ty.bits().unwrap_or_default() == 0;
            unless_omitted(projection, subject, &[(is_unsized, Property::Size)]);
        }
        TypeKind::Composite(composite) => {
            let has_parts = !composite.variant_parts.is_empty();
            unless_omitted(projection, subject, &[(has_parts, Property::VariantParts)]);
            for (index, member) in (0..).zip(&composite.members) {
                let is_whole = member.bits.is_some() && member.bits == module.ty(member.ty).bits();
                let is_whole = is_whole && !projection.has_bit_fields();
                let lost = [(member.is_mutable, Property::Mutable), (is_whole, Property::BitField)];
                unless_omitted(projection, Subject::Member(id, index), &lost);
            }
            for (index, base) in (0..).zip(&composite.bases) {
                let subject = Subject::Base(id, index);
                let is_named = projection.class(base.ty) != base.ty;
                let is_named = is_named && !projection.omissions.has(subject, Property::Entity);
                unless_omitted(projection, subject, &[(is_named, Property::Named)]);
            }
            defaults(projection, TemplateOwner::Type(id), &composite.templates);
        }
        kind => {
            if let Some(bits) = kind.elements().and_then(|elements| elements.stride_bits) {
                let is_array = projection.omissions.has(subject, Property::Kind);
                let is_encoded = is_array && projection.has_subranges() && bits.is_multiple_of(8);
                unless_omitted(projection, subject, &[(!is_encoded, Property::Stride)]);
            }
        }
    }
}

/// Default template arguments.
fn defaults(projection: &mut Projection<'_>, owner: TemplateOwner, parameters: &[TemplateParameter]) {
    let whole = match owner {
        TemplateOwner::Type(id) => Subject::Type(id),
        TemplateOwner::Function(id) => Subject::Function(id),
    };
    if matches!(projection.omissions.why(whole, Property::TemplateParameters), Some(Reason::NotTemplate)) {
        return;
    }
    for (index, parameter) in (0..).zip(parameters) {
        let mut parameters = vec![(None, parameter)];
        if let TemplateArgument::Pack(inner) = &parameter.argument {
            parameters.extend((0..).map(Some).zip(inner));
        }
        for (place, parameter) in parameters {
            let subject = Subject::TemplateParameter(owner, index, place);
            let is_encoded = !projection.omissions.has(subject, Property::Entity);
            unless_omitted(projection, subject, &[(parameter.is_default && is_encoded, Property::Default)]);
        }
    }
}

fn unencodable_of_function(projection: &mut Projection<'_>, id: FunctionId, entered: &HashSet<FunctionId>) {
    let module = projection.module;
    let function = module.function(id);
    let member = &function.member;
    let has_body = !function.is_declaration || projection.is_method(id);
    let code = |id: FunctionId| projection.binding.function_id(id);
    let both = [Some(id), function.specification];
    let is_kernel = both.into_iter().flatten().any(|id| module.function(id).is_kernel);
    let is_entered = entered.contains(&id);
    let has_object = function.object_pointer.is_some_and(|object| !has_body || projection.is_global(object));
    let has_frame =
        function.frame_base.is_some() || function.has_frame_facts() || module.has_frame(id, false);
    let parent = module.scope(function.scope).parent;
    let unit = module.unit(module.scope(function.scope).unit);
    let has_prototypes = languages::has_prototypes(unit, projection.mode.set);
    let is_declared = function.specification.is_none_or(|id| module.function(id).is_unprototyped);
    let lost = [
        (function.is_unprototyped && !(has_prototypes && is_declared), Property::Unprototyped),
        (is_kernel && !is_entered, Property::Kernel),
        (is_entered && code(id).is_some() && !is_kernel, Property::NotKernel),
        (!has_body && function.body_line != 0, Property::BodyLine),
        (has_object, Property::ObjectPointer),
        (function.is_undescribed, Property::WithoutEntry),
        (function.origin.is_some(), Property::Instance),
        (function.is_variadic, Property::Variadic),
        (function.is_noreturn, Property::NoReturn),
        (function.is_main, Property::Main),
        (function.is_declared_inline, Property::DeclaredInline),
        (function.convention.is_some(), Property::Convention),
        (member.virtuality.is_some(), Property::Virtuality),
        (member.is_deleted, Property::Deleted),
        (member.defaulted.is_some(), Property::Defaulted),
        (has_frame, Property::Frame),
        (function.static_link.is_some(), Property::StaticLink),
        (function.calls.is_some(), Property::DescribedCalls),
        (function.lanes.is_described || !function.lanes.regions.is_empty(), Property::Lanes),
        (parent.is_some_and(|parent| projection.call(parent).is_some()), Property::InlinedScope),
    ];
    unless_omitted(projection, Subject::Function(id), &lost);
    defaults(projection, TemplateOwner::Function(id), &function.templates);
}

fn unencodable_of_variable(projection: &mut Projection<'_>, id: VariableId) {
    let module = projection.module;
    let variable = module.variable(id);
    let subject = Subject::Variable(id);
    let mut described = id;
    let is_instance = variable.origin.is_some();
    // Instances form a chain; the last origin is the variable that is described.
    while let Some(origin) = module.variable(described).origin {
        described = origin;
    }
    if is_instance {
        let has_own = projection.mode.has(Feature::InlinedVariables) && !projection.is_global(described);
        let is_unencodable = !has_own && !projection.in_code.contains(id);
        unless_omitted(projection, subject, &[(is_unencodable, Property::Entity)]);
    }
    if !is_instance && projection.omissions.has(subject, Property::Entity) {
        return;
    }
    let origin = module.variable(described);
    let is_member = matches!(module.scope(variable.scope).kind, ScopeKind::Type(_));
    let is_bound = projection.binding.global_id(id).is_some();
    let is_local = !is_member && !projection.is_global(id);
    let bound = projection.binding.global_id(id);
    let has_bound_value = bound.is_some_and(|bound| projection.layout.constant(bound).is_some());
    let is_parameter = variable.kind == VariableKind::Parameter && !is_local && !is_member;
    let is_inlined = !is_instance && projection.call(variable.scope).is_some();
    let has_value = variable.is_constant && (is_local || is_bound);
    let is_of_other = variable.specification.is_some_and(|declaration| !module.is_static_member(declaration));
    let lost = [
        (variable.line.is_some() && is_instance && variable.line != origin.line, Property::Line),
        (variable.is_artificial && !origin.is_artificial, Property::Artificial),
        (variable.ty != origin.ty, Property::Type),
        (is_instance && is_bound, Property::Storage),
        // No operand says that a static member is internal, or that a local variable is external.
        (is_member && !variable.is_external, Property::External),
        (is_local && variable.is_external, Property::External),
        (variable.memory_space.is_some(), Property::MemorySpace),
        (has_value, Property::Value),
        (variable.is_declaration && (is_local || has_bound_value), Property::Declaration),
        (is_local && variable.accessibility.is_some(), Property::Accessibility),
        ((is_local || is_member) && variable.linkage_name.is_some(), Property::LinkageName),
        (variable.kind == VariableKind::Constant, Property::NamedConstant),
        (is_parameter, Property::Parameter),
        (is_inlined, Property::InlinedScope),
        (is_of_other, Property::Definition),
    ];
    unless_omitted(projection, subject, &lost);
}

fn unencodable_of_scopes(projection: &mut Projection<'_>) {
    let module = projection.module;
    let is_used = used_scopes(projection);
    for (id, scope) in module.scopes() {
        let subject = Subject::Scope(id);
        let is_inlined = projection.call(id).is_some();
        let origin = scope.origin.map(|origin| module.scope(origin));
        let is_beside = projection.mode.discriminators == Discriminators::Beside && scope.discriminator != 0;
        let is_call = matches!(scope.kind, ScopeKind::Inlined { .. });
        let has_other = match origin {
            Some(origin) => origin.discriminator != scope.discriminator,
            None => is_call,
        };
        let place = match scope.kind {
            ScopeKind::Inlined { call, .. } => Some(call),
            _ => None,
        };
        // A call's file is not encoded, so that it must be the file of the scope around it.
        let is_elsewhere =
            scope.parent.zip(place).is_some_and(|(of, call)| projection.file_of(of) != call.file);
        let has_line = origin.is_some_and(|definition| scope.line.is_some() && scope.line != definition.line);
        let (is_inline, is_other) = match scope.kind {
            ScopeKind::Namespace { name, kind } => (
                name.is_some() && kind == NamespaceKind::Inline,
                !matches!(kind, NamespaceKind::Namespace | NamespaceKind::Inline),
            ),
            _ => (false, false),
        };
        let is_inline = is_inline
            && !projection.mode.set.has_operand(InstructionName::LexicalBlock, Field::InlineNamespace);
        let has_column = projection.mode.set.has_operand(InstructionName::InlinedAt, Field::Column);
        // An instance without an origin is encoded as the enclosing scope.
        let is_unencodable = is_inlined && (!is_call && origin.is_none() || !is_used[id]);
        let lost = [
            (is_inline, Property::InlineNamespace),
            (is_other, Property::Kind),
            (place.is_some_and(|call| call.column != 0 && !has_column), Property::Column),
            (is_elsewhere, Property::CallFile),
            (is_beside && has_other, Property::Discriminator),
            (has_line, Property::Line),
            (is_unencodable, Property::Entity),
        ];
        unless_omitted(projection, subject, &lost);
    }
}

/// Scopes used by instructions and variables in code, together with the scopes around them.
fn used_scopes(projection: &Projection<'_>) -> SecondaryMap<ScopeId, bool> {
    let module = projection.module;
    let mut is_used = SecondaryMap::new();
    for (_, statement) in projection.binding.statements() {
        let scope = match *statement {
            Statement::Scope(scope) => scope,
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                Some(module.variable(variable).scope)
            }
            Statement::Line(_) => None,
        };
        scope.into_iter().for_each(|scope| is_used[scope] = true);
    }
    for (id, variable) in module.variables() {
        if variable.origin.is_some()
            && projection.mode.has(Feature::InlinedVariables)
            && !projection.is_global(module.first_origin(id))
        {
            is_used[variable.scope] = true;
        }
    }
    // A scope's contents follow the scope, so that the reverse order reaches all parents. A call references the scope
    // around it.
    for (id, scope) in module.scopes().collect::<Vec<_>>().into_iter().rev() {
        let is_call = matches!(scope.kind, ScopeKind::Inlined { .. });
        if let Some(parent) = scope.parent.filter(|_| is_used[id] || is_call) {
            is_used[parent] = true;
        }
    }
    is_used
}
