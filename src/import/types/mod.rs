//! Types: DWARF 5 chapter 5.

mod array;
mod composite;
mod enumeration;
mod members;
mod simple;
mod templates;
mod variants;

pub(super) use composite::members;
pub(super) use members::ACCESSIBILITIES;
pub(super) use simple::{DW_AT_LLVM_MEMORY_SPACE, MEMORY_SPACES, described};
pub(super) use templates::{Owner as TemplateOwner, template};

use gimli::constants as dw;

use super::importer::{Importer, Made};
use super::unimported::UnimportedReason;
use crate::model::{AttributeOwner, PointerKind, Qualifier, TypeId};
use crate::read::Entry;

/// Makes a type. The types that it needs exist, unless they are not imported.
pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let made = match entry.tag() {
        dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => {
            return composite::make(importer, entry);
        }
        tag => {
            importer.import(entry);
            // An equal type that is made again for a described entry must not share the description.
            let new = |importer: &mut Importer<'d, 'o>| match tag {
                dw::DW_TAG_base_type => simple::base(importer, entry),
                dw::DW_TAG_unspecified_type => simple::unspecified(importer, entry),
                dw::DW_TAG_string_type => simple::string(importer, entry),
                dw::DW_TAG_pointer_type => simple::pointer(importer, entry, PointerKind::Pointer),
                dw::DW_TAG_reference_type => simple::pointer(importer, entry, PointerKind::Reference),
                dw::DW_TAG_rvalue_reference_type => {
                    simple::pointer(importer, entry, PointerKind::RvalueReference)
                }
                dw::DW_TAG_ptr_to_member_type => simple::member_pointer(importer, entry),
                dw::DW_TAG_array_type => array::make(importer, entry),
                dw::DW_TAG_enumeration_type => enumeration::make(importer, entry),
                dw::DW_TAG_typedef => simple::typedef(importer, entry),
                dw::DW_TAG_const_type => simple::qualified(importer, entry, Qualifier::Const),
                dw::DW_TAG_volatile_type => simple::qualified(importer, entry, Qualifier::Volatile),
                dw::DW_TAG_restrict_type => simple::qualified(importer, entry, Qualifier::Restrict),
                dw::DW_TAG_atomic_type => simple::qualified(importer, entry, Qualifier::Atomic),
                dw::DW_TAG_subroutine_type => simple::subroutine(importer, entry),
                _ => Err(UnimportedReason::NoEntity),
            };
            separate(importer, entry, new)
        }
    };
    match made {
        Ok(ty) => {
            importer.made.types.insert(entry.offset(), ty);
            describe(importer, entry, ty);
        }
        Err(reason) => {
            importer.list(entry, None, reason);
            // What refers to the type keeps its name.
            let name = entry.name().unwrap_or_default();
            if let Ok(ty) = importer.m.unspecified_type(importer.unit, &name) {
                importer.made.types.insert(entry.offset(), ty);
            }
        }
    }
}

/// Makes a type, which is no other entry's type if it has properties that equal types can lack.
fn separate<'d, 'o>(
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
        dw::DW_TAG_base_type | dw::DW_TAG_typedef | dw::DW_TAG_unspecified_type | dw::DW_TAG_string_type
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
    let has_scope = importer.place(entry).is_some_and(|place| place.scope != importer.root().scope);
    has_scope || !entry.names().all(is_plain) || entry.tag() == dw::DW_TAG_array_type && has_attributes(entry)
}

/// Whether a part of an array has attributes that only a separate type can have.
fn has_attributes(array: Entry<'_, '_>) -> bool {
    array
        .children()
        .any(|part| part.names().any(|name| name != dw::DW_AT_name && crate::attributes::is_extra(name)))
}

/// Sets the properties that every type can have: scope, line, alignment.
fn describe<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    importer.own(entry, AttributeOwner::Type(ty));
    let scope =
        importer.place(entry).map(|place| place.scope).filter(|&scope| scope != importer.root().scope);
    let line = importer.declared(entry);
    let alignment = importer.number(entry, dw::DW_AT_alignment);
    if scope.is_none() && line.is_none() && alignment.is_none() {
        return;
    }
    let Ok(mut builder) = importer.m.describe_type(ty) else { return };
    let within = scope.map_or(Ok(()), |scope| builder.within(scope).map(drop));
    if let Some(line) = line {
        builder.declared(line);
    }
    let aligned = alignment.map_or(Ok(()), |bytes| builder.alignment(bytes).map(drop));
    if let Err(error) = within {
        importer.list(entry, None, super::importer::refused(error));
    }
    importer.accept(entry, dw::DW_AT_alignment, aligned);
}
