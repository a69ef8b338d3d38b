//! Entries of types: DWARF 5 chapter 5.

use super::dies::Dies;
use crate::model::{BaseEncoding, Composite, Qualifier, StringId, TypeId, TypeKind};
use crate::target::SpaceId;

impl Dies<'_> {
    /// Writes a type.
    pub(super) fn ty(&mut self, id: TypeId) {
        let ty = &self.module.types[id];
        let is = Some(self.entries.ty(id));
        match &ty.kind {
            TypeKind::Base { name, encoding } => {
                self.info.begin_entry(gimli::DW_TAG_base_type, false, is);
                self.name(Some(*name));
                self.info.constant(gimli::DW_AT_encoding, dwarf_encoding(*encoding).0.into());
                let bits = ty.bits.unwrap_or(0);
                self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
                if !bits.is_multiple_of(8) {
                    self.info.unsigned(gimli::DW_AT_bit_size, bits);
                }
                self.info.end_entry();
            }
            TypeKind::Pointer { to, space } => {
                self.info.begin_entry(gimli::DW_TAG_pointer_type, false, is);
                self.type_of(*to);
                let bytes = ty.bits.unwrap_or(0) / 8;
                if bytes != u64::from(self.module.target.address_bytes()) {
                    self.info.unsigned(gimli::DW_AT_byte_size, bytes);
                }
                if let (Some(attribute), true) = (self.consumer.address_space, *space != SpaceId::DEFAULT) {
                    self.info.unsigned(attribute, space.0.into());
                }
                self.info.end_entry();
            }
            TypeKind::Array { of, counts } => {
                self.info.begin_entry(gimli::DW_TAG_array_type, true, is);
                self.type_of(Some(*of));
                self.info.end_entry();
                for &count in counts {
                    self.dimension(count);
                }
                self.info.end_children();
            }
            TypeKind::Vector { of, count } => {
                self.info.begin_entry(gimli::DW_TAG_array_type, true, is);
                self.type_of(Some(*of));
                self.info.flag(gimli::DW_AT_GNU_vector);
                if let Some(bits) = ty.bits {
                    self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
                }
                self.info.end_entry();
                self.dimension(Some(*count));
                self.info.end_children();
            }
            TypeKind::Struct(composite) => self.composite(gimli::DW_TAG_structure_type, id, composite),
            TypeKind::Union(composite) => self.composite(gimli::DW_TAG_union_type, id, composite),
            TypeKind::Enum { name, of, enumerators } => {
                self.info.begin_entry(gimli::DW_TAG_enumeration_type, !enumerators.is_empty(), is);
                self.name(*name);
                self.type_of(Some(*of));
                if let Some(bits) = ty.bits {
                    self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
                }
                self.info.end_entry();
                for &(name, value) in enumerators {
                    self.info.begin_entry(gimli::DW_TAG_enumerator, false, None);
                    self.name(Some(name));
                    self.info.signed(gimli::DW_AT_const_value, value);
                    self.info.end_entry();
                }
                if !enumerators.is_empty() {
                    self.info.end_children();
                }
            }
            TypeKind::Typedef { name, of } => {
                self.info.begin_entry(gimli::DW_TAG_typedef, false, is);
                self.name(Some(*name));
                self.type_of(*of);
                self.info.end_entry();
            }
            TypeKind::Qualified { qualifier, of } => {
                let tag = match qualifier {
                    Qualifier::Const => gimli::DW_TAG_const_type,
                    Qualifier::Volatile => gimli::DW_TAG_volatile_type,
                    Qualifier::Restrict => gimli::DW_TAG_restrict_type,
                    Qualifier::Atomic => gimli::DW_TAG_atomic_type,
                };
                self.info.begin_entry(tag, false, is);
                self.type_of(*of);
                self.info.end_entry();
            }
            TypeKind::Subroutine { returns, parameters } => {
                self.info.begin_entry(gimli::DW_TAG_subroutine_type, !parameters.is_empty(), is);
                self.type_of(*returns);
                if self.has_prototypes(ty.unit) {
                    self.info.flag(gimli::DW_AT_prototyped);
                }
                self.info.end_entry();
                for &parameter in parameters {
                    self.info.begin_entry(gimli::DW_TAG_formal_parameter, false, None);
                    self.type_of(Some(parameter));
                    self.info.end_entry();
                }
                if !parameters.is_empty() {
                    self.info.end_children();
                }
            }
        }
    }

    fn dimension(&mut self, count: Option<u64>) {
        self.info.begin_entry(gimli::DW_TAG_subrange_type, false, None);
        if let Some(count) = count {
            self.info.unsigned(gimli::DW_AT_count, count);
        }
        self.info.end_entry();
    }

    fn composite(&mut self, tag: gimli::DwTag, id: TypeId, composite: &Composite) {
        let bytes = self.module.types[id].bits.unwrap_or(0) / 8;
        self.info.begin_entry(tag, !composite.members.is_empty(), Some(self.entries.ty(id)));
        self.name(composite.name);
        self.info.unsigned(gimli::DW_AT_byte_size, bytes);
        self.info.end_entry();
        for member in &composite.members {
            self.info.begin_entry(gimli::DW_TAG_member, false, None);
            self.name(member.name);
            self.type_of(Some(member.ty));
            match member.bits {
                None => self.info.unsigned(gimli::DW_AT_data_member_location, member.offset_bits / 8),
                Some(bits) => {
                    self.info.unsigned(gimli::DW_AT_bit_size, bits);
                    self.info.unsigned(gimli::DW_AT_data_bit_offset, member.offset_bits);
                }
            }
            self.info.end_entry();
        }
        if !composite.members.is_empty() {
            self.info.end_children();
        }
    }

    /// An unsigned base type that expressions use and the program does not have.
    pub(super) fn hidden_unsigned(&mut self, bits: u32) {
        let name = format!("unsigned_{bits}");
        self.info.begin_entry(gimli::DW_TAG_base_type, false, None);
        self.entries.unsigned.push((bits, self.info.entry_offset()));
        self.info.string(gimli::DW_AT_name, self.module.strings.len() as u32 + bits, &name);
        self.info.constant(gimli::DW_AT_encoding, gimli::DW_ATE_unsigned.0.into());
        self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8).into());
        self.info.end_entry();
    }

    /// The name of an entry, if it has one.
    pub(super) fn name(&mut self, name: Option<StringId>) {
        if let Some(name) = name {
            self.text(gimli::DW_AT_name, name);
        }
    }

    /// A string of the module.
    pub(super) fn text(&mut self, at: gimli::DwAt, id: StringId) {
        self.info.string(at, id.as_u32(), self.module.string(id));
    }

    /// The type of an entry; none for `void`.
    pub(super) fn type_of(&mut self, ty: Option<TypeId>) {
        if let Some(ty) = ty {
            self.info.reference(gimli::DW_AT_type, self.entries.ty(ty));
        }
    }
}

/// The number of an encoding.
fn dwarf_encoding(encoding: BaseEncoding) -> gimli::DwAte {
    match encoding {
        BaseEncoding::Address => gimli::DW_ATE_address,
        BaseEncoding::Boolean => gimli::DW_ATE_boolean,
        BaseEncoding::Float => gimli::DW_ATE_float,
        BaseEncoding::Signed => gimli::DW_ATE_signed,
        BaseEncoding::SignedChar => gimli::DW_ATE_signed_char,
        BaseEncoding::Unsigned => gimli::DW_ATE_unsigned,
        BaseEncoding::UnsignedChar => gimli::DW_ATE_unsigned_char,
        BaseEncoding::Utf => gimli::DW_ATE_UTF,
    }
}
