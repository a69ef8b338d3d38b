//! Entries of types: DWARF 5 chapter 5.

mod array;
mod composite;
mod template;

use super::constants;
use super::dies::Dies;
use super::open::Open;
use crate::error::Result;
use crate::model::{Accessibility, MemorySpace, StringId, Type, TypeId, TypeKind};

impl Dies<'_> {
    /// Writes the entry of a type. The caller writes the children of its scope.
    pub(super) fn ty(&mut self, id: TypeId) -> Result<Option<Open>> {
        let module = self.module;
        let ty = &module.types[id];
        let is = Some(self.expressions.entries.ty(id));
        match &ty.kind {
            TypeKind::Composite(composite) => return self.composite(id, composite),
            TypeKind::Array { of, dimensions, stride_bits } => {
                self.array(id, *of, dimensions, *stride_bits)?;
                return Ok(None);
            }
            TypeKind::Base { name, encoding } => {
                self.info.begin_entry(gimli::DW_TAG_base_type, false, is);
                self.name(Some(*name));
                // The constant form is chosen for each encoding, as a unit has few base types.
                self.info.unsigned(gimli::DW_AT_encoding, constants::encoding(*encoding).0.into());
                let bits = ty.bits.unwrap_or(0);
                self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
                if !bits.is_multiple_of(8) {
                    self.info.unsigned(gimli::DW_AT_bit_size, bits);
                }
            }
            TypeKind::Unspecified { name } => {
                self.info.begin_entry(gimli::DW_TAG_unspecified_type, false, is);
                self.name(Some(*name));
            }
            TypeKind::Pointer { to, space, memory, .. } => {
                self.info.begin_entry(ty.kind.tag(), false, is);
                self.type_of(*to);
                let bytes = ty.bits.unwrap_or(0) / 8;
                if bytes != u64::from(module.target.address_bytes()) {
                    self.info.unsigned(gimli::DW_AT_byte_size, bytes);
                }
                if let Some(attribute) = self.consumer.address_space
                    && let Some(number) = self.consumer.pointer_space(&module.target, *space)
                {
                    self.info.unsigned(attribute, number.into());
                }
                self.memory_space(*memory);
            }
            TypeKind::MemberPointer { class, to } => {
                self.info.begin_entry(gimli::DW_TAG_ptr_to_member_type, false, is);
                self.type_of(Some(*to));
                self.refer_to_type(gimli::DW_AT_containing_type, *class);
            }
            TypeKind::Vector { of, .. } => {
                self.info.begin_entry(gimli::DW_TAG_array_type, true, is);
                self.type_of(Some(*of));
                self.info.flag(gimli::DW_AT_GNU_vector);
                self.byte_size(ty);
            }
            TypeKind::Matrix { of, stride_bits, .. } => {
                self.info.begin_entry(gimli::DW_TAG_array_type, true, is);
                self.type_of(Some(*of));
                self.stride(*stride_bits);
            }
            TypeKind::Enum { name, of, enumerators, is_class } => {
                self.info.begin_entry(gimli::DW_TAG_enumeration_type, !enumerators.is_empty(), is);
                self.name(*name);
                self.type_of(Some(*of));
                self.byte_size(ty);
                if *is_class {
                    self.info.flag(gimli::DW_AT_enum_class);
                }
            }
            TypeKind::Typedef { name, of } => {
                self.info.begin_entry(gimli::DW_TAG_typedef, false, is);
                self.name(Some(*name));
                self.type_of(*of);
            }
            TypeKind::Qualified { of, .. } => {
                self.info.begin_entry(ty.kind.tag(), false, is);
                self.type_of(*of);
            }
            TypeKind::Subroutine { returns, parameters } => {
                self.info.begin_entry(gimli::DW_TAG_subroutine_type, !parameters.is_empty(), is);
                self.type_of(*returns);
                if self.has_prototypes(ty.unit) {
                    self.info.flag(gimli::DW_AT_prototyped);
                }
            }
        }
        self.described(ty);
        self.info.end_entry();
        match &ty.kind {
            TypeKind::Vector { count, .. } | TypeKind::Matrix { count, .. } => {
                self.fixed_dimension(*count);
                self.info.end_children();
            }
            TypeKind::Enum { enumerators, .. } if !enumerators.is_empty() => {
                for &(name, value) in enumerators {
                    self.info.begin_entry(gimli::DW_TAG_enumerator, false, None);
                    self.name(Some(name));
                    self.wide_constant(gimli::DW_AT_const_value, value);
                    self.info.end_entry();
                }
                self.info.end_children();
            }
            TypeKind::Subroutine { parameters, .. } if !parameters.is_empty() => {
                for &parameter in parameters {
                    self.info.begin_entry(gimli::DW_TAG_formal_parameter, false, None);
                    self.type_of(Some(parameter));
                    self.info.end_entry();
                }
                self.info.end_children();
            }
            _ => {}
        }
        Ok(None)
    }

    /// Writes the attributes that every type can have.
    fn described(&mut self, ty: &Type) {
        self.declared(ty.line);
        if let Some(bytes) = ty.alignment {
            self.info.unsigned(gimli::DW_AT_alignment, bytes);
        }
        if ty.is_declaration {
            self.info.flag(gimli::DW_AT_declaration);
        }
    }

    fn byte_size(&mut self, ty: &Type) {
        if let Some(bits) = ty.bits {
            self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
        }
    }

    /// Writes a number of at most 64 bits, in a form that fixes its sign where the value needs it.
    fn wide_constant(&mut self, at: gimli::DwAt, value: i128) {
        match i64::try_from(value) {
            Ok(value) => self.info.signed(at, value),
            Err(_) => self.info.index(at, gimli::DW_FORM_udata, value as u64),
        }
    }

    /// Writes the memory space of a declaration, if the consumer has an attribute for it.
    #[inline]
    pub(super) fn memory_space(&mut self, memory: Option<MemorySpace>) {
        if let (Some(attribute), Some(memory)) = (self.consumer.memory_space, memory) {
            self.info.constant(attribute, constants::memory_space(memory));
        }
    }

    /// Writes an accessibility.
    pub(super) fn accessibility(&mut self, accessibility: Option<Accessibility>) {
        if let Some(accessibility) = accessibility {
            self.info.constant(gimli::DW_AT_accessibility, constants::accessibility(accessibility).0.into());
        }
    }

    /// Writes an unsigned base type that expressions use and the program does not have.
    pub(super) fn hidden_unsigned(&mut self, bits: u32) {
        let name = format!("unsigned_{bits}");
        self.info.begin_entry(gimli::DW_TAG_base_type, false, None);
        self.expressions.entries.unsigned.push((bits, self.info.entry_offset()));
        self.info.string(gimli::DW_AT_name, self.module.strings.len() as u32 + bits, || name.len(), || &name);
        self.info.unsigned(gimli::DW_AT_encoding, gimli::DW_ATE_unsigned.0.into());
        self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8).into());
        self.info.end_entry();
    }

    /// Writes the name of an entry, if it has one.
    #[inline(always)]
    pub(super) fn name(&mut self, name: Option<StringId>) {
        if let Some(name) = name {
            self.text(gimli::DW_AT_name, name);
        }
    }

    /// Writes a string of the module.
    #[inline(always)]
    pub(super) fn text(&mut self, at: gimli::DwAt, id: StringId) {
        let module = self.module;
        self.info.string(at, id.as_u32(), || module.strings.bytes(id.as_u32()), || module.string(id));
    }

    /// Writes the type of an entry; none for `void`.
    #[inline(always)]
    pub(super) fn type_of(&mut self, ty: Option<TypeId>) {
        if let Some(ty) = ty {
            self.refer_to_type(gimli::DW_AT_type, ty);
        }
    }

    /// Writes a reference to a type, by signature if it has a type unit.
    #[inline(always)]
    pub(super) fn refer_to_type(&mut self, at: gimli::DwAt, ty: TypeId) {
        match self.units.type_units.signature(ty) {
            Some(signature) if self.type_unit_of != Some(ty) => self.info.signature(at, signature),
            _ => self.info.reference(at, self.expressions.entries.ty(ty)),
        }
    }
}
