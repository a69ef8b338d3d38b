//! Template parameter entries: DWARF 5 section 2.23.

use crate::emit::info::children;
use crate::error::Result;
use crate::lower::constants::template_tag;
use crate::lower::entry::EntryWriter;
use crate::model::{AttributeOwner, LocId, Node, TemplateArgument, TemplateParameter};
use crate::omission::{Property, Subject, TemplateOwner};

/// Writes an entity's template parameters, if the consumer knows their tags, as children in its entry.
pub(in crate::lower) fn write(
    out: &mut EntryWriter<'_>,
    owner: TemplateOwner,
    parameters: &[TemplateParameter],
) -> Result<()> {
    write_all(out, owner, parameters, false)
}

fn write_all(
    out: &mut EntryWriter<'_>,
    owner: TemplateOwner,
    parameters: &[TemplateParameter],
    is_pack: bool,
) -> Result<()> {
    let subject = match owner {
        TemplateOwner::Type(id) => Subject::Type(id),
        TemplateOwner::Function(id) => Subject::Function(id),
    };
    for (index, parameter) in (0..).zip(parameters) {
        let tag = template_tag(&parameter.argument);
        if !out.consumer.entries.knows_tag(tag) {
            continue;
        }
        let inner = match &parameter.argument {
            TemplateArgument::Pack(inner) => &inner[..],
            _ => &[],
        };
        out.info.begin_entry(tag, children(!inner.is_empty()), None);
        out.name(parameter.name);
        match parameter.argument {
            TemplateArgument::Type(ty) => out.type_of(ty),
            TemplateArgument::Value { ty, value } => {
                out.type_of(Some(ty));
                write_value(out, subject, value, out.module.types[ty].value_bits)?;
            }
            TemplateArgument::Template(name) => out.text(gimli::DW_AT_GNU_template_name, name),
            TemplateArgument::Pack(_) => {}
        }
        if parameter.is_default {
            out.info.flag(gimli::DW_AT_default_value);
        }
        if !is_pack {
            out.attributes(match owner {
                TemplateOwner::Type(id) => AttributeOwner::TypeTemplate(id, index),
                TemplateOwner::Function(id) => AttributeOwner::FunctionTemplate(id, index),
            })?;
        }
        out.info.end_entry();
        if !inner.is_empty() {
            write_all(out, owner, inner, true)?;
            out.info.end_children();
        }
    }
    Ok(())
}

/// Writes a constant, or a value's location. A value that is not known has neither.
fn write_value(out: &mut EntryWriter<'_>, subject: Subject, value: LocId, bits: Option<u64>) -> Result<()> {
    if let Some(bytes) = out.module.constant(value) {
        out.const_value(bytes);
        return Ok(());
    }
    if out.module.nodes(value).all(|node| node == Node::Undefined) {
        return Ok(());
    }
    if out.expressions.location_of(subject, Property::Value, value, bits)? {
        out.expression_attribute(gimli::DW_AT_location);
    }
    Ok(())
}
