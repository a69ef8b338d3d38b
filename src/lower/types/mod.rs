//! Type entries: DWARF 5 chapter 5.

mod array;
mod composite;
pub(super) mod template;

use super::constants;
use super::entry::EntryWriter;
use super::open::Open;
use super::strings;
use crate::emit::info::children;
use crate::error::Result;
use crate::model::{AttributeOwner, TypeId, TypeKind};

/// Writes a type's entry. The caller writes its scope's children.
pub(super) fn write(out: &mut EntryWriter<'_>, id: TypeId) -> Result<Option<Open>> {
    let module = out.module;
    let ty = &module.types[id];
    let is = Some(out.expressions.numbers.ty(id));
    match &ty.kind {
        TypeKind::Composite(composite) => return composite::write(out, id, composite),
        TypeKind::Array { of, dimensions, stride_bits } => {
            array::write(out, id, *of, dimensions, *stride_bits)?;
            return Ok(None);
        }
        TypeKind::Base { name, encoding } => {
            out.info.begin_entry(gimli::DW_TAG_base_type, gimli::DW_CHILDREN_no, is);
            out.name(Some(*name));
            // The constant form is chosen for each encoding, because a unit has few base types.
            out.info.unsigned(gimli::DW_AT_encoding, constants::encoding(*encoding).0.into());
            let bits = ty.bits.unwrap_or(0);
            out.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
            if !bits.is_multiple_of(8) {
                out.info.unsigned(gimli::DW_AT_bit_size, bits);
            }
        }
        TypeKind::Unspecified { name } => {
            out.info.begin_entry(gimli::DW_TAG_unspecified_type, gimli::DW_CHILDREN_no, is);
            out.name(Some(*name));
        }
        TypeKind::CooperativeMatrix { .. } => {
            out.info.begin_entry(gimli::DW_TAG_unspecified_type, gimli::DW_CHILDREN_no, is);
        }
        TypeKind::String { name } => {
            out.info.begin_entry(gimli::DW_TAG_string_type, gimli::DW_CHILDREN_no, is);
            out.name(*name);
            if out.units.has_string_size(id) {
                out.byte_size(ty);
            }
        }
        TypeKind::Subrange { name, of } | TypeKind::Set { name, of } => {
            out.info.begin_entry(ty.kind.tag(), gimli::DW_CHILDREN_no, is);
            out.name(*name);
            out.type_of(*of);
            match ty.bits.filter(|_| module.has_stated_size(ty)) {
                Some(bits) if bits.is_multiple_of(8) => out.info.unsigned(gimli::DW_AT_byte_size, bits / 8),
                Some(bits) => out.info.unsigned(gimli::DW_AT_bit_size, bits),
                None => {}
            }
        }
        TypeKind::Pointer { to, space, memory, .. } => {
            out.info.begin_entry(ty.kind.tag(), gimli::DW_CHILDREN_no, is);
            out.type_of(*to);
            let bytes = ty.bits.unwrap_or(0) / 8;
            if bytes != u64::from(module.target.address_bytes()) {
                out.info.unsigned(gimli::DW_AT_byte_size, bytes);
            }
            if let Some(attribute) = out.consumer.attributes.address_space
                && let Some(number) = out.consumer.pointer_space(&module.target, *space)
            {
                out.info.unsigned(attribute, number.into());
            }
            out.memory_space(*memory);
        }
        TypeKind::MemberPointer { class, to } => {
            out.info.begin_entry(gimli::DW_TAG_ptr_to_member_type, gimli::DW_CHILDREN_no, is);
            out.type_of(Some(*to));
            out.refer_to_type(gimli::DW_AT_containing_type, *class);
        }
        TypeKind::Vector { of, .. } => {
            out.info.begin_entry(gimli::DW_TAG_array_type, gimli::DW_CHILDREN_yes, is);
            out.type_of(Some(*of));
            out.info.flag(gimli::DW_AT_GNU_vector);
            out.byte_size(ty);
        }
        TypeKind::Matrix { of, stride_bits, is_column_major, .. } => {
            out.info.begin_entry(gimli::DW_TAG_array_type, gimli::DW_CHILDREN_yes, is);
            // The default is the language's: rows in C and its relatives.
            if *is_column_major {
                out.info.constant(gimli::DW_AT_ordering, gimli::DW_ORD_col_major.0.into());
            }
            out.type_of(Some(*of));
            array::stride(out, *stride_bits);
        }
        TypeKind::Enum { name, of, enumerators, is_class } => {
            out.info.begin_entry(gimli::DW_TAG_enumeration_type, children(!enumerators.is_empty()), is);
            out.name(*name);
            out.type_of(*of);
            out.byte_size(ty);
            if *is_class {
                out.info.flag(gimli::DW_AT_enum_class);
            }
        }
        TypeKind::Typedef { name, of } => {
            out.info.begin_entry(gimli::DW_TAG_typedef, gimli::DW_CHILDREN_no, is);
            out.name(Some(*name));
            out.type_of(*of);
        }
        TypeKind::Qualified { of, .. } => {
            out.info.begin_entry(ty.kind.tag(), gimli::DW_CHILDREN_no, is);
            out.type_of(*of);
        }
        TypeKind::Subroutine { returns, parameters, is_variadic } => {
            let has_children = *is_variadic || !parameters.is_empty();
            out.info.begin_entry(gimli::DW_TAG_subroutine_type, children(has_children), is);
            out.type_of(*returns);
            if module.units[ty.unit].has_prototypes() && !ty.is_unprototyped {
                out.info.flag(gimli::DW_AT_prototyped);
            }
        }
    }
    out.type_attributes(id)?;
    out.info.end_entry();
    match &ty.kind {
        TypeKind::Vector { count, .. } | TypeKind::Matrix { count, .. } => {
            array::fixed_dimension(out, id, *count)?;
            out.info.end_children();
        }
        TypeKind::Enum { enumerators, .. } if !enumerators.is_empty() => {
            for (index, &(name, value)) in (0..).zip(enumerators) {
                let is =
                    out.units.parts.member(id, index).map(|number| out.expressions.numbers.member(number));
                out.info.begin_entry(gimli::DW_TAG_enumerator, gimli::DW_CHILDREN_no, is);
                out.name(Some(name));
                out.wide_constant(gimli::DW_AT_const_value, value);
                out.attributes(AttributeOwner::Enumerator(id, index))?;
                out.info.end_entry();
            }
            out.info.end_children();
        }
        TypeKind::Subroutine { parameters, is_variadic, .. } if *is_variadic || !parameters.is_empty() => {
            for (index, &parameter) in (0..).zip(parameters) {
                out.info.begin_entry(gimli::DW_TAG_formal_parameter, gimli::DW_CHILDREN_no, None);
                out.type_of(Some(parameter));
                out.attributes(AttributeOwner::Parameter(id, index))?;
                out.info.end_entry();
            }
            if *is_variadic {
                out.more_arguments();
            }
            out.info.end_children();
        }
        _ => {}
    }
    Ok(None)
}

/// Writes an unsigned base type that expressions use and the program does not have.
pub(super) fn write_unsigned(out: &mut EntryWriter<'_>, bits: u32) {
    let name = format!("unsigned_{bits}");
    out.info.begin_entry(gimli::DW_TAG_base_type, gimli::DW_CHILDREN_no, None);
    out.expressions.numbers.unsigned.push((bits, out.info.entry_offset()));
    out.info.string(gimli::DW_AT_name, strings::unsigned(out.units, bits), || name.len(), || &name);
    out.info.unsigned(gimli::DW_AT_encoding, gimli::DW_ATE_unsigned.0.into());
    out.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8).into());
    out.info.end_entry();
}
