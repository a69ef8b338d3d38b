//! Structures, classes and unions: DWARF 5 section 5.7. They are made without members, so that types can refer to each
//! other; the members follow when their types exist.

use gimli::constants as dw;

use super::describe::describe;
use super::{members as parts, nested, templates, variants};
use crate::build::CompositeSize;
use crate::import::importer::{Importer, Place, refused};
use crate::import::node::{Class, class, composite_kind};
use crate::import::unimported::UnimportedReason;
use crate::model::{Passed, TypeId};
use crate::read::{Entry, ResolvedValue};

/// `DW_AT_calling_convention` of a type.
const PASSED: [(u64, Passed); 2] = [
    (dw::DW_CC_pass_by_value.0 as u64, Passed::ByValue),
    (dw::DW_CC_pass_by_reference.0 as u64, Passed::ByReference),
];

pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    if let Some(ty) = nested::complete(importer, entry) {
        return place(importer, entry, ty);
    }
    // A type that completes a declaration has the name of the declaration.
    let name = importer.text(entry, dw::DW_AT_name).or_else(|| entry.name());
    let is_declaration = importer.flag(entry, dw::DW_AT_declaration);
    let is_computed =
        matches!(entry.attr(dw::DW_AT_byte_size), Some(ResolvedValue::Expr(_) | ResolvedValue::Reference(_)));
    let bytes = if is_computed { None } else { importer.number(entry, dw::DW_AT_byte_size) };
    if is_declaration && bytes.is_some() {
        importer.leave(entry, dw::DW_AT_byte_size, UnimportedReason::NoProperty);
    }
    let size = match bytes {
        _ if is_declaration => CompositeSize::Declared,
        Some(bytes) => CompositeSize::Bytes(bytes),
        // gcc describes a structure with an array of variable length without a size.
        None => CompositeSize::Dynamic,
    };
    let kind = composite_kind(entry.tag());
    let made = importer.m.composite_of(importer.unit, kind, name.as_deref(), size);
    let ty = match made {
        Ok(ty) => ty,
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    place(importer, entry, ty);
    describe(importer, entry, ty);
    if entry.tag() == dw::DW_TAG_interface_type {
        importer.list(entry, None, UnimportedReason::AsClass);
    }
    if let Some(passed) = importer.coded(entry, dw::DW_AT_calling_convention, &PASSED) {
        let set = importer.m.describe_type(ty).and_then(|mut ty| ty.passed(passed).map(drop));
        importer.accept(entry, dw::DW_AT_calling_convention, set);
    }
    if is_computed && !is_declaration {
        importer.made.described.push(entry);
    }
    importer.made.composites.push((entry, ty));
}

/// Records a type and its scope.
fn place<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    importer.import(entry);
    importer.made.types.insert(entry.offset(), ty);
    let around = nested::place(importer, entry).unwrap_or(importer.root());
    if let Some(scope) = importer.m.described().ty(ty).own_scope() {
        importer.made.scopes.insert(entry.offset(), Place { scope, ..around });
    }
}

/// Imports the members of all types that were made so far. The members' types can add further types.
pub(in crate::import) fn members<'d, 'o>(importer: &mut Importer<'d, 'o>) {
    while let Some((entry, ty)) = importer.made.composites.pop() {
        let mut index = parts::Counts::default();
        for part in entry.children() {
            match part.tag() {
                dw::DW_TAG_member if class(part) == Class::Other => {
                    parts::member(importer, part, ty, &mut index);
                }
                _ if class(part) == Class::Variable => {
                    importer.entries.static_members.push((part.offset(), index.members));
                }
                dw::DW_TAG_inheritance => parts::base(importer, part, ty, &mut index),
                // A discriminant can be any member.
                dw::DW_TAG_variant_part => {}
                _ => templates::template(importer, part, &templates::Owner::Type(ty), &mut index.templates),
            }
        }
        for part in entry.children().filter(|part| part.tag() == dw::DW_TAG_variant_part) {
            variants::part(importer, part, ty, ty);
        }
    }
}
