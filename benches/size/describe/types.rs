//! Types.

use eitri::Result;
use eitri::build::{DataMember, Extent};
use eitri::model::{BaseEncoding, CompositeKind, Qualifier, SourceLine, TypeId};
use eitri::read::Entry;
use gimli::constants as dw;

use super::Describer;

impl<'r, 'o> Describer<'r, 'o> {
    pub(super) fn all_types(&mut self) -> Result<()> {
        for entry in self.entries().filter(|entry| is_type(entry.tag())) {
            let ty = self.ty(entry)?;
            if let Some(around) = entry.parent().filter(|parent| is_type(parent.tag())) {
                let around = self.ty(around)?;
                self.m.describe_type(ty)?.within(around)?;
            }
        }
        Ok(())
    }

    pub(super) fn ty(&mut self, entry: Entry<'r, 'o>) -> Result<TypeId> {
        if let Some(&known) = self.types.get(&entry.offset()) {
            return Ok(known);
        }
        let name = entry.name().unwrap_or_default();
        let bytes = entry.number(dw::DW_AT_byte_size).unwrap_or(0);
        let of = match entry.tag() {
            // Members are described later.
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type => None,
            _ => entry.reference(dw::DW_AT_type).map(|of| self.ty(of)).transpose()?,
        };
        // A structure on the way may refer to this type and have described it.
        if let Some(&known) = self.types.get(&entry.offset()) {
            return Ok(known);
        }
        let some = |name: &'static str| of.unwrap_or_else(|| panic!("{name} of nothing"));
        let (m, unit) = (&mut self.m, self.unit);
        let id = match entry.tag() {
            dw::DW_TAG_base_type => {
                let encoding = entry.number(dw::DW_AT_encoding).unwrap_or(0);
                m.base_type(unit, &name, base_encoding(encoding as u8), 8 * bytes)?
            }
            dw::DW_TAG_pointer_type => m.pointer(unit, of)?,
            dw::DW_TAG_typedef => m.typedef(unit, &name, of)?,
            dw::DW_TAG_const_type => m.qualified(unit, Qualifier::Const, of)?,
            dw::DW_TAG_volatile_type => m.qualified(unit, Qualifier::Volatile, of)?,
            dw::DW_TAG_restrict_type => m.qualified(unit, Qualifier::Restrict, of)?,
            dw::DW_TAG_atomic_type => m.qualified(unit, Qualifier::Atomic, of)?,
            dw::DW_TAG_array_type if entry.attr(dw::DW_AT_GNU_vector).is_some() => {
                let dimension = entry.children().next().expect("a dimension");
                let count = dimension.number(dw::DW_AT_count).expect("so many elements");
                m.vector(unit, some("a vector"), count)?
            }
            dw::DW_TAG_array_type => {
                let mut extents = Vec::new();
                for dimension in entry.children() {
                    let count = dimension.number(dw::DW_AT_count);
                    let extent = count.map_or_else(Extent::unknown, Extent::fixed);
                    extents.push(match dimension.reference(dw::DW_AT_type) {
                        Some(index) => extent.index(self.ty(index)?),
                        None => extent,
                    });
                }
                self.m.array_of(unit, some("an array"), &extents, None)?
            }
            dw::DW_TAG_subroutine_type => {
                let mut parameters = Vec::new();
                for parameter in entry.children() {
                    parameters
                        .push(self.ty(parameter.reference(dw::DW_AT_type).expect("a parameter's type"))?);
                }
                self.m.subroutine(unit, of, &parameters)?
            }
            dw::DW_TAG_enumeration_type => {
                let names: Vec<_> = entry.children().map(|one| one.name().unwrap_or_default()).collect();
                let value = |one: Entry<'_, '_>| match one.attr(dw::DW_AT_const_value) {
                    Some(eitri::read::ResolvedValue::Signed(value)) => i128::from(value),
                    value => {
                        i128::from(value.and_then(eitri::read::ResolvedValue::unsigned).expect("a value"))
                    }
                };
                let values: Vec<(&str, i128)> =
                    names.iter().zip(entry.children()).map(|(name, one)| (&**name, value(one))).collect();
                m.enumeration(unit, (!name.is_empty()).then_some(&*name), some("an enumeration"), &values)?
            }
            tag @ (dw::DW_TAG_structure_type | dw::DW_TAG_union_type) => {
                let kind =
                    if tag == dw::DW_TAG_union_type { CompositeKind::Union } else { CompositeKind::Struct };
                let named = (!name.is_empty()).then_some(&*name);
                match (entry.attr(dw::DW_AT_declaration), kind) {
                    (Some(_), _) => m.incomplete(unit, kind, &name)?,
                    (None, CompositeKind::Union) => m.union(unit, named, bytes)?,
                    (None, _) => m.structure(unit, named, bytes)?,
                }
            }
            tag => panic!("{tag}"),
        };
        let declared = self.declared(entry);
        // Make it distinct: types that look the same must not be merged.
        let mut ty = self.m.describe_type(id)?;
        if let Some((file, line)) = declared {
            ty.declared(SourceLine::new(file, line));
        }
        if let Some(bytes) = entry.number(dw::DW_AT_alignment) {
            ty.alignment(bytes)?;
        }
        self.types.insert(entry.offset(), id);
        if matches!(entry.tag(), dw::DW_TAG_structure_type | dw::DW_TAG_union_type) {
            self.members(id, entry)?;
        }
        Ok(id)
    }

    fn members(&mut self, of: TypeId, entry: Entry<'r, 'o>) -> Result<()> {
        for member in entry.children().filter(|child| child.tag() == dw::DW_TAG_member) {
            let name = member.name().unwrap_or_default();
            let ty = self.ty(member.reference(dw::DW_AT_type).expect("a member's type"))?;
            let mut data = match member.number(dw::DW_AT_bit_size) {
                Some(bits) => {
                    let offset = member.number(dw::DW_AT_data_bit_offset).unwrap_or(0);
                    DataMember::bit_field(&name, ty, offset, bits)
                }
                None => {
                    let offset = member.number(dw::DW_AT_data_member_location).unwrap_or(0);
                    DataMember::new(&name, ty, offset)
                }
            };
            if let Some((file, line)) = self.declared(member) {
                data = data.declared(SourceLine::new(file, line));
            }
            self.m.data_member(of, data)?;
        }
        Ok(())
    }
}

/// Tags of types in C and OpenCL C.
pub(super) fn is_type(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_base_type
            | dw::DW_TAG_pointer_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_array_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_union_type
    )
}

fn base_encoding(number: u8) -> BaseEncoding {
    match gimli::DwAte(number) {
        dw::DW_ATE_boolean => BaseEncoding::Boolean,
        dw::DW_ATE_float => BaseEncoding::Float,
        dw::DW_ATE_signed => BaseEncoding::Signed,
        dw::DW_ATE_signed_char => BaseEncoding::SignedChar,
        dw::DW_ATE_unsigned => BaseEncoding::Unsigned,
        dw::DW_ATE_unsigned_char => BaseEncoding::UnsignedChar,
        other => panic!("{other}"),
    }
}
