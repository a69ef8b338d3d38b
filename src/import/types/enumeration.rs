//! Enumerations: DWARF 5 section 5.7.

use gimli::constants as dw;

use crate::build::EnumeratorType;
use crate::import::importer::{Importer, Made, refused};
use crate::import::unimported::UnimportedReason;
use crate::model::{AttributeOwner, TypeId};
use crate::read::Entry;

pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name);
    let is_class = importer.flag(entry, dw::DW_AT_enum_class);
    let values = match importer.refer_to_type(entry, dw::DW_AT_type) {
        Some(owner) => EnumeratorType::Known(owner),
        // Only the size of the values is known, as before DWARF 3.
        None => {
            let bytes = importer.number(entry, dw::DW_AT_byte_size);
            EnumeratorType::Bytes(bytes.ok_or(UnimportedReason::AsUnspecified)?)
        }
    };
    let mut is_signed = None;
    if let EnumeratorType::Known(owner) = values {
        is_signed = importer.m.described().is_signed(owner);
        super::simple::same_size(importer, entry, owner);
        same_encoding(importer, entry, owner);
    }
    let mut enumerators = Vec::new();
    let mut parts = Vec::new();
    for part in entry.children().filter(|part| part.tag() == dw::DW_TAG_enumerator) {
        let name = importer.text(part, dw::DW_AT_name).unwrap_or_default();
        let value = importer.constant(part, dw::DW_AT_const_value, is_signed);
        if let Some(value) = value {
            importer.import(part);
            enumerators.push((name, value));
            parts.push(part);
        }
    }
    let enumerators: Vec<_> = enumerators.iter().map(|(name, value)| (&**name, *value)).collect();
    let ty = importer
        .m
        .enumeration_of(importer.unit, name.as_deref(), values, &enumerators, is_class)
        .map_err(refused)?;
    for (index, part) in (0..).zip(parts) {
        importer.own(part, AttributeOwner::Enumerator(ty, index));
    }
    Ok(ty)
}

/// Takes the encoding of the values, which follows from their type.
fn same_encoding<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, owner: TypeId) {
    let Some(number) = importer.number(entry, dw::DW_AT_encoding) else { return };
    let signed = [dw::DW_ATE_signed, dw::DW_ATE_signed_char].map(|encoding| u64::from(encoding.0));
    let is_signed = importer.m.described().is_signed(owner);
    if is_signed != Some(signed.contains(&number)) {
        let expected = match is_signed {
            Some(true) => "DW_ATE_signed, because the type of the values is signed",
            Some(false) => "DW_ATE_unsigned, because the type of the values is unsigned",
            None => "none, because the type of the values is no integer",
        };
        importer.leave(entry, dw::DW_AT_encoding, UnimportedReason::OtherValue(number, expected.into()));
    }
}
