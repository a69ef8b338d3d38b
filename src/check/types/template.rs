//! Parameters of templates: DWARF 5 section 2.23.

use gimli::constants as dw;

use super::{Compared, Found, Parts, equal, is_set, of_tag};
use crate::check::attributes::only;
use crate::check::compare::Compare;
use crate::model::{TemplateArgument, TemplateParameter};
use crate::read::Value;

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares parameters of a template with the entries of them.
    pub(in crate::check) fn templates(
        &self,
        parameters: &[TemplateParameter],
        children: Found<'_, 'a, 'o>,
        parts: &mut Parts<'a, 'o>,
    ) -> Compared {
        for parameter in parameters {
            let (tag, attributes) = match parameter.argument {
                TemplateArgument::Type(_) => (dw::DW_TAG_template_type_parameter, &[dw::DW_AT_type][..]),
                TemplateArgument::Value { .. } => (
                    dw::DW_TAG_template_value_parameter,
                    &[dw::DW_AT_type, dw::DW_AT_const_value, dw::DW_AT_location][..],
                ),
                TemplateArgument::Template(_) => {
                    (dw::DW_TAG_GNU_template_template_param, &[dw::DW_AT_GNU_template_name][..])
                }
                TemplateArgument::Pack(_) => (dw::DW_TAG_GNU_template_parameter_pack, &[][..]),
            };
            let found = of_tag(children.next(), tag)?;
            let any = [dw::DW_AT_name, dw::DW_AT_default_value];
            only(found, |name| any.contains(&name) || attributes.contains(&name))?;
            let text = |id| self.module.string(id);
            let name = parameter.name.map_or("", text);
            equal("the name of a template parameter", &name, &&*found.name().unwrap_or_default())?;
            let is_default = is_set(found, dw::DW_AT_default_value);
            equal(&format!("`{name}` stands for its default"), &parameter.is_default, &is_default)?;
            let mut inner = found.children();
            match &parameter.argument {
                TemplateArgument::Type(ty) => parts.pairs.push((*ty, found.ty())),
                TemplateArgument::Value { ty, value } => {
                    parts.pairs.push((Some(*ty), found.ty()));
                    let bits = self.module.ty(*ty).value_bits();
                    parts.value(*value, bits, found, None);
                }
                TemplateArgument::Template(name) => {
                    let found = found.attr(dw::DW_AT_GNU_template_name).and_then(Value::text);
                    equal("a template", &Some(text(*name)), &found.as_deref())?;
                }
                TemplateArgument::Pack(parameters) => self.templates(parameters, &mut inner, parts)?,
            }
            equal("nothing in a template parameter", &None, &inner.next())?;
        }
        Ok(())
    }
}
