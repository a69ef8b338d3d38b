//! Entries of templates' parameters: DWARF 5 section 2.23.

use crate::error::Result;
use crate::lower::dies::Dies;
use crate::model::{LocId, TemplateArgument, TemplateParameter};
use crate::omission::{Property, Subject};

impl Dies<'_> {
    /// Writes the template parameters of an entity, as children of its entry.
    pub(in crate::lower) fn template_parameters(
        &mut self,
        subject: Subject,
        parameters: &[TemplateParameter],
    ) -> Result<()> {
        for parameter in parameters {
            let (tag, inner) = match &parameter.argument {
                TemplateArgument::Type(_) => (gimli::DW_TAG_template_type_parameter, &[][..]),
                TemplateArgument::Value { .. } => (gimli::DW_TAG_template_value_parameter, &[][..]),
                TemplateArgument::Template(_) => (gimli::DW_TAG_GNU_template_template_param, &[][..]),
                TemplateArgument::Pack(inner) => (gimli::DW_TAG_GNU_template_parameter_pack, &inner[..]),
            };
            self.info.begin_entry(tag, !inner.is_empty(), None);
            self.name(parameter.name);
            match parameter.argument {
                TemplateArgument::Type(ty) => self.type_of(ty),
                TemplateArgument::Value { ty, value } => {
                    self.type_of(Some(ty));
                    self.value(subject, value, self.module.types[ty].value_bits)?;
                }
                TemplateArgument::Template(name) => self.text(gimli::DW_AT_GNU_template_name, name),
                TemplateArgument::Pack(_) => {}
            }
            if parameter.is_default {
                self.info.flag(gimli::DW_AT_default_value);
            }
            self.info.end_entry();
            if !inner.is_empty() {
                self.template_parameters(subject, inner)?;
                self.info.end_children();
            }
        }
        Ok(())
    }

    /// Writes a constant, or the location of a value.
    fn value(&mut self, subject: Subject, value: LocId, bits: Option<u64>) -> Result<()> {
        if let Some(bytes) = self.module.constant(value) {
            self.const_value(bytes);
            return Ok(());
        }
        if self.expressions.location_of(subject, Property::Value, value, bits)? {
            self.expression_attribute(gimli::DW_AT_location);
        }
        Ok(())
    }
}
