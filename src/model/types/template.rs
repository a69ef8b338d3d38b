//! Parameters of templates and generics: DWARF 5 section 2.23.

use crate::model::ids::{LocId, StringId, TypeId};

/// A parameter of a template, of a type or function that is an instance of it, with what it stands for there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TemplateParameter {
    /// Its name, if any.
    pub name: Option<StringId>,
    /// What it stands for.
    pub argument: TemplateArgument,
    /// Whether that is what it stands for where nothing is said.
    pub is_default: bool,
}

/// What a parameter of a template stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TemplateArgument {
    /// A type; `None` for `void`.
    Type(Option<TypeId>),
    /// A value: a constant ([`Loc::implicit`](crate::model::Loc::implicit)), or where it is.
    Value {
        /// Its type.
        ty: TypeId,
        /// The value.
        value: LocId,
    },
    /// A template, by name.
    Template(StringId),
    /// Any number of arguments: a parameter pack.
    Pack(Vec<TemplateParameter>),
}

impl TemplateParameter {
    /// Gives the types that it stands for, and those of its values.
    pub(crate) fn types(&self, each: &mut impl FnMut(TypeId)) {
        match &self.argument {
            TemplateArgument::Type(ty) => ty.iter().copied().for_each(each),
            TemplateArgument::Value { ty, .. } => each(*ty),
            TemplateArgument::Template(_) => {}
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.types(each)),
        }
    }

    /// Appends where its values are.
    pub(crate) fn locs(&self, all: &mut Vec<LocId>) {
        match &self.argument {
            TemplateArgument::Value { value, .. } => all.push(*value),
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.locs(all)),
            TemplateArgument::Type(_) | TemplateArgument::Template(_) => {}
        }
    }
}
