//! Subject names, for messages.

use super::{Subject, TemplateOwner};
use crate::model::{
    Import, Imported, Module, NamespaceKind, ScopeId, ScopeKind, StringId, TemplateArgument,
    TemplateParameter, TypeId, TypeKind,
};

impl Subject {
    /// Name for messages; empty where [`at`](Self::at) has it.
    pub(crate) fn name(&self, module: &Module) -> String {
        let text = |id: Option<StringId>| id.map_or("", |id| module.string(id));
        match *self {
            Self::Module => "the module".into(),
            Self::Unit(_)
            | Self::Macro(..)
            | Self::Function(_)
            | Self::Rule(..)
            | Self::Variable(_)
            | Self::Provider(..)
            | Self::Call(_)
            | Self::Argument(..)
            | Self::Procedure(_)
            | Self::Instruction(_) => String::new(),
            Self::File(id) => format!("file `{}`", module.string(module.files[id].name)),
            Self::Scope(id) => scope(module, id),
            Self::Import(id) => import(module, &module.imports[id]),
            Self::Label(id) => format!("the label `{}`", module.string(module.labels[id].name)),
            Self::Type(id) | Self::Dimension(id, _) => module.called(id),
            Self::Base(id, _) => format!("a base class of {}", module.called(id)),
            Self::Parameter(id, index) => format!("parameter {} of {}", index + 1, module.called(id)),
            Self::Member(id, index) => {
                let member = match &module.types[id].kind {
                    TypeKind::Composite(composite) => composite.members.get(index as usize),
                    _ => None,
                };
                let name = text(member.and_then(|member| member.name));
                format!("member `{name}` of {}", module.called(id))
            }
            Self::VariantMember(part, variant, index) => {
                let part = &module.variant_parts[part];
                let variant = part.variants.get(variant as usize);
                let member = variant.and_then(|variant| variant.members.get(index as usize));
                let name = text(member.and_then(|member| member.name));
                format!("member `{name}` of a variant of {}", module.called(part.of))
            }
            Self::Enumerator(id, index) => {
                let name = match &module.types[id].kind {
                    TypeKind::Enum { enumerators, .. } => {
                        enumerators.get(index as usize).map(|&(name, _)| name)
                    }
                    _ => None,
                };
                format!("{}: its enumerator `{}`", module.called(id), text(name))
            }
            Self::TemplateParameter(owner, index, inner) => {
                let (of, all) = match owner {
                    TemplateOwner::Type(id) => (format!("{}: ", module.called(id)), templates(module, id)),
                    TemplateOwner::Function(id) => (String::new(), &module.functions[id].templates[..]),
                };
                let mut parameter = all.get(index as usize);
                if let (Some(TemplateArgument::Pack(all)), Some(inner)) =
                    (parameter.map(|parameter| &parameter.argument), inner)
                {
                    parameter = all.get(inner as usize);
                }
                format!("{of}template parameter `{}`", text(parameter.and_then(|it| it.name)))
            }
            Self::Signature(_) => "the type of the function".into(),
        }
    }
}

/// Returns a scope's name.
pub(super) fn scope(module: &Module, id: ScopeId) -> String {
    let data = &module.scopes[id];
    match data.kind {
        ScopeKind::Unit => "the unit".into(),
        ScopeKind::Function(function) => {
            format!("function `{}`", module.string(module.functions[function].name))
        }
        ScopeKind::Type(ty) => module.called(ty),
        ScopeKind::Namespace { name: Some(name), kind } => {
            let what = match kind {
                NamespaceKind::Namespace | NamespaceKind::Inline => "namespace",
                NamespaceKind::Module => "module",
                NamespaceKind::CommonBlock => "common block",
                NamespaceKind::Namelist => "namelist",
            };
            format!("{what} `{}`", module.string(name))
        }
        ScopeKind::Namespace { name: None, .. } => "a namespace".into(),
        ScopeKind::Inlined { function, call } => {
            let callee = module.string(module.functions[function].name);
            format!("the inlined call of `{callee}` in line {}", call.line)
        }
        ScopeKind::Block if is_inlined(module, id) => "an inlined block".into(),
        ScopeKind::Block => "a block".into(),
    }
}

fn is_inlined(module: &Module, mut id: ScopeId) -> bool {
    loop {
        let data = &module.scopes[id];
        match (&data.kind, data.parent) {
            (ScopeKind::Inlined { .. }, _) => return true,
            (ScopeKind::Block, Some(parent)) => id = parent,
            _ => return false,
        }
    }
}

fn import(module: &Module, import: &Import) -> String {
    match import.what {
        Imported::Function(id) => {
            format!("the import of `{}`", module.string(module.functions[id].name))
        }
        Imported::Variable(id) => format!("the import of `{}`", module.name_of(id).unwrap_or_default()),
        Imported::Type(id) => format!("the import of {}", module.called(id)),
        Imported::Member(id, index) => format!("the import of member {index} of {}", module.called(id)),
        Imported::Enumerator(id, index) => {
            format!("the import of enumerator {index} of {}", module.called(id))
        }
        Imported::Namespace(id) => format!("the import of {}", scope(module, id)),
        Imported::AllOf(id) => format!("the import of all names of {}", scope(module, id)),
    }
}

fn templates(module: &Module, id: TypeId) -> &[TemplateParameter] {
    match &module.types[id].kind {
        TypeKind::Composite(composite) => &composite.templates,
        _ => &[],
    }
}
