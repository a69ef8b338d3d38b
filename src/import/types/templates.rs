//! Template and generic parameters: DWARF 5 section 2.23.

use std::borrow::Cow;

use gimli::constants as dw;

use crate::build::Template;
use crate::import::importer::{Importer, Made};
use crate::import::unimported::UnimportedReason;
use crate::model::{AttributeOwner, FunctionId, Loc, TypeId};
use crate::read::{Entry, ResolvedValue};

/// A template instance.
pub(in crate::import) enum Owner {
    Type(TypeId),
    Function(FunctionId),
}

/// A parameter with its name, which the builder borrows.
struct Parameter<'o> {
    name: Cow<'o, str>,
    argument: Argument<'o>,
    is_default: bool,
}

enum Argument<'o> {
    Type(Option<TypeId>),
    Value(TypeId, Loc),
    Template(Cow<'o, str>),
    Pack(Vec<Parameter<'o>>),
}

impl Parameter<'_> {
    fn template(&self) -> Template<'_> {
        let name = &*self.name;
        let template = match &self.argument {
            Argument::Type(ty) => Template::ty(name, *ty),
            Argument::Value(ty, value) => Template::value_at(name, *ty, value.clone()),
            Argument::Template(template) => Template::named(name, template),
            Argument::Pack(inner) => {
                Template::pack(name, inner.iter().map(Self::template).collect::<Vec<_>>())
            }
        };
        if self.is_default { template.default() } else { template }
    }
}

/// Imports a template parameter. Other entries are left.
pub(in crate::import) fn template<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    owner: &Owner,
    count: &mut u32,
) {
    let parameter = match parameter(importer, entry, true) {
        None => return,
        Some(Err(reason)) => return importer.leave_entry(entry, reason),
        Some(Ok(parameter)) => parameter,
    };
    let template = parameter.template();
    let added = match *owner {
        Owner::Type(ty) => importer.m.template(ty, template).map(drop),
        Owner::Function(function) => {
            importer.m.describe_function(function).and_then(|mut entity| entity.template(template).map(drop))
        }
    };
    match added {
        Ok(()) => {
            let owner = match *owner {
                Owner::Type(ty) => AttributeOwner::TypeTemplate(ty, *count),
                Owner::Function(function) => AttributeOwner::FunctionTemplate(function, *count),
            };
            importer.own(entry, owner);
            *count += 1;
        }
        Err(error) => importer.leave_entry(entry, UnimportedReason::Refused(error)),
    }
}

/// Takes a template parameter; `None` for another entry. A pack does not contain packs.
fn parameter<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    is_outermost: bool,
) -> Option<Made<Parameter<'o>>> {
    let argument = match entry.tag() {
        dw::DW_TAG_template_type_parameter => ty(importer, entry),
        dw::DW_TAG_template_value_parameter => value(importer, entry),
        dw::DW_TAG_GNU_template_template_param => {
            Ok(Argument::Template(importer.text(entry, dw::DW_AT_GNU_template_name).unwrap_or_default()))
        }
        dw::DW_TAG_GNU_template_parameter_pack if is_outermost => Ok(pack(importer, entry)),
        _ => return None,
    };
    let name = importer.text(entry, dw::DW_AT_name).unwrap_or_default();
    let is_default = importer.flag(entry, dw::DW_AT_default_value);
    Some(argument.map(|argument| Parameter { name, argument, is_default }))
}

fn ty<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<Argument<'o>> {
    importer.want_type(entry);
    if !entry.has(dw::DW_AT_type) {
        return Ok(Argument::Type(None));
    }
    let ty = importer.refer_to_type(entry, dw::DW_AT_type);
    ty.map(|ty| Argument::Type(Some(ty))).ok_or(UnimportedReason::MissingReference)
}

fn pack<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Argument<'o> {
    let mut inner = Vec::new();
    for child in entry.children() {
        match parameter(importer, child, false) {
            Some(Ok(parameter)) => {
                importer.import(child);
                inner.push(parameter);
            }
            Some(Err(reason)) => importer.leave_entry(child, reason),
            None => {}
        }
    }
    Argument::Pack(inner)
}

fn value<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<Argument<'o>> {
    importer.want_type(entry);
    let ty = importer.type_of(entry).ok_or(UnimportedReason::MissingReference)?;
    let value = if entry.has(dw::DW_AT_const_value) {
        Loc::implicit(&importer.const_value(entry, ty)?)
    } else {
        match importer.take(entry, dw::DW_AT_location) {
            Some(ResolvedValue::Expr(bytes)) => importer.location(entry, bytes)?,
            Some(_) => return Err(UnimportedReason::ValueClass(None)),
            None => return Err(UnimportedReason::NoProperty),
        }
    };
    Ok(Argument::Value(ty, value))
}
