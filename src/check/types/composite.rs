//! Structures, classes and unions, and what they are made of: DWARF 5 section 5.7.

use gimli::{DwAt, DwTag, constants as dw};

use super::tags::{accessibility, passed};
use super::{Compared, Found, Parts, constant, equal, is_set, of_tag};
use crate::check::attributes::only;
use crate::check::compare::Compare;
use crate::check::words::Words;
use crate::model::{Base, BaseOffset, Composite, Discriminant, Member, Module, VariantPartId, VariantValues};
use crate::read::{Entry, Value};

const MEMBER: &[DwAt] = &[
    dw::DW_AT_name,
    dw::DW_AT_type,
    dw::DW_AT_bit_size,
    dw::DW_AT_data_member_location,
    dw::DW_AT_data_bit_offset,
    // Before DWARF 4.
    dw::DW_AT_byte_size,
    dw::DW_AT_bit_offset,
    dw::DW_AT_accessibility,
    dw::DW_AT_mutable,
    dw::DW_AT_artificial,
    dw::DW_AT_decl_file,
    dw::DW_AT_decl_line,
    dw::DW_AT_decl_column,
];
const BASE: &[DwAt] =
    &[dw::DW_AT_type, dw::DW_AT_data_member_location, dw::DW_AT_accessibility, dw::DW_AT_virtuality];

/// Whether entries of this kind are parameters of a template.
pub(in crate::check) fn is_template(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_template_type_parameter
            | dw::DW_TAG_template_value_parameter
            | dw::DW_TAG_GNU_template_template_param
            | dw::DW_TAG_GNU_template_parameter_pack
    )
}

/// Whether an entry is a part of the composite type that it is in, and not declared in its scope.
pub(in crate::check) fn is_part(entry: Entry<'_, '_>) -> bool {
    match entry.tag() {
        // Before DWARF 5, a static member.
        dw::DW_TAG_member => entry.attr(dw::DW_AT_declaration).is_none(),
        dw::DW_TAG_inheritance | dw::DW_TAG_variant_part => true,
        tag => is_template(tag),
    }
}

/// Whether a tag is that of a composite type.
pub(in crate::check) fn is_composite(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type)
}

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn composite(
        &self,
        composite: &Composite,
        entry: Entry<'a, 'o>,
        parts: &mut Parts<'a, 'o>,
    ) -> Compared {
        // It came with DWARF 5.
        let expected = composite.passed.filter(|_| self.consumer.version >= 5).map(passed);
        let found = entry.number(dw::DW_AT_calling_convention);
        equal("objects that are passed as", &expected, &found)?;
        let mut children = entry.children().filter(|&child| is_part(child));
        let children: Found<'_, 'a, 'o> = &mut children;
        self.templates(&composite.templates, children, parts)?;
        for base in &composite.bases {
            self.base(base, of_tag(children.next(), dw::DW_TAG_inheritance)?, parts)?;
        }
        self.members(&composite.members, children, parts)?;
        for &part in &composite.variant_parts {
            self.variant_part(part, of_tag(children.next(), dw::DW_TAG_variant_part)?, parts)?;
        }
        parts.scopes.push((composite.scope, entry));
        match children.next() {
            None => Ok(()),
            Some(child) => Err(("no more".into(), child.words())),
        }
    }

    fn base(&self, base: &Base, found: Entry<'a, 'o>, parts: &mut Parts<'a, 'o>) -> Compared {
        only(found, |name| BASE.contains(&name))?;
        parts.pairs.push((Some(base.ty), found.ty()));
        equal("who may know of a base class", &base.accessibility.map(accessibility), &accessible(found))?;
        let virtuality = found.number(dw::DW_AT_virtuality).unwrap_or(0);
        equal("virtuality", &u64::from(base.is_virtual), &virtuality)?;
        let offset = found.attr(dw::DW_AT_data_member_location);
        match (base.offset, offset) {
            (BaseOffset::Bytes(bytes), Some(_)) => {
                equal("a base class at byte", &Some(bytes), &self.byte_offset(found))
            }
            // A raw expression means what it means: it is the same or another.
            (BaseOffset::Expr(loc), Some(Value::Expr(found))) if is_raw(self.module, loc, found) => Ok(()),
            (BaseOffset::Bytes(bytes), None) => {
                Err((format!("a base class at byte {bytes}"), "no offset".into()))
            }
            (BaseOffset::Expr(_), found) => Err(("a base class at a raw expression".into(), found.words())),
        }
    }

    fn members(
        &self,
        members: &[Member],
        children: Found<'_, 'a, 'o>,
        parts: &mut Parts<'a, 'o>,
    ) -> Compared {
        members
            .iter()
            .try_for_each(|member| self.member(member, of_tag(children.next(), dw::DW_TAG_member)?, parts))
    }

    fn member(&self, member: &Member, found: Entry<'a, 'o>, parts: &mut Parts<'a, 'o>) -> Compared {
        let name = member.name.map_or("", |name| self.module.string(name));
        equal("the name of a member", &name, &&*found.name().unwrap_or_default())?;
        only(found, |name| MEMBER.contains(&name))?;
        if let Some(child) = found.children().next() {
            return Err((format!("nothing in `{name}`"), child.words()));
        }
        equal(&format!("`{name}` at bit"), &Some(member.offset_bits), &self.offset_bits(found))?;
        equal(&format!("`{name}` of bits"), &member.bits, &found.number(dw::DW_AT_bit_size))?;
        let expected = member.accessibility.map(accessibility);
        equal(&format!("who may name `{name}`"), &expected, &accessible(found))?;
        let is = |attribute| is_set(found, attribute);
        equal(&format!("`{name}` is mutable"), &member.is_mutable, &is(dw::DW_AT_mutable))?;
        equal(&format!("`{name}` is artificial"), &member.is_artificial, &is(dw::DW_AT_artificial))?;
        self.line(member.line, found)?;
        parts.pairs.push((Some(member.ty), found.ty()));
        Ok(())
    }

    /// The bytes from the start of an object to a part of it. In DWARF 2 an expression adds them.
    fn byte_offset(&self, part: Entry<'a, 'o>) -> Option<u64> {
        match (self.consumer.version, part.attr(dw::DW_AT_data_member_location)?) {
            (2, Value::Expr([0x23, bytes @ ..])) => {
                let (last, rest) = bytes.split_last()?;
                let is_number =
                    last & 0x80 == 0 && rest.len() < 9 && rest.iter().all(|byte| byte & 0x80 != 0);
                let join = |number, byte: &u8| number << 7 | u64::from(byte & 0x7f);
                is_number.then(|| bytes.iter().rev().fold(0, join))
            }
            (3.., value) => value.unsigned(),
            _ => None,
        }
    }

    /// The bits from the start of the object to a member, if its entry says so in one way.
    fn offset_bits(&self, member: Entry<'a, 'o>) -> Option<u64> {
        let unit = [dw::DW_AT_byte_size, dw::DW_AT_bit_offset];
        if unit.iter().all(|&name| member.attr(name).is_none()) {
            let bytes = member.attr(dw::DW_AT_data_member_location);
            return match (bytes, member.attr(dw::DW_AT_data_bit_offset)) {
                (None, None) => Some(0),
                (Some(_), None) => self.byte_offset(member)?.checked_mul(8),
                (None, Some(bits)) => bits.unsigned(),
                (Some(_), Some(_)) => None,
            };
        }
        // Before DWARF 4: in a storage unit, from the most significant bit on.
        if self.consumer.version >= 4 || member.attr(dw::DW_AT_data_bit_offset).is_some() {
            return None;
        }
        let [bytes, from_most] = unit.map(|name| member.number(name));
        let first = self.byte_offset(member)?.checked_mul(8)?;
        let needs = from_most?.checked_add(member.number(dw::DW_AT_bit_size)?)?;
        let behind = bytes?.checked_mul(8)?.checked_sub(needs)?;
        let from_first = if self.module.target.is_big_endian() { from_most? } else { behind };
        first.checked_add(from_first)
    }

    fn variant_part(&self, id: VariantPartId, entry: Entry<'a, 'o>, parts: &mut Parts<'a, 'o>) -> Compared {
        let module = self.module;
        let part = module.variant_part(id);
        only(entry, |name| matches!(name, dw::DW_AT_discr | dw::DW_AT_type))?;
        let mut children = entry.children();
        let discriminant = entry.reference(dw::DW_AT_discr);
        match &part.discriminant {
            Discriminant::Member(member) => {
                let found = of_tag(children.next(), dw::DW_TAG_member)?;
                equal("the discriminant", &Some(found), &discriminant)?;
                self.member(member, found, parts)?;
                equal("the type of a tag", &None, &entry.ty())?;
            }
            Discriminant::Type(ty) => {
                equal("the discriminant", &None, &discriminant)?;
                parts.pairs.push((Some(*ty), entry.ty()));
            }
        }
        let is_signed = module.is_signed(part.discriminant.ty()).unwrap_or(false);
        for variant in &part.variants {
            let found = of_tag(children.next(), dw::DW_TAG_variant)?;
            only(found, |name| matches!(name, dw::DW_AT_discr_value | dw::DW_AT_discr_list))?;
            equal("the values of a variant", &Some(variant.values.clone()), &values(found, is_signed))?;
            let mut inner = found.children();
            self.members(&variant.members, &mut inner, parts)?;
            equal("no more members of a variant", &None, &inner.next())?;
        }
        equal("no more variants", &None, &children.next())
    }
}

/// Whether an expression is the raw one.
fn is_raw(module: &Module, loc: crate::model::LocId, found: &[u8]) -> bool {
    let Some(crate::model::Node::Expr(id)) = module.nodes(loc).next() else { return false };
    module.expr(id).0.bytes() == found
}

fn accessible(entry: Entry<'_, '_>) -> Option<u64> {
    entry.number(dw::DW_AT_accessibility)
}

/// The values of the discriminant for which a variant is there: none for all others.
fn values(entry: Entry<'_, '_>, is_signed: bool) -> Option<Vec<VariantValues>> {
    let one = entry.attr(dw::DW_AT_discr_value);
    match (one, entry.attr(dw::DW_AT_discr_list)) {
        (None, None) => Some(Vec::new()),
        (Some(_), None) => Some(vec![VariantValues::One(constant(one)?)]),
        (None, Some(Value::Block(bytes))) => list(bytes, is_signed),
        _ => None,
    }
}

/// Table 7.26 and the text before it.
fn list(mut bytes: &[u8], is_signed: bool) -> Option<Vec<VariantValues>> {
    let number = |bytes: &mut &[u8]| -> Option<i128> {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
        let (number, rest) = bytes.split_at(length);
        *bytes = rest;
        let bits = |value: i128, (at, byte): (usize, &u8)| value | i128::from(byte & 0x7f) << (7 * at);
        let value = number.iter().enumerate().take(18).fold(0, bits);
        let is_negative = is_signed && number.last()? & 0x40 != 0 && length < 18;
        Some(if is_negative { value - (1 << (7 * length)) } else { value })
    };
    let mut all = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        bytes = rest;
        all.push(match kind {
            0 => VariantValues::One(number(&mut bytes)?),
            1 => VariantValues::Range(number(&mut bytes)?, number(&mut bytes)?),
            _ => return None,
        });
    }
    Some(all)
}
