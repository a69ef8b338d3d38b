//! What is said before the functions.

use cranelift_entity::SecondaryMap;

use super::writer::Writer;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, ScopeId, ScopeKind, VariableId};
use crate::spirv::binding::Binding;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// Ids of what was written.
#[derive(Debug, Default)]
pub(super) struct Entities {
    pub functions: SecondaryMap<FunctionId, Option<Id>>,
    pub scopes: SecondaryMap<ScopeId, Option<Scoped>>,
    pub variables: SecondaryMap<VariableId, Option<Id>>,
    pub sources: SecondaryMap<FileId, Option<Id>>,
    pub paths: SecondaryMap<FileId, Option<Id>>,
}

/// What a `DebugScope` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scoped {
    pub scope: Id,
    pub inlined: Option<Id>,
}

pub(super) fn globals(writer: &mut Writer<'_>, module: &Module, binding: &Binding) -> Result<Entities> {
    let mut all = Entities::default();
    for (id, file) in module.files() {
        let path = writer.string(module.string(file.name))?;
        all.paths[id] = Some(path);
        all.sources[id] = Some(writer.instruction(Name::Source, &[(Field::File, path.into())])?);
    }
    let mut unit = Id(0);
    for (_, it) in module.units() {
        let source = all.sources[it.file].unwrap_or(Id(0));
        unit = writer.instruction(
            Name::CompilationUnit,
            &[
                (Field::Version, 1.into()),
                (Field::DwarfVersion, 5.into()),
                (Field::Source, source.into()),
                (Field::Language, 3.into()),
            ],
        )?;
        all.scopes[it.scope] = Some(Scoped { scope: unit, inlined: None });
    }
    let source = all.sources[FileId::from_u32(0)].unwrap_or(Id(0));
    let name = writer.string("t")?;
    let empty = writer.string("")?;
    let size = writer.constant(32)?;
    let ty = writer.instruction(
        Name::TypeBasic,
        &[
            (Field::Name, name.into()),
            (Field::Size, size.into()),
            (Field::Encoding, 4.into()),
            (Field::Flags, 0.into()),
        ],
    )?;
    let fnty = writer.instruction(
        Name::TypeFunction,
        &[(Field::Flags, 0.into()), (Field::ReturnType, writer.void().into())],
    )?;
    for (id, f) in module.functions() {
        let n = writer.string(module.string(f.name))?;
        let op = match binding.functions[id] {
            Some(id) => id,
            None => writer.none()?,
        };
        let it = writer.instruction(
            Name::Function,
            &[
                (Field::Name, n.into()),
                (Field::Type, fnty.into()),
                (Field::Source, source.into()),
                (Field::Line, 1.into()),
                (Field::Column, 1.into()),
                (Field::Scope, unit.into()),
                (Field::LinkageName, empty.into()),
                (Field::Flags, 8.into()),
                (Field::ScopeLine, 1.into()),
                (Field::Function, op.into()),
            ],
        )?;
        all.functions[id] = Some(it);
        all.scopes[f.scope] = Some(Scoped { scope: it, inlined: None });
    }
    for (id, s) in module.scopes() {
        let parent = s.parent.and_then(|p| all.scopes[p]);
        all.scopes[id] = match &s.kind {
            ScopeKind::Block => {
                let p = parent.unwrap_or(Scoped { scope: unit, inlined: None });
                let scope = writer.instruction(
                    Name::LexicalBlock,
                    &[
                        (Field::Source, source.into()),
                        (Field::Line, 1.into()),
                        (Field::Column, 1.into()),
                        (Field::Scope, p.scope.into()),
                    ],
                )?;
                Some(Scoped { scope, inlined: p.inlined })
            }
            ScopeKind::Inlined { function, call, .. } => {
                let p = parent.unwrap_or(Scoped { scope: unit, inlined: None });
                let mut ops = vec![(Field::Line, call.line.into()), (Field::Scope, p.scope.into())];
                if let Some(i) = p.inlined {
                    ops.push((Field::Inlined, i.into()));
                }
                let at = writer.instruction(Name::InlinedAt, &ops)?;
                Some(Scoped { scope: all.functions[*function].unwrap_or(Id(0)), inlined: Some(at) })
            }
            _ => all.scopes[id],
        };
    }
    for (id, v) in module.variables() {
        let Some(s) = all.scopes[v.scope] else { continue };
        let origin = module.first_origin(id);
        if origin != id {
            all.variables[id] = all.variables[origin];
            continue;
        }
        let n = writer.string(module.name_of(id).unwrap_or(""))?;
        all.variables[id] = Some(writer.instruction(
            Name::LocalVariable,
            &[
                (Field::Name, n.into()),
                (Field::Type, ty.into()),
                (Field::Source, source.into()),
                (Field::Line, 1.into()),
                (Field::Column, 1.into()),
                (Field::Scope, s.scope.into()),
                (Field::Flags, 0.into()),
            ],
        )?);
    }
    Ok(all)
}
