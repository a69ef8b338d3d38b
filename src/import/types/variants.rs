//! Variant parts: DWARF 5 section 5.7.10.

use gimli::constants as dw;

use super::members;
use crate::build::HasMembers;
use crate::import::importer::Importer;
use crate::import::unimported::UnimportedReason;
use crate::model::{TypeId, VariantValues};
use crate::op::{read_sleb, read_uleb};
use crate::read::{Entry, ResolvedValue};

/// Imports a variant part with its variants.
///
/// * `to` – the owner, or the owner's variant that contains the part.
pub(super) fn part<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    owner: TypeId,
    to: impl HasMembers,
) {
    let discriminant = importer.refer(entry, dw::DW_AT_discr);
    let part = match discriminant {
        Some(member) if member.parent() != Some(entry) => match importer.member_at(member) {
            Some((ty, index)) if ty == owner => importer.m.variant_part_by(to, index),
            _ => {
                let reason = UnimportedReason::MissingReference;
                return importer.leave_entry(entry, reason);
            }
        },
        Some(member) => {
            let name = importer.text(member, dw::DW_AT_name).unwrap_or_default();
            let Some(described) = members::described(importer, member, &name) else { return };
            importer.import(member);
            importer.m.variant_part(to, described)
        }
        None => {
            importer.want_type(entry);
            match importer.refer_to_type(entry, dw::DW_AT_type) {
                Some(tag) => importer.m.untagged_variant_part(to, tag),
                None => importer.m.undiscriminated_variant_part(to),
            }
        }
    };
    let part = match part {
        Ok(part) => part,
        Err(error) => return importer.leave_entry(entry, UnimportedReason::Refused(error)),
    };
    importer.import(entry);
    let module = importer.m.described();
    let discriminant = module.variant_part(part).discriminant.ty(module);
    let is_signed = discriminant.and_then(|ty| module.is_signed(ty));
    for child in entry.children().filter(|child| child.tag() == dw::DW_TAG_variant) {
        let values = values(importer, child, is_signed);
        let variant = match importer.m.variant(part, &values) {
            Ok(variant) => variant,
            Err(error) => {
                importer.leave_entry(child, UnimportedReason::Refused(error));
                continue;
            }
        };
        importer.import(child);
        let mut index = 0;
        for member in child.children().filter(|member| member.tag() == dw::DW_TAG_member) {
            index += u32::from(members::of_variant(importer, member, variant, index));
        }
        // The builder limits the depth.
        for inner in child.children().filter(|inner| inner.tag() == dw::DW_TAG_variant_part) {
            self::part(importer, inner, owner, variant);
        }
    }
}

/// Takes the discriminant values that select a variant.
fn values<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    is_signed: Option<bool>,
) -> Vec<VariantValues> {
    let mut values = Vec::new();
    if let Some(value) = importer.constant(entry, dw::DW_AT_discr_value, is_signed) {
        values.push(VariantValues::Single(value));
    }
    let expected = "a block with a list of discriminant values";
    let list = importer.take_as(entry, dw::DW_AT_discr_list, expected, |value| match value {
        ResolvedValue::Block(block) => decoded(block, is_signed == Some(true)),
        _ => None,
    });
    values.extend(list.into_iter().flatten());
    values
}

/// Decodes a list of values: DWARF 5 section 7.5.5.
fn decoded(mut block: &[u8], is_signed: bool) -> Option<Vec<VariantValues>> {
    let mut values = Vec::new();
    let number = |block: &mut &[u8]| {
        let (value, length) = if is_signed {
            let (value, length) = read_sleb(block, 0)?;
            (i128::from(value), length)
        } else {
            let (value, length) = read_uleb(block, 0)?;
            (i128::from(value), length)
        };
        *block = &block[length..];
        Some(value)
    };
    while let Some((&kind, rest)) = block.split_first() {
        block = rest;
        values.push(match dw::DwDsc(kind) {
            dw::DW_DSC_label => VariantValues::Single(number(&mut block)?),
            dw::DW_DSC_range => VariantValues::Range(number(&mut block)?, number(&mut block)?),
            _ => return None,
        });
    }
    Some(values)
}
