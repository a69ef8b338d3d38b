//! Enumerations: DWARF 5 section 5.7.

use gimli::constants as dw;

use crate::import::importer::{Importer, Made, refused};
use crate::import::unimported::UnimportedReason;
use crate::model::{AttributeOwner, BaseEncoding, TypeId};
use crate::read::{Entry, ResolvedValue};

pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name);
    let is_class = importer.flag(entry, dw::DW_AT_enum_class);
    let owner = importer.refer_to_type(entry, dw::DW_AT_type);
    let owner = match owner {
        Some(owner) => owner,
        None => underlying(importer, entry)?,
    };
    let is_signed = importer.m.described().is_signed(owner);
    super::simple::same_size(importer, entry, owner);
    same_encoding(importer, entry, owner);
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
        .enumeration_of(importer.unit, name.as_deref(), owner, &enumerators, is_class)
        .map_err(refused)?;
    for (index, part) in (0..).zip(parts) {
        importer.own(part, AttributeOwner::Enumerator(ty, index));
    }
    Ok(ty)
}

/// Returns the type of the values where the file has only their size, as before DWARF 3.
fn underlying<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let bytes = entry.number(dw::DW_AT_byte_size).filter(|bytes| (1..=8).contains(bytes));
    let bytes = bytes.ok_or(UnimportedReason::AsUnspecified)?;
    let is_negative =
        |part: Entry<'_, '_>| matches!(part.attr(dw::DW_AT_const_value), Some(ResolvedValue::Signed(..0)));
    let is_signed = match entry.number(dw::DW_AT_encoding) {
        Some(number) => number == u64::from(dw::DW_ATE_signed.0),
        None => entry.children().any(is_negative),
    };
    importer.list(entry, Some(dw::DW_AT_type), UnimportedReason::DerivedType);
    let (word, encoding) =
        if is_signed { ("signed", BaseEncoding::Signed) } else { ("unsigned", BaseEncoding::Unsigned) };
    let name = format!("{word}_{}", 8 * bytes);
    importer.m.base_type(importer.unit, &name, encoding, 8 * bytes).map_err(refused)
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
