//! Types: DWARF 5 chapter 5.

mod array;
mod composite;
mod describe;
mod enumeration;
mod members;
mod nested;
mod simple;
mod templates;
mod variants;

pub(super) use composite::members;
pub(super) use members::ACCESSIBILITIES;
pub(super) use nested::{around_part, completions};
pub(super) use simple::{MEMORY_SPACES, described};
pub(super) use templates::{Owner as TemplateOwner, template};

use gimli::constants as dw;

use super::importer::Importer;
use super::unimported::UnimportedReason;
use crate::model::{PointerKind, Qualifier};
use crate::read::Entry;
use describe::{describe, separate};

/// Makes a type. The types that it needs exist, unless they are not imported.
pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let made = match entry.tag() {
        dw::DW_TAG_structure_type
        | dw::DW_TAG_class_type
        | dw::DW_TAG_interface_type
        | dw::DW_TAG_union_type => {
            return composite::make(importer, entry);
        }
        tag => {
            importer.import(entry);
            if let Some(ty) = nested::complete(importer, entry) {
                // A declaration can repeat what the complete type says.
                importer.repeat_part(entry, entry.reference(dw::DW_AT_signature));
                importer.made.types.insert(entry.offset(), ty);
                return;
            }
            // An equal type that is made again for a described entry must not share the description.
            let new = |importer: &mut Importer<'d, 'o>| match tag {
                dw::DW_TAG_base_type => simple::base(importer, entry),
                dw::DW_TAG_unspecified_type => simple::unspecified(importer, entry),
                dw::DW_TAG_string_type => simple::string(importer, entry),
                dw::DW_TAG_subrange_type => simple::subrange(importer, entry),
                dw::DW_TAG_set_type => simple::set(importer, entry),
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
                tag => Err(UnimportedReason::NoEntity(tag)),
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
