//! Properties that every type can have, and the types that have them: an equal type without them is another type.

use gimli::constants as dw;

use super::nested;
use crate::import::importer::{Importer, Made, refused};
use crate::model::{AttributeOwner, TypeId};
use crate::read::Entry;

/// Makes a type, which is no other entry's type if it has properties that equal types can lack.
pub(super) fn separate<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    mut new: impl FnMut(&mut Importer<'d, 'o>) -> Made<TypeId>,
) -> Made<TypeId> {
    let ty = new(importer)?;
    if !is_described(importer, entry) {
        importer.made.used.insert(ty);
        return Ok(ty);
    }
    if importer.made.used.insert(ty) {
        // An equal type that is made later is another type.
        drop(importer.m.describe_type(ty).map(drop));
        return Ok(ty);
    }
    drop(importer.m.describe_type(ty).map(drop));
    let ty = new(importer)?;
    importer.made.used.insert(ty);
    drop(importer.m.describe_type(ty).map(drop));
    Ok(ty)
}

/// Whether a type has properties that are set after it is made.
fn is_described<'d, 'o>(importer: &Importer<'d, 'o>, entry: Entry<'d, 'o>) -> bool {
    let is_named = matches!(
        entry.tag(),
        dw::DW_TAG_base_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_unspecified_type
            | dw::DW_TAG_string_type
            | dw::DW_TAG_subrange_type
            | dw::DW_TAG_set_type
    );
    let is_plain = |name| {
        name == dw::DW_AT_name && is_named
            || matches!(
                name,
                dw::DW_AT_type
                    | dw::DW_AT_byte_size
                    | dw::DW_AT_bit_size
                    | dw::DW_AT_encoding
                    | dw::DW_AT_sibling
                    | dw::DW_AT_prototyped
                    | dw::DW_AT_containing_type
            )
    };
    let has_scope = nested::place(importer, entry).is_some_and(|place| place.scope != importer.root().scope);
    let has_described_parts = matches!(entry.tag(), dw::DW_TAG_array_type | dw::DW_TAG_subroutine_type);
    has_scope
        || !entry.names().all(is_plain)
        || has_described_parts && has_attributes(importer, entry)
        || is_unprototyped(importer, entry)
}

/// Whether a part of a type that was made has attributes that only a separate type can have: those that are no property
/// of a dimension or parameter. Bounds usually are.
fn has_attributes<'d, 'o>(importer: &Importer<'d, 'o>, ty: Entry<'d, 'o>) -> bool {
    // Dimensions have no name.
    let is_named = ty.tag() == dw::DW_TAG_subroutine_type;
    ty.children().any(|part| {
        part.attributes().enumerate().any(|(index, attribute)| {
            let is_extra =
                (attribute.name != dw::DW_AT_name || is_named) && crate::attributes::is_extra(attribute.name);
            is_extra && importer.is_left(part, index, attribute.name)
        })
    })
}

/// Sets the properties that every type can have: scope, line, alignment.
pub(super) fn describe<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    importer.own(entry, AttributeOwner::Type(ty));
    nested::declared(importer, entry, ty);
    let scope = nested::around(importer, entry)
        .map(|place| place.scope)
        .filter(|&scope| scope != importer.root().scope);
    let line = importer.declared(entry);
    let alignment = importer.number(entry, dw::DW_AT_alignment);
    let is_unprototyped = is_unprototyped(importer, entry);
    if scope.is_none() && line.is_none() && alignment.is_none() && !is_unprototyped {
        return;
    }
    let Ok(mut builder) = importer.m.describe_type(ty) else { return };
    let unprototyped = if is_unprototyped { builder.unprototyped().map(drop) } else { Ok(()) };
    let within = scope.map_or(Ok(()), |scope| builder.within(scope).map(drop));
    if let Some(line) = line {
        builder.declared(line);
    }
    let aligned = alignment.map_or(Ok(()), |bytes| builder.alignment(bytes).map(drop));
    if let Err(error) = within {
        importer.list(entry, None, refused(error));
    }
    importer.accept(entry, dw::DW_AT_alignment, aligned);
    importer.accept(entry, dw::DW_AT_prototyped, unprototyped);
}

/// Whether an entry is a function type without a prototype.
fn is_unprototyped<'d, 'o>(importer: &Importer<'d, 'o>, entry: Entry<'d, 'o>) -> bool {
    entry.tag() == dw::DW_TAG_subroutine_type && importer.is_unprototyped(entry)
}
