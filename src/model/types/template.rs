//! Template and generic parameters: DWARF 5 section 2.23.

use crate::model::ids::{LocId, StringId, TypeId};

/// A template parameter with its argument, for a type or function that is a template instance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TemplateParameter {
    /// Name, if any.
    pub name: Option<StringId>,
    /// The argument.
    pub argument: TemplateArgument,
    /// Whether the argument is the parameter's default.
    pub is_default: bool,
}

/// A template parameter's argument.
///
/// Exhaustive: a match names all variants.
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
    /// Calls `each` with its types and its values' types.
    pub(crate) fn types(&self, each: &mut impl FnMut(TypeId)) {
        match &self.argument {
            TemplateArgument::Type(ty) => ty.iter().copied().for_each(each),
            TemplateArgument::Value { ty, .. } => each(*ty),
            TemplateArgument::Template(_) => {}
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.types(each)),
        }
    }

    /// Appends its values' locations.
    pub(crate) fn locs(&self, all: &mut Vec<LocId>) {
        match &self.argument {
            TemplateArgument::Value { value, .. } => all.push(*value),
            TemplateArgument::Pack(inner) => inner.iter().for_each(|parameter| parameter.locs(all)),
            TemplateArgument::Type(_) | TemplateArgument::Template(_) => {}
        }
    }
}
