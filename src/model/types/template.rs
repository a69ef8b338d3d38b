//! Parameters of templates and generics: DWARF 5 section 2.23.

use crate::model::ids::{LocId, StringId, TypeId};

/// A template parameter with its argument, of a type or function that is an instance of the template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TemplateParameter {
    /// Name, if any.
    pub name: Option<StringId>,
    /// The argument.
    pub argument: TemplateArgument,
    /// Whether the argument is the parameter's default.
    pub is_default: bool,
}

/// Argument of a template parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TemplateArgument {
    /// A type; `None` for `void`.
    Type(Option<TypeId>),
    /// A value: a constant ([`Loc::implicit`](crate::model::Loc::implicit)), or a location.
    Value {
        /// Type.
        ty: TypeId,
        /// The value.
        value: LocId,
    },
    /// A template, by name.
    Template(StringId),
    /// A parameter pack: any number of arguments.
    Pack(Vec<TemplateParameter>),
}

impl TemplateParameter {
    /// Calls `each` with its types and the types of its values.
    pub(crate) fn types(&self, each: &mut impl FnMut(TypeId)) {
        match &self.argument {
            TemplateArgument::Type(ty) => ty.iter().copied().for_each(each),
            TemplateArgument::Value { ty, .. } => each(*ty),
            TemplateArgument::Template(_) => {}
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.types(each)),
        }
    }

    /// Appends the locations of its values.
    pub(crate) fn locs(&self, all: &mut Vec<LocId>) {
        match &self.argument {
            TemplateArgument::Value { value, .. } => all.push(*value),
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.locs(all)),
            TemplateArgument::Type(_) | TemplateArgument::Template(_) => {}
        }
    }
}
