//! Types: their structure, as far as it goes.

use std::collections::BTreeSet;

use super::compare::Compare;
use super::report::Kind;
use crate::error::At;
use crate::model::{Composite, Encoding, Qualifier, StringId, TypeId, TypeKind};
use crate::read::{Entry, Value};
use crate::target::SpaceId;

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares a type with an entry; `None` is `void`.
    pub(super) fn ty(&mut self, ty: Option<TypeId>, entry: Option<Entry<'a, 'o>>, at: &At) {
        let mut seen = BTreeSet::new();
        if let Err((expected, found)) = self.same_type(ty, entry, &mut seen) {
            self.find(Kind::Type, at.clone(), expected, found);
        }
    }

    /// What is different, as expected and found. Pairs that were seen are being compared, or were.
    fn same_type(
        &self,
        ty: Option<TypeId>,
        entry: Option<Entry<'a, 'o>>,
        seen: &mut BTreeSet<(TypeId, u64)>,
    ) -> Result<(), (String, String)> {
        let (id, entry) = match (ty, entry) {
            (None, None) => return Ok(()),
            (Some(ty), Some(entry)) => (ty, entry),
            (None, Some(entry)) => return Err(("void".into(), format!("{}", entry.tag()))),
            (Some(_), None) => return Err(("a type".into(), "void".into())),
        };
        if !seen.insert((id, entry.offset())) {
            return Ok(());
        }
        let module = self.module;
        let ty = module.ty(id);
        let name = |id: StringId| module.string(id);
        let text = |id: Option<StringId>| id.map_or("", name);
        let tag = match &ty.kind {
            TypeKind::Base { .. } => gimli::DW_TAG_base_type,
            TypeKind::Pointer { .. } => gimli::DW_TAG_pointer_type,
            TypeKind::Array { .. } | TypeKind::Vector { .. } => gimli::DW_TAG_array_type,
            TypeKind::Struct(_) => gimli::DW_TAG_structure_type,
            TypeKind::Union(_) => gimli::DW_TAG_union_type,
            TypeKind::Enum { .. } => gimli::DW_TAG_enumeration_type,
            TypeKind::Typedef { .. } => gimli::DW_TAG_typedef,
            TypeKind::Qualified { qualifier: Qualifier::Const, .. } => gimli::DW_TAG_const_type,
            TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => gimli::DW_TAG_volatile_type,
            TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => gimli::DW_TAG_restrict_type,
            TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => gimli::DW_TAG_atomic_type,
            TypeKind::Subroutine { .. } => gimli::DW_TAG_subroutine_type,
        };
        equal("a type's tag", &tag.to_string(), &entry.tag().to_string())?;
        let named = match &ty.kind {
            TypeKind::Base { name: id, .. } | TypeKind::Typedef { name: id, .. } => name(*id),
            TypeKind::Enum { name, .. } => text(*name),
            TypeKind::Struct(composite) | TypeKind::Union(composite) => text(composite.name),
            _ => "",
        };
        equal("the name", &named, &&*entry.name().unwrap_or_default())?;
        let is_sized = matches!(
            ty.kind,
            TypeKind::Base { .. }
                | TypeKind::Struct(_)
                | TypeKind::Union(_)
                | TypeKind::Enum { .. }
                | TypeKind::Vector { .. }
        );
        if is_sized {
            let bytes = ty.bits.map(|bits| bits.div_ceil(8));
            equal(&format!("`{named}` of bytes"), &bytes, &entry.number(gimli::DW_AT_byte_size))?;
        }
        match &ty.kind {
            TypeKind::Base { encoding, .. } => {
                let found = entry.number(gimli::DW_AT_encoding).unwrap_or(0);
                equal(&format!("`{named}` of encoding"), &number(*encoding), &found)?;
                let bits = ty.bits.filter(|bits| !bits.is_multiple_of(8));
                equal(&format!("`{named}` of bits"), &bits, &entry.number(gimli::DW_AT_bit_size))
            }
            TypeKind::Pointer { to, space } => {
                let bytes = entry.number(gimli::DW_AT_byte_size);
                let bytes = bytes.unwrap_or_else(|| self.module.target.address_bytes().into());
                equal("a pointer of bits", &ty.bits.unwrap_or(0), &(bytes * 8))?;
                if let Some(attribute) = self.consumer.address_space {
                    let found = entry.number(attribute).unwrap_or(0);
                    let text = format!("a pointer with attribute {:#x} (address space)", attribute.0);
                    equal(&text, &u64::from(space.0), &found)?;
                } else if *space != SpaceId::DEFAULT {
                    return Ok(());
                }
                self.same_type(*to, entry.ty(), seen)
            }
            TypeKind::Array { of, counts } => {
                equal("dimensions", counts, &dimensions(entry))?;
                self.same_type(Some(*of), entry.ty(), seen)
            }
            TypeKind::Vector { of, count } => {
                equal("elements", &vec![Some(*count)], &dimensions(entry))?;
                let is_vector = matches!(entry.attr(gimli::DW_AT_GNU_vector), Some(Value::Flag(true)));
                equal("a vector", &true, &is_vector)?;
                self.same_type(Some(*of), entry.ty(), seen)
            }
            TypeKind::Struct(composite) | TypeKind::Union(composite) => self.members(composite, entry, seen),
            TypeKind::Enum { of, enumerators, .. } => {
                let expected: Vec<(String, i64)> =
                    enumerators.iter().map(|&(id, value)| (name(id).into(), value)).collect();
                let found: Vec<(String, i64)> = entry
                    .children()
                    .filter(|child| child.tag() == gimli::DW_TAG_enumerator)
                    .map(|child| (child.name().unwrap_or_default().into(), signed(child)))
                    .collect();
                equal("enumerators", &expected, &found)?;
                self.same_type(Some(*of), entry.ty(), seen)
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                self.same_type(*of, entry.ty(), seen)
            }
            TypeKind::Subroutine { returns, parameters } => {
                let found: Vec<_> =
                    entry.children().filter(|child| child.tag() == gimli::DW_TAG_formal_parameter).collect();
                equal("parameters", &parameters.len(), &found.len())?;
                for (&parameter, found) in parameters.iter().zip(found) {
                    self.same_type(Some(parameter), found.ty(), seen)?;
                }
                self.same_type(*returns, entry.ty(), seen)
            }
        }
    }

    fn members(
        &self,
        composite: &Composite,
        entry: Entry<'a, 'o>,
        seen: &mut BTreeSet<(TypeId, u64)>,
    ) -> Result<(), (String, String)> {
        let found: Vec<_> = entry.children().filter(|child| child.tag() == gimli::DW_TAG_member).collect();
        equal("members", &composite.members.len(), &found.len())?;
        for (member, found) in composite.members.iter().zip(found) {
            let name = member.name.map_or("", |name| self.module.string(name));
            equal("the name of a member", &name, &&*found.name().unwrap_or_default())?;
            let byte_offset =
                || found.number(gimli::DW_AT_data_member_location).unwrap_or(0).saturating_mul(8);
            let offset = found.number(gimli::DW_AT_data_bit_offset).unwrap_or_else(byte_offset);
            equal(&format!("`{name}` at bit"), &member.offset_bits, &offset)?;
            equal(&format!("`{name}` of bits"), &member.bits, &found.number(gimli::DW_AT_bit_size))?;
            self.same_type(Some(member.ty), found.ty(), seen)?;
        }
        Ok(())
    }
}

fn equal<T: PartialEq + core::fmt::Debug>(
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), (String, String)> {
    if expected == found { Ok(()) } else { Err((format!("{what} {expected:?}"), format!("{found:?}"))) }
}

fn dimensions(entry: Entry<'_, '_>) -> Vec<Option<u64>> {
    let is_dimension = |child: &Entry<'_, '_>| child.tag() == gimli::DW_TAG_subrange_type;
    entry.children().filter(is_dimension).map(|child| child.number(gimli::DW_AT_count)).collect()
}

fn signed(entry: Entry<'_, '_>) -> i64 {
    match entry.attr(gimli::DW_AT_const_value) {
        Some(Value::Signed(value)) => *value,
        Some(Value::Unsigned(value)) => *value as i64,
        _ => 0,
    }
}

/// DWARF 5, table 7.11.
fn number(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Address => 0x01,
        Encoding::Boolean => 0x02,
        Encoding::Float => 0x04,
        Encoding::Signed => 0x05,
        Encoding::SignedChar => 0x06,
        Encoding::Unsigned => 0x07,
        Encoding::UnsignedChar => 0x08,
        Encoding::Utf => 0x10,
    }
}
