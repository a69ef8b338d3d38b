//! Structures, classes and unions, and template parameters.

use super::described::{Projection, Properties};
use super::shapes::{Part, Quoted, Shape, shape};
use super::{lines, omitted_types};
use crate::model::{
    Accessibility, BaseOffset, CompositeType, Passed, TemplateArgument, TemplateParameter, TypeId,
};
use crate::omission::{Property, Reason, Subject, TemplateOwner};

pub(super) fn composite(
    projection: &mut Projection<'_>,
    id: TypeId,
    composite: &CompositeType,
    all: &mut Properties,
) {
    let module = projection.module;
    let ty = module.ty(id);
    let size = match ty.bits().filter(|_| !ty.is_declaration()) {
        Some(bits) => {
            // An import reads sizes back in whole bytes.
            let encoded = projection.omissions.number(Subject::Type(id), Property::Size);
            if let Some(encoded) = encoded {
                let name = ty.name().map_or("", |name| module.string(name));
                unimported_layout(projection, name, 0, encoded);
            }
            let bits = encoded.map_or(bits, |encoded| encoded.next_multiple_of(8));
            shape!(projection.shapes; bits, "bits")
        }
        None => shape!(projection.shapes; "incomplete"),
    };
    all.push((Property::Size, "size".into(), size));
    if let Some(passed) = composite.passed {
        let passed = match passed {
            Passed::ByValue => "by value",
            Passed::ByReference => "by reference",
        };
        all.push((Property::Convention, "passed".into(), shape!(projection.shapes; passed)));
    }
    let bases = (0..).zip(&composite.bases).map(|(place, base)| (Subject::Base(id, place), base));
    let bases = bases.filter(|&(subject, _)| !projection.omissions.has(subject, Property::Entity));
    for (index, (subject, base)) in bases.collect::<Vec<_>>().into_iter().enumerate() {
        let class = projection.ty(projection.class(base.ty));
        let access = access(projection, base.accessibility);
        let encoded = projection.omissions.number(subject, Property::Offset);
        if encoded.or(projection.omissions.number(subject, Property::Size)).is_some() {
            let bits = module.ty(base.ty).bits().unwrap_or_default();
            let bits = projection.omissions.number(subject, Property::Size).unwrap_or(bits);
            unimported_layout(projection, "", encoded.unwrap_or_default(), bits);
        }
        let offset = match base.offset {
            BaseOffset::Bytes(offset) => {
                shape!(projection.shapes; encoded.map_or(offset, |encoded| encoded / 8))
            }
            BaseOffset::Expr(_) => shape!(projection.shapes; "computed"),
        };
        let base = shape!(projection.shapes; class, "at", offset, access);
        all.push((Property::Members, format!("base class {index}").into(), base));
    }
    let room = projection.omissions.room(Subject::Type(id), Property::Members);
    // A set without 64-bit constants may have replaced the size, so that the limit is the encoded size.
    let whole =
        projection.omissions.number(Subject::Type(id), Property::Size).or(ty.bits()).unwrap_or(u64::MAX);
    let whole = whole.div_ceil(8).saturating_mul(8);
    let mut index = 0;
    for (place, member) in (0..).zip(&composite.members).take(room) {
        let subject = Subject::Member(id, place);
        let name = member.name.map_or("", |name| module.string(name));
        let of_type = module.ty(member.ty).bits();
        let number = |property| projection.omissions.number(subject, property);
        let encoded_offset = number(Property::Offset);
        let encoded_bits = number(Property::Size);
        let offset = encoded_offset.unwrap_or(member.offset_bits);
        if encoded_offset.or(encoded_bits).is_some() {
            let bits = encoded_bits.or(member.bits).or(of_type).unwrap_or_default();
            unimported_layout(projection, name, offset, bits);
            // A member beyond the type's end, because its encoded offset is another number, is not imported.
            if encoded_offset.is_some() && offset.saturating_add(bits) > whole {
                continue;
            }
        }
        let (shape, is_sized) = omitted_types::element(projection, subject, member.ty);
        let is_sized = of_type.is_some() && is_sized;
        // A member as large as its type is not a bit field, unless a flag says so.
        let has_flag = projection.has_bit_fields();
        let bits = member.bits.filter(|&bits| is_sized && (Some(bits) < of_type || has_flag));
        let bits = bits.unwrap_or_default();
        let bits = encoded_bits.unwrap_or(bits);
        let access = access(projection, member.accessibility);
        let line = lines::line(projection, member.line, subject, Property::Line);
        let made = if member.is_artificial { "artificial" } else { "" };
        let value = shape!(
            projection.shapes; Quoted(name), "of", shape, "at bit", offset, "of", bits, access, made, line
        );
        all.push((Property::Members, format!("member {index} `{name}`").into(), value));
        index += 1;
    }
    templates(projection, TemplateOwner::Type(id), &composite.templates, all);
}

/// Expects an instruction that is not imported because a smaller number replaces its own.
pub(super) fn unimported_layout(projection: &mut Projection<'_>, name: &str, offset: u64, bits: u64) {
    let layout = layout_shape(projection, name, offset, bits);
    *projection.described.unimported.entry(layout).or_default() += 1;
}

pub(super) fn layout_shape(projection: &mut Projection<'_>, name: &str, offset: u64, bits: u64) -> Shape {
    shape!(projection.shapes; Quoted(name), "at bit", offset, "of", bits, "bits")
}

pub(super) fn access(projection: &mut Projection<'_>, access: Option<Accessibility>) -> Shape {
    let word = match access {
        None => "no access",
        Some(Accessibility::Public) => "public",
        Some(Accessibility::Protected) => "protected",
        Some(Accessibility::Private) => "private",
    };
    shape!(projection.shapes; word)
}

pub(super) fn templates(
    projection: &mut Projection<'_>,
    owner: TemplateOwner,
    parameters: &[TemplateParameter],
    all: &mut Properties,
) {
    let whole = match owner {
        TemplateOwner::Type(id) => Subject::Type(id),
        TemplateOwner::Function(id) => Subject::Function(id),
    };
    if matches!(projection.omissions.why(whole, Property::TemplateParameters), Some(Reason::NotTemplate)) {
        return;
    }
    let mut encoded = Vec::new();
    for (index, parameter) in (0..).zip(parameters) {
        let subject = Subject::TemplateParameter(owner, index, None);
        let TemplateArgument::Pack(inner) = &parameter.argument else {
            encoded.extend(template(projection, subject, parameter));
            continue;
        };
        if projection.omissions.has(subject, Property::Entity) {
            continue;
        }
        let why = projection.omissions.why(subject, Property::Pack);
        let room = projection.omissions.room(subject, Property::Pack);
        let inner = (0..).zip(inner).filter_map(|(place, parameter)| {
            template(projection, Subject::TemplateParameter(owner, index, Some(place)), parameter)
        });
        let inner: Vec<_> = inner.take(room).collect();
        // Sets without packs list the pack's parameters among the template's own.
        if matches!(why, Some(Reason::PackInto(_))) {
            encoded.extend(inner);
            continue;
        }
        let name = parameter_name(projection, parameter);
        let mut parts = vec![Part::from("pack"), name.into()];
        parts.extend(inner.into_iter().map(Part::from));
        encoded.push(projection.shapes.shape(&parts));
    }
    encoded.truncate(projection.omissions.room(whole, Property::TemplateParameters));
    all.extend(encoded.into_iter().enumerate().map(|(index, shape)| {
        (Property::TemplateParameters, format!("template parameter {index}").into(), shape)
    }));
}

pub(super) fn parameter_name<'m>(projection: &Projection<'m>, parameter: &TemplateParameter) -> Quoted<'m> {
    Quoted(parameter.name.map_or("", |name| projection.module.string(name)))
}

/// A parameter that is not a pack; `None` if it is omitted.
pub(super) fn template(
    projection: &mut Projection<'_>,
    subject: Subject,
    parameter: &TemplateParameter,
) -> Option<Shape> {
    if projection.omissions.has(subject, Property::Entity) {
        return None;
    }
    let name = parameter_name(projection, parameter);
    Some(match &parameter.argument {
        &TemplateArgument::Type(ty) => {
            let ty = omitted_types::pointee(projection, subject, ty);
            shape!(projection.shapes; "type", name, ty)
        }
        &TemplateArgument::Value { ty, value } => {
            let number = projection.module.constant(value).and_then(|bytes| projection.integer(ty, bytes));
            let number = number.map_or(Part::from("unknown"), Part::from);
            shape!(projection.shapes; "value", name, projection.ty(ty), number)
        }
        &TemplateArgument::Template(template) => {
            shape!(projection.shapes; "template", name, Quoted(projection.module.string(template)))
        }
        TemplateArgument::Pack(_) => return None,
    })
}
