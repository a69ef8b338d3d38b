//! Template and generic parameters.

use crate::build::builder::Builder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Loc, TemplateArgument, TemplateParameter, TypeId, UnitId};

/// A template parameter with its argument, for [`Builder::template`]. DWARF 5 section 2.23.
///
/// ```
/// # use eitri::build::{Builder, Template};
/// # use eitri::model::BaseEncoding;
/// # use eitri::target::Target;
/// # let mut m = Builder::new(Target::x86_64());
/// # let unit = m.unit("a.hip");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// let tile = m.structure(unit, Some("tile<int, 16>"), 64)?;
/// m.template(tile, Template::ty("T", Some(int)))?
///     .template(tile, Template::value("N", int, &16u32.to_le_bytes()))?;
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Template<'a> {
    name: &'a str,
    argument: Argument<'a>,
    is_default: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Argument<'a> {
    Type(Option<TypeId>),
    Value(TypeId, Loc),
    Template(&'a str),
    Pack(Vec<Template<'a>>),
}

impl<'a> Template<'a> {
    /// Returns a type parameter; `void` where `ty` is `None`. An empty name means unnamed, here and below.
    pub fn ty(name: &'a str, ty: Option<TypeId>) -> Self {
        Self::new(name, Argument::Type(ty))
    }

    /// Returns a value parameter that is a constant, lowest byte first.
    pub fn value(name: &'a str, ty: TypeId, value: &[u8]) -> Self {
        Self::value_at(name, ty, Loc::implicit(value))
    }

    /// Returns a value parameter with a location: a variable's address is [`Loc::value`] of its symbol's address, and a
    /// value of which only the type is known is [`Loc::undefined`].
    pub fn value_at(name: &'a str, ty: TypeId, value: Loc) -> Self {
        Self::new(name, Argument::Value(ty, value))
    }

    /// Returns a template parameter that is a template, by name (`DW_TAG_GNU_template_template_param`).
    pub fn named(name: &'a str, template: &'a str) -> Self {
        Self::new(name, Argument::Template(template))
    }

    /// Returns a parameter pack (`DW_TAG_GNU_template_parameter_pack`), which must not contain packs.
    pub fn pack(name: &'a str, parameters: impl Into<Vec<Self>>) -> Self {
        Self::new(name, Argument::Pack(parameters.into()))
    }

    /// Marks the argument as the template's default.
    #[must_use]
    pub fn default(mut self) -> Self {
        self.is_default = true;
        self
    }

    fn new(name: &'a str, argument: Argument<'a>) -> Self {
        Self { name, argument, is_default: false }
    }
}

impl Builder {
    /// Adds a template parameter to a structure, class or union that is a template instance. Parameters are in call
    /// order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the type does not exist, or the parameter names another unit's type;
    /// [`ErrorKind::DoesNotFit`] where a value does not have its type's size; the same errors as
    /// [`VariableBuilder::live`](crate::build::VariableBuilder::live) for its location; [`ErrorKind::BadArgument`]
    /// where a pack contains a pack, or the type cannot have template parameters.
    pub fn template(&mut self, of: TypeId, parameter: Template<'_>) -> Result<&mut Self> {
        let unit = self.known_composite(of)?.0;
        let parameter = self
            .template_parameter(unit, &parameter)
            .map_err(|error| error.or_at(self.module.at_type(of)))?;
        self.composite_mut(of).templates.push(parameter);
        Ok(self)
    }

    /// Checks and interns a template parameter, for a type or function in the unit. Errors name no entity.
    pub(crate) fn template_parameter(
        &mut self,
        unit: UnitId,
        parameter: &Template<'_>,
    ) -> Result<TemplateParameter> {
        let what = || match parameter.name {
            "" => "a template parameter".into(),
            name => format!("template parameter `{name}`"),
        };
        let argument = match &parameter.argument {
            Argument::Type(ty) => {
                self.known_types(unit, *ty)?;
                TemplateArgument::Type(*ty)
            }
            Argument::Value(ty, value) => {
                self.known_types(unit, [*ty])?;
                // A constant may have fewer bytes than its type, but not more.
                let has = self.module.types[*ty].bits.map(|bits| bits.next_multiple_of(8));
                let bytes = value.constant().map(<[u8]>::len);
                if let (Some(has), Some(needs)) = (has, bytes.map(|bytes| 8 * bytes as u64))
                    && needs > has
                {
                    return Err(ErrorKind::DoesNotFit { what: what(), needs, has }.into());
                }
                self.check_location(unit, value, self.module.types[*ty].value_bits, &what())?;
                TemplateArgument::Value { ty: *ty, value: self.module.locs.push(value)? }
            }
            Argument::Template(name) => TemplateArgument::Template(self.name(name)?),
            Argument::Pack(parameters) => {
                // DWARF has no entry for a pack in a pack.
                if parameters.iter().any(|inner| matches!(inner.argument, Argument::Pack(_))) {
                    return Err(Error::bad_argument(format!("{} contains a pack in a pack", what())));
                }
                let elements: Result<_> =
                    parameters.iter().map(|inner| self.template_parameter(unit, inner)).collect();
                TemplateArgument::Pack(elements?)
            }
        };
        Ok(TemplateParameter {
            name: self.some_name(parameter.name)?,
            argument,
            is_default: parameter.is_default,
        })
    }
}
