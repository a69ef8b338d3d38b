//! Scope keys, and the scope that each entity is encoded in.

use super::described::{Duplicates, Projection, Properties};
use super::lines;
use super::shapes::{Quoted, Shape, shape};
use crate::model::CompositeKind;
use crate::model::TypeId;
use crate::model::TypeKind;
use crate::model::VariableId;
use crate::model::{FunctionId, ScopeId, ScopeKind, SourceLine};
use crate::omission::{Property, Subject};
use crate::spirv::mode::Discriminators;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// A scope's key. It is computed with an explicit stack instead of a recursion, because scopes can be nested deeply.
pub(super) fn scope(projection: &mut Projection<'_>, id: ScopeId) -> Shape {
    if let Some(shape) = projection.scopes[id] {
        return shape;
    }
    let mut open = vec![id];
    // A scope is complete when everything that its key contains is.
    while let Some(&at) = open.last() {
        if projection.scopes[at].is_some() {
            open.pop();
            continue;
        }
        let data = projection.module.scope(at);
        // A type's key needs only the namespace, because enclosing types cannot always be encoded.
        let needs = [data.parent.filter(|_| !matches!(data.kind, ScopeKind::Type(_))), data.origin];
        let before = open.len();
        open.extend(needs.into_iter().flatten().filter(|&need| projection.scopes[need].is_none()));
        if let ScopeKind::Inlined { function, .. } = data.kind {
            let callee = projection.module.function(function).scope;
            open.extend(Some(callee).filter(|&callee| projection.scopes[callee].is_none()));
        }
        if let ScopeKind::Type(ty) = data.kind {
            let around = projection.enclosing_lexical(projection.module.ty(ty).scope());
            open.extend(Some(around).filter(|&around| projection.scopes[around].is_none()));
        }
        if open.len() == before {
            projection.scopes[at] = Some(scope_here(projection, at));
            open.pop();
        }
    }
    match projection.scopes[id] {
        Some(shape) => shape,
        None => shape!(projection.shapes; "nothing"),
    }
}

/// A scope's key, built from the enclosing scopes' keys, which exist already.
pub(super) fn scope_here(projection: &mut Projection<'_>, id: ScopeId) -> Shape {
    let data = projection.module.scope(id);
    let known = |this: &Projection<'_>, id: Option<ScopeId>| id.and_then(|id| this.scopes[id]);
    let nothing = shape!(projection.shapes; "nothing");
    let parent = known(projection, data.parent).unwrap_or(nothing);
    let text = |id: crate::model::StringId| projection.module.string(id);
    match data.kind {
        ScopeKind::Unit => {
            shape!(projection.shapes; "unit", lines::path_text(projection, projection.module.unit(data.unit).file))
        }
        ScopeKind::Namespace { name, .. } => {
            shape!(projection.shapes; parent, "namespace", Quoted(name.map(text).unwrap_or_default()))
        }
        ScopeKind::Function(function) => function_key(projection, function, parent),
        ScopeKind::Type(ty) => type_key(projection, ty),
        ScopeKind::Block => match (data.origin, projection.call(id)) {
            (Some(origin), Some(call)) => {
                let call = known(projection, Some(call));
                let origin = known(projection, Some(origin));
                shape!(projection.shapes; call.unwrap_or(nothing), "of", origin.unwrap_or(nothing))
            }
            // An instance without an origin is encoded as the enclosing scope.
            (None, Some(_)) => parent,
            _ => {
                let line = lines::line(projection, data.line, Subject::Scope(id), Property::Line);
                shape!(projection.shapes; parent, "block", line)
            }
        },
        ScopeKind::Inlined { function, call } => {
            let subject = Subject::Scope(id);
            let callee =
                known(projection, Some(projection.module.function(function).scope)).unwrap_or(nothing);
            // A call's file is not encoded: it is the file of the scope around it.
            let file = data.parent.map_or(call.file, |around| projection.file_of(around));
            let has_column = projection.mode.set.has_operand(InstructionName::InlinedAt, Field::Column);
            let column = if has_column { call.column } else { 0 };
            let line = Some(SourceLine { file, column, ..call });
            let line = lines::line(projection, line, subject, Property::CallLine);
            let number = projection.discriminator(id).unwrap_or_default();
            shape!(projection.shapes; parent, "call in line", line, number, "of", callee)
        }
    }
}

pub(super) fn function_key(projection: &mut Projection<'_>, id: FunctionId, parent: Shape) -> Shape {
    let function = projection.module.function(id);
    let declared = function.specification.map(|declaration| projection.module.function(declaration));
    let linkage = function.linkage_name.or_else(|| declared?.linkage_name);
    let name = projection.module.string(function.name);
    let linkage = linkage.map_or("", |linkage| projection.module.string(linkage));
    // A linkage name that equals the name is not encoded.
    let linkage = if linkage == name { "" } else { linkage };
    let kind = if projection.is_only_declared(id) { "declaration" } else { "function" };
    shape!(projection.shapes; parent, kind, Quoted(name), Quoted(linkage))
}

pub(super) fn namespace(projection: &mut Projection<'_>, id: ScopeId) -> Shape {
    let enclosing_lexical = projection.enclosing_lexical(id);
    scope(projection, enclosing_lexical)
}

pub(super) fn scope_record(projection: &mut Projection<'_>, id: ScopeId, kind: &ScopeKind) {
    let data = projection.module.scope(id);
    let mut properties = Properties::new();
    match kind {
        &ScopeKind::Namespace { name, kind } => {
            properties.push((
                Property::Line,
                "line".into(),
                lines::line(projection, data.line, Subject::Scope(id), Property::Line),
            ));
            let has_flag =
                projection.mode.set.has_operand(InstructionName::LexicalBlock, Field::InlineNamespace);
            projection.yes(
                &mut properties,
                has_flag && kind.is_inline() && name.is_some(),
                (Property::InlineNamespace, "inline"),
            );
        }
        ScopeKind::Block if projection.call(id).is_none() => {
            if data.discriminator != 0 && projection.mode.discriminators == Discriminators::Beside {
                let number = shape!(projection.shapes; u64::from(data.discriminator));
                properties.push((Property::Discriminator, "discriminator".into(), number));
            }
        }
        _ => return,
    }
    let key = scope(projection, id);
    projection.record(key, Subject::Scope(id), &properties, Duplicates::Kept);
}

/// A variable's key: name and scope; for an instance also the inlined call.
pub(super) fn variable_key(projection: &mut Projection<'_>, id: VariableId) -> Shape {
    let module = projection.module;
    let variable = module.variable(id);
    let name = Quoted(module.name_of(id).unwrap_or_default());
    // An instance is identified by its origin's scope and the call.
    let owner = module.variable(module.first_origin(id)).scope;
    match projection.call(variable.scope).filter(|_| variable.origin.is_some()) {
        Some(call) => {
            let call = scope(projection, call);
            let owner = scope(projection, owner);
            shape!(projection.shapes; call, "instance of", owner, "variable", name)
        }
        None => {
            let lexical = projection.lexical(variable.scope);
            let scope = scope(projection, lexical);
            shape!(projection.shapes; scope, "variable", name)
        }
    }
}

/// A variable's key in code. A variable that is declared only in an inlined call is encoded as the function's variable,
/// and its declarations and values as an instance's.
pub(super) fn value_key(projection: &mut Projection<'_>, id: VariableId) -> Shape {
    instance_key(projection, id).unwrap_or_else(|| variable_key(projection, id))
}

pub(super) fn instance_key(projection: &mut Projection<'_>, id: VariableId) -> Option<Shape> {
    let variable = projection.module.variable(id);
    let call = projection.call(variable.scope).filter(|_| variable.origin.is_none())?;
    let name = Quoted(projection.module.name_of(id).unwrap_or_default());
    let call = scope(projection, call);
    let lexical = projection.lexical(variable.scope);
    let parent = scope(projection, lexical);
    Some(shape!(projection.shapes; call, "instance of", parent, "variable", name))
}

/// The key for a type that can have a name. Enclosing functions and types are not part of the key, because they cannot
/// always be encoded.
pub(super) fn type_key(projection: &mut Projection<'_>, id: TypeId) -> Shape {
    let ty = projection.module.ty(id);
    let around = namespace(projection, ty.scope());
    let name = ty.name().map(|name| projection.module.string(name));
    match ty.kind() {
        TypeKind::Typedef { .. } => {
            shape!(projection.shapes; around, "typedef", Quoted(name.unwrap_or_default()))
        }
        TypeKind::Enum { enumerators, .. } => match name {
            Some(name) => shape!(projection.shapes; around, "enum", Quoted(name)),
            None => {
                // A type without a name is identified by its first member or enumerator, and its line.
                let mut encoded =
                    (0..).zip(enumerators).filter(|&(index, _)| is_encoded(projection, id, index));
                let first = encoded.next().map(|(_, (name, _))| projection.module.string(*name));
                let line = lines::line(projection, ty.line(), Subject::Type(id), Property::Line);
                shape!(projection.shapes; around, "enum of", Quoted(first.unwrap_or_default()), line)
            }
        },
        TypeKind::Composite(composite) => {
            let kind = match composite.kind {
                CompositeKind::Class => "class",
                CompositeKind::Struct => "struct",
                CompositeKind::Union => "union",
            };
            match name.filter(|name| !name.is_empty()) {
                Some(name) => shape!(projection.shapes; around, kind, Quoted(name)),
                None => {
                    let line = lines::line(projection, ty.line(), Subject::Type(id), Property::Line);
                    let first = composite.members.first().and_then(|member| member.name);
                    let first = Quoted(first.map_or("", |name| projection.module.string(name)));
                    shape!(projection.shapes; around, kind, "with", first, line, ty.bits().unwrap_or_default())
                }
            }
        }
        _ => projection.ty(id),
    }
}

/// Whether an enumerator is not omitted.
pub(super) fn is_encoded(projection: &Projection<'_>, id: TypeId, index: u32) -> bool {
    !projection.omissions.has(Subject::Enumerator(id, index), Property::Entity)
}
