//! Entries of structures, classes and unions, and of their children: DWARF 5 section 5.7.

use crate::error::Result;
use crate::lower::constants::{calling_convention, discriminant_list};
use crate::lower::dies::Dies;
use crate::lower::open::Open;
use crate::model::{BaseOffset, Composite, Discriminant, Member, TypeId, VariantPartId, VariantValues};
use crate::omission::{Property, Subject};
use crate::op::{uleb_len, write_byte_uleb};

impl Dies<'_> {
    pub(super) fn composite(&mut self, id: TypeId, composite: &Composite) -> Result<Option<Open>> {
        let ty = &self.module.types[id];
        let Composite { name, scope, passed, templates, bases, members, variant_parts, kind: _ } = composite;
        let has_children = !(templates.is_empty()
            && bases.is_empty()
            && members.is_empty()
            && variant_parts.is_empty()
            && !self.has_children(*scope, None));
        self.info.begin_entry(ty.kind.tag(), has_children, Some(self.expressions.entries.ty(id)));
        self.name(*name);
        self.byte_size(ty);
        if let Some(passed) = calling_convention(*passed, self.consumer.version) {
            self.info.constant(gimli::DW_AT_calling_convention, passed.0.into());
        }
        self.described(ty);
        self.info.end_entry();
        if !has_children {
            return Ok(None);
        }
        self.template_parameters(Subject::Type(id), templates)?;
        for base in bases {
            self.info.begin_entry(gimli::DW_TAG_inheritance, false, None);
            self.type_of(Some(base.ty));
            match base.offset {
                BaseOffset::Bytes(bytes) => self.at_byte(bytes),
                BaseOffset::Expr(expr) => {
                    if self.expressions.location_of(Subject::Type(id), Property::Offset, expr, None)? {
                        self.expression_attribute(gimli::DW_AT_data_member_location);
                    }
                }
            }
            self.accessibility(base.accessibility);
            if base.is_virtual {
                self.info.constant(gimli::DW_AT_virtuality, gimli::DW_VIRTUALITY_virtual.0.into());
            }
            self.info.end_entry();
        }
        for member in members {
            self.member(member, None);
        }
        for &part in variant_parts {
            self.variant_part(part);
        }
        self.open(*scope, None).map(Some)
    }

    /// Writes a member, which may be the discriminant of a variant part.
    fn member(&mut self, member: &Member, part: Option<VariantPartId>) {
        let is = part.map(|part| self.expressions.entries.discriminant(part));
        self.info.begin_entry(gimli::DW_TAG_member, false, is);
        self.name(member.name);
        self.declared(member.line);
        self.type_of(Some(member.ty));
        match member.bits {
            None if member.offset_bits.is_multiple_of(8) => self.at_byte(member.offset_bits / 8),
            None => self.info.unsigned(gimli::DW_AT_data_bit_offset, member.offset_bits),
            Some(bits) if self.consumer.version < 4 => self.bit_field_in_unit(member, bits),
            Some(bits) => {
                self.info.unsigned(gimli::DW_AT_bit_size, bits);
                self.info.unsigned(gimli::DW_AT_data_bit_offset, member.offset_bits);
            }
        }
        self.accessibility(member.accessibility);
        if member.is_mutable {
            self.info.flag(gimli::DW_AT_mutable);
        }
        if member.is_artificial {
            self.info.flag(gimli::DW_AT_artificial);
        }
        self.info.end_entry();
    }

    /// Writes a bit field before DWARF 4: in a storage unit of the size of its type. The offset counts from the
    /// unit's most significant bit to the field's. DWARF 3 section 5.5.6.
    fn bit_field_in_unit(&mut self, member: &Member, bits: u64) {
        let of_type = self.module.types[member.ty].bits.unwrap_or(bits).div_ceil(8).max(1);
        let aligned = member.offset_bits / 8 / of_type * of_type;
        // A field that crosses two such units gets a unit of its own.
        let is_in_two = member.offset_bits - 8 * aligned + bits > 8 * of_type;
        let first = if is_in_two { member.offset_bits / 8 } else { aligned };
        let from_first = member.offset_bits - 8 * first;
        let bytes = of_type.max((from_first + bits).div_ceil(8));
        let offset = match self.module.target.is_big_endian() {
            true => from_first,
            false => 8 * bytes - from_first - bits,
        };
        self.info.unsigned(gimli::DW_AT_byte_size, bytes);
        self.info.unsigned(gimli::DW_AT_bit_size, bits);
        self.info.unsigned(gimli::DW_AT_bit_offset, offset);
        self.at_byte(first);
    }

    /// Writes the offset of a member in bytes. In DWARF 2 it is always an expression: section 5.5.4.
    fn at_byte(&mut self, bytes: u64) {
        if self.consumer.version > 2 {
            self.info.unsigned(gimli::DW_AT_data_member_location, bytes);
            return;
        }
        self.info.begin_expression(gimli::DW_AT_data_member_location, 1 + uleb_len(bytes));
        write_byte_uleb(&mut self.info.bytes, gimli::DW_OP_plus_uconst.0, bytes);
    }

    /// Writes a variant part: DWARF 5 section 5.7.10.
    fn variant_part(&mut self, id: VariantPartId) {
        let part = &self.module.variant_parts[id];
        let has_children = matches!(part.discriminant, Discriminant::Member(_)) || !part.variants.is_empty();
        self.info.begin_entry(gimli::DW_TAG_variant_part, has_children, None);
        match part.discriminant {
            Discriminant::Member(_) => {
                self.info.reference(gimli::DW_AT_discr, self.expressions.entries.discriminant(id));
            }
            Discriminant::Type(ty) => self.type_of(Some(ty)),
        }
        self.info.end_entry();
        if let Discriminant::Member(member) = &part.discriminant {
            self.member(member, Some(id));
        }
        for variant in &part.variants {
            self.info.begin_entry(gimli::DW_TAG_variant, !variant.members.is_empty(), None);
            match variant.values[..] {
                [] => {}
                [VariantValues::Single(value)] => self.wide_constant(gimli::DW_AT_discr_value, value),
                _ => {
                    let is_signed = self.module.is_signed(part.discriminant.ty());
                    let list = discriminant_list(&variant.values, is_signed.unwrap_or(false));
                    self.info.begin_block(gimli::DW_AT_discr_list, list.len());
                    self.info.bytes.extend_from_slice(&list);
                }
            }
            self.info.end_entry();
            for member in &variant.members {
                self.member(member, None);
            }
            if !variant.members.is_empty() {
                self.info.end_children();
            }
        }
        if has_children {
            self.info.end_children();
        }
    }
}
